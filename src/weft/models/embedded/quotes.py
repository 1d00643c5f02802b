"""What people say in a document: passages in quotation marks of any style, with the speaker where the text names one.

The speaker is a name beside a verb of saying, before or behind the passage; a pronoun names nobody. In a transcript
the speaker of a turn says all of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.models.embedded.languages import Language
from weft.models.embedded.layout import GAP, Layout
from weft.models.embedded.sentence import Sentence, clean

_STYLES: Final = ("“”", "„“", "„”", "«»", "»«", "「」", "『』", "‹›", "＂＂")


def _between(opening: str, closing: str) -> str:
    inner = f"[^{re.escape(opening + closing)}\\n]"
    return rf"{re.escape(opening)}({inner}{{8,500}}?(?:\n{inner}{{1,500}}){{0,5}}){re.escape(closing)}"


_STRAIGHT: Final = r"(?<![\w])\"(\S[^\"\n]{6,500}(?:\n[^\"\n]{1,500}){0,5})\"(?!\w)"
_MARKED: Final = re.compile("|".join([*(_between(*style) for style in _STYLES), _STRAIGHT]))
_NAME: Final = r"(?:[A-ZÀ-ÖØ-ÞŁŠŽĆČА-ЯЁ][\w'’\-]*\.?\s+){0,3}[A-ZÀ-ÖØ-ÞŁŠŽĆČА-ЯЁ][\w'’\-]+"
_LEAST: Final = 4
_HAN_SPEAKER: Final = re.compile(r"(?:^|[，。；、\s”])([\u4e00-\u9fff]{2,4}?)(?:先生|女士|教授|博士|老师)?$")


@dataclass(frozen=True, slots=True)
class Quotation:
    start: int
    end: int
    text: str
    speaker: str
    sentence: int
    verbatim: bool


def find_quotations(
    text: str, layout: Layout, sentences: Sequence[Sentence], language: Language
) -> list[Quotation]:  # fmt: skip
    """The passages in quotation marks, in the order of the document."""
    starts = [sentence.start for sentence in sentences]
    found: list[Quotation] = []
    for block in layout.blocks:
        if block.kind not in ("prose", "item"):
            continue
        inside = layout.plain[block.start : block.end]
        for low, high in _marked(inside):
            at = bisect_right(starts, block.start + low + 1) - 1
            said = clean(inside[low:high])
            if at < 0 or not _is_speech(said, language):
                continue
            speaker = _speaker(inside, low - 1, high + 1, language) or block.speaker
            low, high = block.start + low, block.start + high
            same = said == " ".join(text[low:high].split())
            found.append(Quotation(low, high, said, speaker, at, same))
    return found


def _marked(inside: str) -> Iterator[tuple[int, int]]:
    for match in _MARKED.finditer(inside):
        group = match.lastindex or 0
        yield match.span(group)


def _is_speech(said: str, language: Language) -> bool:
    """Not a title or a word in inverted commas: several words, or a whole sentence."""
    if not language.spaced:
        return len(said) >= 8
    return len(said.split()) >= _LEAST and not said.istitle()


@lru_cache(maxsize=32)
def _patterns(language: Language) -> tuple[re.Pattern[str], ...]:
    verbs = "|".join(sorted(map(re.escape, language.saying), key=lambda verb: (-len(verb), verb)))
    if not verbs:
        return ()
    titles = "|".join(sorted(map(re.escape, language.titles), key=lambda title: (-len(title), title))) or "(?!)"
    title = rf"(?:(?:the\s+)?(?:{titles})\.?\s+)?"
    return (
        re.compile(rf"^[,.\s—–-]*(?i:(?:{verbs}))\s+(?i:{title})(?P<name>{_NAME})"),
        re.compile(rf"^[,.\s—–-]*(?P<name>{_NAME})(?:,[^,.]{{2,60}},)?\s+(?i:(?:{verbs}))\b"),
        re.compile(rf"(?P<name>{_NAME})(?:,[^,.\"“”]{{2,80}},)?\s+(?i:(?:{verbs}))(?:\s+[\w']+){{0,4}}[\s,:—–-]*$"),
        re.compile(rf"\b(?i:(?:{verbs}))\s+(?i:{title})(?P<name>{_NAME})[\s,:—–-]*$"),
    )


def _speaker(inside: str, low: int, high: int, language: Language) -> str:
    before = inside[max(0, low - 140) : low].replace(GAP, "").replace("\n", " ")
    behind = inside[high : high + 140].replace(GAP, "").replace("\n", " ")
    if language.code == "zh":
        return _han_speaker(before, language)
    for number, pattern in enumerate(_patterns(language)):
        match = pattern.search(behind if number < 2 else before)
        if match:
            name = match.group("name").strip(" .")
            if name.split()[0].lower() not in language.function:
                return name
    return ""


def _han_speaker(before: str, language: Language) -> str:
    lead = before.rstrip("：:，, “「")
    for verb in sorted(language.saying, key=lambda verb: (-len(verb), verb)):
        if lead.endswith(verb):
            match = _HAN_SPEAKER.search(lead[: -len(verb)])
            if match and match.group(1)[0] not in "他她我你它这那有某该":
                return match.group(1)
    return ""
