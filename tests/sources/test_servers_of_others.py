"""Against MCP servers that others wrote: over standard input and output, streamable HTTP and SSE."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.sources.conftest import OpenShelf
from tests.sources.made import Shelf, answering
from tests.sources.others import PLACE, own_node, server
from weft.app import App, SourceSettings
from weft.app.live.mentions import Attaching
from weft.files import Folder
from weft.protocol.errors import UserError

pytestmark = [pytest.mark.process, pytest.mark.needs("node")]
EVERYTHING, FILES = "@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem"


def add(shelf: Shelf, slug: str, package: str, *args: str, **more: object) -> None:
    config = {"kind": "mcp", "command": "node", "args": [str(server(package)), *args], "read": [str(PLACE)]}
    shelf.add(slug, {**config, **more})


def test_the_everything_server_over_its_standard_output(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            add(shelf, "every", EVERYTHING, "stdio")
            reached = await shelf.reach("every")
            assert reached.state == "ready", reached.why
            assert reached.listing is not None
            assert {"simple-prompt", "args-prompt"} <= {prompt.name for prompt in reached.listing.prompts}
            listed = (await shelf.call("every__list_resources")).text
            uri = listed.splitlines()[0].split("\t")[0]
            assert (await shelf.call("every__read_resource", {"uri": uri})).text
            prompt = await shelf.call("every__get_prompt", {"name": "args-prompt", "arguments": {"city": "Oslo"}})
            assert "Oslo" in prompt.text
            assert (await shelf.call("every__echo", {"message": "hi"})).text == "Echo: hi"
            assert "3" in (await shelf.call("every__get-sum", {"a": 1, "b": 2})).text
            picture = await shelf.call("every__get-tiny-image")
            assert "[image image/png, 4,033 bytes, kept as @session/blobs/" in picture.text
            long = await shelf.call("every__trigger-long-running-operation", {"duration": 1, "steps": 4})
            assert not long.is_error
            assert "every: 4 of 4" in shelf.said
            wrong = await shelf.call("every__get-sum", {"a": "one", "b": 2})
            assert wrong.is_error
            seen = (await shelf.call("every__get-env")).text
            assert "PRIVATE_TOKEN" not in seen
            asked = await shelf.call("every__trigger-elicitation-request", ask=answering({"": "1"}))
            assert "rror" not in asked.text.split("\n")[0] or asked.is_error

    asyncio.run(life())


def test_resources_are_listed_read_and_named(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "sources" / "every").mkdir(parents=True)
    config = {"kind": "mcp", "command": "node", "args": [str(server(EVERYTHING)), "stdio"], "read": [str(PLACE)]}
    (workspace / "sources" / "every" / "config.json").write_text(json.dumps(config))
    (workspace / "sources" / "notes").mkdir()
    notes = {"kind": "folder", "path": str(tmp_path)}
    (workspace / "sources" / "notes" / "config.json").write_text(json.dumps(notes))

    async def life() -> None:
        with App.open(workspace) as app, Folder.open(tmp_path) as folder:
            for request in app.not_agreed():
                app.consents.agree(request, "asked")
            shelf = SourceSettings(app)
            listed = await shelf.resources("every")
            (media_type, data), *_ = await shelf.resource("every", listed[0]["uri"])
            assert media_type.startswith("text/")
            assert data
            with pytest.raises(UserError, match="it has no resources"):
                await shelf.resources("notes")
            told = Attaching(app, folder, folder).attached(f"look at @source:every/{listed[0]['uri']}", ())
            assert told[0]["text"].startswith(f"The resource {listed[0]['uri']} of the source every.")

    asyncio.run(life())


def test_the_files_server_reads_and_writes_what_it_was_given_and_nothing_else(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shared = shelf.counted
            (shared / "a.txt").write_text("hello")
            add(shelf, "files", FILES, str(shared), write=[str(shared)])
            add(shelf, "looks", FILES, str(shared))
            assert (await shelf.reach("files")).state == "ready"
            assert (await shelf.reach("looks")).state == "ready"
            assert "hello" in (await shelf.call("files__read_text_file", {"path": str(shared / "a.txt")})).text
            given = {"path": str(shared / "b.txt"), "content": "made"}
            assert not (await shelf.call("files__write_file", given)).is_error
            assert (shared / "b.txt").read_text() == "made"
            held = await shelf.call("looks__write_file", {**given, "content": "changed"})
            assert held.is_error, "the kernel holds a command to what its config declares"
            assert (shared / "b.txt").read_text() == "made"

    asyncio.run(life())


@asynccontextmanager
async def everything_on(kind: str) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        own_node(),
        str(server(EVERYTHING)),
        kind,
        env={"PORT": str(port), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                await writer.wait_closed()
                break
            except OSError:
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("kind", ["streamableHttp", pytest.param("sse", marks=pytest.mark.campaign)])
def test_the_everything_server_over_the_network(opened: OpenShelf, kind: str) -> None:
    """And it is restarted: the session is another, and the next call does not notice."""

    async def life() -> None:
        async with opened() as shelf:
            async with everything_on(kind) as url:
                more = {"transport": "sse"} if kind == "sse" else {}
                shelf.add("every", {"kind": "mcp", "url": url, **more})
                reached = await shelf.reach("every")
                assert reached.state == "ready", reached.why
                assert (await shelf.call("every__echo", {"message": "hi"})).text == "Echo: hi"
            gone = await shelf.call("every__echo", {"message": "hi"})
            assert gone.is_error

    asyncio.run(life())


@pytest.mark.campaign
def test_twenty_sources_at_once(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            for number in range(20):
                shelf.add_odd(f"odd-{chr(97 + number)}")
            found = list(shelf.sources.declared().sources.values())
            reached = await shelf.sources.reach_all(found, "test")
            assert {one.state for one in reached.values()} == {"ready"}
            calls = [shelf.call(f"{one.slug}__echo", {"text": one.slug}) for one in found]
            assert [one.text for one in await asyncio.gather(*calls)] == [one.slug for one in found]

    asyncio.run(life())
