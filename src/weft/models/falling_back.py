"""A model with others behind it: when it can't answer, and nothing was said yet, the next one is asked, in the open.

Each change is told by a `Retried` part that names the model asked `instead`, so that the log has who answered and every
screen says why. What another model would do no better (a refusal, an answer that can't be read) is not handed on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, cast

from weft.models.model import ErrorKind, Model, ModelError, Part, Request, Retried
from weft.models.wrapping import WrappedModel
from weft.protocol.errors import UserError
from weft.protocol.messages import Usage

HANDED_ON: Final[tuple[ErrorKind, ...]] = ("auth", "rate_limited", "overloaded", "network", "context_too_long")


class FallingBack(WrappedModel):
    """`others` are asked in order; each is opened when its turn has come."""

    def __init__(self, first: Model, others: Sequence[tuple[str, Callable[[], Model]]]) -> None:
        super().__init__(first)
        self._others = others

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        model, left = self._model, list(self._others)
        while True:
            said = False
            try:
                # One that has others behind it is not waited for as long as the last.
                async with aclosing(cast(Any, model.stream(_hurried(request) if left else request))) as parts:
                    async for part in parts:
                        said = said or not isinstance(part, Usage | Retried)
                        yield part
                return
            except ModelError as error:
                if said or error.kind not in HANDED_ON or not left:
                    raise
                trouble = error
            while True:
                name, opened = left.pop(0)
                try:
                    model = opened()
                    break
                except UserError as missing:
                    if not left:
                        more = f"{trouble.message}; {name} can't be asked instead: {missing.message}"
                        raise ModelError(trouble.kind, more, hint=trouble.hint, wait=trouble.wait) from None
            yield Retried(tries=1, wait=0.0, kind=trouble.kind, reason=trouble.message, instead=model.name)


PATIENCE: Final = 10.0


def _hurried(request: Request) -> Request:
    patience = PATIENCE if request.patience is None else min(PATIENCE, request.patience)
    return replace(request, patience=patience)
