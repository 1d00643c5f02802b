"""The same words in another order are the same statement, as long as nobody takes another's place."""

from __future__ import annotations

import pytest

from weft.checks.claims import compare


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Keepers from the north trim old lamps with short knives.",
            "With short knives keepers from the north trim old lamps.",
        ),
        (
            "The harbour lamp is very slow in dry summer nights, however.",
            "The harbour lamp burns. It is very slow in dry summer nights, however.",
        ),
        (
            "In 1933 the keeper Ada Berg studied the motions of distant lamps.",
            "The story began in 1933 when the keeper Ada Berg was studying the motions of distant lamps, in a tower.",
        ),
    ],
)
def test_the_same_words_are_quoted(claim: str, passage: str) -> None:
    verdict = compare(claim, passage)
    assert verdict.state == "quoted", verdict.reason


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The tower burns whale oil all winter night.",
            "The lamp stands beside the tower. It burns whale oil all winter night.",
        ),
        ("Anna left the old stone tower at night.", "Anna saw Bert. He left the old stone tower at night."),
        (
            "The tower lamp is 400 times brighter than this harbour lamp.",
            "This harbour lamp is 400 times brighter than the tower lamp.",
        ),
        (
            "The time is copied from the clock to the old tower lamp.",
            "The time is copied from the old tower lamp to the clock.",
        ),
        ("Keepers trim old harbour lamps with knives.", "Keepers refuse to trim old harbour lamps with knives."),
        ("Keepers trim old harbour lamps with knives.", "Keepers trim old harbour lamps with knives if asked."),
        (
            "The new keeper was directed chiefly by Anna's old judgment.",
            "The new keeper esteemed Anna's old judgment, but was directed chiefly by her own.",
        ),
        (
            "The budget has a deficit of 5.472 million riyals this year.",
            "This year the budget has a deficit of 5.472 billion riyals.",
        ),
        (
            "Ships use small lamps for the deck and large lamps for the mast.",
            "Ships use large lamps for the deck and small lamps for the mast.",
        ),
    ],
)
def test_who_takes_another_s_place_is_not_quoted(claim: str, passage: str) -> None:
    assert compare(claim, passage).state != "quoted"


def test_a_short_sentence_before_names_nobody_by_what_it_does_not_have() -> None:
    claim = "The harbour lamp burns whale oil all winter night."
    assert compare(claim, "Lamps. It burns whale oil all winter night.").state != "quoted"
