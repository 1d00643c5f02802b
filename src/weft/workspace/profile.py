"""profile.json: what a person says of themselves, in any shape they like. Steps name the parts they read.

`WriterProfile` is the shape that `weft profile` keeps and the writing pack reads: topics, tone, length, voice, samples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from weft.files import Folder
from weft.protocol.errors import Problem, UsageError, WorkspaceError
from weft.workspace.document import SourceFile, describe, in_order, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Strict, Text
from weft.workspace.json_document import locate_json, parse_json

FILE: Final = "profile.json"
OLDER: Final = "user-profile.json"
"""Its name in older workspaces; read when there is no other."""
WORDS: Final = (100, 10_000)
INTEREST: Final = (1, 5)
DEFAULT_INTEREST: Final = 3
Tone = Literal["beginner", "intermediate", "expert", "mixed"]
Voice = Literal["first-person", "third-person", "instructional"]


class Topic(Strict):
    topic: Text = Field(description="What it is called")
    interestLevel: int = Field(  # noqa: N815  the file's own spelling
        default=DEFAULT_INTEREST, ge=INTEREST[0], le=INTEREST[1], description="How much it matters to you: 1 to 5"
    )


def _topic(value: Any) -> Any:
    """A bare name is a topic of middling interest."""
    return {"topic": value} if isinstance(value, str) else value


class _Open(BaseModel):
    """Known keys are checked, others are the person's own."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)


class Style(_Open):
    tone: Tone = Field(default="intermediate", description="For whom you write")
    targetWordCount: int = Field(  # noqa: N815
        default=1000, ge=WORDS[0], le=WORDS[1], description="How long your pieces are, in words"
    )
    voice: Voice = Field(default="first-person", description="How you speak")


class WriterProfile(_Open):
    userId: str = Field(default="default", description="What you call yourself")  # noqa: N815
    topics: list[Annotated[Topic, BeforeValidator(_topic)]] = Field(
        default=[], description="What you care about: a list of {topic, interestLevel}"
    )
    style: Style = Field(default=Style(), description="Your tone, length and voice")
    language: str = Field(
        default="", pattern="^([a-z]{2})?$", description="The language of labels, as two letters; else the document's"
    )
    writingSamples: list[str] = Field(  # noqa: N815
        default=[], description="Pieces of your own writing, from which the rhythm of your sentences is taken"
    )


def read_profile(folder: Folder) -> dict[str, Any]:
    """{} when there is none; WorkspaceError with the line when it is broken."""
    source = _source(folder)
    if source is None:
        return {}
    value = parse_json(source)
    if not isinstance(value, dict):
        message = f"the profile is an object of names and values, not {describe(value)}"
        raise WorkspaceError([Problem(source.file, message, 1, 1, hint='write { "topics": [] }, for example')])
    return value


def _source(folder: Folder) -> SourceFile | None:
    for name in (FILE, OLDER):
        try:
            return read_source(folder, name)
        except FileNotFoundError:
            continue
    return None


def read_writer(folder: Folder) -> WriterProfile:
    """The profile as the writing pack reads it; WorkspaceError with file, line and key for what it could not."""
    value, source = read_profile(folder), _source(folder)
    if not value or source is None:
        return WriterProfile()
    checked = check(WriterProfile, locate_json(source, value))
    if checked.problems or checked.model is None:
        raise WorkspaceError(in_order(checked.problems, source.file))
    return checked.model


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
