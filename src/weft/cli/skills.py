"""`weft skills`: what a model can read up on; listed, shown, brought from elsewhere, taken out."""

from __future__ import annotations

import sys

import click

from weft.app.library.installation import bring_skills, origin_of, remove_skill
from weft.cli.place import (
    Listed,
    ListingGroup,
    asking_consents,
    fetched,
    for_terminal,
    json_option,
    open_app,
    print_list,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED
from weft.render.cells import clean_lines, clean_row


@click.group("skills", cls=ListingGroup)
def command() -> None:
    """What a model can read up on when a step or a conversation needs it."""


@command.command("list")
@json_option
@workspace_option
def list_skills(as_json: bool) -> int:
    """Every skill with what it is for and where it came from; what is wrong with the others."""
    found: list[Listed] = []
    with open_app() as app:
        good, problems = app.workspace.skills()
        for one in good:
            brought = origin_of(app.workspace.path, "skill", one.name)
            origin = brought.origin if brought else ""
            fields = {"name": one.name, "description": one.description, "origin": origin, "hash": one.hash}
            found.append((fields, (one.name, one.description, *([origin] if origin else []))))
    print_list(found, "" if problems else "there are no skills yet: weft new skill NAME makes one", as_json=as_json)
    for problem in problems:
        print(clean_lines(str(problem)), file=sys.stderr)
    return EXIT_FAILED if problems else EXIT_DONE


@command.command("show")
@click.argument("name")
@workspace_option
def show(name: str) -> None:
    """The text of a skill, as a model reads it."""
    with open_app() as app:
        print(for_terminal(app.workspace.skill(name).text.strip()))


@command.command("add")
@click.argument("address")
@trust_option
@workspace_option
def add(address: str) -> None:
    """Bring a skill, or a folder of them, from a folder, an archive or a git address, after you agreed to it."""
    for brought in bring_skills(address, workspace_path(), asking_consents(), fetched):
        for laid in brought.laid:
            print(clean_row((laid.action, laid.path)))
        print(
            clean_lines(f"{brought.origin.name} as {brought.origin.hash} from {brought.origin.origin}"), file=sys.stderr
        )


@command.command("rm")
@click.argument("name")
@workspace_option
def rm(name: str) -> None:
    """Take a skill out: it is moved aside, not deleted."""
    with open_app() as app:
        print(remove_skill(name, app.workspace))
