"""The web through a search source: for `kb_web_search` of a collection, and for research that is told to look there.

Nothing is searched unless a person connected a search and agreed to it. Pages are fetched by the safe fetcher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from weft.knowledge.research.question import terms_of
from weft.knowledge.research.relevance import share_of
from weft.protocol.commands import GivenFile
from weft.protocol.errors import UserError, WeftError
from weft.sources.connected_sources import Sources
from weft.sources.declared_sources import Source
from weft.sources.web_search import SearchConnector, WebResult

PAGES: Final = {"quick": 0, "standard": 3, "deep": 6}
"""How many pages of the web research of each depth reads."""
FETCH_SECONDS: Final = 30.0
USER: Final = "a search"
WebSearch = Callable[[Sequence[str], int], dict[str, Any]]


def search_source(sources: Sources) -> Source | None:
    """The first search that is on and may be used."""
    found = (one for one in sources.declared().sources.values() if one.config.kind == "search" and one.config.enabled)
    return next((one for one in found if not sources.trouble(one)), None)


async def search(sources: Sources, source: Source, query: str, count: int) -> list[WebResult]:
    """WeftError in words when there is no answer."""
    connector = sources.connector(source, USER)
    assert isinstance(connector, SearchConnector)
    try:
        return await connector.search(query, count)
    finally:
        await sources.release(USER)


def web_search_of(sources: Sources) -> WebSearch | None:
    """What a collection searches the web with; None when no search is connected. Called from a thread."""
    source = search_source(sources)
    if source is None:
        return None
    return lambda queries, count: _answered(sources, source, queries, count)


def _answered(sources: Sources, source: Source, queries: Sequence[str], count: int) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    warnings: list[str] = []
    for query in queries:
        try:
            found = asyncio.run(search(sources, source, query, count))
        except WeftError as error:
            warnings.append(f"{query}: {error.message}")
            continue
        for one in found:
            score = round(share_of(terms_of(query), f"{one.title} {one.snippet}"), 4)
            row = {"title": one.title, "url": one.url, "snippet": one.snippet, "relevance_score": score, "query": query}
            if one.url not in rows or rows[one.url]["relevance_score"] < score:
                rows[one.url] = row
    results = sorted(rows.values(), key=lambda row: -row["relevance_score"])
    near = [row for row in results if row["relevance_score"] >= 0.6]
    hints = [f"{len(near)} of {len(results)} results are near to what was asked: {near[0]['title']}"] if near else []
    executed = len(queries) - len(warnings)
    return {"results": results, "analysis_hints": hints, "queries_executed": executed, "warnings": warnings}


async def pages_about(
    sources: Sources, fetch: Callable[[str], Awaitable[GivenFile]], question: str, depth: str
) -> tuple[list[GivenFile], list[str]]:
    """Pages of the web on a question, as many as its depth reads, and what could not be had."""
    source = search_source(sources)
    if source is None:
        raise UserError(
            "no search of the web is connected", hint="weft sources add --search brave brave, or another provider"
        )
    wanted = PAGES.get(depth, PAGES["standard"])
    if not wanted:
        return [], [f"research of depth {depth} does not use the web"]
    found = await search(sources, source, question, wanted * 2)
    pages: list[GivenFile] = []
    notes: list[str] = []
    for one in found:
        if len(pages) == wanted:
            break
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                pages.append(await fetch(one.url))
        except (WeftError, TimeoutError) as error:
            notes.append(f"{one.url}: {str(error).splitlines()[0] if str(error) else 'it took too long'}")
    return pages, notes
