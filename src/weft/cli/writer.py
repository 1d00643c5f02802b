"""For whom: the words for a person's topics, tone, length and voice, in `weft profile` and for one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from weft.app import PIECE_WORDS, TONES, VOICES


def profile_options(when: str) -> tuple[Callable[..., Any], ...]:
    """`when` says how long they count."""
    return (
        click.option(
            "--topics", metavar="LIST", help=f'What matters to you {when}: "ai:5, baking:2"; interest 1 to 5.'
        ),
        click.option("--tone", type=click.Choice(TONES), help=f"For whom you write {when}."),
        click.option(
            "--word-count",
            type=click.IntRange(*PIECE_WORDS),
            metavar="NUMBER",
            help=f"How long the piece is to be {when}: {PIECE_WORDS[0]} to {PIECE_WORDS[1]} words.",
        ),
        click.option("--voice", type=click.Choice(VOICES), help=f"How you speak {when}."),
    )
