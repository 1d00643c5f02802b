"""What a call cost: cached tokens at their own price, and unknown where it is not known."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from weft.models.prices import OwnPrice, cost, known_window
from weft.protocol.messages import Usage

USED = Usage(input=1_000_000, output=100_000)


def test_the_list_knows_models_of_each_provider() -> None:
    found = cost("claude-sonnet-4-5", USED, kind="anthropic")
    assert found.amount is not None
    assert found.amount > 0
    assert "Anthropic" in found.why
    for model, kind in (("gpt-5", "openai"), ("gpt-5", "openai-responses"), ("gemini-2.5-flash", "google")):
        assert (cost(model, USED, kind=kind).amount or 0) > 0


def test_cached_tokens_are_cheaper_and_written_ones_are_not() -> None:
    plain = cost("claude-sonnet-4-5", Usage(input=100_000, output=0), kind="anthropic").amount
    read = cost("claude-sonnet-4-5", Usage(input=100_000, output=0, cache_read=90_000), kind="anthropic").amount
    written = cost("claude-sonnet-4-5", Usage(input=100_000, output=0, cache_write=90_000), kind="anthropic").amount
    assert plain
    assert read
    assert written
    assert read < plain < written


def test_reasoning_is_part_of_the_output_and_not_counted_twice() -> None:
    with_reasoning = Usage(input=10, output=1000, reasoning=900)
    assert cost("gpt-5", with_reasoning, kind="openai") == cost("gpt-5", Usage(input=10, output=1000), kind="openai")


def test_unknown_is_unknown_and_never_nothing() -> None:
    for unknown in (
        cost("no-such-model", USED, kind="openai"),
        cost("gpt-5", USED, kind="openai", base_url="http://127.0.0.1:8080/v1"),
        cost("gpt-5", Usage(), kind="openai"),
        cost("gpt-5", Usage(input=10), kind="openai"),
    ):
        assert unknown.amount is None
        assert str(unknown) == "unknown"
        assert unknown.why


def test_an_own_price_counts_before_the_list() -> None:
    own = OwnPrice(input=Decimal(2), output=Decimal(10), cache_read=Decimal("0.2"))
    used = Usage(input=1_000_000, output=100_000, cache_read=500_000)
    assert cost("anything", used, own=own).amount == Decimal("2.1")
    free = OwnPrice(input=Decimal(0), output=Decimal(0))
    assert cost("anything", used, own=free).amount == 0, "a price of nothing is a price"


def test_the_embedded_model_is_free() -> None:
    assert cost("embedded", Usage()).amount == 0


def test_the_time_of_the_call_decides_where_prices_changed() -> None:
    early = cost("o3", USED, kind="openai", at=datetime(2025, 5, 1, tzinfo=UTC)).amount
    late = cost("o3", USED, kind="openai", at=datetime(2025, 9, 1, tzinfo=UTC)).amount
    assert early
    assert late
    assert late < early


def test_windows_are_known_too() -> None:
    assert (known_window("claude-sonnet-4-5", kind="anthropic") or 0) >= 200_000
    assert known_window("no-such-model", kind="openai") is None
    assert known_window("gpt-4o-mini", kind="openai", base_url="https://gateway.example/v1") == 128_000
