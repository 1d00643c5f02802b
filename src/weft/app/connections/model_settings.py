"""The connections of a workspace to models: listed, made, removed, chosen, explained and really tried.

A connection is a table of config.toml; its key is in the person's credential store, a variable, or not needed.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, get_args

from weft.app.connections.model_registry import AskSecret, OpenModel, credential_store, open_model
from weft.consent import Consents
from weft.files import Folder
from weft.models.connections import (
    EMBEDDED,
    MODEL_VARIABLE,
    Choices,
    Connection,
    Resolved,
    connections,
    consent_request,
    explain,
    key_of,
    resolve,
)
from weft.models.discovery import PRESETS, FoundAgent, ListedModel, found_agents, listed_models, local_servers
from weft.models.prices import Cost, cost
from weft.models.probe import Probe, probe
from weft.protocol.errors import UsageError, UserError
from weft.protocol.messages import Usage
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.workspace.config import FILE, Config
from weft.workspace.config_edit import with_default, with_role, with_table, without_table
from weft.workspace.config_file import parse_config, read_config
from weft.workspace.document import SourceFile
from weft.workspace.model_table import ROLE_NAMES, ModelKind, is_connection_name

AskKey = Callable[[bool], str]
"""Asks the person for a key; takes whether the connection needs one. "" for none."""
TableValue = str | int | list[str]
MODEL_KINDS: Final[tuple[str, ...]] = get_args(ModelKind)


@dataclass(frozen=True, slots=True)
class ModelRow:
    model: str
    kind: str
    where: str
    default: bool


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that is meant, with what it takes to open it."""

    resolved: Resolved
    key: str
    variables: Mapping[str, str]

    @property
    def reference(self) -> str:
        return self.resolved.reference

    @property
    def is_embedded(self) -> bool:
        return self.resolved.connection is None

    def open(self) -> OpenModel:
        return open_model(self.resolved, self.key, self.variables)

    def price(self, usage: Usage) -> Cost:
        """As prices are now."""
        one = self.resolved.connection
        if one is None:
            return cost(EMBEDDED, usage)
        return cost(self.resolved.model, usage, kind=one.kind, base_url=one.base_url, own=one.price)

    async def probe(self) -> Probe:
        """Really calls it."""
        model = self.open()
        try:
            return await probe(model, time.monotonic, pictures=True)
        finally:
            await model.aclose()


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that could be connected."""

    title: str
    name: str
    kind: ModelKind
    base_url: str
    variable: str = ""
    models: tuple[ListedModel, ...] | None = None
    """What a server on this machine has; None when it was not asked."""
    address: str = ""
    """What its address looks like, when it has to be asked for."""
    command: tuple[str, ...] = ()
    """Of an agent of others: its program."""
    how: str = ""
    """Of one without a key: how it is given one."""
    home: tuple[str, ...] = ()
    """Of one that somebody signed in to: what it would need of their home."""

    @property
    def is_agent(self) -> bool:
        return bool(self.command)


class ModelSettings:
    def __init__(
        self, path: Path, variables: Mapping[str, str], ask_secret: AskSecret | None, consents: Consents
    ) -> None:
        if not path.is_dir():
            raise UserError(f"there is no workspace at {path}", hint="`weft init` makes one")
        self._path = path
        self._variables = variables
        self._store = credential_store(variables, ask_secret)
        self._consents = consents

    def rows(self) -> list[ModelRow]:
        """The models that can be named; `embedded` comes first."""
        config = self._config()
        known, chosen = self._known(config), self._choices(config)
        try:
            default = resolve(chosen, known, config.roles.by_name()).reference
        except UserError:
            default = chosen.workspace or EMBEDDED
        rows = [ModelRow(EMBEDDED, "built in", "no key, no network", default == EMBEDDED)]
        for one in known.values():
            named = f"{one.name}/{one.model}" if one.model else f"{one.name}/…"
            rows.append(ModelRow(named, one.kind, one.file or one.base_url or one.origin, named == default))
        return rows

    def offers(self) -> list[Offer]:
        """What could be connected: what answers or is installed on this machine, keys that the environment has, then
        every preset."""
        here = [
            Offer(f"{one.title} at {one.base_url}", one.name, "openai", one.base_url, models=one.models)
            for one in asyncio.run(local_servers(self._variables))
        ]
        keyed = [one for one in PRESETS if self._variables.get(one.variable)]
        others = [one for one in PRESETS if one not in keyed]
        known = [
            Offer(
                f"{one.title}, with ${one.variable}",
                one.name,
                one.kind,
                one.base_url,
                variable=one.variable,
                address=one.address,
            )
            for one in keyed
        ]
        unkeyed = [Offer(one.title, one.name, one.kind, one.base_url, address=one.address) for one in others]
        return [*here, *known, *map(_agent_offer, found_agents(self._variables)), *unkeyed]

    def listed(self, kind: ModelKind, base_url: str, key: str) -> list[ListedModel]:
        """The models that a server says it has. ModelError when it refuses."""
        return asyncio.run(listed_models(kind, base_url, key))

    @property
    def is_embedded_default(self) -> bool:
        return self._config().model == EMBEDDED

    def free_name(self, wanted: str) -> str:
        """The name, or with a number behind it when it is taken."""
        taken = self._config().models
        return next(name for n in range(1, 1000) if (name := wanted if n == 1 else f"{wanted}-{n}") not in taken)

    def key_in(self, variable: str) -> str:
        return self._variables.get(variable, "").strip()

    def add(self, name: str, values: Mapping[str, TableValue], ask_key: AskKey) -> None:
        """Connect a model. Its key is asked for when it needs one that no variable has, and taken when one is given to
        a server on this machine. Whatever goes wrong, config.toml and the store stay as they were."""
        if not is_connection_name(name):
            hint = "use small letters, digits and '-'; 'embedded' is taken"
            raise UsageError(f"{name!r} can't be the name of a connection", hint=hint)
        values = dict(values)
        with Folder.open(self._path) as folder:
            text = _text(folder)
            one = connections(_parsed(with_table(text, name, values)).models, {})[name]
            key = ""
            if not values.get("key") and not one.file:
                key = ask_key(one.needs_key)
                if one.needs_key and not key:
                    raise UserError(f"no key was given, so {name} is not connected", hint="give it, or add --no-key")
                if key:
                    if not one.needs_key:
                        values["key"] = f"store:{name}"
                        one = connections(_parsed(with_table(text, name, values)).models, {})[name]
                    key_of(one, {}, lambda _: key)  # one that no header can carry is said now
                    self._store.put(name, key)
            try:
                folder.replace(FILE, with_table(text, name, values).encode())
            except BaseException:
                if key:
                    self._store.remove(name)
                raise
        self._consents.agree(consent_request(one, os.path.realpath(self._path)), "by command")

    def remove(self, name: str) -> None:
        """A connection and its stored key."""
        if name not in self._config().models:
            raise UserError(f"config.toml has no connection '{name}'", hint="`weft models list` shows them")
        with Folder.open(self._path) as folder:
            folder.replace(FILE, without_table(_text(folder), name).encode())
        if name in self._store.names():
            self._store.remove(name)

    def set_default(self, model: str) -> str:
        """The reference of the model that is now meant."""
        config = self._config()
        chosen = resolve(Choices(session=model), self._known(config), config.roles.by_name())
        with Folder.open(self._path) as folder:
            folder.replace(FILE, with_default(_text(folder), model).encode())
        return chosen.reference

    def roles(self) -> dict[str, str]:
        """Which model each role stands for, "" for none."""
        given = self._config().roles.by_name()
        return {role: given.get(role, "") for role in ROLE_NAMES}

    def set_role(self, role: str, model: str) -> str:
        """The reference of the model that the role stands for from now on; "" for none."""
        if role not in ROLE_NAMES:
            raise UsageError(f"there is no role '{role}'", hint=f"the roles are {', '.join(ROLE_NAMES)}")
        config = self._config()
        reference = resolve(Choices(session=model), self._known(config)).reference if model else ""
        with Folder.open(self._path) as folder:
            folder.replace(FILE, with_role(_text(folder), role, reference).encode())
        return reference

    def explain(self, *, session: str | None = None, step: str | None = None, agent: str | None = None) -> list[str]:
        """Which model is meant, and why."""
        config = self._config()
        known = self._known(config)
        roles = config.roles.by_name()
        meant = resolve(self._choices(config, session=session, step=step, agent=agent), known, roles)
        return [*explain(meant, known), *(f"  {role:<11} {model}" for role, model in roles.items())]

    def chosen(self, model: str | None) -> ChosenModel:
        """The model that is meant, with its key. NotAgreedError when nobody agreed that it goes to that address."""
        config = self._config()
        resolved = resolve(self._choices(config, session=model), self._known(config), config.roles.by_name())
        connection = resolved.connection
        if connection is None:
            return ChosenModel(resolved, "", self._variables)
        self._consents.check(consent_request(connection, os.path.realpath(self._path)))
        key = key_of(connection, self._variables, self._store.get)
        REDACTOR.learn(connection.name, key)
        return ChosenModel(resolved, key, self._variables)

    def _config(self) -> Config:
        with Folder.open(self._path) as folder:
            return read_config(folder)

    def _known(self, config: Config) -> dict[str, Connection]:
        return connections(config.models, self._variables)

    def _choices(self, config: Config, **more: str | None) -> Choices:
        workspace = config.model if config.model != EMBEDDED else None
        return Choices(workspace=workspace, environment=self._variables.get(MODEL_VARIABLE), **more)


def _agent_offer(found: FoundAgent) -> Offer:
    one = found.agent
    state = "signed in" if found.signed_in else "installed"
    told = f"{one.title} ({state})" + (f", with ${found.variable}" if found.variable else "")
    home = one.home if found.signed_in else ()
    how = "" if found.variable or home else one.how
    return Offer(told, one.name, one.kind, "", variable=found.variable, command=one.command, how=how, home=home)


def _text(folder: Folder) -> str:
    """config.toml, when it can be read."""
    read_config(folder)
    return (folder.read_or_none(FILE) or b"").decode()


def _parsed(text: str) -> Config:
    return parse_config(SourceFile(FILE, text.encode(), text))
