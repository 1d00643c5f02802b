"""A snapshot: what a log added up to at one of its decisions, kept beside it so that a long log opens at once.

It is never the truth. It is taken only when the bytes of the log up to that decision are the very ones it was made
from, and when the same code folded them; else it is passed over and the log is read from its start. So it may be stale,
foreign, torn or gone at any time. `Session` writes it, for its own state and for what others fold of its log.

Values are written as JSON after their types: dataclasses, tuples, mappings, sets and what JSON has itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.session.log import CHUNK, LOG, LogHead
from weft.version import __version__

SNAPSHOT: Final = ".snapshot.json"


@dataclass(frozen=True, slots=True)
class Snapshot:
    head: LogHead
    """The decision it was made at."""
    saved: Mapping[str, Any]
    """By name, what was folded until then, in plain values."""

    def of(self, name: str, kind: type[Any]) -> Any:
        """What was saved under the name, None when it was not or is not of that kind."""
        try:
            found = self.saved.get(name, {})
            return restored(kind, found["value"]) if found.get("code") == _code(kind) else None
        except (TypeError, ValueError, KeyError, AttributeError, OSError):
            return None  # another program wrote it: the log has it all


def read_snapshot(folder: Folder) -> Snapshot | None:
    """None unless it is of this very log."""
    try:
        data = folder.read_or_none(SNAPSHOT)
        found = json_value(data) if data else {}
        if found.get("weft") != __version__:
            return None
        head = restored(LogHead, found["head"])
        if found["sha256"] != _prefix_hash(folder, head.end):
            return None
        return Snapshot(head, dict(found["saved"]))
    except (ValueError, TypeError, KeyError, AttributeError, OSError, WeftError):
        return None


def write_snapshot(folder: Folder, head: LogHead, folds: Mapping[str, Any]) -> None:
    digest = _prefix_hash(folder, head.end)
    if digest is not None:
        saved = {name: {"code": _code(type(fold)), "value": plain(fold)} for name, fold in folds.items()}
        content = {"weft": __version__, "head": plain(head), "sha256": digest, "saved": saved}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), check_circular=False)
        folder.replace(SNAPSHOT, text.encode("utf-8", "surrogatepass"), sync=False)


def _code(kind: type[Any]) -> str:
    """Of the module a fold is written in: when that has changed, so may have what it makes of a log."""
    return _file_hash(sys.modules[kind.__module__].__file__ or "")


@cache
def _file_hash(path: str) -> str:
    return hash_bytes(Path(path).read_bytes())


def _prefix_hash(folder: Folder, end: int) -> str | None:
    """Of the log's first bytes; None when it has not so many."""
    digest, left = hashlib.sha256(), end
    try:
        fd = folder.open_fd(LOG, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        while left and (chunk := os.read(fd, min(CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
    finally:
        os.close(fd)
    return None if left else digest.hexdigest()


# -- values as plain JSON


def plain(value: Any) -> Any:
    """A value as JSON has it; of a dataclass only what is not as it is by default."""
    kind: Any = type(value)
    if kind is str or kind is int or value is None or kind is bool or kind is float:
        return value
    if kind is Decimal:
        return str(value)
    if is_dataclass(value):
        return {name: plain(own) for name, default in _defaults(kind) if (own := getattr(value, name)) != default()}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(inner) for inner in value)
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    raise TypeError(f"{kind.__name__} can't be saved")


def restored(hint: Any, value: Any) -> Any:
    return _reader(hint)(value)


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Callable[[], Any]], ...]:
    return tuple((field.name, _default(field)) for field in fields(kind))


def _default(field: Field[Any]) -> Callable[[], Any]:
    if field.default_factory is not MISSING:
        return field.default_factory
    return lambda: field.default  # MISSING equals nothing that is saved


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        kinds = [one for one in inner if one is not type(None)]
        read = _reader(kinds[0]) if len(kinds) == 1 else _same
        return lambda value: None if value is None else read(value)
    if hint is Any or origin is Literal or hint in (str, int, float, bool):
        return _same
    if hint is Decimal:
        return Decimal
    if is_dataclass(hint):
        return _dataclass_reader(hint)
    if origin is tuple or hasattr(hint, "_fields"):
        return _tuple_reader(hint, inner)
    if origin in (set, frozenset, list):
        element, make = _reader(inner[0]), origin
        return lambda value: make(map(element, value))
    if origin in (dict, Mapping):
        return _mapping_reader(_reader(inner[1]))
    raise TypeError(f"{hint} can't be restored")


def _same(value: Any) -> Any:
    return value


def _mapping_reader(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    if read is _same:
        return dict
    return lambda value: {key: read(one) for key, one in value.items()}


def _tuple_reader(hint: Any, inner: tuple[Any, ...]) -> Callable[[Any], Any]:
    if hasattr(hint, "_fields"):
        return lambda value: hint(*value)
    if len(inner) == 2 and inner[1] is Ellipsis:
        read = _reader(inner[0])
        return tuple if read is _same else lambda value: tuple(map(read, value))
    reads = [_reader(one) for one in inner]
    return lambda value: tuple(read(one) for read, one in zip(reads, value, strict=True))


def _dataclass_reader(kind: Any) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    reads = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    different = {name: read for name, read in reads.items() if read is not _same}

    def read(value: Any) -> Any:
        made = dict(value)
        for name in made.keys() & different.keys():
            made[name] = different[name](made[name])
        return kind(**made)

    return read
