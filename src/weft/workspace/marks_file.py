"""`statuses.yaml` and `labels.yaml`: what sessions of a workspace can be marked with.

Without the files there are four statuses, and labels are free. With `labels.yaml` only the labels it names can be put
on, so that a slip is not another label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import BaseModel, Field

from weft.files import Folder
from weft.protocol.errors import UserError
from weft.protocol.ids import NAME
from weft.workspace.document import read_source
from weft.workspace.explain import check
from weft.workspace.fields import OptionalText, Strict, Text
from weft.workspace.spelling import listed, suggest
from weft.workspace.yaml_document import parse_yaml

STATUSES: Final = "statuses.yaml"
LABELS: Final = "labels.yaml"
_File = TypeVar("_File", bound=BaseModel)


class StatusEntry(Strict):
    name: Text = Field(description="What it is called in commands: small letters, digits, '-' and '_'")
    title: OptionalText = Field(default=None, description="What people see; else its name")
    closed: bool = Field(default=False, description="Whether a session with it needs nothing more")
    color: OptionalText = Field(default=None, description="The colour a page shows it in")


class StatusFile(Strict):
    """The statuses a session can have, in the order in which they are offered."""

    statuses: list[StatusEntry] = Field(description="The statuses, in order")


class LabelEntry(Strict):
    name: Text = Field(description="What it is called in commands: small letters, digits, '-' and '_'")
    title: OptionalText = Field(default=None, description="What people see; else its name")
    values: list[Text] = Field(default=[], description="The values it can have; none for any")
    color: OptionalText = Field(default=None, description="The colour a page shows it in")


class LabelFile(Strict):
    """The labels that can be put on a session."""

    labels: list[LabelEntry] = Field(description="The labels, in order")


DEFAULT_STATUSES: Final = (
    StatusEntry(name="todo", title="To do"),
    StatusEntry(name="doing", title="Doing"),
    StatusEntry(name="done", title="Done", closed=True),
    StatusEntry(name="cancelled", title="Cancelled", closed=True),
)


def read_statuses(workspace: Folder) -> tuple[StatusEntry, ...]:
    found = _read(workspace, STATUSES, StatusFile)
    return tuple(found.statuses) if found else DEFAULT_STATUSES


def read_labels(workspace: Folder) -> tuple[LabelEntry, ...] | None:
    """None when any label is fine."""
    found = _read(workspace, LABELS, LabelFile)
    return tuple(found.labels) if found else None


def check_marks(workspace: Folder, status: str | None, labels: Mapping[str, str]) -> None:
    """UserError for a status or a label that the workspace does not have."""
    statuses = [one.name for one in read_statuses(workspace)]
    if status and status not in statuses:
        raise UserError(f"there is no status {status!r}", hint=suggest(status, statuses, "statuses"))
    for name in labels:
        if not NAME.match(name):
            raise UserError(f"{name[:80]!r} can't be a label", hint="use small letters, digits, '-' and '_'")
    declared = read_labels(workspace) if labels else None
    if declared is None:
        return
    known = {one.name: one for one in declared}
    for name, value in labels.items():
        if name not in known:
            raise UserError(f"{LABELS} has no label {name!r}", hint=suggest(name, known, "labels"))
        values = known[name].values
        if values and value not in values:
            raise UserError(f"the label {name} can't be {value!r}", hint=f"it can be {listed(values)}")


def _read(workspace: Folder, file: str, model: type[_File]) -> _File | None:
    try:
        source = read_source(workspace, file)
    except FileNotFoundError:
        return None
    document = parse_yaml(source.file, source.text)
    return check(model, document).good(document)
