"""What a pipeline may refer to in its workspace: agents, skills, schemas, functions. Read when asked for, by name."""

from __future__ import annotations

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace import agent, skill
from weft.workspace.agent import Agent, read_agent
from weft.workspace.code_file import code_version, function_fault
from weft.workspace.config import read_config
from weft.workspace.schema_file import FOLDER as SCHEMA_FOLDER
from weft.workspace.schema_file import SchemaFile, read_schema
from weft.workspace.skill import Skill, read_skill


class Library:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def names(self, under: str, ending: str) -> list[str]:
        """The names of the files below a folder that end so, without the ending; [] when there is no such folder."""
        try:
            with self.folder.folder(under) as inner:
                found = inner.names()
        except FileNotFoundError:
            return []
        return [name.removesuffix(ending) for name in found if name.endswith(ending) and not name.startswith(".")]

    def agent_names(self) -> list[str]:
        return self.names(agent.FOLDER, ".md")

    def agent(self, name: str) -> Agent:
        return read_agent(self.folder, name, self.skill_names())

    def skill_names(self) -> list[str]:
        """Folders with a SKILL.md in them, whether or not that can be read."""
        try:
            with self.folder.folder(skill.FOLDER) as skills:
                return [name for name in skills.names() if not name.startswith(".") and _has_entry(skills, name)]
        except FileNotFoundError:
            return []

    def skill(self, name: str) -> Skill:
        return read_skill(self.folder, name)

    def skills(self) -> tuple[list[Skill], list[Problem]]:
        good: list[Skill] = []
        problems: list[Problem] = []
        for name in self.skill_names():
            try:
                good.append(self.skill(name))
            except WorkspaceError as error:
                problems.extend(error.problems)
        return good, problems

    def schema_names(self) -> list[str]:
        return self.names(SCHEMA_FOLDER, "")

    def schema(self, name: str) -> SchemaFile:
        return read_schema(self.folder, name)

    def function_fault(self, reference: str) -> tuple[str, str] | None:
        return function_fault(self.folder, reference)

    def limit_names(self) -> list[str]:
        """The resources that config.toml has limits for."""
        return [*read_config(self.folder).limits]

    def code_version(self, file: str) -> str:
        return code_version(self.folder, file)


def _has_entry(skills: Folder, name: str) -> bool:
    if not skills.is_folder(name):
        return False
    with skills.folder(name) as inner:
        return skill.FILE in inner.names()
