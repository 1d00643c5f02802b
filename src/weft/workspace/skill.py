"""A skill: a SKILL.md whose description is always known and whose text is given to the steps that name it. How its file
is read is in skill_file.py."""

from __future__ import annotations

from typing import Final

from weft.protocol.values import dataclass

FOLDER: Final = ".claude/skills"
FILE: Final = "SKILL.md"


@dataclass(frozen=True)
class Skill:
    name: str
    description: str
    text: str
    file: str
    hash: str
    sources: tuple[str, ...] = ()
    """The sources it needs."""
