"""An abstract in the article's own sentences. No model: what a person, a verifier and a loop do is easy to see so."""

from __future__ import annotations

import re
from typing import Any

from weft.protocol.steps import StepInput

SHORT_WORDS = 4


def outline(step: StepInput) -> dict[str, Any]:
    """One sentence for each paragraph: about what the person asked for, else the first; when too little was left of
    it, the shortest."""
    asked = {word for texts in step.replies.values() for text in texts for word in _words(text)}
    again = step.rounds.get("compare", {}).get("round", 0)
    chosen = []
    for paragraph in _paragraphs(step.text):
        sentences = _sentences(paragraph)
        best = min(sentences, key=len) if again else sentences[0]
        chosen.append(max(sentences, key=lambda one: len(asked & _words(one))) if asked and not again else best)
    title = str(step.document.get("title") or "") or "The article"
    return {"title": title, "sentences": chosen or ["(nothing)"], "round": again}


def terms(step: StepInput) -> list[str]:
    found = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", step.text)
    return sorted(set(found))


def draft(step: StepInput) -> dict[str, Any]:
    """All chosen sentences, without the longest ones: one for each time the verifier sent it back."""
    sentences = list(step.artifacts["outline.json"]["sentences"])
    for _ in range(step.rounds.get("verify", {}).get("round", 0)):
        if len(sentences) > 1:
            sentences.remove(max(sentences, key=len))
    return {"sentences": sentences}


def verify(step: StepInput) -> dict[str, Any]:
    text = " ".join(step.text.split())
    sentences = step.artifacts["draft.json"]["sentences"]
    foreign = [one for one in sentences if one not in text]
    if not text:
        return {"verdict": "not_checked", "feedback": "there is no article to compare it with"}
    if foreign:
        return {"verdict": "failed", "feedback": f"not in the article: {foreign[0]}"}
    count = sum(len(one.split()) for one in sentences)
    over = count - step.parameters["words"]
    return {"verdict": "failed" if over > 0 else "passed", "feedback": f"{count} words, {max(0, over)} too many"}


def compare(step: StepInput) -> dict[str, Any]:
    whole, left = (len(step.artifacts[name]["sentences"]) for name in ("outline.json", "draft.json"))
    return {"kept": left / whole, "advice": f"{left} of {whole} sentences are left: choose shorter ones"}


def abstract(step: StepInput) -> str:
    outline_, sentences = step.artifacts["outline.json"], step.artifacts["draft.json"]["sentences"]
    checked = step.artifacts["verify.json"]
    verdict = checked["verdict"].replace("_", " ").capitalize()
    note = "" if checked["verdict"] == "passed" else f"\n*{verdict}: {checked['feedback']}.*\n"
    known = step.artifacts.get("terms.json") or []  # not there when the step was passed over
    listed = f"\nTerms: {', '.join(known)}.\n" if known else ""
    return f"# {outline_['title']}\n\n{' '.join(sentences)}\n{listed}{note}"


def _paragraphs(text: str) -> list[str]:
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return [part for part in parts if part and not part.startswith("#")]


def _sentences(paragraph: str) -> list[str]:
    return re.split(r"(?<=[.!?]) (?=[A-Z])", paragraph)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) >= SHORT_WORDS}
