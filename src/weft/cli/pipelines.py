"""`weft pipelines`: what there is, what it looks like, and what is wrong with it."""

from __future__ import annotations

import json
import sys

import click

from weft.app import App, Pipeline, Step, pipeline_json_schema
from weft.cli.place import (
    Listed,
    ListingGroup,
    is_ascii,
    is_terminal,
    json_option,
    open_app,
    print_list,
    screen_width,
    workspace_option,
)
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, WorkspaceError
from weft.render.cells import clean, clean_lines
from weft.render.graph import graph_text, mermaid


@click.group("pipelines", cls=ListingGroup)
def command() -> None:
    """List, show and validate pipelines."""


@command.command("list")
@json_option
@workspace_option
def list_pipelines(as_json: bool) -> None:
    """Every pipeline of the workspace with what it makes."""
    found: list[Listed] = []
    with open_app() as app:
        for name in app.workspace.pipeline_names():
            try:
                pipeline = app.workspace.pipeline(name)
                about, steps = pipeline.description, list(pipeline.steps)
            except WorkspaceError as error:
                about, steps = f"broken: {error.problems[0].message} (weft pipelines validate {name})", []
            fields = {"name": name, "description": about, "steps": steps}
            found.append((fields, (name, " -> ".join(steps), about)))
        _say_misnamed(app)
    print_list(found, "there are no pipelines yet: weft new pipeline NAME makes one", as_json=as_json)


def _say_misnamed(app: App) -> None:
    for name, hint in app.workspace.misnamed_pipelines().items():
        print(f"weft: pipelines/{clean(name)}.yml is not read: {clean(hint)}", file=sys.stderr)


@command.command("show")
@click.argument("name")
@click.option("--graph", is_flag=True, help="Draw its steps in the terminal.")
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Draw its steps as a mermaid flowchart.")
@workspace_option
def show(name: str, graph: bool, as_mermaid: bool) -> None:
    """A pipeline's inputs, parameters and steps."""
    with open_app() as app:
        pipeline = app.workspace.pipeline(name)
    requires = {step.name: step.requires for step in pipeline.steps.values()}
    labels = {step.name: clean(", ".join(step.artifacts)) for step in pipeline.steps.values()}
    if as_mermaid:
        print(mermaid(requires, labels, pipeline.final))
    elif graph:
        width = screen_width() if is_terminal(sys.stdout) else 100
        print(graph_text(requires, labels=labels, final=pipeline.final, width=width, ascii=is_ascii(sys.stdout)))
    else:
        print(clean_lines("\n".join(_about(pipeline))))


@command.command("validate")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@workspace_option
def validate(names: tuple[str, ...]) -> int:
    """Every problem with its file, line and key. Without names: all pipelines."""
    bad = 0
    with open_app() as app:
        if not names:
            _say_misnamed(app)
        for name in names or app.workspace.pipeline_names():
            problems = app.check_pipeline(name)
            bad += bool(problems)
            for problem in problems:
                print(clean_lines(str(problem)), file=sys.stderr)
            if not problems:
                print(f"{clean(name)}: good")
                for warning in app.workspace.pipeline(name).warnings:
                    print(f"warning: {clean(str(warning))}", file=sys.stderr)
    return EXIT_FAILED if bad else EXIT_DONE


@command.command("schema")
def schema() -> None:
    """The JSON Schema of the pipeline format, for editors."""
    print(json.dumps(pipeline_json_schema(), indent=2, ensure_ascii=False))


def _about(pipeline: Pipeline) -> list[str]:
    lines = [f"{pipeline.name} (version {pipeline.version}, {pipeline.file})", pipeline.description, ""]
    for name, given in pipeline.inputs.items():
        lines.append(f"input {name}{'' if given.required else ' (optional)'}: {given.description or 'a text file'}")
    for name, parameter in pipeline.offered.items():
        value = "(a folder you name)" if parameter.type == "folder" else json.dumps(parameter.default)
        lines.append(f"parameter {name} = {value}: {parameter.description or parameter.type}")
    lines += _flow(pipeline)
    lines.append("")
    for step in pipeline.steps.values():
        after = f" after {', '.join(step.requires)}" if step.requires else ""
        by = f"agent {step.agent}" if step.agent else f"code {step.code}"
        if step.calls:
            by = f"tool {step.calls.tool}"
        elif step.executor == "agent":
            by += " with tools"
        elif (mapped := pipeline.mapped.get(step.name)) is not None:
            by = f"pipeline {mapped.given.child.name} for each item"
        lines.append(f"step {step.name}{after}: {by} -> {', '.join(step.artifacts)}{' (final)' if step.final else ''}")
        lines += [f"  schema {schema.file} (version {schema.version})" for schema in step.schemas.values()]
        lines += [
            f"  check {call.name} on {artifact}: {json.dumps(dict(call.options))}" for artifact, call in step.checks
        ]
        lines += _step_flow(step)
    return lines


def _flow(pipeline: Pipeline) -> list[str]:
    """What a run as a whole keeps to: depths, the budget, what is made again and how often."""
    lines = [
        f"depth {mode}: {', '.join(f'{name} = {json.dumps(value)}' for name, value in values.items())}"
        for mode, values in pipeline.depth.items()
    ]
    lines += [f"budget: {pipeline.budget}"] if str(pipeline.budget) else []
    for unit in pipeline.units:
        rounds = f"at most {unit.most} round{'' if unit.most == 1 else 's'}"
        why = f"when {unit.when}"
        if unit.kind == "repair" and unit.look:
            why = f"while {unit.look.artifact} says so at {unit.look.at}"
        lines.append(f"{unit.kind} {', '.join(unit.steps)}: {rounds}, {why}")
    return lines


def _step_flow(step: Step) -> list[str]:
    lines = [f"  only when {step.when}"] if step.when else []
    if step.gate:
        when = f", when {step.gate.when}" if step.gate.when else ""
        choices = "shows and goes on" if step.gate.auto else ", ".join(choice.id for choice in step.gate.choices)
        lines.append(f"  gate{when}: {choices}")
    others = [name for name in step.replies if name != step.name]
    lines += [f"  is given the replies at {', '.join(others)}"] if others else []
    return [*lines, *([f"  budget: {step.budget}"] if str(step.budget) else [])]
