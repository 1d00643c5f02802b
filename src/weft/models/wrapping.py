"""A model around another: what stands between a request and whoever answers it (limits, tries, stand-ins)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.models.model import Model, prepare

if TYPE_CHECKING:
    from weft.models.structured import Way
    from weft.workspace.model_table import MediaKind


class WrappedModel:
    """All that is known of a model is known of what is around it; how it is asked is the wrapper's own `stream`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window(self) -> int:
        return self._model.window

    @property
    def output_ways(self) -> tuple[Way, ...]:
        return getattr(self._model, "output_ways", ("prompted",))

    @property
    def media(self) -> frozenset[MediaKind] | None:
        """None when it says nothing: then its name counts."""
        return getattr(self._model, "media", None)

    async def prepare(self) -> None:
        """Loads what the first call would wait for."""
        await prepare(self._model)

    async def aclose(self) -> None:
        close = getattr(self._model, "aclose", None)
        if close is not None:
            await close()
