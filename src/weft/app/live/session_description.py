"""How a person calls a session and where it stands for them: checked against what the workspace declares."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.app.parts import Parts
from weft.files import Folder
from weft.protocol.commands import DescribeSession, SwitchSource
from weft.protocol.errors import UserError
from weft.protocol.events import SessionDescribed, SourceSwitched
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.workspace.marks_file import LabelEntry, StatusEntry

LONGEST_TITLE: Final = 200
LONGEST_NOTE: Final = 20_000
_SAID: Final = tuple(field.name for field in fields(DescribeSession) if field.name != "type")


def declared_marks(workspace: Workspace) -> tuple[tuple[StatusEntry, ...], tuple[LabelEntry, ...] | None]:
    """The statuses and labels of a workspace; None for labels when any is fine."""
    from weft.workspace.marks_file import read_labels, read_statuses

    return read_statuses(workspace.folder), read_labels(workspace.folder)


def said_of_session(
    parts: Parts, command: DescribeSession | SwitchSource, project: Path | None = None
) -> SessionDescribed | SourceSwitched:
    """What is recorded of it. UserError for what the workspace does not have. `project` may declare sources too."""
    if isinstance(command, DescribeSession):
        return described(parts.workspace.folder, command)
    if command.on is not None:
        parts.sources().one(command.source, project)
    return SourceSwitched(source=command.source, on=command.on)


def described(workspace: Folder, command: DescribeSession) -> SessionDescribed:
    """UserError for what the workspace does not have, or when nothing is said."""
    if command == DescribeSession():
        raise UserError("there is nothing to change", hint="give a title, a status, a label, a flag or a note")
    title = None if command.title is None else " ".join(command.title.split())
    if len(title or "") > LONGEST_TITLE:
        raise UserError(f"a title has at most {LONGEST_TITLE} characters", hint="say the rest in a note")
    if len(command.note or "") > LONGEST_NOTE:
        raise UserError(f"a note has at most {LONGEST_NOTE:,} characters", hint="keep it in a file")
    from weft.workspace.marks_file import check_marks

    check_marks(workspace, command.status, command.labels)
    return SessionDescribed(**{name: getattr(command, name) for name in _SAID} | {"title": title})
