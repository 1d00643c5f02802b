"""Whether the runtime can go on where it stood: its transcript has to be really there.

`state.json` in its folder names its session and the last of our turns that it finished. It is a note, not a truth: when
it is gone, or the transcript is missing, too small or without an answer, the runtime begins anew and is told what was
said before, from our log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.conversation.claude_agent.options import sdk
from weft.conversation.compaction import by_rule
from weft.conversation.projections import Said, told_to_model
from weft.files import Folder
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass

STATE: Final = "state.json"
SMALLEST: Final = 500
"""Bytes; a transcript with an answer in it is never smaller."""
GO_ON: Final = "Go on with what you were doing."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRuntime:
    session: str
    turn: int


def read_kept(folder: Path) -> KeptRuntime | None:
    if not folder.is_dir():
        return None
    with Folder.open(folder) as opened:
        data = opened.read_or_none(STATE)
    try:
        found = json_value(data or b"null")
        return KeptRuntime(session=str(found["session"]), turn=int(found["turn"]))
    except (ValueError, TypeError, KeyError):
        return None  # nothing is lost but the way back: it begins anew


def write_kept(folder: Path, kept: KeptRuntime) -> None:
    with Folder.open(folder) as opened:
        opened.replace(STATE, json.dumps({"session": kept.session, "turn": kept.turn}).encode(), sync=False)


def transcript_of(folder: Path, working: Path, session: str) -> Path:
    key: str = sdk().project_key_for_directory(working)
    return folder / "projects" / key / f"{session}.jsonl"


def is_there(transcript: Path) -> bool:
    """Exists, is big enough, and the model has said something in it. Whatever can't be read is not there."""
    try:
        if transcript.stat().st_size < SMALLEST:
            return False
        with transcript.open("rb") as file:
            return any(_is_answer(line) for line in file)
    except OSError:
        return False


def _is_answer(line: bytes) -> bool:
    if b'"assistant"' not in line:
        return False
    try:
        found = json_value(line)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("type") == "assistant"


def what_it_is_told(entries: Sequence[Said], turn: int, since: int) -> str:
    """The message of this turn, after what happened since the turn `since` that it has not seen."""
    now = [said for said in entries if said.turn == turn and said.kind == "message"]
    before = [said for said in entries if said not in now and said.turn > since]
    text = "\n\n".join(said.text for said in now)
    if not before:
        return text
    return f"{_missed(before, fresh=since == 0)}\n\n{text or GO_ON}"


def _missed(entries: Sequence[Said], *, fresh: bool) -> str:
    """What was said without it, in short; stopped calls in full, because it must not take them for done."""
    stopped = [said for said in entries if said.kind == "result" and said.outcome.startswith("interrupted")]
    told = [f"{said.tool}: {told_to_model(said.outcome, said.effect, said.text)}" for said in stopped]
    head = "What was said in this conversation before" if fresh else "What happened since your last answer"
    text = "\n".join([by_rule(entries), *told])
    return f"[{head}, in short]\n{text}\n[Until here]"
