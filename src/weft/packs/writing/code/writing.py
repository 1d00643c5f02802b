"""The steps of the `writing` pack: thin, because the embedded engine and the pages do the work.

An agent's `embedded:` names the function that stands in for it when no model is connected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.documents import Cue
from weft.knowledge.embedding import Unavailable, load_embedder
from weft.models import embedded
from weft.protocol.steps import StepInput
from weft.render.kit import Source, kit_markdown, kit_page


def summary(step: StepInput) -> dict[str, Any]:
    about = step.document
    return embedded.summary(
        step.text,
        content_id=step.session,
        title=about["title"],
        profile_topics=step.profile["topics"] or (),
        source_kind=about["kind"],
        cues=about["cues"],
        meaning=_meaning,
    )


def _meaning(texts: Sequence[str]) -> Any:
    """By the sentence model of this install, where there is one. It is loaded when it is first asked."""
    model = load_embedder()
    return None if isinstance(model, Unavailable) else model.embed(texts)


def ideas(step: StepInput) -> dict[str, Any]:
    summary = step.artifacts["summary.json"]
    return embedded.ideas(step.text, summary, profile=step.profile, published=step.document["published"])


def outline(step: StepInput) -> dict[str, Any]:
    made = step.artifacts
    return embedded.outline(step.text, made["summary.json"], made["ideas.json"], profile=step.profile)


def build(step: StepInput) -> dict[str, Any]:
    """The outline, or in a pipeline without a step of its own for that the outline and the kit."""
    made, laid_out = step.artifacts, outline(step)
    if step.makes == ("outline.json",):
        return laid_out
    about = step.document
    source = {"id": step.session, "label": about["title"], "url": about["url"]}
    kit = embedded.writing_kit(made["summary.json"], made["ideas.json"], laid_out, source=source)
    return {"writing-kit.json": kit, "outline.json": laid_out}


def writing_kit(step: StepInput) -> dict[str, Any]:
    about, made = step.document, step.artifacts
    kit = embedded.writing_kit(
        made["summary.json"],
        made["ideas.json"],
        made["outline.json"],
        source={"id": step.session, "label": about["title"], "url": about["url"]},
    )
    source = Source(
        title=about["title"],
        author=about["author"],
        published=about["published"],
        language=about["language"],
        kind=about["kind"],
        url=about["url"],
        text=step.text,
        cues=[Cue(**cue) for cue in about["cues"]],
        reader=step.profile["language"] or "",
    )
    return {
        "writing-kit.json": kit,
        "writing-kit.md": kit_markdown(kit, source=source),
        "writing-kit.html": kit_page(kit, source=source),
    }
