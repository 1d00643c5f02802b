"""Steps and what they require, as a graph. Pure; every function also takes graphs with circles in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Requires = Mapping[str, Iterable[str]]
"""Each step, in the order of the file, with the steps it requires."""


def in_running_order(requires: Requires) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Every step after what it requires, in the file's order where possible; and the circles that prevent it.

    A circle begins with its earliest step, each step requires the next, and the last requires the first. The steps of
    a circle are in the order all the same, as if they required nothing, so that later circles are found too.
    """
    waiting = {step: [name for name in required if name in requires] for step, required in requires.items()}
    done: dict[str, None] = {}
    circles = []
    while waiting:
        step = next((step for step, required in waiting.items() if all(name in done for name in required)), None)
        if step is not None:
            done[step] = None
            del waiting[step]
            continue
        circle = _circle(waiting, done)
        circles.append(circle)
        for member in circle:
            waiting[member] = []
    return tuple(done), circles


def _circle(waiting: Mapping[str, list[str]], done: Mapping[str, None]) -> tuple[str, ...]:
    """Every waiting step waits for another one, so following them must come back to where it has been."""
    walked: dict[str, int] = {}
    step = next(iter(waiting))
    while step not in walked:
        walked[step] = len(walked)
        step = next(name for name in waiting[step] if name not in done)
    circle = list(walked)[walked[step] :]
    first = min(range(len(circle)), key=lambda place: list(waiting).index(circle[place]))
    return (*circle[first:], *circle[:first])


def upstream(requires: Requires, step: str) -> set[str]:
    """All that `step` requires, directly or not; in a circle that is the step itself too."""
    found: set[str] = set()
    ahead = [step]
    while ahead:
        for name in requires.get(ahead.pop(), ()):
            if name in requires and name not in found:
                found.add(name)
                ahead.append(name)
    return found


def dependents(requires: Requires, step: str) -> set[str]:
    """All that requires `step`, directly or not."""
    reverse: dict[str, list[str]] = {name: [] for name in requires}
    for name, required in requires.items():
        for before in required:
            if before in reverse:
                reverse[before].append(name)
    return upstream(reverse, step)
