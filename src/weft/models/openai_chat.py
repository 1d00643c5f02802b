"""OpenAI Chat Completions at any address: OpenAI, Azure, gateways, OpenRouter, Ollama, llama.cpp, vLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from weft.models.model import Request
from weft.models.pydantic_layer import LayeredModel
from weft.models.structured import Way

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as LayerModel

BASE_URL: Final = "https://api.openai.com/v1"


class OpenAIChat(LayeredModel):
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        client = AsyncOpenAI(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.base_url or BASE_URL,
            max_retries=0,
            http_client=http_client,
        )
        return OpenAIChatModel(self._endpoint.model, provider=OpenAIProvider(openai_client=client))

    def settings(self, request: Request) -> dict[str, Any]:
        made = super().settings(request)
        if self._endpoint.base_url and "max_tokens" in made and "api.openai.com" not in self._endpoint.base_url:
            # Servers that speak the older dialect know only this name.
            made["extra_body"] = {"max_tokens": made["max_tokens"]}
        return made
