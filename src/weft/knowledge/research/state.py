"""What a collection was when it was asked: the text that stands for it as an input, so that a change re-runs research.

The text is plain and short, since it is kept in the session: whoever reads an answer sees which documents, in which
version (by hash), it was made from.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weft.knowledge.embedding import MODEL
from weft.knowledge.ingest import find_documents
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.vectors import missing
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_value
from weft.protocol.json_text import json_value


def collection_state(knowledge: KnowledgeBase) -> str:
    """As JSON. UserError for a collection with nothing in it: every question would end in nothing found."""
    documents = knowledge.store.documents()
    if not documents:
        raise UserError(
            f"the collection {knowledge.name} has no documents yet", hint=f"weft kb add {knowledge.name} FILE..."
        )
    state: dict[str, Any] = {
        "name": knowledge.name,
        "title": knowledge.collection.title,
        "declaration": hash_value([knowledge.collection.shape, knowledge.collection.acronyms]),
        "vectors": {"model": MODEL, "missing": missing(knowledge.store, MODEL)},
        "documents": [
            {"file": one.file, "key": one.key, "title": one.title, "hash": one.hash, "passages": one.passages}
            for one in documents
        ],
    }
    return json.dumps(state, ensure_ascii=False, indent=1) + "\n"


def document_links(knowledge: KnowledgeBase, session: Path) -> dict[str, str]:
    """The way from a session's folder to every document of the collection, as an address that moves with the workspace;
    an absolute one for documents that are kept elsewhere."""
    found: dict[str, str] = {}
    workspace = knowledge.folder.path.parent.parent
    for file, path in find_documents(knowledge.folder, knowledge.collection).documents.items():
        inside = path.is_relative_to(workspace)
        found[file] = quote(os.path.relpath(path, session)) if inside else path.as_uri()
    return found


def read_state(text: str) -> dict[str, Any]:
    try:
        state = json_value(text)
        return {**state, "name": str(state["name"]), "title": str(state["title"])}
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(
            "the input `collection` is not the state of a collection", hint="weft research QUESTION --kb NAME makes it"
        ) from error
