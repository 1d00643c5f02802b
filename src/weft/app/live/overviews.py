"""What a person can look at from within a session, as Markdown: the same text in a terminal and on a page.

Half of it is known wherever the workspace is open (`look_around`); what belongs to the conversation that is going on is
known where it is held (`look_inside`), and asked for through the door from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.app.live.slash_commands import KnownWords, OverviewName, slash_help
from weft.app.parts import EMBEDDED, Parts
from weft.files import Folder
from weft.protocol.errors import UserError, WeftError

if TYPE_CHECKING:
    from weft.app.live.conversations import SessionConversation
    from weft.conversation.projections import BackgroundEntry, PlanState
    from weft.session.state import SessionState

INSIDE: Final[tuple[OverviewName, ...]] = ("context", "cost", "limits", "plan", "processes", "sources")
COMMANDS: Final = ".claude/commands"
_SESSIONS: Final = 15
_HISTORY_SESSIONS: Final = 40
_HISTORY_MESSAGES: Final = 1000
_HISTORY_EVENTS: Final = 20_000
_LONGEST: Final = 64 * 1024
_RESULT_LINES: Final = 30


def known_words(parts: Parts, working: Path) -> KnownWords:
    """Read anew each time: what was written a moment ago can be used."""
    from weft.tools.skills import Skills

    skills: dict[str, str] = {}
    own: dict[str, str] = {}
    with Folder.open(working) as folder:
        found, _ = Skills([("workspace", parts.workspace.folder), ("project", folder)]).index()
        skills = {skill.name: skill.description for skill in found}
        for place in (parts.workspace.folder, folder):
            own |= dict(_own_commands(place))
    own |= _prompts(parts, working)
    declared = parts.sources().declared(working).sources if parts.may_have_sources(working) else ()
    models = [EMBEDDED, *parts.models().names]
    return KnownWords(
        working=working,
        pipelines=tuple(parts.workspace.pipeline_names()),
        models=tuple(models),
        skills=skills,
        own=own,
        sources=tuple(declared),
    )


def _prompts(parts: Parts, working: Path) -> dict[str, str]:
    """Prompts of sources are commands: /SLUG-PROMPT."""
    if not parts.may_have_sources(working):
        return {}
    sources = parts.sources()
    found: dict[str, str] = {}
    for slug, source in sources.declared(working).sources.items():
        listing = sources.kept.get(source.key).listing
        for prompt in listing.prompts if listing and source.config.enabled and not sources.trouble(source) else ():
            wants = f" Its arguments are: {', '.join(prompt.arguments)}." if prompt.arguments else ""
            text = f"Get the prompt {prompt.name} with {slug}__get_prompt, and do what it says.{wants} $ARGUMENTS"
            found[f"{slug}-{prompt.name}"] = text
    return found


def _own_commands(place: Folder) -> Iterator[tuple[str, str]]:
    try:
        with place.folder(COMMANDS) as commands:
            for name in commands.names():
                data = commands.read_or_none(name) if name.endswith(".md") else None
                if data is not None:
                    yield name.removesuffix(".md"), _body(data[:_LONGEST].decode("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError):
        return


def said_before(parts: Parts) -> list[str]:
    """Messages of the last conversations, the last first, each once. Logs that are very long are passed over."""
    from weft.protocol.conversation_events import MessageAccepted
    from weft.session.index import Filter

    found: list[str] = []
    for entry in parts.catalogue.page(Filter(limit=_HISTORY_SESSIONS)):
        try:
            if entry.seq > _HISTORY_EVENTS:
                continue
            events = [record.event for record in parts.sessions.records(entry.id)]
        except (OSError, WeftError):
            continue
        said = [one.text for one in events if isinstance(one, MessageAccepted) and one.origin == "person"]
        found += reversed(said)
    return list(dict.fromkeys(found))[:_HISTORY_MESSAGES]


def look_around(what: OverviewName, parts: Parts, working: Path) -> str:
    known = known_words(parts, working)
    match what:
        case "help":
            return slash_help(known)
        case "models":
            lines = [f"- {name}{' (the default)' if name == parts.default_model else ''}" for name in known.models]
            return "\n".join([*lines, "", "`/model NAME` or `/model NAME/MODEL` switches; `weft models add` connects."])
        case "pipelines":
            return "\n".join(f"- {_about(parts, name)}" for name in known.pipelines) or "There is no pipeline yet."
        case "skills":
            lines = [f"- `/{name}` {about}" for name, about in known.skills.items()]
            return "\n".join(lines) or "There is no skill yet: `skills/NAME/SKILL.md` makes one."
        case "sessions":
            return _sessions(parts)
    raise UserError(f"{what} is known where the conversation is held")


def run_result(state: SessionState, folder: Path) -> str:
    """What the step that ended last made: the head of its text, and where each file is."""
    done = [one.completion for one in state.steps.values() if one.completion is not None]
    if not done:
        return "No run has made anything here yet."
    names = list(max(reversed(done), key=lambda one: one.at).artifacts)
    text = next((one for one in names if one.endswith(".md")), "")
    lines: list[str] = []
    if text and (path := folder / text).is_file():
        lines = _body(path.read_text("utf-8", "replace")[:_LONGEST]).strip().splitlines()
        if more := len(lines[_RESULT_LINES:]):
            lines = [*lines[:_RESULT_LINES], "", f"*{more} more lines*"]
    return "\n".join([*lines, "", *(f"- {folder / name}" for name in names)])


def _about(parts: Parts, name: str) -> str:
    try:
        return f"`{name}` {parts.workspace.pipeline(name).description}".rstrip()
    except WeftError as error:
        return f"`{name}` can't be read: {error.message}"


def _sessions(parts: Parts) -> str:
    from weft.session.index import Filter

    found = parts.catalogue.page(Filter(limit=_SESSIONS))
    return "\n".join(f"- `{one.id}` {one.title} ({one.state})" for one in found) or "There is no session yet."


async def look_inside(what: OverviewName, talk: SessionConversation) -> str:
    match what:
        case "plan":
            return _plan(await talk.plan())
        case "processes":
            return _processes(await talk.past_processes())
        case "context":
            return _context(talk)
        case "cost":
            spent = talk.spent
            lines = [f"- {spent.calls} model calls, {spent.input:,} tokens read, {spent.output:,} written: {spent}"]
            if spent.cache_read:
                lines.append(f"- {spent.cache_read:,} of the tokens read came from the provider's cache")
            return "\n".join(lines)
        case "limits":
            return _limits(talk.limits)
        case "sources":
            return _sources(talk)
    raise UserError(f"{what} is known wherever the workspace is open")


def _context(talk: SessionConversation) -> str:
    prompt = talk.next_prompt()
    rows = [f"| {name} | {tokens:,} |" for name, tokens in prompt.parts]
    lines = ["| part | tokens, about |", "| --- | ---: |", *rows]
    lines.append(f"| **all of {talk.main_model.name}'s room** | **{prompt.tokens:,}, {prompt.share:.0%}** |")
    if prompt.dropped:
        lines += ["", f"Left out for want of room: {', '.join(prompt.dropped)}."]
    return "\n".join(lines)


def _sources(talk: SessionConversation) -> str:
    box = talk.tools
    lines = []
    for slug, note in box.sources.items():
        said = f"{len(box.of_source(slug))} tools" if note.enabled else "off: only agents that name it have its tools"
        lines.append(f"- `{slug}` {note.trouble or said}")
    if not lines:
        return "There is no source yet: `weft sources add` connects one."
    return "\n".join([*lines, "", "`/sources SLUG on` or `off` switches one for this session."])


def _plan(plan: PlanState | None) -> str:
    if plan is None:
        return "There is no plan yet. `/plan` has one made."
    told = {None: "It waits for your word.", "accepted": "Accepted.", "compacted": "Accepted."}
    lines = [told.get(plan.decision, "You wanted it otherwise."), "", plan.text]
    if plan.steps and plan.decision in ("accepted", "compacted"):
        lines += ["", *(f"- [{'x' if step in plan.done else ' '}] {step}" for step in plan.steps)]
    return "\n".join(lines)


def _processes(each: Mapping[str, BackgroundEntry]) -> str:
    lines = [f"- `{one.process}` {one.reason or 'is running'}: `{one.command}`" for one in each.values()]
    return "\n".join(lines) or "Nothing was started in the background."


def _limits(limits: Sequence[str]) -> str:
    if not limits:
        return "This conversation has no limits. `/limits turns=20 usd=0.5` sets some."
    return "\n".join([*(f"- {one}" for one in limits), "", "`/limits none` takes them away."])


def _body(text: str) -> str:
    from weft.workspace.front_matter import body_of  # with it comes all that reads what people write

    return body_of(text)
