"""profile.json: what a person says of themselves, in any shape they like. Steps name the parts they read."""

from __future__ import annotations

from typing import Any, Final

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace.document import describe, read_source
from weft.workspace.json_document import parse_json

FILE: Final = "profile.json"


def read_profile(folder: Folder) -> dict[str, Any]:
    """{} when there is none; WorkspaceError with the line when it is broken."""
    try:
        source = read_source(folder, FILE)
    except FileNotFoundError:
        return {}
    value = parse_json(source)
    if not isinstance(value, dict):
        message = f"the profile is an object of names and values, not {describe(value)}"
        raise WorkspaceError([Problem(FILE, message, 1, 1, hint='write { "topics": [] }, for example')])
    return value
