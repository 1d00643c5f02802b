"""Makes the kits of the gallery anew from the documents that were written for it.

python docs/gallery.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weft.documents import read_document
from weft.models import embedded
from weft.render.kit import Source, kit_markdown

GALLERY = Path(__file__).parent / "gallery"


def kits() -> Iterator[tuple[str, str]]:
    """The name of each kit and its text."""
    for path in sorted((GALLERY / "sources").iterdir()):
        document = read_document(path.read_bytes(), path.name)
        cues = [{"offset": cue.offset, "start": cue.start} for cue in document.cues]
        summary = embedded.summary(
            document.text, content_id=path.stem, title=document.title, source_kind=document.kind, cues=cues
        )
        ideas = embedded.ideas(document.text, summary, published=document.published)
        outline = embedded.outline(document.text, summary, ideas)
        kit = embedded.writing_kit(summary, ideas, outline, source={"id": path.stem})
        source = Source(text=document.text, title=document.title, kind=document.kind, language=document.language)
        yield f"{path.stem}.md", kit_markdown(kit, source=source)


if __name__ == "__main__":
    for name, text in kits():
        (GALLERY / name).write_text(text, "utf-8")
