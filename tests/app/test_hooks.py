"""Hooks in Claude Code's shape: they refuse, they add, they run inside the boundary, and only when agreed to."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.app.conversing import say, talk
from tests.made import lay_out
from weft.app import App, OpenedSession, SessionRequest
from weft.app.live.hooks import HookAnswer, Hooks, answer_of, read_hooks
from weft.consent import Consents, NotAgreedError
from weft.files import Folder
from weft.models.model import Request
from weft.protocol.commands import Refused, Say
from weft.protocol.conversation_events import ToolSettled
from weft.protocol.errors import UserError
from weft.protocol.events import NoticeGiven
from weft.protocol.hashes import hash_bytes
from weft.testing.scripted import Turn, calls, says
from weft.tools.tool import Context

REFUSES = "grep -q 'file_path.*secret' && { echo not there; exit 2; }; true"


def hook(command: str, matcher: str = "") -> dict[str, object]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}


SETTINGS = {
    "model": "other programs' own",
    "hooks": {
        "PreToolUse": [hook(REFUSES, "Edit|Write")],
        "PostToolUse": [hook("echo read it closely", "Read")],
        "UserPromptSubmit": [hook("grep -q forbidden && exit 2; sh say.sh")],
        "Stop": [hook("echo done >> stops")],
    },
}
DENIED = '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}'


@pytest.mark.parametrize(
    ("code", "said", "meant"),
    [
        (0, "", HookAnswer()),
        (0, "look", HookAnswer(text="look")),
        (2, "no", HookAnswer(refused="no")),
        (0, '{"decision": "block", "reason": "never"}', HookAnswer(refused="never")),
        (0, DENIED, HookAnswer(refused="r")),
        (0, '{"hookSpecificOutput": {"additionalContext": "c"}}', HookAnswer(text="c")),
    ],
)
def test_what_a_hook_means(code: int, said: str, meant: HookAnswer) -> None:
    assert answer_of(code, said, "x") == meant


def test_a_file_that_can_not_be_read_is_said() -> None:
    with pytest.raises(UserError, match=r"settings\.json can't be read"):
        read_hooks(b'{"hooks": []}', "settings.json")


@pytest.mark.process
def test_hooks_refuse_and_add_once_they_are_agreed_to(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    (desk / ".claude").mkdir(parents=True)
    (desk / "notes.md").write_text("one\n")
    (desk / ".claude/settings.json").write_text(json.dumps(SETTINGS))
    (desk / "say.sh").write_text("echo the moon is full\n")
    with monkeypatch.context() as nobody, App.open(workspace) as app, Folder.open(desk) as folder:
        nobody.setattr(app, "consents", Consents(tmp_path / "of nobody"))
        with pytest.raises(NotAgreedError) as raised:
            Hooks.agreed(app.consents, [folder], lambda: Context(call="", working=folder), "talk")
        assert raised.value.request.parts["say.sh"] == hash_bytes(b"echo the moon is full\n")
        app.consents.agree(raised.value.request, "by command")
        Hooks.agreed(app.consents, [folder], lambda: Context(call="", working=folder), "talk")
        (desk / "say.sh").write_text("echo something else\n")
        with pytest.raises(NotAgreedError):  # what it runs is another one now
            Hooks.agreed(app.consents, [folder], lambda: Context(call="", working=folder), "talk")
    (desk / "say.sh").write_text("echo the moon is full\n")

    def hears(request: Request) -> bool:
        return "the moon is full" in str(request.messages[-1].content)

    turns = [Turn(calls("Write", {"file_path": "secret.txt", "content": "x"}), expect=hears)]
    turns += [Turn(calls("Read", {"file_path": "notes.md"})), Turn(says("Done."))]

    async def play(session: OpenedSession) -> None:
        refused = await session.submit(Say(text="a forbidden word"))
        assert isinstance(refused, Refused)
        await say(session, "go")
        for _ in range(500):
            if (desk / "stops").exists():
                break
            await asyncio.sleep(0.01)

    records = talk(workspace, desk, turns, play)
    write, read = [record.event for record in records if isinstance(record.event, ToolSettled)]
    assert (write.outcome, write.text) == ("failed", "it was refused: not there")
    assert read.text.endswith("[a hook says: read it closely]")
    assert not (desk / "secret.txt").exists()
    assert (desk / "stops").read_text() == "done\n"
    assert not list((workspace / "sessions/talk").glob(".hook-*"))


@pytest.mark.process
def test_a_hook_whose_file_was_changed_since_refuses_until_it_is_agreed_to_again(tmp_path: Path) -> None:
    """Who is watched by it can write the file."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook("sh check.sh")]}}))
    (tmp_path / "check.sh").write_text("echo never; exit 2\n")
    consents = Consents(tmp_path / "of nobody")
    with Folder.open(tmp_path) as folder:

        def context() -> Context:
            return Context(call="", working=folder, session=folder, environment=dict(os.environ))

        with pytest.raises(NotAgreedError) as raised:
            Hooks.agreed(consents, [folder], context, "talk")
        consents.agree(raised.value.request, "by command")
        hooks = Hooks.agreed(consents, [folder], context, "talk")
        assert asyncio.run(hooks.run("PreToolUse", "Shell")).refused == "never"
        (tmp_path / "check.sh").write_text("exit 0\n")
        refused = asyncio.run(hooks.run("PreToolUse", "Shell")).refused
        assert "nobody has agreed to a hook" in refused
        assert "check.sh" in refused
        with pytest.raises(NotAgreedError) as changed:
            Hooks.agreed(consents, [folder], context, "talk")
        consents.agree(changed.value.request, "by command")
        assert asyncio.run(hooks.run("PreToolUse", "Shell")) == HookAnswer()


def test_hooks_that_nobody_agreed_to_are_asked_about_and_said(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(workspace)
    (tmp_path / ".claude/hooks").mkdir(parents=True)
    (tmp_path / ".claude/hooks/check.sh").write_text("true\n")
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh; ${CLAUDE_PROJECT_DIR}/.claude/hooks/check.sh'
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook(command)]}}))
    seen: list[str] = []

    async def go() -> None:
        with App.open(workspace) as app:
            monkeypatch.setattr(app, "consents", Consents(tmp_path / "of nobody"))
            (request,) = app.hooks_not_agreed(tmp_path)
            assert request.parts["./.claude/hooks/check.sh"] == hash_bytes(b"true\n")
            async with app.session(SessionRequest(talk=True, working=tmp_path), reachable=False) as session:
                async for event in session.events():  # who begins to watch only now is told all the same
                    if isinstance(event, NoticeGiven):
                        seen.append(event.text)
                        break
            app.consents.agree(request, "asked")
            assert app.hooks_not_agreed(tmp_path) == []

    asyncio.run(asyncio.wait_for(go(), 60))
    assert "hooks are not run" in seen[0]
