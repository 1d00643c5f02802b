"""The shelf of sources of a test; whatever was started for it is gone when the test is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from tests.sources.made import Shelf

OpenShelf = Callable[[], AbstractAsyncContextManager[Shelf]]


@pytest.fixture
def opened(tmp_path: Path) -> OpenShelf:
    @asynccontextmanager
    async def open_shelf() -> AsyncIterator[Shelf]:
        shelf = Shelf(tmp_path)
        try:
            yield shelf
        finally:
            await shelf.sources.release("test")
            shelf.folder.close()

    return open_shelf
