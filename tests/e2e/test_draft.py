"""The draft: from a kit to a piece, by a model; a person chooses the angle, and each sentence says what it rests on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.app import App, SessionRequest
from weft.protocol.commands import OverruleVerdict, StartRun
from weft.protocol.envelope import Actor
from weft.protocol.events import Outcome
from weft.testing.scripted import ScriptedModel, Turn, says

SOURCE = """\
# The village that bought back its water

Twelve years ago the village of Oberfelde sold its waterworks for 1.8 million euros.
Today a cubic metre costs 4.10 euros.

Last autumn 71 per cent of the people voted to take it back.
The price was 3.2 million euros, on a loan that runs until 2046.
"""
THESIS = "A village that sells its water pays for it twice."
ANGLES: dict[str, Any] = {
    "angles": [
        {
            "title": "Twice the price",
            "thesis": THESIS,
            "description": "What it got and what it gave.",
            "support": ["sold its waterworks for 1.8 million euros", "The price was 3.2 million euros"],
            "against": "Nothing is said of what the works were worth in between.",
        },
        {
            "title": "A vote",
            "thesis": "The village took back its say before it took back its pipes.",
            "description": "Who decided, and how.",
            "support": ["71 per cent of the people voted to take it back"],
        },
    ]
}
SOLD = "Twelve years ago the village of Oberfelde sold its waterworks for 1.8 million euros."
DRAFT: dict[str, Any] = {
    "title": "Paid twice",
    "thesis": THESIS,
    "sections": [
        {
            "heading": "Selling was cheap only once",
            "sentences": [
                {"text": SOLD, "rests_on": [SOLD]},
                {"text": "It was a good day for the treasurer, one would think.", "rests_on": []},
                {
                    "text": "Getting it back took a loan that runs until 2046.",
                    "rests_on": ["on a loan that runs until 2046"],
                },
            ],
        }
    ],
}
LOAN = DRAFT["sections"][0]["sentences"][2]["text"]


def judgement(words: str) -> dict[str, Any]:
    claim = {"claim": LOAN, "verdict": "supported", "label": "source", "words": words}
    return {"judgements": [{"sentence": LOAN, "claims": [claim]}]}


JUDGED = judgement("on a loan that runs until 2046")
VARIANTS = {
    "newsletter": "Dear all, a village sold its water and bought it back. What would yours have done? Write to me.",
    "thread": ["A village sold its water.", "It bought it back.", "It paid twice."],
    "talk": [f"Imagine a village that sells its water. {SOLD}"],
    "subject_lines": ["Paid twice", "A village and its water", "What water costs"],
}


@pytest.fixture
def desk(tmp_path: Path) -> Weft:
    weft = Weft(tmp_path / "desk")
    assert weft("init").code == 0
    (tmp_path / "water.md").write_text(SOURCE)
    ran = weft("run", tmp_path / "water.md", "--session-id", "water")
    assert ran.code == 0, ran.err
    (weft.workspace / "config.toml").write_text('model = "scripted"\nconcurrency = 1\n')  # answers come in this order
    return weft


def drafted(weft: Weft, model: ScriptedModel, file: Path, together: tuple[Path, ...] = (), **start: Any) -> Outcome:
    kit = weft.session("water") / "writing-kit.json"

    async def go() -> Outcome:
        with App.open(weft.workspace, models={"scripted": model}) as app:
            asked = SessionRequest(
                pipeline="draft", file=file, together=together, inputs={"kit": kit}, session="piece", new=True
            )
            async with app.session(asked) as session:
                return await session.run(StartRun(**start))

    return asyncio.run(asyncio.wait_for(go(), 60))


def made(weft: Weft, name: str) -> Any:
    return json.loads((weft.session("piece") / name).read_text())


def turns(*values: Any) -> list[Turn]:
    return [Turn(says(json.dumps(value))) for value in values]


def test_a_run_waits_for_the_angle_and_makes_no_draft_before(desk: Weft, tmp_path: Path) -> None:
    model = ScriptedModel(turns(ANGLES))
    assert drafted(desk, model, tmp_path / "water.md") == "waiting"
    assert made(desk, "angles.json")["angles"][0]["thesis"] == THESIS
    assert not (desk.session("piece") / "draft.json").exists()
    assert "writing-kit.json" in str(model.requests[0].messages) or "Oberfelde" in str(model.requests[0].messages)


def test_whoever_names_another_angle_is_understood_by_what_they_looked_at(desk: Weft, tmp_path: Path) -> None:
    model = ScriptedModel(turns(ANGLES, {"angles": ANGLES["angles"][::-1]}))
    assert drafted(desk, model, tmp_path / "water.md", answers={"angles": "amend:the second"}) == "waiting"
    first, again = (str(request.messages) for request in model.requests)
    assert "angles.json as it was" not in first
    assert again.index("angles.json as it was") < again.index("took back its say before") < again.index("the second")
    assert made(desk, "angles.json")["angles"][0]["title"] == "A vote"


def test_a_model_that_is_connected_and_not_chosen_is_named(desk: Weft, tmp_path: Path) -> None:
    (desk.workspace / "config.toml").write_text('[models.desk]\nkind = "openai"\nmodel = "m"\nkey = "none"\n')
    ran = desk("run", "draft", tmp_path / "water.md", "--input", f"kit={desk.session('water') / 'writing-kit.json'}")
    assert ran.code != 0
    assert "and the default, embedded, is none" in ran.err
    assert "weft models default desk" in ran.err


def test_each_sentence_of_the_piece_says_what_it_rests_on(desk: Weft, tmp_path: Path) -> None:
    model = ScriptedModel(turns(ANGLES, DRAFT, JUDGED, VARIANTS))
    start: dict[str, Any] = {"answers": {"angles": "proceed"}, "parameters": {"variants": True}}
    assert drafted(desk, model, tmp_path / "water.md", **start) == "done"
    sources = made(desk, "sources.json")
    own = [one for one in sources["sentences"] if one["in"] == ["draft"]]
    assert [one["state"] for one in own] == ["not_checked", "judged"]
    assert own[1]["judged_by"] == "scripted"
    first = sources["sentences"][0]
    assert (first["state"], first["in"]) == ("quoted", ["draft", "talk"])
    assert sources["counts"] == {"quoted": 1, "judged": 1, "contradicted": 0, "not_checked": 11}
    start_, end = first["passages"][0]
    assert SOURCE[start_:end] == SOLD
    piece = (desk.session("piece") / "piece.md").read_text()
    assert piece.startswith("# Paid twice\n")
    assert f"{SOLD}[^1] It was a good day for the treasurer, one would think.[^2]" in piece
    assert f"[^1]: The village that bought back its water: “{SOLD}” (quoted)" in piece
    assert "[^2]: not checked: no source has it in these words, and none are named for it" in piece
    assert (
        "[^3]: The village that bought back its water: “on a loan that runs until 2046” (judged by scripted)" in piece
    )
    assert f"1. Imagine a village that sells its water.[^2] {SOLD}[^1]" in piece
    assert "- Paid twice[^2]" in piece
    assert f"{own[1]['id']}  judged by scripted: {LOAN}" in desk("overrule", "piece").out


def test_a_variant_that_contradicts_the_source_goes_back(desk: Weft, tmp_path: Path) -> None:
    wrong = {
        **VARIANTS,
        "newsletter": "Dear all, the village of Oberfelde never sold its waterworks for 1.8 million euros. Write back.",
        "thread": ["A village sold its water.", "A cubic metre does not cost 4.10 euros today.", "It paid twice."],
    }
    model = ScriptedModel(turns(ANGLES, DRAFT, JUDGED, wrong, VARIANTS))
    start: dict[str, Any] = {"answers": {"angles": "proceed"}, "parameters": {"variants": True}}
    assert drafted(desk, model, tmp_path / "water.md", **start) == "done"
    told = str(model.requests[-1].messages)
    assert "Newsletter: “Dear all, the village of Oberfelde never sold" in told
    assert "Thread: “A cubic metre does not cost 4.10 euros today.”" in told
    assert "never" not in (desk.session("piece") / "piece.md").read_text()


def test_a_variant_that_stays_wrong_is_marked_and_the_piece_is_made(desk: Weft, tmp_path: Path) -> None:
    wrong = {**VARIANTS, "talk": ["Imagine it.", "A cubic metre does not cost 4.10 euros today. It paid."]}
    model = ScriptedModel(turns(ANGLES, DRAFT, JUDGED, wrong, wrong, wrong))
    start: dict[str, Any] = {"answers": {"angles": "proceed"}, "parameters": {"variants": True}}
    assert drafted(desk, model, tmp_path / "water.md", **start) == "done"
    piece = (desk.session("piece") / "piece.md").read_text()
    assert "2. **A cubic metre does not cost 4.10 euros today.**[^" in piece
    assert "“Today a cubic metre costs 4.10 euros.” (contradicted: the claim has a negation (“not”)" in piece
    assert made(desk, "sources.json")["counts"]["contradicted"] == 1


def test_what_the_sources_disagree_on_is_in_the_piece_with_both_sides(desk: Weft, tmp_path: Path) -> None:
    """One the model has named, and one that only the rules find."""
    other = tmp_path / "gazette.md"
    got, cost = "Last autumn 52 per cent of the people voted to take it back.", "Today a cubic metre costs 4.30 euros."
    other.write_text(f"# The Gazette\n\n{got}\n{cost}\n")
    voted = "Last autumn 71 per cent of the people voted to take it back."
    angles = {**ANGLES, "contradictions": [{"about": "how many voted for it", "passages": [voted, got]}]}
    costs = "Today a cubic metre costs 4.10 euros."
    said = [{"text": voted, "rests_on": [voted]}, {"text": costs, "rests_on": [costs]}]
    draft = {**DRAFT, "sections": [{"heading": "They voted", "sentences": said}]}
    model = ScriptedModel(turns(angles, draft, {"judgements": []}))
    start: dict[str, Any] = {"answers": {"angles": "proceed"}}
    assert drafted(desk, model, tmp_path / "water.md", together=(other,), **start) == "done"
    piece = (desk.session("piece") / "piece.md").read_text()
    village, gazette = "The village that bought back its water", "The Gazette"
    assert f"- how many voted for it. {village}: “{voted}”; {gazette}: “{got}”" in piece
    assert f"{village}: “{costs}”; {gazette}: “{cost}”" in piece
    assert f"[^1]: {village}: “{voted}” (quoted); but {gazette}: “{got}”" in piece
    assert f"[^2]: {village}: “{costs}” (quoted); but {gazette}: “{cost}”" in piece
    assert len(made(desk, "sources.json")["disagreements"]) == 2


def test_a_draft_that_contradicts_its_source_goes_back(desk: Weft, tmp_path: Path) -> None:
    wrong = json.loads(json.dumps(DRAFT))
    wrong["sections"][0]["sentences"][0]["text"] = SOLD.replace("sold", "did not sell")
    invented = json.loads(json.dumps(DRAFT))
    invented["sections"][0]["sentences"][0]["rests_on"] = ["sold its pride for nothing"]
    model = ScriptedModel(turns(ANGLES, wrong, invented, DRAFT, JUDGED))
    assert drafted(desk, model, tmp_path / "water.md", answers={"angles": "proceed"}) == "done"
    rejected = [event for event in desk.log("piece") if event["type"] == "artifact_rejected"]
    assert len(rejected) == 2
    assert "sentences/0/text" in str(rejected[0]["findings"])
    assert "rests_on" in str(rejected[1]["findings"])


def test_a_judge_that_shows_no_words_is_not_believed_and_a_person_is(desk: Weft, tmp_path: Path) -> None:
    invented = judgement("a loan the village was proud of")
    model = ScriptedModel(turns(ANGLES, DRAFT, invented))
    assert drafted(desk, model, tmp_path / "water.md", answers={"angles": "proceed"}) == "done"
    claim = made(desk, "sources.json")["sentences"][2]
    ends = [event["message"] for event in desk.log("piece") if event["type"] == "run_ended"]
    assert ends[-1] == "", "that there are no variants is no doubt about them"
    assert claim["state"] == "not_checked"
    why = "scripted was not believed: “a loan the village was proud of” does not stand in [source]"
    assert claim["reason"] == why
    assert f"(not checked: {why})" in (desk.session("piece") / "piece.md").read_text()
    said = OverruleVerdict(claim=claim["id"], verdict="judged", why="the loan is in the last line")

    async def go() -> Outcome:
        with App.open(desk.workspace, models={"scripted": ScriptedModel([])}) as app:
            async with app.session(SessionRequest(session="piece")) as session:
                return await session.run(said, by=Actor("person", "Ann"))

    assert asyncio.run(asyncio.wait_for(go(), 60)) == "done"
    assert made(desk, "sources.json")["sentences"][2]["judged_by"] == "Ann"
    piece = (desk.session("piece") / "piece.md").read_text()
    assert "(judged by Ann: the loan is in the last line)" in piece


TRAP = """\
# Harbour report

It is not true that the crane was insured. The board denied that the crane had been inspected in May.

According to the operator, no oil entered the water. Ships shorter than 90 metres need not take a pilot unless
visibility is below 500 metres. Anna Berg keeps the light. She paid for the lamp herself.

If the tide gate fails, the lower yard floods within 30 minutes. Nobody believes that the quay is safe. The rumour that
the mayor resigned is false. The bell was rung by hand, the keeper claimed.
"""


def resting(*said: tuple[str, str]) -> dict[str, Any]:
    sentences = [{"text": text, "rests_on": [words]} for text, words in said]
    return {**DRAFT, "sections": [{"heading": "The harbour", "sentences": sentences}]}


def angles_with(words: str) -> dict[str, Any]:
    return {"angles": [{**one, "support": [words]} for one in ANGLES["angles"]]}


def test_a_sentence_is_held_against_the_whole_sentence_of_the_source_and_not_against_the_drafters_cut(
    desk: Weft, tmp_path: Path
) -> None:
    """What is cut out of a denial, a report or a condition says what its sentence does not."""
    (tmp_path / "harbour.md").write_text(TRAP)
    cuts = [
        ("The crane was insured.", "the crane was insured"),
        ("The crane had been inspected in May.", "the crane had been inspected in May"),
        ("No oil entered the water.", "no oil entered the water"),
        ("Ships shorter than 90 metres need not take a pilot.", "Ships shorter than 90 metres need not take a pilot"),
        ("The lower yard floods within 30 minutes.", "the lower yard floods within 30 minutes"),
        ("The quay is safe.", "the quay is safe"),
        ("The mayor resigned.", "the mayor resigned"),
        ("The bell was rung by hand.", "The bell was rung by hand"),
    ]
    whole = ("Anna Berg paid for the lamp herself.", "paid for the lamp herself")
    said = [
        {"sentence": text, "claims": [{"claim": text, "verdict": "supported", "label": "source", "words": words}]}
        for text, words in cuts
    ]
    model = ScriptedModel(turns(angles_with("the quay is safe"), resting(*cuts, whole), {"judgements": said}))
    assert drafted(desk, model, tmp_path / "harbour.md", answers={"angles": "proceed"}) == "done"
    found = made(desk, "sources.json")["sentences"]
    assert [one["state"] for one in found] == ["not_checked"] * len(cuts) + ["quoted"]
    assert [TRAP[slice(*one["passages"][0])].split()[:5] for one in found[:1]] == [["It", "is", "not", "true", "that"]]
    assert [TRAP[slice(*span)] for span in found[-1]["passages"]] == ["She paid for the lamp herself."]
    piece = (desk.session("piece") / "piece.md").read_text()
    assert "[^1]: Harbour report: “It is not true that the crane was insured.” (not checked: " in piece
    assert "“If the tide gate fails, the lower yard floods within 30 minutes.” (not checked: " in piece
    assert piece.count("quoted)") == 1


def test_of_several_sources_too_a_cut_is_read_in_its_own_sentence(desk: Weft, tmp_path: Path) -> None:
    """So are the sides of what a model says they disagree on."""
    first, second = tmp_path / "board.md", tmp_path / "union.md"
    first.write_text("# The board\n\nThe crane fell at 14:20 on Tuesday. It is untrue that the crack was old.\n")
    second.write_text("# The union\n\nThe union says the board knew of the crack. The crack was old.\n")
    sides = ["the crack was old", "The crack was old."]
    angles = {**angles_with("the board knew of the crack"), "contradictions": [{"about": "its age", "passages": sides}]}
    cut = resting(
        ("The board knew of the crack.", "the board knew of the crack"),
        ("The crane fell at 14:20 on Tuesday.", "at 14:20 on Tuesday"),
    )
    model = ScriptedModel(turns(angles, cut, {"judgements": []}))
    start: dict[str, Any] = {"answers": {"angles": "proceed"}}
    assert drafted(desk, model, first, together=(second,), **start) == "done"
    assert [one["state"] for one in made(desk, "sources.json")["sentences"]] == ["not_checked", "quoted"]
    piece = (desk.session("piece") / "piece.md").read_text()
    assert "[^1]: The union: “The union says the board knew of the crack.” (not checked" in piece
    assert "[^2]: The board: “The crane fell at 14:20 on Tuesday.” (quoted)" in piece
    assert "The board: “It is untrue that the crack was old.”" in piece


def test_the_note_of_what_was_judged_has_the_words_that_the_judge_rests_on(desk: Weft, tmp_path: Path) -> None:
    """Not those that the drafter named, which nobody has judged."""
    draft = json.loads(json.dumps(DRAFT))
    draft["sections"][0]["sentences"][2]["rests_on"] = ["Today a cubic metre costs 4.10 euros."]
    words = "The price was 3.2 million euros, on a loan that runs until 2046."
    model = ScriptedModel(turns(ANGLES, draft, judgement(words)))
    assert drafted(desk, model, tmp_path / "water.md", answers={"angles": "proceed"}) == "done"
    piece = (desk.session("piece") / "piece.md").read_text()
    assert f"[^3]: The village that bought back its water: “{words}” (judged by scripted)" in piece
    assert [SOURCE[slice(*span)] for span in made(desk, "sources.json")["sentences"][2]["passages"]] == [words]


def test_without_a_model_it_says_that_one_is_needed(desk: Weft, tmp_path: Path) -> None:
    (desk.workspace / "config.toml").write_text("")
    kit = desk.session("water") / "writing-kit.json"
    ran = desk("run", "draft", tmp_path / "water.md", "--input", f"kit={kit}", "--session-id", "piece")
    assert ran.code != 0
    assert "model" in ran.err
    assert "Traceback" not in ran.err
