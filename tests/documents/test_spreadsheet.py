"""Workbooks as people make them, and as somebody makes them to do harm."""

from __future__ import annotations

import io
import zipfile

import pytest

from weft.documents.document import RefusedError
from weft.documents.spreadsheet import MOST_ROWS, read_sheets

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


BOOK = f'<workbook {MAIN} {REL}><sheets><sheet name="Tides" sheetId="1" r:id="rId1"/></sheets></workbook>'
RELATIONS = '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>'
TEXTS = f"<sst {MAIN}><si><t>station</t></si><si><r><t>Liver</t></r><r><t>pool</t></r></si></sst>"
FORMATS = (
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot; m&quot;"/></numFmts>'
)
STYLES = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 164, 165))


def workbook(rows: str) -> bytes:
    files = {
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/sharedStrings.xml": TEXTS,
        "xl/styles.xml": f"<styleSheet {MAIN}>{FORMATS}<cellXfs>{STYLES}</cellXfs></styleSheet>",
        "xl/worksheets/sheet1.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_cells_show_what_a_person_sees() -> None:
    (sheet,) = read_sheets(
        workbook(
            '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>high</t></is></c></row>'
            '<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>19390</v></c>'
            '<c r="C3" s="3"><f>1+1</f><v>9.1</v></c>'
            '<c r="D3" t="b"><v>1</v></c><c r="E3" s="2"><v>19390.75</v></c><c r="F3" t="e"><v>#DIV/0!</v></c></row>'
        )
    )
    assert (sheet.name, sheet.all_rows) == ("Tides", 3)
    assert sheet.rows == (
        ("station", "", "high", "", "", ""),
        ("", "", "", "", "", ""),
        ("Liverpool", "1953-01-31", "9.1", "yes", "1953-01-31 18:00:00", "#DIV/0!"),
    )


def test_of_a_large_sheet_the_beginning_is_read() -> None:
    (sheet,) = read_sheets(workbook("".join(f"<row><c><v>{number}</v></c></row>" for number in range(MOST_ROWS + 7))))
    assert (len(sheet.rows), sheet.all_rows, sheet.rows[-1]) == (MOST_ROWS, MOST_ROWS + 7, (str(MOST_ROWS - 1),))


def test_a_row_far_away_does_not_fill_the_memory() -> None:
    (sheet,) = read_sheets(workbook('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))
    assert (sheet.rows, sheet.all_rows) == ((), 1_048_576)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut", workbook("<row><c>"), b"a,b\n1,2\n"])
def test_what_is_no_workbook_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(RefusedError):
        read_sheets(data)
