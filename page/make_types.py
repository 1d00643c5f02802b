"""The page's types of events, commands and the API, from their schemas: written by nobody, so that they can't be wrong.

    python page/make_types.py FILE.ts

What the server sends has every field; one that may be absent in a schema and has no default comes as null. What the
page sends may leave out whatever has a default.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from weft.protocol.schema import command_schema, event_schema
from weft.web.api import make_api
from weft.web.asking import Served

HEAD: Final = "// Made by page/make_types.py from the schemas of events, commands and the API. Not kept, not edited.\n"


def typescript() -> str:
    api = make_api(cast(Served, None)).openapi()["components"]["schemas"]
    sent = _names_sent(api)
    parts = [
        _module("events", event_schema(), sent=False),
        _module("commands", command_schema(), sent=True),
        *(_declared(_name(name), schema, "api", sent=name in sent) for name, schema in api.items()),
    ]
    text = HEAD + "\n".join(parts) + "\n"
    names = re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE)
    if twice := {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"two shapes have one name: {', '.join(sorted(twice))}")
    return text


def _names_sent(api: Mapping[str, Any]) -> set[str]:
    """Shapes of requests; the others are answers."""
    document = make_api(cast(Served, None)).openapi()
    found: set[str] = set()
    waiting = re.findall(
        r"#/components/schemas/(\w+)",
        json.dumps([way.get("requestBody") for path in document["paths"].values() for way in path.values()]),
    )
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += re.findall(r"#/components/schemas/(\w+)", json.dumps(api[name]))
    return found | {"NewSession"}


def _module(name: str, schema: Mapping[str, Any], *, sent: bool) -> str:
    own = "Command" if sent else "Event"
    lines = [_declared(_own(tag, own), shape, own, sent=sent) for tag, shape in schema["$defs"].items()]
    union = " | ".join(_own(one["$ref"].rpartition("/")[2], own) for one in schema["oneOf"])
    lines.append(f"export type {own} = {union};")
    return "\n".join(lines)


def _declared(name: str, schema: Mapping[str, Any], own: str, *, sent: bool) -> str:
    told = f"/** {schema['description']} */\n" if schema.get("description") else ""
    if "properties" not in schema:
        return f"{told}export type {name} = {_type(schema, own)};"
    needed = set(schema.get("required", ()))
    lines = []
    for key, shape in schema["properties"].items():
        if own == "Event" and key in ("seq", "at", "version", "part", "envelope", "crc", "cost"):
            continue
        shown = _type(shape, own)
        if key in needed or ("default" in shape and not sent):
            lines.append(f"  {key}: {shown};")
        elif sent:
            lines.append(f"  {key}?: {shown};")
        else:
            lines.append(f"  {key}: {shown} | null;" if "null" not in shown else f"  {key}: {shown};")
    return f"{told}export interface {name} {{\n" + "\n".join(lines) + "\n}"


def _type(schema: Mapping[str, Any], own: str) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _name(name) if own == "api" else _own(name, own)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(one, own) for one in schema[union]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": one}, own) for one in kind)
    match kind:
        case "array":
            return f"readonly ({_type(schema.get('items', {}), own)})[]"
        case "object" if "properties" in schema:
            return "{ " + " ".join(f"{key}: {_type(one, own)};" for key, one in schema["properties"].items()) + " }"
        case "object":
            inner = schema.get("additionalProperties", True)
            return f"Readonly<Record<string, {_type(inner, own) if isinstance(inner, Mapping) else 'unknown'}>>"
        case "string" | "boolean" | "null":
            return str(kind)
        case "integer" | "number":
            return "number"
        case _:
            return "unknown"


def _own(tag: str, own: str) -> str:
    """`gate_opened` among events is GateOpened, `start_run` among commands StartRun; one word gets its kind."""
    name = "".join(part[:1].upper() + part[1:] for part in tag.split("_"))
    return name if "_" in tag else name + own


def _name(name: str) -> str:
    return re.sub(r"\W", "_", name)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(typescript())
