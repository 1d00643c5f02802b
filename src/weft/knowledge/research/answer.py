"""All of it as `answer.json`: what was found, how likely it answers, what it rests on, and what could not be verified.

Confidence says how likely a section answers what was asked (answering.py), and nothing else: whether its words are in
the passages it cites is told apart from it, sentence by sentence. A section in which a sentence is contradicted has at
most 0.3. From 0.88 on it is high, from 0.6 medium, else low; the whole answer's is the mean over its sentences.

The nearest passages stand below an answer that is not of high confidence, so that nobody is worse off with it than
with a search: below medium those that it does not cite.

    outcome    answered    there are sections
               unsure      none is likely enough, or they are in another language than the question; the nearest
                           passages are shown instead
               not_said    the documents do not say: not even the nearest is likely to
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from weft.knowledge.research.answering import ANSWER, HIGH, SAID
from weft.knowledge.research.earlier import VERSION, excerpt, known_passages
from weft.knowledge.research.labels import known_sources, marked
from weft.knowledge.research.retrieve import NEAREST
from weft.knowledge.verify.axes import GOOD
from weft.models.embedded.lexicon import detect

CONTRADICTED: Final = 0.3
_LANGUAGES: Final = {"en": "English", "de": "German", "fr": "French", "es": "Spanish"}
"""Those that are told apart surely enough in a question of a few words."""
FEWEST: Final = 4
"""Words of a question whose language is told."""
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
    sections = [_section(section, verdicts) for section in synthesis["sections"]]
    sentences = [sentence for section in sections for sentence in section["sentences"]]
    whole = sum(section["confidence"] * len(section["sentences"]) for section in sections)
    confidence = round(whole / len(sentences), 2) if sentences else synthesis["confidence"]
    surely = level(confidence)
    cited = {source["label"] for source in synthesis["sources"]} if surely == "medium" else ()
    foreign = "" if surely == "high" else _other_language(question, retrieval["passages"])
    outcome = "answered" if sentences else "not_said" if (confidence or 0) < SAID and not foreign else "unsure"
    return {
        "version": VERSION,
        "session": session,
        "original_query": question,
        "answer": _markdown(sections, question, synthesis["not_answered"]),
        "outcome": outcome,
        "nothing_found": not sentences,
        "confidence": confidence,
        "level": surely,
        "depth_mode": calibration["depth_mode"],
        "followup_number": int(earlier["followup_number"]) + 1 if earlier else 0,
        "follows": {"session": earlier.get("session", ""), "question": earlier["original_query"]} if earlier else None,
        "collection": {"name": collection["name"], "title": collection["title"]},
        "summary": _summary(sections),
        "sections": sections,
        "sources": [_source(source, links or {}) for source in synthesis["sources"]],
        "nearest": []
        if sentences and surely == "high"
        else _nearest(synthesis, retrieval["passages"], links or {}, besides=cited),
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
        "notes": [*retrieval["warnings"], *filter(None, [foreign, calibration["web"]["note"]])],
    }


def _other_language(question: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """What is told where the question is in another language than what was found: names are found, little else."""
    asked, found = (detect(text) for text in (question, "\n".join(str(row["content"]) for row in rows)))
    if asked == found or not {asked, found} <= {*_LANGUAGES} or len(question.split()) < FEWEST:
        return ""
    return (
        f"the question is in {_LANGUAGES[asked]}, and the passages that were found are in {_LANGUAGES[found]}: ask in"
        f" {_LANGUAGES[found]}, for whether the documents say it can't be told like this"
    )


def level(confidence: float | None) -> str:
    if confidence is None:
        return "none"
    return "high" if confidence >= HIGH else "medium" if confidence >= ANSWER else "low"


def _nearest(
    synthesis: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    links: Mapping[str, str],
    *,
    besides: Collection[str] = (),
) -> list[dict[str, Any]]:
    """The passages that come nearest, as sources are shown; the first that were found when nobody chose."""
    known = known_sources({"passages": rows}, {}, None)
    labels = [label for label in synthesis["nearest"] if label in known] or list(known)
    chosen = [label for label in labels if label not in besides][:NEAREST]
    glimpses = synthesis.get("glimpses", {})
    return [
        {**_source(known[label], links), **({"glimpse": glimpses[label]} if label in glimpses else {})}
        for label in chosen
    ]


def _section(section: Mapping[str, Any], verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    sentences = [
        {
            **one,
            **{
                key: verdicts[one["id"]][key]
                for key in ("state", "reason", "judged_by", "overruled")
                if key in verdicts[one["id"]]
            },
        }
        for one in section["sentences"]
    ]
    confidence = section["confidence"] or 0.0
    if any(one["state"] == "contradicted" for one in sentences):
        confidence = min(confidence, CONTRADICTED)
    return {
        "id": section["id"],
        "heading": section["heading"],
        "query": section["query"],
        "confidence": confidence,
        "level": level(confidence),
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
        blocks.append("\n".join(marked(one) for one in section["sentences"] if one["state"] != "contradicted"))
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
