"""What an editor looks for in a line before anything else: stops, marks, capitals, words that hang in the air."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.models import kits
from weft.models.embedded.clauses import balanced
from weft.models.embedded.languages import language
from weft.models.embedded.languages.language import words
from weft.models.embedded.wording import wording

DANGLING = words("""
however but and yet so therefore thus moreover furthermore nevertheless they them it these those such also instead
then consequently otherwise aber und doch sie dies deshalb dennoch außerdem mais et donc ils elles cependant
toutefois pero y ellos ellas entonces además однако но они это
""")
"""First words that lean on a sentence which is not there."""
_DOUBLED = re.compile(r"  |[,;]{2}|[,;:]\.|\.\.(?!\.)(?<!\.\.\.)|\?\.|!\.|\s[,.;](?=\s|$)")
_ENDED = re.compile(r"[.!?…。！？؟।][\"'”’»›)\]』」）]*$")
_SMALL = re.compile(r"^[a-zà-öø-ÿа-я]")


def made(kit: kits.Kit) -> Iterator[tuple[str, str]]:
    """Every line a person reads first, with where it stands."""
    for name in ("headline", "tldr", "overview", "narrativeFlow", "context"):
        yield name, kit.summary[name]
    for name in ("bullets", "keyThemes", "tags"):
        yield from ((name, text) for text in kit.summary[name])
    yield from (("quote", quote["text"]) for quote in kit.summary["importantQuotes"])
    yield from (("hook", hook["text"]) for hook in kit.ideas["hooks"])
    for angle in kit.ideas["angles"]:
        yield "title", angle["title"]
        yield "angle", angle["description"]
    yield from (("question", question["question"]) for question in kit.ideas["questions"])
    for section in kit.outline["sections"]:
        yield "heading", section["heading"]
        yield "notes", section["notes"]


def faults(kit: kits.Kit) -> list[str]:
    """What is wrong with the lines of a kit by their look alone."""
    known = language(kit.code)
    # Where the source itself writes in small letters, or is one long line, its look proves nothing.
    tidy = not kit.text.lstrip("# ")[:1].islower()
    found = []
    for name, text in made(kit):
        text = text if kit.code != "fr" else re.sub(r"\s(?=[;:?!])", "", text)
        if _DOUBLED.search(text) and not _DOUBLED.search(" ".join(kit.text.split())):
            found.append(f"{name}: doubled stop or space: {text!r}")
        if name not in ("tags", "keyThemes") and not balanced(text):
            found.append(f"{name}: opens what it does not close: {text!r}")
        if known.cased and tidy and name in ("bullets", "hook", "title", "question", "heading") and _SMALL.match(text):
            found.append(f"{name}: begins with a small letter: {text!r}")
        if name in ("bullets", "title", "heading", "question") and _first(text) in DANGLING:
            found.append(f"{name}: hangs in the air: {text!r}")
        if name in ("bullets", "question", "notes", "angle") and not _ENDED.search(text):
            found.append(f"{name}: has no end: {text!r}")
        if name == "heading" and not 3 <= len(text) <= 140:
            found.append(f"{name}: {len(text)} letters: {text!r}")
        if name == "question" and not text.rstrip('”»」"\u00a0').endswith(("?", "？", "؟")):
            found.append(f"{name}: asks nothing: {text!r}")
    return found


def _first(text: str) -> str:
    match = re.match(r"\w+", text)
    return match.group().lower() if match else ""


def frames(kit: kits.Kit) -> frozenset[str]:
    """The wordings that a kit's ideas and outline use, whatever stands in their gaps."""
    parts = [text for name, text in made(kit) if name in ("hook", "title", "angle", "question", "heading", "notes")]
    least = 12 if language(kit.code).spaced else 4
    found = set()
    for key, variants in wording(kit.code).items():
        if key.partition(".")[0] in ("kind", "context", "flow", "analysis", "only", "form", "and"):
            continue
        for variant in variants:
            pieces = re.split(r"\{\w+\}", variant)
            if sum(len(re.findall(r"\w", piece)) for piece in pieces) < least:
                continue
            if any(_follows(part, [piece for piece in pieces if piece]) for part in parts):
                found.add(variant)
    return frozenset(found)


def _follows(text: str, pieces: list[str]) -> bool:
    """Whether the pieces stand in the text one after the other."""
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True
