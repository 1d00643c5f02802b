"""`weft persons`: who may come into the server, and what they may do there."""

from __future__ import annotations

import getpass
import sys

import click

from weft.app import person_access
from weft.cli.place import ListingGroup, is_terminal, json_option, print_list
from weft.protocol.errors import UsageError

ROLES = ("look", "answer", "run", "administer")


@click.group("persons", cls=ListingGroup)
def command() -> None:
    """Add, list and remove who may come into the server. Alone on a machine you need none of it."""


@command.command("add")
@click.argument("name")
@click.option(
    "--role", type=click.Choice(ROLES), default="run", show_default=True, help="Each includes the ones before it."
)
@click.option("--passphrase", is_flag=True, help="Ask for a passphrase, or read it from standard input.")
def add(name: str, role: str, passphrase: bool) -> None:
    """Add a person, or change one: their role, and with --passphrase how they sign in from beyond this machine."""
    given = _asked() if passphrase else None
    person = person_access().put_person(name, role, given)  # type: ignore[arg-type]
    how = "signs in with a passphrase" if person.passphrase else f"signs in by a link: weft tokens link --person {name}"
    print(f"{person.name} may {person.role}; {how}", file=sys.stderr)


@command.command("list")
@json_option
def list_persons(as_json: bool) -> None:
    """Who there is, and what they may do."""
    found = []
    for one in person_access().persons():
        fields = {"name": one.name, "role": one.role, "passphrase": bool(one.passphrase)}
        found.append((fields, (one.name, one.role, "passphrase" if one.passphrase else "link")))
    print_list(found, as_json=as_json)


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove a person, with their tokens, and sign their browsers out."""
    person_access().remove_person(name)


def _asked() -> str:
    """Typed unseen, twice; or a line on standard input: never on the command line, where others could see it."""
    if not is_terminal(sys.stdin):
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Passphrase: ")
    if getpass.getpass("Again: ") != first:
        raise UsageError("the two are not the same")
    return first
