"""The kits of the gallery are what the engine makes of its documents now, and as good as every other kit."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from weft.models.embedded.words import count_words

DOCS = Path(__file__).parent.parent.parent / "docs"


def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_is_as_the_engine_is() -> None:
    made = dict(gallery().kits())
    pages = {path.name: path.read_text("utf-8") for path in (DOCS / "gallery").glob("*.md")}
    shown = {name: text for name, text in pages.items() if name not in ("README.md", gallery().ANSWERS)}
    assert shown == made, "run python docs/gallery.py"
    told = (DOCS / "gallery/README.md").read_text("utf-8")
    assert all(f"({name})" in told for name in made)


def test_every_sentence_of_the_answers_stands_in_the_document_it_names() -> None:
    page = (DOCS / "gallery" / gallery().ANSWERS).read_text("utf-8")
    sources = {path.name: " ".join(path.read_text("utf-8").split()) for path in (DOCS / "gallery/sources").iterdir()}
    assert [line.split(". ", 1)[1] for line in page.splitlines() if line.startswith("## ")] == [*gallery().QUESTIONS]
    said = re.findall(r"^> (.+) \(([\w.-]+); quoted\)$", page, re.M)
    assert len(said) >= 15
    for text, file in said:
        bare = re.sub(r"[*`]", "", sources[file])
        assert all(part.strip(" …:") in bare for part in re.split(r"(?<=[.:]) ", text)), text


def test_no_kit_of_the_gallery_is_longer_than_its_document() -> None:
    sources = {path.stem: path.read_text("utf-8") for path in (DOCS / "gallery/sources").iterdir()}
    for name, text in gallery().kits():
        assert count_words(text) < count_words(sources[Path(name).stem])
