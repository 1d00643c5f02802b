"""The front of a room that loads what is behind it when it is first asked for.

    __getattr__ = front(__name__, {"read_document": "weft.documents.reading"})

What a room offers is still one list, type checkers see ordinary imports, and a command pays only for what it uses.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def front(room: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """`__getattr__` of a module: each name with the module that has it."""

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(names[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return load
