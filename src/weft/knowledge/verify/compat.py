"""The axes as the reference scores them: by words that occur, nothing else. For comparing, never the default.

Kept apart because what it calls supported is not: it counts terms that are parts of other words, takes what it can't
judge for good, and sees no difference between `shall` and `shall not` beyond their letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from weft.knowledge.store import Store, StoredPassage
from weft.knowledge.verify.axes import CLAIM_SHOWN, Resolver

_STOP: Final = frozenset(
    "that this with from have been will shall must should would could their there these those which when what".split()  # noqa: SIM905
)
_OPPOSED: Final = (
    ("shall", "shall not"),
    ("must", "must not"),
    ("required", "not required"),
    ("prohibited", "permitted"),
    ("mandatory", "optional"),
    ("always", "never"),
)
_PAIRS: Final = 100


def entities(wanted: Sequence[str], sources: Sequence[StoredPassage], asked: int) -> dict[str, Any]:
    """`asked` is how many sources were named, also those that are not there."""
    details: list[dict[str, Any]] = []
    if wanted and not asked:
        details = [{"entity": entity, "grounded": False, "reason": "no source paragraphs"} for entity in wanted]
        return {"score": 0.0, "passed": False, "details": details, "total_entities": len(wanted)}
    joined = " ".join(source.content.lower() for source in sources)
    for entity in wanted:
        name = entity.lower().strip()
        found = [source.id for source in sources if name in source.content.lower()][:5]
        if not found and (bare := re.sub(r"^isa\s*", "", name)) != name and bare in joined:
            found = ["fuzzy_match"]
        details.append({"entity": entity, "grounded": bool(found), "found_in": found})
    return _scored(details, "grounded", 0.8, "total_entities", "grounded_count")


def _scored(details: list[dict[str, Any]], good: str, least: float, total: str, counted: str) -> dict[str, Any]:
    """`good` is the key of a detail that says whether it is; nothing at all has passed."""
    if not details:
        return {"score": 1.0, "passed": True, "details": [], total: 0}
    number = sum(detail[good] for detail in details)
    score = round(number / len(details), 4)
    return {"score": score, "passed": score >= least, "details": details, total: len(details), counted: number}


def citations(given: Sequence[Mapping[str, Any]], resolve: Resolver) -> dict[str, Any]:
    details = [_citation(citation, resolve) for citation in given]
    return _scored(details, "supports_claim", 0.75, "total_citations", "verified_count")


def _citation(citation: Mapping[str, Any], resolve: Resolver) -> dict[str, Any]:
    identifier = str(citation.get("paragraph_id") or citation.get("paragraph_ref") or "")
    claim = str(citation.get("claim") or "")
    found = resolve(identifier)
    passage = found.passage
    if passage is None:
        return {
            "paragraph_id": identifier,
            "claim": claim[:CLAIM_SHOWN],
            "exists": False,
            "supports_claim": False,
            "source_text": None,
            "match_level": "not_found",
            "error_category": "SUB_PARA_NOT_FOUND" if found.around else "NOT_FOUND",
            "reason": "paragraph not found in knowledge base",
        }
    shown = {
        "paragraph_id": passage.id,
        "paragraph_ref": passage.ref,
        "claim": claim[:CLAIM_SHOWN],
        "exists": True,
        "source_text": passage.content,
    }
    terms = [word for word in re.findall(r"\b\w{4,}\b", claim.lower()) if word not in _STOP]
    terms = list(dict.fromkeys(terms))
    if not terms:
        reason = "paragraph exists; claim too short for content analysis"
        return {**shown, "supports_claim": True, "match_level": "exact", "term_overlap": 1.0, "reason": reason}
    matching = sum(term in passage.content.lower() for term in terms)
    overlap = matching / len(terms)
    level = "exact" if overlap >= 0.6 else "partial" if overlap >= 0.3 else "content_mismatch"
    return {
        **shown,
        "supports_claim": overlap >= 0.3,
        "match_level": level,
        "error_category": None if overlap >= 0.3 else "CONTENT_MISMATCH",
        "term_overlap": round(overlap, 4),
        "matching_terms": matching,
        "total_claim_terms": len(terms),
    }


def relations(given: Sequence[Mapping[str, Any]], resolve: Resolver, store: Store) -> dict[str, Any]:
    details: list[dict[str, Any]] = []
    for relation in given:
        names = {end: str(relation.get(f"{end}_paragraph") or "") for end in ("source", "target")}
        kind = relation.get("relation_type", "")
        ends = {end: resolve(name).passage for end, name in names.items()}
        missing = next((end for end, passage in ends.items() if passage is None), None)
        if missing:
            reason = f"{missing} paragraph not found"
            details.append({**names, "relation_type": kind, "preserved": False, "reason": reason})
            continue
        source, target = ends["source"], ends["target"]
        assert source is not None
        assert target is not None
        edges = store.edges_from([source.number, target.number])
        linked = {(edge.source, edge.target) for found in edges.values() for edge in found}
        kept = bool(linked & {(source.number, target.number), (target.number, source.number)})
        kept = kept or source.place.document == target.place.document
        row = {**names, "source_id": source.id, "target_id": target.id, "relation_type": kind, "preserved": kept}
        details.append(row)
    return _scored(details, "preserved", 0.7, "total_relations", "preserved_count")


def contradictions(passages: Sequence[StoredPassage]) -> dict[str, Any]:
    details: list[dict[str, Any]] = []
    pairs = list(combinations(passages, 2))[:_PAIRS]
    for one, other in pairs:
        if one.place.document != other.place.document:
            continue
        texts = one.content.lower(), other.content.lower()
        for first, second in _OPPOSED:
            patterns = rf"\b{first}\b", rf"\b{second}\b"
            forth = re.search(patterns[0], texts[0]) and re.search(patterns[1], texts[1])
            back = re.search(patterns[1], texts[0]) and re.search(patterns[0], texts[1])
            if forth or back:
                details.append(
                    {
                        "paragraph_1": {"id": one.id, "ref": one.ref, "excerpt": texts[0][:CLAIM_SHOWN]},
                        "paragraph_2": {"id": other.id, "ref": other.ref, "excerpt": texts[1][:CLAIM_SHOWN]},
                        "pattern": f"{patterns[0]} vs {patterns[1]}",
                        "severity": "potential",
                    }
                )
    return {
        "contradiction_count": len(details),
        "passed": not details,
        "details": details,
        "total_pairs_checked": len(pairs),
    }
