"""A request to a model as a person reads it: what is kept beside the log for each model call of a step."""

from __future__ import annotations

import json

from weft.models.model import Request
from weft.protocol.messages import Content, Media, Text, Thinking, ToolCall, ToolResult


def prompt_text(request: Request) -> str:
    """All of it, in the order the model gets it; each part under a line that says what it is."""
    parts = [f"=== system ===\n{request.system}"] if request.system else []
    parts += [f"=== tool {tool.name} ===\n{tool.description}\n{_json(tool.input_schema)}" for tool in request.tools]
    if request.schema is not None:
        parts.append(f"=== schema of the answer ===\n{_json(request.schema)}")
    for message in request.messages:
        parts.append(f"=== {message.role} ===\n" + "\n\n".join(_content(part) for part in message.content))
    return "\n\n".join(parts) + "\n"


def _content(part: Content) -> str:
    match part:
        case Text():
            return part.text
        case Thinking():
            return f"[thinking] {part.text}"
        case ToolCall():
            return f"[calls {part.tool}] {_json(dict(part.input))}"
        case ToolResult():
            return f"[{'error' if part.is_error else 'result'} of {part.tool}] {part.text}"
        case Media():
            return f"[{part.media_type}]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
