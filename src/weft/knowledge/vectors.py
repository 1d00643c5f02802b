"""The vectors of an index: made once for every text, kept by its hash, compared all at once.

A passage is found the moment it is filed, by its words; its vector comes when there is time. `fill` makes what is
missing a batch at a time, each kept when it is done, so it can be stopped at any moment and goes on where it was. A
passage longer than the model reads well has a vector for each of its parts, and is as near as the nearest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft.knowledge.embedding import DIMENSIONS, Embedder
from weft.knowledge.splitting import spans
from weft.knowledge.store import Store, StoredPassage

if TYPE_CHECKING:
    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

BATCH: Final = 64
PART: Final = 800
"""Characters of a passage that get a vector of their own: with their heading, what the model reads whole."""
_MISSING: Final = """
    SELECT min(p.number) AS number FROM passages AS p
    WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.hash = p.hash AND v.model = ?)
    GROUP BY p.hash ORDER BY length(p.content)
"""
"""Short ones first: texts of like lengths are made together in less time."""


def missing(store: Store, model: str) -> int:
    """How many texts have no vector of this model yet."""
    found = store.rows(
        "SELECT count(DISTINCT p.hash) FROM passages AS p"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.hash = p.hash AND v.model = ?)",
        (model,),
    )
    return int(found[0][0])


def fill(store: Store, embedder: Embedder, progress: Callable[[int, int], None] = lambda _done, _all: None) -> int:
    """Make every vector that is missing; `progress` is told how many are done, of how many."""
    wanted = [row["number"] for row in store.rows(_MISSING, (embedder.model,))]
    for start in range(0, len(wanted), BATCH):
        passages = store.passages(wanted[start : start + BATCH])
        _keep(store, embedder, passages)
        progress(min(start + BATCH, len(wanted)), len(wanted))
    return len(wanted)


def parts_of(passage: StoredPassage) -> list[str]:
    """What is embedded for a passage: its text in parts that the model reads whole, each under its heading."""
    parts = [passage.content[start:end] for start, end in spans(passage.content, PART)]
    above = [text for text in (passage.heading, passage.lead) if text]
    return ["\n".join([*above, part]) for part in parts] or ["\n".join(above)]


def _keep(store: Store, embedder: Embedder, passages: Sequence[StoredPassage]) -> None:
    import numpy

    texts = [(passage.hash, part, text) for passage in passages for part, text in enumerate(parts_of(passage))]
    rows = embedder.embed([text for _, _, text in texts])
    with store.change() as connection:
        # A text that was removed meanwhile must not come back as a vector.
        connection.executemany(
            "INSERT OR IGNORE INTO vectors SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM passages WHERE hash = ?1)",
            [
                (name, embedder.model, part, vector.astype(numpy.float16).tobytes())
                for (name, part, _), vector in zip(texts, rows, strict=True)
            ],
        )


@dataclass(frozen=True, slots=True)
class Matrix:
    """All vectors of a model in one piece, with the passage and the document that rows belong to."""

    numbers: NDArray[int64]
    documents: NDArray[int64]
    starts: NDArray[int64]
    """Where each passage's rows begin."""
    rows: NDArray[float32]

    def nearest(
        self, query: NDArray[float32], limit: int, allowed: NDArray[bool_] | None = None
    ) -> list[tuple[int, float]]:
        """Passages and their likeness (cosine), best first."""
        import numpy

        if not len(self.numbers):
            return []
        likeness = self.rows @ query
        if len(self.rows) > len(self.numbers):
            likeness = numpy.maximum.reduceat(likeness, self.starts)
        if allowed is not None:
            likeness = numpy.where(allowed, likeness, -numpy.inf)
        count = min(limit, len(likeness))
        best = numpy.argpartition(-likeness, count - 1)[:count]
        best = best[numpy.argsort(-likeness[best], kind="stable")]
        return [(int(self.numbers[at]), float(likeness[at])) for at in best if likeness[at] > -numpy.inf]

    def of(self, numbers: Sequence[int]) -> NDArray[float32]:
        """The rows of these passages, as far as there are any."""
        import numpy

        wanted = numpy.isin(self.numbers, numpy.asarray(numbers, dtype=numpy.int64))
        sizes = numpy.diff(self.starts, append=len(self.rows))
        return self.rows[numpy.repeat(wanted, sizes)]


def load_matrix(store: Store, model: str) -> Matrix:
    import numpy

    found = store.rows(
        "SELECT p.number, p.document, v.vector FROM passages AS p JOIN vectors AS v ON v.hash = p.hash"
        " WHERE v.model = ? ORDER BY p.number, v.part",
        (model,),
    )
    rows = numpy.frombuffer(b"".join(row["vector"] for row in found), dtype=numpy.float16)
    numbers, starts = numpy.unique(numpy.array([row["number"] for row in found], dtype=numpy.int64), return_index=True)
    documents = numpy.array([row["document"] for row in found], dtype=numpy.int64)
    return Matrix(
        numbers,
        documents[starts],
        starts.astype(numpy.int64),
        rows.reshape(len(found), -1 if found else DIMENSIONS).astype(numpy.float32),
    )
