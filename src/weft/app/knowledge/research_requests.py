"""A question to a collection as something that can be run: which session it has, and the inputs it is run with.

The same question to the same collection leads to the same session, and what is finished there is not done again until
the collection changes. A follow-up has a session of its own, with the earlier answer as an input: nothing is
overwritten, and the earlier answer can still be read as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.app.knowledge.collection_inputs import ANSWER, COLLECTION, collection_now, followed
from weft.app.root import App
from weft.app.session_requests import SessionRequest
from weft.documents import read_document
from weft.knowledge.embedding import Unavailable
from weft.knowledge.knowledge_base import collection_names, open_collection
from weft.knowledge.research.calibrate import pages_text
from weft.knowledge.research.earlier import read_earlier
from weft.knowledge.research.question import terms_of, tidy
from weft.protocol.commands import GivenFile
from weft.protocol.errors import UsageError, UserError, WeftError
from weft.protocol.ids import check_session_id, session_id_for
from weft.protocol.values import dataclass
from weft.session.session import no_session
from weft.workspace.pipeline import EARLIER


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    question: str
    collection: str
    pipeline: str = "research"
    session: str | None = None
    follows: str | None = None
    """The session whose answer this question goes on from."""
    pages: Sequence[GivenFile] = ()
    """Pages of the web to use beside the collection, as they were fetched."""
    new: bool = False


def altered_passages(app: App) -> dict[str, list[str] | WeftError]:
    """By collection, the passages whose text is not the one that was filed; or why it can't be read."""
    found: dict[str, list[str] | WeftError] = {}
    for name in collection_names(app.workspace.folder):
        try:
            with open_collection(app.workspace.folder, name, Unavailable("not asked")) as knowledge:
                found[name] = [f"{ref} of {file}" for file, ref in knowledge.store.altered()]
        except WeftError as error:
            found[name] = error
    return found


def ask_of(app: App, inquiry: Inquiry) -> SessionRequest:
    """UserError when there is nothing to ask, or nothing to follow."""
    question = tidy(inquiry.question)
    if not terms_of(question) and not any(letter.isalnum() for letter in question):
        raise UsageError("there is no question", hint='weft ask "what do you want to know?"')
    inputs = {
        "question": GivenFile(f"{question}\n".encode()),
        COLLECTION: collection_now(app, inquiry.collection),
    }
    if inquiry.pages:
        inputs["pages"] = GivenFile(pages_text([_page(page) for page in inquiry.pages]).encode())
    if inquiry.follows:
        inputs[EARLIER] = _earlier(app, inquiry.follows)
    return SessionRequest(pipeline=inquiry.pipeline, inputs=inputs, session=_session(app, inquiry, question))


def _session(app: App, inquiry: Inquiry, question: str) -> str:
    if inquiry.session:
        return check_session_id(inquiry.session)
    origin = "\0".join([inquiry.collection, question, inquiry.follows or ""])
    number = 1
    while True:
        name = session_id_for(inquiry.pipeline, origin, f"{inquiry.pipeline}-{question}", number)
        if not inquiry.new or not app.sessions.exists(name):
            return name
        number += 1


def _earlier(app: App, session: str) -> GivenFile:
    name = check_session_id(session)
    if not app.sessions.exists(name):
        raise no_session(name, app.sessions.ids())
    with app.sessions.folder(name) as folder:
        data = folder.read_or_none(ANSWER)
    if data is None:
        raise UserError(f"session {name} has no answer yet", hint=f"finish it first: weft run --session-id {name}")
    return followed(read_earlier(data.decode("utf-8", "replace")) or {}, name)


def _page(page: GivenFile) -> dict[str, Any]:
    document = read_document(page.data, page.name)
    return {"url": page.origin, "title": document.title, "text": document.text}
