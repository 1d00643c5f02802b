"""Where many vectors are missing, a table of word pieces stands in for the model until its own are made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy
import pytest

from tests.knowledge.made import write_documents
from weft.files import Folder
from weft.knowledge import knowledge_base
from weft.knowledge.embedding import DIMENSIONS, unit
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.pieces import FILE

if TYPE_CHECKING:
    from weft.knowledge.embedding import Vectors

SAME = {"physicians": "doctors", "pills": "drugs"}
TOPICS = ("Doctors prescribe drugs", "Boats sail on water", "Bakers bake bread", "Clerks count stamps")
DOCUMENTS = {"book.md": "\n\n".join(f"# Part {n}\n\n{TOPICS[n % 4]} in town {n}." for n in range(40))}


class Words:
    """A stand-in for a model: words that mean the same share a direction. It ends in the middle when it is told to."""

    model = "words"

    def __init__(self) -> None:
        self.passages = 0
        self.most = 1_000

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) < 100:  # not the vocabulary
            self.passages += len(texts)
            if self.passages > self.most:
                raise InterruptedError("left")
        rows = numpy.zeros((len(texts), DIMENSIONS), dtype=numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").replace("#", " ").split():
                row[crc32(SAME.get(word, word).encode()) % DIMENSIONS] += 1
        return unit(rows)


@pytest.mark.slow
def test_a_table_stands_in_until_the_vectors_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_base, "MANY", 10)
    write_documents(tmp_path / "town", DOCUMENTS).close()
    model = Words()
    with KnowledgeBase("town", Folder.open(tmp_path / "town"), model) as knowledge:
        knowledge.update()
        total = knowledge.store.counts()["passages"]
        model.most = 0
        with pytest.raises(InterruptedError):
            knowledge.fill()
        model.most = 1_000
        assert knowledge.folder.exists(FILE)
        found = knowledge.search.find("physicians pills", mode="vector", limit=5)
        assert all("Doctors prescribe drugs" in hit.passage.content for hit in found.hits), "in words it does not have"
        assert any("compared by the pieces of their words" in one for one in found.warnings)
        assert all(hit.likeness is None for hit in found.hits), "a table's likeness is not the model's"
        told: list[tuple[int, int]] = []
        assert knowledge.fill(lambda done, every: told.append((done, every))) == total
        assert told[-1] == (total, total)
        assert not knowledge.folder.exists(FILE)
        assert knowledge.store.counts()["vectors"] == total, "the table's own are gone"
        whole = knowledge.search.find("physicians pills", mode="vector", limit=5)
        assert whole.warnings == ()
        assert whole.hits[0].likeness is not None


def test_few_passages_need_no_table(tmp_path: Path) -> None:
    write_documents(tmp_path / "town", DOCUMENTS).close()
    with KnowledgeBase("town", Folder.open(tmp_path / "town"), Words()) as knowledge:
        knowledge.update()
        knowledge.fill()
        assert not knowledge.folder.exists(FILE)
