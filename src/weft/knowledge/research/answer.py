"""All of it as `answer.json`: what was found, how sure it is, what it rests on, and what could not be verified.

    confidence of a section = verified x (0.60 + 0.25 x covered + 0.15 x independent)

    verified      share of its sentences that verification calls verified; what was not checked is not
    covered       share of its sub-query's terms that the passages it cites have (1 for a section without a sub-query)
    independent   1 - 0.5 ^ n for n passages cited: 0.5 for one, 0.75 for two, 0.88 for three

A section in which a sentence is contradicted has at most 0.3. From 0.85 on it is high, from 0.70 medium, else low.
The whole answer's is the mean over its sentences; an answer without any has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from weft.knowledge.research.earlier import VERSION, excerpt, known_passages
from weft.knowledge.research.labels import marked
from weft.knowledge.research.question import terms_of
from weft.knowledge.research.relevance import share_of
from weft.knowledge.verify.axes import GOOD

HIGH: Final = 0.85
MEDIUM: Final = 0.70
CONTRADICTED: Final = 0.3
FRAGMENT: Final = 6
"""So many words of a passage are looked for in its file."""
SUMMARY: Final = 3
"""Sentences of the short form, when there are several sections."""


def build_answer(
    *,
    session: str,
    question: str,
    plan: Mapping[str, Any],
    calibration: Mapping[str, Any],
    retrieval: Mapping[str, Any],
    synthesis: Mapping[str, Any],
    verification: Mapping[str, Any],
    collection: Mapping[str, Any],
    earlier: Mapping[str, Any] | None = None,
    links: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """`links` gives the way from the session's folder to each document's file, as an address."""
    verdicts = {one["id"]: one for one in verification["sentences"]}
    sections = [
        _section(section, synthesis["sources"], verdicts, calibration["sub_queries"])
        for section in synthesis["sections"]
    ]
    sentences = [sentence for section in sections for sentence in section["sentences"]]
    whole = sum(section["confidence"] * len(section["sentences"]) for section in sections)
    confidence = round(whole / len(sentences), 2) if sentences else None
    return {
        "version": VERSION,
        "session": session,
        "original_query": question,
        "answer": _markdown(sections, question, synthesis["not_answered"]),
        "nothing_found": not sentences,
        "confidence": confidence,
        "level": level(confidence),
        "depth_mode": calibration["depth_mode"],
        "followup_number": int(earlier["followup_number"]) + 1 if earlier else 0,
        "follows": {"session": earlier.get("session", ""), "question": earlier["original_query"]} if earlier else None,
        "collection": {"name": collection["name"], "title": collection["title"]},
        "summary": _summary(sections),
        "sections": sections,
        "sources": [_source(source, links or {}) for source in synthesis["sources"]],
        "citations": _citations(sentences, synthesis["sources"]),
        "verification": {
            "state": verification["state"],
            "axes": [_axis(name, axis) for name, axis in verification["axes"].items()],
            "counts": verification["counts"],
            "total": verification["total"],
        },
        "open_ends": _open_ends(sections, synthesis, verification),
        "not_answered": synthesis["not_answered"],
        "sub_queries": _sub_queries(calibration, retrieval),
        "clarity": {"score": plan["clarity_score"], "reasons": plan["clarity_reasons"]},
        "changes": calibration["changes"],
        "web_references": [
            {"label": one["label"], "url": one["url"], "title": one["title"], "insight": excerpt(one["text"], 200)}
            for one in calibration["web"]["sources"]
        ],
        "known_passages": sorted(known_passages(earlier)),
        "effort": {
            "passages_found": retrieval["found"],
            "passages_read": len(retrieval["passages"]),
            "passages_left_out": retrieval["left_out"],
            "context_tokens": retrieval["tokens"],
            "context_budget": retrieval["token_budget"],
            "searches": len(retrieval["by_query"]),
            "limits": calibration["limits"],
            "made_by": synthesis["made_by"],
        },
        "notes": [*retrieval["warnings"], *filter(None, [calibration["web"]["note"]])],
    }


def level(confidence: float | None) -> str:
    if confidence is None:
        return "none"
    return "high" if confidence >= HIGH else "medium" if confidence >= MEDIUM else "low"


def _section(
    section: Mapping[str, Any],
    sources: Sequence[Mapping[str, Any]],
    verdicts: Mapping[str, Mapping[str, Any]],
    sub_queries: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    sentences = [
        {**one, "state": verdicts[one["id"]]["state"], "reason": verdicts[one["id"]]["reason"]}
        for one in section["sentences"]
    ]
    labels = {label for one in sentences for label in one["labels"]}
    cited = [source for source in sources if source["label"] in labels]
    asked = next((terms_of(one["text"]) for one in sub_queries if one["id"] == section["query"]), ())
    quoted = sum(one["state"] in GOOD for one in sentences) / len(sentences)
    text = " ".join(f"{one.get('heading', '')} {one.get('lead', '')} {one['text']} {one['title']}" for one in cited)
    covered = share_of(asked, text) if asked else 1.0
    independent = 1 - 0.5 ** len(cited)
    confidence = quoted * (0.60 + 0.25 * covered + 0.15 * independent)
    if any(one["state"] == "contradicted" for one in sentences):
        confidence = min(confidence, CONTRADICTED)
    confidence = round(confidence, 2)
    return {
        "id": section["id"],
        "heading": section["heading"],
        "query": section["query"],
        "confidence": confidence,
        "level": level(confidence),
        "made_of": {
            "quoted": round(quoted, 2),
            "covered": round(covered, 2),
            "independent": round(independent, 2),
        },
        "sentences": sentences,
    }


def _summary(sections: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ids of the sentences that stand first, of the surest sections; none when one section says it all."""
    if len(sections) < 2:
        return []
    sure = [one for one in sections if one["query"] and one["sentences"][0]["state"] in GOOD]
    return [str(section["sentences"][0]["id"]) for section in sure[:SUMMARY]]


def _markdown(sections: Sequence[Mapping[str, Any]], question: str, unanswered: Sequence[str]) -> str:
    """The answer alone, as text: what a follow-up reads, and other programs."""
    if not sections:
        return f"Nothing was found that answers: {question}"
    single = len(sections) == 1
    blocks: list[str] = []
    for section in sections:
        if not single or section["heading"]:
            blocks.append(f"## {section['heading'] or question}")
        blocks.append("\n".join(marked(one) for one in section["sentences"]))
    if unanswered:
        blocks.append("## What was not found\n\n" + "\n".join(f"- {one}" for one in unanswered))
    return "\n\n".join(blocks)


def _source(source: Mapping[str, Any], links: Mapping[str, str]) -> dict[str, Any]:
    if source["kind"] != "passage":
        return {**source, "text": excerpt(source["text"])}
    file = str(source["file"])
    return {**source, "link": links[file] + _within(source)} if file in links else dict(source)


def _within(source: Mapping[str, Any]) -> str:
    """The place in a file: a page of a PDF; in a text, its first words, which a browser looks for."""
    file = str(source["file"]).lower()
    if file.endswith(".pdf"):
        return f"#page={source['page']}" if source["page"] else ""
    if file.endswith((".html", ".htm", ".txt", ".md")):
        words = source["text"].split()[:FRAGMENT]
        return f"#:~:text={quote(' '.join(words), safe='').replace('-', '%2D')}" if words else ""
    return ""


def _citations(sentences: Sequence[Mapping[str, Any]], sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    known = {str(source["label"]): source for source in sources}
    return [
        {
            "label": label,
            "paragraph_id": known[label]["id"],
            "source_ref": known[label]["ref"],
            "claim": sentence["text"],
            "state": sentence["state"],
        }
        for sentence in sentences
        for label in sentence["labels"]
    ]


def _axis(name: str, axis: Mapping[str, Any]) -> dict[str, Any]:
    counts = {
        "entities": ("grounded_count", "total_entities"),
        "citations": ("quoted_count", "total_citations"),
        "relations": ("preserved_count", "total_relations"),
        "contradictions": ("contradiction_count", "total_pairs_checked"),
    }[name]
    return {
        "axis": name,
        "state": axis["state"],
        "score": axis.get("score"),
        "good": axis[counts[0]],
        "total": axis[counts[1]],
        "details": axis["details"],
    }


def _open_ends(
    sections: Sequence[Mapping[str, Any]], synthesis: Mapping[str, Any], verification: Mapping[str, Any]
) -> list[dict[str, str]]:
    """What a reader must not take as checked, each with the reason."""
    found = [
        {"what": "sentence", "text": one["text"], "state": one["state"], "reason": one["reason"]}
        for section in sections
        for one in section["sentences"]
        if one["state"] not in GOOD
    ]
    axes = verification["axes"]
    for name in ("entities", "relations"):
        for detail in axes[name]["details"]:
            if detail["state"] not in GOOD:
                text = detail.get("entity") or f"{detail.get('source')} → {detail.get('target')}"
                found.append(
                    {"what": name, "text": str(text), "state": detail["state"], "reason": detail.get("reason", "")}
                )
    for detail in axes["contradictions"]["details"]:
        if "claim" in detail:
            continue  # it stands among the sentences
        pair = f"{detail['paragraph_1']['ref']} and {detail.get('paragraph_2', {}).get('ref', 'the answer')}"
        reason = f"{detail['reason']}: “{detail['sentence_1']}” / “{detail.get('sentence_2', '')}”"
        found.append({"what": "contradiction", "text": pair, "state": "contradicted", "reason": reason})
    found += [
        {"what": "label", "text": f"[{one['label']}]", "state": "removed", "reason": "it names no source"}
        for one in synthesis["labels_removed"]
    ]
    found += [
        {"what": "axis", "text": name, "state": state, "reason": "there was nothing to check"}
        for name, state in verification["states"].items()
        if state == "not_checked"
    ]
    return found


def _sub_queries(calibration: Mapping[str, Any], retrieval: Mapping[str, Any]) -> list[dict[str, Any]]:
    told = {one["id"]: one for one in retrieval["by_query"]}
    return [
        {
            **one,
            "found": told.get(one["id"], {}).get("found", 0),
            "standards": list(
                dict.fromkeys(row["document"] for row in retrieval["passages"] if one["id"] in row["queries"])
            ),
        }
        for one in calibration["sub_queries"]
    ]
