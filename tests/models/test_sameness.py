"""The same input gives the same bytes, in any process; different documents and different people get different kits."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.models import kits
from weft.models import embedded
from weft.models.embedded.reading import read

ROOT = Path(__file__).parent.parent.parent
TYPES = {"analytical", "practical", "philosophical", "comparative", "content-1"}
HOOKS = {"curiosity", "statistic", "controversy", "story", "emotional"}
SCRIPT = """
import hashlib
from tests.models import kits
from weft.models import embedded
found = hashlib.sha256()
for name in kits.NAMES:
    found.update(kits.as_bytes(kits.kit_of(name)))
print(found.hexdigest())
"""


def ideas_and_outline(kit: kits.Kit) -> set[str]:
    return set(kits.sentences_of([kit.ideas, kit.outline])) - TYPES - HOOKS


@pytest.mark.slow
def test_the_same_bytes_in_every_process() -> None:
    """Python shuffles its sets anew in each process; nothing of that may show."""
    found = set()
    for seed in ("0", "1", "4242"):
        surroundings = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=surroundings,
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        )
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_same_bytes_again(name: str) -> None:
    first = kits.as_bytes(kits.make(kits.text_of(name)))
    read.cache_clear()
    assert kits.as_bytes(kits.make(kits.text_of(name))) == first


@pytest.mark.parametrize(
    ("one", "other"),
    [pair for pair in itertools.combinations(kits.NAMES, 2) if kits.kit_of(pair[0]).code == kits.kit_of(pair[1]).code],
)
def test_kits_of_different_documents_do_not_read_alike(one: str, other: str) -> None:
    first, second = ideas_and_outline(kits.kit_of(one)), ideas_and_outline(kits.kit_of(other))
    assert len(first & second) <= max(5, 0.15 * min(len(first), len(second))), first & second
    assert not set(kits.kit_of(one).summary["bullets"]) & set(kits.kit_of(other).summary["bullets"])
    # Two texts may both be about water, or about a price.
    themes = [set(kits.kit_of(name).summary["keyThemes"]) for name in (one, other)]
    assert len(themes[0] & themes[1]) <= 2
    headings = [{part["heading"] for part in kits.kit_of(name).outline["sections"]} for name in (one, other)]
    assert not headings[0] & headings[1]


@pytest.mark.parametrize("name", kits.NAMES)
def test_a_kit_does_not_repeat_itself(name: str) -> None:
    kit = kits.kit_of(name)
    titles = [angle["title"] for angle in kit.ideas["angles"]]
    assert len(set(titles)) == len(titles)
    assert len({hook["text"] for hook in kit.ideas["hooks"]}) == len(kit.ideas["hooks"])
    assert len({hook["type"] for hook in kit.ideas["hooks"]}) == len(kit.ideas["hooks"])
    assert len(set(kit.summary["bullets"])) == len(kit.summary["bullets"])
    ideas = [idea["explanation"] for idea in kit.summary["coreIdeas"]]
    assert len(set(ideas)) == len(ideas)


TOPICS = {
    "ferry-news.md": "schools",
    "parking-oped.md": "bus",
    "podcast-locks.txt": "graphite",
    "kettle-launch.md": "electricity",
    "story-orchard.txt": "rope",
    "speech.txt": "coal",
    "howto-backup.md": "passphrase",
    "contract.txt": "subcontractors",
    "obituary.txt": "cable",
    "review.md": "thriller",
    "minutes.md": "bonfires",
    "zeitung-schwimmbad.md": "Wasser",
    "night-trains.md": "transport",
    "essay-maps.md": "memory",
    "interview-bees.txt": "honey",
    "bread.md": "yeast",
    "sleep-abstract.txt": "control room",
    "wald.md": "Borkenkäfer",
    "bibliotheque.md": "budget",
    "mercado.md": "compost",
}
WORDED = sorted(TOPICS)


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_best_angle_comes_first(name: str) -> None:
    kit = kits.make(kits.text_of(name), {"topics": [{"topic": TOPICS.get(name, "茶"), "interestLevel": 5}]})
    scores = [angle["relevanceScore"] for angle in kit.ideas["angles"]]
    assert scores == sorted(scores, reverse=True)


def with_style(**style: Any) -> dict[str, Any]:
    return {"topics": [], "style": style}


@pytest.mark.parametrize("name", WORDED)
def test_a_topic_of_the_text_changes_ideas_and_outline(name: str) -> None:
    plain = kits.kit_of(name)
    topic = TOPICS[name]
    kit = kits.make(plain.text, {"topics": [{"topic": topic, "interestLevel": 5}]})
    assert kit.ideas != plain.ideas
    assert kit.outline != plain.outline
    said = " ".join(angle["title"] + angle["description"] for angle in kit.ideas["angles"])
    assert topic.lower() in said.lower()
    assert kits.unsupported(kit, frozenset(topic.lower().split())) == []


@pytest.mark.parametrize("name", WORDED)
def test_a_topic_the_text_does_not_have_is_asked_about_and_never_claimed(name: str) -> None:
    plain = kits.kit_of(name)
    kit = kits.make(plain.text, {"topics": [{"topic": "glaciology", "interestLevel": 5}]})
    assert kit.summary["score"]["relevanceToUser"] == 0.0
    assert kit.outline != plain.outline
    assert any("glaciology" in question["question"] for question in kit.ideas["questions"])
    assert not any("glaciology" in angle["title"] + angle["description"] for angle in kit.ideas["angles"])
    assert "glaciology" not in " ".join(kit.summary["tags"])


@pytest.mark.parametrize("name", WORDED)
@pytest.mark.parametrize("tone", ["beginner", "expert", "mixed"])
def test_tone_changes_ideas_and_outline(name: str, tone: str) -> None:
    kit = kits.make(kits.text_of(name), with_style(tone=tone))
    assert kit.ideas != kits.kit_of(name).ideas
    assert kit.outline["sections"] != kits.kit_of(name).outline["sections"]
    assert kits.unsupported(kit) == []


@pytest.mark.parametrize("name", WORDED)
@pytest.mark.parametrize("voice", ["third-person", "instructional"])
def test_voice_changes_ideas_and_outline(name: str, voice: str) -> None:
    kit = kits.make(kits.text_of(name), with_style(voice=voice))
    assert kit.ideas != kits.kit_of(name).ideas
    assert kit.outline["sections"] != kits.kit_of(name).outline["sections"]
    assert kits.unsupported(kit) == []


def test_an_instructional_outline_is_made_of_tasks() -> None:
    kit = kits.make(kits.text_of("bread.md"), with_style(voice="instructional"))
    assert all(":" in part["heading"] for part in kit.outline["sections"])
    assert kit.ideas["questions"][0]["type"] == "practical"


def test_beginners_get_the_terms_first_and_experts_the_figures() -> None:
    text = kits.text_of("sleep-abstract.txt")
    easy, hard = kits.make(text, with_style(tone="beginner")), kits.make(text, with_style(tone="expert"))
    assert easy.outline["sections"][1]["heading"] != hard.outline["sections"][1]["heading"]
    assert any(sign.isdigit() for sign in hard.outline["sections"][1]["notes"])


def test_own_writing_sets_the_rhythm() -> None:
    """Somebody who writes short sentences gets no long hooks."""
    terse = {"writingSamples": ["It rained. We left. Nobody spoke. The road was long. I slept."]}
    text = kits.text_of("night-trains.md")
    short, usual = kits.make(text, terse), kits.kit_of("night-trains.md")
    assert max(len(hook["text"]) for hook in short.ideas["hooks"]) < max(
        len(hook["text"]) for hook in usual.ideas["hooks"]
    )


def test_an_edited_summary_changes_what_follows() -> None:
    """A person takes a theme and a quote out; ideas and outline no longer lead with them."""
    kit = kits.kit_of("night-trains.md")
    gone = kit.summary["keyThemes"][0]
    voice = next(quote["speaker"] for quote in kit.summary["importantQuotes"] if "invoice" in quote["text"])
    edited = {
        **kit.summary,
        "keyThemes": kit.summary["keyThemes"][1:],
        "importantQuotes": [quote for quote in kit.summary["importantQuotes"] if quote.get("speaker") != voice],
    }
    ideas = embedded.ideas(kit.text, edited)
    outline = embedded.outline(kit.text, edited, ideas)
    assert any(angle["title"].startswith(voice) for angle in kit.ideas["angles"])
    assert not any(angle["title"].startswith(voice) for angle in ideas["angles"])
    assert f"“{gone}”" not in str(outline["sections"])


def test_edited_ideas_change_the_outline() -> None:
    kit = kits.kit_of("essay-maps.md")
    mine = {
        "contentId": "content-1",
        "hooks": [{"text": "A hook of my own.", "type": "story"}],
        "angles": [{"title": "An angle of my own", "description": "With a description.", "relevanceScore": 1}],
        "questions": [{"question": "And what do I ask?", "type": "practical"}],
    }
    outline = embedded.outline(kit.text, kit.summary, mine)
    assert kits.validator("outline").is_valid(outline)
    assert "A hook of my own." in outline["sections"][0]["notes"]
    assert "An angle of my own" in outline["sections"][0]["notes"]
    assert "And what do I ask?" in outline["sections"][-1]["notes"]
