"""A pack as a folder: pack.yaml, and the files that go into a workspace.

    AGENTS.md  profile.json  config.toml  pipelines/  schemas/  code/     to the same place in the workspace
    agents/  skills/                                                      to .claude/, where other tools look too

Anything else is a mistake that would silently not be laid, so it is an error; README.md and the like stay in the pack.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from weft.files import Folder
from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.protocol.ids import NAME
from weft.protocol.values import dataclass
from weft.workspace.document import describe, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Strict, Text, fault
from weft.workspace.pack_folder import FILE, FILES, PLACES, files_of, pack_folders
from weft.workspace.spelling import suggest
from weft.workspace.versions import VERSION, is_condition
from weft.workspace.yaml_document import parse_yaml


@dataclass(frozen=True)
class Pack:
    name: str
    version: str
    description: str
    weft: str
    """The versions of the engine it fits, such as `>=0.1,<1`."""
    path: Path
    files: Mapping[str, str]
    """Where each file goes in a workspace, and where it is in the pack."""


def _version(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise fault(f"{value} could also be read as a number", f'put it in quotes: "{value}"')
    if not isinstance(value, str) or not VERSION.match(value):
        raise fault(f"must be a version, not {describe(value)}", "write numbers with dots between them, such as 1.2.0")
    return value


def _condition(value: Any) -> str:
    if not isinstance(value, str) or not is_condition(value):
        hint = 'write conditions with commas between them, such as ">=0.1,<1"'
        raise fault(f"must say which versions of weft fit, not {describe(value)}", hint)
    return value


class PackFile(Strict):
    """pack.yaml"""

    name: Text = Field(description="The pack's name")
    version: Annotated[str, PlainValidator(_version), WithJsonSchema({"type": "string"})] = Field(
        description="The pack's version, such as 1.2.0"
    )
    description: Text = Field(description="What the pack is for, in one sentence")
    weft: Annotated[str, PlainValidator(_condition), WithJsonSchema({"type": "string"})] = Field(
        description='The versions of weft it fits, such as ">=0.1,<1"'
    )


def find_packs() -> dict[str, Pack]:
    """The packs that come with weft, by name."""
    return {pack.name: pack for pack in map(load_pack, pack_folders())}


def load_pack(path: Path) -> Pack:
    """UserError when there is no such folder, WorkspaceError when it is no good pack."""
    if not path.is_dir():
        raise UserError(f"there is no pack at {path}", hint=f"a pack is a folder with a {FILE} in it")
    with Folder.open(path) as folder:
        shown = f"{folder.path.name}/{FILE}"
        try:
            source = read_source(folder, FILE)
        except FileNotFoundError as error:
            raise WorkspaceError([Problem(shown, "this file is not there", hint="every pack has one")]) from error
        document = parse_yaml(shown, source.text)
        checked = check(PackFile, document)
        problems: list[Problem] = []
        if checked.model is not None and not NAME.match(checked.model.name):
            hint = "a name is small letters, digits, _ and -, at most 64, beginning with a letter or digit"
            problems.append(document.at_value(("name",), f"'{checked.model.name}' is not a good name", hint))
        files, strays = files_of(folder)
    problems += [_stray(folder.path.name, name) for name in strays]
    model = checked.good(document, problems)
    return Pack(model.name, model.version, model.description, model.weft, folder.path, files)


def _stray(pack: str, name: str) -> Problem:
    if name in PLACES:
        return Problem(f"{pack}/{name}", f"this must be a {'file' if name in FILES else 'folder'}")
    return Problem(f"{pack}/{name}", "this is no part of a pack", hint=suggest(name, PLACES, "parts"))
