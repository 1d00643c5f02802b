"""What the sessions of a workspace cost: their logs read one after the other, each call priced and put into a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import date, tzinfo
from typing import Final, Literal

from weft.models.spending import NOTHING, ModelCall, Price, Spent, model_calls, moment
from weft.protocol.events import Record
from weft.protocol.values import dataclass
from weft.session.sessions import Sessions

By = Literal["session", "pipeline", "step", "model", "day"]
GROUPINGS: Final[tuple[By, ...]] = ("session", "pipeline", "step", "model", "day")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingAsk:
    """Which calls, and how they are put together. `zone` says when a day begins; None is the machine's own."""

    sessions: tuple[str, ...] = ()
    by: By = "session"
    since: date | None = None
    until: date | None = None
    """The last day that counts."""
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    groups: Mapping[str, Spent]
    total: Spent
    troubles: tuple[str, ...] = ()
    """What could not be read, and so is not in the sum."""


@dataclass(slots=True)
class _Sum:
    ask: SpendingAsk
    price: Price
    groups: dict[str, Spent] = field(default_factory=dict)
    total: Spent = NOTHING

    def add(self, session: str, call: ModelCall) -> None:
        day = day_of(call.at, self.ask.zone)
        if not is_within(day, self.ask.since, self.ask.until):
            return
        cost = self.price(call)
        name = _NAMES[self.ask.by](session, call, day)
        self.groups[name] = self.groups.get(name, NOTHING).plus(call, cost)
        self.total = self.total.plus(call, cost)


def spending(sessions: Sessions, price: Price, ask: SpendingAsk) -> Spending:
    """UserError for a session that is named and is not there; a log that can't be read is told and passed over."""
    summed = _Sum(ask, price)

    def take(session: str, records: Iterable[Record]) -> None:
        for call in list(model_calls(records)):  # all of a log, or nothing of it
            summed.add(session, call)

    troubles = sessions.read_each(take, ask.sessions)
    return Spending(groups=_in_order(summed.groups, ask.by), total=summed.total, troubles=tuple(troubles))


def _in_order(groups: Mapping[str, Spent], by: By) -> dict[str, Spent]:
    """Days in their order; everything else with the dearest first, and what is not known among those above."""
    if by == "day":
        return dict(sorted(groups.items()))
    items: Iterable[tuple[str, Spent]] = groups.items()
    return dict(sorted(items, key=lambda item: (-item[1].usd, -item[1].unpriced, -item[1].tokens, item[0])))


def day_of(at: str, zone: tzinfo | None) -> date | None:
    """None for a moment that can't be read."""
    when = moment(at)
    return when.astimezone(zone).date() if when else None


def is_within(day: date | None, since: date | None, until: date | None) -> bool:
    if day is None:
        return since is None and until is None
    return (since is None or since <= day) and (until is None or day <= until)


def _step_name(session: str, call: ModelCall, day: date | None) -> str:
    if not call.step:
        return f"conversation {call.conversation}"
    return f"{call.pipeline}/{call.step}" if call.pipeline else call.step


_NAMES: Final[Mapping[By, Callable[[str, ModelCall, date | None], str]]] = {
    "session": lambda session, call, day: session,
    "pipeline": lambda session, call, day: call.pipeline or "conversation",
    "step": _step_name,
    "model": lambda session, call, day: call.model,
    "day": lambda session, call, day: "unknown" if day is None else day.isoformat(),
}
