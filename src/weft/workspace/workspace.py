"""The door to everything a person keeps in their workspace. Files are read when asked for, never kept, and so is the
code that reads them: whoever only lists sessions loads none of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.files import Disk, Folder
from weft.protocol.errors import Problem, UsageError, UserError, WorkspaceError

if TYPE_CHECKING:
    from weft.workspace.agent import Agent
    from weft.workspace.config import Config
    from weft.workspace.library import Library
    from weft.workspace.pipeline import Pipeline
    from weft.workspace.profile import WriterProfile
    from weft.workspace.skill import Skill


class Workspace:
    """Close it, or use it in a `with`."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @cached_property
    def _library(self) -> Library:
        from weft.workspace.library import Library

        return Library(self.folder)

    @classmethod
    def open(cls, path: Path, disk: Disk | None = None) -> Workspace:
        if not path.is_dir():
            what = "is not a folder" if path.exists() else "is not there"
            raise UserError(
                f"the workspace {path} {what}",
                hint="make one with `weft init`, or name another with --workspace or WEFT_WORKSPACE",
            )
        return cls(Folder.open(path, disk))

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.folder.close()

    @property
    def path(self) -> Path:
        return self.folder.path

    # -- pipelines

    def pipeline_names(self) -> list[str]:
        from weft.workspace.pipeline_reader import ENDING, FOLDER

        return self._library.names(FOLDER, ENDING)

    def pipeline(self, name: str) -> Pipeline:
        """UsageError when there is none of that name, WorkspaceError with all its problems when it is broken."""
        pipeline, problems = self.read_pipeline(name)
        if pipeline is None:
            raise WorkspaceError(problems)
        return pipeline

    def check_pipeline(self, name: str) -> list[Problem]:
        """What is wrong with a pipeline; [] when it is good (what is only doubtful is in its `warnings`)."""
        return self.read_pipeline(name)[1]

    def read_pipeline(self, name: str, text: str | None = None) -> tuple[Pipeline | None, list[Problem]]:
        """The pipeline, or None and its problems; with `text`, as if its file said that, whether there is one or
        not."""
        from weft.workspace.pipeline_reader import ENDING, FOLDER, read_pipeline

        names = self.pipeline_names()
        if name in names or text is not None:
            return read_pipeline(self._library, name, text)
        hint = ""
        if name in self._library.names(FOLDER, ".yml"):
            hint = f"rename {FOLDER}/{name}.yml to {name}{ENDING}"
        raise _unknown("pipeline", name, names, hint)

    # -- what pipelines use

    def agent_names(self) -> list[str]:
        return self._library.agent_names()

    def agent(self, name: str) -> Agent:
        if name not in (names := self.agent_names()):
            raise _unknown("agent", name, names)
        return self._library.agent(name)

    def skill_names(self) -> list[str]:
        return self._library.skill_names()

    def skill(self, name: str) -> Skill:
        if name not in (names := self.skill_names()):
            raise _unknown("skill", name, names)
        return self._library.skill(name)

    def skills(self) -> tuple[list[Skill], list[Problem]]:
        """Every skill that can be read, and what is wrong with the others."""
        return self._library.skills()

    def profile(self) -> Mapping[str, Any]:
        from weft.workspace.profile import read_profile

        return read_profile(self.folder)

    def writer(self) -> WriterProfile:
        from weft.workspace.profile import read_writer

        return read_writer(self.folder)

    def write_profile(self, value: Mapping[str, Any]) -> None:
        from weft.workspace.profile import write_profile

        write_profile(self.folder, value)

    def config(self) -> Config:
        from weft.workspace.config import read_config

        return read_config(self.folder)

    def code_files(self) -> dict[str, str]:
        """Every file that the code of steps may load, with its hash."""
        from weft.workspace.code_file import code_files

        return code_files(self.folder)

    def code_version(self, file: str) -> str:
        """One hash for code/FILE and everything in code/ that it imports."""
        return self._library.code_version(file)


def _unknown(kind: str, name: str, names: list[str], hint: str = "") -> UsageError:
    from weft.workspace.spelling import listed, nearest

    if not names:
        return UsageError(f"unknown {kind} '{name}': the workspace has none", hint=hint or "`weft init` lays some")
    close = nearest(name, names)
    hint = hint or (f"did you mean '{close}'?" if close else "")
    return UsageError(f"unknown {kind} '{name}'; the {kind}s are: {listed(names)}", hint=hint)
