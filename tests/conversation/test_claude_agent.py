"""What can be said of the Claude agent runtime without running it: names, paths, prompts, transcripts, environment."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.conversation.claude_agent.child import environment
from weft.conversation.claude_agent.gate import GateToolbox, gate_tools, in_our_words, its_name
from weft.conversation.claude_agent.runtime import text_of, usage_of
from weft.conversation.claude_agent.transcript import (
    GO_ON,
    KeptRuntime,
    is_there,
    read_kept,
    what_it_is_told,
    write_kept,
)
from weft.conversation.projections import Said
from weft.files import Folder
from weft.protocol.messages import ToolCall
from weft.tools.processes import to_the_end
from weft.tools.tool import Context


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    for name in ("desk", "session"):
        (tmp_path / name).mkdir()
    with Folder.open(tmp_path / "desk") as working, Folder.open(tmp_path / "session") as session:
        yield Context(call="", working=working, session=session)


def answer(text: str = "x") -> str:
    return json.dumps({"type": "assistant", "message": {"role": "assistant", "content": text}}) + "\n"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("", False),
        (answer(), False),  # too small to be one
        (json.dumps({"type": "user", "text": '"assistant"' * 100}) + "\n", False),
        ("x" * 600 + "\n", False),
        ('{"type": "assistant"' + "x" * 600 + "\n", False),  # torn
        (answer("x" * 600), True),
        (json.dumps({"type": "attachment", "text": "x" * 20_000}) + "\n" + answer(), True),  # far down
    ],
)
def test_a_transcript_is_there_when_it_has_an_answer(tmp_path: Path, text: str, there: bool) -> None:
    path = tmp_path / "it.jsonl"
    path.write_text(text)
    assert is_there(path) is there


def test_a_transcript_that_is_missing_or_a_folder_is_not_there(tmp_path: Path) -> None:
    assert not is_there(tmp_path / "none.jsonl")
    assert not is_there(tmp_path)


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"session": "x"}', '{"session": "x", "turn": "soon"}'])
def test_a_note_that_cant_be_read_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert read_kept(tmp_path) is None
    assert read_kept(tmp_path / "nowhere") is None
    write_kept(tmp_path, KeptRuntime(session="s", turn=3))
    assert read_kept(tmp_path) == KeptRuntime(session="s", turn=3)


def test_it_is_told_what_it_has_not_seen() -> None:
    entries = [
        Said("message", 1, "My name is Ada."),
        Said("answer", 1, "Hello Ada."),
        Said("message", 2, "Delete it."),
        Said("call", 2, call="c", tool="Shell", input={"command": "rm x"}),
        Said("result", 2, "user", call="c", tool="Shell", outcome="interrupted", effect="unknown"),
        Said("message", 3, "What now?"),
    ]
    assert what_it_is_told(entries, 3, 2) == "What now?"
    some = what_it_is_told(entries, 3, 1)
    assert "What happened since your last answer" in some
    assert "Ada" not in some
    assert "It may have done some, all or none of its work" in some
    assert some.endswith("What now?")
    everything = what_it_is_told(entries, 3, 0)
    assert "My name is Ada." in everything
    assert "What was said in this conversation before" in everything
    assert what_it_is_told(entries[:-1], 3, 1).endswith(GO_ON)


def test_a_summary_is_told_once() -> None:
    entries = [Said("summary", 4, "Ada likes looms."), Said("message", 6, "And now?")]
    assert "Ada likes looms." in what_it_is_told(entries, 6, 0)
    assert what_it_is_told(entries, 6, 5) == "And now?"


@pytest.mark.parametrize(
    ("its", "given", "ours", "told"),
    [
        ("Bash", {"command": "ls"}, "Shell", {"command": "ls"}),
        ("Read", {"file_path": "DESK/a/b.md", "limit": 3}, "Read", {"path": "a/b.md", "limit": 3}),
        ("Read", {"file_path": "a/b.md"}, "Read", {"path": "a/b.md"}),
        ("Write", {"file_path": "SESSION/n.md", "content": "x"}, "Write", {"path": "@session/n.md", "content": "x"}),
        ("Grep", {"pattern": "x"}, "Grep", {"pattern": "x"}),
        ("Glob", {"pattern": "*", "path": "DESK"}, "Glob", {"path": ".", "pattern": "*"}),
        ("Read", {"file_path": "/etc/passwd"}, "Read", {"path": "/etc/passwd"}),
        ("NotebookEdit", {"notebook_path": "DESK/n.ipynb"}, "NotebookEdit", {"path": "n.ipynb"}),
        ("Agent", {"prompt": "p", "subagent_type": "x"}, "Task", {"prompt": "p", "subagent_type": "x", "agent": "x"}),
        ("mcp__weft__Skill", {"name": "x"}, "Skill", {"name": "x"}),
    ],
)
def test_its_calls_in_our_words(
    context: Context, its: str, given: dict[str, Any], ours: str, told: dict[str, Any]
) -> None:
    assert context.session is not None
    roots = {"DESK": str(context.working.path), "SESSION": str(context.session.path)}
    for word, path in roots.items():
        given = {key: value.replace(word, path) if isinstance(value, str) else value for key, value in given.items()}
    assert in_our_words(context)(its, given) == (ours, told)


def test_our_names_in_its_words() -> None:
    names = ["Shell", "Task", "Read", "WebFetch"]
    assert [its_name(name) for name in names] == ["Bash", "Agent", "Read", "mcp__weft__WebFetch"]


@pytest.mark.parametrize(
    ("tool", "path", "fault"),
    [
        ("Read", "a.md", None),
        ("Write", "new/b.md", None),
        ("Read", "/etc/passwd", "outside the working folder"),
        ("Read", "../x", "may not contain '..'"),
        ("Read", "~/x", "not a path here"),
        ("Read", "link/x", "through a link"),
        ("Write", "@session/log.jsonl", "written by the session itself"),
        ("Write", "@session/.claude-agent/state.json", "written by the session itself"),
        ("Read", "@session/log.jsonl", None),
    ],
)
def test_paths_that_lead_elsewhere_are_faults(context: Context, tool: str, path: str, fault: str | None) -> None:
    (context.working.path / "link").symlink_to("/etc")
    box = GateToolbox(gate_tools(lambda: None), context)
    found = box.fault(ToolCall(call="c", tool=tool, input={"path": path}))
    assert found is None if fault is None else fault in str(found)


@pytest.mark.parametrize(
    ("pattern", "good"), [("**/*.md", True), ("/etc/*", False), ("~/*", False), ("a/../../*", False)]
)
def test_patterns_that_lead_elsewhere_are_faults(context: Context, pattern: str, good: bool) -> None:
    box = GateToolbox(gate_tools(lambda: None), context)
    assert (box.fault(ToolCall(call="c", tool="Glob", input={"pattern": pattern})) is None) is good


def test_fewer_tools_are_judged_as_strictly(context: Context) -> None:
    box, missing = GateToolbox(gate_tools(lambda: None), context).only(["Read", "Bash"])
    assert [tool.name for tool in box] == ["Shell", "Read"]
    assert missing == ()
    assert box.fault(ToolCall(call="c", tool="Read", input={"path": "/etc/passwd"}))
    assert box.fault(ToolCall(call="c", tool="Write", input={"path": "a.md"}))


def test_a_tool_without_a_runtime_that_waits_for_it_is_not_run(context: Context) -> None:
    async def go() -> str:
        box = GateToolbox(gate_tools(lambda: None), context)
        handle = await box.start(ToolCall(call="c", tool="Shell", input={"command": "touch x"}), context)
        return (await handle.result()).text

    assert "has ended since" in asyncio.run(go())
    assert not (context.working.path / "x").exists()


def test_the_environment_has_nothing_of_ours_but_what_a_command_may_see(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n")
    around = {
        "PATH": "/usr/bin:relative",
        "HOME": str(tmp_path),
        "USER": "ada",
        "XDG_CONFIG_HOME": "/x",
        "ANTHROPIC_API_KEY": "secret",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "LANG": "C.UTF-8",
    }
    made = environment(around, tmp_path / "own", "http://127.0.0.1:1")
    assert "secret" not in made.values()
    assert not {"USER", "XDG_CONFIG_HOME", "CLAUDE_CODE_USE_BEDROCK"} & made.keys()
    assert (made["PATH"], made["LANG"]) == ("/usr/bin", "C.UTF-8")
    assert (made["HOME"], made["CLAUDE_CONFIG_DIR"]) == (str(tmp_path / "own" / "home"), str(tmp_path / "own"))
    assert made["CLAUDE_CODE_TMPDIR"] == str(tmp_path / "own" / "tmp")
    assert made["GIT_CONFIG_GLOBAL"] == str(tmp_path / ".gitconfig")
    assert "ANTHROPIC_BASE_URL" not in environment({}, tmp_path, "")
    assert made["GIT_CONFIG_KEY_0"] == "core.fsmonitor"
    desk = tmp_path / "desk"
    mixed = environment({"PATH": f"{desk}/bin:/usr/bin"}, tmp_path, "", [desk])
    assert mixed["PATH"] == f"/usr/bin:{desk}/bin"


def test_what_a_result_says_and_what_it_used() -> None:
    assert text_of("plain") == "plain"
    assert text_of([{"type": "text", "text": "a"}, {"type": "image"}]) == "a\n[image]"
    assert text_of(None) == ""
    used = usage_of({"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2})
    assert (used.input, used.output, used.cache_read, used.cache_write) == (8, 2, 3, 0)


def test_what_must_be_finished_is_finished_however_often_it_is_cancelled() -> None:
    async def go() -> bool:
        done = asyncio.Event()
        release = asyncio.Event()

        async def work() -> None:
            await release.wait()
            done.set()

        task = asyncio.create_task(to_the_end(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.sleep(0)
        release.set()
        await asyncio.wait({task})
        return done.is_set() and task.cancelled()

    assert asyncio.run(go())
