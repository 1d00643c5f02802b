"""The steps of the `research` pack: thin, because `weft.knowledge.research` and the pages do the work.

An agent's `embedded:` names the function that stands in for it when no model is connected. The collection is the one
that the input `collection` tells of; it stands in the workspace whose `code/` this file is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weft.files import Folder
from weft.knowledge.knowledge_base import KnowledgeBase, open_collection
from weft.knowledge.research import (
    answer,
    answering,
    calibrate,
    earlier,
    extract,
    labels,
    question,
    retrieve,
    review,
    state,
)
from weft.knowledge.research.depth import Depth, depth_named, depth_of
from weft.protocol.steps import StepInput
from weft.render.answer import answer_markdown, answer_page

WORKSPACE = Path(__file__).resolve().parent.parent


@contextmanager
def collection(step: StepInput) -> Iterator[KnowledgeBase]:
    name = state.read_state(step.inputs["collection"])["name"]
    with Folder.open(WORKSPACE) as workspace, open_collection(workspace, name) as knowledge:
        yield knowledge


def bounds(step: StepInput) -> Depth:
    """What the parameters say; those that a step does not read stay as their mode has them."""
    return depth_of({**depth_named(step.parameters["depth"]).bounds(), **step.parameters})


def decided(step: StepInput) -> Depth:
    """What was decided with the plan: later steps keep to it."""
    return depth_of(step.artifacts["calibration.json"]["limits"])


def faults(step: StepInput) -> list[str]:
    """What was wrong with the drafts before this one."""
    told = step.rounds.get("verify", {}).get("feedback") or []
    return [*([told] if isinstance(told, str) else told), *step.feedback]


def before(step: StepInput) -> dict[str, Any] | None:
    return earlier.read_earlier(step.inputs.get("earlier", ""))


# -- the steps, in the order of the pipeline


def analyze(step: StepInput) -> dict[str, Any]:
    follows = before(step) is not None
    meant = step.replies.get("analyze_query", ())
    with collection(step) as knowledge:
        grammar = knowledge.collection.grammar
        return question.plan_question(step.text, bounds(step), grammar, follows=follows, meant=meant)


def adjust(step: StepInput) -> dict[str, Any]:
    pages = calibrate.read_pages(step.inputs.get("pages", ""))
    with collection(step) as knowledge:
        wanted = step.replies.get("calibrate", ())
        return calibrate.calibrate(knowledge, step.artifacts["plan.json"], bounds(step), pages, wanted)


def find(step: StepInput) -> dict[str, Any]:
    known = earlier.known_passages(before(step))
    with collection(step) as knowledge:
        asked = step.artifacts["calibration.json"]["sub_queries"]
        found = retrieve.retrieve(knowledge, asked, decided(step), known)
        if state.collection_state(knowledge) != step.inputs["collection"]:
            found["warnings"].append("the collection changed while it was asked; ask again to use all of it")
        return found


def draft(step: StepInput) -> dict[str, Any]:
    plan = step.artifacts["calibration.json"]
    with collection(step) as knowledge:
        return extract.make_draft(
            plan["sub_queries"],
            step.artifacts["retrieval.json"],
            decided(step),
            knowledge,
            pages=plan["web"]["sources"],
            earlier=before(step),
            rejected=review.rejected_by(faults(step)),
        )


def claims(step: StepInput) -> dict[str, Any]:
    return review.to_judge(settled_draft(step))


def judge(step: StepInput) -> dict[str, Any]:
    """Without a model nothing is judged: what is not quoted stays not checked."""
    return {"claims": [{"claim": step.item["sentence"], "verdict": "not_said", "label": "", "words": ""}]}


def settled_draft(step: StepInput) -> dict[str, Any]:
    made = step.artifacts
    sources = labels.known_sources(made["retrieval.json"], made["calibration.json"]["web"], before(step))
    return labels.settle(made["draft.json"], sources)


def verify(step: StepInput) -> dict[str, Any]:
    made, settled = step.artifacts, settled_draft(step)
    with collection(step) as knowledge:
        asked = made["calibration.json"]["sub_queries"]
        settled = answering.appraised(settled, asked, made["retrieval.json"], knowledge)
        found = review.review(settled, knowledge, faults(step), review.judgements(made, step.models), step.overruled)
    return {"verification.json": found, "synthesis.json": settled}


def output(step: StepInput) -> dict[str, Any]:
    made = step.artifacts
    with collection(step) as knowledge:
        links = state.document_links(knowledge, WORKSPACE / "sessions" / step.session)
    value = answer.build_answer(
        session=step.session,
        question=question.tidy("\n".join([step.text, *step.replies.get("analyze_query", ())])),
        plan=made["plan.json"],
        calibration=made["calibration.json"],
        retrieval=made["retrieval.json"],
        synthesis=made["synthesis.json"],
        verification=made["verification.json"],
        collection=state.read_state(step.inputs["collection"]),
        earlier=before(step),
        links=links,
    )
    return {"answer.json": value, "answer.md": answer_markdown(value), "answer.html": answer_page(value)}


# -- the short form: the same work in three steps


def look(step: StepInput) -> dict[str, Any]:
    """Plan, calibration and retrieval of a question that is only asked."""
    with collection(step) as knowledge:
        plan = question.plan_question(step.text, bounds(step), knowledge.collection.grammar)
        adjusted = calibrate.calibrate(knowledge, plan, bounds(step))
        found = retrieve.retrieve(knowledge, adjusted["sub_queries"], bounds(step))
    return {"plan.json": plan, "calibration.json": adjusted, "retrieval.json": found}


def answered(step: StepInput) -> dict[str, Any]:
    made = {**step.artifacts, **verify(step)}
    whole = StepInput(
        session=step.session,
        step=step.step,
        attempt=step.attempt,
        idempotency_key=step.idempotency_key,
        inputs=step.inputs,
        artifacts=made,
        models=step.models,
        parameters=step.parameters,
    )
    return output(whole)
