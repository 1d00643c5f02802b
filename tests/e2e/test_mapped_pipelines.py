"""A pipeline for each item: its steps, gates, rounds and files are the run's, an item's failure may be its own, and one
changed item is made again alone."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.test_maps import Space
from tests.made import Weft
from weft.app import App
from weft.app.sessions.stats import StatsAsk, stats
from weft.protocol.commands import StartRun
from weft.protocol.errors import UserError
from weft.protocol.steps import StepInput

CHILD = """\
name: card
description: A card for one person.
inputs: {person: {kind: text}}
parameters: {loud: {type: boolean, default: false}}
repair: [{steps: [text, judged], rounds: 2}]
steps:
  text: {artifact: text.json, code: "c.py:text"}
  judged: {artifact: judged.json, code: "c.py:judged", requires: [text], inputs: [], parameters: []}
  card:
    artifact: card.json
    code: c.py:card
    requires: [text, judged]
    inputs: []
    parameters: []
    GATE
    final: true
"""
OUTER = """\
name: mapped
description: A card for each.
steps:
  people: {artifact: people.json, code: "c.py:people"}
  cards:
    pipeline: card
    map: {artifact: people.json, at: "people[*]", as: person, key: name, MORE}
    requires: [people]
    with: {person: {input: person, at: name}}
  all: {artifact: all.json, code: "c.py:all", requires: [cards], inputs: [], final: true}
"""


class Cards(Space):
    def __init__(self, root: Path, more: str = "at_once: 2", gate: str = "", outer: str = OUTER) -> None:
        super().__init__(root, outer.replace("MORE", more))
        (self.path / "pipelines/card.yaml").write_text(CHILD.replace("    GATE\n", f"    {gate}\n" if gate else ""))
        names = ("people", "all", "text", "judged", "card", "groups", "sum")
        (self.path / "code/c.py").write_text("".join(f"def {name}(step): ...\n" for name in names))
        self.ran: list[str] = []
        self.fails: set[str] = set()

        def noted(name: str, value: object) -> None:
            def function(step: StepInput) -> object:
                made = value(step) if callable(value) else value
                who = made.get("who", "") if isinstance(made, dict) else ""
                self.ran.append(f"{step.step} {who}".strip())
                if who in self.fails and step.step == "card":
                    raise ValueError(f"no card for {who}")
                return made

            self.does(name, function)

        noted("people", lambda step: {"people": [{"name": one} for one in step.text.split()]})
        noted("text", lambda step: {"who": step.text.strip(), "loud": step.parameters["loud"], "n": len(step.rounds)})
        noted(
            "judged",
            lambda step: {
                "who": step.artifacts["text.json"]["who"],
                "verdict": "failed"
                if step.artifacts["text.json"] == {"who": "ben", "loud": False, "n": 0}
                else "passed",
                "feedback": "again",
            },
        )
        noted("card", lambda step: {"who": step.artifacts["text.json"]["who"], "n": step.artifacts["text.json"]["n"]})
        noted("all", lambda step: step.artifacts["cards.json"])

    def of(self, *kinds: str) -> list[str]:
        """What ran since the last look, of these steps."""
        found = sorted(one for one in self.ran if one.partition(" ")[0] in kinds)
        self.ran.clear()
        return found


@pytest.fixture
def names(tmp_path: Path) -> Path:
    file = tmp_path / "names.txt"
    file.write_text("anna ben Carla\n")
    return file


def test_each_item_is_a_pipeline_of_its_own_in_one_run(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path)
    assert space.run(file=names) == "done"
    value = space.value("all.json")
    assert [(one["item"], one["value"]["n"]) for one in value["items"]] == [("anna", 0), ("ben", 1), ("Carla", 0)]
    assert space.of("text") == ["text Carla", "text anna", "text ben", "text ben"], "ben's own round alone"
    (unfolded,) = space.events("steps_unfolded")
    assert unfolded["items"] == ["anna", "ben", "Carla"]
    (place,) = [path.name for path in space.session.glob("cards.carla-*")]
    assert sorted(path.name for path in (space.session / place).iterdir()) == ["card.json", "judged.json", "text.json"]
    assert all(action.startswith("skip") for action in space.plan().values())
    with App.open(space.path) as app:
        found = stats(app.sessions, app.models().price, StatsAsk())
    made = {one.step: one.made for one in found.rows if one.step}
    assert made == {"people": 1, "cards.text": 4, "cards.judged": 4, "cards.card": 3, "cards": 1, "all": 1}
    assert space.run() == "done"
    assert space.ran == []


def test_one_changed_item_is_made_again_alone(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path)
    assert space.run(file=names) == "done"
    space.ran.clear()
    names.write_text("Carla dora anna\n")
    assert space.run(file=names) == "done"
    assert space.of("text", "card") == ["card dora", "text dora"]
    assert [one["item"] for one in space.value("all.json")["items"]] == ["Carla", "dora", "anna"]
    assert space.run(StartRun(parameters={"cards.loud": True})) == "done"
    assert space.of("text") == ["text Carla", "text anna", "text dora"], "a parameter of all of them"
    assert space.run(StartRun(parameters={"cards.dora.loud": False})) == "done"
    assert space.of("text") == ["text dora"], "of one of them"
    (space.session / "cards.anna/card.json").unlink()
    assert space.run() == "done"
    assert space.ran == []
    assert (space.session / "cards.anna/card.json").is_file(), "restored from the log"
    assert space.run(StartRun(force=frozenset({"cards"}))) == "done"
    assert space.of("card") == ["card Carla", "card anna", "card dora"]


def test_a_failure_is_the_items_alone_as_far_as_its_map_says(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path, "failed: keep, most_failed: 1")
    space.fails = {"ben"}
    assert space.run(file=names) == "done"
    told = space.value("all.json")
    assert told["failed"] == ["ben"]
    assert [sorted(one) for one in told["items"]] == [["item", "value"], ["failed", "item"], ["item", "value"]]
    assert "no card for ben" in told["items"][1]["failed"]
    assert "1 of 3 items of cards failed: ben" in space.events("run_ended")[-1]["message"]
    space.fails = {"ben", "anna"}
    space.ran.clear()
    assert space.run(StartRun(force=frozenset({"cards"}))) == "failed"
    space.fails = set()
    assert space.run() == "done"
    assert space.value("all.json")["failed"] == []


def test_gates_of_every_item_are_the_runs_and_one_answer_may_be_for_all(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path, gate="gate: {message: Good?, show: [who]}")
    assert space.run(file=names) == "waiting"
    gates = {one["step"]: one["shown"][0]["value"] for one in space.events("gate_opened")}
    assert sorted(gates.values()) == ["Carla", "anna", "ben"]
    assert gates["cards.anna.card"] == "anna"
    space.ran.clear()
    assert space.run(StartRun(answers={"cards.anna.card": "amend:shorter"})) == "waiting"
    assert space.of("card", "text") == ["card anna"]
    assert space.run(StartRun(answers={"cards.card": "proceed"})) == "done"
    with pytest.raises(UserError, match="no such gate"):
        space.run(StartRun(answers={"cards.text": "proceed"}))


def test_one_item_is_asked_for(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path)
    assert space.run(StartRun(only=frozenset({"ben"})), names) == "done"
    assert space.of("card") == ["card ben"]
    with pytest.raises(UserError, match="has such an item"):
        space.run(StartRun(only=frozenset({"otto"})))
    assert space.run() == "done"
    assert space.of("card") == ["card Carla", "card anna"]


NESTED = """\
name: mapped
description: Groups of people.
inputs: {table: {kind: text}}
steps:
  groups:
    pipeline: group
    map: {rows: table, key: group, as: row}
    with: {names: {input: row, at: names}}
    gate: {message: All?}
  all: {artifact: all.json, code: "c.py:sum", requires: [groups], inputs: [], final: true}
"""
GROUP = """\
name: group
description: Cards for a group.
inputs: {names: {kind: text}}
steps:
  people: {artifact: people.json, code: "c.py:people"}
  cards:
    pipeline: card
    map: {artifact: people.json, at: "people[*]", as: one, key: name, failed: skip}
    requires: [people]
    with: {person: {input: one, at: name}}
    final: true
"""


def test_a_pipeline_for_each_item_stands_in_one_for_each_item_and_in_an_inner_pipeline(tmp_path: Path) -> None:
    whole = (
        "name: mapped\ndescription: d\ninputs: {table: {kind: text}}\n"
        'steps: {deep: {pipeline: groups}, end: {artifact: end.json, code: "c.py:all", requires: [deep], inputs: [],'
        " final: true}}\n"
    )
    space = Cards(tmp_path, outer=whole)
    (space.path / "pipelines/groups.yaml").write_text(NESTED.replace("name: mapped", "name: groups"))
    (space.path / "pipelines/group.yaml").write_text(GROUP)
    space.does("sum", lambda step: step.artifacts["groups.json"])
    space.does("all", lambda step: step.artifacts["deep/all.json"])
    space.fails = {"otto"}
    table = tmp_path / "t.csv"
    table.write_text("group,names\nred,anna ben\nblue,carl otto\n")
    assert space.run(file=table) == "waiting"
    assert [one["step"] for one in space.events("gate_opened")] == ["deep.groups"], "one gate, behind all of them"
    assert space.run(StartRun(answers={"deep.groups": "proceed"})) == "done"
    end = space.value("end.json")
    told = {one["item"]: [inner["item"] for inner in one["value"]["items"]] for one in end["items"]}
    assert told == {"red": ["anna", "ben"], "blue": ["carl"]}
    assert (space.session / "deep.groups.red.cards.anna/card.json").is_file()
    space.ran.clear()
    table.write_text("group,names\nred,anna dora\nblue,carl otto\n")
    assert space.run(StartRun(answers={"deep.groups": "proceed"}), table) == "done"
    assert space.of("card") == ["card dora", *["card otto"] * 3], "what failed is tried again"


def test_items_that_a_loop_changes_are_unfolded_anew(tmp_path: Path, names: Path) -> None:
    outer = OUTER.replace("inputs: [], final: true", "inputs: [], final: true, loop: LOOP").replace(
        "LOOP", "{to: people, when: {artifact: all.json, at: more, is: true}, at_most: 1}"
    )
    space = Cards(tmp_path, outer=outer)
    space.does("people", lambda step: {"people": [{"name": one} for one in ("anna", "ben", *step.rounds)]})
    space.does("all", lambda step: {"more": not step.rounds, "items": step.artifacts["cards.json"]["items"]})
    assert space.run(file=names) == "done"
    assert [one["items"] for one in space.events("steps_unfolded")] == [["anna", "ben"], ["anna", "ben", "all"]]
    assert [one["item"] for one in space.value("all.json")["items"]] == ["anna", "ben", "all"]


def test_what_can_not_be_taken_apart_fails_with_its_reason(tmp_path: Path, names: Path) -> None:
    space = Cards(tmp_path)
    space.does("people", lambda step: {"people": [{"name": "anna"}, {"id": "b"}]})
    assert space.run(file=names) == "failed"
    (failed,) = space.events("step_failed")
    assert (failed["step"], failed["retrying"]) == ("cards", False)
    assert "has nothing at 'name'" in failed["message"]


def test_a_run_of_them_is_followed_where_another_process_holds_the_session(weft: Weft, source: Path) -> None:
    """Which has put the steps for each into the run: they are not in the pipeline's file."""
    files = {
        "pipelines/outer.yaml": OUTER.replace("c.py", "d.py").replace("key: name, MORE", "key: name"),
        "pipelines/card.yaml": CHILD.replace("c.py", "d.py").replace("    GATE\n", ""),
        "code/d.py": """\
def people(step): return {"people": [{"name": "ann"}, {"name": "ben"}]}
def text(step): return {"who": step.text.strip()}
def judged(step): return {"verdict": "passed"}
def card(step): return {"who": step.artifacts["text.json"]["who"]}
def all(step): return {"cards": step.artifacts["cards.json"]}
""",
    }
    for name, text in files.items():
        (weft.workspace / name).write_text(text.replace("name: mapped", "name: outer"))
    with subprocess.Popen(weft.command("chat", "--plain", "--session", "held"), env=weft.env, **PIPES) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"hello\n")
        holder.stdin.flush()
        assert holder.stdout.readline()
        ran = weft("run", "outer", source, "--session-id", "held")
        holder.stdin.close()
        assert holder.wait(60) == 0
    assert (ran.code, "cards.ben.card done" in ran.err, "Traceback" in ran.err) == (0, True, False), ran.err
    assert ran.out.splitlines() == [str(weft.session("held") / "all.json")]


PIPES: Final[Mapping[str, Any]] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
