"""For whom: the words for a person's topics, tone, length and voice, in `weft profile` and for one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import click

from weft.workspace.profile import WORDS, Tone, Voice, parse_topics


def profile_options(when: str) -> tuple[Callable[..., Any], ...]:
    """`when` says how long they count."""
    return (
        click.option(
            "--topics", metavar="LIST", help=f'What matters to you {when}: "ai:5, baking:2"; interest 1 to 5.'
        ),
        click.option("--tone", type=click.Choice(get_args(Tone)), help=f"For whom you write {when}."),
        click.option(
            "--word-count",
            type=click.IntRange(*WORDS),
            metavar="NUMBER",
            help=f"How long the piece is to be {when}: {WORDS[0]} to {WORDS[1]} words.",
        ),
        click.option("--voice", type=click.Choice(get_args(Voice)), help=f"How you speak {when}."),
    )


def profile_parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a profile that these words set, by dotted name."""
    parts: dict[str, Any] = {}
    if given["topics"] is not None:
        parts["topics"] = parse_topics(given["topics"], "--topics")
    names = {"tone": "style.tone", "word_count": "style.targetWordCount", "voice": "style.voice"}
    return parts | {key: given[word] for word, key in names.items() if given[word] is not None}
