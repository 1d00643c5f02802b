"""JSON Schema files of the workspace: read, and checked against the meta-schema before any artifact meets them.

A schema is one file: references to other documents are refused, so that no file or network address is ever read
because a schema names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.values import dataclass
from weft.workspace.document import Path, describe, in_order, read_source
from weft.workspace.json_document import locate_json, parse_json
from weft.workspace.spelling import listed, nearest

FOLDER: Final = "schemas"
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")


@dataclass(frozen=True)
class SchemaFile:
    file: str
    """Below the workspace: `schemas/facts.schema.json`."""
    schema: dict[str, Any]
    version: str
    """What the schema says of itself under "version"; else the beginning of its hash."""
    hash: str


def read_schema(folder: Folder, name: str) -> SchemaFile:
    """FileNotFoundError when it is not there, WorkspaceError when it is no JSON Schema."""
    source = read_source(folder, f"{FOLDER}/{name}")
    schema = parse_json(source)
    if not isinstance(schema, dict):
        message = f"a JSON Schema is an object, not {describe(schema)}"
        raise WorkspaceError([Problem(source.file, message, 1, 1)])
    if faults := list(dict.fromkeys(_faults(schema))):
        document = locate_json(source, schema)
        raise WorkspaceError(in_order(document.at_value(path, message, hint) for path, message, hint in faults))
    version = str(schema["version"]) if "version" in schema else source.hash[:8]
    return SchemaFile(source.file, schema, version, source.hash)


def _faults(schema: dict[str, Any]) -> Iterator[tuple[Path, str, str]]:
    from jsonschema_rs import ReferencingError, ValidationError, validator_for

    found = False
    try:
        draft = schema.get("$schema", DRAFT)
        judge = validator_for({"$schema": draft, "$ref": draft}, retriever=_refuse)
    except (ValidationError, ReferencingError, ValueError):
        yield ("$schema",), "this is not a draft of JSON Schema that is known here", f"use {DRAFT}"
        return
    for error in judge.iter_errors(schema):
        found = True
        path = tuple(error.instance_path)
        yield path, *_explained(schema, path, error.message)
    if found:
        return
    try:
        validator_for(schema, retriever=_refuse)
    except (ValidationError, ReferencingError, ValueError) as error:
        message = getattr(error, "message", str(error))
        path = tuple(getattr(error, "instance_path", ()))
        if not path and (reference := _broken_reference(schema, message)):
            path = reference
            yield path, "this refers to nothing in this file", "refer to a part of the same file, such as #/$defs/name"
        else:
            yield path, message, ""


def _explained(schema: Any, path: Path, message: str) -> tuple[str, str]:
    for part in path:
        schema = schema[part]
    if path and path[-1] == "type" and isinstance(schema, str):
        close = nearest(schema, TYPES)
        hint = f"did you mean '{close}'?" if close else f"the types are: {listed(TYPES)}"
        return f"'{schema}' is not a type of JSON", hint
    return f"this is not valid in a JSON Schema: {message}", ""


def _broken_reference(schema: dict[str, Any], message: str) -> Path | None:
    """The library names what it looked for, not where the reference stands."""
    for path, reference in _references(schema, ()):
        if reference.lstrip("#") and f"'{reference.removeprefix('#')}'" in message:
            return path
    return None


def _references(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if key in ("$ref", "$dynamicRef") and isinstance(child, str):
            yield (*path, key), child
        else:
            yield from _references(child, (*path, key))


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is outside this file")
