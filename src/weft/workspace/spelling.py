"""Every unknown name is answered with the nearest good one, or with the list of good ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MEANT: Final = {
    "retries": "attempts",
    "max_retries": "attempts",
    "tries": "attempts",
    "depends_on": "requires",
    "needs": "requires",
    "foreach": "map",
    "for_each": "map",
    "output": "artifact",
    "function": "code",
}
"""Words of other programs, which are near to nothing here or to something else."""
SHOWN: Final = 16
"""More names than this are not a hint any more but a wall."""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    by_folded = {choice.casefold(): choice for choice in choices}
    if (meant := MEANT.get(word.casefold())) in by_folded:
        return by_folded[meant]
    close = get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def listed(choices: Iterable[str]) -> str:
    names = list(choices)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def suggest(word: str, choices: Iterable[str], kind: str) -> str:
    """The hint for an unknown name; `kind` is the plural word for what it should have been, such as "steps"."""
    names = list(choices)
    if close := nearest(word, names):
        return f"did you mean '{close}'?"
    return f"the {kind} are: {listed(names)}" if names else f"there are no {kind}"
