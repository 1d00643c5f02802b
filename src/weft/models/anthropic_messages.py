"""Claude through the Anthropic Messages API, or any server that speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from weft.models.model import Request
from weft.models.pydantic_layer import LayeredModel

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as LayerModel

BASE_URL: Final = "https://api.anthropic.com"
MAX_TOKENS: Final = 8192


class AnthropicMessages(LayeredModel):
    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.base_url or BASE_URL,
            max_retries=0,
            http_client=http_client,
        )
        return AnthropicModel(self._endpoint.model, provider=AnthropicProvider(anthropic_client=client))

    def settings(self, request: Request) -> dict[str, Any]:
        made = super().settings(request)
        made.setdefault("max_tokens", MAX_TOKENS)
        if request.thinking != "off":
            # A thinking model may not be held to one tool, and refuses any temperature but its own.
            made.pop("tool_choice", None)
            made.pop("temperature", None)
            made["max_tokens"] = max(made["max_tokens"], 2 * MAX_TOKENS)
        return made
