"""Which of the passages that were found answers the question, with which of its sentences, and how likely.

Being about the same thing is not answering: search always finds something. So question and passage are judged together,
by signs that can be named: how near the meaning of the passage and of its best sentence is to the question's, how near
each word of the question comes to one of the answer (all options of a command are about the same thing), how much
of what was asked they and the headings have (a rare word counts more), whether the passage never names what the
question names (`Can it read ZFS?`) or the sentence is without a number, a time or a price where one is asked for, and
whether the passage is made of sentences at all. Then how it stands among the others that were found: in a collection
about one thing all are near to every question, and what answers is nearer than they are. How likely it is right does
not go by how many words the question has: a short question is no worse. The weights are fitted on questions to manuals
and on lists of questions that others wrote (`benchmarks/answers.py --fit`). A sentence that only points
elsewhere often has the question's own words, and answers nothing: it is not looked at. And what lacks the name or the
number that is asked for is shown at most as what comes nearest, whatever the weights say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.knowledge.embedding import Embedder, Unavailable, WordEmbedder
from weft.knowledge.keyword import stems, telling_words
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.question import is_asked
from weft.knowledge.research.question_kinds import fits, lacks_kind, only_perhaps
from weft.knowledge.research.statements import PassageStatement, statements
from weft.knowledge.research.weighing import BY_MEANING, BY_WORDS, AmongOthers, AnswerSigns, Weights
from weft.language.leaning import leans_back
from weft.language.pointing import tells_where
from weft.language.sentences import sentence_spans
from weft.protocol.values import dataclass

CANDIDATES: Final = 8
"""Passages that are judged: the best by search."""
VECTORS: Final = 10
"""Sentences of a passage, at most, whose meaning is compared: the best by words."""
WINDOW: Final = 900
"""Characters of an answer, about: the paragraph around the best sentence, as far as it fits."""
GLIMPSES: Final = 6
"""Passages of which is kept what is shown, the nearest first: some of them are cited, and are not shown again."""
ALSO: Final = 3
"""So many more sentences of the passage are said at most, beside the paragraph of the best."""
NEARLY: Final = 0.3
"""How far behind the best such a sentence may be."""
LEAD: Final = 3.0
APART: Final = 0.15
"""How far apart from others something is taken to be that stands alone."""
TOLD: Final = 5
ALIKE: Final = 0.75
"""The share of words from which two passages say the same, and are no rivals."""
ANSWER: Final = 0.6
"""From this probability on it is given as the answer; below, the best passages are shown instead."""
HIGH: Final = 0.88
SAID: Final = 0.12
"""Below this, the documents do not say it."""
LACKING: Final = 0.5
"""The most likely that something is which lacks what the question names, or the kind of thing it asks for."""
PERHAPS: Final = 0.85
"""The most likely that something is whose best sentence may have that kind of thing, and may not, that does not say
what it speaks of, or too little of what was asked: never high."""
UNSAID: Final = 0.2
"""The share of the question's telling words that an answer of high confidence may lack."""
GLIMPSE: Final = 1_000
"""Characters of a passage that is shown for what it may answer, about."""
INDENT: Final = "    "
"""Stands before a line of code in what is shown of a passage."""
FEW: Final = 6
"""Words: a passage that has fewer (a date, a title) is shown only where nothing else is."""
SMALL: Final = 0.15
"""What a word that tells nothing counts beside one that stands nowhere else."""
COMMON: Final = 0.2
"""A name that so many of the passages have is what the collection is about: not each of them repeats it."""


# -- what was asked


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is compared: its telling words, each with how much it tells."""

    text: str
    weights: Mapping[str, float]
    rarest: float
    """What a word that stands nowhere would weigh."""
    names: tuple[frozenset[str], ...] = ()
    """The stems of each name in it, as far as they tell passages apart."""
    options: tuple[str, ...] = ()
    """Options that are asked about, of one letter: `-n` is not `-N`."""

    def worth(self, word: str) -> float:
        """How much a word counts where all are compared: small words hold the question together, and say little."""
        return self.weights.get(word, 0.0) + SMALL * self.rarest

    def named(self, there: Iterable[str], content: str) -> bool:
        """Whether every name that was asked for is there, or a part of it, and every option."""
        present = set(there)
        return all(name & present for name in self.names) and set(self.options) <= set(_OPTION.findall(content))

    def is_under(self, sentence: str) -> bool:
        """Whether it begins with an option that is asked about, or with its long form."""
        found = _ENTRY.match(sentence)
        return found is not None and found[1] in self.options

    def told(self, there: Iterable[str]) -> float:
        """How much of what was asked is there, in rare words: a question of two common words is soon matched."""
        present = set(there)
        found = math.fsum(weight for word, weight in self.weights.items() if word in present)
        return min(1.0, found / self.rarest / TOLD)

    def share(self, there: Iterable[str]) -> float:
        """Of all that was asked, how much is there."""
        present = set(there)
        whole = math.fsum(self.weights.values())
        return math.fsum(weight for word, weight in self.weights.items() if word in present) / whole if whole else 0.0


_SIGN_OF_NAME: Final = re.compile(r"[A-Z]{2}|[a-z][A-Z]|\d|_")
_WORD: Final = re.compile(r"[\w./'’-]*\w")
_ASKS_WHERE: Final = re.compile(r"\W*(?:(?:from|to|von|d['’]|de) ?)?(?:where|wo|où|dónde)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\A[\d.]+\. (?=\S)")
"""Of a paragraph: it means nothing."""
_ENTRY: Final = re.compile(r"[`*]*(?:--[\w-]+[`*]*(?:[ =][\w<>]+)?, ?[`*]*)?(-\w{1,2})(?![\w-])")
_OPTION: Final = re.compile(r"(?<![\w-])-\w{1,2}(?![\w-])")


def names_in(question: str) -> list[str]:
    """What a question names: words with a capital inside a sentence, and those that no plain word is written like."""
    found: dict[str, None] = {}
    for start, end in sentence_spans(question):
        for at, word in enumerate(_WORD.findall(question[start:end])):
            capital = at > 0 and word[0].isupper() and not re.match(r"I\b", word)
            if len(word) > 1 and (capital or _SIGN_OF_NAME.search(word)):
                found[word] = None
    return list(found)


def read_question(text: str, frequencies: Callable[[Iterable[str]], Mapping[str, int]], total: int) -> Asked:
    """`frequencies` tells in how many of the `total` passages a stem stands."""
    words = list(dict.fromkeys(telling_words(text)))
    names = [frozenset(stems(name)) for name in names_in(text)]
    known = frequencies([*words, *(stem for name in names for stem in name if stem not in words)])
    return Asked(
        text,
        {word: math.log(1 + (total - known.get(word, 0) + 0.5) / (known.get(word, 0) + 0.5)) for word in words},
        math.log(2 * total + 2),
        tuple(name for name in names if name and max(known.get(stem, 0) for stem in name) <= COMMON * total),
        tuple(_OPTION.findall(text)),
    )


# -- judging


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    row: Mapping[str, Any]
    statements: tuple[PassageStatement, ...]
    best: int
    """Which of them answers best."""
    signs: AnswerSigns
    score: float = 0.0
    """For the order: only the differences mean something."""
    perhaps: bool = False
    """Whether its best sentence may have that kind of thing, and may not."""
    own: bool = False
    """Whether its best sentence stands under the very option that is asked about."""
    wanted: frozenset[str] = frozenset()
    """The telling words of the question that its headings do not have: the answer should."""
    also: tuple[int, ...] = ()
    """Those that answer nearly as well, the best first: what is asked often stands in more than one."""
    probability: float = 0.0
    """That it answers the question; meant for the best of a search."""


def judge(asked: Asked, rows: Sequence[Mapping[str, Any]], embedder: Embedder | Unavailable) -> list[JudgedPassage]:
    """The passages in the order in which they may be the answer; `rows` come in the order of the search."""
    weights = BY_WORDS if isinstance(embedder, Unavailable) else BY_MEANING
    found = in_order(_matched(asked, list(_signs(asked, rows, embedder)), embedder), weights)
    return [_with_probability(asked, found, at, weights) for at in range(len(found))]


def in_order(found: Iterable[JudgedPassage], weights: Weights) -> list[JudgedPassage]:
    scored = (replace(one, score=weights.rank(one.signs)) for one in found)
    return sorted(scored, key=lambda one: (not one.own, -one.score))


def among_others(found: Sequence[JudgedPassage], at: int) -> AmongOthers:
    """What says the same is no other."""
    one = found[at]
    others = [other for other in (*found[:at], *found[at + 1 :]) if not alike(one, other)]
    ahead = one.score - max((other.score for other in others), default=one.score - LEAD)
    return AmongOthers(
        lead=max(-LEAD, min(LEAD, ahead)),
        nearer=max((0.0, *(other.signs.meaning - one.signs.meaning for other in others))),
        apart=_apart(one.signs.meaning, [other.signs.meaning for other in others]),
        sentence_apart=_apart(one.signs.sentence, [other.signs.sentence for other in others]),
    )


def _apart(own: float, others: Sequence[float]) -> float:
    return own - math.fsum(others) / len(others) if others else min(own, APART)


def _with_probability(asked: Asked, found: Sequence[JudgedPassage], at: int, weights: Weights) -> JudgedPassage:
    one = found[at]
    least = ANSWER if one.own else SAID if asked.options and not one.signs.lacking else 0.0
    likely = max(weights.likely(one.signs, among_others(found, at)), least)
    return replace(one, probability=min(most_likely(asked, one), likely))


def most_likely(asked: Asked, one: JudgedPassage) -> float:
    """How likely it is at most, whatever the signs are worth."""
    said, lead = answer_of(one)
    if one.signs.lacking or said[-1].announces or not any(each.tells and not each.asks for each in said):
        return LACKING
    nameless = leans_back(said[0].text) and not asked.share(stems(lead))
    return PERHAPS if one.perhaps or nameless or _is_silent(asked, one) or announces_more(one.statements, said) else 1.0


def _is_silent(asked: Asked, one: JudgedPassage) -> bool:
    """Whether the answer itself, with its headings, says too little of what was asked: the rest of the passage may, and
    the reader does not see it."""
    lacking = one.wanted.difference(*(stems(each.text) for each in answer_of(one)[0]))
    return len(lacking) > UNSAID * len(asked.weights)


def alike(one: JudgedPassage, other: JudgedPassage) -> bool:
    """Whether two passages answer in nearly the same words."""
    mine, theirs = (set(stems(each.statements[each.best].text)) for each in (one, other))
    return len(mine & theirs) >= ALIKE * max(len(mine), len(theirs))


def _signs(
    asked: Asked, rows: Sequence[Mapping[str, Any]], embedder: Embedder | Unavailable
) -> Iterator[JudgedPassage]:
    prepared = []
    asks_where = _ASKS_WHERE.match(asked.text) is not None
    for row in rows[:CANDIDATES]:
        read = [one for one in _read(row) if not one.points or (asks_where and tells_where(one.text))]
        if all(one.asks for one in read):
            continue  # contents of a list of questions: nearer to the question than what answers it
        above = stems(f"{row['heading']} {row['title']} {row['lead']}")
        words = [stems(one) for one in _told_of(read)]
        shares = [asked.share((*above, *own)) + 0.5 * asked.share(own) for own in words]
        able = [at for at, one in enumerate(read) if not one.is_brief]
        chosen = sorted(able, key=lambda at: (-shares[at] - asked.is_under(read[at].text), at))[:VECTORS]
        prepared.append((row, read, above, words, chosen))
    texts = [_NUMBER.sub("", read[at].text) for _, read, _, _, chosen in prepared for at in chosen]
    near = _likeness(asked.text, texts, embedder)
    for rank, (row, read, above, words, chosen) in enumerate(prepared, start=1):
        likeness = {at: near.pop(0) for at in chosen}
        if not chosen:
            continue
        told = _told_of(read)
        kind = {at: fits(asked.text, told[at]) for at in chosen}
        worth = {
            at: likeness[at]
            + 0.5 * asked.share((*above, *words[at]))
            + 0.2 * read[at].says
            + 0.2 * kind[at]
            + asked.is_under(read[at].text)
            for at in chosen
        }
        best = max(chosen, key=lambda at: worth[at])
        meaning, content = row.get("likeness"), str(row["content"])
        whole = [*above, *(word for own in words for word in own)]
        named = asked.named((*above, *stems(content)), f"{row['heading']} {content}")  # in code as well
        signs = AnswerSigns(
            meaning=float(meaning) if meaning is not None else likeness[best],
            sentence=likeness[best],
            share=asked.share(whole),
            sentence_share=asked.share((*above, *words[best])),
            told=asked.told((*above, *words[best])),
            rank=1 / rank,
            lacking=float(not named or lacks_kind(asked.text, told[best])),
            prose=sum(len(one.text) for one in read if one.says) / sum(len(one.text) for one in read),
            heading=asked.share(above),
            bare=float(not row["heading"]),
            matched=0.0,
        )
        perhaps = only_perhaps(asked.text, told[best])
        own = asked.is_under(read[best].text)
        wanted = frozenset(asked.weights).difference(above)
        nearly = (at for at in chosen if at != best and worth[at] >= worth[best] - NEARLY)
        also = tuple(sorted(nearly, key=lambda at: -worth[at])[:ALSO])
        yield JudgedPassage(row, tuple(read), best, signs, perhaps=perhaps, own=own, wanted=wanted, also=also)


def _read(row: Mapping[str, Any]) -> list[PassageStatement]:
    return statements(str(row["content"]), str(row.get("file", "")))


def _told_of(read: Sequence[PassageStatement]) -> list[str]:
    """The text of each, of an option all that is said of it: which it is, what it does and what it is by default are
    sentences of their own."""
    blocks: dict[int, list[str]] = {}
    for one in read:
        blocks.setdefault(one.block, []).append(one.text)
    return [" ".join(blocks[one.block]) if one.entry else one.text for one in read]


def _matched(asked: Asked, found: Sequence[JudgedPassage], embedder: Embedder | Unavailable) -> Sequence[JudgedPassage]:
    """The same, with how near the words of each answer come to those of the question."""
    if not isinstance(embedder, WordEmbedder) or not found:
        return found
    answers = [" ".join((str(one.row["heading"]), *(each.text for each in answer_of(one)[0]))) for one in found]
    question, *read = embedder.states([asked.text, *answers])
    worth = [max(map(asked.worth, stems(word)), default=asked.worth("")) for word in embedder.words(asked.text)]
    whole = math.fsum(worth[: len(question)])
    near = [
        float((question @ words.T).max(axis=1) @ worth[: len(question)]) / whole
        if question.size and words.size
        else 0.0
        for words in read
    ]
    return [replace(one, signs=replace(one.signs, matched=own)) for one, own in zip(found, near, strict=True)]


def judged_for(
    query: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], knowledge: KnowledgeBase
) -> list[JudgedPassage]:
    """What the passages that were found for a sub-query are worth as its answer, best first."""
    own = [row for row in rows if query["id"] in row["queries"]]
    own.sort(key=lambda row: -row["scores"][query["id"]])
    asked = read_question(query["text"], knowledge.store.frequencies, knowledge.store.counts()["passages"])
    return judge(asked, [{**row, "likeness": row["likeness"].get(query["id"])} for row in own], knowledge.embedder)


def appraised(
    synthesis: Mapping[str, Any],
    sub_queries: Sequence[Mapping[str, Any]],
    retrieval: Mapping[str, Any],
    knowledge: KnowledgeBase,
) -> dict[str, Any]:
    """A draft that a model wrote, each section with the probability that one of the passages it cites answers what the
    section is about: as for a draft that was made without one, and apart from whether its words are in them. And with
    the passages that come nearest, which are shown where that is not likely."""
    known = {query["id"]: query for query in sub_queries}
    first = next(iter(sub_queries), None)
    judged: dict[str, list[JudgedPassage]] = {}
    if synthesis["made_by"] != "embedded":
        asked = [query for query in sub_queries if is_asked(query)]
        judged = {query["id"]: judged_for(query, retrieval["passages"], knowledge) for query in asked}
        synthesis = {**synthesis, **nearest(judged)}
    sections = []
    for section in synthesis["sections"]:
        if section["confidence"] is None:
            query = known.get(section["query"], first)
            cited = {label for one in section["sentences"] for label in one["labels"]}
            found = judged.get(query["id"]) or judged_for(query, retrieval["passages"], knowledge) if query else []
            chances = [one.probability for one in found if str(one.row["label"]) in cited]
            section = {**section, "confidence": round(max(chances, default=0.0), 2)}
        sections.append(section)
    return {**synthesis, "sections": sections}


def _likeness(question: str, texts: Sequence[str], embedder: Embedder | Unavailable) -> list[float]:
    if isinstance(embedder, Unavailable) or not texts:
        return [0.0] * len(texts)
    rows = embedder.embed([question, *texts])
    return [float(one) for one in rows[1:] @ rows[0]]


# -- what comes nearest


def nearest(judged: Mapping[str, Sequence[JudgedPassage]]) -> dict[str, Any]:
    """The labels of the passages that come nearest to an answer, whatever part of the question they are near to, and
    what is shown of each."""
    every = sorted(
        (one for found in judged.values() for one in found),
        key=lambda one: (len(str(one.row["content"]).split()) < FEW, -one.probability),
    )
    best: dict[str, JudgedPassage] = {}
    for one in every:
        best.setdefault(str(one.row["label"]), one)
    shown = dict(list(best.items())[:GLIMPSES])
    return {"nearest": list(shown), "glimpses": {label: glimpse_of(one) for label, one in shown.items()}}


def glimpse_of(judged: JudgedPassage) -> str:
    """The passage around its best sentence, a line for each paragraph and item, and for each line of code, which is
    indented; `…` where something is left out."""
    read = _read(judged.row)
    best = judged.statements[judged.best].number
    first = last = next(at for at, one in enumerate(read) if one.number == best)
    room = GLIMPSE - len(read[first].shown)
    for step, most in ((1, room * 2 // 3), (-1, room), (1, room)):
        most = min(most, room)
        while 0 <= (n := last + 1 if step > 0 else first - 1) < len(read) and len(read[n].shown) <= most:
            first, last = min(first, n), max(last, n)
            room -= len(read[n].shown)
            most -= len(read[n].shown)
    lines: list[str] = []
    for at in range(first, last + 1):
        one = read[at]
        goes_on = at > first and one.block == read[at - 1].block and not read[at - 1].code
        gap = "… " if at > first and one.number != read[at - 1].number + 1 else ""
        if goes_on:
            lines[-1] += f" {gap}{one.text}"
        else:
            lines.append(f"{'- ' if one.item else ''}{gap}{one.text}")
        lines += [f"{INDENT}{line}" for line in one.code.split("\n") if line]
    before = "… " if read[first].number > 0 else ""
    after = "\n…" if last + 1 < len(read) and read[last].code else " …" if last + 1 < len(read) else ""
    return f"{before}{chr(10).join(lines)}{after}"


# -- the answer itself

BRIEF: Final = 30
"""Words: an answer of fewer goes on with the next paragraph where it lacks a word of the question."""
BACK: Final = 3
"""So many sentences are gone back for what a pronoun means."""


def answer_of(judged: JudgedPassage) -> tuple[list[PassageStatement], str]:
    """The sentences that answer: the best one with what it takes to stand alone, the rest of its paragraph and of its
    list as far as there is room, the list right behind its paragraph and all of what is counted (`The first … is`) if
    there is room for the whole; and what must be said before them (their heading) where they lean on what is not there.
    What stands in a list under a name of its own (options, fields) is not told with that of its neighbours."""
    read, at = judged.statements, judged.best
    said = _SaidOfPassage(read, at)

    def in_block(n: int, last: int) -> bool:
        return read[n].block == read[at].block

    def in_list(n: int, last: int) -> bool:
        listed = read[n].item and read[last].item and not read[at].entry
        return listed or (n > last and read[last].text.endswith(":"))

    for goes_on in (in_block, in_list):
        said.take(range(at + 1, len(read)), goes_on)
        said.take(range(at - 1, -1, -1), goes_on)
    said.leave_torn()
    said.take_whole(_list_behind(read, at))
    said.take(range(at + 1, len(read)), lambda n, last: not read[n].is_brief and _is_cut_short(judged, said.chosen))
    for n in judged.also:
        said.take_whole(_standing(read, n))
    counted = _counted(read)
    if not counted.isdisjoint(said.chosen):
        said.take_whole(counted)
    chosen = said.chosen | {one - 1 for one in said.chosen if _is_behind_code(read, one)}
    for n in sorted(chosen - {at}, reverse=True):
        if read[n].announces and not _brings(read, chosen, n):
            chosen.remove(n)  # what it announces is not here
    found = [read[n] for n in sorted(chosen)]
    return found, _lead_of(judged, found)


class _SaidOfPassage:
    """Which statements of a passage are said, around one of them, and how much room there is for more."""

    def __init__(self, read: Sequence[PassageStatement], at: int) -> None:
        self.chosen = _standing(read, at)
        self._read = read
        self._at = at
        self._room = WINDOW - sum(len(read[n].text) for n in self.chosen)

    def take(self, order: Iterable[int], goes_on: Callable[[int, int], bool]) -> None:
        """One after the other, as long as it goes on and there is room."""
        last = self._at
        for n in order:
            if n not in self.chosen:
                if not goes_on(n, last) or len(self._read[n].text) > self._room:
                    return
                self.chosen.add(n)
                self._room -= len(self._read[n].text)
            last = n

    def leave_torn(self) -> None:
        """What stands before it in its list is told from where it begins, or not at all."""
        first = min(self.chosen)
        block = self._read[first].block
        if first and block == self._read[first - 1].block != self._read[self._at].block:
            torn = {n for n in self.chosen if self._read[n].block == block}
            self.chosen -= torn
            self._room += sum(len(self._read[n].text) for n in torn)

    def take_whole(self, group: Collection[int]) -> None:
        """All of it or nothing."""
        added = set(group) - self.chosen
        size = sum(len(self._read[n].text) for n in added)
        if size <= self._room:
            self.chosen |= added
            self._room -= size


def _list_behind(read: Sequence[PassageStatement], at: int) -> set[int]:
    """The list that stands right behind the paragraph of a statement. Options that each stand under a name of their own
    are no part of what is said before them."""
    last = max(n for n in range(len(read)) if read[n].block == read[at].block)
    found: set[int] = set()
    for n in range(last + 1, len(read)):
        if not read[n].item or read[n].entry or read[n].number != read[n - 1].number + 1:
            break
        found.add(n)
    return found if not read[at].item else set()


_ORDINAL: Final = re.compile(r"(?:The )?(first|second|third|fourth|fifth|sixth|seventh|eighth)(?:ly)?\b", re.IGNORECASE)


def _counted(read: Sequence[PassageStatement]) -> set[int]:
    """The sentences that begin by counting (`The first setting is`, `The second setting is`): one without the others
    says half."""
    found = {n: match[1].lower() for n, one in enumerate(read) if (match := _ORDINAL.match(one.text))}
    return set(found) if {"first", "second"} <= {*found.values()} else set()


def _brings(read: Sequence[PassageStatement], chosen: Collection[int], at: int) -> bool:
    """Whether something is said of what is announced: what comes next, or an item of the list that does."""
    for n in range(at + 1, len(read)):
        if n in chosen:
            return True
        if not read[n].item:
            break
    return False


_AHEAD: Final = re.compile(
    r"\b(?:described|listed|shown|given|explained|discussed|outlined|found|detailed|mentioned|set out)(?: \w+)? below\b"
    r"|\b(?:below|as follows)\W*\Z|\b(?:is|are|has|have) the following\b|\bthe following(?: \w+){0,3}:?\W*\Z",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(r"\([^()]*\)")


def announces_more(read: Sequence[PassageStatement], said: Sequence[PassageStatement]) -> bool:
    """Whether the answer says that something comes which it does not bring: what stands below, the rest of a list that
    it announces, the second of what it begins to count."""
    numbers = {one.number for one in said}
    chosen = {n for n, one in enumerate(read) if one.number in numbers}
    counted = _counted(read)
    if not counted.isdisjoint(chosen) and not counted <= chosen:
        return True
    for n in chosen:
        one = read[n]
        ahead = _AHEAD.search(_IN_BRACKETS.sub("", one.text)) and not one.code
        if ahead and n + 1 not in chosen:
            return True
        if one.announces and not (_brings(read, chosen, n) and _told_whole(read, chosen, n)):
            return True
    return False


def _told_whole(read: Sequence[PassageStatement], chosen: Collection[int], at: int) -> bool:
    """Whether all of a list is told, where more than what was asked for is: one option of many is told by itself."""
    listed = []
    for n in range(at + 1, len(read)):
        if not read[n].item or read[n].entry:
            break
        listed.append(n)
    return all(n in chosen for n in listed)


def _lead_of(judged: JudgedPassage, found: Sequence[PassageStatement]) -> str:
    """The heading, where the sentences lean on it, with how a command is called that is shown right below it."""
    heading = str(judged.row["heading"]).split(" › ")[-1]
    if not (leans_back(found[0].text) or _means_heading(found, heading)):
        return ""
    synopsis = _SYNOPSIS.match(str(judged.row["content"]))
    return f"{heading or judged.row['title']}{f' ({synopsis[1].strip()})' if synopsis else ''}:"


_SYNOPSIS: Final = re.compile(r"\s*(?:```|~~~)\w*\n(.{1,80})\n")
_THIS_THING: Final = re.compile(
    r"(?:(?:If|When|With|By) )?(?:[Tt]his|[Tt]hese) (option|command|setting|directive|variable|parameter|flag|function"
    r"|plugin|module|keyword|property|attribute|switch)s?\b"
)


def _means_heading(found: Sequence[PassageStatement], heading: str) -> bool:
    """Whether `This option …` is said under `pack option`, and nothing else says which."""
    said = ""
    for one in found:
        means = re.match(r"(?:This|These) (\w+)\b", one.text)
        thing = _THIS_THING.match(one.text)
        if (means and means[1] in heading.split()) or (thing and thing[1] not in said.lower()):
            return re.search(rf"(?<!\w){re.escape(heading)}(?!\w)", said) is None
        said += f" {one.text}"
    return False


def _standing(read: Sequence[PassageStatement], at: int) -> set[int]:
    """A statement with what it takes to stand alone: what a pronoun means, the whole of an item, and what announces
    it, be it an item or the paragraph right behind."""
    needed = _leaned_on(read, at)
    first = min(needed)
    if first > 0 and read[first - 1].announces and read[first - 1].number + 1 == read[first].number:
        needed |= _leaned_on(read, first - 1)
    if read[at].item:
        own = {n for n in range(len(read)) if read[n].block == read[at].block}
        needed |= own if sum(len(read[n].text) for n in own) <= WINDOW else set()
        lead = next((n for n in range(at, -1, -1) if not read[n].item), -1)
        needed |= {lead} if lead >= 0 and read[lead].text.endswith(":") else set()
    return needed


def _leaned_on(read: Sequence[PassageStatement], at: int) -> set[int]:
    """It and the sentences that it leans on: none that stands elsewhere, or in the item before."""
    first = at
    while first > max(0, at - BACK) and leans_back(read[first].text):
        before, own = read[first - 1], read[first]
        if before.number + 1 != own.number or (own.item and before.block != own.block):
            break
        first -= 1
    return set(range(first, at + 1))


def _is_behind_code(read: Sequence[PassageStatement], at: int) -> bool:
    """Whether a paragraph begins here right behind code in the midst of what is said: that is what it speaks of, and so
    is what announces it."""
    if at == 0 or read[at].item or not read[at - 1].code or read[at - 1].text.endswith("."):
        return False
    return read[at - 1].block + 1 == read[at].block


def _is_cut_short(judged: JudgedPassage, chosen: Collection[int]) -> bool:
    """Whether so few words are said, and not all that was asked for, that the next paragraph belongs to them."""
    said = [judged.statements[n].text for n in chosen]
    few = sum(len(text.split()) for text in said) < BRIEF
    return few and bool(judged.wanted.difference(*(stems(text) for text in said)))
