"""Which model is meant, and why: pure, from what people wrote to a model that can be called.

A reference is `embedded`, `CONNECTION/MODEL`, or `CONNECTION` alone when it names its model. It may be chosen for the
session, the step, the agent, the workspace or in the environment; the first of these that says something wins. A
provider's key in the environment makes a connection of that provider's name, used only when it is asked for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from weft.consent import ConsentRequest
from weft.models.anthropic_messages import AnthropicMessages
from weft.models.endpoint import Endpoint, is_loopback
from weft.models.google import GoogleModel
from weft.models.http_model import HttpModel
from weft.models.local_gguf import LocalGguf
from weft.models.openai_chat import OpenAIChat
from weft.models.openai_responses import OpenAIResponses
from weft.models.prices import OwnPrice, known_window
from weft.models.pydantic_layer import LayeredModel
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.workspace.model_table import ROLE_NAMES, MediaKind, ModelKind, ModelTable, ThinkingLevel

EMBEDDED: Final = "embedded"
MODEL_VARIABLE: Final = "WEFT_MODEL"
Level = Literal["session", "step", "agent", "workspace", "environment", "default"]
LEVELS: Final[tuple[Level, ...]] = ("session", "step", "agent", "workspace", "environment", "default")
"""The most specific first: what a person says for one session stands above what files say."""

_AMBIENT: Final[dict[str, tuple[ModelKind, str]]] = {
    "anthropic": ("anthropic", "ANTHROPIC_API_KEY"),
    "openai": ("openai", "OPENAI_API_KEY"),
    "google": ("google", "GEMINI_API_KEY"),
}
_OWN_VARIABLE: Final[Mapping[str, str]] = {
    **dict(_AMBIENT.values()),
    "openai-responses": "OPENAI_API_KEY",
    "claude-agent": "ANTHROPIC_API_KEY",
    "codex": "OPENAI_API_KEY",
}
CODEX: Final = ("codex",)
_CLIENTS: Final[dict[str, type[HttpModel | LayeredModel]]] = {
    "anthropic": AnthropicMessages,
    "openai": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "google": GoogleModel,
}
_FITS_A_HEADER: Final = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A named way to a provider. `key` says where the key is; "" means the store, under the connection's name."""

    name: str
    kind: ModelKind
    model: str = ""
    base_url: str = ""
    key: str = ""
    file: str = ""
    command: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    """Of an agent: files of the person's home that it gets."""
    threads: int = 0
    window: int = 0
    media: frozenset[MediaKind] | None = None
    """What it takes besides text; None when nobody says."""
    thinking: ThinkingLevel = "off"
    price: OwnPrice | None = None
    fallbacks: tuple[str, ...] = ()
    """What is asked in its place, in order, when it can't answer."""
    origin: str = "config.toml"

    @property
    def key_place(self) -> str:
        return self.key or f"store:{self.name}"

    @property
    def needs_key(self) -> bool:
        if self.command and not self.key and (self.kind == "acp" or self.home):
            return False  # it is signed in by itself
        return self.key != "none" and not self.file and not (not self.key and is_loopback(self.base_url))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What each level says; None is "nothing"."""

    session: str | None = None
    step: str | None = None
    agent: str | None = None
    workspace: str | None = None
    environment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    level: Level
    reference: str | None
    won: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The model that is meant. `connection` is None for the embedded one."""

    reference: str
    model: str
    connection: Connection | None
    level: Level
    considered: tuple[Considered, ...]
    role: str = ""
    """The role that it was asked for by."""


def connections(tables: Mapping[str, ModelTable], variables: Mapping[str, str]) -> dict[str, Connection]:
    """All that can be named: what config.toml has, and providers whose key the environment holds."""
    found = {
        name: Connection(name=name, kind=kind, key=f"env:{variable}", origin=f"${variable}")
        for name, (kind, variable) in _AMBIENT.items()
        if variables.get(variable)
    }
    for name, table in tables.items():
        price = table.price
        own = None
        if price is not None:
            own = OwnPrice(
                input=Decimal(str(price.input)),
                output=Decimal(str(price.output)),
                cache_read=None if price.cache_read is None else Decimal(str(price.cache_read)),
                cache_write=None if price.cache_write is None else Decimal(str(price.cache_write)),
            )
        found[name] = Connection(
            name=name,
            kind=table.kind,
            model=table.model or (Path(table.file).stem if table.file else "") or ("agent" if table.command else ""),
            base_url=table.base_url or "",
            key=table.key or "",
            file=table.file or "",
            command=tuple(table.command or (CODEX if table.kind == "codex" else ())),
            home=tuple(table.home),
            threads=table.threads or 0,
            window=table.window or 0,
            media=None if table.media is None else frozenset(table.media),
            thinking=table.thinking or "off",
            price=own,
            fallbacks=tuple(table.fallbacks),
        )
    return found


def priced_as(name: str, known: Mapping[str, Connection]) -> Connection | None:
    """The connection a past call is priced by. A provider's own name keeps its price when its key is not here."""
    if name in known or name not in _AMBIENT:
        return known.get(name)
    kind, variable = _AMBIENT[name]
    return Connection(name=name, kind=kind, key=f"env:{variable}", origin=f"${variable}")


def resolve(
    choices: Choices, known: Mapping[str, Connection], roles: Mapping[str, str] = MappingProxyType({})
) -> Resolved:
    """The most specific choice. UserError when it names what is not there, with the nearest name that is."""
    said: dict[Level, str | None] = {
        "session": choices.session,
        "step": choices.step,
        "agent": choices.agent,
        "workspace": choices.workspace,
        "environment": choices.environment,
        "default": EMBEDDED,
    }
    level = next(level for level in LEVELS if said[level])
    reference = said[level] or EMBEDDED
    role = reference if reference in ROLE_NAMES else ""
    if role and role not in roles:
        raise UserError(
            f"{_source(level)} asks for the {role} model, but config.toml does not say which one that is",
            hint=f'write {role} = "CONNECTION/MODEL" under [roles]',
        )
    reference = roles.get(role, reference)
    considered = tuple(Considered(level=one, reference=said[one], won=one == level) for one in LEVELS)
    if reference == EMBEDDED:
        return Resolved(
            reference=reference, model=EMBEDDED, connection=None, level=level, considered=considered, role=role
        )
    name, _, model = reference.partition("/")
    connection = known.get(name)
    if connection is None:
        raise UserError(
            f"{_asked_for(level, reference)}, but there is no connection '{name}'",
            hint=_nearest(name, known),
        )
    model = model or connection.model
    if not model:
        raise UserError(
            f"{_source(level)} asks for '{reference}', but the connection names no model",
            hint=f"write '{name}/MODEL', or set `model` in [models.{name}] of config.toml",
        )
    return Resolved(
        reference=f"{name}/{model}",
        model=model,
        connection=connection,
        level=level,
        considered=considered,
        role=role,
    )


def explain(resolved: Resolved, known: Iterable[str] = ()) -> list[str]:
    """In lines, which model is meant and why: each level, what it says, and which one counts."""
    asked = f" ({resolved.role})" if resolved.role else ""
    lines = [f"{resolved.reference}: {_source(resolved.level)} says so{asked}"]
    connection = resolved.connection
    if connection is not None:
        where = " ".join(connection.command) or connection.file or connection.base_url or "the provider's own address"
        key = connection.key_place if connection.needs_key else "none needed"
        lines.append(f"  connection  {connection.name} ({connection.kind}) from {connection.origin}, at {where}")
        lines.append(f"  key         {key}")
        fits, who = window_of(resolved)
        if fits:
            lines.append(f"  window      {fits:,} tokens, from {who}")
        if connection.thinking != "off":
            lines.append(f"  thinking    {connection.thinking}")
        if connection.fallbacks:
            lines.append(f"  instead     {', then '.join(connection.fallbacks)}, when it can't answer")
        if connection.base_url.startswith("http://") and not is_loopback(connection.base_url):
            lines.append("  note        the address is not encrypted: others on the way can read the key and the text")
    for one in resolved.considered:
        mark = "→" if one.won else " "
        lines.append(f"{mark} {one.level:<11} {one.reference or '-'}")
    if resolved.reference == EMBEDDED and resolved.level == "default":
        names = sorted(known)
        if names:
            lines.append(f"Connected but not chosen: {', '.join(names)}. `weft models default {names[0]}` chooses it.")
        else:
            lines.append("No model is connected: `weft models add` connects one.")
    return lines


def key_of(connection: Connection, variables: Mapping[str, str], stored: Callable[[str], str | None]) -> str:
    """The key itself, from where the connection says it is. `stored` looks into the credential store."""
    if not connection.needs_key:
        return ""
    place, _, name = connection.key_place.partition(":")
    found = variables.get(name) if place == "env" else stored(name)
    if found and (key := found.strip()):
        if not _FITS_A_HEADER.fullmatch(key):
            where = f"${name}" if place == "env" else "the credential store"
            raise UserError(
                f"the key of '{connection.name}' in {where} has a line break, or a letter that no key has",
                hint=f"copy it again, all of it in one line: `weft models add {connection.name} …`",
            )
        return key
    if place == "env":
        raise UserError(
            f"the connection '{connection.name}' takes its key from ${name}, which is not set",
            hint=f"set {name}, or store a key with `weft models add {connection.name}`",
        )
    raise UserError(
        f"there is no key for the connection '{connection.name}'",
        hint=f"store one with `weft models add {connection.name}`",
    )


def consent_request(connection: Connection, folder: str) -> ConsentRequest | None:
    """What a person must have agreed to before anything is sent there: a key belongs to its address. None for a key
    that goes where it is from, and for what stays on this machine without a key."""
    if connection.file:
        return None
    if connection.command:
        parts = {"command": " ".join(connection.command), "key": connection.key or "none"}
        if connection.base_url:
            parts["address"] = connection.base_url
        if connection.home:
            parts["files of your home"] = ", ".join(connection.home)
        return ConsentRequest(kind="model", subject=connection.name, folder=folder, parts=parts)
    key = connection.key_place if connection.needs_key else ""
    if not connection.base_url and (not key or key == f"env:{_OWN_VARIABLE.get(connection.kind)}"):
        return None
    if not key and is_loopback(connection.base_url):
        return None
    parts = {"address": connection.base_url or f"the own address of {connection.kind}", "key": key or "none"}
    return ConsentRequest(kind="model", subject=connection.name, folder=folder, parts=parts)


def connect(resolved: Resolved, key: str) -> HttpModel | LayeredModel | LocalGguf:
    """The model of a connection. The embedded one has none and is made elsewhere."""
    connection = resolved.connection
    if connection is None:
        raise ValueError("the embedded model has no connection")
    if connection.kind == "gguf":
        file = Path(connection.file).expanduser()
        return LocalGguf(name=resolved.reference, file=file, window=connection.window, threads=connection.threads)
    endpoint = Endpoint(
        name=resolved.reference,
        model=resolved.model,
        base_url=connection.base_url,
        key=key,
        window=window_of(resolved)[0],
        thinking=connection.thinking,
        media=connection.media,
    )
    if connection.kind not in _CLIENTS:
        raise ValueError(f"a connection of the kind {connection.kind} is opened by the app")
    return _CLIENTS[connection.kind](endpoint)


def window_of(resolved: Resolved) -> tuple[int, str]:
    """How many tokens fit, and who says so: the person, or the list of models; 0 when nobody does."""
    connection = resolved.connection
    if connection is None or connection.window:
        return (connection.window if connection else 0), "config.toml"
    if connection.kind == "gguf" or is_loopback(connection.base_url):
        return 0, ""  # what runs on a desk has the window it was started with, whatever the model could do
    found = known_window(resolved.model, kind=connection.kind, base_url=connection.base_url)
    return found or 0, "the list of models"


def _source(level: Level) -> str:
    named = {"environment": f"${MODEL_VARIABLE}", "workspace": "config.toml", "default": "the default"}
    return named.get(level, f"the {level}")


def _asked_for(level: Level, reference: str) -> str:
    """Who asks for a model that is not there. What is chosen for a session is what a person just named."""
    return (
        f"the model '{reference}' was chosen"
        if level == "session"
        else f"{_source(level)} asks for the model '{reference}'"
    )


def _nearest(name: str, known: Mapping[str, Connection]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    if not known:
        return f"no model is connected yet: `weft models add {name}`"
    return f"the connections are: {', '.join(sorted(known))}; `weft models add {name}` makes it"
