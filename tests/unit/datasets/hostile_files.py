"""Files that are small and want a lot; as a program, writes some in full size to a folder."""

import io
import sys
import zipfile
import zlib
from pathlib import Path

from openpyxl import Workbook

BLOCK = b" " * 2**20
HEADER = "id,question,A,B,C,D,answer\n"


def lying_zip(
    unpacked: int, declared: int, *, name: str = "a_val.csv", checked: int | None = None
) -> bytes:
    """An archive of one file of so many MB that declares so many bytes.

    Its checksum is that of the first `checked` bytes if it is given, else of all.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _lie(archive, name, unpacked, declared, checked)
    return packed.getvalue()


def lying_workbook(unpacked: int, declared: int, part: str = "xl/theme/theme1.xml") -> bytes:
    """A workbook with a part of so many MB that declares so many bytes."""
    book = workbook([["question", "A", "B", "answer"], ["Which?", "a", "b", "A"]])
    packed = io.BytesIO(replaced(book, part, None))
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        _lie(archive, part, unpacked, declared, declared)
    return packed.getvalue()


def workbook(rows: list[list[str]]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def wide_workbook(columns: int, *, encoding: str = "utf-8", first: bool = True) -> bytes:
    """A workbook with a row of so many cells, the first one or the second."""
    # Numbers that differ: what repeats itself is packed so well that it is refused for that.
    cells = "".join(f"<c><v>{number * 7919 % 1_000_003}</v></c>" for number in range(columns))
    head = "" if first else '<row><c t="inlineStr"><is><t>question</t></is></c></row>'
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = (
        f'<worksheet xmlns="{space}"><sheetData>{head}<row>{cells}</row></sheetData></worksheet>'
    )
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    return replaced(
        workbook([["x"]]), "xl/worksheets/sheet1.xml", (declared + sheet).encode(encoding)
    )


def replaced(book: bytes, part: str, content: bytes | None) -> bytes:
    """The workbook with another part under a name, or with none."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(book)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            found = content if info.filename == part else old.read(info)
            if found is not None:
                new.writestr(info.filename, found)
    return packed.getvalue()


def faulty_rows(n: int) -> str:
    """A table of questions without a question."""
    return HEADER + "1,,,,,,\n" * n


def _lie(
    archive: zipfile.ZipFile, name: str, unpacked: int, declared: int, checked: int | None
) -> None:
    with archive.open(name, "w", force_zip64=True) as file:
        for _ in range(unpacked):
            file.write(BLOCK)
    info = archive.getinfo(name)  # which becomes the directory of the archive when it is closed
    info.file_size = declared
    if checked is not None:
        info.CRC = zlib.crc32(BLOCK[:checked])


def main(folder: Path) -> None:
    (folder / "lying.zip").write_bytes(lying_zip(2000, 10))
    (folder / "lying-400.zip").write_bytes(lying_zip(400, 10, checked=10))
    (folder / "lying.xlsx").write_bytes(lying_workbook(400, 10))
    (folder / "wide.xlsx").write_bytes(wide_workbook(1_500_000))
    (folder / "faulty_val.csv").write_text(faulty_rows(990_000))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
