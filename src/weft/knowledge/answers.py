"""What each tool answers, under the reference's result keys. A warning says what was not done; it is never left out."""

from __future__ import annotations

from typing import Any, Final

from weft.knowledge import arguments as given
from weft.knowledge.collection import TIER_NUMBERS
from weft.knowledge.context import Wording, format_context
from weft.knowledge.embedding import Unavailable
from weft.knowledge.hops import Hop
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.search import Filters, Found, Hit
from weft.knowledge.store import StoredPassage
from weft.knowledge.verify import check_citations, check_entities, check_relations, compat
from weft.knowledge.verify import check_contradictions as contradictions_of

LOOKED_AT: Final = 30
"""How many passages a claim that cites none is held against, the nearest first."""
KnowledgeReply = dict[str, Any]
PREVIEW: Final = 200


def passage_row(passage: StoredPassage) -> KnowledgeReply:
    return {
        "id": passage.id,
        "paragraph_ref": passage.ref,
        "content": passage.content,
        "document": passage.place.document,
        "sub_paragraph": "".join(f"({part})" for part in (passage.place.item, passage.place.subitem) if part),
        "application_ref": passage.place.application,
        "page_number": passage.page,
        "heading": passage.heading,
        "source_doc": passage.file,
        "tier": _tier(passage),
    }


def _tier(passage: StoredPassage) -> int:
    return 1 if passage.tier == "guides" else 2


def hit_row(hit: Hit) -> KnowledgeReply:
    return {
        **passage_row(hit.passage),
        "confidence": round(hit.score, 4),
        "rrf_score": round(hit.fused, 6),
        "retrieval_path": "+".join(hit.paths),
    }


def _envelope(found: Found, rows: list[KnowledgeReply]) -> KnowledgeReply:
    return {
        "results": rows,
        "total_results": len(rows),
        "search_type_used": found.mode,
        "warnings": list(found.warnings),
    }


# -- searching


def search(knowledge: KnowledgeBase, asked: given.SearchArguments) -> KnowledgeReply:
    filters = Filters(tier="standards", documents=(asked.document_filter,) if asked.document_filter else ())
    found = knowledge.search.find(asked.query, limit=asked.max_results, mode=asked.search_type, filters=filters)
    return _envelope(found, [hit_row(hit) for hit in found.hits])


def search_guides(knowledge: KnowledgeBase, asked: given.GuideSearchArguments) -> KnowledgeReply:
    filters = Filters(tier="guides", documents=(asked.guide_filter,) if asked.guide_filter else ())
    found = knowledge.search.find(asked.query, limit=asked.max_results, mode=asked.search_type, filters=filters)
    return _envelope(found, [_guide_row(knowledge, hit) for hit in found.hits])


def _guide_row(knowledge: KnowledgeBase, hit: Hit) -> KnowledgeReply:
    found = knowledge.collection.grammar.find(hit.passage.content, hit.passage.place.document)
    refs = dict.fromkeys(reference.place.ref for reference in found)
    return {**hit_row(hit), "references": list(refs)}


def search_all(knowledge: KnowledgeBase, asked: given.TierSearchArguments) -> KnowledgeReply:
    """Each tier on its own, so that the larger does not crowd out the smaller; then by score and the tier's weight."""
    rows: list[KnowledgeReply] = []
    warnings: dict[str, None] = {}
    modes = []
    counts: dict[str, int] = {}
    for tier, number in TIER_NUMBERS.items():
        if asked.tiers is not None and number not in asked.tiers:
            continue
        found = knowledge.search.find(
            asked.query, limit=asked.max_results, mode=asked.search_type, filters=Filters(tier=tier)
        )
        modes.append(found.mode)
        warnings |= dict.fromkeys(found.warnings)
        weight = knowledge.collection.weight_of(tier)
        counts[f"tier_{number}"] = len(found.hits)
        for hit in found.hits:
            row = _guide_row(knowledge, hit) if tier == "guides" else hit_row(hit)
            rows.append({**row, "weighted_score": round(hit.score * weight, 4)})
    rows.sort(key=lambda row: -row["weighted_score"])
    rows = rows[: asked.max_results]
    return {
        "results": rows,
        "total_results": len(rows),
        "search_type_used": modes[0] if modes else asked.search_type,
        "tier_counts": counts,
        "warnings": [warning for warning in warnings if warning != "no document passes the filter"],
    }


def explain_search(knowledge: KnowledgeBase, asked: given.ExplainArguments) -> KnowledgeReply:
    at = knowledge.search
    limit = asked.max_results
    keyword = at.find(asked.query, limit=limit, mode="keyword")
    vector = at.find(asked.query, limit=limit, mode="vector")
    fused = at.find(asked.query, limit=limit, rerank=False)
    again = at.find(asked.query, limit=limit, rerank=True)
    by_meaning = vector if vector.mode == "vector" else Found(hits=(), mode="vector", query=vector.query)
    return {
        "query": asked.query,
        "expanded_query": fused.query,
        "keyword_results": [{**hit_row(hit), "score": hit.bm25} for hit in keyword.hits],
        "vector_results": [{**hit_row(hit), "likeness": hit.likeness} for hit in by_meaning.hits],
        "rrf_fused": [hit_row(hit) for hit in fused.hits],
        "reranked": [hit_row(hit) for hit in again.hits],
        "final": [hit_row(hit) for hit in (again if again.mode == "hybrid" else fused).hits],
        "warnings": list(dict.fromkeys((*fused.warnings, *again.warnings))),
    }


# -- looking up and following


def get(knowledge: KnowledgeBase, asked: given.GetArguments) -> KnowledgeReply:
    found = knowledge.resolve(asked.identifier)
    if found.passage is None:
        known = [passage.ref for passage in found.around]
        hint = f"there is {', '.join(known[:5])}" if known else "search for words of it, or list the standards"
        rows = [passage_row(passage) for passage in found.around]
        answer: KnowledgeReply = {
            "paragraph": None,
            "related": [],
            "found": False,
            "error": f"{asked.identifier} is not there",
        }
        return {**answer, "hint": hint, **({"additional_matches": rows} if rows else {})}
    answer = {
        "paragraph": passage_row(found.passage),
        "related": _related(knowledge, found.passage),
        "found": True,
    }
    if len(found.passages) > 1:
        answer["additional_matches"] = [passage_row(passage) for passage in found.passages[1:]]
    return answer


def _related(knowledge: KnowledgeBase, passage: StoredPassage) -> list[KnowledgeReply]:
    store = knowledge.store
    rows: list[KnowledgeReply] = []
    for relation, edges in (
        ("cites", store.edges_from([passage.number]).get(passage.number, [])),
        ("cited_by", store.edges_to([passage.number]).get(passage.number, [])),
    ):
        ends = [edge.target if relation == "cites" else edge.source for edge in edges]
        others = {other.number: other for other in store.passages(ends)}
        rows += [
            {
                "relation": relation,
                "id": others[end].id,
                "paragraph_ref": others[end].ref,
                "citation_text": edge.text,
                "content_preview": others[end].content[:PREVIEW],
            }
            for end, edge in zip(ends, edges, strict=True)
        ]
    return [*rows, {"relation": "belongs_to", "id": passage.document_id, "title": passage.title}]


def hops(knowledge: KnowledgeBase, asked: given.HopArguments) -> KnowledgeReply:
    found = knowledge.resolve(asked.paragraph_id)
    seed = found.passage
    if seed is None:
        answer: KnowledgeReply = {
            "seed_id": asked.paragraph_id,
            "seed_paragraph": None,
            "connected": [],
            "total_found": 0,
        }
        return {**answer, "max_hops_used": asked.max_hops, "error": f"{asked.paragraph_id} is not there"}
    reached = knowledge.hops(
        seed.number, depth=asked.max_hops, decay=asked.decay, floor=asked.min_score, limit=asked.max_results
    )
    return {
        "seed_id": seed.id,
        "seed_paragraph": {"id": seed.id, "paragraph_ref": seed.ref, "document": seed.place.document},
        "connected": _hop_rows(knowledge, reached),
        "total_found": len(reached),
        "max_hops_used": max((hop.depth for hop in reached), default=0),
    }


def _hop_rows(knowledge: KnowledgeBase, reached: list[Hop]) -> list[KnowledgeReply]:
    numbers = {number for hop in reached for number in (hop.node, *hop.path)}
    known = {passage.number: passage for passage in knowledge.store.passages(sorted(numbers))}
    return [
        {
            **passage_row(known[hop.node]),
            "hop_score": round(hop.score, 4),
            "hop_depth": hop.depth,
            "hop_path": [known[number].id for number in hop.path],
            "hop_type": hop.kind,
        }
        for hop in reached
    ]


def guide_hops(knowledge: KnowledgeBase, asked: given.GuideHopArguments) -> KnowledgeReply:
    seed = knowledge.resolve(asked.guide_section_id).passage
    if seed is None:
        answer: KnowledgeReply = {
            "seed_id": asked.guide_section_id,
            "guide_section": None,
            "direct_references": [],
            "connected": [],
        }
        return {**answer, "total_found": 0, "error": f"{asked.guide_section_id} is not there"}
    reached = knowledge.hops(seed.number, depth=asked.max_hops + 1, limit=200)
    rows = _hop_rows(knowledge, reached)
    return {
        "seed_id": seed.id,
        "guide_section": {
            "id": seed.id,
            "heading": seed.heading,
            "source_doc": seed.file,
            "content_preview": seed.content[:PREVIEW],
        },
        "direct_references": [row for row in rows if row["hop_depth"] == 1],
        "connected": [row for row in rows if row["hop_depth"] > 1],
        "total_found": len(rows),
    }


def trace_hops(knowledge: KnowledgeBase, asked: given.TraceArguments) -> KnowledgeReply:
    seed = knowledge.resolve(asked.start_id).passage
    if seed is None:
        answer: KnowledgeReply = {"start_node": None, "hops": [], "total_nodes_discovered": 0, "max_depth_reached": 0}
        return {**answer, "error": f"{asked.start_id} is not there"}
    reached = sorted(knowledge.hops(seed.number, depth=asked.max_hops, limit=10_000), key=lambda hop: hop.depth)
    rows = _hop_rows(knowledge, reached)
    names = ("id", "paragraph_ref", "hop_score", "hop_depth", "hop_path", "hop_type")
    return {
        "start_node": {"id": seed.id, "paragraph_ref": seed.ref, "document": seed.place.document},
        "hops": [{name: row[name] for name in names} for row in rows],
        "total_nodes_discovered": len(rows) + 1,
        "max_depth_reached": max((row["hop_depth"] for row in rows), default=0),
    }


# -- what there is


def list_standards(knowledge: KnowledgeBase, _: given.NoArguments) -> KnowledgeReply:
    rows = [
        {
            "id": document.id,
            "document": document.key,
            "title": document.title,
            "version": document.version,
            "effective_date": document.effective_date,
            "paragraph_count": document.passages,
        }
        for document in knowledge.store.documents()
        if document.tier == "standards"
    ]
    return {"standards": rows, "total_standards": len(rows)}


def list_guides(knowledge: KnowledgeBase, _: given.NoArguments) -> KnowledgeReply:
    first = {
        row["document"]: row["heading"]
        for row in knowledge.store.rows("SELECT document, heading, min(number) FROM passages GROUP BY document")
    }
    rows = [
        {
            "source_doc": document.file,
            "title": document.title,
            "section_count": document.passages,
            "first_heading": first.get(document.number, ""),
        }
        for document in knowledge.store.documents()
        if document.tier == "guides"
    ]
    return {"guides": rows, "total_guides": len(rows)}


def status(knowledge: KnowledgeBase, _: given.NoArguments) -> KnowledgeReply:
    counts = knowledge.store.counts()
    embedder = knowledge.embedder
    if isinstance(embedder, Unavailable):
        model: KnowledgeReply = {"available": False, "reason": embedder.reason}
    else:
        model = {"available": True, "name": embedder.model}
    return {
        "index": {
            "connected": True,
            "tables": {name: {"row_count": count} for name, count in counts.items() if name != "vectors"},
            "altered": [f"{file}: {ref}" for file, ref in knowledge.store.altered()],
        },
        "vectors": {"connected": model["available"], "tables": {"passages": {"vector_count": counts["vectors"]}}},
        "model": model,
    }


# -- verifying


def verify_entities(knowledge: KnowledgeBase, asked: given.EntityArguments) -> KnowledgeReply:
    named = [knowledge.resolve(name).passage for name in asked.source_paragraph_ids]
    sources = [passage for passage in named if passage]
    if asked.scoring == "compat":
        return compat.entities(asked.entities, sources, len(named))
    missing = [name for name, passage in zip(asked.source_paragraph_ids, named, strict=True) if passage is None]
    return {**check_entities(asked.entities, sources), "sources_not_found": missing}


def verify_citations(knowledge: KnowledgeBase, asked: given.CitationArguments) -> KnowledgeReply:
    rows = [citation.model_dump() for citation in asked.citations]
    if asked.scoring == "compat":
        return compat.citations(rows, knowledge.resolve)
    return check_citations(rows, knowledge.resolve, lambda claim: _nearest(knowledge, claim))


def _nearest(knowledge: KnowledgeBase, claim: str) -> list[StoredPassage]:
    """By words: what a verdict can rest on has the claim's."""
    found = knowledge.search.find(claim, limit=LOOKED_AT, mode="keyword")
    return [hit.passage for hit in found.hits]


def verify_relations(knowledge: KnowledgeBase, asked: given.RelationArguments) -> KnowledgeReply:
    rows = [relation.model_dump() for relation in asked.relations]
    check = compat.relations if asked.scoring == "compat" else check_relations
    return check(rows, knowledge.resolve, knowledge.store)


def check_contradictions(knowledge: KnowledgeBase, asked: given.ContradictionArguments) -> KnowledgeReply:
    named = [knowledge.resolve(name).passage for name in asked.paragraph_ids]
    found = [passage for passage in named if passage]
    if asked.scoring == "compat":
        return compat.contradictions(found)
    missing = [name for name, passage in zip(asked.paragraph_ids, named, strict=True) if passage is None]
    return {**contradictions_of(found, asked.synthesis_claims or ()), "passages_not_found": missing}


# -- the rest


def lay_out(knowledge: KnowledgeBase, asked: given.ContextArguments) -> KnowledgeReply:
    prefix = knowledge.collection.tool_prefix
    wording = Wording(f"{prefix.upper()} ", f"_{prefix}") if prefix else Wording()
    return format_context(
        asked.paragraphs,
        asked.query,
        knowledge.collection.grammar,
        max_tokens=asked.max_tokens,
        roles=asked.roles,
        group_by_role=asked.group_by_role,
        wording=wording,
    )


def search_web(knowledge: KnowledgeBase, asked: given.WebArguments) -> KnowledgeReply:
    """Without a connected source nothing leaves the machine, and the answer says so."""
    if knowledge.web is None:
        warning = "nothing was searched: no web source is connected"
        return {"results": [], "analysis_hints": [], "queries_executed": 0, "warnings": [warning]}
    return knowledge.web(asked.queries, asked.max_results_per_query)
