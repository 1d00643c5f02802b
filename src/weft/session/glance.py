"""What a list shows of a session, folded from its log: its title, where it stands, what it waits for.

`Glance` adds to the fold of runs (`SessionState`) what a list needs of the conversation, without its machine: how far
it is, what it asks, what was said last. Pure, one record at a time.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import STANDARD_INPUT
from weft.protocol.events import Record
from weft.protocol.values import dataclass
from weft.session.index import IndexedText, ListedSession
from weft.session.state import SessionState

LONGEST_TITLE: Final = 80


@dataclass(slots=True)
class Glance:
    """Of one session, as far as it was told."""

    first_words: str = ""
    last_words: str = ""
    """Of whoever spoke last in the conversation."""
    folder: str = ""
    """Where its tools worked when somebody last said something."""
    spoken: bool = False
    working: set[str] = field(default_factory=set)
    """Conversations in which a turn is open."""
    approvals: dict[str, str] = field(default_factory=dict)
    """Calls and plans that wait for a person, by conversation and call, each with what it wants to do."""
    model: str = ""
    news: int = 0
    """The last event that a person would want to see: an answer, a result, a question."""

    def apply(self, record: Record) -> None:
        event = record.event
        match event:
            case t.MessageAccepted():
                self.spoken = True
                if event.origin == "person":
                    self.first_words = self.first_words or event.text
                    self.last_words, self.folder = short(event.text), event.folder or self.folder
            case t.TurnStarted() if t.step_place(event.conversation) is None:  # of a step the run tells
                self.working.add(event.conversation)
            case t.TurnCompleted() | t.TurnInterrupted():
                self.working.discard(event.conversation)
                if event.conversation == t.MAIN:
                    self.news = record.seq
            case t.ApprovalRequested() | t.PlanSubmitted():
                self.approvals[_asked(event)] = _wish(event)
                self.news = record.seq
            case t.ApprovalDecided() | t.ToolSettled() | t.PlanDecided() | t.ConversationRewound():
                self.approvals.pop(_asked(event), None)
            case t.ModelSettled():
                self.model = event.model or self.model
                self.last_words = (event.conversation == t.MAIN and short(event.text)) or self.last_words
            case e.RunEnded() | e.GateOpened() | e.ConfirmationAsked():
                self.news = record.seq
                self._forget(event)
            case e.StepStarted() | e.StepCompleted():
                self._forget(event)
            case e.RunStarted():
                self.model = self.model or event.model
            case _:
                pass

    def _forget(self, event: e.DurableEvent) -> None:
        """What nobody asks any more."""
        self.approvals = {key: wish for key, wish in self.approvals.items() if not is_moot(event, key.split()[0])}


def is_moot(event: e.DurableEvent, conversation: str) -> bool:
    """Whether nobody goes on with the conversation of a step from here: its run is over, or the step is made anew."""
    place = t.step_place(conversation)
    if place is None:
        return False
    match event:
        case e.RunEnded():
            return event.run == place.run and event.outcome in ("done", "cancelled")
        case e.StepStarted():
            return event.step == place.step and (event.run, event.attempt) != (place.run, place.attempt)
        case e.StepCompleted():
            return event.step == place.step
        case _:
            return False


_Asks = t.ApprovalRequested | t.PlanSubmitted


def _asked(event: _Asks | t.ApprovalDecided | t.ToolSettled | t.PlanDecided | t.ConversationRewound) -> str:
    """A conversation has one plan that waits, and goes back to before it."""
    if isinstance(event, t.ApprovalRequested | t.ApprovalDecided | t.ToolSettled):
        return f"{event.conversation} {event.call}"
    return f"{event.conversation} plan"


def _wish(event: _Asks) -> str:
    return f"a plan: {short(event.text)}" if isinstance(event, t.PlanSubmitted) else f"{event.tool}: {event.reason}"


def texts_of(record: Record) -> list[IndexedText]:
    """What of a record can be searched for."""
    event = record.event
    match event:
        case t.MessageAccepted():
            return [IndexedText(kind="message", name=event.message, body=event.text, seq=record.seq)]
        case t.ModelSettled() if event.text:
            name = f"{event.conversation}/{event.execution}"
            return [IndexedText(kind="answer", name=name, body=event.text, seq=record.seq)]
        case e.ArtifactAccepted() if event.content:
            return [IndexedText(kind="artifact", name=event.artifact, body=readable(event.content), seq=record.seq)]
        case _:
            return []


def entry_of(
    state: SessionState,
    glance: Glance,
    *,
    title: str,
    held: bool,
    tokens: int,
    usd: float | None,
    problem: str = "",
) -> ListedSession:
    """`title` is what the session's document says of itself; `held`: somebody is at work on it now."""
    names = state.run.steps if state.run else (*state.steps,)
    steps = [state.steps[name] for name in names if name in state.steps]
    done = sum(step.status == "completed" for step in steps)
    waits = [gate.message or f"the gate {gate.gate}" for gate in state.gates.values()]
    waits += [f"you asked to leave: {state.confirming.text}"] if state.confirming else []
    waits += glance.approvals.values()
    described = state.described
    named = "" if title == STANDARD_INPUT else title
    return ListedSession(
        id=state.session,
        seq=state.seq,
        title=described.title or short(named or glance.first_words or title or state.session),
        kind="run" if state.run or not glance.spoken else "conversation",
        pipeline=state.pipeline,
        state=_standing(state, glance, held),
        waits=tuple(waits),
        done=done,
        steps=len(steps),
        status=described.status,
        labels=described.labels,
        flag=described.flag,
        archived=described.archived,
        unread=glance.news > described.seen,
        note=described.note,
        model=glance.model,
        tokens=tokens,
        usd=usd,
        created=state.created_at,
        updated=state.updated_at,
        problem=problem,
        folder=glance.folder,
        last_words=glance.last_words,
    )


def _standing(state: SessionState, glance: Glance, held: bool) -> str:
    """One word for where a session stands: what waits for a person goes before what works."""
    if glance.approvals or state.gates or state.confirming:
        return "waiting"
    if state.unfinished or glance.working:
        return "working" if held else "interrupted"
    if state.run is not None:
        return "interrupted" if state.status == "running" else state.status
    return "idle" if glance.spoken else "new"


def short(text: str) -> str:
    """The first line, at a word's end."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= LONGEST_TITLE:
        return line
    return re.sub(r"\s+\S*$", "", line[:LONGEST_TITLE]) + "…"


def readable(content: str) -> str:
    """An artifact's text without the signs of JSON or HTML, so that a search finds words and shows them."""
    if content.lstrip().startswith("<"):
        return _words_of_page(content)
    if not content.lstrip().startswith(("{", "[")):
        return content
    return "\n".join(re.findall(r'"((?:[^"\\]|\\.)*)"\s*(?![:\s])', content)).replace("\\n", "\n").replace('\\"', '"')


def _words_of_page(html: str) -> str:
    """What of a page a person reads."""
    from html.parser import HTMLParser  # most sessions make no page, and it takes long to load

    class Words(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[str] = []
            self._hidden = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self._hidden = tag in ("script", "style")

        def handle_endtag(self, tag: str) -> None:
            self._hidden = False

        def handle_data(self, data: str) -> None:
            if not self._hidden:
                self.found.append(data)

    words = Words()
    words.feed(html)
    words.close()
    return " ".join(" ".join(words.found).split())
