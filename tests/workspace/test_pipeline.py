"""A good pipeline: every field arrives, in running order; doubts are warnings; the format has a schema of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jsonschema_rs
import pytest

from weft.checks import CheckCall
from weft.protocol.errors import Problem, UsageError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.workspace.pipeline import InputSpec, ParameterSpec, SchemaFile, Step
from weft.workspace.pipeline_file import PipelineFile, pipeline_json_schema
from weft.workspace.workspace import Workspace
from weft.workspace.yaml_document import parse_yaml

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]

DIGEST = """\
name: digest
description: A digest of an article
version: 2
inputs:
  source: {description: The article}
  notes: {required: false}
parameters:
  words: {type: integer, default: 200, minimum: 50, maximum: 5000, description: How long}
  share: {type: number, default: 1}
steps:
  digest:
    artifacts: [digest.md, digest.json]
    agent: writer
    requires: [facts]
    parameters: [words]
    profile: [topics, style.tone]
    skills: [tone]
    model: big
    schema: {digest.json: facts.schema.json}
    checks:
      - count: {artifact: digest.json, at: "points", max: 9}
      - rules.py:polite
      - verbatim: {artifact: digest.json, at: "quotes[*]", in: [source, facts.json]}
    attempts: 5
    timeout: 5m
    final: true
  facts:
    artifact: facts.json
    code: digest.py:facts
    inputs: [source, notes]
    parameters: [share]
    schema: facts.schema.json
"""
SCHEMA = '{"version": 7, "type": "object"}'
FILES: Mapping[str, str] = {
    "pipelines/digest.yaml": DIGEST.replace("- rules.py:polite", "- rules.py:polite: {artifact: digest.md}"),
    "schemas/facts.schema.json": SCHEMA,
    "code/digest.py": "def facts(step): ...\n",
    "code/rules.py": "async def polite(given): ...\n",
    ".claude/agents/writer.md": "---\nname: writer\ndescription: Writes\n---\nWrite.\n",
    ".claude/skills/tone/SKILL.md": "---\nname: tone\ndescription: Tone\n---\nBe kind.\n",
}
CHAIN = """\
name: chain
description: d
steps:
  c: {artifact: c.json, code: m.py:f, requires: [b], final: true}
  b: {artifact: b.json, code: m.py:f, requires: [a]}
  d: {artifact: d.json, code: m.py:f, requires: [b]}
  a: {artifact: a.json, code: m.py:f}
"""


def test_every_field_of_the_file_arrives(make_workspace: MakeWorkspace) -> None:
    pipeline = make_workspace(FILES).pipeline("digest")
    schema = SchemaFile("schemas/facts.schema.json", {"version": 7, "type": "object"}, "7", hash_bytes(SCHEMA.encode()))
    assert (pipeline.name, pipeline.description, pipeline.version) == ("digest", "A digest of an article", "2")
    assert pipeline.file == "pipelines/digest.yaml"
    assert pipeline.hash == hash_bytes(FILES["pipelines/digest.yaml"].encode())
    assert pipeline.inputs == {"source": InputSpec("The article"), "notes": InputSpec("", required=False)}
    assert pipeline.parameters == {
        "words": ParameterSpec("integer", 200, "How long", 50, 5000),
        "share": ParameterSpec("number", 1.0),
    }
    assert pipeline.final == "digest"
    assert pipeline.warnings == ()
    assert pipeline.steps["facts"] == Step(
        name="facts",
        artifacts=("facts.json",),
        code="digest.py:facts",
        agent=None,
        requires=(),
        inputs=("source", "notes"),
        parameters=("share",),
        profile=(),
        skills=(),
        model=None,
        schemas={"facts.json": schema},
        checks=(),
        attempts=3,
        timeout=600.0,
        final=False,
    )
    assert pipeline.steps["digest"] == Step(
        name="digest",
        artifacts=("digest.md", "digest.json"),
        code=None,
        agent="writer",
        executor="model",
        requires=("facts",),
        inputs=("source", "notes"),
        parameters=("words",),
        profile=("topics", "style.tone"),
        skills=("tone",),
        model="big",
        schemas={"digest.json": schema},
        checks=(
            ("digest.json", CheckCall("count", {"at": "points", "max": 9})),
            ("digest.md", CheckCall("rules.py:polite", {})),
            ("digest.json", CheckCall("verbatim", {"at": "quotes[*]", "in": ["source", "facts.json"]})),
        ),
        attempts=5,
        timeout=300.0,
        final=True,
    )


def test_a_check_may_be_a_bare_name(make_workspace: MakeWorkspace) -> None:
    text = "name: p\ndescription: d\nsteps: {a: {artifact: a.md, code: m.py:f, checks: ['m.py:g']}}\n"
    workspace = make_workspace({"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\ndef g(s): ...\n"})
    assert workspace.pipeline("p").steps["a"].checks == (("a.md", CheckCall("m.py:g", {})),)


def test_steps_are_in_running_order_and_know_what_is_around_them(make_workspace: MakeWorkspace) -> None:
    pipeline = make_workspace({"pipelines/chain.yaml": CHAIN, "code/m.py": "def f(s): ...\n"}).pipeline("chain")
    assert pipeline.order() == ("a", "b", "c", "d")
    assert list(pipeline.steps) == ["a", "b", "c", "d"]
    assert pipeline.upstream("c") == {"a", "b"}
    assert pipeline.dependents("a") == {"b", "c", "d"}
    assert pipeline.dependents("d") == set()


def test_a_step_that_the_final_one_does_not_need_is_a_warning(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"pipelines/chain.yaml": CHAIN, "code/m.py": "def f(s): ...\n"})
    assert workspace.check_pipeline("chain") == []
    assert workspace.pipeline("chain").warnings == (
        Problem(
            "pipelines/chain.yaml",
            "the final step 'c' does not need 'd'",
            6,
            3,
            "steps.d",
            "let 'c' or a step before it require it, or remove it",
        ),
    )


@pytest.mark.parametrize(
    ("written", "inputs"),
    [("", ("source",)), ("inputs: {}\n", ()), ("inputs: {one: {}, two: {}}\n", ("one", "two"))],
)
def test_a_step_reads_all_inputs_unless_it_says_otherwise(
    written: str, inputs: tuple[str, ...], make_workspace: MakeWorkspace
) -> None:
    text = f"name: p\ndescription: d\n{written}steps: {{a: {{artifact: a.json, code: m.py:f}}}}\n"
    pipeline = make_workspace({"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\n"}).pipeline("p")
    assert tuple(pipeline.inputs) == inputs
    assert pipeline.steps["a"].inputs == inputs


def test_an_input_that_only_a_check_reads_is_read(make_workspace: MakeWorkspace) -> None:
    text = """\
name: p
description: d
steps:
  a:
    artifact: a.json
    code: m.py:f
    inputs: []
    checks: [{verbatim: {at: "q[*]", in: source}}]
"""
    workspace = make_workspace({"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\n"})
    assert workspace.check_pipeline("p") == []


def test_the_only_step_is_final_by_itself(make_workspace: MakeWorkspace) -> None:
    text = "name: p\ndescription: d\nsteps: {a: {artifact: a.json, code: m.py:f}}\n"
    pipeline = make_workspace({"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\n"}).pipeline("p")
    assert pipeline.final == "a"
    assert pipeline.steps["a"].final


def test_the_older_word_outputs_is_read_as_steps(make_workspace: MakeWorkspace) -> None:
    files = {**FILES, "pipelines/digest.yaml": FILES["pipelines/digest.yaml"]}
    new = make_workspace(files).pipeline("digest")
    old = make_workspace({"pipelines/digest.yaml": files["pipelines/digest.yaml"].replace("steps:", "outputs:")})
    assert old.pipeline("digest").steps == new.steps


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90.0), ("0.5", 0.5), ("90s", 90.0), ("5m", 300.0), ("1.5h", 5400.0), ('"2 m"', 120.0)],
)
def test_a_time_may_have_a_unit(written: str, seconds: float, make_workspace: MakeWorkspace) -> None:
    text = f"name: p\ndescription: d\nsteps: {{a: {{artifact: a.json, code: m.py:f, timeout: {written}}}}}\n"
    workspace = make_workspace({"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\n"})
    assert workspace.pipeline("p").steps["a"].timeout == seconds


def test_a_schema_without_a_version_has_the_beginning_of_its_hash(make_workspace: MakeWorkspace) -> None:
    text = "name: p\ndescription: d\nsteps: {a: {artifact: a.json, code: m.py:f, schema: s.json}}\n"
    files = {"pipelines/p.yaml": text, "code/m.py": "def f(s): ...\n", "schemas/s.json": "{}"}
    schema = make_workspace(files).pipeline("p").steps["a"].schemas["a.json"]
    assert schema.hash == hash_bytes(b"{}")
    assert schema.version == schema.hash[:8]


def test_all_problems_of_all_files_come_at_once_in_the_order_of_the_lines(make_workspace: MakeWorkspace) -> None:
    text = """\
name: q
descripton: d
steps:
  a:
    artifact: a.json
    code: torn.py:f
    requires: [b, x]
    attempts: 99
  b:
    artifact: a.json
    agent: nobody
    schema: s.json
    checks: [{verbatm: {}}]
    final: true
"""
    files = {"pipelines/p.yaml": text, "code/torn.py": "def f(:\n", "schemas/s.json": "{"}
    with pytest.raises(WorkspaceError) as caught:
        make_workspace(files).pipeline("p")
    found = [(problem.file, problem.line, problem.key) for problem in caught.value.problems]
    assert found == [
        ("pipelines/p.yaml", 1, "name"),
        ("pipelines/p.yaml", 2, "descripton"),
        ("pipelines/p.yaml", 7, "steps.a.requires[1]"),
        ("pipelines/p.yaml", 8, "steps.a.attempts"),
        ("pipelines/p.yaml", 10, "steps.b.artifact"),
        ("pipelines/p.yaml", 11, "steps.b.agent"),
        ("pipelines/p.yaml", 13, "steps.b.checks[0].verbatm"),
        ("code/torn.py", 1, ""),
        ("schemas/s.json", 1, ""),
    ]


def test_an_unknown_pipeline_is_answered_with_the_good_names(make_workspace: MakeWorkspace) -> None:
    workspace = make_workspace({"pipelines/digest.yaml": "", "pipelines/report.yaml": "", "pipelines/old.yml": ""})
    assert workspace.pipeline_names() == ["digest", "report"]
    with pytest.raises(UsageError) as near:
        workspace.pipeline("digst")
    assert near.value.message == "unknown pipeline 'digst'; the pipelines are: digest, report"
    assert near.value.hint == "did you mean 'digest'?"
    with pytest.raises(UsageError) as renamed:
        workspace.check_pipeline("old")
    assert renamed.value.hint == "rename pipelines/old.yml to old.yaml"
    with pytest.raises(UsageError):
        workspace.pipeline("../pipelines/digest")


# -- the schema for editors


@pytest.mark.parametrize("word", ["steps", "outputs"])
def test_the_editors_schema_accepts_a_good_file_in_both_words(word: str) -> None:
    judge = jsonschema_rs.validator_for(pipeline_json_schema())
    value = parse_yaml("f", FILES["pipelines/digest.yaml"].replace("steps:", f"{word}:")).value
    assert [error.message for error in judge.iter_errors(value)] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps:", "stepz:"),
        ("description: A digest of an article\n", ""),
        ("attempts: 5", "attempts: 50"),
        ("attempts: 5", "attempts:"),
        ("timeout: 5m", "timeout: soon"),
        ("  facts:\n", "  Facts:\n"),
        ("code: digest.py:facts", "code: digest.py:facts\n    agent: writer"),
        ("artifact: facts.json", "artifacts: [x.json]\n    artifact: y.json"),
        ("type: number", "type: numbr"),
        ("model: big", "model:"),
    ],
)
def test_the_editors_schema_refuses_what_the_engine_refuses(old: str, new: str) -> None:
    text = FILES["pipelines/digest.yaml"]
    assert old in text
    judge = jsonschema_rs.validator_for(pipeline_json_schema())
    assert not judge.is_valid(parse_yaml("f", text.replace(old, new, 1)).value)


def test_every_key_of_the_format_is_described() -> None:
    schema = pipeline_json_schema()
    for model in (schema, *schema["$defs"].values()):
        for key, described in model["properties"].items():
            assert described.get("description"), key
    assert set(schema["properties"]) == {*PipelineFile.model_fields, "outputs"}
