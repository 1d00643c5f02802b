"""What a killed process leaves behind, and how it is put right.

The log leads and the files follow: an artifact's text is durable in the log before its file is written. So after a
crash a file of an unfinished run may be missing, old or torn although its step is completed. `unfinished_writes` finds
those, and tells them from a person's edit: only a file that is missing, equal to the version before, or a torn piece
of the right one is ours to write again. Anything else is an edit and is left to the planner.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.files import Folder
from weft.protocol.call_events import used_by
from weft.protocol.events import ArtifactAccepted, DurableEvent, ItemSettled, RunEnded, StepInterrupted
from weft.protocol.hashes import hash_bytes
from weft.session.log import LogReader
from weft.session.state import SessionState

PROCESS_ENDED = "the process ended"


def unfinished_writes(folder: Folder, state: SessionState) -> dict[str, bytes]:
    """The artifacts whose files must be written again, with their bytes."""
    suspects: dict[str, bytes | None] = {}
    for name, artifact in state.artifacts.items():
        if not artifact.settled:
            current = folder.read_or_none(name)
            if current is None or hash_bytes(current) != artifact.hash:
                suspects[name] = current
    if not suspects:
        return {}
    texts = accepted_contents(folder, {state.artifacts[name].seq for name in suspects})
    found: dict[str, bytes] = {}
    for name, current in suspects.items():
        artifact = state.artifacts[name]
        right = texts.get(artifact.seq)
        if right is None:
            continue  # its kept copy is lost; the file stays as it is, and the planner makes the artifact again
        if current is None or hash_bytes(current) in artifact.before or _torn(current, right):
            found[name] = right
    return found


def accepted_contents(folder: Folder, seqs: set[int]) -> dict[int, bytes]:
    """The bytes of accepted artifacts by the sequence number of their event, without those whose copy is lost."""
    found: dict[int, bytes] = {}
    for record in LogReader(folder).read():
        event = record.event
        if record.seq in seqs and isinstance(event, ArtifactAccepted):
            data = kept_copy(folder, event)
            if data is not None:
                found[record.seq] = data
    return found


def blob(folder: Folder, digest: str) -> bytes | None:
    """What a session keeps under its hash; None when it is not there any more, or not that."""
    data = folder.read_or_none(f"blobs/{digest}")
    return data if data is not None and hash_bytes(data) == digest else None


def kept_copy(folder: Folder, event: ArtifactAccepted | ItemSettled) -> bytes | None:
    """The bytes of an artifact or an item from the log or their blob; None when they are not there any more, or not
    those."""
    if event.content is None:
        return blob(folder, event.hash)
    data = event.content.encode()
    return data if hash_bytes(data) == event.hash else None


def aside_name(name: str, data: bytes) -> str:
    """Where in a session's folder something is kept that makes room for another."""
    return f"aside/{name.replace('/', '-')}.{hash_bytes(data)[:8]}"


def item_results(folder: Folder, seqs: set[int]) -> dict[str, tuple[ItemSettled, bytes]]:
    """The results of items by the hash of what they are made from, without those whose copy is lost."""
    found: dict[str, tuple[ItemSettled, bytes]] = {}
    files: dict[str, ArtifactAccepted] = {}
    for record in LogReader(folder).read() if seqs else ():
        event = record.event
        if isinstance(event, ArtifactAccepted) and event.item:
            files[event.artifact] = event
        elif record.seq in seqs and isinstance(event, ItemSettled):
            kept = files.get(event.artifact, event)
            data = kept_copy(folder, kept)
            if data is not None and kept.hash == event.hash:
                found[event.input_hash] = (event, data)
    return found


def settle_open_attempts(state: SessionState, why: str) -> list[DurableEvent]:
    """One settlement for every intent that has none, with what its calls used."""
    run = state.run.run if state.run else 0
    return [
        StepInterrupted(run=run, step=name, attempt=step.attempt, why=why, **used_by(step.calls).told)
        for name, step in state.steps.items()
        if step.open
    ]


def closing(state: SessionState) -> list[DurableEvent]:
    """What ends a run whose process is gone. At an open gate it leaves nothing undone: the run waits as before."""
    if state.run is None or state.run.outcome is not None:
        return []
    waiting = state.gates and not any(step.open or step.status == "failed" for step in state.steps.values())
    ended = RunEnded(
        run=state.run.run,
        outcome="waiting" if waiting else "interrupted",
        message=waiting_for(gate.gate for gate in state.gates.values()) if waiting else PROCESS_ENDED,
    )
    return [*settle_open_attempts(state, PROCESS_ENDED), ended]


def waiting_for(gates: Iterable[str]) -> str:
    return f"waiting for a reply: {', '.join(gates)}"


def _torn(current: bytes, right: bytes) -> bool:
    """A piece of the right bytes as a crash leaves it: cut short, or with blocks that are still zero."""
    if len(current) > len(right):
        return False
    if right.startswith(current):
        return True
    return b"\0" in current and all(a in (0, b) for a, b in zip(current, right, strict=False))
