"""Steps that are made item by item: every way to make one, what becomes of items that fail, and what is made again."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.documents.made_pdf import At, pdf
from tests.made import Weft
from weft.app import App, RegisteredFunction, SessionRequest
from weft.cli.commands import run_command_line
from weft.protocol.commands import StartRun
from weft.protocol.steps import StepInput
from weft.testing.scripted import ScriptedModel, Turn, calls, says

ROOT = Path(__file__).parent.parent.parent
SESSION = "mapped"
HEAD = "name: mapped\ndescription: Made item by item.\n"
PEOPLE = (
    HEAD
    + """\
steps:
  people: {artifact: people.json, code: "c.py:people"}
  cards:
    map: {artifact: people.json, at: "people[*]", as: person, MORE}
    artifact: cards.json
    code: c.py:card
    requires: [people]
    inputs: []
    schema: card.json
    attempts: 2
    final: true
"""
)
CARD = {"type": "object", "required": ["hello"], "properties": {"hello": {"type": "string", "minLength": 5}}}
Function = Callable[[StepInput], Any]


class Space:
    """A workspace whose code is of this test, run in this process."""

    def __init__(self, root: Path, pipeline: str, schema: Mapping[str, Any] = CARD) -> None:
        self.path = root / "space"
        self.made: list[str] = []
        self.functions: dict[str, Function] = {}
        names = {name for line in pipeline.splitlines() for name in line.replace('"', " ").split() if "c.py:" in name}
        functions = sorted({name.partition(":")[2].rstrip("}") for name in names})
        files = {
            "pipelines/mapped.yaml": pipeline,
            "code/c.py": "".join(f"def {name}(step): ...\n" for name in functions),
            "schemas/card.json": json.dumps(schema),
            "config.toml": "",
        }
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    @property
    def session(self) -> Path:
        return self.path / "sessions" / SESSION

    def does(self, name: str, function: Function) -> None:
        def noted(step: StepInput) -> Any:
            if step.item_name:
                self.made.append(step.item_key)
            return function(step)

        self.functions[f"c.py:{name}"] = noted

    def run(self, wish: StartRun | None = None, file: Path | None = None, **models: Any) -> str:
        """What came of it; `made` has the items whose code ran."""
        self.made.clear()
        functions = {name: RegisteredFunction(one) for name, one in self.functions.items()}

        async def go() -> str:
            with App.open(self.path, functions=functions, models=models) as app:
                request = SessionRequest(pipeline="mapped", session=SESSION, file=file, attended=False)
                async with app.session(request, reachable=False) as session:
                    return await session.run(wish or StartRun())

        return asyncio.run(asyncio.wait_for(go(), 60))

    def plan(self, wish: StartRun | None = None) -> dict[str, str]:
        functions = {name: RegisteredFunction(one) for name, one in self.functions.items()}
        with App.open(self.path, functions=functions) as app:
            found = app.plan(SessionRequest(pipeline="mapped", session=SESSION), wish or StartRun())
            return {line.step: f"{line.action}: {line.reason}" for line in found.lines}

    def value(self, name: str = "cards.json") -> Any:
        return json.loads((self.session / name).read_text())

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.session / "log.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["type"] == kind]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "names.md"
    file.write_text("anna ben carla daniel\n")
    return file


def people(step: StepInput) -> Any:
    return {"people": [{"id": name} for name in step.text.split()]}


def space(root: Path, more: str = "at_once: 2", card: Function | None = None) -> Space:
    found = Space(root, PEOPLE.replace("MORE", more))
    found.does("people", people)
    found.does("card", card or (lambda step: {"hello": f"hello {step.item['id']}"}))
    return found


def test_each_item_is_a_file_and_all_are_gathered_in_order(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path)
    assert town.run(file=source) == "done"
    assert sorted(town.made) == ["anna", "ben", "carla", "daniel"]
    assert [(one["item"], one["value"]["hello"]) for one in town.value()["items"]][:2] == [
        ("anna", "hello anna"),
        ("ben", "hello ben"),
    ]
    assert town.value("cards/carla.json") == {"hello": "hello carla"}
    assert [one["item"] for one in town.value()["items"]] == ["anna", "ben", "carla", "daniel"]
    source.write_text("anna ben clara daniel\n")
    assert town.run(file=source) == "done"
    assert town.made == ["clara"]
    assert [one["item"] for one in town.value()["items"]] == ["anna", "ben", "clara", "daniel"]
    source.write_text("daniel anna ben clara\n")
    assert town.run(file=source) == "done"
    assert town.made == [], "another order is only gathered anew"
    assert town.value()["items"][0]["item"] == "daniel"


def test_what_is_wrong_with_an_item_goes_to_its_next_try_alone(tmp_path: Path, source: Path) -> None:
    told: dict[str, tuple[str, ...]] = {}

    def card(step: StepInput) -> Any:
        if step.item["id"] == "ben" and not step.feedback:
            return {"hello": "x"}
        told[step.item_key] = step.feedback
        return {"hello": "hello " + step.item_key}

    town = space(tmp_path, card=card)
    assert town.run(file=source) == "done"
    assert told["ben"] == ('cards/ben.json at /hello: "x" is shorter than 5 characters (write more)',)
    assert told["anna"] == ()
    ben = [
        (one["ok"], one["tries"], one.get("retrying")) for one in town.events("item_settled") if one["item"] == "ben"
    ]
    assert ben == [(False, 1, True), (True, 2, False)]
    (rejected,) = town.events("artifact_rejected")
    assert (rejected["item"], rejected["artifact"]) == ("ben", "cards/ben.json")


def failing(*names: str) -> Function:
    def card(step: StepInput) -> Any:
        if step.item_key in names:
            raise ValueError(f"no card for {step.item_key}")
        return {"hello": f"hello {step.item_key}"}

    return card


def test_one_that_fails_stops_the_step_and_the_others_stay(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, "at_once: 1", failing("carla"))
    assert town.run(file=source) == "failed"
    assert town.made == ["anna", "ben", "carla", "carla"]
    (failed,) = town.events("step_failed")
    assert failed["message"] == "item carla: ValueError: no card for carla (2 of 4 items are made and stay)"
    town.does("card", failing())
    assert town.run() == "done"
    assert town.made == ["carla", "daniel"], "it goes on where it stopped"
    assert [one["cause"] for one in town.events("step_started") if one["step"] == "cards"] == ["first", "resume"]


@pytest.mark.parametrize("how", ["keep", "skip"])
def test_one_that_fails_is_told_in_its_place_or_left_out(tmp_path: Path, source: Path, how: str) -> None:
    town = space(tmp_path, f"failed: {how}, most_failed: '25%'", failing("ben"))
    assert town.run(file=source) == "done"
    items = town.value()["items"]
    kept = {"item": "ben", "failed": "ValueError: no card for ben"}
    assert (kept in items) == (how == "keep")
    assert len(items) == (4 if how == "keep" else 3)
    assert town.value()["failed"] == ["ben"]


def test_more_than_may_fail_is_too_many(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, "failed: keep, most_failed: 1, at_once: 1", failing("anna", "ben"))
    assert town.run(file=source) == "failed"
    (failed,) = town.events("step_failed")
    assert "2 items failed, and 1 may; the last: item ben: ValueError" in failed["message"]
    assert "carla" not in town.made


def test_only_the_items_that_are_asked_for(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path)
    assert town.run(StartRun(only=frozenset({"ben"})), file=source) == "done"
    assert town.made == ["ben"]
    assert not (town.session / "cards.json").exists()
    assert town.events("run_ended")[-1]["message"] == "3 of 4 items of cards are not made yet"
    assert town.plan(StartRun(only=frozenset({"cards/carla"})))["cards"] == "run: 1 of 4 items: asked for with --only"
    assert town.run() == "done"
    assert sorted(town.made) == ["anna", "carla", "daniel"]
    again = StartRun(force=frozenset({"cards"}), only=frozenset({"ben"}))
    assert town.plan(again)["cards"] == "run: 1 of 4 items: asked for with --only"
    assert town.run(again) == "done"
    assert town.made == ["ben"], "made anew, and the others stay"
    assert town.run(StartRun(force=frozenset({"cards"}), only=frozenset({"bert"}))) == "failed"
    assert "--only bert: cards has no such item" in town.events("step_failed")[-1]["message"]


def test_the_plan_says_which_items_and_why(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path)
    assert town.run(file=source) == "done"
    edited = town.session / "cards/anna.json"
    edited.write_text('{"hello": "hello from me"}')
    assert town.plan()["cards"] == "run: 1 of 4 items: item 'anna' was edited by hand"
    assert town.run() == "done"
    assert town.made == ["anna"]
    assert "hello from me" in next((town.session / "aside").iterdir()).read_text(), "nothing a person made is lost"
    (town.session / "cards/ben.json").unlink()
    assert town.run() == "done"
    assert town.made == [], "the log has it"
    assert town.value("cards/ben.json") == {"hello": "hello ben"}
    (town.path / "schemas/card.json").write_text(json.dumps({**CARD, "title": "new"}))
    assert town.plan()["cards"] == "run: 4 of 4 items: the schema of cards.json was changed"


ROWS = (
    HEAD
    + """\
inputs: {table: {kind: text}}
steps:
  cards:
    map: {rows: table, as: row, key: name}
    artifact: cards.json
    code: c.py:card
  lines:
    map: {step: cards, as: card}
    artifact: lines.json
    code: c.py:line
    requires: [cards]
    inputs: []
    final: true
"""
)


def test_rows_of_a_table_and_then_over_what_was_made_of_them(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('name,town\nAnna,"Weil, am Rhein"\nBen,Ulm\n')
    town = Space(tmp_path, ROWS)
    town.does("card", lambda step: {"from": step.item["town"]})
    town.does("line", lambda step: f"{step.item_key} {step.item['from']}")
    assert town.run(file=table) == "done"
    assert [one["value"] for one in town.value("lines.json")["items"]] == ["Anna Weil, am Rhein", "Ben Ulm"]
    table.write_text('name,town\nAnna,"Weil, am Rhein"\nBen,Bonn\n')
    assert town.run(file=table) == "done"
    assert town.made == ["Ben", "Ben"], "one row, through both"
    table.write_text("name,town\nAnna,Weil,am Rhein\n")
    assert town.run(file=table) == "failed"
    assert "the input table, line 2: 1 values more than there are names" in town.events("step_failed")[-1]["message"]


PAGES = (
    HEAD
    + """\
steps:
  pages:
    map: {pages: source, as: page}
    artifact: pages.json
    code: c.py:page
    final: true
"""
)


def test_pages_of_a_document(tmp_path: Path) -> None:
    town = Space(tmp_path, PAGES)
    town.does("page", lambda step: len(step.item.split()))
    source = tmp_path / "plain.md"
    source.write_text("no pages here")
    assert town.run(file=source) == "failed"
    assert "has no pages that could be told apart" in town.events("step_failed")[-1]["message"]
    paged = tmp_path / "paged.pdf"
    paged.write_bytes(pdf([[At(72, 700, "One page of it.")], [At(72, 700, "And another one, the second.")]]))
    shutil.rmtree(town.session)
    assert town.run(file=paged) == "done"
    assert town.value("pages.json")["items"] == [{"item": "page-001", "value": 4}, {"item": "page-002", "value": 5}]


MODEL = (
    HEAD
    + """\
steps:
  people: {artifact: people.json, code: "c.py:people"}
  cards:
    map: {artifact: people.json, at: "people[*]", as: person, at_once: 1}
    artifact: cards.json
    agent: writer
    requires: [people]
    inputs: []
    schema: card.json
    final: true
"""
)


def test_a_model_is_asked_for_each_item_and_its_tokens_are_the_items(tmp_path: Path, source: Path) -> None:
    town = Space(tmp_path, MODEL)
    town.does("people", people)
    agents = town.path / ".claude/agents"
    agents.mkdir(parents=True)
    (agents / "writer.md").write_text("---\nname: writer\ndescription: Greets.\nmodel: scripted\n---\nGreet them.\n")
    model = ScriptedModel([Turn(says(f'{{"hello": "hello {name}"}}')) for name in source.read_text().split()])
    assert town.run(file=source, scripted=model) == "done"
    asked = [str(request.messages) for request in model.requests]
    assert len(asked) == 4
    assert "You work on one of several: ben." in asked[1]
    assert "anna" not in asked[1]
    calls = town.events("call_settled")
    assert [call["item"] for call in calls] == ["anna", "ben", "carla", "daniel"]
    settled = town.events("item_settled")
    assert [one["usage"] for one in settled] == [call["usage"] for call in calls]
    (done,) = [one for one in town.events("step_completed") if one["step"] == "cards"]
    assert done["usage"] == {kind: sum(c["usage"][kind] for c in calls) for kind in calls[0]["usage"]}


def test_sixty_interviews_become_one_report(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/interviews", tmp_path / "town", ignore=shutil.ignore_patterns("sessions"))
    weft, texts = Weft(tmp_path / "town"), tmp_path / "texts"
    subprocess.run([sys.executable, str(tmp_path / "town/make.py"), str(texts), "60"], check=True)
    ran = weft("run", "interviews", "--set", f"folder={texts}", "--session-id", "town")
    assert ran.code == 3, ran.err
    assert len(list(weft.session("town").glob("notes/*.json"))) == 60
    with (texts / "interview-030.md").open("a") as file:
        file.write("Then the trees came, and everybody was glad about the trees for a while.\n")
    assert "notes: run, 1 of 60 items: item 'interview-030' was changed" in weft("plan", "--session-id", "town").out
    wrong = weft("reply", "town", "proceed", "--set", "quotes=many")
    assert "quotes must be a whole number from 0 to 10, not the text 'many'" in wrong.err
    assert "does not ask for folder" in weft("reply", "town", "proceed", "--set", "folder=x").err
    done = weft("reply", "town", "proceed", "--set", "title=The town", "--set", "quotes=1")
    assert done.code in (0, 3), done.err
    assert "step notes item interview-030 done" in done.err
    if done.code == 3:  # other themes came of it
        done = weft("reply", "town", "proceed")
    report = (weft.session("town") / "report.md").read_text()
    assert report.startswith("# The town\n"), "what was filled in is kept"
    assert report.count("\u201c") <= 5
    shown = weft("sessions", "show", "town", "notes", "interview-030").out
    assert "try 1 completed" in shown
    assert "(run 1, attempt 2)" in shown
    assert "did you mean 'interview-030'" in weft("sessions", "show", "town", "notes", "interview-30").err


def test_an_agent_with_tools_makes_each_item_in_a_conversation_of_its_own(tmp_path: Path, source: Path) -> None:
    town = Space(tmp_path, MODEL.replace("    agent: writer\n", "    agent: writer\n    executor: agent\n"))
    town.does("people", people)
    agents = town.path / ".claude/agents"
    agents.mkdir(parents=True)
    front = "name: writer\ndescription: Greets.\nmodel: scripted\ntools: Skill\n"
    (agents / "writer.md").write_text(f"---\n{front}---\nGreet them.\n")
    source.write_text("anna ben\n")
    model = ScriptedModel([Turn(calls("hand_in", {"hello": f"hello {name}"})) for name in ("anna", "ben")])
    assert town.run(file=source, scripted=model) == "done"
    assert [one["value"]["hello"] for one in town.value()["items"]] == ["hello anna", "hello ben"]
    opened = [one["conversation"] for one in town.events("conversation_opened")]
    assert opened == ["run-1/cards#1/@1:anna", "run-1/cards#1/@1:ben"]
    settled = town.events("item_settled")
    assert all(one["usage"] for one in settled), "what an item took is known"


def test_files_that_take_their_time_to_the_disk_are_told_of(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ten thousand items nothing would be seen for half a minute."""
    for name, text in {
        "pipelines/rows.yaml": "name: rows\ndescription: Rows.\ninputs: {table: {kind: text}}\n"
        "steps:\n  rows: {map: {rows: table, key: id}, artifact: rows.json, code: 'rows.py:row'}\n",
        "code/rows.py": "def row(step):\n    return step.item\n",
    }.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    (tmp_path / "few.csv").write_text("id\na\nb\n")
    (tmp_path / "many.csv").write_text("id\na\nb\nc\nd\n")
    monkeypatch.setattr("weft.orchestrator.runner.MANY_FILES", 5)
    for name, told in (("few.csv", False), ("many.csv", True)):
        assert run_command_line(["--workspace", str(workspace), "run", "rows", str(tmp_path / name), "--plain"]) == 0
        assert ("note: 5 files are made durable\n" in capsys.readouterr().err) == told
