"""`weft kb`: collections of documents that can be searched, followed by reference, and held against claims."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from weft.app import Collections, IngestReport, OpenCollection
from weft.cli.place import (
    Decorated,
    ensure_workspace,
    for_terminal,
    is_terminal,
    json_option,
    print_list,
    workspace_option,
    workspace_path,
)
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError, UserError, WeftError
from weft.protocol.json_text import json_value
from weft.render.cells import clean_lines, clean_row
from weft.render.units import count

_KINDS: Final = "text, Markdown, HTML, PDF, DOCX, EPUB, captions, code, tables"
_BETWEEN_LINES: Final = 10.0
"""Seconds between two lines that say how far it is, where no bar can be drawn."""


def vectors_option(function: Decorated) -> Decorated:
    words = "Leave the vectors for later; search goes by words until then."
    return click.option("--no-vectors", is_flag=True, help=words)(function)


@contextmanager
def opened(name: str) -> Iterator[OpenCollection]:
    with Collections.of(workspace_path()) as collections, collections.opened(name) as one:
        yield one


@click.group("kb")
def command() -> None:
    """Ask your documents: collections with search, references and verification."""


@command.command("create")
@click.argument("name")
@click.option("--title", default="", help="What the collection is called (default: its name).")
@click.argument("paths", nargs=-1, metavar="[FILE]...")
@vectors_option
@workspace_option
def create(name: str, title: str, paths: tuple[str, ...], no_vectors: bool) -> int:
    """Make a collection, and add files or folders to it."""
    ensure_workspace(workspace_path())
    with Collections.of(workspace_path()) as collections:
        new = name not in collections
        folder = collections.create(name, title, go_on=bool(paths))
        if not paths:
            print(folder)
            return EXIT_DONE
        try:
            with collections.opened(name) as knowledge:
                knowledge.add([Path(path) for path in paths])
                report = _read(knowledge)
                if knowledge.row.counts["documents"]:
                    print(folder)
                    return _finish(knowledge, report, vectors=not no_vectors)
                _tell_problems(report)
            hint = f"give files, or folders with files in them, of a kind that is read ({_KINDS})"
            left = f"no collection {name} was made" if new else f"the collection {name} is empty"
            raise UserError(f"none of it can be taken in, so {left}", hint=hint)
        except WeftError:
            with collections.opened(name) as knowledge:
                empty = not knowledge.row.counts["documents"]
            if new and empty:  # it would only be in the way of the next try
                collections.remove(name)
            raise


@command.command("add")
@click.argument("name")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@vectors_option
@workspace_option
def add(name: str, paths: tuple[str, ...], no_vectors: bool) -> int:
    """Copy files or folders into a collection and bring its index up to date."""
    with opened(name) as knowledge:
        taken = knowledge.add([Path(path) for path in paths])
        code = _finish(knowledge, _read(knowledge), vectors=not no_vectors)
        if not taken:
            raise UserError(
                f"{', '.join(paths)} had nothing to take in",
                hint=f"put files of a kind that is read into it ({_KINDS}), then weft kb update {name}",
            )
        return code


@command.command("update")
@click.argument("name")
@vectors_option
@workspace_option
def update(name: str, no_vectors: bool) -> int:
    """Bring the index up to date: what changed is read again, what is gone is taken out, vectors are made."""
    with opened(name) as knowledge:
        report = _read(knowledge)
        code = _finish(knowledge, report, vectors=not no_vectors)
        if not any(report.counts.values()):
            print(f"weft: {name} is empty: weft kb add {name} FILE... puts documents into it", file=sys.stderr)
        return code


def _read(knowledge: OpenCollection) -> IngestReport:
    with _bar("documents") as tell:
        return knowledge.update(tell)


def _finish(knowledge: OpenCollection, report: IngestReport, *, vectors: bool) -> int:
    told = ", ".join(f"{number} {state}" for state, number in report.counts.items() if number)
    print(f"{told or 'no documents'}; {count(knowledge.row.counts['passages'], 'passage')}")
    _tell_problems(report)
    if vectors:
        with _bar("vectors") as tell:
            knowledge.make_vectors(tell)
    return EXIT_FAILED if report.counts["failed"] else EXIT_DONE


def _tell_problems(report: IngestReport) -> None:
    for problem in (*report.problems, *report.notes, *map(_passed_over, report.skipped.items())):
        print(clean_lines(f"weft: {problem}"), file=sys.stderr)


def _passed_over(told: tuple[str, list[str]]) -> str:
    reason, names = told
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"passed over ({reason}): {', '.join(names[:3])}{more}"


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on the screen; a line now and then where there is none."""
    if not is_terminal(sys.stderr):
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None, name="")
        yield lambda done, total, name: progress.update(task, completed=done, total=total, name=name[-40:])


def _lines(what: str) -> Callable[[int, int, str], None]:
    """For a log or a pipe: nothing of what is quick."""
    told = time.monotonic()

    def tell(done: int, total: int, _name: str) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _BETWEEN_LINES:
            told = now
            print(f"weft: {what}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    return tell


@command.command("list")
@json_option
@workspace_option
def list_collections(as_json: bool) -> int:
    """The collections of the workspace."""
    with Collections.of(workspace_path()) as collections:
        rows = collections.rows()
    found = []
    for row in (row for row in rows if not row.problem):
        has = (count(row.counts["documents"], "document"), count(row.counts["passages"], "passage"))
        found.append(({"name": row.name, "title": row.title, **row.counts}, (row.name, *has, row.title)))
    nothing = "" if rows else "there are no collections yet: weft kb create NAME FILE... makes one"
    print_list(found, nothing, as_json=as_json)
    problems = [row.problem for row in rows if row.problem]
    for problem in problems:
        print(clean_lines(f"weft: {problem}"), file=sys.stderr)
    return EXIT_FAILED if problems else EXIT_DONE


@command.command("show")
@click.argument("name")
@click.argument("reference", required=False)
@json_option
@workspace_option
def show(name: str, reference: str | None, as_json: bool) -> int:
    """A collection's documents; or one passage, by its reference or id, with what it refers to."""
    with opened(name) as knowledge:
        if reference is None:
            for document in knowledge.documents():
                row = {"file": document.file, "key": document.key, "title": document.title, "tier": document.tier}
                full = {**row, "passages": document.passages, "pages": document.pages, "notes": list(document.notes)}
                passages = count(document.passages, "passage")
                text = f"{document.key}\t{document.tier}\t{passages}\t{document.title}\t{document.file}"
                print(json.dumps(full, ensure_ascii=False) if as_json else for_terminal(text))
                for note in () if as_json else document.notes:
                    print(clean_lines(f"  {note}"))
            return EXIT_DONE
        answer = knowledge.ask("kb_get", {"identifier": reference})
    if as_json:
        print(json.dumps(answer, ensure_ascii=False))
    elif answer["found"]:
        _print_passage(answer["paragraph"])
        for row in answer["related"]:
            print(clean_row((f"  {row['relation']}", str(row.get("paragraph_ref") or row.get("title")))))
    else:
        print(f"weft: {answer['error']}\n  {answer['hint']}", file=sys.stderr)
    return EXIT_DONE if answer["found"] else EXIT_FAILED


def _print_passage(row: dict[str, Any], score: str = "") -> None:
    page = f", page {row['page_number']}" if row["page_number"] else ""
    print(clean_lines(f"{row['paragraph_ref']}{score}  ({row['source_doc']}{page})"))
    if row["heading"]:
        print(clean_lines(f"  {row['heading']}"))
    for line in row["content"].splitlines():
        print(clean_lines(f"  {line}"))


@command.command("search")
@click.argument("name")
@click.argument("question", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 200), default=5, show_default=True, help="How many passages at most.")
@click.option("--mode", type=click.Choice(["hybrid", "keyword", "vector"]), default="hybrid", show_default=True,
              help="By words, by meaning, or both.")  # fmt: skip
@click.option("--document", default="", metavar="KEY", help="Only this document: its key, title or file.")
@click.option("--tier", type=click.Choice(["standards", "guides"]), default=None, help="Only this tier.")
@click.option("--rerank", is_flag=True, help="Rank again, with the first finds as a guide.")
@json_option
@workspace_option
def search(
    name: str,
    question: tuple[str, ...],
    limit: int,
    mode: Any,
    document: str,
    tier: str | None,
    rerank: bool,
    as_json: bool,
) -> int:
    """Search a collection. "Words in quotes" occur as they stand, begin* finds what begins so."""
    if not " ".join(question).strip():
        raise UsageError("there is nothing to search for", hint=f'weft kb search {name} "what it should be about"')
    with opened(name) as knowledge:
        found, warnings = knowledge.search(
            " ".join(question), limit=limit, mode=mode, document=document, tier=tier or "", rerank=rerank
        )
        empty = not found and not knowledge.row.counts["passages"]
    for warning in warnings:
        print(clean_lines(f"weft: {warning}"), file=sys.stderr)
    for row in found:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            _print_passage(row, f"  {row['confidence']:.2f}")
    if not found:
        hint = "" if empty else "\n  try other words, or the beginning of one with a star: begin*"
        print(f"weft: nothing was found{hint}", file=sys.stderr)
    return EXIT_DONE if found else EXIT_FAILED


@command.command("hops")
@click.argument("name")
@click.argument("reference")
@click.option("--depth", type=click.IntRange(1, 10), default=3, show_default=True, help="How many references in a row.")
@json_option
@workspace_option
def hops(name: str, reference: str, depth: int, as_json: bool) -> int:
    """What a passage refers to, and what that refers to, the surest first."""
    with opened(name) as knowledge:
        answer = knowledge.ask("kb_hops", {"paragraph_id": reference, "max_hops": depth})
    if "error" in answer:
        hint = f"weft kb show {name} lists the documents, weft kb search {name} WORDS shows passages with their names"
        raise UserError(str(answer["error"]), hint=hint)
    for row in answer["connected"]:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            _print_passage(row, f"  {row['hop_score']:.2f} after {row['hop_depth']}")
    return EXIT_DONE


@command.command("verify")
@click.argument("name")
@click.argument("claim", required=False)
@click.option(
    "--passage",
    default="",
    metavar="REF",
    help="The passage the claim cites: a reference or an id (default: it is looked for).",
)
@click.option("--file", "file", type=click.Path(exists=True, dir_okay=False), default=None,
              help='Many at once: a JSON list of {"paragraph_ref": …, "claim": …}.')  # fmt: skip
@json_option
@workspace_option
def verify(name: str, claim: str | None, passage: str, file: str | None, as_json: bool) -> int:
    """Hold claims against the passages they cite, or the nearest: quoted, contradicted or not checked."""
    if (file is None) == (claim is None):
        raise UsageError("there is nothing to verify", hint="weft kb verify NAME CLAIM, or --file FILE")
    citations = _read_citations(Path(file)) if file else [{"paragraph_ref": passage, "claim": claim}]
    if not citations or any(isinstance(one, dict) and not str(one.get("claim") or "").strip() for one in citations):
        hint = f'weft kb verify {name} "a statement of one sentence"; in a file every entry has its "claim"'
        raise UsageError("there is nothing to verify: a claim is empty", hint=hint)
    with opened(name) as knowledge:
        answer = knowledge.ask("kb_verify_citations", {"citations": citations})
    for row in answer["details"]:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            ref = row.get("paragraph_ref", row["paragraph_id"])
            print(clean_row((row["state"].replace("_", " "), str(ref), row["claim"])))
            print(clean_lines(f"  {row['reason']}"))
            if row.get("sentence"):
                print(clean_lines(f"  “{row['sentence']}”"))
    lost = [row["paragraph_id"] for row in answer["details"] if row["paragraph_id"] and not row["exists"]]
    if lost:
        hint = f"weft kb search {name} WORDS shows passages with their names; without --passage it is looked for"
        raise UserError(f"{name} has no passage {', '.join(map(str, lost))}", hint=hint)
    return EXIT_FAILED if answer["contradicted_count"] else EXIT_DONE


def _read_citations(path: Path) -> Any:
    try:
        return json_value(path.read_text("utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error


@command.command("status")
@click.argument("name")
@workspace_option
def status(name: str) -> None:
    """What the index holds, and which parts work, as JSON."""
    with opened(name) as knowledge:
        print(json.dumps(knowledge.ask("kb_status", {}), ensure_ascii=False))


@command.command("remove")
@click.argument("name")
@click.argument("files", nargs=-1, metavar="[DOCUMENT]...")
@click.option("--yes", is_flag=True, help="Don't ask.")
@workspace_option
def remove(name: str, files: tuple[str, ...], yes: bool) -> None:
    """Remove documents from a collection, by the file `weft kb show` names; or, with none named, all of it."""
    with Collections.of(workspace_path()) as collections:
        if files:
            with collections.opened(name) as knowledge:
                knowledge.remove(files)
            return
        if not yes:
            question = f"Remove the collection {name} with its copies of the documents?"
            try:
                click.confirm(question, abort=True, err=True)
            except click.Abort:
                if is_terminal(sys.stdin):
                    raise
                raise UsageError("nobody said yes, so nothing was removed", hint="--yes says it in advance") from None
        collections.remove(name)
