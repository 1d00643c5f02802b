"""Whatever is handed in: a document, or an error that names the file and says what to do; no traceback, no hang."""

from __future__ import annotations

import struct
import time
import zlib

import pytest

from weft.documents import DocumentError, read_document
from weft.documents.document import MAX_BYTES, MAX_TEXT


def refused(data: bytes, name: str = "thing.bin") -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(data, name)
    assert caught.value.exit_code == 2
    assert caught.value.hint
    assert caught.value.message.startswith(name)
    return caught.value.message.removeprefix(name).strip()


def png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


FOREIGN = {
    "is a PNG picture": png(),
    "is a JPEG picture": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "is a GIF picture": b"GIF89a\x01\x00\x01\x00\x00\x00\x00",
    "is a WebP picture": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "is a recording or a video (RIFF)": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "is an MP3 recording": b"ID3\x04\x00\x00\x00\x00\x00\x21TSSE",
    "is a video or a recording (MP4)": b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00",
    "is a program (ELF)": b"\x7fELF\x02\x01\x01\x00" + bytes(range(200)),
    "is a program (Windows)": b"MZ\x90\x00\x03\x00\x00\x00",
    "is packed with gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "is an SQLite database": b"SQLite format 3\x00\x10\x00",
    "is an old Office document, or one with a password": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
    "is Rich Text (RTF)": b"{\\rtf1\\ansi Hello.}",
    "is PostScript": b"%!PS-Adobe-3.0\n",
    "is an SVG picture": b"<?xml version='1.0'?><!-- x --><svg xmlns='http://www.w3.org/2000/svg'><text>Hi</text></svg>",
    "is XML of a kind that is not known": b"<?xml version='1.0'?><rss><channel><title>News</title></channel></rss>",
    "is empty": b"",
    "holds nothing but white space": b" \n\t\r\n \x0c",
    "is not text and no kind of document that can be read": bytes(range(256)) * 8,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_no_document_is_named(what: str) -> None:
    assert refused(FOREIGN[what]) == what


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\0\0\0\0", b"\xff\xfe\0\0", b"\xef\xbb\xbf \n"]
)
def test_marks_without_text(data: bytes) -> None:
    assert refused(data) == "holds nothing but white space"


@pytest.mark.parametrize(
    "text",
    [
        "MZ was his sign.",
        "BMW builds cars.",
        "ID3 is a tag.",
        "BZh, he said.",
        "GIF89 is a format.",
        "RIFF is one too.",
        "An aftyp.",
    ],
)
def test_text_that_begins_like_something_else_is_text(text: str) -> None:
    assert read_document(text.encode(), "a.txt").text == text


def test_a_name_can_not_spoil_an_error() -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(b"", "a\x1b[31m\nb\x00" + "x" * 500)
    assert len(caught.value.message) < 160
    assert not any(character < " " for character in caught.value.message)
    with pytest.raises(DocumentError, match=r"^standard input is empty"):
        read_document(b"", "-")


# -- sizes


def test_a_file_beyond_the_limit_is_refused_by_its_size() -> None:
    assert refused(b"%PDF-1.7\n" + bytes(MAX_BYTES)) == f"has {MAX_BYTES + 9:,} bytes; the limit is {MAX_BYTES:,}"


def test_text_beyond_the_limit_is_refused_before_it_is_looked_at() -> None:
    data = b"x" * (MAX_TEXT + 1)
    begun = time.process_time()
    assert refused(data) == f"has {MAX_TEXT + 1:,} bytes; the limit for text is {MAX_TEXT:,}"
    assert time.process_time() - begun < 1


def test_text_out_of_a_container_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.documents.finish.MAX_TEXT", 10)
    assert refused(b"More than ten.") == "holds 14 characters of text; the limit is 10"


HARD = {
    "one huge line": b"x" * 3_000_000,
    "spaces inside a line": b"a" + b" " * 3_000_000 + b"b",
    "blank lines": b"a" + b"\n" * 3_000_000 + b"b",
    "nested elements": b"<html>" + b"<div>" * 50_000 + b"words at the bottom",
    "nested lists": b"<html>" + b"<ul><li>x" * 5_000,
    "nested tables": b"<html>" + b"<table><tr><td>" * 10_000 + b"words",
    "nested quotes": b"<html>" + b"<blockquote>x" * 5_000,
    "unclosed tags": b"<html>words" + b"<a " * 500_000,
    "unclosed comments": b"<html>words" + b"<!--" * 500_000,
    "unclosed quotes": b"<html>words" + b"<p '\">x" * 40_000,
    "signs": b"<html>words" + b"<" * 150_000,
    "declarations": b"<html>words" + b"<!doctype [>" * 100_000,
    "a huge reference": b"<html>&#" + b"9" * 300_000 + b";words &#x" + b"f" * 100_000 + b";",
    "attributes": b"<html><p " + b"a=1 " * 500_000 + b">words",
    "a huge attribute": b"<html><img src='data:" + b"A" * 2_000_000 + b"'>words",
    "arrows": b"WEBVTT\n\n" + b"-->" * 300_000 + b"\n00:01.000 --> 00:02.000\nwords\n",
    "angles in a caption": b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<v " * 100_000 + b"words\n",
    "brackets in a caption": b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"[music " * 30_000 + b"words\n",
    "many captions": b"WEBVTT\n\n" + b"00:01.000 --> 00:02.000\nwords\n\n" * 20_000,
    "front matter": b"---\na: " + b"[" * 20_000 + b"\n---\nwords",
    "hashes": b"# " * 500_000,
    "fences": b"```\n" * 200_000 + b"words",
    "brackets": b"[" * 500_000,
    "emphasis": b"**a" * 300_000,
    "colons": b"a:" * 500_000,
    "json": b"[" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HARD)
def test_nothing_takes_long(case: str) -> None:
    """Each of these took minutes, or all memory, in some reader. Six seconds of work are for a slow machine."""
    begun = time.process_time()
    try:
        outcome = read_document(HARD[case], "hard").text
    except DocumentError as error:
        outcome = error.hint
    assert outcome
    assert time.process_time() - begun < 6
    assert case != "nested elements" or "words at the bottom" in outcome, "text in the depth is kept"


def test_a_page_of_too_many_tags_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.documents.markup.NODE_LIMIT", 1_000)
    assert "more than 1,000 tags" in refused(b"<html>" + b"<b>x</b>" * 1_000)


# -- no network, no entities


def test_a_page_fetches_nothing_and_expands_nothing() -> None:
    """The fixture of all tests forbids any connection beyond loopback."""
    page = (
        '<?xml version="1.0"?><!DOCTYPE html SYSTEM "http://192.0.2.1/x.dtd" [<!ENTITY boom "boom boom">'
        '<!ENTITY file SYSTEM "file:///etc/passwd">]><html><head><link rel="stylesheet" href="http://192.0.2.1/x.css"></head><body>'
        '<img src="http://192.0.2.1/x.png"><iframe src="http://192.0.2.1/"></iframe>'
        "<p>The words of the page are all that is read, &boom; &file; and nothing else.</p></body></html>"
    )
    text = read_document(page.encode(), "x.html").text
    assert "all that is read" in text
    assert "boom boom" not in text
    assert "root:" not in text


def test_a_page_without_text_is_said() -> None:
    assert "is an HTML page without text" in refused(
        b"<html><body><script>draw()</script><div id=app></div></body></html>", "a.html"
    )


def test_a_page_that_is_no_article_is_kept_whole() -> None:
    found = read_document(b"<html><body><p>Opening hours</p><p>Mon 9-5</p></body></html>", "a.html")
    assert found.text == "Opening hours\n\nMon 9-5"
    assert "no article could be told from the rest of the page; all of its text was kept" in found.notes


def test_a_page_that_is_no_article_is_kept_without_the_lines_that_lead_along_a_book() -> None:
    links = '<td><a href="a.html">Prev</a></td><td><a href="c.html">Next</a></td>'
    way = f'<div class="navheader"><table><tr>{links}</tr></table></div>'
    text = '<div class="section"><h2>Opening hours</h2><p>Mon 9-5</p></div>'
    end = '<div class="navfooter nut_footer"><hr>Last updated 2023</div>'
    found = read_document(
        f"<html><head><title></title></head><body>{way}{text}{end}{way}</body></html>".encode(), "a.html"
    )
    assert found.text == "## Opening hours\n\nMon 9-5"
    assert found.title == "Opening hours"
    assert found.left_out == {"boxes and links around the text": 7}
    only = read_document(f"<html><body>{way}</body></html>".encode(), "a.html")
    assert only.text.split() == ["Prev", "Next"], "where nothing else is there, it is what the page says"


def test_classes_of_a_page_builder_do_not_cost_the_text() -> None:
    parts = [
        f"This is part {number} of the text, with a comma, and long enough to be a paragraph." for number in range(6)
    ]
    inside = "".join(
        f'<div class="elementor-widget overflow-hidden md:block"><div class="print:mt-2">{part}</div></div>'
        for part in parts
    )
    text = read_document(f"<html><body><div class='page'>{inside}</div></body></html>".encode(), "a.html").text
    assert text == "\n\n".join(parts)


def test_the_same_bytes_are_the_same_document() -> None:
    page = b"<html><body><h1>A</h1><p>Some words, and then, after a while, some more of them.</p></body></html>"
    assert read_document(page, "a.html") == read_document(page, "a.html")
