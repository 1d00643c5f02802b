"""Another model in its place: only before a word was said, only when that helps, always told, always counted right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from weft.models.answer import Answer, gather
from weft.models.connections import Choices, Connection, explain, resolve
from weft.models.falling_back import FallingBack
from weft.models.model import ErrorKind, Model, ModelError, Part, Retried
from weft.protocol.errors import UserError
from weft.testing.conformance import HELLO
from weft.testing.scripted import ScriptedModel, Turn, says


def named(name: str, *turns: Turn) -> ScriptedModel:
    return ScriptedModel(list(turns), name=name)


def asked(first: Model, *others: tuple[str, Callable[[], Model]]) -> tuple[Answer, list[Retried]]:
    told: list[Retried] = []

    def hear(part: Part) -> None:
        if isinstance(part, Retried):
            told.append(part)

    return asyncio.run(gather(FallingBack(first, others).stream(HELLO), hear)), told


@pytest.mark.parametrize("kind", ["auth", "rate_limited", "overloaded", "network", "context_too_long"])
def test_the_next_one_is_asked_and_that_is_told(kind: ErrorKind) -> None:
    second = named("desk/m", Turn(says("from the desk")))
    answer, told = asked(named("work/m", Turn(ModelError(kind, "work/m: no"))), ("desk/m", lambda: second))
    assert answer.text == "from the desk"
    assert told == [Retried(tries=1, wait=0.0, kind=kind, reason="work/m: no", instead="desk/m")]


@pytest.mark.parametrize("kind", ["refused", "malformed", "invalid_request"])
def test_what_another_would_do_no_better_is_not_handed_on(kind: ErrorKind) -> None:
    with pytest.raises(ModelError, match="no"):
        asked(named("work/m", Turn(ModelError(kind, "no"))), ("desk/m", lambda: named("desk/m")))


def test_nothing_is_said_twice() -> None:
    half = named("work/m", Turn(says("half"), ModelError("network", "gone")))
    with pytest.raises(ModelError, match="gone"):
        asked(half, ("desk/m", lambda: named("desk/m")))


def test_one_that_has_no_key_is_passed_over_and_the_last_says_all() -> None:
    def missing() -> Model:
        raise UserError("there is no key for the connection 'far'")

    busy = ModelError("overloaded", "busy")
    second = named("desk/m", Turn(says("here")))
    answer, told = asked(named("work/m", Turn(busy)), ("far/m", missing), ("desk/m", lambda: second))
    assert (answer.text, [one.instead for one in told]) == ("here", ["desk/m"])
    with pytest.raises(ModelError, match="busy; far/m can't be asked instead: there is no key"):
        asked(named("work/m", Turn(busy)), ("far/m", missing))


def test_a_role_stands_for_a_model() -> None:
    known = {"work": Connection(name="work", kind="anthropic", model="big", key="none", fallbacks=("desk/m", "far/x"))}
    found = resolve(Choices(step="strong"), known, {"strong": "work/big"})
    assert (found.reference, found.role, found.level) == ("work/big", "strong", "step")
    lines = "\n".join(explain(found, known))
    assert "work/big: the step says so (strong)" in lines
    assert "instead     desk/m, then far/x, when it can't answer" in lines
    with pytest.raises(UserError, match="asks for the small model, but"):
        resolve(Choices(step="small"), known, {"strong": "work/big"})
