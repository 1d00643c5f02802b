"""A draft with no model: sentences of the retrieved passages that answer, quoted as they stand.

For every sub-query the passages that were found for it are judged (answering.py). Where one of them answers likely
enough, its sentences are a section, with those of the next as far as the depth has room; of sentences that say the same
one is kept. Where none does there is no section: the draft names the nearest passages instead, and how unlikely an
answer is. Sentences that verification rejected are named in `rejected` and are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.checks import claim_words as words
from weft.checks.names import names
from weft.checks.numerals import offered
from weft.knowledge.grammar import Grammar
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.answering import (
    ANSWER,
    JudgedPassage,
    answer_of,
    judge,
    judged_for,
    nearest,
    read_question,
)
from weft.knowledge.research.depth import Depth
from weft.knowledge.research.earlier import prior_sections
from weft.knowledge.research.labels import sentence_id, whole_text
from weft.knowledge.research.question import is_asked, terms_of
from weft.protocol.values import dataclass

GAP: Final = "…"
"""Stands before a sentence where the passage says something between it and the one that is shown before it."""
SAME: Final = 0.75
"""The share of terms, both ways, from which two sentences say the same."""
COVERED: Final = 0.5
"""The share of a sub-query's terms from which sections speak of it."""
ASIDE: Final = 3
NEAR_ASIDE: Final = 0.45
"""How near, in meaning or in words, a page or an earlier answer must be to be quoted beside the collection."""
_TOLD: Final = re.compile(r"\s+\([^()]*\)\Z")


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    lead: str
    label: str
    code: str = ""

    @property
    def whole(self) -> str:
        return whole_text(self.text, self.code)


def make_draft(
    sub_queries: Sequence[Mapping[str, Any]],
    retrieval: Mapping[str, Any],
    depth: Depth,
    knowledge: KnowledgeBase,
    *,
    pages: Sequence[Mapping[str, Any]] = (),
    earlier: Mapping[str, Any] | None = None,
    rejected: Collection[str] = (),
) -> dict[str, Any]:
    """`draft.json`: what a model would be asked for, made of the sources' own sentences."""
    asked = [query for query in sub_queries if is_asked(query)]
    used: list[_Said] = []
    drafted: list[dict[str, Any]] = []
    judged = {query["id"]: judged_for(query, retrieval["passages"], knowledge) for query in asked}
    for query in in_order(asked):
        found = judged[query["id"]]
        chosen = list(_chosen(found, depth, used, rejected))
        if chosen and not _in_parts(query, asked, judged):
            used += chosen
            drafted.append(_section(heading_of(query["text"]), query["id"], chosen, found[0]))
    if pages and depth.web:
        drafted += _aside("Beyond the collection", _of_pages(pages), asked, knowledge, used, rejected)
    if earlier is not None:
        drafted = [*_aside("Said before", _of_earlier(earlier), asked, knowledge, used, rejected), *drafted]
    sentences = [sentence for section in drafted for sentence in section["sentences"]]
    best = [found[0] for found in judged.values() if found]
    return {
        "sections": drafted,
        **nearest(judged),
        "confidence": _told(max((one.probability for one in best), default=0.0)),
        "not_answered": unanswered(sub_queries, drafted),
        "entities_referenced": list(dict.fromkeys(name for one in sentences for name in names(one["text"]))),
        "relations_claimed": list(_relations(used, retrieval["passages"], knowledge.collection.grammar)),
        "made_by": "embedded",
    }


def _told(probability: float) -> float:
    """In hundredths, and never more than it is: what is just below a bound is not shown as if it had reached it."""
    return math.floor(probability * 100) / 100


def unanswered(sub_queries: Sequence[Mapping[str, Any]], drafted: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was asked, and neither has a section nor is what the sections together speak of."""
    having = {section["query"] for section in drafted}
    said = {
        term
        for section in drafted
        for text in (section["heading"], *(one["text"] for one in section["sentences"]))
        for term in terms_of(text)
    }
    asked = [one for one in sub_queries if one["id"] not in having and is_asked(one)]
    return [
        one["text"]
        for one in asked
        if sum(term in said for term in terms_of(one["text"])) < COVERED * len(terms_of(one["text"]))
    ]


# -- choosing


def _chosen(
    judged: Sequence[JudgedPassage], depth: Depth, used: Sequence[_Said], rejected: Collection[str]
) -> Iterator[_Said]:
    """The sentences of a section: those of the passage that answers best, then of the next that do."""
    taken: list[_Said] = []
    for one in judged:
        if one.probability < ANSWER or len(taken) >= depth.sentences:
            return
        found, lead = answer_of(one)
        lead = str(one.row["lead"]) or lead
        last: int | None = None
        for statement in found:
            gap = GAP if last is not None and statement.number != last + 1 else ""
            said = _Said(statement.text, lead if last is None else gap, str(one.row["label"]), statement.code)
            if sentence_id(said.whole) in rejected or any(same(said.whole, other.whole) for other in (*used, *taken)):
                continue
            last = statement.number
            taken.append(said)
            yield said


def in_order(sub_queries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As it was asked: the parts of a question stand where the question stands."""
    whole = [(at, set(terms_of(one["text"]))) for at, one in enumerate(sub_queries) if one["role"] == "primary"]

    def place(at: int) -> tuple[int, int]:
        own = set(terms_of(sub_queries[at]["text"]))
        return next((number for number, terms in whole if own <= terms), at), at

    return [sub_queries[at] for at in sorted(range(len(sub_queries)), key=place)]


def _in_parts(
    query: Mapping[str, Any], sub_queries: Sequence[Mapping[str, Any]], judged: Mapping[str, Sequence[JudgedPassage]]
) -> bool:
    """Whether its parts (the sides of a comparison, the items of a list) say it, and what is left is the remainder."""
    whole = set(terms_of(query["text"]))
    parts = [one for one in sub_queries if one["id"] != query["id"] and set(terms_of(one["text"])) < whole]
    return len(parts) >= 2 and all(judged[one["id"]] and judged[one["id"]][0].probability >= ANSWER for one in parts)


def same(one: str, other: str) -> bool:
    """Whether two sentences say the same: nearly all terms, the same numbers, the same denials."""
    mine, theirs = set(terms_of(one)), set(terms_of(other))
    shared = len(mine & theirs)
    if not shared or shared < SAME * max(len(mine), len(theirs)):
        return False
    return offered(one, words=True) == offered(other, words=True) and words.denials(one) == words.denials(other)


def _section(heading: str, query: str, chosen: Sequence[_Said], judged: JudgedPassage) -> dict[str, Any]:
    return {
        "heading": heading,
        "query": query,
        "confidence": _told(judged.probability),
        "sentences": [_sentence(one) for one in chosen],
    }


def _sentence(one: _Said) -> dict[str, Any]:
    said: dict[str, Any] = {"text": one.text, "cites": [one.label], **({"code": one.code} if one.code else {})}
    return {**said, "lead": one.lead} if one.lead and one.text not in one.lead else said


# -- other sources than the collection


def _of_pages(pages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_outside(page["label"], page["title"], page["text"]) for page in pages]


def _of_earlier(earlier: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_outside(one["label"], one["heading"], one["text"]) for one in prior_sections(earlier["answer"])]


def _outside(label: str, title: str, text: str) -> dict[str, Any]:
    return {"label": label, "title": title, "heading": "", "lead": "", "content": text, "likeness": None}


def _aside(
    heading: str,
    rows: Sequence[Mapping[str, Any]],
    sub_queries: Sequence[Mapping[str, Any]],
    knowledge: KnowledgeBase,
    used: Sequence[_Said],
    rejected: Collection[str],
) -> list[dict[str, Any]]:
    """What other sources than the collection say, in a section of its own: never mixed with what binds."""
    chosen: dict[str, _Said] = {}
    surest: JudgedPassage | None = None
    for query in sub_queries:
        asked = read_question(query["text"], knowledge.store.frequencies, knowledge.store.counts()["passages"])
        for one in judge(asked, rows, knowledge.embedder):
            said = _Said(one.statements[one.best].text, "", str(one.row["label"]))
            known = any(same(said.text, other.text) for other in (*used, *chosen.values()))
            near = max(one.signs.sentence, one.signs.sentence_share) >= NEAR_ASIDE
            if not near or known or sentence_id(said.text) in rejected or len(chosen) >= ASIDE:
                continue
            chosen.setdefault(said.label, said)
            surest = one if surest is None or one.probability > surest.probability else surest
    in_their_order = [chosen[str(row["label"])] for row in rows if str(row["label"]) in chosen]
    return [_section(heading, "", in_their_order, surest)] if surest else []


def heading_of(text: str) -> str:
    whole = _TOLD.sub("", text).strip(" ?.")
    return whole if len(whole) <= 90 else f"{whole[:88].rsplit(' ', 1)[0]} …"


def _relations(used: Sequence[_Said], rows: Sequence[Mapping[str, Any]], grammar: Grammar) -> Iterator[dict[str, str]]:
    """What quoted sentences refer to: the reference must be there, and lead to where it says."""
    known = {str(row["label"]): row for row in rows}
    seen: set[tuple[str, str]] = set()
    for one in used:
        row = known[one.label]
        for reference in grammar.find(one.text, str(row["document"])):
            pair = (str(row["id"]), reference.place.ref)
            if pair not in seen and reference.place.ref != row["ref"]:
                seen.add(pair)
                yield {"source_paragraph": pair[0], "target_paragraph": pair[1], "relation_type": "cites"}
