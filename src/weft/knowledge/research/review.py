"""The four axes over an answer, what failed and why, and the words the next draft is told.

Everything is held against the passages as they were retrieved. A sentence is quoted when a source it cites has it;
contradicted when none has and one has it turned round; everything else is not checked, which is said and never counts
as passed. Only what is contradicted, and a label that names nothing, ask for a repair: that two passages of the
collection, or one of them and a page of the web, disagree is told to the reader, not to the writer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.checks.claims import STATES
from weft.checks.folding import fold
from weft.checks.judging import JudgedSentence, agreed, held, judged_claims
from weft.checks.overruling import overruled
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.retrieve import stored
from weft.knowledge.research.statements import CUT
from weft.knowledge.resolve import Resolution
from weft.knowledge.store import StoredPassage
from weft.knowledge.verify import check_citations, check_contradictions, check_entities, check_relations
from weft.knowledge.verify.axes import scored, whole_state

AXES: Final = ("entities", "citations", "relations", "contradictions")
_ORDER: Final = {state: rank for rank, state in enumerate(STATES)}
GONE: Final = " (it is gone, and must not come back)"
NO_SOURCE: Final = "it cites no source"
NO_LINE: Final = "the passage has no such line of code"


JUDGED: Final = ("judgement.json", "doubts.json")
"""What models say of a draft: the second is asked in other words, and must agree where there is one."""
LONGEST: Final = 12_000
"""Characters of a source that a judge is given: a whole page of the web for each sentence is not worth its price."""
Judgements = Sequence[tuple[str, Mapping[str, Sequence[Mapping[str, Any]]]]]
"""For each that judged: its model, and the claims by sentence."""


def judgements(artifacts: Mapping[str, Any], models: Mapping[str, str]) -> Judgements:
    asked = artifacts.get("claims.json", {})
    return [
        (models[name], _claims(artifacts[name], asked)) for name in JUDGED if artifacts.get(name) and models.get(name)
    ]


def _claims(judgement: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Sentence by sentence, or, of older pipelines, a whole draft in one."""
    if "items" not in judgement:
        return judged_claims(judgement)
    sentences = {one["id"]: fold(one["sentence"]).text for one in asked["claims"]}
    said = {one["item"]: one["value"]["claims"] for one in judgement["items"] if "value" in one}
    return {
        sentences[key]: [{**one, "label": asked["labels"][key].get(one["label"].strip("[] "), "")} for one in claims]
        for key, claims in said.items()
    }


def to_judge(synthesis: Mapping[str, Any]) -> dict[str, Any]:
    """`claims.json`: the sentences of which code can't say whether the sources they cite have them, each with those. It
    is all that a verdict depends on, so that one that was given once is not paid for again: the passages are numbered
    anew for each sentence, and `labels` says which they are."""
    sources = _stored(synthesis)
    sentences = [sentence for section in synthesis["sections"] for sentence in section["sentences"]]
    details = _citations(sentences, sources)["details"]
    found, numbered = [], {}
    for sentence in sentences:
        texts = {label: text for label in sentence["labels"] if 0 < len(text := _text(sources[label])) <= LONGEST}
        if texts and _verdict(sentence, details)["state"] == "not_checked":
            passages = [{"label": str(number), "text": text} for number, text in enumerate(texts.values(), 1)]
            found.append({"id": sentence["id"], "sentence": sentence["text"], "passages": passages})
            numbered[sentence["id"]] = {str(number): label for number, label in enumerate(texts, 1)}
    return {"claims": found, "labels": numbered}


def _stored(synthesis: Mapping[str, Any]) -> dict[str, StoredPassage]:
    return {
        str(source["label"]): stored({**source, "content": source["text"]}, number)
        for number, source in enumerate(synthesis["sources"], start=1)
    }


def _text(source: StoredPassage) -> str:
    return f"{source.lead}\n{source.content}".strip()


def review(
    synthesis: Mapping[str, Any],
    knowledge: KnowledgeBase,
    before: Sequence[str] = (),
    judged: Judgements = (),
    said: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """`verification.json`. `before` is the feedback of the rounds before: what it rejected must not come back, so it
    goes on to the next round with what is wrong now. `said`: by sentence, what a person says against its verdict."""
    sources = _stored(synthesis)
    sentences = [sentence for section in synthesis["sections"] for sentence in section["sentences"]]
    citations = _citations(sentences, sources)
    verdicts = [_verdict(sentence, citations["details"]) for sentence in sentences]
    texts = {label: _text(source) for label, source in sources.items()}
    verdicts = [
        _with_code(verdict, one.get("code", ""), texts) for verdict, one in zip(verdicts, sentences, strict=True)
    ]
    verdicts = [_with_judgement(verdict, judged, texts) for verdict in verdicts]
    verdicts = [overruled(verdict, said or {}) for verdict in verdicts]
    citations = _as_settled(citations, verdicts)
    passages = [sources[str(one["label"])] for one in synthesis["sources"] if one["kind"] in ("passage", "web")]
    axes = {
        "entities": check_entities(synthesis["entities_referenced"], list(sources.values())),
        "citations": citations,
        "relations": check_relations(synthesis["relations_claimed"], knowledge.resolve, knowledge.store),
        "contradictions": _contradictions(passages, verdicts, sources),
    }
    states = {name: str(axes[name]["state"]) for name in AXES}
    whole = whole_state([str(verdict["state"]) for verdict in verdicts])
    failed = [verdict for verdict in verdicts if verdict["state"] == "contradicted"]
    feedback = [*map(_told, failed), *_told_of_labels(synthesis["labels_removed"]), *_told_of_names(axes["entities"])]
    needs_repair = bool(failed or synthesis["labels_removed"])
    there = {verdict["id"] for verdict in verdicts}
    feedback += [line if line.endswith(GONE) else line + GONE for line in before if not rejected_by([line]) <= there]
    return {
        "verdict": "failed" if needs_repair else "passed" if whole == "passed" else "not_checked",
        "axes": axes,
        "states": states,
        "state": whole,
        "all_passed": all(state == "passed" for state in states.values()),
        "sentences": verdicts,
        "counts": {state: sum(verdict["state"] == state for verdict in verdicts) for state in STATES},
        "total": len(verdicts),
        "needs_repair": needs_repair,
        "feedback": feedback,
    }


def rejected_by(feedback: Sequence[str]) -> frozenset[str]:
    """The sentences that feedback of an earlier round names: they must not come back as they were."""
    return frozenset(line.split(":", 1)[0] for line in feedback if ":" in line and line.startswith("s"))


def _citations(sentences: Sequence[Mapping[str, Any]], sources: Mapping[str, StoredPassage]) -> dict[str, Any]:
    """Every pair of a sentence and a source; a sentence without one is a citation of nothing."""
    by_id = {passage.id: passage for passage in sources.values()}

    def resolve(identifier: str) -> Resolution:
        found = by_id.get(identifier)
        return Resolution((found,) if found else ())

    pairs = [(one, label) for one in sentences for label in (one["labels"] or [""])]
    asked = [{"paragraph_id": sources[label].id if label else "", "claim": one["text"]} for one, label in pairs]
    checked = check_citations(asked, resolve)
    for (one, label), detail in zip(pairs, checked["details"], strict=True):
        detail |= {"sentence_id": one["id"], "label": label}
        if not label:
            detail["reason"] = NO_SOURCE
    return checked


def _contradictions(
    passages: Sequence[StoredPassage], verdicts: Sequence[Mapping[str, Any]], sources: Mapping[str, StoredPassage]
) -> dict[str, Any]:
    """Passages against each other, and the sentences that their own sources contradict."""
    found = check_contradictions(passages)
    details = [
        {
            "claim": verdict["text"],
            "paragraph_1": {"id": sources[verdict["label"]].id, "ref": sources[verdict["label"]].ref},
            "pattern": next((str(item["kind"]) for item in verdict["evidence"] if not item["agrees"]), ""),
            "severity": "contradicted",
            "reason": verdict["reason"],
            "sentence_1": verdict["passage_sentence"],
        }
        for verdict in verdicts
        if verdict["state"] == "contradicted"
    ]
    judged = sum(verdict["state"] != "not_checked" for verdict in verdicts)
    checked = int(found["total_pairs_checked"]) + judged
    count = int(found["contradiction_count"]) + len(details)
    state = "failed" if count else "passed" if checked and not found["pairs_left"] else "not_checked"
    return {
        **found,
        "details": [*details, *found["details"]],
        "contradiction_count": count,
        "total_pairs_checked": checked,
        "passed": state == "passed",
        "state": state,
    }


def _verdict(sentence: Mapping[str, Any], details: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [detail for detail in details if detail["sentence_id"] == sentence["id"]]
    best = min(own, key=lambda detail: _ORDER[detail["state"]])
    return {
        "id": sentence["id"],
        "text": sentence["text"],
        "state": best["state"],
        "label": best["label"],
        "reason": best["reason"],
        "passage_sentence": best.get("sentence", ""),
        "evidence": best["evidence"],
        "others": [
            {"label": detail["label"], "state": detail["state"], "reason": detail["reason"]}
            for detail in own
            if detail is not best
        ],
    }


def _with_judgement(verdict: dict[str, Any], judged: Judgements, texts: Mapping[str, str]) -> dict[str, Any]:
    """What code knows stands; of the rest, what every model that was asked says and can show."""
    if verdict["state"] != "not_checked" or not judged or not verdict["label"]:
        return verdict
    found: JudgedSentence | None = None
    for model, claims in judged:
        said = claims.get(fold(verdict["text"]).text)
        if said is None:
            own = JudgedSentence("not_checked", f"{model} did not judge it", model=model)
        else:
            own = held(verdict["text"], said, texts, model)
        found = own if found is None else agreed(found, own)
    assert found is not None
    if found.state == "not_checked":
        return {**verdict, "reason": "; ".join(filter(None, [verdict["reason"], found.reason]))}
    shown = {"kind": "judged", "agrees": found.state == "judged", "claim": verdict["text"], "sentence": found.words}
    return {
        **verdict,
        "state": found.state,
        "label": found.label,
        "reason": found.reason,
        "passage_sentence": found.words,
        "evidence": [{**shown, "reason": found.reason}],
        "judged_by": found.model,
    }


def _as_settled(citations: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The axis with what models and persons say: a source that a sentence cites is what the sentence is by it."""
    settled = {
        (verdict["id"], verdict["label"]): verdict
        for verdict in verdicts
        if {"judged_by", "overruled"} & verdict.keys()
    }
    details = []
    for detail in citations["details"]:
        verdict = settled.get((detail["sentence_id"], detail["label"]))
        new = {"state": verdict["state"], "reason": verdict["reason"]} if verdict else {}
        details.append({**detail, **new})
    states = [str(detail["state"]) for detail in details]
    counts = {f"{state}_count": states.count(state) for state in STATES}
    return {**citations, **scored(states), **counts, "details": details}


# -- feedback: one line for each fault, with the id of the sentence first


def _told(verdict: Mapping[str, Any]) -> str:
    said = f"; the passage says: “{verdict['passage_sentence'][:300]}”"
    return (
        f"{verdict['id']}: “{verdict['text'][:200]}” is contradicted by [{verdict['label']}]: {verdict['reason']}{said}"
    )


def _told_of_labels(removed: Sequence[Mapping[str, str]]) -> list[str]:
    return [
        f"{one['sentence']}: [{one['label']}] names no source; cite one that was given, or leave the sentence out"
        for one in removed
    ]


def _told_of_names(entities: Mapping[str, Any]) -> list[str]:
    missing = [str(detail["entity"]) for detail in entities["details"] if not detail["grounded"]]
    return [f"names that no source has: {', '.join(missing[:10])}"] if missing else []


_AROUND: Final = "> \t"
"""What a line is indented and quoted by."""


def _with_code(verdict: dict[str, Any], code: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """What is shown as code is held against the passage as well: line by line, as it stands there or in a quotation."""
    if verdict["state"] != "quoted" or not code:
        return verdict
    there = {line.strip(_AROUND) for line in texts[verdict["label"]].splitlines()}
    missing = next((line for line in code.splitlines() if line.strip(_AROUND) not in there and line != CUT), None)
    return verdict if missing is None else {**verdict, "state": "not_checked", "reason": f"{NO_LINE}: {missing}"}


def without(synthesis: Mapping[str, Any], rejected: frozenset[str]) -> dict[str, Any]:
    """The draft's sections without rejected sentences: for whoever must end with what stands."""
    sections = [
        {**section, "sentences": [one for one in section["sentences"] if one["id"] not in rejected]}
        for section in synthesis["sections"]
    ]
    return {**synthesis, "sections": [section for section in sections if section["sentences"]]}
