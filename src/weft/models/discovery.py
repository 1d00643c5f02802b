"""What could be connected: servers and agents on this machine, keys in the environment, presets of providers; and
their models.

Only 127.0.0.1 is looked at unasked, on the ports that local servers use; `OLLAMA_HOST` counts when it is this machine.
Of an agent of others it is seen whether its program is there and whether somebody signed in to it, never with what.
A preset is a name for what `weft models add NAME --kind … --base-url …` would be given.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from weft.models.endpoint import Endpoint, http_client, is_loopback
from weft.models.model import ModelError
from weft.models.openai_chat import count
from weft.models.provider_errors import no_stream, redactor, reply_error, transport_error
from weft.protocol.values import dataclass
from weft.workspace.model_table import ModelKind

PORTS: Final[tuple[tuple[str, str, int], ...]] = (
    ("ollama", "Ollama", 11434),
    ("lm-studio", "LM Studio", 1234),
    ("llama-cpp", "llama.cpp", 8080),
    ("vllm", "vLLM", 8000),
)
LOOK_SECONDS: Final = 5.0
"""For a server that answers slowly: where there is none, that is known at once."""
MOST_BYTES: Final = 8 * 1024 * 1024
_WINDOWS: Final = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider that is known by name. `base_url` is "" for its own address; `variable` is where its key often is."""

    name: str
    title: str
    kind: ModelKind
    variable: str
    base_url: str = ""
    address: str = ""
    """What its address looks like, when each customer has one of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgram:
    """An agent of others that can be driven. `sign_in` is the file that is there once somebody signed in to it."""

    name: str
    title: str
    kind: ModelKind
    command: tuple[str, ...]
    sign_in: str
    variables: tuple[str, ...]
    """Where its key may be, the first that is set counts."""
    how: str
    """How it is given a key, when it is not signed in or its sign-in can't be handed over."""
    home: tuple[str, ...] = ()
    """What it gets of the person's home when they want it to use their sign-in."""


AGENTS: Final = (
    AgentProgram(
        name="claude",
        title="Claude Code",
        kind="claude-agent",
        command=("claude",),
        sign_in=".claude/.credentials.json",
        variables=("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"),
        how="`claude setup-token` gives a token of your subscription: give it here as the key",
    ),
    AgentProgram(
        name="codex",
        title="Codex",
        kind="codex",
        command=("codex",),
        sign_in=".codex/auth.json",
        variables=("OPENAI_API_KEY",),
        how="nobody is signed in to it: `codex login` does that, or give it an API key here",
        home=(".codex/auth.json",),
    ),
    AgentProgram(
        name="copilot",
        title="Copilot",
        kind="acp",
        command=("copilot", "--acp"),
        sign_in=".copilot/config.json",
        variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
        how="put a token with the right to Copilot into $COPILOT_GITHUB_TOKEN: the sign-in in ~/.copilot stays its own",
    ),
    AgentProgram(
        name="gemini",
        title="Gemini CLI",
        kind="acp",
        command=("gemini", "--experimental-acp"),
        sign_in=".gemini/oauth_creds.json",
        variables=("GEMINI_API_KEY",),
        how="put an API key into $GEMINI_API_KEY: the sign-in in ~/.gemini stays its own",
    ),
    AgentProgram(
        name="opencode",
        title="opencode",
        kind="acp",
        command=("opencode", "acp"),
        sign_in=".local/share/opencode/auth.json",
        variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        how="it is not signed in: `opencode auth login` does that; it reads opencode.json of the working folder",
        home=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAgent:
    agent: AgentProgram
    variable: str
    """Where its key is; "" when nowhere."""
    signed_in: bool


def found_agents(variables: Mapping[str, str]) -> list[FoundAgent]:
    """The agents whose program is on the PATH."""
    home = Path(variables.get("HOME", "~")).expanduser()
    found = []
    for one in AGENTS:
        if shutil.which(one.command[0], path=variables.get("PATH", "")) is not None:
            variable = next((name for name in one.variables if variables.get(name)), "")
            found.append(FoundAgent(agent=one, variable=variable, signed_in=(home / one.sign_in).exists()))
    return found


PRESETS: Final = (
    Preset("anthropic", "Anthropic", "anthropic", "ANTHROPIC_API_KEY"),
    Preset("openai", "OpenAI", "openai", "OPENAI_API_KEY"),
    Preset("openrouter", "OpenRouter", "openai", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    Preset("groq", "Groq", "openai", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    Preset("mistral", "Mistral", "openai", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    Preset("deepseek", "DeepSeek", "openai", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    Preset(
        "azure", "Azure OpenAI", "openai", "AZURE_OPENAI_API_KEY", address="https://RESOURCE.openai.azure.com/openai/v1"
    ),
    Preset("google", "Google", "google", "GEMINI_API_KEY"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A model that a server says it has; `window` is 0 when it does not say how much fits."""

    name: str
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server on this machine that answered."""

    name: str
    title: str
    base_url: str
    models: tuple[ListedModel, ...]


async def local_servers(variables: Mapping[str, str]) -> list[FoundServer]:
    """Those that answer on their usual ports, in the order of `PORTS`."""
    import httpx2  # noqa: F401  loaded before the clock begins: on a busy machine that takes longer than the answer

    places = [(name, title, f"http://127.0.0.1:{port}/v1") for name, title, port in PORTS]
    told = variables.get("OLLAMA_HOST", "")
    if told:
        address = told if "//" in told else f"http://{told}"
        if is_loopback(address) and urlsplit(address).port:
            places[0] = ("ollama", "Ollama", f"{address.rstrip('/')}/v1")
    found = await asyncio.gather(*(_answers(*place) for place in places))
    return [server for server in found if server is not None]


async def _answers(name: str, title: str, base_url: str) -> FoundServer | None:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            models = await listed_models("openai", base_url, "")
    except (ModelError, TimeoutError):
        return None
    return FoundServer(name=name, title=title, base_url=base_url, models=tuple(models))


async def listed_models(kind: ModelKind, base_url: str, key: str) -> list[ListedModel]:
    """The models that a server lists. ModelError when it refuses, or does not answer as one."""
    base = base_url or {"anthropic": "https://api.anthropic.com"}.get(kind, "https://api.openai.com/v1")
    url = f"{base.rstrip('/').removesuffix('/v1')}/v1/models" if kind == "anthropic" else f"{base.rstrip('/')}/models"
    headers = {"authorization": f"Bearer {key}"} if key else {}
    if kind == "anthropic":
        headers["anthropic-version"] = "2026-10-21"
    name, redact = urlsplit(base).netloc, redactor(key)
    client = http_client(Endpoint(name=name, model="", base_url=base, quiet=15.0))
    try:
        async with client.stream("GET", url, headers=headers) as reply:
            body = b""
            async for piece in reply.aiter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    break
            said = redact(body.decode("utf-8", "replace"))
            if reply.status_code != 200:
                raise reply_error(name, reply.status_code, reply.headers, said)
            return _models(name, said)
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001 - sorted by kind, and raised again when it is a bug
        raise transport_error(error, name, redact) from None
    finally:
        await client.aclose()


def _models(name: str, said: str) -> list[ListedModel]:
    try:
        value: Any = json.loads(said)
    except (ValueError, RecursionError):
        value = None
    rows = value.get("data") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise no_stream(name, said[:2000], value if isinstance(value, dict) else None)
    found = [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    return [ListedModel(name=row["id"], window=_window(row)) for row in found]


def _window(row: Mapping[str, Any]) -> int:
    return next((number for key in _WINDOWS if (number := count(row, key))), 0)
