"""What people have in other systems, taken into a workspace: read where it is, written here, nothing changed there.

    looplia   a workspace with pipelines, agents, skills, a profile and sessions under contentItem/
    agent     a folder with AGENT.md and config.json: its stages, pauses, repair units, depth modes become a pipeline
    craft     a workspace with sessions (session.jsonl), sources, permissions, labels, statuses, skills

What has no counterpart here is named in the report. What is here already is kept.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal

from ruamel.yaml import YAML

from weft.app.root import App
from weft.conversation.turns import CallHadElsewhere, turn_had_elsewhere
from weft.protocol import conversation_events as t
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError, WeftError
from weft.protocol.events import DurableEvent, SessionCreated, SessionDescribed
from weft.protocol.hashes import hash_value
from weft.protocol.ids import SESSION_ID
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.sources.config import slug_fault
from weft.version import __version__

System = Literal["looplia", "agent", "craft"]
IMPORTED: Final = Actor("machine", face="import")
MOST_BYTES: Final = 32 * 2**20
MOST_RESULT: Final = 20_000
"""Characters of what a tool answered elsewhere."""
_LOOPLIA_FOLDERS: Final = {
    "pipelines": "pipelines",
    ".claude/agents": ".claude/agents",
    ".claude/skills": ".claude/skills",
}
_LOOPLIA_FILES: Final = ("CLAUDE.md", "AGENTS.md", "user-profile.json", "profile.json")


@dataclass(slots=True)
class ImportReport:
    """What was taken in, what was here already, and what has no counterpart."""

    system: System
    made: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def import_from(origin: Path, app: App) -> ImportReport:
    """UserError when nothing there is known."""
    system = system_of(origin)
    report = ImportReport(system)
    taking = _Taking(origin, app, report)
    if system == "agent":
        _agent(taking)
    elif system == "looplia":
        _looplia(taking)
    else:
        _craft(taking)
    return report


def system_of(origin: Path) -> System:
    if (origin / "AGENT.md").is_file() and (origin / "config.json").is_file():
        return "agent"
    if (origin / "contentItem").is_dir() or (origin / "user-profile.json").is_file():
        return "looplia"
    if any((origin / name).exists() for name in ("statuses/config.json", "labels/config.json", "sources")) or any(
        origin.glob("sessions/*/session.jsonl")
    ):
        return "craft"
    if not origin.is_dir():
        raise UserError(f"there is no folder {origin}", hint="name the folder that the other system keeps things in")
    raise UserError(
        f"nothing in {origin} is known",
        hint="name a Looplia workspace, a folder with AGENT.md and config.json, or a Craft workspace",
    )


class _Taking:
    def __init__(self, origin: Path, app: App, report: ImportReport) -> None:
        self.origin = origin
        self.app = app
        self.report = report

    def put(self, place: str, data: bytes) -> bool:
        """Write a file that is not there; what is there is kept."""
        folder = self.app.workspace.folder
        there = folder.read_or_none(place)
        if there is None:
            folder.put(place, data)
        (self.report.made if there is None else self.report.kept).append(place)
        return there is None

    def put_yaml(self, place: str, value: Any) -> bool:
        out = io.StringIO()
        writer = YAML()
        writer.width = 110
        writer.dump(value, out)
        return self.put(place, out.getvalue().encode())

    def copy(self, source: Path, place: str) -> None:
        """A file, or a folder with all in it; links are not followed."""
        if source.is_symlink():
            self.report.left.append(f"{source.relative_to(self.origin)}: a link")
        elif source.is_dir():
            for inner in sorted(source.iterdir()):
                if not inner.name.startswith("."):
                    self.copy(inner, f"{place}/{inner.name}")
        elif source.is_file():
            if source.stat().st_size > MOST_BYTES:
                self.report.left.append(f"{source.relative_to(self.origin)}: larger than {MOST_BYTES // 2**20} MB")
            else:
                self.put(place, source.read_bytes())

    def json(self, name: str) -> Any:
        """A file of the origin; None when it is not there, or can't be read (that is told)."""
        path = self.origin / name
        if not path.is_file():
            return None
        try:
            return json_value(path.read_text("utf-8-sig"))
        except ValueError as error:
            self.report.left.append(f"{name}: it is not JSON ({error})")
            return None

    def leave(self, what: str) -> None:
        self.report.left.append(what)


# -- Looplia


def _looplia(taking: _Taking) -> None:
    for source, place in _LOOPLIA_FOLDERS.items():
        if (taking.origin / source).is_dir():
            taking.copy(taking.origin / source, place)
    for name in _LOOPLIA_FILES:
        if (taking.origin / name).is_file():
            taking.copy(taking.origin / name, name)
    for folder in ("contentItem", "sessions"):
        for session in sorted((taking.origin / folder).glob("*/")):
            _older_session(taking, session)
    known = {*_LOOPLIA_FILES, "pipelines", ".claude", "contentItem", "sessions"}
    for one in sorted(taking.origin.iterdir()):
        if one.name not in known and not one.name.startswith("."):
            taking.leave(f"{one.name}: nothing here reads it")


def _older_session(taking: _Taking, session: Path) -> None:
    """Copied as it is: the first run takes it in (adopts it), and says what of it counts."""
    name = _slug(session.name)
    if not SESSION_ID.match(name):
        taking.leave(f"{session.name}: can't be the name of a session")
        return
    if taking.app.sessions.exists(name):
        taking.report.kept.append(f"sessions/{name}")
        return
    for one in sorted(session.iterdir()):
        if one.is_file():
            taking.copy(one, f"sessions/{name}/{one.name}")
        else:
            taking.leave(f"{session.parent.name}/{session.name}/{one.name}: a session is flat")


# -- an agent with stages


def _agent(taking: _Taking) -> None:
    config = taking.json("config.json") or {}
    front = _front((taking.origin / "AGENT.md").read_text("utf-8-sig"))
    slug = _slug(taking.origin.name)
    flow = config.get("controlFlow") or {}
    if not flow.get("stages"):
        raise UserError(f"{taking.origin.name}/config.json has no stages", hint="controlFlow.stages names them")
    names = [_step_name(one, number) for number, one in enumerate(flow["stages"])]
    parameters, depth = _parameters(config)
    budget = (config.get("orchestrator") or {}).get("budgetUsd")
    pipeline: dict[str, Any] = {
        "name": slug,
        "description": str(front.get("description") or slug).strip(),
        "parameters": parameters,
        "depth": depth,
        "budget": {"usd": budget} if budget else {},
        "repair": [*_repairs(taking, flow, names, parameters)],
        "steps": {},
    }
    for number, stage in enumerate(flow["stages"]):
        pipeline["steps"][names[number]] = _step(taking, slug, flow, names, number)
        _stage_agent(taking, slug, number, names[number], stage, front)
    taking.put_yaml(f"pipelines/{slug}.yaml", {key: value for key, value in pipeline.items() if value})
    _agent_leftovers(taking, config, front)


def _step(taking: _Taking, slug: str, flow: Mapping[str, Any], names: Sequence[str], number: int) -> dict[str, Any]:
    """One stage: stages stand in a line, and each reads what all before it made."""
    stage, name = flow["stages"][number], names[number]
    schema = (flow.get("stageOutputSchemas") or {}).get(str(number))
    step: dict[str, Any] = {"artifact": f"{name}.json", "agent": f"{slug}-{name}"}
    if stage.get("mode") == "sdk_breakout":
        step["executor"] = "agent"
    if number:
        step["requires"] = list(names[:number])
    if schema:
        step["schema"] = f"{slug}-{name}.schema.json"
        _schema(taking, f"schemas/{slug}-{name}.schema.json", schema)
    if number in (flow.get("pauseAfterStages") or ()):
        if stage.get("pauseChoices") or not flow.get("autoAdvance"):
            step["gate"] = _gate(stage)
        else:
            taking.leave(f"stage {number} ({name}): its pause, because autoAdvance passes over it")
    if number == len(names) - 1:
        step["final"] = True
    return step


def _step_name(stage: Mapping[str, Any], number: int) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", str(stage.get("name") or f"stage-{number}").lower()).strip("-") or "stage"


def _gate(stage: Mapping[str, Any]) -> dict[str, Any]:
    gate: dict[str, Any] = {"message": str(stage.get("pauseInstructions") or "Go on?").strip()}
    fields = stage.get("pauseDisplayFields") or ()
    if fields:
        gate["show"] = [
            {"at": f"{one['key']}[*]" if one.get("type") in ("list", "object-list") else str(one["key"]),
             "label": str(one.get("label") or one["key"])}
            for one in fields if one.get("key")
        ]  # fmt: skip
    labels = [str(one) for one in stage.get("pauseChoices") or ()]
    if labels:
        gate["choices"] = dict(zip(("proceed", "amend", "cancel"), labels, strict=False))
    return gate


def _stage_agent(
    taking: _Taking, slug: str, number: int, name: str, stage: Mapping[str, Any], front: Mapping[str, Any]
) -> None:
    prompt = taking.origin / "prompts" / f"stage-{number}-{name.replace('_', '-')}.md"
    title = str(front.get("name") or slug)
    if prompt.is_file():
        text = prompt.read_text("utf-8-sig").replace("{{agentName}}", title)
        for left in sorted(set(re.findall(r"\{\{(\w+)\}\}", text))):
            taking.leave(f"prompts/{prompt.name}: {{{{{left}}}}} is filled in by nobody")
    else:
        text = str(stage.get("description") or f"Make {name}.")
        taking.leave(f"stage {number} ({name}): it has no prompt, so its description stands in its place")
    said = str(stage.get("description") or f"{title}: {name}").strip().replace("\n", " ")
    sources = [one["slug"] for one in front.get("sources") or () if isinstance(one, dict) and one.get("slug")]
    uses = f"sources: {json.dumps(sources)}\n" if sources and stage.get("mode") == "sdk_breakout" else ""
    head = f"---\nname: {slug}-{name}\ndescription: {json.dumps(said, ensure_ascii=False)}\n{uses}---\n"
    taking.put(f".claude/agents/{slug}-{name}.md", (head + text.strip() + "\n").encode())


def _schema(taking: _Taking, place: str, schema: Any) -> None:
    """Their language is a part of JSON Schema, with two words of its own."""
    if not isinstance(schema, dict):
        return
    plain = {key: value for key, value in schema.items() if key not in ("enforcement", "blockMessage")}
    if schema.get("enforcement", "warn") != "block":
        taking.leave(f"{place}: it only warned; here what does not fit is made again")
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", **plain}
    taking.put(place, json.dumps(whole, indent=2, ensure_ascii=False).encode() + b"\n")


def _parameters(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Depth modes set parameters; thresholds are parameters with a default."""
    modes: Mapping[str, Mapping[str, Any]] = config.get("depthModes") or {}
    names = list(dict.fromkeys(key for mode in modes.values() for key in mode))
    first = modes.get("standard") or next(iter(modes.values()), {})
    found: dict[str, Any] = {}
    for name in names:
        value = first.get(name, next(mode[name] for mode in modes.values() if name in mode))
        kind = "boolean" if isinstance(value, bool) else "integer" if isinstance(value, int) else "number"
        if isinstance(value, bool | int | float):
            found[_snake(name)] = {"type": kind, "default": value}
    depth = {
        mode: {_snake(key): value for key, value in values.items() if _snake(key) in found}
        for mode, values in modes.items()
    }
    for axis, told in (config.get("verification") or {}).items():
        if isinstance(told, dict) and isinstance(told.get("threshold"), int | float):
            found[f"{_snake(axis)}_threshold"] = {"type": "number", "default": told["threshold"]}
    return found, {mode: values for mode, values in depth.items() if values}


def _repairs(
    taking: _Taking, flow: Mapping[str, Any], names: Sequence[str], parameters: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for unit in flow.get("repairUnits") or ():
        stages = [number for number in unit.get("stages") or () if isinstance(number, int) and number < len(names)]
        if len(stages) < 2:
            taking.leave(f"a repair unit of {unit.get('stages')}: it needs two stages")
            continue
        rounds: Any = "max_repair_iterations" if "max_repair_iterations" in parameters else unit.get("maxIterations", 1)
        yield {
            "steps": [names[number] for number in stages],
            "rounds": rounds,
            "verdict": "verdict",
            "feedback": str(unit.get("feedbackField") or "feedback"),
        }
        taking.leave(
            f"stage {stages[-1]} ({names[stages[-1]]}): it said needsRepair; a verifier here says verdict: passed or "
            "failed, so its prompt and schema have to say that"
        )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _agent_leftovers(taking: _Taking, config: Mapping[str, Any], front: Mapping[str, Any]) -> None:
    """What is set there and has no counterpart here, each by its key."""
    flow, orchestrator = config.get("controlFlow") or {}, config.get("orchestrator") or {}
    known = {"controlFlow", "depthModes", "verification", "orchestrator", "sources"}
    for key in config:
        if key not in known:
            taking.leave(f"config.json {key}: no counterpart")
    for key in ("pauseOnErrors", "webSearch"):
        if flow.get(key):
            taking.leave(f"config.json controlFlow.{key}: no counterpart")
    for key in orchestrator:
        if key not in ("budgetUsd", "enabled"):
            hint = "choose a model with `weft models` or --model" if key == "model" else "no counterpart"
            taking.leave(f"config.json orchestrator.{key}: {hint}")
    for key in ("icon", "type"):
        if front.get(key):
            taking.leave(f"AGENT.md {key}: no counterpart")
    for one in front.get("sources") or ():
        if isinstance(one, dict) and one.get("slug"):
            taking.leave(f"the source {one['slug']}: add it with `weft sources add`")


def _front(text: str) -> dict[str, Any]:
    found = re.match(r"---\s*\n(.*?)\n---", text, re.S)
    try:
        value = YAML(typ="safe", pure=True).load(found[1]) if found else {}
    except Exception as error:  # the reader's own errors are of several families
        raise UserError(f"AGENT.md can't be read: {error}") from error
    return value if isinstance(value, dict) else {}


# -- Craft


def _craft(taking: _Taking) -> None:
    _statuses(taking)
    _labels(taking)
    for source in sorted((taking.origin / "sources").glob("*/config.json")):
        _source(taking, source.parent)
    if (taking.origin / "skills").is_dir():
        taking.copy(taking.origin / "skills", ".claude/skills")
    _permissions(taking, "permissions.json")
    for log in sorted(taking.origin.glob("sessions/*/session.jsonl")):
        _session(taking, log)
    known = {"statuses", "labels", "sources", "skills", "permissions.json", "sessions"}
    for one in sorted(taking.origin.iterdir()):
        if one.name not in known and not one.name.startswith("."):
            taking.leave(f"{one.name}: nothing here reads it")


def _statuses(taking: _Taking) -> None:
    told = taking.json("statuses/config.json")
    entries = [
        {
            "name": _mark(one["id"]),
            "title": str(one.get("label") or one["id"]),
            "closed": one.get("category") == "closed",
        }
        for one in (told or {}).get("statuses", ())
        if one.get("id")
    ]
    if entries:
        taking.put_yaml("statuses.yaml", {"statuses": entries})


def _labels(taking: _Taking) -> None:
    told = taking.json("labels/config.json")
    entries: list[dict[str, Any]] = []

    def walk(labels: Sequence[Mapping[str, Any]]) -> None:
        for one in labels:
            if one.get("id"):
                entries.append(
                    {"name": _mark(one["id"]), "title": str(one.get("name") or one.get("label") or one["id"])}
                )
                if one.get("autoRules"):
                    taking.leave(f"label {one['id']}: its rules that put it on by themselves")
            if one.get("children"):
                taking.leave(f"label {one.get('id')}: labels here have none below them, so they stand beside it")
                walk(one["children"])

    walk((told or {}).get("labels", ()))
    if entries:
        taking.put_yaml("labels.yaml", {"labels": entries})


def _source(taking: _Taking, folder: Path) -> None:
    slug = folder.name
    told = taking.json(f"sources/{slug}/config.json")
    if not isinstance(told, dict):
        return
    if slug_fault(slug):
        taking.leave(f"sources/{slug}: {slug_fault(slug)}")
        return
    made: dict[str, Any] = {"name": told.get("name") or slug, "description": told.get("tagline") or ""}
    made["enabled"] = bool(told.get("enabled", True))
    inner = told.get(str(told.get("type"))) or {}
    match told.get("type"):
        case "mcp":
            made["kind"] = "mcp"
            made |= {key: inner[key] for key in ("url", "command", "args") if inner.get(key)}
            if inner.get("authType") in ("oauth", "bearer"):
                made["auth"] = {"type": inner["authType"]}
            if inner.get("env"):
                taking.leave(
                    f"sources/{slug}: its environment ({', '.join(inner['env'])}); keep secrets with weft secrets"
                )
        case "api":
            made |= {"kind": "api", "url": inner.get("baseUrl") or ""}
            if inner.get("authType") in ("bearer", "header", "query", "basic"):
                auth = {"type": inner["authType"], "header": inner.get("headerName"), "query": inner.get("queryParam")}
                made["auth"] = {key: value for key, value in auth.items() if value}
        case "local":
            made |= {"kind": "folder", "path": inner.get("path") or ""}
        case other:
            taking.leave(f"sources/{slug}: a source of the type {other} is not known here")
            return
    taking.put(f"sources/{slug}/config.json", json.dumps(made, indent=2, ensure_ascii=False).encode() + b"\n")
    if (folder / "guide.md").is_file():
        taking.copy(folder / "guide.md", f"sources/{slug}/guide.md")
    if (folder / "permissions.json").is_file():
        taking.leave(f"sources/{slug}/permissions.json: its patterns; write rules with `weft tools allow`")
    if told.get("isAuthenticated"):
        taking.leave(f"sources/{slug}: its sign-in stays there; weft sources sign-in {slug}")


def _permissions(taking: _Taking, name: str) -> None:
    """Patterns over whole command lines have no counterpart that is as narrow: they are named, not widened."""
    told = taking.json(name)
    if not isinstance(told, dict):
        return
    denied = [{"tool": str(one)} for one in told.get("blockedTools") or ()]
    paths = [{"tool": "Write", "path": str(_pattern(one))} for one in told.get("allowedWritePaths") or ()]
    inside = [one for one in paths if not one["path"].startswith(("/", "~", ".."))]
    found = {"allow": inside, "deny": denied}
    if any(found.values()):
        taking.put_yaml("permissions.yaml", {verb: rules for verb, rules in found.items() if rules})
    for one in paths:
        if one not in inside:
            taking.leave(f"{name} allowedWritePaths {one['path']}: it lies outside the workspace")
    for key in ("allowedBashPatterns", "allowedMcpPatterns", "allowedApiEndpoints"):
        for one in told.get(key) or ():
            taking.leave(f"{name} {key} {json.dumps(_pattern(one))}: write a rule with `weft tools allow`")


def _pattern(entry: Any) -> Any:
    return entry.get("pattern", entry) if isinstance(entry, dict) else entry


def _session(taking: _Taking, log: Path) -> None:
    name = _slug(log.parent.name)
    if not SESSION_ID.match(name):
        taking.leave(f"sessions/{log.parent.name}: can't be the name of a session")
        return
    if taking.app.sessions.exists(name):
        taking.report.kept.append(f"sessions/{name}")
        return
    lines, broken = _lines(log)
    if not lines:
        taking.leave(f"sessions/{log.parent.name}/session.jsonl: nothing in it can be read")
        return
    header, messages = lines[0], lines[1:]
    try:
        with taking.app.sessions.open(name, create=True) as session:
            session.record([SessionCreated(session=name, pipeline="", weft=__version__)], by=IMPORTED)
            session.record([*_described(header), *_conversation(messages)], by=IMPORTED)
    except WeftError as error:
        taking.leave(f"sessions/{log.parent.name}: {error}")
        return
    taking.app.catalogue.follow_up(name)
    taking.report.made.append(f"sessions/{name}")
    said = {str(one.get("role") or one.get("type")) for one in messages} - {"user", "assistant", "tool"}
    if said:
        taking.leave(f"sessions/{log.parent.name}: messages of the kind {', '.join(sorted(said))}")
    if broken:
        taking.leave(f"sessions/{log.parent.name}/session.jsonl: {broken} lines that can't be read")
    for inner in sorted(log.parent.iterdir()):
        if inner.is_dir() and any(inner.iterdir()):
            taking.leave(f"sessions/{log.parent.name}/{inner.name}: files beside the conversation")


def _lines(log: Path) -> tuple[list[dict[str, Any]], int]:
    found, broken = [], 0
    for line in log.read_text("utf-8", "replace").splitlines():
        if not line.strip():
            continue
        try:
            value = json_value(line)
        except ValueError:
            broken += 1
            continue
        if isinstance(value, dict):
            found.append(value)
    return found, broken


def _described(header: Mapping[str, Any]) -> list[DurableEvent]:
    labels = dict(str(one).partition("::")[::2] for one in header.get("labels") or ())
    status = header.get("sessionStatus") or header.get("todoState") or header.get("status")
    return [
        SessionDescribed(
            title=str(header["name"]) if header.get("name") else None,
            status=_mark(status) if status else None,
            labels={_mark(name): value for name, value in labels.items()},
            flag=bool(header.get("isFlagged")) or None,
            archived=bool(header.get("isArchived")) or None,
        )
    ]


def _conversation(messages: Sequence[Mapping[str, Any]]) -> list[DurableEvent]:
    """What was said, what tools were called with what result, and what was answered, turn by turn."""
    events: list[DurableEvent] = [t.ConversationOpened(conversation=t.MAIN)]
    turn, asked = 0, ""
    answers: list[str] = []
    calls: dict[str, CallHadElsewhere] = {}

    def close() -> None:
        nonlocal turn
        if not asked:
            return
        turn += 1
        message = hash_value([turn, asked])[:16]
        answer = "\n\n".join(answers)
        events.extend(turn_had_elsewhere(t.MAIN, turn, message, asked, answer, [*calls.values()]))
        turn += bool(calls)

    for one in messages:
        role, text = one.get("role") or one.get("type"), _text(one.get("content"))
        if role == "user" and text:
            close()
            asked, answers, calls = text, [], {}
        elif role == "tool" and asked and one.get("toolName"):
            made = _call(one, len(calls))
            calls[made.call] = made
        elif role == "assistant" and text and not one.get("isIntermediate"):
            answers.append(text)
    close()
    return [*events, t.IdleReached(conversation=t.MAIN)]


def _call(message: Mapping[str, Any], number: int) -> CallHadElsewhere:
    given, result = message.get("toolInput"), message.get("toolResult")
    text = _text(result) or _text(message.get("content")) or (json.dumps(result) if result else "")
    return CallHadElsewhere(
        call=str(message.get("toolUseId") or f"call-{number + 1}"),
        tool=str(message["toolName"]),
        input=given if isinstance(given, dict) else {},
        result=text if len(text) <= MOST_RESULT else f"{text[:MOST_RESULT]}\n[… {len(text) - MOST_RESULT:,} more]",
        ok=not message.get("isError") and message.get("toolStatus") in (None, "completed", "backgrounded"),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, list):
        return "\n".join(str(one.get("text", "")) for one in content if isinstance(one, dict)).strip()
    return ""


def _mark(name: Any) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", str(name).lower()).strip("-") or "other"
