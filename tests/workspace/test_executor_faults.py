"""Faults of steps that agents and tools make: a key that nothing reads, a folder that is none, a call without sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from weft.protocol.errors import UsageError
from weft.workspace.flow import ArtifactPlace
from weft.workspace.scope import Taken, ToolCalls
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]
AGENTS: Final = {
    "code/make.py": "def a(step):\n    return {}\n",
    ".claude/agents/builder.md": "---\nname: builder\ndescription: Builds\ntools: Read, Write, Shell\n---\nBuild.\n",
    ".claude/agents/thinker.md": "---\nname: thinker\ndescription: Thinks\n---\nThink.\n",
    ".claude/agents/asker.md": "---\nname: asker\ndescription: Asks\nsources: [wiki, jira]\n---\nAsk.\n",
}
HEAD: Final = """\
name: p
description: d
inputs: {}
parameters:
  place: {type: folder}
  words: {type: integer, default: 3}
steps:
  a: {artifact: a.json, code: make.py:a, parameters: [words, place]}
"""
STEP: Final = "  b: {artifact: b.json, requires: [a], final: true, %s}\n"


def told(make_workspace: MakeWorkspace, text: str) -> list[str]:
    workspace = make_workspace({**AGENTS, "pipelines/p.yaml": text})
    return [f"{problem.key}: {problem.message} ({problem.hint})" for problem in workspace.check_pipeline("p")]


CASES: Final = {
    "agent: builder, executor: agent, with: {path: x}": [
        "steps.b.with: nothing reads 'with' in a step of an agent (remove it)"
    ],
    "agent: builder, tools: [Read]": [
        "steps.b.tools: nothing reads 'tools' in a step whose executor is model, which makes one call and uses no "
        "tools (remove it, or write 'executor: agent')"
    ],
    "code: make.py:a, folder: place": [
        "steps.b.folder: nothing reads 'folder' in a step with 'code' (remove it, or give the step an agent)"
    ],
    "tool: Read, model: big": [
        "steps.b.model: nothing reads 'model' in a step with 'tool', which no model makes (remove it, or give the step "
        "an agent)"
    ],
    "tool: Read, agent: builder": ["steps.b.tool: a step has 'agent' or 'tool', not both (remove one of them)"],
    "agent: asker": [
        "steps.b.agent: the agent 'asker' uses wiki and jira, and nothing does in a step whose executor is model, "
        "which makes one call and uses no tools (write 'executor: agent' in the step, or take 'sources' out of "
        ".claude/agents/asker.md)"
    ],
    "agent: asker, executor: agent": [],
    "agent: thinker, executor: agent": [
        "steps.b.executor: the agent 'thinker' has no tools, so it can't use any (name some under 'tools' of the step "
        "or of the agent, or remove 'executor: agent')"
    ],
    "agent: builder, executor: agnt": ["steps.b.executor: 'agnt' is not one of model, agent (did you mean 'agent'?)"],
    "agent: builder, executor: agent, folder: words": [
        "steps.b.folder: the parameter 'words' is not a folder (write 'type: folder' under parameters: words)"
    ],
    "agent: builder, executor: agent, folder: plaec": [
        "steps.b.folder: there is no parameter 'plaec' of the type folder (did you mean 'place'?)"
    ],
    "agent: builder, executor: agent, turns: 1": [
        "steps.b.turns: must be at least 2, not 1 (how often its agent may ask the model in one try: 2 to 500, else 40)"
    ],
    "agent: builder, executor: agent, allow: [{tool: Shell}]": [
        "steps.b.allow[0].tool: would allow everything (name the command)"
    ],
    "agent: builder, executor: agent, tools: [Read], allow: [{tool: Shell, command: make test}]": [
        "steps.b.allow[0].tool: this step does not use 'Shell' (the tools are: Read)"
    ],
    "agent: builder, executor: agent, tools: []": [
        "steps.b.tools: may not be empty (name the tools that the agent may use in this step)"
    ],
    "tool: Read, with: {path: {parameter: wrds}}": [
        "steps.b.parameters[0]: unknown parameter 'wrds' (did you mean 'words'?)"
    ],
    "tool: Read, with: {path: {artifact: c.json, at: x}}": [
        "steps.b.with.path.artifact: can't look at 'c.json' (did you mean 'a.json'?)"
    ],
    "tool: Read, with: {path: {artifact: a.json, plac: x}}": [
        "steps.b.with.path.plac: a value from 'artifact' has no 'plac' (its keys are: artifact and at)"
    ],
    "tool: Read, with: {path: x}, each: {artifact: a.json, at: 'q[*]', as: path}": [
        "steps.b.each.as: 'path' is under 'with' already (each call would overwrite it: remove one of them)"
    ],
    "tool: Read, each: {artifact: a.json, at: 'q['}": [
        "steps.b.each.as: 'as' is missing (add 'as': the key of the tool's input that the value is given as)"
    ],
}


@pytest.mark.parametrize("keys", CASES)
def test_a_fault_is_told_with_the_way_out(keys: str, make_workspace: MakeWorkspace) -> None:
    assert told(make_workspace, HEAD + STEP % keys) == CASES[keys]


def test_what_a_step_may_use_arrives(make_workspace: MakeWorkspace) -> None:
    keys = (
        "agent: builder, executor: agent, tools: [Read, Shell], folder: place, parameters: [words], turns: 9, "
        "allow: [{tool: Shell, command: make test}]"
    )
    step = make_workspace({**AGENTS, "pipelines/p.yaml": HEAD + STEP % keys}).pipeline("p").steps["b"]
    assert (step.executor, step.scope.tools, step.scope.folder, step.scope.turns) == (
        "agent",
        ("Read", "Shell"),
        "place",
        9,
    )
    assert [(rule.tool, rule.command, line) for rule, line in step.scope.allow] == [("Shell", "make test", 9)]
    assert step.parameters == ("words", "place"), "the folder is something the step is made from"


def test_the_calls_of_a_tool_arrive(make_workspace: MakeWorkspace) -> None:
    keys = (
        "tool: Grep, folder: place, with: {limit: {parameter: words}, glob: '*.py'}, "
        "each: {artifact: a.json, at: 'q[*]', as: pattern}"
    )
    step = make_workspace({**AGENTS, "pipelines/p.yaml": HEAD + STEP % keys}).pipeline("p").steps["b"]
    given = {"limit": Taken(parameter="words"), "glob": Taken("*.py")}
    assert step.calls == ToolCalls("Grep", given, ArtifactPlace("a.json", "q[*]"), "pattern")
    assert (step.executor, step.parameters) == ("tool", ("words", "place"))


def test_a_tool_makes_one_json_file(make_workspace: MakeWorkspace) -> None:
    text = HEAD + "  b: {artifact: b.md, requires: [a], final: true, tool: Read}\n"
    assert told(make_workspace, text) == [
        "steps.b.artifact: a tool's step makes one .json file: the list of its calls (write 'artifact: b.json')"
    ]


def test_what_no_call_refers_to_is_not_read(make_workspace: MakeWorkspace) -> None:
    text = HEAD.replace(", parameters: [words, place]", ", parameters: [place]") + STEP % "tool: Read"
    assert told(make_workspace, text) == [
        "parameters.words: no step reads the parameter 'words' (name it under 'parameters' of a step, or remove it)"
    ]


def test_a_folder_has_no_default_and_other_parameters_must(make_workspace: MakeWorkspace) -> None:
    text = HEAD.replace("{type: folder}", "{type: folder, default: /tmp}").replace(", default: 3", "")
    assert told(make_workspace, text.replace("parameters: [words, place]", "final: true")) == [
        "parameters.place.default: 'default' has no meaning for a folder (remove it: the person names the folder)",
        "parameters.words.default: 'default' is missing (add 'default': the value when a person gives none)",
    ]


def test_a_folder_that_nobody_named_is_asked_for(make_workspace: MakeWorkspace) -> None:
    pipeline = make_workspace({**AGENTS, "pipelines/p.yaml": HEAD + STEP % "code: make.py:a"}).pipeline("p")
    with pytest.raises(UsageError, match="name the folder 'place': --set place=PATH"):
        pipeline.parameter_values({})
    assert pipeline.parameter_values({"place": "/x"}) == {"place": "/x", "words": 3}
