"""Which characters of a text may be shown as they are, which way it runs, and whether a language tag is one.

A page is read by people who trust what they see. Control characters become their pictures; what reorders text beyond
its own place, an override or an embedding that is never closed, becomes a replacement character. Marks of direction,
joiners and isolates that are closed again are part of how Arabic, Persian or emoji are written, and stay.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

Direction = Literal["ltr", "rtl"]

_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_OVERRIDES: Final = "\u202d\u202e"
_OPENING: Final = {"\u202a": "\u202c", "\u202b": "\u202c", "\u2066": "\u2069", "\u2067": "\u2069", "\u2068": "\u2069"}
_CLOSING: Final = frozenset(_OPENING.values())
_REORDERING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_ENOUGH: Final = 2000
"""So many characters show which way a text runs."""


def _table() -> dict[int, str]:
    pictures = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    pictures[0x7F] = "\N{SYMBOL FOR DELETE}"
    strange = [*range(0x80, 0xA0), *range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF]
    strange += [plane + last for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)]
    return pictures | dict.fromkeys(strange, _REPLACEMENT) | {0x2028: "\n", 0x2029: "\n", 0xFEFF: "\u2060"}


_TABLE: Final = _table()


def visible(text: str) -> str:
    """The text, one character for each of its own, with nothing in it that a reader can't see the effect of."""
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_TABLE)
    return _closed(text) if _REORDERING.search(text) else text


def _closed(text: str) -> str:
    """Line by line, as the effect of such a character ends with its paragraph."""
    characters = list(text)
    waiting: list[int] = []
    for at, character in enumerate(characters):
        if character in _OVERRIDES:
            characters[at] = _REPLACEMENT
        elif character in _OPENING:
            waiting.append(at)
        elif character in _CLOSING:
            if waiting and _OPENING[characters[waiting[-1]]] == character:
                waiting.pop()
            else:
                characters[at] = _REPLACEMENT
        elif character == "\n":
            _blank(characters, waiting)
            waiting = []
    _blank(characters, waiting)
    return "".join(characters)


def _blank(characters: list[str], places: list[int]) -> None:
    for at in places:
        characters[at] = _REPLACEMENT


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def paragraphs(text: str) -> list[str]:
    """Parted by empty lines; each keeps its own line breaks."""
    return [part.strip() for part in re.split(r"\n\s*\n", visible(text)) if part.strip()]


def direction(text: str) -> Direction | None:
    """The way most of its letters run; None when it has no letters."""
    left = right = 0
    for character in text[:_ENOUGH]:
        kind = unicodedata.bidirectional(character)
        left += kind == "L"
        right += kind in ("R", "AL")
    return None if not left and not right else "rtl" if right > left else "ltr"


def language_tag(*candidates: str) -> str:
    """The first that can be a language tag; empty, which says "unknown" in HTML, when none is."""
    for candidate in candidates:
        tag = candidate.strip().replace("_", "-")
        if tag.lower() != "und" and _LANGUAGE.fullmatch(tag):
            return tag
    return ""
