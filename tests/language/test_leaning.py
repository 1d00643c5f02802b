"""A sentence that leans on another is known by its pronouns and its first words."""

from __future__ import annotations

import pytest

from weft.language.leaning import leans_back

LEANING = """
If enabled, each ship is written into the book.
A person can do that for one hour with pencil and paper.
The idea behind it is older than the machine.
Nobody can do it for the 8,760 hours of a year.
The people who built the tide machines knew this, and said so on the first page.
Users of these systems report fewer faults.
That is worth remembering whenever a machine predicts well.
These tools are not meant for everybody.
In this case the file is closed.
Some of these are old.
The reason is simple.
For example, a disk can be full.
No such machine was ever built.
The mayor did so in May.
Another is the price.
What they cannot do is add.
The trust that bought it has planted forty trees.
It works with ten times that amount of traffic.
People think the pipes wear out.
Takes one argument, which is the line to show.
Returns true if the lamp is lit.
"""
STANDING = """
Humans have two eyes and one mouth.
If you know how fast each hand turns and how strongly it pulls, you can add them up.
A prediction is a sum over what was put in.
This manual describes the program.
In this paper we show that it works.
Apple said it would open a store.
The tables were not wrong.
The machine that told sailors the time was made of brass.
Today it is possible to add the same wheels in minutes.
Where the wire ended, a pen wrote the sum.
Donald Berg spoke for an hour in the case against him and his company.
There are three ways to say so much in a line.
In 1867 William Thomson had seen that a tide is a sum: each of these rises and falls.
"""


@pytest.mark.parametrize("text", LEANING.strip().splitlines())
def test_what_needs_the_sentence_before_leans(text: str) -> None:
    assert leans_back(text)


@pytest.mark.parametrize("text", STANDING.strip().splitlines())
def test_what_says_what_it_means_stands(text: str) -> None:
    assert not leans_back(text)


@pytest.mark.parametrize(
    ("text", "language", "leans"),
    [
        ("Now, it doesn't tell you quite enough.", "en", True),
        ("Unfortunately, they are sold out in May.", "en", True),
        ("This License does not grant any rights in the trademarks.", "en", False),
        ("Normally, it is possible to leave by the back door.", "en", False),
        ("Der Landkreis wollte deshalb einen Neubau.", "de", True),
        ("Dagegen wehrte sich eine Initiative.", "de", True),
        ("Dieses Handbuch beschreibt das Programm.", "de", False),
        ("Die Brücke stammt aus dem Jahr 1768.", "de", False),
        ("Cela a changé sa façon de travailler.", "fr", True),
        ("Une haie ralentit l'eau.", "fr", False),
        ("Por eso cerró la fábrica.", "es", True),
        ("Detta är en mening.", "sv", False),
    ],
)
def test_other_languages_have_words_of_their_own(text: str, language: str, leans: bool) -> None:
    assert leans_back(text, language) is leans
