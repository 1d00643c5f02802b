"""Makes the pictures in `docs/images/` of the pages of a kit and an answer, light and dark. Needs a Chromium.

python docs/pictures.py [DOCUMENT]      examples/tides.md when none is named
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from weft.documents import read_document
from weft.files import Folder
from weft.knowledge.embedding import Unavailable, load_embedder
from weft.knowledge.knowledge_base import add_files, create_collection, open_collection
from weft.knowledge.research.quick import answer_question
from weft.models import embedded
from weft.render.answer import answer_page
from weft.render.kit import Source, kit_page

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
LICENCE = ROOT / "LICENSE"
QUESTION = "Which notices must derivative works retain, and when do patent licenses terminate?"
SCHEMES = {"dark": 0, "light": 1}


def page_of(path: Path) -> str:
    document = read_document(path.read_bytes(), path.name)
    cues = [{"offset": cue.offset, "start": cue.start} for cue in document.cues]
    model = load_embedder()
    meaning = None if isinstance(model, Unavailable) else model.embed  # as a run has it
    summary = embedded.summary(document.text, content_id=path.stem, title=document.title, cues=cues, meaning=meaning)
    ideas = embedded.ideas(document.text, summary)
    outline = embedded.outline(document.text, summary, ideas)
    kit = embedded.writing_kit(summary, ideas, outline, source={"label": document.title, "url": document.url})
    source = Source(
        text=document.text,
        title=document.title,
        author=document.author,
        published=document.published,
        language=document.language,
        kind=document.kind,
        url=document.url,
        cues=document.cues,
    )
    return kit_page(kit, source=source)


def answer_of(path: Path, question: str) -> str:
    """The page of an answer over one document, by the embedded engine."""
    with tempfile.TemporaryDirectory() as place, Folder.open(Path(place)) as workspace:
        create_collection(workspace, "shown", "Licences")
        with open_collection(workspace, "shown") as knowledge:
            named = Path(place) / "Apache licence 2.0.txt"
            shutil.copyfile(path, named)
            add_files(knowledge, [named])
            knowledge.update()
            knowledge.fill()
            return answer_page(answer_question(knowledge, question, depth="standard", session="shown"))


def main(path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("a Chromium is needed to take the pictures: install `chromium`")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for kind, text in (("kit", page_of(path)), ("answer", answer_of(LICENCE, QUESTION))):
            page = Path(folder) / f"{kind}.html"
            page.write_text(text, "utf-8")
            for name, scheme in SCHEMES.items():
                target = IMAGES / f"{kind}-{name}.png"
                options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1000"]
                options += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={target}"]
                subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)
                print(target.relative_to(ROOT), f"{target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples" / "tides.md")
