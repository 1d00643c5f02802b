"""DOCX: what a reader of the document sees, as markdown; and archives that are no document or an attack."""

from __future__ import annotations

import zipfile

import pytest

from tests.documents.made_zip import CORE, STYLES, W, archive, docx, item, paragraph
from weft.documents import Document, DocumentError, read_document


def read(data: bytes) -> Document:
    return read_document(data, "report.docx")


def refused(data: bytes, name: str = "report.docx") -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(data, name)
    assert caught.value.exit_code == 2
    assert caught.value.hint
    return caught.value.message


def test_headings_paragraphs_and_what_the_file_says_of_itself() -> None:
    body = (
        paragraph("On tides", "Titel")
        + paragraph("Spring", "H1")
        + paragraph("The moon &amp; the sun pull together.")
        + paragraph("Neap", "Mine")
        + paragraph("Then they do not.")
    )
    found = read(docx(body, {"docProps/core.xml": CORE}))
    assert found.text == "# On tides\n\n# Spring\n\nThe moon & the sun pull together.\n\n## Neap\n\nThen they do not."
    assert (found.kind, found.title, found.author, found.language) == ("docx", "On tides", "Ida Brandt", "en-GB")
    assert found.extra == {"keywords": "tides, moon", "created": "2024-05-06T07:08:09Z"}


def test_the_title_of_the_file_when_the_text_has_none() -> None:
    assert read(docx(paragraph("Some text."), {"docProps/core.xml": CORE})).title == "The core title"


def test_lists_in_lists() -> None:
    body = (
        item("one", 1)
        + item("one and a half", 1, 1)
        + item("two", 1)
        + paragraph("Between.")
        + item("first", 2)
        + item("second", 2)
        + paragraph("by style", "Dots")
    )
    assert read(docx(body)).text == (
        "- one\n  - one and a half\n- two\n\nBetween.\n\n1. first\n2. second\n\n- by style"
    )


def test_tables() -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"

    rows = (
        f"<w:tr>{cell('Port')}{cell('High')}{cell('Low')}</w:tr>"
        f"<w:tr>{cell('Dover')}{cell('6.7 m')}{cell('0.8 m')}</w:tr>"
        f"<w:tr>{cell('closed', '<w:gridSpan w:val=&quot;2&quot;/>'.replace('&quot;', chr(34)))}{cell('a|b')}</w:tr>"
    )
    text = read(docx(f"{paragraph('Before.')}<w:tbl>{rows}</w:tbl>")).text
    assert text == (
        "Before.\n\n| Port | High | Low |\n| --- | --- | --- |\n| Dover | 6.7 m | 0.8 m |\n| closed |  | a\\|b |"
    )


def test_quotes_and_no_table_of_contents() -> None:
    body = paragraph("Spring ........ 3", "TOC1") + paragraph("Time and tide.", "Cited") + paragraph("End of it.")
    assert read(docx(body)).text == "> Time and tide.\n\nEnd of it."


def test_runs_are_one_text() -> None:
    runs = (
        "<w:r><w:t>The </w:t></w:r><w:hyperlink><w:r><w:t>Thames</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>rises</w:t>"
        "<w:br/><w:t>twice</w:t></w:r><w:r><w:noBreakHyphen/><w:t>daily</w:t></w:r>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
    )
    assert read(docx(paragraph("", runs=runs))).text == "The Thames rises\ntwice-daily"


def test_deleted_text_is_left_out_and_inserted_text_kept() -> None:
    runs = (
        "<w:r><w:t>It is </w:t></w:r><w:del><w:r><w:delText>low</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>high</w:t></w:r></w:ins><w:r><w:t> water.</w:t></w:r>"
    )
    found = read(docx(paragraph("", runs=runs)))
    assert found.text == "It is high water."
    assert "text that is marked as deleted was left out" in found.notes


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('Said in a box.')}</w:txbxContent>"
    runs = (
        "<w:r><w:t>Beside it.</w:t></w:r><w:r><mc:AlternateContent "
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps"><w:drawing>'
        f"{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert read(docx(paragraph("", runs=runs))).text == "Beside it.\n\nSaid in a box."


def test_footnotes_follow_the_text() -> None:
    runs = '<w:r><w:t>High water is late.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = (
        f'<?xml version="1.0"?><w:footnotes {W}><w:footnote w:id="0">{paragraph("separator")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("By fifty minutes a day.")}</w:footnote></w:footnotes>'
    )
    found = read(docx(paragraph("", runs=runs), {"word/footnotes.xml": notes}))
    assert found.text == "High water is late.\n\n1. By fifty minutes a day."


def test_content_controls_are_opened() -> None:
    assert (
        read(docx(f"<w:sdt><w:sdtContent>{paragraph('Inside a control.')}</w:sdtContent></w:sdt>")).text
        == "Inside a control."
    )


def test_without_styles_a_heading_is_known_by_its_name() -> None:
    data = docx(paragraph("A heading", "Heading2") + paragraph("Text."), styles=f'<?xml version="1.0"?><w:styles {W}/>')
    assert read(data).text == "## A heading\n\nText."


def test_a_style_based_on_itself_ends() -> None:
    circle = STYLES.replace(
        "</w:styles>",
        '<w:style w:styleId="A"><w:name w:val="a"/><w:basedOn w:val="B"/></w:style>'
        '<w:style w:styleId="B"><w:name w:val="b"/><w:basedOn w:val="A"/></w:style></w:styles>',
    )
    assert read(docx(paragraph("Text.", "A"), styles=circle)).text == "Text."


def test_cells_that_run_on_downwards_lists_that_begin_deep_and_code() -> None:
    def cell(text: str, merge: str) -> str:
        return f"<w:tc><w:tcPr>{merge}</w:tcPr>{paragraph(text)}</w:tc>"

    rows = (
        f"<w:tr>{cell('Tide', '<w:vMerge w:val=' + chr(34) + 'restart' + chr(34) + '/>')}{cell('high', '')}</w:tr>"
        f"<w:tr>{cell('Tide', '<w:vMerge/>')}{cell('low', '')}</w:tr>"
    )
    code = STYLES.replace("</w:styles>", '<w:style w:styleId="K"><w:name w:val="Source Code"/></w:style></w:styles>')
    formula = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>a=b</m:t></m:r></m:oMath>'
    body = f"<w:tbl>{rows}</w:tbl>" + item("deep", 1, 1) + paragraph("x  = 1", "K") + paragraph("", runs=formula)
    assert read(docx(body, styles=code)).text == (
        "| Tide | high |\n| --- | --- |\n|  | low |\n\n- - deep\n\n```\nx  = 1\n```\n\na=b"
    )


def test_pictures_are_said_to_be_left_out() -> None:
    runs = (
        "<w:r><w:t>See below.</w:t><w:drawing><w:inline><w:graphic><w:graphicData><w:pic/></w:graphicData></w:graphic>"
    )
    found = read(docx(paragraph("", runs=f"{runs}</w:inline></w:drawing></w:r>")))
    assert (found.text, found.notes) == ("See below.", ("pictures were left out",))


def test_a_stale_title_is_not_believed() -> None:
    core = CORE.replace("The core title", "Microsoft Word - Document1")
    assert read(docx(paragraph("Some text."), {"docProps/core.xml": core})).title == "report"


# -- what can't be read


def test_a_password_in_the_archive_is_named() -> None:
    data = bytearray(docx(paragraph("x")))
    for sign, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        start = data.find(sign)
        while start >= 0:
            data[start + place] |= 1
            start = data.find(sign, start + 4)
    assert "protected with a password" in refused(bytes(data))


def test_no_text() -> None:
    assert "holds no text" in refused(docx(paragraph("")))


BOMBS = {
    "ratio": {"word/document.xml": b"<x>" + b" " * (4 * 2**20)},
    "an unread part": {"word/media/image1.png": bytes(4 * 2**20)},
}


@pytest.mark.parametrize("entries", BOMBS.values(), ids=BOMBS.keys())
def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    entries: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = archive({"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>", **entries})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("something was unpacked"))
    assert "times its size" in refused(data)


def test_the_size_of_all_parts_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.documents.archive.TOTAL_LIMIT", 1000)
    data = archive({"word/document.xml": bytes(range(256)) * 4}, stored=("word/document.xml",))
    assert "would unpack to 1,024 bytes; the limit is 1,000" in refused(data)


def test_the_size_of_one_part_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.documents.archive.ENTRY_LIMIT", 2000)
    assert "the limit is 2,000" in refused(docx(paragraph("A long text." * 200)))


def test_many_files_are_refused() -> None:
    assert "10,001 files" in refused(archive({f"a{index}": b"" for index in range(10_001)}))


def test_a_lie_about_the_size_is_found() -> None:
    data = bytearray(docx(paragraph("A text that is there." * 50)))
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml"))
    data[entry + 24 : entry + 28] = (40).to_bytes(4, "little")
    assert "damaged" in refused(bytes(data))


ENTITIES = {
    "bomb": '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>',
    "external": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    "parameter": '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;]>',
}


@pytest.mark.parametrize("declared", ENTITIES.values(), ids=ENTITIES.keys())
def test_entities_are_neither_expanded_nor_fetched(declared: str) -> None:
    document = f'<?xml version="1.0"?>{declared}<w:document {W}><w:body>{paragraph("&a;")}</w:body></w:document>'
    message = refused(archive({"[Content_Types].xml": "<x/>", "word/document.xml": document}))
    assert "declares XML entities in its part word/document.xml" in message


def test_an_external_document_type_is_not_fetched() -> None:
    document = (
        '<?xml version="1.0"?><!DOCTYPE x SYSTEM "http://192.0.2.1/x.dtd">'
        f"<w:document {W}><w:body>{paragraph('Still read.')}</w:body></w:document>"
    )
    assert read(archive({"word/document.xml": document})).text == "Still read."


def test_nesting_without_end_is_refused() -> None:
    deep = "<w:sdt><w:sdtContent>" * 300 + paragraph("x") + "</w:sdtContent></w:sdt>" * 300
    assert "nested more than 200 levels deep" in refused(docx(deep))


def test_tables_in_tables_are_read() -> None:
    inner = paragraph("The innermost words.")
    for _ in range(30):
        inner = f"<w:tbl><w:tr><w:tc>{inner}</w:tc></w:tr></w:tbl>"
    assert read(docx(inner)).text == "The innermost words."


def test_broken_xml_is_named() -> None:
    assert "word/document.xml is not well-formed XML" in refused(archive({"word/document.xml": "<a><b></a>"}))


def test_a_cut_archive_is_named() -> None:
    data = docx(paragraph("x"))
    assert "damaged zip archive" in refused(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("entries", "what"),
    [
        ({"xl/workbook.xml": "<x/>"}, "Excel workbook"),
        ({"ppt/presentation.xml": "<x/>"}, "PowerPoint"),
        ({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}, "OpenDocument"),
        ({"readme.txt": "hello"}, "no DOCX and no EPUB"),
        ({"../../etc/passwd": "x", "/etc/shadow": "y"}, "no DOCX and no EPUB"),
    ],
)
def test_other_archives_are_named(entries: dict[str, str], what: str) -> None:
    assert what in refused(archive(entries), "thing.zip")


def test_a_relation_can_not_lead_out_of_the_archive() -> None:
    relation = '<Relationship Type="http://x/officeDocument" Target="../../etc/passwd"/>'
    relations = f'<?xml version="1.0"?><Relationships>{relation}</Relationships>'
    data = archive({"_rels/.rels": relations, "[Content_Types].xml": "<x/>", "../../etc/passwd": "root"})
    assert "no DOCX and no EPUB" in refused(data)
