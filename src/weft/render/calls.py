"""The calls of a step on a screen: what it calls, nested, with time, tokens and cost, and what a model is writing.

    ⠹ work/large · make summary.json                       2.4 s
    ✓ Read · notes.md                                      12 ms
      The first paragraph says that …

`StepCalls` folds the events of one attempt; `call_lines` says a single event in words, for pipes and logs. Prices come
in as a function; what has no known price is "unknown", never nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeVar

from weft.protocol.call_events import CallEvent, CallKind, CallSettled, CallStarted, StepTextStreamed, Used
from weft.protocol.events import ItemSettled, StepCompleted, StepFailed, StepInterrupted
from weft.protocol.messages import CUT_OFF
from weft.protocol.values import dataclass
from weft.render.cells import clean, wrap
from weft.render.page import Page
from weft.render.signs import style
from weft.render.units import human_ms, human_seconds

if TYPE_CHECKING:
    from rich.text import Text

Price = Callable[[str, Mapping[str, int]], Decimal | None]
"""US dollars for so many tokens of a model; None when its price is not known."""
Spent = tuple[str | None, Mapping[str, int]]
"""A model and what was used of it."""
MOST_CALLS: Final = 6
"""Lines of calls under a running step; those at work and the last to end stay."""
MOST_TEXT: Final = 2
"""Lines of what is being written."""
_TAIL: Final = 2_000
"""Characters of it that are remembered."""


@dataclass(slots=True)
class StepCall:
    call: str
    kind: CallKind
    name: str
    parent: str = ""
    title: str = ""
    started: float | None = None
    ms: int | None = None
    ok: bool | None = None
    """None while it is going on."""
    message: str = ""
    cut: bool = False
    """The model's answer was cut at the most it may write."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    """The end of what it has written."""
    thinking: bool = False


@dataclass(slots=True)
class StepCalls:
    """The calls of one attempt, in the order they began."""

    calls: dict[str, StepCall] = field(default_factory=dict)

    def apply(self, event: CallEvent, now: float) -> None:
        match event:
            case CallStarted():
                self.calls[event.call] = StepCall(event.call, event.kind, event.name, event.parent, event.title, now)
            case StepTextStreamed():
                if (call := self.calls.get(event.call)) is not None:
                    earlier = call.text if call.thinking == event.thinking else ""
                    call.text, call.thinking = (earlier + event.text)[-_TAIL:], event.thinking
            case CallSettled():
                call = self.calls.setdefault(event.call, StepCall(event.call, event.kind, event.name, event.parent))
                call.title, call.ms, call.ok, call.message = event.title, event.ms, event.ok, event.message
                call.model, call.usage, call.text = event.model, event.usage, ""
                call.cut = event.stop in CUT_OFF


Nested = TypeVar("Nested", StepCall, CallSettled)


def nested(calls: Collection[Nested]) -> Iterator[tuple[Nested, int]]:
    """Each one followed by what it calls, with how deep it stands. One whose caller is not there stands by itself."""
    known = {call.call for call in calls}
    inside: dict[str, list[Nested]] = {}
    for call in calls:
        inside.setdefault(call.parent if call.parent in known else "", []).append(call)
    left = [(call, 0) for call in reversed(inside.get("", []))]
    while left:
        call, depth = left.pop()
        yield call, depth
        left += [(one, depth + 1) for one in reversed(inside.pop(call.call, []))]


def call_number(call: StepCall | CallSettled) -> int:
    return int(call.call) if call.call.isdecimal() else 0


def calls_block(calls: StepCalls, now: float, indent: int, sheet: Page, price: Price | None) -> list[Text]:
    """What a screen shows of a step at work."""
    depths = {call.call: min(depth, 4) for call, depth in nested(calls.calls.values())}
    shown = _chosen([calls.calls[name] for name in depths])
    hidden = len(calls.calls) - len(shown)
    lines: list[Text] = []
    if hidden:
        lines.append(sheet.line((" " * indent + f"{hidden} earlier call{'' if hidden == 1 else 's'}", "dim")))
    lines += [_line(call, now, indent + 2 * depths[call.call], sheet, price) for call in shown]
    writing = [call for call in calls.calls.values() if call.ok is None and call.text.strip()]
    if writing:
        last = writing[-1]
        under = indent + 2 * depths.get(last.call, 0) + 2
        pieces = wrap(sheet.clean(" ".join(last.text.split())), sheet.width - under)[-MOST_TEXT:]
        look = "dim italic" if last.thinking else "dim"
        lines += [sheet.line((" " * under + piece, look)) for piece in pieces]
    return lines


def _chosen(calls: list[StepCall]) -> list[StepCall]:
    """Those that are shown: what is at work with all it stands in, then the latest of the others."""
    if len(calls) <= MOST_CALLS:
        return calls
    by_name = {call.call: call for call in calls}
    kept: set[str] = set()
    for call in reversed(sorted(calls, key=call_number)):
        if call.ok is None or len(kept) < MOST_CALLS:
            above: StepCall | None = call
            while above is not None and above.call not in kept:
                kept.add(above.call)
                above = by_name.get(above.parent)
    return [call for call in calls if call.call in kept][-2 * MOST_CALLS :]


def _line(call: StepCall, now: float, indent: int, sheet: Page, price: Price | None) -> Text:
    state = {None: "running", True: "done", False: "failed"}[call.ok]
    sign = sheet.signs.spin(now) if call.ok is None else sheet.signs.state(state)
    dot = f" {sheet.signs.dot} "
    if call.ok is None:
        took = human_seconds(now - call.started) if call.started is not None else ""
    else:
        took = human_ms(call.ms or 0)
    parts = [*figures(call.model, call.usage, price, short=sheet.width < 90), *([took] if took else [])]
    told = call.message if call.message and (call.ok is False or call.cut) else call.title
    return sheet.line(
        (" " * indent + sign + " ", style(state)),
        (call.name, ""),
        (f"{dot}{told}" if told else "", "red" if call.ok is False else "dim"),
        right=(dot.join(parts), "dim"),
    )


def figures(model: str | None, usage: Mapping[str, int], price: Price | None, *, short: bool = False) -> list[str]:
    """Tokens and cost in words; what a call of no model did not use is left out."""
    found: list[str] = []
    if usage:
        read, wrote = usage.get("input", 0), usage.get("output", 0)
        found.append(f"{read + wrote:,} tok" if short else f"{read:,} in, {wrote:,} out")
    if model and price is not None and (cost := cost_words(price(model, usage))):
        found.append(cost)
    return found


def cost_words(amount: Decimal | None) -> str:
    """ "" for what is free."""
    if amount is None:
        return "cost unknown"
    return f"${amount:.4f}" if amount else ""


def call_lines(event: CallEvent, price: Price | None = None) -> list[str]:
    """The event as plain lines. What a model is writing is for screens only."""
    match event:
        case CallStarted():
            return [clean(f"step {event.step} calls {event.kind} {event.name}{_about(event.title)}")]
        case StepTextStreamed():
            return []
        case CallSettled():
            how = "done" if event.ok else "failed"
            took = ", ".join([human_ms(event.ms), *figures(event.model, event.usage, price)])
            said = f": {event.message}" if event.message else ""
            whose = f"step {event.step} item {event.item}" if event.item else f"step {event.step}"
            line = f"{whose} {event.kind} {event.name} {how}{_about(event.title)} ({took}){said}"
            return [clean(line), *(clean(f"  left out of the prompt: {what}") for what in event.dropped)]


def _about(title: str) -> str:
    return f" ({title})" if title else ""


def spent_parts(spent: Iterable[Spent], price: Price | None, *, short: bool = False) -> list[str]:
    """The sum over models: tokens, then cost, as far as it is known."""
    spent = list(spent)
    tokens = sum(used.get("input", 0) + used.get("output", 0) for _, used in spent)
    found = [f"{tokens:,} tok" if short else f"{tokens:,} tokens"] if tokens else []
    if price is not None:
        costs = [price(model, used) for model, used in spent if model]
        known = sum((cost for cost in costs if cost is not None), Decimal(0))
        found += filter(None, [f"${known:.4f}+?" if known and None in costs else cost_words(_sum(costs))])
    return found


def spent_of(settled: Used | StepCompleted | StepFailed | StepInterrupted | ItemSettled) -> list[Spent]:
    """What an attempt, or a try of an item, took of each model."""
    return [*settled.by_model.items()] or ([(settled.model, settled.usage)] if settled.usage else [])


def cost_of(spent: Iterable[Spent], price: Price | None) -> float | None:
    """US dollars as prices are now; None when they are not all known."""
    total = _sum(price(model, used) if price and model else None for model, used in spent)
    return None if total is None else float(total)


def _sum(costs: Iterable[Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
