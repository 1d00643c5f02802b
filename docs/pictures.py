"""Makes the pictures in `docs/images/` of the page of a kit, light and dark. Needs a Chromium; no test does.

python docs/pictures.py [DOCUMENT]      examples/tides.md when none is named
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from weft.documents import read_document
from weft.models import embedded
from weft.render.kit import Source, kit_page

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SCHEMES = {"dark": 0, "light": 1}


def page_of(path: Path) -> str:
    document = read_document(path.read_bytes(), path.name)
    cues = [{"offset": cue.offset, "start": cue.start} for cue in document.cues]
    summary = embedded.summary(document.text, content_id=path.stem, title=document.title, cues=cues)
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


def main(path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("a Chromium is needed to take the pictures: install `chromium`")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "kit.html"
        page.write_text(page_of(path), "utf-8")
        for name, scheme in SCHEMES.items():
            target = IMAGES / f"kit-{name}.png"
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1000"]
            options += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={target}"]
            subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)
            print(target.relative_to(ROOT), f"{target.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples" / "tides.md")
