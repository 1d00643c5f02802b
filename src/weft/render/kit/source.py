"""What a kit was made from, as far as its pages need it: the text that offsets and quotes refer to, and its origin."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, Protocol

from weft.protocol.values import dataclass

_NAME: Final = 80
"""Characters. The name of a speaker is no longer."""


class KitCue(Protocol):
    """When something was said and where its words begin in the text. `weft.documents.Cue` is one."""

    @property
    def start(self) -> float:
        """In seconds."""

    @property
    def offset(self) -> int:
        """In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The document behind a kit. All but the text may be empty."""

    text: str
    """The normalised text. Evidence counts its characters."""
    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    kind: str = ""
    url: str = ""
    cues: Sequence[KitCue] = ()
    reader: str = ""
    """The language in which the reader wants what is not of the source; empty for the language of the kit."""


class Clock:
    """The time at which a place of the text is said."""

    def __init__(self, source: Source) -> None:
        self._cues = sorted((cue.offset, cue.start) for cue in source.cues)
        self._offsets = [offset for offset, _ in self._cues]
        self._text = source.text

    def at(self, place: int) -> str:
        """`0:44`, `1:02:09`; empty where nothing is known."""
        number = bisect_right(self._offsets, place) - 1
        after = number + 1
        if after < len(self._cues) and self._offsets[after] - place <= _NAME:
            # The name of who speaks stands before what is said, and belongs to it.
            line = self._text.rfind("\n", 0, place) + 1
            if (number < 0 or self._offsets[number] < line) and "\n" not in self._text[place : self._offsets[after]]:
                number = after
        return clock(self._cues[number][1]) if number >= 0 else ""

    def first_within(self, start: int, end: int) -> str:
        """The time of the first cue that begins there."""
        number = bisect_right(self._offsets, start - 1)
        return clock(self._cues[number][1]) if number < len(self._cues) and self._offsets[number] < end else ""


def clock(seconds: float) -> str:
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
