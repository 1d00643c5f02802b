"""Stages for the conformance suite: each client with its loopback server behind it."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model as LayerModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.models.scripted_stages import scripted_stage
from weft.models.anthropic_messages import AnthropicMessages
from weft.models.endpoint import Endpoint
from weft.models.google import GoogleModel
from weft.models.http_model import HttpModel
from weft.models.model import Model, Request
from weft.models.openai_chat import OpenAIChat
from weft.models.openai_responses import OpenAIResponses
from weft.models.pydantic_layer import LayeredModel
from weft.models.structured import Way
from weft.testing.conformance import Stage
from weft.testing.wire import (
    Reply,
    Wire,
    WireServer,
    anthropic_wire,
    google_wire,
    openai_chat_wire,
    openai_responses_wire,
)

KEY = "sk-test-0123456789abcdef0123456789"
WIRES: list[tuple[type[HttpModel | LayeredModel], Wire, str]] = [
    (AnthropicMessages, anthropic_wire, "claude-sonnet-5"),
    (OpenAIChat, openai_chat_wire, "gpt-5"),
    (OpenAIResponses, openai_responses_wire, "gpt-5"),
]


class Layered(LayeredModel):
    """A wire through pydantic-ai's layer, with a client that the tests have, to hold the layer to the contract too."""

    extra = "google"
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        client = AsyncOpenAI(
            api_key=KEY, base_url=self._endpoint.base_url, max_retries=0, http_client=cast(Any, http_client)
        )
        return OpenAIResponsesModel(self._endpoint.model, provider=OpenAIProvider(openai_client=client))

    def settings(self, request: Request) -> dict[str, Any]:
        return {**super().settings(request), "openai_store": False, "openai_reasoning_summary": "auto"}


LAYERED = (Layered, openai_responses_wire, "gpt-5")


def endpoint(server: WireServer, model: str) -> Endpoint:
    return Endpoint(name=f"test/{model}", model=model, base_url=server.url, key=KEY)


def wire_stage(made: type[HttpModel | LayeredModel], wire: Wire, model: str) -> Stage:
    @asynccontextmanager
    async def stage(replies: Sequence[Reply]) -> AsyncIterator[Model]:
        async with WireServer(wire, replies) as server:
            client = made(endpoint(server, model))
            yield client
            await client.aclose()
            server.assert_done()

    return stage


STAGES: dict[str, Stage] = {
    "scripted": scripted_stage,
    **{wire.name: wire_stage(made, wire, model) for made, wire, model in WIRES},
    "layered": wire_stage(*LAYERED),
}
if importlib.util.find_spec("google") and importlib.util.find_spec("google.genai"):  # the extra weft[google]
    STAGES["google"] = wire_stage(GoogleModel, google_wire, "gemini-2.5-flash")
