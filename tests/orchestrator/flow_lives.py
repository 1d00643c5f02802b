"""Random lives of sessions with random pipelines: whatever happens in whatever order, every promise is kept."""

from __future__ import annotations

import random

from tests.orchestrator.flow_model import FlowWorld, comes_to_a_good_end, moves, play
from tests.orchestrator.flow_shapes import random_world
from weft.protocol.commands import StartRun

_WEIGHTS = {"succeed": 8.0, "fail": 1.0, "interrupt": 0.3, "crash": 0.5, "die at the end": 0.3, "restart": 0.5}


def walk(seed: int) -> None:
    rng = random.Random(seed)
    world = random_world(rng)
    world.start()
    for _ in range(rng.randint(5, 40)):
        if world.ended and rng.random() < 0.25:
            _meddle(world, rng)
        found = [move for move, _ in moves(world)]
        if not found:
            world.start(_wish(world, rng))
            continue
        weights = [_WEIGHTS.get(move[0], 1.0) for move in found]
        play(world, rng.choices(found, weights)[0])
    if not world.ended:
        world.crash()
    comes_to_a_good_end(world)


def _meddle(world: FlowWorld, rng: random.Random) -> None:
    """What a person or another program does to a session at rest: new code, lost files, other parameters."""
    for name in world.pipeline.steps:
        if rng.random() < 0.15:
            world.version[name] = str(rng.randint(1, 3))
    for name in [*world.disk]:
        if rng.random() < 0.1:
            del world.disk[name]
        elif rng.random() < 0.05:
            world.disk[name] = world.disk[name].replace(b"step", b"edit", 1)
    for word in ("ask", "web", "rounds"):
        for name in [one for one in world.parameters if one.rpartition(".")[2] == word]:
            value = world.parameters[name]
            if rng.random() < 0.3:  # rounds are raised, never lowered: what was made in more of them is not unmade
                world.parameters[name] = value + 1 if word == "rounds" else not value


def _wish(world: FlowWorld, rng: random.Random) -> StartRun:
    names = [*world.pipeline.steps]
    if rng.random() < 0.2:
        return StartRun(force=frozenset({rng.choice(names)}))
    return StartRun(start_from=rng.choice(names)) if rng.random() < 0.1 else StartRun()
