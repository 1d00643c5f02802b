"""PDFs that are damaged, locked, without letters or made to hurt: read as far as they go, or refused in words."""

from __future__ import annotations

import importlib.util
import logging
import re
import zlib

import pytest

from tests.documents.made_pdf import At, assembled, column, encrypted_with_aes, pdf, with_password
from tests.documents.test_pdf import KINDS, LINES, body, read
from weft.documents import DocumentError, read_document


def refused(data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(data, "paper.pdf")
    assert caught.value.exit_code == 2
    assert caught.value.hint
    assert str(caught.value).startswith("paper.pdf ")
    return caught.value.message


def test_a_truncated_file_is_read_as_far_as_it_goes_or_refused() -> None:
    whole = pdf([body(number) for number in range(1, 9)])
    outcomes = set()
    for cut in range(20, len(whole), 97):
        try:
            outcomes.add("read" if "tells of the" in read(whole[:cut]).text else "lost")
        except DocumentError as error:
            outcomes.add(re.sub(r".*(damaged PDF|PDF without).*", r"\1", error.message))
    assert outcomes == {"read", "damaged PDF", "PDF without"}


def test_a_password_is_asked_for_by_name() -> None:
    assert "is encrypted: it opens only with a password" in refused(
        with_password(pdf([column(72, 760, LINES)]), "secret")
    )


def test_an_empty_password_is_tried() -> None:
    assert read(with_password(pdf([column(72, 760, LINES)]), "")).text == " ".join(LINES)


def test_aes_is_said_when_it_can_not_be_read() -> None:
    message = refused(encrypted_with_aes())
    if importlib.util.find_spec("cryptography") is None:
        assert "encrypted with AES" in message


def test_a_page_of_pictures_has_no_text_layer() -> None:
    picture = b"q 500 0 0 700 40 40 cm /I Do Q BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI"
    extra = [
        b"<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>"
        b"stream\n\x80\nendstream"
    ]
    assert "without a text layer" in refused(pdf([picture, picture], resources="/XObject<</I 10 0 R>>", extra=extra))


def test_a_font_without_letters_is_said() -> None:
    extra = [
        b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[9 0 R]>>",
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo"
        b"<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>",
    ]
    data = pdf([b"BT /O 12 Tf 72 700 Td <00010002> Tj ET"], extra=extra).replace(b"/R 3 0 R", b"/O 8 0 R")
    assert "fonts do not say which letters" in refused(data)


def test_no_pages() -> None:
    assert "without pages" in refused(assembled([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"]))


def form(stream: bytes, uses: int) -> bytes:
    """A form whose /X is the object with that number."""
    resources = b"<</XObject<</X %d 0 R>>/Font<</R 3 0 R>>>>" % uses
    head = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources" + resources + b"/Length %d>>stream\n" % len(stream)
    return head + stream + b"\nendstream"


def test_forms_that_use_each_other_end() -> None:
    forms = []
    for index in range(12):
        use = b"/X Do " * 10 if index < 11 else b"BT /R 12 Tf 72 700 Td (deep) Tj ET"
        forms.append(form(use, 9 + index))
    stream = b"BT /R 12 Tf 72 700 Td (On the page itself.) Tj ET " + b"/X Do " * 10
    assert "On the page itself." in read(pdf([stream], resources="/XObject<</X 8 0 R>>", extra=forms)).text


def test_a_form_that_uses_itself_ends() -> None:
    extra = [form(b"BT /R 12 Tf 72 650 Td (again) Tj ET /X Do", 8)]
    assert "again" in read(pdf([b"/X Do"], resources="/XObject<</X 8 0 R>>", extra=extra)).text


def test_a_packed_bomb_is_refused() -> None:
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(200)) + packer.flush()
    data = pdf([b"BT /R 12 Tf 72 700 Td (x) Tj ET"])
    old = data[data.index(b"<</Length") : data.index(b"endstream")]
    assert "damaged" in refused(
        data.replace(old, b"<</Length %d/Filter/FlateDecode>>stream\n" % len(packed) + packed + b"\n")
    )


def test_the_number_of_pages_and_what_they_hold_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdf([body(1), body(2), body(3)])
    monkeypatch.setattr("weft.documents.pdf.CONTENT_LIMIT", 1000)
    assert "more than 1,000 bytes of content" in refused(data)
    monkeypatch.setattr("weft.documents.pdf.MAX_TEXT", 500)
    assert "more than 500 characters" in refused(data)
    monkeypatch.setattr("weft.documents.pdf.PAGE_LIMIT", 2)
    assert "has 3 pages; the limit is 2" in refused(data)


def test_a_table_of_contents_is_left_out() -> None:
    entries = [
        At(72, 740 - 14 * number, f"{number} On {bird} . . . . . . . . {number * 7}")
        for number, bird in enumerate(KINDS)
    ]
    found = read(pdf([entries, body(1)]))
    assert found.text.startswith("Page 1 tells")
    assert "9 lines of a table of contents left out" in found.notes


def test_pages_that_say_nearly_the_same_are_kept() -> None:
    found = read(pdf([[At(72, 700, f"Receipt number {number} of the ferry")] for number in range(1, 7)]))
    assert found.text.count("of the ferry") == 6


def test_nothing_is_written_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    before = logging.getLogger("pypdf").level
    with caplog.at_level(logging.DEBUG):
        read(pdf([body(1)])[:-30])
        read(pdf([b"BT /Unknown 12 Tf (x) Tj /R 12 Tf 72 700 Td (Some text.) Tj ET Q Q EMC /None Do"]))
    assert caplog.records == []
    assert logging.getLogger("pypdf").level == before
