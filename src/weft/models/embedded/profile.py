"""For whom a kit is made: topics with interest, tone, length and voice.

Relevance is the interest-weighted share of topics that a document's tags or themes name: word for word, in any case,
one or many of a thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, cast, get_args

from weft.models.embedded.lexicon import UNSPACED
from weft.models.embedded.words import tokens
from weft.protocol.values import dataclass

Tone = Literal["beginner", "intermediate", "expert", "mixed"]
Voice = Literal["first-person", "third-person", "instructional"]
WORDS: Final = (100, 10_000)


@dataclass(frozen=True, slots=True)
class ProfileTopic:
    name: str
    interest: int = 3

    def named_in(self, text: str) -> bool:
        """Whether its words stand in a text one after the other; parts of words do not count."""
        wanted = tokens(self.name)
        if not wanted:
            return False
        if UNSPACED.search(self.name):
            return self.name.lower() in text.lower()
        found = tokens(text)
        return any(
            all(_alike(one, other) for one, other in zip(found[at:], wanted, strict=False))
            for at in range(len(found) - len(wanted) + 1)
        )


@dataclass(frozen=True, slots=True)
class Profile:
    topics: tuple[ProfileTopic, ...] = ()
    tone: Tone = "intermediate"
    words: int = 1000
    voice: Voice = "first-person"


def parse_topics(value: Any) -> tuple[ProfileTopic, ...]:
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError("topics is a list of {topic, interestLevel}")
    return tuple(_topic(item) for item in value)


def parse_profile(value: Mapping[str, Any] | None) -> Profile:
    """A profile as people write it; what is left out has its default. ValueError for what can't be meant."""
    given = value or {}
    style = given.get("style") or {}
    if not isinstance(style, Mapping):
        raise ValueError("style is {tone, targetWordCount, voice}")
    tone, voice = style.get("tone") or "intermediate", style.get("voice") or "first-person"
    words = style.get("targetWordCount", 1000)
    words = 1000 if words is None else words
    if tone not in get_args(Tone):
        raise ValueError(f"the tone is one of {', '.join(get_args(Tone))}, not {tone!r}")
    if voice not in get_args(Voice):
        raise ValueError(f"the voice is one of {', '.join(get_args(Voice))}, not {voice!r}")
    if not isinstance(words, int) or isinstance(words, bool) or not WORDS[0] <= words <= WORDS[1]:
        raise ValueError(f"targetWordCount is a whole number from {WORDS[0]} to {WORDS[1]}, not {words!r}")
    return Profile(parse_topics(given.get("topics")), cast(Tone, tone), words, cast(Voice, voice))


def relevance(topics: Sequence[ProfileTopic], labels: Iterable[str]) -> float:
    """How much of what the person cares about the labels name, from 0 to 1."""
    total = sum(topic.interest for topic in topics)
    if not total:
        return 0.0
    known = list(labels)
    matched = sum(topic.interest for topic in topics if any(topic.named_in(label) for label in known))
    return round(matched / total, 4)


def _alike(one: str, other: str) -> bool:
    """The same word, or one is the plural of the other in the way most European languages make it."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if short.endswith("y") and long == f"{short[:-1]}ies":
        return len(short) > 3
    ending = long[len(short) :] if long.startswith(short) else ""
    return (ending in ("s", "es") and len(short) > 2) or (ending in ("n", "en", "e", "er") and len(short) > 4)


def _topic(item: Any) -> ProfileTopic:
    if isinstance(item, str):
        item = {"topic": item}
    if not isinstance(item, Mapping) or not str(item.get("topic", "")).strip():
        raise ValueError(f"a topic is {{topic, interestLevel}}, not {item!r}")
    interest = item.get("interestLevel", 3)
    if not isinstance(interest, int) or isinstance(interest, bool) or not 1 <= interest <= 5:
        raise ValueError(f"interestLevel is a whole number from 1 to 5, not {interest!r}")
    return ProfileTopic(" ".join(str(item["topic"]).split()), interest)
