"""The commands, found by name and imported when called; and the one place where errors become words and exit codes."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, TextIO

import click

from weft.cli.front_page import COMMANDS, EXIT_CODES, GROUPS
from weft.cli.place import trust_option
from weft.protocol.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    ExternalError,
    UsageError,
    UserError,
    WeftError,
)
from weft.redaction import REDACTOR
from weft.version import __version__

_HOMES: Final = {
    "chat": "chat.command",
    "open": "opener",
    "import": "importing",
    "interrupt": "send:interrupt",
    "ask": "research:ask",
}
"""Of commands whose module has another name, or has them beside another."""
HELP: Final = "help"
_ELSEWHERE: Final = dict.fromkeys(("status", "ls", "ps", "jobs"), "sessions list")
"""What other programs call it."""
MOST_MEANT: Final = 4
"""Commands of groups that are offered for one that does not exist."""


class Commands(click.Group):
    """Imports a command's module only when that command is called or completed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home, _, name = _HOMES.get(cmd_name, cmd_name).partition(":")
        command = getattr(importlib.import_module(f"weft.cli.{home}"), name or "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] == HELP:  # what whoever knows no command yet tries first
            args = [*args[1:], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
        if args and args[0] not in COMMANDS:
            ctx.fail(f"there is no command {args[0]!r}; {self._nearest(ctx, args[0])}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not {"-h", "--help"}.isdisjoint(rest):
            with_examples(command, args[0])
        return name, command, rest

    def _nearest(self, ctx: click.Context, word: str) -> str:
        """The command that was probably meant: one of these, or one inside a group of theirs."""
        from weft.app import nearest, suggest

        if any(f"--{word}" in option.opts for option in ctx.command.get_params(ctx)):
            return f"did you mean 'weft --{word}'?"
        if word in _ELSEWHERE:
            return f"did you mean 'weft {_ELSEWHERE[word]}'?"
        inside: dict[str, list[str]] = {}
        for name in chain.from_iterable(GROUPS.values()):
            group = self.get_command(ctx, name)
            for inner in group.list_commands(ctx) if isinstance(group, click.Group) else ():
                inside.setdefault(inner, []).append(f"weft {name} {inner}")
        if word not in inside and (nearest(word, COMMANDS) or nearest(word, inside) is None):
            return suggest(word, COMMANDS, "commands")
        meant = inside[word if word in inside else nearest(word, inside) or ""]
        return f"did you mean {' or '.join(repr(one) for one in meant[:MOST_MEANT])}?"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<10}", told) for name, told in names.items()])


def with_examples(command: click.Command, words: str) -> None:
    """Put what a person would type under its help, and under that of all commands in it; these are listed with their
    whole first sentence."""
    from weft.cli.examples import EXAMPLES

    first = " ".join((command.help or "").partition("\n\n")[0].split())
    command.short_help = command.short_help or first.partition(". ")[0].rstrip(".") + "."

    if lines := EXAMPLES.get(words):
        command.epilog = "\b\n" + "\n".join(["For example:", *(f"  {line}" for line in lines.splitlines())])
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        with_examples(inner, f"{words} {name}")


@click.command(
    cls=Commands,
    epilog=f"\b\n{EXIT_CODES}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="weft %(version)s")
@click.option(
    "--workspace",
    metavar="FOLDER",
    envvar="WEFT_WORKSPACE",
    help="The workspace (default: WEFT_WORKSPACE or ~/.weft).",
)
@trust_option
@click.pass_context
def weft(ctx: click.Context, workspace: str | None) -> None:
    """Agent work you can stop, inspect, resume and trust."""
    ctx.obj = workspace


def complain(error: WeftError) -> None:
    from weft.render.cells import clean

    lines = REDACTOR.text(str(error)).split("\n")
    with suppress(OSError):  # where standard error takes nothing, the exit code says it alone
        print("\n".join(["weft: " + clean(lines[0]), *map(clean, lines[1:])]), file=sys.stderr)


def let_go() -> None:
    """What a terminal that has gone can't take must not become the exit code: Python would end with one of its own."""
    for stream in (sys.stdout, sys.stderr):
        if not _takes(stream):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _takes(stream: TextIO) -> bool:
    """Whether what was written to it has arrived: what has not stays in it, so that it fails again."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return False
    return True


def _unwritten(error: BaseException) -> WeftError | None:
    """What could not be written where the person sent it, if that is what ended a command: a file that is written by
    Weft has a name, standard output and standard error have none."""
    if not isinstance(error, OSError) or error.filename is not None:
        return None
    streams = {"standard output": sys.stdout, "standard error": sys.stderr}
    named = next((name for name, stream in streams.items() if not _takes(stream)), "")
    if not named and error.errno not in _NO_SPACE:
        return None
    return ExternalError(
        f"{named or 'the output'} can't be written: {error.strerror or error}",
        hint="what a session has made is kept in its folder; make room, or send the output elsewhere, and say it again",
    )


def _shortage(error: BaseException) -> WeftError | None:
    """What the machine did not have enough of, if that is what ended a command: no bug, and no traceback."""
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return None
        number = seen.errno if isinstance(seen, OSError) else None
        if number in (errno.EMFILE, errno.ENFILE):
            return ExternalError("too many files are open", hint="allow more (ulimit -n 256), and run it again")
        if isinstance(seen, MemoryError) or number == errno.ENOMEM or _NO_MEMORY.search(str(seen)):
            return ExternalError("there is not enough memory", hint="allow more (ulimit -v), or close other programs")
        if isinstance(seen, FileNotFoundError) and _NO_TEMPORARY in str(seen):
            return ExternalError(
                "no folder for temporary files can be written",
                hint="make room in /tmp, or name another folder in TMPDIR",
            )
        seen = seen.__cause__ or seen.__context__
    return None


def _nowhere(error: BaseException) -> WeftError | None:
    """Where the folder that a person stands in is gone, whatever asked for it."""
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return UserError("the folder you are in was removed", hint="go to one that is there, and say it again")
    return None


def _cut_short(error: BaseException | None) -> WeftError | None:
    """A file in which Python keeps what it has compiled, when the disk was full as it was written: to click it looks
    like the end of what a person types, and it stays as it is however often the command is given."""
    walked = error.__traceback__ if isinstance(error, EOFError) else None
    while walked is not None:
        if walked.tb_frame.f_code.co_name == "_compile_bytecode":
            path = walked.tb_frame.f_locals.get("bytecode_path")
            return ExternalError(f"{path} is cut short", hint="remove it, make room where it lies, and say it again")
        walked = walked.tb_next
    return None


def _only(error: Exception) -> Exception:
    """What ended a group of tasks, where it was one thing."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _unknown(error: click.exceptions.NoSuchCommand) -> UsageError:
    """A word where a group has no such command."""
    from weft.app import suggest

    ctx = error.ctx
    assert ctx is not None
    names = ctx.command.list_commands(ctx) if isinstance(ctx.command, click.Group) else ()
    said = f"there is no command {error.command_name!r} in {ctx.command_path}"
    return UsageError(
        f"{said}; {suggest(error.command_name, names, 'commands')}", hint=f"{ctx.command_path} -h says more"
    )


def _usage(error: click.ClickException, words: Sequence[str]) -> str:
    """How the command is written that was written wrongly."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:  # an option without what it takes: who says so does not know which command it is of
        named = next((word for word in words if word in COMMANDS), "")
        return f"{f'weft {named}' if named else 'weft'} -h says what it takes"
    lines = [ctx.get_usage(), f"  {ctx.command_path} -h says more"]
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "session":
        lines.append("  weft sessions lists the sessions there are")
    return "\n".join(lines)


_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_TEMPORARY: Final = "No usable temporary directory"
_NO_MEMORY = re.compile(r"annot allocate memory|failed to map segment|can't start new thread|bad allocation|bad_alloc")


def run_command_line(words: Sequence[str]) -> int:
    """The whole life of a command: its exit code, with every error said on standard error."""
    try:
        outcome = weft.main(list(words), prog_name="weft", standalone_mode=False)
        sys.stdout.flush()
        return outcome if isinstance(outcome, int) else EXIT_DONE
    except click.exceptions.NoArgsIsHelpError as error:  # a group alone: what is in it, as -h says it
        with_examples(error.ctx.command, error.ctx.command_path.partition(" ")[2])
        print(error.ctx.get_help(), file=sys.stderr)
        return EXIT_USAGE
    except click.exceptions.NoSuchCommand as error:
        complain(_unknown(error))
        return EXIT_USAGE
    except click.ClickException as error:
        complain(UsageError(error.format_message(), hint=_usage(error, words)))
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt) as error:
        if (spoilt := _cut_short(error.__cause__)) is not None:
            complain(spoilt)
            return spoilt.exit_code
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except WeftError as error:
        complain(error)
        return error.exit_code
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has gone (of which click makes an exit, and of nothing else where it does not stand
        # alone); Python would complain again when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except Exception as error:  # noqa: BLE001  the last line of defence: a bug is shown whole, and the log is kept
        only = _only(error)
        said = only if isinstance(only, WeftError) else _shortage(only) or _unwritten(only) or _nowhere(only)
        if said is not None:
            complain(said)
            return said.exit_code
        told = REDACTOR.text(traceback.format_exc())
        print(told, end="", file=sys.stderr)
        print(
            "weft: this is a bug in Weft, not in your files. The log is intact; the same command continues.",
            file=sys.stderr,
        )
        from weft.cli.kept_errors import keep_error

        if (kept := keep_error(f"weft {__version__}: {' '.join(words[:1])}\n{told}")) is not None:
            print(f"  it is kept in {kept}; weft doctor --report --to FILE makes a report of it", file=sys.stderr)
        return EXIT_FAILED
