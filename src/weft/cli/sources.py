"""`weft sources`: connect MCP servers, APIs, folders and searches; what is listed is what a model gets."""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from weft.app import AddRequest, App, SourceSettings, wake_waiting
from weft.cli.place import ListingGroup, is_terminal, json_option, open_app, pairs, print_list, workspace_option
from weft.cli.sessions import describe
from weft.cli.stopping import TERMINAL
from weft.protocol.commands import SwitchSource
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError
from weft.render.cells import clean
from weft.render.units import count

_NONE_YET: Final = "there are no sources yet: weft sources add connects one"


@click.group("sources", cls=ListingGroup)
def command() -> None:
    """Connect MCP servers, APIs, folders and searches as tools."""


def _shelf(app: App) -> SourceSettings:
    return SourceSettings(app, Path.cwd())


@command.command("list")
@json_option
@workspace_option
def list_sources(as_json: bool) -> None:
    """Every source, whether it works, and how many tools it has."""
    found = []
    with open_app() as app:
        for row in _shelf(app).rows():
            state = row["state"] if row["enabled"] or row["state"] == "broken" else f"{row['state']}, off"
            cells = (row["slug"], row["kind"], state, count(row["tools"], "tool"), row["why"].split("\n")[0])
            found.append((row, cells))
    print_list(found, _NONE_YET, as_json=as_json)


@command.command("add", context_settings={"ignore_unknown_options": False})
@click.argument("words", nargs=-1, required=True, metavar="ADDRESS|FILE|FOLDER|-- COMMAND...")
@click.option("--as", "slug", default="", metavar="SLUG", help="What it is called.")
@click.option("--mine", is_flag=True, help="For all your workspaces, not only this one.")
@click.option("--api", is_flag=True, help="The address is an HTTP API, not an MCP server.")
@click.option(
    "--search",
    "provider",
    type=click.Choice(["brave", "tavily", "searxng", "exa"]),
    help="It is a search of the web: name the provider again as ADDRESS, or give an address.",
)
@click.option("--address", default="", metavar="URL", help="Where an API is whose document does not say it.")
@click.option("--sse", is_flag=True, help="The server is an old one that speaks SSE.")
@click.option("--network", is_flag=True, help="The command may use the network.")
@click.option("--host", multiple=True, metavar="HOST", help="A host the command may reach by HTTP, and no other.")
@click.option("--read", multiple=True, metavar="FOLDER", help="A folder the command may read, where it could not.")
@click.option("--write", multiple=True, metavar="FOLDER", help="A folder the command may change.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of the command; VALUE may be env:NAME.")
@click.option("--header", multiple=True, metavar="NAME=VALUE", help="A header of every request.")
@click.option("--auth", type=click.Choice(["bearer", "header", "query", "basic", "oauth"]), help="How it lets one in.")
@click.option("--secret", default="", metavar="PLACE", help="Where its secret is: env:NAME or secret:NAME.")
@click.option("--description", default="", help="What it is for, in one sentence.")
@click.option("--only", multiple=True, metavar="SLUG", help="Of a file with several sources: this one.")
@click.option("--replace", is_flag=True, help="In place of one of the same name.")
@click.option("--no-test", is_flag=True, help="Do not reach it now.")
@workspace_option
def add(words: tuple[str, ...], **given: Any) -> int:
    """Connect something: an MCP server (an address, or -- and the words of a command), a configuration of another
    program (.mcp.json, Claude, Cursor, VS Code), an OpenAPI file, or a folder.

    What it may reach is shown; it is tested at once, and its tools are there from then on.
    """
    request = AddRequest(
        words=words,
        slug=given["slug"],
        kind="search" if given["provider"] else "api" if given["api"] else "",
        provider=given["provider"] or "",
        sse=given["sse"],
        network=given["network"],
        hosts=given["host"],
        read=given["read"],
        write=given["write"],
        env=pairs(given["env"], "--env", "VALUE"),
        headers=pairs(given["header"], "--header", "VALUE"),
        auth=given["auth"] or "",
        secret=given["secret"],
        description=given["description"],
        only=given["only"],
        address=given["address"],
    )
    with open_app() as app:
        shelf = _shelf(app)
        request = asyncio.run(shelf.with_document(request))
        meant = shelf.to_add(request)
        files = shelf.files(request)
        found = []
        for one in meant:
            if len(meant) > 1 and shelf.has(one.slug, mine=given["mine"]) and not given["replace"]:
                print(clean(f"{one.slug}: there is one already, which stays (--replace)"), file=sys.stderr)
                continue
            found.append(one)
            source = shelf.add(one, mine=given["mine"], replace=given["replace"], files=files)
            told = [*shelf.needs(source), *one.notes]
            print(clean(f"{source.slug}: {source.file}"), file=sys.stderr)
            print("\n".join(f"  {clean(line)}" for line in told), file=sys.stderr)
        if given["no_test"] or not found:
            return EXIT_DONE
        return _tested(shelf, tuple(one.slug for one in found), as_json=False)


@command.command("show")
@click.argument("slug")
@json_option
@workspace_option
def show(slug: str, as_json: bool) -> None:
    """All that is known of a source."""
    with open_app() as app:
        shelf = _shelf(app)
        row = shelf.shown(shelf.one(slug))
    if as_json:
        print(json.dumps(row))
        return
    for key, value in row.items():
        if value not in ("", [], {}, None):
            text = "; ".join(map(str, value)) if isinstance(value, list) else value
            print(clean(f"{key:<12} {text}"))


@command.command("test")
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@json_option
@workspace_option
def test(slugs: tuple[str, ...], as_json: bool) -> int:
    """Really reach sources and list their tools: all sources when none is named."""
    with open_app() as app:
        return _tested(_shelf(app), slugs, as_json=as_json)


def _tested(shelf: SourceSettings, slugs: tuple[str, ...], *, as_json: bool) -> int:
    found = asyncio.run(shelf.test(slugs))
    if not found and not shelf.rows():
        print(_NONE_YET, file=sys.stderr)
    bad = False
    for slug, reached in found.items():
        bad = bad or reached.state != "ready"
        names = [tool["name"] for tool in shelf.tools(shelf.one(slug))]
        if as_json:
            left_out = dict(reached.listing.left_out) if reached.listing else {}
            state = {"slug": slug, "state": reached.state, "why": reached.why, "tools": names, "left_out": left_out}
            print(json.dumps(state))
            continue
        if reached.state != "ready":
            print("\t".join((clean(slug), reached.state, " ".join(map(clean, reached.why.split("\n"))))))
            continue
        print("\t".join((clean(slug), "ready", clean(f"{count(len(names), 'tool')}: {', '.join(names)}"))))
        for name, why in reached.listing.left_out.items() if reached.listing else ():
            print(clean(f"  left out: {name}: {why}"), file=sys.stderr)
    return EXIT_FAILED if bad else EXIT_DONE


@command.command("tools")
@click.argument("slug", required=False)
@json_option
@workspace_option
def tools(slug: str | None, as_json: bool) -> None:
    """The tools of a source, or of all that are on, as a model is offered them."""
    with open_app() as app:
        shelf = _shelf(app)
        slugs = [slug] if slug else [row["slug"] for row in shelf.rows() if row["enabled"]]
        offered = [entry for one in slugs for entry in shelf.tools(shelf.one(one))]
    found = [(one, (one["name"], one["effect"], one["description"].split("\n")[0])) for one in offered]
    print_list(found, "no source that is on has been reached: weft sources test tries them", as_json=as_json)


@command.command("resources")
@click.argument("slug")
@click.argument("uri", required=False)
@json_option
@workspace_option
def resources(slug: str, uri: str | None, as_json: bool) -> None:
    """What an MCP server has to read; with URI, that one on standard output, to keep or to give to a run.

    In a conversation `@source:SLUG/URI` names one.
    """
    with open_app() as app:
        shelf = _shelf(app)
        if uri is not None:
            for _, data in asyncio.run(shelf.resource(slug, uri)):
                sys.stdout.buffer.write(data)
            return
        for one in asyncio.run(shelf.resources(slug)):
            row = "\t".join([clean(one["uri"]), clean(one["name"]), clean(one["description"])])
            print(json.dumps(one) if as_json else row)


_session_option = click.option("--session", default="", metavar="ID", help="In the conversation of this session alone.")


@command.command("enable")
@click.argument("slug")
@_session_option
@workspace_option
def enable(slug: str, session: str) -> None:
    """Every conversation gets its tools; with --session that one alone."""
    _switch(slug, session, on=True)


@command.command("disable")
@click.argument("slug")
@_session_option
@workspace_option
def disable(slug: str, session: str) -> None:
    """Only agents and steps that name it get its tools."""
    _switch(slug, session, on=False)


def _switch(slug: str, session: str, *, on: bool) -> None:
    with open_app() as app:
        if not session:
            _shelf(app).switch(slug, on=on)
            return
        describe(app, session, SwitchSource(source=slug, on=on))


@command.command("allow")
@click.argument("slug")
@click.option("--network", is_flag=True, help="The whole network.")
@click.option("--host", multiple=True, metavar="HOST", help="A host, and no other.")
@click.option("--read", multiple=True, metavar="FOLDER", help="A folder to read, where it could not.")
@click.option("--write", multiple=True, metavar="FOLDER", help="A folder to change.")
@workspace_option
def allow(slug: str, network: bool, host: tuple[str, ...], read: tuple[str, ...], write: tuple[str, ...]) -> int:
    """Give a command more of the machine: hosts, the network, folders. Then it is tested."""
    if not (network or host or read or write):
        raise UsageError("say what it is to have: --network, --host, --read or --write")
    with open_app() as app:
        shelf = _shelf(app)
        source = shelf.allow(slug, network=network, hosts=host, read=read, write=write)
        print("\n".join(f"  {clean(line)}" for line in shelf.needs(source)), file=sys.stderr)
        return _tested(shelf, (slug,), as_json=False)


@command.command("rm")
@click.argument("slug")
@workspace_option
def remove(slug: str) -> None:
    """Take a source away. Its folder is moved aside, not deleted."""
    with open_app() as app:
        aside = _shelf(app).remove(slug)
    print(clean(f"{slug} is gone; its folder is {aside}"), file=sys.stderr)


@command.command("sign-in")
@click.argument("slug")
@click.option("--paste", is_flag=True, help="No browser reaches this machine: paste the address it ends at.")
@click.option("--device", is_flag=True, help="Type a code in on another machine.")
@workspace_option
def sign_in(slug: str, paste: bool, device: bool) -> int:
    """Sign in to a source: by OAuth in a browser, or with a secret that is asked for. Then it is tested."""

    def show(address: str) -> None:
        print(f"open {clean(address)}", file=sys.stderr, flush=True)
        if not paste and not device and is_terminal(sys.stderr):
            click.launch(address)

    async def pasted() -> str:
        return await asyncio.to_thread(lambda: _typed("the address you were led to"))

    with open_app() as app:
        shelf = _shelf(app)
        how = pasted if paste else None
        reached = asyncio.run(shelf.sign_in(slug, show=show, secret=_typed, paste=how, device=device))
        if reached.state == "ready":
            print("\t".join((clean(slug), "ready", count(len(shelf.tools(shelf.one(slug))), "tool"))))
            went_on, left = asyncio.run(wake_waiting(app, slug, TERMINAL))
            for session in went_on:
                print(f"session {session} waited for this, and goes on", file=sys.stderr)
            for session, words in left:
                print(f"session {session} waited for this: weft {clean(words)}", file=sys.stderr)
            return EXIT_DONE
        print("\t".join((clean(slug), reached.state, clean(reached.why.split("\n")[0]))))
        return EXIT_FAILED


@command.command("sign-out")
@click.argument("slug")
@workspace_option
def sign_out(slug: str) -> None:
    """Forget what a source is let in with."""
    with open_app() as app:
        if not _shelf(app).sign_out(slug):
            print(clean(f"there was nothing stored for {slug}"), file=sys.stderr)


def _typed(what: str) -> str:
    """Typed unseen or from standard input: never on the command line, where others could see it."""
    typed = getpass.getpass(f"{what}: ").strip() if is_terminal(sys.stdin) else sys.stdin.readline().strip()
    if not typed:
        raise UsageError("there was nothing to store")
    return typed
