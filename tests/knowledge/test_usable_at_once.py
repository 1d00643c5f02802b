"""A collection answers the moment its documents are filed: vectors come later, a batch at a time, and nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import pytest

from tests.knowledge.made import write_documents
from weft.files import Folder
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.vectors import BATCH

if TYPE_CHECKING:
    from weft.knowledge.embedding import Vectors

DOCUMENTS = {
    f"isa-{100 + number}.txt": "\n\n".join(
        f"{at}. The auditor shall count item {number}-{at} of the {word}."
        for at, word in enumerate(("inventory", "receivables", "payroll", "leases"), 1)
    )
    for number in range(40)
}


class Slow:
    """Makes vectors only when it is let."""

    model = "slow"

    def __init__(self) -> None:
        self.began = threading.Event()
        self.let = threading.Semaphore(0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) > 1:
            self.began.set()
            assert self.let.acquire(timeout=60)
        rows = numpy.zeros((len(texts), 384), dtype=numpy.float32)
        rows[:, 0] = 1.0
        return rows


@pytest.mark.timeout(120)
def test_search_answers_while_vectors_are_made_and_says_what_is_missing(tmp_path: Path) -> None:
    write_documents(tmp_path / "audit", DOCUMENTS).close()
    slow = Slow()
    with KnowledgeBase("audit", Folder.open(tmp_path / "audit"), slow) as filling:
        filling.update()
        total = filling.store.counts()["passages"]
        assert total > 2 * BATCH
        work = threading.Thread(target=filling.fill)
        work.start()
        assert slow.began.wait(60)
        with KnowledgeBase("audit", Folder.open(tmp_path / "audit"), slow) as asking:
            none_yet = asking.search.find("receivables count")
            assert none_yet.mode == "keyword"
            assert none_yet.hits[0].passage.content.endswith("receivables.")
            assert any("none are made yet" in warning for warning in none_yet.warnings)
            slow.let.release()
            while asking.store.counts()["vectors"] < BATCH:
                assert work.is_alive() or asking.store.counts()["vectors"] >= BATCH
            some = asking.search.find("receivables count")
            assert some.mode == "hybrid"
            assert any("passages have no vector yet" in warning for warning in some.warnings)
            for _ in range(total):
                slow.let.release()
            work.join(60)
            assert not work.is_alive()
            assert asking.search.find("receivables count").warnings == ()
            assert asking.fill() == 0, "what is made is kept by the hash of its text"
