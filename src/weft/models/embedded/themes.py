"""What a document is about: the phrases it comes back to, those of its title and headings first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from weft.language.stems import stem
from weft.models.embedded.lexicon import UNSPACED, Lexicon
from weft.models.embedded.reading import Reading
from weft.models.embedded.words import surface_words
from weft.protocol.values import dataclass

_ADDRESS: Final = re.compile(r"\S*(?://|@|\bwww\.)\S*|\b[\w-]+(?:\.[\w-]+)+/\S*")
"""Where something is found, and who writes: no words of the text."""
_PARTING: Final = re.compile(r"[.,;:!?()\[\]{}\"“”„«»|/—–]|\s[-–]\s|[、，。；：「」（）]")
_ELIDED: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu)['’]", re.I)
_LONGEST: Final = 3
_CLOSING: Final = re.compile(r"(?:ly|ing|ed)$")


@dataclass(frozen=True, slots=True)
class Theme:
    label: str
    key: tuple[str, ...]
    """Its stems."""
    sentences: tuple[int, ...]
    """Where it is named, in order."""
    score: float


def find_themes(reading: Reading, most: int) -> list[Theme]:
    """The widest first; none that is part of another."""
    known = reading.known
    if not known.spaced:
        return _unspaced(reading, most)
    places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    forms: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for sentence in reading.sentences:
        if sentence.kind in ("prose", "item", "table"):
            for key, form in _phrases(sentence.text, known):
                places[key].append(sentence.index)
                forms[key][form] += 1
    titled = {key for section in reading.sections for key, _ in _phrases(section.title, known)}
    title = {key for key, _ in _phrases(reading.title.title, known)} if reading.title else set()
    total = max(1, len(reading.sentences))
    scored: list[Theme] = []
    for key, found in places.items():
        at = tuple(dict.fromkeys(found))
        if len(found) < (3 if len(key) == 1 else 2) and key not in titled:
            continue
        spread = (at[-1] - at[0]) / total
        score = len(at) ** 0.8 * (1 + 0.7 * (len(key) - 1)) * (1 + 0.5 * spread)
        score *= (1.6 if key in titled else 1.0) * (1.3 if key in title else 1.0)
        scored.append(Theme(_shown(forms[key], known), key, at, round(score, 6)))
    scored.sort(key=lambda theme: (-theme.score, theme.sentences, theme.label))
    chosen: list[Theme] = []
    for theme in scored:
        if len(chosen) < most and not any(set(one.key) & set(theme.key) for one in chosen):
            chosen.append(theme)
    return chosen


def _phrases(text: str, known: Lexicon) -> Iterator[tuple[tuple[str, ...], str]]:
    for part in _PARTING.split(_ADDRESS.sub(" ", text)):
        words = surface_words(_ELIDED.sub("", part) if known.code in ("fr", "it") else part)
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
                run = words[start:end]
                if not _can_name(run, known):
                    break
                if _is_subject(run, known):
                    yield tuple(stem(word, known.code) for word in run), " ".join(run)


def _can_name(words: list[str], known: Lexicon) -> bool:
    word = words[-1]
    small = word.lower()
    return (
        len(small) > 2
        and small not in known.function
        and small not in known.saying
        and small not in known.abbreviations
        and small not in known.months
        and not small[0].isdigit()
    )


def _is_subject(run: list[str], known: Lexicon) -> bool:
    weak = [word.lower() in known.weak or stem(word.lower(), known.code) in _weak_stems(known) for word in run]
    if known.code == "de" and not run[-1][:1].isupper():
        return False
    if known.code == "en" and _CLOSING.search(run[-1].lower()) and len(run) == 1:
        return False
    return not weak[-1] and not weak[0]


@lru_cache(maxsize=8)
def _weak_stems(known: Lexicon) -> frozenset[str]:
    return frozenset(stem(word, known.code) for word in known.weak)


def _shown(forms: Counter[str], known: Lexicon) -> str:
    """The form that is written most; in small letters where the text ever writes it so."""
    best = sorted(forms, key=lambda form: (-forms[form], form.lower(), form))
    small = [form for form in best if form.islower()]
    return (small or best)[0]


def _unspaced(reading: Reading, most: int) -> list[Theme]:
    """In a script without spaces: runs of two to four characters that come again."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for sentence in reading.sentences:
        for run in re.findall(f"{UNSPACED.pattern}+", sentence.text):
            for size in (4, 3, 2):
                for at in range(len(run) - size + 1):
                    places[run[at : at + size]].append(sentence.index)
    often = [(run, tuple(dict.fromkeys(found))) for run, found in places.items() if len(set(found)) > 1]
    named = [(run, found) for run, found in often if not re.search("[\u3041-\u3096]", run)]
    named.sort(key=lambda one: (-len(one[1]) * len(one[0]), one[0]))
    chosen: list[Theme] = []
    for run, found in named:
        if len(chosen) < most and not any(set(run) & set(theme.label) for theme in chosen):
            chosen.append(Theme(run, (run,), found, float(len(found) * len(run))))
    return chosen
