"""What a run has spent and may still spend. Pure: the ledger is a fold of settlements, prices come in as a function.

A limit is judged with an estimate before an attempt begins, counting the estimates of what runs beside it, and with
what was really used after it. What has no known price can't be held to a limit in money: that is said, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from decimal import ROUND_CEILING, Decimal
from typing import Final

from weft.protocol.values import dataclass, replace
from weft.session.state import StepSpending
from weft.workspace.flow import Budget

Price = Callable[[str, Mapping[str, int]], Decimal | None]
"""US dollars for so many tokens of a model; None when its price is not known."""
EXPECTED_ANSWER: Final = 1_000
"""Tokens that a call is taken to answer with before it was made."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """What an attempt will take at the least, as far as can be told before it."""

    model: str
    tokens: int
    least: bool = False
    """It leaves out what is known only when the call is made: an agent's tools."""

    @property
    def usage(self) -> dict[str, int]:
        return {"input": self.tokens, "output": EXPECTED_ANSWER}


@dataclass(frozen=True, slots=True)
class Under:
    """A limit: whose it is, and the most that it allows."""

    whose: str
    most: Decimal


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left for an attempt; None for no limit."""

    usd: Decimal | None = None
    tokens: int | None = None
    seconds: float | None = None
    usd_under: Under | None = None
    """The limit that leaves no more."""
    tokens_under: Under | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """By step: milliseconds of work, and tokens by model and kind."""

    steps: Mapping[str, tuple[int, Mapping[str, Mapping[str, int]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, spent: Mapping[str, StepSpending]) -> Ledger:
        return cls(
            {name: (one.ms, {model: dict(used) for model, used in one.usage.items()}) for name, one in spent.items()}
        )

    def with_attempt(
        self,
        step: str,
        model: str | None,
        usage: Mapping[str, int],
        ms: int,
        by_model: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Ledger:
        if not usage and not ms:
            return self
        before, models = self.steps.get(step, (0, {}))
        for name, tokens in (by_model or ({model or "": usage} if usage else {})).items():
            used = dict(models.get(name, {}))
            for kind, number in tokens.items():
                used[kind] = used.get(kind, 0) + number
            models = {**models, name: used}
        return replace(self, steps={**self.steps, step: (before + ms, models)})

    def spent(self, steps: Iterable[str], price: Price) -> BudgetSpent:
        chosen = [self.steps[name] for name in steps if name in self.steps]
        return summed(((model, used) for _, models in chosen for model, used in models.items()), price).and_ms(
            sum(ms for ms, _ in chosen)
        )


@dataclass(frozen=True, slots=True)
class BudgetSpent:
    usd: Decimal = Decimal(0)
    """The known part."""
    unpriced: tuple[str, ...] = ()
    """Models whose price is not known."""
    tokens: int = 0
    ms: int = 0

    def and_ms(self, ms: int) -> BudgetSpent:
        return replace(self, ms=self.ms + ms)

    def __add__(self, other: BudgetSpent) -> BudgetSpent:
        unpriced = tuple(dict.fromkeys([*self.unpriced, *other.unpriced]))
        return BudgetSpent(self.usd + other.usd, unpriced, self.tokens + other.tokens, self.ms + other.ms)


def summed(used: Iterable[tuple[str, Mapping[str, int]]], price: Price) -> BudgetSpent:
    usd, tokens, unpriced = Decimal(0), 0, {}
    for model, usage in used:
        tokens += usage.get("input", 0) + usage.get("output", 0)
        cost = price(model, usage)
        if cost is None:
            unpriced[model] = True
        else:
            usd += cost
    return BudgetSpent(usd, tuple(unpriced), tokens)


def breach(budget: Budget, spent: BudgetSpent, ahead: Iterable[CallEstimate], price: Price, whose: str) -> str:
    """Why the next attempt does not fit, in words; "" when it does. `ahead`: its estimate and those of what runs.

    What has no known price is held to the limit in tokens, if there is one; a limit in money alone refuses it."""
    ahead = list(ahead)
    coming = summed(((one.model, one.usage) for one in ahead), price)
    whole = spent + coming
    about = "at least" if any(one.least for one in ahead) else "about"
    if budget.usd is not None:
        if whole.unpriced and budget.tokens is None:
            return (
                f"{whose} has a limit of ${budget.usd:g}, but the price of {whole.unpriced[0]} is not known: "
                "set a price in config.toml, or a limit in tokens"
            )
        if whole.usd > Decimal(str(budget.usd)):
            told = (
                f"{whose} has ${budget.usd:g}: ${spent.usd:.4f} is spent, the next call takes {about} ${coming.usd:.4f}"
            )
            return told if about != "about" else f"{told}; ${_up(whole.usd)} would be enough for it"
    if budget.tokens is not None and whole.tokens > budget.tokens:
        told = (
            f"{whose} has {budget.tokens:,} tokens: {spent.tokens:,} are spent, the next call takes {about} "
            f"{coming.tokens:,}"
        )
        return told if about != "about" else f"{told}; {whole.tokens:,} would be enough for it"
    if budget.minutes is not None and spent.ms >= budget.minutes * 60_000:
        return f"{whose} has {budget.minutes:g} minutes, and they are spent"
    return ""


def short_of(left: Allowance, used: BudgetSpent, ahead: Iterable[CallEstimate], price: Price, whose: str) -> str:
    """Why what is left for an attempt does not suffice for these calls; "" when it does. It is told of the limit that
    leaves so little, as that is what a person sets."""
    ahead = list(ahead)
    whole = used + summed(((one.model, one.usage) for one in ahead), price)
    if left.usd is not None and (whole.usd > left.usd or (whole.unpriced and left.tokens is None)):
        limit = left.usd_under or Under(whose, left.usd)
        return breach(
            Budget(usd=float(limit.most)), BudgetSpent(limit.most - left.usd) + used, ahead, price, limit.whose
        )
    if left.tokens is not None and whole.tokens > left.tokens:
        limit = left.tokens_under or Under(whose, Decimal(left.tokens))
        gone = BudgetSpent(tokens=int(limit.most) - left.tokens)
        return breach(Budget(tokens=int(limit.most)), gone + used, ahead, price, limit.whose)
    return ""


def _up(usd: Decimal) -> Decimal:
    """Whole cents that are no less: a figure that is set as it is read must be enough."""
    return usd.quantize(Decimal("0.01"), ROUND_CEILING)


def exceeded(budget: Budget, spent: BudgetSpent, whose: str) -> str:
    """Which limit is broken by what was really spent, in words; "" when none is."""
    if budget.usd is not None and spent.usd > Decimal(str(budget.usd)):
        return f"{whose} has ${budget.usd:g}, and ${spent.usd:.4f} is spent"
    if budget.tokens is not None and spent.tokens > budget.tokens:
        return f"{whose} has {budget.tokens:,} tokens, and {spent.tokens:,} are spent"
    if budget.minutes is not None and spent.ms > budget.minutes * 60_000:
        return f"{whose} has {budget.minutes:g} minutes, and {spent.ms / 60_000:.1f} are spent"
    return ""


def allowance(
    limits: Iterable[tuple[Budget, BudgetSpent, Iterable[CallEstimate]]], price: Price, whose: Sequence[str] = ()
) -> Allowance:
    """The tightest of what is left under each limit, without what runs beside is taken to need. `whose`: each limit."""
    usd: list[tuple[Decimal, Under | None]] = []
    tokens: list[tuple[int, Under | None]] = []
    seconds: list[float] = []
    for number, (budget, really, beside) in enumerate(limits):
        spent = really + summed(((one.model, one.usage) for one in beside), price)

        def under(most: float, name: str = whose[number] if whose else "") -> Under | None:
            return Under(name, Decimal(str(most))) if name else None

        if budget.usd is not None:
            usd.append((max(Decimal(0), Decimal(str(budget.usd)) - spent.usd), under(budget.usd)))
        if budget.tokens is not None:
            tokens.append((max(0, budget.tokens - spent.tokens), under(budget.tokens)))
        if budget.minutes is not None:
            seconds.append(max(0.0, budget.minutes * 60 - spent.ms / 1000))
    money = min(usd, key=lambda one: one[0], default=(None, None))
    words = min(tokens, key=lambda one: one[0], default=(None, None))
    return Allowance(money[0], words[0], min(seconds, default=None), money[1], words[1])


def overlaid(budget: Budget, limits: Mapping[str, float]) -> Budget:
    """The pipeline's budget with what a person set in its place."""
    tokens = limits.get("tokens")
    return Budget(
        limits.get("usd", budget.usd),
        int(tokens) if tokens is not None else budget.tokens,
        limits.get("minutes", budget.minutes),
    )
