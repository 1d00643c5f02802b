"""The documentation is true: generated parts are fresh, nothing is left out, links lead somewhere, examples run.

An example is a fenced block. One with `title="path"` in its info string is written as that file, into a fresh folder
for each page. A `console` block is run line by line: `$ ` begins a command, and the lines below it are its output,
standard error included. There `…` stands for anything within a line, and a line of only `…` for any number of lines;
a command with nothing below it may print anything. A command ends with 0 unless it ends in `# exit N`. A block that
says `console norun` is left alone, and so are `make` and `git`. What a page exports, and where it goes with `cd`, holds
for the rest of the page.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import shlex
import subprocess
import sys
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import click
import pytest
from docs import generate
from pydantic import BaseModel
from ruamel.yaml import YAML

from tests.made import Weft
from weft.checks import CHECKS, CheckInput, parse_check, run_check
from weft.cli.commands import weft as weft_group
from weft.cli.run import OUTCOMES
from weft.consent import Consents
from weft.knowledge.embedding import SHA256
from weft.orchestrator.tool_step import MOST_CALLS
from weft.protocol import errors, events
from weft.tools.permission_file import PermissionFile
from weft.workspace.config_file import ConfigFile, ModelEntry, PriceEntry
from weft.workspace.flow_file import (
    BudgetEntry,
    ChoiceEntry,
    GateEntry,
    LoopEntry,
    RepairEntry,
    RetryEntry,
    ShownEntry,
    VerdictsEntry,
)
from weft.workspace.pack_file import PackFile
from weft.workspace.pipeline_file import EachEntry, InputEntry, MapEntry, ParameterEntry, PipelineFile, StepEntry
from weft.workspace.rule_entry import RuleEntry, StepRuleEntry

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = (
    "README",
    "api",
    "checks",
    "command-line",
    "config",
    "documents",
    "flow",
    "knowledge",
    "licences",
    "log",
    "maps",
    "nesting",
    "packs",
    "pipelines",
    "session-folder",
    "tools",
)
BEING_WRITTEN = (
    "README.md",
    "docs/python.md",
    "docs/research.md",
    "docs/runs.md",
    "docs/sources.md",
    "docs/tutorial.md",
    "docs/writing.md",
)
"""Their examples run too; they may be missing."""


# -- pages and what is in them


@dataclass(frozen=True)
class Block:
    info: str
    lines: tuple[str, ...]
    line: int

    @property
    def title(self) -> str | None:
        found = re.search(r'title="([^"]+)"', self.info)
        return found[1] if found else None

    @property
    def kind(self) -> str:
        return " ".join(self.info.split()[:2])


FENCE = re.compile(r"(?P<indent>\s*)(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)\Z")


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    mark, indent, info, start = "", "", "", 0
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if mark and fence and fence["mark"].startswith(mark) and not fence["info"].strip():
            yield Block(info, tuple(inside), start)
            mark, inside = "", []
        elif mark:
            inside.append(line.removeprefix(indent))
        elif fence:
            mark, indent, info, start = fence["mark"], fence["indent"], fence["info"].strip(), number
    assert not mark, f"the block that begins on line {start} is never closed"


def without_blocks(text: str) -> str:
    lines, mark = [], ""
    for line in text.splitlines():
        fence = FENCE.match(line)
        if fence and (not mark or (fence["mark"].startswith(mark) and not fence["info"].strip())):
            mark = "" if mark else fence["mark"]
        elif not mark:
            lines.append(line)
    return "\n".join(lines)


@cache
def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def part(name: str, heading: str) -> str:
    """What stands under a heading of a reference page, down to the next one of its rank or a higher one."""
    lines = page(name).splitlines()
    start = lines.index(heading)
    rank = len(heading.split()[0])
    end = next((i for i, line in enumerate(lines[start + 1 :], start + 1) if _is_heading(line, rank)), len(lines))
    return "\n".join(lines[start:end])


def _is_heading(line: str, rank: int) -> bool:
    found = re.match(r"(#+) ", line)
    return found is not None and len(found[1]) <= rank


def test_there_are_the_pages_we_promise() -> None:
    assert sorted(path.stem for path in REFERENCE.glob("*.md")) == sorted(PAGES)
    index = page("README")
    assert [name for name in PAGES if name != "README" and f"({name}.md)" not in index] == []


# -- generated sections


def test_generated_sections_are_fresh() -> None:
    assert generate.main(["--check"]) == 0, "run: python docs/generate.py"


def test_a_stale_section_is_found_and_put_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in PAGES:
        (tmp_path / f"{name}.md").write_text(page(name), encoding="utf-8")
    monkeypatch.setattr(generate, "REFERENCE", tmp_path)
    stale = tmp_path / "config.md"
    stale.write_text(page("config").replace("| `concurrency` |", "| `concurency` |"), encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "-| `concurency` |" in capsys.readouterr().out
    assert generate.main([]) == 0
    assert stale.read_text(encoding="utf-8") == page("config")
    stale.unlink()
    assert generate.main(["--check"]) == 1
    assert "no page has the section 'config-keys'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["<!-- generated: nothing -->\n<!-- end: nothing -->", "<!-- generated: commands -->\n"]
)
def test_a_section_that_can_not_be_filled_is_an_error(text: str) -> None:
    with pytest.raises(generate.IncompleteError):
        generate.fill(text)


# -- nothing is left out


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, f"{path} {name}")


def test_every_command_and_option_is_documented() -> None:
    missing = []
    for path, command in commands(weft_group, "weft"):
        told = part("command-line", f"### {path}")
        for param in command.params:
            words = param.opts if isinstance(param, click.Option) else [param.make_metavar(click.Context(command))]
            missing += [f"{path} {word}" for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?!-)", told)]
    assert missing == []


@pytest.mark.parametrize("kind", typing.get_args(events.Event), ids=lambda kind: str(kind.__name__))
def test_every_event_and_field_is_documented(kind: Any) -> None:
    durable = kind in typing.get_args(events.DurableEvent)
    tag = generate.tag_of(kind)
    told = part("log", f"### {tag}")
    where = part("log", "## Durable events" if durable else "## Live events")
    assert told in where
    assert [f.name for f in fields(kind) if f.name != "type" and f"| `{f.name}` |" not in told] == []


def test_every_line_key_and_finding_key_of_the_log_is_documented() -> None:
    told = part("log", "## A line")
    assert [key for key in ("seq", "at", "part", "type", "crc") if f"| `{key}` |" not in told] == []
    told = part("log", "## Words in the fields")
    kept = [f.name for f in fields(errors.Finding) if f.name != "artifact"]
    kinds = typing.get_args(events.FailureKind) + typing.get_args(events.Cause)
    assert [word for word in (*kept, *kinds) if f"`{word}`" not in told] == []


@pytest.mark.parametrize(
    ("name", "heading", "model"),
    [
        ("pipelines", "### The pipeline", PipelineFile),
        ("pipelines", "### An input", InputEntry),
        ("pipelines", "### A parameter", ParameterEntry),
        ("pipelines", "### A step", StepEntry),
        ("pipelines", "### Each call", EachEntry),
        ("maps", "## Keys", MapEntry),
        ("pipelines", "### What a step allows", StepRuleEntry),
        ("config", "## config.toml", ConfigFile),
        ("config", "### A connection", ModelEntry),
        ("config", "### A connection", PriceEntry),
        ("packs", "## pack.yaml", PackFile),
        ("tools", "### The file", PermissionFile),
        ("tools", "### A rule", RuleEntry),
        *[("checks", f"## {check.name}", check.options) for check in CHECKS.values()],
    ],
)
def test_every_key_is_documented(name: str, heading: str, model: type[BaseModel]) -> None:
    told = part(name, heading)
    keys = [info.alias or key for key, info in model.model_fields.items()]
    assert keys
    assert [key for key in keys if f"| `{key}` |" not in told] == []


def test_the_notice_names_what_is_shipped_by_its_hash() -> None:
    told = (ROOT / "NOTICE").read_text()
    vocabulary = (ROOT / "src/weft/knowledge/data/vocabulary.txt").read_bytes()
    assert SHA256 in told
    assert hashlib.sha256(vocabulary).hexdigest() in told


def test_every_exit_code_is_documented() -> None:
    told = part("command-line", "## Exit codes")
    codes = {name: value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert len(codes) == 7
    assert [name for name, value in codes.items() if f"| `{value}` |" not in told] == []
    rows = {line.split("|")[1].strip(" `"): line for line in told.splitlines() if line.startswith("| `")}
    unused = [code for code in {*OUTCOMES.values()} if re.search(r"reserved|not used|no command", rows[str(code)])]
    assert unused == [], "what a run ends with is not told as something that never happens"


def test_every_outcome_of_a_run_is_told_with_its_exit_code() -> None:
    told = part("flow", "## Where a run comes to rest")
    rows = [line.split("|")[1:4] for line in told.splitlines() if line.startswith("| `")]
    assert {row[0].strip(" `"): int(row[2]) for row in rows} == OUTCOMES
    assert set(OUTCOMES) == set(get_args(events.Outcome))


def test_the_limit_of_calls_is_told_as_the_program_has_it() -> None:
    assert f"at most {MOST_CALLS}" in page("pipelines")


def test_every_environment_variable_that_is_read_is_documented() -> None:
    told = part("command-line", "## Environment")
    found = {"NO_COLOR"}  # read by the library that draws
    for path in sorted((ROOT / "src").rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"""environ(?:\.setdefault\(|\[["']\w+["']\] = )""", line):
                continue  # set for a library, and read by it alone
            names = re.findall(r"""(?:environ(?:\.get\(|\[)|getenv\(|envvar=)\s*["'](\w+)["']""", line)
            found.update(names, re.findall(r"""["'](_[A-Z_]+_COMPLETE)["']""", line))
            reads = re.search(r"\b(environ|getenv)\b", line) and not re.search(r"\*\*os\.environ|/environ\b", line)
            assert names or not reads, f"{path.name}: which variable does this read? {line.strip()}"
    assert {"WEFT_WORKSPACE", "TERM", "COLUMNS", "_WEFT_COMPLETE"} <= found
    assert [name for name in sorted(found) if f"| `{name}` |" not in told] == []


NAMES = {
    "weft.protocol.ids": ["CONTENT", "MACHINE_FILES"],
    "weft.session.log": ["LOG"],
    "weft.session.manifest": ["MANIFEST"],
    "weft.session.lock": ["LOCK"],
    "weft.session.snapshot": ["SNAPSHOT"],
    "weft.session.sessions": ["HOMES", "TRASH"],
    "weft.session.legacy": ["PHASES"],
    "weft.workspace.config": ["FILE"],
    "weft.workspace.profile": ["FILE"],
    "weft.workspace.pipeline_reader": ["FOLDER"],
    "weft.workspace.schema_file": ["FOLDER"],
    "weft.workspace.code_file": ["FOLDER"],
    "weft.workspace.agent": ["FOLDER"],
    "weft.workspace.skill": ["FOLDER", "FILE"],
    "weft.workspace.pack": ["RECORD"],
}
"""The constants that name a file or folder, by module."""


@pytest.mark.parametrize(("module", "names"), NAMES.items())
def test_every_name_of_a_file_or_folder_is_documented(module: str, names: list[str]) -> None:
    for name in names:
        value = getattr(importlib.import_module(module), name)
        words = [value] if isinstance(value, str) else [*value, *(value.values() if isinstance(value, Mapping) else ())]
        missing = [word for word in words if not re.search(rf"`{re.escape(word)}[/`]", page("session-folder"))]
        assert missing == [], f"{module}.{name}"


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_everything_a_workspace_gets_is_documented(tmp_path: Path) -> None:
    """A session with all that a session can have: nothing lies there that the reference does not tell of."""
    workspace = tmp_path / "ws"
    weft = Weft(workspace)
    for name, text in {
        "pipelines/big.yaml": "name: big\ndescription: x\ninputs: {source: {}, more: {}}\n"
        "steps:\n  big: {artifact: big.md, code: 'big.py:big'}\n",
        "code/big.py": "def big(step):\n    return 'x' * 300000\n",
        "config.toml": "",
        "profile.json": "{}",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    source = tmp_path / "text.txt"
    source.write_text("text")
    assert weft("init").code == 0
    assert weft("run", "big", source, "--input", f"more={source}", "--session-id", "one").code == 0
    (weft.session("one") / "big.md").write_text("mine")
    assert weft("run", "--session-id", "one").code == 0
    assert weft("run", "summarize", source, "--session-id", "two").code == 0
    assert weft("sessions", "rm", "two").code == 0
    session = {path.name for path in weft.session("one").iterdir()} - {"big.md"}
    assert {"blobs", "aside", "attachments", "content.md", "original.txt", ".lock"} <= session
    session -= {"original.txt"}
    told, places = page("session-folder").partition("## The workspace")[::2]
    assert [name for name in sorted(session) if not re.search(rf"\| `{re.escape(name)}/?` \|", told)] == []
    there = {path.name for path in workspace.iterdir()}
    assert {"trash", ".weft", ".claude"} <= there
    assert [name for name in sorted(there) if not re.search(rf"`{re.escape(name)}[/`]", places)] == []


# -- links


LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def documents() -> list[Path]:
    top = [ROOT / name for name in ("README.md", "AGENTS.md") if (ROOT / name).exists()]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(path: Path) -> set[str]:
    found = set()
    for line in without_blocks(path.read_text(encoding="utf-8")).splitlines():
        if heading := re.match(r"#+ (.+)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1].strip())
            found.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text.lower())))
    return found


def broken_links(path: Path) -> list[str]:
    broken = []
    text = re.sub(r"`[^`\n]*`", lambda code: code[0] if "](" not in code[0] else "", without_blocks(path.read_text()))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = path if not name else (path.parent / name)
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_every_row_beside_others_names_a_test_and_every_claim_about_others_its_source() -> None:
    text = (ROOT / "docs/compared.md").read_text()
    sources = set(re.findall(r"^\[(\w+)\]: \[", text, re.MULTILINE))
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`(tests/[\w/.]+)`", row)
        assert named, row
        assert [name for name in named if not (ROOT / name).is_file()] == []
        for claim in [cell.strip() for cell in row.split("|")[4:8]]:
            given = set(re.findall(r"\w+", claim.rpartition("[")[2])) if "[" in claim else set()
            assert claim == "–" or (given and given <= sources), f"{claim} in {row}"


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One `two`, three\n[a](b.md) [b](#one-two-three) [c](a.md#one) [d](https://x.y)\n")
    assert broken_links(tmp_path / "a.md") == ["b.md", "a.md#one"]


# -- examples


@dataclass(frozen=True)
class Typed:
    """A command of a console block with the output it should have."""

    command: str
    expected: tuple[str, ...]
    code: int
    line: int


def typed(block: Block) -> Iterator[Typed]:
    at: list[int] = [index for index, line in enumerate(block.lines) if line.startswith("$ ")]
    assert at[:1] == [0], f"line {block.line}: a console block begins with a command"
    for begin, end in zip(at, [*at[1:], len(block.lines)], strict=True):
        command = block.lines[begin].removeprefix("$ ")
        code = re.search(r"\s#\s*exit (\d+)\s*\Z", command)
        expected = "\n".join(block.lines[begin + 1 : end]).rstrip().splitlines()
        yield Typed(command, tuple(expected), int(code[1]) if code else 0, block.line + 1 + begin)


PLAIN: Final = re.compile(r"""weft(?: +(?:[\w./=@:,+%-]+|'[^']*'|"[^"$`\\!]*"))*(?: +#.*)?""")
"""A command that a shell would only cut into words."""


class Shell:
    """Runs commands one by one; what one exports, and where it goes, holds for the next."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._left = home / ".environment"
        self._folder = str(folder)
        path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        self._env = {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8"}
        # whoever types what a page shows writes its files themselves, and says so when they are asked
        Consents(home / ".config" / "weft").own_work(folder.parent, below=True)

    def run(self, command: str) -> tuple[int, str]:
        if PLAIN.fullmatch(command):  # most are: without a shell they are copied, not loaded
            return self._run([sys.executable, "-m", "weft", *shlex.split(command, comments=True)[1:]])
        self._left.unlink(missing_ok=True)
        script = f'{command}\nstatus=$?\nenv -0 > "{self._left}"; exit $status\n'
        ran = self._run(["bash", "-c", script])
        if self._left.exists():  # else the command has ended the shell
            left = self._left.read_bytes().decode().rstrip("\0").split("\0")
            self._env = dict(one.split("=", 1) for one in left)
            self._folder = self._env["PWD"]
        return ran

    def _run(self, command: list[str]) -> tuple[int, str]:
        ran = subprocess.run(
            command,
            env=self._env,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return ran.returncode, ran.stdout.decode()


def line_pattern(line: str) -> re.Pattern[str]:
    """`…` is anything; white space is white space, however much."""
    pieces = re.split(r"(…|\s+)", line.rstrip())
    return re.compile("".join(".*" if p == "…" else r"\s+" if p.isspace() else re.escape(p) for p in pieces))


def fits(expected: tuple[str, ...], output: list[str]) -> bool:
    """Whether the output is what the page shows."""
    if not expected:
        return not output
    if expected[0].strip() == "…":
        return any(fits(expected[1:], output[skipped:]) for skipped in range(len(output) + 1))
    return bool(output) and bool(line_pattern(expected[0]).fullmatch(output[0])) and fits(expected[1:], output[1:])


def fault_of(shell: Shell, one: Typed) -> str:
    """What differs from the page, or ""."""
    code, output = shell.run(one.command)
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    if code != one.code:
        return f"line {one.line}: `{one.command}` ended with {code}, not {one.code}:\n{output}"
    if one.expected and not fits(one.expected, lines):
        shown = "\n".join(one.expected)
        said = f"line {one.line}: `{one.command}` does not print what the page says."
        return f"{said}\n--- page\n{shown}\n--- real\n{output}"
    return ""


def run_page(text: str, folder: Path, home: Path) -> int:
    """Lay out the files of a page and run its commands in order; how many were run."""
    shell, ran = Shell(folder, home), 0
    for block in blocks(text):
        if block.title:
            path = (folder / block.title).resolve()
            assert path.is_relative_to(folder.resolve()), f"line {block.line}: {block.title} is outside the folder"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        elif block.info.split()[:1] == ["console"] and "norun" not in block.info.split():
            for one in typed(block):
                if one.command.split()[0] in ("make", "git"):
                    continue
                assert (fault := fault_of(shell, one)) == "", fault
                ran += 1
    return ran


WITH_EXAMPLES = [*BEING_WRITTEN, *(f"docs/reference/{name}.md" for name in PAGES)]


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_page_run_as_shown(name: str, tmp_path: Path) -> None:
    path = ROOT / name
    if name in BEING_WRITTEN and not path.exists():
        pytest.skip(f"{name} is not written yet")
    folder, home = tmp_path / "page", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    ran = run_page(path.read_text(encoding="utf-8"), folder, home)
    lists = ("docs/reference/README.md", "docs/reference/licences.md")
    assert ran or name in lists or name in BEING_WRITTEN, "the page has no example"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("$ echo one\none\n", ""),
        ("$ echo one two\none …o\n", ""),
        ("$ printf 'one\\ntwo\\nthree\\n'\none\n…\n", ""),
        ("$ printf 'a\\tb\\n'\na  b\n", ""),
        ("$ export WHO=me\n$ cd /\n$ echo $WHO in $PWD\nme in /\n", ""),
        ("$ false  # exit 1\n$ cat nothing  # exit 1\n…No such file…\n", ""),
        ("$ make nothing-of-the-kind\n$ git nothing-of-the-kind\n", ""),
        ("$ echo one\ntwo\n", "does not print"),
        ("$ printf 'one\\ntwo\\n'\none\n", "does not print"),
        ("$ printf 'one\\ntwo\\n'\ntwo\none\n", "does not print"),
        ("$ echo one\none\n…\ntwo\n", "does not print"),
        ("$ false\n", "ended with 1, not 0"),
        ("$ true  # exit 1\n", "ended with 0, not 1"),
        ("one\n", "begins with a command"),
    ],
)
def test_an_example_that_is_not_true_is_found(text: str, fault: str, tmp_path: Path) -> None:
    page_text = f"```console\n{text}```\n"
    if not fault:
        assert run_page(page_text, tmp_path, tmp_path) == len(re.findall(r"^\$ (?!make|git)", text, re.MULTILINE))
    else:
        with pytest.raises(AssertionError, match=fault):
            run_page(page_text, tmp_path, tmp_path)
    assert run_page(page_text.replace("console", "console norun"), tmp_path, tmp_path) == 0


def test_a_titled_block_is_a_file(tmp_path: Path) -> None:
    text = '```text title="a/b.txt"\none\n\ntwo\n```\n'
    assert run_page(f"{text}```console\n$ cat a/b.txt\none\n\ntwo\n```\n", tmp_path, tmp_path) == 1
    with pytest.raises(AssertionError, match="outside the folder"):
        run_page(text.replace("a/b", "../b"), tmp_path, tmp_path)


# -- the examples of pipelines and checks


def yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


COMPLETE = (
    ("pipelines", "desk/pipelines/brief.yaml"),
    ("pipelines", "desk/pipelines/survey.yaml"),
    ("pipelines", "desk/pipelines/release.yaml"),
    ("flow", "desk/pipelines/essay.yaml"),
    ("flow", "desk/pipelines/letter.yaml"),
    ("flow", "desk/pipelines/patient.yaml"),
    ("flow", "desk/pipelines/notice.yaml"),
    ("maps", "desk/pipelines/sources.yaml"),
    ("nesting", "desk/pipelines/pair.yaml"),
)
"""The complete examples, by page: together they use every key. A page that brings new keys adds its own here."""


def test_the_complete_pipelines_use_every_key() -> None:
    """That they are valid is shown on their pages, by `weft pipelines validate`."""
    used: dict[type[BaseModel], set[str]] = {}

    def use(model: type[BaseModel], *entries: Any) -> None:
        used.setdefault(model, set()).update(key for entry in entries if isinstance(entry, dict) for key in entry)

    for name, title in COMPLETE:
        (text,) = ("\n".join(block.lines) for block in blocks(page(name)) if block.title == title)
        whole = yaml(text)
        steps = [*whole["steps"].values()]
        gates = [step["gate"] for step in steps if "gate" in step]
        use(PipelineFile, whole)
        use(InputEntry, *whole.get("inputs", {}).values())
        use(ParameterEntry, *whole.get("parameters", {}).values())
        use(StepEntry, *steps)
        use(MapEntry, *(step["map"] for step in steps if "map" in step))
        use(GateEntry, *gates)
        use(ShownEntry, *(one for gate in gates for one in gate.get("show", ())))
        use(ChoiceEntry, *(one for gate in gates for one in gate.get("choices", {}).values()))
        use(RepairEntry, *whole.get("repair", ()))
        use(RetryEntry, *(step["retry"] for step in steps if "retry" in step))
        use(LoopEntry, *(step["loop"] for step in steps if "loop" in step))
        use(VerdictsEntry, *(step["verdicts"] for step in steps if "verdicts" in step))
        use(BudgetEntry, whole.get("budget"), *(step.get("budget") for step in steps))
    for model, keys in used.items():
        assert {info.alias or name for name, info in model.model_fields.items()} == keys


CHECK_EXAMPLES = [block for block in blocks(page("checks")) if block.kind == "yaml check"]


def test_every_check_has_an_example() -> None:
    shown = {name for block in CHECK_EXAMPLES for name in yaml("\n".join(block.lines))["check"]}
    assert shown == set(CHECKS)


@pytest.mark.parametrize("block", CHECK_EXAMPLES, ids=lambda block: f"line {block.line}")
def test_a_check_passes_and_rejects_as_shown(block: Block) -> None:
    example = yaml("\n".join(block.lines))
    ((name, options),) = example["check"].items()

    def findings(value: Any) -> tuple[errors.Finding, ...]:
        artifact = "artifact.md" if isinstance(value, str) else "artifact.json"
        call = parse_check(name, options, artifact=artifact)
        documents, parameters = example.get("documents", {}), example.get("parameters", {})
        return run_check(call, CheckInput(artifact=artifact, value=value, documents=documents, parameters=parameters))

    assert findings(example["passes"]) == ()
    (finding,) = findings(example["rejected"])
    assert example["says"] in finding.message
    assert example["hint"] in finding.hint
    assert set(example) <= {"check", "documents", "parameters", "passes", "rejected", "says", "hint"}
