"""`[models.NAME]` in config.toml: how a model is reached. A key is named here, never written. Values, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_NAME: Final = pattern(r"[a-z0-9][a-z0-9-]{0,79}\Z")

ROLE_NAMES: Final = ("small", "standard", "strong")
ThinkingLevel = Literal["off", "low", "medium", "high"]
MediaKind = Literal["image", "pdf"]
ModelKind = Literal["anthropic", "openai", "openai-responses", "google", "gguf", "claude-agent", "acp", "codex"]


def is_connection_name(name: str) -> bool:
    return bool(_NAME.match(name)) and name not in ("embedded", *ROLE_NAMES)


@dataclass(frozen=True, kw_only=True)
class PriceTable:
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelTable:
    """A connection; what each of these means stands with `ModelEntry`, the same as people write it."""

    kind: ModelKind
    model: str | None = None
    base_url: str | None = None
    key: str | None = None
    file: str | None = None
    command: Sequence[str] | None = None
    home: Sequence[str] = ()
    threads: int | None = None
    window: int | None = None
    media: Sequence[MediaKind] | None = None
    thinking: ThinkingLevel | None = None
    fallbacks: Sequence[str] = ()
    price: PriceTable | None = None


@dataclass(frozen=True, kw_only=True)
class RoleTable:
    """`[roles]`: names for models by what they are good for, used wherever a model is named."""

    small: str | None = None
    standard: str | None = None
    strong: str | None = None

    def by_name(self) -> dict[str, str]:
        return {name: model for name in ROLE_NAMES if (model := getattr(self, name))}
