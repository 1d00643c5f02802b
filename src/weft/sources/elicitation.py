"""A question of a server becomes a question to the person; their answer goes back in the form it was asked for.

A server may ask while one of its tools runs, and only then. Where nobody can be asked, it is declined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.protocol.errors import WeftError
from weft.tools.tool import Context, Question

if TYPE_CHECKING:
    from mcp.types import ElicitResult

YES: Final = "yes"
NO: Final = "no"
DONE: Final = "done"
DECLINE: Final = "decline"


class Pausing(Protocol):
    """The time of a call, which stands still while a person is asked."""

    def pause(self) -> None: ...

    def go_on(self) -> None: ...


class Elicitation:
    """The callback of one connection."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._calls: list[tuple[Context, Pausing]] = []

    @contextmanager
    def asking(self, context: Context, deadline: Pausing) -> Iterator[None]:
        """While a call runs: whoever runs it is who is asked."""
        entry = (context, deadline)
        self._calls.append(entry)
        try:
            yield
        finally:
            self._calls.remove(entry)

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        from mcp.types import ElicitResult

        entry = next((one for one in reversed(self._calls) if one[0].ask_person is not None), None)
        if entry is None:
            return ElicitResult(action="decline")
        ask, deadline = entry[0].ask_person, entry[1]
        assert ask is not None
        deadline.pause()
        try:
            if getattr(params, "mode", "form") == "url":
                text = f"{self._slug} asks you to open {params.url}: {params.message}"
                said = await ask((Question(text=text, options=(DONE, DECLINE)),))
                return ElicitResult(action="accept" if said.get(text) == DONE else "decline")
            questions = form(self._slug, params.message, params.requested_schema or {})
            said = await ask(tuple(questions.values()))
            if "" in questions and said.get(questions[""].text) != YES:
                return ElicitResult(action="decline")
            content = {name: said.get(one.text, "") for name, one in questions.items()}
            return ElicitResult(action="accept", content=typed(content, params.requested_schema or {}))
        except WeftError:
            return ElicitResult(action="decline")
        finally:
            deadline.go_on()


def form(slug: str, message: str, schema: Mapping[str, Any]) -> dict[str, Question]:
    """A question for each field of what is asked for; one to agree when there are none."""
    fields = schema.get("properties", {})
    if not fields:
        return {"": Question(text=f"{slug} asks: {message}", options=(YES, NO))}
    asked = {}
    for name, field in fields.items():
        about = field.get("description") or field.get("title") or name
        text = f"{slug} asks: {message} ({about})" if len(fields) > 1 or about != name else f"{slug} asks: {message}"
        options = tuple(str(one) for one in field.get("enum", ()))
        if field.get("type") == "boolean":
            options = (YES, NO)
        asked[name] = Question(text=text, options=options)
    return asked


def typed(content: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The answers in the types that were asked for; what is left empty has its default, or is left out."""
    found: dict[str, Any] = {}
    for name, text in content.items():
        field = schema.get("properties", {}).get(name, {})
        kind = field.get("type", "string")
        if not name or not text.strip():
            if "default" in field:
                found[name] = field["default"]
            continue
        try:
            found[name] = _READERS.get(kind, str)(text.strip())
        except ValueError:
            found[name] = text
    return found


def _yes(text: str) -> bool:
    return text.lower() in (YES, "true", "y", "1")


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {"boolean": _yes, "integer": int, "number": float}
