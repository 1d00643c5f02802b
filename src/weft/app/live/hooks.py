"""Hooks: commands of a person's own, run before and after a tool, when something is said, and when an answer is there.

They stand in `.claude/settings.json` of the working folder and of the workspace, in the shape that Claude Code has:

    {"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "./check.sh"}]}]}}

Each gets what happens as JSON on standard input. Exit code 2, or `{"decision": "block", "reason": …}`, refuses the call
or the message, and what it printed is the reason; what one prints after a tool or to a message is told to the model.
They run inside the boundary like any command of a model, and only after the person agreed to exactly these words and
to the files of the folder that they name.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from weft.consent import ConsentRequest, Consents, NotAgreedError
from weft.files import Folder
from weft.protocol.errors import UserError, WeftError
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.tools.builtin.shell import boundary_policy
from weft.tools.processes import Process, usual_limits
from weft.tools.tool import Context
from weft.tools.tool_spellings import told_name

FILE: Final = ".claude/settings.json"
EVENTS: Final = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "Notification")
PROJECT: Final = "CLAUDE_PROJECT_DIR"
"""The variable by which hooks name the working folder, as others have it."""
SECONDS: Final = 60
MOST_SECONDS: Final = 600
OUTPUT: Final = 64 * 1024
MOST_RESPONSE: Final = 20_000
"""Characters of a tool's result that a hook is given."""
_BLOCKS: Final = 2


@dataclass(frozen=True, slots=True)
class Hook:
    event: str
    matcher: str
    command: str
    seconds: float
    file: str

    def fits(self, tool: str) -> bool:
        if self.matcher in ("", "*") or not tool:
            return True
        return any(re.fullmatch(self.matcher, name) for name in (tool, told_name(tool)))


@dataclass(frozen=True, slots=True)
class HookAnswer:
    refused: str = ""
    """Why; "" when it may go on."""
    text: str = ""
    """What the model is told."""


def read_hooks(data: bytes, file: str) -> list[Hook]:
    """UserError for a file that can't be read; keys that are not ours are other programs'."""
    try:
        settings = json_value(data)
        groups = settings.get("hooks", {})
        found = []
        for event in EVENTS:
            for group in groups.get(event, ()):
                for one in group.get("hooks", ()):
                    if one.get("type", "command") != "command":
                        continue
                    seconds = min(float(one.get("timeout", SECONDS)), MOST_SECONDS)
                    matcher = str(group.get("matcher", ""))
                    re.compile(matcher if matcher != "*" else "")
                    found.append(Hook(event, matcher, str(one["command"]), seconds, file))
    except (ValueError, AttributeError, TypeError, KeyError, re.error) as error:
        raise UserError(
            f"the hooks in {file} can't be read: {error}", hint="put it right, or take the key hooks out"
        ) from error
    return found


class Hooks:
    def __init__(
        self, each: list[Hook], context: Callable[[], Context], session: str, may_run: Callable[[], None]
    ) -> None:
        """`may_run` raises when they are not what the person agreed to any more; asked before each."""
        self._each = each
        self._may_run = may_run
        self._context = context
        self._session = session
        self._count = 0

    @classmethod
    def agreed(cls, consents: Consents, places: list[Folder], context: Callable[[], Context], session: str) -> Hooks:
        """Those of these folders. NotAgreedError when somebody has to agree to them first."""
        with_hooks = [(place, here) for place in places if (here := _hooks_of(place))]
        agreed = [_request(here, place) for place, here in with_hooks]
        for request in agreed:
            consents.check(request)

        def may_run() -> None:
            """A command of the model's may have changed a file that they name, and with it what they refuse."""
            for (place, here), before in zip(with_hooks, agreed, strict=True):
                now = _request(here, place)
                if now != before and not consents.is_agreed(now):
                    raise NotAgreedError(now)

        return cls([hook for _, here in with_hooks for hook in here], context, session, may_run)

    async def run(self, event: str, tool: str = "", **more: Any) -> HookAnswer:
        """One after the other; the first that refuses is the last."""
        told: list[str] = []
        for hook in self._each:
            if hook.event != event or not hook.fits(tool):
                continue
            try:
                self._may_run()
            except NotAgreedError as error:
                return HookAnswer(refused=str(error))
            given = {"hook_event_name": event, "session_id": self._session, **more}
            if tool:
                given["tool_name"] = told_name(tool)
            answer = await self._run(hook, given)
            if answer.refused:
                return answer
            if answer.text:
                told.append(answer.text)
        return HookAnswer(text="\n".join(told))

    async def _run(self, hook: Hook, given: Mapping[str, Any]) -> HookAnswer:
        context = self._context()
        session = context.session
        assert session is not None
        self._count += 1
        name = f".hook-{self._count}.json"
        content = json.dumps({**given, "cwd": str(context.working.path)}, ensure_ascii=False)
        session.replace(name, content.encode("utf-8", "replace"), sync=False)
        try:
            environment = {**context.environment, PROJECT: str(context.working.path)}
            shell = shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"
            process = await Process.start(
                [shell, "-c", f"{{ {hook.command}\n}} < {shlex.quote(str(session.path / name))}"],
                folder=context.working.fd,
                environment=environment,
                policy=boundary_policy(context, environment, frozenset({"write"})),
                limits=usual_limits(),
                output_limit=OUTPUT,
            )
            timer = asyncio.get_running_loop().call_later(hook.seconds, process.stop)
            try:
                finished = await process.finished()
            finally:
                timer.cancel()
        finally:
            (session.path / name).unlink(missing_ok=True)
        return answer_of(finished.code, finished.output.decode("utf-8", "replace").strip(), hook.command)


def hook_requests(places: list[Folder]) -> list[ConsentRequest]:
    """What a person is asked before the hooks of these folders run. Those that can't be read are said elsewhere."""
    found = []
    for place in places:
        with suppress(UserError):
            if here := _hooks_of(place):
                found.append(_request(here, place))
    return found


def _hooks_of(place: Folder) -> list[Hook]:
    data = place.read_or_none(FILE)
    return read_hooks(data, str(place.path / FILE)) if data is not None else []


def _request(hooks: list[Hook], place: Folder) -> ConsentRequest:
    return ConsentRequest(kind="hook", subject=hooks[0].file, folder=str(place.path), parts=_words(hooks, place))


def _words(hooks: list[Hook], place: Folder) -> dict[str, str]:
    """What would run: each command as it is written, and each file of the folder that it names, with its hash."""
    found: dict[str, str] = {}
    for number, hook in enumerate(hooks):
        found[f"{hook.event} {hook.matcher} {number}"] = hook.command
        named = re.sub(rf"\$\{{?{PROJECT}\}}?/|{re.escape(str(place.path))}/", "./", hook.command)
        for word in re.findall(r"[\w./-]+", named):
            try:
                data = place.read_or_none(word.removeprefix("./"))
            except (OSError, WeftError):
                continue
            if data is not None:
                found[word] = hash_bytes(data)
    return found


def answer_of(code: int | None, said: str, command: str) -> HookAnswer:
    """What a hook means: it refuses, says something, or is passed over when it failed by itself."""
    if code == _BLOCKS:
        return HookAnswer(refused=said or f"the hook {command!r} refuses it")
    if code != 0:
        return HookAnswer(text=f"[the hook {command!r} failed: {said[:500]}]")
    try:
        value = json_value(said) if said.startswith("{") else {}
    except ValueError:
        value = {}
    if not isinstance(value, dict) or not value:
        return HookAnswer(text=said)
    own = value.get("hookSpecificOutput") or {}
    blocked = (
        value.get("decision") == "block" or own.get("permissionDecision") == "deny" or value.get("continue") is False
    )
    reason = (
        value.get("reason") or own.get("permissionDecisionReason") or value.get("stopReason") or "a hook refuses it"
    )
    if blocked:
        return HookAnswer(refused=str(reason))
    return HookAnswer(text=str(own.get("additionalContext") or value.get("systemMessage") or ""))
