"""The embedded steps of the digest pack: plain functions from a StepInput to an artifact's value."""

from __future__ import annotations

import re
from collections import Counter

from weft.language.sentences import sentence_spans
from weft.protocol.steps import StepInput

NUMBER = re.compile(r"\d[\d.,]*\d|\d")
COMMON = frozenset(
    """
    a about after all also an and any are as at be because been but by can could did do does each even for from
    had has have he her his how if in into is it its just like may more most much no not of on one only or other
    our out over she should so some such than that the their them then there these they this those through to
    under up very was we were what when where which while who will with would you your
    """.split()
)


def sentences(text: str) -> list[str]:
    """The sentences of running prose: no headings, no list marks, no front matter, no code."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith(("#", "|", "    ")):
            continue
        block = re.sub(r"^\s*(?:[-*+>]|\d+[.)])\s+", "", block, flags=re.M)
        found += [block[start:end] for start, end in sentence_spans(block)]
    return found


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def title(text: str) -> str:
    heading = re.search(r"^#\s+(.+)$", text, flags=re.M)
    line = heading.group(1) if heading else next((line for line in text.splitlines() if line.strip()), "Untitled")
    return line.strip()[:200]


def facts(step: StepInput) -> dict:
    found = sentences(step.text) or [step.text.strip()]
    numbers = []
    for sentence in found:
        number = NUMBER.search(sentence)
        if number and len(numbers) < 10:
            numbers.append({"number": number.group(), "sentence": sentence})
    return {"title": title(step.text), "words": len(words(step.text)), "sentences": len(found), "numbers": numbers}


def quotes(step: StepInput) -> dict:
    """The sentences whose words recur most in the text, in the order of the text, without near repetitions."""
    found = list(dict.fromkeys(sentences(step.text))) or [step.text.strip()]
    weights = Counter(word for word in words(step.text) if word not in COMMON and len(word) > 2)

    def weight(sentence: str) -> float:
        content = [word for word in words(sentence) if word in weights]
        if not 5 <= len(words(sentence)) <= 45:
            return 0.0
        return sum(weights[word] for word in content) / (len(content) + 4)

    chosen: list[str] = []
    for sentence in sorted(found, key=weight, reverse=True):
        alike = any(overlap(sentence, other) > 0.5 for other in chosen)
        if not alike and len(chosen) < step.parameters["quotes"]:
            chosen.append(sentence)
    top = max(map(weight, chosen)) or 1.0
    return {"quotes": [{"text": s, "weight": round(weight(s) / top, 3)} for s in found if s in chosen]}


def overlap(one: str, other: str) -> float:
    a, b = set(words(one)) - COMMON, set(words(other)) - COMMON
    return len(a & b) / max(1, min(len(a), len(b)))


def digest(step: StepInput) -> str:
    about, chosen = step.artifacts["facts.json"], step.artifacts["quotes.json"]["quotes"]
    lines = [f"# {about['title']}", "", f"{about['words']} words in {about['sentences']} sentences.", ""]
    lines += ["## What it says", ""]
    for quote in chosen:
        lines += ["> " + " ".join(quote["text"].split()), ""]
    if about["numbers"]:
        lines += ["## Its numbers", ""]
        lines += [f"- **{fact['number']}**: {' '.join(fact['sentence'].split())}" for fact in about["numbers"]]
    return "\n".join(lines).rstrip() + "\n"
