"""How the runtime is started: what it is told, the tools and agents it has, and who stands at its gate.

Nothing of the machine's or the project's settings is loaded: such files can run programs, and ours are read by us.
`AGENTS.md`, agents and skills reach it through our own readers, so they mean the same here as everywhere.
"""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.protocol.errors import UserError
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions

SERVER: Final = "weft"
"""The name under which it sees our own tools: as mcp__weft__NAME."""
LONGEST_WAIT: Final = 20 * 24 * 3600.0
"""Seconds a call may wait at the gate for a person. The runtime's timers can't count beyond 24 days."""
PROMPT_FILE: Final = "prompt.md"

Hook = Callable[[Any, str | None, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How the runtime is reached: what a connection of its kind says, and the variables around us."""

    name: str
    """Of the model, as a person calls it and the log records it."""
    model: str
    key: str = field(repr=False)
    base_url: str
    surroundings: Mapping[str, str] = field(repr=False)
    window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTool:
    """A tool of ours as the runtime gets it: `call` takes the input and gives text and whether it is an error."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Awaitable[tuple[str, bool]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgent:
    name: str
    description: str
    text: str
    tools: tuple[str, ...] | None = None
    """In the runtime's words; None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Everything one child is started with."""

    model: str
    working: Path
    """Where it works."""
    folder: Path
    """Its own: home, settings, transcripts."""
    system: str
    tools: tuple[str, ...]
    own_tools: tuple[OwnTool, ...] = ()
    agents: tuple[SubAgent, ...] = ()
    session: str = ""
    resume: bool = False
    keep: bool = True
    """Whether it writes a transcript."""
    thinking: bool = False
    schema: Mapping[str, Any] | None = None
    bare: bool = False
    """Our prompt alone, in place of after the runtime's own."""
    more_folders: tuple[Path, ...] = field(default=())


def check_installed() -> None:
    """UserError when the extra is missing. Imports nothing."""
    if importlib.util.find_spec("claude_agent_sdk") is None:
        hint = "install it with: pip install 'weft[claude]'"
        raise UserError("the Claude agent runtime is not installed", hint=hint)


def sdk() -> Any:
    """The package, which is large and of use to few: imported when the first conversation needs it."""
    check_installed()
    import claude_agent_sdk

    logging.getLogger("claude_agent_sdk").addHandler(logging.NullHandler())  # what it has to say is said by us
    return claude_agent_sdk


def build_options(start: Start, before: Hook, after: Hook | None, deny: Any) -> ClaudeAgentOptions:
    """`before` is asked before every call, `after` is told of what was written; `deny` answers what gets past both."""
    package = sdk()
    hooks = {"PreToolUse": [package.HookMatcher(hooks=[before], timeout=LONGEST_WAIT, on_failure="block")]}
    if after is not None:
        hooks["PostToolUse"] = [package.HookMatcher(matcher="Write|Edit", hooks=[after], on_failure="block")]
    prompt = start.folder / PROMPT_FILE
    prompt.write_text(start.system)
    extra: dict[str, str | None] = {"replay-user-messages": None}  # so that it is known what it has taken up
    if not start.keep:
        extra["no-session-persistence"] = None
    system: Any = {"type": "file", "path": str(prompt)}
    if not start.bare:
        system = {"type": "preset", "preset": "claude_code"}
        extra["append-system-prompt-file"] = str(prompt)
    options: ClaudeAgentOptions = package.ClaudeAgentOptions(
        model=start.model,
        cwd=start.working,
        system_prompt=system,
        tools=list(start.tools),
        mcp_servers={SERVER: _server(start.own_tools)} if start.own_tools else {},
        strict_mcp_config=True,
        setting_sources=[],
        agents={agent.name: _agent(agent) for agent in start.agents} or None,
        add_dirs=list(start.more_folders),
        session_id=start.session if start.session and not start.resume else None,
        resume=start.session if start.resume else None,
        permission_mode="default",
        permission_prompt_tool_name="stdio",
        hooks=hooks,
        can_use_tool=deny,
        include_partial_messages=True,
        forward_subagent_text=True,
        verbatim_prompts=True,
        thinking={"type": "adaptive"} if start.thinking else None,
        output_format={"type": "json_schema", "schema": dict(start.schema)} if start.schema else None,
        extra_args=extra,
    )
    return options


def command_of(options: ClaudeAgentOptions) -> list[str]:
    """The command line of the bundled runtime. The SDK builds it for its own transport only, which inherits ours."""
    from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

    transport = SubprocessCLITransport(prompt="", options=options)
    transport._cli_path = transport._find_cli()
    return transport._build_command()


def _server(tools: Sequence[OwnTool]) -> Any:
    package = sdk()
    made = [package.SdkMcpTool(tool.name, tool.description, dict(tool.input_schema), _handler(tool)) for tool in tools]
    return package.create_sdk_mcp_server(SERVER, tools=made)


def _handler(tool: OwnTool) -> Callable[[Any], Awaitable[dict[str, Any]]]:
    async def handle(given: Any) -> dict[str, Any]:
        text, failed = await tool.call(given if isinstance(given, Mapping) else json.loads(given or "{}"))
        return {"content": [{"type": "text", "text": text}], "is_error": failed}

    return handle


def _agent(agent: SubAgent) -> Any:
    tools = None if agent.tools is None else list(agent.tools)
    return sdk().AgentDefinition(description=agent.description, prompt=agent.text, tools=tools, background=False)
