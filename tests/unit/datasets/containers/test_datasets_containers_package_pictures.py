"""Pictures of workbooks: pasted on rows, placed in cells by Excel and by WPS."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import xlsxwriter
from opened_tables import named_rows, note_texts, only_table
from picture_examples import picture

from evalui.datasets.model import FileTable
from evalui.datasets.picture_files import PictureFolder
from evalui.pictures import mark_of

HEADS = ["question", "A", "B", "answer"]
ROWS = [HEADS, ["Which?", "a", "b", "A"], ["What?", "c", "d", "B"], ["Why?", "e", "f", "A"]]
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"


RED, BLUE = picture("red"), picture("blue")
R, B = str(mark_of(RED)), str(mark_of(BLUE))


def book(rows: Sequence[Sequence[Any]], edit: Callable[[Any], object] = id) -> bytes:
    """A workbook with what XlsxWriter puts on its sheet."""
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as made:
        sheet = made.add_worksheet()
        for line, row in enumerate(rows):
            sheet.write_row(line, 0, row)
        edit(sheet)
    return stream.getvalue()


def paste(sheet: Any, cell: str, original: bytes) -> None:
    """Over a cell."""
    sheet.insert_image(cell, "x.png", {"image_data": io.BytesIO(original)})


def place(sheet: Any, cell: str, original: bytes) -> None:
    """In a cell."""
    sheet.embed_image(cell, "x.png", {"image_data": io.BytesIO(original)})


def altered(data: bytes, parts: Mapping[str, Callable[[bytes], bytes]]) -> bytes:
    """The package with some of its parts changed, or made if they are not there."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, change in parts.items():
            files[name] = change(files.get(name, b""))
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def read(data: bytes, **layout: Any) -> FileTable:
    return only_table("s.xlsx", data, **layout)


def faults(table: FileTable) -> list[tuple[int, str, str]]:
    return [(fault.line, fault.column, fault.actual) for fault in table.faults]


def test_a_picture_pasted_over_a_row_belongs_to_its_question():
    def edit(sheet: Any) -> None:
        paste(sheet, "G3", RED)
        paste(sheet, "A3", BLUE)
        paste(sheet, "D4", RED)

    table = read(book(ROWS, edit))
    assert table.heads == (*HEADS, "image")
    assert [row["image"] for row in named_rows(table)] == ["", B + R, R]
    assert [row["question"] for row in named_rows(table)] == ["Which?", "What?", "Why?"]


def test_a_picture_pasted_over_an_option_is_that_option():
    def edit(sheet: Any) -> None:
        paste(sheet, "B2", RED)
        paste(sheet, "C2", BLUE)
        paste(sheet, "C3", BLUE)

    table = read(book([HEADS, ["Which is red?", "", "", "A"], *ROWS[2:]], edit))
    assert table.heads == tuple(HEADS)
    assert [row.cells[1:3] for row in table.rows] == [(R, B), ("c", f"{B}\nd"), ("e", "f")]


@pytest.mark.parametrize(
    ("head", "is_own"),
    [("C", True), ("解析", True), ("图片", True), ("figure", False), ("topic", False)],
)
def test_only_the_columns_of_options_explanations_and_pictures_keep_theirs(head: str, is_own: bool):
    table = read(book([[*HEADS, head], *ROWS[1:]], lambda sheet: paste(sheet, "E2", RED)))
    assert table.heads[5:] == (() if is_own else ("image",))
    assert table.rows[0].cells[4:] == ((R,) if is_own else ("", R))


def test_the_columns_that_a_layout_states_keep_theirs():
    rows = [["q", "one", "two", "right"], ["Which?", "", "", "one"]]
    data = book(rows, lambda sheet: paste(sheet, "B2", RED))
    assert read(data, options=("one", "two")).rows[0].cells == ("Which?", R, "", "one")


def test_a_column_of_pictures_is_added_beside_one_of_that_name():
    rows = [[*HEADS, "image"], [*ROWS[1], R]]
    table = read(book(rows, lambda sheet: paste(sheet, "A2", BLUE)))
    assert table.heads[4:] == ("image", "image_2")
    assert table.rows[0].cells[4:] == (R, B)


def test_what_is_typed_below_a_picture_in_its_column_is_its_name():
    rows = [[*HEADS, "image"], [*ROWS[1], "Figure 1"]]
    table = read(book(rows, lambda sheet: paste(sheet, "E2", BLUE)))
    assert table.rows[0].cells[4] == B


def test_pictures_over_no_row_of_the_table_are_said():
    rows = [["Our quiz"], *ROWS, [], ["Total"]]

    def edit(sheet: Any) -> None:
        for cell in ("F1", "A2", "A7", "A99"):
            paste(sheet, cell, RED)

    table = read(book(rows, edit))
    assert (table.heads, len(table.rows)) == (tuple(HEADS), 3)
    assert "s.xlsx: pictures that lie over no row of the table were not read, 4 in all." in (
        note_texts(table)
    )


def test_a_picture_with_an_absolute_place_is_over_no_row():
    def loosen(xml: bytes) -> bytes:
        start, end = xml.index(b"<xdr:from>"), xml.index(b"</xdr:to>") + len(b"</xdr:to>")
        place = b'<xdr:pos x="9" y="9"/><xdr:ext cx="9" cy="9"/>'
        return (xml[:start] + place + xml[end:]).replace(b"twoCellAnchor", b"absoluteAnchor")

    data = book(ROWS, lambda sheet: paste(sheet, "A2", RED))
    table = read(altered(data, {"xl/drawings/drawing1.xml": loosen}))
    assert table.heads == tuple(HEADS)
    assert [note.rule for note in table.notes] == ["pictures-beside"]


def test_a_picture_over_merged_cells_counts_for_each_of_their_rows():
    def edit(sheet: Any) -> None:
        sheet.merge_range("F2:F3", "A text about it")
        paste(sheet, "F3", RED)

    table = read(book([[*HEADS, "topic", "passage"], *ROWS[1:]], edit))
    assert [row["image"] for row in named_rows(table)] == [R, R, ""]


def test_a_picture_of_a_question_that_is_merged_for_its_height_is_not_lost():
    def edit(sheet: Any) -> None:
        for at, text in enumerate(["Which?", "a", "b", "A"]):
            sheet.merge_range(1, at, 3, at, text)
        paste(sheet, "A4", RED)

    (row,) = named_rows(read(book([HEADS], edit)))
    assert (row["question"], row["image"]) == ("Which?", R)


def test_a_picture_is_read_once_however_often_it_is_shown(monkeypatch: pytest.MonkeyPatch):
    added: list[bytes] = []
    add = PictureFolder.add

    def counted(folder: PictureFolder, original: bytes) -> Any:
        added.append(original)
        return add(folder, original)

    monkeypatch.setattr(PictureFolder, "add", counted)
    rows = [HEADS, *([f"Question {n}?", "a", "b", "A"] for n in range(50))]

    def edit(sheet: Any) -> None:
        for line in range(2, 52):
            paste(sheet, f"A{line}", RED)
            place(sheet, f"F{line}", BLUE)

    table = read(book([[*HEADS, "x", "图"], *rows[1:]], edit))
    assert {row.cells[5:] for row in table.rows} == {(B, R)}
    assert sorted(added) == sorted([RED, BLUE])


def test_a_picture_in_a_cell_is_what_the_cell_shows():
    def edit(sheet: Any) -> None:
        place(sheet, "B2", RED)
        place(sheet, "C2", BLUE)
        place(sheet, "A3", BLUE)

    table = read(book([HEADS, ["Which is red?", "", "", "A"], ["", "c", "d", "B"]], edit))
    assert [row.cells for row in table.rows] == [("Which is red?", R, B, "A"), (B, "c", "d", "B")]


def test_a_picture_from_an_address_is_a_fault_of_its_row():
    def from_the_web(xml: bytes) -> bytes:
        assert b'"_localImage"' in xml
        return xml.replace(b'"_localImage"', b'"_webimage"')

    data = book(ROWS, lambda sheet: place(sheet, "B3", RED))
    table = read(altered(data, {"xl/richData/rdrichvaluestructure.xml": from_the_web}))
    assert faults(table) == [(3, "A", "a picture that is not in the file")]
    assert [row.line for row in table.rows] == [2, 4]


def test_another_value_than_a_picture_is_the_error_that_stands_there():
    def of_no_picture(xml: bytes) -> bytes:
        return xml.replace(b"_rvRel:LocalImageIdentifier", b"something")

    data = book(ROWS, lambda sheet: place(sheet, "B3", RED))
    table = read(altered(data, {"xl/richData/rdrichvaluestructure.xml": of_no_picture}))
    assert faults(table) == [(3, "A", "the error #VALUE!")]


def test_a_linked_picture_is_a_fault_of_its_row():
    data = book(ROWS, lambda sheet: paste(sheet, "A3", RED))

    def linked(xml: bytes) -> bytes:
        return xml.replace(b"r:embed", b"r:link")

    table = read(altered(data, {"xl/drawings/drawing1.xml": linked}))
    assert faults(table) == [(3, "question", "a picture that is not in the file")]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x01\x00\x00\x00 EMF", "a picture that is no PNG, JPEG, WebP, GIF, BMP or TIFF file"),
        (RED[:50], "a picture that cannot be read"),
    ],
)
def test_a_picture_that_cannot_be_read_is_a_fault_of_each_of_its_rows(content: bytes, why: str):
    def edit(sheet: Any) -> None:
        paste(sheet, "A3", RED)
        place(sheet, "C4", RED)

    data = altered(
        book(ROWS, edit),
        {f"xl/media/image{n}.png": lambda _: content for n in (1, 2)},
    )
    assert faults(read(data)) == [(3, "question", why), (4, "B", why)]


def by_wps(data: bytes) -> bytes:
    """The workbook with the part in which WPS keeps the pictures of cells."""

    def image(name: str, number: int) -> str:
        return (
            f'<etc:cellImage><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="{number}" name="{name}"/>'
            f'</xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId{number}"/></xdr:blipFill>'
            "</xdr:pic></etc:cellImage>"
        )

    images = (
        '<etc:cellImages xmlns:etc="http://www.wps.cn/officeDocument/2017/etCustomData" '
        f'xmlns:xdr="{DRAWING}/spreadsheetDrawing" xmlns:a="{DRAWING}/main" xmlns:r="{RELATIONS}">'
        f"{image('ID_0A', 1)}{image('ID_0B', 2)}</etc:cellImages>"
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/image" Target="media/image{n}.png"/>'
        for n in (1, 2)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts = {
        "xl/cellimages.xml": images.encode(),
        "xl/_rels/cellimages.xml.rels": (
            f'<Relationships xmlns="{package}">{related}</Relationships>'.encode()
        ),
        "xl/media/image1.png": RED,
        "xl/media/image2.png": BLUE,
    }
    return altered(
        data, {name: lambda _, content=content: content for name, content in parts.items()}
    )


def named_by_wps(sheet: Any, cell: str, name: str) -> None:
    formula = f'DISPIMG("{name}",1)'
    sheet.write_formula(cell, f"=_xlfn.{formula}", None, f"={formula}")


def test_a_picture_that_wps_names_in_a_cell_is_what_the_cell_shows():
    def edit(sheet: Any) -> None:
        named_by_wps(sheet, "B2", "ID_0B")
        named_by_wps(sheet, "C2", "ID_0A")
        named_by_wps(sheet, "C3", "ID_0C")

    table = read(by_wps(book([HEADS, ["Which is blue?", "", "", "A"], *ROWS[2:]], edit)))
    assert [row.cells for row in table.rows] == [("Which is blue?", B, R, "A"), tuple(ROWS[3])]
    assert faults(table) == [(3, "B", "a picture that is not in the file")]
