"""EPUB: the chapters in the order of the book's spine, each as a page, and what the book says of itself."""

from __future__ import annotations

import posixpath
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element as Xml

from weft.documents.archive import Archive
from weft.documents.characters import one_line
from weft.documents.document import MAX_TEXT, Draft, RefusedError, counted
from weft.documents.docx_styles import inside, local
from weft.documents.encodings import decode
from weft.documents.kinds import declared_charset
from weft.documents.markdown import to_markdown
from weft.documents.markup import parse_html
from weft.documents.xml_part import parse_xml

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_DAMAGED: Final = "Get it again, or open it in a reader of books and export it anew"
_FIELDS: Final = (("title", "title"), ("creator", "author"), ("language", "language"), ("date", "published"))
_OTHERS: Final = ("publisher", "subject", "description", "rights", "identifier", "contributor")


def is_epub(archive: Archive) -> bool:
    return _CONTAINER in archive or (
        "mimetype" in archive and archive.read("mimetype").strip() == b"application/epub+zip"
    )


def read_epub(archive: Archive) -> Draft:
    package_name = _package_name(archive)
    package = parse_xml(archive.read(package_name), package_name)
    chapters = _spine(package, posixpath.dirname(package_name))
    _refuse_protected(archive, chapters)
    draft = Draft(kind="epub", text="")
    _describe(draft, inside(package, "metadata"))
    texts: list[str] = []
    missing = length = 0
    for name in chapters:
        if name not in archive:
            missing += 1
            continue
        data = archive.read(name)
        page = parse_html(decode(data, declared_charset(data)).text, xml=True)
        texts.append(to_markdown(page.first("body") or page))
        length += len(texts[-1])
        if length > MAX_TEXT:
            raise RefusedError(f"holds more than {MAX_TEXT:,} characters of text", "Split it into parts")
    if missing:
        draft.notes.append(f"{counted(missing, 'chapter')} missing from the book")
    draft.text = "\n\n".join(filter(None, texts))
    if not draft.text.strip():
        raise RefusedError("is a book without text", "It may hold only pictures, or chapters that are missing")
    return draft


def _package_name(archive: Archive) -> str:
    if _CONTAINER in archive:
        for element in parse_xml(archive.read(_CONTAINER), _CONTAINER).iter():
            name = _resolved("", element.get("full-path", "")) if local(element) == "rootfile" else ""
            if name in archive:
                return name
    found = sorted(name for name in archive.entries if name.lower().endswith(".opf"))
    if not found:
        raise RefusedError("is an EPUB without a package file", _DAMAGED)
    return found[0]


def _spine(package: Xml, folder: str) -> list[str]:
    manifest, spine = inside(package, "manifest"), inside(package, "spine")
    items = {item.get("id", ""): item for item in manifest if local(item) == "item"} if manifest is not None else {}
    order = [items[ref.get("idref", "")] for ref in spine if ref.get("idref", "") in items] if spine is not None else []
    if not order:
        order = [item for item in items.values() if item.get("media-type") in _PAGES]
    pages = (item for item in order if "nav" not in item.get("properties", "").split())
    return list(dict.fromkeys(filter(None, (_resolved(folder, item.get("href", "")) for item in pages))))


def _resolved(folder: str, address: str) -> str:
    """The name of an entry; "" for one that would lead out of the book."""
    path = unquote(address.split("#")[0].split("?")[0])
    if not path or "://" in path or "\0" in path:
        return ""
    name = posixpath.normpath(posixpath.join(folder, path))
    return "" if name.startswith(("..", "/")) else name


def _refuse_protected(archive: Archive, chapters: list[str]) -> None:
    if _ENCRYPTION not in archive:
        return
    names = {
        _resolved("", element.get("URI", ""))
        for element in parse_xml(archive.read(_ENCRYPTION), _ENCRYPTION).iter()
        if local(element) == "CipherReference"
    }
    if names.intersection(chapters):
        raise RefusedError("is a protected book (DRM): its chapters are encrypted", "Give a copy without protection")


def _describe(draft: Draft, metadata: Xml | None) -> None:
    names = dict(_FIELDS)
    for child in metadata if metadata is not None else ():
        name, text = local(child), one_line(child.text or "", 2_000)
        if not text:
            continue
        if name == "creator" and draft.author:
            draft.author += f", {text}"
        elif name in names:
            setattr(draft, names[name], getattr(draft, names[name]) or text)
        elif name in _OTHERS:
            draft.extra.setdefault(name, text)
