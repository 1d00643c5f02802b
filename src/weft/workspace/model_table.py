"""`[models.NAME]` in config.toml: how a model is reached. A key is named here, never written."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, model_validator

from weft.protocol.patterns import pattern
from weft.workspace.fields import Strict, Text, fault

_KEY: Final = pattern(r"(?:env:[A-Za-z_][A-Za-z0-9_]*|store:[a-z0-9][a-z0-9-]{0,79}|none)\Z")
_NAME: Final = pattern(r"[a-z0-9][a-z0-9-]{0,79}\Z")

ROLE_NAMES: Final = ("small", "standard", "strong")
ThinkingLevel = Literal["off", "low", "medium", "high"]
MediaKind = Literal["image", "pdf"]
ModelKind = Literal["anthropic", "openai", "openai-responses", "google", "gguf", "claude-agent", "acp", "codex"]


def _address(value: Any) -> Any:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise fault("must be an address that begins with http:// or https://")
    if parts.username or parts.password:
        raise fault("an address may not hold a user name or a password", "name the key with `key`")
    return value


def _key(value: Any) -> Any:
    if not isinstance(value, str) or not _KEY.match(value):
        # The value is not repeated: it may be the key itself.
        hint = 'write "env:VARIABLE", "store:NAME" (put there by `weft models add`), or "none"; never the key itself'
        raise fault("must name where the key is", hint)
    return value


def is_connection_name(name: str) -> bool:
    return bool(_NAME.match(name)) and name not in ("embedded", *ROLE_NAMES)


def _names(value: Any) -> Any:
    if isinstance(value, dict):
        for name in value:
            if not is_connection_name(str(name)):
                raise fault(
                    f"{name!r} can't be the name of a connection",
                    "use small letters, digits and '-'; 'embedded' is taken",
                )
    return value


class PriceTable(Strict):
    """US dollars for a million tokens."""

    input: float = Field(ge=0, description="Dollars for a million tokens of prompt")
    output: float = Field(ge=0, description="Dollars for a million tokens of answer")
    cache_read: float | None = Field(
        default=None, ge=0, description="Dollars for a million cached tokens that were read"
    )
    cache_write: float | None = Field(
        default=None, ge=0, description="Dollars for a million tokens written to the cache"
    )


class ModelTable(Strict):
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
    price: PriceTable | None = Field(default=None, description="What it costs, where the price list does not know it")

    @model_validator(mode="after")
    def _fits_its_kind(self) -> ModelTable:
        if (self.kind == "gguf") != (self.file is not None):
            raise fault("'file' belongs to the kind gguf, and the kind gguf needs it")
        if self.kind == "acp" and not self.command:
            raise fault("the kind acp needs 'command'", 'name the program: command = ["opencode", "acp"]')
        if self.command and self.kind not in ("acp", "codex"):
            raise fault("'command' belongs to the kinds acp and codex")
        if self.kind == "gguf" and (self.base_url or self.key):
            raise fault("a file has no address and no key", "leave out `base_url` and `key`")
        if self.kind != "gguf" and self.threads:
            raise fault("'threads' belongs to the kind gguf", "a server has its own")
        return self


class RoleTable(Strict):
    """`[roles]`: names for models by what they are good for, used wherever a model is named."""

    small: Text | None = Field(default=None, description="For short and simple work")
    standard: Text | None = Field(default=None, description="For most work")
    strong: Text | None = Field(default=None, description="For the hardest work")

    def by_name(self) -> dict[str, str]:
        return {name: model for name in ROLE_NAMES if (model := getattr(self, name))}


ModelTables = Annotated[dict[str, ModelTable], BeforeValidator(_names)]
