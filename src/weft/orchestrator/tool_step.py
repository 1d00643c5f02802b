"""A step that a tool makes: deterministic calls, no model. Its artifact is the list of them, each with its end.

    {"calls": [{"input": {…}, "ok": true, "result": …, "message": "42 lines", "ms": 12}]}

A call that is denied or fails is told in its place, so that a later step can see what is missing; when none of them
has a result, the step has failed. Each call is an item and settles by itself (`items`): what has settled is not made
again when the step was cut off, nor a good result when other items have changed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from weft.checks.paths import ValuePlace, find, parse_path
from weft.orchestrator.attempt_calls import AttemptCalls, since
from weft.orchestrator.inputs import as_input
from weft.orchestrator.items import ItemResult, StepItems
from weft.orchestrator.progress import SignInNeededError
from weft.orchestrator.step_toolbox import StepToolbox
from weft.protocol.conversation_commands import ToolAsk
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.events import ItemSettled
from weft.protocol.messages import ToolCall
from weft.protocol.steps import StepInput
from weft.protocol.values import dataclass
from weft.workspace.flow import ArtifactPlace
from weft.workspace.scope import Taken, ToolCalls

MOST_CALLS: Final = 200


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One attempt, and what it may use."""

    wanted: ToolCalls
    given: StepInput
    bench: StepToolbox
    calls: AttemptCalls
    rule: Callable[[ToolCall], Awaitable[ToolAsk]]
    """Whether a call may be made, by the rules or by a person who is asked."""

    async def all_calls(self, items: StepItems) -> dict[str, Any]:
        """UserError when its input can't be put together, ExternalError when every call failed."""
        wanted, step = self.wanted, self.given.step
        inputs = _inputs(wanted, self.given)
        names = [one[wanted.key] if wanted.each is not None else step for one in inputs]
        made: list[dict[str, Any]] = []
        denied = True
        for number, item in enumerate(items.of(names, inputs), 1):
            result, allowed = items.kept.get(item.hash), True
            if result is None:
                result, allowed = await self._made(f"{step}-{number}", item.value, partial(items.settled, item))
            denied = denied and not allowed
            told = {"ok": result.ok, "result": result.value, "message": result.message, "ms": result.ms}
            made.append({"input": item.value, **told})
        if made and not any(call["ok"] for call in made):
            how = "it is" if len(made) == 1 else f"all {len(made)} calls are"
            what = f"{how} without a result; the first: {made[0]['message']}"
            raise ExternalError(f"{wanted.tool}: {what}", retryable=not denied)
        return {"calls": made}

    async def one_call(self) -> Any:
        """What one call gives, for one item of a step with a map. ExternalError when it failed."""
        given = _inputs(self.wanted, self.given)[0]
        result, allowed = await self._made(f"{self.given.step}-{self.given.item_key}", given)
        if not result.ok:
            raise ExternalError(f"{self.wanted.tool}: {result.message}", retryable=allowed)
        return result.value

    async def _made(
        self,
        name: str,
        given: Mapping[str, Any],
        settled: Callable[[ItemResult], tuple[ItemSettled, bytes | None]] | None = None,
    ) -> tuple[ItemResult, bool]:
        """One call to its end, settled with its item if it is one; and whether it was allowed."""
        call, bench, begun = ToolCall(call=name, tool=self.wanted.tool, input=given), self.bench, time.monotonic()
        async with self.calls.tool(call.tool, bench.title(call), dict(given)) as opened:
            ask = await self.rule(call)
            if ask.ruling != "allow":
                opened.settle(ok=False, message=ask.reason)
                result = ItemResult(False, None, ask.reason)
            else:
                outcome = await bench.run(call, self.calls.say)
                ok = not outcome.is_error
                if not ok and (why := bench.waits_for_sign_in(call)):
                    raise SignInNeededError(why)
                opened.settle(ok=ok, message=outcome.summary)
                value = outcome.data if outcome.data is not None else outcome.text
                ms = since(begun)
                result = ItemResult(ok, value if ok else None, outcome.summary if ok else outcome.text, ms)
            if settled is not None:
                opened.item = settled(result)
        return result, ask.ruling == "allow"


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
