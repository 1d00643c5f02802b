"""`session.json`: the readable projection of a session. Written for people and other tools, never read as truth: only
its `lastSeq` and `lastHash` are read, to notice a log that was cut (`cuts.py`)."""

from __future__ import annotations

import json
from typing import Any, Final

from weft.files import Folder
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.session.state import SessionState, StepState

MANIFEST: Final = "session.json"
_ENCODER: Final = json.JSONEncoder()
VERSION: Final = 2
"""1 was written by systems older than the log."""


def manifest(state: SessionState) -> dict[str, Any]:
    run = state.run
    names = [*(run.steps if run else ()), *(name for name in state.steps if not run or name not in run.steps)]
    source = next(iter(state.inputs.values()), None)
    return {
        "version": VERSION,
        "sessionId": state.session,
        "pipeline": state.pipeline,
        "desiredOutput": run.desired if run else None,
        "createdAt": state.created_at,
        "updatedAt": state.updated_at,
        "sourceHash": source.hash if source else None,
        "lastSeq": state.seq,
        "lastHash": state.hash or None,
        "run": _run(state),
        "steps": {name: _step(state.steps[name]) for name in names},
    }


@dataclass(frozen=True, slots=True)
class Known:
    """What a manifest knows of the log it was made from."""

    session: str
    seq: int
    hash: str


def read_known(folder: Folder) -> Known | None:
    """None when there is no manifest, or none of ours that can be read: then it knows nothing."""
    try:
        found = json_value(folder.read_or_none(MANIFEST) or b"")
        if found["version"] == VERSION and type(found["lastSeq"]) is int:
            return Known(str(found["sessionId"]), found["lastSeq"], str(found.get("lastHash") or ""))
    except (ValueError, TypeError, KeyError):
        return None
    return None


def manifest_bytes(state: SessionState) -> bytes:
    """One line a key and one line a step: made often, and meant to be read."""
    content = manifest(state)
    steps = content.pop("steps")
    lines = [f'  "{key}": {_ENCODER.encode(value)}' for key, value in content.items()]
    inner = ",\n".join(f"    {_ENCODER.encode(name)}: {_ENCODER.encode(step)}" for name, step in steps.items())
    lines.append('  "steps": {\n' + inner + "\n  }" if steps else '  "steps": {}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _run(state: SessionState) -> dict[str, Any] | None:
    """Where the last run stands, and what it waits for."""
    run = state.run
    if run is None:
        return None
    return {
        "run": run.run,
        "status": state.status,
        "message": run.message or None,
        "gates": [{"gate": gate.gate, "step": gate.step} for gate in state.gates.values()],
        "confirming": state.confirming.confirmation if state.confirming else None,
        "verdicts": dict(state.verdicts),
    }


def _step(step: StepState) -> dict[str, Any]:
    done = step.completion
    return {
        "status": step.status,
        "contentHash": done.hash if done else None,
        "inputHash": done.input_hash if done else None,
        "schemaVersion": done.schema_version if done else None,
        "completedAt": done.at if done else None,
        "attempt": step.attempt,
        "errorMessage": step.problem or None,
    }
