"""`weft acp`: a session in an editor, by the Agent Client Protocol. A face like the others.

    editor --prompt--> Say, or what a slash means --> the door --> events --> session/update --> editor
                                                      approvals, questions, gates --> request_permission

A session of the editor is a session of the workspace: it goes on in a terminal, on the page, and after a crash.
Standard output belongs to the protocol. Needs the extra: `pip install 'weft[acp]'`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast, get_args

import click

from weft.app import (
    App,
    Attach,
    Build,
    Export,
    Fork,
    Leave,
    OpenedSession,
    Overview,
    SessionRequest,
    Showing,
    Slash,
    complete,
    read_slash,
)
from weft.cli.place import ensure_workspace, open_app, trust_option, workspace_option, workspace_path
from weft.cli.stopping import until_told
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import AnswerQuestion, Interrupt, Mode, Say, SessionCommand, SetMode
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError, WeftError
from weft.protocol.messages import StopReason, told_stop
from weft.render.conversation_lines import told_beside
from weft.render.units import told_retry
from weft.version import __version__

EDITOR: Final = Actor("person", face="acp")
MAIN: Final = "main"
MOST_TEXT: Final = 8_000
"""Characters of a result that an editor is shown; the log has all of it."""
NOT_HERE: Final = ("attach", "build", "exit")
"""Commands that an editor has its own way for, or none."""
_KINDS: Final[Mapping[str, str]] = {
    "Read": "read",
    "Glob": "search",
    "Grep": "search",
    "Write": "edit",
    "Edit": "edit",
    "Shell": "execute",
    "WebFetch": "fetch",
}
_STOPS: Final[Mapping[StopReason, str]] = {"max_tokens": "max_tokens", "repeated": "max_tokens", "refused": "refusal"}


@click.command("acp")
@click.option("--model", metavar="NAME", help="The model that answers; else the workspace's.")
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="ask",
    show_default=True,
    help="What tools may do without asking.",
)
@trust_option
@workspace_option
def command(model: str | None, mode: Mode) -> int:
    """Be an agent for an editor (Agent Client Protocol, on standard input and output)."""
    try:
        import acp
    except ImportError as error:
        raise UserError("the Agent Client Protocol is not installed", hint="pip install 'weft[acp]'") from error
    ensure_workspace(workspace_path())
    with open_app() as app:
        agent = EditorAgent(app, model, mode)

        async def serve() -> None:
            try:
                await acp.run_agent(cast(Any, agent))
            finally:
                await agent.close()

        return asyncio.run(until_told(serve()))


@dataclass(slots=True)
class HeldSession:
    """A session that an editor has open. One task has it from its opening to its end."""

    request: SessionRequest
    session: OpenedSession = field(init=False)
    showing: Showing = field(init=False)
    updates: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    asked: set[str] = field(default_factory=set)
    """Gates and confirmations that were put to the person."""
    stop: StopReason | None = None
    interrupted: bool = False
    titles: dict[str, str] = field(default_factory=dict)
    streamed: set[str] = field(default_factory=set)
    """Executions whose words the editor has seen as they came."""
    ready: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    over: asyncio.Event = field(default_factory=asyncio.Event)
    life: asyncio.Task[None] | None = None
    questions: set[asyncio.Task[None]] = field(default_factory=set)


class EditorAgent:
    """The agent's side of the protocol. Its methods have the names and the arguments that the protocol has."""

    def __init__(self, app: App, model: str | None, mode: Mode) -> None:
        self._app = app
        self._model = model
        self._mode: Mode = mode
        self._held: dict[str, HeldSession] = {}
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def close(self) -> None:
        for held in self._held.values():
            held.over.set()
        lives = {held.life for held in self._held.values() if held.life is not None}
        if lives:
            await asyncio.wait(lives)

    # -- what the editor calls

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        from acp import PROTOCOL_VERSION, schema

        prompts = schema.PromptCapabilities(embedded_context=True, image=False, audio=False)
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(load_session=True, prompt_capabilities=prompts),
            agent_info=schema.Implementation(name="weft", title="Weft", version=__version__),
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """Keys of models are the workspace's business: `weft models add`."""

    async def new_session(self, cwd: str, **_: Any) -> Any:
        from acp import schema

        held = await self._open(cwd, None)
        await self._tell_commands(held)
        return schema.NewSessionResponse(session_id=held.session.id, modes=self._modes())

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> Any:
        from acp import schema

        held = self._held.get(session_id) or await self._open(cwd, session_id)
        for record in await held.session.records():
            for update in _past(record.event):
                await self._client.session_update(session_id=session_id, update=update)
        await self._tell_commands(held)
        return schema.LoadSessionResponse(modes=self._modes())

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        from acp import schema

        modes: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
        if mode_id not in modes:
            raise _refused(UserError(f"there is no mode {mode_id}", hint=f"one of: {', '.join(modes)}"))
        await self._give(self._of(session_id), SetMode(mode=modes[mode_id]))
        return schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        from acp import schema

        held = self._of(session_id)
        held.stop, held.interrupted = None, False
        try:
            await self._hear(held, _words(prompt))
        except WeftError as error:
            await self._say(held, str(error))
        try:
            await held.showing.caught_up()
        except WeftError as error:
            raise _refused(error) from error
        await held.updates.join()
        stop: Any = held.stop  # set by what happened meanwhile
        reason: Any = "cancelled" if held.interrupted else _STOPS.get(stop, "end_turn")
        return schema.PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **_: Any) -> None:
        held = self._of(session_id)
        held.interrupted = True
        held.session.submit(Interrupt(), by=EDITOR)

    # -- a prompt

    async def _hear(self, held: HeldSession, text: str) -> None:
        wanted: Any = Say(text=text)
        if text.lstrip().startswith("/"):
            known = await held.session.known_words()
            name = text.strip()[1:].partition(" ")[0]
            said = f"/run {text.strip()[1:]}" if name in known.pipelines and name not in known.skills else text
            wanted = read_slash(said, known) or wanted
        if isinstance(wanted, Overview | Fork | Export):
            return await self._say(held, await held.session.answered(wanted))
        if isinstance(wanted, Attach | Build):
            raise UserError("that is not done in an editor", hint="attach files as the editor does; weft build drafts")
        if isinstance(wanted, Leave):
            return None
        await self._give(held, wanted)
        await held.session.rest()
        while not held.interrupted and (reply := await self._ask_for_the_run(held)) is not None:
            await self._give(held, reply)
            await held.session.rest()
        return None

    async def _give(self, held: HeldSession, command: SessionCommand) -> None:
        (await held.session.submit(command, by=EDITOR)).check()

    async def _ask_for_the_run(self, held: HeldSession) -> Say | None:
        """What the run asks, put to the person once; what they don't choose they can still write."""
        await held.showing.caught_up()
        await held.updates.join()
        for ask in held.session.asks:
            if isinstance(ask, e.GateOpened) and ask.gate not in held.asked:
                held.asked.add(ask.gate)
                await self._say(held, _gate_text(ask))
                offered = {one.id: one.label for one in ask.choices if one.does != "amend"}
                chosen = await self._choose(held, ask.gate, f"{ask.step}: how shall it go on?", offered)
                if chosen is not None:
                    return Say(text=chosen, gate=ask.gate, to="run")
            elif isinstance(ask, e.ConfirmationAsked) and ask.confirmation not in held.asked:
                held.asked.add(ask.confirmation)
                title = f"Did you mean: {ask.choice or ask.kind}?"
                chosen = await self._choose(held, ask.confirmation, title, {"yes": "Yes", "no": "No"})
                if chosen is not None:
                    return Say(text=chosen, to="run", asked=(ask.confirmation,))
        return None

    async def _choose(self, held: HeldSession, name: str, title: str, offered: Mapping[str, str]) -> str | None:
        from acp import schema

        options = [
            schema.PermissionOption(option_id=key, name=label, kind="allow_once" if number == 0 else "reject_once")
            for number, (key, label) in enumerate(offered.items())
        ]
        asked = schema.ToolCallUpdate(tool_call_id=name, title=title, kind="think", status="pending")
        reply = await self._client.request_permission(session_id=held.session.id, tool_call=asked, options=options)
        chosen = getattr(reply.outcome, "option_id", None)
        return chosen if chosen in offered else None

    # -- a session

    def _of(self, session_id: str) -> HeldSession:
        if session_id not in self._held:
            raise _refused(UserError(f"the session {session_id} is not open here", hint="load it first"))
        return self._held[session_id]

    async def _open(self, cwd: str, name: str | None) -> HeldSession:
        request = SessionRequest(talk=True, session=name, model=self._model, mode=self._mode, working=Path(cwd))
        held = HeldSession(request)
        held.life = asyncio.create_task(self._live(held), name="a session of an editor")
        try:
            await held.ready
        except WeftError as error:
            raise _refused(error) from error
        self._held[held.session.id] = held
        return held

    async def _live(self, held: HeldSession) -> None:
        try:
            async with self._app.conversation(held.request) as session:
                held.session = session
                sending = asyncio.create_task(self._send(held))
                async with session.shown(lambda item: self._show(held, item)) as held.showing:
                    held.ready.set_result(None)
                    await held.over.wait()
                for task in (sending, *held.questions):
                    task.cancel()
                await asyncio.wait({sending, *held.questions})
        except WeftError as error:
            if held.ready.done():
                print(f"weft: {error}", file=sys.stderr)
            else:
                held.ready.set_exception(error)

    async def _send(self, held: HeldSession) -> None:
        """Updates in their order: an editor shows them as they come."""
        while True:
            update = await held.updates.get()
            try:
                await self._client.session_update(session_id=held.session.id, update=update)
            finally:
                held.updates.task_done()

    async def _say(self, held: HeldSession, text: str) -> None:
        from acp import helpers

        held.updates.put_nowait(helpers.update_agent_message_text(text))
        await held.updates.join()

    async def _tell_commands(self, held: HeldSession) -> None:
        from acp import helpers, schema

        known = await held.session.known_words()
        pipelines = [Slash(name, "a file, or text", f"run the pipeline {name}") for name in sorted(known.pipelines)]
        offered = {one.name: one for one in (*complete("/", known), *pipelines) if one.name not in NOT_HERE}

        def takes(one: Slash) -> Any:
            return schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint=one.takes)) if one.takes else None

        commands = [
            schema.AvailableCommand(name=one.name, description=one.about, input=takes(one)) for one in offered.values()
        ]
        held.updates.put_nowait(helpers.update_available_commands(commands))

    def _modes(self) -> Any:
        from acp import schema

        modes = [schema.SessionMode(id=mode, name=mode) for mode in get_args(Mode)]
        return schema.SessionModeState(available_modes=modes, current_mode_id=self._mode)

    # -- from events to updates

    def _show(self, held: HeldSession, item: e.Record | e.Event) -> None:
        event = item.event if isinstance(item, e.Record) else item
        match event:
            case t.ModelSettled() if event.conversation == MAIN:
                held.stop = event.stop
            case t.TurnInterrupted() if event.conversation == MAIN:
                held.interrupted = True
            case t.ApprovalRequested():
                self._beside(held, self._approve(held, event))
            case e.QuestionAsked():
                self._beside(held, self._answer(held, event))
            case _:
                pass
        for update in _updates(event, held.titles, held.streamed):
            held.updates.put_nowait(update)

    def _beside(self, held: HeldSession, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        held.questions.add(task)
        task.add_done_callback(held.questions.discard)

    async def _approve(self, held: HeldSession, asked: t.ApprovalRequested) -> None:
        from acp import schema

        options = [
            schema.PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
            schema.PermissionOption(option_id="session", name="Allow in this session", kind="allow_always"),
            schema.PermissionOption(option_id="denied", name="Deny", kind="reject_once"),
        ]
        name = _call_name(asked.conversation, asked.call)
        title, why = held.titles.get(name, asked.tool), {"why": asked.reason}
        call = schema.ToolCallUpdate(tool_call_id=name, title=title, status="pending", raw_input=why)
        await held.updates.join()
        reply = await self._client.request_permission(session_id=held.session.id, tool_call=call, options=options)
        chosen = getattr(reply.outcome, "option_id", "denied")
        decision: t.Decision = "once" if chosen == "once" else "session" if chosen == "session" else "denied"
        decide = DecideApproval(conversation=asked.conversation, call=asked.call, decision=decision, turn=asked.turn)
        held.session.submit(decide, by=EDITOR)

    async def _answer(self, held: HeldSession, asked: e.QuestionAsked) -> None:
        answers: dict[str, str] = {}
        for number, one in enumerate(asked.questions):
            offered = one.get("options", ())
            labels = [str(option["label"] if isinstance(option, Mapping) else option) for option in offered]
            text = str(one["text"])
            chosen = await self._choose(held, f"{asked.question}-{number}", text, {label: label for label in labels})
            if chosen is None:
                declined = AnswerQuestion(question=asked.question, declined="the person chose none of the answers")
                held.session.submit(declined, by=EDITOR)
                return
            answers[text] = chosen
        held.session.submit(AnswerQuestion(question=asked.question, answers=answers), by=EDITOR)


def _refused(error: WeftError) -> Exception:
    """What the editor asked for can't be, in the words of the protocol: no fault of ours."""
    from acp import RequestError

    return RequestError(-32602, str(error))


def _words(prompt: list[Any]) -> str:
    """The text of a prompt; what the editor attached stands under its name."""
    parts: list[str] = []
    for block in prompt:
        match block.type:
            case "text":
                parts.append(block.text)
            case "resource" if hasattr(block.resource, "text"):
                parts.append(f"{block.resource.uri}:\n{block.resource.text}")
            case "resource_link":
                parts.append(f"[{block.name}]({block.uri})")
            case other:
                raise UserError(f"{other} can't be taken in a message yet", hint="name a file in the folder instead")
    return "\n\n".join(parts)


def _call_name(conversation: str, call: str) -> str:
    return call if conversation == MAIN else f"{conversation} {call}"


def _updates(event: e.Event, titles: dict[str, str], streamed: set[str]) -> list[Any]:
    """What an editor is shown of an event, as it happens."""
    from acp import helpers

    match event:
        case t.TextStreamed() if event.conversation == MAIN:
            streamed.add(event.execution)
            return [helpers.update_agent_message_text(event.text)]
        case t.ThinkingStreamed() if event.conversation == MAIN:
            return [helpers.update_agent_thought_text(event.text)]
        case t.ModelSettled() if event.conversation == MAIN:
            said = [event.text] if event.text and event.execution not in streamed else []
            said += [f"\n[{event.reason or told_stop(event.stop, event.text)}]"] if _is_odd(event) else []
            return [helpers.update_agent_message_text(text) for text in said]
        case t.ModelRetried():
            told = told_retry(event.reason, event.wait_ms, event.instead)
            return [helpers.update_agent_thought_text(f"{told}\n")]
        case t.ToolRequested():
            name = _call_name(event.conversation, event.call)
            about = next((str(value) for value in event.input.values() if value), "")
            titles[name] = f"{event.tool} {about}".strip()[:200]
            kind: Any = _KINDS.get(event.tool, "other")
            given = dict(event.input)
            return [helpers.start_tool_call(name, titles[name], kind=kind, status="pending", raw_input=given)]
        case t.IntentRecorded() if event.kind == "tool" and event.call:
            return [helpers.update_tool_call(_call_name(event.conversation, event.call), status="in_progress")]
        case t.ToolSettled():
            ended: Any = "completed" if event.outcome == "succeeded" else "failed"
            text = [helpers.tool_content(helpers.text_block(event.text[:MOST_TEXT]))] if event.text else None
            return [helpers.update_tool_call(_call_name(event.conversation, event.call), status=ended, content=text)]
        case (
            t.TranscriptCompacted()
            | t.FilesRestored()
            | t.ConversationRewound()
            | t.LimitsSet()
            | t.LimitReached()
            | t.TaintCleared()
            | t.PlanSubmitted()
            | t.PlanDecided()
        ) if event.conversation == MAIN:
            lead, more = told_beside(event)
            more = "" if isinstance(event, t.TranscriptCompacted) or not more else f"{more}\n"
            return [helpers.update_agent_message_text(f"\n[{lead}]\n{more}")]
        case _:
            return _run_updates(event)


def _is_odd(event: t.ModelSettled) -> bool:
    return event.outcome == "failed" or (event.outcome == "completed" and bool(told_stop(event.stop, event.text)))


def _run_updates(event: e.Event) -> list[Any]:
    from acp import helpers

    def step(name: str, attempt: int) -> str:
        return f"step {name} {attempt}"

    match event:
        case e.StepStarted():
            title = f"step {event.step}"
            return [helpers.start_tool_call(step(event.step, event.attempt), title, kind="other", status="in_progress")]
        case e.StepCompleted():
            return [helpers.update_tool_call(step(event.step, event.attempt), status="completed")]
        case e.StepFailed():
            why = [helpers.tool_content(helpers.text_block(event.message))]
            return [helpers.update_tool_call(step(event.step, event.attempt), status="failed", content=why)]
        case e.StepInterrupted():
            return [helpers.update_tool_call(step(event.step, event.attempt), status="failed")]
        case e.RunEnded():
            return [helpers.update_agent_message_text(f"\n[run {event.outcome}] {event.message}\n")]
        case e.NoticeGiven():
            return [helpers.update_agent_thought_text(f"{event.text}\n")]
        case _:
            return []


def _past(event: e.Event) -> list[Any]:
    """What an editor is shown of an event that was before it came."""
    from acp import helpers

    if isinstance(event, t.MessageAccepted) and event.conversation == MAIN:
        return [helpers.update_user_message_text(event.text)]
    if isinstance(event, t.TurnStarted | t.ModelRetried | t.IntentRecorded):
        return []
    return _updates(event, {}, set())


def _gate_text(gate: e.GateOpened) -> str:
    shown = [f"**{one.get('label', '')}** {one.get('value', '')}".strip() for one in gate.shown]
    choices = [f"- `{one.id}`: {one.label}" for one in gate.choices]
    message = gate.message or f"{gate.step} waits for your reply."
    return "\n".join([message, *shown, *choices, "Or write what to change."])
