"""Kits of the texts in `texts/`, and what must be true of every kit whatever it is made of."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.models import pack_schemas
from weft.checks import CheckInput, parse_check, run_check
from weft.models import embedded
from weft.models.embedded.words import count_words, tokens
from weft.render.kit import Source, kit_markdown

TEXTS = Path(__file__).parent / "texts"
NAMES = sorted(path.name for path in TEXTS.iterdir())
PROFILE: dict[str, Any] = {"userId": "default", "topics": [], "style": {}}
Spans = list[list[int]]
_NOT_COUNTED = re.compile(r"[\s*_~`>#|\\\u00ad\u2010\u00a0\u202f\[\]]+|\]\([^)\s]*\)")


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

    @property
    def markdown(self) -> str:
        return kit_markdown(self.whole, source=Source(text=self.text, language=self.code))


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
    return jsonschema_rs.validator_for(pack_schemas.schema(artifact))


def schema_errors(kit: Kit) -> list[str]:
    values = zip(pack_schemas.ARTIFACTS, (kit.summary, kit.ideas, kit.outline, kit.whole), strict=True)
    return [f"{name}: {error}" for name, value in values for error in validator(name).iter_errors(value)]


def findings(kit: Kit) -> list[str]:
    """What the checks of the pipeline say: quotes verbatim, numbers from the source, nothing twice."""
    told = ["tldr", "headline", "bullets[*]", "parts[*].items[*].text", "tags[*]", "keyThemes[*]"]
    carried = ["questions[*].question", "numbers[*]", "tensions[*]"]
    found = []
    for name, options, value in (
        ("verbatim", {"at": "importantQuotes[*].text", "in": "source"}, kit.summary),
        ("unique", {"at": "importantQuotes[*].text"}, kit.summary),
        ("unique", {"at": "bullets[*]"}, kit.summary),
        ("unique", {"at": "questions[*].question"}, kit.ideas),
        ("unique", {"at": "sections[*].heading"}, kit.outline),
        ("numbers_from", {"at": told, "in": "source", "words": True}, kit.summary),
        ("numbers_from", {"at": carried, "in": "source", "words": True}, kit.ideas),
        ("numbers_from", {"at": "sections[*].heading", "in": "source", "words": True}, kit.outline),
    ):
        call = parse_check(name, options)
        found += [str(finding) for finding in run_check(call, CheckInput("kit.json", value, {"source": kit.text}, {}))]
    return found


def claims(kit: Kit) -> Iterator[tuple[str, str, Spans]]:
    """Every text that is told as the source's, with the places it names."""
    summary, ideas, places = kit.summary, kit.ideas, kit.summary["evidence"]
    yield "headline", summary["headline"].rstrip("…"), places["headline"]
    for at, text in enumerate(summary["bullets"]):
        yield f"bullets[{at}]", text, places["bullets"][at]
    for at, quote in enumerate(summary["importantQuotes"]):
        yield f"importantQuotes[{at}]", quote["text"], places["importantQuotes"][at]
    for number, part in enumerate(summary.get("parts", ())):
        for at, item in enumerate(part["items"]):
            yield f"parts[{number}].items[{at}]", item["text"], places["parts"][number][at]
    for at, question in enumerate(ideas["questions"]):
        yield f"questions[{at}]", question["question"], ideas["evidence"]["questions"][at]
    for at, one in enumerate(ideas["numbers"]):
        yield f"numbers[{at}]", one["text"], ideas["evidence"]["numbers"][at]
    for at, one in enumerate(ideas["tensions"]):
        low, high = ideas["evidence"]["tensions"][at]
        yield f"tensions[{at}].one", one["one"], [low]
        yield f"tensions[{at}].other", one["other"], [high]


def squeezed(text: str) -> str:
    return _NOT_COUNTED.sub("", unicodedata.normalize("NFC", text))


def unsupported(kit: Kit) -> list[str]:
    """Texts whose words do not all stand, in this order, at the places they name."""
    every = [*claims(kit), ("tldr", kit.summary["tldr"], kit.summary["evidence"]["tldr"])]
    found = []
    for name, text, places in every:
        said = " ".join(kit.text[start:end] for start, end in places)
        words = iter(tokens(said))
        if places and squeezed(text) not in squeezed(said) and not all(word in words for word in tokens(text)):
            found.append(f"{name}: {text[:120]!r}")
    return found


def misplaced(kit: Kit) -> list[str]:
    """Places that are no places: out of the text, empty, or the wrong way round."""
    return [
        f"{name}: {place}"
        for name, _, places in claims(kit)
        for place in places
        if not 0 <= place[0] < place[1] <= len(kit.text)
    ]


def told_twice(kit: Kit) -> list[str]:
    """Sentences that a reader meets more than once, whatever stands around them; the points hold what the short
    version says too, for whoever takes them alone."""
    _, *lines = kit.markdown.replace("\\", "").splitlines()
    words = [" ".join(tokens(line)) for line in lines if line]
    sentences = [" ".join(one.words) for one in embedded.read(kit.text).sentences if one.size > 5]
    whole = f" {' | '.join(words)} "
    return [one for one in dict.fromkeys(sentences) if whole.count(f" {one} ") > 1]


def too_long(kit: Kit) -> str:
    """ "" when the kit is shorter than its source, and a page where the source is an article."""
    source, size = count_words(kit.text), count_words(kit.markdown)
    if source <= 1500 and size > source:
        return f"{size} words for a source of {source}"
    return f"{size} words for a source of {source}" if size > (520 if source < 3000 else 800) else ""


def faults(kit: Kit) -> list[str]:
    long = too_long(kit)
    return [
        *schema_errors(kit),
        *findings(kit),
        *unsupported(kit),
        *misplaced(kit),
        *told_twice(kit),
        *([long] * bool(long)),
    ]
