"""From a document to its passages: the structure it has, its pieces, long ones in parts, every ref and id once."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from weft.documents import Document
from weft.documents.links import file_and_anchor, markdown_links
from weft.knowledge.code_and_tables import code_pieces, is_other
from weft.knowledge.collection import Collection, Structure, Tier
from weft.knowledge.numbered import ENOUGH, Piece, has_articles, has_numbered_paragraphs, numbered_pieces
from weft.knowledge.passage import CutDocument, Passage
from weft.knowledge.place import CitedPlace, passage_id
from weft.knowledge.sections import Heading, heading_lines, numbered_title, section_pieces
from weft.knowledge.splitting import spans
from weft.protocol.hashes import hash_value
from weft.protocol.ids import slug

LEAD_LIMIT: Final = 400


CUT: Final = 6
"""How documents are read and cut; when it grows, those of older indexes are cut anew."""


def content_key(data_hash: str, file: str, collection: Collection) -> str:
    """What a document's entry in the index was made of. While it is the same, there is nothing to do."""
    return hash_value([data_hash, file, collection.shape, CUT])


def cut_document(document: Document, file: str, key: str, collection: Collection) -> CutDocument:
    entry = collection.entry_of(file)
    tier = collection.tier_of(file)
    structure = collection.structure_of(tier)
    ignored = [re.compile(pattern) for pattern in collection.ignore_lines]
    name = collection.aliases.get(entry.key, entry.key)
    if is_other(file):
        pieces = code_pieces(document.text, name, file)
    else:
        pieces = pieces_of(document.text, name, structure, tier, ignored)
    if document.kind == "markdown":
        links, anchors = markdown_links(document.text)
        document = replace(document, links=links, anchors=anchors)
    return CutDocument(
        file=file,
        hash=key,
        key=name,
        title=entry.title or document.title,
        tier=tier,
        version=entry.version,
        effective_date=entry.effective_date,
        kind=document.kind,
        pages=len(document.pages),
        notes=document.notes,
        passages=tuple(_passages(document, file, name, pieces, collection, ignored)),
    )


def pieces_of(
    text: str, document: str, structure: Structure, tier: Tier, ignored: Sequence[re.Pattern[str]] = ()
) -> list[Piece]:
    headings = heading_lines(text, ignored) if structure not in ("paragraphs", "articles") else []
    if structure == "auto":
        structure = detect(text, tier, headings, ignored)
    if structure in ("paragraphs", "articles"):
        return numbered_pieces(text, document, ignored, articles=structure == "articles")
    return section_pieces(text, document, headings, numbered=structure == "sections")


def detect(text: str, tier: Tier, headings: Sequence[Heading], ignored: Sequence[re.Pattern[str]] = ()) -> Structure:
    """A standard is cut by its numbers, where most of it has them; a guide by its headings: its numbers are lists."""
    if sum(bool(numbered_title(title)) for _, _, _, title in headings) >= ENOUGH:
        return "sections"
    if tier == "standards":
        if has_articles(text, ignored):
            return "articles"
        if has_numbered_paragraphs(text, ignored):
            return "paragraphs"
    return "headings"


def _passages(
    document: Document,
    file: str,
    key: str,
    pieces: Sequence[Piece],
    collection: Collection,
    ignored: Sequence[re.Pattern[str]],
) -> Iterator[Passage]:
    seen: Counter[str] = Counter()
    anchors = sorted((at, name) for name, at in document.anchors.items())
    for piece in pieces:
        ref = _ref(piece)
        seen[ref] += 1
        if seen[ref] > 1:
            ref = f"{ref}~{seen[ref]}"
        text = document.text[piece.start : piece.end]
        lead = _shown(document.text[slice(*piece.lead)], ignored)[:LEAD_LIMIT] if piece.lead else ""
        for part, (start, end) in enumerate(spans(text), start=1):
            content = _shown(text[start:end], ignored)
            if not content:
                continue
            named = ref if part == 1 else f"{ref}_part{part}"
            at = piece.start + start
            # An anchor stands before the heading that it names, which is no part of the passage's own text.
            named_here = anchors[: bisect_left(anchors, (piece.start + end, ""))]
            anchors = anchors[len(named_here) :]
            yield Passage(
                id=passage_id(file, named),
                ref=named,
                place=piece.place,
                content=content,
                heading=piece.heading,
                lead=lead,
                start=at,
                end=piece.start + end,
                page=bisect_right(document.pages, at) if document.pages else 0,
                mentions=_mentions(content, key, piece.place, collection),
                links=tuple(_links(document, file, at, piece.start + end)),
                anchors=tuple(name for _, name in named_here),
            )


def _ref(piece: Piece) -> str:
    if piece.place.paragraph or piece.place.application:
        return piece.place.ref
    return f"{piece.place.document}#{slug(piece.title, 60) or 'text'}"


def _shown(text: str, ignored: Sequence[re.Pattern[str]]) -> str:
    if not ignored:
        return text.strip()
    return "\n".join(line for line in text.split("\n") if not any(p.search(line) for p in ignored)).strip()


def _links(document: Document, file: str, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    for link in document.links:
        if start <= link.start < end:
            target, anchor = file_and_anchor(link.target)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target)) if target else file
            yield link.text, path, anchor


def _mentions(content: str, key: str, own: CitedPlace, collection: Collection) -> tuple[tuple[str, CitedPlace], ...]:
    found = {
        reference.place: reference.text
        for reference in collection.grammar.find(content, key)
        if reference.place.stored() != own.stored()
    }
    return tuple((text, place) for place, text in found.items())
