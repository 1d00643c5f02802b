"""Every model keeps the contract: the same checks for the scripted one and each client on its wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.models.stages import STAGES, endpoint
from weft.models.embedded_model import EmbeddedModel
from weft.models.google import GoogleModel
from weft.models.model import TextDelta
from weft.models.retrying import Retrying
from weft.testing.conformance import CONFORMANCE, DEADLINE, HELLO, Check, check_any_model
from weft.testing.scripted import Hold
from weft.testing.wire import Reply, WireServer, google_wire

NEEDS_TEXT = {"arguments_that_are_no_json_are_handed_over"}
"""On Google's wire arguments are an object, not a text that could be anything."""
ALL = [
    pytest.param(name, check, id=f"{name}-{check.__name__}")
    for name in STAGES
    for check in CONFORMANCE
    if name != "google" or check.__name__ not in NEEDS_TEXT
]


@pytest.mark.parametrize(("stage", "check"), ALL)
def test_the_contract(stage: str, check: Check) -> None:
    asyncio.run(check(STAGES[stage]))


@pytest.mark.parametrize("documents", [{}, {"Tides": "Low tide was at six. The pier stood dry until nine."}])
def test_the_embedded_model_keeps_as_much_of_it_as_anybody_must(documents: dict[str, str]) -> None:
    model = EmbeddedModel(lambda: documents)
    answer = asyncio.run(check_any_model(model))
    assert answer.text
    assert answer.stop == "end"
    assert (answer.usage.input, answer.usage.output) == (0, 0), "it reports that it used nothing"
    assert asyncio.run(check_any_model(Retrying(model))).text == answer.text


@pytest.mark.skipif("google" not in STAGES, reason="the extra weft[google] is not installed")
def test_closing_a_stream_of_googles_client_closes_its_socket() -> None:
    """Its client keeps the socket of an answer that nobody reads on: the provider would go on writing, for money."""

    async def go() -> None:
        hold = Hold()
        reply = Reply(text="one two three", hold=hold, hold_after=1)
        async with WireServer(google_wire, [reply]) as server:
            model = GoogleModel(endpoint(server, "gemini-2.5-flash"))
            stream: Any = model.stream(HELLO)
            async for part in stream:
                if isinstance(part, TextDelta):
                    break
            await stream.aclose()
            await asyncio.wait_for(server.gone.wait(), DEADLINE)
            await model.aclose()

    asyncio.run(go())
