"""What must hold after every disturbance. Looks from outside, with a reader of its own for the log.

`look` is what the world knows right after the disturbance; `faults_after` compares it with what the next run did. Both
return faults in words instead of raising, so that a matrix can say everything that is wrong with it at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.harness import Ended
from tests.crash.weaving import CALLS, SESSION, Place
from weft.files import TEMPORARY, Folder
from weft.protocol.errors import WeftError
from weft.session.log import LogReader
from weft.session.manifest import manifest_bytes
from weft.session.state import fold
from weft.session.verify import verify

MACHINE_FILES = {"log.jsonl", "session.json", ".snapshot.json", ".lock"}


@dataclass(frozen=True)
class Seen:
    """What is known of a session at one moment."""

    log: list[dict[str, Any]] = field(default_factory=list)
    """The events of every whole decision, up to the first line that can't be read."""
    executed: Counter[str] = field(default_factory=Counter)
    published: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def completed(self, since_run: int = 1) -> set[str]:
        return {e["step"] for e in self.log if e["type"] == "step_completed" and e["run"] >= since_run}


def whole_decisions(data: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    decision: list[dict[str, Any]] = []
    for line in data.split(b"\n")[:-1]:
        try:
            event = json.loads(line)
        except ValueError:
            break
        part, parts = event.pop("part", [1, 1])
        if part != len(decision) + 1:
            break
        decision.append(event)
        if part == parts:
            found += decision
            decision = []
    return found


def look(place: Place) -> Seen:
    """At a session that nobody writes to."""
    log = place.session / "log.jsonl"
    seen = Seen(
        whole_decisions(log.read_bytes()) if log.exists() else [],
        Counter(_lines(place.ledger)),
        {int(line) for line in _lines(place.published)},
    )
    if lost := seen.published - {event["seq"] for event in seen.log}:
        seen.faults.append(f"published but not in the log: {sorted(lost)}")
    seen.faults.extend(f"verify before the next run: {fault}" for fault in _verified(place)[0])
    return seen


def artifacts(place: Place) -> dict[str, bytes]:
    """Every file of the session that a person would miss."""
    found = {}
    for path in sorted(place.session.rglob("*")):
        name = str(path.relative_to(place.session))
        if path.is_file() and name not in MACHINE_FILES and name.split("/")[0] not in ("blobs", "aside"):
            found[name] = path.read_bytes()
    return {name: data for name, data in found.items() if not TEMPORARY.fullmatch(Path(name).name)}


def left_over(place: Place) -> list[str]:
    """What killed writes left behind and nobody removed."""
    return sorted(path.name for path in place.session.rglob(".*") if TEMPORARY.fullmatch(path.name))


def faults_after(
    place: Place,
    before: Seen,
    ended: Ended,
    reference: Mapping[str, bytes],
    *,
    since_run: int = 1,
    edited: bool = False,
) -> list[str]:
    """What is wrong after the run that followed a disturbance. Every step was to be made from `since_run` on: those
    that were not completed before the run must have run, and no other. `edited`: a person changed an artifact."""
    faults = list(before.faults)
    if ended.outcome != "done":
        return [*faults, f"the next run ended: {ended.outcome}"]
    after = look(place)
    faults += after.faults
    expected = {step: calls for step, calls in CALLS.items() if step not in before.completed(since_run)}
    executed = dict(after.executed - before.executed)
    if executed != expected:
        faults.append(f"the next run executed {executed}, not {expected}")
    found = artifacts(place)
    for name in sorted({*reference, *found}):
        if found.get(name) != reference.get(name):
            faults.append(f"{name} is {_told(found.get(name))}, not {_told(reference.get(name))}")
    if after.log[: len(before.log)] != before.log:
        faults.append("the log was rewritten")
    if not edited and any(event["type"] == "artifact_set_aside" for event in after.log):
        faults.append("it took a file of its own for an edit")
    return faults + _log_faults(after.log) + _order_faults(place)


def _log_faults(log: list[dict[str, Any]]) -> list[str]:
    faults = []
    if [event["seq"] for event in log] != list(range(1, len(log) + 1)):
        faults.append(f"seq has gaps: {[event['seq'] for event in log]}")
    begun = Counter((e["step"], e["attempt"]) for e in log if e["type"] == "step_started")
    settlements = ("step_completed", "step_failed", "step_interrupted")
    settled = Counter((e["step"], e["attempt"]) for e in log if e["type"] in settlements)
    if begun != settled or any(count > 1 for count in begun.values()):
        faults.append(f"intents {dict(begun)} were settled as {dict(settled)}")
    return faults + _run_faults(log)


def _run_faults(log: list[dict[str, Any]]) -> list[str]:
    """Every start has its end; a run that was not done is taken up again under its number, the next one counts on."""
    starts = [(e["run"], e["resumed"]) for e in log if e["type"] == "run_started"]
    ends = [(e["run"], e["outcome"]) for e in log if e["type"] == "run_ended"]
    expected, number = [], 0
    for before in [None, *(outcome for _, outcome in ends)][: len(starts)]:
        resumed = before not in (None, "done")
        number += not resumed
        expected.append((number, resumed))
    if starts != expected or [run for run, _ in starts] != [run for run, _ in ends]:
        return [f"runs started as {starts} and ended as {ends}"]
    return []


def _order_faults(place: Place) -> list[str]:
    """The folder after a run that is done: nothing to repair, nothing to remark, nothing left over."""
    wrong, remarks = _verified(place)
    faults = [f"verify: {text}" for text in (*wrong, *remarks)]
    with Folder.open(place.session) as folder:
        state = fold(LogReader(folder).read())
    if (place.session / "session.json").read_bytes() != manifest_bytes(state):
        faults.append("session.json is not the projection of the log")
    if state.session != SESSION or not state.run or state.run.outcome != "done":
        faults.append(f"the state is of {state.session!r}, {state.run}")
    return faults


def _verified(place: Place) -> tuple[list[str], list[str]]:
    if not place.session.exists():
        return [], []
    try:
        with Folder.open(place.session) as folder:
            found = verify(folder)
    except WeftError as error:
        return [str(error)], []
    return found.faults, found.remarks


def _lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def _told(data: bytes | None) -> str:
    return "not there" if data is None else f"{len(data)} bytes ({data[:20]!r}…)"
