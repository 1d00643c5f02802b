"""The pack's own files: the modes of its pipelines are the table, and its artifacts fit their schemas."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from weft.knowledge.research.depth import DEPTHS, depth_of
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs, load_pack
from weft.workspace.pack_folder import FILES
from weft.workspace.workspace import Workspace

REFERENCE = {
    "sub_queries": (3, 8, 15),
    "passages": (10, 20, 30),
    "repairs": (0, 2, 3),
    "context_tokens": (4_000, 12_000, 24_000),
    "answer_tokens": (2_048, 4_096, 8_192),
    "web": (False, True, True),
}


@pytest.mark.parametrize("name", ["research", "ask"])
def test_the_modes_of_the_pipelines_are_the_table(tmp_path: Path, name: str) -> None:
    lay_pack(find_packs()["research"], tmp_path)
    with Workspace.open(tmp_path) as workspace:
        pipeline = workspace.pipeline(name)
    assert pipeline.warnings == ()
    for at, mode in enumerate(("quick", "standard", "deep")):
        assert depth_of({"depth": mode, "name": mode, **pipeline.depth[mode]}) == DEPTHS[mode]
        assert {key: pipeline.depth[mode][key] for key in REFERENCE} == {key: row[at] for key, row in REFERENCE.items()}


def test_synthesis_and_verification_are_one_unit_with_as_many_rounds_as_the_depth_says(tmp_path: Path) -> None:
    lay_pack(find_packs()["research"], tmp_path)
    with Workspace.open(tmp_path) as workspace:
        pipeline = workspace.pipeline("research")
    (unit,) = pipeline.units
    assert (unit.kind, unit.steps) == ("repair", ("synthesize", "claims", "judge", "judge_again", "verify"))
    assert [unit.bound(pipeline.parameter_values({"depth": mode})) for mode in DEPTHS] == [0, 2, 3]
    assert [name for name, step in pipeline.steps.items() if step.gate] == ["analyze_query", "calibrate"]


def test_the_packs_that_come_with_weft_can_be_laid_together(tmp_path: Path) -> None:
    laid = [file for pack in find_packs().values() for file in lay_pack(pack, tmp_path)]
    assert {file.path for file in laid if file.action != "created"} <= FILES


JUDGES = {"ask": ("passage-judge", "the passages that it cites"), "draft": ("draft-judge", "You are given a source")}


@pytest.mark.parametrize("older", [False, True])
def test_each_pipeline_has_its_own_judge_whatever_else_is_laid(tmp_path: Path, older: bool) -> None:
    """`older`: a workspace in which both packs had a judge of the same name, and the first one's stayed."""
    place = tmp_path / "desk"
    if older:
        for name, judge in (("writing", "draft-judge"), ("research", "passage-judge")):
            copy = tmp_path / "old" / name
            shutil.copytree(find_packs()[name].path, copy)
            agent = copy / f"agents/{judge}.md"
            if name == "writing":
                (copy / "agents/judge.md").write_text(agent.read_text().replace(judge, "judge"))
            agent.unlink()
            for file in (copy / "pipelines").iterdir():
                file.write_text(file.read_text().replace(f"agent: {judge}", "agent: judge"))
            lay_pack(load_pack(copy), place)
    for name in ("writing", "research"):
        lay_pack(find_packs()[name], place)
    with Workspace.open(place) as workspace:
        for pipeline, (judge, said) in JUDGES.items():
            step = workspace.pipeline(pipeline).steps["judge"]
            assert step.agent == judge
            assert said in workspace.agent(judge).text
