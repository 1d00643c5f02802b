"""SIGKILL in a step that a tool makes item by item: the run that follows goes on with the next item."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.crash import item_work
from tests.crash.deaths import Death, deaths, the_call
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import look
from tests.crash.weaving import Place
from weft.protocol.commands import StartRun
from weft.testing import Call, CountingDisk

MANY = " ".join(f"word{number:02}" for number in range(61))


def run(harness: Harness, place: Place, wish: StartRun | None = None) -> Counter[str]:
    """A run to its end; what it called."""
    before = look(place).executed
    ended = harness(place, UNSYNCED, work=item_work.run, wish=wish)
    assert ended.outcome == "done", ended.result
    return look(place).executed - before


def counted(harness: Harness, place: Place) -> list[Call]:
    ended = harness(place, partial(CountingDisk, sync=False), work=item_work.run)
    assert ended.outcome == "done", ended.result
    return list(ended.calls)


PIPELINES = pytest.mark.parametrize("pipeline", [item_work.PIPELINE, item_work.MAPPED], ids=["each", "map"])


@PIPELINES
def test_a_step_killed_at_any_call_goes_on_with_the_next_item(harness: Harness, tmp_path: Path, pipeline: str) -> None:
    """Every 24th point, others whenever the number of calls changes; all of them in the slow lane."""
    _kill_each(harness, tmp_path, pipeline, every=24)


@pytest.mark.campaign
@PIPELINES
def test_a_step_killed_at_every_call_goes_on_with_the_next_item(
    harness: Harness, tmp_path: Path, pipeline: str
) -> None:
    _kill_each(harness, tmp_path, pipeline, every=1)


def _kill_each(harness: Harness, tmp_path: Path, pipeline: str, *, every: int) -> None:
    whole = item_work.lay_out(tmp_path / "whole", pipeline=pipeline)
    calls = counted(harness, whole)
    words = item_work.marks(whole)
    wrong: dict[str, str] = {}
    chosen = list(deaths(calls))[len(calls) % every :: every]
    killed = 0
    for number, death in enumerate(chosen):
        place = item_work.lay_out(tmp_path / str(number), pipeline=pipeline)
        ended = harness(place, death.disk, work=item_work.run)
        killed += ended.killed
        assert ended.killed or ended.outcome == "done", ended.result  # items at once: one life has fewer calls
        before = look(place)
        settled = {line["item"] for line in before.log if line["type"] == "item_settled"}
        made = run(harness, place)
        if item_work.marks(place) != words:
            wrong[str(death)] = "the artifact differs"
        elif again := settled & {*made}:
            wrong[str(death)] = f"{sorted(again)} were made again"
        elif {*made} != {*words} - settled or set(made.values()) - {1}:
            wrong[str(death)] = f"made {dict(made)}, though {sorted(settled)} were settled"
        elif faults := [*before.faults, *look(place).faults]:
            wrong[str(death)] = "; ".join(faults)
    assert wrong == {}
    assert killed > len(chosen) * 3 / 4


def test_killed_at_40_of_61_it_goes_on_at_41(harness: Harness, tmp_path: Path) -> None:
    calls = counted(harness, item_work.lay_out(tmp_path / "whole", MANY))
    settled = [call for call in calls if call.kind == "fdatasync" and call.subject.startswith("log.jsonl")]
    place = item_work.lay_out(tmp_path / "killed", MANY)
    first = next(number for number, call in enumerate(settled) if call is the_call(calls, "fdatasync", "log.jsonl", 3))
    death = Death(settled[first + 40], "after")
    assert harness(place, death.disk, work=item_work.run).killed
    before = len([line for line in look(place).log if line["type"] == "item_settled"])
    assert 35 <= before <= 45
    assert sum(run(harness, place).values()) in (61 - before, 61 - before + 1), "the one that was running at most"


def test_one_changed_item_of_61_is_made_alone(harness: Harness, tmp_path: Path) -> None:
    place = item_work.lay_out(tmp_path / "place", MANY)
    assert sum(run(harness, place).values()) == 61
    place.source.write_text(MANY.replace("word30", "other"))
    assert run(harness, place) == Counter(["other"])
    assert item_work.marks(place)[29:32] == ["word29", "other", "word31"], "in their order"
    assert sum(run(harness, place, StartRun(force=frozenset({"marks"}))).values()) == 61, (
        "whoever wants it anew gets it"
    )
    place.source.write_text(MANY)
    assert run(harness, place) == Counter(["word30"])


@pytest.mark.campaign
def test_killed_at_every_call_of_61_items(harness: Harness, tmp_path: Path) -> None:
    calls = counted(harness, item_work.lay_out(tmp_path / "whole", MANY))
    for number, death in enumerate(list(deaths(calls))[::7]):
        place = item_work.lay_out(tmp_path / str(number), MANY)
        assert harness(place, death.disk, work=item_work.run).killed
        settled = {line["item"] for line in look(place).log if line["type"] == "item_settled"}
        assert {*run(harness, place)} & settled == set(), str(death)
