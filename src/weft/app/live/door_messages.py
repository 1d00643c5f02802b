"""Commands, events and replies as JSON values and back, for processes that speak with each other.

Every value is a dataclass with a `type`; what stands in it is told by its annotations. The log has an encoder of its
own (`session/codec.py`): that one is for ever, this one only for programs of one version.
"""

from __future__ import annotations

import base64
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from weft.protocol.commands import Accepted, GivenFile, Refused, Reply, SessionCommand
from weft.protocol.envelope import Actor, Envelope
from weft.protocol.errors import UserError
from weft.protocol.events import DurableEvent, Event, Record
from weft.protocol.gates import Choice

T = TypeVar("T")


def to_wire(value: Any) -> Any:
    if isinstance(value, Choice):
        return value.told()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_wire(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Mapping():
            return {str(key): to_wire(inner) for key, inner in value.items()}
        case frozenset():
            return sorted(value)
        case tuple() | list():
            return [to_wire(inner) for inner in value]
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value


def item_to_wire(item: Record | Event) -> dict[str, Any]:
    """An event as a watcher in another process gets it; a durable one with its place in the log and who led to it."""
    if isinstance(item, Record):
        told = item.envelope
        envelope = {name: to_wire(value) for name, value in told._asdict().items()} if told else None
        return {"seq": item.seq, "at": item.at, "event": to_wire(item.event), "envelope": envelope}
    return {"event": to_wire(item)}


def item_from_wire(raw: Mapping[str, Any]) -> Record | Event:
    event = typing.cast(DurableEvent, _tagged(Event, raw["event"]))
    if "seq" not in raw:
        return event
    told = raw.get("envelope")
    return Record(raw["seq"], raw["at"], event, typing.cast(Envelope, _made(Envelope, told)) if told else None)


def command_from_wire(raw: Any) -> SessionCommand:
    """UserError for what is none."""
    return typing.cast(SessionCommand, _tagged(SessionCommand, raw))


def actor_from_wire(raw: Any) -> Actor:
    return typing.cast(Actor, _made(Actor, raw))


def given_from_wire(raw: Any) -> GivenFile:
    return typing.cast(GivenFile, _made(GivenFile, raw))


def reply_from_wire(raw: Any) -> Reply:
    reply = _tagged(Reply, raw)
    assert isinstance(reply, Accepted | Refused)
    return reply


def _tagged(union: Any, raw: Any) -> Any:
    kind = raw.get("type") if isinstance(raw, Mapping) else None
    shape = _kinds(union).get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise UserError(f"there is nothing of the type {kind!r}")
    return _made(shape, raw)


@cache
def _kinds(union: Any) -> dict[str, type]:
    found = {}
    for kind in _flat(union):
        (tag,) = typing.get_args(typing.get_type_hints(kind)["type"])
        found[tag] = kind
    return found


def _flat(union: Any) -> list[type]:
    return [one for part in typing.get_args(union) for one in (_flat(part) if typing.get_args(part) else [part])]


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _made(kind: type, raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        raise UserError(f"a {kind.__name__} is an object, not {type(raw).__name__}")
    hints = _hints(kind)
    if unknown := sorted(set(raw) - set(hints)):
        raise UserError(f"a {kind.__name__} has no {unknown[0]}")
    try:
        return kind(**{name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in raw.items()})
    except TypeError as error:
        raise UserError(f"a {kind.__name__} is not whole: {error}") from error


def _value(hint: Any, raw: Any, where: str) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return raw
    if origin in (types.UnionType, typing.Union):
        if raw is None and type(None) in inner:
            return None
        (wanted,) = [one for one in inner if one is not type(None)][:1]
        return _value(wanted, raw, where)
    if origin is Literal:
        if raw not in inner:
            raise UserError(f"{where}: {raw!r} is none of {', '.join(map(str, inner))}")
        return raw
    if origin in (tuple, list, frozenset):
        return origin(_value(inner[0], one, where) for one in _expect(list, raw, where))
    if origin is not None and issubclass(origin, Mapping):
        return {key: _value(inner[1], one, where) for key, one in _expect(dict, raw, where).items()}
    if is_dataclass(hint):
        return _made(typing.cast(type, hint), raw)
    if hint is bytes:
        return base64.b64decode(_expect(str, raw, where))
    if hint is float and isinstance(raw, int):
        return float(raw)
    return _expect(hint, raw, where)


def _expect(wanted: type[T], raw: Any, where: str) -> T:
    if not isinstance(raw, wanted):
        raise UserError(f"{where}: {raw!r:.40} is no {wanted.__name__}")
    return raw
