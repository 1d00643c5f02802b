"""A step that a tool makes: deterministic calls, no model. Its artifact is the list of them, each with its end.

    {"calls": [{"input": {…}, "ok": true, "result": …, "message": "42 lines", "ms": 12}]}

A call that is denied or fails is told in its place, so that a later step can see what is missing; when none of them
has a result, the step has failed. Each call is an item and settles by itself (`items`): what has settled is not made
again when the step was cut off, nor a good result when other items have changed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from weft.checks.paths import ValuePlace, find, parse_path
from weft.orchestrator.calls import AttemptCalls
from weft.orchestrator.inputs import as_input
from weft.orchestrator.items import Item, ItemResult, StepItems
from weft.orchestrator.progress import SignInNeededError
from weft.orchestrator.workbench import Workbench
from weft.protocol.conversation_commands import ToolAsk
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.messages import ToolCall
from weft.protocol.steps import StepInput
from weft.workspace.flow import ArtifactPlace
from weft.workspace.scope import Taken, ToolCalls

MOST_CALLS: Final = 200
Rule = Callable[[ToolAsk], Awaitable[ToolAsk]]
"""Has a person say whether a call may be made."""


async def make_calls(
    wanted: ToolCalls,
    given: StepInput,
    bench: Workbench,
    calls: AttemptCalls,
    items: StepItems,
    say: Callable[[str], None],
    rule: Rule,
    *,
    tainted: bool,
) -> dict[str, Any]:
    """UserError when its input can't be put together, ExternalError when every call failed."""
    inputs = _inputs(wanted, given)
    names = [one[wanted.key] if wanted.each is not None else given.step for one in inputs]
    made: list[dict[str, Any]] = []
    denied = True
    for number, item in enumerate(items.of(names, inputs), 1):
        result, allowed = items.kept.get(item.hash), True
        if result is None:
            call = ToolCall(call=f"{given.step}-{number}", tool=wanted.tool, input=item.value)
            result, allowed = await _made(call, item, bench, calls, items, say, rule, tainted=tainted)
        denied = denied and not allowed
        told = {"ok": result.ok, "result": result.value, "message": result.message, "ms": result.ms}
        made.append({"input": item.value, **told})
    if made and not any(call["ok"] for call in made):
        how = "it is" if len(made) == 1 else f"all {len(made)} calls are"
        what = f"{how} without a result; the first: {made[0]['message']}"
        raise ExternalError(f"{wanted.tool}: {what}", retryable=not denied)
    return {"calls": made}


async def make_call(
    wanted: ToolCalls,
    given: StepInput,
    bench: Workbench,
    calls: AttemptCalls,
    say: Callable[[str], None],
    rule: Rule,
    *,
    tainted: bool,
) -> Any:
    """What one call gives, for one item of a step with a map. ExternalError when it failed."""
    call = ToolCall(call=f"{given.step}-{given.item_key}", tool=wanted.tool, input=_inputs(wanted, given)[0])
    result, allowed = await _made(call, None, bench, calls, None, say, rule, tainted=tainted)
    if not result.ok:
        raise ExternalError(f"{wanted.tool}: {result.message}", retryable=allowed)
    return result.value


async def _made(
    call: ToolCall,
    item: Item | None,
    bench: Workbench,
    calls: AttemptCalls,
    items: StepItems | None,
    say: Callable[[str], None],
    rule: Rule,
    *,
    tainted: bool,
) -> tuple[ItemResult, bool]:
    """One call to its end, settled with its item if it is one; and whether it was allowed."""
    begun = time.monotonic()
    async with calls.tool(call.tool, bench.title(call), dict(call.input)) as opened:
        ask = bench.judge(call, tainted=tainted)
        if ask.verdict == "ask" and not bench.attended:
            raise SignInNeededError(ask.reason)
        if ask.verdict == "ask":
            ask = await rule(ask)
        if ask.verdict != "allow":
            opened.settle(ok=False, message=ask.reason)
            result = ItemResult(False, None, ask.reason)
        else:
            outcome = await bench.run(call, say)
            ok = not outcome.is_error
            if not ok and (why := bench.waits_for_sign_in(call)):
                raise SignInNeededError(why)
            opened.settle(ok=ok, message=outcome.summary)
            value = outcome.data if outcome.data is not None else outcome.text
            ms = round((time.monotonic() - begun) * 1000)
            result = ItemResult(ok, value if ok else None, outcome.summary if ok else outcome.text, ms)
        if items is not None and item is not None:
            opened.item = items.settled(item, result)
    return result, ask.verdict == "allow"


def _inputs(wanted: ToolCalls, given: StepInput) -> list[dict[str, Any]]:
    same = {key: _value(taken, given) for key, taken in wanted.given.items()}
    if given.item_name:
        return [{**same, wanted.key: given.item}]
    if wanted.each is None:
        return [same]
    values = _found(wanted.each, given)
    if len(values) > MOST_CALLS:
        raise UserError(
            f"{wanted.each.at} of {wanted.each.artifact} has {len(values)} values, and a step makes at most "
            f"{MOST_CALLS} calls",
            hint="let the step before it choose fewer",
        )
    return [{**same, wanted.key: value} for value in values]


def _value(taken: Taken, given: StepInput) -> Any:
    if taken.parameter is not None:
        return given.parameters[taken.parameter]
    if taken.input is not None:
        if taken.input not in given.inputs:
            raise UserError(f"the input {taken.input} was not given", hint=f"give it: {as_input(taken.input)}")
        return given.inputs[taken.input]
    if taken.look is None:
        return taken.value
    values = _found(taken.look, given)
    if not values:
        raise UserError(f"there is nothing at '{taken.look.at}' of {taken.look.artifact}", hint="look at that artifact")
    return values[0] if len(values) == 1 and not parse_path(taken.look.at).many else values


def _found(look: ArtifactPlace, given: StepInput) -> list[Any]:
    value: Any = given.artifacts.get(look.artifact)
    if not look.at and not isinstance(value, Mapping | list):
        return [] if value is None else [value]
    return [place.value for place in find(parse_path(look.at), value) if isinstance(place, ValuePlace)]
