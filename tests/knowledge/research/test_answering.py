"""What of a passage is given as the answer: sentences without mark-up that stand alone, and a confidence of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import pytest

from tests.knowledge.research.desk import knowledge_of
from weft.knowledge.embedding import Unavailable
from weft.knowledge.keyword import stems
from weft.knowledge.research.answering import (
    ANSWER,
    APART,
    GLIMPSE,
    HIGH,
    LACKING,
    PERHAPS,
    JudgedPassage,
    among_others,
    announces_more,
    answer_of,
    glimpse_of,
    judge,
    read_question,
)
from weft.knowledge.research.question_kinds import fits
from weft.knowledge.research.quick import answer_question
from weft.knowledge.research.statements import PassageStatement, statements
from weft.render.answer import answer_markdown, answer_page, answer_text

if TYPE_CHECKING:
    from weft.knowledge.embedding import Vectors

PASSAGE = """\
# Weak references

A **weak reference** to an object is not enough to keep it alive. It does not prevent the [collector](gc.html) from
freeing the object.

```python
ref = weakref.ref(thing)
```

Caches may be of three kinds:

- those that hold `strong` references;
- those that hold weak ones.

| kind | cost |
| --- | --- |
| weak | 16 bytes for each |
"""


def judged(content: str, best: str, heading: str = "Memory › Weak references") -> JudgedPassage:
    read = tuple(statements(content))
    at = next(number for number, one in enumerate(read) if best in one.text)
    row = {"heading": heading, "title": "Manual", "lead": "", "content": content, "label": "1"}
    (one,) = judge(read_question(best, lambda _: {}, 10), [row], Unavailable("none"))
    return JudgedPassage(row, read, at, one.signs, one.score, probability=one.probability)


class Synonyms:
    """All texts mean the same to it, and a word means what stands for it here, or itself."""

    model = "made"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return numpy.full((len(texts), 4), 0.5, dtype=numpy.float32)

    def states(self, texts: Sequence[str]) -> list[Vectors]:
        alike = {"skip": "omit", "lantern": "lamp"}
        known: dict[str, int] = {}
        read = [[known.setdefault(alike.get(word, word), len(known)) for word in stems(text)] for text in texts]
        return [numpy.eye(len(known), dtype=numpy.float32)[places] for places in read]

    def words(self, text: str) -> list[str]:
        return stems(text)


def test_of_passages_about_the_same_thing_that_answers_which_has_every_word_of_the_question_in_others() -> None:
    contents = ("This option sets the light of the lamp.", "This option makes it omit the lamp.")
    rows = [{"heading": "keeper", "title": "", "lead": "", "content": one, "likeness": 0.5} for one in contents]
    asked = read_question("How do I skip the lantern?", lambda _: {}, 10)
    assert judge(asked, rows, Synonyms())[0].row["content"] == contents[1]
    assert judge(asked, rows, Unavailable("none"))[0].row["content"] == contents[0]


def test_a_passage_is_read_without_its_mark_up() -> None:
    assert [one.text for one in statements(PASSAGE)] == [
        "A weak reference to an object is not enough to keep it alive.",
        "It does not prevent the collector from freeing the object.",
        "Caches may be of three kinds:",
        "those that hold strong references;",
        "those that hold weak ones.",
        "kind: weak, cost: 16 bytes for each",
    ]


def test_a_term_stands_before_what_is_said_of_it() -> None:
    assert [one.text for one in statements("0-99:\n\nAllocated by the project.\n\nothers\n\nFree for anyone.")] == [
        "0-99: Allocated by the project.",
        "others: Free for anyone.",
    ]


def test_an_option_with_its_default_or_its_key_stands_before_what_is_said_of_it() -> None:
    read = statements(
        "`notification.warning` (default: 300)\n\nSo many seconds before, the bar blinks.\n\n"
        "Operation: mark-feed-read\nDefault key: A\n\nMark all articles as read.\n\n"
        "The four kinds of a tide\n\n- spring tides are high ones\n\nThat is all.\n\nMore of it elsewhere\n"
    )
    assert [one.text for one in read] == [
        "notification.warning (default: 300): So many seconds before, the bar blinks.",
        "Operation: mark-feed-read, Default key: A",
        "Mark all articles as read.",
        "The four kinds of a tide",
        "spring tides are high ones",
        "That is all.",
        "More of it elsewhere",
    ]


def test_what_is_told_between_an_option_and_its_text_parts_neither_and_is_said_with_them() -> None:
    lines = "allow_owls\n\nUse: lamp\n\nType: boolean\n\nDefault: false\n\nLets owls sit on the lamp.\n\n"
    table = "| type | default |\n| --- | --- |\n| seconds | 300 |\n\nHow long the lamp stays dark.\n"
    read = statements(lines + table)
    assert [one.text for one in read] == [
        "Use: lamp, Type: boolean, Default: false",
        "allow_owls: Lets owls sit on the lamp.",
        "type: seconds, default: 300",
        "How long the lamp stays dark.",
    ]
    found, _ = answer_of(judged(table, "How long the lamp stays dark"))
    assert [one.text for one in found] == ["type: seconds, default: 300", "How long the lamp stays dark."]


def test_a_label_and_its_value_are_one_statement_of_a_list() -> None:
    read = statements(
        "Specifies:\n\nHow many keepers may come.\n\nDefault value:\n\n128\n\nNotes:\n\nAsk before you come."
    )
    assert [(one.text, one.item) for one in read] == [
        ("Specifies: How many keepers may come.", True),
        ("Default value: 128", True),
        ("Notes: Ask before you come.", True),
    ]


def test_the_items_of_a_list_that_is_announced_may_be_short() -> None:
    read = statements("Forward these ports:\n\n- TCP 64738\n- UDP 64738\n\nThat is all.\n\n- Next\n- Top\n")
    assert [one.text for one in read] == ["Forward these ports:", "TCP 64738", "UDP 64738", "That is all."]


def test_an_answer_of_few_words_goes_on_where_it_lacks_what_was_asked() -> None:
    one = judged("Snapshots let you go back.\n\nThey take little room.\n\nKeep a few.", "Snapshots let")
    short = "Snapshots let you go back."
    assert [each.text for each in answer_of(replace(one, wanted=frozenset(["snapshot"])))[0]] == [short]
    more = answer_of(replace(one, wanted=frozenset(["snapshot", "room"])))[0]
    assert [each.text for each in more] == [short, "They take little room."]


def test_an_answer_brings_what_its_pronoun_means() -> None:
    said, lead = answer_of(judged(PASSAGE, "It does not prevent"))
    assert [one.text for one in said] == [
        "A weak reference to an object is not enough to keep it alive.",
        "It does not prevent the collector from freeing the object.",
    ]
    assert lead == ""


def test_where_nothing_stands_before_it_the_heading_says_what_is_meant() -> None:
    said, lead = answer_of(judged("It does not prevent the object from being freed at any time.", "It does not"))
    assert (said[0].text, lead) == ("It does not prevent the object from being freed at any time.", "Weak references:")


def test_a_line_that_happens_to_begin_like_an_item_is_part_of_its_sentence() -> None:
    read = statements(
        "Keep it in a file that only you can read (mode\n600) and nowhere else.\n\nIt is there when the set is used\n"
        "in. Once that is gone, so is the set.\n\nWhat to do\n1. Open the door of the shed.\n2. Close it at night."
    )
    assert [one.text for one in read if not one.item] == [
        *(
            "Keep it in a file that only you can read (mode 600) and nowhere else.",
            "It is there when the set is used in.",
        ),
        *("Once that is gone, so is the set.", "What to do"),
    ]
    assert [one.text for one in read if one.item] == ["Open the door of the shed.", "Close it at night."]


def test_an_item_brings_the_line_it_completes() -> None:
    said, _ = answer_of(judged(PASSAGE, "those that hold weak ones"))
    assert said[0].text == "Caches may be of three kinds:"
    assert "those that hold weak ones." in [one.text for one in said]


def test_a_line_that_announces_something_brings_it() -> None:
    text = (
        "The script is called in these ways:\n\npostinst configure, after the files are unpacked.\n\nThat is all of it."
    )
    said, _ = answer_of(judged(text, "The script is called"))
    assert [one.text for one in said] == [
        "The script is called in these ways:",
        "postinst configure, after the files are unpacked.",
    ]


@pytest.mark.parametrize(
    ("question", "likely"),
    [
        ("Which barnacles cling to the hull of the ferry in winter?", True),
        ("Which salary do the barnacles of the ministry of finance get?", False),
    ],
)
def test_a_telling_word_that_is_missing_speaks_against_an_answer(question: str, likely: bool) -> None:
    rows = [
        {
            "heading": "Hulls",
            "title": "The ferry",
            "lead": "",
            "content": "In winter acorn barnacles cling to the hull of the ferry. They are scraped off in spring.",
            "label": "1",
            "likeness": None,
        },
        {
            "heading": "Engines",
            "title": "The ferry",
            "lead": "",
            "content": "The engines are tested every week by the crew, and oiled by hand.",
            "label": "2",
            "likeness": None,
        },
    ]
    asked = read_question(question, lambda words: dict.fromkeys({"ferri", "hull"}.intersection(words), 3), 500)
    best = judge(asked, rows, Unavailable("none"))[0]
    assert best.row["label"] == "1"
    assert (best.probability >= 0.6) is likely


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("See How can I make my program take less memory?", True),
        ("See also the answer to the next question.", True),
        ("The relevant command is described further in Section 11.11, “Some users like mawk”.", True),
        ("Check out Section 12.1, “What other documentation exists?”.", True),
        ("First, read “Why am I getting long decimals?” above.", True),
        ("See that the cable is plugged in before you start.", False),
        ("You copy the music into that folder with the import command (see below).", False),
        ("You can see how much memory it takes with the command top.", False),
        ("The word “memory” means the main memory here.", False),
        ("A description of each of these modules is given in the handbook.", True),
        pytest.param("details is " * 60_000, False, marks=pytest.mark.timeout(60), id="without end"),
    ],
)
def test_a_sentence_that_only_points_elsewhere_is_known(text: str, points: bool) -> None:
    assert PassageStatement(text, 0).points is points


@pytest.mark.parametrize(
    ("question", "sentence", "wanted"),
    [
        ("How many sensors does the ferry have?", "The new ferry has four thousand sensors.", 1.0),
        ("How many sensors does the ferry have?", "The new ferries have sensors for that.", 0.0),
        ("How many sensors does the ferry have?", "The new ferry with sensors has about twenty cabins.", 0.0),
        ("How many sensors does the ferry have?", "Sensors: 40; cabins: 20", 1.0),
        ("How many sensors does the ferry have?", "With 20 cabins, the number of sensors is about 40.", 1.0),
        ("When does the shift end?", "The terminal will stop working at night from 3 March.", 1.0),
        ("When does the shift end?", "The terminal had turned ships away for months.", 0.5),
        ("When does the shift end?", "The union disputes the figures.", 0.0),
        ("What does the opener cost?", "The opener moves a gate of up to 250 kg.", 0.0),
        ("How much does the repair cost?", "The repair costs £1,180 instead of £6,400.", 1.0),
        ("Who runs the terminal?", "The union disputes the figures.", 0.5),
    ],
)
def test_the_kind_of_thing_that_is_asked_for(question: str, sentence: str, wanted: float) -> None:
    assert fits(question, sentence) == wanted


def test_what_answers_nearly_as_well_is_said_with_what_it_leans_on() -> None:
    content = (
        "The lock has two gates. The keeper opens them by hand at low water.\n\n"
        "A crane stands on the pier.\n\n"
        "In a storm nobody opens the gates. They are chained.\n\nThe pier is long."
    )
    one = replace(judged(content, "two gates"), wanted=frozenset())
    assert [each.text for each in answer_of(one)[0]][-1] == "The keeper opens them by hand at low water."
    chained = next(at for at, each in enumerate(one.statements) if "chained" in each.text)
    assert [each.text for each in answer_of(replace(one, also=(chained,)))[0]] == [
        "The lock has two gates.",
        "The keeper opens them by hand at low water.",
        "In a storm nobody opens the gates.",
        "They are chained.",
    ]
    full = replace(
        one, also=(chained,), statements=(*one.statements[:-2], replace(one.statements[-2], text="x " * 500))
    )
    assert len(answer_of(full)[0]) == 2, "no room"


def test_what_says_the_same_is_no_other_passage() -> None:
    def found(content: str, meaning: float, score: float) -> JudgedPassage:
        one = judged(content, content[:10])
        return replace(one, score=score, signs=replace(one.signs, meaning=meaning, sentence=meaning))

    first = found("The auditor keeps the inventory records for five years after the report.", 0.8, 5.0)
    same = found("The auditor keeps the inventory records for seven years after the report.", 0.8, 5.0)
    other = found("The harbour is closed in winter and in storms.", 0.3, 4.0)
    third = found("A ferry crosses the bay every morning of the week.", 0.1, 3.0)
    stands = among_others([first, same, other, third], 0)
    assert (stands.lead, stands.nearer) == (1.0, 0.0)
    assert stands.apart == pytest.approx(0.6) == stands.sentence_apart
    assert among_others([first, same], 0) == among_others([first], 0)
    assert among_others([other, first], 0).nearer == pytest.approx(0.5)
    assert among_others([first], 0).apart == APART


def test_what_is_said_of_this_option_brings_the_heading_that_names_it() -> None:
    content = "Pack all tracks into one. This option joins what a night has parted."
    assert answer_of(judged(content, "Pack all", "Filters › pack option"))[1] == "pack option:"
    assert answer_of(judged(content, "Pack all", "Filters › pack"))[1] == "pack:"
    named = f"The pack option is for owls. {content}"
    assert answer_of(judged(named, "Pack all", "Filters › pack option"))[1] == ""


OPTIONS = """\
The options are:

- album: List albums instead of tracks. Default: `no`.
- keys: Define in which fields duplicates are looked for. The names are those of the library. Default: `[track, album]`
- path: Output the path. Default: `no`
"""


def test_an_option_has_its_own_default_and_nobody_elses() -> None:
    assert [one.text for one in statements(OPTIONS)] == [
        "The options are:",
        "album: List albums instead of tracks. Default: no.",
        "keys: Define in which fields duplicates are looked for.",
        "The names are those of the library. Default: [track, album]",
        "path: Output the path. Default: no",
    ]
    found, _ = answer_of(judged(OPTIONS, "keys: Define"))
    assert [one.text.split(":")[0] for one in found] == [
        "The options are",
        "keys",
        "The names are those of the library. Default",
    ]
    whole, _ = answer_of(judged(OPTIONS, "The options are"))
    assert len(whole) == 5, "what announces a list is told with the list"


def test_which_option_is_meant_goes_by_all_that_is_said_of_it() -> None:
    row = {"heading": "", "title": "", "lead": "", "content": OPTIONS}
    asked = read_question("Which fields are duplicates looked for in by default?", lambda _: {}, 10)
    (one,) = judge(asked, [row], Unavailable("none"))
    assert one.statements[one.best].block == 2


def test_what_a_paragraph_behind_code_speaks_of_is_said_with_it() -> None:
    content = "Run this:\n\n```sh\ntool -U lamp\n```\n\nThe -U flag brings the newest lamp.\n"
    found, _ = answer_of(judged(content, "The -U flag"))
    assert [one.shown for one in found] == ["Run this:\ntool -U lamp", "The -U flag brings the newest lamp."]


def test_an_announcement_alone_and_what_names_nothing_are_no_sure_answers() -> None:
    def sure(content: str, heading: str, question: str) -> float:
        row = {"heading": heading, "title": "", "lead": "", "content": content}
        (one,) = judge(read_question(question, lambda _: {}, 1000), [row], Unavailable("none"))
        return one.probability

    asked = "From which sources is the harbour lantern configuration read?"
    said = "The harbour lantern configuration is read from these sources, in order"
    assert sure(f"{said}:", "lantern", asked) == LACKING < ANSWER
    assert sure(f"{said}:\n\n- the drawer\n- the shelf\n", "lantern", asked) >= HIGH
    without = "If enabled, the harbour lantern writes each passing ship into the book of the keeper at night."
    asked = "What makes the harbour lantern write each passing ship into the book of the keeper at night?"
    assert sure(without, "Options", asked) == PERHAPS < HIGH
    assert sure(without.replace("If", "lantern.log: If"), "Options", asked) >= HIGH


def test_a_passage_is_shown_around_its_best_sentence_and_says_where_it_was_cut() -> None:
    content = (
        f"{OPTIONS}- threads: How many threads there are. Default: the number of cores.\n" + "- x: More of it.\n" * 60
    )
    long = "Nothing of that is asked for here. " * 40 + "\n\n" + content
    shown = glimpse_of(judged(long, "threads: How many"))
    assert "- threads: How many threads there are. Default: the number of cores.\n- x: More of it." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 1.2 * GLIMPSE
    assert "`" not in shown


def test_what_is_left_out_between_two_sentences_is_marked(tmp_path: Path) -> None:
    text = (
        "The harbour lantern burns oil at night. Owls live on the pier.\n\nNobody counts the gulls of the bay.\n\n"
        "The harbour lantern burns gas in a storm at night."
    )
    knowledge = knowledge_of(tmp_path, {"lamp.md": f"# Lamp\n\n{text}\n"}, Unavailable("none"))
    answer = answer_question(knowledge, "What does the harbour lantern burn at night?", session="s")
    said = [(one["lead"], one["text"].split()[-1]) for part in answer["sections"] for one in part["sentences"]]
    assert said == [("", "night."), ("", "pier."), ("…", "night.")]


def test_rows_of_a_table_are_told_one_by_one(tmp_path: Path) -> None:
    table = "plant,litres a week,light\nFern,2,shade\nCactus,0.2,sun\n"
    knowledge = knowledge_of(tmp_path, {"plants.csv": table}, Unavailable("none"))
    answer = answer_question(knowledge, "How many litres a week does the plant Fern take?", session="s")
    shown = [one["text"] for part in answer["sections"] for one in part["sentences"]]
    shown += [line.removeprefix("- ") for one in answer["nearest"] for line in one["glimpse"].split("\n")]
    assert "plant: Fern; litres a week: 2; light: shade" in shown


def test_a_question_in_another_language_is_not_said_to_have_no_answer(tmp_path: Path) -> None:
    text = "# Lamp\n\nThe lantern of the harbour burns oil at night, and the keeper fills it in the evening.\n"
    knowledge = knowledge_of(tmp_path, {"lamp.md": text}, Unavailable("none"))
    answer = answer_question(knowledge, "Wer füllt am Abend die Lampe in dem Leuchtturm?", session="s")
    assert answer["outcome"] == "unsure"
    assert "the question is in German, and the passages that were found are in English" in "; ".join(answer["notes"])
    answer = answer_question(knowledge, "Who paints the boats of the mayor in the spring?", session="s")
    assert answer["outcome"] == "not_said"
    assert not [note for note in answer["notes"] if "the question is in" in note]


def test_a_telling_word_counts_more_than_a_small_one() -> None:
    contents = ("How do I do that with the lamp, and where do I do it.", "Some people omit it.")
    rows = [{"heading": "keeper", "title": "", "lead": "", "content": one, "likeness": 0.5} for one in contents]
    asked = read_question("How and where do I skip that?", lambda _: {}, 10)
    near = {str(one.row["content"]): one.signs.matched for one in judge(asked, rows, Synonyms())}
    assert near[contents[1]] > near[contents[0]]


def test_a_line_of_contents_that_is_the_question_is_no_answer(tmp_path: Path) -> None:
    asked = "What happens when the harbour lantern runs out of oil?"
    lines = (asked, "Who fills the lantern?", "Why is the pier closed?")
    contents = "# Questions of keepers\n\n" + "\n".join(f"- {one}" for one in lines)
    told = "# Oil\n\nThe harbour lantern goes out, and the pilot waits for the morning, when it runs out of oil.\n"
    knowledge = knowledge_of(tmp_path, {"contents.md": contents, "oil.md": told}, Unavailable("none"))
    answer = answer_question(knowledge, asked, session="s")
    shown = [one["text"] for part in answer["sections"] for one in part["sentences"]]
    shown += [one["glimpse"] for one in answer["nearest"]]
    assert shown == [told.split("\n")[2]]


def test_a_title_with_nothing_under_it_is_no_answer() -> None:
    asked = read_question("What is the voltage of the harbour lantern cell?", lambda _: {}, 1000)
    row = {"heading": "Electricity", "title": "", "lead": ""}
    title, told = "2.6 Voltage of the harbour lantern cell", "The voltage of the harbour lantern cell is 0.9 volts."
    (one,) = judge(asked, [{**row, "content": title}], Unavailable("none"))
    assert one.probability <= LACKING < ANSWER
    (one,) = judge(asked, [{**row, "content": told}], Unavailable("none"))
    assert one.probability > ANSWER


# -- nothing is joined, dropped or altered that the passage does not say so


def test_short_blocks_in_a_row_are_not_told_of_each_other() -> None:
    text = (
        "Move the lamps as follows:\n\nred, green\n\nto the pier\n\nthe big lamp, the small lamp, the spare lamp\n\n"
        "to the tower\n\nThen light them all again.\n"
    )
    said = ["Move the lamps as follows:", "red, green", "to the pier", "the big lamp, the small lamp, the spare lamp"]
    said += ["to the tower", "Then light them all again."]
    assert [one.text for one in statements(text)] == said
    found, _ = answer_of(judged(text, "Move the lamps"))
    assert [one.text for one in found][:5] == said[:5]
    text = "Lamps of the harbour at night\n\nto the pier\n\nThese are needed in a storm.\n"
    assert "to the pier: These" not in " ".join(one.text for one in statements(text)), "it may end what stands before"
    text = "Dogs\n\n- bark at the gate\n- sleep\n\nNotes:\n\n- none at all\n"
    assert [one.text for one in statements(text)] == ["Dogs", "bark at the gate", "sleep", "Notes:", "none at all"]
    assert [one.text for one in statements("-h\n\nShow help and exit\n\n-v\n\nShow the version")] == [
        "-h: Show help and exit",
        "-v: Show the version",
    ]
    assert [one.text for one in statements("The light is lit at dusk.\n\nLast words")][-1] == "Last words"


LITERALS = "Give `*` for all lamps, write `\\` and \\#, or set LAMP_* in lamp-*/ and _dark_ alone."


def test_what_is_no_mark_up_of_the_file_stays() -> None:
    (page,) = statements(LITERALS, "manual.html")
    assert page.text == "Give * for all lamps, write \\ and \\#, or set LAMP_* in lamp-*/ and _dark_ alone."
    (markdown,) = statements(LITERALS, "manual.md")
    assert markdown.text == "Give * for all lamps, write \\ and #, or set LAMP_* in lamp-*/ and dark alone."
    (plain,) = statements(LITERALS, "manual.txt")
    assert plain.text == LITERALS
    (sign,) = statements("Type a ! before the name of a lamp to hide it.")
    assert sign.text == "Type a ! before the name of a lamp to hide it."
    assert [one.text for one in statements("Light it! all of you are seen.")] == ["Light it!", "all of you are seen."]


def test_lines_of_code_stay_lines_and_are_held_against_the_passage(tmp_path: Path) -> None:
    code = "for lamp in pier; do\n    light [1] $lamp\ndone"
    text = f"# Lamps\n\nEvery harbour lantern of the pier is lit by this command:\n\n```sh\n{code}\n```\n"
    knowledge = knowledge_of(tmp_path, {"lamp.md": text}, Unavailable("none"))
    answer = answer_question(knowledge, "By which command is every harbour lantern of the pier lit?", session="s")
    (one,) = [one for part in answer["sections"] for one in part["sentences"]]
    assert (one["code"], one["state"]) == (code, "quoted")
    assert f"```\n{code}\n```" in answer["answer"]
    assert "      for lamp in pier; do\n          light [1] $lamp\n" in f"{answer_markdown(answer)}"
    assert f'<code class="lines">{code}</code>' in answer_page(answer)
    assert "    for lamp in pier; do\n        light [1] $lamp\n    done\n" in answer_text(answer)
    item = "- Light it so:\n\n  ```\n  if dark:\n      light\n  ```\n"
    assert [one.code for one in statements(item)] == ["if dark:\n    light"], "without the margin of its item"
    long = "\n".join(f"light lamp number {number} of the pier" for number in range(40))
    shown = statements(f"Light them:\n\n```\n{long}\n```\n")[0].code
    assert long.startswith(shown.removesuffix("\n…") + "\n"), "whole lines, and that there are more"
    assert shown.endswith("\n…")


def test_code_in_a_quotation_is_code(tmp_path: Path) -> None:
    """As a page has it in a block that is set off."""
    code = "lamps:\n    wick = rope\n\n    oil = fish"
    quoted = "\n".join(f"> {line}".rstrip() for line in f"```\n{code}\n```".split("\n"))
    text = (
        f"Every lantern of the harbour is lit by this file of the keeper:\n\n{quoted}\n\nIt burns until the morning.\n"
    )
    assert [one.code for one in statements(text)] == [code, ""]
    knowledge = knowledge_of(tmp_path, {"lamp.md": f"# Lamp\n\n{text}"}, Unavailable("none"))
    answer = answer_question(knowledge, "By which file is every lantern of the harbour lit?", session="s")
    said = [one for part in answer["sections"] for one in part["sentences"]]
    assert [(one["code"], one["state"]) for one in said if one.get("code")] == [(code, "quoted")]
    assert not [one for one in said if ">" in one["text"] or "`" in one["text"]]


def test_code_behind_a_block_that_is_only_mark_up_is_counted_and_ends_nothing(tmp_path: Path) -> None:
    text = "[](#lamp)\n\n```\nlamp --trim\n```\n\nThe keeper trims the wick of the lantern at dusk.\n"
    assert [(one.text, one.number) for one in statements(text)] == [
        ("The keeper trims the wick of the lantern at dusk.", 1)
    ]
    knowledge = knowledge_of(tmp_path, {"lamp.md": f"# Lamp\n\n## Trimming\n\n{text}"}, Unavailable("none"))
    answer = answer_question(knowledge, "When does the keeper trim the wick of the lantern?", session="s")
    assert "at dusk" in answer_text(answer)


def test_words_that_the_person_did_not_say_are_not_missed_in_what_they_are_told(tmp_path: Path) -> None:
    """Around the matter is looked for by phrases of ours: "definition of bread baked"."""
    text = "# Lamp\n\nThe lantern of the harbour burns oil at night, and the keeper fills it in the evening.\n"
    with knowledge_of(tmp_path, {"lamp.md": text}) as knowledge:
        answer = answer_question(knowledge, "How is bread baked?", session="s")
    assert answer["outcome"] == "not_said"
    assert answer["notes"]
    assert not [note for note in answer["notes"] if " of " in note.partition("“")[2]]


def test_a_word_of_the_question_that_stands_nowhere_is_named_and_no_word_on_the_others(tmp_path: Path) -> None:
    text = "# Lamp\n\nThe lantern of the harbour burns oil at night, and the keeper fills it in the evening.\n"
    with knowledge_of(tmp_path, {"lamp.md": text}) as knowledge:
        answer = answer_question(knowledge, "When does the keeper fill the lantern with WhatsApp?", session="s")
    assert answer["notes"][0] == "no passage has “WhatsApp”"


def test_code_in_the_midst_of_a_sentence_is_said_with_it() -> None:
    text = "After you changed the wick, run command\n\n```\nlamp --trim\n```\n\nto bring back the light.\n"
    found, _ = answer_of(judged(text, "to bring back"))
    assert [one.shown for one in found] == [
        "After you changed the wick, run command\nlamp --trim",
        "to bring back the light.",
    ]


def test_the_end_of_a_neighbour_in_a_list_is_not_told_without_its_beginning() -> None:
    text = (
        f"- The wick burns {'slowly and ' * 70}well. (This helps in autumn.) Hence it is never cut.\n"
        "- The lantern is lit by the keeper, who takes care of the oil.\n- The bell is rung in fog only.\n"
    )
    found, _ = answer_of(judged(text, "lit by the keeper"))
    assert [one.text for one in found] == [
        "The lantern is lit by the keeper, who takes care of the oil.",
        "The bell is rung in fog only.",
    ]


def test_no_item_of_a_list_is_lost_and_what_is_left_out_leaves_a_gap() -> None:
    text = (
        "The lantern needs a number of things, which must be bought before it can be lit. Mind the wind (on piers.)\n\n"
        "- oil of any kind\n- wick\n- matches\n- a keeper who is awake\n"
    )
    said = [one.text for one in answer_of(judged(text, "The lantern needs"))[0]]
    assert said[-4:] == ["oil of any kind", "wick", "matches", "a keeper who is awake"]
    read = statements("That is all there is.\n\n- Next\n- Top\n\nThe pier is long and old.")
    assert [(one.text, one.number) for one in read] == [
        ("That is all there is.", 0),
        ("The pier is long and old.", 3),
    ]
    read = statements("Light it.\n\n```\na\n```\n\n```\nb\n```\n\nWait for it.")
    assert [one.number for one in read] == [0, 2], "the second code is not shown"
    rows = statements("| port | of |\n| --- | --- |\n| 80 | web |\n| 25 | the mail |\n")
    assert [one.text for one in rows] == ["80: web", "25: the mail"]


def test_what_is_counted_is_told_whole_and_an_unkept_announcement_is_never_sure() -> None:
    text = (
        "The keeper looks for the harbour key in a certain order. The order is described below.\n\n"
        "Keys are made of iron, and none of them is small.\n\n"
        "The first place is the harbour drawer of the keeper. It is dark.\n\n"
        "The second place is the shelf. It is high.\n\nThe third place is the hat."
    )
    one = judged(text, "The keeper looks")
    first = next(at for at, each in enumerate(one.statements) if "drawer" in each.text)
    said, _ = answer_of(replace(one, also=(first,), wanted=frozenset()))
    assert [each.text.split(" place")[0] for each in said][2:] == ["The first", "The second", "The third"]
    assert announces_more(one.statements, said), "what is described below is not what is said next"
    assert not announces_more(one.statements, one.statements)
    alone = statements("The lamp has the following parts:\n\n- a wick of wool\n- a glass of the sea\n")
    assert announces_more(alone, alone[:2])
    assert not announces_more(alone, alone)
    aside = statements("You light it with the lamp command (described below). It takes a while.")
    assert not announces_more(aside, aside[:1])


def test_the_paragraph_behind_an_announcement_brings_it() -> None:
    text = (
        "The lantern is old. It warns many kinds of boats, including:\n\n"
        "Boats of the harbour that come in at night with oil.\n\nBoats from the sea, which come in the morning.\n"
    )
    said = [one.text for one in answer_of(replace(judged(text, "Boats of the harbour"), wanted=frozenset()))[0]]
    assert said == [
        "The lantern is old.",
        "It warns many kinds of boats, including:",
        "Boats of the harbour that come in at night with oil.",
    ]


LETTERS = {
    "keygen.md": "# keygen\n\n"
    + "\n\n".join(
        [
            "-a rounds  \nThe number of rounds. New keys have a new passphrase each, and keygen asks for it twice.",
            "-b bits  \nSpecifies the number of bits in the key to create.",
            "-n principals  \nOne or more principals that are included in a certificate when keygen signs a key.",
            "-N new_passphrase  \nProvides the new passphrase.",
            "-t, --type kind  \nThe type of key to create.",
        ]
    )
}


def test_an_option_of_one_letter_is_what_is_asked_about(tmp_path: Path) -> None:
    knowledge = knowledge_of(tmp_path, LETTERS)
    for question, said in (
        ("What does -N do?", "Provides the new passphrase."),
        ("keygen -n", "One or more principals that are included in a certificate when keygen signs a key."),
        ("What is -t?", "The type of key to create."),
    ):
        answer = answer_question(knowledge, question, session="s")
        assert [one["text"] for part in answer["sections"] for one in part["sentences"]][-1].endswith(said), question
    assert answer_question(knowledge, "What does -x do?", session="s")["outcome"] != "answered"


def test_a_capital_letter_by_itself_is_what_is_asked_about_though_every_passage_has_it(tmp_path: Path) -> None:
    things = "mirror list editor package binary source windows memory graph error plot value speed loop".split()  # noqa: SIM905
    about = "\n\n".join(f"## The {thing} of R\n\nR has a {thing} for R, and R has more." for thing in things)
    what = "A system for statistics and graphics, with a language of its own, which many people use every day."
    knowledge = knowledge_of(tmp_path, {"r.md": f"# R\n\n{about}\n\n## What is R?\n\n{what}\n"})
    answer = answer_question(knowledge, "What is R?", session="s")
    assert answer["sections"][0]["sentences"][0]["text"] == what


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where can I find more information on the lantern watch?", True),
        ("How does the lantern watch work?", False),
    ],
)
def test_where_something_is_found_is_told_by_what_points_there(tmp_path: Path, question: str, said: bool) -> None:
    text = "# Watches\n\nThere is also the lantern watch, which rings when the oil is low.\n\n"
    points = "More information on the lantern watch is available at https://lantern.example/watch."
    knowledge = knowledge_of(tmp_path, {"watch.md": f"{text}{points}\n"})
    answer = answer_question(knowledge, question, session="s")
    shown = [one["text"] for part in answer["sections"] for one in part["sentences"]]
    assert (points in shown) is said


def test_the_number_of_a_paragraph_is_told_with_what_it_says() -> None:
    text = """\
1.7. "Larger Work" means a work that combines the software with other
material.

1.8. Effective Date

The licence begins on the day on which a contribution is handed out. It was
first given in 2003. Nothing is owed for it."""
    assert [one.text for one in statements(text, "licence.txt")] == [
        '1.7. "Larger Work" means a work that combines the software with other material.',
        "1.8. Effective Date: The licence begins on the day on which a contribution is handed out.",
        "It was first given in 2003.",
        "Nothing is owed for it.",
    ]


def test_what_speaks_of_an_option_that_is_asked_about_is_never_said_to_say_nothing(tmp_path: Path) -> None:
    text = "# apt-get\n\nDie nützlichste Option ist -d, die heruntergeladene Dateien nicht installiert.\n"
    knowledge = knowledge_of(tmp_path, {"apt.md": text})
    assert answer_question(knowledge, "Was bedeutet die Option -d?", session="s")["outcome"] == "unsure"
