"""The one registration path: from what a source offered when it was last reached to the tools of a toolbox.

`weft sources test` and `tools`, what a model is offered and what a permission rule names are all this list.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from weft.sources.declared_sources import Source
from weft.sources.listing import Listing, OfferedTool
from weft.tools.tool import Context, Handle, Outcome, Tool, begin

NAME_LENGTH: Final = 64
BETWEEN: Final = "__"
OWN_NAMES: Final = {"resources/list": "list_resources", "resources/read": "read_resource", "prompts/get": "get_prompt"}
"""Of what the protocol has besides tools, and we offer as tools."""
WEB_SEARCH: Final = "WebSearch"
"""What models call a search of the web."""
CallSource = Callable[[Source, str, Mapping[str, Any], Context], Awaitable[Outcome]]
"""The source, the tool's own name, its input."""


def offered_tools(
    source: Source, listing: Listing, call: CallSource, waits_for: Callable[[], str] | None = None
) -> list[Tool]:
    """Every tool that is offered, each once, under `<slug>__<tool>`. `waits_for`: what a person has to do first."""
    found: dict[str, Tool] = {}
    for offered in listing.tools:
        choice = source.config.tools.get(offered.name)
        if choice is not None and not choice.enabled:
            continue
        name = public_name(source.slug, OWN_NAMES.get(offered.name, offered.name))
        if name in found:
            name = public_name(source.slug, offered.name, always=True)
        found[name] = _tool(name, source, offered, call, waits_for)
    return list(found.values())


def public_name(slug: str, tool: str, *, always: bool = False) -> str:
    """A name that every provider of models takes; one that had to be changed has a hash of the whole at its end."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    name = f"{slug}{BETWEEN}{plain}"
    if plain == tool and len(name) <= NAME_LENGTH and not always:
        return name
    return f"{name[: NAME_LENGTH - 7]}_{sha256(tool.encode()).hexdigest()[:6]}"


def _tool(
    name: str, source: Source, offered: OfferedTool, call: CallSource, waits_for: Callable[[], str] | None
) -> Tool:
    choice = source.config.tools.get(offered.name)
    effect = choice.effect if choice and choice.effect else offered.effect
    repeatable = choice.repeatable if choice and choice.repeatable is not None else offered.repeatable

    async def start(given: Mapping[str, Any], context: Context) -> Handle:
        return await begin(call(source, offered.name, given, context))  # type: ignore[arg-type]

    about = f"{offered.description or offered.name} (of the source {source.title})"
    return Tool(
        name=name,
        description=about,
        input_schema=offered.input_schema,
        kind=effect,
        start=start,
        retryable=repeatable,
        source=source.slug,
        waits_for=waits_for,
        known_as=WEB_SEARCH if source.config.kind == "search" else "",
    )
