"""Artifacts fit their schemas, whatever the text; and the schemas refuse what they should."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.models import kits, pack_schemas
from weft.models import embedded

Break = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_kit_is_of_one_piece(name: str) -> None:
    kit = kits.kit_of(name)
    ids = {kit.whole["contentId"], kit.whole["summary"]["contentId"], kit.whole["ideas"]["contentId"]}
    assert ids == {"content-1"} == {kit.outline["contentId"]}
    assert kit.whole["suggestedOutline"] == kit.outline["sections"]
    assert kit.whole["meta"]["estimatedReadingTimeMinutes"] == kit.summary["readingTimeMinutes"]
    for field in ("bullets", "keyThemes", "importantQuotes"):
        assert len(kit.summary["evidence"][field]) == len(kit.summary[field])
    for field in ("questions", "numbers", "tensions", "missing"):
        assert len(kit.ideas["evidence"][field]) == len(kit.ideas[field])
    assert all(kit.summary["evidence"]["bullets"]), "a point without any place"


def test_a_kit_is_not_put_together_from_different_content() -> None:
    kit = kits.kit_of("bread.md")
    other = {**kit.ideas, "contentId": "another"}
    with pytest.raises(ValueError, match="another"):
        embedded.writing_kit(kit.summary, other, kit.outline, source={"id": "s"})


@pytest.mark.parametrize("words", [100, 137, 300, 999, 1000, 2500, 4321, 10_000])
@pytest.mark.parametrize("name", ["night-trains.md", "tea.txt", "bread.md"])
def test_outlines_have_the_length_that_is_wanted(name: str, words: int) -> None:
    kit = kits.make(kits.text_of(name), {"style": {"targetWordCount": words}})
    assert kits.schema_errors(kit) == []
    assert sum(part["estimatedWords"] for part in kit.outline["sections"]) == words
    headings = [part["heading"] for part in kit.outline["sections"]]
    assert len(set(headings)) == len(headings)


def test_more_words_make_more_sections() -> None:
    text = kits.text_of("howto-backup.md")
    counts = [
        len(kits.make(text, {"style": {"targetWordCount": n}}).outline["sections"]) for n in (150, 300, 600, 2000)
    ]
    assert counts == [1, 2, 5, 6]


@pytest.mark.parametrize(
    ("count", "minutes"), [(1, 1), (118, 1), (238, 1), (357, 2), (600, 3), (23800, 100)]
)  # fmt: skip
def test_reading_time_is_words_by_238(count: int, minutes: int) -> None:
    assert embedded.reading_minutes(count) == minutes


def test_words_are_counted_as_people_count() -> None:
    text = "---\ntitle: not counted\n---\n\n# One two\n\nThree four-five six, 7 — and eight.\n"
    assert kits.make(text).summary["wordCount"] == 8
    assert kits.make("猫不吃东西。").summary["wordCount"] == 5


def rename(path: str, old: str, new: str) -> Break:
    def change(value: dict[str, Any]) -> None:
        for item in value[path]:
            item[new] = item.pop(old)

    return change


SUMMARY_FAULTS: dict[str, Break] = {
    "a feeling as sentiment": lambda value: value.update(sentiment="optimistic"),
    "themes as objects": lambda value: value.update(keyThemes=[{"theme": theme} for theme in value["keyThemes"]]),
    "analysis as object": lambda value: value.update(detailedAnalysis={"main": "It argues."}),
    "context as object": lambda value: value.update(context={"text": "It is old."}),
    "ideas as plain texts": lambda value: value.update(coreIdeas=["one", "two"]),
    "quotes under another name": rename("importantQuotes", "text", "quote"),
    "score out of bounds": lambda value: value.update(score={"relevanceToUser": 1.5}),
    "time with milliseconds": lambda value: value["importantQuotes"][0].update(timestamp="00:01:02.500"),
    "capital tag": lambda value: value.update(tags=["Trains"]),
    "unknown source": lambda value: value.update(detectedSource="rss"),
    "a field nobody knows": lambda value: value.update(mood="good"),
    "a place with one end": lambda value: value["evidence"].update(bullets=[[[3]]]),
}
ANGLE = {"title": "Who pays", "description": "The bill comes later.", "thesis": "Nobody has counted the cost."}
IDEAS_FAULTS: dict[str, Break] = {
    "hooks as a map": lambda value: value.update(hooks={"curiosity": "Why?"}),
    "a hook of unknown type": lambda value: value.update(hooks=[{"text": "A hook.", "type": "bold statement"}]),
    "angle scored to ten": lambda value: value.update(angles=[{**ANGLE, "relevanceScore": 8}]),
    "angle without a description": lambda value: value.update(angles=[{"title": "Who pays"}]),
    "a thesis of one word": lambda value: value.update(angles=[{**ANGLE, "thesis": "No."}]),
    "long title": lambda value: value.update(angles=[{**ANGLE, "title": "x" * 101}]),
    "seven questions": lambda value: value.update(questions=[{"question": "And who pays for it?"}] * 7),
    "depth instead of type": lambda value: value.update(questions=[{"question": "And who pays?", "depth": "deep"}]),
    "a tension with one side": lambda value: value.update(tensions=[{"one": "It is cheap."}]),
}
KIT_FAULTS: dict[str, Break] = {
    "source without id": lambda value: value["source"].pop("id"),
    "outline as object": lambda value: value.update(suggestedOutline={"sections": value["suggestedOutline"]}),
    "empty outline": lambda value: value.update(suggestedOutline=[]),
    "summary without fields": lambda value: value["summary"].pop("tldr"),
    "relevance under another name": lambda value: value.update(meta={"relevance_score": 0.5}),
}


@pytest.mark.parametrize(
    ("artifact", "fault"),
    [
        *(("summary", fault) for fault in SUMMARY_FAULTS),
        *(("ideas", fault) for fault in IDEAS_FAULTS),
        *(("writing-kit", fault) for fault in KIT_FAULTS),
    ],
)
def test_what_models_get_wrong_is_refused(artifact: str, fault: str) -> None:
    kit = kits.kit_of("interview-bees.txt")
    good = {"summary": kit.summary, "ideas": kit.ideas, "writing-kit": kit.whole}[artifact]
    value = copy.deepcopy(good)
    {**SUMMARY_FAULTS, **IDEAS_FAULTS, **KIT_FAULTS}[fault](value)
    assert kits.validator(artifact).is_valid(good)
    assert not kits.validator(artifact).is_valid(value)


def test_the_kits_schema_holds_the_others() -> None:
    """Each file stands alone; this keeps the copies the same."""
    kit = pack_schemas.schema("writing-kit")
    for name in ("summary", "ideas"):
        single = pack_schemas.schema(name)
        inner = kit["$defs"][name]
        assert {key: single[key] for key in inner} == inner
    assert kit["$defs"]["section"] == pack_schemas.schema("outline")["$defs"]["section"]
    assert all(pack_schemas.schema(name)["version"] == "2" for name in pack_schemas.ARTIFACTS)
