"""The tools of one attempt: those in the step's scope, judged by the rules, confined to the folder the person named.

Naming a folder allows the tools to write in it; nothing else is allowed by that. What the rules would ask about is
denied unless a face can ask, and the denial says how to allow it. Whatever ends the attempt (an interrupt,
its time, its end) ends a tool in the middle of its work, with every process it started, before anything goes on.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from weft.files import Folder
from weft.orchestrator.attempt_calls import through
from weft.protocol.conversation_commands import ToolAsk
from weft.protocol.errors import UserError
from weft.protocol.gates import sign_in_slug
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass
from weft.tools.permission import SIGN_IN_RULE, TAINT_RULE, Ruling, judge
from weft.tools.permission_file import APP_FILE, Rule, Rules, rule_of
from weft.tools.shell.needs import Ground
from weft.tools.shell.reading import ShellReading, read_shell
from weft.tools.tool import Context, Handle, Outcome, SkillSource
from weft.tools.toolbox import Toolbox
from weft.workspace.agent import Agent
from weft.workspace.pipeline import Step

SHORT: Final = 160
_PATH: Final = re.compile(r"(?:^|[=:,]|^-[A-Za-z]+)(/[^=:,]*)")
_HARMLESS: Final = ("/dev/null",)
WORKSPACE_OWN: Final = (
    *("code", "pipelines", "schemas", "sessions", "sources", "knowledge", ".claude", ".weft"),
    *("config.toml", "permissions.yaml", "profile.json", "user-profile.json", "AGENTS.md", "CLAUDE.md"),
)
"""What of a workspace decides what is run, and what was: a step with tools does not change it."""


class StepTools(Protocol):
    """What the tools of steps come from."""

    attended: bool
    """Somebody may be there to be asked; else what would be asked about is denied."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Of processes, without secrets."""
        ...

    @property
    def skills(self) -> SkillSource: ...

    @property
    def workspace(self) -> Path:
        """Where what a run is made of lies: no tool of a step may change that."""
        ...

    def toolbox(self) -> Toolbox: ...

    def agent(self, name: str) -> Agent:
        """For sub-agents. UserError when there is none of that name."""
        ...

    def rules(self) -> Rules:
        """Of the app, the workspace and its sources."""
        ...


# -- at work


@dataclass(frozen=True, slots=True)
class StepToolbox:
    box: Toolbox
    rules: Rules
    working: Folder | None
    """None for tools that need no folder; those that do are refused before a run."""
    spare: Folder
    """Stands in for it then; no tool in this box looks at it."""
    environment: Mapping[str, str]
    skills: SkillSource
    where: str
    """The step, for those who want to know where to allow something."""
    step: str = ""
    attended: bool = False
    chosen: Mapping[str, bool] = field(default_factory=dict)
    """Commands that the person gave as parameters: they may be run in these very words, whatever their form. With
    whether that holds also when content from outside is there."""

    def judge(self, call: ToolCall, *, tainted: bool) -> ToolAsk:
        """What the rules say to a call. Where they want a person asked and nobody can be, it is denied."""
        call = self.box.corrected(call)
        tool = self.box.get(call.tool)
        ask = ToolAsk(call=call.call, tool=call.tool, input=call.input, malformed=call.malformed)
        if (fault := self.box.fault(call)) or tool is None:
            return replace(ask, ruling="fault", reason=fault or "")
        ask = replace(ask, interruptible=tool.interruptible, in_order=tool.in_order, tainted=tainted)
        ask = replace(ask, safe_to_retry=tool.retryable)
        taint = ("what was read before",) if tainted else ()
        ruling = judge(call, tool, mode="ask", rules=self.rules, taint=taint, ground=self._ground())
        if ruling.decision == "ask" and self._chose(call, ruling):
            return ask
        if ruling.rule == SIGN_IN_RULE and not self.attended and sign_in_slug(ruling.reason):
            return replace(ask, ruling="ask", reason=ruling.reason)
        if ruling.decision == "ask" and self.attended:
            always = ruling.always.told if ruling.always else ""
            return replace(ask, ruling="ask", reason=ruling.reason, key=ruling.remember_key or "", always=always)
        if ruling.decision != "allow":
            return replace(ask, ruling="deny", reason=self._denied(call, ruling))
        if tool.subject and tool.subject[0] == "command" and self.working is not None:
            reading = read_shell(str(call.input[tool.subject[1]]))
            outside = leaves(reading, self.working.path) if reading.read_only else ""
            if outside:
                why = f"{outside} is outside the working folder {self.working.path}"
                return replace(ask, ruling="deny", reason=why)
        return ask

    def _ground(self) -> Ground:
        """Its commands run inside the boundary too, but that allows nothing: the scope of a step is what it says."""
        named = str(self.working.path) if self.working is not None else ""
        return Ground(os.path.realpath(named) if named else "", self.environment.get("HOME", ""), named=named)

    def waits_for_sign_in(self, call: ToolCall) -> str:
        """What a call of this tool waits for when nobody can be asked; "" when it can be made."""
        tool = self.box.get(call.tool)
        return tool.waits_for() if tool and tool.waits_for and not self.attended else ""

    def _chose(self, call: ToolCall, ruling: Ruling) -> bool:
        """A rule that denies or wants something asked stands above what a person chose for one run."""
        tool = self.box.get(call.tool)
        if tool is None or tool.subject is None or tool.subject[0] != "command":
            return False
        command = str(call.input.get(tool.subject[1], "")).strip()
        tainted = ruling.rule == TAINT_RULE
        return command in self.chosen and (ruling.rule == "mode ask" or (tainted and self.chosen[command]))

    def _denied(self, call: ToolCall, ruling: Ruling) -> str:
        told = f"not allowed: {ruling.reason} ({ruling.rule}, {ruling.file})"
        if ruling.decision == "deny":
            return told
        how = "a rule wants a person asked, and in a run nobody is"
        if ruling.rule == TAINT_RULE:
            how = f"in a run nobody is asked; a rule with 'when_tainted: true' under 'allow' of {self.where} allows it"
        elif ruling.rule == "mode ask":
            how = f"in a run nobody is asked; to allow it: {self.where}: allow: [{_rule_for(call, self.box)}]"
        return f"{told}; {how}"

    def context(self, call: str, say: Callable[[str], None], seen: Mapping[str, str] | None = None) -> Context:
        """What a call may touch. `seen`: files as the model last saw them."""
        return Context(
            call=call,
            working=self.working or self.spare,
            environment=self.environment,
            progress=say,
            skills=self.skills,
            seen=seen,
        )

    async def run(self, call: ToolCall, say: Callable[[str], None]) -> Outcome:
        """To the end of the call. When this is cancelled the tool is stopped and all it started is gone."""
        starting = asyncio.ensure_future(self.box.start(call, self.context(call.call, say)))
        try:
            handle = await asyncio.shield(starting)  # a tool is never cancelled half-open
            outcome = await handle.result()
            await handle.closed()
            return outcome
        except asyncio.CancelledError:
            begun: Handle = await through(starting)
            begun.interrupt("the step was stopped")
            await through(asyncio.ensure_future(begun.closed()))
            raise

    def title(self, call: ToolCall) -> str:
        """What a call is about, for whoever watches."""
        tool = self.box.get(call.tool)
        about = call.input.get(tool.subject[1]) if tool and tool.subject else next(iter(call.input.values()), "")
        return " ".join(str(about or "").split())[:SHORT]


@contextmanager
def workbench(
    tools: StepTools, names: tuple[str, ...], step: Step, parameters: Mapping[str, Any], pipeline: str, spare: Folder
) -> Iterator[StepToolbox]:
    """Open for the time of one attempt."""
    box, _ = tools.toolbox().only(names)
    box_names = {tool.name for tool in box}
    allowed = tuple(_allowed(step, parameters, pipeline))
    named = step.scope.folder
    folder = Folder.open(Path(parameters[named])) if named else None
    try:
        rules = tools.rules() + Rules(allowed)
        if folder:
            rules += Rules((*_writing(box, pipeline), *_kept(box, folder.path, tools.workspace)))
        where = f"{pipeline}, steps.{step.name}"
        chosen = {
            str(parameters[entry.parameter]).strip(): entry.when_tainted
            for entry, _ in step.scope.allow
            if entry.parameter is not None and entry.tool in box_names and str(parameters[entry.parameter]).strip()
        }
        yield StepToolbox(
            box,
            rules,
            folder,
            spare,
            tools.environment,
            tools.skills,
            where,
            step.name,
            tools.attended,
            chosen,
        )
    finally:
        if folder:
            folder.close()


def _allowed(step: Step, parameters: Mapping[str, Any], pipeline: str) -> Iterator[Rule]:
    for entry, line in step.scope.allow:
        rule = entry
        if entry.parameter is not None:
            command = str(parameters[entry.parameter]).strip()
            if not command:
                continue  # a parameter without a value allows nothing
            rule = entry.model_copy(update={"command": command})
        yield rule_of("allow", rule, pipeline, line)


def _writing(box: Toolbox, pipeline: str) -> Iterator[Rule]:
    for tool in box:
        if tool.kind == "write" and tool.subject and tool.subject[0] == "path" and tool.source is None:
            yield Rule(verb="allow", tool=tool.name, file=pipeline, why="the person named the folder")


def _kept(box: Toolbox, folder: Path, workspace: Path) -> Iterator[Rule]:
    """Denials for a folder that holds the workspace. UserError for one inside what a run is made of."""
    place, home = Path(os.path.realpath(folder)), Path(os.path.realpath(workspace))
    for name in WORKSPACE_OWN:
        own = home / name
        if place.is_relative_to(own):
            hint = "name the folder of a project"
            raise UserError(f"the folder {folder} is part of the workspace, which runs what is in it", hint=hint)
        if not own.is_relative_to(place):
            continue
        inside = _plain(own.relative_to(place))
        for allowed in _writing(box, APP_FILE):
            path = inside if "." in name[1:] else f"{inside}/**"
            yield replace(allowed, verb="deny", path=path, why="runs are made of it")


def _plain(path: Path) -> str:
    """As a pattern that stands for itself."""
    return re.sub(r"([*?\[{])", r"[\1]", path.as_posix())


def _rule_for(call: ToolCall, box: Toolbox) -> str:
    tool = box.get(call.tool)
    if tool is None or tool.subject is None:
        return f"{{tool: {call.tool}}}"
    kind, key = tool.subject
    word = {"command": "command", "url": "host", "path": "path"}[kind]
    value = "…" if kind == "url" else str(call.input.get(key, "…"))[:SHORT]
    return f'{{tool: {call.tool}, {word}: "{value}"}}'


def leaves(reading: ShellReading, folder: Path) -> str:
    """The first word of a command that names something outside the folder; "" when none does."""
    root = os.path.realpath(folder)
    for part in reading.commands:
        for word in (*part.arguments, *part.reads):
            found = _PATH.search(word.text)
            path = found[1] if found else word.text
            if path in _HARMLESS:
                continue
            there = os.path.realpath(os.path.join(root, path))
            inside = there == root or there.startswith(root.rstrip("/") + "/")
            if not inside and os.path.lexists(there):
                return word.text[:SHORT]
    return ""
