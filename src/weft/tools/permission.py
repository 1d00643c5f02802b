"""Whether a call may run: allowed, asked about, or denied, and why. Pure; asking and showing are for others.

    ruling = judge(call, tool, mode="ask", rules=rules, taint=taint, remembered=remembered)

In this order: an unknown tool, a path that climbs and a known place of secrets are denied; a rule that denies stands;
then the mode decides by the tool's effect (`safe` only reads, `ask` asks for the rest, `edits` changes files of the
working folder unasked, `auto` allows it); rules that allow and what the person allowed for this session spare the
question; content from outside brings it back for whatever can send data out; and a rule that asks is asked. `safe`
never asks: what would be asked about is denied there.

A command that runs inside a strong boundary is not asked about as long as it needs nothing opened: what it could do,
the kernel stops. The ruling says what is opened for it. Without a strong boundary only its words speak for a command.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from weft.protocol import commands
from weft.protocol.errors import UserError
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass
from weft.tools.boundary import NEEDS, Need
from weft.tools.fetch import parse_url
from weft.tools.patterns import PatternError, path_pattern
from weft.tools.permission_file import APP_FILE, Rule, Rules
from weft.tools.shell.needs import Ground, ShellNeeds, Worry, shell_needs
from weft.tools.shell.reading import ShellReading, read_shell
from weft.tools.shell.remember import part_is_read_only, prefix, runs_others, session_keys
from weft.tools.shell.words import Simple
from weft.tools.tool import Tool
from weft.tools.tool_spellings import told_name
from weft.workspace.rule_entry import RuleEntry

Mode = commands.Mode
_READING: Final[tuple[Mode, ...]] = ("safe", "plan")
"""Modes that change nothing; the second until a plan is accepted."""
Decision = Literal["allow", "ask", "deny"]
TAINT_RULE: Final = "tainted conversation"
TAINTED: Final = "tainted "
"""Before a key that was remembered while content from outside was in the conversation."""


NOWHERE: Final = Ground()
"""For a judgement that knows nothing of the place: words alone speak for a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    decision: Decision
    reason: str
    """In words, for the person and the log."""
    rule: str
    """The rule that decided: as it is written in `file`, or the name of a rule that is built in."""
    file: str
    """Where that rule stands, with its line; "weft's own rules" for those of the app."""
    remember_key: str | None = None
    """For a question: what an approval "for this session" would be remembered as; None: it can't be."""
    needs: frozenset[Need] = frozenset()
    """For a command that may run, or once it is approved: what is opened for it in the boundary."""
    always: RuleEntry | None = None
    """For a question: the rule that would spare it from now on; None: it is to be asked each time."""


SIGN_IN_RULE: Final = "sign-in"
"""Of a call that waits until a person has signed in."""


def judge(
    call: ToolCall,
    tool: Tool | None,
    *,
    mode: Mode,
    rules: Rules,
    taint: Collection[str] = (),
    remembered: Collection[str] = (),
    ground: Ground = NOWHERE,
) -> Ruling:
    """`taint`: where content from outside came from; `remembered`: the keys of what was allowed for this session;
    `ground`: where commands run."""
    if tool is None or tool.name != call.tool:
        return _built_in("deny", f"there is no tool {call.tool[:80]!r}", "unknown tool")
    if call.malformed:
        return _built_in("deny", "its input is no JSON object", "malformed input")
    subject = _Subject.of(call, tool, ground)
    if subject.fault:
        return _built_in("deny", subject.fault, "confined paths")
    if subject.shell is not None and (places := subject.shell.about("place")):
        return _built_in("deny", f"{places[0].text}, which nothing is let near", "places of secrets")
    for rule in rules.of("deny"):
        if _matches(rule, tool, subject):
            return _by_rule("deny", rule)
    ruling = _by_mode(tool, subject, mode, rules, remembered)
    if ruling.decision != "deny" and taint and _can_send(tool, subject):
        ruling = _with_taint(ruling, tool, subject, rules, taint, remembered)
    if ruling.decision != "deny" and (asking := _question(tool, subject, rules)):
        tainted = ruling.rule == TAINT_RULE
        asking = replace(asking, needs=ruling.needs)
        ruling = replace(asking, reason=f"{asking.reason}; and {ruling.reason}") if tainted else asking
    if ruling.decision != "deny" and tool.waits_for is not None and (why := tool.waits_for()):
        told = f"{why}; and {ruling.reason}" if ruling.decision == "ask" else why
        ruling = _built_in("ask", told, SIGN_IN_RULE)
    if mode in _READING and ruling.decision == "ask":
        return replace(
            ruling, decision="deny", reason=f"{ruling.reason}; in {mode} nothing is asked", remember_key=None
        )
    return ruling


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a call is about, made comparable."""

    path: str | None = None
    host: str | None = None
    command: str | None = None
    reading: ShellReading | None = None
    shell: ShellNeeds | None = None
    declared: frozenset[Need] = frozenset()
    """What the call itself asks to be opened."""
    hosts: tuple[str, ...] = ()
    """Those that it asks the network for; () is all of it."""
    strong: bool = False
    """The kernel holds a command to what is opened for it."""
    fault: str = ""

    @classmethod
    def of(cls, call: ToolCall, tool: Tool, ground: Ground) -> _Subject:
        if tool.subject is None:
            return cls()
        kind, key = tool.subject
        value = call.input.get(key)
        if value is None and kind == "path":
            return cls()
        if not isinstance(value, str):
            return cls(fault=f"{key} of {tool.name} is not text")
        if kind == "command":
            return cls(
                command=value,
                reading=read_shell(value),
                shell=shell_needs(value, ground),
                declared=declared_needs(call.input),
                hosts=declared_hosts(call.input),
                strong=ground.boundary == "strong",
            )
        if kind == "url":
            try:
                target = parse_url(value)
            except UserError as error:
                return cls(fault=error.message)
            usual = target.port == (443 if target.scheme == "https" else 80)
            return cls(host=target.host if usual else f"{target.host}:{target.port}")
        parts = [part for part in value.split("/") if part not in ("", ".")]
        if ".." in parts or "\0" in value:
            return cls(fault=f"the path {value[:80]!r} climbs out of its folder")
        path = ("/" if value.startswith("/") else "") + "/".join(parts)
        for top in filter(None, (ground.working, ground.named)):  # rules name files from the working folder on
            if f"{path}/".startswith(f"{top.rstrip('/')}/"):
                return cls(path=path[len(top) :].strip("/"))
        return cls(path=path)


# -- the steps of a judgement


def _by_mode(tool: Tool, subject: _Subject, mode: Mode, rules: Rules, remembered: Collection[str]) -> Ruling:
    if proved := _proved(subject):
        return proved
    allowing = next((rule for rule in rules.of("allow") if _allows(rule, tool, subject)), None)
    if allowing and (mode not in _READING or allowing.read_only):
        return replace(_by_rule("allow", allowing), needs=_opened(subject))
    if held := _held(subject, mode):
        return held
    if tool.kind == "read" and tool.source is None:
        return _built_in("allow", f"{tool.name} only reads", "tools that only read")
    what = _what_it_does(tool, subject)
    if mode == "auto":
        return replace(_built_in("allow", f"{what}; the mode is auto", "mode auto"), needs=_opened(subject))
    if mode in _READING:
        until = ", until a plan is accepted" if mode == "plan" else ""
        return _built_in("deny", f"{what}; the mode is {mode}, which only reads{until}", f"mode {mode}")
    if mode == "edits" and tool.kind == "write" and tool.source is None and subject.path is not None:
        return _built_in("allow", f"{what}; the mode is edits", "mode edits")
    keys = _keys(tool, subject)
    if None not in keys and keys <= set(remembered) and not subject.declared:
        allowed = _built_in("allow", "you allowed it for this session", f"remembered: {_shown(keys)}")
        return replace(allowed, needs=_opened(subject))
    asked = _built_in("ask", what, f"mode {mode}", None if subject.declared else _single(keys))
    return replace(asked, needs=_opened(subject), always=_always(tool, subject))


def _proved(subject: _Subject) -> Ruling | None:
    """A command whose words prove it harmless."""
    reading, shell = subject.reading, subject.shell
    if reading is None or shell is None or not reading.read_only or subject.declared:
        return None
    if shell.about("secret", "elsewhere"):
        return None
    # what only looks, but at a service of the machine or of a cluster, can't do that from inside
    needs: frozenset[Need] = frozenset() if reading.offline else frozenset({"outside"})
    return replace(_built_in("allow", reading.reason, "read-only programs"), needs=needs)


def _held(subject: _Subject, mode: Mode) -> Ruling | None:
    """A command that the boundary holds, so that nothing is left to ask about."""
    if subject.shell is None or not subject.strong or subject.declared or mode == "auto":
        return None
    spared: tuple[Worry, ...] = ("change",) if mode == "edits" else ()
    if any(concern.worry not in spared for concern in subject.shell.concerns):
        return None
    writes = mode == "edits" or (mode == "ask" and subject.shell.makes)
    what = "the working folder alone can be changed" if writes else "nothing can be changed"
    reason = f"it runs inside the boundary: {what}, and there is no network"
    return replace(_built_in("allow", reason, "the boundary"), needs=frozenset({"write"} if writes else ()))


def _opened(subject: _Subject) -> frozenset[Need]:
    """What a command gets that a person, a rule or the mode allows: what its words tell, and what the call asks for."""
    if subject.shell is None:
        return frozenset()
    return subject.shell.needs | subject.declared | {"write"}


def _always(tool: Tool, subject: _Subject) -> RuleEntry | None:
    """The rule that spares the question from now on: a command by its first words, a file by its folder."""
    if subject.path is not None and tool.kind == "write":
        folder = subject.path.rpartition("/")[0]
        return RuleEntry(tool=tool.name, path=f"{folder}/**" if folder else subject.path)
    if subject.host is not None:
        return RuleEntry(tool=tool.name, host=subject.host)
    if subject.reading is None or subject.declared:
        return None
    prefixes = {prefix(part) for part in subject.reading.commands if not part_is_read_only(part)}
    only = next(iter(prefixes)) if len(prefixes) == 1 else None
    return RuleEntry(tool=tool.name, command=f"{only} *") if only else None


def _with_taint(
    ruling: Ruling,
    tool: Tool,
    subject: _Subject,
    rules: Rules,
    taint: Collection[str],
    remembered: Collection[str],
) -> Ruling:
    """What could carry something out is asked about once content from outside is in the conversation.

    What was allowed for the session before that does not count any more; a command of the shell is asked about each
    time, anything else may be allowed anew, knowing what is in the conversation.
    """
    if any(rule.when_tainted and _allows(rule, tool, subject) for rule in rules.of("allow")):
        return ruling
    keys = frozenset[str | None]({None})
    if subject.command is None:
        keys = frozenset(f"{TAINTED}{key}" for key in _keys(tool, subject))
    if None not in keys and keys <= set(remembered):
        allowed = _built_in("allow", "you allowed it for this session", f"remembered: {_shown(keys)}")
        return replace(allowed, needs=ruling.needs)
    origins = ", ".join(list(dict.fromkeys(taint))[:5])
    reason = (
        f"content from outside is in this conversation ({origins}) and may have asked for this; {tool.name} can send "
        "data out"
    )
    if ruling.decision == "ask":
        reason = f"{ruling.reason}; and {reason}"
    return replace(_built_in("ask", reason, TAINT_RULE, _single(keys)), needs=ruling.needs)


def _question(tool: Tool, subject: _Subject, rules: Rules) -> Ruling | None:
    for rule in rules.of("ask"):
        if _matches(rule, tool, subject):
            return _by_rule("ask", rule)
    if subject.shell is not None and (deciding := subject.shell.about("decides")):
        return _built_in("ask", deciding[0].text, "what is run or obeyed unasked")
    if subject.reading is None or subject.reading.read_only:
        return None
    if any(_allows(rule, tool, subject) for rule in rules.of("allow")):
        return None  # whoever allowed these very words knows what they run
    for rule in rules.rules:
        if rule.command and rule.verb != "allow" and _names(rule, tool) and _may_hide(subject, rule.command[0]):
            reason = f"the command may hide what a rule speaks of ({rule})"
            return Ruling(decision="ask", reason=reason, rule=str(rule), file=rule.place)
    return None


def _may_hide(subject: _Subject, program: str) -> bool:
    """A command that could not be read may hide anything; one that runs others, what it speaks of."""
    parts = subject.reading.commands if subject.reading else ()
    if not parts:
        return True
    return program in (subject.command or "") and any(runs_others(part.program) for part in parts)


def _can_send(tool: Tool, subject: _Subject) -> bool:
    if subject.reading is not None:
        if subject.strong and subject.shell is not None:
            return bool((subject.shell.needs | subject.declared) & _SENDING) or _looks_outside(subject.reading)
        return not subject.reading.offline
    return tool.kind in ("network", "process") or tool.source is not None


_SENDING: Final[frozenset[Need]] = frozenset({"network", "keys", "outside", "git"})
"""What opens a way out; a repository too, by the programs that it makes git run for the person later."""


def _looks_outside(reading: ShellReading) -> bool:
    return reading.read_only and not reading.offline


def _what_it_does(tool: Tool, subject: _Subject) -> str:
    if subject.reading is not None and subject.shell is not None:
        told = [concern.text for concern in subject.shell.concerns]
        only = f", {', '.join(subject.hosts)} alone" if subject.hosts else ""
        told += [
            f"it asks for {_NEED_WORDS[need]}{only if need == 'network' else ''}"
            for need in NEEDS
            if need in subject.declared
        ]
        held = "it needs no more than the boundary gives" if subject.strong else subject.reading.reason
        return "; ".join([*dict.fromkeys(told)][:4]) or held
    if tool.source is not None:
        return f"{tool.name} is a tool of the source {tool.source}"
    doing = {"read": "reads", "write": "changes files", "network": "reaches the network", "process": "runs a program"}
    return f"{tool.name} {doing[tool.kind]}"


_NEED_WORDS: Final[Mapping[Need, str]] = {
    "write": "the right to change the working folder",
    "git": "the right to change the repository",
    "network": "the network",
    "keys": "the places of keys",
    "outside": "the machine without any boundary",
}


def declared_needs(given: Mapping[str, Any]) -> frozenset[Need]:
    """What a call asks to be opened. What is no need is none: the tool's schema refuses it before it runs."""
    asked = given.get("needs", ())
    found = frozenset(need for need in NEEDS if isinstance(asked, list | tuple) and need in asked)
    return found | {"network"} if declared_hosts(given) else found


def declared_hosts(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The hosts that a call wants to reach, and no other."""
    asked = given.get("hosts", ())
    return tuple(map(str, asked)) if isinstance(asked, list | tuple) else ()


def _keys(tool: Tool, subject: _Subject) -> frozenset[str | None]:
    """Under which narrow names this call may be remembered; None among them when it may not be."""
    if subject.reading is not None and subject.shell is not None:
        return session_keys(subject.reading, exactly=bool(subject.shell.about("secret", "elsewhere")))
    if subject.host is not None:
        return frozenset({f"{tool.name} {subject.host}"})
    if subject.path is not None:
        return frozenset({f"{tool.kind} {subject.path}"})
    return frozenset({f"tool {tool.name}"})


def _single(keys: Collection[str | None]) -> str | None:
    """What one approval would be remembered as: one key, or nothing."""
    return next(iter(keys)) if len(keys) == 1 else None


def _shown(keys: Collection[str | None]) -> str:
    return ", ".join(sorted(filter(None, keys)))


# -- rules


def _matches(rule: Rule, tool: Tool, subject: _Subject) -> bool:
    """Whether a rule that asks or denies is about this call: generously, any part of a command counts."""
    if not _names(rule, tool):
        return False
    if rule.command:
        parts = subject.reading.commands if subject.reading else ()
        return any(_speaks_of(part, rule.command) for part in parts)
    return _about(rule, subject, fold=True)


def _allows(rule: Rule, tool: Tool, subject: _Subject) -> bool:
    """Whether a rule that allows is about all of this call: strictly, every part of a command has to be covered."""
    if not _names(rule, tool):
        return False
    if rule.command:
        parts = subject.reading.commands if subject.reading else ()
        return bool(parts) and all(_is(part, rule) for part in parts) and subject.declared <= rule.needs
    if subject.command is not None and rule.path is None and rule.host is None:
        return False  # a shell is never allowed as a whole: that is what the mode auto is for
    return _about(rule, subject, fold=False)


def _names(rule: Rule, tool: Tool) -> bool:
    if tool.source is not None and rule.file == APP_FILE:
        return False  # the app's rules are about the app's tools, whatever a source calls its own
    told = tool.known_as if tool.source is not None else told_name(tool.name)
    edits = tool.source is None and tool.name in _EDITING and fnmatch.fnmatchcase("Edit", rule.tool)
    return edits or fnmatch.fnmatchcase(tool.name, rule.tool) or rule.tool == told


_EDITING: Final = ("MultiEdit", "NotebookEdit")
"""They do what Edit does, and a rule about that is about them too."""


def _about(rule: Rule, subject: _Subject, *, fold: bool) -> bool:
    if rule.path is not None:
        try:
            return subject.path is not None and bool(path_pattern(rule.path, fold=fold).match(subject.path))
        except PatternError:
            return fold  # a denial that can't be read denies, a permission that can't be read permits nothing
    if rule.host is not None:
        if subject.host is None:
            return False
        # who denies a host denies it at every port; who allows it, at the usual one
        names = {subject.host, subject.host.rpartition(":")[0]} if fold else {subject.host}
        if rule.host.startswith("*."):
            return any(name.endswith(rule.host[1:]) for name in names)
        return rule.host in names
    return True


def _speaks_of(part: Simple, words: tuple[str, ...]) -> bool:
    """These words, also with options and their values before and between them: `git -C . push` is a push."""
    wanted, before = list(words), ""
    for word in part.words:
        if not wanted:
            break
        if word.text == wanted[0]:
            wanted.pop(0)
        elif word.text == "--" or not (word.text.startswith("-") or before.startswith("-")):
            return False
        before = word.text
    return not wanted


def _begins(part: Simple, words: tuple[str, ...]) -> bool:
    return tuple(word.text for word in part.words[: len(words)]) == words


def _is(part: Simple, rule: Rule) -> bool:
    """The very words; further ones only where the rule says so, and never words that the shell would change."""
    if not _begins(part, rule.command) or any(word.pattern for word in part.words[: len(rule.command)]):
        return False
    return rule.open_ended or len(part.words) == len(rule.command)


def _by_rule(decision: Decision, rule: Rule) -> Ruling:
    words = {"allow": "a rule allows it", "ask": "a rule wants it asked", "deny": "a rule denies it"}[decision]
    reason = f"{words}: {rule.why}" if rule.why else words
    return Ruling(decision=decision, reason=reason, rule=str(rule), file=rule.place)


def _built_in(decision: Decision, reason: str, rule: str, key: str | None = None) -> Ruling:
    return Ruling(decision=decision, reason=reason, rule=rule, file=APP_FILE, remember_key=key)
