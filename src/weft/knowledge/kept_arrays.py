"""Arrays beside an index, in one file that is mapped instead of read: what a search needs of it comes from the disk.

    array, array, …   what they are (JSON)   its length and its checksum (8 bytes each)   MAGIC

Such a file is made from the index and only saves making it again. It says which state of the index it is of
(`Store.stamp`); one of another state, of another kind, cut off or damaged in what it says of itself counts as none. The
arrays are not read through for damage: that would cost what the file is to save.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.files import Folder
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MAGIC: Final = b"weftarr2"
_TAIL: Final = 16 + len(MAGIC)
"""Bytes behind what the arrays are."""
_ALIGNED: Final = 64


@dataclass(frozen=True, slots=True)
class KeptArrays:
    facts: Mapping[str, Any]
    arrays: Mapping[str, Array]
    """For reading only: they are the file itself."""


class ArrayWriter:
    """One array after the other, each in as many pieces as it comes in."""

    def __init__(self, folder: Folder, fd: int) -> None:
        self._folder = folder
        self._fd = fd
        self._at = 0
        self._arrays: dict[str, tuple[str, list[int], int]] = {}

    def put(self, name: str, pieces: Iterable[Array]) -> None:
        """Pieces of one kind, laid end to end along their first dimension. There is at least one."""
        self._write(b"\0" * (-self._at % _ALIGNED))
        start, kind, shape = self._at, "", [0]
        for piece in pieces:
            kind, shape = piece.dtype.str, [shape[0] + piece.shape[0], *piece.shape[1:]]
            self._write(piece.tobytes())
        self._arrays[name] = (kind, shape, start)

    def end(self, facts: Mapping[str, Any]) -> None:
        told = json.dumps({"facts": facts, "arrays": self._arrays}).encode()
        self._write(told + len(told).to_bytes(8, "little") + zlib.crc32(told).to_bytes(8, "little") + MAGIC)

    def _write(self, data: bytes) -> None:
        self._folder.disk.write(self._fd, data)
        self._at += len(data)


@contextmanager
def keeping_arrays(path: Path) -> Iterator[ArrayWriter]:
    """In place when the writer has been ended and no error came."""
    with Folder.open(path.parent) as folder, folder.replacing(path.name) as fd:
        yield ArrayWriter(folder, fd)


def read_arrays(path: Path, stamp: int) -> KeptArrays | None:
    """Of this state of the index, or None."""
    import numpy

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(fd).st_size < _TAIL:
            return None
        held = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
    except OSError:
        return None
    finally:
        os.close(fd)
    end = len(held) - _TAIL
    length, checksum = (int.from_bytes(held[at : at + 8], "little") for at in (end, end + 8))
    if held[end + 16 :] != MAGIC or length > end or zlib.crc32(held[end - length : end]) != checksum:
        return None
    told = json_value(held[end - length : end])
    if told["facts"]["stamp"] != stamp:
        return None
    arrays = {}
    for name, (kind, shape, start) in told["arrays"].items():
        count = 1
        for size in shape:
            count *= size
        arrays[name] = numpy.frombuffer(held, dtype=kind or "u1", count=count, offset=start).reshape(shape)
    return KeptArrays(told["facts"], arrays)
