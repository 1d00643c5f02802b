"""Any bytes, and any damage to real documents: a normal document or a DocumentError, and nothing else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents.made_pdf import pdf
from tests.documents.made_zip import chapter, docx, epub, item, package, paragraph
from tests.documents.test_pages import PAGES
from tests.documents.test_pdf import body
from tests.documents.test_transcripts import srt_text
from tests.lanes import lives
from weft.documents import Document, DocumentError, from_content_md, read_document, to_content_md
from weft.documents.characters import normalise

NAMES = st.sampled_from(
    ["", "-", "a", "a.md", "a.txt", "a.html", "a.pdf", "a.docx", "a.epub", "a.vtt", "a.srt", "a.json", "\0\n"]
)
WHOLE = {
    "pdf": pdf([body(1), body(2)], {"Title": "Birds"}, compress=True),
    "docx": docx(paragraph("Title", "Titel") + item("one", 1) + paragraph("Some text of it.")),
    "epub": epub(package({"a": "a.xhtml"}), {"OEBPS/a.xhtml": chapter("One", "It began.")}),
    "html": (PAGES / "docs.html").read_bytes(),
    "srt": srt_text((0, 1, "ANA: Hello."), (1, 2, "BEN: Hi."), (5, 6, "[Music]")).encode(),
    "vtt": b"WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ana>Hello &amp; bye\n\n00:01.000 --> 00:02.000\nYes.\n",
    "json": b'{"text": "x", "segments": [{"start": 0, "end": 1.5, "text": " Hello there.", "speaker": "A"}]}',
    "md": "---\ntitle: Größe\ntags: [a, b]\n---\n# Größe\n\nText, *and* more.\n".encode(),
}


def outcome(data: bytes, name: str) -> Document | DocumentError:
    try:
        return read_document(data, name)
    except DocumentError as error:
        return error


def check(data: bytes, name: str) -> None:
    found = outcome(data, name)
    if isinstance(found, DocumentError):
        assert found.hint
        return
    assert found.title.strip()
    assert found.text == normalise(found.text) != ""
    assert unicodedata.is_normalized("NFC", found.text)
    assert list(found.pages) == sorted(found.pages)
    assert all(0 <= page <= len(found.text) for page in found.pages)
    assert all(found.text[cue.offset : cue.offset + cue.length].strip() for cue in found.cues)
    assert read_document(data, name) == found
    again = from_content_md(to_content_md(found, id="x"))
    assert (again.text, again.title, again.cues, again.pages) == (found.text, found.title, found.cues, found.pages)


@given(st.binary(max_size=400), NAMES)
def test_any_bytes(data: bytes, name: str) -> None:
    check(data, name)


@given(st.text(max_size=300), st.sampled_from(["utf-8", "utf-16", "utf-32", "cp1252", "shift_jis"]), NAMES)
def test_any_text_in_any_encoding(text: str, encoding: str, name: str) -> None:
    check(text.encode(encoding, "ignore"), name)


MARKUP = st.sampled_from(
    ["<p>", "</p>", "<b>", "</b>", "<div class='ad'>", "</div>", "<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>",
     "</ul>", "<!--", "-->", "<script>", "</script>", "<a href='#'>", "</a>", "<article>", "</article>", "<pre>",
     "</pre>", "<h1>", "</h1>", "<br/>", "<sup>", "&amp;", "&#0;", "&bogus;", "<", ">", "'", '"', "<!doctype [", "]>",
     "<![CDATA[", "]]>", "<title/>", "some words, and more of them, to weigh something ", "\n"]
)  # fmt: skip


@given(st.lists(MARKUP, max_size=40))
def test_any_markup(parts: list[str]) -> None:
    check(("<html><body>" + "".join(parts)).encode(), "a.html")


PIECES = st.sampled_from(
    ["WEBVTT\n", "\n", "\n\n", "1\n", "00:00:01,000 --> 00:00:02,000\n", "00:01.000 --> 00:01.010\n", "--> ",
     "NOTE x\n", "<v Ana>", "</v>", "ANA: ", ">> ", "- ", "[Music]", "♪", "<|en|>", "<|0.00|>", "hello there ",
     "hello there\n", "&#39;", "{\\an8}", "Ben: ", "[BLANK_AUDIO]", "今日は"]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["WEBVTT\n\n00:00.000 --> 00:01.000\n", "1\n00:00:00,000 --> 00:00:01,000\n"]),
)
def test_any_captions(parts: list[str], beginning: str) -> None:
    check((beginning + "".join(parts)).encode(), "a.vtt")


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.lives
@settings(max_examples=lives(60, 600))
@given(data=st.data())
def test_damage(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(WHOLE[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        length = data.draw(st.integers(0, 12))
        damaged[place : place + length] = data.draw(st.binary(max_size=8))
        if not damaged:
            break
    check(bytes(damaged), f"a.{kind}")


@pytest.mark.parametrize("kind", WHOLE)
def test_the_whole_ones_are_read(kind: str) -> None:
    """So that the damage is done to something."""
    assert read_document(WHOLE[kind], f"a.{kind}").words > 1
    check(WHOLE[kind], f"a.{kind}")


@pytest.mark.parametrize("kind", WHOLE)
def test_cut_off_anywhere(kind: str) -> None:
    whole = WHOLE[kind]
    for cut in range(1, len(whole), max(1, len(whole) // 60)):
        check(whole[:cut], f"a.{kind}")
