"""The one registration path: the tools of a conversation. What it lists is what the model gets and may call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from weft.protocol.errors import UserError, WeftError
from weft.protocol.messages import ToolCall, ToolSpec
from weft.protocol.values import dataclass
from weft.tools.tool import Context, Handle, SettledHandle, Tool, broken, failed
from weft.tools.tool_spellings import corrected, own_name, told, told_name, told_spec

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNote:
    """What is to be said of a source beside its tools."""

    enabled: bool = True
    """Whether everybody gets its tools, or only agents and steps that name it."""
    guide: str = ""
    """For whoever uses it, to be read before the first use."""
    trouble: str = ""
    """Why it can't be used before something is done, and what; "" when it can."""


class Toolbox:
    def __init__(self, tools: Iterable[Tool], sources: Mapping[str, SourceNote] | None = None) -> None:
        self.sources: Mapping[str, SourceNote] = sources or {}
        """Every source there is, by its slug, also one that has no tools now."""
        self._tools: dict[str, Tool] = {}
        self._validators: dict[str, Any] = {}
        for tool in tools:
            if not NAME.match(tool.name):
                raise UserError(f"{tool.name[:80]!r} can't be a tool's name", hint="letters, digits, _ and -, up to 64")
            if tool.name in self._tools:
                raise UserError(f"there are two tools named {tool.name}", hint="rename one, or turn its source off")
            self._tools[tool.name] = tool
        self._known_as: dict[str, str] = {}
        """Names by which models know tools of sources, each for one of them."""
        for tool in self._tools.values():
            if tool.known_as and tool.known_as not in self._tools:
                self._known_as.setdefault(tool.known_as, tool.name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def own_name(self, name: str) -> str:
        """What the tool is called here that files written for other programs may call otherwise."""
        if name in self._tools:
            return name
        return self._known_as.get(own := own_name(name), own)

    def specs(self) -> tuple[ToolSpec, ...]:
        """As models are offered them: with the names and arguments that they know."""
        return tuple(replace(told_spec(tool), name=self._told_name(tool.name)) for tool in self)

    def _told_name(self, name: str) -> str:
        known_as = self._tools[name].known_as
        return known_as if self._known_as.get(known_as) == name else told_name(name)

    def listing(self) -> list[dict[str, Any]]:
        """Each tool with all that is known of it, as `weft tools` shows it."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "effect": tool.kind,
                "interruptible": tool.interruptible,
                "retryable": tool.retryable,
                "source": tool.source,
                "input_schema": tool.input_schema,
            }
            for tool in self
        ]

    def only(self, names: Iterable[str]) -> tuple[Toolbox, tuple[str, ...]]:
        """A toolbox of these tools in its own order, and the names that are not in it."""
        wanted = {self.own_name(name): name for name in names}
        missing = tuple(asked for name, asked in wanted.items() if name not in self._tools)
        return Toolbox((tool for tool in self if tool.name in wanted), self.sources), missing

    def of_source(self, slug: str) -> tuple[str, ...]:
        """The names of a source's tools."""
        return tuple(tool.name for tool in self if tool.source == slug)

    def switched_on(self) -> Toolbox:
        """Without the tools of sources that only those get who name them."""
        off = {slug for slug, note in self.sources.items() if not note.enabled}
        return Toolbox((tool for tool in self if tool.source not in off), self.sources) if off else self

    def corrected(self, call: ToolCall) -> ToolCall:
        """The call in our own spelling, whichever of those that models use it came in."""
        tool = self._tools.get(name := self.own_name(call.tool))
        if tool is None or call.malformed:
            return call
        if tool.source is not None:
            return call if name == call.tool else replace(call, tool=name)
        given = corrected(name, call.input, tool.input_schema.get("properties", {}))
        same = name == call.tool and given is call.input
        return call if same else ToolCall(call=call.call, tool=name, input=given)

    def fault(self, call: ToolCall) -> str | None:
        """Why this call can't be made, for the model to read; None when it can."""
        tool = self._tools.get(call.tool)
        if tool is None:
            return f"there is no tool {call.tool[:80]!r}; the tools are: {', '.join(map(self._told_name, self._tools))}"
        if call.malformed:
            return f"the input of {tool.name} was not a JSON object: {call.malformed[:200]}"
        if self._validator(tool).is_valid(dict(call.input)):
            return None
        faults = [
            f"- {'/'.join(str(part) for part in error.instance_path) or 'the input'}: {error.message}"
            for error in self._told_validator(tool).iter_errors(dict(told(tool.name, call.input)))
        ]
        return f"the input of {self._told_name(tool.name)} is not right:\n" + "\n".join(faults[:10])

    def _validator(self, tool: Tool) -> Any:
        if tool.name not in self._validators:
            import jsonschema_rs

            self._validators[tool.name] = jsonschema_rs.validator_for(dict(tool.input_schema))
        return self._validators[tool.name]

    def _told_validator(self, tool: Tool) -> Any:
        """Of the tool as a model knows it: what is wrong is said in its words."""
        import jsonschema_rs

        return jsonschema_rs.validator_for(
            dict(told_spec(tool).input_schema if tool.source is None else tool.input_schema)
        )

    async def start(self, call: ToolCall, context: Context) -> Handle:
        """Begins the call. One that can't be made has ended already, with the reason as its outcome."""
        call = self.corrected(call)
        if fault := self.fault(call):
            return SettledHandle(failed(fault))
        try:
            return await self._tools[call.tool].start(call.input, context)
        except WeftError as error:
            return SettledHandle(failed(str(error)))
        except Exception as error:  # noqa: BLE001  whatever a tool does, a call has an end; the traceback is kept
            return SettledHandle(broken(error))
