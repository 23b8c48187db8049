"""Workbooks: what a spreadsheet program puts into them, and what an attacker would."""

import io
import time as clock
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from evalui.datasets import Layout, Limits, load
from evalui.datasets.tables import workbook
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


def test_a_bomb_is_refused_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)
    altered(path, SHEET, lambda xml: xml + b" " * (20 * 2**20))
    monkeypatch.setattr(workbook, "parse_xml", lambda *_, **__: pytest.fail("was opened"))
    with pytest.raises(DataError, match=r"s\.xlsx: xl/worksheets/sheet1\.xml grows more than 100"):
        load([path])


def test_too_much_content_is_refused_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)
    monkeypatch.setattr(workbook, "parse_xml", lambda *_, **__: pytest.fail("was opened"))
    with pytest.raises(DataError, match=r"s\.xlsx has 0\.0 MB unpacked; at most"):
        load([path], limits=Limits(unpacked=path.stat().st_size + 1))


@pytest.mark.parametrize("limits", [Limits(lines=3), Limits(cells=12)])
def test_too_many_rows_or_cells_are_refused(tmp_path: Path, limits: Limits) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, *[ROW] * 3)
    with pytest.raises(DataError, match=r"s\.xlsx: the sheet “Sheet” has more than"):
        load([path], limits=limits)


def test_a_row_far_below_costs_no_time(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, edit=lambda sheet: sheet.cell(1_048_576, 1, "Why?"))
    began = clock.monotonic()
    with pytest.raises(DataError, match="has more than 10,000 rows"):
        load([path], limits=Limits(lines=10_000))
    assert clock.monotonic() - began < 5


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


def test_entities_are_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "s.xlsx", HEADER, ROW)

    def declare(xml: bytes) -> bytes:
        return b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + xml

    with pytest.raises(DataError, match="declares entities"):
        load([altered(path, SHEET, declare)])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", r"s\.xlsx is empty"),
        (
            b"question,capability\n",
            r"s\.xlsx is no workbook of a spreadsheet program, or a damaged one",
        ),
        (b"PK\x03\x04", r"s\.xlsx is no workbook of a spreadsheet program, or a damaged one"),
        (
            b"PK\x05\x06" + bytes(18),
            r"s\.xlsx is no workbook of a spreadsheet program, or a damaged one",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "or a damaged one"),
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
