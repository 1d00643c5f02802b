"""`weft mcp serve` with a client that is not of the official SDK, over standard input and output and over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_mcp_server import DOCUMENTS, token, words
from tests.knowledge.made import ISA, write_documents
from weft.files import Folder
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import open_collection
from weft.knowledge.tools import TOOLS

pytestmark = pytest.mark.slow
CLIENT = Path(__file__).parent / "other_client.py"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_documents(tmp_path / "knowledge/audit", DOCUMENTS, ISA).close()
    with Folder.open(tmp_path) as workspace, open_collection(workspace, "audit", Unavailable("")) as knowledge:
        knowledge.update()
    return tmp_path


@contextmanager
def by_stdio(desk: Path) -> Iterator[list[str]]:
    yield [sys.executable, *words(desk)]


@contextmanager
def by_http(desk: Path) -> Iterator[list[str]]:
    command = [sys.executable, *words(desk, "--http", "--port", "0")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as server:
        assert server.stderr is not None
        try:
            yield [server.stderr.readline().decode().strip(), token()]
        finally:
            server.terminate()
            server.communicate(timeout=30)


@pytest.mark.parametrize("server", [by_stdio, by_http])
@pytest.mark.timeout(180)
def test_another_client_uses_the_tools(desk: Path, server: Any) -> None:
    with server(desk) as reached:
        ran = subprocess.run([sys.executable, CLIENT, *reached], capture_output=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    seen = json.loads(ran.stdout)
    assert set(seen["tools"]) == set(TOOLS)
    found, verdict, wrong = seen["answers"]
    assert json.loads(found["text"])["results"][0]["paragraph_ref"] == "500.2"
    assert json.loads(verdict["text"])["details"][0]["state"] == "contradicted"
    assert wrong["error"]
    assert "query: field required" in wrong["text"]
