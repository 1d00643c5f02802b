"""Run, stop, change something, run again: exactly what is still to be done is done, and the reason is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.made import SCHEMA, Weft


@pytest.fixture
def done(weft: Weft, source: Path) -> Weft:
    """A finished session named `poem`."""
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    assert sorted(weft.ran()) == ["count", "list", "report"]
    return weft


def plan(weft: Weft, *words: object) -> dict[str, str]:
    lines = weft("plan", "--session-id", "poem", "--json", *words)
    assert lines.code == 0, lines.err
    return {line["step"]: f"{line['action']}: {line['reason']}" for line in json.loads(lines.out)["lines"]}


def run(weft: Weft, *words: object) -> list[str]:
    ran = weft("run", "--session-id", "poem", *words)
    assert ran.code == 0, ran.err
    return weft.ran()


def test_nothing_changed_nothing_runs(done: Weft) -> None:
    assert plan(done) == dict.fromkeys(["count", "list", "report"], "skip: up to date")
    assert run(done) == []


def test_an_edited_artifact_is_made_again_and_the_edit_is_kept_aside(done: Weft) -> None:
    path = done.session("poem") / "count.json"
    made = path.read_text()
    path.write_text('{"words": 3, "first": "so"}')
    assert plan(done) == {
        "count": "run: count.json was edited by hand",
        "list": "run: count.json was edited by hand",
        "report": "run: count.json was edited by hand",
    }
    # The same bytes come out again, so the wave stops at once.
    assert run(done) == ["count"]
    assert path.read_text() == made
    (aside,) = (done.session("poem") / "aside").iterdir()
    assert aside.read_text() == '{"words": 3, "first": "so"}'


def test_an_accepted_edit_stays_and_only_what_depends_on_it_runs(done: Weft) -> None:
    path = done.session("poem") / "count.json"
    path.write_text('{"words": 3, "first": "so"}')
    assert plan(done, "--accept", "count") == {
        "count": "skip: up to date (your edit is kept)",
        "list": "run: count.json was edited by hand",
        "report": "run: count.json was edited by hand",
    }
    assert run(done, "--accept", "count") == ["list", "report"]
    assert path.read_text() == '{"words": 3, "first": "so"}'
    assert (done.session("poem") / "report.md").read_text().startswith("3 words")
    assert plan(done)["count"] == "skip: up to date (your edit is kept)"
    assert run(done) == []


def test_an_edit_that_does_not_pass_is_not_accepted(done: Weft) -> None:
    (done.session("poem") / "count.json").write_text('{"words": 0, "first": "so"}')
    refused = done("run", "--session-id", "poem", "--accept", "count")
    assert refused.code == 1
    assert "can't accept count: count.json does not pass: /words: 0 is less than the minimum of 1" in refused.err
    assert done.ran() == []


def test_a_changed_source_runs_what_reads_it(done: Weft, source: Path) -> None:
    source.write_text("a red wheel barrow glazed with rain water\n")
    words = done("plan", source, "--session-id", "poem")
    assert "count: run, the source was changed" in words.out
    assert "list: run, the source was changed" in words.out
    assert done("run", source, "--session-id", "poem").code == 0
    assert done.ran() == ["count", "list", "report"]


def test_a_source_edited_in_the_session_counts_too(done: Weft) -> None:
    (done.session("poem") / "content.md").write_text("glazed with rain")
    assert plan(done)["count"] == "run: the source was changed"
    assert run(done) == ["count", "list", "report"]


def test_an_edited_agent_runs_its_step(done: Weft) -> None:
    agent = done.workspace / ".claude/agents/lister.md"
    agent.write_text(agent.read_text() + "Leave none out.\n")
    assert plan(done) == {
        "count": "skip: up to date",
        "list": "run: the agent lister was changed",
        "report": "run: list is made again",
    }
    assert run(done) == ["list"]


def test_a_changed_parameter_names_both_values_and_is_remembered(done: Weft) -> None:
    assert plan(done, "--set", "shout=true")["report"] == "run: the parameter shout was changed (false -> true)"
    assert run(done, "--set", "shout=true") == ["report"]
    assert (done.session("poem") / "report.md").read_text().startswith("8 WORDS")
    assert run(done) == []
    assert run(done, "--set", "shout=false") == ["report"]


def test_a_changed_part_of_the_profile_runs_what_reads_it(done: Weft) -> None:
    (done.workspace / "profile.json").write_text(json.dumps({"style": {"tone": "loud"}, "topics": ["rain"]}))
    assert plan(done)["list"] == "run: style.tone in the profile was changed"
    (done.workspace / "profile.json").write_text(json.dumps({"style": {"tone": "plain"}, "topics": ["rain"]}))
    assert plan(done)["list"] == "skip: up to date"


def test_changed_code_schema_and_checks_are_reasons(done: Weft) -> None:
    (done.workspace / "schemas/count.schema.json").write_text(json.dumps({**SCHEMA, "version": "2"}))
    assert plan(done)["count"] == "run: the schema of count.json was changed"
    assert run(done) == ["count"]
    pipeline = done.workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text().replace("in: source}", "in: source, required: true}"))
    assert plan(done)["count"] == "run: its checks were changed"
    assert run(done) == ["count"]
    code = done.workspace / "code/letters.py"
    code.write_text(code.read_text() + "\n# another line\n")
    assert plan(done)["count"] == "run: the code in letters.py was changed"


def test_force_from_and_until(done: Weft) -> None:
    assert run(done, "--force", "list") == ["list"]
    assert plan(done, "--from", "list") == {
        "count": "skip: up to date",
        "list": "run: asked for with --from list",
        "report": "run: asked for with --from list",
    }
    assert run(done, "--from", "list") == ["list", "report"]
    assert plan(done, "--until", "count", "--force", "count") == {
        "count": "run: asked for with --force",
        "list": "leave: not needed for count",
        "report": "leave: not needed for count",
    }
    assert run(done, "--until", "count", "--force", "count") == ["count"]


def test_the_same_file_comes_back_to_the_same_session(weft: Weft, source: Path) -> None:
    first = weft("run", source)
    again = weft("run", "letters", source)
    other = weft("run", source, "--new")
    latest = weft("run", source)
    assert [first.code, again.code, other.code, latest.code] == [0, 0, 0, 0]
    assert first.out == again.out
    assert other.out != first.out
    assert latest.out == other.out
    assert weft.ran() == ["count", "list", "report"] * 2
    assert Path(first.out.strip()).read_text().startswith("8 words")


def test_side_by_side_steps_and_a_changed_graph(done: Weft) -> None:
    """A step that is new in the pipeline is made; what does not depend on it is not made again."""
    pipeline = done.workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text() + "  again:\n    artifact: again.json\n    code: letters.py:count\n")
    assert plan(done)["again"] == "run: not yet made"
    assert run(done) == ["again"]
