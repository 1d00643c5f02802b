"""A model from a file: what is wrong is said, and a real small one keeps the contract as far as it can."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models import small_model
from weft.models.answer import gather
from weft.models.http_model import Repetition
from weft.models.local_gguf import LOOP, LocalGguf
from weft.models.model import ModelError, TextDelta
from weft.models.retrying import Retrying
from weft.models.structured import ask
from weft.protocol.errors import Finding, ModelFeedback
from weft.testing.conformance import DEADLINE, HELLO, check_any_model


def failure(file: Path) -> ModelError:
    async def go() -> ModelError:
        model = LocalGguf(name="small", file=file)
        with pytest.raises(ModelError) as raised:
            await gather(model.stream(HELLO))
        await model.aclose()
        return raised.value

    return asyncio.run(go())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    error = failure(tmp_path / "none.gguf")
    assert (error.kind, error.hint) == ("invalid_request", "check its path")


@pytest.mark.process
def test_a_file_that_is_none_or_a_machine_without_the_extra(tmp_path: Path) -> None:
    (tmp_path / "odd.gguf").write_bytes(b"not a model")
    error = failure(tmp_path / "odd.gguf")
    assert error.kind == "invalid_request"
    assert "weft[llm]" in error.hint or "complete" in error.hint


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not small_model.is_there(), reason="no small model: python -m tests.models.small_model")
def test_a_real_small_model() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 40}, "people": {"type": "integer"}},
        "required": ["city", "people"],
        "additionalProperties": False,
    }

    async def asked(model: LocalGguf) -> tuple[Any, Sequence[Finding]]:
        request = replace(HELLO, system="", max_tokens=80)
        try:
            return (await ask(Retrying(model), request, schema)).value, ()
        except ModelFeedback as error:
            return None, error.findings

    async def go() -> None:
        model = LocalGguf(name="small", file=small_model.PLACE, window=2048)
        try:
            answer = await check_any_model(Retrying(model), replace(HELLO, system="", max_tokens=12))
            assert answer.text
            assert answer.usage.input
            assert answer.usage.output
            # Untidy or not: a value that fits, or findings, and never a value that does not fit.
            value, findings = await asked(model)
            assert findings or (isinstance(value["city"], str) and type(value["people"]) is int)
            long = Retrying(model).stream(HELLO)
            assert isinstance(await anext(aiter(long)), TextDelta)
            await asyncio.wait_for(long.aclose(), DEADLINE)  # type: ignore[attr-defined]
        finally:
            child = model._child
            await model.aclose()
        assert child is not None
        assert child.returncode is not None, "no process is left"

    asyncio.run(go())


@pytest.mark.parametrize("loop", ["123456789", "a", "machine-tide-machine-table-", "and so on, and so forth, " * 2])
def test_a_text_that_goes_in_circles_is_noticed(loop: str) -> None:
    watch = Repetition(LOOP)
    assert any(watch.notes(sign) for sign in "It began well. " + loop * 2 * LOOP)


def test_a_text_that_goes_on_is_not_a_circle() -> None:
    text = " ".join(f"The tide of day {day} came at {day % 12} and went at {day % 7}." for day in range(40))
    watch = Repetition(LOOP)
    assert not any(watch.notes(sign) for sign in text)
    assert not Repetition(LOOP).notes("a" * (LOOP - 1)), "a short line of the same sign is a rule, not a loop"
