"""OpenDocument sheets, written by hand as LibreOffice writes them."""

import io
import zipfile

import pytest

from evalui.datasets.columns import is_known_name
from evalui.datasets.model import Limits
from evalui.datasets.tables.opendocument import read_opendocument
from evalui.datasets.tables.sheets import CellBudget, SheetGrid, Workbook, sheet_table
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
    return f"<table:table-cell {more}>{shown}</table:table-cell>"


def read(data: bytes, *, sheet: str = "", limits: Limits = Limits()) -> Workbook:  # noqa: B008
    return read_opendocument(data, "x.ods", sheet=sheet, limits=limits)


def grid(rows: str) -> SheetGrid:
    (only,) = read(book(table(rows))).grids
    return only


def test_cells_are_what_they_show():
    percent = 'office:value-type="percentage" office:value="0.5"'
    day = 'office:value-type="date" office:date-value="1949-10-01"'
    read_grid = grid(row(cell("50%", percent), cell("1949年10月1日", day), cell("a &amp; b")))
    assert read_grid.lines == {1: ["50%", "1949年10月1日", "a & b"]}


def test_a_value_without_a_text_is_read_as_it_is():
    assert grid(row(cell("", 'office:value-type="float" office:value="7"'))).lines == {1: ["7"]}


def test_texts_have_their_lines_blanks_and_spans():
    content = (
        "one<text:s text:c='2'/>two<text:tab/><text:span>three</text:span></text:p><text:p>four"
    )
    assert grid(row(cell(content))).lines == {1: ["one  two\tthree\nfour"]}


def test_comments_are_not_part_of_a_cell():
    comment = "<office:annotation><text:p>a remark</text:p></office:annotation>"
    rows = row(f"<table:table-cell>{comment}<text:p>text</text:p></table:table-cell>")
    assert grid(rows).lines == {1: ["text"]}


def test_cells_and_rows_are_repeated_as_they_say():
    twice = 'table:number-columns-repeated="2"'
    rows = row(cell("a", twice), cell("", 'table:number-columns-repeated="3"'), cell("b"))
    rows += row(cell(), more='table:number-rows-repeated="5"')
    rows += row(cell("c"), more='table:number-rows-repeated="2"')
    rows += row(
        cell("", 'table:number-columns-repeated="16384"'),
        more='table:number-rows-repeated="1048576"',
    )
    assert grid(rows).lines == {1: ["a", "a", "", "", "", "b"], 7: ["c"], 8: ["c"]}


def test_hidden_rows_and_sheets_are_known():
    hidden = '<style:table-properties table:display="false"/>'
    hidden = f'<style:style style:name="ta9">{hidden}</style:style>'
    tables = table(row(cell("a")) + row(cell("b"), more='table:visibility="filter"'))
    tables += table(row(cell("secret")), "Key", 'table:style-name="ta9"')
    result = read(book(tables, styles=hidden))
    assert (result.visible, result.hidden) == (("Sheet1",), ("Key",))
    assert result.grids[0].hidden == {2}
    assert len(result.grids) == 1


def test_merged_cells_are_one():
    rows = row(cell("title", 'table:number-columns-spanned="3"'), "<table:covered-table-cell/>" * 2)
    rows += row(cell("a", 'table:number-rows-spanned="2"'), cell("b")) + row(
        "<table:covered-table-cell><text:p>under</text:p></table:covered-table-cell>", cell("c")
    )
    read_grid = grid(rows)
    assert read_grid.lines == {1: ["title"], 2: ["a", "b"], 3: ["", "c"]}
    assert [tuple(region) for region in read_grid.merged] == [(1, 1, 0, 2), (2, 3, 0, 0)]


def test_formulas_have_their_value_or_are_broken():
    formula = 'table:formula="of:=1+1"'
    rows = row(
        cell("2", formula), cell("", formula), cell("#REF!", formula), cell("Err:502", formula)
    )
    read_grid = grid(rows)
    assert read_grid.lines == {1: ["2"]}
    assert read_grid.broken == {
        1: {
            1: "a formula whose value is not in the file",
            2: "the error #REF!",
            3: "the error Err:502",
        }
    }


def test_a_picture_on_a_cell_is_that_of_its_row():
    picture = "<draw:frame><draw:image/><text:p>caption</text:p></draw:frame>"
    rows = row(cell("a")) + row(f"<table:table-cell>{picture}<text:p>b</text:p></table:table-cell>")
    read_grid = grid(rows)
    assert (read_grid.pictures, read_grid.lines[2]) == ({2: 0}, ["b"])


def test_one_sheet_can_be_chosen():
    data = book(table(row(cell("a")), "one") + table(row(cell("b")), "two"))
    assert [each.title for each in read(data, sheet="two").grids] == ["two"]
    with pytest.raises(DataError, match=r"no visible sheet “three”\. Known: one, two"):
        read(data, sheet="three")


# What does harm


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (row(cell("x", 'table:number-columns-repeated="999999999"')), "999,999,999 columns"),
        (row(cell("x"), more='table:number-rows-repeated="999999999"'), "has more than 1,000 rows"),
        (row(cell("x", 'table:number-columns-repeated="1000"')) * 900, "or 100,000 cells"),
        (
            row(cell("x", 'table:number-rows-spanned="999999999"')),
            "or 100,000 cells",
        ),
    ],
)
def test_cells_that_are_only_counted_cost_nothing(rows: str, reason: str):
    limits = Limits(lines=1000, cells=100_000)

    def read_tables() -> None:
        for each in read(book(table(rows)), limits=limits).grids:
            budget = CellBudget("x.ods", limits)
            sheet_table(each, "x.ods", is_known_name=is_known_name, budget=budget)

    with pytest.raises(DataError, match=reason):
        read_tables()


def test_blanks_that_are_only_counted_are_few():
    (text,) = grid(row(cell("a<text:s text:c='999999999'/>b"))).lines[1]
    assert len(text) == 1002


def test_what_is_locked_damaged_or_declares_entities_is_refused():
    with pytest.raises(DataError, match="is locked with a password"):
        read(book("", manifest="<manifest:encryption-data/>"))
    with pytest.raises(DataError, match="declares entities"):
        read(book("", head='<!DOCTYPE x [<!ENTITY a "aaaa">]>'))
    with pytest.raises(
        DataError, match="is no workbook of a spreadsheet program, or a damaged one"
    ):
        read(book("<table:table>"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", MIMETYPE)
    with pytest.raises(DataError, match=r"there is no content\.xml"):
        read(stream.getvalue())
