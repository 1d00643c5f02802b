"""What verdicts on claims are worth: the table of verdicts for each set of claims.

    python benchmarks/verification.py [--claims FILE]... [--document FILE]... [--wordnet FOLDER] [--save FILE]

`--claims` names sets made by others: JSON lines of claim, evidence and label (supported, contradicted, not_enough),
which are read where they are. `--document` names texts from which claims are made that nobody has to label: sentences
as they stand with their function words, order, contractions and marks changed, which are still the text's; and with
one thing changed that makes them say something else, which are not. What is exchanged comes from WordNet (antonyms,
words with the same parent) and from the document itself (its numbers and names), never from the lists the rules have.
Default: manuals that Debian installs, as far as they are there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from weft.checks.claims import STATES, compare
from weft.documents import read_document
from weft.knowledge.verify.evaluation import read_rows
from weft.language.sentences import sentences

WORDNET: Final = Path("/usr/share/wordnet")
DOCUMENTS: Final = [
    *sorted(Path("/usr/share/doc/harden-doc/html").glob("ch*.en.html")),
    *sorted(Path("/usr/share/doc/maint-guide/html").glob("*.en.html")),
]
MOST: Final = 400
"""Claims of one kind."""


@dataclass(frozen=True)
class MadeClaim:
    kind: str
    claim: str
    passage: str
    same: bool
    """Whether it still says what the passage says."""


# -- WordNet


@dataclass(frozen=True)
class Lexicon:
    opposites: Mapping[str, str] = field(default_factory=dict)
    """Single words with exactly one antonym over all their senses."""
    sisters: Mapping[str, str] = field(default_factory=dict)
    """Nouns, each with one that has the same parent."""


def read_wordnet(folder: Path) -> Lexicon:
    opposites: defaultdict[str, set[str]] = defaultdict(set)
    sisters: dict[str, str] = {}
    for part in ("adj", "adv", "verb", "noun"):
        words: dict[str, list[str]] = {}
        antonyms: list[tuple[str, str, int]] = []
        children: defaultdict[str, list[str]] = defaultdict(list)
        for line in (folder / f"data.{part}").read_text("utf-8", "replace").splitlines():
            if line.startswith(" "):
                continue
            cells = line.partition(" | ")[0].split(" ")
            count = int(cells[3], 16)
            own = words[cells[0]] = [cells[4 + 2 * at].partition("(")[0] for at in range(count)]
            at = 4 + 2 * count
            for number in range(int(cells[at])):
                sign, target, _, ends = cells[at + 1 + 4 * number : at + 5 + 4 * number]
                if sign == "!":
                    antonyms.append((own[int(ends[:2], 16) - 1], target, int(ends[2:], 16) - 1))
                if sign == "@" and part == "noun" and count == 1:
                    children[target] += own
        for word, target, number in antonyms:
            opposites[word].add(words[target][number])
        for group in children.values():
            plain = [word for word in group if word.isalpha() and word.islower()]
            sisters |= dict(zip(plain, [*plain[1:], *plain[:1]], strict=True)) if len(plain) > 1 else {}
    single = {one: min(others) for one, others in opposites.items() if len(others) == 1 and one.isalpha()}
    return Lexicon({one: other for one, other in single.items() if other.isalpha()}, sisters)


# -- still the same

_ARTICLE = re.compile(r"(?<=\w) (?:the|a|an) (?=[a-z])")
_FRONTED = re.compile(r"((?:In|After|Before|During|With|For|On) [^,]{8,60}), ([a-z][^,;:]*)\.")
_CONTRACTIONS = [("do not", "don't"), ("does not", "doesn't"), ("is not", "isn't"), ("cannot", "can't"),
                 ("will not", "won't"), ("are not", "aren't"), ("it is", "it's"), ("you will", "you'll")]  # fmt: skip


def same(sentence: str) -> Iterator[tuple[str, str]]:
    yield "article left out", _ARTICLE.sub(" ", sentence, count=1)
    yield "opener added", f"However, {sentence[0].lower()}{sentence[1:]}" if sentence[1:2].islower() else sentence
    if moved := _FRONTED.fullmatch(sentence):
        front, rest = moved.groups()
        yield "phrase moved", f"{rest[0].upper()}{rest[1:]} {front[0].lower()}{front[1:]}."
    for long, short in _CONTRACTIONS:
        if f" {long} " in sentence:
            yield "contraction", sentence.replace(f" {long} ", f" {short} ", 1)
            break
    words = sentence.split()
    quoted = next((at for at, word in enumerate(words[1:], 1) if len(word) > 5 and word.isalpha()), 0)
    if quoted:
        yield "marks", " ".join(f"“{word}”" if at == quoted else word for at, word in enumerate(words))
    yield "white space and stop", "  ".join(words).rstrip(".")


# -- something else

_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,4}(?![\w.,/:-]|\.\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?= [a-z])")
_VERB = re.compile(r"\b(is|are|was|were|can|will|should|must|may|has been|have been)\b(?! not\b|n't)")
_NEGATED = re.compile(r"\b(is|are|was|were|can|will|should|must|may|do|does|did) ?not (?!only|necessarily)")
_MODALS = {"must": "may", "may": "must", "should": "need not", "can": "can never", "will": "may"}
_QUANTITIES = {"all": "some", "every": "hardly any", "most": "all", "some": "all", "many": "few", "always": "seldom",
               "often": "never", "only": "also", "at least": "at most", "never": "sometimes"}  # fmt: skip
_CONDITION = re.compile(r"(?:, (?:if|unless|when|provided) [^,]+|^(?:If|Unless|When) [^,]+, )")


def changed(
    sentence: str, lexicon: Lexicon, numbers: Sequence[str], names: Sequence[str], chance: random.Random
) -> Iterator[tuple[str, str]]:
    if found := _NUMBER.search(sentence):
        other = chance.choice([one for one in numbers if int(one) != int(found[0])] or ["7531"])
        yield "number", _put(sentence, found, other)
    if found := _NAME.search(sentence):
        other = chance.choice([one for one in names if one not in sentence] or ["Ljubljana"])
        yield "name", _put(sentence, found, other)
    if found := _NEGATED.search(sentence):
        yield "negation taken", _put(sentence, found, f"{found[1]} ")
    elif found := _VERB.search(sentence):
        yield "negation added", _put(sentence, found, f"{found[1]} not")
    if found := re.search(rf"\b({'|'.join(_MODALS)})\b(?! not)", sentence):
        yield "modal", _put(sentence, found, _MODALS[found[1]])
    if found := re.search(rf"\b({'|'.join(_QUANTITIES)})\b", sentence):
        yield "quantity", _put(sentence, found, _QUANTITIES[found[1]])
    if (found := _CONDITION.search(sentence)) and len(sentence) - len(found[0]) > 30:
        rest = sentence.replace(found[0], "", 1)
        yield "condition left out", f"{rest[0].upper()}{rest[1:]}"
    for kind, table in (("opposite", lexicon.opposites), ("sister", lexicon.sisters)):
        fitting = [word for word in re.findall(r"(?<=\s)[a-z]{4,}(?=[\s.,])", sentence) if word in table]
        if fitting:
            word = chance.choice(fitting)
            yield kind, re.sub(rf"(?<=\s){word}(?=[\s.,])", table[word], sentence, count=1)


def _put(sentence: str, found: re.Match[str], other: str) -> str:
    return sentence[: found.start()] + other + sentence[found.end() :]


def make(documents: Sequence[Path], lexicon: Lexicon, seed: int) -> list[MadeClaim]:
    chance = random.Random(seed)
    blocks: list[str] = []
    for file in documents:
        text = read_document(file.read_bytes(), file.name).text
        blocks += [
            block for block in re.split(r"\n\s*\n", text) if len(block) > 150 and not block.startswith(("|", "```"))
        ]
    whole = "\n".join(blocks)
    numbers, names = sorted({*_NUMBER.findall(whole)}), sorted({*_NAME.findall(whole)})
    made: list[MadeClaim] = []
    for block in blocks:
        passage = " ".join(block.split())
        fitting = [one for one in sentences(passage) if 7 < len(one.split()) < 36 and one.endswith(".")]
        if not fitting:
            continue
        sentence = chance.choice(fitting)
        if re.search(r"[`*\[\]|<>]|\b[a-z]\)", sentence):
            continue
        made += [MadeClaim(kind, text, passage, same=True) for kind, text in same(sentence) if text != sentence]
        made += [
            MadeClaim(kind, text, passage, same=False)
            for kind, text in changed(sentence, lexicon, numbers, names, chance)
            if text != sentence
        ]
    chance.shuffle(made)
    seen: Counter[str] = Counter()
    kept = []
    for one in made:
        seen[one.kind] += 1
        if seen[one.kind] <= MOST:
            kept.append(one)
    return kept


# -- the tables


def table(title: str, rows: Mapping[str, Counter[str]]) -> str:
    lines = [f"| {title} | claims | {' | '.join(state.replace('_', ' ') for state in STATES)} |"]
    lines.append("| --- " * (len(STATES) + 2) + "|")
    for name, counts in rows.items():
        total = sum(counts.values())
        cells = [f"{counts[state]} ({counts[state] / total:.0%})" if counts[state] else "0" for state in STATES]
        lines.append(f"| {name} | {total} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", action="append", type=Path, default=[], help="a set by others, as JSON lines")
    parser.add_argument("--document", action="append", type=Path, default=[], help="a text to make claims from")
    parser.add_argument("--wordnet", type=Path, default=WORDNET)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, default=None, help="write the claims that were made, with their verdicts")
    given = parser.parse_args()
    for file in given.claims:
        rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in read_rows(file.read_text("utf-8").splitlines()):
            rows[row.label][compare(row.claim, row.evidence).state] += 1
        print(table(file.name, rows), end="\n\n")
    documents = given.document or [file for file in DOCUMENTS if file.exists()]
    if not documents:
        sys.exit("no documents: name some with --document, or install harden-doc and maint-guide")
    if not (given.wordnet / "data.noun").exists():
        print(f"{given.wordnet} has no WordNet (Debian: wordnet-base): no opposites, no sisters", file=sys.stderr)
    lexicon = read_wordnet(given.wordnet) if (given.wordnet / "data.noun").exists() else Lexicon()
    made = make(documents, lexicon, given.seed)
    judged = [(one, compare(one.claim, one.passage)) for one in made]
    for title, wanted in (("still the same", True), ("something else", False)):
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one, verdict in judged:
            if one.same is wanted:
                counts[one.kind][verdict.state] += 1
                counts["**all**"][verdict.state] += 1
        print(table(title, dict(sorted(counts.items()))), end="\n\n")
    if given.save:
        rows_out = [
            {
                "kind": one.kind,
                "same": one.same,
                "state": verdict.state,
                "claim": one.claim,
                "sentence": verdict.sentence,
            }
            for one, verdict in judged
        ]
        given.save.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_out), "utf-8")


if __name__ == "__main__":
    main()
