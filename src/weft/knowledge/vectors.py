"""The vectors of an index: made once for every text, and kept by its hash. `matrix.py` compares them.

A passage is found the moment it is filed, by its words; its vector comes when there is time. `fill` makes what is
missing a batch at a time, each kept when it is done, so it can be stopped at any moment and goes on where it was. A
passage longer than the model reads well has a vector for each of its parts, and is as near as the nearest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.knowledge.embedding import Embedder
from weft.knowledge.matrix import keep_matrix
from weft.knowledge.splitting import spans
from weft.knowledge.store import Store, StoredPassage

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
    keep_matrix(store, embedder.model)
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
