"""What others wrote, as HTML: formatted, and nothing active in it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import weft.render.html
from weft.render.formulas import ELEMENTS
from weft.render.html import code_html, difference_html, markdown_html

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "![x](javascript:alert(1))",
    "<svg/onload=alert(1)>",
    "<iframe src=//e.example></iframe>",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "<a href='x' style='position:fixed'>x</a>",
    "<style>*{display:none}</style>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "[x](https://e.example 'a\" onmouseover=\"alert(1)')",
    "<form action=//e.example><input name=x></form>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "[a]: javascript:alert(1)\n\n[a]",
    "<meta http-equiv=refresh content=0;url=//e.example>",
    "<base href=//e.example>",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\text{<script>alert(1)</script>}$",
    r"$$\unknown{<img src=x onerror=alert(1)>}$$",
]


class Inside(HTMLParser):
    """The elements and attributes that a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_active_gets_through(text: str) -> None:
    for shown in (markdown_html(text), code_html(text, "html"), code_html(text), difference_html("", text)):
        inside = Inside()
        inside.feed(shown)
        assert inside.tags <= {"p", "pre", "code", "em", "strong", "a", "span", "div", *ELEMENTS}
        assert {name for name, _ in inside.attributes} <= {
            "class",
            "href",
            "title",
            "rel",
            "display",
            "xmlns",
            "stretchy",
        }
        assert all(value.startswith(("https://", "http://")) for name, value in inside.attributes if name == "href")


def test_a_picture_from_elsewhere_is_named_and_not_loaded() -> None:
    shown = markdown_html("![a map](https://e.example/p.png)")
    assert "<img" not in shown
    assert 'href="https://e.example/p.png"' in shown
    assert "a map" in shown


def test_marks_of_direction_and_of_a_terminal_are_made_visible() -> None:
    shown = markdown_html("a\u202eb\x1b[31mc")
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_code_has_colours_as_classes_and_keeps_its_lines() -> None:
    shown = markdown_html("```python\ndef f():\n\treturn 1\n```")
    assert '<span class="k">def</span>' in shown
    assert shown.count("\n") >= 2
    assert "\t" in shown
    assert "&lt;unknown" in code_html("<unknown", "no-such-language")


def test_tables_lists_and_emphasis_are_what_they_are() -> None:
    shown = markdown_html("| a | b |\n|---|---|\n| 1 | 2 |\n\n- *x*\n- ~~y~~")
    assert re.search(r"<table>.*<td>1</td>.*</table>", shown, re.DOTALL)
    assert "<em>x</em>" in shown
    assert "<s>y</s>" in shown


def test_a_difference_is_told_by_signs_too() -> None:
    shown = difference_html("a\nb\n", "a\nc\n", names=("first", "second"))
    assert '<span class="line removed">-b</span>' in shown
    assert '<span class="line added">+c</span>' in shown
    assert "first" in shown
    assert "no difference" in difference_html("same", "same")


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert markdown_html("# x\n" * 100_000).startswith("<pre>")


def test_the_first_texts_may_be_formatted_by_several_threads_at_once() -> None:
    program = """
import sys, threading
sys.setswitchinterval(1e-6)
from weft.render.formulas import ELEMENTS
from weft.render.html import code_html
together, made = threading.Barrier(8), []
def one():
    together.wait()
    made.append(code_html("[1]", "json"))
threads = [threading.Thread(target=one) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(set(made)) == 1 and len(made) == 8, made
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    "text",
    [
        "so $h_0 + A_1$ it is",
        "$$\n\\sum_{i=1}^{n} A_i\n$$",
        "so \\(h_0\\) it is",
        "\\[ \\frac{a}{b} \\]",
        "$$\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}$$",
    ],
)
def test_a_formula_is_drawn(text: str) -> None:
    shown = markdown_html(text)
    assert "<math" in shown
    assert "$" not in shown
    assert "\\" not in shown


@pytest.mark.parametrize(
    "text", ["It costs $5 and $6.", "`$x$`", "US$100 and A$50", "a \\$5 note, $ 6$", "```\n$x$\n```", "$HOME and $PATH"]
)
def test_an_amount_of_money_or_code_is_no_formula(text: str) -> None:
    assert "<math" not in markdown_html(text)


@pytest.mark.parametrize("text", [r"$\nowhere{x}$", "${$", r"$\begin{gather*$", "$" + "x+" * 2000 + "1$"])
def test_a_formula_that_cant_be_drawn_is_shown_as_it_is_written(text: str) -> None:
    shown = markdown_html(text)
    assert "<math" not in shown
    assert text.strip("$")[:20] in shown.replace("&amp;", "&")


def test_a_column_of_numbers_stands_on_its_side() -> None:
    shown = markdown_html("| a | b |\n|---|--:|\n| x | 1 |\n")
    assert '<th class="right">b</th>' in shown
    assert '<td class="right">1</td>' in shown
    assert "style" not in shown


def test_a_difference_of_texts_that_are_made_to_be_trouble_is_shown() -> None:
    """A server shows it to whoever may look: difflib alone would be busy with it for days."""
    before = "\n".join(str(number % 101) for number in range(40_000))
    after = "\n".join(f"{number % 101}\nnew {number}" for number in range(20_000))
    assert '<span class="line added">+new 19999</span>' in difference_html(before, after)


def test_code_whose_colours_would_take_minutes_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is there; what was not coloured in time stands as it is."""
    monkeypatch.setattr(weft.render.html, "_COLOURING_SECONDS", 0.5)
    code = "a: 1\n" + "*" * 150_000 + "\nlast: 2"
    for shown in (code_html(code, "yaml"), markdown_html(f"```yaml\n{code}\n```\n")):
        assert '<span class="nt">a</span>' in shown
        plain = re.sub("<[^>]*>", "", shown)
        assert plain.count("*") == 150_000
        assert plain.rstrip().endswith("last: 2")
