"""A model that runs a loop of its own makes files itself: it writes them, is told what is wrong, and puts it right.

`FileMakingModel` is what such a model has beside `stream`. It is given a judge, asks it about every file as it is
written, and is not done before all of them are right or its tries are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from weft.models.model import Request
from weft.protocol.errors import Finding
from weft.protocol.messages import Usage
from weft.protocol.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRequest:
    """What is to be made. `request` says it in words; `judge` says what is wrong with a file's bytes."""

    request: Request
    files: tuple[str, ...]
    judge: Callable[[str, bytes], Sequence[Finding]]
    say: Callable[[str], None]
    asks: int = 3
    """How often it is asked before that is a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesMade:
    files: Mapping[str, bytes]
    usage: Usage


@runtime_checkable
class FileMakingModel(Protocol):
    async def make(self, ask: FilesRequest) -> FilesMade:
        """ModelFeedback with what is still wrong when it does not get there; ModelError when it can't be asked."""
        ...
