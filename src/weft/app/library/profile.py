"""What is known of the person a workspace writes for: the parts that can be set, and setting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from weft.app.session_requests import read_given
from weft.protocol.errors import EditConflictError
from weft.protocol.hashes import hash_bytes
from weft.workspace.profile import FILE, WORDS, Tone, Voice, parse_topics, with_part
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.workspace.writer_profile import WriterProfile

PROFILE_FILE: Final = FILE
TONES: Final[tuple[str, ...]] = get_args(Tone)
VOICES: Final[tuple[str, ...]] = get_args(Voice)
PIECE_WORDS: Final = WORDS
"""The least and the most words that a piece can be asked for."""
SAMPLE_LIMIT: Final = 20_000
"""Characters of a writing sample that are kept: more says nothing more about how somebody writes."""
_PARTS: Final = {"tone": "style.tone", "word_count": "style.targetWordCount", "voice": "style.voice"}


def profile_parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a profile that options set, by dotted name."""
    parts: dict[str, Any] = {}
    if given["topics"] is not None:
        parts["topics"] = parse_topics(given["topics"], "--topics")
    return parts | {key: given[word] for word, key in _PARTS.items() if given[word] is not None}


def change_profile(
    workspace: Workspace, parts: Mapping[str, Any], samples: Sequence[Path] = (), *, forget_samples: bool = False
) -> WriterProfile:
    """Set the parts that are named; everything else stays as it is."""
    value, changed = dict(workspace.profile()), dict(parts)
    kept = [] if forget_samples else list(value.get("writingSamples", []))
    read = [_sample(path) for path in samples]
    if samples or forget_samples:
        changed["writingSamples"] = [*kept, *(text for text in read if text not in kept)]
    for key, part in changed.items():
        value = with_part(value, key, part)
    workspace.write_profile(value)
    return workspace.writer()


def read_profile_file(workspace: Workspace) -> tuple[Mapping[str, Any], str]:
    """The whole profile, and the hash of its file; "" when there is none."""
    data = workspace.folder.read_or_none(FILE)
    return workspace.profile(), hash_bytes(data) if data is not None else ""


def write_profile_file(workspace: Workspace, value: Mapping[str, Any], expected: str) -> tuple[Mapping[str, Any], str]:
    """Put the whole profile in place. `expected` is the hash of what was changed."""
    if read_profile_file(workspace)[1] != expected:
        raise EditConflictError(f"{FILE} was changed meanwhile", hint="look at what stands there now, and save again")
    workspace.write_profile(value)
    return read_profile_file(workspace)


def _sample(path: Path) -> str:
    from weft.documents import read_document

    return read_document(read_given(path), path.name).text[:SAMPLE_LIMIT].strip()
