"""The words an answer is shown in, the same on every medium."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.render.kit.characters import one_line, visible
from weft.render.kit.figures import counted, number, percent

STATES: Final[Mapping[str, str]] = {
    "quoted": "quoted",
    "judged": "judged",
    "contradicted": "contradicted",
    "not_checked": "not checked",
    "passed": "passed",
    "failed": "failed",
    "partly_checked": "partly checked",
    "removed": "removed",
}
CLAIM_STATES: Final = ("quoted", "judged", "contradicted", "not_checked")
AXES: Final[Mapping[str, str]] = {
    "entities": "Names are in the sources",
    "citations": "Passages say what is claimed",
    "relations": "References lead where they are said to",
    "contradictions": "Nothing contradicts",
}
SURE: Final = ("quoted", "judged")
WHATS: Final[Mapping[str, str]] = {
    "sentence": "Sentence",
    "entities": "Name",
    "relations": "Reference",
    "contradiction": "Two passages",
    "label": "Label",
    "axis": "Axis",
}
LEVELS: Final[Mapping[str, str]] = {"high": "high", "medium": "medium", "low": "low", "none": "none"}
OUTCOMES: Final[Mapping[str, str]] = {
    "unsure": "There is no sure answer. These passages come nearest:",
    "not_said": "The documents do not say. What comes nearest:",
}
NEAREST: Final[Mapping[str, str]] = {
    "medium": "Other passages that come near:",
    "low": "This is no sure answer. These passages come nearest:",
}
AGAINST: Final = "Written for the answer, and no part of it, for it is contradicted:"
NOTHING: Final = "The documents do not say, and no passage is about it."
NOTHING_MORE: Final = "Ask in other words, or add documents that say something about it."
CODE: Final = "    "
"""Stands before a line of code."""
_FENCE: Final = re.compile(r"(?P<before>\s*)(?P<fence>`{3,}|~{3,})")
_QUOTED_CODE: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_RULE: Final = re.compile(r"[\s|:=-]*\Z")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")
FORMULA: Final = (
    "Confidence says how likely this answers the question, from how near the passage is to it in meaning and in words"
    " and how far the next is behind; it says nothing on whether the words are quoted, which stands at every sentence."
)


def refusal(answer: Mapping[str, Any]) -> str:
    """What stands in the place of an answer."""
    return OUTCOMES[answer["outcome"]] if answer["nearest"] else NOTHING


def code_lines(sentence: Mapping[str, Any]) -> list[str]:
    """The code that stands behind a sentence, each line indented: it is no prose, and is never wrapped."""
    return [CODE + visible(line) for line in sentence.get("code", "").splitlines()]


def glimpse(source: Mapping[str, Any]) -> list[str]:
    """What is shown of a passage that comes near, a line for each paragraph and item, and for each line of code, which
    is indented."""
    text = source.get("glimpse") or read_passage(source["text"])
    lines = [visible(line).rstrip() if line.startswith(CODE) else one_line(line) for line in text.splitlines()]
    return [line for line in lines if line]


def read_passage(text: str) -> str:
    """A passage without fences and quotes of code, a row of a table as its cells, what was wrapped on one line. Lines
    of code stay lines, and are indented."""
    lines: list[str] = []
    fresh = True
    fence, margin = "", 0
    for line in text.splitlines():
        marked = _FENCE.match(line)
        if marked and (not fence or marked["fence"].startswith(fence)):
            fence, margin = "" if fence else marked["fence"], len(marked["before"])
            fresh = True
        elif fence:
            lines.append(CODE + (line.strip() if line[:margin].strip() else line[margin:].rstrip()))
        elif _RULE.match(line):
            fresh = True
        elif line.lstrip()[:1] == "|":
            lines.append(": ".join(filter(None, map(str.strip, line.split("|")))))
        elif lines and not fresh and not _ITEM.match(line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip())
            fresh = False
    return "\n".join(line if line.startswith(CODE) else _QUOTED_CODE.sub(r"\1", line) for line in lines)


def standing(section: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sentences that are the answer: what is contradicted is told among what is open, with its reason."""
    return [one for one in section["sentences"] if one["state"] != "contradicted"]


def contradicted(section: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in section["sentences"] if one["state"] == "contradicted"]


def state(name: str) -> str:
    return STATES.get(name, name)


def mark(sentence: Mapping[str, Any]) -> str:
    """What is said beside a sentence: nothing where it is quoted, by whom it was judged, and who overruled what."""
    said = sentence.get("overruled")
    if said:
        by = f" by {said['by']}" if sentence["state"] == "judged" else f", says {said['by']}"
        return f"{state(sentence['state'])}{by}: {said['why']}; it was {state(said['was'])}"
    if sentence["state"] == "quoted":
        return ""
    by = f" by {sentence['judged_by']}" if sentence.get("judged_by") else ""
    return f"{state(sentence['state'])}{by}"


def confidence(value: float | None, level: str) -> str:
    return "none" if value is None else f"{LEVELS.get(level, level)} ({percent(value)})"


def axis_score(axis: Mapping[str, Any]) -> str:
    """What was found: a score that does not exist is not shown as one."""
    if not axis["total"]:
        return "–"
    if axis["axis"] == "contradictions":
        return f"{counted(axis['good'], 'contradiction')} in {counted(axis['total'], 'pair')}"
    return f"{percent(axis['score'])} ({number(axis['good'])} of {number(axis['total'])})"


def counts(found: Mapping[str, Any]) -> str:
    """`3 quoted, 1 not checked`: what there is of each, and nothing added up that is not the same."""
    told = [f"{number(found['counts'][name])} {state(name)}" for name in CLAIM_STATES if found["counts"].get(name)]
    return ", ".join(told) or "no sentences"


def place(source: Mapping[str, Any]) -> str:
    """Where a source stands, in words."""
    if source["kind"] == "web":
        return str(source["url"])
    if source["kind"] == "earlier":
        return f"the earlier answer{', session ' + str(source['session']) if source.get('session') else ''}"
    page = f", page {source['page']}" if source.get("page") else ""
    return f"{source['file']}{page}"


def cost(answer: Mapping[str, Any]) -> str:
    if answer["effort"]["made_by"] == "embedded":
        return "No model was called: the embedded engine made it on this machine, at no cost."
    told = f"weft sessions show {answer['session']}"
    return f"A connected model wrote the draft; its tokens and price are in the log: {told}"


def effort(answer: Mapping[str, Any]) -> str:
    done = answer["effort"]
    return (
        f"{counted(done['searches'], 'search', 'searches')}, {counted(done['passages_found'], 'passage')} found,"
        f" {number(done['passages_read'])} read ({number(done['context_tokens'])} of at most"
        f" {number(done['context_budget'])} tokens)."
    )


def limits(answer: Mapping[str, Any]) -> str:
    found = answer["effort"]["limits"]
    return (
        f"Depth {answer['depth_mode']}: at most {number(found['sub_queries'])} sub-queries,"
        f" {number(found['passages'])} passages of each, {counted(found['repairs'], 'round')} of repair,"
        f" {number(found['context_tokens'])} tokens read and {number(found['answer_tokens'])} written,"
        f" pages of the web {'as given' if found['web'] else 'not used'}."
    )


def runs_scripts(link: str) -> bool:
    """Whether a browser would run what a document at this link says: a source is shown, never opened as a program."""
    name = link.partition("#")[0].partition("?")[0].lower()
    return not name.endswith((".md", ".markdown", ".txt", ".text", ".pdf", ".docx", ".epub", ".vtt", ".srt"))
