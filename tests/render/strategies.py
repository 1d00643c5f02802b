"""Random events of every kind, with the text that breaks screens."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from weft.protocol.errors import Finding
from weft.protocol.events import (
    ConfirmationAsked,
    ConfirmationKind,
    Event,
    QuestionAsked,
    WordsMeaning,
    WordsUnderstood,
)
from weft.protocol.gates import Choice

HOSTILE = "\x00\x07\x08\x1b\x7f\x85\x9b\n\r\t\u00ad\u061c\u200b\u200d\u200e\u202e\u2028\u2066\ufe0f\ufeff\ud800"
LETTERS = "ab [/]{}日本한e\u0301\u0936\u093f👩👧🏽🇫🇷…│"

_pieces = st.one_of(
    st.sampled_from(HOSTILE), st.sampled_from(LETTERS), st.characters(exclude_categories=()), st.just("word ")
)
texts = st.lists(_pieces, max_size=60).map("".join)
steps = st.sampled_from(("summary", "ideas", "a-name-of-a-step-that-is-far-too-long-for-a-narrow-terminal", "日本語"))
values = st.one_of(st.none(), st.booleans(), st.integers(), texts, st.lists(texts, max_size=3))
findings = st.builds(Finding, artifact=texts, at=texts, message=texts, hint=texts)

_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "step": steps,
    "steps": st.lists(steps, unique=True, max_size=4).map(tuple),
    "desired": steps,
    "findings": st.lists(findings, max_size=8).map(tuple),
    "notes": st.lists(texts, max_size=3).map(tuple),
    "shown": st.lists(st.fixed_dictionaries({"label": texts, "value": values}), max_size=3).map(tuple),
    "choices": st.lists(st.builds(Choice, texts, texts, st.sampled_from(["proceed", "amend"])), max_size=3).map(tuple),
    "parameters": st.just({}),
    "inputs": st.just({}),
    "run": st.integers(1, 3),
    "attempt": st.integers(1, 12),
    "ms": st.integers(0, 10**8),
    "wait_ms": st.integers(0, 10**6),
    "tries": st.integers(1, 9),
    "size": st.integers(0, 10**10),
    "version": st.just(1),
    "content": st.none(),
    "retrying": st.booleans(),
    "cause": st.sampled_from(("first", "retry", "rerun")),
    "kind": st.sampled_from(("error", "rejected", "timeout")),
    "call": st.integers(1, 9).map(str),
    "parent": st.sampled_from(("", "1", "2", "9")),
    "ok": st.booleans(),
    "usage": st.dictionaries(st.sampled_from(("input", "output", "reasoning")), st.integers(0, 10**7)),
    "by_model": st.just({}),
    "dropped": st.lists(texts, max_size=2).map(tuple),
    "outcome": st.sampled_from(("done", "failed", "interrupted", "waiting", "left", "cancelled", "over_budget")),
}


_OF_ONE_KIND: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (ConfirmationAsked, "kind"): st.sampled_from(get_args(ConfirmationKind)),
    (QuestionAsked, "questions"): st.lists(st.fixed_dictionaries({"question": texts}), max_size=2).map(tuple),
    (WordsUnderstood, "meaning"): st.sampled_from(get_args(WordsMeaning)),
}
"""Fields whose name means something else in this event."""


def _of(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind) if field.name != "type"]
    made = {name: _OF_ONE_KIND.get((kind, name), _FIELDS.get(name, _of_type(hints[name]))) for name in names}
    return st.builds(kind, **made)


def _of_type(hint: Any) -> st.SearchStrategy[Any]:
    """For a field that nothing else is said of."""
    origin, inner = get_origin(hint), get_args(hint)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(0, 10**9),
        float: st.floats(0, 10**9),
        type(None): st.none(),
    }
    if origin in (Union, UnionType):
        return st.one_of([_of_type(one) for one in inner])
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(_of_type(inner[0]), max_size=3).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(texts, _of_type(inner[1]), max_size=3)
    if dataclasses.is_dataclass(hint):
        return _of(hint)
    return plain.get(hint, texts)


KINDS: tuple[type, ...] = get_args(Event)
events: st.SearchStrategy[Event] = st.one_of([_of(kind) for kind in KINDS])
moments = st.lists(st.tuples(st.floats(0, 10_000), events), max_size=30)
