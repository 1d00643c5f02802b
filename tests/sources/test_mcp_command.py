"""An MCP server that is a command: offered, called, and held however it misbehaves."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.sources.conftest import OpenShelf
from tests.sources.http_server import World, served
from tests.sources.made import answering
from weft.sources.connector import SourceDownError
from weft.sources.mcp_connection import McpConnection, McpLine
from weft.sources.stdio import launch_of
from weft.sources.transports import StdioLine
from weft.tools.boundary import boundary_here

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

pytestmark = pytest.mark.process


def test_it_is_reached_offered_and_called(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            assert shelf.box().get("odd__echo") is None
            trouble = shelf.box().sources["odd"].trouble
            assert trouble == "it was never reached; to reach it: weft sources test odd"
            reached = await shelf.reach("odd")
            assert reached.state == "ready", reached.why
            assert reached.listing is not None
            assert reached.listing.server == "odd 1"
            assert {"odd", "far"} == set(reached.listing.left_out), "what can't be judged is not offered"
            assert shelf.box().sources["odd"].trouble == ""
            echo = shelf.box().get("odd__echo")
            look = shelf.box().get("odd__look")
            assert echo is not None
            assert look is not None
            assert (echo.kind, echo.in_order, echo.source) == ("network", True, "odd"), "unknown is never read"
            assert (look.kind, look.retryable) == ("read", True)
            outcome = await shelf.call("odd__echo", {"text": "hello"})
            assert (outcome.text, outcome.is_error, outcome.effect) == ("hello", False, "completed")
            assert outcome.outside == ("the source odd",)
            assert shelf.count("starts") == 1, "one connection serves both"

    asyncio.run(life())


def test_it_sees_the_plain_environment_and_what_it_declares(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.store.put("secret/odd-key", "s3cret-of-odd")
            shelf.add_odd(env={"KEY": "secret:odd-key", "PLAIN": "yes"})
            await shelf.reach("odd")
            name = next(tool.name for tool in shelf.box() if tool.name.startswith("odd__get_env"))
            seen = json.loads((await shelf.call(name)).text)
            assert (seen["KEY"], seen["PLAIN"]) == ("[secret odd-key]", "yes"), "it has it, and nobody else is shown it"
            assert "PRIVATE_TOKEN" not in seen

    asyncio.run(life())


def test_nothing_is_left_of_a_secret_where_its_last_words_are_cut(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.store.put("secret/odd-key", "correct-horse-battery")
            shelf.add_odd(env={"KEY": "secret:odd-key"})
            await shelf.reach("odd")
            lost = await shelf.call("odd__die")
            assert "about to die" in lost.text
            assert "xxx[secret" in lost.text
            assert "correct-" not in lost.text

    asyncio.run(life())


def test_a_missing_secret_is_said_before_anything_starts(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd(env={"KEY": "secret:odd-key"})
            reached = await shelf.reach("odd")
            assert reached.state == "failed"
            assert "weft secrets set odd-key" in reached.why
            assert shelf.count("starts") == 0

    asyncio.run(life())


def test_a_server_that_dies_is_started_again_and_no_call_is_repeated_blindly(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            await shelf.reach("odd")
            lost = await shelf.call("odd__die")
            assert (lost.is_error, lost.effect) == (True, "unknown")
            assert "exit code 7" in lost.text
            assert "about to die" in lost.text, "the last words of the server are told"
            assert lost.outside == ("the source odd",), "and they are content from outside"
            assert shelf.count("call-die") == 1
            assert (await shelf.call("odd__echo", {"text": "again"})).text == "again"
            assert shelf.count("starts") == 2
            assert (await shelf.call("odd__die_once")).text == "alive", "what only reads may be made again"
            assert shelf.count("call-die_once") == 2

    asyncio.run(life())


def test_a_server_that_hangs_is_cancelled_and_stays_usable(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd(timeout=0.5)
            await shelf.reach("odd")
            late = await shelf.call("odd__hang")
            assert late.effect == "unknown"
            assert "no sign of life for 0.5 seconds" in late.text
            assert (await shelf.call("odd__echo", {"text": "there"})).text == "there"
            assert shelf.count("cancelled") == 1
            assert (await shelf.call("odd__slow")).text == "done", "signs of life count"
            assert "odd: 1 of 4" in shelf.said
            assert shelf.count("starts") == 1

    asyncio.run(life())


def test_an_interrupt_settles_at_once_and_reaches_the_server(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            await shelf.reach("odd")
            hang = shelf.box().get("odd__hang")
            assert hang is not None
            handle = await hang.start({}, shelf.context())
            while not shelf.count("call-hang"):
                await asyncio.sleep(0.01)
            handle.interrupt("the person stopped it")
            outcome = await handle.result()
            assert (outcome.interrupted, outcome.effect) == (True, "unknown")
            await handle.closed()
            assert (await shelf.call("odd__echo", {"text": "on"})).text == "on"
            assert shelf.count("cancelled") == 1

    asyncio.run(life())


def test_floods_and_lies_end_as_failed_calls(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            await shelf.reach("odd")
            big = await shelf.call("odd__big")
            assert big.blob is not None
            assert len(big.text) < 25_000
            lie = await shelf.call("odd__lie")
            assert lie.is_error
            assert "not what it declares" in lie.text
            flood = await shelf.call("odd__flood")
            assert flood.is_error
            assert "more than 16 MB" in flood.text
            assert (await shelf.call("odd__echo", {"text": "fine"})).text == "fine"

    asyncio.run(life())


def test_a_resource_that_is_no_base64_is_said_in_words(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            source = shelf.sources.one("odd")
            assert await shelf.sources.resource(source, "x://whole", "test") == [("text/plain", b"words")]
            with pytest.raises(SourceDownError, match=r"the source odd gave x://half\.cut in no base64"):
                await shelf.sources.resource(source, "x://half.cut", "test")

    asyncio.run(life())


def test_what_it_offers_is_taken_up_when_it_changes(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            await shelf.reach("odd")
            before = shelf.sources.version
            await shelf.call("odd__grow")
            while shelf.sources.version == before:
                await asyncio.sleep(0.01)
            assert shelf.box().get("odd__grown") is not None

    asyncio.run(life())


def test_a_question_of_a_server_is_a_question_to_the_person(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd(timeout=2)
            await shelf.reach("odd")
            said = await shelf.call("odd__ask", ask=answering({"city": "Oslo", "sure": "yes"}))
            assert json.loads(said.text) == {"action": "accept", "content": {"city": "Oslo", "sure": True}}
            nobody = await shelf.call("odd__ask")
            assert json.loads(nobody.text) == {"action": "decline"}

    asyncio.run(life())


def test_what_can_not_be_started_says_why_and_is_not_tried_at_once_again(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("none", {"kind": "mcp", "command": "there-is-no-such-program"})
            reached = await shelf.reach("none")
            assert reached.state == "failed"
            assert "started by there-is-no-such-program, which is not installed here" in reached.why
            assert f"'command' in {shelf.sources.one('none').file}" in reached.why
            shelf.add("ends", {"kind": "mcp", "command": "false"})
            for _ in range(4):
                reached = await shelf.reach("ends")
            assert "the command ended with exit code 1" in reached.why
            assert "tried again in" in reached.why

    asyncio.run(life())


def test_a_command_reaches_the_hosts_it_declares_and_no_other(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            with served(World()) as world:
                host = world.base.removeprefix("http://")
                shelf.add_odd(hosts=[host])
                shelf.add_odd("closed")
                for slug in ("odd", "closed"):
                    assert (await shelf.reach(slug)).state == "ready"
                assert "Rex" in (await shelf.call("odd__fetch", {"text": f"{world.base}/pets/7"})).text
                assert "Rex" not in (await shelf.call("closed__fetch", {"text": f"{world.base}/pets/7"})).text

    asyncio.run(life())


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no boundary that holds here")
def test_a_command_changes_no_repository_in_what_it_may_change_unless_that_is_named(opened: OpenShelf) -> None:
    """What `.git/config` names is run by the person's next git, with no boundary at all."""
    names = (".git/config", "inner/AGENTS.md", "plain.txt")

    async def life() -> None:
        async with opened() as shelf:
            for name in names:
                for place in (shelf.counted, shelf.counted / "named"):
                    (place / name).parent.mkdir(parents=True, exist_ok=True)
                    (place / name).write_text("mine")
            shelf.add_odd()
            shelf.add_odd("named", write=[str(shelf.counted / "named"), str(shelf.counted / "named/.git")])
            for slug, changed in (("odd", ["plain.txt"]), ("named", [".git/config", "plain.txt"])):
                assert (await shelf.reach(slug)).state == "ready"
                done = [
                    name for name in names if (await shelf.call(f"{slug}__change", {"text": name})).text == "changed"
                ]
                assert done == changed
            refused = (await shelf.call("odd__change", {"text": names[0]})).text
            assert "weft sources allow odd --write FOLDER" in refused

    asyncio.run(life())


def test_where_nobody_said_which_way_a_server_has_the_older_is_tried_and_remembered(opened: OpenShelf) -> None:
    tried: list[str] = []

    async def life() -> None:
        async with opened() as shelf:
            shelf.add_odd()
            source = shelf.sources.one("odd")

            class Older(StdioLine):
                async def __aenter__(self) -> TransportStreams:
                    tried.append("older")
                    return await super().__aenter__()

            class Newer(McpLine):
                def __init__(self) -> None:
                    self.ended = asyncio.Event()

                def older(self) -> McpLine:
                    return Older(launch_of(source, {"PATH": os.environ["PATH"]}, shelf.sources.secrets()))

                async def __aenter__(self) -> TransportStreams:
                    tried.append("newer")
                    raise SourceDownError("it answered with status 405")

                async def __aexit__(self, *_: object) -> None:
                    """It was never opened."""

            connection = McpConnection("odd", Newer, seconds=10, repeatable=lambda _: False)
            try:
                assert (await connection.call("echo", {"text": "hi"}, shelf.context())).text == "hi"
                await connection.call("die", {}, shelf.context())
                assert (await connection.call("echo", {"text": "hi"}, shelf.context())).text == "hi"
            finally:
                await connection.close()

    asyncio.run(life())
    assert tried == ["newer", "older", "older"]
