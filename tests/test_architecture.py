"""The house rules that a machine can keep: direction, cycles, sizes, exports, no toys."""

from __future__ import annotations

import ast
import gc
import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "weft"

LAYERS = [
    {"version", "protocol", "language", "redaction"},
    {"files", "checks", "documents"},
    {"own_file"},
    {"workspace", "session", "render", "access", "consent"},
    {"models", "tools"},
    {"sources", "knowledge"},
    {"conversation"},
    {"orchestrator"},
    {"app"},
    {"web"},
    {"cli"},
    {"weft", "__main__"},
]
"""Imports go to a lower row only: `weft` itself is the front that others import. `packs` and `testing` stand outside:
nothing imports them."""
ONLY_WORDS = {part: {"protocol", "language"} for part in ("files", "checks", "documents", "render")}
"""These import nothing of ours but the words, and how text is read."""
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "manager", "core", "common", "misc", "base"}


@cache
def modules() -> list[tuple[str, Path, ast.Module]]:
    """Read once: parsing takes longer than all questions together, and six times as long while it is collected."""
    found = [(path.relative_to(SOURCE).with_suffix("").parts, path) for path in sorted(SOURCE.rglob("*.py"))]
    gc.disable()
    try:
        return [(".".join(parts), path, ast.parse(path.read_text())) for parts, path in found if parts[0] != "packs"]
    finally:
        gc.freeze()
        gc.enable()


def part_of(module: str) -> str:
    head = module.split(".")[0]
    return "weft" if head == "__init__" else head


def statements(body: Sequence[ast.AST], is_late: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement, and whether it stands inside a function. No expression is looked into."""
    for node in body:
        yield node, is_late
        inside = is_late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            yield from statements(inner if isinstance(inner, list) else (), inside)


@cache
def imported(tree: ast.Module) -> list[tuple[str, ast.stmt, bool]]:
    """Every module of ours that is imported, as a dotted name without `weft.`, and whether inside a function."""
    found: list[tuple[str, ast.stmt, bool]] = []
    for node, is_late in statements(tree.body):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module and node.module.split(".")[0] == "weft":
                inside = node.module.removeprefix("weft").removeprefix(".")
                for name in node.names:
                    whole = f"{inside}.{name.name}" if inside else name.name
                    is_module = (SOURCE / whole.replace(".", "/")).with_suffix(".py").exists()
                    found.append((whole if is_module else inside, node, is_late))
        elif isinstance(node, ast.Import):
            ours = [name.name for name in node.names if name.name.split(".")[0] == "weft"]
            found += [(name.removeprefix("weft").removeprefix("."), node, is_late) for name in ours]
    return found


def level(part: str) -> int:
    return next(index for index, row in enumerate(LAYERS) if part in row)


def test_imports_go_downwards_only() -> None:
    wrong = []
    for module, path, tree in modules():
        part = part_of(module)
        if module == "__init__":
            continue  # the front of the package offers what `app` and the words have
        for target, node, _ in imported(tree):
            other = part_of(target) if target else "weft"
            if other == part:
                continue
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            if other in ("testing", "packs") or (part != "testing" and level(other) >= level(part)):
                wrong.append(f"{where}: {part} may not import {other}")
            if part in ONLY_WORDS and other not in ONLY_WORDS[part]:
                wrong.append(f"{where}: {part} may import only {ONLY_WORDS[part]}")
    assert wrong == []


FACES_IMPORT = {"app", "protocol", "render", "redaction", "version"}
"""The door, the words, how things are drawn, and what keeps secrets out of what is drawn."""
STARTS_WEB = {"cli.serve", "cli.mcp"}


def test_faces_go_through_the_app() -> None:
    past = {
        f"{path.relative_to(ROOT)}:{node.lineno} imports {target}"
        for module, path, tree in modules()
        if part_of(module) in ("cli", "web")
        for target, node, _ in imported(tree)
        if target
        and part_of(target) not in {*FACES_IMPORT, part_of(module), *(["web"] if module in STARTS_WEB else [])}
    }
    assert past == set(), "what a face needs of the rooms below is an operation or a value that `app` offers"


def test_there_is_no_import_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for module, _, tree in modules():
        name = module.removesuffix(".__init__")
        graph[name] = {target for target, _, _ in imported(tree) if target and target != name}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name in done or name not in graph:
            return
        for target in graph[name]:
            visit(target, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


DOORS = (
    "documents.reading",
    "models.embedded_model",
    "workspace.workspace",
    "orchestrator.inputs",
    "orchestrator.runner",
    "orchestrator.execute",
)
"""Doors of rooms with much behind them, of which most commands use little: they load it when it is asked for. A
run loads what its kinds of steps need."""


def test_only_faces_the_composition_root_and_doors_import_late() -> None:
    """A first-party import inside a function is hard to see; only who starts things may spare what is not needed."""
    late = []
    for module, path, tree in modules():
        if part_of(module) in ("cli", "web", "testing", "app") or module in DOORS:
            continue
        late += [f"{path.relative_to(ROOT)}:{node.lineno}" for _, node, is_late in imported(tree) if is_late]
    assert late == []


def test_names_say_what_not_how() -> None:
    bad = [path for _, path, _ in modules() if {*path.relative_to(SOURCE).with_suffix("").parts} & FORBIDDEN_NAMES]
    assert bad == []


def test_every_module_says_what_it_is() -> None:
    assert [str(path) for _, path, tree in modules() if not ast.get_docstring(tree)] == []


def test_a_module_that_is_spoken_of_is_there() -> None:
    there = {path.name for top in ("src", "tests", "benchmarks", "docs") for path in (ROOT / top).rglob("*.py")}
    spoken = [
        (path.relative_to(ROOT), name)
        for path in (*SOURCE.rglob("*.py"), ROOT / "AGENTS.md", ROOT / "GLOSSARY.md")
        for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", path.read_text("utf-8"))
    ]
    assert len(spoken) > 20
    assert [(path, name) for path, name in spoken if name not in there] == []


def test_nothing_is_left_unfinished() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
    assert [str(path) for _, path, _ in modules() if marks.search(path.read_text())] == []


def test_the_words_do_no_input_or_output() -> None:
    """The protocol is values only: nothing there reaches a file, a process, a socket or a clock."""
    forbidden = {"os", "io", "pathlib", "socket", "subprocess", "asyncio", "threading", "time", "random", "datetime"}
    found = []
    for module, path, tree in modules():
        if part_of(module) != "protocol":
            continue
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.name}: {name}" for name in names if name.split(".")[0] in forbidden]
    assert found == []


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("weft.checks", {"CHECKS", "CheckCall", "CheckInput", "parse_check", "run_check"}),
        ("weft.cli", {"main"}),
        ("weft", {"open_workspace", "SessionRequest", "StartRun", "Say", "OpenedSession"}),
    ],
)
def test_exported_names_are_what_we_promise(package: str, names: set[str]) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) >= names
    assert all(hasattr(module, name) for name in module.__all__)


def test_a_front_offers_what_type_checkers_see_of_it() -> None:
    offered: dict[str, set[str]] = {}
    for module, _, tree in modules():
        guards = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        for guard in guards:
            if any("front(__name__)" in ast.unparse(node) for node in guard.orelse):
                seen = [one.names for one in guard.body if isinstance(one, ast.ImportFrom)]
                offered[module.removesuffix(".__init__")] = {name.name for names in seen for name in names}
    assert {"__init__", "app", "checks", "documents"} <= offered.keys()
    for module, names in offered.items():
        found = importlib.import_module("weft" if module == "__init__" else f"weft.{module}")
        assert {name for name in names if not hasattr(found, name)} == set(), module


NAMED_TWICE = {"Passage", "Source", "Stop"}
"""Names that more than one public class has. The list may only become shorter."""


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, set[str]] = {}
    for module, _, tree in modules():
        if part_of(module) in ("testing", "packs"):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(module)
    twice = {name for name, found in homes.items() if len(found) > 1}
    assert twice - NAMED_TWICE == set(), "say what it is: another class has this name already"


def path_parts() -> list[tuple[str, list[str]]]:
    """The files that AGENTS.md has a newcomer read, each with the names in it."""
    numbered = re.findall(r"^\d+\. (.*(?:\n {3,}.*)*)", (ROOT / "AGENTS.md").read_text(), re.MULTILINE)
    parts = [part for one in numbered for part in re.findall(r"`([\w/]+\.py)`:((?:\s*`[\w.]+`,?)+)", one)]
    return [(file, re.findall(r"`([\w.]+)`", names)) for file, names in parts]


def test_the_reading_path_is_as_long_as_it_says() -> None:
    lines = 0
    for file, names in path_parts():
        tree = ast.parse((SOURCE / file).read_text())
        for name in names:
            node: ast.AST = tree
            for word in name.split("."):
                inside = [one for one in ast.iter_child_nodes(node) if getattr(one, "name", "") == word]
                assert inside, f"{file} has no {name}"
                node = inside[0]
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            lines += (node.end_lineno or 0) - min([node.lineno, *(one.lineno for one in node.decorator_list)]) + 1
    said = re.search(r"to the result: about ([\d,]+) lines", (ROOT / "AGENTS.md").read_text())
    assert said is not None
    assert round(lines, -2) == int(said[1].replace(",", "")), f"it is {lines} lines"
    assert lines < 1500, "it is meant to be read before anything else"


def test_the_glossary_has_each_word_once() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)
    assert len(words) > 100
    assert [word for word, times in Counter(words).items() if times > 1] == []
