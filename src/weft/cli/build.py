"""`weft build`: a pipeline, an agent, a skill or a source from a sentence."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from weft.app import LibraryDraft, build_here, lay_draft
from weft.cli.place import ensure_workspace, is_attended, open_app, trust_option, workspace_option, workspace_path
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UserError
from weft.render.cells import clean


@click.command("build")
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--model", metavar="NAME", help="The model that drafts it; else the workspace's.")
@click.option("--yes", is_flag=True, help="Lay it into the workspace without asking.")
@click.option("--sample", type=click.Path(exists=True, dir_okay=False), help="A file to run the new pipeline on.")
@trust_option
@workspace_option
def command(words: tuple[str, ...], model: str | None, yes: bool, sample: str | None) -> int:
    """A pipeline, an agent, a skill or a source from a sentence: drafted by a model, checked until nothing is wrong
    with it, shown as a diff, and laid into the workspace when you say yes."""
    ensure_workspace(workspace_path())
    with open_app() as app:
        draft = asyncio.run(build_here(app, model, " ".join(words), tell=_tell))
        print(clean_diff(draft), end="")
        if not _accepted(draft, yes=yes):
            print("nothing was changed", file=sys.stderr)
            return EXIT_FAILED
        lay_draft(app, draft)
    print(f"laid {', '.join(draft.files)}", file=sys.stderr)
    if draft.kind == "source":
        print(f"try it: weft sources test {draft.name}; you are asked before it is reached", file=sys.stderr)
    if draft.kind != "pipeline":
        return EXIT_DONE
    if sample is None:
        print(f"try it: weft run {draft.name} FILE", file=sys.stderr)
        return EXIT_DONE
    from weft.cli.run import command as run

    arguments = [draft.name, str(Path(sample)), "--workspace", str(workspace_path())]
    return int(run.main(arguments, standalone_mode=False) or EXIT_DONE)


def _tell(text: str) -> None:
    """A model takes its time; whoever waits sees what for. Standard output has the diff alone."""
    print(clean(text), file=sys.stderr, flush=True)


def _accepted(draft: LibraryDraft, *, yes: bool) -> bool:
    if yes:
        return True
    if not is_attended():
        raise UserError("nobody is there to accept it", hint="--yes lays it without asking")
    return click.confirm(f"lay the {draft.kind} {draft.name} into the workspace?", err=True)


def clean_diff(draft: LibraryDraft) -> str:
    return "".join(f"{clean(line)}\n" for line in draft.diff.rstrip("\n").split("\n"))
