"""The last step of `draft`: the piece to read, and for each sentence what it rests on and what code can know of it.

A sentence with passages is held against them: *quoted* when they say it in its words, *contradicted* when they say the
same with one thing turned round; else *judged* when a model says that the source supports it and shows the words, or
*not_checked*. One without is the writer's own. What is contradicted stands in the piece marked, never silently. What a
person says against a verdict stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weft.checks.claims import compare
from weft.checks.folding import fold
from weft.checks.judging import held, judged_claims
from weft.checks.overruling import overruled
from weft.protocol.hashes import hash_value
from weft.protocol.steps import StepInput

STATES = ("quoted", "judged", "contradicted", "not_checked", "own")


JUDGEMENT = "judgement.json"


def judge(step: StepInput) -> dict[str, Any]:
    """Without a model nothing is judged."""
    return {"judgements": []}


def piece(step: StepInput) -> dict[str, Any]:
    draft, variants = step.artifacts["draft.json"], step.artifacts.get("variants.json")
    judged = [_judged(sentence, step) for section in draft["sections"] for sentence in section["sentences"]]
    counts = {state: sum(1 for one in judged if one["state"] == state) for state in STATES}
    return {
        "piece.md": "\n\n".join([*_piece(draft, judged), *_variants(variants or {})]) + "\n",
        "sources.json": {"sentences": judged, "counts": counts},
    }


def _judged(sentence: Mapping[str, Any], step: StepInput) -> dict[str, Any]:
    text, passages = sentence["text"], sentence["rests_on"]
    spans = [span for passage in passages if (span := _place(passage, step.text))]
    found = {"id": f"s{hash_value(fold(text).lowered)[:8]}", "text": text, "passages": spans}
    if not passages:
        return {**found, "state": "own"}
    exact = compare(text, "\n\n".join(passages))
    verdict: dict[str, Any] = {**found, "state": exact.state, "reason": exact.reason}
    model = step.models.get(JUDGEMENT)
    if exact.state == "not_checked" and model:
        claims = judged_claims(step.artifacts[JUDGEMENT]).get(fold(text).text, ())
        said = held(text, claims, {"source": step.text}, model)
        if said.state != "not_checked":
            verdict |= {"state": said.state, "reason": said.reason, "judged_by": model}
    return overruled(verdict, step.overruled)


def _place(passage: str, source: str) -> list[int] | None:
    """Where the words stand; white space and marks of emphasis do not count."""
    words = [re.escape(word) for word in re.split(r"[\s*_]+", passage) if word]
    found = re.search(r"[\s*_>]+".join(words), source) if words else None
    return list(found.span()) if found else None


def _piece(draft: Mapping[str, Any], judged: list[dict[str, Any]]) -> Iterator[str]:
    notes: list[str] = []
    left = iter(judged)
    yield f"# {draft['title']}"
    for section in draft["sections"]:
        yield f"## {section['heading']}"
        lines = []
        for sentence in section["sentences"]:
            one = next(left)
            mark = ""
            if sentence["rests_on"]:
                state = _mark(one)
                words = " … ".join(" ".join(words.split()) for words in sentence["rests_on"])
                notes.append(f"[^{len(notes) + 1}]: {words}{state}")
                mark = f"[^{len(notes)}]"
            told = f"**{sentence['text']}**" if one["state"] == "contradicted" else sentence["text"]
            lines.append(f"{told}{mark}")
        yield " ".join(lines)
    yield from notes


def _mark(one: Mapping[str, Any]) -> str:
    if one["state"] == "quoted" and "overruled" not in one:
        return ""
    by = f" by {one['judged_by']}" if "judged_by" in one else ""
    said = one.get("overruled")
    why = (f": {said['why']}" if by else f", says {said['by']}: {said['why']}") if said else ""
    return f" ({one['state'].replace('_', ' ')}{by}{why})"


def _variants(variants: Mapping[str, Any]) -> Iterator[str]:
    if not variants:
        return
    yield "---"
    yield f"## Newsletter\n\n{variants['newsletter']}"
    yield "## Thread\n\n" + "\n".join(f"{at}. {post}" for at, post in enumerate(variants["thread"], 1))
    yield "## Talk\n\n" + "\n".join(f"{at}. {said}" for at, said in enumerate(variants["talk"], 1))
    yield "## Subject lines\n\n" + "\n".join(f"- {line}" for line in variants["subject_lines"])
