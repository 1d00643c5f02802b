"""The four axes over many claims, each with the evidence for every item.

    entities         what is named stands in the sources
    citations        the cited passage has what is claimed, in its words
    relations        what is said to be linked is
    contradictions   nothing speaks against anything

An item is *quoted*, *judged* (by a model), *contradicted* or *not checked*. An axis has *failed* as soon as one item is
contradicted, and *passed* only when all are quoted or judged; what was not checked is never counted as passed. The
share of what was found is a count for the reader, not a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from weft.checks.claims import STATES, VERBATIM, Evidence, Verdict, compare, conflicts
from weft.checks.names import mentions
from weft.knowledge.resolve import Resolution
from weft.knowledge.store import Store, StoredPassage

PAIR_LIMIT: Final = 2_000
CLAIM_SHOWN: Final = 200
GOOD: Final = ("quoted", "judged")
Resolver = Callable[[str], Resolution]
Finder = Callable[[str], Sequence[StoredPassage]]
"""The passages that are nearest to a claim."""

_FORWARD: Final = frozenset({"cites", "references", "cross_references", "cross_reference", "refers_to"})
_BACKWARD: Final = frozenset({"cited_by", "referenced_by"})


def scored(states: Sequence[str]) -> dict[str, Any]:
    """The share of what is quoted or judged, and what that makes of the whole."""
    good = sum(state in GOOD for state in states)
    score = round(good / len(states), 4) if states else None
    state = whole_state(states)
    return {"score": score, "passed": state == "passed", "state": state}


def whole_state(states: Sequence[str]) -> str:
    """Of several verdicts: failed by one that is contradicted, passed when every one is quoted or judged."""
    if "contradicted" in states:
        return "failed"
    good = sum(state in GOOD for state in states)
    if states and good == len(states):
        return "passed"
    return "partly_checked" if good else "not_checked"


# -- entities


def check_entities(entities: Sequence[str], sources: Sequence[StoredPassage]) -> dict[str, Any]:
    """Every entity must stand in a source as whole words; in its heading, lead-in or own name it counts too."""
    details = [_entity(entity, sources) for entity in entities]
    return {
        **scored([str(detail["state"]) for detail in details]),
        "details": details,
        "total_entities": len(entities),
        "grounded_count": sum(detail["grounded"] for detail in details),
    }


def _entity(entity: str, sources: Sequence[StoredPassage]) -> dict[str, Any]:
    wanted = " ".join(entity.split())
    detail: dict[str, Any] = {"entity": entity, "grounded": False, "found_in": [], "state": "not_checked"}
    if len(wanted) < 2 or not sources:
        reason = "no source passages" if not sources else "one letter is no name"
        return {**detail, "state": "not_checked", "reason": reason}
    where = [source for source in sources if mentions(f"{source.indexed} {source.title}", wanted)]
    where += [source for source in sources if source not in where and mentions(f"ISA {source.ref}", wanted)]
    if where:
        evidence = next((line for line in where[0].content.splitlines() if mentions(line, wanted)), where[0].ref)
        found = [source.id for source in where][:5]
        return {**detail, "grounded": True, "found_in": found, "state": "quoted", "evidence": evidence[:300]}
    return {**detail, "reason": "no source has these words"}


# -- citations


def check_citations(
    citations: Sequence[Mapping[str, Any]], resolve: Resolver, find: Finder | None = None
) -> dict[str, Any]:
    """`find` looks for the passages of a claim that cites none."""
    details = [_citation(citation, resolve, find) for citation in citations]
    states = [str(detail["state"]) for detail in details]
    return {
        **scored(states),
        "details": details,
        "total_citations": len(citations),
        **{f"{state}_count": states.count(state) for state in STATES},
    }


def _citation(citation: Mapping[str, Any], resolve: Resolver, find: Finder | None) -> dict[str, Any]:
    identifier = str(citation.get("paragraph_id") or citation.get("paragraph_ref") or "")
    claim = str(citation.get("claim") or "")
    if find is not None and not identifier.strip():
        return _looked_for(claim, find(claim))
    found = resolve(identifier)
    if found.passage is None:
        missing = "SUB_PARA_NOT_FOUND" if found.around and found.place and found.place.item else "NOT_FOUND"
        return _without_passage(identifier, claim, missing, "paragraph not found in knowledge base")
    text = "\n\n".join(passage.content for passage in found.passages)
    return _held_against(claim, found.passage, text, compare(claim, text, found.passage.lead))


def _looked_for(claim: str, passages: Sequence[StoredPassage]) -> dict[str, Any]:
    """The passage that has it; else one that has it with a single thing turned round; else the nearest."""
    verdicts = [(compare(claim, passage.content, passage.lead), passage) for passage in passages]
    if not verdicts:
        return _without_passage("", claim, "NOT_FOUND", "no passage of the collection has its words")
    verdict, best = min(verdicts, key=lambda one: (STATES.index(one[0].state), -one[0].overlap))
    return _held_against(claim, best, best.content, verdict)


def _without_passage(identifier: str, claim: str, missing: str, reason: str) -> dict[str, Any]:
    return {
        "paragraph_id": identifier,
        "claim": claim[:CLAIM_SHOWN],
        "exists": False,
        "supports_claim": False,
        "source_text": None,
        "state": "not_checked",
        "match_level": "not_found",
        "error_category": missing,
        "reason": reason,
        "evidence": [],
    }


def _held_against(claim: str, passage: StoredPassage, text: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "paragraph_id": passage.id,
        "claim": claim[:CLAIM_SHOWN],
        "paragraph_ref": passage.ref,
        "source_ref": passage.ref,
        "exists": True,
        "supports_claim": verdict.state in GOOD,
        "source_text": text,
        "state": verdict.state,
        "match_level": _level(verdict),
        "error_category": _category(verdict),
        "term_overlap": round(verdict.overlap, 4),
        "matching_terms": verdict.matching,
        "total_claim_terms": verdict.total,
        "reason": verdict.reason,
        "sentence": verdict.sentence,
        "evidence": [evidence_row(item) for item in verdict.evidence],
    }


def _level(verdict: Verdict) -> str:
    if verdict.state != "quoted":
        return verdict.state
    return "exact" if verdict.reason == VERBATIM else "near"


def _category(verdict: Verdict) -> str | None:
    return "CONTRADICTED" if verdict.state == "contradicted" else None


def evidence_row(item: Evidence) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "agrees": item.agrees,
        "claim": item.claim,
        "sentence": item.sentence,
        "reason": item.reason,
    }


# -- relations


def check_relations(relations: Sequence[Mapping[str, Any]], resolve: Resolver, store: Store) -> dict[str, Any]:
    """A relation is kept when the documents have it in that direction. One of a kind that is not known may go either
    way, or join passages of one document."""
    details = [_relation(relation, resolve, store) for relation in relations]
    kept = sum(detail["preserved"] for detail in details)
    return {
        **scored([str(detail["state"]) for detail in details]),
        "details": details,
        "total_relations": len(relations),
        "preserved_count": kept,
    }


def _relation(relation: Mapping[str, Any], resolve: Resolver, store: Store) -> dict[str, Any]:
    names = {end: str(relation.get(f"{end}_paragraph") or "") for end in ("source", "target")}
    kind = str(relation.get("relation_type") or "")
    detail: dict[str, Any] = {**names, "relation_type": kind, "preserved": False, "state": "not_checked"}
    ends = {end: resolve(name).passage for end, name in names.items()}
    for end, passage in ends.items():
        if passage is None:
            return {**detail, "reason": f"{end} paragraph not found"}
        detail[f"{end}_id"] = passage.id
    source, target = ends["source"], ends["target"]
    assert source is not None
    assert target is not None
    there = _edge(store, source, target)
    back = _edge(store, target, source)
    either = kind not in _FORWARD and kind not in _BACKWARD
    evidence = (there if kind not in _BACKWARD else "") or (back if kind not in _FORWARD else "")
    if not evidence and either and source.document_id == target.document_id:
        evidence = f"both are of {source.title}"
    if evidence:
        return {**detail, "preserved": True, "state": "quoted", "evidence": evidence}
    other = there or back
    if other and not either:
        return {**detail, "state": "contradicted", "reason": f"the reference goes the other way: {other}"}
    return {**detail, "reason": "neither refers to the other"}


def _edge(store: Store, source: StoredPassage, target: StoredPassage) -> str:
    for edge in store.edges_from([source.number]).get(source.number, []):
        if edge.target == target.number:
            return f"{source.ref} refers to {target.ref}" + (f" (“{edge.text}”)" if edge.text else "")
    return ""


# -- contradictions


def check_contradictions(passages: Sequence[StoredPassage], claims: Sequence[str] = ()) -> dict[str, Any]:
    """Passages against each other, and every claim against every passage: only where both speak of the same thing."""
    details: list[dict[str, Any]] = []
    pairs = list(combinations(passages, 2))
    for one, other in pairs[:PAIR_LIMIT]:
        details += [
            {
                "paragraph_1": _excerpt(one),
                "paragraph_2": _excerpt(other),
                "pattern": item.kind,
                "severity": "potential",
                "reason": item.reason,
                "sentence_1": item.claim,
                "sentence_2": item.sentence,
            }
            for item in conflicts(one.content, other.content)
        ]
    for claim in claims:
        for passage in passages:
            verdict = compare(claim, passage.content, passage.lead)
            if verdict.state == "contradicted":
                details.append(
                    {
                        "claim": claim,
                        "paragraph_1": _excerpt(passage),
                        "pattern": next(item.kind for item in verdict.evidence if not item.agrees),
                        "severity": "contradicted",
                        "reason": verdict.reason,
                        "sentence_1": verdict.sentence,
                    }
                )
    checked = min(len(pairs), PAIR_LIMIT) + len(claims) * len(passages)
    left = max(0, len(pairs) - PAIR_LIMIT)
    state = "failed" if details else "passed" if checked and not left else "not_checked"
    return {
        "contradiction_count": len(details),
        "passed": state == "passed",
        "state": state,
        "details": details,
        "total_pairs_checked": checked,
        "pairs_left": left,
    }


def _excerpt(passage: StoredPassage) -> dict[str, str]:
    return {"id": passage.id, "ref": passage.ref, "excerpt": passage.content[:CLAIM_SHOWN]}
