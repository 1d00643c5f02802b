"""`weft secrets`: what steps may use by name. The secret itself is never shown again, and never on a command line."""

from __future__ import annotations

import getpass
import os
import sys

import click

from weft.app import person_secrets
from weft.cli.place import ListingGroup, is_terminal, json_option, print_list, secret_asker
from weft.protocol.errors import UserError


@click.group("secrets", cls=ListingGroup)
def command() -> None:
    """What steps may use by name: set, list, remove. Kept encrypted, beside the keys of models."""


@command.command("set")
@click.argument("name")
def set_secret(name: str) -> None:
    """Keep a secret under a name: typed unseen, or all that standard input has."""
    asks = is_terminal(sys.stdin)
    secret = (getpass.getpass(f"{name}: ") if asks else sys.stdin.read()).strip()
    if not secret:
        raise UserError("no secret was given, and nothing was kept", hint="type it, or give it on standard input")
    person_secrets({**os.environ}, secret_asker()).put(name, secret)
    print(f"kept {name}; a step uses it with `secrets: [{name}]`", file=sys.stderr)


@command.command("list")
@json_option
def list_secrets(as_json: bool) -> None:
    """Their names."""
    names = person_secrets({**os.environ}, secret_asker()).names()
    nothing = "there are no secrets yet: weft secrets set NAME keeps one"
    print_list([({"name": name}, (name,)) for name in names], nothing, as_json=as_json)


@command.command("rm")
@click.argument("name")
def remove(name: str) -> None:
    """Forget a secret."""
    person_secrets({**os.environ}, secret_asker()).remove(name)
    print(f"removed {name}", file=sys.stderr)
