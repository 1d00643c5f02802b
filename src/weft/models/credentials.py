"""The credential store: keys of connections, encrypted, in one file that only its owner may read.

The whole content is one AES-256-GCM box. What opens it is a secret of the OS keyring, or a passphrase or environment
variable through scrypt; the file says which, and holds a small box of known content, so that a wrong passphrase is told
apart from a damaged file. A damaged file is moved aside and named, never deleted. A key goes in and comes out by name;
nothing here puts one into a message, a representation or a log.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from weft.files import Folder
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass

FILE: Final = "credentials.json"
LOCK: Final = "credentials.lock"
VARIABLE: Final = "WEFT_CREDENTIALS_KEY"
VERSION: Final = 1
_SERVICE: Final = "weft"
_KNOWN: Final = b"weft credentials"
_SCRYPT: Final = {"n": 2**15, "r": 8, "p": 1}
_MOST_WORK: Final = 2**20
Opener = Literal["keyring", "passphrase", "environment"]


class Keyring(Protocol):
    """The two calls of the `keyring` package that are used."""

    def get_password(self, service: str, name: str) -> str | None: ...

    def set_password(self, service: str, name: str, secret: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Unlocking:
    """What may open the store: tried in this order when it is made, and as the file says when it is opened."""

    keyring: Keyring | None = None
    variable: str = ""
    ask: Callable[[str], str] | None = None

    def __repr__(self) -> str:
        return "Unlocking()"


def system_keyring() -> Keyring | None:
    """The OS keyring when the extra is installed and there is one; a machine without a desktop has none."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    found: Any = keyring.get_keyring()
    return None if type(found).__module__ in ("keyring.backends.fail", "keyring.backends.null") else found


class _DamagedError(Exception):
    """The file is not what was written; why."""


class CredentialStore:
    """Names and keys. Every change is a whole new file, made while holding a lock."""

    def __init__(
        self, path: Path, unlocking: Unlocking, *, random: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        self._path = path
        self._unlocking = unlocking
        self._random = random

    def __repr__(self) -> str:
        return f"CredentialStore({str(self._path)!r})"

    def get(self, name: str) -> str | None:
        if not (self._path / FILE).exists():
            return None
        with self._open() as folder:
            return self._load(folder)[0].get(name)

    def names(self) -> list[str]:
        if not (self._path / FILE).exists():
            return []
        with self._open() as folder:
            return sorted(self._load(folder)[0])

    def put(self, name: str, key: str) -> None:
        with self._open() as folder:
            entries, header, secret = self._load(folder)
            entries[name] = key
            self._save(folder, entries, header, secret)

    def remove(self, name: str) -> bool:
        """Whether there was one."""
        with self._open() as folder:
            entries, header, secret = self._load(folder)
            found = entries.pop(name, None) is not None
            if found:
                self._save(folder, entries, header, secret)
            return found

    @contextmanager
    def _open(self) -> Iterator[Folder]:
        with Folder.open(self._path, create=True) as folder, folder.locked(LOCK):
            yield folder

    def _load(self, folder: Folder) -> tuple[dict[str, str], dict[str, Any], bytes]:
        """The entries, and what is needed to write them again; a new store when there is none."""
        data = folder.read_or_none(FILE)
        if data is None:
            return {}, *self._begin()
        self._only_mine(folder)
        try:
            header, box = _parsed(data)
            secret = self._secret(header)
            if _unboxed(secret, header["check"], b"check") != _KNOWN:
                raise UserError("this does not open the credential store", hint=_how(header["opener"]))
            plain = _unboxed(secret, box, _bound(header))
            if plain is None:
                raise _DamagedError("its content was changed")
            return _entries(plain), header, secret
        except _DamagedError as error:
            aside = self._aside(folder)
            raise UserError(
                f"the credential store can't be read ({error}); it was moved to {aside}",
                hint="store the keys again with `weft models add`",
            ) from error

    def _only_mine(self, folder: Folder) -> None:
        """A copy from elsewhere may have come with looser rights."""
        held = folder.open_fd(FILE, os.O_RDONLY)
        try:
            if os.fstat(held).st_mode & 0o077:
                os.fchmod(held, 0o600)
        finally:
            os.close(held)

    def _begin(self) -> tuple[dict[str, Any], bytes]:
        header: dict[str, Any] = {
            "version": VERSION,
            "opener": self._choose(),
            "salt": _text(self._random(16)),
            **_SCRYPT,
        }
        secret = self._secret(header, is_new=True)
        header["check"] = self._boxed(secret, _KNOWN, b"check")
        return header, secret

    def _choose(self) -> Opener:
        if self._unlocking.keyring is not None:
            return "keyring"
        if self._unlocking.variable:
            return "environment"
        if self._unlocking.ask is not None:
            return "passphrase"
        raise UserError(
            "there is nothing to protect the key with: no keyring, no passphrase",
            hint=f"set {VARIABLE}, or keep the key in a variable of the environment and write env:NAME in its place",
        )

    def _secret(self, header: Mapping[str, Any], *, is_new: bool = False) -> bytes:
        opener, salt = header["opener"], _raw(header["salt"])
        unlocking = self._unlocking
        if opener == "keyring":
            if unlocking.keyring is None:
                raise UserError(
                    "the credential store is opened by the OS keyring, which is not there", hint=_how(opener)
                )
            name = f"credentials-{header['salt']}"
            found = unlocking.keyring.get_password(_SERVICE, name)
            if found is None and is_new:
                found = _text(self._random(32))
                unlocking.keyring.set_password(_SERVICE, name, found)
            if found is None:
                raise UserError("the OS keyring has no secret for the credential store", hint=_how(opener))
            return _raw(found)
        if opener == "environment":
            said = unlocking.variable
        else:
            said = unlocking.ask("a new passphrase" if is_new else "the passphrase") if unlocking.ask else ""
        if not said:
            raise UserError("the credential store is locked", hint=_how(opener))
        return _derived(said, salt, header)

    def _save(self, folder: Folder, entries: Mapping[str, str], header: Mapping[str, Any], secret: bytes) -> None:
        plain = json.dumps({"keys": dict(entries)}, ensure_ascii=False).encode()
        whole = {**header, "box": self._boxed(secret, plain, _bound(header))}
        folder.replace(FILE, json.dumps(whole, indent=1).encode() + b"\n")

    def _boxed(self, secret: bytes, plain: bytes, bound: bytes) -> str:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = self._random(12)
        return _text(nonce + AESGCM(secret).encrypt(nonce, plain, bound))

    def _aside(self, folder: Folder) -> str:
        number = 1
        while folder.exists(f"{FILE}.unreadable-{number}"):
            number += 1
        folder.move(FILE, folder, f"{FILE}.unreadable-{number}")
        return str(self._path / f"{FILE}.unreadable-{number}")


def _parsed(data: bytes) -> tuple[dict[str, Any], str]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _DamagedError("it is not JSON") from error
    shape = {"version": int, "opener": str, "salt": str, "check": str, "box": str, "n": int, "r": int, "p": int}
    if not isinstance(value, dict) or any(type(value.get(key)) is not kind for key, kind in shape.items()):
        raise _DamagedError("a part of it is missing")
    if value["version"] > VERSION:
        raise UserError("the credential store was made by a newer Weft", hint="update Weft")
    if value["opener"] not in ("keyring", "passphrase", "environment") or not _is_fair_work(value):
        raise _DamagedError("it asks to be opened in a way that is not known")
    box = value.pop("box")
    return value, box


def _is_fair_work(header: Mapping[str, Any]) -> bool:
    """A changed file may not ask for so much work that it never ends, or so little that guessing is easy."""
    n, r, p = header["n"], header["r"], header["p"]
    return bool(_SCRYPT["n"] <= n <= _MOST_WORK and n & (n - 1) == 0 and 8 <= r <= 32 and 1 <= p <= 16)


def _entries(plain: bytes) -> dict[str, str]:
    value = json.loads(plain)
    return {str(name): str(key) for name, key in value["keys"].items()}


def _derived(said: str, salt: bytes, header: Mapping[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=32, n=header["n"], r=header["r"], p=header["p"]).derive(said.encode())


def _unboxed(secret: bytes, box: str, bound: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    raw = _raw(box)
    if len(raw) < 28:
        raise _DamagedError("a part of it is missing")
    try:
        return AESGCM(secret).decrypt(raw[:12], raw[12:], bound)
    except InvalidTag:
        return None


def _bound(header: Mapping[str, Any]) -> bytes:
    """What the box is bound to: a header that was changed does not open it."""
    return json.dumps({key: header[key] for key in sorted(header)}, sort_keys=True).encode()


def _how(opener: str) -> str:
    if opener == "environment":
        return f"set {VARIABLE} to what it was when the store was made"
    if opener == "keyring":
        return "unlock the OS keyring, and install its client with: pip install 'weft[keyring]'"
    return "give the passphrase it was made with, in a terminal"


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _raw(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise _DamagedError("a part of it is not readable") from error
