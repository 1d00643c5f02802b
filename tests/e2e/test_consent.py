"""A folder from a stranger: nothing of it runs, no key leaves, until the person agreed to exactly that."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.test_models_command import serving
from tests.made import Weft
from tests.terminal import Terminal
from weft.cli.commands import run_command_line
from weft.consent import FILE
from weft.testing.wire import Reply


def record() -> Path:
    return Path(os.environ["HOME"]) / ".config" / "weft" / FILE


@pytest.fixture
def cloned(weft: Weft) -> Weft:
    """The workspace as it is for somebody who did not write it."""
    record().unlink()
    return weft


def hash_in(words: str) -> str:
    found = re.search(r"--trust ([0-9a-f]{32})", words)
    assert found, words
    return found[1]


def test_a_cloned_workspace_runs_nothing_until_its_content_was_agreed_to(cloned: Weft, source: Path) -> None:
    refused = cloned("run", source, "--session-id", "poem")
    assert refused.code == 5
    assert "nobody has agreed to code of steps in" in refused.err
    assert "code/letters.py" in refused.err
    assert cloned.ran() == []
    assert not cloned.session("poem").exists(), "a refused run leaves nothing behind"

    (cloned.workspace / ".weft").mkdir(exist_ok=True)
    shutil.copy(_book_that_agrees(cloned), cloned.workspace / ".weft" / FILE)
    assert cloned("run", source, "--session-id", "poem").code == 5, "a folder can't bring its own consent"

    agreed = cloned("run", source, "--session-id", "poem", "--trust", hash_in(refused.err))
    assert agreed.code == 0, agreed.err
    assert cloned.ran() == ["count", "list", "report"]
    code = cloned.workspace / "code" / "letters.py"
    code.write_text(code.read_text() + "\n# changed\n")
    changed = cloned("run", source, "--session-id", "poem", "--from", "count")
    assert (changed.code, cloned.ran()) == (5, [])
    assert hash_in(changed.err) != hash_in(refused.err)


def _book_that_agrees(cloned: Weft) -> Path:
    made = cloned.workspace.parent / "theirs.json"
    folder = {"path": str(cloned.workspace), "by": "them", "at": "2026-01-01T00:00:00Z"}
    made.write_text(json.dumps({"version": 1, "consents": [], "folders": [folder]}))
    return made


def test_asked_on_a_terminal_with_what_exactly_it_is(cloned: Weft, source: Path) -> None:
    terminal = Terminal(cloned, "run", str(source), "--session-id", "poem", width=100)
    terminal.wait_for("Nobody has agreed yet to code of steps", "code/letters.py", "n no", "a always")
    terminal.child.send("y\n")
    terminal.wait_for("3 ran")
    assert terminal.end() == 0
    kept = json.loads(record().read_text())["consents"]
    assert [(one["kind"], one["how"], [*one["parts"]]) for one in kept] == [("code", "asked", ["code/letters.py"])]
    assert cloned("trust").err == "nothing here waits for your consent\n"
    assert "code of steps in" in cloned("trust", "list").out
    assert cloned("trust", "revoke", kept[0]["subject"]).code == 0
    assert cloned("trust").code == 5


def test_the_question_is_true_of_the_machine(cloned: Weft, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing holds code back, nobody is told that something does."""
    monkeypatch.setenv("WEFT_BOUNDARY", "none")
    terminal = Terminal(cloned, "run", str(source), "--session-id", "poem", width=100)
    terminal.wait_for("Nobody has agreed yet to code of steps", "with your rights", "n no")
    assert "boundary" not in terminal.text()
    terminal.child.send("n\n")
    assert terminal.end() == 5


def test_what_stands_compiled_beside_the_source_is_not_loaded(cloned: Weft, source: Path) -> None:
    code = cloned.workspace / "code"
    hostile = cloned.workspace.parent / "hostile.py"
    hostile.write_text((code / "letters.py").read_text().replace("words = step.text", "words = 'stolen ' + step.text"))
    cache = Path(importlib.util.cache_from_source(str(code / "letters.py")))
    py_compile.compile(str(hostile), cfile=str(cache), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    told = cloned("run", source, "--session-id", "poem", "--trust", hash_in(cloned("run", source).err))
    assert told.code == 0, told.err
    assert json.loads((cloned.session("poem") / "count.json").read_text())["first"] == "so"


def test_no_key_goes_to_an_address_that_nobody_agreed_to(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_not_for_you")

    def call(*words: str) -> tuple[int, str]:
        told = Weft(workspace)(*words)
        return told.code, told.out + told.err

    with serving([Reply(text="hello")]) as server:
        (workspace / "config.toml").write_text(
            f'model = "m/x"\n[models.m]\nkind = "openai"\nbase_url = "{server.url}"\nkey = "env:GITHUB_TOKEN"\n'
        )
        code, told = call("chat", "--plain", "hello")
        assert code == 5
        assert "the model connection m" in told
        assert "env:GITHUB_TOKEN" in told
        assert call("models", "test", "m/x")[0] == 5
        assert server.seen == []
        code, told = call("chat", "--plain", "--trust", hash_in(told), "hello")
        assert (code, len(server.seen)) == (0, 1), told
        assert not call("trust")[0]


def test_where_a_sign_in_leads_and_what_goes_along_is_agreed_to(workspace: Path) -> None:
    """The address is known to everybody, and tokens, with a secret of the environment, are given by somebody else."""
    auth = {"type": "oauth", "client_id": "weft", "client_secret": "env:GITHUB_TOKEN"}
    auth |= {"authorization_url": "https://github.com/login/oauth/authorize", "token_url": "https://mine.example/token"}
    books = workspace / "sources" / "books" / "config.json"
    books.parent.mkdir(parents=True)
    books.write_text(json.dumps({"kind": "api", "url": "https://api.github.com/", "auth": auth}))

    def asked(*words: str) -> tuple[int, str]:
        told = Weft(workspace)("trust", *words)
        return told.code, told.out + told.err

    code, told = asked()
    assert code == 5
    for word in ("env:GITHUB_TOKEN", "https://mine.example/token", "https://github.com/login/oauth/authorize"):
        assert word in told, told
    known = re.search(r"hash ([0-9a-f]{32})", told)
    assert known
    assert asked("--trust", known[1])[0] == 0
    assert asked()[0] == 0
    books.write_text(books.read_text().replace("mine.example", "other.example"))
    assert "https://other.example/token" in asked()[1]


def test_a_pack_of_somebody_else_is_asked_about_before_it_is_laid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack, place = tmp_path / "theirs", tmp_path / "place"
    (pack / "code").mkdir(parents=True)
    (pack / "pack.yaml").write_text('name: theirs\nversion: "1"\ndescription: Theirs.\nweft: ">=0.1"\n')
    (pack / "code" / "x.py").write_text("def f(step):\n    return {}\n")

    def init(*words: str) -> tuple[int, str]:
        code = run_command_line(["--workspace", str(place), "init", *words])
        return code, capsys.readouterr().err

    record().unlink()
    assert init()[0] == 0, "what comes with Weft is not asked about"
    code, told = init("--pack", str(pack))
    assert code == 5
    assert not (place / "code" / "x.py").exists()
    assert init("--pack", str(pack), "--trust", hash_in(told))[0] == 0
    assert (place / "code" / "x.py").exists()
    assert run_command_line(["--workspace", str(place), "trust"]) == 0, "what it laid was agreed to with it"
    (pack / "code" / "x.py").write_text("def f(step):\n    return {'changed': 1}\n")
    assert init("--pack", str(pack))[0] == 5


@pytest.mark.parametrize("key", ["allow", '"\\x61llow"', '"al\\u006cow"'])
def test_what_a_cloned_folder_allows_is_asked_about_until_it_was_agreed_to(
    workspace: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """However it is spelt: the same key in the file is the same permission."""
    (workspace / "permissions.yaml").write_text(
        f"{key}:\n  - {{tool: Shell, command: git push *}}\ndeny:\n  - {{tool: Shell, command: rm}}\n"
    )

    said = ""

    def judged(command: str) -> str:
        nonlocal said
        run_command_line(["--workspace", str(workspace), "tools", "judge", "--json", command])
        out, said = capsys.readouterr()
        return str(json.loads(out)["decision"])

    assert (judged("git push origin"), judged("rm x"), said) == ("allow", "deny", "")
    record().unlink()
    assert (judged("git push origin"), judged("rm x")) == ("ask", "deny")
    assert "what permissions.yaml allows is asked about: nobody agreed to it" in said
    refused = Weft(workspace)("chat", "--plain", "hello")
    assert "what permissions.yaml allows is asked about" in refused.err
    assert Weft(workspace)("chat", "--plain", "--trust", hash_in(refused.err), "hello").err == ""
    assert judged("git push origin") == "allow"


def test_a_cloned_pipeline_that_allows_its_tools_something_is_asked_about(cloned: Weft, source: Path) -> None:
    pipeline = cloned.workspace / "pipelines" / "letters.yaml"
    more = "    agent: lister\n    executor: agent\n    tools: [Shell]\n    folder: work\n"
    more += "    allow: [{tool: Shell, command: curl *}]\n"
    text = (
        pipeline.read_text()
        .replace("    agent: lister\n", more)
        .replace("parameters:\n", "parameters:\n  work: {type: folder}\n", 1)
    )
    pipeline.write_text(text)
    assert "pipelines/letters.yaml" in cloned("trust").out
    words = ("run", source, "--set", f"work={source.parent}")
    first = cloned(*words)
    assert first.code == 5
    second = cloned(*words, "--trust", hash_in(first.err))
    assert second.code == 5
    assert "pipelines/letters.yaml" in second.err
    assert cloned.ran() == []


def test_always_is_written_as_the_rule_that_is_shown_and_then_counts(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record().unlink()

    def call(*words: str) -> tuple[int, str]:
        code = run_command_line(["--workspace", str(workspace), *words])
        told = capsys.readouterr()
        return code, told.out + told.err

    assert call("tools", "allow", "git push origin main")[1] == '{"tool": "Shell", "command": "git push *"}\n'
    assert "allow: a rule allows it" in call("tools", "judge", "git push origin other")[1]
    assert call("tools", "allow", "--tool", "Write", "notes/a.md")[0] == 0
    assert "notes/**" in (workspace / "permissions.yaml").read_text()
    code, told = call("tools", "allow", "rm -rf /")
    assert (code, "no rule" in told) == (1, True)


def test_a_report_for_others_has_no_secret_and_says_what_nobody_agreed_to(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789abcdefghij")
    (workspace / "config.toml").write_text(
        f'# ghp_0123456789abcdefghij {os.environ["HOME"]}/x\n[models.m]\nkind = "openai"\nbase_url = "https://e.example"\n'
    )
    run_command_line(["--workspace", str(workspace), "doctor", "--report"])
    told = capsys.readouterr().out
    assert "# [secret GITHUB_TOKEN] ~/x" in told
    assert "ghp_" not in told
    assert "nobody has agreed to the model connection m" in told


def test_an_unexpected_error_is_kept_and_goes_into_the_report_that_is_shown_and_written(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789abcdefghij")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def broken(*_: object) -> None:
        raise RuntimeError("no such luck with ghp_0123456789abcdefghij")

    with monkeypatch.context() as patch:
        patch.setattr("weft.cli.doctor._findings", broken)
        assert run_command_line(["--workspace", str(workspace), "doctor"]) == 1
    (kept,) = (tmp_path / "state" / "weft" / "errors").iterdir()
    assert str(kept) in capsys.readouterr().err
    assert "no such luck with [secret GITHUB_TOKEN]" in kept.read_text()
    report = tmp_path / "report.txt"
    run_command_line(["--workspace", str(workspace), "doctor", "--report", "--to", str(report)])
    told = capsys.readouterr().out
    assert "no such luck" in told
    assert report.read_text() == told
    assert "ghp_" not in told
