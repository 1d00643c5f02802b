"""Skills for a conversation: descriptions always, bodies on demand, from several folders of which the last wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.files import Folder
from weft.protocol.errors import Problem, UserError
from weft.workspace.library import Library
from weft.workspace.skill import Skill


@dataclass(frozen=True, slots=True)
class SkillShelf:
    """Read when asked for: a skill that is edited during a conversation counts from its next use on."""

    folders: Sequence[Folder]
    """Of the workspace, the working folder and the person, in this order: the last one that has a skill wins."""

    def names(self) -> list[str]:
        return sorted(self._all()[0])

    def text(self, name: str) -> str:
        found = self._all()[0]
        if name not in found:
            raise UserError(f"there is no skill {name[:80]!r}", hint=f"the skills are: {', '.join(found) or 'none'}")
        return found[name].text

    def index(self) -> str:
        """A line for each skill, and what is wrong with those that can't be read: named, and not in the way."""
        found, problems = self._all()
        lines = [f"- {name}: {found[name].description}" for name in sorted(found)]
        lines += [f"- (broken, not usable) {problem.file}: {problem.message}" for problem in problems]
        return "\n".join(lines)

    def _all(self) -> tuple[dict[str, Skill], list[Problem]]:
        found: dict[str, Skill] = {}
        problems: list[Problem] = []
        for folder in self.folders:
            skills, broken = Library(folder).skills()
            found |= {skill.name: skill for skill in skills}
            problems += broken
        return found, problems
