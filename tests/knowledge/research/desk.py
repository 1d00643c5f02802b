"""A small collection of standards that research is tried on, with the model that comes with the install."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.knowledge.made import write_documents
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.calibrate import calibrate
from weft.knowledge.research.depth import DEPTHS
from weft.knowledge.research.extract import make_draft
from weft.knowledge.research.labels import known_sources, settle
from weft.knowledge.research.question import plan_question
from weft.knowledge.research.retrieve import retrieve

DOCUMENTS = {
    "isa-315.txt": """\
1. The auditor shall assess the risks of material misstatement within 30 days of the engagement.

2. The auditor shall document the risk assessment procedures. Documentation is described in ISA 230.2.

3. Inquiries of management shall be made before the risk assessment is concluded.

4. The auditor may use the work of internal audit when assessing risks.
""",
    "isa-230.txt": """\
1. Audit documentation is the record of procedures performed, evidence obtained and conclusions reached.

2. The auditor shall assemble the audit documentation in an audit file within 60 days after the report.

3. The auditor shall not delete or discard audit documentation before the end of its retention period.

4. The retention period of audit documentation is at least five years.
""",
    "isa-500.txt": """\
1. The auditor shall obtain sufficient appropriate audit evidence.

2. External confirmations are more reliable than evidence generated internally.

3. The auditor shall assemble the audit documentation in an audit file within 60 days after the report.
""",
}


def knowledge_of(
    folder: Path, documents: dict[str, str] | None = None, embedder: Unavailable | None = None
) -> KnowledgeBase:
    place = write_documents(folder / "knowledge/audit", documents or DOCUMENTS)
    knowledge = KnowledgeBase("audit", place, embedder)
    knowledge.update()
    knowledge.fill()
    return knowledge


class Made:
    """Everything on the way to a verified draft of one question."""

    def __init__(self, knowledge: KnowledgeBase, question: str, depth: str = "standard", **more: Any) -> None:
        bounds = DEPTHS[depth]
        grammar = knowledge.collection.grammar
        known = more.pop("known", frozenset())
        pages = more.pop("pages", ())
        self.question = question
        self.plan = plan_question(question, bounds, grammar)
        self.calibration = calibrate(knowledge, self.plan, bounds, pages)
        self.retrieval = retrieve(knowledge, self.calibration["sub_queries"], bounds, known)
        self.draft = make_draft(
            self.calibration["sub_queries"],
            self.retrieval,
            bounds,
            knowledge,
            pages=self.calibration["web"]["sources"],
            **more,
        )
        self.sources = known_sources(self.retrieval, self.calibration["web"], more.get("earlier"))
        self.synthesis = settle(self.draft, self.sources)

    @property
    def sentences(self) -> list[dict[str, Any]]:
        return [one for section in self.synthesis["sections"] for one in section["sentences"]]

    @property
    def texts(self) -> list[str]:
        return [one["text"] for one in self.sentences]
