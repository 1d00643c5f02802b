"""`weft mcp serve` with the official client on the other side, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.knowledge.made import ISA, write_documents
from tests.web.served import CODE, PATIENT, PIPELINE
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.knowledge.tools import TOOLS

pytestmark = pytest.mark.slow
DOCUMENTS = {
    "isa-315.txt": "1. The auditor shall assess risk within 30 days.\n2. See ISA 500.2.\n3. The end of it.",
    "isa-500.txt": "1. Evidence is gathered.\n2. Evidence shall be sufficient.\n3. Last one.",
}
CLIENT = {"name": "test", "version": "1"}
Connect = Callable[[Path], AbstractAsyncContextManager[Client]]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_documents(tmp_path / "knowledge/audit", DOCUMENTS, f"{ISA}tool_prefix: isa\n").close()
    with Folder.open(tmp_path) as workspace, open_collection(workspace, "audit", Unavailable("")) as knowledge:
        knowledge.update()
    return tmp_path


def words(desk: Path, *more: str) -> list[str]:
    return ["-m", "weft", "--workspace", str(desk), "mcp", "serve", "--kb", "audit", *more]


def token() -> str:
    """For programs that come over HTTP."""
    made = subprocess.run(
        [sys.executable, "-m", "weft", "tokens", "add", "test", "--scope", "mcp"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return made.stdout.strip()


@asynccontextmanager
async def by_stdio(desk: Path) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=sys.executable, args=words(desk), env=dict(os.environ))
    async with Client(server) as client:
        yield client


@asynccontextmanager
async def by_http(desk: Path) -> AsyncIterator[Client]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words(desk, "--http", "--port", "0"), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    try:
        address = (await asyncio.wait_for(process.stderr.readline(), 60)).decode().strip()
        async with httpx2.AsyncClient() as http:
            assert (await http.post(address, json={})).status_code == 401
        headers = {"Authorization": f"Bearer {token()}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            yield client
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 30)


@pytest.mark.parametrize("connect", [by_stdio, by_http])
@pytest.mark.timeout(180)
def test_the_official_client_uses_the_tools(desk: Path, connect: Connect) -> None:
    async def use() -> None:
        async with connect(desk) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert set(TOOLS) <= offered
            assert "isa_hybrid_search" in offered

            found = await _answer(client, "kb_search", {"query": "sufficient evidence", "search_type": "keyword"})
            assert found["results"][0]["paragraph_ref"] == "500.2"
            hops = await _answer(client, "isa_hop_retrieve", {"paragraph_id": "ISA 315.2"})
            assert hops["connected"][0]["isa_number"] == "500"
            claim = {"paragraph_ref": "315.1", "claim": "The auditor shall assess risk within 45 days"}
            verdict = await _answer(client, "kb_verify_citations", {"citations": [claim]})
            assert verdict["details"][0]["state"] == "contradicted"

            wrong = await client.call_tool("kb_search", {"max_results": 3})
            assert wrong.is_error
            assert "query: field required" in str(wrong.content)
            again = await _answer(client, "kb_list_standards", {})
            assert again["total_standards"] == 2, "an error of one call ends nothing"

    asyncio.run(use())


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    answer: dict[str, Any] = result.structured_content
    return answer


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_lets_go_of_its_sessions_though_its_client_says_nothing_more(
    tmp_path: Path, number: signal.Signals
) -> None:
    """In the midst of a call, with standard input open: the run is stopped, and can go on later."""
    for name, text in {"pipelines/notes.yaml": PIPELINE, "code/notes.py": CODE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "weft", "--workspace", str(tmp_path), "mcp", "serve", "--sessions"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        for at, (method, given) in enumerate(
            (
                ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}),
                ("tools/call", {"name": "start_run", "arguments": {"pipeline": "notes", "text": PATIENT}}),
            )
        ):
            print(json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": given}), file=process.stdin)
            process.stdin.flush()
        try:
            while not any('"step_started"' in log.read_text() for log in tmp_path.glob("sessions/*/log.jsonl")):
                time.sleep(0.05)
            process.send_signal(number)
            assert process.wait(30) == 130
        finally:
            process.kill()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    (log,) = tmp_path.glob("sessions/*/log.jsonl")
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["type"], last["outcome"]) == ("run_ended", "interrupted")
