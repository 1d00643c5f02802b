"""The person's secrets, by name: in the credential store, apart from the keys of connections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from weft.models.credentials import CredentialStore
from weft.protocol.errors import UserError, WeftError
from weft.protocol.json_text import json_value
from weft.redaction import REDACTOR, SHORTEST

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_APART: Final = "secret/"
"""No connection can be called so."""


class PersonSecrets:
    def __init__(self, store: CredentialStore) -> None:
        self._store = store
        self._read: dict[str, str] = {}

    def names(self) -> list[str]:
        return [name.removeprefix(_APART) for name in self._store.names() if name.startswith(_APART)]

    def put(self, name: str, secret: str) -> None:
        if not _NAME.match(name):
            raise UserError(f"{name!r} can't be the name of a secret", hint="use small letters, digits, - and _")
        if len(secret) < SHORTEST:
            raise UserError(
                f"a secret has at least {SHORTEST} characters: a shorter one can't be kept out of logs",
                hint="nothing was kept",
            )
        self._store.put(_APART + name, secret)

    def remove(self, name: str) -> None:
        if not self._store.remove(_APART + name):
            raise UserError(f"there is no secret {name!r}", hint="`weft secrets list` shows them")

    def get(self, name: str) -> str:
        """The secret itself; from now on it stands in nothing that is kept or shown."""
        if name not in self._read:
            found = self._store.get(_APART + name)
            if found is None:
                raise UserError(f"there is no secret {name!r}", hint=f"keep it first: weft secrets set {name}")
            REDACTOR.learn(name, found)
            self._read[name] = found
        return self._read[name]


def learn_all(variables: Mapping[str, str]) -> None:
    """Everything in the credential store is known to the redactor from now on, as far as the store opens unasked."""
    from weft.app.connections.model_registry import credential_store

    try:
        store = credential_store(variables, None)
        for name in store.names():
            for secret in _secrets_in(store.get(name) or ""):
                REDACTOR.learn(name.removeprefix(_APART), secret)
    except WeftError:
        return  # it is locked: what this process has had in its hands is known all the same


def _secrets_in(kept: str) -> list[str]:
    """A sign-in to a source is kept with what it needs to be renewed."""
    try:
        value = json_value(kept)
    except ValueError:
        return [kept]
    if not isinstance(value, dict):
        return [kept]
    return [str(value.get(key, "")) for key in ("secret", "access_token", "refresh_token", "client_secret")]


def person_secrets(variables: Mapping[str, str], ask: Callable[[str], str] | None) -> PersonSecrets:
    from weft.app.connections.model_registry import credential_store

    return PersonSecrets(credential_store(variables, ask))
