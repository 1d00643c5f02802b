"""What is listed is what the agent gets: one list for test, tools, model and rules, whatever the kind of source."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.doors import talk_in
from tests.sources.made import ODD_SERVER
from weft.app import App, SourceSettings
from weft.protocol.commands import Accepted, Refused, SwitchSource
from weft.protocol.messages import Media, ToolCall
from weft.testing.scripted import ScriptedModel, Turn, calls, says
from weft.tools.permission import judge

pytestmark = pytest.mark.process


def agreed(workspace: Path) -> Path:
    """As a person who was shown what the sources reach, and said yes."""
    with App.open(workspace) as app:
        for request in app.not_agreed():
            app.consents.agree(request, "asked")
        assert app.not_agreed() == []
    return workspace


def lay(top: Path) -> Path:
    workspace, counted = top / "workspace", top / "counted"
    (top / "notes").mkdir()
    (top / "notes" / "a.md").write_text("The tide is high at noon.\n")
    counted.mkdir()
    odd = {
        "kind": "mcp",
        "command": sys.executable,
        "args": ["-I", "-S", str(ODD_SERVER), str(counted)],
        "read": [str(ODD_SERVER.parent)],
        "write": [str(counted)],
    }
    notes = {"kind": "folder", "path": str(top / "notes")}
    for slug, config in {"odd": odd, "notes": notes}.items():
        folder = workspace / "sources" / slug
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config))
    (workspace / "sources" / "notes" / "guide.md").write_text("Read a.md first.\n")
    (workspace / "config.toml").write_text('model = "scripted"\n')
    return agreed(workspace)


def test_test_tools_model_and_rules_have_the_same_list(tmp_path: Path) -> None:
    """The four complaints begin where these differ. Nothing was tested before the conversation began."""
    workspace = lay(tmp_path)
    model = ScriptedModel([Turn(says("Hello."))])

    async def life() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("hello")
                await talk.idle()
            shelf = SourceSettings(app)
            tested = await shelf.test()
            for slug in ("odd", "notes"):
                source = shelf.one(slug)
                listing = tested[slug].listing
                assert listing is not None
                shown = [tool["name"] for tool in shelf.tools(source)]
                offered = [tool.name for tool in model.requests[0].tools if tool.name.startswith(f"{slug}__")]
                (source.folder / "permissions.json").write_text(
                    json.dumps({"deny": [{"tool": name.removeprefix(f"{slug}__")} for name in shown]})
                )
                box = app.toolbox()
                named = [tool.name for tool in box if tool.source == slug]
                denied = [
                    name
                    for name in named
                    if judge(ToolCall(call="", tool=name, input={}), box.get(name), mode="auto", rules=app.rules()).rule
                    == f"deny {name}"
                ]
                assert len(listing.tools) == len(shown)
                assert shown == offered == named == denied, slug
            assert "Read a.md first." in model.requests[0].system

    asyncio.run(life())


def test_a_source_that_dies_takes_no_conversation_with_it(tmp_path: Path) -> None:
    workspace = lay(tmp_path)
    for slug in ("odd", "notes"):
        rules = {"allow": [{"tool": "*", "when_tainted": True}]}
        (workspace / "sources" / slug / "permissions.json").write_text(json.dumps(rules))
    model = ScriptedModel(
        [
            Turn(calls("notes__read", {"path": "a.md"}, call="read")),
            Turn(calls("odd__die", {}, call="die")),
            Turn(says("The server is gone, but I am here.")),
        ]
    )

    async def life() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("look")
                await talk.idle()
                assert talk.engine.state.tainted, "what comes from a source is from outside"

    asyncio.run(life())
    model.assert_done()
    last = model.requests[-1].messages[-1].content[0]
    assert "Whether the call was carried out is not known" in str(last)


PIPELINE = """\
name: look
description: Looks with two sources
inputs: {}
steps:
  look:
    artifact: look.json
    agent: looker
    executor: agent
    schema: look.schema.json
    attempts: 1
    allow: [{tool: notes__*, when_tainted: true}, {tool: odd__*, when_tainted: true}]
"""
AGENT = "---\nname: looker\ndescription: Looks\nsources: notes, {other}\n---\nLook.\n"


def lay_pipeline(workspace: Path, other: str = "odd") -> None:
    schema = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
    for name, text in {
        "pipelines/look.yaml": PIPELINE,
        ".claude/agents/looker.md": AGENT.format(other=other),
        "schemas/look.schema.json": json.dumps(schema),
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)


def test_a_picture_of_a_server_goes_with_the_message_that_names_it_and_is_from_outside(tmp_path: Path) -> None:
    workspace = lay(tmp_path)
    model = ScriptedModel([Turn(says("Red.")), Turn(says("Words."))], media=frozenset({"image"}))

    async def life() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("what is on @source:odd/files/a.png")
                await talk.idle()
                assert talk.engine.state.tainted
                await talk.say("and in @source:odd/files/a.txt")
                await talk.idle()

    asyncio.run(life())
    first, second = (request.messages[-1].content for request in model.requests)
    assert [part.media_type for part in first if isinstance(part, Media)] == ["image/png"]
    assert not any(isinstance(part, Media) for part in second)
    assert "Read it with odd__read_resource" in str(second), "a text is read by the model"


def test_validate_says_which_sources_are_missing_before_a_run(tmp_path: Path) -> None:
    workspace = lay(tmp_path)
    lay_pipeline(workspace, other="jira")
    with App.open(workspace) as app:
        assert "the source 'notes' can't be used: it was never reached" in str(app.check_pipeline("look")[0])
        asyncio.run(SourceSettings(app).test())
        assert "there is no source 'jira'" in str(app.check_pipeline("look")[0])
        lay_pipeline(workspace)
    with App.open(workspace) as app:
        assert app.check_pipeline("look") == []


def test_what_nobody_agreed_to_is_neither_started_nor_offered(tmp_path: Path) -> None:
    """A workspace or project from elsewhere brings a command; the command of a source changes after consent."""
    workspace = lay(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    command = {"command": sys.executable, "args": ["-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": command}}))
    with App.open(workspace) as app:
        asyncio.run(SourceSettings(app).test())
        found = asyncio.run(SourceSettings(app, project).test(["theirs"]))["theirs"]
        assert found.state == "failed"
        assert "nobody has agreed to the source theirs" in found.why
        assert not (tmp_path / "ran").exists()
        config = json.loads((workspace / "sources" / "odd" / "config.json").read_text())
        (workspace / "sources" / "odd" / "config.json").write_text(json.dumps({**config, "network": True}))
        box = app.toolbox()
        assert box.of_source("odd") == ()
        assert "weft trust" in box.sources["odd"].trouble
        assert box.of_source("notes") != ()
        request = next(one for one in app.not_agreed() if one.kind == "source")
        assert request.parts["network"] == "yes"


def test_who_agreed_was_told_where_links_lead_and_all_that_is_opened(tmp_path: Path) -> None:
    """A folder of a stranger's is a link to one's keys, or is one tomorrow; a command may read /run with its sockets;
    and two words are others than one with a space."""
    workspace = lay(tmp_path)
    keys, link = tmp_path / "keys", tmp_path / "led"
    keys.mkdir()
    (keys / "id").write_text("a key\n")
    link.symlink_to(tmp_path / "notes")
    odd = json.loads((workspace / "sources" / "odd" / "config.json").read_text())
    (workspace / "sources" / "notes" / "config.json").write_text(json.dumps({"kind": "folder", "path": str(link)}))
    (workspace / "sources" / "odd" / "config.json").write_text(
        json.dumps({**odd, "args": ["-c", "print(1)", "two words"], "write": [str(link)], "read": [str(link), "/run"]})
    )
    with App.open(workspace) as app:
        shown = {one.subject: one.parts for one in app.not_agreed()}
        assert shown["odd"]["command"] == f"{sys.executable} -c 'print(1)' 'two words'"
        notes = os.path.realpath(tmp_path / "notes")
        assert [shown["odd"][name] for name in ("may read 1", "may read 2", "may change 1")] == [notes, "/run", notes]
    with App.open(agreed(workspace)) as app:
        found = asyncio.run(SourceSettings(app).test(["notes"]))["notes"]
        assert found.state == "ready", found.why
        link.unlink()
        link.symlink_to(keys)
        assert app.toolbox().of_source("notes") == ()
        shown = {one.subject: one.parts for one in app.not_agreed()}
        assert shown["notes"] == {"reads the folder": os.path.realpath(keys)}


def test_a_run_with_two_sources_is_killed_in_a_call_and_goes_on(tmp_path: Path) -> None:
    """Nothing that has a result is done again, the call that was cut off is not repeated, and no server is left."""
    workspace = lay(tmp_path)
    lay_pipeline(workspace)
    with App.open(workspace) as app:
        asyncio.run(SourceSettings(app).test())
    counted = tmp_path / "counted"

    def count(what: str) -> int:
        return int((counted / what).read_text() or 0) if (counted / what).exists() else 0  # it may be being written

    words = [sys.executable, "-m", "tests.sources.killed_run", str(workspace)]
    with subprocess.Popen([*words, "first"], stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 60
        while not count("call-hang") and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        below = psutil.Process(process.pid).children(recursive=True)
        servers = [one for one in below if str(ODD_SERVER) in one.cmdline()]
        process.kill()
    assert (count("call-echo"), count("call-hang")) == (1, 1)
    assert servers
    until = time.monotonic() + 60
    while (left := [one for one in servers if _runs(one)]) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == [], "whatever a source started ends with the process"
    again = subprocess.run([*words, "second"], capture_output=True, text=True, timeout=60, check=True)
    assert again.stdout.startswith("done\n")
    assert "It may have done some, all or none of its work" in again.stdout
    assert (count("call-echo"), count("call-hang")) == (1, 1)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_source_is_switched_for_one_session_and_stays_so(tmp_path: Path) -> None:
    """Off while it is held, off when it is opened again, on again while nobody holds it; others never notice."""
    workspace = lay(tmp_path)
    model = ScriptedModel([Turn(says("One.")), Turn(says("Two.")), Turn(says("Three.")), Turn(says("Four."))])

    def slugs(request: int) -> set[str]:
        return {tool.name.partition("__")[0] for tool in model.requests[request].tools if "__" in tool.name}

    async def life() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("one")
                await talk.idle()
                assert isinstance(await talk.session.submit(SwitchSource(source="odd", on=False)), Accepted)
                refused = await talk.session.submit(SwitchSource(source="ood", on=False))
                assert isinstance(refused, Refused)
                assert "there is no source 'ood'" in refused.reason
                await talk.say("two")
                await talk.idle()
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("three")
                await talk.idle()
            await app.describe("talk", SwitchSource(source="odd"))
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                await talk.say("four")
                await talk.idle()
            assert app.sessions.read("talk").state.sources == {}
            assert {slug: note.enabled for slug, note in app.toolbox().sources.items()} == {"odd": True, "notes": True}

    asyncio.run(life())
    assert [slugs(n) for n in range(4)] == [{"odd", "notes"}, {"notes"}, {"notes"}, {"odd", "notes"}]
