"""The vectors of an index: made once for every text, kept by its hash, compared all at once.

A passage is found the moment it is filed, by its words; its vector comes when there is time. `fill` makes what is
missing a batch at a time, each kept when it is done, so it can be stopped at any moment and goes on where it was. A
passage longer than the model reads well has a vector for each of its parts, and is as near as the nearest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from weft.knowledge.embedding import DIMENSIONS, Embedder
from weft.knowledge.splitting import spans
from weft.knowledge.store import Store, StoredPassage
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from numpy import bool_, float32, int8, int64, uint64
    from numpy.typing import NDArray

BATCH: Final = 64
LARGE: Final = 100_000
"""Vectors from which on not every one is compared as it is."""
SHORTLIST: Final = 20
"""So many times as many as are wanted are compared as they are."""
_BLOCK: Final = 16_384
_EIGHTH: Final = 8
_CHUNK: Final = 10_000
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
    """All vectors of a model in one piece, with the passage and the document that rows belong to.

    A large one (from `LARGE` rows on) is kept in bytes and compared in two steps: by the signs of all vectors, 48 bytes
    each, which is a count of bits; then the nearest by that as they are. A million rows take 430 MB, and nothing has to
    be built or kept up to date beside the vectors themselves.
    """

    numbers: NDArray[int64]
    documents: NDArray[int64]
    starts: NDArray[int64]
    """Where each passage's rows begin."""
    rows: NDArray[float32] | NDArray[int8]
    signs: NDArray[uint64] | None = None
    """Of a large one: a line for every 64 dimensions, a column for every row."""

    def nearest(
        self, query: NDArray[float32], limit: int, allowed: NDArray[bool_] | None = None
    ) -> list[tuple[int, float]]:
        """Passages and their likeness (cosine), best first; `allowed` says of every passage whether it may be found."""
        import numpy

        if not len(self.numbers):
            return []
        if self.signs is not None:
            return self._nearest_of_many(query, limit, allowed)
        likeness = self.rows @ query
        if len(self.rows) > len(self.numbers):
            likeness = numpy.maximum.reduceat(likeness, self.starts)
        if allowed is not None:
            likeness = numpy.where(allowed, likeness, -numpy.inf)
        count = min(limit, len(likeness))
        best = numpy.argpartition(-likeness, count - 1)[:count]
        best = best[numpy.argsort(-likeness[best], kind="stable")]
        return [(int(self.numbers[at]), float(likeness[at])) for at in best if likeness[at] > -numpy.inf]

    def _nearest_of_many(
        self, query: NDArray[float32], limit: int, allowed: NDArray[bool_] | None
    ) -> list[tuple[int, float]]:
        import numpy

        assert self.signs is not None
        differing = numpy.empty(len(self.rows), dtype=numpy.uint16)
        asked = _signs(query[None, :])[:, 0]
        for start in range(0, len(self.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            counts = (numpy.bitwise_count(line[block] ^ sign) for line, sign in zip(self.signs, asked, strict=True))
            differing[block] = sum(counts, start=numpy.uint16(0))  # six counts in a byte each would not fit a byte
        if allowed is not None:
            differing[~numpy.repeat(allowed, self._sizes())] = len(query) + 1
        # The nearest are few, and the counts small numbers: the largest that is still wanted is found by counting, and
        # every eighth row tells it well enough.
        some = numpy.bincount(differing[::_EIGHTH], minlength=len(query) + 2)
        upto = numpy.searchsorted(some.cumsum(), -(-limit * SHORTLIST // _EIGHTH))
        chosen = numpy.flatnonzero(differing <= min(int(upto), len(query)))
        near = self.rows[chosen].astype(numpy.float32)
        # Not by `@`: for so few rows the threads of a linear algebra library wait for each other longer than they work.
        likeness = numpy.einsum("ij,j->i", near, query)
        likeness /= numpy.maximum(numpy.sqrt(numpy.einsum("ij,ij->i", near, near)), 1e-12)
        found: dict[int, float] = {}
        for at in numpy.argsort(-likeness, kind="stable"):
            place = int(numpy.searchsorted(self.starts, chosen[at], side="right")) - 1
            found.setdefault(int(self.numbers[place]), float(likeness[at]))
            if len(found) == limit:
                break
        return list(found.items())

    def of(self, numbers: Sequence[int]) -> NDArray[float32]:
        """A row for each of these passages, the mean of its parts, as far as there are any."""
        import numpy

        found = []
        for number in numbers:
            at = int(numpy.searchsorted(self.numbers, number))
            if at < len(self.numbers) and self.numbers[at] == number:
                end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.rows)
                rows = self.rows[self.starts[at] : end].astype(numpy.float32)
                rows /= numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
                found.append(rows.mean(axis=0))
        return numpy.array(found, dtype=numpy.float32).reshape(len(found), -1)

    def _sizes(self) -> NDArray[int64]:
        import numpy

        return numpy.diff(self.starts, append=len(self.rows))


def _signs(rows: NDArray[float32]) -> NDArray[uint64]:
    import numpy

    packed = numpy.packbits(rows > 0, axis=1)
    return numpy.ascontiguousarray(packed.view(numpy.uint64).T)


def load_matrix(store: Store, model: str, large: int = LARGE) -> Matrix:
    """A few thousand rows at a time, so that no more is in memory than what is kept."""
    import numpy

    count = store.rows(
        "SELECT count(*) FROM passages AS p JOIN vectors AS v ON v.hash = p.hash WHERE v.model = ?", (model,)
    )[0][0]
    many = count >= large
    numbers = numpy.zeros(count, dtype=numpy.int64)
    documents = numpy.zeros(count, dtype=numpy.int64)
    rows = numpy.zeros((count, DIMENSIONS), dtype=numpy.int8 if many else numpy.float32)
    signs = numpy.zeros((DIMENSIONS // 64, count), dtype=numpy.uint64) if many else None
    filled, last = 0, (-1, -1)
    while filled < count:
        found = store.rows(
            "SELECT p.number, p.document, v.part, v.vector FROM passages AS p JOIN vectors AS v ON v.hash = p.hash"
            " WHERE v.model = ? AND (p.number, v.part) > (?, ?) AND p.number >= ? ORDER BY p.number, v.part LIMIT ?",
            (model, *last, last[0], _CHUNK),
        )
        if not found:
            break  # another process took some out meanwhile
        found = found[: count - filled]
        halves = numpy.frombuffer(b"".join(row["vector"] for row in found), dtype=numpy.float16)
        part = halves.reshape(len(found), DIMENSIONS).astype(numpy.float32)
        here = slice(filled, filled + len(found))
        numbers[here] = [row["number"] for row in found]
        documents[here] = [row["document"] for row in found]
        if signs is None:
            rows[here] = part
        else:
            signs[:, here] = _signs(part)
            rows[here] = numpy.rint(part * (127 / numpy.maximum(abs(part).max(axis=1, keepdims=True), 1e-12)))
        filled += len(found)
        last = (found[-1]["number"], found[-1]["part"])
    own, starts = numpy.unique(numbers[:filled], return_index=True)
    return Matrix(
        own,
        documents[starts],
        starts.astype(numpy.int64),
        rows[:filled],
        None if signs is None else signs[:, :filled],
    )
