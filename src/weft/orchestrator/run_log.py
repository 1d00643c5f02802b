"""The log of a session as a run writes it: from several threads, told to everybody who watches in the order of the log.

When the log can't take something, nothing more of the run is written, whoever asks for it: what follows from that in an
attempt says nothing of its step, so it must not be recorded as a failure. The run ends with the error, and whoever
opens the session next goes on with what the log has.

Records are told by the session itself. An event of a step's conversation is told once more as what it means for the
step: a call that began or ended, a piece of text, progress.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from weft.orchestrator.progress import EndRun
from weft.protocol import conversation_events as t
from weft.protocol.call_events import CallSettled, ConversationCalls
from weft.protocol.commands import Artifact
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import ExternalError
from weft.protocol.events import DurableEvent, Event, NoticeGiven, Record, RunEnded, StepModelRetried, StepProgressed
from weft.session.log import LogReader, collector_paused
from weft.session.session import Session

Publish = Callable[[Record | Event], None]


class RunLog:
    def __init__(self, session: Session, publish: Publish, settled: Callable[[CallSettled], None]) -> None:
        """`settled` hears of every call in a step's conversation that has ended."""
        self.session = session.folder.path.name
        self._session = session
        self._publish = publish
        self._settled = settled
        self._calling = ConversationCalls()
        self._in_order = threading.Lock()
        self._untold: deque[list[Record]] = deque()
        self._lost: ExternalError | None = None
        self.ended = False
        """That the run has come to rest is in the log."""

    # -- off the loop

    def write(
        self,
        events: Sequence[DurableEvent],
        artifacts: Sequence[Artifact] = (),
        blobs: Sequence[bytes] = (),
        *,
        by: Actor = MACHINE,
        key: str = "",
    ) -> list[Record]:
        """Durable when it returns; told with the next `tell`."""
        with self._in_order:
            if self._lost is not None:
                raise self._lost
            try:
                records = self._session.record(events, artifacts, blobs, by=by, key=key)
            except ExternalError as error:
                self._lost = error
                raise
            self._untold.append(records)
        return records

    def end(self, end: EndRun) -> None:
        """Every file is durable, then that the run has come to rest."""
        self._session.checkpoint()
        self.write([RunEnded(run=end.run, outcome=end.outcome, message=end.message, due=end.due)])
        self.ended = True

    def conversation(self, name: str) -> list[Record]:
        """What the log has of a conversation and what is under it."""
        with collector_paused():
            return [
                record
                for record in LogReader(self._session.folder).read()
                if (of := getattr(record.event, "conversation", "")) == name or of.startswith(f"{name}/")
            ]

    # -- on the loop

    def tell(self) -> None:
        """Everybody who watches hears what the written means for steps, in the order of the log, and what was found."""
        while self._untold:
            for record in self._untold.popleft():
                self._tell_step(record.event)
            for text in self._session.take_notices():
                self._publish(NoticeGiven(text=text))

    def show(self, event: t.LiveConversationEvent) -> None:
        self._publish(event)
        self._tell_step(event)

    def ask_again(self, question: t.ApprovalRequested) -> None:
        """The log has this question, and nobody has answered it: whoever watches now hears of it."""
        self._publish(question)

    def resumed(self, model: str, step: str, before: Sequence[Record]) -> None:
        """The conversation of a step is begun, or gone on with: what it called before is known, and not told again."""
        self._calling.models[step] = model
        for record in before:
            self._calling.take(record.event)

    def _tell_step(self, event: Event) -> None:
        place = t.step_place(getattr(event, "conversation", ""))
        if place is None:
            return
        for call in self._calling.take(event):
            self._publish(call)
            if isinstance(call, CallSettled):
                self._settled(call)
        if isinstance(event, t.ToolProgressed):
            self._publish(StepProgressed(step=place.step, attempt=place.attempt, text=event.text))
        elif isinstance(event, t.ModelRetried):
            self._publish(_retried(place, event))


def _retried(place: t.StepPlace, event: t.ModelRetried) -> StepModelRetried:
    return StepModelRetried(
        run=place.run,
        step=place.step,
        attempt=place.attempt,
        tries=event.tries,
        wait_ms=event.wait_ms,
        reason=event.reason,
        model=event.model,
        instead=event.instead,
    )
