"""`weft agents`: who makes steps: listed and shown with what each may use."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from weft.cli.place import for_terminal, json_option, open_app, print_rows, workspace_option
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, WorkspaceError
from weft.render.cells import clean_lines


@click.group("agents", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Who makes steps: instructions, and what each may use."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_agents)


@command.command("list")
@json_option
@workspace_option
def list_agents(as_json: bool = False, workspace: str | None = None) -> int:
    """Every agent with what it does; what is wrong with the others."""
    failed = False
    rows: list[tuple[str, ...]] = []
    with open_app(workspace) as app:
        for name in app.workspace.agent_names():
            try:
                agent = app.workspace.agent(name)
            except WorkspaceError as error:
                failed = True
                print(clean_lines(str(error)), file=sys.stderr)
                continue
            if as_json:
                print(json.dumps({k: v for k, v in asdict(agent).items() if k != "text"}, ensure_ascii=False))
            else:
                uses = ", ".join((*agent.tools, *agent.skills, *agent.sources))
                rows.append((agent.name, agent.model or "", agent.description, *([uses] if uses else [])))
    if not as_json:
        print_rows(rows, "" if failed else "there are no agents yet: weft new agent NAME makes one")
    return EXIT_FAILED if failed else EXIT_DONE


@command.command("show")
@click.argument("name")
@workspace_option
def show(name: str, workspace: str | None) -> None:
    """Its instructions, and on standard error what it may use and which steps it makes."""
    with open_app(workspace) as app:
        agent = app.workspace.agent(name)
        makes = [
            f"{pipeline}/{step.name}"
            for pipeline in app.workspace.pipeline_names()
            if not app.workspace.check_pipeline(pipeline)
            for step in app.workspace.pipeline(pipeline).steps.values()
            if step.agent == name
        ]
    told = {
        "model": agent.model,
        "tools": agent.tools,
        "skills": agent.skills,
        "sources": agent.sources,
        "makes": makes,
    }
    for what, value in told.items():
        if value:
            print(clean_lines(f"{what}: {value if isinstance(value, str) else ', '.join(value)}"), file=sys.stderr)
    print(for_terminal(agent.text.strip()))
