"""A value of a shape: by every way, through one check, asked again with findings, and only so often."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from weft.models.answer import Answer
from weft.models.model import ModelError, Request, Stop, TextDelta, ThinkingDelta
from weft.models.structured import ANSWER_TOOL, Structured, Way, ask, judge
from weft.protocol.errors import ModelFeedback
from weft.protocol.messages import Message, Text, Thinking, ToolCall, ToolResult, Usage
from weft.testing.scripted import Hold, ScriptedModel, Turn, UnexpectedRequest, calls, says

SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "score": {"type": "integer", "minimum": 1}},
    "required": ["title", "score"],
    "additionalProperties": False,
}
GOOD = {"title": "Tides", "score": 3}
REQUEST = Request(system="Be terse.", messages=(Message(role="user", content=(Text(text="Rate it."),)),))


def asked(model: ScriptedModel, schema: dict[str, Any] = SCHEMA, **more: Any) -> Structured:
    return asyncio.run(ask(model, REQUEST, schema, **more))


def test_native_hands_the_schema_over() -> None:
    model = ScriptedModel([Turn(says(json.dumps(GOOD)), expect={"schema": SCHEMA, "system": "Be terse."})])
    found = asked(model)
    assert (found.value, found.way, found.corrections, found.asks) == (GOOD, "native", (), 1)


def test_a_tool_carries_the_value() -> None:
    model = ScriptedModel(
        [Turn(calls(ANSWER_TOOL, GOOD), expect={"tools/0/input_schema": SCHEMA, "must_call": ANSWER_TOOL})],
        output_ways=("tool", "prompted"),
    )
    assert asked(model).value == GOOD


def test_a_tool_carries_a_value_that_is_no_object() -> None:
    model = ScriptedModel([Turn(calls(ANSWER_TOOL, {"value": [1, 2]}))], output_ways=("tool",))
    assert asked(model, {"type": "array", "items": {"type": "integer"}}).value == [1, 2]


def test_prompted_puts_the_schema_into_words_and_reads_untidy_text() -> None:
    model = ScriptedModel(
        [Turn(says('Sure!\n```json\n{"title": "Tides", "score": 3,}\n```'))], output_ways=("prompted",)
    )
    found = asked(model)
    assert found.value == GOOD
    assert {one.kind for one in found.corrections} == {"comma", "around"}
    assert json.dumps(SCHEMA) in model.requests[0].system
    assert model.requests[0].system.startswith("Be terse."), "the stable prefix stays first"


@pytest.mark.parametrize("way", ["native", "tool", "prompted"])
def test_findings_go_back_until_it_fits(way: Way) -> None:
    bad = {"title": "Tides", "score": 0}
    turns = [Turn(calls(ANSWER_TOOL, bad) if way == "tool" else says(json.dumps(bad))), Turn(says(json.dumps(GOOD)))]
    model = ScriptedModel(turns, output_ways=(way,))
    found = asked(model)
    assert (found.value, found.asks) == (GOOD, 2)
    assert found.usage.input == 20, "both calls count"
    reply = model.requests[1].messages[-1].content[0]
    assert isinstance(reply, ToolResult if way == "tool" else Text)
    assert "at /score" in reply.text
    assert "use a larger number" in reply.text


def test_asking_is_bounded_and_ends_with_findings() -> None:
    model = ScriptedModel([Turn(says("I can't say."))] * 3)
    with pytest.raises(ModelFeedback) as raised:
        asked(model, artifact="kit.json")
    model.assert_done()
    assert [(one.artifact, one.message) for one in raised.value.findings] == [
        ("kit.json", "there is no JSON value in the answer")
    ]


def test_what_was_cut_off_does_not_count_even_when_it_fits() -> None:
    model = ScriptedModel(
        [Turn(says('{"title": "Tides", "score": 3'), Stop(reason="max_tokens")), Turn(says(json.dumps(GOOD)))]
    )
    assert asked(model).asks == 2
    told = model.requests[1].messages[-1].content[0]
    assert isinstance(told, Text)
    assert "cut off" in told.text


def test_a_way_the_model_does_not_have_gives_way_to_the_next() -> None:
    refusal = ModelError("invalid_request", "response_format is not supported")
    model = ScriptedModel([Turn(refusal), Turn(refusal), Turn(says(json.dumps(GOOD)))])
    found = asked(model, asks=1)
    assert (found.way, found.asks) == ("prompted", 1)


def test_other_errors_and_refusals_are_not_hidden() -> None:
    with pytest.raises(ModelError, match="no key"):
        asked(ScriptedModel([Turn(ModelError("auth", "no key"))]))
    with pytest.raises(ModelError, match="refused"):
        asked(ScriptedModel([Turn(says("No."), Stop(reason="refused"))]))


def test_malformed_tool_arguments_are_read_like_any_text() -> None:
    answer = Answer()
    answer.add(ToolCall(call="1", tool=ANSWER_TOOL, input={}, malformed='{"title": "Tides", "score": 3,}'))
    judged = judge(answer, SCHEMA, "tool")
    assert judged.reading
    assert (judged.reading.value, judged.findings) == (GOOD, ())


def test_an_answer_keeps_the_order_of_its_content() -> None:
    answer = Answer()
    call = ToolCall(call="1", tool="t", input={})
    for part in (
        ThinkingDelta(text="hm"),
        ThinkingDelta(text="", signature="s1"),
        ThinkingDelta(text="more", signature="s2"),
        TextDelta(text="a"),
        TextDelta(text="b"),
        call,
        TextDelta(text="c"),
        Usage(input=1),
        Stop(reason="end"),
    ):
        answer.add(part)
    assert answer.message.content == (
        Thinking(text="hm", signature="s1"),
        Thinking(text="more", signature="s2"),
        Text(text="ab"),
        call,
        Text(text="c"),
    )
    assert (answer.text, answer.stop, answer.usage) == ("abc", "end", Usage(input=1))


def test_a_scripted_model_is_strict() -> None:
    model = ScriptedModel([Turn(says("x"), expect={"system": "Be kind."})])
    with pytest.raises(UnexpectedRequest, match=r"-.*Be kind(.|\n)*\+.*Be terse"):
        asked(model, asks=1)
    with pytest.raises(UnexpectedRequest, match="the script has 1 turns"):
        asked(model, asks=1)
    with pytest.raises(AssertionError, match="1 of 1 turns"):
        ScriptedModel([Turn(says("x"))]).assert_done()


def test_a_scripted_model_waits_where_it_is_told() -> None:
    async def go() -> None:
        hold = Hold()
        model = ScriptedModel([Turn(says("a"), hold, says("b"))])
        stream = model.stream(REQUEST)
        first = await anext(aiter(stream))
        waiting = asyncio.ensure_future(anext(aiter(stream)))
        await hold.reached.wait()
        assert first == TextDelta(text="a")
        assert not waiting.done()
        hold.release.set()
        assert await waiting == TextDelta(text="b")
        await stream.aclose()  # type: ignore[attr-defined]
        assert model.closed == 1

    asyncio.run(go())


def told(request: Request) -> str:
    return "".join(part.text for part in request.messages[-1].content if isinstance(part, Text))


def test_what_goes_back_to_a_weak_model_is_short_and_says_how_to_begin() -> None:
    cut = '{"note": "' + "and so on " * 500
    turns = [
        Turn(says("I think it is about tides.")),
        Turn(says(cut), Stop(reason="max_tokens")),
        Turn(says(json.dumps(GOOD))),
    ]
    model = ScriptedModel(turns, output_ways=("prompted",))
    assert asked(model).asks == 3
    assert "begin with { and give the keys title, score" in told(model.requests[1])
    assert '"title", "score" must be there' in told(model.requests[2]), "what is missing is named together"
    said = [part.text for part in model.requests[2].messages[-2].content if isinstance(part, Text)]
    assert len("".join(said)) < 700, "an answer that was cut off does not fill the window"


def test_a_way_that_a_server_can_not_keep_a_model_to_gives_way_to_the_next() -> None:
    broken = ModelError("malformed", "the output does not match the expected format")
    model = ScriptedModel([Turn(broken), Turn(says(json.dumps(GOOD)))], output_ways=("native", "prompted"))
    assert asked(model).way == "prompted"
    passing = ModelError("malformed", "half a line", retryable=True)
    with pytest.raises(ModelError, match="half a line"):
        asked(ScriptedModel([Turn(passing)], output_ways=("native", "prompted")))


def test_a_small_model_is_asked_for_what_is_wrong_field_by_field() -> None:
    """What fits is kept; of a text its words are enough, of another field an object around it."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 3},
            "score": {"$ref": "#/$defs/score"},
            "kind": {"enum": ["poem", "letter"]},
        },
        "required": ["title", "score", "kind"],
        "$defs": {"score": {"type": "integer", "minimum": 1}},
    }
    turns = [
        Turn(says('{"score": 0, "kind": "poem"}')),
        Turn(says('{"score": 0, "kind": "poem", "more": 1}')),
        Turn(says("The Tides")),
        Turn(says("about three")),
        Turn(says('{"score": 3}')),
    ]
    model = ScriptedModel(turns, window=4_096, output_ways=("prompted",))
    found = asked(model, schema, asks=2)
    model.assert_done()
    assert (found.value, found.asks) == ({"title": "The Tides", "score": 3, "kind": "poem"}, 5)
    assert 'only the value of "title"' in str(model.requests[2].messages[-1])
    assert len(model.requests[2].messages) == 2, "what went wrong before takes no room"

    schema["properties"]["title"]["minLength"] = 9
    never = ScriptedModel([Turn(says("no"))] * 7, window=4_096, output_ways=("prompted",))
    with pytest.raises(ModelFeedback, match="title"):
        asked(never, schema, asks=1)
    never.assert_done()
