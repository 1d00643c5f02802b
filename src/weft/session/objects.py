"""Contents by hash outside the database: a folder that all machines see, or a bucket (S3, GCS, Azure) through obstore.

A folder is written as everything else is, with a sync before it counts; nothing is ever changed or removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from weft.files import Folder
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.hashes import hash_bytes

SMALL: Final = 64 * 1024
"""Bytes up to which a content lies in the database itself."""


class ObjectFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, digest: str, data: bytes) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        with Folder.open(self._path) as folder, folder.folder(digest[:2], create=True) as inner:
            inner.replace(digest, data)

    def get(self, digest: str) -> bytes:
        try:
            with Folder.open(self._path) as folder, folder.folder(digest[:2]) as inner:
                return _checked(digest, inner.read(digest), str(self._path))
        except FileNotFoundError:
            raise _lost(digest, str(self._path)) from None


class Objects:
    """A bucket."""

    def __init__(self, address: str) -> None:
        try:
            from obstore.store import from_url
        except ImportError as error:
            raise UserError("an object store needs the extra postgres", hint="pip install 'weft[postgres]'") from error
        self._address = address
        self._store: Any = from_url(address)

    def put(self, digest: str, data: bytes) -> None:
        try:
            self._store.put(_key(digest), data)
        except Exception as error:
            raise ExternalError(f"can't write to {self._address}: {error}", retryable=True) from error

    def get(self, digest: str) -> bytes:
        try:
            data = bytes(self._store.get(_key(digest)).bytes())
        except FileNotFoundError:
            raise _lost(digest, self._address) from None
        except Exception as error:
            raise ExternalError(f"can't read from {self._address}: {error}", retryable=True) from error
        return _checked(digest, data, self._address)


def open_objects(address: str) -> Objects | ObjectFolder | None:
    """A path, or an address such as s3://bucket/prefix; None for none: then the database keeps everything."""
    if not address:
        return None
    scheme = urlsplit(address).scheme
    return Objects(address) if scheme and scheme != "file" else ObjectFolder(Path(address.removeprefix("file://")))


def _key(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _checked(digest: str, data: bytes, where: str) -> bytes:
    if hash_bytes(data) != digest:
        raise ExternalError(f"{digest} in {where} is not what it was", hint="put it back from a copy")
    return data


def _lost(digest: str, where: str) -> ExternalError:
    return ExternalError(f"{digest} is not in {where}", hint="put it back from a copy")
