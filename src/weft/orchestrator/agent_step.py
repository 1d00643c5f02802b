"""A step that an agent makes: a conversation with tools that ends when its result is handed in and found good.

    prompt -> model -> tool calls, judged and run -> results -> model -> … -> hand_in, judged as every artifact is

There is one way out: the tool `hand_in`, whose input is the artifact. What is wrong with it goes back in the exact
words of the schema and the checks, a bounded number of times. An agent that stops without it is told so, a bounded
number of times. The turns are bounded, the last of them is for handing in alone, and what the attempt may still spend
is looked at before each model call with an estimate and after it exactly.

The conversation is not recorded as one: the step is made as a whole or not at all. What it called is in the log, call
by call. After a crash or an interrupt the attempt is made anew, in the folder as it is then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from weft.conversation.prompt import Fragment, build_prompt
from weft.models.answer import Answer, gather
from weft.models.json_reader import read
from weft.models.model import Model, ModelError, Request
from weft.models.structured import as_object, within
from weft.orchestrator.budget import Allowance, Estimate, Ledger, Price, breach
from weft.orchestrator.calls import Calls
from weft.orchestrator.model_step import task_of, wanted_schema
from weft.orchestrator.prompt_text import prompt_text
from weft.orchestrator.step_prompt import step_prompt
from weft.orchestrator.workbench import Workbench
from weft.protocol.errors import Finding, ModelFeedback, WeftError
from weft.protocol.messages import Message, Text, Thinking, ToolCall, ToolResult, ToolSpec
from weft.protocol.steps import StepInput
from weft.workspace.flow import Budget
from weft.workspace.pipeline import Step

HAND_IN: Final = "hand_in"
HAND_INS: Final = 4
"""How often a result may be handed in within one attempt."""
NUDGES: Final = 3
"""How often an agent may stop without one."""
SHARE: Final = 2
"""What the step is given may fill one part in so many of what the model reads; the rest is for its work."""
WARNING: Final = 3
"""Turns before the end at which it is told that the end is near."""
_RULES: Final = """\
# How you work here

You work on one step of a run, alone: nobody answers questions. You have the tools that are listed, and nothing else.
{place}
Your work counts only when you hand it in: call {hand_in} once, alone, when you are done, with the whole result. It is
checked at once; if something is wrong you are told exactly what, and hand in the whole result again.
A call may be refused. Then go on without it, and say in your result what could not be done. Never claim to have done or
seen what you have not: what you hand in is compared with what is there."""
_PLACE: Final = """\
Your tools work in the folder {folder}: paths are relative to it, and nothing outside it can be reached."""


class OverAllowanceError(WeftError):
    """What the attempt may spend is spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    step: Step
    given: StepInput
    model: Model
    reference: str
    """What the model is priced by."""
    nonce: str
    bench: Workbench
    calls: Calls
    judge: Callable[[Any], Awaitable[Sequence[Finding]]]
    """What is wrong with a value of the step's artifacts."""
    allowance: Allowance
    price: Price
    say: Callable[[str], None]
    tainted: bool = False
    """Whether what it is given may have come from outside."""


async def make_with_agent(work: AgentWork) -> Any:
    """The value that was handed in and found good. ModelFeedback when none was, OverAllowanceError, ModelError."""
    return await _Talk(work).run()


@dataclass(slots=True)
class _Talk:
    work: AgentWork
    messages: list[Message] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    """Calls whose results came from outside."""
    tainted: bool = False
    dropped: tuple[str, ...] = ()
    """What the step was given and did not fit."""
    told: int = 0
    """Messages that the model has had."""
    handed_in: int = 0
    nudged: int = 0

    async def run(self) -> Any:
        work = self.work
        first = step_prompt(task_of(work.step, work.given), work.given, work.nonce, work.model.window // SHARE)
        for what in first.dropped:
            work.say(f"more than the model can read, left out: {what}")
        self.messages, self.dropped = list(first.request.messages), first.dropped
        self.tainted = work.tainted
        # Two fragments: a long one is cut at its end, and these rules must stand whatever an agent's file holds.
        texts = (self._rules(), first.request.system)
        system = tuple(Fragment(kind="instructions", text=text) for text in texts)
        hand_in = _hand_in(work.step)
        turns = work.step.scope.turns
        for turn in range(1, turns + 1):
            left = turns - turn
            tools = (hand_in,) if not left else (*work.bench.box.specs(), hand_in)
            answer = await self._ask(system, tools, f"turn {turn}", must=not left)
            found = await self._answered(answer, left)
            if found is not None:
                return found[0]
        raise ModelFeedback([self._fault(f"the agent used all its {turns} turns without handing in a good result")])

    def _rules(self) -> str:
        working = self.work.bench.working
        place = _PLACE.format(folder=working.path) if working else "You have no folder to work in."
        return _RULES.format(place=place, hand_in=HAND_IN)

    async def _ask(
        self, system: tuple[Fragment, ...], tools: tuple[ToolSpec, ...], title: str, *, must: bool
    ) -> Answer:
        work = self.work
        prompt = build_prompt(
            system,
            self.messages,
            tools,
            window=work.model.window,
            nonce=work.nonce,
            outside=frozenset(self.outside),
        )
        if short := self._short([Estimate(work.reference, prompt.tokens)]):
            raise OverAllowanceError(short)
        request = replace(prompt.request, must_call=HAND_IN) if must else prompt.request
        dropped = (*self.dropped, *prompt.dropped)
        async with work.calls.model(work.reference, title, self._new_in(request), dropped=dropped) as call:
            answer = await gather(work.model.stream(request), call.part)
        if answer.stop == "refused":
            hint = "put the task in other words"
            raise ModelError("refused", f"{work.model.name} refused to go on", hint=hint)
        return answer

    def _new_in(self, request: Request) -> str:
        """What is kept of a prompt: all of the first, of each further one what the last did not have."""
        told, self.told = self.told, len(request.messages)
        return prompt_text(replace(request, system="", tools=(), messages=request.messages[told:]) if told else request)

    def _short(self, ahead: Sequence[Estimate]) -> str:
        """Why what is left for this attempt is not enough; "" when it is."""
        work, used = self.work, self.work.calls.spent
        name = work.step.name
        ledger = Ledger().with_attempt(name, used.model, used.usage, 0, used.by_model)
        left = work.allowance
        budget = Budget(float(left.usd) if left.usd is not None else None, left.tokens)
        return breach(budget, ledger.spent([name], work.price), ahead, work.price, f"this attempt of {name}")

    async def _answered(self, answer: Answer, left: int) -> tuple[Any] | None:
        """What was handed in and is good; else what the model is told next is in the messages."""
        self.messages.append(_kept(answer))
        over = self._short([])
        calls = answer.calls
        handing = [call for call in calls if call.tool == HAND_IN]
        if over and not (len(calls) == 1 and handing):
            raise OverAllowanceError(over)
        results: list[ToolResult | Text] = []
        for call in calls:
            if call.tool != HAND_IN:
                results.append(await self._call(call))
            elif len(calls) > 1:
                told = f"call {HAND_IN} alone, when you have seen the results of your other calls"
                results.append(ToolResult(call=call.call, tool=HAND_IN, text=told, is_error=True))
            else:
                found = await self._hand_in(call)
                if not isinstance(found, ToolResult):
                    return found
                results.append(found)
        if over:
            raise OverAllowanceError(over)
        if not calls:
            results.append(self._nudge(answer))
        if left <= WARNING:
            results.append(Text(text=f"You have {left} more turn{'s' if left > 1 else ''}, the last to hand in."))
        self.messages.append(Message(role="user", content=tuple(results)))
        return None

    def _nudge(self, answer: Answer) -> Text:
        self.nudged += 1
        if self.nudged > NUDGES:
            what = f"the agent stopped {self.nudged} times without handing in a result"
            raise ModelFeedback([self._fault(what)])
        cut = "Your answer was cut off. " if answer.stop == "max_tokens" else ""
        return Text(
            text=f"{cut}You have handed in nothing yet, so nothing counts. If you are done, call {HAND_IN} with the "
            "whole result; if not, go on with your tools."
        )

    async def _hand_in(self, call: ToolCall) -> tuple[Any] | ToolResult:
        self.handed_in += 1
        findings = await self._judged(call)
        if not isinstance(findings, list):
            return findings
        if self.handed_in >= HAND_INS:
            raise ModelFeedback(findings)
        lines = [f"- {finding}{f' ({finding.hint})' if finding.hint else ''}" for finding in findings]
        text = "The result can't be taken yet:\n" + "\n".join(lines) + "\nPut this right and hand in the whole again."
        self.work.say(f"a result was handed in and has {len(findings)} fault{'s' if len(findings) > 1 else ''}")
        return ToolResult(call=call.call, tool=HAND_IN, text=text, is_error=True)

    async def _judged(self, call: ToolCall) -> tuple[Any] | list[Finding]:
        value: Any = call.input
        if call.malformed:
            reading = read(call.malformed)
            if reading is None:
                return [self._fault("the result was not JSON", "hand in a JSON object")]
            value = reading.value
        value = within(_schema(self.work.step), value)
        return list(await self.work.judge(value)) or (value,)

    async def _call(self, call: ToolCall) -> ToolResult:
        work, bench = self.work, self.work.bench
        judged = bench.judge(call, tainted=self.tainted)
        async with work.calls.tool(call.tool or "unnamed", bench.title(call), dict(call.input)) as opened:
            if not judged.allowed:
                opened.settle(ok=False, message=judged.why)
                return ToolResult(call=call.call, tool=call.tool, text=judged.why, is_error=True)
            outcome = await bench.run(call, work.say)
            opened.settle(ok=not outcome.is_error, message=outcome.summary)
        if outcome.outside:
            self.tainted = True
            self.outside.add(call.call)
        return ToolResult(call=call.call, tool=call.tool, text=outcome.text, is_error=outcome.is_error)

    def _fault(self, what: str, hint: str = "") -> Finding:
        return Finding(self.work.step.artifacts[0], "", what, hint or f"call {HAND_IN} with the whole result")


def _schema(step: Step) -> Any:
    return wanted_schema(step) or {"type": "string"}


def _hand_in(step: Step) -> ToolSpec:
    made = " and ".join(step.artifacts)
    return ToolSpec(
        name=HAND_IN,
        description=f"Hand in the whole result of this step ({made}). Call it alone, when you are done.",
        input_schema=as_object(_schema(step)),
    )


def _kept(answer: Answer) -> Message:
    content = [one for one in answer.message.content if not isinstance(one, Thinking) or one.signature]
    return Message(role="assistant", content=tuple(content) or (Text(text="(no answer)"),))
