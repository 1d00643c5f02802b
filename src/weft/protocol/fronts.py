"""The front of a room that loads what is behind it when it is first asked for.

    if TYPE_CHECKING:
        from weft.documents.reading import page_of, read_document
    else:
        __getattr__ = front(__name__)

Type checkers see ordinary imports, a command pays only for what it uses, and each name is written once.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def front(room: str) -> Callable[[str], Any]:
    """`__getattr__` of a module: what it imports for type checkers alone."""
    home_of: dict[str, str] = {}

    def load(name: str) -> Any:
        home_of.update(home_of or _homes(room))
        if name not in home_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return load


def _homes(room: str) -> dict[str, str]:
    """The module behind each name, as the room's own source has it."""
    with open(str(sys.modules[room].__file__), encoding="utf-8") as source:
        imports = source.read().partition("\nif TYPE_CHECKING:\n")[2].partition("\nelse:")[0]
    found: dict[str, str] = {}
    for one in imports.split("    from ")[1:]:
        home, _, names = one.partition(" import ")
        found |= dict.fromkeys(names.replace(",", " ").strip(" ()\n").split(), home)
    return found
