"""What a person asks for: which session, and the files they name, read whole within the limit of documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from weft.documents import MAX_BYTES
from weft.files import translated
from weft.protocol.commands import GivenFile, Mode
from weft.protocol.errors import EXIT_USAGE, UserError
from weft.protocol.values import dataclass
from weft.workspace.pipeline import Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """Which session: the one of a file, a named one, or a new one; and how its conversation is to be held."""

    pipeline: str | Pipeline | None = None
    file: Path | GivenFile | None = None
    """The pipeline's first input: a file, or what was read from standard input or an address."""
    together: tuple[Path | GivenFile, ...] = ()
    """Further files, to be read with it as one document."""
    inputs: Mapping[str, Path | GivenFile] = field(default_factory=dict)
    session: str | None = None
    new: bool = False
    """Begin another session on a file that has one already."""
    attended: bool = True
    """Somebody may be there to approve what a step's tool wants to do; else that is denied at once."""
    talk: bool = False
    """To talk in it: it needs no pipeline, and its conversation is opened at once."""
    model: str | None = None
    """The model that answers in the conversation; else the workspace's."""
    mode: Mode = "ask"
    kb: str | None = None
    """The collection whose tools are offered; else the workspace's own choice, if it has one."""
    working: Path = field(default_factory=Path.cwd)
    """The folder that the conversation's tools may work in, besides the session's own."""


def identity(file: Path | GivenFile) -> str:
    return file.identity if isinstance(file, GivenFile) else os.path.abspath(file)


def given_file(file: Path | GivenFile) -> GivenFile:
    return file if isinstance(file, GivenFile) else GivenFile(read_given(file), os.path.abspath(file))


def read_given(path: Path) -> bytes:
    """The bytes of a file that a person named, up to the limit of documents."""
    try:
        # Opened without waiting, so that a pipe nobody writes to is empty instead of a hang.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError
            if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
                raise UserError(f"{path} is a device, not a file", exit_code=EXIT_USAGE)
            os.set_blocking(file.fileno(), True)
            if status.st_size > MAX_BYTES:
                raise _too_large(path, f"has {status.st_size:,} bytes")
            data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise _too_large(path, "goes on and on")
            return data
    except FileNotFoundError as error:
        raise UserError(
            f"there is no file {path}",
            hint="check the name; a session that already has a copy continues with --session-id",
            exit_code=EXIT_USAGE,
        ) from error
    except IsADirectoryError as error:
        raise UserError(
            f"{path} is a folder, not a file", hint=f"name the files in it: {path}/*", exit_code=EXIT_USAGE
        ) from error
    except OSError as error:
        raise translated(error, f"can't read {path}") from error


def check_named(kinds: Mapping[str, str], values: Mapping[str, Any], inside: Path | None = None) -> None:
    """UserError for a file or folder that somebody names who is not at the machine, or a model: it is read here, with
    our rights. None is of the places of keys, and with `inside` each lies there, with links followed."""
    told = {name: value for name, value in values.items() if isinstance(value, str) and "\0" not in value}
    named = {name: value for name, value in told.items() if value and kinds.get(name) in ("file", "folder")}
    if not named:
        return
    from weft.tools.boundary import secret_places  # few pipelines take one

    keys = secret_places(os.path.expanduser("~"))
    for name, value in named.items():
        path = Path(os.path.realpath(os.path.expanduser(value)))
        if any(path.is_relative_to(place) for place in keys):
            raise UserError(f"{name}: {value} is where keys are kept", hint="only who administers names such a file")
        if inside is not None and not path.is_relative_to(os.path.realpath(inside)):
            raise UserError(f"{name}: {value} is not in the workspace", hint="ask somebody who may run to name it")


def _too_large(path: Path, how: str) -> UserError:
    return UserError(f"{path} {how}; the limit is {MAX_BYTES:,}", hint="split it", exit_code=EXIT_USAGE)
