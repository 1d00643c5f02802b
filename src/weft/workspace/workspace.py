"""The door to everything a person keeps in their workspace. Files are looked at whenever they are asked for; what was
made of them is taken again while they are the same, and then the code that reads them is not even loaded."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from weft.files import Disk, Folder
from weft.protocol.errors import Problem, UsageError, UserError, WorkspaceError
from weft.workspace.names import agent_names, file_names, skill_names
from weft.workspace.parsed_files import NotedFolder, ParsedFiles

if TYPE_CHECKING:
    from weft.workspace.agent import Agent
    from weft.workspace.config import Config
    from weft.workspace.library import Library
    from weft.workspace.pipeline import Pipeline
    from weft.workspace.skill import Skill
    from weft.workspace.writer_profile import WriterProfile

Made = TypeVar("Made")


class Workspace:
    """Close it, or use it in a `with`."""

    def __init__(self, folder: Folder, own: Path | None = None) -> None:
        """`own`: where the person keeps what was made of files; None for nowhere."""
        self.folder = folder
        self._parsed = ParsedFiles(folder, own)

    @classmethod
    def open(cls, path: Path, disk: Disk | None = None, own: Path | None = None) -> Workspace:
        if not path.is_dir():
            another = "name another with --workspace or WEFT_WORKSPACE"
            if path.exists():
                raise UserError(f"the workspace {path} is not a folder", hint=another)
            make = f"make one with `weft init {shlex.quote(str(path))}`"
            raise UserError(f"the workspace {path} is not there", hint=f"{make}, or {another}")
        # A way up leads through folders that are not there inside the boundary.
        return cls(Folder.open(path.resolve() if ".." in path.parts else path, disk), own)

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
        from weft.workspace.pipeline import ENDING, FOLDER

        return file_names(self.folder, FOLDER, ENDING)

    def misnamed_pipelines(self) -> dict[str, str]:
        """Files that are not read for their ending, each with what to do about it."""
        from weft.workspace.pipeline import ENDING, FOLDER

        names = file_names(self.folder, FOLDER, ".yml")
        return {name: f"rename {FOLDER}/{name}.yml to {name}{ENDING}" for name in names}

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
        if text is None and (kept := self._parsed.find("pipeline", name)) is not None:
            return kept, []
        names = self.pipeline_names()
        if name in names or text is not None:
            from weft.workspace.library import Library
            from weft.workspace.pipeline_reader import read_pipeline

            noted = NotedFolder.of(self.folder)
            pipeline, problems = read_pipeline(Library(noted), name, text)
            if pipeline is not None and text is None:
                self._parsed.keep("pipeline", name, noted, pipeline)
            return pipeline, problems
        raise _unknown("pipeline", name, names, self.misnamed_pipelines().get(name, ""))

    # -- what pipelines use

    def agent_names(self) -> list[str]:
        return agent_names(self.folder)

    def agent(self, name: str) -> Agent:
        return self._made("agent", name, self.agent_names, lambda library: library.agent(name))

    def skill_names(self) -> list[str]:
        return skill_names(self.folder)

    def skill(self, name: str) -> Skill:
        return self._made("skill", name, self.skill_names, lambda library: library.skill(name))

    def skills(self) -> tuple[list[Skill], list[Problem]]:
        """Every skill that can be read, and what is wrong with the others."""
        from weft.workspace.library import Library

        return Library(self.folder).skills()

    def profile(self) -> Mapping[str, Any]:
        from weft.workspace.profile import read_profile

        return read_profile(self.folder)

    def writer(self) -> WriterProfile:
        from weft.workspace.writer_profile import read_writer

        return read_writer(self.folder)

    def write_profile(self, value: Mapping[str, Any]) -> None:
        from weft.workspace.profile import write_profile

        write_profile(self.folder, value)

    def config(self) -> Config:
        return self._made("config", "", lambda: [""], lambda library: library.config())

    def _made(self, kind: str, name: str, names: Callable[[], list[str]], read: Callable[[Library], Made]) -> Made:
        """What a file says, as it was made of it before while that still holds."""
        kept: Made | None = self._parsed.find(kind, name)
        if kept is not None:
            return kept
        from weft.workspace.library import Library

        if name not in (there := names()):
            raise _unknown(kind, name, there)
        noted = NotedFolder.of(self.folder)
        made = read(Library(noted))
        self._parsed.keep(kind, name, noted, made)
        return made

    def code_files(self) -> dict[str, str]:
        """Every file that the code of steps may load, with its hash."""
        from weft.workspace.code_file import code_files

        return code_files(self.folder)

    def code_version(self, file: str) -> str:
        """One hash for code/FILE and everything in code/ that it imports."""
        from weft.workspace.code_file import code_version

        return code_version(self.folder, file)


def _unknown(kind: str, name: str, names: list[str], hint: str = "") -> UsageError:
    from weft.workspace.spelling import listed, nearest

    if not names:
        return UsageError(f"unknown {kind} '{name}': the workspace has none", hint=hint or "`weft init` lays some")
    close = nearest(name, names)
    hint = hint or (f"did you mean '{close}'?" if close else "")
    return UsageError(f"unknown {kind} '{name}'; the {kind}s are: {listed(names)}", hint=hint)
