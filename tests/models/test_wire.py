"""On the wire: what is really sent, what closing does to the socket, what an error may not say."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from tests.models.stages import KEY, LAYERED, WIRES, endpoint
from weft.models.answer import gather
from weft.models.endpoint import Endpoint, is_loopback
from weft.models.http_model import HttpModel
from weft.models.model import ModelError, Request, TextDelta
from weft.models.openai_chat import OpenAIChat
from weft.models.pydantic_layer import LayeredModel
from weft.models.structured import ANSWER_TOOL, ask
from weft.protocol.messages import Media, Message, Text, Thinking, ToolSpec, Usage
from weft.testing.conformance import DEADLINE, HELLO, WITH_TOOLS
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply, Wire, WireServer, openai_chat_wire

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
PNG = bytes.fromhex("89504e470d0a1a0a") + b"\0" * 16

Played = Callable[[HttpModel | LayeredModel, WireServer], Coroutine[Any, Any, None]]


def play(which: int | tuple[type[HttpModel | LayeredModel], Wire, str], replies: list[Reply], body: Played) -> None:
    made, wire, model = WIRES[which] if isinstance(which, int) else which

    async def go() -> None:
        async with WireServer(wire, replies) as server:
            client = made(endpoint(server, model))
            await body(client, server)
            await client.aclose()

    asyncio.run(go())


each = pytest.mark.parametrize("which", range(len(WIRES)), ids=[wire.name for _, wire, _ in WIRES])


@each
def test_the_stable_prefix_is_sent_first_and_marked_for_the_cache(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        answer = await gather(model.stream(WITH_TOOLS))
        sent = server.seen[0].body
        if which == 0:
            assert sent["system"][0]["text"] == "Be terse."
            assert "cache_control" in sent["system"][0]
            assert "cache_control" in sent["tools"][-1]
            assert (answer.usage.cache_read, answer.usage.cache_write) == (5, 3)
        else:
            first = sent["messages"][0]["content"] if which == 1 else sent["instructions"]
            assert first == "Be terse."
            assert answer.usage.cache_read == 5
        assert answer.usage.input == 12, "cached tokens are part of the input"

    play(which, [Reply(text="x", cache_read=5, cache_write=3 if which == 0 else 0)], body)


@each
def test_settings_reach_the_provider(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        await gather(model.stream(replace(HELLO, max_tokens=99, thinking="high")))
        sent = server.seen[0].body
        assert sent["stream"] is True
        assert 99 in (sent.get("max_tokens"), sent.get("max_completion_tokens"), sent.get("max_output_tokens")) or (
            which == 0 and sent["max_tokens"] > 99
        )
        thought = sent.get("thinking") or sent.get("reasoning_effort") or sent.get("reasoning")
        assert thought, "the thinking level is sent"
        assert "high" in json.dumps(sent)

    play(which, [Reply(text="x")], body)


@each
def test_a_schema_is_handed_over_natively_and_a_tool_can_be_demanded(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        found = await ask(model, HELLO, SCHEMA)
        assert found.value == {"n": 1}
        assert found.way == model.output_ways[0]
        model.output_ways = ("tool", "native") if model.output_ways[0] == "native" else ("native",)
        again = await ask(model, HELLO, SCHEMA)
        assert again.value == {"n": 1}
        sent = json.dumps([one.body for one in server.seen])
        assert ANSWER_TOOL in sent
        assert "json_schema" in sent
        forced = next(one.body for one in server.seen if one.body.get("tools"))
        assert forced["tool_choice"] not in (None, "auto", {"type": "auto"}), "the tool is demanded"

    called = Reply(calls=(Called(tool=ANSWER_TOOL, arguments='{"n": 1}'),))
    said = Reply(text='{"n": 1}')
    play(which, [called, said] if WIRES[which][0].output_ways[0] == "tool" else [said, called], body)


@each
def test_images_and_documents_are_sent_and_text_files_as_text(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        content = (
            Text(text="What is this?"),
            Media(media_type="image/png", data=PNG, name="a.png"),
            Media(media_type="application/pdf", data=b"%PDF-1.4 x", name="a.pdf"),
            Media(media_type="text/plain", data="näive".encode(), name="a.txt"),
        )
        request = Request(system="", messages=(Message(role="user", content=content),))
        await gather(model.stream(request))
        sent = json.dumps(server.seen[0].body, ensure_ascii=False)
        assert "iVBORw0KGgo" in sent
        assert "JVBERi0xLjQ" in sent
        assert "a.txt:\\nnäive" in sent

    play(which, [Reply(text="a picture")], body)


@each
def test_thinking_goes_back_with_its_seal(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        first = await gather(model.stream(replace(HELLO, thinking="low")))
        thought = [one for one in first.message.content if isinstance(one, Thinking)]
        assert [one.text for one in thought] == ["Let me see."]
        more = Message(role="user", content=(Text(text="Sure?"),))
        await gather(model.stream(replace(HELLO, messages=(*HELLO.messages, first.message, more), thinking="low")))
        sent = json.dumps(server.seen[1].body)
        assert "Let me see." in sent
        if which != 1:
            assert "the-seal" in sent

    play(which, [Reply(text="Six.", thinking="Let me see.", signature="the-seal"), Reply(text="Yes.")], body)


@each
def test_closing_closes_the_socket(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        stream: Any = model.stream(HELLO)
        async for part in stream:
            if isinstance(part, TextDelta):
                break
        await stream.aclose()
        await asyncio.wait_for(server.gone.wait(), DEADLINE)

    play(which, [Reply(text="one two three", hold=Hold(), hold_after=1)], body)


@each
def test_cancelling_before_the_first_byte_closes_the_socket(which: int) -> None:
    hold = Hold()

    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        waiting = asyncio.ensure_future(gather(model.stream(HELLO)))
        await asyncio.wait_for(hold.reached.wait(), DEADLINE)
        waiting.cancel()
        await asyncio.wait_for(server.gone.wait(), DEADLINE)
        assert (await asyncio.wait({waiting}, timeout=DEADLINE))[0]

    play(which, [Reply(text="late", hold=hold)], body)


def test_what_is_known_of_the_usage_is_told_before_an_interrupt() -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        stream: Any = model.stream(HELLO)
        known = Usage()
        said = 0
        async for part in stream:
            known = part if isinstance(part, Usage) else known
            said += isinstance(part, TextDelta)
            if said and known.input is not None:
                break
        await stream.aclose()
        assert (known.input, known.output) == (12, 1)

    play(0, [Reply(text="one two three", hold=Hold(), hold_after=1)], body)


@each
def test_no_secret_is_in_an_error(which: int) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        with pytest.raises(ModelError) as raised:
            await gather(model.stream(HELLO))
        shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value.__context__ and "")
        for text in (str(raised.value), repr(raised.value), repr(model), repr(model._endpoint), shown):
            assert KEY not in text
        assert raised.value.kind == "auth"
        sent = {**server.seen[0].headers}
        assert KEY in (sent.get("x-api-key", ""), sent.get("authorization", "").removeprefix("Bearer "))

    play(which, [Reply(status=401, error=f"Incorrect API key provided: {KEY}. Bearer {KEY}")], body)


@each
def test_the_keys_of_the_machine_are_not_used(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "ambient-secret")
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://192.0.2.1:9")

    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        await gather(model.stream(HELLO))
        assert "ambient-secret" not in json.dumps(server.seen[0].headers)

    play(which, [Reply(text="x")], body)


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model.",
    ],
)
def test_every_server_s_way_to_say_too_long_is_understood(said: str) -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        with pytest.raises(ModelError) as raised:
            await gather(model.stream(HELLO))
        assert raised.value.kind == "context_too_long"

    play(1, [Reply(status=400, error=said)], body)


def test_a_used_up_account_is_not_waited_for() -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        with pytest.raises(ModelError) as raised:
            await gather(model.stream(HELLO))
        assert (raised.value.kind, raised.value.retryable) == ("rate_limited", False)
        assert "credit or quota" in raised.value.hint

    play(1, [Reply(status=429, error_type="insufficient_quota", error="You exceeded your current quota")], body)


def test_nobody_there_is_a_network_error() -> None:
    async def go() -> ModelError:
        async with WireServer(openai_chat_wire) as server:
            address = server.url
        model = OpenAIChat(Endpoint(name="local", model="m", base_url=address))
        with pytest.raises(ModelError) as raised:
            await gather(model.stream(HELLO))
        await model.aclose()
        return raised.value

    error = asyncio.run(go())
    assert (error.kind, error.retryable) == ("network", True)
    assert "check the connection" in error.hint


def test_a_model_can_be_used_from_one_loop_after_another() -> None:
    async def serve() -> None:
        async with WireServer(openai_chat_wire, [Reply(text="x")]) as server:
            model._endpoint = replace(model._endpoint, base_url=server.url)
            model._built = None
            assert (await gather(model.stream(HELLO))).text == "x"
            await model.aclose()

    model = OpenAIChat(Endpoint(name="local", model="m", base_url="http://127.0.0.1:1"))
    asyncio.run(serve())
    asyncio.run(serve())


def test_loopback_is_known() -> None:
    assert is_loopback("http://127.0.0.1:11434/v1")
    assert is_loopback("http://localhost:8080")
    assert is_loopback("http://[::1]:8080/v1")
    assert not is_loopback("https://api.openai.com/v1")
    assert not is_loopback("http://127.evil.example/")
    assert not is_loopback("")


def test_a_tool_spec_is_what_is_sent() -> None:
    spec = ToolSpec(name="find", description="Finds", input_schema={"type": "object", "properties": {"q": {}}})

    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        await gather(model.stream(replace(HELLO, tools=(spec,))))
        tool = server.seen[0].body["tools"][0]
        assert (tool["name"], tool["description"], tool["input_schema"]["properties"]) == ("find", "Finds", {"q": {}})

    play(0, [Reply(text="x")], body)


def test_a_page_or_a_packed_answer_is_said_on_the_wires_that_others_read() -> None:
    async def body(model: HttpModel | LayeredModel, server: WireServer) -> None:
        for said in ("Please sign in.", "packed"):
            with pytest.raises(ModelError, match=said) as raised:
                await gather(model.stream(HELLO))
            assert (raised.value.kind, raised.value.retryable) == ("malformed", False)

    page = Reply(raw=b"<html><p>Please sign in.</p></html>", headers={"content-type": "text/html"})
    packed = Reply(raw=b"x", headers={"content-type": "text/event-stream", "content-encoding": "gzip"})
    play(LAYERED, [page, packed], body)
