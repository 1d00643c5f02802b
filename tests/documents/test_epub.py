"""EPUB: chapters in the order of the spine, what the book says of itself, and books that can't be read."""

from __future__ import annotations

import pytest

from tests.documents.made_zip import archive, chapter, epub, package
from weft.documents import Document, DocumentError, read_document

METADATA = (
    "<dc:title>The Weir</dc:title><dc:creator>Lotte Amsel</dc:creator><dc:creator>P. Reed</dc:creator>"
    "<dc:language>en</dc:language><dc:date>2019-04-01</dc:date><dc:publisher>Mill House</dc:publisher>"
)
FILES = {
    "OEBPS/text/one.xhtml": chapter("One", "The weir was built in spring."),
    "OEBPS/text/two.xhtml": chapter("Two", "It broke."),
}


def read(data: bytes) -> Document:
    return read_document(data, "weir.epub")


def refused(data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(data, "weir.epub")
    assert caught.value.hint
    return caught.value.message


def test_chapters_follow_the_spine_and_not_the_archive() -> None:
    opf = package({"b": "text/two.xhtml", "a": "text/one.xhtml"}, metadata=METADATA, spine=("a", "b"))
    found = read(epub(opf, dict(reversed(FILES.items()))))
    assert found.text == "# One\n\nThe weir was built in spring.\n\n# Two\n\nIt broke."
    assert (found.kind, found.title, found.author, found.language, found.published) == (
        "epub", "The Weir", "Lotte Amsel, P. Reed", "en", "2019-04-01",
    )  # fmt: skip
    assert found.extra == {"publisher": "Mill House"}


def test_addresses_are_decoded_and_may_go_up_inside_the_book() -> None:
    opf = package({"a": "../t%C3%A9xt/one%201.xhtml#start"})
    assert read(epub(opf, {"téxt/one 1.xhtml": chapter("One", "Found.")})).text == "# One\n\nFound."


def test_the_table_of_contents_is_no_chapter() -> None:
    opf = package({"n": "nav.xhtml", "a": "text/one.xhtml"}, properties={"n": "nav"})
    assert "Contents" not in read(epub(opf, {"OEBPS/nav.xhtml": chapter("Contents", "One"), **FILES})).text


def test_a_missing_chapter_is_said() -> None:
    found = read(epub(package({"a": "text/one.xhtml", "x": "text/gone.xhtml"}), FILES))
    assert found.text == "# One\n\nThe weir was built in spring."
    assert found.notes == ("1 chapter missing from the book",)


@pytest.mark.parametrize("address", ["../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://192.0.2.1/x"])
def test_an_address_that_leads_out_of_the_book_is_no_chapter(address: str) -> None:
    data = epub(package({"a": address}), {"../../etc/passwd": "secret words", "/etc/passwd": "secret words"})
    assert "without text" in refused(data)


def test_structure_is_kept_and_entities_are_decoded() -> None:
    page = (
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script/></head><body><h2>A &amp; B</h2>"
        "<p>caf&eacute;&nbsp;&#8212; so</p><ul><li>x</li></ul><p><a id='p1'/>y</p></body></html>"
    )
    assert read(epub(package({"a": "a.xhtml"}), {"OEBPS/a.xhtml": page})).text == "## A & B\n\ncafé — so\n\n- x\n\ny"


def test_entities_of_its_own_are_not_expanded() -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "boom"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
        "<html><body><p>x &a; &b; y</p></body></html>"
    )
    text = read(epub(package({"a": "a.xhtml"}), {"OEBPS/a.xhtml": page})).text
    assert "boom" not in text
    assert "root:" not in text
    assert text.startswith("x &a;")


def test_entities_in_the_package_are_refused() -> None:
    opf = package({"a": "text/one.xhtml"}).replace("<package", '<!DOCTYPE x [<!ENTITY a "b">]><package', 1)
    assert "declares XML entities in its part OEBPS/content.opf" in refused(epub(opf, FILES))


def test_a_protected_book_is_named() -> None:
    encryption = (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
        '<CipherReference URI="OEBPS/text/one.xhtml"/></CipherData></EncryptedData></encryption>'
    )
    data = epub(package({"a": "text/one.xhtml"}), {**FILES, "META-INF/encryption.xml": encryption})
    assert "protected book (DRM)" in refused(data)


def test_obfuscated_fonts_are_no_protection() -> None:
    encryption = '<encryption><EncryptedData><CipherReference URI="OEBPS/font.otf"/></EncryptedData></encryption>'
    data = epub(package({"a": "text/one.xhtml"}), {**FILES, "META-INF/encryption.xml": encryption})
    assert "The weir" in read(data).text


def test_a_book_without_a_package() -> None:
    assert "without a package file" in refused(archive({"mimetype": "application/epub+zip"}))


def test_what_is_read_of_all_chapters_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.documents.archive.READ_LIMIT", 600)
    assert "holds more than 600 bytes" in refused(epub(package({"a": "text/one.xhtml", "b": "text/two.xhtml"}), FILES))
