"""What can be looked at in a session besides where it stands: every version of its artifacts, each step with why it
is where it is, its documents and places in them. Reading only; the one thing that is written is a person's edit
of an artifact's file, as their editor would."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from weft.app.parts import Parts
from weft.app.sessions.session_pages import NothingThereError, blob_words, step_status
from weft.checks.folding import place_of
from weft.documents import Document, from_content_md
from weft.documents.document import RefusedError
from weft.files import Folder
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import EditConflictError, UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from weft.documents.spreadsheet import Sheet
from weft.session.glance import is_moot
from weft.session.log import LogReader
from weft.session.recovery import kept_copy
from weft.session.state import InputState, SessionState, StepSpending

FILE_NOW: Final = "file"
"""Names what stands in an artifact's file now, whether or not it was accepted."""
_HASH: Final = pattern(r"[0-9a-f]{16,128}")
AROUND: Final = 700
"""Characters of a document that are shown before and after a place in it."""


# -- artifacts

How = Literal["made", "edited", "adopted", "set aside"]


@dataclass(slots=True)
class ArtifactVersion:
    """One version of an artifact; `set aside`: what a person had changed when a new one took its place."""

    seq: int
    at: str
    hash: str
    size: int | None
    step: str
    attempt: int
    run: int
    how: How
    by: Actor
    there: bool
    """Its bytes are still kept."""


@dataclass(frozen=True, slots=True)
class ArtifactName:
    """An artifact as it stands: what was accepted, and whether its file is that."""

    name: str
    hash: str
    """Of the version that was last accepted."""
    step: str
    size: int | None
    """Of its file; null when that is missing."""
    edited: bool
    """Its file is another one: a person changed it."""


def artifacts_now(parts: Parts, session: str) -> list[ArtifactName]:
    state = parts.sessions.read(session).state
    made_by = {
        name: step
        for step, one in state.steps.items()
        for name in (*(one.completion.artifacts if one.completion else ()), *one.accepted)
    }
    found = []
    with parts.sessions.folder(session) as folder:
        for name, known in state.artifacts.items():
            data = folder.read_or_none(name)
            edited = data is not None and hash_bytes(data) != known.hash
            size = None if data is None else len(data)
            found.append(ArtifactName(name, known.hash, made_by.get(name, ""), size, edited))
    return found


def artifact_versions(parts: Parts, session: str, artifact: str) -> list[ArtifactVersion]:
    """In the order in which they came. NothingThereError when there never was one."""
    with parts.sessions.folder(session) as folder:
        found = list(_versions(folder, artifact))
    if not found:
        raise _no_artifact(session, artifact)
    return found


def _versions(folder: Folder, artifact: str) -> list[ArtifactVersion]:
    found: list[ArtifactVersion] = []
    for record in LogReader(folder).read():
        event = record.event
        by = record.envelope.by if record.envelope else MACHINE
        match event:
            case e.ArtifactAccepted() if event.artifact == artifact:
                there = kept_copy(folder, event) is not None
                place = (event.step, event.attempt, event.run)
                found.append(
                    ArtifactVersion(record.seq, record.at, event.hash, event.size, *place, "made", by, there=there)
                )
            case e.ArtifactSetAside() if event.artifact == artifact:
                data = folder.read_or_none(event.kept)
                size = None if data is None else len(data)
                made = ("", 0, 0)
                found.append(
                    ArtifactVersion(
                        record.seq, record.at, event.hash, size, *made, "set aside", by, there=data is not None
                    )
                )
            case e.EditAccepted() | e.StepAdopted() if found and found[-1].step == event.step and not found[-1].run:
                found[-1].how = "edited" if isinstance(event, e.EditAccepted) else "adopted"
            case _:
                pass
    return found


def artifact_bytes(parts: Parts, session: str, artifact: str, version: str = FILE_NOW) -> bytes:
    """A version by its hash; `file` is what stands there now, "" the one that was last accepted. NothingThereError when
    it is not kept."""
    known = parts.sessions.read(session).state.artifacts.get(artifact)
    with parts.sessions.folder(session) as folder:
        wanted = version or (known.hash if known else "")
        now = folder.read_or_none(artifact) if known else None
        if now is not None and (wanted == FILE_NOW or hash_bytes(now) == wanted):
            return now
        for record in LogReader(folder).read():
            data = _copy(folder, record, artifact, wanted)
            if data is not None:
                return data
    if known is None:
        raise _no_artifact(session, artifact)
    what = "its file is missing" if wanted == FILE_NOW else f"the version {wanted[:12]} is not kept"
    raise NothingThereError(f"{artifact} of session {session}: {what}", hint="its versions can be listed")


def _copy(folder: Folder, record: e.Record, artifact: str, wanted: str) -> bytes | None:
    event = record.event
    if not isinstance(event, e.ArtifactAccepted | e.ArtifactSetAside) or (event.artifact, event.hash) != (
        artifact,
        wanted,
    ):
        return None
    if isinstance(event, e.ArtifactAccepted):
        return kept_copy(folder, event)
    data = folder.read_or_none(event.kept)
    return data if data is not None and hash_bytes(data) == wanted else None


def save_edit(parts: Parts, session: str, artifact: str, data: bytes, expected: str) -> str:
    """Write a person's version of an artifact into its file; its hash. `expected` is the hash of what they changed:
    UserError when something else stands there now. It counts once it is accepted."""
    if artifact not in parts.sessions.read(session).state.artifacts:
        raise _no_artifact(session, artifact)
    with parts.sessions.folder(session) as folder:
        now = folder.read_or_none(artifact)
        if expected and (now is None or hash_bytes(now) != expected):
            raise EditConflictError(
                f"{artifact} was changed meanwhile", hint="look at what stands there now, and save again"
            )
        folder.replace(artifact, data)
    return hash_bytes(data)


def _no_artifact(session: str, artifact: str) -> NothingThereError:
    return NothingThereError(
        f"session {session} has no artifact {artifact}", hint="the list of artifacts has their names"
    )


# -- steps


@dataclass(frozen=True, slots=True, kw_only=True)
class StepShort:
    step: str
    status: str
    attempt: int
    artifacts: tuple[str, ...]
    ms: int | None
    problem: str
    requires: tuple[str, ...]
    executor: str
    reason: str
    """Why it was last begun or skipped."""
    usd: float | None
    tokens: int


def steps_now(parts: Parts, session: str) -> list[StepShort]:
    """Every step of the last run, in running order, with why it is where it is and what it took in that run."""
    reading = parts.sessions.read(session)
    state, started, reasons = reading.state, e.RunStarted(run=0, pipeline="", steps=(), desired="", parameters={}), {}
    for record in parts.sessions.records(session):
        match record.event:
            case e.RunStarted():
                started = record.event
            case e.StepsUnfolded():
                names = state.run.steps if state.run else started.steps
                requires = {**started.requires, **record.event.requires}
                executors = {**started.executors, **record.event.executors}
                started = replace(started, steps=names, requires=requires, executors=executors)
            case e.StepStarted() | e.StepSkipped():
                reasons[record.event.step] = record.event.reason
            case _:
                pass
    spent = state.run.spent if state.run else {}
    found = []
    for name in dict.fromkeys([*started.steps, *state.steps]):
        one, took = state.step(name), spent.get(name, StepSpending())
        found.append(
            StepShort(
                step=name,
                status=step_status(reading, name),
                attempt=one.attempt,
                artifacts=tuple(one.completion.artifacts) if one.completion else (),
                ms=one.completion.ms if one.completion else None,
                problem=one.problem,
                requires=tuple(started.requires.get(name, ())),
                executor=started.executors.get(name, ""),
                reason=reasons.get(name, ""),
                usd=cost_of(parts, took),
                tokens=tokens_of(took),
            )
        )
    return found


def cost_of(parts: Parts, took: StepSpending) -> float | None:
    """US dollars; None when a price is not known."""
    costs = [parts.price(model, usage) for model, usage in took.usage.items()]
    known = [cost for cost in costs if cost is not None]
    return float(sum(known)) if len(known) == len(costs) else None


def tokens_of(took: StepSpending) -> int:
    """What models read and wrote."""
    return sum(used.get(kind, 0) for used in took.usage.values() for kind in ("input", "output"))


def blob_text(parts: Parts, session: str, digest: str) -> str:
    """A text that the log names by its hash. NothingThereError when it is not there, or not that text."""
    with parts.sessions.folder(session) as folder:
        text = blob_words(folder, digest) if _HASH.fullmatch(digest) else None
    if text is None:
        raise NothingThereError(f"session {session} keeps no text {digest[:12]}", hint="an event names it by its hash")
    return text


def attachment_bytes(parts: Parts, session: str, name: str) -> bytes:
    """A file that was given with a message, as the log names it under `attachments/`."""
    with parts.sessions.folder(session) as folder:
        data = folder.read_or_none(f"attachments/{name}") if "/" not in name else None
    if data is None:
        raise NothingThereError(f"session {session} has no attachment {name}", hint="a message names those it has")
    return data


def attachment_sheets(parts: Parts, session: str, name: str) -> tuple[Sheet, ...]:
    """The sheets of a workbook that was given with a message."""
    from weft.documents.spreadsheet import read_sheets  # few need it

    try:
        return read_sheets(attachment_bytes(parts, session, name))
    except RefusedError as refusal:
        raise UserError(f"{name} {refusal.what}", hint=refusal.hint) from refusal


# -- what waits


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """What a session waits for, as the log has it."""

    gates: tuple[e.GateOpened, ...]
    approvals: tuple[tuple[t.ToolRequested, t.ApprovalRequested], ...]
    confirmation: e.ConfirmationAsked | None
    plan: t.PlanSubmitted | None = None
    repeated: frozenset[str] = frozenset()
    """Names of calls that several questions of the session were about: a model may call all its calls the same."""

    def name_of(self, asked: t.ApprovalRequested) -> str:
        """What means this question and never another one of the session."""
        whole = f"{asked.conversation}/{asked.turn}/{asked.call}"
        return whole if asked.call in self.repeated else asked.call


def open_questions(parts: Parts, session: str) -> OpenQuestions:
    state = SessionState()
    approvals: dict[tuple[str, str], tuple[t.ToolRequested, t.ApprovalRequested]] = {}
    requested: dict[tuple[str, str], t.ToolRequested] = {}
    about: dict[str, set[tuple[str, int]]] = {}
    plan: t.PlanSubmitted | None = None
    for record in parts.sessions.records(session):
        state.apply(record)
        event = record.event
        match event:
            case t.ToolRequested():
                requested[event.conversation, event.call] = event
            case t.ApprovalRequested() if (event.conversation, event.call) in requested:
                key = (event.conversation, event.call)
                approvals[key] = (requested[key], event)
                about.setdefault(event.call, set()).add((event.conversation, event.turn))
            case t.ApprovalDecided() | t.ToolSettled():
                approvals.pop((event.conversation, event.call), None)
            case t.PlanSubmitted():
                plan = event
            case t.PlanDecided() | t.ConversationRewound():
                plan = None
            case e.StepStarted() | e.StepCompleted() | e.RunEnded():
                approvals = {key: one for key, one in approvals.items() if not is_moot(event, key[0])}
            case _:
                pass
    repeated = frozenset(call for call, places in about.items() if len(places) > 1)
    return OpenQuestions(tuple(state.gates.values()), tuple(approvals.values()), state.confirming, plan, repeated)


# -- documents


@dataclass(frozen=True, slots=True)
class SessionDocument:
    """An input of a session, as its steps read it."""

    input: str
    given: InputState
    document: Document


@dataclass(frozen=True, slots=True)
class PlaceShown:
    """A stretch of a document with what stands around it."""

    start: int
    end: int
    before: str
    found: str
    after: str
    heading: str
    page: int | None
    seconds: float | None
    """When it is said, for what was spoken."""


def session_documents(parts: Parts, session: str) -> list[SessionDocument]:
    """Without those whose copy is gone."""
    state = parts.sessions.read(session).state
    found = []
    with parts.sessions.folder(session) as folder:
        for name, given in state.inputs.items():
            data = folder.read_or_none(given.file)
            if data is not None:
                found.append(SessionDocument(name, given, _document(name, given, data)))
    return found


def session_document(parts: Parts, session: str, name: str) -> SessionDocument:
    found = next((one for one in session_documents(parts, session) if one.input == name), None)
    if found is None:
        raise NothingThereError(f"session {session} has no input {name}", hint="its documents can be listed")
    return found


def original_bytes(parts: Parts, session: str, name: str, file: str = "") -> tuple[str, bytes]:
    """An input as it was given: the file's name and its bytes."""
    given = session_document(parts, session, name).given
    wanted = file or next(iter(given.originals), given.file)
    with parts.sessions.folder(session) as folder:
        data = folder.read_or_none(wanted) if wanted in (given.file, *given.originals) else None
    if data is None:
        raise NothingThereError(f"{name} of session {session} has no file {wanted}", hint="its originals can be listed")
    return wanted.rpartition("/")[2], data


def place_in(one: SessionDocument, *, quote: str = "", start: int = 0, end: int = 0) -> PlaceShown:
    """Where a quote stands, or a stretch from one character to another, with its surroundings."""
    text = one.document.text
    span = place_of(quote, text) if quote else (min(start, len(text)), min(max(start, end), len(text)))
    if span is None:
        raise NothingThereError(f"{one.input} does not say that, word by word", hint="search for fewer words of it")
    first, last = span
    before, after = text[max(0, first - AROUND) : first], text[last : last + AROUND]
    from weft.language.markdown import blocks  # only a page that shows a place reads markdown

    headings = [block.lines[0] for block in blocks(text) if block.kind == "heading" and block.start <= first]
    pages = [number for number, begins in enumerate(one.document.pages, 1) if begins <= first]
    cues = [cue.start for cue in one.document.cues if cue.offset <= last and cue.offset + cue.length >= first]
    return PlaceShown(
        first,
        last,
        before,
        text[first:last],
        after,
        text[slice(*headings[-1])].strip() if headings else "",
        pages[-1] if pages else None,
        cues[0] if cues else None,
    )


def _document(name: str, given: InputState, data: bytes) -> Document:
    if given.file.endswith(".md"):
        return from_content_md(data)
    text = data.decode("utf-8", "replace")
    return Document(kind="text", title=name, text=text, words=len(text.split()))
