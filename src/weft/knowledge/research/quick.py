"""The whole of research in one call, for who asks in passing: a conversation, a program. No session, nothing kept."""

from __future__ import annotations

from typing import Any

from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.answer import build_answer
from weft.knowledge.research.calibrate import calibrate
from weft.knowledge.research.depth import depth_named
from weft.knowledge.research.extract import make_draft
from weft.knowledge.research.labels import known_sources, settle
from weft.knowledge.research.question import plan_question, tidy
from weft.knowledge.research.retrieve import retrieve
from weft.knowledge.research.review import review


def answer_question(knowledge: KnowledgeBase, question: str, *, depth: str = "quick", session: str) -> dict[str, Any]:
    """An `answer.json` made by the embedded engine."""
    bounds = depth_named(depth)
    grammar = knowledge.collection.grammar
    plan = plan_question(question, bounds, grammar)
    adjusted = calibrate(knowledge, plan, bounds)
    found = retrieve(knowledge, adjusted["sub_queries"], bounds)
    draft = make_draft(adjusted["sub_queries"], found, bounds, knowledge)
    settled = settle(draft, known_sources(found, adjusted["web"], None))
    return build_answer(
        session=session,
        question=tidy(question),
        plan=plan,
        calibration=adjusted,
        retrieval=found,
        synthesis=settled,
        verification=review(settled, knowledge),
        collection={"name": knowledge.name, "title": knowledge.collection.title},
    )
