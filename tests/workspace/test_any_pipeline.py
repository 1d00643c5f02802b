"""Whatever stands in a pipeline file, the answer is a pipeline or problems in plain words: never a crash or jargon."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.lanes import lives

from weft.workspace.pipeline_file import ParameterEntry, PipelineFile, StepEntry
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]

# "is not valid: " is how explain.py passes on a fault it has no sentence for
JARGON = re.compile(
    r"\[type=|input_value|pydantic|https?://errors|Input should|validation error|Traceback|NoneType|is not valid: "
)
SCALARS: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, -1, 2.5, "", "a", "b", "a.json", "make.py:a", "5m", "integer", "source", "verbatim", "../x"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "in", "at"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def of(model: type[PipelineFile] | type[StepEntry] | type[ParameterEntry]) -> list[str]:
    return [*(info.alias or name for name, info in model.model_fields.items()), "zzz", "outputs"]


STEPS = st.dictionaries(st.sampled_from(of(StepEntry)), VALUES, max_size=6)
PARAMETERS = st.dictionaries(st.sampled_from(of(ParameterEntry)), VALUES, max_size=6)
PIPELINES = st.dictionaries(st.sampled_from(of(PipelineFile)), VALUES, max_size=4) | st.fixed_dictionaries(
    {
        "name": st.just("p"),
        "description": st.just("d"),
        "steps": st.dictionaries(st.sampled_from(["a", "b", "c", "A!"]), STEPS | VALUES, max_size=3),
    },
    optional={
        "parameters": st.dictionaries(st.sampled_from(["a", "b"]), PARAMETERS | VALUES, max_size=2) | VALUES,
        "inputs": VALUES,
        "version": VALUES,
    },
)


@pytest.mark.lives
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=lives(300, 3000))
@given(PIPELINES)
def test_the_answer_is_a_pipeline_or_problems_in_plain_words(make_workspace: MakeWorkspace, value: Any) -> None:
    text = json.dumps(value, indent=1)  # JSON is YAML
    workspace = make_workspace({"pipelines/p.yaml": text, "code/make.py": "def a(step): ...\n"})
    problems = workspace.check_pipeline("p")
    for problem in problems:
        assert problem.message
        assert problem.file == "pipelines/p.yaml"
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column >= 1
        assert not JARGON.search(str(problem))
    assert problems == sorted(problems, key=lambda problem: (problem.line, problem.column))
    assert len(problems) == len(set(problems))
    if not problems:
        pipeline = workspace.pipeline("p")
        assert pipeline.steps[pipeline.final].final
    workspace.close()
