"""Where sentences end, with their places in the text.

A stop ends a sentence unless something speaks against it: an abbreviation, an initial, a number that goes on, a small
letter behind it, a closing quotation mark with `she said` behind it. Line breaks end one only where the line could have
gone on: short lines that were meant to be lines. What is far too long for a sentence (captions without any stop) is cut
where a breath would be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words
from weft.models.embedded.layout import GAP
from weft.models.embedded.words import UNSPACED

CLOSERS: Final = "\"'”’»›)\\]』」）〉》】"
_END: Final = re.compile(rf"[.!?…。！？｡؟۔।॥]+[{CLOSERS}*_{GAP}]*")
_GUILLEMET: Final = re.compile(rf"[.!?…]+(?:[ \u00a0\u202f]?»)?[{CLOSERS}*_{GAP}]*")
"""Where a closing » has a space before it; elsewhere it opens."""
_FULL: Final = "。！？｡।॥"
_BEFORE: Final = re.compile(r"([^\s(\[\"'“‘«„]+)$")
_NEXT: Final = re.compile(rf"[\s{GAP}\"'“‘«„(\[¿¡—–*_-]*(\S)?(\w*)")
_FIRST_LETTER: Final = re.compile(r"[^\W\d_]")
_WORDS_BEHIND: Final = re.compile(r"[\w'’]+")
_WORD_LIMIT: Final = 70
_PIECE: Final = 28
_LETTER_LIMIT: Final = 160
"""The same for scripts without spaces, in characters."""
_BREATH: Final = re.compile(r"[;；—]\s*|\n\s*|[:：]\s+|[,，、،](?!\d)\s*")
_LABEL: Final = re.compile(r"\s*[^\W\d_a-z][\w'’]*(?: [\w'’]+){0,2}:\s+\S")
"""`Present: …`, line by line: a form, not prose that goes on."""
_SPACE: Final = re.compile(r"\s+")
_SURE: Final = re.compile(
    r"(?:The|This|That|These|Those|It|He|She|We|They|I|In|On|At|But|And|For|When|If|As|After|There)$"
)


def split_sentences(plain: str, start: int, end: int, language: Language) -> list[tuple[int, int]]:
    """The places of the sentences in `plain[start:end]`, without the white space around them."""
    found: list[tuple[int, int]] = []
    # Where nothing has a capital, a small letter behind a stop proves nothing.
    first = _FIRST_LETTER.search(plain, start, end)
    small = first is not None and first.group().islower()
    for low, high in _meant_lines(plain, start, end):
        position = low
        for match in (_GUILLEMET if language.code == "fr" else _END).finditer(plain, low, high):
            if match.start() >= position and _ends(plain, match, high, language, small=small):
                found.append((position, match.end()))
                position = match.end()
        found.append((position, high))
    placed = (_trim(plain, low, high) for low, high in found)
    return [piece for low, high in placed if low < high for piece in _short_enough(plain, low, high, language)]


def _ends(plain: str, match: re.Match[str], high: int, language: Language, *, small: bool) -> bool:
    stop, after = match.group(), match.end()
    closed = len(stop.rstrip(GAP + "*_")) > 1 and stop.rstrip(GAP + "*_")[-1] in "\"'”’»›』」）〉》】)]"
    following = plain[after : after + 1]
    if stop[0] in _FULL:
        return not (closed and following in "と，、,的")
    if after >= high:
        return True
    if following and not following.isspace() and not UNSPACED.match(following):
        return False
    behind = _NEXT.match(plain, after, high)
    letter = behind.group(1) or "" if behind else ""
    word = letter + (behind.group(2) if behind else "")
    if letter.islower() and not small:
        return stop[0] in "!?" and not closed
    if closed and _is_attribution(plain, after, high, language):
        return False
    if stop[0] == "." and not stop.startswith("..."):
        return _stop_ends(plain, match.start(), word, language)
    return True


def _stop_ends(plain: str, at: int, following: str, language: Language) -> bool:
    before = _BEFORE.search(plain, max(0, at - 30), at)
    if before is None:
        return True
    word = before.group(1).strip(GAP + "*_")
    small = word.lower()
    if len(word) == 1 and word.isalpha():
        # An initial, or the end of `vitamin C.`: only a word that can't be a surname decides for the end.
        return word.islower() is False and bool(_SURE.match(following)) and word not in "IA"
    if small in _BEFORE_NUMBERS:
        return not following[:1].isdigit()
    if small in language.abbreviations or small.rstrip(".") in language.abbreviations:
        return small in _AT_THE_END and bool(_SURE.match(following))
    if re.fullmatch(r"\d+[.,]\d+", word):
        # `uses 0.6. Everything else is wasted.`
        return following[:1].isupper()
    if "." in word and len(word) <= 6 and all(len(part) <= 2 for part in word.split(".")):
        return bool(_SURE.match(following)) or language.code not in ("en", "und")
    if word.isdigit() and len(word) <= 2 and language.code in ("de", "da", "no", "cs", "sl", "hr", "fi", "hu"):
        return following[:1].isdigit()
    return not (small == "al" and following[:1].isupper() is False)


_BEFORE_NUMBERS: Final = words("""
no nos vol vols p pp fig figs eq eqs ch sec art nr bd núm pág págs blz стр рис табл
""")
_AT_THE_END: Final = words("etc inc ltd co corp jr sr a.m p.m u.s u.k ph.d usw ecc enz")


def _is_attribution(plain: str, after: int, high: int, language: Language) -> bool:
    """Whether `she said` or `said Anna Berg` stands behind a closing quotation mark."""
    behind = _WORDS_BEHIND.findall(plain[after : min(high, after + 60)].replace(GAP, ""))[:4]
    if not behind or language.code == "und":
        return False
    return any(word.lower() in language.saying for word in behind[:3])


def _meant_lines(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts between line breaks that were made on purpose: the next word would have had room."""
    lines = plain[start:end].split("\n")
    if len(lines) == 1:
        yield start, end
        return
    width = max(len(line) for line in lines)
    low = position = start
    for line, following in pairwise(lines):
        position += len(line) + 1
        first = following.split(None, 1)[0] if following.strip() else ""
        room = len(line.rstrip()) + 1 + len(first) <= 0.8 * width
        fresh = not first.strip("\"'“‘«(*_" + GAP)[:1].islower()
        if first and fresh and (room or (_LABEL.match(following) and _LABEL.match(line))):
            yield low, position - 1
            low = position
    yield low, end


def _trim(plain: str, low: int, high: int) -> tuple[int, int]:
    while low < high and (plain[low].isspace() or plain[low] == GAP):
        low += 1
    while high > low and (plain[high - 1].isspace() or plain[high - 1] == GAP):
        high -= 1
    return low, high


def _short_enough(plain: str, low: int, high: int, language: Language) -> Iterator[tuple[int, int]]:
    text = plain[low:high]
    unspaced = bool(UNSPACED.search(text)) and text.count(" ") < len(text) / 20
    if (len(text) <= _LETTER_LIMIT) if unspaced else (text.count(" ") + text.count("\n") < _WORD_LIMIT):
        yield low, high
        return
    wanted = 60 if unspaced else _PIECE * 6
    while high - low > wanted * 2:
        cut = _cut(plain, low, high, wanted, language)
        piece = _trim(plain, low, cut)
        if piece[0] < piece[1]:
            yield piece
        low = cut
    rest = _trim(plain, low, high)
    if rest[0] < rest[1]:
        yield rest


def _cut(plain: str, low: int, high: int, wanted: int, language: Language) -> int:
    """The best place to cut near the wanted length: a breath, else a new thought, else a space, else anywhere."""
    window = (low + wanted // 2, min(high, low + 2 * wanted))
    places = [match.end() for match in _BREATH.finditer(plain, *window)]
    places = places or [match.start() for match in _fresh_thought(language).finditer(plain, *window)]
    places = places or [match.end() for match in _SPACE.finditer(plain, *window)]
    aim = low + wanted
    if places:
        return min(places, key=lambda place: (abs(place - aim), place))
    while aim > low + wanted // 2 and (plain[aim - 1].isdigit() or plain[aim].isdigit()):
        aim -= 1
    return aim


@lru_cache(maxsize=32)
def _fresh_thought(language: Language) -> re.Pattern[str]:
    """The small words with which people who do not stop begin their next thought."""
    single = sorted(opener for opener in language.openers if " " not in opener)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, single))})\s", re.I) if single else re.compile(r"(?!)")
