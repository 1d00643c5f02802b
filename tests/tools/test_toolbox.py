"""One registration path, the handle's promises, and the tools that work through a port."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from tests.tools.calling import Place
from tests.tools.served import Handler, redirect, reply, sends, serving
from weft.protocol.errors import UserError
from weft.protocol.messages import ToolCall
from weft.tools.builtin import builtin_tools
from weft.tools.fetch import fetch
from weft.tools.tool import Context, Handle, Outcome, Question, Tool, WorkHandle, begin
from weft.tools.toolbox import Toolbox

NAMES = ["Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "Shell", "ShellOutput", "ShellStop"]
NAMES += ["WebFetch", "Skill", "Task", "TodoWrite", "AskUser", "SubmitPlan"]


def made(name: str = "Made", **more: Any) -> Tool:
    async def start(given: Mapping[str, Any], context: Context) -> Handle:
        return await begin(_said(str(given)))

    fields: dict[str, Any] = {"description": "x", "input_schema": {"type": "object"}, "kind": "read", "start": start}
    return Tool(name=name, **{**fields, **more})


async def _said(text: str) -> Outcome:
    return Outcome(text=text)


# -- the toolbox


def test_what_is_listed_is_what_the_model_gets_and_can_call() -> None:
    toolbox = Toolbox([*builtin_tools(), made()])
    assert [toolbox.own_name(spec.name) for spec in toolbox.specs()] == [*NAMES, "Made"]
    assert [entry["name"] for entry in toolbox.listing()] == [*NAMES, "Made"]
    for spec, entry in zip(toolbox.specs(), toolbox.listing(), strict=True):
        assert spec.description == entry["description"]
        assert len(spec.input_schema.get("properties", {})) == len(entry["input_schema"].get("properties", {}))
        assert toolbox.get(toolbox.own_name(spec.name)) is not None


def test_every_built_in_tool_is_described_and_closed() -> None:
    for tool in builtin_tools():
        assert len(tool.description) > 30
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in key or key["type"] == "array" for key in tool.input_schema["properties"].values())
        if tool.subject is not None:
            assert tool.subject[1] in tool.input_schema["properties"]


def test_two_tools_of_one_name_and_odd_names_are_refused() -> None:
    with pytest.raises(UserError, match="two tools named Read"):
        Toolbox([*builtin_tools(), made("Read")])
    for name in ("", "a b", "x" * 65, "1x", "a.b", "ä"):
        with pytest.raises(UserError):
            Toolbox([made(name)])


def test_an_agent_gets_the_tools_it_names_also_by_the_names_of_others() -> None:
    inner, missing = Toolbox(builtin_tools()).only(["Bash", "Read", "WebSearch"])
    assert [tool.name for tool in inner] == ["Read", "Shell"]
    assert missing == ("WebSearch",)


def test_a_call_that_can_not_be_made_says_why() -> None:
    toolbox = Toolbox(builtin_tools())

    def fault(tool: str, given: dict[str, Any], malformed: str = "") -> str | None:
        return toolbox.fault(ToolCall(call="1", tool=tool, input=given, malformed=malformed))

    assert fault("Read", {"path": "x"}) is None
    assert "the tools are: Read, Write" in str(fault("Nothing", {}))
    assert "not a JSON object" in str(fault("Read", {}, malformed="{path"))
    assert "- the input: " in str(fault("Read", {}))
    assert "- offset: " in str(fault("Read", {"path": "x", "offset": "1"}))


def test_a_tool_that_can_not_even_start_ends_in_words(place: Place) -> None:
    async def refuses(given: Mapping[str, Any], context: Context) -> Handle:
        raise UserError("not today")

    async def breaks(given: Mapping[str, Any], context: Context) -> Handle:
        raise KeyError("oh")

    toolbox = Toolbox([made("Refuses", start=refuses), made("Breaks", start=breaks)])
    assert place.call("Refuses", {}, toolbox=toolbox).text == "not today"
    broken = place.call("Breaks", {}, toolbox=toolbox)
    assert (broken.is_error, broken.effect) == (True, "unknown")
    assert "KeyError" in broken.text
    assert "Traceback" in broken.bug


# -- the handle


def handled(work: Any, then: Any) -> Any:
    async def whole() -> Any:
        async with asyncio.timeout(30):
            return await then(WorkHandle(work))

    return asyncio.run(whole())


def test_an_error_is_an_outcome_and_so_is_a_bug() -> None:
    async def wrong() -> Outcome:
        raise UserError("not like this", hint="like that")

    async def broken() -> Outcome:
        raise ZeroDivisionError("oh")

    async def settled(handle: Handle) -> Outcome:
        return await handle.result()

    told = handled(wrong(), settled)
    assert (told.is_error, told.text, told.bug) == (True, "not like this\n  like that", "")
    bug = handled(broken(), settled)
    assert bug.is_error
    assert "ZeroDivisionError: oh" in bug.text
    assert "Traceback" in bug.bug


def test_work_that_ignores_an_interrupt_changes_nothing() -> None:
    ended: list[str] = []

    async def stubborn() -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
        ended.append("at last")
        return Outcome(text="too late")

    async def then(handle: Handle) -> Outcome:
        await asyncio.sleep(0)
        handle.interrupt("now")
        first = await handle.result()
        assert ended == []
        await handle.closed()
        assert ended == ["at last"]
        assert await handle.result() is first
        return first

    outcome = handled(stubborn(), then)
    assert outcome.interrupted
    assert outcome.text == "interrupted: now. It may have been done in part."


def test_several_may_wait_and_one_may_leave() -> None:
    async def then(handle: Handle) -> str:
        leaving = asyncio.ensure_future(handle.result())
        staying = asyncio.ensure_future(handle.result())
        await asyncio.sleep(0)
        leaving.cancel()
        return (await staying).text

    assert handled(_said("x"), then) == "x"


# -- ports


class Skills:
    def names(self) -> list[str]:
        return ["close-reading"]

    def text(self, name: str) -> str:
        return f"how to do {name}"


def test_a_skill_is_loaded_by_name(place: Place) -> None:
    assert place.call("Skill", {"name": "close-reading"}, skills=Skills()).text == "how to do close-reading"
    unknown = place.call("Skill", {"name": "x"}, skills=Skills())
    assert "the skills are: close-reading" in unknown.text
    assert "no skills here" in place.call("Skill", {"name": "x"}).text


def test_a_task_is_no_call_of_a_tool(place: Place) -> None:
    given = {"agent": "reader", "description": "read it", "prompt": "all of it"}
    assert "do the work yourself" in place.call("Task", given).text


def test_a_person_is_asked_and_waiting_can_be_interrupted(place: Place) -> None:
    asked: list[tuple[Question, ...]] = []

    async def answer(questions: tuple[Question, ...]) -> Mapping[str, str]:
        asked.append(questions)
        return {questions[0].text: "blue"}

    async def silent(questions: tuple[Question, ...]) -> Mapping[str, str]:
        await asyncio.Event().wait()
        return {}

    async def stopped(handle: Handle) -> Outcome:
        await asyncio.sleep(0)
        handle.interrupt("never mind")
        await handle.closed()
        return await handle.result()

    given = {"questions": [{"question": "Which colour?", "options": ["red", "blue"]}, {"question": "And why?"}]}
    outcome = place.call("AskUser", given, ask_person=answer)
    assert outcome.text == "Which colour?\nblue\n\nAnd why?\n(no answer)"
    assert asked[0][0] == Question(text="Which colour?", options=("red", "blue"))
    assert place.started("AskUser", given, stopped, ask_person=silent).interrupted
    assert "nobody is there" in place.call("AskUser", given).text


def test_todos_are_shown_and_kept(place: Place) -> None:
    todos = [
        {"text": "one", "status": "done"},
        {"text": "two", "status": "in_progress"},
        {"text": "three", "status": "pending"},
    ]
    outcome = place.call("TodoWrite", {"todos": todos})
    assert outcome.text == "[x] one\n[>] two\n[ ] three"
    assert outcome.data == {"todos": todos}
    assert outcome.summary == "1 of 3 done"
    both = [{"text": "one", "status": "in_progress"}, {"text": "two", "status": "in_progress"}]
    assert place.call("TodoWrite", {"todos": both}).is_error


# -- WebFetch against a real server


def fetched(place: Place, handler: Handler, path: str = "/") -> Outcome:
    toolbox = Toolbox(builtin_tools(partial(fetch, allow_loopback=True)))

    async def whole() -> Outcome:
        context = place.context()
        try:
            async with serving(handler) as server:
                call = ToolCall(call="1", tool="WebFetch", input={"url": server.url(path)})
                handle = await toolbox.start(call, context)
                outcome = await handle.result()
                await handle.closed()
                return outcome
        finally:
            context.working.close()
            if context.session is not None:
                context.session.close()

    return asyncio.run(whole())


PAGE = (
    b"<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>The sea rises and falls twice a day, and "
    b"the moon is the reason for it.</p></article><script>evil()</script></body></html>"
)


def test_a_page_is_read_as_text_and_taints(place: Place) -> None:
    outcome = fetched(place, sends(reply(PAGE, media="text/html")))
    assert "The sea rises and falls" in outcome.text
    assert "evil()" not in outcome.text
    assert outcome.outside == ("the web: 127.0.0.1",)
    assert not outcome.is_error


def test_json_text_errors_and_what_is_no_text(place: Place) -> None:
    assert '"a": 1' in fetched(place, sends(reply(b'{"a":1}', media="application/json"))).text
    assert (
        "gr\u00fcn" in fetched(place, sends(reply("grün".encode("latin-1"), media="text/plain; charset=latin-1"))).text
    )
    assert "x" in fetched(place, sends(reply(b"x", media="text/plain; charset=no-such-thing"))).text
    missing = fetched(place, sends(reply(b"gone", status="404 Not Found")))
    assert missing.is_error
    assert "status 404" in missing.text
    picture = fetched(place, sends(reply(b"\x89PNG\r\n\x1a\n" + bytes(100), media="image/png")))
    assert "has no text to read" in picture.text


def test_a_long_page_goes_to_a_blob(place: Place) -> None:
    outcome = fetched(place, sends(reply(b"word " * 20_000, media="text/plain")))
    assert outcome.blob is not None
    assert len((place.session / "blobs" / outcome.blob).read_bytes()) > 100_000
    assert len(outcome.text) < 25_000


def test_the_tool_as_it_is_shipped_reaches_no_loopback(place: Place) -> None:
    async def whole() -> tuple[Outcome, list[bytes]]:
        async with serving(sends(reply(b"secret"))) as server:
            context = place.context()
            try:
                call = ToolCall(call="1", tool="WebFetch", input={"url": server.url()})
                handle = await Toolbox(builtin_tools()).start(call, context)
                return await handle.result(), server.requests
            finally:
                context.working.close()

    outcome, requests = asyncio.run(whole())
    assert outcome.is_error
    assert "not on the open web" in outcome.text
    assert requests == []


def test_a_redirect_inside_is_refused_by_the_tool(place: Place) -> None:
    outcome = fetched(place, sends(redirect("http://169.254.169.254/latest/meta-data/")))
    assert outcome.is_error
    assert "redirects to another host" in outcome.text
