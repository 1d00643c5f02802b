"""The doors every face goes through.

    app = App.open(Path("~/.weft").expanduser())
    request = SessionRequest(pipeline="digest", file=Path("article.md"))
    plan = app.plan(request)                                   # what would happen, and why
    async with app.session(request) as session:                # held open here, or attached to whoever holds it
        await session.submit(StartRun())                       # accepted with its place in the log, or refused
        async for item in session.events(after=0): …           # records in order, then what is live
        outcome = await session.rest()                         # "done", "waiting", "failed", …
    for record in app.sessions.records("article-1a2b3c"): …    # the log, also while it is written

root.py   App: opens sessions         live.py      LiveSession: one inbox, one writer, both machines
parts.py  what all is made of         door.py      the session's door to other processes
runs.py   the runs of a session       conversations.py   its conversation
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.protocol.fronts import front

if TYPE_CHECKING:
    from weft.access import BROWSER_DAYS, ME, Access, AccessToken, Browser, Identity, Role, Scope, Share
    from weft.app.building import (
        LibraryDraft,
        TemplateKind,
        build,
        build_here,
        drafted,
        lay_draft,
        lay_new,
        new_files,
        problems_of,
    )
    from weft.app.catalogue import Catalogue
    from weft.app.claim_evaluation import evaluate, evaluate_with, read_labelled
    from weft.app.collection_inputs import which_collection
    from weft.app.collections import Collections, OpenCollection
    from weft.app.describing import declared_marks
    from weft.app.door import AttachedSession
    from weft.app.inquiries import Inquiry, ask_of
    from weft.app.joining import join_shared
    from weft.app.live import LiveSession
    from weft.app.mentions import Mentionable, being_typed, dropped_path, files_named, ranked
    from weft.app.model_settings import MODEL_KINDS, ModelSettings, Offer, TableValue
    from weft.app.notifying import notify_wishes
    from weft.app.opened import OpenedSession, Showing
    from weft.app.packs import DEFAULT_PACK, fetch_bytes, lay, lay_missing, pack_differences, shipped_packs
    from weft.app.parts import RegisteredFunction
    from weft.app.permissions import allow_always, judge_call, tools_listed
    from weft.app.person import person_access, person_consents
    from weft.app.pipeline_pages import LibraryFile, library_files, library_text, pipeline_runs, save_library_text
    from weft.app.profile import (
        PIECE_WORDS,
        PROFILE_FILE,
        TONES,
        VOICES,
        change_profile,
        profile_parts,
        read_profile_file,
        write_profile_file,
    )
    from weft.app.queue import BatchRow, Queue, person_name
    from weft.app.replaying import Replayed, replay
    from weft.app.requests import SessionRequest, read_given
    from weft.app.root import TAKEN_UP, App
    from weft.app.secrets import person_secrets
    from weft.app.session_pages import (
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
    from weft.app.session_work import (
        FILE_NOW,
        OpenQuestions,
        SessionDocument,
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
    from weft.app.shared_files import pull_workspace, push_tree, push_workspace
    from weft.app.sharing import exported, taken_in, would_leave
    from weft.app.slash import (
        Attach,
        Build,
        Export,
        ExportKind,
        Fork,
        KnownWords,
        Leave,
        Overview,
        OverviewName,
        Slash,
        complete,
        read_slash,
        read_slash_elsewhere,
    )
    from weft.app.source_shelf import AddRequest, SourceShelf, wake_waiting
    from weft.app.wire import command_from_wire, item_to_wire, to_wire
    from weft.consent import OWN_WORK, ConsentRequest, Consents, NotAgreedError, earlier
    from weft.documents import MAX_BYTES
    from weft.files import Folder
    from weft.knowledge.ingest import IngestReport
    from weft.models.discovery import ListedModel
    from weft.models.model import ModelError
    from weft.models.probe import Ability, Probe
    from weft.models.spending import Spent
    from weft.protocol.commands import GivenFile, is_address
    from weft.protocol.envelope import PERSON
    from weft.protocol.errors import EditConflictError
    from weft.session.codec import event_fields, record_fields, record_json, to_json
    from weft.session.index import Filter, FoundListing, ListedSession, TextHit
    from weft.session.postgres import open_postgres
    from weft.tools.boundary import boundary_here
    from weft.workspace.pack import LaidFile
    from weft.workspace.pipeline import Pipeline, Step
    from weft.workspace.pipeline_file import pipeline_json_schema
    from weft.workspace.spelling import nearest, suggest
    from weft.workspace.writer_profile import WriterProfile
else:
    __getattr__ = front(
        __name__,
        {
            "Ability": "weft.models.probe",
            "Access": "weft.access",
            "AccessToken": "weft.access",
            "AddRequest": "weft.app.source_shelf",
            "App": "weft.app.root",
            "Attach": "weft.app.slash",
            "Mentionable": "weft.app.mentions",
            "being_typed": "weft.app.mentions",
            "dropped_path": "weft.app.mentions",
            "files_named": "weft.app.mentions",
            "ranked": "weft.app.mentions",
            "TemplateKind": "weft.app.building",
            "LibraryDraft": "weft.app.building",
            "build": "weft.app.building",
            "build_here": "weft.app.building",
            "drafted": "weft.app.building",
            "lay_draft": "weft.app.building",
            "lay_new": "weft.app.building",
            "new_files": "weft.app.building",
            "problems_of": "weft.app.building",
            "Build": "weft.app.slash",
            "notify_wishes": "weft.app.notifying",
            "Replayed": "weft.app.replaying",
            "replay": "weft.app.replaying",
            "AttachedSession": "weft.app.door",
            "BROWSER_DAYS": "weft.access",
            "BatchRow": "weft.app.queue",
            "Browser": "weft.access",
            "Catalogue": "weft.app.catalogue",
            "Collections": "weft.app.collections",
            "ConsentRequest": "weft.consent",
            "Consents": "weft.consent",
            "DEFAULT_PACK": "weft.app.packs",
            "EditConflictError": "weft.protocol.errors",
            "Export": "weft.app.slash",
            "ExportKind": "weft.app.slash",
            "FILE_NOW": "weft.app.session_work",
            "Filter": "weft.session.index",
            "Folder": "weft.files",
            "Fork": "weft.app.slash",
            "FoundListing": "weft.session.index",
            "GivenFile": "weft.protocol.commands",
            "Identity": "weft.access",
            "IngestReport": "weft.knowledge.ingest",
            "Inquiry": "weft.app.inquiries",
            "KnownWords": "weft.app.slash",
            "LaidFile": "weft.workspace.pack",
            "Leave": "weft.app.slash",
            "LibraryFile": "weft.app.pipeline_pages",
            "ListedModel": "weft.models.discovery",
            "ListedSession": "weft.session.index",
            "LiveSession": "weft.app.live",
            "MAX_BYTES": "weft.documents",
            "ME": "weft.access",
            "MODEL_KINDS": "weft.app.model_settings",
            "ModelError": "weft.models.model",
            "ModelSettings": "weft.app.model_settings",
            "NotAgreedError": "weft.consent",
            "NothingThereError": "weft.app.session_pages",
            "OWN_WORK": "weft.consent",
            "Offer": "weft.app.model_settings",
            "OpenCollection": "weft.app.collections",
            "OpenQuestions": "weft.app.session_work",
            "OpenedSession": "weft.app.opened",
            "Overview": "weft.app.slash",
            "OverviewName": "weft.app.slash",
            "PERSON": "weft.protocol.envelope",
            "PIECE_WORDS": "weft.app.profile",
            "PROFILE_FILE": "weft.app.profile",
            "Pipeline": "weft.workspace.pipeline",
            "Probe": "weft.models.probe",
            "Queue": "weft.app.queue",
            "RegisteredFunction": "weft.app.parts",
            "Role": "weft.access",
            "Scope": "weft.access",
            "SessionDocument": "weft.app.session_work",
            "SessionRequest": "weft.app.requests",
            "Share": "weft.access",
            "Showing": "weft.app.opened",
            "Slash": "weft.app.slash",
            "TableValue": "weft.app.model_settings",
            "SourceShelf": "weft.app.source_shelf",
            "Spent": "weft.models.spending",
            "Step": "weft.workspace.pipeline",
            "TAKEN_UP": "weft.app.root",
            "TONES": "weft.app.profile",
            "TextHit": "weft.session.index",
            "VOICES": "weft.app.profile",
            "WriterProfile": "weft.workspace.writer_profile",
            "allow_always": "weft.app.permissions",
            "artifact_bytes": "weft.app.session_work",
            "artifact_versions": "weft.app.session_work",
            "artifacts_now": "weft.app.session_work",
            "attachment_bytes": "weft.app.session_work",
            "attachment_sheets": "weft.app.session_work",
            "ask_of": "weft.app.inquiries",
            "blob_text": "weft.app.session_work",
            "boundary_here": "weft.tools.boundary",
            "change_profile": "weft.app.profile",
            "command_from_wire": "weft.app.wire",
            "complete": "weft.app.slash",
            "declared_marks": "weft.app.describing",
            "earlier": "weft.consent",
            "evaluate": "weft.app.claim_evaluation",
            "evaluate_with": "weft.app.claim_evaluation",
            "event_fields": "weft.session.codec",
            "exported": "weft.app.sharing",
            "fetch_bytes": "weft.app.packs",
            "is_address": "weft.protocol.commands",
            "item_page": "weft.app.session_pages",
            "item_steps": "weft.app.session_pages",
            "item_to_wire": "weft.app.wire",
            "judge_call": "weft.app.permissions",
            "lay": "weft.app.packs",
            "join_shared": "weft.app.joining",
            "lay_missing": "weft.app.packs",
            "library_files": "weft.app.pipeline_pages",
            "library_text": "weft.app.pipeline_pages",
            "open_catalogue": "weft.app.session_pages",
            "open_postgres": "weft.session.postgres",
            "open_questions": "weft.app.session_work",
            "open_sessions": "weft.app.session_pages",
            "original_bytes": "weft.app.session_work",
            "pack_differences": "weft.app.packs",
            "person_access": "weft.app.person",
            "person_consents": "weft.app.person",
            "person_name": "weft.app.queue",
            "person_secrets": "weft.app.secrets",
            "pipeline_json_schema": "weft.workspace.pipeline_file",
            "pipeline_runs": "weft.app.pipeline_pages",
            "place_in": "weft.app.session_work",
            "profile_parts": "weft.app.profile",
            "pull_workspace": "weft.app.shared_files",
            "push_tree": "weft.app.shared_files",
            "push_workspace": "weft.app.shared_files",
            "read_given": "weft.app.requests",
            "read_labelled": "weft.app.claim_evaluation",
            "read_profile_file": "weft.app.profile",
            "read_slash": "weft.app.slash",
            "read_slash_elsewhere": "weft.app.slash",
            "record_fields": "weft.session.codec",
            "record_json": "weft.session.codec",
            "save_edit": "weft.app.session_work",
            "save_library_text": "weft.app.pipeline_pages",
            "session_document": "weft.app.session_work",
            "session_documents": "weft.app.session_work",
            "session_json": "weft.app.session_pages",
            "session_page": "weft.app.session_pages",
            "session_row": "weft.app.session_pages",
            "shipped_packs": "weft.app.packs",
            "step_page": "weft.app.session_pages",
            "steps_now": "weft.app.session_work",
            "nearest": "weft.workspace.spelling",
            "suggest": "weft.workspace.spelling",
            "taken_in": "weft.app.sharing",
            "this_moment": "weft.app.session_pages",
            "to_json": "weft.session.codec",
            "to_wire": "weft.app.wire",
            "tools_listed": "weft.app.permissions",
            "verified": "weft.app.session_pages",
            "which_collection": "weft.app.collection_inputs",
            "wake_waiting": "weft.app.source_shelf",
            "would_leave": "weft.app.sharing",
            "write_profile_file": "weft.app.profile",
        },
    )


def open_workspace(path: str | Path) -> App:
    """The workspace in a folder; close it, or use it with `with`."""
    from weft.app.root import App

    return App.open(Path(path).expanduser().absolute())


def json_line(value: object) -> bytes:
    """A value as a program gets it on standard output."""
    from weft.session.codec import to_json

    return to_json(value) + b"\n"


__all__ = [
    "BROWSER_DAYS",
    "DEFAULT_PACK",
    "FILE_NOW",
    "MAX_BYTES",
    "ME",
    "MODEL_KINDS",
    "OWN_WORK",
    "PERSON",
    "PIECE_WORDS",
    "PROFILE_FILE",
    "TAKEN_UP",
    "TONES",
    "VOICES",
    "Ability",
    "Access",
    "AccessToken",
    "AddRequest",
    "App",
    "Attach",
    "AttachedSession",
    "BatchRow",
    "Browser",
    "Build",
    "Catalogue",
    "Collections",
    "ConsentRequest",
    "Consents",
    "EditConflictError",
    "Export",
    "ExportKind",
    "Filter",
    "Folder",
    "Fork",
    "FoundListing",
    "GivenFile",
    "Identity",
    "IngestReport",
    "Inquiry",
    "KnownWords",
    "LaidFile",
    "Leave",
    "LibraryDraft",
    "LibraryFile",
    "ListedModel",
    "ListedSession",
    "LiveSession",
    "Mentionable",
    "ModelError",
    "ModelSettings",
    "NotAgreedError",
    "NothingThereError",
    "Offer",
    "OpenCollection",
    "OpenQuestions",
    "OpenedSession",
    "Overview",
    "OverviewName",
    "Pipeline",
    "Probe",
    "Queue",
    "RegisteredFunction",
    "Replayed",
    "Role",
    "Scope",
    "SessionDocument",
    "SessionRequest",
    "Share",
    "Showing",
    "Slash",
    "SourceShelf",
    "Spent",
    "Step",
    "TableValue",
    "TemplateKind",
    "TextHit",
    "WriterProfile",
    "allow_always",
    "artifact_bytes",
    "artifact_versions",
    "artifacts_now",
    "ask_of",
    "attachment_bytes",
    "attachment_sheets",
    "being_typed",
    "blob_text",
    "boundary_here",
    "build",
    "build_here",
    "change_profile",
    "command_from_wire",
    "complete",
    "declared_marks",
    "drafted",
    "dropped_path",
    "earlier",
    "evaluate",
    "evaluate_with",
    "event_fields",
    "exported",
    "fetch_bytes",
    "files_named",
    "is_address",
    "item_page",
    "item_steps",
    "item_to_wire",
    "join_shared",
    "json_line",
    "judge_call",
    "lay",
    "lay_draft",
    "lay_missing",
    "lay_new",
    "library_files",
    "library_text",
    "nearest",
    "new_files",
    "notify_wishes",
    "open_catalogue",
    "open_postgres",
    "open_questions",
    "open_sessions",
    "open_workspace",
    "original_bytes",
    "pack_differences",
    "person_access",
    "person_consents",
    "person_name",
    "person_secrets",
    "pipeline_json_schema",
    "pipeline_runs",
    "place_in",
    "problems_of",
    "profile_parts",
    "pull_workspace",
    "push_tree",
    "push_workspace",
    "ranked",
    "read_given",
    "read_labelled",
    "read_profile_file",
    "read_slash",
    "read_slash_elsewhere",
    "record_fields",
    "record_json",
    "replay",
    "save_edit",
    "save_library_text",
    "session_document",
    "session_documents",
    "session_json",
    "session_page",
    "session_row",
    "shipped_packs",
    "step_page",
    "steps_now",
    "suggest",
    "taken_in",
    "this_moment",
    "to_json",
    "to_wire",
    "tools_listed",
    "verified",
    "wake_waiting",
    "which_collection",
    "would_leave",
    "write_profile_file",
]
