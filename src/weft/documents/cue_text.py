"""One caption as lines of speech: without tags, entities, Whisper's tokens, music and sounds; with who speaks."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from weft.documents.characters import normalise, one_line, squeezed
from weft.protocol.values import dataclass

_TOKEN: Final = re.compile(r"<\|[^|<>]{0,40}\|>|\[_[A-Z]{2,6}_(?:\d+)?\]?")
_LANGUAGE: Final = re.compile(r"<\|([a-z]{2,3})\|>")
_STYLING: Final = re.compile(r"\{\\[^{}]{0,200}\}")
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]{0,60})?[ \t]+([^<>]{1,120})>|(</v>)")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<\d[\d:.]{0,20}>|</>")
_LONG_REFERENCE: Final = re.compile(r"&#[xX]?0*[0-9a-fA-F]{8,}")
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
_NOTES: Final = re.compile("[♩♪♫♬\U0001f3b5\U0001f3b6\U0001f3bc]+")
_SOUND_WORDS: Final = (
    "music|musik|musique|música|musica|muziek|muzyka|музыка|موسيقى|音乐|音樂|音楽|음악"
    "|applause|applaus|beifall|applaudissements|aplausos|applausi|аплодисменты|掌声|拍手|박수"
    "|laughter|laughs|laughing|gelächter|rires|risas|risate|смех|笑い?|笑声|웃음"
    "|blank[ _]audio|silence|stille|no[ _]audio|no[ _]speech|sounds?|noise|cheering|cheers|coughs?|coughing|sighs?"
    "|sneezes|gasps|foreign|pause"
)
_SOUND: Final = re.compile(
    rf"[\[【]\s*(?:[\w' -]{{0,30}}?\b)?(?:{_SOUND_WORDS})\b[^\[\]]{{0,40}}[\]】]"
    rf"|[(（]\s*(?:[\w'-]{{1,20}} )?(?:{_SOUND_WORDS})[^()]{{0,20}}[)）]",
    re.IGNORECASE,
)
_ONLY_A_SOUND: Final = re.compile(r"\[[^\[\]]{0,80}\]|\([^()]{0,80}\)|\*[^*]{1,60}\*|[【（][^】）]{0,40}[】）]")
_CHANGE: Final = re.compile(r"\s+(?=>>)")
_TURN: Final = re.compile(r"(?:>>+|[-–](?=[ \t]))[ \t]*")


@dataclass(frozen=True, slots=True)
class Caption:
    """As the file has it. Times are in seconds; None where there are none."""

    start: float | None
    end: float | None
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class CueLine:
    text: str
    speaker: str = ""
    turn: bool = False
    """Somebody else begins to speak here, named or not."""
    voiced: bool = False
    """The file itself names the speaker, so that nothing in the words does."""


@dataclass(frozen=True, slots=True)
class Spoken:
    start: float | None
    end: float | None
    lines: tuple[CueLine, ...]
    sounds: bool = False
    """Something was there that is not speech."""

    @property
    def lasting(self) -> float:
        return (self.end or 0.0) - (self.start or 0.0)


def language_in(text: str) -> str:
    found = _LANGUAGE.search(text)
    return found[1] if found else ""


def spoken_lines(caption: Caption) -> Spoken:
    start, end = caption.start, caption.end
    if start is not None:
        start = round(max(0.0, start), 3)
        end = round(max(start, end if end is not None else start), 3)
    lines: list[CueLine] = []
    sounds = False
    for speaker, text in _voices(_STYLING.sub("", _TOKEN.sub("", caption.text)), caption.speaker):
        for plain in _plain_lines(text):
            quiet = squeezed(_NOTES.sub(" ", _SOUND.sub(" ", plain)))
            turn = _TURN.match(quiet)
            words = quiet[turn.end() :] if turn else quiet
            if not any(character.isalnum() for character in words) or _ONLY_A_SOUND.fullmatch(words):
                sounds = sounds or bool(plain)
                continue
            lines.append(CueLine(words, speaker, bool(turn), bool(speaker)))
    return Spoken(start, end, tuple(lines), sounds or (not lines and bool(caption.text.strip())))


def speaker_name(text: str) -> str:
    """A name as it can stand in bold before a paragraph."""
    return squeezed(one_line(html.unescape(_LONG_REFERENCE.sub("", text)), 80).replace("*", "").replace(":", " "))


def _voices(text: str, speaker: str) -> list[tuple[str, str]]:
    """The text cut where a voice begins or ends."""
    own = speaker_name(speaker)
    pieces: list[tuple[str, str]] = []
    current, place = own, 0
    for found in _VOICE.finditer(text):
        pieces.append((current, text[place : found.start()]))
        current = speaker_name(found[1]) if found[1] else own
        place = found.end()
    pieces.append((current, text[place:]))
    return pieces


def _plain_lines(text: str) -> Iterator[str]:
    """A line also begins where somebody else starts to speak."""
    for line in text.split("\n"):
        yield from _CHANGE.split(_plain(line))


def _plain(line: str) -> str:
    line = _TAG.sub("", line)
    # some services escape what is escaped already
    for _ in range(2):
        if not _REFERENCE.search(line):
            break
        line = html.unescape(_LONG_REFERENCE.sub("", line))
    return squeezed(normalise(_TOKEN.sub("", line)))
