"""Makes the kits and the answers of the gallery anew from the documents that were written for it.

python docs/gallery.py
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weft.documents import read_document
from weft.files import Folder
from weft.knowledge.knowledge_base import create_collection, open_collection
from weft.knowledge.research.quick import answer_question
from weft.models import embedded
from weft.render.kit import Source, kit_markdown

GALLERY = Path(__file__).parent / "gallery"
ANSWERS = "answers.md"
QUESTIONS = (
    "How heavy may the gate be?",
    "What does it mean when the light blinks three times?",
    "Can the motor be fixed to a wall of hollow bricks?",
    "When does the night shift at the terminal end?",
    "How many employees are affected by the change at the terminal?",
    "Why do fewer ships come at night?",
    "What does the union say about the figures?",
    "How much does the repair of the roof cost?",
    "Until when is the library open on Thursdays?",
    "How much did the book sale bring in?",
    "How many days earlier did the seeds germinate after the drought?",
    "Which species showed no difference?",
    "How were the seeds kept before they were sown?",
    "May coffee filters go into the compost?",
    "What happens to brown bins with plastic in them?",
    "How does a box of worms survive frost?",
    "What does a tow off the cape cost?",
    "How many sensors does the new ferry have?",
    "Who designed the library building?",
    "What does the gate opener cost?",
    "How many containers does the terminal move in a year?",
    "Which soil was used for the seeds, and from which shop?",
)
"""The last ones have no answer in the documents."""


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


def answers() -> str:
    """A page of questions over all the documents, with what is answered without a model."""
    blocks = [
        "# Answers to look at",
        "From the documents in [sources](sources), which were written for this gallery, without a connected model:"
        " `weft ask`, with the sentence model that comes with the install. The last four have no answer there."
        " `python docs/gallery.py` makes them anew; figures may differ by a hundredth from machine to machine.",
    ]
    with tempfile.TemporaryDirectory() as place, Folder.open(Path(place)) as workspace:
        folder = create_collection(workspace, "gallery") / "documents"
        for path in (GALLERY / "sources").iterdir():
            shutil.copy(path, folder)
        with open_collection(workspace, "gallery") as knowledge:
            knowledge.update()
            knowledge.fill()
            for number, question in enumerate(QUESTIONS, 1):
                blocks += [f"## {number}. {question}", *_told(answer_question(knowledge, question, session="gallery"))]
    return "\n\n".join(blocks) + "\n"


def _told(answer: Mapping[str, Any]) -> Iterator[str]:
    sure = f"confidence {answer['confidence']:.2f}, {answer['level']}"
    if answer["outcome"] != "answered":
        refused = {
            "unsure": "No sure answer; the nearest passages:",
            "not_said": "The documents do not say; the nearest:",
        }
        yield f"*{refused[answer['outcome']]}* ({sure})"
        for source in answer["nearest"]:
            yield f"> {' '.join(source['glimpse'].split())[:160]} … ({source['file']})"
        return
    sources = {source["label"]: source["file"] for source in answer["sources"]}
    for section in answer["sections"]:
        for one in section["sentences"]:
            cited = ", ".join(sources[label] for label in one["labels"])
            lead = f"{one['lead']} " if one["lead"] else ""
            yield f"> {lead}{one['text']} ({cited}; {one['state'].replace('_', ' ')})"
    yield f"*{sure}*"


if __name__ == "__main__":
    for name, text in kits():
        (GALLERY / name).write_text(text, "utf-8")
    (GALLERY / ANSWERS).write_text(answers(), "utf-8")
