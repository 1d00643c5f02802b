"""Where somebody who speaks begins anew, in words that nobody has set stops in: automatic captions.

Nothing but words tells: one that begins (`so`, `and`, `but`, `now`) with a new subject behind it, after enough words to
be a statement. The small words at both ends of a piece (`um`, `so`, `right`) say nothing and are left off. English
only: of other languages no list was read and checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r"[^\s]+")
_JOINTS: Final = frozenset("and but so or because then".split())  # noqa: SIM905
_ANEW: Final = frozenset("so now well okay ok anyway alright first second finally".split())  # noqa: SIM905
_SUBJECTS: Final = frozenset(
    "i we you he she they it this that these those there what when if let somebody someone everybody everyone nobody"  # noqa: SIM905
    " i'm i've i'd we're we've you're they're it's that's there's he's she's what's let's don't please".split()
)
_PHRASES: Final = _SUBJECTS | frozenset(
    "the a an my our your his her their in some people most many one all every each".split()  # noqa: SIM905
)
"""What may stand behind `and` within a statement as well: `flour and the water`."""
_FILLERS: Final = frozenset("and so but um uh erm okay ok now well like right yeah anyway then alright".split())  # noqa: SIM905
_LEAST, _LONG, _MOST = 7, 26, 40
"""Words: of a statement, from which any joint will do, and after which it is cut wherever it is."""


def spoken_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The places of what is said piece by piece in `text[start:end]`, without fillers around them."""
    words = [
        (match.group().lower().strip(",.?!"), match.start(), match.end()) for match in _WORD.finditer(text, start, end)
    ]
    piece: list[tuple[str, int, int]] = []
    for at, word in enumerate(words):
        following = words[at + 1][0] if at + 1 < len(words) else ""
        if _begins(word[0], following, len(piece)):
            yield from _trimmed(piece)
            piece = []
        piece.append(word)
    yield from _trimmed(piece)


def _begins(word: str, following: str, size: int) -> bool:
    if size < _LEAST:
        return False
    if size >= _MOST or (size >= _LONG and word in _JOINTS):
        return True
    if word == "so" and following == "that":
        return False
    if word in ("but", *_ANEW):
        return following in _PHRASES or following in _FILLERS
    return word in ("and", "then") and following in _SUBJECTS


def _trimmed(piece: list[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    low, high = 0, len(piece)
    while low < high and piece[low][0] in _FILLERS:
        low += 1
    while high > low and piece[high - 1][0] in _FILLERS:
        high -= 1
    if low < high:
        yield piece[low][1], piece[high - 1][2]
