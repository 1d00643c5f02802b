"""The passage of a document that is nearest to a quote which is not in it, in bounded time.

Anchors first: a few dozen pieces of the quote (three neighbouring words, and long single words; in scripts without
spaces, three neighbouring characters) are searched as plain strings. Each hit votes for the place where the quote
would begin; rare pieces weigh more. Only the windows with the most votes are compared word by word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from weft.checks.faults import cut, showable
from weft.checks.folding import Folded
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

# A Chinese, Japanese or Thai character is a token of its own: those scripts put no spaces between words.
_TOKEN: Final = pattern(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|\w+|[^\w\s]")
_BEFORE: Final = 200
_AFTER: Final = 400
"""How much of a long quote is compared, on both sides of the point where it leaves the document."""
_ANCHOR_LIMIT: Final = 24
_HIT_LIMIT: Final = 40
_WINDOWS: Final = 3
_LIKENESS: Final = 0.4
"""Below this share of common words two texts have nothing to do with each other."""
_SHOWN: Final = 500


@dataclass(frozen=True, slots=True)
class CheckedPassage:
    document: Folded
    start: int
    end: int
    likeness: float

    @property
    def shown(self) -> str:
        return self.document.shown[self.start : self.end]


def focus(quote: Folded, documents: Sequence[Folded]) -> Folded:
    """A short quote as it is; of a long one, the part around the first word that no document goes along with."""
    if len(quote.text) <= _BEFORE + _AFTER:
        return quote
    # Every beginning of a beginning that occurs does occur too, so halving finds the longest.
    low, high = 0, len(quote.text)
    while low < high:
        middle = (low + high + 1) // 2
        if any(quote.text[:middle] in document.text for document in documents):
            low = middle
        else:
            high = middle - 1
    start = max(0, low - _BEFORE)
    # From the beginning of a word, where there are words: half of one would look like a difference.
    part = slice(max(start, quote.text.find(" ", start, low) + 1), low + _AFTER)
    return Folded(quote.name, quote.shown[part], quote.text[part])


def nearest(quote: Folded, documents: Sequence[Folded]) -> CheckedPassage | None:
    wanted = quote.lowered
    tokens = list(_TOKEN.finditer(wanted))
    best: CheckedPassage | None = None
    for document in documents:
        for start, end in _windows(wanted, tokens, document.lowered):
            passage = _compare([token.group() for token in tokens], document, start, end)
            if passage is not None and (best is None or passage.likeness > best.likeness):
                best = passage
    return best if best is not None and best.likeness >= _LIKENESS else None


def _windows(wanted: str, tokens: Sequence[re.Match[str]], document: str) -> list[tuple[int, int]]:
    width = max(64, len(wanted) // 2)
    votes: defaultdict[int, float] = defaultdict(float)
    for offset, piece in _anchors(wanted, tokens):
        hits = list(_hits(piece, document))
        for hit in hits:
            # Two neighbouring buckets each, so that a beginning near an edge gathers all of its votes in one of them.
            bucket = max(0, hit - offset) // width
            votes[bucket] += 1 / len(hits)
            votes[bucket - 1] += 1 / len(hits)
    leading = sorted(votes, key=lambda bucket: (-votes[bucket], bucket))[:_WINDOWS]
    return [(max(0, bucket * width - 40), (bucket + 2) * width + len(wanted) + 40) for bucket in leading]


def _anchors(wanted: str, tokens: Sequence[re.Match[str]]) -> set[tuple[int, str]]:
    size = min(3, len(tokens))
    starts = range(len(tokens) - size + 1)
    step = max(1, len(starts) // _ANCHOR_LIMIT)
    runs = [(tokens[at].start(), wanted[tokens[at].start() : tokens[at + size - 1].end()]) for at in starts[::step]]
    words = sorted((token for token in tokens if len(token.group()) > 3), key=lambda token: -len(token.group()))
    return {*runs[: 2 * _ANCHOR_LIMIT], *((word.start(), word.group()) for word in words[:_ANCHOR_LIMIT])}


def _hits(piece: str, document: str) -> Iterator[int]:
    position = document.find(piece)
    for _ in range(_HIT_LIMIT):
        if position < 0:
            return
        yield position
        position = document.find(piece, position + 1)


def _compare(wanted: list[str], document: Folded, start: int, end: int) -> CheckedPassage | None:
    there = list(_TOKEN.finditer(document.lowered, start, min(end, len(document.text))))
    matcher = SequenceMatcher(None, wanted, [token.group() for token in there], autojunk=False)
    anchor = matcher.find_longest_match()
    if anchor.size == 0:
        return None
    # Words in common far from the longest common run are chance: stay where the quote would lie, with some slack.
    slack = 2 + len(wanted) // 5
    low = max(0, anchor.b - anchor.a - slack)
    high = min(len(there), anchor.b - anchor.a + len(wanted) + slack)
    near = SequenceMatcher(None, wanted, [token.group() for token in there[low:high]], autojunk=False)
    blocks = [block for block in near.get_matching_blocks() if block.size]
    first, last = blocks[0], blocks[-1]
    begin = max(0, low + first.b - first.a)
    finish = min(len(there), low + last.b + len(wanted) - last.a)
    likeness = 2 * sum(block.size for block in blocks) / (len(wanted) + finish - begin)
    return CheckedPassage(document, there[begin].start(), there[finish - 1].end(), likeness)


def difference(quote: Folded, passage: CheckedPassage) -> str:
    """Where the two part, in words; signs that look alike or can't be seen are called by name."""
    theirs, ours = passage.document.text[passage.start : passage.end], quote.text
    at = next((at for at, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours)))
    has, instead = _around(passage.shown, at), _around(quote.shown, at)
    names = _names(theirs[at : at + 1], ours[at : at + 1])
    return f"The document has {has} where the artifact has {instead}{names}"


def _around(text: str, at: int) -> str:
    piece = text[max(0, at - 12) : at + 18]
    return f"“{showable(piece)}”" if at < len(text) else f"“{showable(piece)}” and no more"


def _names(theirs: str, ours: str) -> str:
    if all(sign.isascii() or unicodedata.category(sign) == "Lo" for sign in (theirs, ours) if sign):
        return ""
    named = [f"U+{ord(sign):04X} {unicodedata.name(sign, 'unnamed')}" if sign else "nothing" for sign in (theirs, ours)]
    return f" ({named[0]}, not {named[1]})"


def passage_shown(passage: CheckedPassage, quote: Folded) -> str:
    """The passage for a hint: whole when it is short, else the part in which it differs from the quote."""
    text = passage.shown
    if len(text) <= _SHOWN:
        return f"“{showable(text)}”"
    theirs = passage.document.text[passage.start : passage.end]
    at = next((at for at, (a, b) in enumerate(zip(theirs, quote.text, strict=False)) if a != b), 0)
    return f"“{cut(text[max(0, at - _SHOWN // 2) :], _SHOWN)}”"
