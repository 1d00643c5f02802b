"""`weft models` from end to end: connect, choose, explain, really call, remove; and no key anywhere it can be read."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.cli.commands import run_command_line
from weft.testing.wire import Called, Reply, WireServer, openai_chat_wire
from weft.workspace.config_edit import with_default, with_role, with_table, without_table

KEY = "sk-end-to-end-0123456789abcdef"


@contextmanager
def serving(replies: list[Reply], **more: Any) -> Iterator[WireServer]:
    """A wire server in a thread of its own: the command line runs a loop of its own too."""
    ready, ended = threading.Event(), threading.Event()
    found: list[WireServer] = []

    async def serve() -> None:
        async with WireServer(openai_chat_wire, replies, **more) as server:
            found.append(server)
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield found[0]
    finally:
        ended.set()
        thread.join(30)


class Run:
    def __init__(self, workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspace, self.capsys, self.monkeypatch = workspace, capsys, monkeypatch

    def __call__(self, *words: str, stdin: str = "", code: int = 0) -> str:
        self.monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        given = run_command_line(["--workspace", str(self.workspace), "models", *words])
        told = self.capsys.readouterr()
        assert given == code, told.err
        assert KEY not in told.out + told.err
        return told.out + told.err


@pytest.fixture
def run(workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Run(workspace, capsys, monkeypatch)


def test_with_nothing_connected_it_says_how(run: Run) -> None:
    told = run()
    assert "* embedded\tbuilt in" in told
    assert "No model is connected: `weft models add" in told
    assert "always there" in run("test")


def test_a_model_is_connected_chosen_explained_and_removed(run: Run, workspace: Path) -> None:
    run("add", "work", "--kind", "anthropic", "--model", "claude-sonnet-5", stdin=KEY + "\n")
    run("default", "work")
    assert "* work/claude-sonnet-5\tanthropic" in run("list")
    told = run("explain", "--step", "embedded")
    assert told.startswith("embedded: the step says so")
    assert "→ step" in told
    assert run("explain").startswith("work/claude-sonnet-5: config.toml says so")
    for path in [*workspace.rglob("*"), *Path.home().rglob("*")]:
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    run("default", "embedded")
    run("remove", "work")
    assert "work/" not in run("list")
    assert "no connection 'work'" in run("remove", "work", code=1)


def test_it_really_calls_with_the_key(run: Run) -> None:
    replies = [
        Reply(text="one two three"),
        Reply(calls=(Called(tool="note_number", arguments='{"number": 7}'),)),
        Reply(text='{"city": "Paris", "letters": 5}'),
        Reply(text="Red."),
        Reply(status=401, error=f"Incorrect API key provided: {KEY}"),
    ]
    with serving(replies) as server:
        url = server.url
        run("add", "gate", "--kind", "openai", "--base-url", url, "--model", "m", "--key-env", "GATE_KEY")
        assert "GATE_KEY, which is not set" in run("test", "gate", code=1)
        run.monkeypatch.setenv("GATE_KEY", KEY)
        found = json.loads(run("test", "gate", "--json"))
        assert [found[name]["works"] for name in ("answers", "streaming", "tools", "schema", "pictures")] == [True] * 5
        assert found["first_part"] <= found["whole"]
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
        told = run("test", "gate", code=1)
        assert "answers    no: auth" in told


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["add", "Big Name", "--kind", "openai"], "can't be the name of a connection", 2),
        (["add", "embedded", "--kind", "openai"], "can't be the name of a connection", 2),
        (["add", "x", "--kind", "openai", "--base-url", "nowhere"], "http://", 1),
        (["add", "x", "--kind", "openai", "--key-env", "A", "--no-key"], "contradict", 2),
        (["default", "nobody"], "weft: the model 'nobody' was chosen, but there is no connection 'nobody'", 1),
        (["add", "x", "--kind", "openai"], "no key was given", 1),
    ],
)
def test_what_is_wrong_is_said(run: Run, words: list[str], said: str, code: int) -> None:
    assert said in run(*words, code=code)


def test_a_refused_table_leaves_the_file_as_it_was(run: Run, workspace: Path) -> None:
    (workspace / "config.toml").write_text("# mine\nconcurrency = 2\n")
    run("add", "x", "--kind", "openai", "--base-url", "nowhere", code=1)
    assert (workspace / "config.toml").read_text() == "# mine\nconcurrency = 2\n"


def test_all_else_in_the_file_stays_as_it_is() -> None:
    text = "# top\nconcurrency = 2 # two\n\n[models.a]\nkind = 'openai' # mine\n[models.b]\nkind = 'google'\n"
    added = with_table(text, "c", {"kind": "openai", "window": 9000})
    assert added == text + '\n[models.c]\nkind = "openai"\nwindow = 9000\n'
    assert without_table(added, "c").rstrip() == text.rstrip()
    assert "[models.a]" not in without_table(text, "a")
    assert "# mine" not in without_table(text, "a")
    assert with_default(text, "a/m").startswith('model = "a/m"\n# top')
    assert with_default('model = "x"\n' + text, "b").startswith('model = "b"\n# top')
    with pytest.raises(Exception, match="by hand"):
        without_table("models = { a = { kind = 'openai' } }\n", "a")


def test_a_role_is_set_and_taken_away_where_it_stands() -> None:
    text = "# top\nconcurrency = 2\n\n[models.a]\nkind = 'openai'\n"
    added = with_role(text, "strong", "a/m")
    assert added == text + '\n[roles]\nstrong = "a/m"\n'
    assert with_role(added, "strong", "") == text + "\n[roles]\n"
    assert with_role(text, "small", "") == text
    among = "[roles] # whose\nsmall = 'b'\nstrong = 'c' # best\n\n[models.b]\nstrong = 1\n"
    assert with_role(among, "strong", "a/m") == among.replace("strong = 'c' # best\n", "").replace(
        "# whose\n", '# whose\nstrong = "a/m"\n'
    )
    with pytest.raises(Exception, match="by hand"):
        with_role("roles = { small = 'b' }\n", "strong", "a/m")


def test_whatever_goes_wrong_while_connecting_nothing_is_left(run: Run, workspace: Path) -> None:
    run("add", "x", "--kind", "openai", code=1)
    run("add", "x", "--kind", "openai", stdin="sk-one\nsk-two\n", code=1)
    assert not (workspace / "config.toml").exists()
    assert "x/" not in run("list")


def test_what_is_connected_and_not_chosen_is_said(run: Run) -> None:
    run("add", "desk", "--kind", "openai", "--base-url", "http://127.0.0.1:1/v1", "--model", "m")
    assert "Connected but not chosen: desk. `weft models default desk` chooses it." in run("explain")


def test_a_key_that_is_piped_to_a_server_of_this_machine_is_sent_and_none_is_made_up(run: Run) -> None:
    with serving([Reply(status=401, error="no"), Reply(status=401, error="no")]) as server:
        run("add", "bare", "--kind", "openai", "--base-url", server.url, "--model", "m")
        run("test", "bare", code=1)
        assert "authorization" not in server.seen[0].headers
        run("add", "keyed", "--kind", "openai", "--base-url", server.url, "--model", "m", stdin=KEY + "\n")
        run("test", "keyed", code=1)
        assert server.seen[1].headers["authorization"] == f"Bearer {KEY}"


def test_a_key_with_a_line_break_is_not_called_a_fault_of_the_network(run: Run) -> None:
    run("add", "far", "--kind", "openai", "--model", "m", "--key-env", "FAR_KEY")
    run.monkeypatch.setenv("FAR_KEY", "sk-one\nsk-two")
    assert "the key of 'far' in $FAR_KEY has a line break" in run("test", "far", code=1)


def test_a_model_that_is_connected_but_not_chosen_is_named_where_one_is_missing(run: Run, tmp_path: Path) -> None:
    """Nobody is told to connect a model who just did."""
    for name, text in {
        "pipelines/note.yaml": "name: note\ndescription: A note.\nsteps:\n  note: {artifact: note.md, agent: writer}\n",
        ".claude/agents/writer.md": "---\nname: writer\ndescription: Writes.\n---\nWrite.\n",
    }.items():
        (run.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (run.workspace / name).write_text(text)
    (tmp_path / "a.txt").write_text("A text.")
    began = Weft(run.workspace)("run", "note", tmp_path / "a.txt")
    assert began.code == 1
    assert "connect one (weft models add)" in began.err
    told = run("add", "house", "--kind", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--no-key")
    assert "the default is still embedded: `weft models default house` changes that" in told
    began = Weft(run.workspace)("run", "note", tmp_path / "a.txt")
    assert began.code == 1
    assert "the step note needs a model for its agent writer, and the default, embedded, is none" in began.err
    assert "choose one (weft models default house), or name it for this session (--model house)" in began.err
