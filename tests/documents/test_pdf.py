"""PDF: reading order, paragraphs, hyphens, running lines, pages."""

from __future__ import annotations

import re

import pytest

from tests.documents.made_pdf import At, column, pdf
from weft.documents import Document, read_document

LINES = [
    "The estuary was surveyed twice, in March and again in October, by the",
    "same three people in the same boat. They counted birds from the bank at",
    "first light and took samples of the mud at low water.",
]


def read(data: bytes) -> Document:
    return read_document(data, "paper.pdf")


@pytest.mark.parametrize("compress", [False, True])
def test_lines_are_joined_to_a_paragraph(compress: bool) -> None:
    found = read(pdf([column(72, 760, LINES)], compress=compress))
    assert found.kind == "pdf"
    assert found.text == " ".join(LINES)
    assert found.words == len(found.text.split())


def test_what_the_file_says_of_itself() -> None:
    info = {
        "Title": "Birds of the estuary",
        "Author": "M. Quill",
        "CreationDate": "D:20230417101500Z",
        "Subject": "Birds",
    }
    found = read(pdf([column(72, 760, LINES)], info, catalog="/Lang(en-GB)"))
    assert (found.title, found.author, found.language, found.published) == (
        "Birds of the estuary",
        "M. Quill",
        "en-GB",
        "",
    )
    assert found.extra == {"subject": "Birds", "created": "2023-04-17"}


@pytest.mark.parametrize("title", ["Microsoft Word - final_v7.docx", "untitled", "paper.tex"])
def test_the_name_of_another_file_is_no_title(title: str) -> None:
    page = [At(72, 780, "A survey of birds", 20), *column(72, 740, LINES)]
    assert read(pdf([page], {"Title": title})).title == "A survey of birds"


def test_a_wide_gap_and_an_indent_begin_a_paragraph() -> None:
    page = [
        *column(72, 760, LINES),
        *column(72, 700, ["After a gap another paragraph goes on across the page until it is full", "and ends here."]),
        *column(84, 700 - 2 * 13.2, ["An indented line begins another paragraph, which is also long enough"]),
        *column(72, 700 - 3 * 13.2, ["to reach the next line."]),
    ]
    assert read(pdf([page])).text.split("\n\n") == [
        " ".join(LINES),
        "After a gap another paragraph goes on across the page until it is full and ends here.",
        "An indented line begins another paragraph, which is also long enough to reach the next line.",
    ]


def test_a_short_line_that_ends_a_sentence_ends_the_paragraph() -> None:
    lines = [*LINES, "Nothing else was taken, and nothing was put back in its place, which mattered", "to them."]
    assert read(pdf([column(72, 760, lines)])).text.split("\n\n") == [" ".join(LINES), " ".join(lines[3:])]


def test_words_cut_at_the_end_of_a_line_are_mended() -> None:
    lines = [
        "A well-known problem of surveys is that the observers get better with prac-",
        "tice, so that the second count finds more birds. We used a self-",
        "contained method with two teams, and the state-of-the-art in 1990 was well-",
        "known to both of them; COVID-",
        "19 came later and plays no part in it.",
    ]
    found = read(pdf([column(72, 760, lines)]))
    assert "with practice, so that" in found.text
    assert "a self-contained method" in found.text
    assert "was well-known to both" in found.text
    assert "COVID-19 came" in found.text
    assert "1 word put together that the end of a line had cut" in found.notes


KINDS = ["herons", "terns", "swans", "coots", "grebes", "ducks", "geese", "owls", "rails"]


def body(number: int) -> list[At]:
    """Nine lines about another kind of bird on each page."""
    bird, other = KINDS[number % 9], KINDS[(number + 4) % 9]
    lines = [
        f"Page {number} tells of the {bird} that were seen in that year by the same three",
        f"people, and of what {bird} find in the reeds below the old lock, where the water",
        f"is slow. In spring there are more {bird} than {other}, which nobody has been able",
        f"to explain so far. Some say that {other} are shy, and others that the count is not",
        f"made at the right hour. A count of {bird} at night would settle it, but nobody has",
        f"offered to make one. The page ends with the dates on which {bird} came and went,",
        f"and with a drawing of two {other} by the youngest of the three, who had never seen",
        f"any before. In the margin somebody has written that they look like {bird}, and so",
        f"they do. That is all there is to say about {bird} and {other}.",
    ]
    return column(72, 740, lines)


def test_headers_footers_and_page_numbers_that_repeat_are_dropped() -> None:
    pages = [
        [
            At(72, 810, "Birds of the estuary", 9),
            *body(number),
            At(290, 30, str(number), 9),
            At(72, 42, "Draft, not for print", 9),
        ]
        for number in range(1, 7)
    ]
    found = read(pdf(pages))
    assert "Birds of the estuary" not in found.text
    assert "Draft" not in found.text
    assert found.text.startswith("Page 1 tells")
    assert found.text.endswith("That is all there is to say about geese and terns.")
    assert not re.search(r"^\d+$", found.text, re.MULTILINE)
    assert "headers, footers and page numbers left out" in found.notes


def test_a_line_that_does_not_repeat_stays() -> None:
    pages = [[At(72, 810, f"Chapter on {word}", 11), *body(1)] for word in ("herons", "terns", "swans")]
    found = read(pdf(pages))
    assert [word for word in ("herons", "terns", "swans") if f"Chapter on {word}" in found.text] == [
        "herons",
        "terns",
        "swans",
    ]


def test_what_the_file_marks_as_a_header_is_dropped() -> None:
    stream = (
        b"/Artifact <</Type /Pagination /Subtype /Header>> BDC BT /R 9 Tf 72 810 Td (Only once) Tj ET EMC\n"
        b"BT /R 11 Tf 72 700 Td (The only sentence of this page.) Tj ET"
    )
    assert read(pdf([stream])).text == "The only sentence of this page."


def test_pages_begin_where_their_text_does() -> None:
    found = read(pdf([body(1), [], body(3)]))
    first, second, third = found.pages
    assert found.text[first:].startswith("Page 1 tells")
    assert found.text[third:].startswith("Page 3 tells")
    assert second == third
    assert "1 page without text" in found.notes


def test_a_paragraph_goes_on_over_the_page() -> None:
    one = column(
        72, 740, ["The last line of the first page does not end the sentence that it begins, but", "goes on with"]
    )
    two = column(72, 740, ["what stands on the second page. There it is finished, as everybody expects it."])
    footnote = [At(72, 60, "1 A footnote stands between the two halves.", 8)]
    found = read(pdf([[*one, *footnote], two]))
    assert "but goes on with what stands on the second page." in found.text
    assert found.text[found.pages[1] :].startswith("what stands on the second page")
    assert found.text.index("footnote stands") > found.pages[1]


def test_columns_are_read_one_after_the_other() -> None:
    left = [f"Left line {index} keeps to its own column here" for index in range(12)]
    right = [f"Right line {index} keeps to its own column too" for index in range(12)]
    rows = [text for pair in zip(column(60, 700, left, 10), column(310, 700, right, 10), strict=True) for text in pair]
    found = read(pdf([[At(60, 760, "One headline across both columns of this page", 22), *rows]]))
    assert found.text.startswith("# One headline across both columns of this page\n")
    places = [found.text.index(line) for line in (*left, *right)]
    assert places == sorted(places)


def side(name: str, count: int) -> list[str]:
    return [f"{name} line {index} keeps to its own column of text" for index in range(count)]


def in_order(text: str, lines: list[str]) -> bool:
    places = [text.find(line) for line in lines]
    return -1 not in places and places == sorted(places)


@pytest.mark.parametrize("shift", [0, 6])
@pytest.mark.parametrize("places", [(60, 264), (60, 264, 468)])
def test_columns_painted_one_after_the_other_may_stand_close_together(places: tuple[int, ...], shift: int) -> None:
    names = ["Left", "Middle", "Right"]
    page = [At(60, 760, "One headline that goes across all of the columns", 22)]
    for index, x in enumerate(places):
        page += column(x, 700 - index * shift, side(names[index], 4 + index), 10)
    found = read(pdf([page]))
    wanted = [line for index in range(len(places)) for line in side(names[index], 4 + index)]
    assert in_order(found.text, wanted)
    assert not any("order" in note for note in found.notes)


def test_columns_in_a_part_of_a_page() -> None:
    wide = [
        f"Line {index} of a text that goes across the whole page, as the lines around it do too" for index in range(14)
    ]
    page = [
        *column(60, 760, wide, 10),
        *column(60, 560, side("Left", 6), 10),
        *column(264, 560, side("Right", 6), 10),
        At(60, 460, "A last line goes across the whole page and ends it.", 10),
    ]
    assert in_order(read(pdf([page])).text, [*wide, *side("Left", 6), *side("Right", 6), "A last line goes across"])


def test_columns_begin_again_below_a_picture_that_goes_across() -> None:
    page = [
        *column(60, 760, side("First", 5), 10),
        *column(264, 760, side("Second", 5), 10),
        *column(60, 500, side("Third", 5), 10),
        *column(264, 500, side("Fourth", 5), 10),
    ]
    wanted = [line for name in ("First", "Second", "Third", "Fourth") for line in side(name, 5)]
    assert in_order(read(pdf([page])).text, wanted)


def test_a_table_of_long_texts_is_read_cell_by_cell() -> None:
    page: list[At] = []
    wanted = []
    for row in range(5):
        for x, name in ((60, f"Old{row}"), (300, f"New{row}")):
            page += column(x, 760 - 50 * row, side(name, 3), 10)
            wanted += side(name, 3)
    assert in_order(read(pdf([page])).text, wanted)


def test_gaps_between_words_are_no_columns() -> None:
    words = ["they", "came", "from", "the", "bank", "at", "first", "light", "and", "took", "mud", "home"]
    page = [
        At(60 + 42 * place + 3 * ((line * 7 + place * 5) % 4), 760 - 13.2 * line, word, 9)
        for line in range(8)
        for place, word in enumerate(words)
    ]
    assert " ".join(read(pdf([page])).text.split()).count(" ".join(words)) == 8


def test_texts_that_no_white_parts_stay_in_the_order_they_are_painted() -> None:
    slope = [f"{'and then ' * (index // 2)}the lines get longer, {index}" for index in range(8)]
    beside = [f"beside it another text runs down, line {index}" for index in range(8)]
    page = [At(60, 760 - 13.2 * index, line, 10) for index, line in enumerate(slope)]
    page += [At(180 + 22 * index, 760 - 13.2 * index, line, 10) for index, line in enumerate(beside)]
    found = read(pdf([page]))
    assert in_order(found.text, [*slope, *beside])
    assert any("in the file's own order" in note for note in found.notes)


def test_text_painted_out_of_order_is_read_in_order() -> None:
    page = column(72, 700, [f"Sentence number {index} of the page ends here." for index in range(6)])
    found = read(pdf([list(reversed(page))]))
    places = [found.text.index(f"number {index} ") for index in range(6)]
    assert places == sorted(places)


def test_a_table_is_read_by_rows() -> None:
    rows = [("Month", "Herons", "Terns"), ("March", "12", "0"), ("June", "31", "240"), ("October", "19", "3")]
    page = [
        *column(72, 760, LINES),
        *[At(72 + 120 * x, 680 - 16 * y, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)],
    ]
    assert "March 12 0\nJune 31 240\nOctober 19 3" in read(pdf([page])).text


def test_headings_lists_and_code() -> None:
    page = [
        At(72, 780, "The survey", 20),
        At(72, 750, "Method", 15),
        *column(72, 725, LINES),
        At(72, 670, "Results", 11, "B"),
        At(72, 640, "• Herons came in March and stayed the whole summer, which they had not"),
        At(84, 640 - 13.2, "done before."),
        At(72, 640 - 2 * 13.2, "• Terns came in June."),
        *column(72, 580, ["def count(birds):", "    return len(birds)"], 10, "C"),
    ]
    assert read(pdf([page])).text.split("\n\n") == [
        "# The survey",
        "## Method",
        " ".join(LINES),
        "#### Results",
        "- Herons came in March and stayed the whole summer, which they had not done before.\n- Terns came in June.",
        "```\ndef count(birds):\n    return len(birds)\n```",
    ]


def test_spaces_that_are_only_gaps_become_spaces() -> None:
    stream = b"BT /R 12 Tf 72 700 Td [(T)80(w)10(o)-300(words)-280(apart,)-2600(far away)] TJ ET"
    assert read(pdf([stream])).text == "Two words apart, far away"


def test_strings_escapes_forms_and_next_lines() -> None:
    form = b"BT /R 12 Tf 72 600 Td (inside a form.) Tj ET"
    extra = [b"<</Type/XObject/Subtype/Form/BBox[0 0 595 842]/Length %d>>stream\n" % len(form) + form + b"\nendstream"]
    stream = (
        rb"BT /R 12 Tf 14 TL 72 640 Td (One \(nested \(twice\)\) and \101 octal) Tj"
        rb" (on the next line) ' <616E642068 6578> ' ET"
        b" BT /R 12 Tf 72 590 Td (balanced (parens) too) Tj ET q 1 0 0 1 0 5 cm /X Do Q"
    )
    found = read(pdf([stream], resources="/XObject<</X 8 0 R>>", extra=extra)).text
    for part in (
        "One (nested (twice)) and A octal",
        "on the next line",
        "and hex",
        "balanced (parens) too",
        "inside a form.",
    ):
        assert part in found


def test_letters_of_a_font_with_its_own_map() -> None:
    mapping = b"1 beginbfchar\n<01> <FB01>\nendbfchar\n2 beginbfchar\n<02> <006E>\n<03> <0064>\nendbfchar"
    extra = [
        b"<</Type/Font/Subtype/Type1/BaseFont/Odd/FirstChar 1/LastChar 3/Widths[500 500 500]/ToUnicode 9 0 R>>",
        b"<</Length %d>>stream\n" % len(mapping) + mapping + b"\nendstream",
    ]
    stream = b"BT /O 12 Tf 72 700 Td (\x01\x02\x03) Tj ET"
    assert (
        read(
            pdf([stream], resources="/Font<</O 8 0 R>>", extra=extra)
            .replace(b">>/Font<</O", b"/O")
            .replace(b"8 0 R>>>>>>", b"8 0 R>>>>")
        ).text
        == "find"
    )


def test_turned_text_is_left_out_and_said() -> None:
    page = [*column(72, 760, LINES), At(30, 300, "arXiv:0000.0000 [x.YZ]", 14, turned=True)]
    found = read(pdf([page]))
    assert "arXiv" not in found.text
    assert any("turned text" in note for note in found.notes)


def test_a_page_that_lies_on_its_side_is_read_upright() -> None:
    lines = ["The whole page lies on its side, as wide tables do, and is read like", "any other page of the document."]
    page = [At(100 + 14 * index, 72, line, turned=True) for index, line in enumerate(lines)]
    assert read(pdf([page])).text == " ".join(lines)


def test_hebrew_is_read_from_right_to_left() -> None:
    mapping = b"".join(b"<%02X> <%04X>\n" % (index + 1, 0x05D0 + index) for index in range(27))
    extra = [
        b"<</Type/Font/Subtype/Type1/BaseFont/Heb/FirstChar 1/LastChar 32/Widths["
        + b"500 " * 32
        + b"]/ToUnicode 9 0 R>>",
        b"<</Length %d>>stream\n27 beginbfchar\n" % (len(mapping) + 26) + mapping + b"endbfchar\nendstream",
    ]
    said = "שלום עולם 2024"
    painted = "2024 " + "שלום עולם"[::-1]
    codes = bytes(ord(character) - 0x05D0 + 1 if character >= "א" else ord(character) for character in painted)
    data = pdf([b"BT /O 12 Tf 72 700 Td <" + codes.hex().encode() + b"> Tj ET"], extra=extra).replace(
        b"/R 3 0 R", b"/O 8 0 R"
    )
    assert read(data).text == said
