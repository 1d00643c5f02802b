"""How good search is, on a judged collection; and how fast, on many passages.

    python benchmarks/retrieval.py [--cranfield FOLDER] [--index FILE]      quality, by words, meaning, both, reranked
    python benchmarks/retrieval.py --scale 100000                           rate, size and time, beside its own parts

Cranfield 1400 (cran.all.1400, cran.qry, cranqrel) is read from FOLDER or from WEFT_CRANFIELD, and skipped with a word
when it is not there. Its queries are numbered in order of appearance. Judgments 1 (best) to 4 are worth 4 to 1, 5 is
not relevant; nDCG has gains of 2^worth - 1. `--index` keeps the index, so that a second run makes no vector again.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from weft.documents import Document
from weft.knowledge.collection import parse_collection
from weft.knowledge.cutting import cut_document
from weft.knowledge.embedding import DIMENSIONS, Unavailable, load_embedder
from weft.knowledge.passage import CutDocument, Passage
from weft.knowledge.place import CitedPlace, passage_id
from weft.knowledge.search import Mode, Search
from weft.knowledge.store import Store
from weft.knowledge.vectors import fill, missing
from weft.knowledge.word_scores import LARGE, keep_word_scores

if TYPE_CHECKING:
    from weft.knowledge.embedding import Vectors

Ranking = list[str]
PLAIN = parse_collection("title: Cranfield\ntiers: {guides: {structure: headings}}\n")


def records(path: Path) -> list[dict[str, str]]:
    """The records of a file in the collection's own format: `.I` begins one, `.T`, `.A`, `.B` and `.W` its fields."""
    found: list[dict[str, str]] = []
    field = ""
    for line in path.read_text("latin-1").splitlines():
        if line.startswith(".I "):
            found.append({"I": line[3:].strip()})
            field = ""
        elif re.fullmatch(r"\.[TABW]\s*", line):
            field = line[1]
        elif found and field:
            found[-1][field] = f"{found[-1].get(field, '')} {line}".strip()
    return found


def judgments(path: Path) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for line in path.read_text().splitlines():
        query, _, document, code = line.split()
        worth = {-1: 4, 1: 4, 2: 3, 3: 2, 4: 1}.get(int(code), 0)
        found.setdefault(int(query), {})[document] = worth
    return found


def ndcg(ranking: Ranking, judged: dict[str, int], depth: int = 10) -> float:
    def total(worths: Sequence[int]) -> float:
        return sum((2.0**worth - 1) / math.log2(rank + 2) for rank, worth in enumerate(worths[:depth]))

    best: float = total(sorted(judged.values(), reverse=True))
    return total([judged.get(document, 0) for document in ranking]) / best if best else 0.0


def recall(ranking: Ranking, judged: dict[str, int], depth: int = 20) -> float:
    relevant = {document for document, worth in judged.items() if worth}
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0


def percentiles(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2] * 1e3:.1f} / {ordered[int(len(ordered) * 0.99)] * 1e3:.1f}"


def quality(folder: Path, index: Path) -> None:
    embedder = load_embedder()
    with Store(index) as store:
        known = store.hashes()
        for record in records(folder / "cran.all.1400"):
            name = f"{record['I']}.md"
            if name not in known:
                text = f"# {record.get('T', '')}\n\n{record.get('W', '')}"
                document = Document(kind="markdown", title=record.get("T", ""), text=text, words=0)
                store.put(cut_document(document, name, "1", PLAIN))
        if not isinstance(embedder, Unavailable):
            begun, count = time.perf_counter(), missing(store, embedder.model)
            fill(store, embedder, lambda done, every: print(f"\r{done}/{every} vectors", end="", file=sys.stderr))
            if count:
                print(f"\n{count / (time.perf_counter() - begun):.1f} vectors a second", file=sys.stderr)
        search = Search(store, PLAIN, embedder)
        queries = [record["W"] for record in records(folder / "cran.qry")]
        judged = judgments(folder / "cranqrel")
        print(f"{'':<18}{'nDCG@10':>9}{'recall@20':>11}{'p50 / p99 ms':>18}")
        rows: list[tuple[str, Mode, bool]] = [
            ("keyword", "keyword", False),
            ("vector", "vector", False),
            ("hybrid, once", "hybrid", False),
            ("hybrid", "hybrid", True),
        ]
        for label, mode, rerank in rows:
            print(f"{label:<18}{measured(search, queries, judged, mode, rerank=rerank)}")


def measured(
    search: Search, queries: Sequence[str], judged: dict[int, dict[str, int]], mode: Mode, *, rerank: bool
) -> str:
    gains, recalls, times = [], [], []
    for number, query in enumerate(queries, start=1):
        begun = time.perf_counter()
        found = search.find(query, limit=40, mode=mode, rerank=rerank)
        times.append(time.perf_counter() - begun)
        if found.mode != mode:
            return f"  not measured: {found.warnings[0]}"
        ranking = list(dict.fromkeys(hit.passage.file.removesuffix(".md") for hit in found.hits))
        gains.append(ndcg(ranking, judged[number]))
        recalls.append(recall(ranking, judged[number]))
    count = len(queries)
    return f"{sum(gains) / count:>9.4f}{sum(recalls) / count:>11.4f}{percentiles(times):>18}"


class Random:
    """Vectors around 200 centres: for rate, size and time, where it does not matter what they mean."""

    model = "random"

    def __init__(self) -> None:
        self._random = numpy.random.default_rng(7)
        self._centres = self._random.standard_normal((200, DIMENSIONS)).astype(numpy.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        noise = self._random.standard_normal((len(texts), DIMENSIONS)).astype(numpy.float32)
        rows = self._centres[self._random.integers(0, 200, len(texts))] + numpy.float32(0.9) * noise
        result: Vectors = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
        return result


def scale(count: int, index: Path) -> None:
    random = numpy.random.default_rng(7)
    words = numpy.array([f"w{number}" for number in range(30_000)])
    share = 1.0 / numpy.arange(1, len(words) + 1) ** 1.07
    share /= share.sum()
    embedder = Random()
    with Store(index) as store:
        begun = time.process_time()
        for start in range(0, count, 1000):
            key = f"d{start}"
            texts = [" ".join(row) for row in random.choice(words, size=(1000, 60), p=share)]
            passages = [
                Passage(
                    id=passage_id(key, str(at)),
                    ref=f"{key}.{at}",
                    place=CitedPlace(document=key, paragraph=str(at)),
                    content=text,
                )
                for at, text in enumerate(texts)
            ]
            store.put(
                CutDocument(file=f"{key}.md", hash="1", key=key, title=key, tier="standards", passages=tuple(passages))
            )
        print(
            f"filed            {count / (time.process_time() - begun):>9,.0f} passages a second of CPU, made up as well"
        )
        begun = time.process_time()
        fill(store, embedder)
        print(f"vectors kept     {count / (time.process_time() - begun):>9,.0f} a second of CPU (made at random)")
        begun = time.process_time()
        keep_word_scores(store)
        print(f"common words     {time.process_time() - begun:>9,.1f} s of CPU (0 below {LARGE:,} passages)")
        size = sum(file.stat().st_size for file in index.parent.glob(f"{index.name}*"))
        print(f"index            {size / 2**20:>9,.0f} MiB")
        search = Search(store, PLAIN, embedder)
        questions = [" ".join(words[random.integers(20, 3000, 3)]) for _ in range(200)]
        begun = time.process_time()
        search.find(questions[0])
        print(f"the first search {time.process_time() - begun:>9,.2f} s of CPU")
        rows: list[tuple[str, Callable[[int], object]]] = [
            ("hybrid", lambda at: search.find(questions[at], limit=20)),
            ("keyword (FTS5)", lambda at: search.find(questions[at], limit=20, mode="keyword")),
            ("vectors", lambda at: search.find(questions[at], limit=20, mode="vector")),
        ]
        for label, ask in rows:
            times, spent = [], []
            for at in range(len(questions)):
                begun, worked = time.perf_counter(), time.process_time()
                ask(at)
                times.append(time.perf_counter() - begun)
                spent.append(time.process_time() - worked)
            print(f"{label:<17}{percentiles(times):>18} ms p50 / p99, of CPU {percentiles(spent)}")
    print(f"resident         {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>9,.0f} MiB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cranfield", type=Path, default=os.environ.get("WEFT_CRANFIELD"))
    parser.add_argument("--index", type=Path)
    parser.add_argument("--scale", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        index = given.index or Path(place, "index.db")
        if given.scale:
            scale(given.scale, index)
        elif given.cranfield is None or not Path(given.cranfield, "cranqrel").exists():
            print("Cranfield is not there: name its folder with --cranfield or WEFT_CRANFIELD", file=sys.stderr)
        else:
            quality(Path(given.cranfield), index)


if __name__ == "__main__":
    main()
