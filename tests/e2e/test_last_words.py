"""What a person sees when something is wrong with the machine or a file: words, no traceback and no terminal codes."""

from __future__ import annotations

import json
import resource
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.made import PIPELINE, Weft, lay_out
from weft.render.answer import wording


@pytest.fixture
def weft(workspace: Path) -> Weft:
    lay_out(workspace)
    return Weft(workspace)


def limited(weft: Weft, limit: Callable[[], None], *words: str) -> tuple[int, str]:
    done = subprocess.run(
        weft.command(*words), env=weft.env, capture_output=True, timeout=100, check=False, preexec_fn=limit
    )
    return done.returncode, done.stderr.decode()


def test_too_few_open_files_are_told_in_words(weft: Weft, tmp_path: Path) -> None:
    source = tmp_path / "poem.txt"
    source.write_text("so much depends")
    code, err = limited(weft, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)), "run", str(source))
    assert code != 0
    assert "Traceback" not in err
    assert "open" in err


def test_too_little_memory_is_told_in_words(weft: Weft, tmp_path: Path) -> None:
    source = tmp_path / "poem.txt"
    source.write_text("so much depends")
    most = 150_000 * 1024
    code, err = limited(weft, lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)), "run", str(source))
    assert code != 0
    assert "Traceback" not in err, err
    assert "memory" in err


def test_no_room_for_temporary_files_is_told_in_words(weft: Weft) -> None:
    """A full /tmp: the boundary is tried in a folder there."""
    code, err = limited(weft, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)), "doctor")
    assert code == 1
    assert "Traceback" not in err
    assert "TMPDIR" in err


def test_a_busy_port_is_told_in_words(weft: Weft) -> None:
    assert weft("kb", "create", "notes").code == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = weft("mcp", "serve", "--kb", "notes", "--http", "--port", taken.getsockname()[1])
    assert ran.code != 0
    assert "Traceback" not in ran.err
    assert "choose another --port" in ran.err


@pytest.mark.parametrize("words", [["list"], ["show", "letters"], ["validate"], ["show", "letters", "--graph"]])
def test_a_pipelines_file_can_not_speak_to_the_terminal(weft: Weft, words: list[str]) -> None:
    told = json.dumps("\x1b[31mred\x1b]0;title\x07\x1b[2J")
    path = weft.workspace / "pipelines" / "letters.yaml"
    path.write_text(PIPELINE.replace("Counts the words of a text, lists them, and reports.", told))
    (path.parent / "broken.yaml").write_text(f"name: broken\ndescription: {told}\nsteps: {{{told}: 1}}\n")
    ran = weft("pipelines", *words)
    assert "\x1b" not in ran.out + ran.err
    assert "\x07" not in ran.out + ran.err


@pytest.mark.parametrize("given", ["token=abc", "api_key=abc", "name=sk-ant-abc", "db-password=x"])
def test_a_secret_is_not_taken_as_a_parameter(weft: Weft, given: str, tmp_path: Path) -> None:
    source = tmp_path / "poem.txt"
    source.write_text("so much depends")
    ran = weft("run", source, "--session-id", "poem", "--set", given)
    assert ran.code == 2
    assert "looks like a secret" in ran.err
    assert not weft.session("poem").exists()


def test_a_collection_whose_making_was_ended_is_gone_on_with_by_the_same_command(weft: Weft, tmp_path: Path) -> None:
    source = tmp_path / "poem.md"
    source.write_text("# A poem\n\nSo much depends upon a wheel barrow.\n")
    limit = 20 * 1024  # bytes that a file may have: the index does not fit
    code, err = limited(
        weft, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), "kb", "create", "poems", str(source)
    )
    assert code != 0, err
    again = weft("kb", "create", "poems", source)
    assert again.code == 0, again.err
    assert weft("kb", "create", "poems").code != 0
    assert weft("kb", "create", "poems", source, "--title", "Others").code != 0


def test_a_source_that_runs_scripts_is_not_linked() -> None:
    for link in ("documents/a.html", "documents/a.HTM", "a.svg", "a.xhtml#p1", "a.xml", "a.html?x=.md"):
        assert wording.runs_scripts(link), link
    for link in ("documents/a.md", "a.pdf#page=2", "a.TXT"):
        assert not wording.runs_scripts(link), link


def shell(weft: Weft, words: tuple[object, ...], ending: str, cwd: str = "") -> subprocess.CompletedProcess[str]:
    """The command with its streams as a shell's redirections make them."""
    line = f"{shlex.join(map(str, weft.command(*words)))} {ending}"
    return subprocess.run(
        ["sh", "-c", f"{cwd} {line}"], env=weft.env, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "poem.txt"
    path.write_text("so much depends upon\n" * 800)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("run", "letters", "SOURCE", "--session-id", "poem"),
        ("run", "letters", "SOURCE", "--session-id", "poem", "--output", "-"),
        ("sessions", "log", "poem", "--json"),
        ("sessions", "log", "poem"),
        ("pipelines", "list"),
        ("run", "--help"),
        ("--help",),
    ],
)
def test_output_that_finds_no_room_is_told_in_words(weft: Weft, source: Path, words: tuple[str, ...]) -> None:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    ran = shell(weft, tuple(source if word == "SOURCE" else word for word in words), ">/dev/full")
    assert ran.returncode == 1
    assert "can't be written: No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "bug" not in ran.stderr
    assert shell(weft, tuple(source if word == "SOURCE" else word for word in words), "2>/dev/full").returncode in (
        0,
        1,
    )


@pytest.mark.parametrize("ending", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_lead_nowhere(weft: Weft, source: Path, ending: str) -> None:
    for words in (("run", "letters", source, "--session-id", "poem"), ("sessions",), ("--version",)):
        ran = shell(weft, words, ending)
        assert ran.returncode == 0, ran.stderr
        assert "Traceback" not in ran.stdout + ran.stderr
    assert weft("sessions", "verify", "poem").code == 0, "nothing was printed into its files"


def test_a_folder_that_is_gone_and_a_port_that_is_none_are_told_in_words(weft: Weft, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    ran = shell(weft, ("run", "letters", "poem.txt"), "", f"mkdir {gone} && cd {gone} && rmdir {gone} &&")
    assert (ran.returncode, ran.stderr.splitlines()[-2]) == (1, "weft: the folder you are in was removed")
    for port in (99999, 65536, -1):
        ran = shell(weft, ("serve", "--port", port), "")
        assert ran.returncode == 2
        assert ran.stderr.startswith("weft: ")
        assert "65535" in ran.stderr


@pytest.mark.parametrize("words", [("runn",), ("run", "--nope"), ("sessions", "shwo"), ("cost", "--by", "moon")])
def test_a_wrong_command_line_is_an_error_like_others(weft: Weft, words: tuple[str, ...]) -> None:
    ran = shell(weft, words, "")
    first, *more = ran.stderr.splitlines()
    assert (ran.returncode, first[:6]) == (2, "weft: ")
    assert more
    assert all(line.startswith("  ") for line in more)


def test_ctrl_c_before_a_command_has_begun_is_an_interrupt(weft: Weft) -> None:
    code = (
        "import sys, weft.cli\n"
        "class Stops:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stops())\n"
        "sys.argv = ['weft', 'sessions']\n"
        "sys.exit(weft.cli.main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=weft.env, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (130, "interrupted\n")
