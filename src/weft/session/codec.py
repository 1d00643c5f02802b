"""One event, one line of JSON: the only encoder and the only decoder of the log.

A line is `seq`, `at`, `type`, the event's own fields and `crc`, the CRC-32 of everything before it in the line. When
one decision holds several events, each of its lines also carries `part: [i, n]`, so that a decision cut off by a crash
is recognised and dropped whole. The first line of a decision has its `envelope`, the first line of a writer the
`version` of the format. The decoder is strict: a wrong checksum, a missing, unknown or ill-typed field makes
the line damaged, never a guess. A line without `crc` (written by another hand) is taken on its other merits.
"""

from __future__ import annotations

import json
import types
import typing
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple, get_args

from weft.protocol import events as protocol
from weft.protocol.envelope import MACHINE, Actor, ActorKind, Envelope, Parent
from weft.protocol.errors import Finding, UserError
from weft.protocol.events import LOG_VERSION, DurableEvent, Event, Record
from weft.protocol.gates import Choice
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.session.upcast import UPCASTERS, upcast

_new: Final = tuple.__new__
"""What a named tuple's own constructor calls, without the way there."""
CRC_SIZE: Final = len(b',"crc":"00000000"}\n')
_ACTOR: Final = tuple(field.name for field in fields(Actor))
_PARENT: Final = tuple(field.name for field in fields(Parent))
_ENVELOPE: Final = frozenset(Envelope._fields) - {"hash"}
_KINDS: Final = frozenset(get_args(ActorKind))
_BUILT: Final = frozenset({"findings", "choices"})


class DamagedLineError(ValueError):
    """This line is not an event; the text says why."""


class NewerLogError(UserError):
    """The log can't be understood by this version, so it must not be judged damaged, let alone written to."""


class LogLine(NamedTuple):
    """A decoded line: the record and which part of its decision it is. The envelope of a decision of several lines
    has no hash yet: it takes all of them."""

    record: Record
    part: int = 1
    parts: int = 1


def event_fields(event: Event) -> dict[str, Any]:
    """An event as JSON values; what is not set is left out."""
    out: dict[str, Any] = {"type": event.type}
    kind: Any = type(event)
    for name in _field_names(kind):
        value = getattr(event, name)
        if value is not None:
            out[name] = value
    if "findings" in out:
        out["findings"] = [_finding(found) for found in out["findings"]]
    if "choices" in out:
        out["choices"] = [choice.told() for choice in out["choices"]]
    return out


def _finding(found: Finding) -> dict[str, str]:
    plain = {"at": found.at, "message": found.message, "hint": found.hint}
    return {**plain, "kind": found.kind} if found.kind else plain


def record_fields(record: Record) -> dict[str, Any]:
    """A record as faces show it: the log's line without what only the file needs (`part`, `version`, `crc`), and with
    the envelope of its decision."""
    out: dict[str, Any] = {"seq": record.seq, "at": record.at}
    if record.envelope is not None:
        out["envelope"] = _envelope_fields(record.envelope)
    out.update(event_fields(record.event))
    return out


def record_json(record: Record) -> bytes:
    return to_json(record_fields(record)) + b"\n"


def encode(record: Record, part: int = 1, parts: int = 1, version: int | None = None) -> bytes:
    """A line of the log."""
    out: dict[str, Any] = {"seq": record.seq, "at": record.at}
    if version is not None:
        out["version"] = version
    if parts > 1:
        out["part"] = [part, parts]
    if part == 1 and record.envelope is not None:
        out["envelope"] = _envelope_fields(record.envelope)
    out.update(event_fields(record.event))
    body = to_json(out)[:-1]
    return b'%s,"crc":"%08x"}\n' % (body, zlib.crc32(body))


def to_json(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8: lone surrogates survive only as escapes
        return _ESCAPING_ENCODER.encode(value).encode()


def decode(line: bytes) -> LogLine:
    sealed = line[-CRC_SIZE : 8 - CRC_SIZE] == b',"crc":"'
    if sealed and b"%08x" % zlib.crc32(memoryview(line)[:-CRC_SIZE]) != line[-11:-3]:
        raise DamagedLineError("its checksum does not match its content")
    try:
        text = line.decode()
        raw, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise DamagedLineError(f"not JSON ({error})") from error
    if text[end:].strip():
        raise DamagedLineError("more than one JSON value")
    if not isinstance(raw, dict):
        raise DamagedLineError("not a JSON object")
    raw.pop("crc", None)
    return _line(raw, line, sealed)


def decode_many(lines: Sequence[bytes]) -> list[LogLine | DamagedLineError]:
    """Each line decoded, or what is wrong with it. Sealed lines are parsed together, which takes half the time."""
    raws = _parsed_together(lines)
    if raws is not None:
        return [
            _plain_line(raw, line) or _or_damage(_line, raw, line, True) for raw, line in zip(raws, lines, strict=True)
        ]
    return [_or_damage(decode, line) for line in lines]


def _or_damage(read: Callable[..., LogLine], *given: Any) -> LogLine | DamagedLineError:
    try:
        return read(*given)
    except DamagedLineError as error:
        return error


def _plain_line(raw: dict[str, Any], line: bytes) -> LogLine | None:
    """The short way for most sealed lines: one that is its whole decision and has nothing to be lifted or built."""
    kind = raw.get("type")
    shape = _shape(kind) if isinstance(kind, str) else None
    if shape is None or shape.lifted or shape.builds or "part" in raw or "version" in raw:
        return None
    seq, at, told = raw.pop("seq", None), raw.pop("at", None), raw.pop("envelope", None)
    if type(seq) is not int or type(at) is not str or seq < 1:
        raw["seq"], raw["at"], raw["envelope"] = seq, at, told
        return None
    try:
        envelope = _envelope(told, hash_bytes(line)) if told is not None else None
        for name in shape.tuples:
            if name in raw:
                raw[name] = tuple(raw[name])
        event = shape.make(**raw)
    except (TypeError, DamagedLineError):
        raw["seq"], raw["at"], raw["envelope"] = seq, at, told
        return None
    return _new(LogLine, (_new(Record, (seq, at, event, envelope)), 1, 1))


def _parsed_together(lines: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """The JSON objects of lines that are all sealed and whole; None when they must be looked at one by one."""
    bodies = []
    for line in lines:
        body = line[:-CRC_SIZE]
        if line[-CRC_SIZE:] != b',"crc":"%08x"}\n' % zlib.crc32(body):
            return None
        bodies.append(body)
    try:
        raws = _DECODER.decode((b"[" + b"},".join(bodies) + b"}]").decode())
    except (ValueError, RecursionError):
        return None
    return raws if len(raws) == len(lines) and all(type(raw) is dict for raw in raws) else None


def _line(raw: dict[str, Any], line: bytes, sealed: bool) -> LogLine:
    """A line from its JSON object."""
    seq, at, part = raw.pop("seq", None), raw.pop("at", None), raw.pop("part", None)
    version, told = raw.pop("version", None), raw.pop("envelope", None)
    if type(seq) is not int or seq < 1 or type(at) is not str:
        raise DamagedLineError("no valid seq and at")
    if isinstance(version, int) and version > LOG_VERSION:
        raise NewerLogError(
            f"the log was written by a newer Weft (log version {version}; this one reads {LOG_VERSION})",
            hint="upgrade Weft to open this session",
        )
    event = _event(upcast(raw), sealed)
    if part is None:
        return LogLine(Record(seq, at, event, None if told is None else _envelope(told, hash_bytes(line))))
    pair = isinstance(part, list) and len(part) == 2 and type(part[0]) is type(part[1]) is int
    if not pair or not 1 <= part[0] <= part[1]:
        raise DamagedLineError(f"part is {part!r}, not [i, n]")
    return LogLine(Record(seq, at, event, None if told is None else _envelope(told, "")), part[0], part[1])


def _envelope_fields(envelope: Envelope) -> dict[str, Any]:
    """An envelope as JSON values; what is not set, and the machine that goes on by itself, is left out."""
    out: dict[str, Any] = (
        {"prev": envelope.prev, "epoch": envelope.epoch} if envelope.prev else {"epoch": envelope.epoch}
    )
    if envelope.by is not MACHINE and envelope.by != MACHINE:
        out["by"] = {name: value for name in _ACTOR if (value := getattr(envelope.by, name))}
    if envelope.key:
        out["key"] = envelope.key
    if envelope.parent is not None:
        out["parent"] = {name: getattr(envelope.parent, name) for name in _PARENT}
    return out


def _envelope(told: Any, digest: str) -> Envelope:
    try:
        if told.keys() <= _ENVELOPE:
            by = _actor(**told["by"]) if "by" in told else MACHINE
            parent = Parent(**told["parent"]) if "parent" in told else None
            made = (digest, told.get("prev", ""), told["epoch"], by, told.get("key", ""), parent)
            fits = parent is None or [type(getattr(parent, name)) for name in _PARENT] == [str, int, str]
            if fits and type(made[1]) is str and type(made[2]) is int and made[2] > 0 and type(made[4]) is str:
                return _new(Envelope, made)
    except (AttributeError, KeyError, TypeError):
        pass  # of a shape that no writer makes: said below
    raise DamagedLineError(f"its envelope is {told!r:.80}")


@lru_cache(maxsize=256)
def _actor(kind: str, name: str = "", face: str = "") -> Actor:
    if kind not in _KINDS or type(name) is not str or type(face) is not str:
        raise TypeError(kind)
    return Actor(typing.cast(ActorKind, kind), name, face)


def _event(raw: dict[str, Any], sealed: bool) -> DurableEvent:
    """The event of a line. A sealed line is byte for byte what the encoder wrote: its types need no second look."""
    kind = raw.get("type")
    shape = _shape(kind) if isinstance(kind, str) else None
    if shape is None:
        raise DamagedLineError(f"unknown event type {kind!r}")
    if not sealed:
        _check_types(str(kind), raw, shape)
    try:
        for name in shape.tuples:
            if name in raw:
                raw[name] = tuple(raw[name])
        if shape.builds and "findings" in raw:
            raw["findings"] = tuple(Finding(artifact=raw["artifact"], **finding) for finding in raw["findings"])
        if shape.builds and "choices" in raw:
            raw["choices"] = tuple(map(Choice.of, raw["choices"]))
        return shape.make(**raw)
    except (TypeError, KeyError) as error:
        raise DamagedLineError(f"{kind}: {str(error).split('() ')[-1]}") from error


def _check_types(kind: str, raw: Mapping[str, Any], shape: _Shape) -> None:
    for name, value in raw.items():
        want = shape.fields.get(name)
        if type(value) is not want and not _fits(want, value):
            what = "has no field" if want is None else "has a value of the wrong type in"
            raise DamagedLineError(f"{kind} {what} {name!r}")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a line of one type must look like."""

    make: Callable[..., DurableEvent]
    fields: Mapping[str, Any]
    """A type that the value has exactly, or a `_Fit` for what takes a closer look."""
    tuples: tuple[str, ...]
    builds: bool
    """It has findings or choices, built one by one: all other JSON values are its fields, but for lists."""
    lifted: bool
    """Whether older lines of it had another shape."""


@dataclass(frozen=True, slots=True)
class _Fit:
    fits: Callable[[Any], bool]


def _fits(want: Any, value: Any) -> bool:
    return isinstance(want, _Fit) and want.fits(value)


@lru_cache(maxsize=512)
def _shape(tag: str) -> _Shape | None:
    cls = _durable().get(tag)
    if cls is None:
        return None
    hints = typing.get_type_hints(cls)
    tuples = tuple(name for name, hint in hints.items() if _is_tuple(hint))
    wanted = {name: _want(hint) for name, hint in hints.items()}
    return _Shape(cls, wanted, tuples, not _BUILT.isdisjoint(hints), tag in UPCASTERS)


@cache
def _durable() -> dict[str, type[DurableEvent]]:
    """By tag, which stands in the annotation of `type`; nothing else of a class is looked at until a line has it."""
    return {_tag(cls): cls for cls in typing.get_args(protocol.DurableEvent)}


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name != "type")


def _tag(cls: Any) -> str:
    return str(cls.__annotations__["type"]).removeprefix("Literal[").removesuffix("]").strip("'\"")


def _is_tuple(hint: Any) -> bool:
    """A list in JSON that becomes a tuple as it is; findings and choices are built one by one."""
    return typing.get_origin(hint) is tuple and typing.get_args(hint)[0] not in (Finding, Choice)


def _want(hint: Any) -> Any:
    origin = typing.get_origin(hint)
    if hint is Any:
        return _Fit(lambda _: True)
    if origin is None:
        return hint
    inner = typing.get_args(hint)
    if origin is Literal:
        return _Fit(lambda value: isinstance(value, str) and value in inner)
    if origin in (types.UnionType, typing.Union):
        return _Fit(lambda value: value is None or type(value) in inner)
    if origin is tuple:
        element = dict if inner[0] in (Finding, Choice) or typing.get_origin(inner[0]) is Mapping else inner[0]
        return _Fit(lambda value: isinstance(value, list) and all(isinstance(item, element) for item in value))
    if inner[1] is str:
        return _Fit(lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()))
    return dict


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be written as JSON")


# Built once: `json.dumps` with options of its own builds an encoder for every call.
_DECODER: Final = json.JSONDecoder()
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain, check_circular=False)
_ESCAPING_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=_plain, check_circular=False)
