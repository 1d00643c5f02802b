"""Sessions as tools, for a model or another program: look, start a run, follow it, answer its gate, read what it made.

    weft mcp serve --sessions            # over standard input and output, or with --http and a token

A run belongs to its session, not to whoever asked for it: when the other program goes away, the log stays, and the next
one that asks goes on. What is begun here is held open until it rests.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from weft.access import ME, Identity, Role
from weft.app.root import App
from weft.app.session_requests import SessionRequest, check_named
from weft.app.sessions.session_export import exported
from weft.app.sessions.session_work import FILE_NOW, artifact_bytes, artifacts_now, open_questions
from weft.models.answer import gather
from weft.models.model import Request
from weft.protocol.commands import DescribeSession, GivenFile, ReplyToGate, SessionCommand, StartRun, refusal
from weft.protocol.commands import Interrupt as InterruptCommand
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError, WeftError
from weft.protocol.messages import Message, Text
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.session.index import Filter
from weft.tools.builtin.schema import closed, text, whole

TEXT_LIMIT: Final = 100_000
"""Characters of an artifact in one answer."""
LONGEST_WAIT: Final = 60
LOOK_EVERY: Final = 0.5
SMALL: Final = "small"
ANSWER_TOKENS: Final = 1000
PATIENCE: Final = 120.0
"""Seconds a model has to answer."""
STATE: Final = "agent-state"
"""The folder of a workspace with what agents remember, a file for each."""
STATE_LIMIT: Final = 64 * 1024
_SESSION: Final = text("The session's id", shortest=1, longest=80)
ToolReply = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTool:
    name: str
    description: str
    schema: Mapping[str, Any]
    role: Role
    """What somebody who comes over the network must be allowed to."""
    run: Callable[[SessionTools, Mapping[str, Any]], Awaitable[ToolReply]]


class SessionTools:
    """The tools over one workspace. `by` is who is said to have given the commands."""

    def __init__(self, app: App, by: Actor, held: dict[str, asyncio.Task[None]] | None = None) -> None:
        self._app = app
        self._by = by
        self._held = {} if held is None else held

    async def call(self, name: str, given: Mapping[str, Any], who: Identity | None = None) -> ToolReply:
        """UserError in words when the tool or its input is not right, or the session says no. `who` asks, when it is
        known: then it is their name that stands in the log, and their role that says what they may do."""
        import jsonschema_rs

        if name not in TOOLS:
            raise UserError(f"there is no tool {name[:80]!r}", hint=f"the tools are: {', '.join(TOOLS)}")
        judge = jsonschema_rs.validator_for(dict(TOOLS[name].schema))
        faults = [error.message for error in judge.iter_errors(dict(given))]
        if faults:
            raise UserError(f"the input of {name} is not right: {'; '.join(faults[:5])}")
        if who is None:
            return await TOOLS[name].run(self, given)
        if not who.has_role(TOOLS[name].role):
            raise UserError(f"{name} needs the role {TOOLS[name].role}", hint="ask who administers here")
        by = Actor("person", "" if who.person == ME else who.person, self._by.face)
        return await TOOLS[name].run(SessionTools(self._app, by, self._held), given)

    async def close(self) -> None:
        """What runs is stopped, and can be taken up again."""
        for session, task in list(self._held.items()):
            task.cancel()
            await asyncio.wait({task})
            self._held.pop(session, None)

    # -- looking

    async def list_sessions(self, given: Mapping[str, Any]) -> ToolReply:
        wanted = Filter(limit=given.get("limit", 20), archived=False)

        def rows() -> list[ToolReply]:
            if words := given.get("words", ""):
                return [asdict(one.entry) for one in self._app.catalogue.search(words, wanted)]
            return [asdict(one) for one in self._app.catalogue.page(wanted)]

        keys = ("id", "title", "pipeline", "state", "waits", "done", "steps", "status", "labels", "updated")
        found = await self._app.off_loop(rows)
        return {"sessions": [{key: row[key] for key in keys} for row in found]}

    async def list_pipelines(self, given: Mapping[str, Any]) -> ToolReply:
        def rows() -> list[ToolReply]:
            found = []
            for name in self._app.workspace.pipeline_names():
                if self._app.workspace.check_pipeline(name):
                    found.append({"name": name, "broken": True})
                    continue
                pipeline = self._app.workspace.pipeline(name)
                inputs = {key: one.description for key, one in pipeline.inputs.items()}
                parameters = {key: one.default for key, one in pipeline.offered.items()}
                about = {"name": name, "description": pipeline.description, "inputs": inputs}
                found.append({**about, "parameters": parameters, "steps": list(pipeline.steps)})
            return found

        return {"pipelines": await self._app.off_loop(rows)}

    async def validate(self, given: Mapping[str, Any]) -> ToolReply:
        kind, name = given["kind"], given["name"]

        def problems() -> list[str]:
            try:
                match kind:
                    case "pipeline":
                        return [str(one) for one in self._app.check_pipeline(name)]
                    case "agent":
                        self._app.workspace.agent(name)
                    case "skill":
                        self._app.workspace.skill(name)
                    case _:
                        source = self._app.sources().one(name)
                        return [trouble] if (trouble := self._app.sources().trouble(source)) else []
            except FileNotFoundError:
                return [f"there is no {kind} {name}"]
            except WeftError as error:
                return [str(error)]
            return []

        found = await self._app.off_loop(problems)
        return {"good": not found, "problems": found}

    async def show_run(self, given: Mapping[str, Any]) -> ToolReply:
        session, wait = given["session"], given.get("wait_seconds", 0)
        task = self._held.get(session)
        if task is not None and wait:
            await asyncio.wait({task}, timeout=min(wait, LONGEST_WAIT))
        until = time.monotonic() + min(wait, LONGEST_WAIT)
        while True:
            found = await self._app.off_loop(lambda: self._state(session))
            if task is not None or found["outcome"] != "working" or time.monotonic() >= until:
                return found
            await asyncio.sleep(LOOK_EVERY)  # it goes on in another process

    def _state(self, session: str) -> ToolReply:
        reading = self._app.sessions.read(session)
        state, asked = reading.state, open_questions(self._app, session)
        run = state.run
        working = session in self._held or bool(reading.holder)
        return {
            "session": session,
            "pipeline": state.pipeline,
            "outcome": "working" if working and not asked.gates else (run.outcome if run else None),
            "gates": [
                {
                    "gate": gate.gate,
                    "step": gate.step,
                    "message": gate.message,
                    "shown": [dict(one) for one in gate.shown],
                    "choices": [choice.told() for choice in gate.choices],
                }
                for gate in asked.gates
            ],
            "approvals": [{"tool": call.tool, "why": why.reason} for call, why in asked.approvals],
            "artifacts": [one.name for one in artifacts_now(self._app, session)],
        }

    async def read_artifact(self, given: Mapping[str, Any]) -> ToolReply:
        session, name, offset = given["session"], given["artifact"], given.get("offset", 0)
        data = await self._app.off_loop(lambda: artifact_bytes(self._app, session, name, FILE_NOW))
        return {"artifact": name, **_part(data, offset)}

    async def read_session(self, given: Mapping[str, Any]) -> ToolReply:
        session, offset = given["session"], given.get("offset", 0)
        _, data = await self._app.off_loop(lambda: exported(self._app, session, "markdown"))
        return {"session": session, **_part(data, offset)}

    # -- doing

    async def start_run(self, given: Mapping[str, Any]) -> ToolReply:
        parameters = given.get("parameters", {})
        await self._app.off_loop(lambda: check_named(self._app.parameter_kinds(given["pipeline"]), parameters))
        inputs = {name: GivenFile(said.encode()) for name, said in given.get("inputs", {}).items()}
        first = GivenFile(given["text"].encode()) if "text" in given else None
        request = SessionRequest(
            pipeline=given["pipeline"], file=first, inputs=inputs, session=given.get("session"), attended=False
        )
        wish = StartRun(parameters=parameters)
        return await self._begun(request, wish, wish)

    async def go_on(self, given: Mapping[str, Any]) -> ToolReply:
        wish = StartRun()
        return await self._begun(SessionRequest(session=given["session"], attended=False), wish, wish)

    async def reply_to_gate(self, given: Mapping[str, Any]) -> ToolReply:
        session = given["session"]
        gates = (await self._app.off_loop(lambda: open_questions(self._app, session))).gates
        if not gates:
            raise UserError(f"session {session} waits at no gate", hint="run_state says what it does")
        gate = given.get("gate") or gates[0].gate
        command = ReplyToGate(gate=gate, choice=given["choice"], text=given.get("text", ""))
        return await self._begun(SessionRequest(session=session, attended=False), StartRun(), command)

    async def interrupt(self, given: Mapping[str, Any]) -> ToolReply:
        session = given["session"]
        attached = await self._app.attached(session)
        if attached is None:
            raise UserError(f"nothing runs in session {session}")
        reply = await attached.submit(InterruptCommand(), by=self._by)
        await attached.close()
        reply.check()
        return await self.show_run({"session": session, "wait_seconds": 10})

    async def describe(self, given: Mapping[str, Any]) -> ToolReply:
        command = DescribeSession(
            title=given.get("title"), status=given.get("status"), labels=given.get("labels", {}), note=given.get("note")
        )
        (await self._app.describe(given["session"], command, by=self._by)).check()
        return {"session": given["session"]}

    async def ask_model(self, given: Mapping[str, Any]) -> ToolReply:
        """Of the workspace's model for small things, or the one that is named; outside of any conversation."""
        models = self._app.models()
        roles = self._app.config.roles.by_name()
        name = models.choose(session=given.get("model") or (SMALL if SMALL in roles else None))
        asked = Request(
            system=given.get("system", ""),
            messages=(Message(role="user", content=(Text(text=given["prompt"]),)),),
            max_tokens=given.get("max_tokens", ANSWER_TOKENS),
        )
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await gather(models.open(name, dict).stream(asked))
        except TimeoutError:
            raise UserError(f"{name} did not answer within {PATIENCE:g} seconds") from None
        finally:
            await models.aclose()
        return {"model": name, "text": answer.text, "stop": answer.stop}

    async def agent_state(self, given: Mapping[str, Any]) -> ToolReply:
        """What an agent keeps from one session to the next; a value that is given is kept, null forgets it."""
        agent, key = given["agent"], given["key"]
        if agent not in self._app.workspace.agent_names():
            raise UserError(f"there is no agent {agent[:80]!r}", hint="agents are files in .claude/agents")

        def kept() -> Any:
            with self._app.workspace.folder.folder(STATE, create=True) as folder:
                known = json.loads(folder.read_or_none(f"{agent}.json") or b"{}")
                if "value" not in given:
                    return known.get(key)
                known |= {key: given["value"]}
                known = {name: value for name, value in known.items() if value is not None}
                data = json.dumps(REDACTOR.value(known), ensure_ascii=False, indent=1).encode() + b"\n"
                if len(data) > STATE_LIMIT:
                    raise UserError(
                        f"an agent keeps at most {STATE_LIMIT:,} bytes", hint="forget something: value null"
                    )
                folder.replace(f"{agent}.json", data)
                return given["value"]

        return {"agent": agent, "key": key, "value": await self._app.off_loop(kept)}

    async def _begun(self, request: SessionRequest, wish: StartRun, command: SessionCommand) -> ToolReply:
        """Accepted, and held open until it rests; what it does then is in `show_run`."""
        if request.session in self._held:
            raise UserError(f"session {request.session} is at work", hint="wait for it: run_state with wait_seconds")
        accepted: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._hold(request, wish, command, accepted))
        session = await asyncio.shield(accepted)
        if not task.done():
            self._held[session] = task
            task.add_done_callback(lambda _: self._held.pop(session, None))
        return await self.show_run({"session": session})

    async def _hold(
        self, request: SessionRequest, wish: StartRun, command: SessionCommand, accepted: asyncio.Future[str]
    ) -> None:
        try:
            async with self._app.session(request, wish) as session:
                (await session.submit(command, by=self._by)).check()
                accepted.set_result(session.id)
                await session.run_at_rest()
        except WeftError as error:
            if not accepted.done():
                accepted.set_exception(error)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  a bug in a run: whoever waits for it hears of it
            if not accepted.done():
                accepted.set_exception(UserError(f"{type(error).__name__}: {error}"))
        finally:
            if not accepted.done():
                accepted.set_exception(refusal(UserError("the session was closed")).error())


TOOLS: Final[Mapping[str, SessionTool]] = {
    tool.name: tool
    for tool in (
        SessionTool(
            name="list_pipelines",
            description="The pipelines of the workspace: what each makes, its inputs, parameters and steps.",
            schema=closed({}),
            role="look",
            run=SessionTools.list_pipelines,
        ),
        SessionTool(
            name="start_run",
            description="Run a pipeline on a text in a session. It returns at once; run_state follows it. The same "
            "text leads to the same session, where what is finished is not done again.",
            schema=closed(
                {"pipeline": text("Its name", shortest=1)},
                {
                    "text": text("The document for its first input"),
                    "inputs": {"type": "object", "additionalProperties": {"type": "string"}},
                    "parameters": {"type": "object"},
                    "session": text("An id for the session: small letters, digits and hyphens", longest=80),
                },
            ),
            role="run",
            run=SessionTools.start_run,
        ),
        SessionTool(
            name="run_state",
            description="What a session's run does: how it stands, the gate it waits at and its choices, what it made.",
            schema=closed(
                {"session": _SESSION},
                {"wait_seconds": whole("Wait so long for it to rest, up to 60", most=LONGEST_WAIT)},
            ),
            role="look",
            run=SessionTools.show_run,
        ),
        SessionTool(
            name="reply_to_gate",
            description="Answer the gate that a run waits at, with one of its choices; the run goes on. Only as a "
            "person told you to.",
            schema=closed(
                {"session": _SESSION, "choice": text("The id of a choice", shortest=1)},
                {"gate": text("The gate's name; else the one that is open"), "text": text("What is to be changed")},
            ),
            role="answer",
            run=SessionTools.reply_to_gate,
        ),
        SessionTool(
            name="continue_run",
            description="Take up a run that was interrupted, failed or lost its process: what is done stays done.",
            schema=closed({"session": _SESSION}),
            role="run",
            run=SessionTools.go_on,
        ),
        SessionTool(
            name="interrupt_run",
            description="Stop what runs in a session. Nothing is lost; continue_run goes on.",
            schema=closed({"session": _SESSION}),
            role="answer",
            run=SessionTools.interrupt,
        ),
        SessionTool(
            name="read_artifact",
            description="The text of something a session made; a long one in parts, by next_offset.",
            schema=closed({"session": _SESSION, "artifact": text("Its name", shortest=1)}, {"offset": whole("From")}),
            role="look",
            run=SessionTools.read_artifact,
        ),
        SessionTool(
            name="list_sessions",
            description="The sessions of the workspace, the one changed last first; with words, those that have them.",
            schema=closed({}, {"words": text("Words to look for"), "limit": whole("How many", least=1, most=100)}),
            role="look",
            run=SessionTools.list_sessions,
        ),
        SessionTool(
            name="read_session",
            description="What was said and done in a session, in order; a long one in parts, by next_offset.",
            schema=closed({"session": _SESSION}, {"offset": whole("From")}),
            role="look",
            run=SessionTools.read_session,
        ),
        SessionTool(
            name="describe_session",
            description="Set a session's title, status, labels or note.",
            schema=closed(
                {"session": _SESSION},
                {
                    "title": text("A new title", longest=200),
                    "status": text("A new status"),
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "note": text("A note"),
                },
            ),
            role="answer",
            run=SessionTools.describe,
        ),
        SessionTool(
            name="validate",
            description="What is wrong with a pipeline, an agent, a skill or a source of the workspace.",
            schema=closed(
                {
                    "kind": {"type": "string", "enum": ["pipeline", "agent", "skill", "source"]},
                    "name": text("Its name", shortest=1),
                }
            ),
            role="look",
            run=SessionTools.validate,
        ),
        SessionTool(
            name="ask_model",
            description="Ask the workspace's small model a question by itself: to sum up, sort or rephrase something.",
            schema=closed(
                {"prompt": text("All that it needs to know", shortest=1, longest=200_000)},
                {
                    "system": text("What it is to be", longest=20_000),
                    "model": text("Another model than the small one, by its name", longest=200),
                    "max_tokens": whole("The longest answer", least=1, most=8000),
                },
            ),
            role="run",
            run=SessionTools.ask_model,
        ),
        SessionTool(
            name="agent_state",
            description="A value that an agent remembers from one session to the next: without value it is read.",
            schema=closed(
                {
                    "agent": text("The agent's name", shortest=1, longest=80),
                    "key": text("Its name", shortest=1, longest=80),
                },
                {"value": {"description": "Any JSON; null forgets it"}},
            ),
            role="run",
            run=SessionTools.agent_state,
        ),
    )
}


def _part(data: bytes, offset: int) -> ToolReply:
    text = data.decode("utf-8", "replace")
    part = text[offset : offset + TEXT_LIMIT]
    more = offset + len(part) < len(text)
    return {"text": part, "next_offset": offset + len(part) if more else None}


def answer_text(answer: ToolReply) -> str:
    return json.dumps(answer, ensure_ascii=False, indent=1)
