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
from dataclasses import dataclass
from typing import Any, Final

from weft.conversation.prompt import Fragment
from weft.models.answer import Answer
from weft.models.json_reader import read
from weft.models.structured import as_object, within
from weft.orchestrator.agent_talk import Means, OverAllowanceError, Talk
from weft.orchestrator.model_step import task_of, wanted_schema
from weft.orchestrator.step_prompt import step_prompt
from weft.orchestrator.workbench import Workbench
from weft.protocol.errors import Finding, ModelFeedback
from weft.protocol.messages import Message, Text, ToolCall, ToolResult, ToolSpec
from weft.protocol.steps import StepInput
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    step: Step
    given: StepInput
    means: Means
    bench: Workbench
    judge: Callable[[Any], Awaitable[Sequence[Finding]]]
    """What is wrong with a value of the step's artifacts."""
    tainted: bool = False
    """Whether what it is given may have come from outside."""


async def make_with_agent(work: AgentWork) -> Any:
    """The value that was handed in and found good. ModelFeedback when none was, OverAllowanceError, ModelError."""
    means = work.means
    first = step_prompt(task_of(work.step, work.given), work.given, means.nonce, means.model.window // SHARE)
    for what in first.dropped:
        means.say(f"more than the model can read, left out: {what}")
    # Two fragments: a long one is cut at its end, and these rules must stand whatever an agent's file holds.
    texts = (_rules(work.bench), first.request.system)
    system = tuple(Fragment(kind="instructions", text=text) for text in texts)
    messages = list(first.request.messages)
    talk = Talk(means, work.bench, means.spent, messages, system, work.tainted, first.dropped)
    return await _Work(work, talk).run()


def _rules(bench: Workbench) -> str:
    place = _PLACE.format(folder=bench.working.path) if bench.working else "You have no folder to work in."
    return _RULES.format(place=place, hand_in=HAND_IN)


@dataclass(slots=True)
class _Work:
    work: AgentWork
    talk: Talk
    handed_in: int = 0
    nudged: int = 0

    async def run(self) -> Any:
        hand_in, turns = _hand_in(self.work.step), self.work.step.scope.turns
        for turn in range(1, turns + 1):
            left = turns - turn
            tools = (*self.work.bench.box.specs(), hand_in) if left else (hand_in,)
            answer = await self.talk.ask(tools, f"turn {turn}", must_call="" if left else HAND_IN)
            found = await self._answered(answer, left)
            if found is not None:
                return found[0]
        raise ModelFeedback([self._fault(f"the agent used all its {turns} turns without handing in a good result")])

    async def _answered(self, answer: Answer, left: int) -> tuple[Any] | None:
        """What was handed in and is good; else what the model is told next is in the messages."""
        over, calls = self.work.means.short(), answer.calls
        alone = len(calls) == 1 and calls[0].tool == HAND_IN
        if over and not alone:
            raise OverAllowanceError(over)
        results: list[ToolResult | Text] = []
        for call in calls:
            if alone:
                found = await self._hand_in(call)
                if not isinstance(found, ToolResult):
                    return found
                results.append(found)
            elif call.tool == HAND_IN:
                told = f"call {HAND_IN} alone, when you have seen the results of your other calls"
                results.append(ToolResult(call=call.call, tool=HAND_IN, text=told, is_error=True))
            else:
                results.append(await self.talk.call(call))
        if over:
            raise OverAllowanceError(over)
        if not calls:
            results.append(self._nudge(answer))
        if left <= WARNING:
            results.append(Text(text=f"You have {left} more turn{'s' if left > 1 else ''}, the last to hand in."))
        self.talk.messages.append(Message(role="user", content=tuple(results)))
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
        self.work.means.say(f"a result was handed in and has {len(findings)} fault{'s' if len(findings) > 1 else ''}")
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
