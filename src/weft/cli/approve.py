"""`weft approve`: answer what a tool of a session waits for, wherever the session is held, also after a restart."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Literal

import click

from weft.app import App, OpenedSession, OpenQuestions, SessionRequest, allow_always, open_questions
from weft.cli.place import open_app, workspace_option
from weft.cli.run import OUTCOMES, gone_on_with
from weft.cli.run_options import program_words
from weft.cli.screen import PlainScreen, event_of
from weft.cli.stopping import TERMINAL
from weft.protocol import conversation_events as t
from weft.protocol.call_events import CallSettled
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.errors import EXIT_DONE, EXIT_WAITING, UsageError, UserError, WeftError
from weft.protocol.events import Event, Outcome, Record, StepCompleted, StepFailed, StepInterrupted
from weft.protocol.ids import check_session_id
from weft.render.cells import clean

SHOWN = 200


@click.command("approve")
@click.argument("session")
@click.argument("call", required=False)
@click.option("--deny", is_flag=True, help="Say no.")
@click.option("--session-long", "always", is_flag=True, help="Allow the like of it for the rest of the session.")
@click.option("--always", "by_rule", is_flag=True, help="Allow the like of it from now on, by a rule that is shown.")
@click.option("--reason", metavar="TEXT", default="", help="What the model is told of a no.")
@workspace_option
def command(session: str, call: str | None, deny: bool, always: bool, by_rule: bool, reason: str) -> int:
    """Allow a call of a tool that waits for you, or deny it; without CALL, list what waits.

    A session that nobody holds is opened for it, and goes on as far as that lets it: you see its run, and the exit code
    is the run's. Where another call waits by then, that is said, and the exit code is 3.
    """
    if deny and (always or by_rule):
        raise UsageError("--deny and an approval contradict each other")
    if by_rule and call is None:
        raise UsageError("--always needs the call that is meant", hint=f"weft approve {session} lists what waits")
    decision: t.Decision = "denied" if deny else "session" if always else "once"
    with open_app() as app:
        if call is None:
            _list(open_questions(app, check_session_id(session)), session)
            return EXIT_DONE
        if by_rule:
            wanted, _ = _meant(open_questions(app, check_session_id(session)), session, call)
            told = allow_always(app.workspace.path, wanted.tool, json.dumps(dict(wanted.input)))
            print(f"permissions.yaml, allow: {told}", file=sys.stderr)
        return asyncio.run(_approve(app, check_session_id(session), call, decision, reason))


def _meant(questions: OpenQuestions, session: str, call: str) -> tuple[t.ToolRequested, t.ApprovalRequested]:
    """The one question that a name means. UserError when none has it, or when it has stood for another one before:
    what a person read and what waits by now may be two things."""
    found = [pair for pair in questions.approvals if questions.name_of(pair[1]) == call]
    if found:
        return found[0]
    listed = f"weft approve {session} lists what waits"
    if call in questions.repeated and any(one.call == call for _, one in questions.approvals):
        raise UserError(
            f"{call} is what more than one call of {session} is called", hint=f"{listed}, each by its own name"
        )
    raise UserError(f"no call {call} waits for you in {session}", hint=listed)


def _list(questions: OpenQuestions, session: str) -> None:
    if not questions.approvals:
        print(clean(f"no call waits for you in {session}"), file=sys.stderr)
    for wanted, one in questions.approvals:
        told = " ".join(str(value) for value in wanted.input.values())
        print(clean(f"{questions.name_of(one)}  {one.conversation}  {one.tool}: {told[:SHOWN]}  ({one.reason})"))


async def _approve(app: App, name: str, call: str, decision: t.Decision, reason: str) -> int:
    questions = open_questions(app, name)
    _, asked = _meant(questions, name, call)
    command = DecideApproval(
        conversation=asked.conversation, call=asked.call, decision=decision, reason=reason, turn=asked.turn
    )
    talks = asked.conversation.partition("/")[0] == "main"
    answer = _Answer(asked, [one for _, one in questions.approvals if one is not asked])
    screen = PlainScreen(name, program_words(app), app.price)

    def show(item: Record | Event) -> None:
        if not talks:
            screen.show(item)
        answer.take(event_of(item))

    key = app.new_name()
    after: int | None = None
    taken = was_going = False
    while True:
        opened = app.session(SessionRequest(session=name, talk=talks))
        async with opened as session, session.shown(show, after) as showing:
            try:
                if not taken:
                    (await session.submit(command, key=key, by=TERMINAL)).check()  # it is carried out once
                    print("denied" if decision == "denied" else "allowed", file=sys.stderr, flush=True)
                    taken = True
                if was_going and session.state.run is not None and session.state.run.outcome is not None:
                    await gone_on_with(session)
                outcome = await _at_rest(session, answer)
                if outcome == "asks again":
                    break
                await showing.caught_up()
                return EXIT_DONE if talks else OUTCOMES[outcome or "waiting"]
            except WeftError:
                if not session.is_lost:
                    raise
            # Whoever held the session has gone. What comes of the answer is seen where it is held now.
            after, run = showing.seq, session.state.run
            was_going = not talks and run is not None and run.outcome is None
    for one in answer.open:
        print(clean(f"{one.tool} waits for you too ({one.reason})"), file=sys.stderr)
    print(f"answer it: {program_words(app)} approve {name}", file=sys.stderr)
    return EXIT_WAITING


async def _at_rest(session: OpenedSession, answer: _Answer) -> Outcome | Literal["asks again"] | None:
    """How its run came to rest, or that something else waits for a person by then."""
    resting, waits = asyncio.ensure_future(session.rest()), asyncio.ensure_future(answer.waits_again.wait())
    try:
        await asyncio.wait({resting, waits}, return_when=asyncio.FIRST_COMPLETED)
        return resting.result() if resting.done() else "asks again"
    finally:
        for task in (resting, waits):
            task.cancel()
        await asyncio.wait({resting, waits})


class _Answer:
    """What comes of an answer: whether its call has ended, and what else waits for a person by then."""

    def __init__(self, asked: t.ApprovalRequested, others: list[t.ApprovalRequested]) -> None:
        self._mine = t.question_of(asked)
        self._place = t.step_place(asked.conversation)
        self._others = {t.question_of(one): one for one in others}
        self._ended = False
        self.waits_again = asyncio.Event()

    @property
    def open(self) -> list[t.ApprovalRequested]:
        return [*self._others.values()]

    def take(self, event: Event) -> None:
        match event:
            case t.ApprovalRequested() if t.question_of(event) != self._mine:
                self._others[t.question_of(event)] = event
            case t.ApprovalDecided():
                self._others.pop(t.question_of(event), None)
            case t.ToolSettled():
                self._ended = self._ended or t.question_of(event) == self._mine
                self._others.pop(t.question_of(event), None)
            case CallSettled() if event.kind == "tool" and self._is_mine(event.step, event.item):
                self._ended = True
            case StepCompleted() | StepFailed() | StepInterrupted() if self._is_mine(event.step):
                self._ended = True
            case _:
                return
        if self._ended and self._others:
            self.waits_again.set()

    def _is_mine(self, step: str, item: str | None = None) -> bool:
        return self._place is not None and self._place.step == step and item in (None, self._place.item)
