"""What the agents of a pipeline need and make, written into its steps before they are judged: so that every rule, the
plan and the run see it as if the pipeline had said it.

- Parts of the profile that an agent reads are read by its steps.
- An artifact that it reads is required, when a step that this one builds on makes it; that none does is a fault.
- An artifact that it makes besides is its step's, unless another step makes it or the pipeline names it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weft.protocol.errors import WorkspaceError
from weft.workspace import graph
from weft.workspace.agent import Agent
from weft.workspace.draft import PipelineDraft
from weft.workspace.pipeline_file import StepEntry
from weft.workspace.step_rules import artifacts_of


def with_agents(draft: PipelineDraft) -> PipelineDraft:
    agents = {name: found for name, entry in draft.steps.items() if (found := _agent(draft, entry))}
    if not any(one.profile or one.artifacts or one.makes for one in agents.values()):
        return draft
    makers = {made: name for name, entry in draft.steps.items() for made in artifacts_of(entry)}
    requires = {name: entry.requires for name, entry in draft.steps.items()}
    steps: dict[str, StepEntry] = {}
    for name, entry in draft.steps.items():
        agent = agents.get(name)
        steps[name] = entry if agent is None else _with(draft, name, entry, agent, makers, requires)
        makers |= dict.fromkeys(artifacts_of(steps[name]), name)
    return replace(draft, file=draft.file.model_copy(update={"steps": steps}))


def _agent(draft: PipelineDraft, entry: StepEntry) -> Agent | None:
    if entry.agent is None or entry.agent not in draft.library.agent_names():
        return None
    try:
        return draft.library.agent(entry.agent)
    except WorkspaceError:
        return None  # told where the step is judged


def _with(
    draft: PipelineDraft,
    name: str,
    entry: StepEntry,
    agent: Agent,
    makers: Mapping[str, str],
    requires: Mapping[str, list[str]],
) -> StepEntry:
    change: dict[str, Any] = {}
    if agent.profile:
        change["profile"] = list(dict.fromkeys([*entry.profile, *agent.profile]))
    before = graph.upstream(requires, name) if all(one in draft.steps for one in entry.requires) else set()
    needed = [artifact for artifact in agent.artifacts if artifact not in artifacts_of(entry)]
    for artifact in needed:
        if makers.get(artifact) not in before and not draft.lost_in_steps("requires", "artifact", "artifacts"):
            hint = f"no step makes it: add one, or take it out of .claude/agents/{agent.name}.md"
            if artifact in makers:
                hint = f"it is made by the step '{makers[artifact]}': add that to 'requires'"
            draft.report(("steps", name, "agent"), f"the agent '{agent.name}' needs {artifact}", hint)
    found = [makers[artifact] for artifact in needed if makers.get(artifact) in before]
    if found:
        change["requires"] = list(dict.fromkeys([*entry.requires, *found]))
    also = [artifact for artifact in agent.makes if artifact not in makers and artifacts_of(entry)]
    if also:
        change |= _also(entry, also)
    return entry.model_copy(update=change) if change else entry


def _also(entry: StepEntry, also: list[str]) -> dict[str, Any]:
    """With more artifacts, what was said of the one it had is said of that one by name."""
    own = artifacts_of(entry)
    change: dict[str, Any] = {"artifact": None, "artifacts": [*own, *also]}
    if isinstance(entry.schema_, str):
        change["schema_"] = {own[0]: entry.schema_}
    if len(own) == 1:
        change["checks"] = [
            {check: {"artifact": own[0], **options} for check, options in one.items()} for one in entry.checks
        ]
    return change
