"""The passages of every sub-query: by search, by the references they make, within the bounds of the depth.

A passage counts once, for all sub-queries that found it; its score is the best of them, by the weight of the role. Then
the best are taken until the budget of tokens is used up, but every primary sub-query keeps its first find. What is
taken gets its label here, once, in the order of worth: `[1]` is the same passage in every draft, repair and page.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from weft.knowledge.context import CHARACTERS_PER_TOKEN, OVERHEAD
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.place import CitedPlace
from weft.knowledge.research.depth import Depth
from weft.knowledge.research.question import AROUND, is_asked
from weft.knowledge.research.relevance import about
from weft.knowledge.search import NO_WORDS
from weft.knowledge.store import StoredPassage
from weft.protocol.values import dataclass

ROLE_WEIGHTS: Final = {"primary": 1.0, "supporting": 0.85, "context": 0.7}
SEEDS: Final = 3
"""References are followed from so many of a sub-query's best finds."""
HOP_WEIGHT: Final = 0.6
"""What a passage reached by reference counts beside one that was found."""
HOP_LIMIT: Final = 6
NEAREST: Final = 3
"""So many of what is found for a question are kept whatever they are about: where nothing answers, they are shown."""


@dataclass(slots=True)
class _Kept:
    passage: StoredPassage
    score: float = 0.0
    queries: dict[str, float] = field(default_factory=dict)
    likeness: dict[str, float] = field(default_factory=dict)
    """Of meaning, by the sub-query that found it."""
    path: str = ""
    role: str = "context"

    def tokens(self) -> int:
        return (len(self.passage.indexed) + OVERHEAD) // CHARACTERS_PER_TOKEN


class _Gathering:
    def __init__(self, knowledge: KnowledgeBase, depth: Depth, known: Collection[str]) -> None:
        self._knowledge = knowledge
        self._depth = depth
        self._known = known
        self.kept: dict[str, _Kept] = {}
        self.again: dict[str, None] = {}
        """Passages that an earlier answer has used, found again and left out."""
        self.warnings: dict[str, None] = {}

    def search(self, query: Mapping[str, Any]) -> dict[str, Any]:
        found = self._knowledge.search.find(query["text"], limit=self._depth.passages, rerank=False)
        self.warnings |= dict.fromkeys(_of_part(query, one) for one in found.warnings if not _of_ours(query, one))
        weight = ROLE_WEIGHTS[query["role"]]
        shown = NEAREST if is_asked(query) else 0
        hits = [hit for at, hit in enumerate(found.hits) if at < shown or about(query["text"], hit)]
        new = 0
        for hit in hits:
            tier = self._knowledge.collection.weight_of("guides" if hit.passage.tier == "guides" else "standards")
            new += self._keep(query, hit.passage, hit.score * weight * tier, "+".join(hit.paths))
            if hit.likeness is not None and hit.passage.id in self.kept:
                self.kept[hit.passage.id].likeness[query["id"]] = round(hit.likeness, 4)
        for hit in hits[:SEEDS]:
            self._follow(query, hit.passage, hit.score * weight * HOP_WEIGHT)
        return {"id": query["id"], "mode": found.mode, "found": len(hits), "new": new}

    def _follow(self, query: Mapping[str, Any], seed: StoredPassage, worth: float) -> None:
        reached = self._knowledge.hops(seed.number, depth=self._depth.hops, limit=HOP_LIMIT)
        passages = {one.number: one for one in self._knowledge.store.passages([hop.node for hop in reached])}
        for hop in reached:
            if hop.node in passages:
                path = f"{hop.depth} {'hop' if hop.depth == 1 else 'hops'} from {seed.ref}"
                self._keep(query, passages[hop.node], worth * hop.score, path)

    def _keep(self, query: Mapping[str, Any], passage: StoredPassage, score: float, path: str) -> bool:
        if passage.id in self._known:
            self.again[passage.id] = None
            return False
        new = passage.id not in self.kept
        kept = self.kept.setdefault(passage.id, _Kept(passage))
        kept.queries[query["id"]] = max(score, kept.queries.get(query["id"], 0.0))
        if score > kept.score or new:
            kept.score, kept.path, kept.role = score, path, query["role"]
        return new


def _of_ours(query: Mapping[str, Any], warning: str) -> bool:
    """That nobody has the words of what was only looked for around the matter tells a person nothing: they are ours."""
    return warning == NO_WORDS and query.get("why") == AROUND and not is_asked(query)


def _of_part(query: Mapping[str, Any], warning: str) -> str:
    """What is only context is a word or two of the question: that nobody has these is no word on the whole of it."""
    return warning if warning != NO_WORDS or is_asked(query) else f"no passage has “{query['text']}”"


def retrieve(
    knowledge: KnowledgeBase,
    sub_queries: Sequence[Mapping[str, Any]],
    depth: Depth,
    known: Collection[str] = (),
) -> dict[str, Any]:
    """`retrieval.json`. `known` are passages that an earlier answer has used: only what is new is kept."""
    gathering = _Gathering(knowledge, depth, known)
    told = [gathering.search(query) for query in sub_queries[: depth.sub_queries]]
    ranked = sorted(gathering.kept.values(), key=lambda one: (-one.score, one.passage.file, one.passage.number))
    chosen = _within(ranked, sub_queries, depth)
    tokens = sum(one.tokens() for one in chosen)
    return {
        "passages": [_row(one, number) for number, one in enumerate(chosen, start=1)],
        "by_query": told,
        "found": len(ranked),
        "left_out": len(ranked) - len(chosen),
        "tokens": tokens,
        "token_budget": depth.context_tokens,
        "known_before": list(gathering.again),
        "warnings": list(gathering.warnings),
    }


def _within(ranked: Sequence[_Kept], sub_queries: Sequence[Mapping[str, Any]], depth: Depth) -> list[_Kept]:
    """What fits; a smaller one may still fit after one that did not. Each primary sub-query's first has precedence."""
    first = []
    for query in sub_queries:
        if query["role"] == "primary":
            own = [one for one in ranked if query["id"] in one.queries]
            first += own[:1]
    taken: dict[str, _Kept] = {}
    room = depth.context_tokens
    for one in (*first, *ranked):
        if one.passage.id not in taken and one.tokens() <= room:
            taken[one.passage.id] = one
            room -= one.tokens()
    return [one for one in ranked if one.passage.id in taken]


def _row(kept: _Kept, number: int) -> dict[str, Any]:
    passage = kept.passage
    return {
        "label": str(number),
        "id": passage.id,
        "ref": passage.ref,
        "title": passage.title,
        "file": passage.file,
        "page": passage.page,
        "heading": passage.heading,
        "lead": passage.lead,
        "content": passage.content,
        "start": passage.start,
        "end": passage.end,
        "tier": passage.tier,
        "document": passage.place.document,
        "document_id": passage.document_id,
        "score": round(kept.score, 4),
        "role": kept.role,
        "queries": sorted(kept.queries, key=lambda name: (-kept.queries[name], name)),
        "scores": {name: round(score, 4) for name, score in kept.queries.items()},
        "likeness": kept.likeness,
        "path": kept.path,
    }


def stored(row: Mapping[str, Any], number: int = 0) -> StoredPassage:
    """A retrieved passage, or another source, as verification takes it: what was read, not what the index has now."""
    return StoredPassage(
        number=number,
        id=str(row["id"]),
        ref=str(row["ref"]),
        place=CitedPlace(document=str(row.get("document", ""))),
        content=str(row["content"]),
        heading=str(row.get("heading", "")),
        lead=str(row.get("lead", "")),
        start=int(row.get("start", 0)),
        end=int(row.get("end", 0)),
        page=int(row.get("page", 0)),
        hash="",
        file=str(row.get("file", "")),
        title=str(row.get("title", "")),
        tier=str(row.get("tier", "standards")),
        document_id=str(row.get("document_id", "")),
    )
