"""`weft ask` and `weft research` from the outside: asked, stopped by kill -9 at every step, followed up, made again."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.made import write_documents
from tests.knowledge.research.desk import DOCUMENTS
from tests.made import Weft
from weft.app import App
from weft.app.knowledge.research_requests import Inquiry, ask_of
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.protocol.commands import OverruleVerdict, StartRun
from weft.protocol.envelope import Actor
from weft.testing.scripted import ScriptedModel, Turn, says
from weft.tools.fetch import Fetched
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs, load_pack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
KEPT = "How long is the retention period of audit documentation, and when must the audit file be assembled?"
STEPS = ["analyze_query", "calibrate", "retrieve", "synthesize", "claims", "judge", "verify", "output"]


@pytest.fixture
def desk(tmp_path: Path) -> Weft:
    place = tmp_path / "desk"
    for name in ("writing", "research"):  # as in every workspace that `weft ask` makes
        lay_pack(find_packs()[name], place)
    write_documents(place / "knowledge/audit", DOCUMENTS).close()
    index(place)
    return Weft(place)


def index(place: Path) -> None:
    with Folder.open(place) as workspace, open_collection(workspace, "audit", Unavailable("")) as knowledge:
        knowledge.update()


def answer_in(desk: Weft, session: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((desk.session(session) / "answer.json").read_text())
    return found


def only_session(desk: Weft) -> str:
    (name,) = [path.name for path in (desk.workspace / "sessions").iterdir()]
    return name


# -- asking


def test_ask_prints_the_answer_with_its_sources(desk: Weft) -> None:
    ran = desk("ask", "How long is the retention period of audit documentation?", "--kb", "audit", timeout=200)
    assert ran.code == 0, ran.err
    assert "- The retention period of audit documentation is at least five years. [" in ran.out
    assert "isa-230, 230.4 (isa-230.txt)" in ran.out or "230.4 (isa-230.txt)" in ran.out
    assert " quoted" in ran.out
    session = only_session(desk)
    assert session.startswith("ask-how-long-is-the-retention-period")
    assert f" open {session}" in ran.err
    assert (desk.session(session) / "answer.html").exists()
    again = desk("ask", "How long is the retention period of audit documentation?", "--json", timeout=200)
    value = json.loads(again.out)
    assert value["nothing_found"] is False
    assert value["session"] == session, "the same question comes back to its session"
    assert value["citations"][0]["state"] == "quoted"


def test_nothing_found_is_said_with_its_own_exit_code(desk: Weft) -> None:
    ran = desk("ask", "How do I bake sourdough bread?", timeout=200)
    assert ran.code == 1
    assert ran.out.startswith("The documents do not say")
    assert json.loads(desk("ask", "How do I bake sourdough bread?", "--json", timeout=200).out)["nothing_found"]


def test_what_is_wrong_is_told_before_anything_is_made(desk: Weft) -> None:
    assert "did you mean 'audit'" in desk("ask", "why?", "--kb", "audits").err
    wrong = desk("ask", "???")
    assert (wrong.code, "there is no question" in wrong.err) == (2, True)
    page = desk("research", "why?", "--page", "https://example.org")
    assert (page.code, "--allow-network" in page.err) == (2, True)
    follow = desk("research", "and why?", "--follow", "nobody-here")
    assert follow.code != 0
    assert "nobody-here" in follow.err
    assert not (desk.workspace / "sessions").exists()


# -- research


def test_research_leaves_every_step_and_goes_on_from_what_is_finished(desk: Weft, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    ran = desk("research", KEPT, "--depth", "deep", "-o", target, timeout=200)
    assert ran.code == 0, ran.err
    session = only_session(desk)
    assert target.read_bytes() == (desk.session(session) / "answer.html").read_bytes()
    value = answer_in(desk, session)
    assert value["depth_mode"] == "deep"
    assert value["effort"]["limits"]["sub_queries"] == 15
    said = [one["text"] for section in value["sections"] for one in section["sentences"]]
    assert "The retention period of audit documentation is at least five years." in said
    link = next(source["link"] for source in value["sources"] if source["kind"] == "passage")
    assert (desk.session(session) / link.partition("#")[0]).resolve().is_file(), "the link leads into the source file"

    again = desk("research", KEPT, "--depth", "deep", timeout=200)
    assert again.code == 0
    assert again.err.count("skipped: up to date") == len(STEPS) + 1, "at depth deep it is judged twice"
    shallow = desk("research", KEPT, "--depth", "quick", timeout=200)
    assert "parameter" in shallow.err or "depth" in shallow.err
    assert answer_in(desk, session)["depth_mode"] == "quick"


def test_a_collection_that_changed_is_asked_again(desk: Weft) -> None:
    assert desk("research", KEPT, timeout=200).code == 0
    file = desk.workspace / "knowledge/audit/documents/isa-230.txt"
    file.write_text(file.read_text().replace("five years", "seven years"))
    index(desk.workspace)
    again = desk("research", KEPT, timeout=200)
    assert again.code == 0
    assert "seven years" in again.out
    assert "five years" not in again.out


def test_a_follow_up_has_its_own_session_and_overwrites_nothing(desk: Weft) -> None:
    first = desk("research", KEPT, "--session-id", "the-first", "--json", timeout=200)
    assert first.code == 0, first.err
    before = (desk.session("the-first") / "answer.json").read_bytes()
    more = desk("research", "And who may delete audit documentation?", "--follow", "the-first", "--json", timeout=200)
    assert more.code == 0, more.err
    value = json.loads(more.out)
    assert (desk.session("the-first") / "answer.json").read_bytes() == before
    assert value["follows"] == {"session": "the-first", "question": KEPT}
    assert value["followup_number"] == 1
    used = {one["paragraph_id"] for one in json.loads(first.out)["citations"]}
    assert not used & {one["paragraph_id"] for one in value["citations"] if one["label"].isdigit()}


# -- killed


def events_until(desk: Weft, wanted: str, *words: object) -> None:
    """Runs, and kills the process with its workers the moment a step has started."""
    process = subprocess.Popen(
        desk.command("run", "research", "--session-id", "kept", "--json", *words),
        env=desk.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "step_started" and event["step"] == wanted:
                os.kill(process.pid, signal.SIGKILL)
                break
    finally:
        process.stdout.close()
        process.wait(60)
        if process.stderr:
            process.stderr.close()
    assert process.returncode == -signal.SIGKILL


def inputs_of(desk: Weft, folder: Path) -> list[object]:
    """The inputs of research as files, for `weft run`: the same run, with its events as JSON."""
    with App.open(desk.workspace) as app:
        ask = ask_of(app, Inquiry(question=KEPT, collection="audit"))
    words: list[object] = []
    for name, given in ask.inputs.items():
        path = folder / f"{name}.txt"
        path.write_bytes(getattr(given, "data"))  # noqa: B009  a path has none, and none is a path here
        words += ["--input", f"{name}={path}"]
    return words


def test_killed_at_every_step_it_goes_on_there_and_ends_the_same(desk: Weft, tmp_path: Path) -> None:
    words = inputs_of(desk, tmp_path)
    whole = desk("run", "research", "--session-id", "whole", *words, timeout=200)
    assert whole.code == 0, whole.err
    for step in STEPS:
        events_until(desk, step, *words)
    last = desk("run", "research", "--session-id", "kept", *words, "--json", timeout=200)
    assert last.code == 0, last.err
    completed = [event["step"] for event in desk.log("kept") if event["type"] == "step_completed"]
    assert completed == STEPS, "each step was finished once, however often it was killed"
    for name in ("plan.json", "retrieval.json", "draft.json", "synthesis.json", "verification.json"):
        assert (desk.session("kept") / name).read_bytes() == (desk.session("whole") / name).read_bytes()
    mine, theirs = answer_in(desk, "kept"), answer_in(desk, "whole")
    assert {**mine, "session": ""} == {**theirs, "session": ""}
    assert desk("sessions", "verify", "kept").code == 0


# -- with a model


PLAN = {
    "clarity_score": 0.9,
    "clarity_reasons": [],
    "clarifying_questions": [],
    "recommended_action": "proceed",
    "sub_queries": [
        {"id": "q1", "text": "retention period of audit documentation", "role": "primary", "why": "asked"},
    ],
    "references": [],
    "entities": [],
}


def draft(*sentences: tuple[str, list[str]]) -> str:
    said = [{"text": text, "cites": cites} for text, cites in sentences]
    section = {"heading": "Retention", "query": "q1", "sentences": said}
    return json.dumps({"sections": [section], "not_answered": [], "entities_referenced": [], "relations_claimed": []})


GOOD = ("The retention period of the audit documentation is at least 5 years [1].", ["1"])
INVENTED = ("Moreover, it may be burnt by anybody at any time.", ["42"])
WRONG = ("The retention period of audit documentation is at least nine years.", ["1"])


def judged(text: str, verdict: str, words: str) -> str:
    """What the judge says of a sentence, and the words it rests on."""
    return json.dumps({"claims": [{"claim": text, "verdict": verdict, "label": "1", "words": words}]})


def asked_of_a_model(
    desk: Weft, *drafts: str, depth: str = "standard", judges: tuple[str, ...] = ()
) -> tuple[ScriptedModel, dict[str, Any]]:
    (desk.workspace / "config.toml").write_text('model = "scripted"\nconcurrency = 1\n')
    said = [text for one in drafts for text in (one, *judges)]
    model = ScriptedModel([Turn(says(json.dumps(PLAN))), *(Turn(says(text)) for text in said)])

    async def go() -> str:
        with App.open(desk.workspace, models={"scripted": model}) as app:
            ask = ask_of(app, Inquiry(question="How long is documentation kept?", collection="audit", session="mine"))
            async with app.session(ask) as session:
                return await session.run(StartRun(parameters={"depth": depth}))

    assert asyncio.run(asyncio.wait_for(go(), 200)) == "done"
    model.assert_done()
    return model, answer_in(desk, "mine")


def test_with_a_model_the_same_contract_holds(desk: Weft) -> None:
    """Quick research has no repair: what failed is said, and nothing is passed off as checked."""
    model, value = asked_of_a_model(desk, draft(GOOD, INVENTED), depth="quick")
    states = {one["text"]: one["state"] for section in value["sections"] for one in section["sentences"]}
    assert states["The retention period of the audit documentation is at least 5 years."] == "quoted"
    assert states["Moreover, it may be burnt by anybody at any time."] == "not_checked"
    assert ("label", "[42]", "removed") in {(one["what"], one["text"], one["state"]) for one in value["open_ends"]}
    assert [source["label"] for source in value["sources"]] == ["1"]
    assert value["effort"]["made_by"] == "model"
    assert "at least five years" in str(model.requests[1].messages)


def test_a_model_is_told_exactly_what_failed_and_its_next_draft_is_verified_again(desk: Weft) -> None:
    model, value = asked_of_a_model(desk, draft(GOOD, WRONG), draft(GOOD, INVENTED), draft(GOOD))
    second, third = (str(request.messages) for request in model.requests[2:])
    assert (
        "nine years where the passage has five" in second
        or "9 years where the passage has" in second
        or ("nine" in second and "is contradicted by [1]" in second)
    )
    assert "[42] names no source" in third
    assert "must not come back" in third, "what an earlier round rejected is still said"
    assert value["verification"]["counts"]["quoted"] == value["verification"]["total"] == 1
    rounds = [event["type"] for event in desk.log("mine") if "unit" in event or "round" in event]
    assert rounds, "the log has the rounds"
    made = [event["attempt"] for event in desk.log("mine") if event["type"] == "step_completed"
            and event["step"] == "synthesize"]  # fmt: skip
    assert made == [1, 2, 3]


PARAPHRASE = "Papers of an audit are kept for five years or more."
REST = "The retention period of audit documentation is at least five years"


def test_a_paraphrase_is_judged_by_the_model_that_is_named_and_its_call_is_the_runs(desk: Weft) -> None:
    model, value = asked_of_a_model(desk, draft((PARAPHRASE, ["1"])), judges=(judged(PARAPHRASE, "supported", REST),))
    asked = model.requests[-1]
    assert "the passages that it cites" in asked.system, "the judge of answers, not the one of drafts"
    assert "rests_on" not in asked.system
    assert PARAPHRASE in str(asked.messages)
    assert "at least five years" in str(asked.messages)
    (sentence,) = value["sections"][0]["sentences"]
    assert (sentence["state"], sentence["judged_by"]) == ("judged", "scripted")
    assert REST in sentence["reason"]
    assert value["verification"]["counts"] == {"quoted": 0, "judged": 1, "contradicted": 0, "not_checked": 0}
    log = desk.log("mine")
    (made,) = [event for event in log if event["type"] == "step_completed" and event["step"] == "judge"]
    assert made["model"] == "scripted"
    assert "judged by scripted" in (desk.session("mine") / "answer.md").read_text()


@pytest.mark.parametrize(
    ("verdict", "words", "why"),
    [
        ("supported", "the papers of an audit are kept", "does not stand in [1]"),
        ("not_said", "", "finds in no passage"),
    ],
)
def test_a_judge_that_cannot_show_it_is_not_believed(desk: Weft, verdict: str, words: str, why: str) -> None:
    _, value = asked_of_a_model(desk, draft((PARAPHRASE, ["1"])), judges=(judged(PARAPHRASE, verdict, words),))
    (sentence,) = value["sections"][0]["sentences"]
    assert sentence["state"] == "not_checked"
    assert why in sentence["reason"]


def test_at_depth_deep_a_second_question_must_agree(desk: Weft) -> None:
    yes, no = judged(PARAPHRASE, "supported", REST), judged(PARAPHRASE, "not_said", "")
    _, value = asked_of_a_model(desk, draft((PARAPHRASE, ["1"])), depth="deep", judges=(yes, no))
    (sentence,) = value["sections"][0]["sentences"]
    assert sentence["state"] == "not_checked"
    assert "asked again" in sentence["reason"]


def test_what_is_asked_in_short_is_judged_too_and_a_person_has_the_last_word(desk: Weft) -> None:
    (desk.workspace / "config.toml").write_text('model = "scripted"\n')
    said = [draft((PARAPHRASE, ["1"])), judged(PARAPHRASE, "supported", REST)]
    model = ScriptedModel([Turn(says(text)) for text in said])

    async def go(command: StartRun | OverruleVerdict) -> str:
        with App.open(desk.workspace, models={"scripted": model}) as app:
            asked = "How long is the retention period of audit documentation?"
            inquiry = Inquiry(question=asked, collection="audit", pipeline="ask", session="mine")
            async with app.session(ask_of(app, inquiry)) as session:
                return await session.run(command, by=Actor("person", "Ann"))

    assert asyncio.run(asyncio.wait_for(go(StartRun()), 200)) == "done"
    model.assert_done()
    (sentence,) = answer_in(desk, "mine")["sections"][0]["sentences"]
    assert (sentence["state"], sentence["judged_by"]) == ("judged", "scripted")
    word = OverruleVerdict(claim=sentence["id"], verdict="contradicted", why="it says documentation, not papers")
    assert asyncio.run(asyncio.wait_for(go(word), 200)) == "done", "no model is asked again"
    value = answer_in(desk, "mine")
    (sentence,) = value["sections"][0]["sentences"]
    assert sentence["state"] == "contradicted"
    assert "judged_by" not in sentence
    assert sentence["overruled"] == {"was": "judged", "by": "Ann", "why": "it says documentation, not papers"}
    assert value["verification"]["counts"]["contradicted"] == 1
    assert value["level"] == "low"
    for name in ("answer.md", "answer.html"):
        assert "it says documentation, not papers; it was judged" in (desk.session("mine") / name).read_text()


def test_when_no_repair_helps_the_best_there_is_is_shown_as_what_it_is(desk: Weft) -> None:
    _, value = asked_of_a_model(desk, draft(WRONG), draft(GOOD, WRONG), draft(WRONG))
    assert value["sections"][0]["sentences"][0]["state"] == "contradicted"
    assert value["level"] == "low"
    assert value["verification"]["state"] == "failed"


def test_a_verdict_is_paid_for_once_and_only_where_code_cannot_say(desk: Weft) -> None:
    """Of three drafts with the same sentence, one judgement; what is quoted or contradicted is not asked about."""
    first, second, third = draft((PARAPHRASE, ["1"]), WRONG), draft(WRONG, (PARAPHRASE, ["1"])), draft(GOOD)
    (desk.workspace / "config.toml").write_text('model = "scripted"\nconcurrency = 1\n')
    said = [json.dumps(PLAN), first, judged(PARAPHRASE, "supported", REST), second, third]
    model = ScriptedModel([Turn(says(text)) for text in said])
    assert asyncio.run(asyncio.wait_for(inquired(desk, model, "research", "standard"), 200)) == "done"
    model.assert_done()
    settled = [event for event in desk.log("mine") if event["type"] == "item_settled" and event["step"] == "judge"]
    assert len(settled) == 1
    assert "must not come back" not in str(model.requests[2].messages), "a judge is not told what others found"


def test_a_verdict_of_another_session_is_taken_over_and_said_to_be(desk: Weft) -> None:
    (desk.workspace / "config.toml").write_text('model = "scripted"\nconcurrency = 1\n')
    said = [draft((PARAPHRASE, ["1"])), judged(PARAPHRASE, "supported", REST)]
    model = ScriptedModel([Turn(says(text)) for text in said])
    assert asyncio.run(asyncio.wait_for(inquired(desk, model, "ask", "standard", "first"), 200)) == "done"
    model.assert_done()
    model = ScriptedModel([Turn(says(text)) for text in (json.dumps(PLAN), draft((PARAPHRASE, ["1"])))])
    assert asyncio.run(asyncio.wait_for(inquired(desk, model, "research", "standard"), 200)) == "done"
    model.assert_done()
    (settled,) = [event for event in desk.log("mine") if event["type"] == "item_settled" and event["step"] == "judge"]
    assert settled["reused"] == "first"
    assert not settled.get("usage")
    (sentence,) = answer_in(desk, "mine")["sections"][0]["sentences"]
    assert (sentence["state"], sentence["judged_by"]) == ("judged", "scripted")
    agent = desk.workspace / ".claude/agents/passage-judge.md"
    agent.write_text(agent.read_text() + "Be strict.\n")
    model = ScriptedModel([Turn(says(judged(PARAPHRASE, "not_said", "")))])
    assert asyncio.run(asyncio.wait_for(inquired(desk, model, "research", "standard"), 200)) == "done"
    model.assert_done()
    (sentence,) = answer_in(desk, "mine")["sections"][0]["sentences"]
    assert sentence["state"] == "not_checked", "another question is another verdict"


def test_a_draft_that_a_round_left_as_it_was_ends_the_repair(desk: Weft) -> None:
    model, value = asked_of_a_model(desk, *[draft(WRONG)] * 2, depth="deep")
    assert len(model.requests) == 3, "the plan and two drafts, of four that were allowed"
    assert value["verification"]["state"] == "failed"


async def inquired(desk: Weft, model: ScriptedModel, pipeline: str, depth: str, session: str = "mine") -> str:
    with App.open(desk.workspace, models={"scripted": model}) as app:
        asked = "How long is the retention period of audit documentation?"
        inquiry = Inquiry(question=asked, collection="audit", pipeline=pipeline, session=session)
        async with app.session(ask_of(app, inquiry)) as live:
            return await live.run(StartRun(parameters={"depth": depth}))


def test_what_is_asked_in_short_at_depth_deep_is_judged_twice(desk: Weft) -> None:
    (desk.workspace / "config.toml").write_text('model = "scripted"\nconcurrency = 1\n')
    yes, no = judged(PARAPHRASE, "supported", REST), judged(PARAPHRASE, "not_said", "")
    model = ScriptedModel([Turn(says(text)) for text in (draft((PARAPHRASE, ["1"])), yes, no)])
    assert asyncio.run(asyncio.wait_for(inquired(desk, model, "ask", "deep"), 200)) == "done"
    model.assert_done()
    assert "Somebody will rely on" in model.requests[2].system.replace("\n", " ")
    (sentence,) = answer_in(desk, "mine")["sections"][0]["sentences"]
    assert sentence["state"] == "not_checked"
    assert "asked again" in sentence["reason"]


# -- gates


def test_an_unclear_question_waits_and_goes_on_with_what_is_meant(desk: Weft) -> None:
    waiting = desk("research", "stuff?", "--session-id", "unclear", timeout=200)
    assert waiting.code == 3
    assert "What would help" in waiting.err
    gone_on = desk("reply", "unclear", "amend", "The retention period of audit documentation.", timeout=200)
    assert gone_on.code == 0, gone_on.err
    value = answer_in(desk, "unclear")
    assert "at least five years" in value["answer"]
    assert "retention period" in value["original_query"]


def test_review_waits_at_both_gates_and_what_is_wanted_besides_is_looked_up(desk: Weft) -> None:
    question = "When must the audit file be assembled?"
    assert desk("research", question, "--review", "--session-id", "seen", timeout=200).code == 3
    second = desk("reply", "seen", "proceed", timeout=200)
    assert second.code == 3
    assert "held against the collection" in second.err
    last = desk("reply", "seen", "amend", "retention period of documentation", timeout=200)
    assert last.code == 3, "the changed plan is shown again"
    assert desk("reply", "seen", "proceed", timeout=200).code == 0
    value = answer_in(desk, "seen")
    assert ("retention period of documentation", "you asked for it") in {
        (one["text"], one["why"]) for one in value["sub_queries"]
    }
    assert desk("research", "stuff?", "--yes", timeout=200).code in (0, 1), "with --yes nothing waits"


def test_pages_that_are_given_are_used_with_their_own_labels(desk: Weft) -> None:
    body = b"<html><head><title>A guide</title></head><body><article><h1>A guide</h1><p>" + (
        b"The retention period of audit documentation may be longer in some countries. " * 1
        + b"Another sentence says that nothing else matters to this page at all.</p></article></body></html>"
    )

    async def fetched(url: str) -> Fetched:
        return Fetched(url=url, status=200, media_type="text/html", charset="utf-8", data=body, redirects=())

    async def go() -> None:
        with App.open(desk.workspace, fetch_page=fetched) as app:
            page = await app.fetch_input("https://example.org/guide")
            question = "How long is the retention period of audit documentation?"
            ask = ask_of(app, Inquiry(question=question, collection="audit", session="web", pages=[page]))
            async with app.session(ask) as session:
                assert await session.run(StartRun()) == "done"

    asyncio.run(asyncio.wait_for(go(), 200))
    value = answer_in(desk, "web")
    assert value["web_references"][0]["url"] == "https://example.org/guide"
    cited = {label for section in value["sections"] for one in section["sentences"] for label in one["labels"]}
    assert "W1" in cited


def test_the_first_question_after_a_newer_weft_brings_the_pack_up_to_date_and_keeps_what_was_changed(
    tmp_path: Path,
) -> None:
    older = tmp_path / "older/research"
    shutil.copytree(find_packs()["research"].path, older)
    schema, agent = "schemas/research-draft.schema.json", "agents/researcher.md"
    (older / schema).write_text('{"type": "object", "additionalProperties": false}')
    place = tmp_path / "desk"
    lay_pack(load_pack(older), place)
    mine = place / ".claude" / agent
    mine.write_text(mine.read_text() + "\nBe brief.\n")
    (tmp_path / "mill.md").write_text("# The mill\n\nThe mill was built in 1884 by the Ostrander family.\n")
    weft = Weft(place)
    assert weft("kb", "create", "mill", str(tmp_path / "mill.md")).code == 0
    asked = weft("ask", "When was the mill built?")
    assert (asked.code, "1884" in asked.out) == (0, True), asked.err
    assert f"brought the pack research in {place} up to date" in asked.err
    assert "Be brief." in mine.read_text()
    assert weft("ask", "Who built the mill?").err.count("brought") == 0
