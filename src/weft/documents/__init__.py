"""From any bytes to one normal document. Pure: bytes in, a value out; no file, no network, no clock.

    reading.py       the entry: finds the kind, calls its reader      (kinds.py, encodings.py, code_pages.py)
    finish.py        title, words, normal form                        (characters.py)
    prose.py         markdown and text                                (front_matter.py)
    manual_text.py   what `man` and `info` show
    web_page.py      HTML: what the page says of itself, its article, where its links lead  (markup.py, article.py,
                     markdown.py, links.py)
    pdf.py           PDF                                              (pdf_text.py, pdf_lines.py, pdf_paragraphs.py)
    docx.py epub.py  packed XML                                       (archive.py, xml_part.py)
    captions.py whisper.py   captions and transcripts                 (speech.py)
    content_md.py    a session's content.md, both ways                (marks.py)
    pictures.py      what a picture is; a model looks at it
    together.py      several documents as one

Whatever can't be read is a `DocumentError` that names the file, what is wrong with it, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.documents.document import MAX_BYTES, Cue, Document, DocumentError
from weft.protocol.fronts import front

if TYPE_CHECKING:
    from weft.documents.content_md import from_content_md, to_content_md
    from weft.documents.pictures import read_picture
    from weft.documents.reading import read_document
    from weft.documents.together import join_documents
else:
    __getattr__ = front(__name__)

__all__ = [
    "MAX_BYTES",
    "Cue",
    "Document",
    "DocumentError",
    "from_content_md",
    "join_documents",
    "read_document",
    "read_picture",
    "to_content_md",
]
