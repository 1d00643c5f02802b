"""What a person sees when something is wrong with the machine or a file: words, no traceback and no terminal codes."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
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
