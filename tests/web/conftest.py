"""One server for all tests that only use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.served import CODE, PIPELINE, Client, Running, running


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="package")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid(tmp_path_factory.mktemp("served"))


@pytest.fixture
def own_desk(tmp_path: Path) -> Path:
    """For a test that tells everything its server has, which on `desk` depends on who was there before."""
    return laid(tmp_path)


def laid(where: Path) -> Path:
    folder = where / "desk"
    (folder / "pipelines").mkdir(parents=True)
    (folder / "code").mkdir()
    (folder / "pipelines" / "notes.yaml").write_text(PIPELINE)
    (folder / "code" / "notes.py").write_text(CODE)
    return folder


@pytest.fixture(scope="package")
def server(home: Path, desk: Path) -> Iterator[Running]:
    with running(home, desk) as found:
        yield found


@pytest.fixture(scope="package")
def browser(server: Running) -> Client:
    return server.signed_in()
