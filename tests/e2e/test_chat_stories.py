"""A day in `weft chat`, on a real terminal and a model behind a real wire: the program as it ships, nothing in between.

One terminal for several stories, because starting one is what costs; each leaves the conversation at rest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_chat_face import leave, until
from tests.e2e.test_models_command import serving
from tests.e2e.test_pictures import png
from tests.knowledge.made import write_documents
from tests.knowledge.research.desk import DOCUMENTS
from tests.made import Weft
from tests.terminal import Terminal
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.testing.wire import Called, Reply
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
SECONDS = 90
"""For what really works: a worker, a search, a command in its boundary."""


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


def connect(weft: Weft, url: str) -> None:
    table = f'[models.desk]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\nkey = "none"\nmedia = ["image"]\n'
    (weft.workspace / "config.toml").write_text(table)


def call(tool: str, **given: Any) -> Reply:
    return Reply(calls=(Called(tool=tool, arguments=json.dumps(given)),))


def test_research_is_begun_answered_forked_and_followed_up_where_one_talks(tmp_path: Path) -> None:
    weft = Weft(tmp_path / "desk")
    lay_pack(find_packs()["research"], weft.workspace)
    write_documents(weft.workspace / "knowledge/audit", DOCUMENTS).close()
    with (
        Folder.open(weft.workspace) as workspace,
        open_collection(workspace, "audit", Unavailable("")) as knowledge,
    ):
        knowledge.update()
    terminal = Terminal(weft, "chat", "--session", "the-talk", width=100, height=70, cwd=str(tmp_path))
    terminal.wait_for("weft chat · the-talk", seconds=SECONDS)
    terminal.child.send("/run research stuff?\r")
    terminal.wait_for("the run waits for you", "What would help", "2 amend", "leave: talk about", seconds=SECONDS)
    terminal.child.send("/fork\r")
    terminal.wait_for("forked as the-talk-", seconds=SECONDS)
    terminal.child.send("amend: the retention period of audit documentation\r")
    terminal.wait_for("research is done", "at least five years", "answer.html", seconds=SECONDS)
    terminal.child.send("/run research and when must the audit file be assembled?\r")
    terminal.wait_for("within 60 days", seconds=SECONDS)
    terminal.child.send("/export markdown\r")
    terminal.wait_for("written:", "the-talk.md", seconds=SECONDS)
    assert leave(terminal) == 0

    assert "within 60 days" in (tmp_path / "the-talk.md").read_text()
    second = json.loads((weft.session("the-talk") / "answer.json").read_text())
    assert second["followup_number"] == 1, "it goes on from the answer that was there"
    plan = (weft.session("the-talk") / "plan.json").read_text()
    assert "assembled" in plan
    assert "retention" not in plan, "what was said at the gate was about the question before"
    (fork,) = [one.name for one in (weft.workspace / "sessions").iterdir() if one.name != "the-talk"]
    assert "waiting" in weft("sessions", "show", fork).out, "the gate is still open there"
    assert "at least five years" not in (weft.session(fork) / "plan.json").read_text()


def test_files_are_taken_back_a_server_goes_on_a_picture_is_seen_and_all_of_it_is_lived_again(
    weft: Weft, tmp_path: Path
) -> None:
    desk = tmp_path / "work"
    desk.mkdir()
    (desk / "notes.md").write_text("one\ntwo\n")
    (desk / "photo.png").write_bytes(png(255))
    edit = call("Edit", file_path="notes.md", old_string="two", new_string="three")
    serve = call("Bash", command="echo ready; while [ ! -e stop ]; do sleep 0.05; done", run_in_background=True)
    read = call("BashOutput", bash_id="process-1")
    written = [
        reply
        for name in "abc"
        for reply in (call("Write", file_path=f"{name}.txt", content=name), Reply(text=f"Wrote {name}."))
    ]
    replies = [
        *(edit, Reply(text="It says three now.")),
        Reply(text="A red one."),
        *(serve, Reply(text="It serves.")),
        *(one for n in range(4) for one in (read, Reply(text=f"Still there, look {n}."))),
        *written,
        Reply(text="Nothing is left of it."),
    ]
    with serving(replies) as server:
        connect(weft, server.url)
        words = ("chat", "--session", "the-talk", "--model", "desk", "--mode", "auto")
        terminal = Terminal(weft, *words, width=100, height=60, cwd=str(desk))
        terminal.wait_for("auto · desk/m", seconds=SECONDS)

        terminal.child.send("/limits turns=40\r")
        terminal.wait_for("0 of 40 turns")
        terminal.child.send("say three\r")
        terminal.wait_for("It says three now.", "-two", "+three", "2 of 40 turns", seconds=SECONDS)
        assert (desk / "notes.md").read_text() == "one\nthree\n"
        terminal.child.send("/undo\r")
        terminal.wait_for("taken back: notes.md", seconds=SECONDS)
        assert (desk / "notes.md").read_text() == "one\ntwo\n"

        terminal.child.send("what is on @photo.png ?\r")
        terminal.wait_for("A red one.", seconds=SECONDS)
        assert "data:image/png;base64," in json.dumps(server.seen[-1].body)

        terminal.child.send("serve it\r")
        terminal.wait_for("It serves.", seconds=SECONDS)
        for n in range(4):
            terminal.child.send(f"is it there? {n}\r")
            terminal.wait_for(f"Still there, look {n}.", seconds=SECONDS)
        terminal.child.send("/processes\r")
        terminal.wait_for("process-1 is running", seconds=SECONDS)

        for name in "abc":
            terminal.child.send(f"write {name}\r")
            terminal.wait_for(f"Wrote {name}.", seconds=SECONDS)
        assert [name for name in "abc" if (desk / f"{name}.txt").exists()] == ["a", "b", "c"]
        terminal.child.send("/rewind 3\r")
        terminal.wait_for("back to before", seconds=SECONDS)
        until(lambda: not any((desk / f"{name}.txt").exists() for name in "abc"), "files are put back")
        terminal.child.send("what did you write?\r")
        terminal.wait_for("Nothing is left of it.", seconds=SECONDS)
        assert "write a" not in json.dumps(server.seen[-1].body["messages"])
        assert leave(terminal) == 0
        server.assert_done()

    kept = tmp_path / "recorded.json"
    same = weft("sessions", "replay", "the-talk", "--mode", "auto", "--as-test", kept)
    assert "nothing would be otherwise; it went back there" in same.err, same.out + same.err
    (weft.workspace / "AGENTS.md").write_text("Answer in verse.\n")
    otherwise = weft("sessions", "replay", "the-talk", "--mode", "auto", "--against", kept)
    assert (otherwise.code, "the prompt is otherwise" in otherwise.out) == (1, True), otherwise.err
