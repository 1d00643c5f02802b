"""The models of a workspace: which one is meant, the key it needs, and what its calls cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol

from weft.app.person import own_folder
from weft.models.connections import (
    EMBEDDED,
    MODEL_VARIABLE,
    Choices,
    Connection,
    Resolved,
    connect,
    connections,
    key_of,
    priced_as,
    resolve,
)
from weft.models.credentials import CredentialStore, Unlocking, system_keyring
from weft.models.embedded_model import EmbeddedModel
from weft.models.falling_back import FallingBack
from weft.models.file_making import FileMakingModel
from weft.models.limiting import LimitedModel, ResourceLimits
from weft.models.model import Model
from weft.models.pauses import KeptPause
from weft.models.prices import Cost, cost
from weft.models.retrying import Retrying
from weft.models.spending import ModelCall, moment
from weft.protocol.errors import UserError
from weft.redaction import REDACTOR
from weft.workspace.config import Config

CLAUDE_AGENT: Final = "claude-agent"
"""The kind of a connection on which the Claude agent runtime runs its own loop."""
OTHER_AGENTS: Final = ("acp", "codex")
"""The kinds of connections that are agents of others: by the Agent Client Protocol, and Codex."""
CLAUDE_WINDOW: Final = 200_000
AskSecret = Callable[[str], str]
"""Asks the person for what opens the credential store; takes what is wanted, in words."""


class OpenModel(Model, Protocol):
    async def aclose(self) -> None: ...


def open_model(resolved: Resolved, key: str, variables: Mapping[str, str]) -> OpenModel:
    """The model of a connection, of whatever kind."""
    connection = resolved.connection
    if connection is not None and connection.kind in OTHER_AGENTS:
        return _other_agent(resolved, connection, key, variables)
    if connection is None or connection.kind != CLAUDE_AGENT:
        return connect(resolved, key)
    from weft.conversation.claude_agent.options import Reach
    from weft.conversation.claude_agent.small_calls import ClaudeAgent  # few need it, and it is large

    reach = Reach(
        name=resolved.reference,
        model=resolved.model,
        key=key,
        base_url=connection.base_url,
        surroundings=variables,
        window=connection.window or CLAUDE_WINDOW,
    )
    return ClaudeAgent(reach=reach)


def _other_agent(resolved: Resolved, connection: Connection, key: str, variables: Mapping[str, str]) -> OpenModel:
    from weft.conversation.other_agent.agent_conversation import WINDOW, OtherAgent
    from weft.conversation.other_agent.codex import KEY
    from weft.conversation.other_agent.runtime import AgentReach

    is_codex = connection.kind == "codex"
    if is_codex:
        handed = {KEY: key} if key else {}
    else:
        handed = {connection.key.removeprefix("env:"): key} if connection.key.startswith("env:") else {}
    reach = AgentReach(
        name=resolved.reference,
        command=connection.command,
        surroundings=variables,
        variables=handed,
        model=resolved.model if is_codex else "",
        base_url=connection.base_url,
        home=connection.home,
    )
    return OtherAgent(reach=reach, protocol="codex" if is_codex else "acp", window=connection.window or WINDOW)


class ConnectedModels:
    def __init__(
        self,
        config: Config,
        variables: Mapping[str, str],
        given: Mapping[str, Model],
        ask_secret: AskSecret | None = None,
        *,
        agreed: Callable[[Connection], None],
        limits: ResourceLimits | None = None,
    ) -> None:
        """`given` are models an embedding program brings along, by the name people choose them by. `agreed` raises when
        nobody agreed that a connection's key goes to its address. `limits` say how often a connection may be used."""
        self._limits = limits
        self._agreed = agreed
        self._workspace = config.model if config.model != EMBEDDED else None
        self._variables = variables
        self._given = given
        self._known = connections(config.models, variables)
        self._roles = config.roles.by_name()
        self._ask_secret = ask_secret
        self._opened: list[OpenModel] = []

    async def aclose(self) -> None:
        """Lets go of the connections of every model that was opened here."""
        opened, self._opened = self._opened, []
        for model in opened:
            await model.aclose()

    @property
    def names(self) -> list[str]:
        """Of every connection, and of every model that was brought along."""
        return sorted({*self._known, *self._given})

    def choose(self, *, session: str | None = None, agent: str | None = None) -> str:
        """The reference of the model that is meant: the most specific that says something."""
        said = next((one for one in (session, agent, self._workspace) if one), "")
        if (meant := self._roles.get(said, said)) in self._given:
            return meant
        return self._resolved(session=session, agent=agent).reference

    def open(
        self,
        reference: str,
        documents: Callable[[], Mapping[str, str]],
        collection: Callable[[str], str] | None = None,
        *,
        falls_back: bool = True,
    ) -> Model:
        """`documents` are what the embedded one answers from, or else a `collection` that is asked. UserError when it
        is not connected or has no key."""
        if reference in self._given:
            return self._limited(reference, self._given[reference])
        resolved = self._resolved(session=reference)
        if resolved.connection is None:
            return EmbeddedModel(documents, collection)
        self._agreed(resolved.connection)
        key = key_of(resolved.connection, self._variables, lambda name: self._store().get(name))
        REDACTOR.learn(resolved.connection.name, key)
        model = open_model(resolved, key, self._variables)
        self._opened.append(model)
        if resolved.connection.kind in (CLAUDE_AGENT, *OTHER_AGENTS):
            return model  # it tries again by itself
        asked = f"{resolved.reference} {resolved.connection.base_url}"  # providers limit each model by itself
        trying = Retrying(
            self._limited(resolved.connection.name, model), pause=KeptPause(own_folder(self._variables), asked)
        )
        if not resolved.connection.fallbacks or not falls_back:
            return trying
        others = [(one, partial(self._instead, one)) for one in resolved.connection.fallbacks]
        return FallingBack(trying, others)

    def _limited(self, resource: str, model: Model) -> Model:
        if self._limits is None or not self._limits.limits(resource):
            return model
        return LimitedModel(model, self._limits, resource)

    def _instead(self, reference: str) -> Model:
        model = self.open(reference, dict, falls_back=False)
        if isinstance(model, EmbeddedModel) or (not isinstance(model, Retrying) and reference not in self._given):
            raise UserError(f"{reference} can't stand in for a connected model")
        return model

    def works_by_itself(self, reference: str) -> bool:
        """It has a loop and tools of its own: what it makes may come of more than it was told."""
        if reference in self._given:
            return isinstance(self._given[reference], FileMakingModel)
        connection = self._resolved(session=reference).connection
        return connection is not None and connection.kind in (CLAUDE_AGENT, *OTHER_AGENTS)

    def price(self, call: ModelCall) -> Cost:
        """What a call cost, by the connection it went through; unknown when that is not there any more."""
        if call.model == EMBEDDED:
            return cost(EMBEDDED, call.usage)
        name, _, model = call.model.partition("/")
        connection = priced_as(name, self._known)
        if connection is None or call.model in self._given:
            return Cost(amount=None, why=f"there is no connection '{name}' that would say its price")
        return cost(
            model or connection.model,
            call.usage,
            kind=connection.kind,
            base_url=connection.base_url,
            own=connection.price,
            at=moment(call.at),
        )

    def _resolved(self, **more: str | None) -> Resolved:
        chosen = Choices(workspace=self._workspace, environment=self._variables.get(MODEL_VARIABLE), **more)
        return resolve(chosen, self._known, self._roles)

    def _store(self) -> CredentialStore:
        return credential_store(self._variables, self._ask_secret)


def credential_store(variables: Mapping[str, str], ask: AskSecret | None) -> CredentialStore:
    """The person's store of keys: one for all their workspaces."""
    variable = variables.get("WEFT_CREDENTIALS_KEY", "")
    return CredentialStore(own_folder(variables), Unlocking(keyring=system_keyring(), variable=variable, ask=ask))
