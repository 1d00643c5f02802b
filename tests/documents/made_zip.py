"""Real DOCX and EPUB files, made entry by entry."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)
STYLES = f"""<?xml version="1.0"?><w:styles {W}>
<w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault></w:docDefaults>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My section"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="Cited"><w:name w:val="Intense Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Dots"><w:name w:val="List Bullet"/>
<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>"""
NUMBERING = f"""<?xml version="1.0"?><w:numbering {W}>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
</w:numbering>"""
CORE = (
    '<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>The core title</dc:title><dc:creator>Ida Brandt</dc:creator><cp:keywords>tides, moon</cp:keywords>"
    "<dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"
)
CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def archive(entries: Mapping[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, body in entries.items():
            file.writestr(name, body, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def paragraph(text: str, style: str = "", *, properties: str = "", runs: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{runs or f'<w:r><w:t>{text}</w:t></w:r>'}</w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    return paragraph(text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def docx(body: str, parts: Mapping[str, str] | None = None, *, styles: str = STYLES) -> bytes:
    document = f'<?xml version="1.0" encoding="UTF-8"?><w:document {W}><w:body>{body}<w:sectPr/></w:body></w:document>'
    return archive(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": RELATIONS,
            "word/document.xml": document,
            "word/styles.xml": styles,
            "word/numbering.xml": NUMBERING,
            **(parts or {}),
        }
    )


def package(
    chapters: Mapping[str, str],
    *,
    metadata: str = "",
    spine: tuple[str, ...] = (),
    properties: Mapping[str, str] | None = None,
) -> str:
    """The package file of a book: `chapters` from id to address, in the order of the manifest."""
    items = "".join(
        f'<item id="{key}" href="{address}" media-type="application/xhtml+xml"'
        + (f' properties="{properties[key]}"' if properties and key in properties else "")
        + "/>"
        for key, address in chapters.items()
    )
    refs = "".join(f'<itemref idref="{key}"/>' for key in (spine or tuple(chapters)))
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"{metadata}</metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"
    )


def epub(opf: str, files: Mapping[str, str | bytes]) -> bytes:
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/content.opf": opf,
            **files,
        },
        stored=("mimetype",),
    )


def chapter(title: str, *paragraphs: str) -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title/></head><body><h1>{title}</h1>{body}</body></html>"
    )
