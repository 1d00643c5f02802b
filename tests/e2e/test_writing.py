"""The writing pack through the command line: kits of real documents are true, bounded, the same each time, and differ;
a profile changes them; what a careless model hands in is rejected with what to fix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.documents import from_content_md
from weft.workspace.workspace import Workspace

DOCUMENTS = Path(__file__).parent / "documents"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def writing(tmp_path: Path) -> Weft:
    weft = Weft(tmp_path / "desk")
    assert weft("init").code == 0
    return weft


TEXTS = ROOT / "tests/models/texts"
WRITTEN = ("arabic-water.txt", "contract.txt", "essay-lu.txt", "howto-backup.md", "poem.txt", "russian-school.txt")


def real_documents() -> list[Path]:
    """What is on every machine that runs these tests, and what was written for them: licences, manuals, a README, a
    transcript, a page, minutes, a story, a contract, texts in German, Arabic, Chinese and Russian."""
    found = [ROOT / "LICENSE", ROOT / "README.md", ROOT / "docs/reliability.md", ROOT / "examples/tides.md"]
    found += [*(TEXTS / name for name in WRITTEN), *sorted(DOCUMENTS.glob("*.*"))]
    return found + [path for path in (Path("/usr/share/common-licenses/GPL-3"),) if path.is_file()]


def kit_of(weft: Weft, ran_out: str) -> list[dict[str, Any]]:
    return [json.loads(Path(line).read_text()) for line in ran_out.splitlines() if line.endswith(".json")]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in ("evidence", "contentId", "id"):
                yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{3,}", text.lower()))


def test_kits_of_real_documents(writing: Weft, tmp_path: Path) -> None:
    documents = real_documents()
    assert len(documents) >= 15
    ran = writing("run", *documents, timeout=120)
    assert ran.code == 0, ran.err
    kits = kit_of(writing, ran.out)
    assert len(kits) == len(documents)
    for kit in kits:
        folder = writing.session(kit["contentId"])
        source = from_content_md((folder / "content.md").read_bytes())
        _is_true(kit, source.text)
        _is_bounded(kit)
        page = (folder / "writing-kit.html").read_text()
        assert re.findall(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=", page) == []
    _differ(kits)
    again = Weft(tmp_path / "other-desk")
    assert again("run", *documents, timeout=120).code == 0
    for kit in kits:
        name = kit["contentId"]
        for artifact in ("writing-kit.json", "writing-kit.md", "writing-kit.html"):
            assert (again.session(name) / artifact).read_bytes() == (writing.session(name) / artifact).read_bytes()


def _is_true(kit: dict[str, Any], source: str) -> None:
    plain = " ".join(source.split())
    for quote in kit["summary"]["importantQuotes"]:
        assert " ".join(quote["text"].split()) in plain
    numbers = set(re.findall(r"\d+", source))
    said = [text for part in ("headline", "tldr", "bullets") for text in texts(kit["summary"][part])]
    said += [*texts(kit["ideas"]["hooks"]), *texts(kit["ideas"]["questions"])]
    for text in said:
        assert set(re.findall(r"\d+", text)) <= numbers, text
    names = set(re.findall(r"\b[A-Z][a-zà-ÿ]+\b", source))
    for text in texts([kit["summary"]["keyThemes"], kit["summary"]["importantQuotes"]]):
        inside = re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]+\b", text)  # a capital in the middle of a sentence
        assert set(inside) <= names, text
    assert kit["summary"]["evidence"]
    for places in kit["summary"]["evidence"].values():
        for start, end in _spans(places):
            assert 0 <= start < end <= len(source)


def _spans(value: Any) -> Iterator[tuple[int, int]]:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        yield value[0], value[1]
    elif isinstance(value, dict):
        if {"start", "end"} <= value.keys():
            yield value["start"], value["end"]
        else:
            for part in value.values():
                yield from _spans(part)
    elif isinstance(value, list):
        for part in value:
            yield from _spans(part)


def _is_bounded(kit: dict[str, Any]) -> None:
    assert {kit["contentId"]} == {kit["summary"]["contentId"], kit["ideas"]["contentId"], kit["source"]["id"]}
    assert 900 <= sum(section["estimatedWords"] for section in kit["suggestedOutline"]) <= 1100
    assert "relevanceToUser" not in kit["meta"], "nobody has said what matters to them"
    assert kit["meta"]["estimatedReadingTimeMinutes"] == max(1, round(kit["summary"]["wordCount"] / 238))
    for name in ("questions", "numbers", "tensions", "missing"):
        assert len(kit["ideas"][name]) <= 5


def _differ(kits: list[dict[str, Any]]) -> None:
    """No two kits say the same: points are each document's own."""
    points = [point for kit in kits for point in kit["summary"]["bullets"]]
    assert len(set(points)) == len(points) > len(kits)


def test_a_profile_changes_what_depends_on_it_and_an_override_counts_for_one_run(writing: Weft) -> None:
    source = ROOT / "examples/tides.md"

    def kit(*more: str) -> dict[str, Any]:
        ran = writing("run", source, *more)
        assert ran.code == 0, ran.err
        return kit_of(writing, ran.out)[0]

    plain = kit()
    long = kit("--word-count", "3000", "--tone", "expert", "--voice", "third-person", "--topics", "tides:5, wheels:1")
    assert 2700 <= sum(section["estimatedWords"] for section in long["suggestedOutline"]) <= 3300
    assert long["suggestedOutline"] != plain["suggestedOutline"]
    assert "relevanceToUser" not in plain["meta"]
    assert long["meta"]["relevanceToUser"] > 0.5
    started = [event for event in writing.log(plain["contentId"]) if event["type"] == "run_started"][-1]
    assert started["profile"]["style.targetWordCount"] == 3000
    assert kit() == plain
    assert kit("--word-count", "300")["suggestedOutline"] != plain["suggestedOutline"]
    assert kit("--topics", "baking:5")["meta"]["relevanceToUser"] == 0.0
    assert writing("profile", "set", "--word-count", "500", "--topics", "machines:4").code == 0
    planned = writing("plan", source).out
    assert "topics in the profile was changed" in planned
    assert sum(section["estimatedWords"] for section in kit()["suggestedOutline"]) in range(450, 551)


def test_a_transcript_gives_its_quotes_their_times(writing: Weft) -> None:
    ran = writing("run", DOCUMENTS / "interview.vtt", "--session-id", "interview")
    assert ran.code == 0, ran.err
    (kit,) = kit_of(writing, ran.out)
    assert kit["summary"]["importantQuotes"]
    assert all(re.fullmatch(r"(\d?\d:)?\d?\d:\d\d", quote["timestamp"]) for quote in kit["summary"]["importantQuotes"])


def test_summarize_is_the_first_step_alone(writing: Weft) -> None:
    ran = writing("run", "summarize", ROOT / "examples/tides.md", "-o", "-")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["headline"]


def test_output_takes_the_artifact_that_fits_its_ending(writing: Weft, tmp_path: Path) -> None:
    for ending, begin in {".html": "<!doctype html>", ".md": "# ", ".json": "{"}.items():
        target = tmp_path / f"kit{ending}"
        assert writing("run", ROOT / "examples/tides.md", "-o", target).code == 0
        assert target.read_text().lower().startswith(begin)


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "sentence.txt": "Rain fell.",
        "chinese.md": "潮汐机器是用黄铜制成的。它在利物浦的一个房间里运转了四十年。没有人知道它会在哪一天停下来。",
        "arabic.txt": "بُنيت الآلة من النحاس. كانت تحسب المد والجزر لكل ميناء. لم يعرف أحد متى ستتوقف.",
        "mixed.txt": "The tide is a sum. Die Flut ist eine Summe. La marée est une somme. 潮は和である。",
        "emoji.md": "🌊 The tide came in 🌊🌊 and nobody 👩‍👩‍👧 had asked for it. We left at 5 🕔.",
        "code.md": "# Sums\n\n```python\ndef add(a, b):\n    return a + b\n```\n\nThe function adds 2 numbers.\n",
        "table.md": "| port | height |\n| --- | --- |\n| Dover | 6.7 m |\n| Hull | 7.2 m |\n",
        "list.md": "- buy brass\n- cut 29 wheels\n- wind the wire\n",
    }.items(),
)
def test_any_text_gives_a_valid_kit(writing: Weft, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    ran = writing("run", tmp_path / name)
    assert ran.code == 0, ran.err
    (kit,) = kit_of(writing, ran.out)
    _is_true(kit, from_content_md((writing.session(kit["contentId"]) / "content.md").read_bytes()).text)


def test_a_text_without_a_word_is_an_error_that_says_so(writing: Weft, tmp_path: Path) -> None:
    (tmp_path / "signs.txt").write_text("*** --- ***\n!!!\n")
    ran = writing("run", tmp_path / "signs.txt")
    assert ran.code in (1, 2)
    assert "word" in ran.err
    assert "Traceback" not in ran.err


def test_every_agent_and_skill_of_the_pack_is_used(writing: Weft) -> None:
    with Workspace.open(writing.workspace) as workspace:
        steps = [step for name in workspace.pipeline_names() for step in workspace.pipeline(name).steps.values()]
        agents = {step.agent for step in steps if step.agent}
        assert agents == set(workspace.agent_names())
        used = {skill for agent in agents for skill in workspace.agent(agent).skills}
        skills, problems = workspace.skills()
        assert problems == []
        assert used == {skill.name for skill in skills}
        for agent in agents:
            assert all(f"`{skill}`" in workspace.agent(agent).text for skill in workspace.agent(agent).skills)
        review = workspace.skill("media-reviewer").text
        assert [int(number) for number in re.findall(r"^(\d+)\.", review, re.MULTILINE)] == list(range(1, 10))


# -- what careless models hand in, rebuilt

THEMES_AS_OBJECTS = """
made["sentiment"] = "optimistic"
made["keyThemes"] = [{"theme": theme} for theme in made["keyThemes"]]
made["detailedAnalysis"] = {"text": "It argues."}
made["coreIdeas"] = [{"idea": "A sum", "explanation": "The tide is a sum."}]
made["importantQuotes"] = [{"quote": "Each pull became a wheel."}]
del made["tldr"]
"""
CUT_QUOTES = """
made["importantQuotes"] = [{"text": "Before there were computers, ... come back."}]
made["evidence"]["importantQuotes"] = [[]]
"""
MAPS_AND_SCALES = """
made["hooks"] = {"emotional": "A machine of brass."}
made["questions"] = {"analytical": "Who has ever looked for that page?"}
made["angles"] = [{"title": "A sum of brass", "description": "It drew the sea.", "relevanceScore": 8}]
"""
OWN_WORDS = """
made["hooks"] = [{"text": "A machine of brass.", "type": "bold statement"}]
made["angles"] = [{"description": "It drew the sea for a year."}]
made["questions"] = [{"question": f"What would happen in case number {n}?", "depth": "deep"} for n in range(7)]
"""
INVENTED_HOOK = """
made["importantQuotes"] = [{"text": "Every sailor owes his life to a wheel of brass."}]
"""
INVENTED_NUMBER = """
made["bullets"][0] = "The machine was 97 years old when it was switched off."
"""
OTHER_ID = """
made["contentId"] = "article-2024-01-01-tides"
"""
TOO_LONG = """
for section in made["sections"]:
    section["estimatedWords"] = section["estimatedWords"] * 2
"""
SAME_TWICE = """
made["bullets"] = [made["bullets"][0]] * 3
"""
NEGATIVE = {
    "themes as objects": (
        "summary",
        THEMES_AS_OBJECTS,
        ["/sentiment", "/keyThemes/0", "/detailedAnalysis", "/coreIdeas/0", "/importantQuotes/0", '"tldr"'],
    ),
    "quotes cut with an ellipsis": ("summary", CUT_QUOTES, ["/importantQuotes/0/text", "not in source"]),
    "maps and another scale": ("ideas", MAPS_AND_SCALES, ["/hooks", "/questions", "/angles/0/relevanceScore"]),
    "types of its own": ("ideas", OWN_WORDS, ["bold statement", '"title"', "/questions"]),
    "a quote nobody said": ("summary", INVENTED_HOOK, ["/importantQuotes/0/text"]),
    "a number from nowhere": ("summary", INVENTED_NUMBER, ["/bullets/0", "97"]),
    "an id of its own": ("summary", OTHER_ID, ["/contentId"]),
    "twice the length": ("outline", TOO_LONG, ["more than 10 % off 1000", "take away"]),
    "the same point three times": ("summary", SAME_TWICE, ["/bullets/1"]),
}
AGENTS = {"summary": "content-analyzer", "ideas": "idea-generator", "outline": "writing-kit-builder"}


@pytest.mark.parametrize("case", NEGATIVE)
def test_what_careless_models_hand_in_is_rejected(writing: Weft, case: str) -> None:
    step, distortion, wanted = NEGATIVE[case]
    body = "".join(f"    {line}\n" for line in distortion.strip().splitlines())
    (writing.workspace / "code/careless.py").write_text(
        f"import writing\ndef make(step):\n    made = writing.{step}(step)\n{body}    return made\n"
    )
    agent = writing.workspace / f".claude/agents/{AGENTS[step]}.md"
    made = {"outline": "build"}.get(step, step)
    agent.write_text(agent.read_text().replace(f"writing.py:{made}", "careless.py:make"))
    ran = writing("run", ROOT / "examples/tides.md", "--session-id", "tides")
    assert ran.code == 1
    rejected = [event for event in writing.log("tides") if event["type"] == "artifact_rejected"]
    assert len(rejected) == 3
    assert all(finding["hint"] for finding in rejected[0]["findings"])
    for text in wanted:
        assert text in ran.err
    assert not (writing.session("tides") / f"{step}.json").exists()
    assert not (writing.session("tides") / "writing-kit.json").exists()


def test_a_kit_with_another_summary_in_it_is_rejected(writing: Weft) -> None:
    code = writing.workspace / "code/writing.py"
    code.write_text(
        code.read_text().replace(
            '        "writing-kit.json": kit,',
            '        "writing-kit.json": {**kit, "summary": {"relevance_score": 9}},',
        )
    )
    ran = writing("run", ROOT / "examples/tides.md")
    assert ran.code == 1
    assert '"headline" is a required property' in ran.err
