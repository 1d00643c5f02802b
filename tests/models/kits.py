"""Kits of the texts in `texts/`, and what must be true of every kit whatever it is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from weft.checks import CheckInput, parse_check, run_check
from weft.models import embedded
from weft.models.embedded.languages import language
from weft.models.embedded.wording import ENGLISH_FORMS, ENGLISH_ONLY, wording
from weft.models.embedded.words import tokens

TEXTS = Path(__file__).parent / "texts"
NAMES = sorted(path.name for path in TEXTS.iterdir())
PROFILE: dict[str, Any] = {"userId": "default", "topics": [], "style": {}}
Spans = list[list[int]]


@dataclass(frozen=True)
class Kit:
    text: str
    summary: dict[str, Any]
    ideas: dict[str, Any]
    outline: dict[str, Any]
    whole: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.summary["language"])


def make(text: str, profile: dict[str, Any] | None = None, **more: Any) -> Kit:
    profile = profile or PROFILE
    summary = embedded.summary(text, content_id="content-1", profile_topics=profile.get("topics", ()), **more)
    ideas = embedded.ideas(text, summary, profile=profile)
    outline = embedded.outline(text, summary, ideas, profile=profile)
    return Kit(text, summary, ideas, outline, embedded.writing_kit(summary, ideas, outline, source={"id": "source-1"}))


@cache
def text_of(name: str) -> str:
    return (TEXTS / name).read_text("utf-8")


@cache
def kit_of(name: str) -> Kit:
    return make(text_of(name))


def as_bytes(kit: Kit) -> bytes:
    return json.dumps(kit.whole, ensure_ascii=False, sort_keys=False).encode()


# -- what must be true


@cache
def validator(artifact: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(embedded.schema(artifact))


def schema_errors(kit: Kit) -> list[str]:
    values = zip(embedded.ARTIFACTS, (kit.summary, kit.ideas, kit.outline, kit.whole), strict=True)
    return [f"{name}: {error}" for name, value in values for error in validator(name).iter_errors(value)]


def findings(kit: Kit) -> list[str]:
    """What the project's own checks say: quotes verbatim, numbers from the source."""
    found = []
    for name, options, value in (
        ("verbatim", {"at": "importantQuotes[*].text", "in": "source"}, kit.summary),
        ("numbers_from", {"at": NUMBERED_SUMMARY, "in": "source"}, kit.summary),
        ("numbers_from", {"at": NUMBERED_IDEAS, "in": "source"}, kit.ideas),
        ("numbers_from", {"at": ["sections[*].heading", "sections[*].notes"], "in": "source"}, kit.outline),
    ):
        call = parse_check(name, options)
        found += [str(finding) for finding in run_check(call, CheckInput("kit.json", value, {"source": kit.text}, {}))]
    return found


NUMBERED_SUMMARY = [
    "headline",
    "tldr",
    "bullets[*]",
    "tags[*]",
    "overview",
    "keyThemes[*]",
    "detailedAnalysis",
    "narrativeFlow",
    "coreIdeas",
    "context",
    "relatedConcepts[*]",
]
NUMBERED_IDEAS = ["hooks[*].text", "angles[*].title", "angles[*].description", "questions[*].question"]


def own_words(code: str) -> frozenset[str]:
    """Every word the engine may add in a language."""
    variants = [*wording(code).values(), ENGLISH_ONLY, ENGLISH_FORMS]
    return frozenset(
        word for texts in variants for text in texts for word in tokens(re.sub(r"\{\w+\}", " ", text), code)
    )


def claims(kit: Kit) -> Iterator[tuple[str, str, Spans]]:
    """Every generated text with the places it names."""
    summary, ideas = kit.summary, kit.ideas
    places = summary["evidence"]
    for name in ("headline", "tldr", "overview", "detailedAnalysis", "narrativeFlow", "context"):
        yield name, summary[name], places[name]
    for name in ("bullets", "keyThemes"):
        for at, text in enumerate(summary[name]):
            yield f"{name}[{at}]", text, places[name][at]
    for at, idea in enumerate(summary["coreIdeas"]):
        yield f"coreIdeas[{at}]", " ".join([idea["explanation"], *idea.get("examples", [])]), places["coreIdeas"][at]
    for at, quote in enumerate(summary["importantQuotes"]):
        yield f"importantQuotes[{at}]", f"{quote['text']} {quote.get('context', '')}", places["importantQuotes"][at]
    for at, hook in enumerate(ideas["hooks"]):
        yield f"hooks[{at}]", hook["text"], ideas["evidence"]["hooks"][at]
    for at, angle in enumerate(ideas["angles"]):
        yield f"angles[{at}]", f"{angle['title']} {angle['description']}", ideas["evidence"]["angles"][at]
    for at, question in enumerate(ideas["questions"]):
        yield f"questions[{at}]", question["question"], ideas["evidence"]["questions"][at]
    for at, section in enumerate(kit.outline["sections"]):
        yield f"sections[{at}]", f"{section['heading']} {section['notes']}", section["evidence"]


def unsupported(kit: Kit, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Words that stand neither in the places a text names nor among the engine's own."""
    mine = own_words(kit.code) | allowed
    found = []
    for name, text, places in claims(kit):
        said = " ".join(kit.text[start:end] for start, end in places)
        known = frozenset(tokens(said, kit.code)) | mine
        # A word may be broken at the end of a line or have a mark of emphasis in it.
        plain = re.sub(r"[\s\u2010\u00ad*_~]+", "", said).lower()
        left = text if spaced(kit.code) else _without_wording(text, kit.code)
        strange = [word for word in tokens(left, kit.code) if word not in known and word not in plain]
        if strange:
            found.append(f"{name}: {strange[:8]} in {text[:120]!r}")
    return found


def _without_wording(text: str, code: str) -> str:
    """In a script without spaces the engine's words run into the source's; they are cut out, the longest first."""
    pieces = {
        piece.strip("，。：？、；")
        for variants in wording(code).values()
        for variant in variants
        for piece in re.split(r"\{\w+\}", variant)
    }
    for piece in sorted(pieces, key=lambda piece: (-len(piece), piece)):
        text = text.replace(piece, " ") if piece else text
    return text


def misplaced(kit: Kit) -> list[str]:
    """Places that are no places: out of the text, empty, or the wrong way round."""
    return [
        f"{name}: {place}"
        for name, _, places in claims(kit)
        for place in places
        if not 0 <= place[0] < place[1] <= len(kit.text)
    ]


def sentences_of(value: Any) -> list[str]:
    """The sentences of every text in a value."""
    if isinstance(value, str):
        return [part.strip() for part in re.split(r"(?<=[.!?。！？؟।])\s+|\n+", value) if part.strip()]
    if isinstance(value, dict):
        return [part for key, item in value.items() if key != "evidence" for part in sentences_of(item)]
    return [part for item in value for part in sentences_of(item)] if isinstance(value, list) else []


def spaced(code: str) -> bool:
    return language(code).spaced
