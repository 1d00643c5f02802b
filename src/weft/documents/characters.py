"""One normal form for all text, and how its words are counted.

Lines end in `\\n`, characters are composed (NFC), nothing invisible is left that only a terminal or a layout engine
understands, at most one line is blank at a time. `normalise` of normal text is the same text: offsets into it hold.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from weft.protocol.patterns import pattern

_BREAKS: Final = {
    "\r\n": "\n", "\r": "\n", "\v": "\n", "\f": "\n\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n\n", "\xa0": " "
}  # fmt: skip
_TERMINAL: Final = pattern(r"\x1b(?:\[[0-9;:?]{0,32}[A-Za-z]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\))")
_CONTROL: Final = pattern(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)
_PERHAPS_CONTROL: Final = pattern("[^\t-\r -~\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd]")
"""What is no usual character: one of the above, or of a plane beyond the first. Told in a fifth of the time."""
_PLAIN: Final = bytes([*range(0x09, 0x0E), *range(0x20, 0x7F)])
_UNSEEN: Final = pattern("[\xad\ufeff]")
"""Hyphenation hints and byte order marks inside the text: no reader ever sees them, but a search would."""
_BLANK_LINES: Final = pattern(r"\n{3,}")
_SPACES: Final = pattern(r"\s+")
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_UNSPACED_CHARACTER: Final = pattern(f"[{_UNSPACED}]")
_LETTER: Final = pattern(r"[^\W_]")


def normalise(text: str) -> str:
    text = without_controls(text)[0]
    for sign, line_end in _BREAKS.items():  # where a sign is not there, this takes no time; a table would
        text = text.replace(sign, line_end)
    text = _UNSEEN.sub("", text)
    if "\t" in text:
        text = text.expandtabs(4)
    text = unicodedata.normalize("NFC", text)
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", text).strip()


def without_controls(text: str) -> tuple[str, int]:
    """The text without control characters and colours of a terminal, and how many there were. Line ends stay."""
    if text.isascii() and not text.encode("ascii").translate(None, _PLAIN):
        return text, 0  # most text by far, told in a moment
    if not _PERHAPS_CONTROL.search(text):
        return text, 0
    text, colours = _TERMINAL.subn("", text) if "\x1b" in text else (text, 0)
    text, controls = _CONTROL.subn("", text)
    return text, colours + controls


def one_line(text: str, limit: int = 300) -> str:
    """For a title or a name: normal form, spaces for line ends, cut at a word when it is longer than the limit."""
    line = _SPACES.sub(" ", normalise(text[: 20 * limit])).strip()
    if len(line) <= limit:
        return line
    return line[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:-–—") + "…"


def squeezed(text: str) -> str:
    """Every run of white space as one space."""
    return _SPACES.sub(" ", text).strip()


def count_words(text: str) -> int:
    """What stands between white space and has a letter or digit; where words are not spaced, each character."""
    if not text.isascii():
        text = _UNSPACED_CHARACTER.sub(" x ", text)
    tokens = text.split()
    others = [token for token in tokens if not token[0].isalnum()]
    return len(tokens) - sum(1 for token in others if not _LETTER.search(token))


def word_set(text: str) -> frozenset[str]:
    """For long sets of names in the source."""
    return frozenset(text.split())


def is_unspaced(character: str) -> bool:
    """Whether the character belongs to a script that puts no spaces between words."""
    return (
        bool(_UNSPACED_CHARACTER.match(character))
        or "\u3000" <= character <= "\u303f"
        or "\uff00" <= character <= "\uff60"
    )
