"""A server's tool as we can offer it, or why we can't: its schema must be one that a call can be judged by.

A server describes its tools itself, and may be wrong. What is not an object, refers to other places or is no schema is
left out and named; nothing of it is guessed. Its hints on what a tool does are only that: they never make a tool one
that needs no question, but a call of one that says it only reads may be made again when its end was lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from weft.sources.config import EffectWord
from weft.sources.listing import OfferedTool

if TYPE_CHECKING:
    from mcp.types import Tool as McpTool

DESCRIPTION_LIMIT: Final = 4_000
SCHEMA_LIMIT: Final = 60_000


def tool_of(tool: McpTool) -> OfferedTool | str:
    """The tool, or why it can't be offered."""
    schema = dict(tool.input_schema or {})
    if fault := schema_fault(schema):
        return fault
    hints = tool.annotations
    reads = bool(hints and hints.read_only_hint)
    inside = bool(hints and hints.open_world_hint is False)
    effect: EffectWord = "network"
    if inside:
        effect = "read" if reads else "write"
    return OfferedTool(
        name=tool.name,
        description=(tool.description or tool.title or "")[:DESCRIPTION_LIMIT],
        input_schema={"type": "object", **schema},
        effect=effect,
        repeatable=reads or bool(hints and hints.idempotent_hint),
    )


def schema_fault(schema: Any) -> str:
    """Why calls can't be judged by this schema; "" when they can."""
    import jsonschema_rs

    if not isinstance(schema, dict):
        return "the schema of its input is no object"
    try:
        if len(json.dumps(schema)) > SCHEMA_LIMIT:
            return "the schema of its input is too long"
    except (TypeError, ValueError, RecursionError):
        return "the schema of its input can't be read"
    if schema.get("type", "object") != "object":
        return f"its input is {str(schema['type'])[:40]}, not an object"
    if any(not ref.startswith("#") for ref in _references(schema)):
        return "the schema of its input refers to other places"
    try:
        jsonschema_rs.validator_for(schema)
    except (ValueError, RecursionError) as error:
        return f"the schema of its input is none: {str(error).splitlines()[0][:120]}"
    return ""


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from (str(ref) for key, ref in one.items() if key in ("$ref", "$dynamicRef") and isinstance(ref, str))
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
