"""What a pipeline may refer to in its workspace: agents, skills, schemas, functions. Read when asked for, by name."""

from __future__ import annotations

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace.agent import Agent
from weft.workspace.agent_file import read_agent
from weft.workspace.code_file import code_version, function_fault
from weft.workspace.config import Config
from weft.workspace.config_file import read_config
from weft.workspace.names import agent_names, file_names, skill_names
from weft.workspace.schema_file import FOLDER as SCHEMA_FOLDER
from weft.workspace.schema_file import SchemaFile, read_schema
from weft.workspace.skill import Skill
from weft.workspace.skill_file import read_skill


class Library:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def names(self, under: str, ending: str) -> list[str]:
        return file_names(self.folder, under, ending)

    def agent_names(self) -> list[str]:
        return agent_names(self.folder)

    def agent(self, name: str) -> Agent:
        return read_agent(self.folder, name)

    def skill_names(self) -> list[str]:
        return skill_names(self.folder)

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
        return [*self.config().limits]

    def config(self) -> Config:
        return read_config(self.folder)

    def code_version(self, file: str) -> str:
        return code_version(self.folder, file)
