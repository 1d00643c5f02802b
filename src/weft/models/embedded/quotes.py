"""What people say in a document: passages in quotation marks of any style, with the speaker where the text names one.

The speaker is a name beside a verb of saying, before or behind the passage; a pronoun names nobody. In a transcript
the speaker of a turn says all of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from weft.language.sentences import GAP
from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.layout import Layout
from weft.models.embedded.names import Name, is_given
from weft.models.embedded.sentence import Sentence, clean
from weft.models.embedded.words import tokens

_STYLES: Final = ("“”", "„“", "„”", '„"', "«»", "»«", "「」", "『』", "‹›", "＂＂")


def _between(opening: str, closing: str) -> str:
    inner = f"[^{re.escape(opening + closing)}\\n]"
    return rf"{re.escape(opening)}({inner}{{1,500}}?(?:\n{inner}{{1,500}}){{0,5}}){re.escape(closing)}"


_STRAIGHT: Final = r"(?<![\w])\"(\S[^\"\n]{0,500}(?:\n[^\"\n]{1,500}){0,5})\"(?!\w)"
_MARKED: Final = re.compile("|".join([*(_between(*style) for style in _STYLES), _STRAIGHT]))
_UPPER: Final = "[A-ZÀ-ÖØ-ÞŁŠŽĆČА-ЯЁ]"
_NAME: Final = rf"(?:{_UPPER}(?:[\w'’\-]*|\w{{0,2}}\.)\s+){{0,3}}{_UPPER}[\w'’\-]+"
_LEAST: Final = 4
_PERSONS: Final = word_set("he she er sie il elle él ella lui lei ele ela hij zij ze он она")
_TELLING: Final = word_set("""
told tells asked asks tell ask fragt fragte erzählt erzählte demande raconte preguntó contó cuenta
""")
_TOLD_TO: Final = re.compile(r"\b(?:he|she|er|sie|il|elle|él|ella) (?:told|tells|asked|asks|fragt|fragte) [A-ZÀ-Þ]")
"""`She tells Vera`: she is not Vera, and nobody says who she is."""
_QUOTE_MARKS: Final = '"“”„«»「」『』‹›,，、، \u00a0'
_JAPANESE_BEHIND: Final = re.compile(
    r"と、?([\u4e00-\u9fff々]{1,6})(?:さん|氏|教授|博士|先生|社長|市長)?[はが](?:[^。]{0,12})?(?:話|語|言|述べ|説明|答え|つぶや)"
)
_HAN_BEFORE: Final = re.compile(r"(?:^|[，。；、\s”])([\u4e00-\u9fff]{2,4}?)(?:先生|女士|教授|博士|老师)?$")
_HAN_BEHIND: Final = re.compile(r"([\u4e00-\u9fff]{2,4}?)(?:先生|女士|教授|博士|老师)?$")


@dataclass(frozen=True, slots=True)
class Quotation:
    start: int
    end: int
    text: str
    speaker: str
    sentence: int
    verbatim: bool
    open: bool
    """Whether nobody is named for it, and nobody else is meant: `she said`, or nothing at all."""
    pronoun: bool = False
    """Whether it is `she` who says it."""


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
            speaker = _speaker(inside, low, high, language) or block.speaker
            nobody, pronoun = (False, False) if speaker else _is_open(inside, low, high, language)
            if not (speaker or pronoun) and not _is_sentence(said, inside[low - 1 : low], language):
                continue
            low, high = block.start + low, block.start + high
            same = said == " ".join(text[low:high].split())
            found.append(Quotation(low, high, said, speaker, at, same, nobody, pronoun))
    return found


def _marked(inside: str) -> Iterator[tuple[int, int]]:
    for match in _MARKED.finditer(inside):
        low, high = match.span(match.lastindex or 0)
        while high > low and (inside[high - 1] in ",，、،" or inside[high - 1].isspace()):
            high -= 1
        while low < high and inside[low].isspace():
            low += 1
        yield low, high


def _is_speech(said: str, language: Language) -> bool:
    """Not a title or a word in inverted commas: several words, or a whole sentence."""
    if not language.spaced:
        return len(said) >= 8
    return len(said.split()) >= _LEAST and not said.istitle()


def _is_sentence(said: str, mark: str, language: Language) -> bool:
    """Whether words that nobody is named for are speech all the same, and not a term or a message of a program."""
    if not language.spaced:
        return True
    whole = said[:1].isupper() or not language.cased
    return whole and len(said.split()) > _LEAST and "%" not in said and (said[-1] in ".!?…؟" or mark != '"')


@lru_cache(maxsize=32)
def _patterns(language: Language) -> tuple[re.Pattern[str], ...]:
    verbs = "|".join(sorted(map(re.escape, language.saying), key=lambda verb: (-len(verb), verb)))
    if not verbs:
        return ()
    titles = "|".join(sorted(map(re.escape, language.titles), key=lambda title: (-len(title), title))) or "(?!)"
    # `said the mayor Ann Berg`, `sagt der Vorsitzende Rainer Stolz`
    title = rf"(?:(?:the|der|die|le|la|el|il|o|a)\s+[\w-]+\s+|(?:{titles})\.?\s+)?"
    # What is told is told to somebody: the name behind it is not the speaker's.
    alone = "|".join(
        sorted((re.escape(verb) for verb in language.saying - _TELLING), key=lambda verb: (-len(verb), verb))
    )
    # `said Harland's coach, Dana Whitlock`: the name that counts is the one behind the office.
    office = rf"(?:(?:{_UPPER}[\w-]*['’]s|the|a|an|its|their)\s+)(?:[a-z][\w-]*\s+){{0,3}}[a-z][\w-]*,?\s+"
    return (
        re.compile(rf"^[,.\s—–-]*(?i:(?:{alone}))\s+{office}(?P<name>{_UPPER}[\w'’-]+\s+{_UPPER}[\w'’-]+)"),
        re.compile(rf"^[,.\s—–-]*(?i:(?:{alone}))\s+(?i:{title})(?P<name>{_NAME})"),
        re.compile(rf"^[,.\s—–-]*(?P<name>{_NAME})(?:,[^,.]{{2,60}},)?\s+(?i:(?:{verbs}))\b"),
        re.compile(rf"(?P<name>{_NAME})(?:,[^,.\"“”]{{2,80}},)?\s+(?i:(?:{verbs}))(?:\s+[\w']+){{0,4}}[\s,:—–-]*$"),
        re.compile(rf"(?<!\w\s)\b(?i:(?:{alone}))\s+(?i:{title})(?P<name>{_NAME})[\s,:—–-]*$"),
    )


def _speaker(inside: str, low: int, high: int, language: Language) -> str:
    before = inside[max(0, low - 140) : low].replace(GAP, "").replace("\n", " ").rstrip(_QUOTE_MARKS)
    behind = inside[high : high + 140].replace(GAP, "").replace("\n", " ").lstrip(_QUOTE_MARKS)
    if language.code == "zh":
        return _han_speaker(before, behind, language)
    if language.code == "ja":
        match = _JAPANESE_BEHIND.match(behind)
        return match.group(1) if match else ""
    if language.code == "ar":
        return _titled_speaker(before, behind, language)
    for number, pattern in enumerate(_patterns(language)):
        match = pattern.search(behind if number < 3 else before)
        if match:
            name = _person(match.group("name").strip(" ."), language)
            if name.split()[0].lower() not in language.function and not name.endswith(("'s", "’s")):
                return name
    return ""


def _person(name: str, language: Language) -> str:
    """Without the office before it, which German writes with a capital too."""
    parts = name.split()
    start = (
        next((at for at, part in enumerate(parts[:-1]) if is_given(part.lower())), 0) if language.code == "de" else 0
    )
    return " ".join(parts[start:])


def _is_open(inside: str, low: int, high: int, language: Language) -> tuple[bool, bool]:
    """Whether no verb of saying stands beside it, or one with a pronoun. `Said a neighbour` means somebody else."""
    for part in (tokens(inside[high : high + 60])[:4], tokens(inside[max(0, low - 60) : low])[-4:]):
        words = {piece for word in part for piece in word.split("-")}
        if not language.saying.isdisjoint(words):
            pronoun = not _PERSONS.isdisjoint(words) and not _TOLD_TO.search(inside[max(0, low - 60) : high + 60])
            return pronoun, pronoun
    return True, False


def _han_speaker(before: str, behind: str, language: Language) -> str:
    lead = before.rstrip("：:，, “「")
    for verb in sorted(language.saying, key=lambda verb: (-len(verb), verb)):
        match = None
        if lead.endswith(verb):
            match = _HAN_BEFORE.search(lead[: -len(verb)])
        elif verb in behind[:6]:
            match = _HAN_BEHIND.match(behind[: behind.index(verb)])
        if match and match.group(1)[0] not in "他她我你它这那有某该":
            return match.group(1)
    return ""


def _titled_speaker(before: str, behind: str, language: Language) -> str:
    verbs, titles = "|".join(sorted(language.saying)), "|".join(sorted(language.titles))
    pattern = re.compile(rf"(?:{verbs})\s+(?:{titles})\s+(?P<name>\w+\s+\w+)")
    match = pattern.match(behind.lstrip(' ،,"”')) or pattern.search(before)
    return match.group("name") if match else ""


def attribute(quotations: Sequence[Quotation], sentences: Sequence[Sentence], names: Sequence[Name]) -> list[Quotation]:
    """With the speaker of a quotation that names none, where its paragraph speaks of one person only."""
    surnames = {name.text.split()[-1]: name.text for name in reversed(names) if name.kind == "person"}
    people: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for name in names:
        if name.kind == "person":
            for at in name.sentences:
                people[sentences[at].block].setdefault(name.text)
    for one in quotations:
        if one.speaker:
            people[sentences[one.sentence].block].setdefault(_full(one.speaker, surnames))
    blocks = sorted(block for block, there in people.items() if there)
    found: list[Quotation] = []
    for one in quotations:
        block = sentences[one.sentence].block
        there = list(people.get(block, ()))
        if not there and one.pronoun:
            # `She said` in a paragraph of its own: whom the paragraph before speaks of, if it is one person only.
            at = bisect_right(blocks, block) - 1
            there = list(people[blocks[at]]) if at >= 0 and blocks[at] >= block - 2 else []
        elif not there and found and found[-1].pronoun and sentences[found[-1].sentence].block == block:
            there = [found[-1].speaker] if found[-1].speaker else []
        alone = there[0] if len(there) == 1 else ""
        speaker = _full(one.speaker, surnames) if one.speaker else alone if one.open else ""
        found.append(replace(one, speaker=speaker))
    return found


def _full(speaker: str, surnames: Mapping[str, str]) -> str:
    """The name in full, when only its last part is said here."""
    return speaker if " " in speaker else surnames.get(speaker, speaker)
