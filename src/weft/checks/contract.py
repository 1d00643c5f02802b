"""What a check is: a name, options a person writes, and a function from options and input to faults.

Anything wrong with a declaration is a `CheckProblem`, raised when the pipeline is loaded; running a check only ever
finds faults in the artifact. What only a declaration and a check itself need is in options.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.protocol.values import dataclass, field


class CheckProblem(ValueError):  # noqa: N818 - a problem of a declaration, as in `protocol.errors.Problem`
    """A check is declared wrongly. `key` is the option at fault, "" when it is the check as a whole."""

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.key = key


@dataclass(frozen=True)
class CheckCall:
    """A declared check after validation."""

    name: str
    """A built-in check, or `words.py:polite` for one that a pack adds."""
    options: Mapping[str, Any]
    """As written, in plain JSON values: for hashing and messages."""
    reads: tuple[str, ...] = field(default=(), compare=False)
    """The names of the documents it reads, as its options say: inputs such as `source`, artifacts such as
    `summary.json`."""


@dataclass(frozen=True)
class CheckInput:
    artifact: str
    value: Any
    """Parsed JSON, or the text of an artifact that is not JSON."""
    documents: Mapping[str, Any]
    """Every document the check asked for by name: text, or parsed JSON."""
    parameters: Mapping[str, Any]


def document_names(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("the name of an input or artifact, or a list of names")
    return tuple(dict.fromkeys(names))
