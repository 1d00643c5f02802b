"""The little of the ONNX format that is needed here: the tensors of a file are read, and a graph is written.

Own code because the library for it (`onnx`, 60 MB) would be there for two pages: a file is nested records of numbered
fields, each a number or bytes (protocol buffers). What a field's number means is in `onnx.proto3` of the ONNX project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_TYPES: Final = {1: "float32", 2: "uint8", 3: "int8", 7: "int64"}
_NUMBERS: Final = {name: number for number, name in _TYPES.items()}
_GRAPH, _TENSORS = 7, 5
OWN: Final = "com.microsoft"
"""Where the operators that onnxruntime has beyond the standard are."""


def read_tensors(data: bytes) -> dict[str, Array]:
    """The tensors that a model file carries, by name; those of other kinds than this reads are left out."""
    import numpy

    found: dict[str, Array] = {}
    for graph in (part for field, part in _fields(memoryview(data)) if field == _GRAPH):
        for tensor in (part for field, part in _fields(graph) if field == _TENSORS):
            shape: list[int] = []
            kind, name, raw = 0, "", memoryview(b"")
            for field, value in _fields(tensor):
                if field == 1:
                    shape += [value] if isinstance(value, int) else _numbers(value)
                elif field == 2:
                    kind = value
                elif field == 8:
                    name = bytes(value).decode()
                elif field == 9:
                    raw = value
            if kind in _TYPES and len(raw):
                found[name] = numpy.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape)
    return found


class GraphFile:
    """A graph that grows by its operators; each gives the name of what it makes."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []

    def keep(self, array: Array) -> str:
        """A tensor that the graph carries."""
        name = f"kept{len(self._tensors)}"
        shape = b"".join(_field(1, size) for size in array.shape)
        told = shape + _field(2, _NUMBERS[str(array.dtype)]) + _field(8, name.encode())
        self._tensors.append(_field(_TENSORS, told + _field(9, array.tobytes())))
        return name

    def add(self, operator: str, *given: str, domain: str = "", name: str = "", **settings: int) -> str:
        return self.add_many(operator, *given, domain=domain, names=[name or f"made{len(self._nodes)}"], **settings)[0]

    def add_many(self, operator: str, *given: str, names: list[str], domain: str = "", **settings: int) -> list[str]:
        told = b"".join(_field(1, one.encode()) for one in given) + b"".join(_field(2, one.encode()) for one in names)
        told += _field(4, operator.encode()) + _field(7, domain.encode())
        for key, value in settings.items():
            told += _field(5, _field(1, key.encode()) + _field(3, value) + _field(20, 2))
        self._nodes.append(_field(1, told))
        return names

    def data(self, inputs: Mapping[str, tuple[str, int]], outputs: Mapping[str, tuple[str, int]]) -> bytes:
        """The whole model; what goes in and what comes out, each with its type and how many dimensions it has."""
        told = b"".join(_field(11, _value(name, *kind)) for name, kind in inputs.items())
        told += b"".join(_field(12, _value(name, *kind)) for name, kind in outputs.items())
        graph = b"".join(self._nodes) + _field(2, b"graph") + b"".join(self._tensors) + told
        sets = _field(8, _field(1, b"") + _field(2, 18)) + _field(8, _field(1, OWN.encode()) + _field(2, 1))
        return _field(1, 8) + sets + _field(_GRAPH, graph)


def _value(name: str, kind: str, dimensions: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"{name}_{at}".encode())) for at in range(dimensions))
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, _NUMBERS[kind]) + _field(2, shape)))


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1  # a number below zero is written as if it had 64 bits
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        mark, at = _read_number(data, at)
        kind = mark & 7
        if kind == 0:
            value, at = _read_number(data, at)
            yield mark >> 3, value
            continue
        if kind == 2:
            size, at = _read_number(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a record of the unknown kind {kind}")
        if at + size > len(data):
            raise ValueError("it ends too early")
        yield mark >> 3, data[at : at + size]
        at += size


def _numbers(data: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _read_number(data, at)
        found.append(value)
    return found


def _read_number(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("it ends too early")
        part = data[at]
        at += 1
        value |= (part & 127) << shift
        if part < 128:
            return value, at
        shift += 7
