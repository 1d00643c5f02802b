"""A conversation inside a step: a model, tools that are judged and run, and what may be spent. No state outlives it.

An agent's own conversation ends by handing in (`agent_step`); that of a sub-agent, which a call of Task opens, ends
with its last message. Both ask and call through here, so that every call is reported under the one it belongs to, the
allowance of the attempt covers them all, and what came in from outside taints whoever is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from weft.conversation.prompt import Fragment, build_prompt
from weft.models.answer import Answer, gather
from weft.models.budget import Allowance, Estimate, Ledger, Price, breach
from weft.models.model import Model, ModelError, Request
from weft.orchestrator.calls import Call, Calls
from weft.orchestrator.prompt_text import prompt_text
from weft.orchestrator.workbench import Workbench
from weft.protocol.errors import UserError, WeftError
from weft.protocol.messages import Message, Text, Thinking, ToolCall, ToolResult, ToolSpec
from weft.tools.tool import Context, Handle, Outcome, StartSubTask, SubTask, begin, failed
from weft.workspace.agent import Agent
from weft.workspace.flow import Budget

SUB_AGENT: Final = "Task"
SUB_TURNS: Final = 30
"""How often a sub-agent may ask its model."""
_SUB_RULES: Final = """\
You do one piece of work for another agent, alone: nobody answers questions. Your last message, without a call, is your
result, and all that it gets. A call may be refused; then go on without it, and say what could not be done. Never claim
to have done or seen what you have not."""


class OverAllowanceError(WeftError):
    """What the attempt may spend is spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every conversation of an attempt shares."""

    step: str
    model: Model
    reference: str
    """What the model is priced by."""
    nonce: str
    allowance: Allowance
    price: Price
    say: Callable[[str], None]
    agents: Callable[[str], Agent]
    """UserError when there is none of that name."""
    spent: Calls
    """Of the whole attempt."""

    def short(self, ahead: Sequence[Estimate] = ()) -> str:
        """Why what is left for this attempt is not enough; "" when it is."""
        used, left = self.spent.spent, self.allowance
        ledger = Ledger().with_attempt(self.step, used.model, used.usage, 0, used.by_model)
        budget = Budget(float(left.usd) if left.usd is not None else None, left.tokens)
        return breach(budget, ledger.spent([self.step], self.price), ahead, self.price, f"this attempt of {self.step}")


@dataclass(slots=True)
class Talk:
    means: Means
    bench: Workbench
    calls: Calls
    messages: list[Message]
    system: tuple[Fragment, ...]
    tainted: bool = False
    dropped: tuple[str, ...] = ()
    """What it was given and did not fit."""
    _outside: set[str] = field(default_factory=set)
    """Calls whose results came from outside."""
    _told: int = 0
    """Messages that the model has had."""

    async def ask(self, tools: tuple[ToolSpec, ...], title: str, *, must_call: str = "") -> Answer:
        """The next answer; it is in the messages. OverAllowanceError before a call that does not fit."""
        means = self.means
        prompt = build_prompt(
            self.system,
            self.messages,
            tools,
            window=means.model.window,
            nonce=means.nonce,
            outside=frozenset(self._outside),
        )
        if short := means.short([Estimate(means.reference, prompt.tokens)]):
            raise OverAllowanceError(short)
        request = replace(prompt.request, must_call=must_call)
        dropped = (*self.dropped, *prompt.dropped)
        async with self.calls.model(means.reference, title, self._new_in(request), dropped=dropped) as call:
            answer = await gather(means.model.stream(request), call.part)
        if answer.stop == "refused":
            raise ModelError("refused", f"{means.model.name} refused to go on", hint="put the task in other words")
        content = [one for one in answer.message.content if not isinstance(one, Thinking) or one.signature]
        self.messages.append(Message(role="assistant", content=tuple(content) or (Text(text="(no answer)"),)))
        return answer

    def _new_in(self, request: Request) -> str:
        """What is kept of a prompt: all of the first, of each further one what the last did not have."""
        told, self._told = self._told, len(request.messages)
        return prompt_text(replace(request, system="", tools=(), messages=request.messages[told:]) if told else request)

    async def call(self, call: ToolCall) -> ToolResult:
        """Judged, run to its end, reported. A refusal is a result."""
        bench = self.bench
        report = self.calls.agent if call.tool == SUB_AGENT else self.calls.tool
        name = str(call.input.get("agent", "")) if call.tool == SUB_AGENT else call.tool
        async with report(name or call.tool or "unnamed", bench.title(call), dict(call.input)) as opened:
            judged = await bench.permitted(call, tainted=self.tainted)
            if not judged.allowed:
                opened.settle(ok=False, message=judged.why)
                return ToolResult(call=call.call, tool=call.tool, text=judged.why, is_error=True)
            outcome = await bench.run(call, self.means.say, self._sub_agents(opened))
            opened.settle(ok=not outcome.is_error, message=outcome.summary)
        if outcome.outside:
            self.tainted = True
            self._outside.add(call.call)
        return ToolResult(call=call.call, tool=call.tool, text=outcome.text, is_error=outcome.is_error)

    # -- sub-agents

    def _sub_agents(self, opened: Call) -> StartSubTask:
        async def start(task: SubTask, _: Context) -> Handle:
            return await begin(self._sub_agent(task, opened))

        return start

    async def _sub_agent(self, task: SubTask, opened: Call) -> Outcome:
        """It has this conversation's tools at most, and can't open another."""
        agent = self.means.agents(task.agent) if task.agent else None
        names = [tool.name for tool in self.bench.box if tool.name != SUB_AGENT]
        box, _ = self.bench.box.only(names)
        if agent and agent.tools:
            box, missing = box.only([name for name in agent.tools if name != SUB_AGENT])
            if not len(box):
                raise UserError(f"none of the tools of {agent.name} is allowed here ({', '.join(missing)})")
        texts = (_SUB_RULES, agent.text if agent else "")
        talk = Talk(
            self.means,
            replace(self.bench, box=box),
            opened,
            [Message(role="user", content=(Text(text=task.prompt),))],
            tuple(Fragment(kind="instructions", text=text) for text in texts if text),
            self.tainted,
        )
        before = self.tainted
        for turn in range(1, SUB_TURNS + 1):
            answer = await talk.ask(talk.bench.box.specs() if turn < SUB_TURNS else (), f"turn {turn}")
            if short := self.means.short():
                raise OverAllowanceError(short)
            if not answer.calls:
                outside = (f"what the sub-agent {task.agent} read",) if talk.tainted and not before else ()
                return Outcome(text=answer.text or "(it said nothing)", summary=f"{turn} turns", outside=outside)
            results = tuple([await talk.call(call) for call in answer.calls])
            talk.messages.append(Message(role="user", content=results))
        return failed(f"the sub-agent used all its {SUB_TURNS} turns and has no result", effect="unknown")
