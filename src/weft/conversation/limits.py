"""What bounds a conversation: turns, tokens, money and minutes as a person set them, and failing without end. Pure.

A limit counts for a conversation and all that is under it. It is looked at before the model is called, never in the
middle of a call: what was begun is finished, and what it took is counted. Only time that is over stops what runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from weft.conversation.state import ConversationState, State, above
from weft.models.budget import Price, summed
from weft.protocol.conversation_events import Limit

TIME_IS_OVER: Final = "time_is_over"
"""Why what runs is stopped when the minutes are over."""
SETTABLE: Final = ("turns", "tokens", "usd", "minutes")


def unpriced(model: str, usage: Mapping[str, int]) -> Decimal | None:
    """For a conversation that knows no prices."""
    return None


def reached(state: State, name: str, price: Price, failures: int) -> tuple[Limit, str] | None:
    """Why the model may not be called again, in words; None when it may."""
    talk = state.talks.get(name)
    if talk is None:
        return None
    for tool, count, _ in talk.failures.values():
        if failures and count >= failures:
            return "failures", f"{tool} failed {count} times with the same input, and was asked for again and again"
    for one in above(state, name):
        for limit, look in _LOOKS.items():
            if limit in one.limits and (why := look(one, one.limits[limit], price)):
                return limit, f"{one.conversation} {why}"
    return None


def minutes_over(state: State, name: str) -> str:
    """The same of what was stopped because its minutes are over, however exactly the stopped call could be timed."""
    left = [
        (one.limits["minutes"] * 60_000 - one.taken.ms, one) for one in above(state, name) if "minutes" in one.limits
    ]
    if not left:
        return ""  # the limit was taken back meanwhile
    first = min(left, key=lambda pair: pair[0])[1]
    return f"{first.conversation} {_over(first.limits['minutes'])}"


def seconds_left(state: State, name: str) -> float | None:
    """How long something may run before the minutes are over; None without a limit."""
    left = [one.limits["minutes"] * 60 - one.taken.ms / 1000 for one in above(state, name) if "minutes" in one.limits]
    return max(0.0, min(left)) if left else None


def used_of(talk: ConversationState, price: Price) -> Mapping[str, float]:
    """What counts on each limit so far; money only as far as prices are known."""
    spent = summed(talk.taken.usage.items(), price)
    return {
        "turns": talk.taken.turns,
        "tokens": spent.tokens,
        "usd": float(spent.usd),
        "minutes": talk.taken.ms / 60_000,
    }


def limit_words(name: str, used: float, most: float) -> str:
    """Such as "3 of 20 turns"."""
    if name == "usd":
        return f"${used:.2f} of ${most:.2f}"
    return f"{int(used):,} of {most:,.0f} {name}" if name != "minutes" else f"{used:.0f} of {most:g} minutes"


def faults(limits: Mapping[str, float]) -> Iterator[str]:
    """What is wrong with limits that somebody wants to set."""
    for name, value in limits.items():
        if name not in SETTABLE:
            yield f"{name} is no limit; there are {', '.join(SETTABLE)}"
        elif not math.isfinite(value) or value < 0:
            yield f"{name} can't be {value}"


def _turns(talk: ConversationState, most: float, price: Price) -> str:
    return f"may have {most:g} turns, and has had {talk.taken.turns}" if talk.taken.turns >= most else ""


def _tokens(talk: ConversationState, most: float, price: Price) -> str:
    used = summed(talk.taken.usage.items(), price).tokens
    return f"may take {most:,.0f} tokens, and has taken {used:,}" if used >= most else ""


def _usd(talk: ConversationState, most: float, price: Price) -> str:
    spent = summed(talk.taken.usage.items(), price)
    if spent.unpriced:
        return (
            f"may cost ${most:g}, but the price of {spent.unpriced[0]} is not known: set a price in config.toml, or "
            "a limit in tokens"
        )
    return f"may cost ${most:g}, and has cost ${spent.usd:.4f}" if spent.usd >= Decimal(str(most)) else ""


def _minutes(talk: ConversationState, most: float, price: Price) -> str:
    return _over(most) if talk.taken.ms >= most * 60_000 else ""


def _over(minutes: float) -> str:
    return f"may work for {minutes:g} minutes, and they are over"


_LOOKS: Final[Mapping[Limit, Callable[[ConversationState, float, Price], str]]] = {
    "turns": _turns,
    "tokens": _tokens,
    "usd": _usd,
    "minutes": _minutes,
}
