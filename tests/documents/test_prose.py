"""Markdown and plain text: front matter, titles, the normal form, and encodings."""

from __future__ import annotations

import codecs
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.documents import Document, DocumentError, read_document
from weft.documents.characters import normalise


def read(text: str | bytes, name: str = "note.md") -> Document:
    return read_document(text.encode() if isinstance(text, str) else text, name)


# -- front matter


def test_front_matter_is_taken_off_and_understood() -> None:
    found = read(
        "---\ntitle: 'Tides: a primer'\nauthor: Ida Brandt\ndate: 2024-05-06\nlang: en\nsource_url: https://x.example/a\n"
        "id: tides\ntags:\n  - sea\n  - moon\nrating: 4\ndraft: yes\n---\n# Heading\n\nText.\n"
    )
    assert (found.kind, found.title, found.author, found.published) == (
        "markdown",
        "Tides: a primer",
        "Ida Brandt",
        "2024-05-06",
    )
    assert (found.language, found.url) == ("en", "https://x.example/a")
    assert found.extra == {"id": "tides", "tags": "sea, moon", "rating": "4", "draft": "yes"}
    assert found.text == "# Heading\n\nText."


def test_toml_front_matter() -> None:
    found = read('+++\ntitle = "Tides"\ndate = 2024-05-06\n[params]\nmood = "calm"\n+++\nText.\n')
    assert (found.title, found.published, found.extra, found.text) == (
        "Tides",
        "2024-05-06",
        {"params": "mood: calm"},
        "Text.",
    )


def test_authors_as_a_list_or_a_mapping() -> None:
    assert read("---\nauthors:\n- Ida\n- Per\n---\nText.").author == "Ida, Per"
    assert read("---\nauthor:\n  name: Ida\n  mail: x\n---\nText.").author == "Ida"


def test_front_matter_that_is_no_yaml_is_read_line_by_line() -> None:
    found = read('---\ntitle: Tides: "a primer\nauthor: @ida\n---\nText.')
    assert (found.title, found.author) == ('Tides: "a primer', "@ida")
    assert "the front matter is not valid YAML; it was read line by line" in found.notes


@pytest.mark.parametrize(
    "text", ["---\n\nA line above and below.\n\n---\n\nMore.", "---\nnot closed: at all\n\nText.", "---"]
)
def test_a_line_of_dashes_is_not_always_front_matter(text: str) -> None:
    assert read(text).text == text


def test_aliases_that_explode_do_not() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    found = read("---\ntitle: Kept\n" + "\n".join(lines) + "\n---\nText.")
    assert (found.title, found.text) == ("Kept", "Text.")


def test_deep_front_matter_does_not_recurse() -> None:
    assert read("---\ntitle: Kept\na: " + "[" * 30_000 + "\n---\nText.").text == "Text."


# -- titles


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("Intro.\n\n# The *real* [title](http://x) #\n\nText.", "a.md", "The real title"),
        ("The title\n=========\n\nText.", "a.md", "The title"),
        ("## Only a section\n\nText goes on here.", "a.md", "Only a section"),
        ("```sh\n# no heading\n```\n\n# Yes\n", "a.md", "Yes"),
        ("On the use of ferries\n\nThe first ferry crossed in 1820.", "a.txt", "On the use of ferries"),
        ("The first ferry crossed in 1820.\n\nIt sank.", "notes/my_first-ferry.txt", "my first ferry"),
        ("The first ferry crossed in 1820.", "", "The first ferry crossed in 1820."),
        ("The first ferry crossed in 1820.", "-", "The first ferry crossed in 1820."),
        ("the-pump\n========\n\nText.\n\n-----\n# Colours of the pump\nred = 1\n-----\n", "a.txt", "the-pump"),
        ("Words of the pump. " * 30 + "\n\n# A comment in a listing\nred = 1\n", "pump-readme.txt", "pump readme"),
        ("Words of the pump. " * 8 + "\n\nBuild failures\n--------------\n\nText.", "pump.txt", "pump"),
        ("<!--\n" + "A licence of many words. " * 40 + "\n-->\n# The pump\n\nText.", "a.md", "The pump"),
        ("News of the pump   -*- outline -*-\n\nText.", "a.txt", "News of the pump"),
        ("!!! ???", "...", "!!! ???"),
        ("word " * 200, "", "word word word word word word word word word word word…"),
    ],
)
def test_titles(text: str, name: str, title: str) -> None:
    assert read(text, name).title == title


# -- kinds


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Just words.", "a.md", "markdown"),
        ("Just words.", "a.txt", "text"),
        ("# Heading\n\nWords.", "-", "markdown"),
        ("See [this](https://x.example/y) and **that**.", "-", "markdown"),
        ("---\ntitle: x\n---\nWords.", "a.txt", "markdown"),
        ("<!DOCTYPE html><title>x</title><p>Words that are long enough to count.</p>", "a.txt", "html"),
        ("<p align=center>A picture</p>\n<p>and more</p>\n\n# Readme\n\nWords.", "README.md", "markdown"),
        ("<div><p>One paragraph.</p><p>Two.</p></div>", "-", "html"),
        ("a < b and c > d", "-", "text"),
        ("%PDF- is how such files begin.\n", "-", "text"),
        ("At 10:30 --> later, he said.", "-", "text"),
    ],
)
def test_kinds_are_found_by_content(text: str, name: str, kind: str) -> None:
    if text.startswith("%PDF-"):
        text = f"The mark {text}"
    assert read(text, name).kind == kind


# -- the normal form


def test_line_ends_spaces_and_controls() -> None:
    found = read(
        "One.  \r\nTwo.\rThree.\x0cNext page.\x0bLine.\u2028Sep.\u2029Para.\n\n\n\n\nEnd.\ttab\xa0nbsp\x00\x07\x9b!\n",
        "a.txt",
    )
    assert found.text == "One.\nTwo.\nThree.\n\nNext page.\nLine.\nSep.\n\nPara.\n\nEnd.    tab nbsp!"
    assert found.notes == ("3 control characters removed",)


def test_letters_that_man_prints_over_each_other_stand_once() -> None:
    bold = "".join(f"{letter}\b{letter}" for letter in "lamp–trim")
    lined = "".join(letter if letter == " " else f"_\b{letter}" for letter in "die Mühle")
    found = read_document(f"N\bNA\bAM\bME\bE\n       {bold} of {lined}\n".encode(), "lamp.txt")
    assert found.text == "NAME\n       lamp–trim of die Mühle"
    assert found.notes == ()


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Lamp [![Downloads](a.svg)](https://lamp.example) [![Build][svg]][url]", "Lamp"),
        ("lamp <sup>[![Version][svg]][url]</sup>", "lamp"),
        ("![Lamp](logo.png)", "Lamp"),
        ("[![Lamp](logo.png)](https://lamp.example)", "Lamp"),
        ("The `wick` of [Anna](https://lamp.example)", "The wick of Anna"),
    ],
)
def test_a_title_has_no_badges(heading: str, title: str) -> None:
    assert read_document(f"# {heading}\n\nThe lamp burns.\n".encode(), "README.md").title == title


def test_colours_of_a_terminal_are_removed() -> None:
    assert read("\x1b[31mred\x1b[0m text\x1b]0;title\x07 here", "a.txt").text == "red text here"


def test_letters_are_composed_and_hints_for_hyphens_removed() -> None:
    assert read("Cafe\u0301 Zwi\xadschen\ufeffraum", "a.txt").text == "Café Zwischenraum"


SCRIPTS = [
    "שלום עולם, מה שלומך היום?",
    "مرحبا بالعالم، كيف حالك اليوم؟",
    "می‌خواهم بروم",
    "今天天气很好，我们去公园吧。",
    "オン・ザ・ロード 🎉 です",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ naïve 𝔘𝔫𝔦",
    "\u202bמימין\u202c left",
]


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_stays_intact(text: str) -> None:
    assert read(text, "a.txt").text == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One two-three, four.", 3),
        ("— * —", 0),
        ("今天天气很好", 6),
        ("漢字 and words", 4),
        ("don't it's", 2),
        ("मैं घर जा रहा हूँ", 5),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert read(text, "a.txt").words == words


@given(st.text())
def test_the_normal_form_is_normal(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert all(line == line.rstrip() for line in once.split("\n"))
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in once.replace("\n", ""))


# -- encodings


SENTENCES = {
    "cp1252": "L’été dernier – « déçu » – à Liège: 5 € de perte… où ça?",
    "latin-1": "På ön finns många träd och små sjöar. Åsa köpte kött.",
    "iso8859-15": "Für 5 € gibt es süße Äpfel, Öl und große Brötchen.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "iso8859-2": "Zażółć gęślą jaźń, wczoraj w Łodzi padał śnieg.",
    "cp1251": "Сегодня утром правительство объявило о новых мерах поддержки.",
    "koi8-r": "Сегодня утром правительство объявило о новых мерах поддержки.",
    "cp1253": "Η κυβέρνηση ανακοίνωσε σήμερα νέα μέτρα στήριξης.",
    "cp1254": "Bugün hava çok güzel, öğretmen sınıfta şarkı söylüyor ve ışık az.",
    "cp1255": "הממשלה הודיעה היום על צעדים חדשים לתמיכה בעסקים קטנים.",
    "cp1256": "أعلنت الحكومة اليوم عن إجراءات جديدة لدعم الشركات الصغيرة.",
    "shift_jis": "政府は今日、中小企業を支援するための新しい措置を発表しました。",
    "euc-jp": "政府は今日、中小企業を支援するための新しい措置を発表しました。",
    "gb18030": "政府今天宣布了支持小企业的新措施。专家认为这还不够。",
    "big5": "政府今天宣布了支持小企業的新措施。專家認為這還不夠。",
    "euc-kr": "정부는 오늘 중소기업을 지원하기 위한 새로운 조치를 발표했다.",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_older_code_pages_are_recognised(encoding: str) -> None:
    found = read(SENTENCES[encoding].encode(encoding), "a.txt")
    assert found.text == unicodedata.normalize("NFC", SENTENCES[encoding])
    assert any("not UTF-8" in note for note in found.notes)


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
)
def test_unicode_with_and_without_a_mark(encoding: str) -> None:
    text = "Grüße aus Köln, said the postcard, und nichts weiter."
    marks = {"utf-16-be": codecs.BOM_UTF16_BE}
    assert read(text.encode(encoding), "a.txt").text == text
    assert read(marks.get(encoding, b"") + text.encode(encoding), "a.txt").text == text


def test_a_mark_that_lies() -> None:
    with pytest.raises(DocumentError, match="begins like UTF-16 text, but is not"):
        read(codecs.BOM_UTF16_LE + b"\x00\xdc" * 50, "a.txt")
    assert read(codecs.BOM_UTF16_LE + "Ein Text mit einem Fehler".encode("utf-16-le") + b"\x00\xdc", "a.txt").notes == (
        "1 broken character replaced by \ufffd",
    )


def test_stray_bytes_in_utf8_are_repaired() -> None:
    data = "Grüße, naïve Ärzte und größere Öfen".encode() + " – “quoted”".encode("cp1252") + b" caf\xe9."
    found = read(data, "a.txt")
    assert found.text == "Grüße, naïve Ärzte und größere Öfen – “quoted” café."
    assert found.notes == ("4 bytes that were not UTF-8 were read as Windows-1252",)


def test_half_a_character_at_the_end_is_removed() -> None:
    found = read("Grüße aus Köln 🎉".encode()[:-2], "a.txt")
    assert found.text == "Grüße aus Köln"
    assert found.notes == ("half a character at the end, where the file was cut off, was removed",)
    assert read(b"un caf\xe9", "a.txt").text == "un café"


def test_zero_bytes_are_removed() -> None:
    found = read(b"before\x00after" + b"\x00" * 500, "a.txt")
    assert found.text == "beforeafter"
    assert found.notes == ("500 zero bytes at the end removed", "1 control character removed")


def test_a_page_says_its_own_encoding() -> None:
    page = "<html><meta charset='koi8-r'><body><p>Да, это было давно, и никто уже не помнит зачем.</p></body></html>"
    assert "Да, это было давно" in read(page.encode("koi8-r"), "a.html").text


def test_an_encoding_that_does_not_exist_is_not_believed() -> None:
    page = (
        "<html><meta charset='rot13'><body><p>Grüße aus der kleinen Stadt am Fluß, in der es regnet.</p></body></html>"
    )
    assert "Grüße aus" in read(page.encode("cp1252"), "a.html").text


def test_errors_name_the_file_and_what_to_do() -> None:
    with pytest.raises(DocumentError) as caught:
        read(b"", "some/where.md")
    assert caught.value.message == "some/where.md is empty"
    assert caught.value.hint
    assert caught.value.exit_code == 2
