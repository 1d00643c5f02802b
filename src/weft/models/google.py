"""Gemini through Google's API. Needs the extra: `pip install weft[google]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.models.pydantic_layer import LayeredModel
from weft.models.structured import Way

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as LayerModel


class GoogleModel(LayeredModel):
    extra = "google"
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        try:
            from pydantic_ai.models.google import GoogleModel as Layer
            from pydantic_ai.providers.google import GoogleProvider
        except ImportError as error:
            raise self.not_installed() from error
        provider = GoogleProvider(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.base_url or None,
            http_client=http_client,
        )
        return Layer(self._endpoint.model, provider=provider)
