"""profile.json as `weft profile` keeps it and the writing pack reads it: topics, tone, length, voice, samples."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from weft.files import Folder
from weft.protocol.errors import WorkspaceError
from weft.workspace.document import in_order
from weft.workspace.explain import check
from weft.workspace.fields import Strict, Text
from weft.workspace.json_document import locate_json
from weft.workspace.profile import DEFAULT_INTEREST, INTEREST, WORDS, Tone, Voice, profile_source, read_profile


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
        default=[], description="Pieces of your own writing, which a model that drafts for you is shown"
    )


def read_writer(folder: Folder) -> WriterProfile:
    """The profile as the writing pack reads it; WorkspaceError with file, line and key for what it could not."""
    value, source = read_profile(folder), profile_source(folder)
    if not value or source is None:
        return WriterProfile()
    checked = check(WriterProfile, locate_json(source, value))
    if checked.problems or checked.model is None:
        raise WorkspaceError(in_order(checked.problems, source.file))
    return checked.model
