"""OpenAI's Responses API: what its reasoning models are best reached through. Nothing is stored on their side.

Needs the extra: `pip install weft[responses]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.models.model import Request
from weft.models.openai_chat import BASE_URL
from weft.models.pydantic_layer import LayeredModel
from weft.models.structured import Way

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as LayerModel


class OpenAIResponses(LayeredModel):
    extra = "responses"
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        try:
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider
        except ImportError as error:
            raise self.not_installed() from error
        client = AsyncOpenAI(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.base_url or BASE_URL,
            max_retries=0,
            http_client=http_client,
        )
        return OpenAIResponsesModel(self._endpoint.model, provider=OpenAIProvider(openai_client=client))

    def settings(self, request: Request) -> dict[str, Any]:
        made = {**super().settings(request), "openai_store": False}
        if request.thinking != "off":
            made["openai_reasoning_summary"] = "auto"
        return made
