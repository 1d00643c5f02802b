"""What is known of a model is known of everything that stands around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from weft.models.falling_back import FallingBack
from weft.models.limiting import LimitedModel, ResourceLimits
from weft.models.media import media_taken
from weft.models.model import Model, Part, Request, prepare
from weft.models.retrying import Retrying
from weft.models.structured import Way, ways_of
from weft.testing.scripted import ScriptedModel
from weft.workspace.model_table import MediaKind
from weft.workspace.resource_limit import ResourceLimit


class Known:
    """A model that tells all that a model can tell of itself."""

    name = "desk/known"
    window = 4321
    output_ways: tuple[Way, ...] = ("native", "prompted")
    media: frozenset[MediaKind] = frozenset({"pdf"})

    def __init__(self) -> None:
        self.did: list[str] = []

    async def prepare(self) -> None:
        self.did.append("prepared")

    async def aclose(self) -> None:
        self.did.append("closed")

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        raise NotImplementedError
        yield


def limited(model: Model, folder: Path) -> Model:
    limit = {"desk": ResourceLimit(at_once=1)}
    return LimitedModel(model, ResourceLimits(folder, limit), "desk")


WRAPPERS: dict[str, Callable[[Model, Path], Any]] = {
    "limited": limited,
    "tried again": lambda model, _: Retrying(model),
    "with others behind it": lambda model, _: FallingBack(model, []),
    "all of them": lambda model, folder: FallingBack(Retrying(limited(model, folder)), []),
}


@pytest.mark.parametrize("how", WRAPPERS)
def test_what_a_model_says_of_itself_is_said_by_what_is_around_it(tmp_path: Path, how: str) -> None:
    model = Known()
    around = WRAPPERS[how](model, tmp_path)

    async def used() -> None:
        await prepare(around)
        await around.aclose()

    asyncio.run(used())
    assert (around.name, around.window) == ("desk/known", 4321)
    assert ways_of(around) == ("native", "prompted")
    assert media_taken(around) == {"pdf"}
    assert model.did == ["prepared", "closed"]


@pytest.mark.parametrize("how", WRAPPERS)
def test_a_model_that_says_nothing_of_itself_may_stand_there_too(tmp_path: Path, how: str) -> None:
    model = ScriptedModel([])
    around = WRAPPERS[how](model, tmp_path)

    async def used() -> None:
        await prepare(around)
        await around.aclose()

    asyncio.run(used())
    assert ways_of(around) == ways_of(model)
    assert media_taken(around) == media_taken(model)
