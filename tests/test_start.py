"""What a command loads: a start is paid for by everybody, so nobody loads what they do not use. Counted, not timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
{program}
values = {{kind for module in [*sys.modules.values()] for kind in vars(module).values() if isinstance(kind, type)}}
values = [kind for kind in values if "__twin__" in vars(kind)]
print("values", len(values), "made", sum(not hasattr(kind.__init__, "stands_in") for kind in values))
print(*sorted(sys.modules))
"""


def told(program: str) -> list[list[str]]:
    """The words of what is printed at the end: how many values there are and how many are made, and the modules."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(program=program)], capture_output=True, text=True, check=True, timeout=60
    )
    return [line.split() for line in done.stdout.split("\n")[-3:-1]]


def loaded(program: str) -> set[str]:
    return set(told(program)[1])


def rooms(modules: set[str]) -> set[str]:
    """`version` is below them all."""
    return {name.split(".")[1] for name in modules if name.startswith("weft.")} - {"version"}


CASES = {
    "the version": (
        "import weft.cli\nsys.argv = ['weft', '--version']\ntry:\n    weft.cli.main()\nexcept SystemExit:\n    pass",
        {"cli", "protocol"},
        {"click", "pydantic", "asyncio", "weft.protocol.events"},
    ),
    "the words": ("import weft.protocol.events", {"protocol"}, {"pydantic", "asyncio", "click"}),
    "a session's log": ("import weft.session.log", {"protocol", "session", "files"}, {"pydantic", "asyncio"}),
    "a workspace's door": ("import weft.workspace.workspace", {"protocol", "workspace", "files"}, {"pydantic"}),
    "a listing of sessions": (
        "import tempfile, weft.cli\nsys.argv = ['weft', '--workspace', tempfile.mkdtemp(), 'sessions', 'list']\n"
        "try:\n    weft.cli.main()\nexcept SystemExit:\n    pass",
        {"app", "cli", "files", "protocol", "redaction", "render", "session", "workspace"},
        {"asyncio", "pydantic", "rich.console", "weft.app.root", "weft.workspace.pipeline"},
    ),
    "the readers of documents": ("import weft.documents", {"protocol", "documents"}, {"pypdf", "zipfile", "pydantic"}),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_loaded_that_is_not_used(case: str) -> None:
    program, own, never = CASES[case]
    found = loaded(program)
    assert rooms(found) <= own
    assert not found & never


def test_a_run_with_nothing_to_do_loads_neither_models_nor_tools_nor_what_reads_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe sea rises twice a day, about 50 minutes later each day.\n")
    begin = f"sys.argv = ['weft', '--workspace', {str(tmp_path / 'w')!r}"
    run = f"import weft.cli\n{begin}, 'run', 'digest', {str(tmp_path / 'tides.md')!r}]\nweft.cli.main()"
    loaded(f"import weft.cli\n{begin}, 'init', '--pack', 'digest']\nweft.cli.main()")
    loaded(run)
    (_, values, _, made), again = told(run)
    assert int(values) > 100
    assert int(made) < 12, "a class of few instances has a compiled __init__: that takes longer than all of them"
    assert len(again) < 376
    kept_out = (
        "weft.tools.",
        "weft.conversation.",
        "weft.models.",
        "weft.checks.supported",
        "pydantic",
        "ruamel",
        "rich.text",
        "markdown_it",
        "html.parser",
        "csv",
    )
    words = ("model", "wrapping", "budget", "embedded_version", "spending", "prices")
    allowed = {"weft.conversation.event_feed", *(f"weft.models.{name}" for name in words)}
    assert {name for name in again if name.startswith(kept_out)} - allowed == set()


def test_a_reader_is_loaded_with_the_first_document_of_its_kind() -> None:
    text = loaded("from weft.documents import read_document\nread_document(b'# A title\\n\\nSome words.', 'a.md')")
    assert "weft.documents.reading" in text
    assert not text & {"weft.documents.pdf", "weft.documents.docx", "weft.documents.epub", "weft.documents.whisper"}


def test_a_system_that_it_does_not_run_on_is_said() -> None:
    from weft.cli import unsupported

    assert unsupported("posix") == ""
    assert "Subsystem for Linux" in unsupported("nt")
