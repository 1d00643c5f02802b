"""The skills of several places as one: user, project, workspace. A later place wins; a broken file is named, not fatal.

Descriptions are for the prompt, bodies for the Skill tool. Files are read when asked for, so that a skill written
during a conversation is there in the next turn. A skill that is broken in one place does not hide a good one of that
name in an earlier place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.files import Folder
from weft.protocol.errors import Problem, UserError
from weft.workspace.library import Library
from weft.workspace.skill import Skill


class Skills:
    def __init__(self, places: Sequence[tuple[str, Folder]]) -> None:
        """Each place with the word that names it in problems; the last one wins."""
        self._places = tuple(places)

    def index(self) -> tuple[list[Skill], list[Problem]]:
        """Every skill that can be read, by name, and what is wrong with the others."""
        found: dict[str, Skill] = {}
        problems: list[Problem] = []
        for word, folder in self._places:
            good, faults = Library(folder).skills()
            found |= {skill.name: skill for skill in good}
            problems += [replace(fault, file=f"{word}: {fault.file}") for fault in faults]
        return [found[name] for name in sorted(found)], problems

    def names(self) -> list[str]:
        return [skill.name for skill in self.index()[0]]

    def text(self, name: str) -> str:
        for skill in self.index()[0]:
            if skill.name == name:
                return skill.text
        raise UserError(f"there is no skill {name[:80]!r}")
