"""Profiles and relevance: what is accepted, what is refused and how, and the one formula that counts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models import kits
from weft.models import embedded
from weft.models.embedded.profile import ProfileTopic, parse_topics


def topics(*pairs: tuple[str, int]) -> tuple[ProfileTopic, ...]:
    return tuple(ProfileTopic(name, interest) for name, interest in pairs)


@pytest.mark.parametrize(
    ("wishes", "labels", "score"),
    [
        (topics(("AI", 5), ("productivity", 3), ("cooking", 2)), ["AI", "safety", "alignment"], 0.5),
        (topics(("AI", 5), ("productivity", 3), ("cooking", 2)), ["Cooking", "productivity tools"], 0.5),
        (topics(("ai", 1)), ["AI Safety"], 1.0),
        (topics(("AI", 4)), ["air travel", "detail"], 0.0),
        (topics(("night train", 5), ("bees", 5)), ["the night train"], 0.5),
        (topics(("制茶", 5)), ["制茶师"], 1.0),
    ],
)
def test_relevance_is_the_weighted_share_of_topics_named(
    wishes: tuple[ProfileTopic, ...], labels: list[str], score: float
) -> None:
    assert embedded.relevance(wishes, labels) == score


def test_a_topic_counts_when_the_text_really_speaks_of_it() -> None:
    text = kits.text_of("night-trains.md")

    def score(name: str) -> float:
        kit = kits.make(text, {"topics": [{"topic": name, "interestLevel": 4}]})
        return float(kit.summary["score"]["relevanceToUser"])

    assert score("night trains") == 1.0
    assert score("Train") == 1.0
    assert score("rain") == 0.0
    assert score("tariffs") == 0.0, "named once in thirty sentences is not what the text is about"


def test_what_is_left_out_has_its_default() -> None:
    for given in (None, {}, {"topics": None, "style": None}, {"userId": "x", "style": {}}):
        assert embedded.parse_profile(given) == embedded.Profile((), "intermediate", 1000, "first-person")
    assert parse_topics([{"topic": "  deep   sea "}]) == (ProfileTopic("deep sea", 3),)


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        ({"style": {"tone": "friendly"}}, "beginner, intermediate, expert, mixed"),
        ({"style": {"voice": "second-person"}}, "first-person, third-person, instructional"),
        ({"style": {"targetWordCount": 50}}, "from 100 to 10000"),
        ({"style": {"targetWordCount": True}}, "from 100 to 10000"),
        ({"style": {"targetWordCount": "1000"}}, "from 100 to 10000"),
        ({"style": "terse"}, "style is"),
        ({"topics": "ai, bees"}, "topics is a list"),
        ({"topics": [7]}, "a topic is"),
        ({"topics": [{"topic": " "}]}, "a topic is"),
        ({"topics": [{"topic": "ai", "interestLevel": 9}]}, "from 1 to 5"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_reason(profile: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        embedded.parse_profile(profile)
    kit = kits.kit_of("bread.md")
    with pytest.raises(ValueError, match=says):
        embedded.ideas(kit.text, kit.summary, profile=profile)


def test_a_topic_with_a_number_brings_no_number_into_the_kit() -> None:
    """`web 2.0` is a wish, not something the source says; its number stays out of the prose."""
    kit = kits.make(kits.text_of("wald.md"), {"topics": [{"topic": "web 2.0", "interestLevel": 5}]})
    assert kits.findings(kit) == []
    assert "2.0" not in str([kit.ideas, kit.outline])


def test_titles_are_taken_where_they_say_something() -> None:
    text = kits.text_of("tea.txt")
    assert (
        embedded.summary(text, content_id="c", title="What the tea master knows")["headline"]
        == "What the tea master knows"
    )
    assert embedded.summary(text, content_id="c", title="tea_final_v2.txt")["headline"] == "茶山上的最后一位制茶师"
    plain = "The ferry was late again on Tuesday. Nobody on the island was surprised by that. The tide does not wait."
    assert embedded.summary(plain, content_id="c", title="notes")["headline"] == "The ferry was late again on Tuesday"
    numbered = embedded.summary(plain, content_id="c", title="The 17 ferries of the bay")
    assert "17" not in numbered["headline"], "a number that the text does not have"


@pytest.mark.parametrize(
    ("name", "kind", "source"),
    [
        ("interview-bees.txt", "interview", "transcript"),
        ("night-trains.md", "news", "article"),
        ("essay-maps.md", "essay", "article"),
        ("bread.md", "recipe", "article"),
        ("sleep-abstract.txt", "paper", "article"),
    ],
)
def test_kinds_of_documents_are_recognised(name: str, kind: str, source: str) -> None:
    assert kits.kit_of(name).summary["category"] == kind
    assert kits.kit_of(name).summary["detectedSource"] == source


def test_the_caller_knows_the_source_better() -> None:
    text = kits.text_of("essay-maps.md")
    assert embedded.summary(text, content_id="c", source_kind="podcast")["detectedSource"] == "podcast"
    assert embedded.summary(text, content_id="c", source_kind="webvtt")["detectedSource"] == "transcript"


@pytest.mark.parametrize(
    ("topic", "label", "named"),
    [
        ("tides", "tide", True),
        ("tide", "the tides of March", True),
        ("stories", "story", True),
        ("Leitungen", "Leitung", True),
        ("sea level", "sea levels", True),
        ("art", "article", False),
        ("on", "one", False),
        ("car", "care", False),
        ("ai", "ais", False),
    ],
)
def test_one_or_many_of_a_thing_is_the_same_topic(topic: str, label: str, named: bool) -> None:
    (wish,) = embedded.parse_profile({"topics": [topic]}).topics
    assert (embedded.relevance([wish], [label]) == 1.0) is named
