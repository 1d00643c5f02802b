"""The doors every face goes through.

    app = App.open(Path("~/.weft").expanduser())
    request = SessionRequest(pipeline="digest", file=Path("article.md"))
    plan = app.plan(request)                                   # what would happen, and why
    async with app.session(request) as session:                # held open here, or attached to whoever holds it
        await session.submit(StartRun())                       # accepted with its place in the log, or refused
        async for item in session.events(after=0): …           # records in order, then what is live
        outcome = await session.rest()                         # "done", "waiting", "failed", …
    for record in app.sessions.records("article-1a2b3c"): …    # the log, also while it is written

root.py       `App`: the composition root         parts.py     what all is made of
live/         one session held open: its door, its run, its conversation
sessions/     looked at, offered as tools, exported, replayed, counted
library/      what people write or bring          knowledge/   collections, and questions to them
connections/  models, sources, secrets            schedules/   what begins by itself
fleet/        several machines on one workspace
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.protocol.fronts import front

if TYPE_CHECKING:
    from weft.access import BROWSER_DAYS, ME, Access, Identity, Role, Scope
    from weft.app.connections.model_settings import MODEL_KINDS, ModelRow, ModelSettings, Offer, TableValue
    from weft.app.connections.secrets import person_secrets
    from weft.app.connections.source_settings import AddRequest, SourceSettings, wake_waiting
    from weft.app.fleet.queue import BatchRow, Queue, person_name
    from weft.app.fleet.shared_address import join_shared
    from weft.app.fleet.shared_files import pull_workspace, push_tree, push_workspace
    from weft.app.knowledge.claim_evaluation import evaluate, evaluate_with, read_labelled
    from weft.app.knowledge.collections import CollectionRow, Collections, OpenCollection
    from weft.app.knowledge.research_requests import Inquiry, ask_of
    from weft.app.library.estimates import Estimate
    from weft.app.library.packs import DEFAULT_PACK, fetch_bytes, lay, lay_missing, pack_differences, shipped_packs
    from weft.app.library.permissions import allow_always, judge_call, tools_listed
    from weft.app.library.pipeline_pages import (
        LibraryFile,
        PipelineRun,
        library_files,
        library_text,
        pipeline_runs,
        save_library_text,
    )
    from weft.app.library.profile import (
        PIECE_WORDS,
        PROFILE_FILE,
        TONES,
        VOICES,
        change_profile,
        profile_parts,
        read_profile_file,
        write_profile_file,
    )
    from weft.app.library.scaffolding import LibraryDraft, TemplateKind, build_here, lay_draft, lay_new
    from weft.app.live.command_keys import another
    from weft.app.live.door import AttachedSession
    from weft.app.live.door_messages import command_from_wire, item_to_wire, to_wire
    from weft.app.live.live_session import LiveSession
    from weft.app.live.mentions import Mentionable, being_typed, dropped_path, files_named, ranked
    from weft.app.live.notifications import notify_wishes
    from weft.app.live.opened_session import OpenedSession, Showing
    from weft.app.live.session_description import declared_marks
    from weft.app.live.slash_commands import (
        Attach,
        Build,
        Export,
        ExportKind,
        Fork,
        KnownWords,
        Leave,
        Overview,
        Slash,
        complete,
        read_slash,
        read_slash_elsewhere,
    )
    from weft.app.parts import RegisteredFunction
    from weft.app.person import person_access, person_consents
    from weft.app.root import TAKEN_UP, App, Awaited
    from weft.app.session_requests import SessionRequest, check_named
    from weft.app.sessions.session_export import LeavingShown, exported, taken_in, would_leave
    from weft.app.sessions.session_pages import (
        NothingThereError,
        item_page,
        item_steps,
        open_catalogue,
        open_sessions,
        session_json,
        session_page,
        session_row,
        step_page,
        this_moment,
        verified,
    )
    from weft.app.sessions.session_replay import replay
    from weft.app.sessions.session_work import (
        FILE_NOW,
        ArtifactName,
        OpenQuestions,
        PlaceShown,
        SessionDocument,
        StepShort,
        artifact_bytes,
        artifact_versions,
        artifacts_now,
        attachment_bytes,
        attachment_sheets,
        blob_text,
        open_questions,
        original_bytes,
        place_in,
        save_edit,
        session_document,
        session_documents,
        steps_now,
    )
    from weft.consent import OWN_WORK, ConsentRequest, Consents, earlier
    from weft.documents import MAX_BYTES
    from weft.documents.spreadsheet import Sheet
    from weft.files import Folder
    from weft.knowledge.ingest import IngestReport
    from weft.models.discovery import ListedModel
    from weft.models.model import ModelError
    from weft.models.probe import Ability, Probe
    from weft.models.spending import Spent
    from weft.orchestrator.overruling import ClaimOnRecord
    from weft.protocol.commands import GivenFile, is_address
    from weft.protocol.errors import EditConflictError
    from weft.session.codec import event_fields, record_fields, record_json, to_json
    from weft.session.index import Filter, FoundListing, ListedSession, TextHit
    from weft.session.postgres import open_postgres
    from weft.session.sessions import TrashedSession
    from weft.tools.boundary import boundary_here
    from weft.workspace.marks_file import LabelEntry, StatusEntry
    from weft.workspace.pack import LaidFile
    from weft.workspace.pipeline import Pipeline, Step
    from weft.workspace.pipeline_file import pipeline_json_schema
    from weft.workspace.spelling import nearest, suggest
    from weft.workspace.writer_profile import WriterProfile
else:
    __getattr__ = front(__name__)


def open_workspace(path: str | Path) -> App:
    """The workspace in a folder; close it, or use it with `with`."""
    from weft.app.root import App

    return App.open(Path(path).expanduser().absolute())
