"""How well verification tells claims apart: a labelled set made from a real document by rules, and its scores.

    python benchmarks/verification.py [--document FILE]... [--save FILE] [--show KIND]

Sentences of the document are taken as they are, paraphrased by rules that keep the sense, or changed in one thing that
does not: a number, a unit, a negation, an obligation, an opposite, a name. Sentences of other passages stand for claims
with no support. The label comes from the rule; nothing is judged by hand. Default: the licence texts of this package
and, where they are, of the system (`/usr/share/common-licenses`). `--save` writes the set as JSON lines.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.checks.claims import compare
from weft.documents import read_document
from weft.knowledge.collection import parse_collection
from weft.knowledge.cutting import cut_document
from weft.language.sentences import sentences

DEFAULTS = [
    Path(__file__).parent.parent / "LICENSE",
    *(Path("/usr/share/common-licenses", name) for name in ("GPL-3", "GPL-2", "MPL-2.0", "GFDL-1.3")),
]
COLLECTION = parse_collection("title: Licences\n")
PER_KIND = 60


@dataclass(frozen=True)
class Claim:
    kind: str
    label: str
    """supported, contradicted or unsupported"""
    claim: str
    passage: str


def passages(files: list[Path]) -> Iterator[str]:
    for file in files:
        if file.exists():
            document = read_document(file.read_bytes(), file.name)
            for passage in cut_document(document, file.name, "1", COLLECTION).passages:
                if len(passage.content) > 200:
                    yield passage.content


# -- rules that keep the sense

SAME = [
    (r"\bshall\b", "must"), (r"\bmust\b", "is required to"), (r"\bprior to\b", "before"), (r"\bprovided that\b", "if"),
    (r"\bin accordance with\b", "under"), (r"\bpursuant to\b", "under"), (r"\bhowever, ", ""),
    (r"\bYou may\b", "One may"),
    (r"\bfor example, ", ""), (r"\bany and all\b", "all"), (r"\bin order to\b", "to"),
    (r"\bmay not\b", "are not allowed to"),
    (r"\bsuch as\b", "like"), (r"\bupon\b", "on"), (r"\bis not\b", "isn't"), (r"\bdoes not\b", "doesn't"),
    (r"\bthree\b", "3"),
    (r"\bobtain\b", "get"), (r"\bthirty\b", "30"), (r"\b30\b", "thirty"), (r"\b60\b", "sixty"), (r"\bkeep\b", "retain"),
]  # fmt: skip


def reworded(sentence: str, chance: random.Random) -> str:
    changed = sentence
    for pattern, words in chance.sample(SAME, len(SAME)):
        changed = re.sub(pattern, words, changed, count=1)
    return changed if changed != sentence else ""


def reordered(sentence: str, _: random.Random) -> str:
    match = re.fullmatch(r"(If|When|Unless|Where) ([^,]{12,120}), ([^,]{20,160})\.", sentence)
    return f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}." if match else ""


def shortened(sentence: str, _: random.Random) -> str:
    changed = re.sub(r" \([^()]{4,160}\)", "", sentence, count=1)
    return changed if changed != sentence and len(changed) > 50 else ""


# -- rules that do not

NUMBER_WORDS = {"two": "seven", "three": "nine", "thirty": "ninety", "ten": "forty", "four": "eleven", "five": "fifty"}


def other_number(sentence: str, chance: random.Random) -> str:
    match = re.search(
        r"(?<![\w.§(])(?<!section )(?<!Section )(?<!version )(?<!Version )\d{1,4}(?![\w.)]*\d)(?= [a-z])", sentence
    )
    if match:
        number = int(match[0]) + chance.choice((1, 3, 10, 25))
        return sentence[: match.start()] + str(number) + sentence[match.end() :]
    for word, other in NUMBER_WORDS.items():
        if re.search(rf"\b{word}\b", sentence):
            return re.sub(rf"\b{word}\b", other, sentence, count=1)
    return ""


def other_unit(sentence: str, _: random.Random) -> str:
    match = re.search(r"\b(\d+|thirty|sixty|three|one) (days|years|months|hours|weeks|pages|lines)\b", sentence)
    units = {
        "days": "years",
        "years": "days",
        "months": "days",
        "hours": "weeks",
        "weeks": "hours",
        "pages": "lines",
        "lines": "pages",
    }
    return sentence.replace(match[0], f"{match[1]} {units[match[2]]}", 1) if match else ""


def denied(sentence: str, _: random.Random) -> str:
    if re.search(r"\b(not|no|never|without|nor|neither|unless|except|cannot)\b", sentence, re.IGNORECASE):
        changed = re.sub(r"\b(must|shall|may|is|are|does|do|will|should|can) not\b", r"\1", sentence, count=1)
        return changed if changed != sentence and not re.search(r"\b(not|no|nor)\b", changed) else ""
    return _once(r"\b(must|shall|will|should|is|are|can)\b", r"\1 not", sentence)


def other_obligation(sentence: str, _: random.Random) -> str:
    if len(re.findall(r"\b(must|shall|may|should|can|might|could)\b", sentence)) != 1:
        return ""
    changed = re.sub(r"\b(must|shall)\b(?! not)", "may", sentence, count=1)
    return changed if changed != sentence else _once(r"\bmay\b(?! not)", "must", sentence)


OPPOSITE = [
    ("before", "after"), ("after", "before"), ("more", "less"), ("increase", "decrease"), ("includes", "excludes"),
    ("included", "excluded"), ("public", "private"), ("permitted", "prohibited"), ("minimum", "maximum"),
    ("valid", "invalid"),
    ("all", "none"), ("with", "without"), ("first", "last"), ("least", "most"), ("same", "different"),
]  # fmt: skip


def turned(sentence: str, chance: random.Random) -> str:
    for word, other in chance.sample(OPPOSITE[:12], 12):
        if re.search(rf"\b{word}\b", sentence) and not re.search(rf"\b{other}\b", sentence):
            return re.sub(rf"\b{word}\b", other, sentence, count=1)
    return ""


NAMES = ["Northwind Trading Company", "Ministry of Finance", "Helena Voss", "Contoso Foundation"]


def renamed(sentence: str, chance: random.Random) -> str:
    kinds = "License|Foundation|Agreement|Work|Version|Policy|Project|Team|Committee|Standard"
    match = re.search(rf"(?<=[a-z,] )[A-Z][a-z]+ (?:[A-Z][a-z]+ )*(?:{kinds})\b", sentence)
    return sentence.replace(match[0], chance.choice(NAMES)) if match else ""


def _once(pattern: str, words: str, sentence: str) -> str:
    changed = re.sub(pattern, words, sentence, count=1)
    return changed if changed != sentence else ""


RULES: list[tuple[str, str, Callable[[str, random.Random], str]]] = [
    ("verbatim", "supported", lambda sentence, _: sentence),
    ("reworded", "supported", reworded),
    ("reordered", "supported", reordered),
    ("shortened", "supported", shortened),
    ("number", "contradicted", other_number),
    ("unit", "contradicted", other_unit),
    ("negation", "contradicted", denied),
    ("obligation", "contradicted", other_obligation),
    ("opposite", "contradicted", turned),
    ("name", "contradicted", renamed),
]


def labelled(files: list[Path], seed: int = 7) -> list[Claim]:
    chance = random.Random(seed)
    texts = list(dict.fromkeys(passages(files)))
    pool = [(sentence, text) for text in texts for sentence in sentences(text) if 50 <= len(sentence) <= 320]
    pool = [(s, t) for s, t in pool if s.endswith(".") and s[0].isupper() and len(s.split()) >= 8]
    found: list[Claim] = []
    for kind, label, rule in RULES:
        order = chance.sample(pool, len(pool))
        made = ((rule(sentence, chance), text) for sentence, text in order)
        unique = {claim: Claim(kind, label, claim, text) for claim, text in made if claim}
        found += list(unique.values())[:PER_KIND]
    for sentence, text in chance.sample(pool, len(pool)):
        other = chance.choice(texts)
        if other != text and sentence not in other and len([c for c in found if c.kind == "elsewhere"]) < 2 * PER_KIND:
            found.append(Claim("elsewhere", "unsupported", sentence, other))
    return found


STATES = {"quoted": "supported", "contradicted": "contradicted", "judged": "supported", "not_checked": "not checked"}


def report(claims: list[Claim], show: str) -> None:
    outcomes: Counter[tuple[str, str]] = Counter()
    kinds: dict[str, Counter[str]] = {}
    for claim in claims:
        verdict = compare(claim.claim, claim.passage)
        outcome = STATES[verdict.state]
        outcomes[claim.label, outcome] += 1
        kinds.setdefault(f"{claim.kind} ({claim.label})", Counter())[outcome] += 1
        if show == claim.kind and outcome != claim.label:
            print(f"- {outcome}: {claim.claim}\n  against: {verdict.sentence}\n  {verdict.reason}", file=sys.stderr)
    print(f"{len(claims)} claims\n")
    print(f"{'':<32}{'supported':>11}{'contradicted':>14}{'unsupported':>13}{'not checked':>13}")
    for kind, counts in kinds.items():
        row = [counts[name] for name in ("supported", "contradicted", "unsupported", "not checked")]
        print(f"{kind:<32}{row[0]:>11}{row[1]:>14}{row[2]:>13}{row[3]:>13}")
    print()
    for label in ("supported", "contradicted", "unsupported"):
        right = outcomes[label, label]
        said = sum(count for (_, outcome), count in outcomes.items() if outcome == label)
        there = sum(count for (true, _), count in outcomes.items() if true == label)
        print(f"{label:<14} precision {right / max(1, said):.3f}   recall {right / max(1, there):.3f}")
    bad = sum(count for (true, outcome), count in outcomes.items() if true != "supported" and outcome == "supported")
    wrong = sum(count for (true, _), count in outcomes.items() if true != "supported")
    print(
        f"of {wrong} claims that the passage does not support, {bad} were called supported ({bad / max(1, wrong):.1%})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, action="append")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--show", default="")
    given = parser.parse_args()
    claims = labelled(given.document or DEFAULTS)
    if given.save:
        given.save.write_text("".join(json.dumps(asdict(claim), ensure_ascii=False) + "\n" for claim in claims))
    report(claims, given.show)


if __name__ == "__main__":
    main()
