"""What the common words of a large index score, kept beside it: a search adds them up instead of working them out.

A question ranks every passage that has one of its words, and in a large index a common word stands in a hundred
thousand of them. BM25 is a sum over the words, so what each common word adds to each passage is written down once, as
the keyword index itself scores it; rare words are asked of the keyword index as ever. The ranking is the same, up to
what two bytes for a score round off. A word in more than half of all passages adds nothing that tells them apart.

The file (`kept_arrays.py`) is made when vectors are. Without one of this state of the passages the keyword index
does all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from weft.knowledge.kept_arrays import keeping_arrays, read_arrays
from weft.knowledge.store import Store
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from numpy import float32, int32, int64, uint16
    from numpy.typing import NDArray

LARGE: Final = 400_000
"""Passages from which on the file is worth its making: a ten-thousandth of a second for each."""
COMMON: Final = 1_000
"""Passages a word stands in, from which on its scores are kept."""
COLUMN_WEIGHTS: Final = (2.0, 0.5, 1.0)
"""Heading, lead-in, content. A heading says what its passage is about; a lead-in is its paragraph's words, counted
again for each of its items."""
SCORE: Final = f"-bm25(passages_fts, {', '.join(map(str, COLUMN_WEIGHTS))})"
_ENDING: Final = "words"
_STEPS: Final = 65_535
_EIGHTH: Final = 8


@dataclass(frozen=True, slots=True)
class WordScores:
    places: Mapping[str, int]
    """Of a common word: which it is of the arrays that follow."""
    everywhere: frozenset[str]
    """Words in more than half of the passages."""
    starts: NDArray[int64]
    numbers: NDArray[int32]
    scores: NDArray[uint16]
    scales: NDArray[float32]
    top: int
    """The highest number of a passage."""

    def best(self, store: Store, words: Sequence[str], limit: int) -> dict[int, float] | None:
        """The passages with any of these words (each as often as it was said) and their scores, the best first; None
        where the keyword index has to be asked for all of it."""
        import numpy

        telling = [word for word in words if word not in self.everywhere]
        if not telling:
            return None
        totals = numpy.zeros(self.top + 1, dtype=numpy.float32)
        for word in telling:
            at = self.places.get(word)
            if at is not None:
                here = slice(int(self.starts[at]), int(self.starts[at + 1]))
                totals[self.numbers[here]] += self.scores[here] * self.scales[at]
        rare = " OR ".join(f'"{word}"' for word in telling if word not in self.places)
        if rare:
            for number, score in store.rows(
                f"SELECT rowid, {SCORE} FROM passages_fts WHERE passages_fts MATCH ?", (rare,)
            ):
                totals[number] += score
        chosen = numpy.flatnonzero(totals >= _bound(totals, limit))
        order = numpy.lexsort((chosen, -totals[chosen]))[:limit]
        return {int(number): float(totals[number]) for number in chosen[order]}


def _bound(totals: NDArray[float32], limit: int) -> float:
    """A score that at least `limit` have, if so many have any, and not many more: every eighth tells it well enough."""
    import numpy

    some = totals[::_EIGHTH]
    wanted = min(len(some), 2 * limit // _EIGHTH + _EIGHTH)
    bound = float(numpy.partition(some, len(some) - wanted)[len(some) - wanted])
    if bound > 0 and numpy.count_nonzero(totals >= bound) >= limit:
        return bound
    found = totals[totals > 0]
    return float(numpy.partition(found, len(found) - limit)[len(found) - limit]) if len(found) > limit else _LEAST


_LEAST: Final = 1e-30


def load_word_scores(store: Store) -> WordScores | None:
    path = store.beside(_ENDING)
    kept = read_arrays(path, store.stamp()) if path else None
    if kept is None:
        return None
    places = {word: at for at, word in enumerate(kept.facts["words"])}
    of, everywhere = kept.arrays, frozenset(kept.facts["everywhere"])
    return WordScores(places, everywhere, of["starts"], of["numbers"], of["scores"], of["scales"], kept.facts["top"])


def keep_word_scores(store: Store, large: int = LARGE, common: int = COMMON) -> None:
    """Make the file, if the index is large and there is none of its state."""
    import numpy

    path, stamp = store.beside(_ENDING), store.stamp()
    passages, top = store.rows("SELECT count(*), max(number) FROM passages")[0]
    if path is None or passages < large or read_arrays(path, stamp) is not None:
        return
    found = store.rows("SELECT term, doc FROM passages_terms WHERE doc >= ? ORDER BY term", (common,))
    everywhere = [term for term, count in found if 2 * count > passages]
    words = [term for term, count in found if 2 * count <= passages]
    scores: list[NDArray[uint16]] = [numpy.zeros(0, dtype=numpy.uint16)]
    scales: list[float] = []

    def numbers() -> Iterator[NDArray[int32]]:
        yield numpy.zeros(0, dtype=numpy.int32)
        for word in words:
            asked = f"SELECT rowid, {SCORE} FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rowid"
            rows = store.rows(asked, (f'"{word}"',))
            having, scored = zip(*rows, strict=True) if rows else ((), ())
            exact = numpy.array(scored, dtype=numpy.float64)
            scales.append(max(float(exact.max(initial=0.0)), 1e-12) / _STEPS)
            scores.append(numpy.rint(exact / scales[-1]).astype(numpy.uint16))
            yield numpy.array(having, dtype=numpy.int32)

    with keeping_arrays(path) as writer:
        writer.put("numbers", numbers())
        writer.put("scores", scores)
        writer.put("starts", [numpy.cumsum([len(part) for part in scores], dtype=numpy.int64)])
        writer.put("scales", [numpy.array(scales, dtype=numpy.float32)])
        writer.end({"stamp": stamp, "words": words, "everywhere": everywhere, "top": top})
