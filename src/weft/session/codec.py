"""One event, one line of JSON: the only encoder and the only decoder of the log.

A line is `seq`, `at`, `type`, the event's own fields and `crc`, the CRC-32 of everything before it in the line. When
one decision holds several events, each of its lines also carries `part: [i, n]`, so that a decision cut off by a crash
is recognised and dropped whole. The decoder is strict: a wrong checksum, a missing, unknown or ill-typed field makes
the line damaged, never a guess. A line without `crc` (written by another hand) is taken on its other merits.
"""

from __future__ import annotations

import json
import types
import typing
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final, Literal

from weft.protocol import events as protocol
from weft.protocol.errors import Finding, UserError
from weft.protocol.events import LOG_VERSION, DurableEvent, Event, Record
from weft.session.upcast import upcast

CRC_SIZE: Final = len(b',"crc":"00000000"}\n')


class DamagedLineError(ValueError):
    """This line is not an event; the text says why."""


class NewerLogError(UserError):
    """The log can't be understood by this version, so it must not be judged damaged, let alone written to."""


@dataclass(frozen=True, slots=True)
class Line:
    """A decoded line: the record and which part of its decision it is."""

    record: Record
    part: int = 1
    parts: int = 1


def event_fields(event: Event) -> dict[str, Any]:
    """An event as JSON values; what is not set is left out."""
    out: dict[str, Any] = {"type": event.type}
    for name in _field_names()[event.type]:
        value = getattr(event, name)
        if value is None:
            continue
        if name == "findings":
            value = [{"at": f.at, "message": f.message, "hint": f.hint} for f in value]
        out[name] = value
    return out


def record_json(record: Record) -> bytes:
    """A record as faces show it: the log's line without what only the file needs (`part`, `crc`)."""
    return to_json({"seq": record.seq, "at": record.at, **event_fields(record.event)}) + b"\n"


def encode(record: Record, part: int = 1, parts: int = 1) -> bytes:
    """A line of the log."""
    out: dict[str, Any] = {"seq": record.seq, "at": record.at}
    if parts > 1:
        out["part"] = [part, parts]
    out.update(event_fields(record.event))
    body = to_json(out)[:-1]
    return b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body))


def to_json(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8: lone surrogates survive only as escapes
        return _ESCAPING_ENCODER.encode(value).encode()


def decode(line: bytes) -> Line:
    if line[-CRC_SIZE : 8 - CRC_SIZE] == b',"crc":"' and b"%08x" % zlib.crc32(line[:-CRC_SIZE]) != line[-11:-3]:
        raise DamagedLineError("its checksum does not match its content")
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise DamagedLineError(f"not JSON ({error})") from error
    if not isinstance(raw, dict):
        raise DamagedLineError("not a JSON object")
    seq, at, part = raw.pop("seq", None), raw.pop("at", None), raw.pop("part", None)
    raw.pop("crc", None)
    if type(seq) is not int or seq < 1 or type(at) is not str:
        raise DamagedLineError("no valid seq and at")
    if isinstance(version := raw.get("version"), int) and version > LOG_VERSION:
        raise NewerLogError(
            f"the log was written by a newer Weft (log version {version}; this one reads {LOG_VERSION})",
            hint="upgrade Weft to open this session",
        )
    record = Record(seq, at, _event(upcast(raw)))
    if part is None:
        return Line(record)
    pair = isinstance(part, list) and len(part) == 2 and all(type(n) is int for n in part)
    if not pair or not 1 <= part[0] <= part[1]:
        raise DamagedLineError(f"part is {part!r}, not [i, n]")
    return Line(record, part[0], part[1])


def _event(raw: dict[str, Any]) -> DurableEvent:
    kind = raw.get("type")
    entry = _decoders().get(kind) if isinstance(kind, str) else None
    if entry is None:
        raise DamagedLineError(f"unknown event type {kind!r}")
    make, checks = entry
    for name, value in raw.items():
        check = checks.get(name)
        if check is None:
            raise DamagedLineError(f"{kind} has no field {name!r}")
        if not check(value):
            raise DamagedLineError(f"{kind}.{name} has a value of the wrong type")
    try:
        if "findings" in raw:
            raw["findings"] = tuple(Finding(artifact=raw.get("artifact", ""), **finding) for finding in raw["findings"])
        for name in _TUPLES & raw.keys():
            raw[name] = tuple(raw[name])
        return make(**raw)
    except TypeError as error:
        raise DamagedLineError(f"{kind}: {str(error).split('() ')[-1]}") from error


Check = Callable[[Any], bool]
_TUPLES = frozenset({"steps", "notes"})


@cache
def _decoders() -> dict[str, tuple[Callable[..., DurableEvent], dict[str, Check]]]:
    table: dict[str, tuple[Callable[..., DurableEvent], dict[str, Check]]] = {}
    for cls in typing.get_args(protocol.DurableEvent):
        hints = typing.get_type_hints(cls, vars(protocol))
        table[_tag(cls)] = (cls, {name: _check(hint) for name, hint in hints.items()})
    return table


@cache
def _field_names() -> dict[str, tuple[str, ...]]:
    """The fields of every event, durable or live, by its tag."""
    return {
        _tag(cls): tuple(f.name for f in fields(cls) if f.name != "type") for cls in typing.get_args(protocol.Event)
    }


def _tag(cls: Any) -> str:
    (tag,) = typing.get_args(typing.get_type_hints(cls, vars(protocol))["type"])
    return str(tag)


def _check(hint: Any) -> Check:
    origin = typing.get_origin(hint)
    if hint is int:
        return lambda value: type(value) is int
    if isinstance(hint, type) and origin is None:
        return lambda value: isinstance(value, hint)
    if origin is Literal:
        allowed = frozenset(typing.get_args(hint))
        return lambda value: isinstance(value, str) and value in allowed
    if origin in (types.UnionType, typing.Union):
        options = tuple(_check(option) for option in typing.get_args(hint) if option is not type(None))
        return lambda value: value is None or any(option(value) for option in options)
    if origin is tuple:
        if typing.get_args(hint)[0] is Finding:
            return lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value)
        return lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value)
    if typing.get_args(hint)[1] is str:
        return lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return lambda value: isinstance(value, dict)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be written as JSON")


# Built once: `json.dumps` with options of its own builds an encoder for every call.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
_ESCAPING_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_plain)
