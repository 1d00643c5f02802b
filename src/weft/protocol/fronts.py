"""The front of a room that loads what is behind it when it is first asked for.

    __getattr__ = front(__name__, {"weft.documents.reading": "read_document page_of"})

Type checkers see ordinary imports, and a command pays only for what it uses.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def front(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """`__getattr__` of a module: by the module that has them, the names it offers."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return load
