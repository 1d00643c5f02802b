from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def store(server: Server) -> Iterator[str]:
    """The address of a database of its own."""
    with server.database() as address:
        yield address
