"""Manual pages and Info files, as `man` and `info` lay them out: an option stays with what is said of it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from weft.documents import read_document

PAGE = """\
LAMP-TRIM(8)              Maintenance Commands             LAMP-TRIM(8)

NAME
       lamp-trim - trim the wick of a lantern

SYNOPSIS
       lamp trim [<options>] <lantern>
       lamp cut <lantern> (old syntax)

DESCRIPTION
       Trims the wick of a lantern that stands on a pier, so that the flame
       does not smoke. A wick that is wet is left as it is, and this is speci‐
       fied in lamp(5).

   Wicks of rope
       Rope burns faster than cotton.

OPTIONS
       --deep, -d <number>
           How many millimetres are taken off. The default is 2.

           No more than 9 are taken off at once.

       -q      Says nothing.

       -v, --verbose
              Says what is done, one line for each wick of every lantern on
              the pier. The keepers of the northern harbour like it.

       +   never on Sundays

EXAMPLES
       Trim the lantern at the end of the pier:

           lamp trim --deep 3 north
           lamp light north

       Trim all lanterns of the pier, the ones that are lit as well:

       lamp trim --all

       Put the old wick back, if there is one.

RETURN CODES
       Error codes are: 1 no wick, 2 no lantern.

lamp 2.6                        2023-12-18                 LAMP-TRIM(8)
"""

INFO = """\
This is lamp.info, produced by makeinfo version 4.13+ from lamp.texi.

INFO-DIR-SECTION Lights
START-INFO-DIR-ENTRY
* Lamp: (lamp).         Lanterns
END-INFO-DIR-ENTRY


File: lamp.info,  Node: Top,  Next: Options,  Up: (dir)

The Lamp Manual
***************

* Menu:

* Options::          What may be said


File: lamp.info,  Node: Options,  Prev: Top,  Up: Top

1 Options
*********

   The lantern is lit by the keeper, who takes care that the oil does not
run out before the morning. See *note The keeper: (harbour)Keeper.

'-n'
'--no-wick'
     Burn without a wick. It is the quickest way to lose a lantern, and so
     it is seldom done.

'-s'
'--script'
     never ask

The state of a lantern is one of these:

     Sign  Meaning
     '*'   lit, and nobody near
     '-'   out

The log looks like this:

     # Log of 3 March
     18:00 lit
       (by the keeper)

     06:00 out

   Then it is day.

Tag Table:
Node: Top123
Node: Options456

End Tag Table
"""


def test_an_option_of_a_manual_page_stands_before_what_is_said_of_it_under_the_heading_it_has() -> None:
    document = read_document(PAGE.encode(), "lamp.txt")
    assert document.title == "lamp-trim(8)"
    headings = re.findall(r"^(#+) (.*)$", document.text, re.MULTILINE)
    assert headings == [
        ("#", "lamp-trim(8)"),
        ("##", "NAME"),
        ("##", "SYNOPSIS"),
        ("##", "DESCRIPTION"),
        ("###", "Wicks of rope"),
        ("##", "OPTIONS"),
        ("##", "EXAMPLES"),
        ("##", "RETURN CODES"),
    ]
    blocks = document.text.split("\n\n")
    assert blocks[blocks.index("--deep, -d <number>") + 1] == "How many millimetres are taken off. The default is 2."
    assert blocks[blocks.index("-q") + 1] == "Says nothing."
    assert blocks[blocks.index("-v, --verbose") + 1].startswith("Says what is done, one line")
    assert "- never on Sundays" in blocks
    assert "```\nlamp trim --deep 3 north\nlamp light north\n```" in document.text
    assert blocks[blocks.index("```\nlamp trim --all\n```") + 1] == "Put the old wick back, if there is one."
    assert "lamp trim [<options>] <lantern>\nlamp cut <lantern> (old syntax)" in blocks
    assert "specified\nin lamp(5)." in document.text


def test_an_info_file_is_read_without_the_lines_between_its_nodes() -> None:
    document = read_document(INFO.replace("lamp.texi.", "lamp.texi. " + "You may copy it. " * 30).encode(), "lamp.info")
    assert document.title == "The Lamp Manual"
    text = document.text
    blocks = text.split("\n\n")
    assert [one for one in blocks if one.startswith("#")] == ["# The Lamp Manual", "# 1 Options"]
    assert blocks[blocks.index("'-n'\n'--no-wick'") + 1].startswith("Burn without a wick.")
    assert blocks[blocks.index("'-s'\n'--script'") + 1] == "never ask"
    assert "- '*' lit, and nobody near\n- '-' out" in text
    assert "```\n# Log of 3 March\n18:00 lit\n  (by the keeper)\n\n06:00 out\n```" in text
    assert "run out before the morning. See The keeper." in text
    assert not re.search("Node|File:|Menu|DIR-ENTRY|Tag Table", text)


@pytest.mark.parametrize("text", [PAGE, INFO])
def test_no_word_of_a_manual_is_lost(text: str) -> None:
    """But those that lead around."""
    said = re.sub(r"‐\n\s*", "", text)
    said = re.sub(r"(?m)^(?:File: .*|\* Menu:|INFO-DIR.*|START-INFO.*|END-INFO.*|\* Lamp: .*|LAMP-TRIM.*)$", "", said)
    said = said.split("Tag Table:")[0].replace("*note The keeper: (harbour)Keeper", "The keeper")
    words, kept = (Counter(re.findall(r"[\w‐]+", one)) for one in (said, read_document(text.encode(), "a.txt").text))
    assert not words - kept


def test_other_text_that_is_indented_stays_as_it_is() -> None:
    poem = "THE LAMP\n   burns at night\n\nTHE SEA\n      never sleeps\n         at all\n"
    assert read_document(poem.encode(), "poem.txt").text == poem.strip()
    letter = "See lamp(8) and then lamp(8)\n\nHELLO\n       there\n\nYOURS\n       Anna\n"
    assert read_document(letter.encode(), "letter.txt").text == letter.strip()


BSD = """\
BUOY(1)                   BSD General Commands Manual                  BUOY(1)

NAME
     buoy — say where a buoy lies

DESCRIPTION
     The  place  is  looked  up in the list of the harbour, which has these op‐
     tions:   near, far.  When both are given the nearer one counts, as al‐
     ways  in a list.

BSD                            November 19, 2023                           BSD
"""


def test_the_last_line_of_a_page_is_no_heading_and_a_cut_word_in_even_lines_moves_nothing() -> None:
    text = read_document(BSD.encode(), "buoy.1.txt").text
    assert re.findall(r"^#.*", text, re.MULTILINE) == ["# buoy(1)", "## NAME", "## DESCRIPTION"]
    assert "these options:\nnear, far. When both are given the nearer one counts, as always\nin a list." in text


@pytest.mark.timeout(60)
def test_manuals_that_are_made_to_be_trouble_are_read_all_the_same() -> None:
    """Minutes, or no end of what is said of something else, before."""
    examples = f"{INFO.split('Tag Table')[0]}{'     lamp.light' * 3}\n\n" + "     lamp.light()\n\n" * 30_000
    assert read_document(examples.encode(), "lamp.info").text.count("lamp.light()") == 30_000
    stairs = PAGE + "OPTIONS\n" + "".join(f"{' ' * (7 + 2 * step)}-x\n" for step in range(800))
    assert read_document(stairs.encode(), "lamp.txt").text.count("-x") == 800


def test_a_page_whose_blanks_are_tabs_is_read_as_one() -> None:
    """`man lamp-trim | col -b` writes them so."""

    def tabbed(line: str) -> str:
        parts = [line[at : at + 8] for at in range(0, len(line), 8)]
        return "".join(f"{part.rstrip()}\t" if len(part) == 8 and part.endswith("  ") else part for part in parts)

    text = "\n".join(map(tabbed, PAGE.split("\n")))
    assert "\t" in text.split("\n")[0]
    assert read_document(text.encode(), "a.txt").text == read_document(PAGE.encode(), "a.txt").text
