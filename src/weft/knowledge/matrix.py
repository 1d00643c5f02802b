"""All vectors of a model in one piece, compared at once.

A small one is read from the index and compared as it is. A large one is kept in a file beside the index
(`kept_arrays.py`), which is mapped: a process that has just begun searches at once. The file is made when vectors have
been made (`keep_matrix`), or by the first search that finds none of this state of the passages. It may lack vectors
that were made since, but never has one of a passage that is no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from weft.knowledge.embedding import DIMENSIONS
from weft.knowledge.kept_arrays import keeping_arrays, read_arrays
from weft.knowledge.store import Store
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from numpy import bool_, float32, int8, int64, uint16, uint64
    from numpy.typing import NDArray

LARGE: Final = 20_000
"""Vectors from which on not every one is compared as it is."""
SHORTLIST: Final = 20
"""So many times as many as are wanted are compared as they are."""
_BLOCK: Final = 16_384
_FITTING: Final = 3
"""Lines of 64 signs whose counts fit a byte together."""
_EIGHTH: Final = 8
_CHUNK: Final = 10_000


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors with the passage and the document that rows belong to.

    A large one (from `LARGE` rows on) is in bytes and compared in two steps: by the signs of all vectors, 48 bytes
    each, which is a count of bits; then the nearest by that as they are. A million rows take 430 MB.
    """

    numbers: NDArray[int64]
    documents: NDArray[int64]
    starts: NDArray[int64]
    """Where each passage's rows begin."""
    rows: NDArray[float32] | NDArray[int8]
    signs: NDArray[uint64] | None = None
    """Of a large one: a line for every 64 dimensions, a column for every row."""
    without: int = 0
    """How many passages have no vector here."""

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
        differing = self._differing(_signs(query[None, :])[:, 0])
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

    def _differing(self, asked: NDArray[uint64]) -> NDArray[uint16]:
        """In how many signs each row differs. A block stays in the cache, and nothing is made anew for the next."""
        import numpy

        assert self.signs is not None
        result = numpy.empty(len(self.rows), dtype=numpy.uint16)
        differing = numpy.empty(_BLOCK, dtype=numpy.uint64)
        counts, sums = numpy.empty(_BLOCK, dtype=numpy.uint8), numpy.empty(_BLOCK, dtype=numpy.uint8)
        for start in range(0, len(self.rows), _BLOCK):
            size = min(_BLOCK, len(self.rows) - start)
            total = result[start : start + size]
            total[:] = 0
            for first in range(0, len(self.signs), _FITTING):
                sums[:] = 0
                for line, sign in zip(
                    self.signs[first : first + _FITTING], asked[first : first + _FITTING], strict=True
                ):
                    numpy.bitwise_xor(line[start : start + size], sign, out=differing[:size])
                    numpy.bitwise_count(differing[:size], out=counts[:size])
                    sums += counts
                total += sums[:size]
        return result

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
        return numpy.array(found, dtype=numpy.float32).reshape(len(found), self.rows.shape[1])

    def _sizes(self) -> NDArray[int64]:
        import numpy

        return numpy.diff(self.starts, append=len(self.rows))


def _signs(rows: NDArray[float32]) -> NDArray[uint64]:
    import numpy

    packed = numpy.packbits(rows > 0, axis=1)
    return numpy.ascontiguousarray(packed.view(numpy.uint64).T)


def _bytes(rows: NDArray[float32]) -> NDArray[int8]:
    import numpy

    found: NDArray[int8] = numpy.rint(rows * (127 / numpy.maximum(abs(rows).max(axis=1, keepdims=True), 1e-12))).astype(
        numpy.int8
    )
    return found


def load_matrix(store: Store, model: str, large: int = LARGE) -> Matrix:
    kept = _kept(store, model)
    if kept is not None:
        return kept
    count = _count(store, model)
    if count >= large:
        try:
            _keep(store, model, whole=False)
        except (ExternalError, UserError):
            pass  # a folder that can't be written, a full disk: in memory it is the same
        else:
            kept = _kept(store, model)
    return kept or _in_memory(store, model, count, large)


def keep_matrix(store: Store, model: str, large: int = LARGE) -> None:
    """For when all vectors of a model are made: of a large one, the file that searches map."""
    if _count(store, model) < large:
        return
    path = _path(store, model)
    kept = read_arrays(path, store.stamp()) if path else None
    if not (kept and kept.facts["whole"]):
        _keep(store, model, whole=True)


def _path(store: Store, model: str) -> Path | None:
    return store.beside(f"{model.replace('/', '-')}.vectors")


def _count(store: Store, model: str) -> int:
    counted = "SELECT count(*) FROM passages AS p JOIN vectors AS v ON v.hash = p.hash WHERE v.model = ?"
    return int(store.rows(counted, (model,))[0][0])


def _kept(store: Store, model: str) -> Matrix | None:
    path = _path(store, model)
    found = read_arrays(path, store.stamp()) if path else None
    if found is None:
        return None
    of = found.arrays
    return Matrix(of["numbers"], of["documents"], of["starts"], of["rows"], of["signs"], found.facts["without"])


def _keep(store: Store, model: str, *, whole: bool) -> None:
    import numpy

    path, stamp = _path(store, model), store.stamp()
    if path is None:
        return
    numbers, documents, signs = [], [], []

    def rows() -> Iterator[NDArray[int8]]:
        for number, document, part in _parts(store, model):
            numbers.append(number)
            documents.append(document)
            signs.append(_signs(part))
            yield _bytes(part)

    with keeping_arrays(path) as writer:
        writer.put("rows", rows())
        if not numbers:
            raise ExternalError(f"the vectors of {store.path} were removed meanwhile", retryable=True)
        writer.put("signs", [numpy.concatenate(signs, axis=1)])
        own, starts = numpy.unique(numpy.concatenate(numbers), return_index=True)
        writer.put("numbers", [own])
        writer.put("documents", [numpy.concatenate(documents)[starts]])
        writer.put("starts", [starts.astype(numpy.int64)])
        writer.end({"stamp": stamp, "whole": whole, "without": _passages(store) - len(own)})


def _in_memory(store: Store, model: str, count: int, large: int) -> Matrix:
    import numpy

    many = count >= large
    numbers = numpy.zeros(count, dtype=numpy.int64)
    documents = numpy.zeros(count, dtype=numpy.int64)
    rows = numpy.zeros((count, DIMENSIONS), dtype=numpy.int8 if many else numpy.float32)
    signs = numpy.zeros((DIMENSIONS // 64, count), dtype=numpy.uint64) if many else None
    filled = 0
    for number, document, part in _parts(store, model):
        size = min(len(number), count - filled)  # another process may have added some
        here = slice(filled, filled + size)
        numbers[here], documents[here] = number[:size], document[:size]
        rows[here] = _bytes(part[:size]) if many else part[:size]
        if signs is not None:
            signs[:, here] = _signs(part[:size])
        filled += size
    own, starts = numpy.unique(numbers[:filled], return_index=True)
    return Matrix(
        own,
        documents[starts],
        starts.astype(numpy.int64),
        rows[:filled],
        None if signs is None else signs[:, :filled],
        _passages(store) - len(own),
    )


def _passages(store: Store) -> int:
    return int(store.rows("SELECT count(*) FROM passages")[0][0])


def _parts(store: Store, model: str) -> Iterator[tuple[NDArray[int64], NDArray[int64], NDArray[float32]]]:
    """Passages, documents and vectors in the order of the passages, a few thousand at a time, so that no more is in
    memory than what is kept."""
    import numpy

    last = (-1, -1)
    while found := store.rows(
        "SELECT p.number, p.document, v.part, v.vector FROM passages AS p JOIN vectors AS v ON v.hash = p.hash"
        " WHERE v.model = ? AND (p.number, v.part) > (?, ?) AND p.number >= ? ORDER BY p.number, v.part LIMIT ?",
        (model, *last, last[0], _CHUNK),
    ):
        numbers, documents, parts, vectors = zip(*found, strict=True)
        last = (numbers[-1], parts[-1])
        halves = numpy.frombuffer(b"".join(vectors), dtype=numpy.float16).reshape(len(found), DIMENSIONS)
        yield numpy.array(numbers), numpy.array(documents), halves.astype(numpy.float32)
