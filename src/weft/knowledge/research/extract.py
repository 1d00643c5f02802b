"""A draft with no model: sentences of the retrieved passages, chosen for the sub-queries, quoted as they stand.

A sentence is weighed for every sub-query by the rare words it shares with it and, where there are vectors, by
likeness of meaning; it belongs to the one it fits best. Of sentences that say the same one is kept; two that differ in
a number or a negation do not say the same. A section leads with its best sentence and goes on in the order of the
documents. Sentences that verification rejected are named in `rejected` and give way to the next best.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weft.checks import claim_facts as facts
from weft.checks import claim_words as words
from weft.knowledge.context import CHARACTERS_PER_TOKEN
from weft.knowledge.embedding import Embedder, Unavailable
from weft.knowledge.grammar import Grammar
from weft.knowledge.research.depth import Depth
from weft.knowledge.research.earlier import prior_sections
from weft.knowledge.research.labels import sentence_id
from weft.knowledge.research.question import terms_of
from weft.knowledge.research.retrieve import ROLE_WEIGHTS
from weft.language.sentences import sentences

SHORTEST: Final = 3
"""Terms; what has fewer says nothing on its own."""
LONGEST: Final = 900
VECTORS: Final = 8
"""So many sentences at most, for each passage that the depth allows a sub-query, get a vector: the best by words."""
FLOOR: Final = 0.3
NEAR: Final = 0.42
WORDS: Final = 0.3
SAME: Final = 0.75
"""The share of terms, both ways, from which two sentences say the same."""
OF_BEST: Final = 0.55
"""Of the section's best score: what is further below it is about something else."""
COVERED: Final = 0.5
"""The share of a sub-query's terms from which sections speak of it."""
_MARK: Final = re.compile(r"^\s*(?:\(\w{1,4}\)|\d{1,3}[.)]|[A-Z]\d{1,3}\.|[-*•])\s+")
_TOLD: Final = re.compile(r"\s+\([^()]*\)\Z")
_TAIL: Final = re.compile(r"[;,]\s*(?:and|or)?\s*\Z")
_BROKEN: Final = re.compile(r"^[a-z]|[|=_]{3,}|\.{4,}")


@dataclass(frozen=True, slots=True)
class _Engine:
    """What every weighing is done with."""

    depth: Depth
    embedder: Embedder | Unavailable
    rejected: Collection[str]


@dataclass(slots=True)
class _Candidate:
    id: str
    text: str
    lead: str
    label: str
    order: tuple[str, int, int]
    """Its document, its passage, its place in it."""
    worth: float
    """Of its passage."""
    terms: frozenset[str] = field(default_factory=frozenset)
    vector: Any = None
    query: str = ""
    score: float = 0.0


def make_draft(
    sub_queries: Sequence[Mapping[str, Any]],
    retrieval: Mapping[str, Any],
    depth: Depth,
    embedder: Embedder | Unavailable,
    *,
    grammar: Grammar,
    pages: Sequence[Mapping[str, Any]] = (),
    earlier: Mapping[str, Any] | None = None,
    rejected: Collection[str] = (),
) -> dict[str, Any]:
    """`draft.json`: what a model would be asked for, made of the sources' own sentences."""
    asked = [query for query in sub_queries if query["role"] != "context"]  # context helps to find, and is no answer
    engine = _Engine(depth, embedder, rejected)
    own = _scored(_of_passages(retrieval["passages"]), asked, engine)
    sections = _sections(own, asked, depth)
    used = [one for _, chosen in sections for one in chosen]
    drafted = [_section(query, chosen) for query, chosen in sections]
    if pages and depth.web:
        drafted += _aside("Beyond the collection", _of_pages(pages), asked, engine, used)
    if earlier is not None:
        drafted = [*_aside("Said before", _of_earlier(earlier), asked, engine, used), *drafted]
    sentences = [sentence for section in drafted for sentence in section["sentences"]]
    return {
        "sections": drafted,
        "not_answered": unanswered(sub_queries, drafted),
        "entities_referenced": list(dict.fromkeys(name for one in sentences for name in facts.names(one["text"]))),
        "relations_claimed": list(_relations(used, retrieval["passages"], grammar)),
        "made_by": "embedded",
    }


def unanswered(sub_queries: Sequence[Mapping[str, Any]], drafted: Sequence[Mapping[str, Any]]) -> list[str]:
    """What was asked, and neither has a section nor is what the sections together speak of."""
    having = {section["query"] for section in drafted}
    said = {
        term
        for section in drafted
        for text in (section["heading"], *(one["text"] for one in section["sentences"]))
        for term in terms_of(text)
    }
    asked = [one for one in sub_queries if one["id"] not in having and (one["role"] != "context" or one.get("demoted"))]
    return [
        one["text"]
        for one in asked
        if sum(term in said for term in terms_of(one["text"])) < COVERED * len(terms_of(one["text"]))
    ]


# -- candidates


def _of_passages(rows: Sequence[Mapping[str, Any]]) -> Iterator[_Candidate]:
    for row in rows:
        for at, text in enumerate(_sentences(row["content"])):
            order = (str(row["file"]), int(row["start"]), at)
            yield _Candidate(sentence_id(text), text, str(row["lead"]), row["label"], order, float(row["score"]))


def _of_pages(pages: Sequence[Mapping[str, Any]]) -> Iterator[_Candidate]:
    for number, page in enumerate(pages):
        for at, text in enumerate(_sentences(page["text"])):
            yield _Candidate(sentence_id(text), text, "", page["label"], (page["url"], number, at), 0.5)


def _of_earlier(earlier: Mapping[str, Any]) -> Iterator[_Candidate]:
    for number, section in enumerate(prior_sections(earlier["answer"])):
        for at, text in enumerate(_sentences(section["text"])):
            yield _Candidate(sentence_id(text), text, "", section["label"], ("", number, at), 0.5)


def _sentences(content: str) -> Iterator[str]:
    for sentence in sentences(content):
        text = _TAIL.sub("", _MARK.sub("", sentence)).strip()
        if text.startswith("(") and text.count("(") > text.count(")"):
            text = text[1:].lstrip()
        if len(text) <= LONGEST and len(words.terms(text)) >= SHORTEST and not _BROKEN.search(text):
            yield text


# -- weighing


def _scored(
    candidates: Iterator[_Candidate],
    sub_queries: Sequence[Mapping[str, Any]],
    engine: _Engine,
) -> list[_Candidate]:
    found = list({one.id: one for one in candidates if one.id not in engine.rejected}.values())
    for one in found:
        one.terms = frozenset(terms_of(one.text))
    seen = Counter(term for one in found for term in one.terms)
    asked = {query["id"]: terms_of(query["text"]) for query in sub_queries}
    rarity = {
        term: math.log(1 + (len(found) - seen[term] + 0.5) / (seen[term] + 0.5))
        for terms in asked.values()
        for term in terms
        if seen[term]
    }
    # A word that no sentence has tells none from another; it counts, but less than any that does.
    usual = 0.5 * math.fsum(rarity.values()) / len(rarity) if rarity else 1.0
    rarity = {term: rarity.get(term, usual) for terms in asked.values() for term in terms}
    shares = [{name: _share(one, terms, rarity) for name, terms in asked.items()} for one in found]
    likeness = _likeness(found, shares, sub_queries, engine.embedder, VECTORS * engine.depth.passages)
    for at, one in enumerate(found):
        best = 0.0
        for query in sub_queries:
            score = _score(one, shares[at][query["id"]], likeness.get((at, query["id"])))
            weighted = score * ROLE_WEIGHTS[query["role"]]
            if score and weighted > best:
                best, one.query, one.score = weighted, query["id"], weighted
    return sorted((one for one in found if one.query), key=lambda one: (-one.score, one.order))


def _share(one: _Candidate, terms: Sequence[str], rarity: Mapping[str, float]) -> float:
    whole = math.fsum(rarity[term] for term in terms)
    return math.fsum(rarity[term] for term in terms if term in one.terms) / whole if whole else 0.0


def _likeness(
    found: Sequence[_Candidate],
    shares: Sequence[Mapping[str, float]],
    sub_queries: Sequence[Mapping[str, Any]],
    embedder: Embedder | Unavailable,
    most: int,
) -> dict[tuple[int, str], float]:
    if isinstance(embedder, Unavailable) or not found or not sub_queries:
        return {}
    best = sorted(range(len(found)), key=lambda at: (-max(shares[at].values()), -found[at].worth))[:most]
    vectors = embedder.embed([f"{found[at].lead} {found[at].text}".strip() for at in best])
    asked = embedder.embed([query["text"] for query in sub_queries])
    near = vectors @ asked.T
    for row, at in enumerate(best):
        found[at].vector = vectors[row]
    return {
        (at, query["id"]): float(near[row, column])
        for row, at in enumerate(best)
        for column, query in enumerate(sub_queries)
    }


def _score(one: _Candidate, share: float, likeness: float | None) -> float:
    """0 when it is not about the sub-query at all."""
    if share < WORDS and (likeness is None or likeness < NEAR):
        return 0.0
    meaning = share if likeness is None else max(0.0, likeness)
    score = 0.15 * one.worth + 0.4 * share + 0.45 * meaning
    if one.text.endswith("?"):
        score *= 0.5
    elif not one.text.endswith((".", "!", "”", '"', "’", ")", "。")):
        score *= 0.7  # a lead-in, a heading, a line of a table: true, but seldom an answer
    return score if score >= FLOOR else 0.0


# -- choosing


def _sections(
    ranked: Sequence[_Candidate], sub_queries: Sequence[Mapping[str, Any]], depth: Depth
) -> list[tuple[Mapping[str, Any], list[_Candidate]]]:
    """A sub-query's sentences, at most as many as the depth allows, and no more in all than its answer may have."""
    room = depth.answer_tokens * CHARACTERS_PER_TOKEN
    taken: list[_Candidate] = []
    by_query: dict[str, list[_Candidate]] = {query["id"]: [] for query in sub_queries}
    top: dict[str, float] = {}
    for one in ranked:
        mine = by_query[one.query]
        far = one.score < OF_BEST * top.get(one.query, 0.0)
        if far or len(mine) >= depth.sentences or len(one.text) > room or any(same(one, other) for other in taken):
            continue
        mine.append(one)
        taken.append(one)
        top.setdefault(one.query, one.score)
        room -= len(one.text)
    return [
        (query, [chosen[0], *sorted(chosen[1:], key=lambda one: one.order)])
        for query in _in_order(sub_queries)
        if (chosen := by_query[query["id"]]) and not _in_parts(query, sub_queries, by_query)
    ]


def _in_order(sub_queries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As it was asked: the parts of a question stand where the question stands."""
    whole = [(at, set(terms_of(one["text"]))) for at, one in enumerate(sub_queries) if one["role"] == "primary"]

    def place(at: int) -> tuple[int, int]:
        own = set(terms_of(sub_queries[at]["text"]))
        return next((number for number, terms in whole if own <= terms), at), at

    return [sub_queries[at] for at in sorted(range(len(sub_queries)), key=place)]


def _in_parts(
    query: Mapping[str, Any], sub_queries: Sequence[Mapping[str, Any]], found: Mapping[str, Sequence[_Candidate]]
) -> bool:
    """Whether its parts (the sides of a comparison, the items of a list) say it, and what is left is the remainder."""
    whole = set(terms_of(query["text"]))
    parts = [one for one in sub_queries if one["id"] != query["id"] and set(terms_of(one["text"])) < whole]
    return len(parts) >= 2 and all(found[one["id"]] for one in parts)


def same(one: _Candidate, other: _Candidate) -> bool:
    """Whether two sentences say the same: nearly all terms, the same numbers, the same denials."""
    shared = len(one.terms & other.terms)
    if not shared or shared < SAME * max(len(one.terms), len(other.terms)):
        return False
    return facts.numbers_of(one.text) == facts.numbers_of(other.text) and (
        words.denials(one.text) == words.denials(other.text)
    )


def _section(query: Mapping[str, Any], chosen: Sequence[_Candidate]) -> dict[str, Any]:
    return {
        "heading": heading_of(query["text"]),
        "query": query["id"],
        "sentences": [_sentence(one) for one in chosen],
    }


def _sentence(one: _Candidate) -> dict[str, Any]:
    said: dict[str, Any] = {"text": one.text, "cites": [one.label]}
    return {**said, "lead": one.lead} if one.lead and one.text not in one.lead else said


def _aside(
    heading: str,
    candidates: Iterator[_Candidate],
    sub_queries: Sequence[Mapping[str, Any]],
    engine: _Engine,
    used: Sequence[_Candidate],
) -> list[dict[str, Any]]:
    """What other sources than the collection say, in a section of its own: never mixed with what binds."""
    chosen: list[_Candidate] = []
    for one in _scored(candidates, sub_queries, engine):
        if len(chosen) < 3 and not any(same(one, other) for other in (*used, *chosen)):
            chosen.append(one)
    chosen.sort(key=lambda one: one.order)
    return [{"heading": heading, "query": "", "sentences": [_sentence(one) for one in chosen]}] if chosen else []


def heading_of(text: str) -> str:
    whole = _TOLD.sub("", text).strip(" ?.")
    return whole if len(whole) <= 90 else f"{whole[:88].rsplit(' ', 1)[0]} …"


def _relations(
    used: Sequence[_Candidate], rows: Sequence[Mapping[str, Any]], grammar: Grammar
) -> Iterator[dict[str, str]]:
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
