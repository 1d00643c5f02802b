"""Options that many commands share, and the way from them to an open `App`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.protocol.errors import UsageError

if TYPE_CHECKING:
    from weft.app import App, Consents

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

DEFAULT_WORKSPACE = "~/.weft"
Listed = tuple[Mapping[str, Any], Sequence[str]]
"""One of a list: its fields for a program, its cells for a person."""


def from_here(path: str) -> str:
    """A file that a person names where they are: another process may read it."""
    return str(Path(path).expanduser().absolute())


def workspace_option(function: Decorated) -> Decorated:
    """`--workspace FOLDER`: kept where `workspace_path` finds it, in place of what `weft` itself was given."""
    option = click.option(
        "--workspace",
        metavar="FOLDER",
        expose_value=False,
        callback=_named,
        help="The workspace (default: WEFT_WORKSPACE or ~/.weft).",
    )
    return option(function)


def _named(ctx: click.Context, _: click.Parameter, folder: str | None) -> None:
    root = ctx.find_root()
    root.obj = folder or root.obj


def json_option(function: Decorated) -> Decorated:
    return click.option("--json", "as_json", is_flag=True, help="Machine-readable output, one JSON value a line.")(
        function
    )


def workspace_path(given: str | None = None) -> Path:
    """What is given, else the option of the command or of `weft` itself, the environment, or the default."""
    context = click.get_current_context(silent=True)
    named = given or (context.find_root().obj if context else None) or os.environ.get("WEFT_WORKSPACE")
    path = Path(named or DEFAULT_WORKSPACE).expanduser().absolute()
    if not named and context is not None:
        _say_what_lies_here(path, context)
    return path


def _say_what_lies_here(used: Path, context: click.Context) -> None:
    """Whoever stands in a workspace and names none may mean it. It is not taken unasked: a folder that somebody else
    made would decide what is run, and by which rules."""
    here = Path.cwd()
    if context.meta.setdefault("weft.said_here", here == used or not any((here / "pipelines").glob("*.yaml"))):
        return
    context.meta["weft.said_here"] = True
    told = f"weft: this folder is a workspace too, and {used} is used; --workspace . or WEFT_WORKSPACE=. takes this one"
    print(told, file=sys.stderr)


def trust_option(function: Decorated) -> Decorated:
    """`--trust HASH`: consent in advance, kept where whatever opens the workspace finds it."""
    option = click.option(
        "--trust",
        multiple=True,
        metavar="HASH",
        expose_value=False,
        callback=_trusted,
        help="Agree in advance to what has this hash; it is named when something is refused.",
    )
    return option(function)


def _trusted(ctx: click.Context, _: click.Parameter, hashes: tuple[str, ...]) -> None:
    ctx.meta["weft.trust"] = ctx.meta.get("weft.trust", frozenset()) | frozenset(hashes)


def given_trust() -> frozenset[str]:
    context = click.get_current_context(silent=True)
    found: frozenset[str] = context.meta.get("weft.trust", frozenset()) if context else frozenset()
    return found


def asking_consents() -> Consents:
    """What the person agreed to; they are asked about what is new when they sit in front."""
    from weft.app import person_consents
    from weft.cli.consent_question import ask_about

    consents = person_consents({**os.environ})
    consents.in_advance = given_trust()
    if is_attended():
        consents.ask = lambda request: ask_about(consents, request)
    return consents


def ensure_workspace(path: Path, pack: str = "") -> None:
    """The first run on a fresh machine works: what is not there is made, and that is said."""
    if path.exists() and not pack:
        return
    from weft.app import join_shared, lay_missing

    if told := join_shared(path):
        print(told, file=sys.stderr)

    if told := lay_missing(path, asking_consents(), pack):
        print(told, file=sys.stderr)


def open_app(*, runs: bool = False, joins: bool = True) -> App:
    """`runs`: what the workspace brings may run; a person who sits in front is asked about what is new. `joins`: where
    nothing lies but the address of a shared workspace, its files are taken over."""
    from weft.app import App, join_shared

    path = workspace_path()
    if joins and (told := join_shared(path)):
        print(told, file=sys.stderr)
    app = App.open(path)
    if app.shared is not None:
        app.shared.on_trouble = lambda text: print(f"weft: {text}", file=sys.stderr, flush=True)
    prepare_app(app, runs=runs)
    return app


def prepare_app(app: App, *, runs: bool) -> None:
    app.ask_secret = secret_asker()
    app.consents.in_advance = given_trust()
    if runs and is_attended():
        from weft.cli.consent_question import ask_about

        try:
            for request in app.not_agreed():
                ask_about(app.consents, request)
        except BaseException:
            app.close()
            raise
    elif runs and (told := app.rules_not_used()):
        print(f"weft: {told}", file=sys.stderr)


def secret_asker() -> Callable[[str], str] | None:
    """Asks for a secret without showing it; None where nobody sits in front."""
    if not is_terminal(sys.stdin):
        return None

    def ask(what: str) -> str:
        import getpass

        return getpass.getpass(f"Credential store, {what}: ")

    return ask


def pairs(words: Sequence[str], flag: str, what: str) -> dict[str, str]:
    """NAME=VALUE words as a mapping."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {word!r}: write it as {flag} NAME={what}")
        if name in found:
            raise UsageError(f"{flag} names {name!r} twice")
        found[name] = value
    return found


def fetched(address: str) -> bytes:
    """What stands at an address of the web, within limits of size and time."""
    import asyncio

    from weft.app import fetch_bytes

    return asyncio.run(fetch_bytes(address))


def screen_width(stream: Any = None) -> int:
    """Columns of the terminal behind a stream; COLUMNS overrules it."""
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size((stream or sys.stdout).fileno()).columns
    except (OSError, ValueError):
        return 80


def is_terminal(stream: Any) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_attended() -> bool:
    """A person sits in front: they can be asked."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def for_terminal(text: str) -> str:
    """What others wrote: as it is for a file or a program, on a terminal with nothing in it that that would obey."""
    if not sys.stdout.isatty():
        return text
    from weft.render.cells import clean_lines

    return clean_lines(text)


class ListingGroup(click.Group):
    """Commands of which `list` is meant where none is named."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"invoke_without_command": True})

    def invoke(self, ctx: click.Context) -> Any:
        result = super().invoke(ctx)
        return result if ctx.invoked_subcommand else ctx.invoke(self.commands["list"])


def print_list(found: Sequence[Listed], nothing: str = "", *, as_json: bool) -> None:
    """Each as a JSON object on a line of its own, or as a row of cells."""
    if not as_json:
        print_rows([cells for _, cells in found], nothing)
        return
    for fields, _ in found:
        print(json.dumps(fields))


def print_rows(rows: Sequence[Sequence[str]], nothing: str = "") -> None:
    """A list: in columns on a terminal, with tabs between the cells for a program. `nothing`: what is said of an empty
    one."""
    from weft.render.rows import tabbed_rows, wrapped_rows

    if not rows and nothing:
        print(nothing, file=sys.stderr)
    if rows:
        print(wrapped_rows(rows, screen_width()) if is_terminal(sys.stdout) else tabbed_rows(rows))


def print_json(value: Any) -> None:
    """A value as a program gets it, at once."""
    from weft.app import to_json

    sys.stdout.buffer.write(to_json(value) + b"\n")
    sys.stdout.buffer.flush()


def print_page(content: Any) -> None:
    """What `render` has laid out for a terminal."""
    from rich.console import Console

    Console(width=screen_width(), highlight=False).print(content)


def is_ascii(stream: Any) -> bool:
    return "utf" not in (stream.encoding or "").lower()
