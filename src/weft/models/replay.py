"""A model that answers from a recording: the same requests get the same answers, with no model there.

A recording is any iterable of `Recorded`, so whoever keeps a log decides how it is read. An answer with a fingerprint
serves only its own request, in whatever order requests come; answers without one are given in the order they stand.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from weft.models.model import ModelError, Part, Request
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass

REPLAY_WINDOW: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One answer as it was streamed: its parts, and the error it ended with, if it did."""

    parts: tuple[Part, ...] = ()
    request: str = ""
    error: ModelError | None = None


def as_json(value: Any) -> Any:
    """A request or a part as plain JSON: the form that is hashed, compared and shown."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def fingerprint(request: Request) -> str:
    return hash_bytes(json.dumps(as_json(request), sort_keys=True, ensure_ascii=False).encode())


def replay(recorded: Iterable[Recorded], *, name: str = "replay") -> ReplayModel:
    return ReplayModel(tuple(recorded), name)


class ReplayModel:
    """Gives each recorded answer once."""

    output_ways = ("native", "tool", "prompted")

    def __init__(self, recorded: tuple[Recorded, ...], name: str) -> None:
        self._left = list(recorded)
        self._name = name
        self._count = len(recorded)

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return REPLAY_WINDOW

    @property
    def left(self) -> int:
        """How many answers nobody has asked for yet."""
        return len(self._left)

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        answer = self._take(fingerprint(request))
        for part in answer.parts:
            yield part
        if answer.error is not None:
            raise answer.error

    def _take(self, wanted: str) -> Recorded:
        for index, one in enumerate(self._left):
            if one.request in ("", wanted):
                return self._left.pop(index)
        if self._left:
            what = f"the recording has no answer to this request ({len(self._left)} of {self._count} are for others)"
        else:
            what = f"the recording is at its end: all {self._count} answers were given"
        raise ModelError(
            "invalid_request", what, hint="what is asked has changed since it was recorded; record it anew"
        )
