"""The signs and styles of a screen: one small vocabulary for every table and view, in Unicode and in ASCII.

Colour never carries meaning alone: each state has a sign of its own, and a word beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.protocol.values import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    states: Mapping[str, str]
    spinner: str
    ellipsis: str
    dot: str
    arrow: str
    ascii: bool

    def state(self, word: str) -> str:
        return self.states.get(_SAME.get(word, word), self.dot)

    def spin(self, now: float) -> str:
        return self.spinner[int(now * 10) % len(self.spinner)]


_SAME: Final = {
    "completed": "done",
    "in_progress": "running",
    "pending": "waiting",
    "run": "running",
    "skip": "skipped",
    "leave": "waiting",
}
"""The manifest, the planner and the live view have words of their own for the same states."""

_STYLES: Final = {
    "done": "green",
    "running": "cyan",
    "skipped": "dim",
    "waiting": "dim",
    "failed": "red",
    "interrupted": "yellow",
}

UNICODE: Final = Signs(
    states={"done": "✓", "running": "▸", "skipped": "•", "waiting": "○", "failed": "✗", "interrupted": "!"},
    spinner="⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
    ellipsis="…",
    dot="·",
    arrow="→",
    ascii=False,
)
ASCII: Final = Signs(
    states={"done": "+", "running": ">", "skipped": "=", "waiting": ".", "failed": "x", "interrupted": "!"},
    spinner="|/-\\",
    ellipsis="...",
    dot="-",
    arrow=">",
    ascii=True,
)


def signs(ascii: bool) -> Signs:
    return ASCII if ascii else UNICODE


def style(word: str) -> str:
    return _STYLES.get(_SAME.get(word, word), "")
