"""From a file in pipelines/ to a `Pipeline`, or to everything that is wrong with it, in the order of its lines."""

from __future__ import annotations

from dataclasses import replace

from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace import flow_rules
from weft.workspace import pipeline_rules as rules
from weft.workspace.agent_needs import with_agents
from weft.workspace.document import SourceFile, in_order, read_source
from weft.workspace.draft import PipelineDraft, draft_pipeline
from weft.workspace.inner import expanded
from weft.workspace.inner_rules import given, mapped_of, with_pipelines
from weft.workspace.library import Library
from weft.workspace.map_rules import map_of
from weft.workspace.pipeline import ENDING, FOLDER, InputSpec, Pipeline, Step
from weft.workspace.spelling import suggest
from weft.workspace.step_rules import resolve_step
from weft.workspace.tool_rules import calls


def read_pipeline(
    library: Library, name: str, text: str | None = None, within: tuple[str, ...] = ()
) -> tuple[Pipeline | None, list[Problem]]:
    """The pipeline, or None and its problems; with `text`, as if the file said that. FileNotFoundError when there is no
    such file. `within`: the pipelines that it is read for."""
    chain = (*within, name)
    file = f"{FOLDER}/{name}{ENDING}"
    try:
        source = read_source(library.folder, file) if text is None else SourceFile(file, text.encode(), text)
        draft, problems = draft_pipeline(library, name, source)
        if draft:
            draft = with_agents(with_pipelines(draft, chain, lambda one: read_pipeline(library, one, within=chain)))
        pipeline = _judged(draft, name) if draft else None
    except WorkspaceError as error:
        return None, in_order(error.problems, file)
    if draft:
        problems = draft.problems
    return (None, in_order(problems, file)) if problems else (pipeline, [])


def _judged(draft: PipelineDraft, name: str) -> Pipeline:
    """Every rule, whatever the ones before it found. The result is good only if the draft has no problems."""
    rules.names(draft, name)
    parameters = rules.parameters(draft)
    makers = rules.makers(draft)
    order = rules.running_order(draft)
    final = rules.final_step(draft)
    depth = flow_rules.depth(draft, parameters)
    flow = flow_rules.Flow(draft, parameters, makers, order)
    steps = {step: _step(flow, step, final) for step in order}
    units = flow_rules.units(flow)
    looks = flow_rules.looks(flow, steps, units)
    steps = {name: replace(step, looks=looks.get(name, ())) for name, step in steps.items()}
    inner = {step: found for step in order if (found := given(flow, step))}
    rules.unused(draft)
    if final:
        rules.warn_of_dead_ends(draft, final)
    pipeline = Pipeline(
        name=name,
        description=draft.file.description,
        version=draft.file.version,
        file=draft.source.file,
        hash=draft.source.hash,
        inputs={
            input_: InputSpec(entry.description, entry.required, entry.kind)
            for input_, entry in draft.file.inputs.items()
        },
        parameters=parameters,
        steps=steps,
        final=final,
        units=units,
        budget=flow_rules.budget(draft, ("budget",), draft.file.budget),
        timeout=draft.file.timeout,
        depth=depth,
        warnings=tuple(in_order(draft.warnings)),
    )
    mapped = {step: over for step, one in inner.items() if (over := mapped_of(flow, steps[step], one))}
    return pipeline if draft.problems else expanded(pipeline, inner, mapped, makers)


def _step(flow: flow_rules.Flow, name: str, final: str) -> Step:
    draft, entry = flow.draft, flow.draft.steps[name]
    step = resolve_step(draft, name, final, flow.makers)
    at = ("steps", name)
    when = flow_rules.condition(flow, (*at, "when"), entry.when, name, own=False) if entry.when else None
    after: tuple[str, ...] = ()
    if entry.else_ is not None:
        when, after = flow_rules.otherwise(flow, name)
    if (when or entry.else_) and name == final:
        message = f"the final step is what a run is for, and '{name}' may be passed over"
        key = "when" if entry.when else "else"
        draft.report_key((*at, key), message, "put the condition on a step before it")
    for index, before in enumerate(entry.replies):
        if before not in draft.steps or draft.steps[before].gate is None:
            gates = [other for other, one in draft.steps.items() if one.gate is not None]
            draft.report(
                (*at, "replies", index), f"'{before}' has no gate", suggest(before, gates, "steps with a gate")
            )
    for index, artifact in enumerate(entry.prior):
        if artifact not in flow.makers:
            hint = suggest(artifact, flow.makers, "artifacts")
            draft.report((*at, "prior", index), f"no step makes '{artifact}'", hint)
    runs = flow_rules.runs(flow, name)
    return replace(
        step,
        calls=calls(flow, name),
        map=map_of(flow, name),
        prior=tuple(dict.fromkeys(entry.prior)),
        when=when,
        gate=flow_rules.gate(flow, name),
        retry=flow_rules.retry(draft, at, entry),
        verdicts=flow_rules.verdicts(flow, name),
        budget=flow_rules.budget(draft, (*at, "budget"), entry.budget),
        replies=tuple(dict.fromkeys([*([name] if entry.gate else []), *entry.replies])),
        wait=entry.wait or 0.0,
        until=entry.until or "",
        runs=runs,
        at_end=name if runs != "in_order" else "",
        after=after,
    )
