"""config.toml: the few settings of a workspace. Every one has a default that is right for most."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.patterns import pattern
from weft.workspace.document import MarkedDocument, Path, SourceFile, SourceMark, in_order, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Strict, Text
from weft.workspace.model_table import ModelTables, RoleTable
from weft.workspace.resource_limit import Limit

FILE: Final = "config.toml"
_PLACE: Final = pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


class Config(Strict):
    default_pipeline: Text | None = Field(default=None, description="The pipeline that runs when none is named")
    concurrency: int = Field(default=4, ge=1, le=64, description="How many steps may run at the same time: 1 to 64")
    durable: bool = Field(
        default=True, description="False: finished steps may be lost when the machine loses power; faster"
    )
    cache: bool = Field(
        default=True, description="False: no step is taken over from another session, whatever pipelines say"
    )
    telemetry: bool = Field(
        default=False, description="True: runs, steps and calls as OpenTelemetry spans and metrics; needs weft[otel]"
    )
    kb: Text | None = Field(default=None, description="The collection that is asked when none is named")
    model: Text = Field(default="embedded", description="The model of every step that names none")
    store: Text | None = Field(
        default=None, description="Where a shared workspace keeps its sessions: postgresql://…; else in files"
    )
    objects: Text | None = Field(
        default=None, description="Where a shared workspace keeps large contents: a folder all see, or s3://…"
    )
    limits: dict[Text, Limit] = Field(
        default={},
        description="How often a connection, a source or what steps name under resources may be used: "
        'openai = "4 at once, 60 a minute"',
    )
    roles: RoleTable = Field(default_factory=RoleTable, description="What small, standard and strong stand for")
    models: ModelTables = Field(default_factory=dict, description="How models are reached: a table for each connection")


def read_config(folder: Folder) -> Config:
    """The defaults when there is no file; WorkspaceError when it is broken."""
    try:
        source = read_source(folder, FILE)
    except FileNotFoundError:
        return Config()
    return parse_config(source)


def parse_config(source: SourceFile) -> Config:
    """WorkspaceError when it is broken."""
    document = _parse(source)
    checked = check(Config, document)
    if checked.problems or checked.model is None:
        raise WorkspaceError(in_order(checked.problems, FILE))
    return checked.model


def _parse(source: SourceFile) -> MarkedDocument:
    try:
        value = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message = _PLACE.sub("", str(error))
        found = _PLACE.search(str(error))
        lines = source.text.splitlines() or [""]
        line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), len(lines[-1]) + 1)
        problem = Problem(FILE, f"this is not valid TOML: {message[:1].lower()}{message[1:]}", line, column)
        raise WorkspaceError([problem]) from error
    except RecursionError as error:
        raise WorkspaceError([Problem(FILE, "this is nested too deeply", 1, 1)]) from error
    keys, values = _places(source.text, value)
    return MarkedDocument(FILE, value, keys, values)


def _places(text: str, value: Mapping[str, Any]) -> tuple[dict[Path, SourceMark], dict[Path, SourceMark]]:
    """Where each top-level key stands: the TOML reader keeps no places, and the settings are all on the top level."""
    keys: dict[Path, SourceMark] = {}
    values: dict[Path, SourceMark] = {}
    lines = text.splitlines(keepends=True)
    for key in value:
        named = re.compile(rf"""\s*\[*\s*(["']?){re.escape(key)}\1\s*[=.\]]\s*""")
        for number, line in enumerate(lines):
            found = named.match(line)
            if found and _is_complete("".join(lines[:number])):
                keys[(key,)] = SourceMark(number + 1, len(line) - len(line.lstrip()) + 1)
                values[(key,)] = SourceMark(number + 1, found.end() + 1) if "=" in found[0] else keys[(key,)]
                break
    _places_of_models(lines, keys, values)
    return keys, values


_TABLE: Final = pattern(r"""\s*\[\s*models\s*\.\s*(["']?)([^"'\].]+?)\1\s*\]""")
_KEY: Final = pattern(r"\s*([A-Za-z0-9_-]+)\s*=\s*")


def _places_of_models(lines: Sequence[str], keys: dict[Path, SourceMark], values: dict[Path, SourceMark]) -> None:
    """The same for `[models.NAME]`, the only tables there are."""
    name = None
    for number, line in enumerate(lines, start=1):
        table, key = _TABLE.match(line), _KEY.match(line)
        if table:
            name = table[2]
            keys[("models", name)] = values[("models", name)] = SourceMark(number, line.index("[") + 1)
        elif line.lstrip().startswith("["):
            name = None
        elif name is not None and key:
            keys[("models", name, key[1])] = SourceMark(number, len(line) - len(line.lstrip()) + 1)
            values[("models", name, key[1])] = SourceMark(number, key.end() + 1)


def _is_complete(text: str) -> bool:
    """Whether a new statement begins after `text`, and not the middle of a text over several lines."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
