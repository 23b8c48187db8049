"""Workbooks: what a spreadsheet program puts into them, and what an attacker would."""

import io
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opened_tables import faults_of, note_texts, only_table, opened
from openpyxl import Workbook

from evalui.datasets import Layout, Limits, load
from evalui.datasets.model import FileTable
from evalui.errors import DataError

HEADER = ["question", "index", "reference_answer", "evaluating_guidance", "capability"]
ROW = ["Why?", 1, "Because.", None, "reasoning"]
SHEET = "xl/worksheets/sheet1.xml"


def saved(path: Path, book: Workbook) -> Path:
    book.save(path)
    return path


def book(path: Path, *rows: Sequence[Any], edit: Callable[[Any], None] | None = None) -> Path:
    made = Workbook()
    sheet: Any = made.active
    for row in rows:
        sheet.append(row)
    if edit:
        edit(sheet)
    return saved(path, made)


def altered(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with one of its parts changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_dates_and_numbers_survive_the_file(tmp_path: Path) -> None:
    names, values = ["day", "share", "yes", "sum"], [date(2024, 1, 31), 0.25, True, 0.1 + 0.2]
    path = book(tmp_path / "s.xlsx", [*HEADER, *names], [*ROW, *values])
    (sample,) = load([path]).dataset.samples
    assert [sample.metadata[name] for name in names] == ["2024-01-31", "0.25", "TRUE", "0.3"]


def test_multiple_choice_and_reference_answers_may_come_as_workbooks(tmp_path: Path) -> None:
    header = ["id", "question", "A", "B", "answer"]
    choice = book(tmp_path / "law_val.xlsx", header, [1, "Q?", "x", "y", "B"])
    answers = book(tmp_path / "qa.xlsx", ["query", "response"], ["Capital?", "Beijing"])
    (sample,) = load([choice]).dataset.samples
    assert (sample.id, sample.choices, sample.target) == ("law/1", ("x", "y"), 1)
    loaded = load([answers])
    assert (loaded.dataset.kind, loaded.dataset.samples[0].target) == ("general_qa", ("Beijing",))


def test_an_archive_may_hold_workbooks(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(path, "in/s.xlsx")
    assert load([archive]).dataset.sha256 == load([path]).dataset.sha256


def test_faults_carry_the_rows_of_the_sheet(tmp_path: Path) -> None:
    rows = [[], [], HEADER, ROW, [None] * 5, ["", " "], [None, 2], ["Also?", 1]]
    loaded = load([book(tmp_path / "s.xlsx", *rows)])
    assert [(fault.line, fault.rule) for fault in loaded.faults] == [
        (7, "empty-question"),
        (8, "duplicate-id"),
    ]
    assert loaded.n_rows == 3


def test_cells_beyond_the_header_are_nobodys_business(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", ["question", "capability"], ["Why?", "talk", "my own note"])
    (sample,) = load([path]).dataset.samples
    assert "my own note" not in sample.metadata.values()


# Merged cells


def test_a_value_merged_over_rows_counts_for_each_of_them(tmp_path: Path) -> None:
    rows = [HEADER, ROW, ["How?", 2], ["What?", 3, None, None, "facts"]]
    path = book(tmp_path / "s.xlsx", *rows, edit=lambda sheet: sheet.merge_cells("E2:E3"))
    samples = load([path]).dataset.samples
    assert [sample.metadata["capability"] for sample in samples] == ["reasoning"] * 2 + ["facts"]


def test_a_row_that_is_merged_for_its_height_is_no_second_question(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        for column in "ABCDE":
            sheet.merge_cells(f"{column}2:{column}3")

    loaded = load([book(tmp_path / "s.xlsx", HEADER, ROW, edit=edit)])
    assert (len(loaded.dataset.samples), loaded.faults) == (1, ())


def table_of(path: Path, **layout: Any) -> tuple[FileTable, list[str]]:
    """The table of a workbook's only sheet that is one, and its notes."""
    table = only_table(path.name, path.read_bytes(), **layout)
    return table, note_texts(table)


def first_row(path: Path) -> tuple[str, ...]:
    """The cells of a sheet's first row, of which nothing is a head."""
    return only_table(path.name, path.read_bytes(), head_row=-1).rows[0].cells


@pytest.mark.parametrize(
    ("title", "cells"),
    [
        ([["选择题库", None, None, None, None]], "A1:E1"),
        ([["说明：每题一分"], ["请勿外传"]], "A2:E2"),
        ([[None, None, "2024 quiz"]], "C1:D1"),
    ],
)
def test_a_title_in_merged_cells_is_no_head(
    tmp_path: Path, title: list[list[Any]], cells: str
) -> None:
    rows = [["题目", "A", "B", "答案"], ["甲？", "一", "二", "A"], ["乙？", "一", "二", "B"]]
    path = book(tmp_path / "s.xlsx", *title, *rows, edit=lambda sheet: sheet.merge_cells(cells))
    table, notes = table_of(path)
    assert (table.heads, table.head_line) == (("题目", "A", "B", "答案"), len(title) + 1)
    assert len(table.rows) == 2
    assert f"are in row {len(title) + 1}; above them stands: " in notes[0]


def test_names_of_options_under_a_merged_group_are_their_own(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        for cells in ("A1:A2", "B1:B2", "C1:D1", "E1:E2"):
            sheet.merge_cells(cells)

    upper, lower = ["序号", "题目", "选项", None, "答案"], [None, None, "A", "B", None]
    rows = [upper, lower, [1, "甲？", "一", "二", "A"], [2, "乙？", "一", "二", "B"]]
    table, notes = table_of(book(tmp_path / "s.xlsx", *rows, edit=edit))
    assert table.heads == ("序号", "题目", "A", "B", "答案")
    assert [row.line for row in table.rows] == [3, 4]
    assert notes == []


def test_a_name_merged_over_options_counts_them(tmp_path: Path) -> None:
    rows = [["题目", "选项", None, None, "答案"], ["甲？", "一", "二", "三", "A"]]
    path = book(tmp_path / "s.xlsx", *rows, edit=lambda sheet: sheet.merge_cells("B1:D1"))
    table, _ = table_of(path)
    assert table.heads == ("题目", "选项1", "选项2", "选项3", "答案")


def test_the_row_of_the_names_can_be_said(tmp_path: Path) -> None:
    rows = [["题目", "A", "B", "答案"], ["q", "x", "y", "key"], ["甲？", "一", "二", "A"]]
    path = book(tmp_path / "s.xlsx", *rows)
    assert table_of(path, head_row=2)[0].heads == ("q", "x", "y", "key")
    table, _ = table_of(path, head_row=-1)
    assert (table.heads, table.head_line, len(table.rows)) == (("#1", "#2", "#3", "#4"), 0, 3)
    with pytest.raises(DataError, match="row 9, stated as that of the headers, is empty"):
        table_of(path, head_row=9)


def test_hidden_rows_are_read_and_said(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True

    rows = [["题目", "A", "B", "答案"], ["甲？", "一", "二", "A"], ["乙？", "一", "二", "B"]]
    table, notes = table_of(book(tmp_path / "s.xlsx", *rows, edit=edit))
    assert len(table.rows) == 2
    assert notes == ["s.xlsx: hidden rows were read too, 1 in all: 3."]


def test_what_stands_below_the_table_is_left_out_and_said(tmp_path: Path) -> None:
    rows = [["题目", "A", "B", "答案"], ["甲？", "一", "二", "A"], ["乙？", "一", "二", "B"]]
    rows += [[], ["合计", None, None, "2题"], ["出题人：张三"]]
    table, notes = table_of(book(tmp_path / "s.xlsx", *rows))
    assert [row.line for row in table.rows] == [2, 3]
    assert notes == ["s.xlsx: rows below the table were left out: 5 “合计 2题”; 6 “出题人：张三”."]


# Number formats


def test_cells_are_shown_as_the_sheet_shows_them(tmp_path: Path) -> None:
    formats = {
        "0%": 0.5,
        '"￥"#,##0': 1200,
        "0.00": 2,
        "yyyy年m月d日": datetime(1949, 10, 1),  # noqa: DTZ001
        "h:mm": time(9, 30),
        "General": 0.1 + 0.2,
    }

    def edit(sheet: Any) -> None:
        for column, (code, value) in enumerate(formats.items(), start=1):
            sheet.cell(1, column, value).number_format = code

    shown = first_row(book(tmp_path / "s.xlsx", edit=edit))
    assert shown == ("50%", "￥1,200", "2.00", "1949年10月1日", "9:30", "0.3")


def test_a_format_that_is_not_understood_is_said_once(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        for row in (2, 3):
            sheet.cell(row, 2).number_format = "[DBNum1]0"

    rows = [["题目", "A", "B", "答案"], ["甲？", 1, 2, "A"], ["乙？", 3, 4, "B"]]
    table, notes = table_of(book(tmp_path / "s.xlsx", *rows, edit=edit))
    assert table.rows[0].cells == ("甲？", "1", "2", "A")
    assert notes == [
        "s.xlsx: numbers in a format that is not understood were read without it: [DBNum1]0."
    ]


def test_days_count_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        sheet.cell(1, 1, 0).number_format = "yyyy-mm-dd"

    path = book(tmp_path / "s.xlsx", edit=edit)
    pair = b"<workbookPr/>", b'<workbookPr date1904="1"/>'
    altered(path, "xl/workbook.xml", lambda xml: xml.replace(*pair))
    assert first_row(path) == ("1904-01-01",)


# What other programs write


def parts(
    sheet: str,
    *,
    shared: str = "",
    main: str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
) -> bytes:
    """A workbook with only what it needs, as small programs write it."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    media = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    space = f'xmlns="{main}" xmlns:rel="{office}"'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{media}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{media}.sharedStrings+xml"/>'
        "</Types>",
        "xl/workbook.xml": f'<workbook {space}><sheets><sheet name="S" sheetId="1" rel:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{office}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
        "xl/sharedStrings.xml": f"<sst {space}>{shared}</sst>",
        SHEET: f"<worksheet {space}><sheetData>{sheet}</sheetData></worksheet>",
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def read(data: bytes, **options: Any) -> FileTable:
    return only_table("s.xlsx", data, head_row=-1, **options)


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (parts("<row><c><v>1</v></c><c t='str'><v>x</v></c></row>"), ("1", "x")),
        (parts("<row r='1'><c r='C1'><v>1</v></c></row>"), ("", "", "1")),
        (parts("<row r='1'><c r='B1'><v>2</v></c><c r='A1'><v>1</v></c></row>"), ("1", "2")),
        (
            parts("<row r='1'><c r='A1'><v>1</v></c></row><row r='1'><c r='B1'><v>2</v></c></row>"),
            ("1", "2"),
        ),
        (parts("<row><c t='inlineStr'><is><t>1.</t></is><v>1.</v></c></row>"), ("1.",)),
        (parts("<row><c t='d'><v>2024-01-31T00:00:00</v></c></row>"), ("2024-01-31",)),
        (parts("<row><c t='d'><v>10:30:00</v></c></row>"), ("10:30:00",)),
        (
            parts(
                "<row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row>",
                shared="<si><r><t>a</t></r><r><t> b</t></r><rPh sb='0' eb='1'><t>ruby</t></rPh>"
                "</si><si><t>x_x000D_\ny_x0041_</t></si>",
            ),
            ("a b", "x\ny_x0041_"),
        ),
    ],
)
def test_what_programs_leave_out_or_add_makes_no_difference(
    data: bytes, cells: tuple[str, ...]
) -> None:
    assert read(data).rows[0].cells == cells


def test_a_text_that_looks_like_an_escape_stays_itself() -> None:
    shared = "<si><t>_x005F_x0041_</t></si>"
    assert read(parts("<row><c t='s'><v>0</v></c></row>", shared=shared)).rows[0].cells == (
        "_x0041_",
    )


def test_the_strict_variant_of_the_format_is_refused_with_what_to_do() -> None:
    data = parts("<row/>", main="http://purl.oclc.org/ooxml/spreadsheetml/main")
    with pytest.raises(DataError, match="Save it as an Excel workbook"):
        read(data)


def test_a_text_that_is_not_there_is_damage() -> None:
    with pytest.raises(DataError, match="index out of range"):
        read(parts("<row><c t='s'><v>9</v></c></row>"))


def test_what_follows_the_cells_may_be_damaged(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)
    damaged = (
        b'</sheetData><dataValidations count="1"><dataValidation type="no"/></dataValidations>'
    )
    altered(path, SHEET, lambda xml: xml.replace(b"</sheetData>", damaged))
    assert len(table_of(path)[0].rows) == 1


def test_a_person_may_write_what_an_error_looks_like() -> None:
    cells = "<row><c t='s'><v>0</v></c></row><row><c t='str'><v>#N/A</v></c></row>"
    cells += "<row><c t='e'><v>#REF!</v></c></row>"
    table = read(parts(cells, shared="<si><t>#N/A</t></si>"))
    assert [row.cells for row in table.rows] == [("#N/A",)]
    assert [(fault.line, fault.actual) for fault in table.faults] == [
        (2, "the error #N/A"),
        (3, "the error #REF!"),
    ]


@pytest.mark.parametrize(
    ("cell", "is_broken"),
    [
        ("<c r='B1' t='str'><f>x</f><v></v></c>", False),
        ("<c r='B1' t='str'><f>x</f><v>y</v></c>", False),
        ("<c r='B1'><f>x</f></c>", True),
        ("<c r='B1' t='inlineStr'><f>x</f><is><t></t></is></c>", True),
        ("<c r='B1'><v/></c>", False),
        ("<c r='B1'><f>x</f><v>0</v></c>", False),
    ],
)
def test_a_formula_may_give_an_empty_text(cell: str, is_broken: bool) -> None:
    rows = f"<row r='1'><c r='A1'><v>1</v></c>{cell}</row>"
    rows += "<row r='2'><c r='A2'><v>1</v></c><c r='B2'><v>2</v></c></row>"
    faults = [(1, "#2", "formula-without-value")] if is_broken else []
    assert faults_of(read(parts(rows))) == faults


def test_rows_that_only_have_a_style_to_the_end_of_the_sheet_are_blank() -> None:
    rows = "<row r='1'><c><v>1</v></c></row><row r='1048576'><c s='0'/></row>"
    assert [row.line for row in read(parts(rows)).rows] == [1]


# Formulas


def test_the_value_beside_a_formula_is_read(tmp_path: Path) -> None:
    def cached(xml: bytes) -> bytes:
        return xml.replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>7</v>").replace(
            b"<f>1+1</f><v />", b"<f>1+1</f><v>7</v>"
        )

    path = book(tmp_path / "s.xlsx", HEADER, ["Why?", "=1+1"])
    (sample,) = load([altered(path, SHEET, cached)]).dataset.samples
    assert sample.id == "s/7"  # what the file says, not what the formula would give


def test_a_formula_without_a_value_is_a_fault_that_says_so(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW, ["=A2", 2], ["How?", 3])
    loaded = load([path])
    (fault,) = loaded.faults
    assert (fault.line, fault.column, fault.rule) == (3, "question", "formula-without-value")
    assert "a formula whose value is not in the file" in str(fault)
    assert len(loaded.dataset.samples) == 2


def test_a_formula_is_found_beyond_the_size_that_a_sheet_claims(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ["Why?", 1, "=A2"])
    altered(path, SHEET, lambda xml: xml.replace(b'ref="A1:C2"', b'ref="A1"'))
    altered(path, SHEET, lambda xml: xml.replace(b'ref="A1:E2"', b'ref="A1"'))
    (fault,) = load([path]).faults
    assert (fault.column, fault.rule) == ("reference_answer", "formula-without-value")


def test_a_formula_that_ends_in_an_error_is_a_fault(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ["#REF!", 1])
    (fault,) = load([path]).faults
    assert (fault.rule, fault.actual) == ("formula-without-value", "the error #REF!")


# Sheets


def sheets(path: Path, **rows: Sequence[Sequence[Any]]) -> Path:
    made = Workbook()
    made.remove(made.worksheets[0])
    for title, lines in rows.items():
        sheet: Any = made.create_sheet(title)
        sheet.sheet_state = "hidden" if title.startswith("hidden") else "visible"
        for line in lines:
            sheet.append(line)
    return saved(path, made)


def test_every_sheet_that_fits_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    about, more = [["made by", "me"], ["in", "May"]], [HEADER, ["How?", 9]]
    path = sheets(tmp_path / "s.xlsx", empty=[], about=about, main=[HEADER, ROW], more=more)
    loaded = load([path])
    assert [sample.id for sample in loaded.dataset.samples] == ["s main/1", "s more/9"]
    assert loaded.files == ("s.xlsx/main", "s.xlsx/more")
    assert loaded.sheets == ("empty", "about", "main", "more")
    assert [str(note) for note in loaded.notes] == [
        "s.xlsx: read: main, more; not read: empty, about. Another can be chosen as the sheet."
    ]


def test_one_sheet_that_fits_is_the_whole_file(tmp_path: Path) -> None:
    about = [["Fill in every column."], ["One question for each row."]]
    path = sheets(tmp_path / "s.xlsx", about=about, main=[HEADER, ROW])
    loaded = load([path])
    assert [sample.id for sample in loaded.dataset.samples] == ["s/1"]
    assert loaded.files == ("s.xlsx",)
    assert [note.rule for note in loaded.notes] == ["other-sheets"]


def test_sheets_that_are_named_like_splits_have_those_roles(tmp_path: Path) -> None:
    header = ["question", "A", "B", "answer"]
    path = sheets(
        tmp_path / "law.xlsx",
        dev=[header, ["Which?", "a", "b", "A"]],
        test=[header, ["What?", "a", "b", "B"]],
    )
    loaded = load([path])
    assert [sample.question for sample in loaded.dataset.samples] == ["What?"]
    assert [sample.question for sample in loaded.dataset.shots] == ["Which?"]
    assert {sample.metadata["subject"] for sample in loaded.dataset.samples} == {"law"}


def test_another_sheet_can_be_chosen_and_is_another_dataset(tmp_path: Path) -> None:
    path = sheets(tmp_path / "s.xlsx", main=[HEADER, ROW], more=[HEADER, ["How?", 9]])
    chosen = load([path], layout=Layout(sheet="more"))
    assert [sample.id for sample in chosen.dataset.samples] == ["s/9"]
    assert not chosen.notes
    assert chosen.dataset.sha256 != load([path]).dataset.sha256


@pytest.mark.parametrize("sheet", ["other", "hidden"])
def test_a_sheet_that_is_not_there_is_told_with_the_known_ones(tmp_path: Path, sheet: str) -> None:
    path = sheets(tmp_path / "s.xlsx", main=[HEADER, ROW], hidden=[HEADER, ROW])
    with pytest.raises(DataError, match=rf"no visible sheet “{sheet}”\. Known: main\."):
        load([path], layout=Layout(sheet=sheet))


def test_hidden_sheets_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = sheets(tmp_path / "s.xlsx", hidden_key=[HEADER, ROW], main=[HEADER, ["How?", 9]])
    loaded = load([path])
    assert [sample.id for sample in loaded.dataset.samples] == ["s/9"]
    assert [str(note) for note in loaded.notes] == [
        "s.xlsx: hidden sheets were left out: hidden_key."
    ]


@pytest.mark.parametrize("rows", [[], [[None], [" "]]])
def test_an_empty_workbook_is_told(tmp_path: Path, rows: list[list[Any]]) -> None:
    with pytest.raises(DataError, match=r"s\.xlsx is empty"):
        load([book(tmp_path / "s.xlsx", *rows)])


def test_an_unknown_sheet_is_told_which_columns_it_lacks(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", ["month", "amount"], [1, 2])
    faults = load([path], layout=Layout(kind="subjective")).faults
    assert [(fault.rule, fault.column) for fault in faults] == [("missing-column", "question")]


# What does harm


@pytest.mark.parametrize(
    ("blanks", "limits", "reason"),
    [
        (20 * 2**20, Limits(), r"xl/worksheets/sheet1\.xml grows more than 100 times"),
        (1, Limits(unpacked=8000), r"s\.xlsx has 0\.0 MB unpacked; at most"),
    ],
)
def test_a_package_that_grows_is_refused(
    tmp_path: Path, blanks: int, limits: Limits, reason: str
) -> None:
    path = altered(book(tmp_path / "s.xlsx", HEADER, ROW), SHEET, lambda xml: xml + b" " * blanks)
    with pytest.raises(DataError, match=reason):
        opened("s.xlsx", path.read_bytes(), limits=limits)


@pytest.mark.parametrize("limits", [Limits(lines=3), Limits(cells=12)])
def test_too_many_rows_or_cells_are_refused(tmp_path: Path, limits: Limits) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, *[ROW] * 3)
    with pytest.raises(DataError, match=r"s\.xlsx: the sheet “Sheet” has more than"):
        load([path], limits=limits)


def test_a_row_far_below_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, edit=lambda sheet: sheet.cell(1_048_576, 1, "Why?"))
    with pytest.raises(DataError, match="has more than 10,000 rows"):
        load([path], limits=Limits(lines=10_000))


@pytest.mark.parametrize("claimed", [b"A1:XFD1048576", b"A1", b"B2:C3"])
def test_the_size_that_a_sheet_claims_is_not_believed(tmp_path: Path, claimed: bytes) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)

    def claim(xml: bytes) -> bytes:
        assert b'ref="A1:E2"' in xml
        return xml.replace(b'ref="A1:E2"', b'ref="' + claimed + b'"')

    (sample,) = load([altered(path, SHEET, claim)]).dataset.samples
    assert sample.metadata["capability"] == "reasoning"


def test_more_columns_than_any_table_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 1,001 columns"):
        load([book(tmp_path / "s.xlsx", [f"question{n}" for n in range(1001)])])


def test_entities_that_fill_a_memory_are_refused(tmp_path: Path) -> None:
    names = "abcdefghij"
    made = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(names))
    laughs = f'<!DOCTYPE x [<!ENTITY a "{"ha" * 100}">{made}]>'.encode()
    path = altered(
        book(tmp_path / "s.xlsx", HEADER, ROW),
        SHEET,
        lambda xml: laughs + xml.replace(b"<v>1</v>", b"<v>&j;</v>"),
    )
    with pytest.raises(DataError, match="cannot be opened as a workbook"):
        load([path])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", r"s\.xlsx is empty"),
        (
            b"question,capability\n",
            r"s\.xlsx cannot be opened as a workbook",
        ),
        (b"PK\x03\x04", r"s\.xlsx cannot be opened as a workbook"),
        (
            b"PK\x05\x06" + bytes(18),
            r"s\.xlsx cannot be opened as a workbook",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "cannot be opened as a workbook"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "is locked with a password",
        ),
    ],
)
def test_what_is_no_workbook_is_told(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "s.xlsx"
    path.write_bytes(data)
    with pytest.raises(DataError, match=reason):
        load([path])


def sample_book() -> bytes:
    stream = io.BytesIO()
    made = Workbook()
    sheet: Any = made.active
    for row in (HEADER, ROW, ["=A2", 2, 0.5, True, datetime(2024, 1, 31)]):  # noqa: DTZ001
        sheet.append(row)
    sheet.merge_cells("D2:D3")
    made.save(stream)
    return stream.getvalue()


BOOK = sample_book()
PARTS = {
    name: zipfile.ZipFile(io.BytesIO(BOOK)).read(name)
    for name in zipfile.ZipFile(io.BytesIO(BOOK)).namelist()
}
FUZZ = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def loads_or_refuses(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        loaded = load([path])
    except DataError:
        return  # every other error is a bug
    assert loaded.n_rows >= len(loaded.dataset.samples)


@FUZZ
@given(place=st.integers(0, len(BOOK) - 1), value=st.integers(0, 255), cut=st.integers(0, 900))
def test_a_damaged_workbook_loads_or_is_refused(
    tmp_path: Path, place: int, value: int, cut: int
) -> None:
    data = bytearray(BOOK)
    data[place] = value
    loads_or_refuses(tmp_path / "s.xlsx", bytes(data[: len(data) - (cut if cut % 3 == 0 else 0)]))


@FUZZ
@given(
    part=st.sampled_from(sorted(PARTS)),
    place=st.integers(0, 5000),
    piece=st.one_of(
        st.binary(max_size=4),
        st.sampled_from([b"", b"<c/>", b'"', b"99999999999999999999", b"<row", b"-1", b"</v>"]),
    ),
    length=st.integers(0, 12),
)
def test_a_workbook_with_damaged_parts_loads_or_is_refused(
    tmp_path: Path, part: str, place: int, piece: bytes, length: int
) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in PARTS.items():
            at = place % (len(data) + 1)
            changed = data[:at] + piece + data[at + length :]
            archive.writestr(name, changed if name == part else data)
    loads_or_refuses(tmp_path / "s.xlsx", stream.getvalue())


@pytest.mark.slow
def test_more_rows_are_read_than_older_programs_write(tmp_path: Path) -> None:
    made = Workbook(write_only=True)
    sheet = made.create_sheet("main")
    sheet.append(HEADER)
    for number in range(66_000):
        sheet.append([f"Question {number}?", number, f"Answer {number}.", None, "facts"])
    loaded = load([saved(tmp_path / "s.xlsx", made)])
    assert (len(loaded.dataset.samples), loaded.faults) == (66_000, ())
