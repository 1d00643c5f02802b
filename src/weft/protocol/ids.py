"""Ids and names are checked once, on entry; behind this door they are safe to use as one path component."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from weft.protocol.errors import UsageError
from weft.protocol.hashes import hash_bytes
from weft.protocol.patterns import pattern

SESSION_ID: Final = pattern(r"[a-z0-9][a-z0-9-]{2,79}\Z")
NAME: Final = pattern(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
ARTIFACT: Final = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+\Z")
CONTENT: Final = "content.md"
"""The first input in a session, in its normal form; further inputs are attachments."""
ORIGINAL: Final = "original"
"""The first input as it was given, under its own ending, beside `CONTENT`."""
MACHINE_FILES: Final = frozenset({"log.jsonl", "session.json", CONTENT})
"""Names at the top of a session folder that no artifact may take, besides those of originals."""

_ORIGINAL_FILE: Final = pattern(rf"{ORIGINAL}(-\d+)?\.[a-z0-9]+\Z")


def check_session_id(text: str) -> str:
    if SESSION_ID.match(text):
        return text
    raise UsageError(
        f"{text[:100]!r} is not a session id",
        hint="an id is 3 to 80 characters: small letters, digits and hyphens, starting with a letter or digit",
    )


def artifact_name_problem(name: str) -> str | None:
    """Why this can't be an artifact's name, or None when it can."""
    if name in MACHINE_FILES or is_original(name):
        return f"{name} is a file the session keeps for itself"
    if len(name) > 100:
        return "an artifact's name has at most 100 characters"
    if not ARTIFACT.match(name):
        return "an artifact is a plain file name with an ending, such as summary.json (no folders, no leading dot)"
    return None


def is_original(name: str) -> bool:
    """Whether a name at the top of a session folder is that of an input as it was given."""
    return bool(_ORIGINAL_FILE.match(name))


def slug(text: str, limit: int = 40) -> str:
    """A readable id part: letters without accents, digits and hyphens; "" when nothing readable is left."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode("ascii")  # ß is ss
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:limit].rstrip("-")


def session_id_for(pipeline: str, origin: str, title: str, number: int = 1) -> str:
    """The id a pipeline and an input's place lead to: the same file comes back to the same session.

    `number` counts further sessions a person asked for on the same file.
    """
    key = hash_bytes(f"{pipeline}\0{origin}".encode("utf-8", "surrogatepass"))[:6]
    name = slug(title) or "session"
    return f"{name}-{key}" + (f"-{number}" if number > 1 else "")
