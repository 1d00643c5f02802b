"""The pack's own files: the modes of its pipelines are the table, and its artifacts fit their schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.knowledge.research.depth import DEPTHS, depth_of
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs
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
    assert (unit.kind, unit.steps) == ("repair", ("synthesize", "judge", "judge_again", "verify"))
    assert [unit.bound(pipeline.parameter_values({"depth": mode})) for mode in DEPTHS] == [0, 2, 3]
    assert [name for name, step in pipeline.steps.items() if step.gate] == ["analyze_query", "calibrate"]
