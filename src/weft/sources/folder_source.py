"""A folder outside the workspace as a source: its files can be read, listed and searched, and nothing else.

These are the app's own tools, working in that folder: the same confined opener, the same limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weft.files import Folder
from weft.sources.connector import SourceDownError
from weft.sources.declared_sources import Source
from weft.sources.listing import Listing, OfferedTool
from weft.tools.builtin.files import READ
from weft.tools.builtin.search import GLOB, GREP
from weft.tools.tool import Context, Outcome, Tool

TOOLS: Final[Mapping[str, Tool]] = {"read": READ, "glob": GLOB, "grep": GREP}


class FolderConnector:
    def __init__(self, source: Source) -> None:
        assert source.config.kind == "folder"
        self._source = source
        self._path = source.place(source.config.path)

    async def listing(self) -> Listing:
        with self._open():
            return Listing(
                tools=tuple(
                    OfferedTool(
                        name=name,
                        description=tool.description,
                        input_schema=tool.input_schema,
                        effect="read",
                        repeatable=True,
                    )
                    for name, tool in TOOLS.items()
                ),
                server=str(self._path),
            )

    async def call(self, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
        with self._open() as folder:
            inside = replace(context, working=folder, session=None, seen=None)
            handle = await TOOLS[tool].start(given, inside)
            try:
                outcome = await handle.result()
            finally:
                handle.interrupt("it was stopped")
                await handle.closed()
        return replace(outcome, outside=(f"the source {self._source.slug}",), seen={})

    async def close(self) -> None:
        """Nothing stays open."""

    def _open(self) -> Folder:
        if not self._path.is_dir():
            raise SourceDownError(f"the folder {self._path} of the source {self._source.slug} is not there")
        return Folder.open(self._path)
