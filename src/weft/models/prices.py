"""What a call cost, from a price list that is part of the installation: pure, no network, no clock.

Cached tokens have their own prices and reasoning counts as output, as providers bill it. What is not known is None,
never 0; `spending.py` adds up.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from weft.protocol.messages import Usage
from weft.protocol.values import dataclass

MILLION: Final = Decimal(1_000_000)
_PROVIDERS: Final = {
    "anthropic": "anthropic",
    "claude-agent": "anthropic",
    "openai": "openai",
    "openai-responses": "openai",
    "codex": "openai",
    "google": "google",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrice:
    """US dollars for a million tokens, as a person wrote them down."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """US dollars, or None for unknown; `why` says where the price is from or what is missing."""

    amount: Decimal | None
    why: str
    saved: Decimal = Decimal(0)
    """What it would have cost more without the provider's cache; below 0 when writing into it was not worth it."""

    def __str__(self) -> str:
        return "unknown" if self.amount is None else f"${self.amount:.4f}"


def cost(
    model: str,
    usage: Usage,
    *,
    kind: str = "",
    base_url: str = "",
    own: OwnPrice | None = None,
    at: datetime | None = None,
) -> Cost:
    """What a call of `model` (the provider's name for it) cost at the time `at`."""
    if model == "embedded":
        return Cost(amount=Decimal(0), why="the embedded model costs nothing")
    if usage.input is None or usage.output is None:
        return Cost(amount=None, why="the tokens used are not known")

    def priced(used: Usage) -> Cost:
        if own is not None:
            return Cost(amount=_by_hand(used, own), why="the price in config.toml")
        return _by_list(model, used, kind, base_url, at)

    found = priced(usage)
    if found.amount is None or not (usage.cache_read or usage.cache_write):
        return found
    plain = priced(replace(usage, cache_read=None, cache_write=None)).amount
    return found if plain is None else replace(found, saved=plain - found.amount)


def known_window(model: str, *, kind: str = "", base_url: str = "") -> int | None:
    """How many tokens fit, as far as the list knows. A gateway has prices of its own, but the models of others."""
    from genai_prices.data_snapshot import get_snapshot

    for provider in dict.fromkeys((_provider(kind, base_url), _provider(kind, ""), (None, None))):
        try:
            _, found = get_snapshot().find_provider_model(model, None, *provider)
        except LookupError:
            continue
        if found.context_window:
            return found.context_window
    return None


def _by_hand(usage: Usage, own: OwnPrice) -> Decimal:
    read, written = usage.cache_read or 0, usage.cache_write or 0
    plain = max(0, (usage.input or 0) - read - written)
    read_price = own.input if own.cache_read is None else own.cache_read
    write_price = own.input if own.cache_write is None else own.cache_write
    paid = plain * own.input + read * read_price + written * write_price + (usage.output or 0) * own.output
    return paid / MILLION


def _by_list(model: str, usage: Usage, kind: str, base_url: str, at: datetime | None) -> Cost:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    provider, url = _provider(kind, base_url)
    tokens = Tokens(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read or 0,
        cache_write_tokens=usage.cache_write or 0,
    )
    try:
        if url:
            found = calc_price(tokens, model, provider_api_url=url, genai_request_timestamp=at)
        else:
            found = calc_price(tokens, model, provider_id=provider, genai_request_timestamp=at)
    except (LookupError, ValueError):
        return Cost(amount=None, why=f"the price list does not have {model}; a price can be set in config.toml")
    return Cost(amount=found.total_price, why=f"the list price of {found.provider.name} for {found.model.name}")


def _provider(kind: str, base_url: str) -> tuple[str | None, str | None]:
    """Whose list it is: the address decides where there is one, since a gateway has prices of its own."""
    return (None, base_url) if base_url else (_PROVIDERS.get(kind), None)
