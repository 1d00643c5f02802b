"""A collection in a conversation: its tools are offered, what they bring is from outside, and the embedded model
answers from it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doors import OpenConversation, talk_in
from tests.knowledge.made import ISA, write_documents
from tests.knowledge.research.desk import DOCUMENTS
from tests.made import Weft, lay_out
from weft.app import App
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.knowledge.tools import TOOLS
from weft.protocol import conversation_events as t
from weft.protocol.errors import UsageError
from weft.protocol.messages import ToolResult
from weft.testing.scripted import ScriptedModel, Turn, calls, says

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def desk(tmp_path: Path) -> Weft:
    place = tmp_path / "desk"
    lay_out(place)
    write_documents(place / "knowledge/audit", DOCUMENTS, f"{ISA}tool_prefix: isa\n").close()
    with Folder.open(place) as workspace, open_collection(workspace, "audit", Unavailable("")) as knowledge:
        knowledge.update()
    return Weft(place)


def talking(
    desk: Weft, ask: dict[str, Any], play: Callable[[OpenConversation], Awaitable[None]], *models: Any
) -> list[Any]:
    async def go() -> None:
        with App.open(desk.workspace, models={model.name: model for model in models}) as app:
            async with talk_in(app, session="the-talk", working=desk.workspace, **ask) as talk:
                await play(talk)
                await talk.shutdown()

    asyncio.run(asyncio.wait_for(go(), 200))
    with App.open(desk.workspace) as app:
        return [record.event for record in app.sessions.records("the-talk")]


def test_a_model_uses_the_tools_of_a_collection_and_the_talk_is_tainted(desk: Weft) -> None:
    search = calls("kb_search", {"query": "retention period", "search_type": "keyword"})
    wrong = calls("isa_hybrid_search", {"max_results": 3}, call="two")
    model = ScriptedModel([Turn(search), Turn(wrong), Turn(says("Five years."))])

    async def play(talk: OpenConversation) -> None:
        talk.say("How long?")
        await talk.idle()

    events = talking(desk, {"model": "scripted", "kb": "audit"}, play, model)
    offered = {tool.name for tool in model.requests[0].tools}
    assert set(TOOLS) <= offered
    assert "isa_hybrid_search" in offered
    assert "Bash" in offered
    (asked, refused) = [event for event in events if isinstance(event, t.ToolSettled)]
    assert "at least five years" in str(asked)
    assert asked.tainting
    assert "query" in str(refused)
    results = [part for m in model.requests[1].messages for part in m.content if isinstance(part, ToolResult)]
    assert "230.4" in str(results)


def test_without_a_collection_nothing_of_it_is_offered_and_config_may_choose_one(desk: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        talk.say("Hi")
        await talk.idle()

    model = ScriptedModel([Turn(says("Hi."))])
    talking(desk, {"model": "scripted"}, play, model)
    assert not any(tool.name.startswith("kb_") for tool in model.requests[0].tools)
    (desk.workspace / "config.toml").write_text('kb = "audit"\n')
    model = ScriptedModel([Turn(says("Hi."))])
    talking(desk, {"model": "scripted"}, play, model)
    assert any(tool.name.startswith("kb_") for tool in model.requests[0].tools)
    listed = desk("tools", "list")
    assert "kb_search\tread\t" in listed.out
    with pytest.raises(UsageError, match="did you mean"):
        talking(desk, {"model": "scripted", "kb": "audits"}, play, model)


@pytest.mark.slow
def test_the_embedded_model_answers_from_the_collection_with_citations(desk: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        talk.say("How long is the retention period of audit documentation?")
        await talk.idle()
        talk.say("How is bread baked?")
        await talk.idle()

    events = talking(desk, {"kb": "audit"}, play)
    first, second = [event.text for event in events if isinstance(event, t.ModelSettled)]
    assert "- The retention period of audit documentation is at least five years. [1]" in first
    assert "[1] " in first.partition("Sources")[2]
    assert "I am the embedded engine" in first
    assert second.startswith("The documents do not say")
