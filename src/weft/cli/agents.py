"""`weft agents`: who makes steps: listed and shown with what each may use."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from weft.cli.place import Listed, ListingGroup, for_terminal, json_option, open_app, print_list, workspace_option
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, WorkspaceError
from weft.render.cells import clean_lines


@click.group("agents", cls=ListingGroup)
def command() -> None:
    """Who makes steps: instructions, and what each may use."""


@command.command("list")
@json_option
@workspace_option
def list_agents(as_json: bool) -> int:
    """Every agent with what it does; what is wrong with the others."""
    failed = False
    found: list[Listed] = []
    with open_app() as app:
        for name in app.workspace.agent_names():
            try:
                agent = app.workspace.agent(name)
            except WorkspaceError as error:
                failed = True
                print(clean_lines(str(error)), file=sys.stderr)
                continue
            fields = {name: value for name, value in asdict(agent).items() if name != "text"}
            uses = ", ".join((*agent.tools, *agent.skills, *agent.sources))
            found.append((fields, (agent.name, agent.model or "", agent.description, *([uses] if uses else []))))
    nothing = "" if failed else "there are no agents yet: weft new agent NAME makes one"
    print_list(found, nothing, as_json=as_json)
    return EXIT_FAILED if failed else EXIT_DONE


@command.command("show")
@click.argument("name")
@workspace_option
def show(name: str) -> None:
    """Its instructions, and on standard error what it may use and which steps it makes."""
    with open_app() as app:
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
