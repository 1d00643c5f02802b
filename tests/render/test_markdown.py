"""Markdown line by line: what each construct looks like, that nothing dangerous survives, and that everything fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from weft.render.markdown import fence_after, markdown_lines
from weft.render.page import page

WIDE = page(80, False)


def shown(text: str, width: int = 80, fence: str = "") -> list[str]:
    return [line.plain for line in markdown_lines(text.split("\n"), page(width, False), fence=fence)]


def styles(line: Text) -> dict[str, str]:
    return {line.plain[span.start : span.end]: str(span.style) for span in line.spans}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("## A heading ##", ["A heading"]),
        ("- one\n* two\n+ three", ["• one", "• two", "• three"]),
        ("  1. first\n  2) second", ["  1. first", "  2) second"]),
        ("> quoted", ["│ quoted"]),
        ("---", ["───"]),
        ("| a | b |", ["| a | b |"]),
        ("see [the page](https://x.example/y)", ["see the page (https://x.example/y)"]),
        ("a [page](https://x.example/y) and `more`", ["a page (https://x.example/y) and more"]),
        ("a\n\nb", ["a", "", "b"]),
        ("2 * 3 * 4 and snake_case_name", ["2 * 3 * 4 and snake_case_name"]),
        ("[bold red]not a style[/]", ["[bold red]not a style[/]"]),
    ],
)
def test_each_construct(source: str, wanted: list[str]) -> None:
    assert shown(source) == wanted


def test_emphasis_within_a_line() -> None:
    (line,) = markdown_lines(["a **strong** and *weak* word, `co de` too"], WIDE)
    assert line.plain == "a strong and weak word, co de too"
    assert styles(line) == {"strong": "bold", "weak": "italic", "co": "cyan", " ": "cyan", "de": "cyan"}


def test_code_is_kept_as_it_is_and_its_fence_is_not_shown() -> None:
    assert shown("before\n```python\nif **x**:\n\treturn 1\n```\nafter") == [
        "before",
        "  python",
        "  if **x**:",
        "      return 1",
        "after",
    ]


def test_an_open_fence_is_carried_to_the_next_lines() -> None:
    first, rest = ["text", "```", "code"], ["more code", "```", "**text**"]
    fence = fence_after(first)
    assert fence == "```"
    assert fence_after(rest, fence) == ""
    assert shown("\n".join(rest), fence=fence) == ["  more code", "text"]
    assert fence_after(["~~~", "```", "still"], "") == "~~~"
    assert fence_after(["```", "```python"], "") == "```"


def test_a_list_item_hangs_and_wide_characters_count_twice() -> None:
    assert shown("- " + "日本語 " * 8, width=30) == ["• 日本語 日本語 日本語 日本語", "  日本語 日本語 日本語 日本語"]


def test_escape_sequences_become_visible() -> None:
    (line,) = shown("a \x1b[2J\x9b31m\u202eb\r")
    assert "\x1b" not in line
    assert "\x9b" not in line
    assert "\u202e" not in line
    assert line.startswith("a ␛[2J")


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.integers(30, 90), st.sampled_from(["", "```"]))
def test_everything_fits_and_nothing_moves_the_cursor(text: str, width: int, fence: str) -> None:
    for line in markdown_lines(text.split("\n"), page(width, False), fence=fence):
        assert cell_len(line.plain) <= width
        assert all(character >= " " and character != "\x7f" for character in line.plain)


@given(st.lists(st.sampled_from(["a", "```", "~~~", "```py", "", "- b", "````"]), max_size=12), st.integers(0, 12))
def test_in_pieces_it_looks_the_same(lines: list[str], at: int) -> None:
    whole = [line.plain for line in markdown_lines(lines, WIDE)]
    head, tail = lines[:at], lines[at:]
    pieces = markdown_lines(head, WIDE) + markdown_lines(tail, WIDE, fence=fence_after(head))
    assert [line.plain for line in pieces] == whole


TABLE = "| name | count |\n|:--|--:|\n| **tides** | 7 |\n| a long name of a thing | 12,345 |"


def test_a_table_is_drawn_as_wide_as_it_has_to_be() -> None:
    assert shown(TABLE) == [
        "name                   │  count",
        "───────────────────────┼───────",
        "tides                  │      7",
        "a long name of a thing │ 12,345",
    ]
    assert shown(f"before\n{TABLE}\nafter")[0] == "before"
    assert shown(f"before\n{TABLE}\nafter")[-1] == "after"


def test_a_table_gives_way_where_there_is_little_room() -> None:
    narrow = shown(TABLE, 30)
    assert all(cell_len(line) <= 30 for line in narrow)
    assert [line.partition("│")[0].strip() for line in narrow[3:]] == ["a long name of a", "thing"]
    many = "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n| gggggg | hhhhhh | iiiiii | jjjjjj | kkkkkk | llllll |"
    assert shown(many, 30)[0].startswith("| a | b")


def test_code_has_the_colours_of_its_language() -> None:
    (line,) = markdown_lines(["def tide(): return 7  # high"], WIDE, fence="```python")
    looks = styles(line)
    assert line.plain == "  def tide(): return 7  # high"
    assert looks["def"] == looks["return"] == "bold magenta"
    assert looks["7"] == "yellow"
    assert "dim" in looks["# high"]
    (unknown,) = markdown_lines(["def tide()"], WIDE, fence="```nosuchlanguage")
    assert styles(unknown) == {"def tide()": "cyan"}


def test_a_fence_keeps_its_language_until_it_is_closed() -> None:
    assert fence_after(["```python", "x = 1"]) == "```python"
    assert fence_after(["````md", "```", "x"]) == "````md"
    assert fence_after(["```python", "x = 1", "```"]) == ""
