"""The files that pipelines are made of, to look at and to change: pipelines, agents, skills; and what runs took.

A text is checked as if its file said it, before it is saved; it is saved whatever is wrong with it, as an editor would.
"""

from __future__ import annotations

from typing import Final, Literal

from weft.app.parts import Parts
from weft.app.sessions.session_pages import NothingThereError
from weft.app.sessions.session_work import cost_of, tokens_of
from weft.protocol.errors import EditConflictError, Problem, UserError, WeftError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.protocol.ids import NAME
from weft.protocol.values import dataclass
from weft.workspace.document import SIZE_LIMIT

LibraryKind = Literal["pipelines", "agents", "skills"]
_FILES: Final = {
    "pipelines": "pipelines/{}.yaml",
    "agents": ".claude/agents/{}.md",
    "skills": ".claude/skills/{}/SKILL.md",
}
MOST_RUNS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFile:
    """An agent or a skill: what it says, who uses it, what is wrong with it."""

    kind: LibraryKind
    name: str
    description: str
    file: str
    hash: str
    text: str
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    """`pipeline/step` for each step that names it, and the agents that do."""
    problems: tuple[Problem, ...] = ()


def library_text(parts: Parts, kind: LibraryKind, name: str) -> tuple[str, str, str]:
    """A file as it stands: where, its text and its hash. NothingThereError when there is none."""
    file = _file(kind, name)
    data = parts.workspace.folder.read_or_none(file)
    if data is None:
        raise NothingThereError(f"there is no {file} in this workspace", hint="the list has the names there are")
    return file, data.decode("utf-8", "replace"), hash_bytes(data)


def save_library_text(parts: Parts, kind: LibraryKind, name: str, text: str, expected: str) -> str:
    """Write a file; its hash. `expected` is the hash of what was changed, "" for a new file."""
    file, data = _file(kind, name), text.encode()
    if len(data) > SIZE_LIMIT:
        raise UserError(f"{file} would have {len(data):,} bytes; {SIZE_LIMIT:,} are the most")
    now = parts.workspace.folder.read_or_none(file)
    if expected != (hash_bytes(now) if now is not None else ""):
        what = "is not there any more" if now is None else "was changed meanwhile" if expected else "is there already"
        raise EditConflictError(f"{file} {what}", hint="look at what stands there now, and save again")
    parts.workspace.folder.put(file, data)
    return hash_bytes(data)


def library_files(parts: Parts, kind: Literal["agents", "skills"]) -> list[LibraryFile]:
    users = _users(parts)
    names = parts.workspace.agent_names() if kind == "agents" else parts.workspace.skill_names()
    return [_library_file(parts, kind, name, users.get((kind, name), ())) for name in names]


def _library_file(parts: Parts, kind: Literal["agents", "skills"], name: str, used: tuple[str, ...]) -> LibraryFile:
    file, text, digest = library_text(parts, kind, name)
    try:
        if kind == "skills":
            skill = parts.workspace.skill(name)
            return LibraryFile(
                kind=kind, name=name, description=skill.description, file=file, hash=digest, text=text, used_by=used
            )
        agent = parts.workspace.agent(name)
        return LibraryFile(
            kind=kind,
            name=name,
            description=agent.description,
            file=file,
            hash=digest,
            text=text,
            model=agent.model or "",
            tools=agent.tools,
            skills=agent.skills,
            used_by=used,
        )
    except WorkspaceError as error:
        return LibraryFile(
            kind=kind,
            name=name,
            description="",
            file=file,
            hash=digest,
            text=text,
            used_by=used,
            problems=error.problems,
        )


def _users(parts: Parts) -> dict[tuple[str, str], tuple[str, ...]]:
    """Which steps and agents name each agent and skill; of files that can be read."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in parts.workspace.pipeline_names():
        pipeline, _ = parts.workspace.read_pipeline(name)
        for step in pipeline.steps.values() if pipeline else ():
            for kind, used in (("agents", (step.agent,) if step.agent else ()), ("skills", step.skills)):
                for one in used:
                    found.setdefault((kind, one), []).append(f"{name}/{step.name}")
    for name in parts.workspace.agent_names():
        try:
            skills = parts.workspace.agent(name).skills
        except WeftError:
            continue  # what is wrong with it is told where it is listed
        for one in skills:
            found.setdefault(("skills", one), []).append(f"agent {name}")
    return {key: tuple(names) for key, names in found.items()}


def _file(kind: LibraryKind, name: str) -> str:
    if not NAME.match(name):
        raise NothingThereError(
            f"{name[:80]!r} can't be a name", hint="use small letters, digits, '-' and '_', up to 64 characters"
        )
    return _FILES[kind].format(name)


# -- what runs took


@dataclass(frozen=True, slots=True)
class StepTook:
    ms: int
    tokens: int
    usd: float | None
    attempts: int


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """The last run of a session."""

    session: str
    title: str
    outcome: str
    at: str
    ms: int
    usd: float | None
    steps: dict[str, StepTook]


def pipeline_runs(parts: Parts, sessions: list[tuple[str, str]]) -> list[PipelineRun]:
    """Of sessions, each with its title: how their last runs ended and what each step took in them."""
    found = []
    for name, title in sessions[:MOST_RUNS]:
        try:
            reading = parts.sessions.read(name)
        except WeftError:
            continue  # the list says what is wrong with it
        run = reading.state.run
        if run is None:
            continue
        steps = {
            step: StepTook(took.ms, tokens_of(took), cost_of(parts, took), reading.state.step(step).attempt)
            for step, took in run.spent.items()
        }
        costs = [one.usd for one in steps.values()]
        usd = None if None in costs else sum(cost or 0.0 for cost in costs)
        ms = sum(one.ms for one in steps.values())
        found.append(PipelineRun(name, title, reading.status, reading.state.updated_at, ms, usd, steps))
    return found
