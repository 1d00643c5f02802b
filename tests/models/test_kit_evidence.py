"""An item of a kit is told only where it can be understood by itself and is surely whose it is told to be."""

from __future__ import annotations

import pytest

from tests.models import kits
from weft.models.embedded import read

TAR = (
    "Tar keeps water out of the planks of a boat for about three years. The brush must be warm, and the day dry.\n\n"
    "Pine gives more tar than any other wood of the north. A kiln for it stands on a slope and burns for a week.\n\n"
    "Ropes are laid in tar before they are used on deck. Nobody has found anything that lasts longer in salt water.\n\n"
)


def points(text: str) -> str:
    return " ".join(kits.make(text).summary["bullets"])


def test_a_point_begins_its_paragraph_or_names_what_the_text_is_about() -> None:
    going_on = "Suddenly a smoke is doubly useful for the smoke of the kiln and of the boat."
    named = "Tar of a kiln on a slope smells of the smoke of pine and of the kiln."
    said = points(
        f"# Tar\n\n{TAR}Smoke shows how far a kiln is, and a boat can be seen by it. {going_on} {named}\n\n{TAR}"
    )
    assert named in said
    assert going_on not in said
    about = read(f"# Tar\n\n{TAR}The study was made with smoke.\n\nThe last kiln is cold by now.\n")
    standing = {one.text: about.brings_its_subject(one) for one in about.sentences}
    assert standing["Pine gives more tar than any other wood of the north."]
    assert not standing["The study was made with smoke."]
    assert not standing["The last kiln is cold by now."]


def test_answers_stand_below_their_own_questions_where_a_contents_stands_above_them() -> None:
    asked = {
        "How do I move the spool?": "Copy it with its links and start the server again after that.",
        "Why is fetching so slow?": "A filter looks at every article, and that takes its time.",
        "Can others read my mail?": "Only who may write to the folder can read what is in it.",
    }
    contents = "\n".join(f"Q: {question}" for question in ("It stops and complains about my name!", *asked))
    turns = "\n\n".join(f"Q: {question}\n\nA: {answer}" for question, answer in asked.items())
    stops = "Q: It stops and complains about my name!\n\nA: Your host has a name that nobody else may have."
    kit = kits.make(f"Spool FAQ\n\nFrequently asked questions\n\n{contents}\n\n{stops}\n\n{turns}\n")
    assert read(kit.text).speakers == ()
    (part,) = kit.summary["parts"]
    told = {item["under"]: item["text"] for item in part["items"]}
    assert told["It stops and complains about my name!"].startswith("Your host has a name")
    assert all(told[question] == answer for question, answer in asked.items() if question in told)
    assert len(told) >= 2


def test_labels_between_headings_are_no_speakers() -> None:
    rule = "- **Principle:** Keep every image as small as the work allows it.\n- **Deeper Dive:** Each layer is kept."
    text = "".join(f"## Rule {at}\n\n{rule.replace('image', f'image {at}')}\n\n" for at in range(6))
    assert read(text).speakers == ()
    assert kits.make(text).summary["importantQuotes"] == []


def test_words_that_nobody_is_named_for_are_not_quoted() -> None:
    nobody = 'One sign at the pier reads: "Nobody who has seen the water in March comes back in April."'
    somebody = '"The lamps will stand in the water by the end of March," said Ann Berg.'
    quotes = kits.make(f"{TAR}{nobody}\n\n{TAR.replace('Tar', 'Oil')}{somebody}\n").summary["importantQuotes"]
    assert [(one["speaker"], one["text"]) for one in quotes] == [
        ("Ann Berg", "The lamps will stand in the water by the end of March")
    ]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("Alan asked what became of it:", "    A kiln was built by us on the slope of tar."),
        ("Together they may:", "- Make or override a kiln for tar on the slope."),
        ("He asked in a chat.", "    <linus> A kiln of tar is a kiln of pine for the boat."),
    ],
)
def test_what_a_colon_announces_is_no_point(before: str, said: str) -> None:
    whole, alone = (
        read(f"# Tar\n\n{TAR}{before}\n\n{said}\n\n{TAR}"),
        read(f"# Tar\n\n{TAR}{said.strip(' -')}\n\n{TAR}"),
    )
    assert [one.text for one in whole.sentences if one.quoted] == [said.strip(" -")]
    assert "<" in said or not any(one.quoted for one in alone.sentences)
    assert said.strip(" -") not in points(whole.text)


def test_a_mail_is_headed_by_its_subject_and_nothing_by_a_heap_of_words() -> None:
    head = "Received: from one.example (one.example)\n    by two.example with SMTP; Fri, 20 Apr 2001\n" * 6
    mail = f"{head}From: Ann Berg <ann@one.example>\nSubject: Re: Tar for the boats\nTo: all@one.example\n\n{TAR}"
    assert kits.make(mail, title="sample").summary["headline"] == "Tar for the boats"
    assert "one.example" not in str(kits.make(mail).summary["keyThemes"])
    bare = kits.make(TAR, title="")
    assert bare.summary["headline"] == "Tar keeps water out of the planks of a boat …"
    assert "Tar keeps water out of the planks of a boat for about three years." in bare.summary["bullets"]
    badge = "[![shown](https://one.example/a.svg)](https://one.example)\n\n# tar-kiln\n\n" + TAR
    assert kits.make(badge, title="tar-kiln").summary["headline"] == "tar-kiln"


def test_an_interview_that_says_so_is_told_by_its_questions() -> None:
    answer = "I came to the kiln in the summer of a dry year, and I stayed because I liked the smell of it."
    asked = [
        "What brought you to the kiln?",
        "How long does it burn?",
        "Who buys the tar of it?",
        "Would you do it again?",
    ]
    turns = "\n\n".join(f"{question}\n\n{answer.replace('dry', f'dry{at}')}" for at, question in enumerate(asked))
    assert kits.make(f"# An interview with Ann Berg\n\n{turns}\n").summary["category"] == "interview"
    assert kits.make(f"# The kiln of Ann Berg\n\n{turns}\n").summary["category"] != "interview"


def test_what_only_mentions_the_unknown_is_no_open_question() -> None:
    said = "The kiln is an open fire on a slope and burns for a week."
    assert kits.make(f"# Tar\n\n{TAR}{said}\n\n{TAR.replace('Tar', 'Oil')}").ideas["questions"] == []


def test_a_variable_an_address_and_a_setting_in_passing_are_no_figures() -> None:
    said = (
        "If the part does not start with a star, $1 holds the rest of it. The backup is at 192.168.100.189 in the net."
    )
    assert kits.make(f"# Tar\n\n{TAR}{said}\n\n{TAR.replace('Tar', 'Oil')}").ideas["numbers"] == []


def test_a_town_in_front_of_a_tale_makes_no_report() -> None:
    tale = "HARBURG (AP) — He went down to the river. " + "He walked along the water and saw nobody that he knew. " * 50
    assert kits.make(tale).summary["category"] != "news"


@pytest.mark.parametrize(
    "said",
    [
        "Alas for the kiln of tar on the slope! when they came to the boat it had burned.",
        "'What a kiln of tar on the slope of pine! I should like to burn a boat in it!",
        "If you take the kiln (with D at its tip), the tar of the slope goes into the boat.",
        "By- field has a kiln of tar on the slope of pine and burns a boat in it.",
    ],
)
def test_half_a_sentence_and_the_letters_of_a_figure_are_not_told(said: str) -> None:
    (one,) = (one for one in read(f"# Tar\n\n{TAR}{said}\n\n{TAR}").sentences if said.startswith(one.text[:30]))
    assert not one.sound


def test_an_outline_has_neither_comments_of_a_listing_nor_lines_above_one() -> None:
    parts = "".join(
        f"## {head}\n\n{TAR}" for head in ("Kilns", "The example below allows it.", "Please see also:", "Boats")
    )
    assert [one["heading"] for one in kits.make(f"# Tar\n\n{parts}").outline["sections"]] == ["Kilns", "Boats"]
