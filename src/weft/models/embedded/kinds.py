"""What kind of document a text is, by what it looks like: its category, and the source it seems to come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from weft.models.embedded.clauses import is_command
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.reading import Reading

Category = Literal[
    "interview", "transcript", "news", "essay", "research", "recipe", "licence", "manual", "changelog", "code", "data",
    "article", "note", "story", "poem", "speech", "letter", "minutes", "list",
]  # fmt: skip
Group = Literal["told", "rules", "steps", "listed", "changes", ""]
"""What a document is made of: something told, rules to keep, steps to follow; most are made of neither."""
_GROUPS: Final[dict[str, Group]] = {
    "story": "told", "poem": "told", "licence": "rules", "recipe": "steps", "manual": "steps", "changelog": "changes",
    "list": "listed",
}  # fmt: skip
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
        r"|redistribut\w+|terms and conditions|shall|this agreement|either party|terminat\w+|governed by|jurisdiction"
        r"|supermajority|quorum|constitution|Vertragspartner|Kündigung|Haftung|présent contrat|presente contrato)\b",
        re.I),
    "changelog": re.compile(
        r"^(?:\s*[*-]\s+(?:fix|add|remove|update|new|drop|support|improve|change)\w*\b|#*\s*\[?v?\d+\.\d+(?:\.\d+)?\]?(?=\s*$|\s*[-–(\[]|\s+\d{4})"
        r"|.*\((?:closes|fixes)[: ]+#\d+\))", re.I | re.M),
    "manual": re.compile(
        r"(?:^(?:NAME|SYNOPSIS|OPTIONS|DESCRIPTION|BEZEICHNUNG|ÜBERSICHT|NOM|SYNOPSIS|NOMBRE|SINOPSIS|名称|書式)\s*$"
        r"|\s--[a-z][\w-]+|^#+ (?:install\w*|usage|getting started|configuration|requirements)|\binstall(?:ed|ing)?\b"
        r"|\bcommand[- ]line\b|\bby default\b|`[^`\n]{2,40}`)", re.I | re.M),
    "news": re.compile(
        r"\b(?:said on|told reporters|announced|according to|spokes(?:man|woman|person)"
        r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|year)|ministry|parliament"
        r"|percent)\b"
        r"|(?-i:^[A-Z]{4,}[ ,][^\n]{0,20}[—–-]\s)", re.I | re.M),
    "speech": re.compile(
        r"\b(?:ladies and gentlemen|(?:dear )?friends|fellow \w+|thank you|let us|my (?:dear )?(?:friends|colleagues)"
        r"|meine Damen und Herren|liebe Freunde|mesdames et messieurs|señoras y señores)\b", re.I),
    "minutes": re.compile(
        r"^(?:Present|Apologies|Attendees|Action|Anwesend|Entschuldigt|Présents|Asistentes)\b.{0,3}:"
        r"|\b(?:minutes of|next meeting|any other business|seconded|voted|Action:|agreed to|Protokoll der"
        r"|nächste Sitzung)",
        re.I | re.M),
    "essay": re.compile(r"\b(?:I|my|me|myself|ich|mein\w*|je|moi|mon|yo|mi)\b"),
}  # fmt: skip
_PER: Final[dict[Category, float]] = {
    "research": 9.0, "recipe": 22.0, "licence": 12.0, "changelog": 12.0, "manual": 12.0, "news": 10.0, "essay": 30.0,
    "speech": 9.0, "minutes": 16.0,
}  # fmt: skip
"""How many signs in a thousand words make a kind certain."""
_SAMPLE: Final = 60_000
_GREETING: Final = re.compile(
    r"(?:Dear|Sehr geehrte|Liebe[rs]?|Cher|Chère|Madame, Monsieur|Estimad[oa]s?|Querid[oa]|Gentile|Caro|Cara"
    r"|Prezad[oa])"
    r"\b[^.\n]{0,60}[,:!]?\n",
    re.I,
)
_QUANTITY: Final = re.compile(
    r"\d\s?(?:g|ml|kg|l|cups?|tbsp|tsp|tablespoons?|teaspoons?|EL|TL|grams?|Gramm|cuillères?|cucharadas?|cucchiai"
    r"|minutes|Minuten|degrees|°C)\b|\b(?:cup|spoon|pinch|Prise)\b",
    re.I,
)
_OWNERS: Final = word_set("his her hers")
_FIGURE: Final = re.compile(r"\d+")
_THINGS: Final = word_set("it it's they them they're es dies ils elles cela esto eso ciò isto isso")
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
    if reading.verse:
        return "poem"
    items = [block for block in blocks if block.kind == "item"]
    scraps = sum(1 for one in reading.sentences if one.kind == "item" and not one.ended)
    if len(items) > 4 and size["item"] > 4 * size["prose"] and 5 * scraps > 3 * len(items):
        return "list"
    if reading.word_count < 60:
        return "note"
    if _GREETING.match(reading.text[reading.layout.body :].lstrip()):
        return "letter"
    scores = dict(_scores(reading))
    if len(_QUANTITY.findall(reading.text[:_SAMPLE])) < 2:
        # An oven alone makes no recipe.
        scores["recipe"] = 0.0
    told = [one for one in reading.sentences if one.sound]
    orders = sum(1 for one in told if is_command(one.text, reading.language))
    if len(told) > 5 and 3 * orders > len(told) and max(scores.values()) < 1.0:
        return "manual"
    if _is_story(reading) and max(scores[kind] for kind in scores if kind not in ("essay", "speech")) < 1.0:
        return "story"
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] >= 1.0 else "article"


def group(kind: str) -> Group:
    return _GROUPS.get(kind, "")


def _is_story(reading: Reading) -> bool:
    """Whether people are followed through it: he and she, and somebody speaks; and hardly a figure."""
    people = (reading.language.pronouns | _OWNERS) - _THINGS
    told = sum(1 for sentence in reading.sentences if not people.isdisjoint(sentence.words))
    figures = len(_FIGURE.findall(reading.text[:_SAMPLE]))
    spoken = len(reading.quotations) + sum(1 for one in reading.sentences if one.quoted or one.text[:1] in '–—"“„«')
    enough = told > 4 and 3 * told > len(reading.sentences)
    return enough and 150 * figures < reading.word_count and (spoken > 0 or 2 * told > len(reading.sentences))


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
