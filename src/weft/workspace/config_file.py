"""config.toml as people write it. The descriptions here are the reference and the hints. A key of a provider is named,
never written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from weft.files import Folder
from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.patterns import pattern
from weft.workspace.config import FILE, Config
from weft.workspace.document import MarkedDocument, Path, SourceFile, SourceMark, describe, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Strict, Text, fault
from weft.workspace.model_table import (
    MediaKind,
    ModelKind,
    ModelTable,
    PriceTable,
    RoleTable,
    ThinkingLevel,
    is_connection_name,
)
from weft.workspace.resource_limit import SPANS, ResourceLimit

_AT_ONCE: Final = pattern(r"([1-9][0-9]{0,5})\s+at\s+once\Z")
_RATE: Final = pattern(r"([1-9][0-9]{0,5})\s+(?:a|an|per)\s+(second|minute|hour|day)\Z")
_LIMIT_HINT: Final = 'write "4 at once", "60 a minute", or both: "4 at once, 60 a minute"'
_PLACE: Final = pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_KEY_PLACE: Final = pattern(r"(?:env:[A-Za-z_][A-Za-z0-9_]*|store:[a-z0-9][a-z0-9-]{0,79}|none)\Z")


def _address(value: Any) -> Any:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise fault("must be an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise fault("an address may not hold a user name or a password", "name the key with `key`")
    return value


def _key(value: Any) -> Any:
    if not isinstance(value, str) or not _KEY_PLACE.match(value):
        # The value is not repeated: it may be the key itself.
        hint = 'write "env:VARIABLE", "store:NAME" (put there by `weft models add`), or "none"; never the key itself'
        raise fault("must name where the key is", hint)
    return value


def _own_files(value: Any) -> Any:
    for name in value if isinstance(value, list) else ():
        parts = str(name).split("/")
        if not parts[0] or parts[0] == "~" or ".." in parts:
            raise fault(f"{name!r} is no file of your home", 'write it from there: ".codex/auth.json"')
    return value


def _names(value: Any) -> Any:
    if isinstance(value, dict):
        for name in value:
            if not is_connection_name(str(name)):
                raise fault(
                    f"{name!r} can't be the name of a connection",
                    "use small letters, digits and '-'; 'embedded' is taken",
                )
    return value


def read_limit(value: Any) -> ResourceLimit:
    if not isinstance(value, str) or not value.strip():
        raise fault(f"must be a limit in words, not {describe(value)}", _LIMIT_HINT)
    at_once = uses = 0
    seconds = 0.0
    for part in value.lower().split(","):
        word = part.strip()
        if (found := _AT_ONCE.match(word)) and not at_once:
            at_once = int(found[1])
        elif (found := _RATE.match(word)) and not uses:
            uses, seconds = int(found[1]), SPANS[found[2]]
        else:
            raise fault(f"{word!r} is no limit", _LIMIT_HINT)
    return ResourceLimit(at_once, uses, seconds)


class PriceEntry(Strict):
    """US dollars for a million tokens."""

    input: float = Field(ge=0, description="Dollars for a million tokens of prompt")
    output: float = Field(ge=0, description="Dollars for a million tokens of answer")
    cache_read: float | None = Field(
        default=None, ge=0, description="Dollars for a million cached tokens that were read"
    )
    cache_write: float | None = Field(
        default=None, ge=0, description="Dollars for a million tokens written to the cache"
    )


class ModelEntry(Strict):
    kind: ModelKind = Field(
        description="How it is spoken to; gguf for a file on this machine, claude-agent for the Claude agent runtime, "
        "codex for OpenAI's Codex, acp for any other agent that speaks that protocol"
    )
    model: Text | None = Field(default=None, description="The model that is meant when only the connection is named")
    base_url: Annotated[str, BeforeValidator(_address)] | None = Field(
        default=None, description="Where it is; else the provider's own address"
    )
    key: Annotated[str, BeforeValidator(_key)] | None = Field(
        default=None, description='Where its key is: "env:VARIABLE", "store:NAME" or "none"'
    )
    file: Text | None = Field(default=None, description="The GGUF file, for the kind gguf and no other")
    command: list[Text] | None = Field(
        default=None, description="The program and its arguments, for the kind acp, which needs it, and codex"
    )
    home: Annotated[list[Text], BeforeValidator(_own_files)] = Field(
        default_factory=list,
        description="Files of your home that an agent (acp, codex) gets a copy of in its own, such as its sign-in",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="How many threads run a GGUF file; else its engine decides",
    )
    window: int | None = Field(
        default=None,
        ge=512,
        description="How many tokens of prompt and answer fit; else as the list of models has it, or 128,000",
    )
    media: list[MediaKind] | None = Field(
        default=None,
        description="What it takes besides text, [] for nothing; else as is known of models of its name",
    )
    thinking: ThinkingLevel | None = Field(
        default=None, description="How much it thinks before it answers, where it can; else as little as it may"
    )
    fallbacks: list[Text] = Field(
        default_factory=list,
        description="Other models that are asked in its place, in order, when it can't answer: CONNECTION/MODEL",
    )
    price: PriceEntry | None = Field(default=None, description="What it costs, where the price list does not know it")

    def table(self) -> ModelTable:
        return ModelTable(**{**vars(self), "price": PriceTable(**vars(self.price)) if self.price else None})

    @model_validator(mode="after")
    def _fits_its_kind(self) -> ModelEntry:
        if (self.kind == "gguf") != (self.file is not None):
            raise fault("'file' belongs to the kind gguf, and the kind gguf needs it")
        if self.kind == "acp" and not self.command:
            raise fault("the kind acp needs 'command'", 'name the program: command = ["opencode", "acp"]')
        if self.command and self.kind not in ("acp", "codex"):
            raise fault("'command' belongs to the kinds acp and codex")
        if self.home and self.kind not in ("acp", "codex"):
            raise fault("'home' belongs to the kinds acp and codex")
        if self.kind == "gguf" and (self.base_url or self.key):
            raise fault("a file has no address and no key", "leave out `base_url` and `key`")
        if self.kind != "gguf" and self.threads:
            raise fault("'threads' belongs to the kind gguf", "a server has its own")
        return self


class RoleEntry(Strict):
    """`[roles]`: names for models by what they are good for, used wherever a model is named."""

    small: Text | None = Field(default=None, description="For short and simple work")
    standard: Text | None = Field(default=None, description="For most work")
    strong: Text | None = Field(default=None, description="For the hardest work")


ModelEntries = Annotated[dict[str, ModelEntry], BeforeValidator(_names)]
Limit = Annotated[ResourceLimit, PlainValidator(read_limit), WithJsonSchema({"type": "string"})]


class ConfigFile(Strict):
    default_pipeline: Text | None = Field(default=None, description="The pipeline that runs when none is named")
    concurrency: int = Field(default=4, ge=1, le=64, description="How many steps may run at the same time: 1 to 64")
    durable: bool = Field(
        default=True, description="False: finished steps may be lost when the machine loses power; faster"
    )
    cache: bool = Field(
        default=True, description="False: no step is taken over from another session, whatever pipelines say"
    )
    telemetry: bool = Field(
        default=False, description="True: runs, steps and calls as OpenTelemetry spans and metrics; needs weft[otel]"
    )
    kb: Text | None = Field(default=None, description="The collection that is asked when none is named")
    model: Text = Field(default="embedded", description="The model of every step that names none")
    store: Text | None = Field(
        default=None, description="Where a shared workspace keeps its sessions: postgresql://…; else in files"
    )
    objects: Text | None = Field(
        default=None, description="Where a shared workspace keeps large contents: a folder all see, or s3://…"
    )
    limits: dict[Text, Limit] = Field(
        default={},
        description="How often a connection, a source or what steps name under resources may be used: "
        'openai = "4 at once, 60 a minute"',
    )
    roles: RoleEntry = Field(default_factory=RoleEntry, description="What small, standard and strong stand for")
    models: ModelEntries = Field(
        default_factory=dict, description="How models are reached: a table for each connection"
    )

    def settings(self) -> Config:
        said = {**vars(self), "roles": RoleTable(**vars(self.roles))}
        return Config(**{**said, "models": {name: entry.table() for name, entry in self.models.items()}})


def read_config(folder: Folder) -> Config:
    """The defaults when there is no file; WorkspaceError when it is broken."""
    try:
        source = read_source(folder, FILE)
    except FileNotFoundError:
        return Config()
    return parse_config(source)


def parse_config(source: SourceFile) -> Config:
    """WorkspaceError when it is broken."""
    document = _parse(source)
    return check(ConfigFile, document).good(document).settings()


def _parse(source: SourceFile) -> MarkedDocument:
    try:
        value = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message = _PLACE.sub("", str(error))
        found = _PLACE.search(str(error))
        lines = source.text.splitlines() or [""]
        line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), len(lines[-1]) + 1)
        problem = Problem(FILE, f"this is not valid TOML: {message[:1].lower()}{message[1:]}", line, column)
        raise WorkspaceError([problem]) from error
    except RecursionError as error:
        raise WorkspaceError([Problem(FILE, "this is nested too deeply", 1, 1)]) from error
    keys, values = _places(source.text, value)
    return MarkedDocument(FILE, value, keys, values)


def _places(text: str, value: Mapping[str, Any]) -> tuple[dict[Path, SourceMark], dict[Path, SourceMark]]:
    """Where each top-level key stands: the TOML reader keeps no places, and the settings are all on the top level."""
    keys: dict[Path, SourceMark] = {}
    values: dict[Path, SourceMark] = {}
    lines = text.splitlines(keepends=True)
    for key in value:
        named = re.compile(rf"""\s*\[*\s*(["']?){re.escape(key)}\1\s*[=.\]]\s*""")
        for number, line in enumerate(lines):
            found = named.match(line)
            if found and _is_complete("".join(lines[:number])):
                keys[(key,)] = SourceMark(number + 1, len(line) - len(line.lstrip()) + 1)
                values[(key,)] = SourceMark(number + 1, found.end() + 1) if "=" in found[0] else keys[(key,)]
                break
    _places_of_models(lines, keys, values)
    return keys, values


_TABLE: Final = pattern(r"""\s*\[\s*models\s*\.\s*(["']?)([^"'\].]+?)\1\s*\]""")
_KEY: Final = pattern(r"\s*([A-Za-z0-9_-]+)\s*=\s*")


def _places_of_models(lines: Sequence[str], keys: dict[Path, SourceMark], values: dict[Path, SourceMark]) -> None:
    """The same for `[models.NAME]`, the only tables there are."""
    name = None
    for number, line in enumerate(lines, start=1):
        table, key = _TABLE.match(line), _KEY.match(line)
        if table:
            name = table[2]
            keys[("models", name)] = values[("models", name)] = SourceMark(number, line.index("[") + 1)
        elif line.lstrip().startswith("["):
            name = None
        elif name is not None and key:
            keys[("models", name, key[1])] = SourceMark(number, len(line) - len(line.lstrip()) + 1)
            values[("models", name, key[1])] = SourceMark(number, key.end() + 1)


def _is_complete(text: str) -> bool:
    """Whether a new statement begins after `text`, and not the middle of a text over several lines."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
