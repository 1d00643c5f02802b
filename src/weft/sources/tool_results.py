"""What a tool of an MCP server answered, as an outcome: text as it is, the rest named and kept by its hash."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from weft.tools.results import bounded
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Outcome

if TYPE_CHECKING:
    from mcp.types import CallToolResult


async def outcome_of(slug: str, result: CallToolResult, context: Context) -> Outcome:
    parts = [await _part(one, context) for one in result.content]
    text = "\n\n".join(filter(None, parts))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
    failed = bool(result.is_error)
    lines = text.count("\n") + 1 if text else 0
    outcome = Outcome(
        text=text or "[nothing]",
        is_error=failed,
        effect="unknown" if failed else "completed",
        summary=text.split("\n", 1)[0][:120] if failed else f"{lines} line{'' if lines == 1 else 's'} from {slug}",
        outside=(f"the source {slug}",),
    )
    return await bounded(outcome, context)


async def _part(part: Any, context: Context) -> str:
    match part.type:
        case "text":
            return str(part.text)
        case "image" | "audio":
            return await _kept(part.type, part.mime_type, part.data, context)
        case "resource_link":
            return f"[a resource: {part.uri}{f' ({part.name})' if part.name else ''}]"
        case "resource":
            inner = part.resource
            if getattr(inner, "text", None) is not None:
                return f"[{inner.uri}]\n{inner.text}"
            return await _kept("resource", inner.mime_type or "", inner.blob, context)
    return f"[{part.type}]"


async def _kept(kind: str, media_type: str, data: str, context: Context) -> str:
    try:
        raw = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return f"[{kind} {media_type} that can't be read]"
    keep, where = context.keep, ""
    if keep is not None:
        where = f", kept as @session/blobs/{await in_thread(lambda: keep(raw), 'weft-keep')}"
    return f"[{kind} {media_type}, {len(raw):,} bytes{where}]"
