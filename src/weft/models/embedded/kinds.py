"""What kind of document a text is, by what it looks like: its category, and the source it seems to come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from weft.models.embedded.reading import Reading

Category = Literal[
    "interview", "transcript", "news", "essay", "research", "recipe", "licence", "manual", "changelog", "code", "data",
    "article", "note",
]  # fmt: skip
DetectedSource = Literal["podcast", "transcript", "article", "youtube", "twitter", "text", "other"]
_SOURCES: Final[dict[str, DetectedSource]] = {
    "podcast": "podcast", "transcript": "transcript", "article": "article", "youtube": "youtube", "twitter": "twitter",
    "text": "text", "other": "other", "vtt": "transcript", "srt": "transcript", "whisper": "transcript",
    "html": "article", "epub": "article", "docx": "article", "pdf": "article", "tweet": "twitter",
}  # fmt: skip
_SIGNS: Final[dict[Category, re.Pattern[str]]] = {
    "research": re.compile(
        r"\b(?:we randomi[sz]ed|primary outcome|p\s?[<=]\s?0?\.\d|confidence interval|95% CI|et al\.|abstract"
        r"|hypothes[ie]s|in this (?:paper|study)|our results|participants|dataset|crossover|baseline"
        r"|Studie zeigt|Stichprobe)\b", re.I),
    "recipe": re.compile(
        r"\b(?:\d+\s?(?:g|ml|kg|cups?|tbsp|tsp|tablespoons?|teaspoons?|EL|TL)\b|preheat|knead|simmer|bake|oven"
        r"|ingredients|zutaten|ingrédients|ingredientes|ingredienti|cuillères?|cucharadas?)", re.I),
    "licence": re.compile(
        r"\b(?:licen[sc]e[ed]?|licensor|warrant(?:y|ies)|liabilit(?:y|ies)|hereby|thereof|pursuant|copyright holder"
        r"|redistribut\w+|terms and conditions|shall)\b", re.I),
    "changelog": re.compile(
        r"^(?:\s*[*-]\s+(?:fix|add|remove|update|new|drop|support|improve|change)\w*\b|#*\s*\[?v?\d+\.\d+(?:\.\d+)?\]?\b"
        r"|.*\((?:closes|fixes)[: ]+#\d+\))", re.I | re.M),
    "manual": re.compile(
        r"(?:^(?:NAME|SYNOPSIS|OPTIONS|DESCRIPTION|BEZEICHNUNG|ÜBERSICHT|NOM|SYNOPSIS|NOMBRE|SINOPSIS|名称|書式)\s*$"
        r"|\s--[a-z][\w-]+|^#+ (?:install\w*|usage|getting started|configuration|requirements)|\binstall(?:ed|ing)?\b"
        r"|\bcommand[- ]line\b|\bby default\b|`[^`\n]{2,40}`)", re.I | re.M),
    "news": re.compile(
        r"\b(?:said on|told reporters|announced|according to|spokes(?:man|woman|person)"
        r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|year)|ministry|parliament|committee"
        r"|percent)\b"
        r"|(?-i:^[A-Z]{4,}[ ,][^\n]{0,20}[—–-]\s)", re.I | re.M),
    "essay": re.compile(r"\b(?:I|my|me|myself|ich|mein\w*|je|moi|mon|yo|mi)\b"),
}  # fmt: skip
_PER: Final[dict[Category, float]] = {
    "research": 9.0, "recipe": 22.0, "licence": 12.0, "changelog": 12.0, "manual": 12.0, "news": 10.0, "essay": 30.0,
}  # fmt: skip
"""How many signs in a thousand words make a kind certain."""
_SAMPLE: Final = 60_000
_HASHTAGS: Final = re.compile(r"(?<!\w)[#@]\w{2,}")


def category(reading: Reading) -> Category:
    blocks = reading.layout.blocks
    size = {
        kind: sum(block.end - block.start for block in blocks if block.kind == kind)
        for kind in ("code", "table", "prose", "item")
    }
    prose = size["prose"] + size["item"]
    if size["code"] > prose:
        return "code"
    if size["table"] > prose:
        return "data"
    if len(reading.speakers) > 1:
        asked = {sentence.speaker for sentence in reading.sentences if sentence.asks and sentence.speaker}
        return "interview" if asked and len(reading.speakers) <= 3 else "transcript"
    if reading.word_count < 60:
        return "note"
    scores = dict(_scores(reading))
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] >= 1.0 else "article"


def _scores(reading: Reading) -> Iterator[tuple[Category, float]]:
    sample = reading.text[reading.layout.body :][:_SAMPLE]
    thousands = max(0.15, len(sample.split()) / 1000)
    for kind, signs in _SIGNS.items():
        yield kind, sum(1 for _ in signs.finditer(sample)) / thousands / _PER[kind]


def detected_source(reading: Reading, kind: Category, given: str) -> DetectedSource:
    """As the caller says, where it knows; else as the text looks."""
    known = _SOURCES.get(given.lower().strip().lstrip("."))
    if known and known != "text":
        return known
    if reading.speakers or len(reading.layout.times) > 2:
        return "transcript"
    if kind in ("code", "data"):
        return "other"
    if reading.word_count < 500 and len(_HASHTAGS.findall(reading.text)) > max(1, reading.word_count // 120):
        return "twitter"
    if reading.title is not None and reading.word_count >= 120:
        return "article"
    return "text"
