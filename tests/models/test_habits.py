"""The habits and faults of servers, byte for byte: what is read of them, what a person is told, what nothing may do."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from tests.models.stages import endpoint
from weft.models.answer import Answer, gather
from weft.models.anthropic_messages import AnthropicMessages
from weft.models.endpoint import Endpoint
from weft.models.http_model import LOOP, HttpModel
from weft.models.json_reader import BROKEN_LIMIT, look
from weft.models.model import ModelError, Part, TextDelta, ThinkingDelta
from weft.models.openai_chat import MAX_TOKENS, OpenAIChat
from weft.models.provider_errors import MOST_OF_AN_ERROR, no_stream, wait_of
from weft.protocol.messages import ToolCall, Usage
from weft.testing.conformance import DEADLINE, HELLO, WITH_TOOLS
from weft.testing.wire import Reply, WireServer, anthropic_wire, openai_chat_wire

STREAM = {"content-type": "text/event-stream"}
BOTH = pytest.mark.parametrize("made", [OpenAIChat, AnthropicMessages])


def sse(*values: Any) -> Reply:
    data = b"".join(
        b"data: " + (v.encode() if isinstance(v, str) else json.dumps(v).encode()) + b"\n\n" for v in values
    )
    return Reply(raw=data, headers=STREAM)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def played(
    made: type[HttpModel],
    replies: Sequence[Reply],
    body: Callable[[HttpModel, WireServer], Coroutine[Any, Any, None]],
    model: str = "m",
) -> None:
    wire = openai_chat_wire if made is OpenAIChat else anthropic_wire

    async def go() -> None:
        async with asyncio.timeout(DEADLINE), WireServer(wire, replies) as server:
            client = made(endpoint(server, model))
            try:
                await body(client, server)
            finally:
                await client.aclose()
            server.assert_done()

    asyncio.run(go())


def answer_to(made: type[HttpModel], *replies: Reply, request: Any = HELLO) -> tuple[Answer, list[Part], WireServer]:
    found: list[Any] = []

    async def body(model: HttpModel, server: WireServer) -> None:
        parts: list[Part] = []
        found.extend([await gather(model.stream(request), parts.append), parts, server])

    played(made, replies, body)
    return found[0], found[1], found[2]


def error_of(made: type[HttpModel], *replies: Reply) -> ModelError:
    with pytest.raises(ModelError) as raised:
        answer_to(made, *replies)
    return raised.value


# -- what was used


def used(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([chunk({"content": "a"}), chunk({}, "stop"), {"choices": [], "usage": used(800, 200)}], (800, 200)),
        (
            [chunk({"content": "a"}, usage=used(800, n)) for n in range(200)]
            + [chunk({}, "stop", usage=used(800, 200))],
            (800, 200),
        ),
        ([chunk({"content": "a"}, usage=None), chunk({}, "stop", usage=used(800, 200))], (800, 200)),
        ([chunk({"content": "a"}), chunk({}, "stop", x_groq={"usage": used(800, 200)})], (800, 200)),
        ([chunk({"content": "a"}), chunk({}, "stop")], (None, None)),
        ([chunk({"content": "a"}), chunk({}, "stop", usage={"prompt_tokens": "many"})], (None, None)),
    ],
    ids=["once at the end", "total in each chunk", "in the last chunk", "groq", "none", "nonsense"],
)
def test_usage_is_counted_once_whatever_the_habit(events: list[Any], expected: tuple[int | None, int | None]) -> None:
    answer, _, _ = answer_to(OpenAIChat, sse(*events, "[DONE]"))
    assert (answer.usage.input, answer.usage.output) == expected


def test_what_was_cached_is_told_by_either_name() -> None:
    openai = chunk({}, "stop", usage=used(10, 1, prompt_tokens_details={"cached_tokens": 7}))
    deepseek = chunk({}, "stop", usage=used(10, 1, prompt_cache_hit_tokens=7))
    for end in (openai, deepseek):
        assert answer_to(OpenAIChat, sse(chunk({"content": "a"}), end))[0].usage.cache_read == 7


def anthropic(*usages: Any) -> list[Any]:
    start, *later = usages
    return [
        {"type": "message_start", "message": {"content": [], **({"usage": start} if start is not None else {})}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        *({"type": "message_delta", "delta": {}, "usage": one} for one in later),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("usages", "expected"),
    [
        (({"input_tokens": 800, "output_tokens": 1}, {"output_tokens": 200}), Usage(input=800, output=200)),
        (({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 800, "output_tokens": 200}), Usage(input=800, output=200)),  # noqa: E501
        (({"input_tokens": 800}, {"output_tokens": 100}, {"output_tokens": 200}), Usage(input=800, output=200)),
        ((None,), Usage()),
        ((None, None), Usage()),
    ],
    ids=["start and end", "all at the end", "growing", "none", "null"],
)  # fmt: skip
def test_usage_of_messages_is_the_last_of_each_number(usages: tuple[Any, ...], expected: Usage) -> None:
    assert answer_to(AnthropicMessages, sse(*anthropic(*usages)))[0].usage == expected


# -- what is no answer


@BOTH
def test_a_page_in_place_of_an_answer_keeps_the_server_s_words(made: type[HttpModel]) -> None:
    page = (
        b"<html><head><style>p {}</style><title>Sign in</title></head><body><p>Please sign in first.</p></body></html>"
    )
    error = error_of(made, Reply(raw=page, headers={"content-type": "text/html; charset=utf-8"}))
    assert (error.kind, error.retryable) == ("malformed", False)
    assert "Sign in Please sign in first." in error.message
    assert "answers with a page" in error.hint


@pytest.mark.parametrize("piece", ["<script", "<", "<style>", "x<"])
def test_a_page_that_opens_without_end_holds_nothing_up(piece: str) -> None:
    """It took seconds, in which nothing else went on."""
    begun = time.process_time()
    error = no_stream("far", f"5 < 7: sign in {piece * (MOST_OF_AN_ERROR // len(piece))}", None)
    assert error.message.startswith("far: 5 < 7: sign in")
    assert time.process_time() - begun < 0.5


@BOTH
@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ({"error": {"message": "the model is being loaded", "code": 503}}, "overloaded", "the model is being loaded"),
        ({"error": "no such deployment"}, "malformed", "no such deployment"),
        ({"detail": "Not authenticated"}, "malformed", "Not authenticated"),
        ({"error": {"message": "bad key", "type": "authentication_error"}}, "auth", "bad key"),
    ],
)
def test_an_error_in_a_reply_that_says_200_keeps_its_words(
    made: type[HttpModel], value: Any, kind: str, said: str
) -> None:
    error = error_of(made, Reply(raw=json.dumps(value).encode()))
    assert error.kind == kind
    assert said in error.message


def test_an_answer_that_does_not_stream_is_an_answer() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    chat = {
        "choices": [
            {"message": {"role": "assistant", "content": "Six.", "tool_calls": [call]}, "finish_reason": "stop"}
        ]
    }
    answer, _, _ = answer_to(OpenAIChat, Reply(raw=json.dumps({**chat, "usage": used(3, 2)}).encode()))
    assert (answer.text, answer.stop, answer.usage.input) == ("Six.", "tool_calls", 3)
    assert answer.calls == (ToolCall(call="c1", tool="read", input={"path": "a"}),)
    blocks = [
        {"type": "text", "text": "Six."},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
    ]
    messages = {"type": "message", "content": blocks, "stop_reason": "tool_use", "usage": {"input_tokens": 3}}
    answer, _, _ = answer_to(AnthropicMessages, Reply(raw=json.dumps(messages).encode()))
    assert (answer.text, answer.stop, answer.usage.input) == ("Six.", "tool_calls", 3)
    assert answer.calls == (ToolCall(call="c1", tool="read", input={"path": "a"}),)


@BOTH
def test_a_stream_without_a_word_is_said(made: type[HttpModel]) -> None:
    error = error_of(made, sse("[DONE]"))
    assert "broke off" in error.message


@BOTH
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("invalid x-api-key", "test/m: invalid x-api-key (HTTP 401)"),
        ("bad x-api-key: 0123abc, sorry", "test/m: bad x-api-key: [key], sorry (HTTP 401)"),
        ('{"X-Api-Key": "0123abc"}', 'test/m: {"X-Api-Key": "[key]"} (HTTP 401)'),
    ],
)
def test_a_key_in_the_server_s_words_is_covered_and_nothing_else(made: type[HttpModel], said: str, shown: str) -> None:
    assert error_of(made, Reply(status=401, error=said)).message == shown


@BOTH
def test_what_the_transport_says_is_said_once(made: type[HttpModel]) -> None:
    error = error_of(made, Reply(text="Six and seven", break_after=1))
    assert error.kind == "network"
    said = error.message.removeprefix("test/m: ")
    assert len(said) > 20
    assert error.message.count(said[:20]) == 1


@BOTH
@pytest.mark.parametrize("status", [301, 307])
def test_a_reply_that_points_elsewhere_is_not_followed(made: type[HttpModel], status: int) -> None:
    error = error_of(made, Reply(status=status, raw=b"", headers={"location": "http://127.0.0.1:1/else"}))
    assert error.kind == "invalid_request"
    assert "http://127.0.0.1:1/else" in error.message


# -- what holds nobody up


@BOTH
def test_what_is_packed_is_unpacked_in_small_pieces_and_has_an_end(made: type[HttpModel]) -> None:
    packer = zlib.compressobj(1, wbits=31)
    zeros = b": " + b"0" * 1_048_574
    bomb = b"".join(packer.compress(zeros) for _ in range(80)) + packer.flush()
    turns = 0

    async def body(model: HttpModel, server: WireServer) -> None:
        nonlocal turns

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        with pytest.raises(ModelError, match="larger than 64 MB") as raised:
            await gather(model.stream(HELLO))
        beside.cancel()
        await asyncio.wait({beside})
        assert not raised.value.retryable

    played(made, [Reply(raw=bomb, headers={**STREAM, "content-encoding": "gzip"})], body)
    assert turns > 900, "everybody else had a turn between the pieces"


@BOTH
def test_a_packed_answer_that_nobody_asked_for_is_read_all_the_same(made: type[HttpModel]) -> None:
    plain = sse(chunk({"content": "Six."}), chunk({}, "stop")) if made is OpenAIChat else sse(*anthropic(None))
    assert plain.raw is not None
    packed = Reply(raw=zlib.compress(plain.raw, wbits=31), headers={**STREAM, "content-encoding": "gzip"})
    answer, _, server = answer_to(made, packed)
    assert answer.stop == "end"
    assert server.seen[0].headers["accept-encoding"] == "identity"
    odd = error_of(made, Reply(raw=b"x", headers={**STREAM, "content-encoding": "br"}))
    assert "packed as br" in odd.message


@BOTH
def test_a_million_brackets_in_an_event_are_no_json(made: type[HttpModel]) -> None:
    assert error_of(made, sse("{" * 1_000_000)).kind == "malformed"


def test_brackets_without_end_in_an_answer_are_looked_at_within_bounds() -> None:
    assert look("{" * 200_000).readings == ()
    assert look("{" * (BROKEN_LIMIT - 10) + ' said: {"a": 1}').readings


def test_an_answer_that_says_the_same_without_end_is_ended() -> None:
    words = ["the tide came and "] * (2 * LOOP // 18)
    answer, _, _ = answer_to(OpenAIChat, sse(chunk({"content": "It began. "}), *(chunk({"content": w}) for w in words)))
    assert answer.stop == "repeated"
    assert LOOP <= len(answer.text) <= 1.5 * LOOP


# -- what is sent


def test_an_answer_has_a_bound_at_every_address_but_the_provider_s_own() -> None:
    _, _, server = answer_to(OpenAIChat, sse(chunk({"content": "a"}, "stop")))
    assert server.seen[0].body["max_tokens"] == MAX_TOKENS
    own = OpenAIChat(Endpoint(name="t", model="gpt-5")).body(HELLO)
    assert "max_tokens" not in own
    small = OpenAIChat(Endpoint(name="t", model="m", base_url="http://127.0.0.1:1/v1", window=4096)).body(HELLO)
    assert small["max_tokens"] == 2048


def test_a_server_that_counts_the_bound_as_prompt_is_asked_without_it() -> None:
    said = "maximum context length is 4096 tokens. However, you requested 8200 tokens (8 in the messages, 8192 in the completion)"  # noqa: E501
    answer, _, server = answer_to(OpenAIChat, Reply(status=400, error=said), sse(chunk({"content": "Six."}, "stop")))
    assert answer.text == "Six."
    assert ["max_tokens" in seen.body for seen in server.seen] == [True, False]


# -- how it is written


def test_thinking_between_tags_is_told_apart() -> None:
    for pieces in (["<think>\nhm, let me see\n</think>\n\nSix."], [*"<think>\nhm, let me see\n</think>\n\nSix."]):
        _, parts, _ = answer_to(OpenAIChat, sse(*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop")))
        assert "".join(p.text for p in parts if isinstance(p, ThinkingDelta)).strip() == "hm, let me see"
        assert "".join(p.text for p in parts if isinstance(p, TextDelta)) == "Six."
    for text in ("<thin ice", "a <think> b", "<"):
        answer, _, _ = answer_to(OpenAIChat, sse(*(chunk({"content": sign}) for sign in text), chunk({}, "stop")))
        assert answer.text == text


def test_calls_are_put_together_whatever_their_numbers() -> None:
    def piece(arguments: Any, **more: Any) -> dict[str, Any]:
        name = {"name": more.pop("tool")} if "tool" in more else {}
        return chunk({"tool_calls": [{**more, "function": {**name, "arguments": arguments}}]})

    numbered = [piece("", index=0, id="a", tool="read"), piece('{"path": ', index=0), piece('"x"}', index=0)]
    same = [piece('{"path": "x"}', index=0, id="a", tool="read"), piece('{"path": "y"}', index=0, id="b", tool="read")]
    bare = [piece('{"path": "x"}', tool="read"), piece('{"path": "y"}', tool="read")]
    value = [piece({"path": "x"}, index=0, id="a", tool="read")]
    expected = {"numbered": ["x"], "same": ["x", "y"], "bare": ["x", "y"], "value": ["x"]}
    for name, events in {"numbered": numbered, "same": same, "bare": bare, "value": value}.items():
        answer, _, _ = answer_to(OpenAIChat, sse(*events, chunk({}, "stop"), "[DONE]"), request=WITH_TOOLS)
        assert [call.input.get("path") for call in answer.calls] == expected[name], name
        assert len({call.call for call in answer.calls}) == len(answer.calls)
        assert answer.stop == "tool_calls"


def test_a_pause_is_read_in_every_form() -> None:
    assert wait_of({"retry-after": "7"}) == 7.0
    assert wait_of({"retry-after-ms": "1500"}) == 1.5
    assert wait_of({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0.0
    for nonsense in ("soon", "-1", "nan", "inf", "", "9" * 400):
        assert wait_of({"retry-after": nonsense}) in (None, float("inf"))
    assert wait_of({}) is None
