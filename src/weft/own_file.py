"""A small file of the person's own, beside the credential store: outside every workspace, which may come from anybody.

It is parsed again only when it was changed. Every change is a whole new file, made while holding a lock, so that two
programs can change it at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from weft.files import Folder, translated
from weft.protocol.errors import UserError

Content = TypeVar("Content")
"""A pydantic model, or a dataclass with its config: who has no such file does not load what reads it."""


class OwnFile(Generic[Content]):
    def __init__(self, folder: Path, name: str, empty: Content, lost: str) -> None:
        """`lost` says what moving the file away would mean."""
        self._folder = folder
        self._name = name
        self._empty = empty
        self._lost = lost
        self._seen: tuple[tuple[int, int, int], Content] | None = None

    @property
    def path(self) -> Path:
        return self._folder / self._name

    def read(self) -> Content:
        """As it is now."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return self._empty
        except OSError as error:
            raise translated(error, f"can't read {self.path}") from error
        mark = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._seen is None or self._seen[0] != mark:
            with Folder.open(self._folder) as folder:
                self._seen = (mark, self._parsed(folder.read(self._name)))
        return self._seen[1]

    @contextmanager
    def changing(self) -> Iterator[tuple[Content, Callable[[Content], None]]]:
        lock = self._name.removesuffix(".json") + ".lock"
        with Folder.open(self._folder, create=True) as folder, folder.locked(lock):
            data = folder.read_or_none(self._name)

            def save(content: Content) -> None:
                folder.replace(self._name, self._form().dump_json(content, indent=1), mode=0o600)

            yield (self._parsed(data) if data is not None else self._empty), save

    def _form(self) -> Any:
        from pydantic import TypeAdapter

        return TypeAdapter(type(self._empty))

    def _parsed(self, data: bytes) -> Content:
        from pydantic import ValidationError

        try:
            content: Content = self._form().validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UserError(
                f"{self.path} can't be read: {where + ': ' if where else ''}{first['msg']}",
                hint=f"put it right, or move it away: {self._lost}",
            ) from None
        return content
