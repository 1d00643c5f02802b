"""`weft tokens`: what lets scripts and browsers into the server."""

from __future__ import annotations

import sys

import click

from weft.app import person_access
from weft.cli.place import Listed, ListingGroup, json_option, print_list
from weft.protocol.errors import UsageError

SCOPES = ("read", "write", "mcp", "trigger")


@click.group("tokens", cls=ListingGroup)
def command() -> None:
    """Make, list and revoke what lets scripts and browsers into the server."""


@command.command("add")
@click.argument("title")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it is for (default: read).")
@click.option("--days", type=click.IntRange(1, 3650), help="How long it is good; without it, until it is revoked.")
@click.option("--person", default="me", show_default=True, help="Whose it is: it can do no more than they may.")
def add(title: str, scopes: tuple[str, ...], days: int | None, person: str) -> None:
    """Make a token. It is shown this once; send it as `Authorization: Bearer TOKEN`."""
    token, secret = person_access().add_token(person, scopes or ("read",), title, days)  # type: ignore[arg-type]
    print(secret)
    print(f"token {token.id} ({', '.join(token.scopes)}) for {token.person}; it is not shown again", file=sys.stderr)


@command.command("list")
@json_option
def list_tokens(as_json: bool) -> None:
    """Tokens and signed-in browsers."""
    access = person_access()
    found: list[Listed] = []
    for token in access.tokens():
        until = f"until {token.expires:%Y-%m-%d}" if token.expires else "until revoked"
        fields = {"id": token.id, "kind": "token", "title": token.title, "person": token.person}
        found.append((fields, (token.id, "token", token.person, ", ".join(token.scopes), until, token.title)))
    for browser in access.browsers():
        fields = {"id": browser.id, "kind": "browser", "title": browser.agent, "person": browser.person}
        since = f"since {browser.created:%Y-%m-%d}"
        found.append((fields, (browser.id, "browser", browser.person, since, browser.agent)))
    print_list(found, "no token and no browser yet: weft tokens add TITLE makes a token", as_json=as_json)


@command.command("revoke")
@click.argument("name", metavar="ID")
def revoke(name: str) -> None:
    """Refuse a token, or sign a browser out, from the next request on."""
    person_access().revoke(name)


@command.command("link")
@click.argument("address", required=False, default="http://127.0.0.1:8700")
@click.option("--person", default="", help="Whose browser it signs in.")
def link(address: str, person: str) -> None:
    """A link that signs one browser in, once, within a quarter of an hour. ADDRESS is that of the server."""
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"{address} is no address of a server", hint="such as http://127.0.0.1:8700")
    print(f"{address.rstrip('/')}/sign-in?link={person_access().sign_in_secret(person)}")
