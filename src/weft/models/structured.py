"""A JSON value of a given shape from any model, by the best way it has, through one check.

    native    the provider holds the model to the schema
    tool      the model must call a tool whose input is the value
    prompted  the schema is in the prompt, the value somewhere in the text

Whatever the way, the value is read by the tolerant reader and judged by the same schema check as artifacts. What is
wrong goes back to the model as findings, so many times and no more. A model with a small window that never gets a
whole object right is then asked for what is wrong in it one field at a time. `shape`, `judge` and `again` are the pure
pieces for whoever owns the loop; `ask` is the loop for a single value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal

from weft.checks.schema import schema_findings
from weft.models.answer import Answer, add_usage, gather
from weft.models.json_reader import JsonReading, look, read
from weft.models.json_scan import Correction
from weft.models.model import Model, ModelError, Part, Request
from weft.protocol.errors import Finding, ModelFeedback
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import CUT_OFF, Content, Message, Text, Thinking, ToolResult, ToolSpec, Usage
from weft.protocol.values import dataclass

Way = Literal["native", "tool", "prompted"]
ASKS: Final = 3
ANSWER_TOOL: Final = "give_answer"
SMALL: Final = 16_384
"""Tokens of a window up to which a model is asked field by field in the end."""
FIELD_ASKS: Final = 2
_WRAPPED: Final = "value"
_NOT_THIS_WAY: Final = ("invalid_request", "malformed")
_SHOWN: Final = 600
"""Characters of an answer that was cut off: more of it would only be said again."""
_REQUIRED: Final = re.compile(r'("[^"]*") is a required property')
_DEFINITIONS: Final = ("$defs", "definitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured:
    """A value that fits its schema, how it was had, and what was put right in its writing."""

    value: Any
    way: Way
    corrections: tuple[Correction, ...] = ()
    asks: int = 1
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReading:
    """The best reading of an answer, or None, and why it does not count (nothing: it does)."""

    reading: JsonReading | None
    findings: tuple[Finding, ...] = ()


def ways_of(model: Model) -> tuple[Way, ...]:
    """The ways a model has, the best first; a model that says nothing is asked in words."""
    return getattr(model, "output_ways", ("prompted",))


def shape(request: Request, schema: Mapping[str, Any], way: Way) -> Request:
    """The request, asking for a value of the schema in the given way."""
    if way == "native":
        return replace(request, schema=schema)
    if way == "tool":
        described = "Give the answer. Call this exactly once, with the whole answer."
        tool = ToolSpec(name=ANSWER_TOOL, description=described, input_schema=as_object(schema))
        return replace(request, tools=(*request.tools, tool), must_call="" if request.tools else ANSWER_TOOL)
    asked = (
        "Answer with one JSON value and nothing else: no text before or after it, no fence. "
        "It must fit this JSON Schema:\n" + json.dumps(schema, ensure_ascii=False)
    )
    return replace(request, system=f"{request.system}\n\n{asked}" if request.system else asked)


def judge(answer: Answer, schema: Mapping[str, Any], way: Way, artifact: str = "answer") -> JudgedReading:
    """Whether an answer holds a whole value that fits: one path for every way."""

    def faults(value: Any) -> list[Finding]:
        return _faults(artifact, value, schema)

    reading = _called(answer, schema) if way == "tool" else None
    if reading is None or faults(reading.value):
        said = read(answer.text, lambda value: not faults(value))
        reading = said or reading
    if reading is None:
        found = look(answer.text)
        if not found.readings:
            return JudgedReading(reading=None, findings=(_unread(answer, found.fault, artifact, schema),))
        reading = found.readings[0]
    findings = faults(reading.value)
    if not reading.complete or answer.stop in CUT_OFF:
        findings.insert(0, Finding(artifact, "", "the answer was cut off", "give the whole value, and be brief"))
    return JudgedReading(reading=reading, findings=tuple(findings))


def again(request: Request, answer: Answer, findings: Sequence[Finding]) -> Request:
    """The request once more, with the answer and what is wrong with it."""
    told = "The answer can't be used yet:\n" + "\n".join(_lines(findings))
    told += "\nGive the whole answer again, with all of this put right."
    content = [_shortened(one, answer) for one in answer.message.content if _goes_back(one)]
    calls = [ToolResult(call=call.call, tool=call.tool, text=told, is_error=True) for call in answer.calls]
    said = Message(role="assistant", content=tuple(content) or (Text(text="(no answer)"),))
    reply = Message(role="user", content=tuple(calls) or (Text(text=told),))
    return replace(request, messages=(*request.messages, said, reply))


async def ask(
    model: Model,
    request: Request,
    schema: Mapping[str, Any],
    *,
    artifact: str = "answer",
    asks: int = ASKS,
    on_part: Callable[[Part], None] | None = None,
) -> Structured:
    """A value that fits, or ModelFeedback with the findings of the last answer after `asks` answers.

    A way the model turns out not to have gives way to the next one, without counting as an answer.
    """
    ways = list(ways_of(model))
    used = Usage()
    asked = 0
    shaped = shape(request, schema, ways[0])
    while True:
        try:
            answer = await gather(model.stream(shaped), on_part)
        except ModelError as error:
            if error.kind not in _NOT_THIS_WAY or error.retryable or len(ways) == 1:
                raise
            ways.pop(0)
            shaped = shape(request, schema, ways[0])
            continue
        asked += 1
        used = add_usage(used, answer.usage)
        if answer.stop == "refused":
            raise ModelError("refused", f"{model.name} refused to answer", hint="put the task in other words")
        judged = judge(answer, schema, ways[0], artifact)
        if judged.reading is not None and not judged.findings:
            reading = judged.reading
            corrections = reading.corrections
            return Structured(value=reading.value, way=ways[0], corrections=corrections, asks=asked, usage=used)
        if asked >= asks:
            if model.window > SMALL or not schema.get("properties"):
                raise ModelFeedback(judged.findings)
            by_field = FieldByField(model, request, schema, ways[0], artifact)
            return await by_field.run(judged, Structured(value=None, way=ways[0], asks=asked, usage=used), on_part)
        shaped = again(shaped, answer, judged.findings)


@dataclass(frozen=True, slots=True)
class FieldByField:
    """An object from a model that does not get it right in one go: what fits of it is kept, the rest is asked for."""

    model: Model
    request: Request
    schema: Mapping[str, Any]
    way: Way
    artifact: str

    async def run(self, last: JudgedReading, so_far: Structured, on_part: Callable[[Part], None] | None) -> Structured:
        value = last.reading.value if last.reading is not None and isinstance(last.reading.value, dict) else {}
        fields: Mapping[str, Any] = self.schema["properties"]
        kept = {name: one for name, one in value.items() if name in fields and not self._faults(name, one)}
        asks, used = so_far.asks, so_far.usage
        for name in self.schema.get("required") or fields:
            for _ in range(FIELD_ASKS if name not in kept else 0):
                answer = await gather(self.model.stream(self._asked_for(name)), on_part)
                asks, used = asks + 1, add_usage(used, answer.usage)
                found = [one for one in self._readings(name, answer) if not self._faults(name, one)]
                if found:
                    kept[name] = found[0]
                    break
        whole = {name: kept[name] for name in fields if name in kept}
        if findings := _faults(self.artifact, whole, self.schema):
            raise ModelFeedback(tuple(findings))
        return replace(so_far, value=whole, asks=asks, usage=used)

    def _asked_for(self, name: str) -> Request:
        told = f"The whole answer is an object. Give only the value of {json.dumps(name)} now, and nothing else."
        asked = Message(role="user", content=(Text(text=told),))
        return shape(replace(self.request, messages=(*self.request.messages, asked)), self._field(name), self.way)

    def _readings(self, name: str, answer: Answer) -> list[Any]:
        """What it may have meant: the value, an object with it, or for a text the words themselves."""
        judged = judge(answer, self._field(name), self.way, self.artifact)
        value = judged.reading.value if judged.reading is not None else None
        inner = [value[name]] if isinstance(value, dict) and name in value else []
        words = [answer.text.strip()] if answer.stop not in CUT_OFF and answer.text.strip() else []
        return [*inner, *([value] if judged.reading is not None else []), *words]

    def _field(self, name: str) -> Mapping[str, Any]:
        known = {key: self.schema[key] for key in _DEFINITIONS if key in self.schema}
        return {**self.schema["properties"][name], **known}

    def _faults(self, name: str, value: Any) -> list[Finding]:
        return _faults(self.artifact, value, self._field(name))


def _faults(artifact: str, value: Any, schema: Mapping[str, Any]) -> list[Finding]:
    return schema_findings(artifact, value, schema, hash_bytes(json.dumps(schema, sort_keys=True).encode()))


def as_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool's input is an object; any other value is put under one key."""
    if schema.get("type") == "object":
        return schema
    inner = {key: item for key, item in schema.items() if key not in ("$schema", "$id", *_DEFINITIONS)}
    moved = {key: item for key, item in schema.items() if key in _DEFINITIONS}
    return {"type": "object", "properties": {_WRAPPED: inner}, "required": [_WRAPPED], **moved}


def within(schema: Mapping[str, Any], given: Any) -> Any:
    """The value that a tool was given whose input is `as_object(schema)`."""
    if schema.get("type") == "object" or not isinstance(given, Mapping):
        return dict(given) if isinstance(given, Mapping) else given
    return given.get(_WRAPPED, dict(given))


def _called(answer: Answer, schema: Mapping[str, Any]) -> JsonReading | None:
    for call in answer.calls:
        if call.tool != ANSWER_TOOL:
            continue
        if call.malformed:
            return read(call.malformed)
        return JsonReading(value=within(schema, call.input))
    return None


def _unread(answer: Answer, fault: str, artifact: str, schema: Mapping[str, Any]) -> Finding:
    if answer.stop in CUT_OFF and "{" in answer.text:
        return Finding(artifact, "", "the answer was cut off", "give the whole value, and be brief")
    keys = schema.get("required")
    begin = f"; begin with {{ and give the keys {', '.join(map(str, keys))}" if isinstance(keys, list) else ""
    return Finding(artifact, "", fault, f"answer with one JSON value and nothing else{begin}")


def _goes_back(one: Content) -> bool:
    return not isinstance(one, Thinking) or bool(one.signature)


def _shortened(one: Content, answer: Answer) -> Content:
    """An answer that never came to its end fills a small window with what was wrong about it."""
    if answer.stop not in CUT_OFF or not isinstance(one, Text) or len(one.text) <= _SHOWN:
        return one
    return Text(text=f"{one.text[:_SHOWN]} […]")


def _lines(findings: Sequence[Finding]) -> list[str]:
    """A line for each finding; the keys that are missing at one place are named together."""
    missing: dict[str, list[str]] = {}
    for finding in findings:
        if found := _REQUIRED.fullmatch(finding.message):
            missing.setdefault(finding.at, []).append(found[1])
    lines = [_line(finding) for finding in findings if not _REQUIRED.fullmatch(finding.message)]
    for at, keys in missing.items():
        lines.append(f"- {f'at {at}: ' if at else ''}{', '.join(keys)} must be there")
    return lines


def _line(finding: Finding) -> str:
    at = f"at {finding.at}: " if finding.at else ""
    return f"- {at}{finding.message}" + (f" ({finding.hint})" if finding.hint else "")
