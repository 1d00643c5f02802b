"""Any draft, whoever wrote it, to sentences whose labels exist. What was wrong with it is told, never passed on.

    [1] … a passage of the collection     [W1] … a page of the web     [P1] … a section of an earlier answer

A label is given once, where the source came in: the passage's place in the retrieval, the page's place among those
given, the section's place in the earlier answer. Here a label is only ever kept or taken away. One that stands in a
sentence's text moves to its list; one that names no source is removed and reported; no sentence has a label twice; and
every label that is left has exactly one row in the block of sources.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from weft.knowledge.research.earlier import prior_sections

_INLINE: Final = re.compile(r"\s*[\[【]\s*(?:[WPwp]?\d{1,4}\s*[,;，]?\s*)+[\]】]")
_ONE: Final = re.compile(r"[WPwp]?\d{1,4}")
HEADINGS: Final = 200


def sentence_id(text: str) -> str:
    """The same text has the same id in every draft, so that a verdict on it holds for the next."""
    folded = " ".join(text.split()).casefold()
    return f"s{hashlib.sha256(folded.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def whole_text(text: str, code: str) -> str:
    return f"{text}\n{code}" if code else text


def known_sources(
    retrieval: Mapping[str, Any], web: Mapping[str, Any], earlier: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    """Every source a draft may cite, by label."""
    found: dict[str, dict[str, Any]] = {
        str(row["label"]): {
            "label": str(row["label"]),
            "kind": "passage",
            "id": row["id"],
            "ref": row["ref"],
            "title": row["title"],
            "file": row["file"],
            "page": row["page"],
            "heading": row["heading"],
            "lead": row["lead"],
            "text": row["content"],
            "tier": row["tier"],
        }
        for row in retrieval["passages"]
    }
    for page in web.get("sources", []):
        found[page["label"]] = {
            "label": page["label"],
            "kind": "web",
            "id": page["label"],
            "ref": page["label"],
            "title": page["title"],
            "url": page["url"],
            "text": page["text"],
        }
    for section in prior_sections(earlier["answer"]) if earlier else []:
        found[section["label"]] = {
            "label": section["label"],
            "kind": "earlier",
            "id": section["label"],
            "ref": section["label"],
            "title": section["heading"] or "the earlier answer",
            "session": (earlier or {}).get("session", ""),
            "text": section["text"],
        }
    return found


def settle(draft: Mapping[str, Any], sources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The sections, their sentences with ids and good labels; the sources they cite; what was removed."""
    made_here = draft.get("made_by") == "embedded"
    removed: list[dict[str, str]] = []
    seen: dict[str, dict[str, Any]] = {}
    sections: list[dict[str, Any]] = []
    for number, section in enumerate(draft["sections"], start=1):
        kept: list[dict[str, Any]] = []
        for sentence in section["sentences"]:
            text, labels, unknown = _settled(sentence, sources, as_it_is=made_here)
            code = str(sentence.get("code", "")) if made_here else ""
            name = sentence_id(whole_text(text, code))
            removed += [{"label": label, "sentence": name, "text": text} for label in unknown]
            if not text:
                continue
            if name in seen:  # said before: what is cited for it there is cited for it once
                cited = seen[name]["labels"]
                cited += [label for label in labels if label not in cited]
                continue
            seen[name] = {"id": name, "text": text, "lead": str(sentence.get("lead", "")), "labels": labels}
            seen[name] |= {"code": code} if code else {}
            kept.append(seen[name])
        if kept:
            heading = " ".join(str(section.get("heading", "")).split()).lstrip("# ")[:HEADINGS]
            told = {"id": f"c{number}", "heading": heading, "query": str(section.get("query", "")), "sentences": kept}
            sections.append({**told, "confidence": section.get("confidence")})
    used = {label for one in seen.values() for label in one["labels"]}
    return {
        "sections": sections,
        "sources": [
            {**source, "cited_by": [one["id"] for one in seen.values() if label in one["labels"]]}
            for label, source in sources.items()
            if label in used
        ],
        "labels_removed": removed,
        "not_answered": [str(one) for one in draft.get("not_answered", [])],
        "entities_referenced": [str(one) for one in draft.get("entities_referenced", [])],
        "relations_claimed": [dict(one) for one in draft.get("relations_claimed", [])],
        "nearest": [str(one) for one in draft.get("nearest", [])],
        "glimpses": {str(label): str(text) for label, text in draft.get("glimpses", {}).items()},
        "confidence": draft.get("confidence"),
        "made_by": "embedded" if made_here else "model",
    }


def _settled(
    sentence: Mapping[str, Any], sources: Mapping[str, Any], *, as_it_is: bool
) -> tuple[str, list[str], list[str]]:
    """`as_it_is`: a passage's own words, in which a number in brackets is no label and a sign may stand alone."""
    text = str(sentence.get("text", ""))
    named = [label for cite in sentence.get("cites", []) for label in _ONE.findall(str(cite))]
    inline: list[str] = []
    clean = " ".join(text.split())
    if not as_it_is:
        inline = [label for group in _INLINE.findall(text) for label in _ONE.findall(group)]
        clean = re.sub(r"\s+([.,;:!?])(?=\s|\Z)", r"\1", " ".join(_INLINE.sub("", text).split()))
    every = list(dict.fromkeys(label.upper() for label in (*named, *inline)))
    good = [label for label in every if label in sources]
    return clean, good, [label for label in every if label not in sources]


def marked(sentence: Mapping[str, Any]) -> str:
    """The sentence as it is read: its lead-in, its words, its labels, and its code in lines of its own."""
    labels = "".join(f"[{label}]" for label in sentence["labels"])
    lead = f"{sentence['lead'].rstrip()} " if sentence.get("lead") else ""
    code = f"\n\n{fenced(sentence['code'])}\n" if sentence.get("code") else ""
    return f"{lead}{sentence['text']}{' ' + labels if labels else ''}{code}"


def fenced(code: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}\n{code}\n{fence}"
