"""A quick stand-in for the sentence model until its vectors are made: what each piece of a word means, in a table.

The model takes some hundredths of a second for a passage, which is hours for 100,000 of them. Here every piece of its
vocabulary is embedded once, and a text's vector is the sum of its pieces': the work of a moment. A piece counts by how
rare it is in the collection, and directions that all its passages have in common are made smaller, so that the table
tells passages of this collection apart. It knows less than the model and a little more than words alone. It is kept
beside the index, and goes when the model's own vectors are all there.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.files import Folder
from weft.knowledge.embedding import TOKENS, Embedder, unit
from weft.knowledge.store import Store
from weft.knowledge.vectors import parts_of
from weft.knowledge.wordpiece import encode, vocabulary

if TYPE_CHECKING:
    from numpy import float16
    from numpy.typing import NDArray

    from weft.knowledge.embedding import Vectors

FILE: Final = "pieces.npy"
MANY: Final = 2_000
"""Passages without a vector from which on a table is worth its making: half a minute."""
SAMPLE: Final = 4_000
"""Passages that tell how rare a piece is, and what all have in common."""
KEPT: Final = 200
"""Directions of a passage's meaning that are kept."""


class PieceTable:
    """Vectors by addition. They are compared with each other alone, never with the model's."""

    def __init__(self, model: str, rows: NDArray[float16]) -> None:
        self.model = table_name(model)
        self._rows = rows

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy

        found = numpy.zeros((len(texts), self._rows.shape[1]), dtype=numpy.float32)
        for at, text in enumerate(texts):
            numbers = encode(text, TOKENS)[1:-1]
            if numbers:
                found[at] = self._rows[numbers].astype(numpy.float32).sum(axis=0)
        return unit(found)


def table_name(model: str) -> str:
    return f"{model}/pieces"


def read_table(folder: Folder, model: str) -> PieceTable | None:
    import numpy

    if not folder.exists(FILE):
        return None
    return PieceTable(model, numpy.load(io.BytesIO(folder.read(FILE)), allow_pickle=False))


def make_table(store: Store, folder: Folder, embedder: Embedder) -> PieceTable:
    import numpy

    pieces = vocabulary()
    meant = embedder.embed([piece.removeprefix("##") for piece in pieces])
    raw = numpy.zeros((max(pieces.values()) + 1, meant.shape[1]), dtype=numpy.float32)
    raw[list(pieces.values())] = meant
    total = store.counts()["passages"]
    numbers = [row["number"] for row in store.rows("SELECT number FROM passages ORDER BY number")]
    chosen = numbers[:: max(1, total // SAMPLE)][:SAMPLE]
    texts = [encode(text, TOKENS)[1:-1] for one in store.passages(chosen) for text in parts_of(one)]
    seen = Counter(number for text in texts for number in set(text))
    having = numpy.zeros(len(raw), dtype=numpy.float32)
    having[list(seen)] = list(seen.values())
    rare = numpy.log1p((len(texts) - having + 0.5) / (having + 0.5)).clip(min=0.0)[:, None].astype(numpy.float32)
    means = [(raw[text] * rare[text]).sum(axis=0) / max(float(rare[text].sum()), 1e-9) for text in texts if text]
    told = numpy.array(means, dtype=numpy.float32).reshape(len(means), raw.shape[1])
    middle = told.mean(axis=0) if len(told) else numpy.zeros(raw.shape[1], dtype=numpy.float32)
    strength, ways = numpy.linalg.eigh((told - middle).T @ (told - middle))
    best = numpy.flatnonzero(strength > 1e-6 * max(float(strength[-1]), 1e-12))[-KEPT:]
    levelled = (ways[:, best] * strength[best] ** -0.25) @ ways[:, best].T
    rows = rare * ((raw - middle) @ levelled)
    rows /= max(float(abs(rows).max()), 1e-12)
    held = io.BytesIO()
    numpy.save(held, rows.astype(numpy.float16), allow_pickle=False)
    folder.replace(FILE, held.getvalue())
    return PieceTable(embedder.model, rows.astype(numpy.float16))
