"""Search by words, by meaning, or by both fused; with filters that hold for both, and an honest account.

    words      FTS5 with BM25 over heading, lead-in and content                    (keyword.py, word_scores.py)
    meaning    vectors of the passages against that of the question                (vectors.py, embedding.py)
    names      passages the question names (`ISA 315.12`) come first               (grammar.py)
    rerank     the question's vector is moved towards the first finds, and the vectors are ranked again; a hybrid search
               does so by itself

Without vectors search goes by words alone and says so; with vectors for a part of the passages it says for how many,
and goes by a quicker table of word pieces (pieces.py) where that has more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal

from weft.knowledge.collection import Collection
from weft.knowledge.embedding import Embedder, Unavailable
from weft.knowledge.fusion import K, blend, fuse
from weft.knowledge.keyword import match_query, plain_words
from weft.knowledge.matrix import Matrix, load_matrix
from weft.knowledge.place import same_key
from weft.knowledge.store import Store, StoredPassage
from weft.knowledge.word_scores import SCORE, WordScores, load_word_scores
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from numpy import bool_, float32
    from numpy.typing import NDArray

Mode = Literal["hybrid", "keyword", "vector"]
POOL: Final = 100
"""How many of each ranking are fused. Fewer lose what both know but neither puts first."""
TELLING: Final = 1e-3
"""The least that BM25 gives the best passage where a word tells any apart: one that most have counts nothing."""
NOTHING_YET: Final = (
    "the index has no passages: `weft kb add` brings documents, and `weft kb update` reads those that are there"
)
NO_WORDS: Final = "no passage has any of these words: what is found is only near in meaning"
FEEDBACK: Final = 2
FEEDBACK_WEIGHT: Final = 0.8
_SAFE_IN_SMALL_LETTERS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a passage's document must be; nothing given means any."""

    documents: tuple[str, ...] = ()
    """Keys, titles or files."""
    tier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    passage: StoredPassage
    score: float
    """0 to 1: 1 is the first of every ranking, far ahead by its words. Comparable between searches."""
    fused: float
    """By the places in the rankings alone (reciprocal rank fusion)."""
    paths: tuple[str, ...]
    bm25: float | None = None
    likeness: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    hits: tuple[Hit, ...]
    mode: Mode
    """What was really done, which may be less than what was asked for."""
    query: str
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Rankings:
    keyword: dict[int, float] = field(default_factory=dict)
    vector: dict[int, float] = field(default_factory=dict)
    named: list[int] = field(default_factory=list)

    def blended(self) -> dict[int, float]:
        """What is named stands before what is found, as if it were first everywhere."""
        return dict.fromkeys(self.named, 1.0) | {
            item: score for item, score in blend(self.keyword, self.vector, POOL).items() if item not in self.named
        }

    def by_places(self) -> tuple[dict[int, float], dict[int, float]]:
        """The same by the places alone, and these as shares of the first place everywhere. Words that most passages
        have give no places."""
        words = self.keyword if max(self.keyword.values(), default=0.0) >= TELLING or not self.vector else {}
        lists = [list(ranking) for ranking in (words, self.vector) if ranking]
        best = max(1, len(lists)) / (K + 1)
        first = dict.fromkeys(self.named, best)
        found = first | {item: score for item, score in fuse(lists).items() if item not in first}
        return found, {item: min(1.0, score / best) for item, score in found.items()}

    def paths(self, number: int) -> tuple[str, ...]:
        known = {"named": self.named, "keyword": self.keyword, "vector": self.vector}
        return tuple(name for name, ranking in known.items() if number in ranking)


class Search:
    """Keeps the vectors in memory between searches, as long as the index does not change."""

    def __init__(
        self,
        store: Store,
        collection: Collection,
        embedder: Embedder | Unavailable,
        table: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """`table` gives a quicker embedder, whose vectors are used while the other's are not all made."""
        self._store = store
        self._collection = collection
        self._embedder = embedder
        self._table = table
        self._by: Embedder | None = None
        """Whose vectors are in `_matrix`."""
        self._matrix: Matrix | None = None
        self._version = ""
        self._without = 0
        self._scores: WordScores | None = None
        self._scores_of: int | None = None

    def find(
        self,
        query: str,
        *,
        limit: int = 20,
        mode: Mode = "hybrid",
        filters: Filters | None = None,
        expanded: bool = True,
        rerank: bool | None = None,
    ) -> Found:
        """`rerank` says whether the first finds move the question; a hybrid search does so unless it is told not to,
        and is then fused by places alone, for which the weights of answers were fitted."""
        filters = filters or Filters()
        warnings: list[str] = []
        words = expand(query, self._collection.acronyms) if expanded else query
        if not query.strip():
            return Found(hits=(), mode=mode, query=words, warnings=("the question is empty",))
        if not self._store.rows("SELECT 1 FROM passages LIMIT 1"):
            return Found(hits=(), mode=mode, query=words, warnings=(NOTHING_YET,))
        documents = self._documents(filters)
        if documents is not None and not documents:
            return Found(hits=(), mode=mode, query=words, warnings=("no document passes the filter",))
        mode = self._possible(mode, warnings)
        rankings = _Rankings()
        pool = max(POOL, limit)
        if mode != "vector":
            rankings.keyword = self._by_words(words, pool, documents)
            rankings.named = self._named(query, documents)
        if mode != "keyword":
            self._by_meaning(rankings, words, pool, documents, rerank=mode == "hybrid" if rerank is None else rerank)
        elif rerank:
            warnings.append("nothing was ranked again: that needs vectors")
        if mode == "hybrid" and not rankings.keyword and not rankings.named:
            warnings.append(NO_WORDS)
        fused, scores = rankings.by_places()
        if mode == "hybrid" and rerank is not False:
            scores = rankings.blended()
        chosen = list(scores)[:limit]
        hits = [
            Hit(
                passage=passage,
                score=scores[passage.number],
                fused=fused[passage.number],
                paths=rankings.paths(passage.number),
                bm25=rankings.keyword.get(passage.number),
                likeness=rankings.vector.get(passage.number) if self._by is self._embedder else None,
            )
            for passage in self._store.passages(chosen)
        ]
        return Found(hits=tuple(hits), mode=mode, query=words, warnings=tuple(warnings))

    # -- what is possible

    def _possible(self, mode: Mode, warnings: list[str]) -> Mode:
        if mode == "keyword":
            return mode
        if isinstance(self._embedder, Unavailable):
            warnings.append(f"vectors are not used: {self._embedder.reason}")
            return "keyword"
        matrix = self._vectors()
        if matrix is None or not len(matrix.numbers):
            warnings.append("vectors are not used: none are made yet; `weft kb update` makes them")
            return "keyword"
        if self._without and self._by is not self._embedder:
            warnings.append(
                f"{self._without:,} passages have no vector yet and are compared by the pieces of their words"
            )
        elif self._without:
            warnings.append(f"{self._without:,} passages have no vector yet and are found by their words only")
        return mode

    def _documents(self, filters: Filters) -> list[int] | None:
        """The documents that pass; None when there is no filter, or all pass it."""
        if not (filters.documents or filters.tier):
            return None
        grammar = self._collection.grammar
        wanted = {same_key(name) for name in filters.documents}
        wanted |= {same_key(place.document) for name in filters.documents for place in grammar.parse(name)}
        every = self._store.rows("SELECT number, key, title, file, tier FROM documents")
        passing = [
            row["number"]
            for row in every
            if (not filters.tier or row["tier"] == filters.tier)
            and (not wanted or wanted & {same_key(row[name]) for name in ("key", "title", "file")})
        ]
        return None if every and len(passing) == len(every) else passing

    # -- rankings

    def _by_words(self, words: str, pool: int, documents: Sequence[int] | None) -> dict[int, float]:
        query = match_query(words)
        if not query:
            return {}
        plain = plain_words(words) if documents is None else None
        if plain and (kept := self._kept_scores()) and (best := kept.best(self._store, plain, pool)) is not None:
            return best
        inside = ""
        if documents is not None:
            # `+`: otherwise the question is asked anew for every passage of these documents.
            inside = f"AND +rowid IN (SELECT number FROM passages WHERE document IN ({','.join(map(str, documents))}))"
        found = self._store.rows(
            f"SELECT rowid, {SCORE} AS score FROM passages_fts WHERE passages_fts MATCH ?"
            f" {inside} ORDER BY score DESC, rowid LIMIT ?",
            (query, pool),
        )
        return {row["rowid"]: row["score"] for row in found}

    def _kept_scores(self) -> WordScores | None:
        stamp = self._store.stamp()
        if stamp != self._scores_of:
            self._scores, self._scores_of = load_word_scores(self._store), stamp
        return self._scores

    def _named(self, query: str, documents: Sequence[int] | None) -> list[int]:
        found = [
            number
            for reference in self._collection.grammar.find(query)
            for number in self._store.numbers_at(reference.place)
        ]
        if documents is not None and found:
            marks = ",".join("?" * len(found))
            inside = ",".join(map(str, documents))
            rows = self._store.rows(
                f"SELECT number FROM passages WHERE number IN ({marks}) AND document IN ({inside})", found
            )
            allowed = {row["number"] for row in rows}
            found = [number for number in found if number in allowed]
        return list(dict.fromkeys(found))

    def _by_meaning(
        self, rankings: _Rankings, words: str, pool: int, documents: Sequence[int] | None, *, rerank: bool
    ) -> None:
        import numpy

        matrix = self._vectors()
        assert matrix is not None
        assert self._by is not None
        allowed: NDArray[bool_] | None = None
        if documents is not None:
            allowed = numpy.isin(matrix.documents, numpy.asarray(documents, dtype=numpy.int64))
        query: NDArray[float32] = self._by.embed([words])[0]
        rankings.vector = dict(matrix.nearest(query, pool, allowed))
        if rerank:
            first = list(rankings.blended())[:FEEDBACK]
            near = matrix.of(first)
            if len(near):
                moved = query + numpy.float32(FEEDBACK_WEIGHT) * near.mean(axis=0)
                moved /= max(float(numpy.linalg.norm(moved)), 1e-12)
                rankings.vector = dict(matrix.nearest(moved, pool, allowed))

    def _vectors(self) -> Matrix | None:
        if isinstance(self._embedder, Unavailable):
            return None
        version = self._store.version()
        if self._matrix is None or version != self._version:
            self._matrix, self._by = load_matrix(self._store, self._embedder.model), self._embedder
            self._without = self._matrix.without
            table = self._table() if self._without else None
            quick = load_matrix(self._store, table.model) if table else None
            if quick is not None and len(quick.numbers) > len(self._matrix.numbers):
                self._matrix, self._by = quick, table
            self._version = version
        return self._matrix


def expand(query: str, acronyms: Mapping[str, str]) -> str:
    """A question with the words that its short forms stand for added, unless it says them already.

    A short form counts only as a whole word, in the case it is declared in; in small letters only when it is longer
    than three letters, so that `it` and `am` stay the words they are."""
    small = {name.lower(): name for name in acronyms if len(name) >= _SAFE_IN_SMALL_LETTERS and name.upper() == name}
    said = " ".join(query.lower().split())
    added: list[str] = []
    for word in re.findall(r"\w+", query):
        name = word if word in acronyms else small.get(word, "")
        if not name:
            continue
        words = acronyms[name]
        if not re.search(rf"(?<!\w){re.escape(words.lower())}(?!\w)", said):
            added.append(words)
            said += f" {words.lower()}"
    return " ".join([query, *added]) if added else query
