"""`pattern`: a regular expression that is compiled when it is first used; type checkers see `re.compile`.

Compiling the expressions of every module that a command loads takes longer than most commands do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:
    _METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")

    class pattern:  # noqa: N801  called like the function that it stands for
        def __init__(self, text, flags=0):
            self._given = text, flags

        def __getattr__(self, name):
            """Only for what is not there yet: from the first use on, the methods are the expression's own."""
            if name.startswith("__"):
                raise AttributeError(name)
            made = re.compile(*self._given)
            self.__dict__.update({method: getattr(made, method) for method in _METHODS})
            return getattr(made, name)
