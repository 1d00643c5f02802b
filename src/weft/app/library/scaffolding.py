"""Pipelines, agents, skills and sources that do not exist yet: from a template with comments, or drafted by a model.

    new_files("pipeline", "digest")        what `weft new` lays: files that are good as they are, and say what to change
    await build(parts, model, "…")         a draft: asked for, checked, put right until nothing is wrong with it
    lay_draft(parts, draft)                into the workspace, once a person has said yes

A draft is checked as what it would be: laid over a copy of the workspace's library, by the same reader as ever. It has
no code: what runs is agreed to by a person, never brought by a model. What is there already is changed only by what
the diff shows.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from weft.app.parts import EMBEDDED, Parts
from weft.models.model import Model, Request
from weft.models.structured import ask
from weft.protocol.errors import UserError, WeftError, WorkspaceError
from weft.protocol.ids import NAME
from weft.protocol.messages import Message, Text
from weft.protocol.values import dataclass
from weft.sources.config import CONFIGS, check_config
from weft.workspace.document import SourceFile
from weft.workspace.json_document import locate_json, parse_json
from weft.workspace.pipeline_file import pipeline_json_schema
from weft.workspace.workspace import Workspace

TemplateKind = Literal["pipeline", "agent", "skill"]
DraftKind = Literal["pipeline", "agent", "skill", "source"]
ROUNDS: Final = 4
"""Answers of a model until a draft has to be good."""
LIBRARY: Final = ("pipelines", "schemas", "code", ".claude/agents", ".claude/skills")
_ALLOWED: Final = re.compile(
    r"pipelines/[a-z0-9_-]+\.yaml|schemas/[\w.-]+\.json|\.claude/agents/[a-z0-9_-]+\.md|\.claude/skills/[a-z0-9_-]+/SKILL\.md"
    r"|sources/[a-z][a-z0-9-]*/(config\.json|guide\.md)"
)
_ANSWER: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["pipeline", "agent", "skill", "source"]},
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]{1,40}$"},
        "files": {
            "type": "array",
            "minItems": 1,
            "maxItems": 12,
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
                "required": ["path", "text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["kind", "name", "files"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryDraft:
    kind: DraftKind
    name: str
    files: Mapping[str, str]
    """By path below the workspace, what each would say."""
    diff: str
    """What would change."""
    asks: int = 0
    """Answers of the model that it took."""


# -- without a model


def new_files(kind: TemplateKind, name: str) -> dict[str, str]:
    """UserError for what can't be a name."""
    if not NAME.match(name):
        raise UserError(f"{name[:80]!r} can't be a name", hint="use small letters, digits, '-' and '_'")
    return {path.format(name=name): text.replace("NAME", name) for path, text in _TEMPLATES[kind].items()}


def lay_new(parts: Parts, kind: TemplateKind, name: str) -> tuple[str, ...]:
    """A template into the workspace; the paths of its files. Nothing that is there is overwritten."""
    files = new_files(kind, name)
    there = [path for path in files if parts.workspace.folder.exists(path)]
    if there:
        raise UserError(f"{', '.join(there)} is there already", hint="choose another name")
    if problems := problems_of(parts, kind, name, files):
        raise UserError(problems[0])
    lay_draft(parts, drafted(parts, kind, name, files))
    return tuple(files)


_AGENT: Final = """\
---
# `weft chat` and steps of pipelines call it by this name, which is also the file's.
name: NAME
# When it is the right one: a model chooses by this.
description: Reads closely and says what the text says, briefly.
# Without a list it has all tools that are on; steps of pipelines add what they need.
tools: [Read, Glob, Grep]
# skills: [NAME]          what it has read before it begins
# sources: [github]       sources whose tools it may use
# model: strong           a connection, CONNECTION/MODEL, or a role: small, standard, strong
---
Say here how it works, in a few plain sentences: what a good result is, what it never does, what it does when it
does not know. Read the whole text before you write. Say only what it says, and keep its numbers and names as they are.
"""
_TEMPLATES: Final[Mapping[TemplateKind, Mapping[str, str]]] = {
    "agent": {".claude/agents/{name}.md": _AGENT},
    "skill": {
        ".claude/skills/{name}/SKILL.md": """\
---
name: NAME
# Always known to a model; the text below is loaded when this fits.
description: How we write a change note. Use it when something was changed and others have to know.
---
# How to do it

1. Say first what is different for whoever reads it, in one sentence.
2. Then why, and what they have to do now. Nothing else.

Files beside this one can be named here; they are read when they are needed.
"""
    },
    "pipeline": {
        "pipelines/{name}.yaml": """\
name: NAME
# What it makes, in a sentence: `weft pipelines list` shows it.
description: The points of a text with the words they rest on, then a short text made of them.
version: 1
# What a person may set for a run: weft run NAME FILE --set words=300
parameters:
  words: {type: integer, default: 200, minimum: 50, maximum: 2000, description: how long the text may be}
steps:
  # A step makes exactly its artifacts, and is made again when something that it is made from has changed.
  points:
    artifact: points.json
    agent: NAME
    schema: NAME-points.schema.json
    # Tests beyond the schema: here, that every quote stands in the document word for word.
    checks:
      - verbatim: {at: "points[*].quote", in: source}
  text:
    artifact: text.md
    agent: NAME
    # What it is made from besides the document.
    requires: [points]
    # A gate waits here for a person; take the sign away to have one.
    # gate: {message: "Is this the text?"}
    final: true
""",
        "schemas/{name}-points.schema.json": json.dumps(
            {
                "type": "object",
                "properties": {
                    "points": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {"point": {"type": "string"}, "quote": {"type": "string"}},
                            "required": ["point", "quote"],
                            "additionalProperties": False,
                        },
                    }
                },
                "required": ["points"],
                "additionalProperties": False,
            },
            indent=2,
        )
        + "\n",
        ".claude/agents/{name}.md": _AGENT,
    },
}


# -- checked and laid


def problems_of(parts: Parts, kind: DraftKind, name: str, files: Mapping[str, str]) -> list[str]:
    """What would be wrong if these files were in the workspace."""
    odd = [path for path in files if not _ALLOWED.fullmatch(path)]
    if odd:
        return [
            f"{path}: only pipelines, schemas, agents, skills and sources can be drafted, never code" for path in odd
        ]
    with tempfile.TemporaryDirectory(prefix="weft-draft-") as place:
        copy = Path(place)
        for folder in LIBRARY:
            if (parts.workspace.path / folder).is_dir():
                shutil.copytree(parts.workspace.path / folder, copy / folder, dirs_exist_ok=True)
        for path, text in files.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_text(text)
        with Workspace.open(copy) as workspace:
            return _problems(workspace, kind, name, files)


def _problems(workspace: Workspace, kind: DraftKind, name: str, files: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    if kind == "pipeline":
        if name not in workspace.pipeline_names():
            return [f"pipelines/{name}.yaml is missing"]
        found += map(str, workspace.check_pipeline(name))
    if kind == "source" and f"sources/{name}/config.json" not in files:
        return [f"sources/{name}/config.json is missing"]
    for path in files:
        parts = Path(path).parts
        try:
            if path.startswith(".claude/agents/"):
                workspace.agent(Path(path).stem)
            elif path.startswith(".claude/skills/"):
                workspace.skill(parts[2])
            elif path.endswith("/config.json"):
                found += _source_problems(path, files[path])
        except WorkspaceError as error:
            found += map(str, error.problems)
    return list(dict.fromkeys(found))


def _source_problems(path: str, text: str) -> list[str]:
    source = SourceFile(path, text.encode(), text)
    return [str(one) for one in check_config(locate_json(source, parse_json(source))).problems]


def drafted(parts: Parts, kind: DraftKind, name: str, files: Mapping[str, str], asks: int = 0) -> LibraryDraft:
    """With what would change. UserError when nothing would."""
    pieces: list[str] = []
    for path, text in sorted(files.items()):
        data = parts.workspace.folder.read_or_none(path)
        before = data.decode("utf-8", "replace") if data is not None else ""
        source = path if data is not None else "/dev/null"
        pieces += difflib.unified_diff(before.splitlines(), text.splitlines(), source, path, lineterm="")
    if not pieces:
        raise UserError(f"the {kind} {name} is there already, in the same words")
    return LibraryDraft(kind=kind, name=name, files=dict(files), diff="\n".join(pieces) + "\n", asks=asks)


def lay_draft(parts: Parts, draft: LibraryDraft) -> None:
    for path, text in draft.files.items():
        parts.workspace.folder.put(path, text.encode())


# -- by a model


async def build_here(
    parts: Parts, name: str | None, words: str, tell: Callable[[str], None] = lambda _: None
) -> LibraryDraft:
    """By the model of that name, else the workspace's. UserError when that can't draft."""
    chosen, models = name or parts.default_model, parts.step_models()
    if chosen == EMBEDDED:
        raise UserError("the embedded model can't draft", hint="connect one with `weft models add`, or use `weft new`")
    try:
        return await build(parts, models.open(chosen), words, tell)
    finally:
        await models.aclose()


async def build(parts: Parts, model: Model, words: str, tell: Callable[[str], None] = lambda _: None) -> LibraryDraft:
    """UserError, with what is still wrong, when the model can't make a good one. `tell` hears each try as it begins."""
    if not words.strip():
        raise UserError(
            "what is to be built?", hint='for example: weft build "a pipeline that finds dates in a letter"'
        )
    request = Request(system=_system(parts), messages=(_said(words),))
    problems: list[str] = []
    for number in range(1, ROUNDS + 1):
        wrong = f", put right: {problems[0]}" if problems else ""
        tell(f"{model.name} drafts it (try {number} of {ROUNDS}{wrong})")
        answer = await ask(model, request, _ANSWER, artifact="draft")
        value = answer.value
        files = {str(one["path"]).removeprefix("./"): str(one["text"]) for one in value["files"]}
        kind: DraftKind = value["kind"]
        try:
            problems = problems_of(parts, kind, value["name"], files)
        except (WeftError, OSError) as error:
            problems = [str(error)]
        if not problems:
            return drafted(parts, kind, value["name"], files, number)
        told = "This can't be used yet:\n" + "\n".join(f"- {one}" for one in problems[:20])
        said = Message(role="assistant", content=(Text(text=json.dumps(value, ensure_ascii=False)),))
        again = _said(f"{told}\nGive all files again, with this put right.")
        request = Request(system=request.system, messages=(*request.messages[:1], said, again))
    raise UserError(
        f"{model.name} did not make a good one in {ROUNDS} tries; the last has: {'; '.join(problems[:3])}",
        hint="say it more simply, or begin with `weft new`",
    )


def _source_schemas() -> str:
    return json.dumps({kind: model.model_json_schema() for kind, model in CONFIGS.items()}, ensure_ascii=False)


def _said(text: str) -> Message:
    return Message(role="user", content=(Text(text=text),))


def _system(parts: Parts) -> str:
    workspace = parts.workspace
    example = "\n\n".join(f"### {path}\n{text}" for path, text in new_files("pipeline", "example").items())
    library = {
        "pipelines": workspace.pipeline_names(),
        "agents": workspace.agent_names(),
        "skills": workspace.skill_names(),
    }
    schema = json.dumps(pipeline_json_schema(), ensure_ascii=False)
    return (
        "You draft a pipeline, an agent, a skill or a source for Weft from a person's words. Answer with its files, "
        "each whole. Paths are pipelines/NAME.yaml, schemas/NAME.schema.json, .claude/agents/NAME.md, "
        ".claude/skills/NAME/SKILL.md, sources/NAME/config.json and sources/NAME/guide.md; no other, and no code. Use "
        "agents and skills that exist where they fit; every agent and schema that a step names must exist or be among "
        "your files. Keep it small: as few steps as the work needs, checks where code can test what a model says, a "
        "gate only where a person must decide.\n\n"
        f"# What exists\n{json.dumps(library, ensure_ascii=False)}\n\n# A complete pipeline\n{example}\n\n"
        f"# The schema of a pipeline file\n{schema}\n\n"
        "# A source: tools from an MCP server, an HTTP API, a folder or a search of the web. It holds no secret, only "
        f"where one is (env:NAME or secret:NAME). The schemas of its config.json by kind\n{_source_schemas()}"
    )
