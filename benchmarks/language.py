"""How long the embedded engine takes for a whole kit, and how that grows with the length of the document.

    python -m benchmarks.language [--sizes 1000,5000,20000,50000,200000] [--rounds 3]

Each size has a process of its own. The document is made up: words of a fixed vocabulary, the common ones far more often
than the rare ones, as in real text, with names, numbers, quotations and conjunctions where a text has them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks import measure

SIZES: Final = (1_000, 5_000, 20_000, 50_000, 200_000)
LIMIT_WORDS: Final = 20_000
LIMIT_SECONDS: Final = 3.0
LIMIT_MB: Final = 400.0
LINEAR: Final = 1.6
"""How much more a word of the longest document may cost than one of the 20,000."""
_SMALL: Final = ["the", "of", "a", "in", "to", "and", "for", "with", "on", "by", "from", "at"]
_VERBS: Final = ["shows", "changes", "holds", "carries", "keeps", "needs", "leaves", "meets", "finds", "gives"]
_TURNS: Final = ("But", "However,", "Therefore", "In the end", "For example,", "Yet")
_NAMES: Final = ("Helena Voss", "Tomas Brandl", "Maria Lopez", "Peter Lind", "Anna Weber", "James Okoro")


def vocabulary(chance: random.Random, size: int = 6_000) -> list[str]:
    parts = (
        "ba",
        "den",
        "kor",
        "lin",
        "mes",
        "nor",
        "pal",
        "ras",
        "sel",
        "tan",
        "ver",
        "wil",
        "gra",
        "stu",
        "ple",
        "tion",
    )
    found: dict[str, None] = {}
    while len(found) < size:
        found.setdefault("".join(chance.choice(parts) for _ in range(chance.randint(2, 4))))
    return list(found)


def sentences(chance: random.Random) -> Iterator[str]:
    words = vocabulary(chance)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    while True:
        drawn = iter(chance.choices(words, weights, k=40))
        length = chance.randint(5, 14)
        said: list[str] = []
        for at in range(length):
            said += [chance.choice(_SMALL), next(drawn)]
            if at == 1:
                said.append(chance.choice(_VERBS))
        if chance.random() < 0.12:
            said.append(f"{chance.randint(2, 900)} percent of the {next(drawn)}")
        if chance.random() < 0.08:
            said += ["because", "the", next(drawn), chance.choice(_VERBS), "the", next(drawn)]
        text = " ".join(said)
        if chance.random() < 0.1:
            text = f"{chance.choice(_TURNS)} {text}"
        if chance.random() < 0.06:
            text = f"“{text[:1].upper()}{text[1:]},” said {chance.choice(_NAMES)}"
        yield f"{text[:1].upper()}{text[1:]}{'?' if chance.random() < 0.03 else '.'}"


def document(words: int) -> str:
    chance = random.Random(11)
    made = sentences(chance)
    paragraphs: list[str] = []
    count = 0
    while count < words:
        if len(paragraphs) % 12 == 0:
            paragraphs.append(f"## Part {len(paragraphs) // 12 + 1} of the report")
        paragraph = " ".join(next(made) for _ in range(chance.randint(3, 7)))
        paragraphs.append(paragraph)
        count += len(paragraph.split())
    return "\n\n".join(paragraphs)


def timed(words: int) -> dict[str, float]:
    from weft.models import embedded

    text = document(words)
    before, begun = measure.peak_mb(), time.perf_counter()
    summary = embedded.summary(text, content_id="benchmark")
    summarized = time.perf_counter()
    ideas = embedded.ideas(text, summary)
    thought = time.perf_counter()
    outline = embedded.outline(text, summary, ideas)
    embedded.writing_kit(summary, ideas, outline, source={"id": "benchmark"})
    done = time.perf_counter()
    return {
        "words": float(summary["wordCount"]),
        "summary": summarized - begun,
        "ideas": thought - summarized,
        "outline": done - thought,
        "total": done - begun,
        "mb": measure.peak_mb(),
        "grown_mb": measure.peak_mb() - before,
    }


def report(sizes: Sequence[int], rounds: int) -> tuple[str, bool]:
    runs: dict[int, list[dict[str, Any]]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size in sizes:
            measure.say(f"language: {size} words")
            runs[size].append(measure.ask("language", "--one", size))
    found = {size: measure.medians(runs[size]) for size in sizes}
    head = ("words", "summary", "ideas", "outline", "a whole kit", "µs per word", "memory at most")
    rows = [
        (
            f"{row['words']:,.0f}",
            *(f"{row[part]:.2f} s" for part in ("summary", "ideas", "outline", "total")),
            f"{1e6 * row['total'] / row['words']:.0f}",
            f"{row['mb']:.0f} MB",
        )
        for row in found.values()
    ]
    lines = ["## The embedded engine: a kit from a document", "", measure.table(head, rows), ""]
    met = True
    if LIMIT_WORDS in found:
        row = found[LIMIT_WORDS]
        met = row["total"] < LIMIT_SECONDS and row["mb"] < LIMIT_MB
        lines.append(f"20,000 words in under {LIMIT_SECONDS:.0f} s and {LIMIT_MB:.0f} MB: {measure.verdict(met)}.")
        longest = found[max(sizes)]
        grown = (longest["total"] / longest["words"]) / (row["total"] / row["words"])
        lines.append(f"A word of the longest costs {measure.times(grown)} of that: {measure.verdict(grown <= LINEAR)}.")
        met = met and grown <= LINEAR
    return "\n".join(lines), met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="words, parted by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measure.answer(timed(given.one))
        return 0
    text, met = report([int(size) for size in given.sizes.split(",")], given.rounds)
    print(text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
