"""What happens inside an attempt of a step: its calls of models, tools and agents. Part of the union in `events.py`.

A call is named within its attempt ("1", "2", …, in the order they begin) and may stand inside another, its `parent`.
What a call used is its own, never that of the calls inside it: so the sum over all calls of an attempt is what the
attempt used, and the settlement of the step has that sum. Whoever adds up cost reads the settlements of steps.

The calls of a step that an agent makes are in the log as its conversation; `ConversationCalls` reads them off it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from weft.protocol import conversation_events as t
from weft.protocol.messages import StopReason, told_stop
from weft.protocol.values import dataclass

CallKind = Literal["model", "tool", "agent"]
SHORT: Final = 200
"""Characters of what a call is about, and of what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """Live: a step calls a model, a tool or an agent."""

    step: str
    attempt: int
    call: str
    kind: CallKind
    name: str
    parent: str = ""
    title: str = ""
    type: Literal["call_started"] = "call_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettled:
    """A call of a step has ended. It is durable at once, so that what it used is known whatever happens next."""

    run: int
    step: str
    attempt: int
    call: str
    kind: CallKind
    name: str
    ms: int
    ok: bool
    parent: str = ""
    title: str = ""
    message: str = ""
    """Why it has no result, or what came of it, in a few words."""
    stop: StopReason | None = None
    """Why the model ended its answer."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    request: str = ""
    """The hash of the prompt or the tool's input, kept as `blobs/<hash>`; "" when none is kept."""
    dropped: tuple[str, ...] = ()
    """What did not fit into the prompt, in words."""
    item: str = ""
    """The item that it was made for, in a step that is made item by item."""
    type: Literal["call_settled"] = "call_settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTextStreamed:
    """Live: a piece of what a model writes for a step."""

    step: str
    attempt: int
    call: str
    text: str
    thinking: bool = False
    type: Literal["step_text_streamed"] = "step_text_streamed"


LiveCallEvent = CallStarted | StepTextStreamed
CallEvent = CallSettled | LiveCallEvent


@dataclass(frozen=True, slots=True)
class Used:
    """What an attempt took, as the settlement of its step tells it."""

    model: str | None = None
    """The one that was called, or the first of them."""
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Only when there was more than one."""
    ms: int = 0

    @property
    def told(self) -> dict[str, Any]:
        """As the fields of a settlement."""
        return {"ms": self.ms, "model": self.model, "usage": self.usage, "by_model": self.by_model}


def used_by(calls: Iterable[CallSettled]) -> Used:
    """The sum over calls of one attempt. `ms` counts a call inside another that has ended only once; what ran side by
    side counts in full, so it is rather too much than too little."""
    calls = list(calls)
    ended = {call.call for call in calls}
    by_model: dict[str, dict[str, int]] = {}
    for call in calls:
        for kind, number in call.usage.items():
            tokens = by_model.setdefault(call.model or call.name, {})
            tokens[kind] = tokens.get(kind, 0) + number
    total: dict[str, int] = {}
    for tokens in by_model.values():
        for kind, number in tokens.items():
            total[kind] = total.get(kind, 0) + number
    ms = sum(call.ms for call in calls if call.parent not in ended)
    asked = next((call.model for call in calls if call.model), None)  # one that told nothing of its use
    return Used(next(iter(by_model), asked), total, by_model if len(by_model) > 1 else {}, ms)


# -- the calls of a step that is made in a conversation


@dataclass(slots=True)
class _Begun:
    call: str
    kind: CallKind
    name: str
    parent: str
    title: str
    attempt: str = ""


@dataclass(slots=True)
class ConversationCalls:
    """The conversations of steps, read as calls: every intent begins one and every settlement ends it.

    `take` is given every event of a log in order (and live ones between them) and gives what each means for the step
    it belongs to; events of other conversations, and of runs, mean nothing. The log holds the conversation alone.
    """

    models: dict[str, str] = field(default_factory=dict)
    """What the model of each step is called, by which it is priced."""
    _count: dict[str, int] = field(default_factory=dict)
    """By attempt, how many calls have begun."""
    _open: dict[str, _Begun] = field(default_factory=dict)
    """By conversation and execution."""
    _refused: set[str] = field(default_factory=set)
    """Model calls that were not made, as their attempt could not pay for them."""
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The tool and the subject of each call that was asked for, by conversation and call."""
    _inside: dict[str, str] = field(default_factory=dict)
    """The call that each sub-conversation is."""
    _prompts: dict[str, t.ConversationOpened] = field(default_factory=dict)
    """How conversations whose model was not asked yet were opened."""

    def take(self, event: object) -> list[CallEvent]:
        self._let_go(event)
        place = t.step_place(getattr(event, "conversation", ""))
        if place is None:
            return []
        match event:
            case t.ConversationOpened():
                if event.parent and (outer := self._open.get(_at(event.parent, event.execution))):
                    self._inside[event.conversation] = outer.call
                elif event.prompt:
                    self._prompts[event.conversation] = event
            case t.ConversationEnded():
                self._inside.pop(event.conversation, None)
            case t.ToolRequested():
                about = next((str(value) for value in event.input.values() if value), "")
                name = str(event.input.get("agent") or event.tool) if event.prompt is not None else event.tool
                self._asked[_at(event.conversation, event.call)] = (name or "unnamed", in_a_line(about))
            case t.IntentRecorded():
                return [self._begin(place, event)]
            case t.TextStreamed() | t.ThinkingStreamed():
                return self._streamed(place, event)
            case t.ModelSettled() if _at(event.conversation, event.execution) in self._refused:
                self._refused.discard(_at(event.conversation, event.execution))
            case t.ModelSettled() | t.ToolSettled():
                return [self._settled(place, event)]
            case t.TranscriptCompacted():
                return [self._compacted(place, event)] if event.model else []
            case _:
                pass
        return []

    def _let_go(self, event: object) -> None:
        """Of an attempt that was let go of for its budget: the call that would have been too much was never made. Where
        others ran beside it, nobody knows which it was."""
        if getattr(event, "type", "") != "step_failed" or getattr(event, "kind", "") != "over_budget":
            return
        attempt = f"{getattr(event, 'step', '')}#{getattr(event, 'attempt', 0)}"
        begun = [at for at, one in self._open.items() if one.kind == "model" and one.attempt == attempt]
        if len(begun) == 1:
            self._refused.add(begun[0])
            del self._open[begun[0]]

    def _number(self, place: t.StepPlace) -> str:
        key = f"{place.step}#{place.attempt}"
        self._count[key] = self._count.get(key, 0) + 1
        return str(self._count[key])

    def _begin(self, place: t.StepPlace, event: t.IntentRecorded) -> CallStarted:
        kind: CallKind = "agent" if event.kind == "child" else event.kind
        name, title = self.models.get(place.step, "model"), f"turn {event.turn}"
        if kind != "model":
            name, title = self._asked.get(_at(event.conversation, event.call), ("unnamed", ""))
        parent = self._inside.get(event.conversation, "")
        attempt = f"{place.step}#{place.attempt}"
        begun = _Begun(self._number(place), kind, name, parent, title, attempt)
        self._open[_at(event.conversation, event.execution)] = begun
        return CallStarted(
            step=place.step,
            attempt=place.attempt,
            call=begun.call,
            kind=kind,
            name=name,
            parent=parent,
            title=title,
        )

    def _streamed(self, place: t.StepPlace, event: t.TextStreamed | t.ThinkingStreamed) -> list[CallEvent]:
        begun = self._open.get(_at(event.conversation, event.execution))
        if begun is None or not event.text:
            return []
        thinking = isinstance(event, t.ThinkingStreamed)
        return [
            StepTextStreamed(
                step=place.step, attempt=place.attempt, call=begun.call, text=event.text, thinking=thinking
            )
        ]

    def _settled(self, place: t.StepPlace, event: t.ModelSettled | t.ToolSettled) -> CallSettled:
        begun = self._open.pop(_at(event.conversation, event.execution), None)
        if isinstance(event, t.ToolSettled):
            name, title = self._asked.pop(_at(event.conversation, event.call), ("unnamed", ""))
            ok, said = event.outcome == "succeeded", "" if event.outcome == "succeeded" else event.text
        else:
            name, title = event.model or self.models.get(place.step, "model"), f"turn {event.turn}"
            ok, said = event.outcome == "completed", event.reason or told_stop(event.stop, event.text)
        if begun is None:  # it was refused, or its beginning is lost
            kind: CallKind = "tool" if isinstance(event, t.ToolSettled) else "model"
            begun = _Begun(self._number(place), kind, name, self._inside.get(event.conversation, ""), title)
        opened = self._prompts.pop(event.conversation, None) if begun.kind == "model" else None
        model, usage = (event.model, event.usage) if isinstance(event, t.ModelSettled) else (None, {})
        return CallSettled(
            run=place.run,
            step=place.step,
            attempt=place.attempt,
            call=begun.call,
            kind=begun.kind,
            name=name if begun.kind == "model" else begun.name,
            ms=event.ms,
            ok=ok,
            parent=begun.parent,
            title=begun.title,
            message=in_a_line(said),
            stop=event.stop if isinstance(event, t.ModelSettled) else None,
            model=model,
            usage=usage,
            request=(opened.prompt or "") if opened else "",
            dropped=opened.dropped if opened else (),
            item=place.item,
        )

    def _compacted(self, place: t.StepPlace, event: t.TranscriptCompacted) -> CallSettled:
        return CallSettled(
            run=place.run,
            step=place.step,
            attempt=place.attempt,
            call=self._number(place),
            kind="model",
            name=event.model or "",
            ms=0,
            ok=True,
            parent=self._inside.get(event.conversation, ""),
            title="told older turns in short",
            model=event.model,
            usage=event.usage,
            item=place.item,
        )


def _at(conversation: str, name: str | None) -> str:
    return f"{conversation} {name or ''}"


def in_a_line(text: str) -> str:
    """A few words on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHORT else f"{flat[: SHORT - 1]}…"
