"""The input schemas of the built-in tools, said briefly: closed objects with a description of every key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def closed(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, *, longest: int | None = None, shortest: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string", "description": description}
    if shortest:
        found["minLength"] = shortest
    if longest is not None:
        found["maxLength"] = longest
    return found


def whole(description: str, *, least: int = 0, most: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "integer", "description": description, "minimum": least}
    if most is not None:
        found["maximum"] = most
    return found


def yes_or_no(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}
