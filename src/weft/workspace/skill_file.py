"""A SKILL.md as people write it: the keys of its front matter."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import Field

from weft.files import Folder
from weft.protocol.errors import WorkspaceError
from weft.workspace.document import SourceFile, read_source
from weft.workspace.fields import NameList, OptionalText, Strict, Text, Version
from weft.workspace.front_matter import parse_front_matter, read_front
from weft.workspace.skill import FILE, FOLDER, Skill


class SkillFront(Strict):
    """The keys that the common SKILL.md format knows; those besides name and description are for other tools."""

    name: Text = Field(description="The skill's name: the same as its folder's")
    description: Text = Field(description="What the skill is for and when to use it")
    license: OptionalText = Field(default=None, description="The licence of the skill")
    compatibility: OptionalText = Field(default=None, description="What the skill needs around it")
    version: Version = Field(default="1", description="The skill's version")
    metadata: dict[str, Any] = Field(default={}, description="Free notes of other tools")
    required_sources: NameList = Field(
        default=[],
        alias="requiredSources",
        description="The sources it needs: an agent that has the skill gets their tools",
    )
    allowed_tools: NameList = Field(
        default=[], alias="allowed-tools", description="Tools that other programs let it use"
    )


def read_skill(folder: Folder, name: str) -> Skill:
    """FileNotFoundError when it is not there, WorkspaceError when it is broken."""
    return _skill(read_source(folder, f"{FOLDER}/{name}/{FILE}"), name)


@lru_cache(maxsize=256)
def _skill(source: SourceFile, name: str) -> Skill:
    """Of a file's content: read again and again for every agent that has the skill, and parsed once."""
    found = parse_front_matter(source)
    front, problems = read_front(SkillFront, source, name, found)
    if problems or front is None:
        raise WorkspaceError(problems)
    sources = tuple(dict.fromkeys(front.required_sources))
    return Skill(front.name, front.description, found.body, source.file, source.hash, sources)
