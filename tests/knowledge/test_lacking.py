"""What a passage must have to be an answer at all: the names that were asked for, and the kind of thing."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from weft.knowledge.embedding import Unavailable
from weft.knowledge.keyword import stems
from weft.knowledge.research.answering import (
    ANSWER,
    HIGH,
    JudgedPassage,
    answer_of,
    judge,
    names_in,
    read_question,
)
from weft.knowledge.research.question_kinds import fits, lacks_kind, only_perhaps
from weft.knowledge.research.statements import statements
from weft.knowledge.research.weighing import AnswerSigns


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Can the installer create ZFS pools?", ["ZFS"]),
        ("Does the gate work with HomeKit or a Raspberry Pi?", ["HomeKit", "Raspberry", "Pi"]),
        ("Why does it fail? What should I do, and where do I'm told?", []),
        ("What does error 142 mean?", ["142"]),
        ("How heavy may the gate be?", []),
    ],
)
def test_names_are_what_no_plain_word_is_written_like(question: str, names: list[str]) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("question", "sentence", "lacks"),
    [
        ("How many bolts hold the motor?", "Bolts hold the motor to the wall.", True),
        ("How many bolts hold the motor?", "Four bolts hold the motor to the wall.", False),
        ("What salary do wardens get?", "Wardens get a uniform and a lamp.", True),
        ("When is the gate closed?", "The gate is closed by a warden.", True),
        ("When is the gate closed?", "The gate is closed after sunset.", False),
        ("What must be done when the gate is closed?", "Turn the key by a hand.", False),
        ("Why is the gate closed?", "The warden has a family.", False),
        ("How often does the tide rise?", "Each of these rises and falls like the hand of a clock.", True),
        ("How often does the tide rise?", "A machine told sailors when the water would come back.", True),
        ("How often does the tide rise?", "Tides rise twice a day.", False),
        ("How often is it checked?", "The list is checked every night.", False),
        ("How often is it checked?", "Every warden can read the list.", True),
        ("Wie oft wird geleert?", "Die Tonnen werden alle zwei Wochen geleert.", False),
        ("Wie oft wird geleert?", "Die Tonnen sind braun.", True),
        ("How long does a charge take?", "It is charged over a cable.", True),
        ("How long does a charge take?", "A charge takes about two hours.", False),
        ("Combien de temps dure la visite ?", "La visite dure une heure.", False),
        ("How long may a name be?", "Names have at most 64 characters.", False),
        ("What is the default port?", "The server listens on a port.", True),
        ("What is the default port?", "It listens on port 80 unless told otherwise.", False),
        ("What is the maximum weight?", "The weight is read from the scale.", True),
        ("What is the maximum weight?", "You can read the scale in two ways.", True),
        ("What is the maximum weight?", "It carries no more than two tons.", False),
        ("Which version is shipped?", "The newest version is shipped.", True),
        ("What is the e-mail address of the office?", "The office answers letters.", True),
    ],
)
def test_a_number_a_time_or_a_price_must_be_there(question: str, sentence: str, lacks: bool) -> None:
    assert lacks_kind(question, sentence) is lacks


def test_how_many_is_answered_surely_by_a_number_of_just_that() -> None:
    asked = "How many votes were cast for the plan?"
    assert fits(asked, "It was backed by 21 votes to 18.") == 1
    assert lacks_kind(asked, "After a vote on 1 September 200 people came to the hall.")
    assert fits(asked, "It was 21 to 18.") == 1, "what is counted need not be said again"
    assert not only_perhaps("Who came to the hall?", "200 people came to the hall.")


def test_what_may_have_it_and_may_not_is_never_called_high() -> None:
    content = "After a vote of the council on 1 September 200 people came to the old town hall and cheered the plan."
    rows = [{"heading": "The plan of the council", "title": "", "lead": "", "likeness": None, "content": content}]
    words = ("vote", "council", "plan", "town", "hall", "cheer", "old")

    def likely(question: str) -> float:
        asked = read_question(question, lambda _words: dict.fromkeys(words, 1), 5000)
        return judge(asked, rows, Unavailable("not wanted"))[0].probability

    assert likely("Which vote of the council on the plan was cheered in the old town hall?") >= HIGH
    assert likely("How many votes of the council on the plan were cheered in the old town hall?") < HIGH
    # So is an answer that is silent on more than a fifth of what was asked.
    assert likely("Which vote of the council on the plan was cheered in the old town hall by painters?") >= HIGH
    assert likely("Which vote on the plan was cheered in the old town hall by angry painters?") < HIGH


def test_what_never_names_what_is_asked_for_is_no_answer() -> None:
    row = {"heading": "Opening", "title": "", "lead": "", "likeness": None}
    content = "The gate opener is opened with a phone by the radio that stands on its box beside the gate."
    rows = [{**row, "content": content}]
    known = {"gate": 3, "opener": 2, "phone": 1, "open": 1}

    def likely(question: str) -> float:
        asked = read_question(question, lambda _words: known, 50)
        return judge(asked, rows, Unavailable("not wanted"))[0].probability

    plain, named = "How is the gate opener opened with a phone?", "How is the gate opener opened with a Nokia phone?"
    assert likely(plain) >= ANSWER
    assert likely(named) < ANSWER


def test_an_answer_brings_what_it_announces_and_what_was_asked_for() -> None:
    content = (
        "Exit codes tell what went wrong.\n\n4\n\nNetwork failure.\n\n"
        "In older versions the exit status tended to be unhelpful.\n\n"
        "To see the status of the last command:\n\n```sh\necho $?\n```\n\nThe codes are these:\n"
    )
    read = statements(content)
    assert [one.shown for one in read if one.code] == ["To see the status of the last command:\necho $?"]
    wanted = frozenset(stems("exit status network failure"))
    signs = AnswerSigns(**dict.fromkeys((one.name for one in fields(AnswerSigns)), 0.0))
    best = next(n for n, one in enumerate(read) if one.text.startswith("In older"))
    judged = JudgedPassage({"heading": "", "title": ""}, tuple(read), best, signs, also=(1,), wanted=wanted)
    assert [one.shown for one in answer_of(judged)[0]] == [
        "4: Network failure.",
        read[best].text,
        "To see the status of the last command:\necho $?",
    ]
    last = replace(judged, best=len(read) - 2, also=(), wanted=frozenset())
    assert [one.shown for one in answer_of(last)[0]] == ["To see the status of the last command:\necho $?"]


def test_how_something_is_called_is_no_answer() -> None:
    assert [one.text for one in statements("cache.set(key, value, timeout=None)\n\nIt keeps a value.")] == [
        "cache.set(key, value, timeout=None): It keeps a value."
    ]
