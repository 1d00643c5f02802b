"""Persons, organisations and places: runs of capitals, believed only where something around them says what they are.

A title, a given name or a verb of saying makes a person; a word such as `Institute` an organisation; a preposition of
place before a name that is not already one of the others a place. Everything else is only a name. A run that the
document also writes in small letters is no name at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.given_names import GIVEN_NAMES
from weft.models.embedded.languages.language import words
from weft.models.embedded.sentence import Sentence

NameKind = Literal["person", "organisation", "place", "name"]
_INSIDE: Final = words("of de la del der den von van bin al the du da dos di and für")
_LONGEST: Final = 5
_CHINESE: Final = re.compile(
    "(?<![\u4e00-\u9fff])[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁沈任姚卢傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷龙陶贺]"
    "[\u4e00-\u9fff]{2}(?=[说表指认介告强回问写坦今在是开起觉，。、的])"
)
_TONGUES: Final = words("""
german english french polish spanish italian dutch russian chinese japanese arabic portuguese greek turkish latin danish
swedish norwegian finnish czech hindi korean hebrew american british european african asian
""")
"""From German into English is no journey."""
_CALLED: Final = words("called named heißt hieß namens appelle nommé nommée llama llamado llamada chiama chiamato heet")
_APPOSITION: Final = words("a an who whose aged der die qui une que quien un una la il который которая")
"""What stands behind the comma after a person's name when the text says who that is."""


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    kind: NameKind
    count: int
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    sentence: int
    start: int
    end: int
    words: tuple[str, ...]
    text: str
    sure: bool
    """Not at the beginning of a sentence, where every word has a capital."""


def find_names(sentences: Sequence[Sentence], language: Language, speakers: Sequence[str] = ()) -> list[Name]:
    """The names, those that come oftener first."""
    if not language.cased and language.code != "de":
        return _titled(sentences, language)
    small = _small_words(sentences)
    votes: defaultdict[str, Counter[NameKind]] = defaultdict(Counter)
    places: defaultdict[str, list[int]] = defaultdict(list)
    sure: set[str] = set()
    for sentence in sentences:
        for run in _runs(sentence, language):
            text = run.text
            if not _is_name(run, small, language):
                continue
            places[text].append(run.sentence)
            votes[text][_kind(run, sentence, language)] += 1
            if run.sure or len(run.words) > 1:
                sure.add(text)
    for speaker in speakers:
        if is_given(speaker.split()[0].lower()) or len(speaker.split()) in (2, 3):
            votes[speaker]["person"] += 5
            sure.add(speaker)
    found = [Name(text, _verdict(votes[text]), len(places[text]), tuple(dict.fromkeys(places[text]))) for text in votes]
    merged = [name for name in _merge(found) if name.text in sure]
    return sorted(merged, key=lambda name: (-name.count, name.sentences[:1], name.text))


def _titled(sentences: Sequence[Sentence], language: Language) -> list[Name]:
    """Without capitals only a title, or in Chinese a family name that comes again, says that somebody is meant."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for sentence in sentences:
        if language.code == "zh":
            for name in _CHINESE.findall(sentence.text):
                places[name].append(sentence.index)
            continue
        for at, word in enumerate(sentence.words[:-1]):
            if word in language.titles and sentence.words[at + 1] not in language.function:
                end = at + 3 if at + 2 < len(sentence.words) and at + 2 not in sentence.breaks else at + 2
                places[" ".join(sentence.surface[at + 1 : end])].append(sentence.index)
    least = 2 if language.code == "zh" else 1
    names = [Name(text, "person", len(at), tuple(dict.fromkeys(at))) for text, at in places.items() if len(at) >= least]
    whole = [name for name in names if not any(name.text != other.text and name.text in other.text for other in names)]
    return sorted(whole, key=lambda name: (-name.count, name.sentences[:1], name.text))


def _small_words(sentences: Sequence[Sentence]) -> frozenset[str]:
    return frozenset(word for sentence in sentences for word in sentence.surface if word.islower())


def _runs(sentence: Sentence, language: Language) -> Iterator[_Run]:
    if sentence.kind not in ("prose", "item"):
        return
    surface = sentence.surface
    capital = [_is_capital(word) for word in surface]
    if sum(capital) > 0.6 * len(surface) and len(surface) > 3 and not sentence.breaks:
        # A title, where every word has a capital; a list of names has commas.
        return
    at = 0
    while at < len(surface):
        if not capital[at] or sentence.words[at] in language.function or sentence.words[at] in language.months:
            at += 1
            continue
        end = _run_end(sentence, at, capital)
        if language.code == "de":
            at = _given_at(sentence, at, end)
        bare = tuple(_bare(word) for word in surface[at:end])
        yield _Run(sentence.index, at, end, bare, _bare(sentence.words_from(at, end)), at > 0)
        at = end


def _given_at(sentence: Sentence, start: int, end: int) -> int:
    """Where in a row of capitals the person begins: `Bürgermeisterin Katrin Vollmer` is called Katrin Vollmer."""
    return next((at for at in range(start, end - 1) if is_given(sentence.words[at])), start)


def _is_capital(word: str) -> bool:
    return word[:1].isupper() and (len(word) > 1 or word.isascii())


def _run_end(sentence: Sentence, start: int, capital: list[bool]) -> int:
    end = start + 1
    while end < len(capital) and end - start < _LONGEST and not _parts(sentence, end):
        if capital[end] and sentence.words[end] != "i":
            end += 1
        elif (
            sentence.words[end] in _INSIDE
            and end + 1 < len(capital)
            and capital[end + 1]
            and sentence.words[end] != "and"
        ):
            end += 2
        else:
            break
    return min(end, len(capital))


def _parts(sentence: Sentence, at: int) -> bool:
    """Whether something stands between a word and the one before; the point of an initial does not count."""
    return at in sentence.breaks and len(sentence.surface[at - 1]) > 1


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _is_name(run: _Run, small: frozenset[str], language: Language) -> bool:
    lowered = [word.lower() for word in run.words]
    if any(len(word) > 2 and word.isupper() for word in run.words) and len(run.words) == 1:
        return run.sure and 2 <= len(run.words[0]) <= 6
    if not language.cased:
        return _is_person_in_german(run, lowered, language) if language.code == "de" else False
    if len(run.words) == 1:
        if lowered[0] in language.titles or lowered[0] in language.bodies:
            return False
        return lowered[0] not in small and len(run.words[0]) > 2
    known = sum(1 for word in lowered if word in small and word not in _INSIDE)
    return known == 0 or (is_given(lowered[0]) and known <= 1) or (known <= 1 and _has_body(lowered, language))


def _is_person_in_german(run: _Run, lowered: list[str], language: Language) -> bool:
    return len(run.words) > 1 and (is_given(lowered[0]) or lowered[0] in language.titles)


def is_given(word: str) -> bool:
    bare = "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
    return word in GIVEN_NAMES or bare in GIVEN_NAMES


def _has_body(lowered: Sequence[str], language: Language) -> bool:
    return any(word in language.bodies for word in lowered)


def _kind(run: _Run, sentence: Sentence, language: Language) -> NameKind:
    lowered = [word.lower() for word in run.words]
    before = sentence.words[run.start - 1] if run.start else ""
    behind = sentence.words[run.end] if run.end < len(sentence.words) else ""
    if _has_body(lowered, language):
        return "organisation"
    if len(run.words) == 2 and len(run.words[0]) == 1:
        return "person"
    if before in _CALLED and len(run.words) <= 3:
        return "person"
    if before in language.titles or lowered[0] in language.titles or is_given(lowered[0]):
        return "person"
    if run.end in sentence.breaks and behind in language.titles and len(run.words) > 1:
        return "person"
    if (behind in language.saying and run.end not in sentence.breaks) or before in language.saying:
        return "person" if len(run.words) <= 3 and not run.words[0].isupper() else "name"
    if run.end in sentence.breaks and behind in _APPOSITION and 2 <= len(run.words) <= 3:
        return "person"
    if any(word.isupper() or not word[1:].islower() for word in run.words):
        return "name"
    if lowered[0] in _TONGUES:
        return "name"
    if before in language.places and len(run.words) <= 2 and before not in ("of", "de", "a", "to"):
        return "place"
    return "name"


def _verdict(votes: Counter[NameKind]) -> NameKind:
    order: tuple[NameKind, ...] = ("person", "organisation", "place", "name")
    sure = {kind: votes[kind] for kind in order[:2] if votes[kind]}
    if sure:
        return max(sure, key=lambda kind: (sure[kind], kind == "person"))
    return "place" if 2 * votes["place"] >= votes.total() and votes["place"] else "name"


def _merge(names: Sequence[Name]) -> list[Name]:
    """A surname or a given name alone is the person named in full."""
    full: dict[str, Name] = {}
    for name in sorted(names, key=lambda name: (name.sentences[:1], name.text)):
        if name.kind == "person" and " " in name.text:
            for part in (name.text.split()[-1], name.text.split()[0]):
                full.setdefault(part, name)
    gained: defaultdict[str, list[int]] = defaultdict(list)
    kept: list[Name] = []
    for name in names:
        owner = full.get(name.text)
        if owner is None and " " in name.text and name.kind == "name":
            owner = full.get(name.text.split()[-1])
        if owner is not None and owner is not name:
            gained[owner.text].extend(name.sentences)
        else:
            kept.append(name)
    return [
        Name(
            name.text,
            name.kind,
            name.count + len(gained[name.text]),
            tuple(sorted({*name.sentences, *gained[name.text]})),
        )
        for name in kept
    ]
