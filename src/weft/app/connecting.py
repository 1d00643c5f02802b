"""The models of a workspace: which one is meant, the key it needs, and what its calls cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from weft.models.connections import EMBEDDED, MODEL_VARIABLE, Choices, Resolved, connect, connections, key_of, resolve
from weft.models.credentials import CredentialStore, Unlocking, system_keyring
from weft.models.embedded_model import EmbeddedModel
from weft.models.model import Model
from weft.models.prices import Cost, cost
from weft.models.retrying import Retrying
from weft.protocol.messages import Usage
from weft.workspace.config import Config

AskSecret = Callable[[str], str]
"""Asks the person for what opens the credential store; takes what is wanted, in words."""


class ConnectedModels:
    def __init__(
        self,
        config: Config,
        variables: Mapping[str, str],
        given: Mapping[str, Model],
        ask_secret: AskSecret | None = None,
    ) -> None:
        """`given` are models an embedding program brings along, by the name people choose them by."""
        self._workspace = config.model if config.model != EMBEDDED else None
        self._variables = variables
        self._given = given
        self._known = connections(config.models, variables)
        self._ask_secret = ask_secret

    def choose(self, *, session: str | None = None, step: str | None = None, agent: str | None = None) -> str:
        """The reference of the model that is meant: the most specific that says something."""
        said = next((one for one in (session, step, agent, self._workspace) if one), None)
        if said in self._given:
            assert said is not None
            return said
        return self._resolved(session=session, step=step, agent=agent).reference

    def open(
        self,
        reference: str,
        documents: Callable[[], Mapping[str, str]],
        collection: Callable[[str], str] | None = None,
    ) -> Model:
        """`documents` are what the embedded one answers from, or else a `collection` that is asked. UserError when it
        is not connected or has no key."""
        if reference in self._given:
            return self._given[reference]
        resolved = self._resolved(session=reference)
        if resolved.connection is None:
            return EmbeddedModel(documents, collection)
        key = key_of(resolved.connection, self._variables, lambda name: self._store().get(name))
        return Retrying(connect(resolved, key))

    def cost(self, reference: str, usage: Mapping[str, Any]) -> Cost:
        counts = Usage(**{key: value for key, value in usage.items() if key in Usage.__slots__})
        if reference in self._given:
            return Cost(amount=None, why="a model that was brought along has no price")
        resolved = self._resolved(session=reference)
        connection = resolved.connection
        if connection is None:
            return cost(EMBEDDED, counts)
        return cost(resolved.model, counts, kind=connection.kind, base_url=connection.base_url, own=connection.price)

    def _resolved(self, **more: str | None) -> Resolved:
        chosen = Choices(workspace=self._workspace, environment=self._variables.get(MODEL_VARIABLE), **more)
        return resolve(chosen, self._known)

    def _store(self) -> CredentialStore:
        return credential_store(self._variables, self._ask_secret)


def credential_store(variables: Mapping[str, str], ask: AskSecret | None) -> CredentialStore:
    """The person's store of keys: one for all their workspaces."""
    folder = variables.get("XDG_CONFIG_HOME") or str(Path(variables.get("HOME", "~")).expanduser() / ".config")
    variable = variables.get("WEFT_CREDENTIALS_KEY", "")
    return CredentialStore(Path(folder) / "weft", Unlocking(keyring=system_keyring(), variable=variable, ask=ask))
