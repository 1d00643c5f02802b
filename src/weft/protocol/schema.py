"""The JSON Schemas of events and commands, made from their classes: for programs that follow a session or drive one.

An event's schema is that of a line: of the log, or of what a command prints with `--json`. Durable events have `seq`
and `at`, live ones have neither. `weft sessions schema` prints it.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Final, Literal

from weft.protocol.commands import Command, SessionCommand
from weft.protocol.conversation_commands import ConversationCommand
from weft.protocol.envelope import ActorKind
from weft.protocol.errors import Finding
from weft.protocol.events import LOG_VERSION, DurableEvent, LiveEvent
from weft.protocol.gates import Choice, ChoiceKind

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final = {"type": "string"}
_PLAIN: Final[Mapping[Any, Mapping[str, Any]]] = {
    str: _TEXT,
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    Any: {},
}
_HASH: Final = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_ENVELOPE: Final = {
    "type": "object",
    "description": "What the decision says of itself.",
    "properties": {
        "prev": {**_HASH, "description": "The hash of the decision before; absent on the first."},
        "epoch": {"type": "integer", "minimum": 1, "description": "The number of the writer."},
        "by": {
            "type": "object",
            "description": "Who gave the command; absent when the machine went on by itself.",
            "properties": {"kind": {"enum": list(typing.get_args(ActorKind))}, "name": _TEXT, "face": _TEXT},
            "required": ["kind"],
            "additionalProperties": False,
        },
        "key": {**_TEXT, "description": "The command's own name."},
        "parent": {
            "type": "object",
            "description": "Of a fork: the decision it goes on from.",
            "properties": {"session": _TEXT, "seq": {"type": "integer", "minimum": 1}, "hash": _HASH},
            "required": ["session", "seq", "hash"],
            "additionalProperties": False,
        },
    },
    "required": ["epoch"],
    "additionalProperties": False,
}
_LINE: Final[Mapping[str, Mapping[str, Any]]] = {
    "seq": {"type": "integer", "minimum": 1},
    "at": {"type": "string", "format": "date-time"},
    "version": {"type": "integer", "minimum": 1, "maximum": LOG_VERSION},
    "part": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2},
    "envelope": {"$ref": "#/$defs/envelope"},
    "crc": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
}
_COST: Final = {"type": ["number", "null"], "description": "US dollars as priced now; of what `--json` prints alone."}


def event_schema() -> dict[str, Any]:
    defs: dict[str, Any] = {"envelope": _ENVELOPE}
    tags = [_define(kind, defs, _LINE, ("seq", "at")) for kind in typing.get_args(DurableEvent)]
    tags += [_define(kind, defs, {}, ()) for kind in typing.get_args(LiveEvent)]
    for tag in ("call_settled", "step_completed", "step_failed", "step_interrupted"):
        defs[tag]["properties"]["cost"] = _COST
    return _whole("Events of a session", f"A line of a log of version {LOG_VERSION}, or a live event.", tags, defs)


def command_schema() -> dict[str, Any]:
    defs: dict[str, Any] = {}
    kinds = (*typing.get_args(SessionCommand), *typing.get_args(Command), *typing.get_args(ConversationCommand))
    tags = dict.fromkeys(_define(kind, defs, {}, ()) for kind in kinds)
    return _whole("Commands to a session", "What may be asked of a run or a conversation.", tags, defs)


def _whole(title: str, description: str, tags: Iterable[str], defs: dict[str, Any]) -> dict[str, Any]:
    one_of = [{"$ref": f"#/$defs/{tag}"} for tag in tags]
    return {"$schema": DIALECT, "title": title, "description": description, "oneOf": one_of, "$defs": defs}


def _define(kind: Any, defs: dict[str, Any], also: Mapping[str, Any], required: tuple[str, ...]) -> str:
    """Adds the schema of a class with a tag, or of one without that another has as a value; its name in `$defs`."""
    hints = typing.get_type_hints(kind)
    tag = str(typing.get_args(hints["type"])[0]) if "type" in hints else kind.__name__
    if tag in defs:
        return tag
    found: dict[str, Any] = {"type": "object"}
    defs[tag] = found
    if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}("):  # what `dataclass` writes says nothing
        found["description"] = " ".join(inspect.cleandoc(kind.__doc__).split())
    needed = [
        field.name
        for field in fields(kind)
        if field.name == "type"
        or (field.default is MISSING and field.default_factory is MISSING and not _may_be_none(hints[field.name]))
    ]
    found |= {
        "properties": {
            **also,
            **{one.name: {**_schema(hints[one.name], defs), **_default(one)} for one in fields(kind)},
        },
        "required": [*required, *needed],
        "additionalProperties": False,
    }
    return tag


def _default(one: Field[Any]) -> dict[str, Any]:
    """What a field that is left out says."""
    value = one.default_factory() if one.default_factory is not MISSING else one.default
    if value is MISSING or value is None or one.name == "type" or is_dataclass(value):
        return {}
    return {
        "default": sorted(value) if isinstance(value, frozenset) else list(value) if isinstance(value, tuple) else value
    }


def _may_be_none(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


def _schema(hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """What is None is left out of the JSON, so None needs no schema."""
    inner = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin is Literal:
        return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
    if origin in (types.UnionType, typing.Union):
        kinds = [_schema(one, defs) for one in inner if one is not type(None)]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin in (tuple, list, frozenset):
        return {"type": "array", "items": _schema(inner[0], defs)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(inner[1], defs)}
    if hint is Finding:  # the event names the artifact already
        texts = {name: _TEXT for name in ("at", "message", "hint")}
        found = {**texts, "kind": _TEXT}  # left out when nothing says it
        return {"type": "object", "properties": found, "required": list(texts), "additionalProperties": False}
    if hint is Choice:
        does = {"enum": list(typing.get_args(ChoiceKind))}
        offered = {"id": _TEXT, "label": _TEXT, "does": does, "set": {"type": "object"}}
        return {"type": "object", "properties": offered, "required": ["id", "label", "does"]}
    if is_dataclass(hint):
        return {"$ref": f"#/$defs/{_define(hint, defs, {}, ())}"}
    raise TypeError(f"{hint} has no JSON Schema")
