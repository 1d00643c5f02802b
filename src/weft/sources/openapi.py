"""From an OpenAPI document (3.x, JSON or YAML) to tools: one for each operation, with the schema of all it takes. Pure.

What it refers to inside itself is put in place; what stands elsewhere is not fetched. An operation that can't be
described is left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from weft.protocol.values import dataclass
from weft.sources.listing import OfferedTool
from weft.sources.schemas import schema_fault

METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
BODY: Final = "body"
MOST: Final = 200
DEPTH: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    name: str
    method: str
    path: str
    description: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where each parameter goes: path, query or header."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    media_type: str = "application/json"

    @property
    def tool(self) -> OfferedTool:
        return OfferedTool(
            name=self.name,
            description=self.description or f"{self.method.upper()} {self.path}",
            input_schema=self.schema,
            effect="network",
            repeatable=self.method in ("get", "head", "put", "delete"),
        )


def operations(document: Any, only: tuple[str, ...] = ()) -> tuple[dict[str, Operation], dict[str, str]]:
    """By name; and what was left out, with the reason."""
    found: dict[str, Operation] = {}
    left_out: dict[str, str] = {}
    paths = document.get("paths") if isinstance(document, Mapping) else None
    for path, method, shared, entry in _entries(paths):
        name = _name(entry, method, path)
        if only and name not in only:
            continue
        if name in found:
            left_out[f"{name} ({method} {path})"] = "another operation has this name"
            continue
        if len(found) >= MOST:
            left_out[name] = f"there are more than {MOST} operations: name those you want under 'operations'"
            continue
        made = _operation(name, method, path, [*shared, *_list(entry.get("parameters"))], entry, document)
        if fault := schema_fault(dict(made.schema)):
            left_out[name] = fault
        else:
            found[name] = made
    return found, left_out


def _entries(paths: Any) -> Iterator[tuple[str, str, list[Any], Mapping[str, Any]]]:
    for path, item in paths.items() if isinstance(paths, Mapping) else ():
        if not isinstance(item, Mapping):
            continue
        for method in METHODS:
            entry = item.get(method)
            if isinstance(entry, Mapping):
                yield str(path), method, _list(item.get("parameters")), entry


def _name(entry: Mapping[str, Any], method: str, path: str) -> str:
    said = entry.get("operationId")
    words = said if isinstance(said, str) and said else f"{method}_{path}"
    return re.sub(r"[^A-Za-z0-9-]+", "_", words).strip("_")[:48] or method


def _operation(
    name: str, method: str, path: str, parameters: list[Any], entry: Mapping[str, Any], document: Any
) -> Operation:
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[str, str] = {}
    for one in parameters:
        one = _whole(one, document)
        where = one.get("in") if isinstance(one, Mapping) else None
        if where not in ("path", "query", "header") or not isinstance(one.get("name"), str):
            continue
        key = one["name"]
        schema = _whole(one.get("schema", {"type": "string"}), document)
        properties[key] = {**schema, "description": str(one.get("description") or schema.get("description", ""))[:400]}
        places[key] = where
        if one.get("required") or where == "path":
            required.append(key)
    body, media_type = _body(entry.get("requestBody"), document)
    if body is not None:
        key = BODY if BODY not in properties else "request_body"
        properties[key], places[key] = body, BODY
        if isinstance(entry.get("requestBody"), Mapping) and _whole(entry["requestBody"], document).get("required"):
            required.append(key)
    said = [str(entry.get(key)) for key in ("summary", "description") if entry.get(key)]
    return Operation(
        name=name,
        method=method,
        path=path,
        description=(". ".join(said) + f" ({method.upper()} {path})").lstrip()[:2000],
        places=places,
        schema={
            "type": "object",
            "properties": properties,
            "required": list(dict.fromkeys(required)),
            "additionalProperties": False,
        },
        media_type=media_type,
    )


def _body(given: Any, document: Any) -> tuple[dict[str, Any] | None, str]:
    content = _whole(given, document).get("content") if isinstance(given, Mapping) else None
    if not isinstance(content, Mapping):
        return None, ""
    kinds = [kind for kind in content if "json" in kind] or list(content)[:1]
    if not kinds:
        return None, ""
    schema = _whole(_mapping(content[kinds[0]]).get("schema", {}), document)
    if "json" not in kinds[0] and kinds[0] != "application/x-www-form-urlencoded":
        schema = {"type": "string", "description": f"The body, as {kinds[0]}"}
    return schema, kinds[0]


def _whole(value: Any, document: Any, depth: int = 0, seen: tuple[str, ...] = ()) -> Any:
    """With what it refers to in the same document in place; what refers to itself ends as anything."""
    if depth > DEPTH:
        return {}
    if isinstance(value, list):
        return [_whole(one, document, depth + 1, seen) for one in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        if not reference.startswith("#/") or reference in seen:
            return {}
        at = document
        for part in reference[2:].split("/"):
            at = _mapping(at).get(part.replace("~1", "/").replace("~0", "~"), {})
        return _whole(at, document, depth + 1, (*seen, reference))
    kept = {key: one for key, one in value.items() if key not in ("example", "examples", "xml", "discriminator")}
    found = {key: _whole(one, document, depth + 1, seen) for key, one in kept.items()}
    if found.pop("nullable", None) and isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    for key in ("exclusiveMinimum", "exclusiveMaximum"):  # a truth value in 3.0, a number in 3.1
        if isinstance(found.get(key), bool):
            limit = "minimum" if key == "exclusiveMinimum" else "maximum"
            if found.pop(key) and limit in found:
                found[key] = found.pop(limit)
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
