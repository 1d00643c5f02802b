"""Glob and Grep on real folders, and a pattern that never ends."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from tests.tools.calling import Place
from weft.tools.patterns import PatternError, path_pattern
from weft.tools.tool import Handle, Outcome

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("**/a.py", ["a.py", "x/a.py"], ["ba.py"]),
        ("src/**", ["src/a", "src/x/y"], ["srcs/a"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[ab].txt", ["a.txt", "x/b.txt"], ["c.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt"]),
        ("*.{py,md}", ["a.py", "b.md"], ["c.txt"]),
        ("a.b", ["a.b"], ["axb"]),
        ("**/.git/**", [".git/config", "x/.git/hooks/y"], ["git/config"]),
    ],
)
def test_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    found = path_pattern(pattern)
    assert [path for path in yes if not found.match(path)] == []
    assert [path for path in no if found.match(path)] == []


def test_a_pattern_has_bounds() -> None:
    for pattern in ("x" * 600, "{a,b}" * 10):
        with pytest.raises(PatternError):
            path_pattern(pattern)


def test_names_are_found_and_noise_is_passed_over(place: Place) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "node_modules/x.py", ".git/y.py", "a.md"):
        place.write(name, "")
    assert place.call("Glob", {"pattern": "*.py"}).text.split("\n") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert place.call("Glob", {"pattern": "*.py", "path": "src"}).text.split("\n") == ["src/b.py", "src/deep/c.py"]
    assert place.call("Glob", {"pattern": "*.py", "path": "node_modules"}).text == "node_modules/x.py"
    assert place.call("Glob", {"pattern": "*.rs"}).text == "no file in . is named like *.rs"
    assert place.call("Glob", {"pattern": "deep/*.py", "path": "src"}).text == "src/deep/c.py"


def test_many_names_are_counted(place: Place) -> None:
    for number in range(600):
        place.write(f"{number:03}.txt", "")
    outcome = place.call("Glob", {"pattern": "*.txt"})
    assert outcome.text.endswith("[600 in all; the first 500 are shown: name a folder or a closer pattern]")
    assert outcome.summary == "600 files"


def test_lines_are_found(place: Place) -> None:
    place.write("a.py", "import os\nprint('Hello')\n")
    place.write("b/c.txt", "hello\r\nother\n")
    place.write("d.bin", b"\0hello")
    outcome = place.call("Grep", {"pattern": "hello", "ignore_case": True})
    assert outcome.text == "a.py:2: print('Hello')\nb/c.txt:1: hello"
    assert outcome.summary == "2 matches in 2 files"
    assert place.call("Grep", {"pattern": "hello", "glob": "*.txt"}).text == "b/c.txt:1: hello"
    assert place.call("Grep", {"pattern": "hello", "names_only": True}).text == "b/c.txt"
    assert place.call("Grep", {"pattern": "nowhere"}).text == "no match"
    assert place.call("Grep", {"pattern": "print('", "literal": True}).text == "a.py:2: print('Hello')"
    assert place.call("Grep", {"pattern": "^hello$", "path": "b/c.txt"}).text == "b/c.txt:1: hello"
    assert "can't be read" in place.call("Grep", {"pattern": "("}).text
    assert "is not there" in place.call("Grep", {"pattern": "x", "path": "nowhere"}).text


def test_matches_are_bounded(place: Place) -> None:
    place.write("a.txt", "x\n" * 1000)
    outcome = place.call("Grep", {"pattern": "x", "limit": 10})
    assert outcome.summary == "10 matches in 1 files"
    assert outcome.text.endswith("[there are more: name a folder, a glob or a closer pattern]")


def test_links_lead_nowhere(place: Place) -> None:
    (place.working.parent / "secret.txt").write_text("secret\n")
    (place.working / "link.txt").symlink_to(place.working.parent / "secret.txt")
    (place.working / "up").symlink_to(place.working.parent)
    assert place.call("Grep", {"pattern": "secret"}).text == "no match"
    assert place.call("Glob", {"pattern": "*.txt"}).text == "no file in . is named like *.txt"
    assert place.call("Grep", {"pattern": "secret", "path": "up"}).is_error
    assert place.call("Grep", {"pattern": "secret", "path": "link.txt"}).is_error
    assert place.call("Grep", {"pattern": "secret", "path": ".."}).is_error


def test_matches_in_documents_of_the_session_are_from_outside(place: Place) -> None:
    (place.session / "content.md").write_text("the needle\n")
    outcome = place.call("Grep", {"pattern": "needle", "path": "@session"})
    assert outcome.text == "@session/content.md:1: the needle"
    assert outcome.outside == ("the document @session/content.md",)


def workers() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        try:
            if "search_worker" in " ".join(child.cmdline()):
                found.append(child)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def test_a_pattern_that_never_ends_is_ended(place: Place) -> None:
    place.write("a.txt", "a" * 200 + "b\n")

    async def stopped(handle: Handle) -> tuple[Outcome, list[psutil.Process]]:
        while not workers():
            await asyncio.sleep(0.005)
        handle.interrupt("enough")
        outcome = await handle.result()
        await handle.closed()
        return outcome, workers()

    outcome, left = place.started("Grep", {"pattern": "(a+)+$"}, stopped)
    assert outcome.interrupted
    assert left == []
