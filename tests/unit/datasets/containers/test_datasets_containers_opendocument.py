"""Sheets that calamine reads, written by hand as LibreOffice writes them."""

import io
import zipfile

import pytest
from opened_tables import faults_of, only_table, opened

from evalui.datasets.model import Limits
from evalui.errors import DataError

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "style", "draw")
)
MIMETYPE = "application/vnd.oasis.opendocument.spreadsheet"


def book(tables: str, *, styles: str = "", manifest: str = "<manifest/>", head: str = "") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", MIMETYPE, zipfile.ZIP_STORED)
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0" encoding="UTF-8"?>{head}<office:document-content {NAMES}>'
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
            "</office:document-content>",
        )
        archive.writestr("META-INF/manifest.xml", manifest)
    return stream.getvalue()


def table(rows: str, title: str = "Sheet1", more: str = "") -> str:
    return f'<table:table table:name="{title}" {more}>{rows}</table:table>'


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def cell(text: str = "", more: str = "") -> str:
    shown = f"<text:p>{text}</text:p>" if text else ""
    if text and "office:value-type" not in more:
        more += ' office:value-type="string"'
    return f"<table:table-cell {more}>{shown}</table:table-cell>"


HEAD = row(cell("question"), cell("A"), cell("B"))


def cells(rows: str) -> list[tuple[str, ...]]:
    return [each.cells for each in only_table("x.ods", book(table(HEAD + rows))).rows]


def test_cells_are_values_without_formats_and_a_note_says_so():
    percent = 'office:value-type="percentage" office:value="0.5"'
    day = 'office:value-type="date" office:date-value="1949-10-01"'
    truth = 'office:value-type="boolean" office:boolean-value="true"'
    rows = row(cell("50%", percent), cell("1949年10月1日", day), cell("TRUE", truth))
    assert cells(rows) == [("0.5", "1949-10-01", "TRUE")]
    (note,) = opened("x.ods", book(table(HEAD + rows))).notes
    assert str(note).startswith("x.ods: values were read without their number formats")


def test_texts_have_their_lines_blanks_and_spans():
    content = "one<text:s text:c='2'/>two <text:span>three</text:span></text:p><text:p>four"
    comment = "<office:annotation><text:p>a remark</text:p></office:annotation>"
    noted = f"<table:table-cell office:value-type='string'>{comment}<text:p>b</text:p>"
    rows = row(cell(content), noted + "</table:table-cell>", cell("c"))
    assert cells(rows) == [("one  two three\nfour", "b", "c")]


def test_cells_and_rows_are_repeated_as_they_say():
    twice = 'table:number-columns-repeated="2"'
    rows = row(cell("a", twice), cell("b"))
    rows += row(cell(), more='table:number-rows-repeated="5"')
    rows += row(cell("c"), cell("d"), more='table:number-rows-repeated="2"')
    rows += row(
        cell("", 'table:number-columns-repeated="16384"'),
        more='table:number-rows-repeated="1048567"',
    )
    read = only_table("x.ods", book(table(HEAD + rows)))
    assert [(each.line, each.cells) for each in read.rows] == [
        (2, ("a", "a", "b")),
        (8, ("c", "d", "")),
        (9, ("c", "d", "")),
    ]


def test_an_error_is_a_fault():
    formula = 'table:formula="of:=1+1"'
    rows = row(cell("Which?"), cell("#REF!", formula)) + row(cell("Err:502", formula), cell("b"))
    assert faults_of(only_table("x.ods", book(table(HEAD + rows)))) == [
        (2, "A", "formula-without-value"),
        (3, "question", "formula-without-value"),
    ]


def test_hidden_sheets_are_left_out_and_one_sheet_can_be_chosen():
    hidden = '<style:table-properties table:display="false"/>'
    hidden = f'<style:style style:name="ta9" style:family="table">{hidden}</style:style>'
    tables = table(HEAD + row(cell("a"), cell("b")), "one") + table(HEAD + row(cell("c")), "two")
    tables += table(row(cell("secret")), "Key", 'table:style-name="ta9"')
    read = opened("x.ods", book(tables, styles=hidden))
    assert read.titles == ("one", "two")
    assert [note.rule for note in read.notes] == ["hidden-sheets", "plain-values"]
    assert only_table("x.ods", book(tables, styles=hidden), sheet="two").title == "two"
    with pytest.raises(DataError, match=r"no visible sheet “Key”\. Known: one, two"):
        opened("x.ods", book(tables, styles=hidden), sheet="Key")


def test_more_rows_than_are_read_are_refused():
    rows = row(cell("a"), cell("b"), more='table:number-rows-repeated="2000"')
    with pytest.raises(DataError, match="has more than 1,000 rows"):
        opened("x.ods", book(table(HEAD + rows)), limits=Limits(lines=1000))


def test_what_is_locked_or_damaged_is_refused():
    with pytest.raises(DataError, match="is locked with a password"):
        opened("x.ods", book(table(HEAD), manifest="<manifest:encryption-data/>"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", MIMETYPE)
    with pytest.raises(DataError, match="cannot be opened as a workbook"):
        opened("x.ods", stream.getvalue())


@pytest.mark.timeout(60)
def test_a_part_that_is_no_xml_is_refused_before_it_is_read_for_ever():
    with pytest.raises(DataError, match="not well-formed"):
        opened("x.ods", book(table(row("<table:table-cell office:value-tyoe:spreadsheet>"))))
