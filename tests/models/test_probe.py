"""`weft models test` as a function: it really asks, and says what it saw."""

from __future__ import annotations

import asyncio
import itertools

from tests.models.stages import WIRES, endpoint
from weft.models.model import ModelError
from weft.models.probe import Probe, probe
from weft.protocol.messages import ToolCall
from weft.testing.scripted import Item, ScriptedModel, Turn, calls, says
from weft.testing.wire import Called, Reply, WireServer

PARIS = '{"city": "Paris", "letters": 5}'


def probed(*turns: list[Item]) -> Probe:
    ticks = itertools.count()
    return asyncio.run(probe(ScriptedModel([Turn(turn) for turn in turns]), lambda: float(next(ticks))))


def test_all_works() -> None:
    found = probed(says("one two three", pieces=3), calls("note_number", {"number": 7}), says(PARIS))
    assert (found.answers.works, found.streaming.works, found.tools.works, found.schema.works) == (True,) * 4
    assert (found.first_part, found.whole) == (1.0, 2.0)
    assert found.schema.note == "native, at once"
    assert found.usage.input == 30


def test_what_does_not_work_is_said() -> None:
    found = probed(says("one", pieces=1), says("I can't."), says("Paris"), says("It is Paris"))
    assert found.answers.works
    assert found.streaming.works is False
    assert found.tools.note == "it answered without calling the tool"
    assert found.schema.works is False
    broken: list[Item] = [ToolCall(call="1", tool="note_number", input={}, malformed="{")]
    assert "not JSON" in probed(says("one two"), broken, says(PARIS)).tools.note


def test_a_call_that_fails_does_not_hide_the_others() -> None:
    no_tools = ModelError("invalid_request", "tools are not supported")
    found = probed(says("one two"), [no_tools], says("```json\n" + PARIS + "\n```"))
    assert found.tools.note == "invalid_request: tools are not supported"
    assert found.schema.works


def test_a_model_that_is_not_there_says_why_and_no_more() -> None:
    found = probed([ModelError("auth", "the key is wrong")])
    assert (found.answers.works, found.answers.note) == (False, "auth: the key is wrong")
    assert (found.tools.works, found.first_part) == (None, None)


def test_on_the_wire() -> None:
    async def go() -> None:
        for made, wire, model in WIRES:
            called = Reply(calls=(Called(tool="note_number", arguments='{"number": 7}'),))
            tool = made.output_ways[0] == "tool"
            answered = Reply(calls=(Called(tool="give_answer", arguments=PARIS),)) if tool else Reply(text=PARIS)
            async with WireServer(wire, [Reply(text="one two three"), called, answered]) as server:
                client = made(endpoint(server, model))
                found = await probe(client, asyncio.get_running_loop().time)
                await client.aclose()
                assert (found.answers.works, found.streaming.works, found.tools.works, found.schema.works) == (
                    True,
                ) * 4
                server.assert_done()

    asyncio.run(go())
