"""A step that an agent makes: a conversation of the session's engine that ends when its result is handed in.

    prompt -> model -> tool calls, judged and run -> results -> model -> … -> hand_in, judged as every artifact is

There is one way out: the tool `hand_in`, whose input is the artifact. What is wrong with it goes back in the exact
words of the schema and the checks, a bounded number of times. An agent that stops without it is told so, a bounded
number of times. The turns are bounded, the last of them is for handing in alone, and what the attempt may still spend
is looked at before each model call with an estimate and after it exactly.

The conversation is in the session's log, as `run-1/<step>#<attempt>`, and it is run by the same engine as a person's:
intent before effect, one settlement each, approvals that outlive the process, older turns told in short, sub-agents.
Whatever cuts the attempt off (a kill, an interrupt, its time, its budget), the next one with the same inputs opens the
conversation again and goes on: nothing that has an answer is asked again, and nothing that has a result is done again.
`AgentProgress` is all that is known of it, a fold of its events, so that a new process knows what the old one knew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.conversation.compaction import Summary, fitted
from weft.conversation.conversation import Conversation, Settings
from weft.conversation.ports import OffLoop, Ports, Running
from weft.conversation.projections import Said, Transcript, messages_of
from weft.conversation.prompt import Fragment, Prompt, build_prompt
from weft.conversation.tool_calls import SUB_AGENT, RunningTool, sub_agent
from weft.conversation.turns import TurnRules
from weft.models.budget import Allowance, CallEstimate, Ledger, Price, short_of
from weft.models.json_reader import read
from weft.models.model import Model, ModelError, Part, Request, Stop
from weft.models.structured import as_object, within
from weft.orchestrator.agent_progress import HAND_IN, NUDGE, AgentProgress, StepJournal
from weft.orchestrator.attempt_calls import AttemptCalls, through
from weft.orchestrator.attempt_timeout import patience
from weft.orchestrator.model_step import task_of, wanted_schema
from weft.orchestrator.progress import LEAVING, OverAllowanceError, QuestionOpenError, SignInNeededError
from weft.orchestrator.prompt_text import prompt_text
from weft.orchestrator.run_log import RunLog
from weft.orchestrator.step_prompt import StepPrompt, step_prompt
from weft.orchestrator.step_toolbox import StepToolbox
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.envelope import Actor
from weft.protocol.errors import ExternalError, Finding, ModelFeedback, UserError, WeftError
from weft.protocol.events import DurableEvent, Record
from weft.protocol.gates import sign_in_slug
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import CUT_OFF, Message, Text, ToolCall, ToolSpec
from weft.protocol.steps import StepInput
from weft.protocol.values import dataclass
from weft.tools.toolbox import Toolbox
from weft.workspace.agent import Agent
from weft.workspace.pipeline import Step

HAND_INS: Final = 4
"""How often a result may be handed in within one attempt."""
NUDGES: Final = 3
"""How often an agent may stop without one."""
SUB_TURNS: Final = 30
"""How often a sub-agent may ask its model."""
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
_SUB_RULES: Final = """\
You do one piece of work for another agent, alone: nobody answers questions. Your last message, without a call, is your
result, and all that it gets. A call may be refused; then go on without it, and say what could not be done. Never claim
to have done or seen what you have not."""
_GO_ON: Final = "You were stopped in the middle ({why}). What stands above has happened. Go on from there."


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """One attempt, and what it may use."""

    step: Step
    given: StepInput
    conversation: str
    model: Model
    reference: str
    """What the model is priced by."""
    nonce: str
    bench: StepToolbox
    agents: Callable[[str], Agent]
    """UserError when there is none of that name."""
    judge: Callable[[Any], Awaitable[Sequence[Finding]]]
    """What is wrong with a value of the step's artifacts."""
    allowance: Allowance
    price: Price
    calls: AttemptCalls
    """Of this attempt, since it was begun or taken up again."""
    log: RunLog
    off_loop: OffLoop
    before: Sequence[Record] = ()
    """What the log has of the conversation: it is gone on with."""
    tainted: bool = False
    """Whether what it is given may have come from outside."""

    def short(self, ahead: Sequence[CallEstimate] = ()) -> str:
        """Why what is left for this attempt is not enough; "" when it is."""
        used, left, name = self.calls.used, self.allowance, self.step.name
        ledger = Ledger().with_attempt(name, used.model, used.usage, 0, used.by_model)
        return short_of(left, ledger.spent([name], self.price), ahead, self.price, f"this attempt of {name}")


class AgentStep:
    """Drives the conversation of an attempt, and is what it uses: its model, its tools, its prompts."""

    def __init__(self, work: AgentWork) -> None:
        self._work = work
        self._course = AgentProgress(work.conversation)
        for record in work.before:
            self._course.take(record.event)
        self._course.at_work.clear()  # what an earlier process had begun does not run here
        self._patience = patience.get(None)
        self._nonce = self._course.nonce or work.nonce
        self.talk: Conversation
        """Where whoever is asked answers: an approval goes to it as to any conversation."""
        self._first: StepPrompt
        self._system: dict[str, tuple[Fragment, ...]] = {}
        self._written: list[Record] = []
        self._trouble: WeftError | None = None
        """Why the last model call failed, as it was raised."""
        self._findings: Sequence[Finding] = ()
        self._over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._signs_in: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """That a call waits for a sign-in, and nobody attends."""
        self._cut = False
        """The last answer was cut off by its length."""

    async def run(self) -> Any:
        """The value that was handed in and found good. ModelFeedback when none was, OverAllowanceError, ModelError,
        SignInNeededError."""
        work, model = self._work, self._work.model
        self._first = step_prompt(task_of(work.step, work.given), work.given, self._nonce, model.window // SHARE)
        for what in self._first.dropped:
            work.calls.say(f"more than the model can read, left out: {what}")
        # Two fragments: a long one is cut at its end, and these rules must stand whatever an agent's file holds.
        texts = (_rules(work.bench), self._first.request.system)
        self._system[work.conversation] = tuple(Fragment(kind="instructions", text=text) for text in texts)
        prompt = prompt_text(
            self._prompt(work.conversation, self._first.request.messages, frozenset()).request
        ).encode()
        brief = c.Brief(prompt=hash_bytes(prompt), nonce=self._nonce, tainted=work.tainted, dropped=self._first.dropped)
        journal = StepJournal(write=self._write, before=work.before, prompt=prompt)
        ports = Ports(
            model=lambda _: _Watched(self, model),
            toolbox=self,
            context=self,
            ids=lambda: "unused",  # every message has a name of its own
            off_loop=self._off_loop,
        )
        settings = Settings(name=work.conversation, rules=TurnRules(depth=1, goes_on=True, price=work.price))
        self.talk = Conversation(journal, ports, settings, work.before)
        following = asyncio.create_task(self._follow(), name=f"{work.conversation} shown")
        try:
            await self.talk.begin(brief)
            return await self._to_its_end()
        finally:
            await through(asyncio.ensure_future(self._leave(following)))

    # -- the conversation

    async def _to_its_end(self) -> Any:
        history = self._course
        self._open_questions()
        self._keep_time()
        if not history.messages:
            self._say("task", _text(self._first.request))
        elif history.end in ("interrupted", "failed") and not history.over:
            self._say(f"go-on-{history.messages}", _GO_ON.format(why=history.why or "interrupted"))
        while True:
            await self._rest()
            if history.over:
                return await self._handed_in()
            if history.end == "failed":
                raise self._trouble or ExternalError(history.why, retryable=True)
            if history.end == "interrupted":
                raise ExternalError(f"the conversation was interrupted: {history.why}", retryable=True)
            if history.limited:
                raise ModelFeedback([self._fault(history.why)])
            self._nudge()

    async def _rest(self) -> None:
        """Until nothing is left to do, what may be spent is not enough for the next model call, or a call waits for a
        sign-in."""
        idle = asyncio.ensure_future(self.talk.idle())
        ends: set[asyncio.Future[Any]] = {idle, self._over, self._signs_in}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not idle.done():
                idle.cancel()
                await asyncio.wait({idle})
        if self._over.done():
            raise OverAllowanceError(self._over.result())
        if self._signs_in.done():
            raise SignInNeededError(self._signs_in.result())
        idle.result()

    async def _handed_in(self) -> Any:
        value = within(_schema(self._work.step), dict(self._course.result or {}))
        if self._course.taken:
            return value
        raise ModelFeedback(self._findings or await self._work.judge(value) or [self._fault("no result was taken")])

    def _nudge(self) -> None:
        nudges = self._course.nudges + 1
        if nudges > NUDGES:
            raise ModelFeedback([self._fault(f"the agent stopped {nudges} times without handing in a result")])
        cut = "Your answer was cut off. " if self._cut else ""
        self._say(
            f"{NUDGE}-{nudges}",
            f"{cut}You have handed in nothing yet, so nothing counts. If you are done, call {HAND_IN} with the whole "
            "result; if not, go on with your tools.",
        )

    def _say(self, name: str, text: str) -> None:
        place = self._work.conversation
        self.talk.submit(c.SendMessage(conversation=place, message=name, text=text, origin="run"))

    async def _leave(self, following: asyncio.Task[None]) -> None:
        """Let go of it as it stands: what runs is stopped, what it has used is known, questions stay open."""
        for model, usage in self.talk.using():
            self._work.calls.add(model, usage)
        await self.talk.suspend(LEAVING)
        await asyncio.wait([following])

    # -- what is written and shown

    def _write(self, events: Sequence[DurableEvent], blobs: Sequence[bytes], by: Actor, key: str) -> list[Record]:
        records = self._work.log.write(events, blobs=blobs, by=by, key=key)
        self._written += records
        return records

    async def _off_loop(self, work: Callable[[], Any]) -> Any:
        """The one way to the log: what was written is known here, and told, before anything follows from it."""
        done = await self._work.off_loop(work)
        written, self._written = self._written, []
        for record in written:
            self._course.take(record.event)
            if isinstance(record.event, t.ApprovalRequested) and not self._work.bench.attended:
                self._wait_for_sign_in(record.event.reason)
        self._work.log.tell()
        self._keep_time()
        return done

    def _keep_time(self) -> None:
        """The time of the attempt stands still while a person is asked and nothing is at work."""
        if self._patience is not None:
            self._patience.stand_still(bool(self._course.questions) and not self._course.at_work)

    def _wait_for_sign_in(self, why: str) -> None:
        """The question is in the log: the attempt is let go of, and taken up when somebody has signed in."""
        if not self._signs_in.done():
            self._signs_in.set_result(why)

    async def _follow(self) -> None:
        async for item in self.talk.events(after=1 << 62):
            if isinstance(item, t.LiveConversationEvent):
                self._work.log.show(item)
            elif not isinstance(item, Record):
                self._work.calls.say(getattr(item, "text", ""))

    def _open_questions(self) -> None:
        """What an earlier process asked and nobody answered is asked again; when nobody can be asked now, it stays
        asked. A call that waited for a sign-in alone is made when that is there."""
        for (conversation, call), asked in [*self._course.questions.items()]:
            slug = sign_in_slug(asked.reason)
            if slug and not any(
                one.waits_for() for one in self._work.bench.box if one.source == slug and one.waits_for
            ):
                self.talk.approve(call, "once", conversation=conversation)
            elif slug and not self._work.bench.attended:
                self._wait_for_sign_in(asked.reason)
            elif not self._work.bench.attended:
                raise QuestionOpenError(asked.tool, self._work.log.session)
            else:
                self._work.log.ask_again(asked)

    # -- the prompts

    async def build(self, conversation: str, transcript: Transcript) -> Request:
        work, answered = self._work, self._course.answered.get(conversation, 0)
        most = work.step.scope.turns if conversation == work.conversation else SUB_TURNS
        if answered >= most:
            raise self._no_more(conversation, most)

        def prompt_of(entries: Sequence[Said]) -> Prompt:
            return self._prompt(conversation, messages_of(entries), transcript.outside)

        def recorded(summary: Summary) -> None:
            self.talk.submit(
                c.CompactTranscript(
                    conversation=conversation,
                    turn=summary.turn,
                    text=summary.text,
                    model=summary.model and work.reference,
                    usage=summary.usage,
                )
            )

        entries = list(transcript.entries)
        await self._afford(prompt_of(entries))
        prompt = await fitted(work.model, entries, prompt_of, self._nonce, recorded)
        await self._afford(prompt)
        return prompt.request

    async def _afford(self, prompt: Prompt) -> None:
        """Returns when what is left is enough for this prompt. Else it never does: the attempt is let go of, and the
        call is made when the attempt is taken up again with more."""
        if short := self._work.short([CallEstimate(self._work.reference, prompt.tokens)]):
            if not self._over.done():
                self._over.set_result(short)
            await asyncio.get_running_loop().create_future()

    def _prompt(self, conversation: str, messages: Sequence[Message], outside: frozenset[str]) -> Prompt:
        work, answered = self._work, self._course.answered.get(conversation, 0)
        mine = conversation == work.conversation
        left = (work.step.scope.turns if mine else SUB_TURNS) - answered
        tools = self._box(conversation).specs() if left > 1 else ()
        if mine:
            tools = (*tools, _hand_in(work.step))
            if answered and left <= WARNING:
                messages = _with(messages, f"You have {left} more turn{'s' if left > 1 else ''}, the last to hand in.")
        prompt = build_prompt(
            self._fragments(conversation),
            messages,
            tools,
            window=work.model.window,
            nonce=self._nonce,
            outside=outside,
        )
        must_call = HAND_IN if mine and left == 1 else ""
        return replace(prompt, request=replace(prompt.request, must_call=must_call))

    def _fragments(self, conversation: str) -> tuple[Fragment, ...]:
        if conversation not in self._system:
            agent = self._sub_agent(conversation)
            texts = (_SUB_RULES, agent.text if agent else "")
            self._system[conversation] = tuple(Fragment(kind="instructions", text=text) for text in texts if text)
        return self._system[conversation]

    def _no_more(self, conversation: str, turns: int) -> WeftError:
        if conversation != self._work.conversation:
            return WeftError(f"the sub-agent used all its {turns} turns and has no result")
        what = f"the agent used all its {turns} turns without handing in a good result"
        self._trouble = ModelFeedback([self._fault(what)])
        return self._trouble

    # -- the tools

    def _box(self, conversation: str) -> Toolbox:
        """A sub-agent has this conversation's tools at most, and can't open another."""
        box = self._work.bench.box
        if conversation == self._work.conversation:
            return box
        return _inner_box(box, self._sub_agent(conversation))

    def _sub_agent(self, conversation: str) -> Agent | None:
        name = self._course.sub_agents.get(conversation, "")
        return self._work.agents(name) if name else None

    def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> c.ToolAsk:
        bench = self._work.bench
        if call.tool == HAND_IN and conversation == self._work.conversation:
            return self._judge_hand_in(call)
        ask = replace(bench, box=self._box(conversation)).judge(call, tainted=tainted)
        if call.tool != SUB_AGENT or ask.ruling == "fault":
            return ask
        try:
            name = sub_agent(call.input)
            _inner_box(bench.box, self._work.agents(name) if name else None)
        except WeftError as error:
            return replace(ask, ruling="fault", reason=str(error))
        return replace(ask, prompt=str(call.input.get("prompt", "")))

    def _judge_hand_in(self, call: ToolCall) -> c.ToolAsk:
        """A result whose writing slipped is read all the same; it is judged when the call is made."""
        ask = c.ToolAsk(call=call.call, tool=HAND_IN, input=call.input, safe_to_retry=True)
        if not call.malformed:
            return ask
        reading = read(call.malformed)
        if reading is None:
            told = "the result was not JSON: hand in a JSON object"
            return replace(ask, ruling="fault", reason=told, malformed=call.malformed)
        return replace(ask, input=reading.value if isinstance(reading.value, dict) else {"value": reading.value})

    async def start(
        self, call: ToolCall, *, conversation: str, say: Callable[[str], None], seen: Mapping[str, str]
    ) -> Running:
        if call.tool == HAND_IN and conversation == self._work.conversation:
            return _Judging(asyncio.ensure_future(self._judged(call)))
        box = self._box(conversation)
        return RunningTool(await box.start(call, self._work.bench.context(call.call, say, seen)))

    async def _judged(self, call: ToolCall) -> c.ToolEnd:
        work, history = self._work, self._course
        turn = self.talk.state.talks[work.conversation].turn
        if turn is not None and len(turn.calls) > 1:
            told = f"call {HAND_IN} alone, when you have seen the results of your other calls"
            return c.ToolEnd(text=told, failed=True)
        self._findings = await work.judge(within(_schema(work.step), dict(call.input)))
        if not self._findings:
            return c.ToolEnd(text="taken", ends=True)
        count = len(self._findings)
        work.calls.say(f"a result was handed in and has {count} fault{'s' if count > 1 else ''}")
        lines = [f"- {finding.with_hint}" for finding in self._findings]
        text = "The result can't be taken yet:\n" + "\n".join(lines) + "\nPut this right and hand in the whole again."
        return c.ToolEnd(text=text, failed=True, ends=history.handed_in + 1 >= HAND_INS)

    def _fault(self, what: str) -> Finding:
        return Finding(self._work.step.artifacts[0], "", what, f"call {HAND_IN} with the whole result")


@dataclass(slots=True)
class _Judging:
    """A result that is being judged."""

    task: asyncio.Future[c.ToolEnd]

    def interrupt(self, reason: str) -> None:
        self.task.cancel()

    async def wait(self) -> c.ToolEnd | None:
        await asyncio.wait({self.task})
        return None if self.task.cancelled() else self.task.result()


@dataclass(slots=True)
class _Watched:
    """The model, by the name that it is priced by; what goes wrong with it is kept as it was raised."""

    desk: AgentStep
    model: Model

    @property
    def name(self) -> str:
        return self.desk._work.reference

    @property
    def window(self) -> int:
        return self.model.window

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        desk = self.desk
        try:
            async for part in self.model.stream(request):
                if isinstance(part, Stop):
                    desk._cut = part.reason in CUT_OFF
                    if part.reason == "refused":
                        hint = "put the task in other words"
                        raise ModelError("refused", f"{self.model.name} refused to go on", hint=hint)
                yield part
        except ModelError as error:
            desk._trouble = error
            raise


def _inner_box(box: Toolbox, agent: Agent | None) -> Toolbox:
    inner, _ = box.only([tool.name for tool in box if tool.name != SUB_AGENT])
    if agent is None or not agent.tools:
        return inner
    inner, missing = inner.only([name for name in agent.tools if name != SUB_AGENT])
    if not len(inner):
        raise UserError(f"none of the tools of {agent.name} is allowed here ({', '.join(missing)})")
    return inner


def _rules(bench: StepToolbox) -> str:
    place = _PLACE.format(folder=bench.working.path) if bench.working else "You have no folder to work in."
    return _RULES.format(place=place, hand_in=HAND_IN)


def _schema(step: Step) -> Any:
    return wanted_schema(step) or {"type": "string"}


def _hand_in(step: Step) -> ToolSpec:
    made = " and ".join(step.artifacts)
    return ToolSpec(
        name=HAND_IN,
        description=f"Hand in the whole result of this step ({made}). Call it alone, when you are done.",
        input_schema=as_object(_schema(step)),
    )


def _text(request: Request) -> str:
    return "\n\n".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))


def _with(messages: Sequence[Message], text: str) -> Sequence[Message]:
    """The messages, the last of them with a sentence more."""
    if not messages or messages[-1].role != "user":
        return [*messages, Message(role="user", content=(Text(text=text),))]
    return [*messages[:-1], replace(messages[-1], content=(*messages[-1].content, Text(text=text)))]
