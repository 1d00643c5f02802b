"""What the first call of a model would wait for is loaded while the person still types."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app import App, SessionRequest
from weft.models.falling_back import FallingBack
from weft.models.model import ModelError, prepare
from weft.models.retrying import Retrying
from weft.protocol.commands import Say
from weft.testing.scripted import ScriptedModel, Turn, says


class Loading(ScriptedModel):
    def __init__(self, trouble: Exception | None = None) -> None:
        super().__init__([Turn(says("Hello."))])
        self.loaded, self.trouble = asyncio.Event(), trouble

    async def prepare(self) -> None:
        self.loaded.set()
        if self.trouble is not None:
            raise self.trouble


@pytest.mark.parametrize("trouble", [None, ModelError("auth", "no key"), ImportError("no such client")])
def test_the_model_of_a_conversation_is_loaded_before_anything_is_said(
    workspace: Path, trouble: Exception | None
) -> None:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')

    async def go() -> list[str]:
        model = Loading(trouble)
        with App.open(workspace, models={"scripted": model}) as app:
            async with app.session(SessionRequest(talk=True, session="talk"), reachable=False) as session:
                await asyncio.wait_for(model.loaded.wait(), 10)
                await session.submit(Say(text="Hi"))
                await session.rest()
            return [getattr(record.event, "text", "") for record in app.sessions.records("talk")]

    assert "Hello." in asyncio.run(go())


def test_whoever_stands_before_a_model_loads_it() -> None:
    async def go() -> None:
        model = Loading()
        await prepare(FallingBack(Retrying(model), []))
        assert model.loaded.is_set()
        await prepare(Retrying(ScriptedModel([])))  # one that has nothing to load

    asyncio.run(go())
