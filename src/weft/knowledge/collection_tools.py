"""A collection's tools as tools of a conversation: what they bring was written by others, and marks it so.

Calls run in threads, one at a time for each collection, and only read. An interrupt ends the call at once; the thread
then ends by itself and its result is not taken.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.tools import KnowledgeTool, call, tools_of
from weft.tools.results import bounded
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Handle, Outcome, Tool, begin

SENDING: Final = frozenset({"kb_web_search"})
"""Tools whose arguments leave the machine when a web source is connected."""


def conversation_tools(knowledge: KnowledgeBase) -> list[Tool]:
    """Every tool of `tools_of`, under each name it goes by."""
    one_at_a_time = asyncio.Lock()
    return [_tool(knowledge, name, tool, schema, one_at_a_time) for name, (tool, schema) in tools_of(knowledge).items()]


def _tool(
    knowledge: KnowledgeBase, name: str, tool: KnowledgeTool, schema: Mapping[str, Any], one_at_a_time: asyncio.Lock
) -> Tool:
    async def answered(given: Mapping[str, Any], context: Context) -> Outcome:
        async with one_at_a_time:
            answer = await in_thread(lambda: call(knowledge, name, given), "weft-knowledge")
        outcome = Outcome(
            text=json.dumps(answer, ensure_ascii=False, indent=1),
            summary=_summary(answer),
            effect="none",
            outside=(f"the collection {knowledge.name}",),
        )
        return await bounded(outcome, context)

    async def start(given: Mapping[str, Any], context: Context) -> Handle:
        return await begin(answered(given, context))

    title = knowledge.collection.title
    return Tool(
        name=name,
        description=f"{tool.description} The collection is “{title}”.",
        input_schema={"additionalProperties": False, **schema},
        kind="network" if tool.name in SENDING else "read",
        start=start,
        retryable=True,
    )


def _summary(answer: Mapping[str, Any]) -> str:
    for key in ("total_results", "total_found", "total_citations", "total_entities", "total_standards", "total_guides"):
        if key in answer:
            return f"{answer[key]} {key.removeprefix('total_')}"
    return "answered"
