"""profile.json: what a person says of themselves, in any shape they like. Steps name the parts they read.

The shape that `weft profile` keeps and the writing pack reads is in writer_profile.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from weft.files import Folder
from weft.protocol.errors import Problem, UsageError, WorkspaceError
from weft.workspace.document import SourceFile, describe, read_source
from weft.workspace.json_document import parse_json

FILE: Final = "profile.json"
OLDER: Final = "user-profile.json"
"""Its name in older workspaces; read when there is no other."""
WORDS: Final = (100, 10_000)
INTEREST: Final = (1, 5)
DEFAULT_INTEREST: Final = 3
Tone = Literal["beginner", "intermediate", "expert", "mixed"]
Voice = Literal["first-person", "third-person", "instructional"]


def read_profile(folder: Folder) -> dict[str, Any]:
    """{} when there is none; WorkspaceError with the line when it is broken."""
    source = profile_source(folder)
    if source is None:
        return {}
    value = parse_json(source)
    if not isinstance(value, dict):
        message = f"the profile is an object of names and values, not {describe(value)}"
        raise WorkspaceError([Problem(source.file, message, 1, 1, hint='write { "topics": [] }, for example')])
    return value


def profile_source(folder: Folder) -> SourceFile | None:
    for name in (FILE, OLDER):
        try:
            return read_source(folder, name)
        except FileNotFoundError:
            continue
    return None


def write_profile(folder: Folder, value: Mapping[str, Any]) -> None:
    folder.replace(FILE, json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")


def parse_topics(text: str, flag: str) -> list[dict[str, Any]]:
    """`ai:5, sea level:2, baking`: names with the interest behind a colon, 3 when there is none. "" is no topic."""
    found: list[dict[str, Any]] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, colon, level = (part.strip() for part in word.rpartition(":"))
        if not colon:
            name, level = word, str(DEFAULT_INTEREST)
        if not name or level not in {str(number) for number in range(INTEREST[0], INTEREST[1] + 1)}:
            raise UsageError(
                f"{flag}: {word!r} is no topic",
                hint=f'write names with an interest from {INTEREST[0]} to {INTEREST[1]}: {flag} "ai:5, baking:2"',
            )
        if name.casefold() in {topic["topic"].casefold() for topic in found}:
            raise UsageError(f"{flag} names {name!r} twice")
        found.append({"topic": name, "interestLevel": int(level)})
    return found


def part(profile: Mapping[str, Any], key: str) -> Any:
    """A dotted part of the profile; None when it is not set."""
    value: Any = profile
    for name in key.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def with_part(profile: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The profile with another value at a dotted name."""
    name, _, rest = key.partition(".")
    inner = profile.get(name)
    if rest:
        value = with_part(inner if isinstance(inner, Mapping) else {}, rest, value)
    return {**profile, name: value}
