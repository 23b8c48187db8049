"""Recorded figures and sentences: what the product writes, made comparable.

`EVALUI_RECORD=1` writes the records anew instead of comparing; see tests/golden/net/SOURCES.md.
"""

import asyncio
import csv
import io
import json
import math
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

import openpyxl
from starlette.testclient import TestClient

from evalui.cli.main import main
from evalui.server import create_app
from evalui.settings import Settings
from evalui.shipped_files import ASSETS

NET = Path(__file__).parent.parent / "golden" / "net"
INPUTS = NET / "inputs"
RECORDING = os.environ.get("EVALUI_RECORD") == "1"
LANGUAGES = ("en", "zh")

_VOLATILE = (
    (r"evalui([: ]v?)\d+\.\d+\.\d+\w*", r"evalui\1VERSION"),
    (r'("evalui": |"version": )"\d[^"]*"', r'\1"VERSION"'),
    (r"\|version:[\d.]+", "|version:VERSION"),  # of sacreBLEU
    (r"(127\.0\.0\.1|localhost):\d+", "HOST"),
    (r"(?<=model:remote@)[0-9a-f]{8}", "HOST"),  # which holds a digest of its address
    (r"(?<![\w/.<])/(?:[\w.+-]+/)+", "FOLDER/"),
)
_SENTENCES = ("error", "why")  # fields of machine-readable files that hold one


def steady(text: str) -> str:
    """The text without what differs from one run or machine to the next.

    Versions of evalui and sacreBLEU, addresses of servers on this machine, and folders of absolute
    paths. All else is the same on each run: no export holds a time, a duration or the id of a run.
    """
    for pattern, name in _VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def check_figures(name: str, found: Any, *, tolerance: float = 1e-9) -> None:
    """Compare keys, cells and figures with those recorded under `name`.

    Floats agree if they differ by at most `tolerance`, absolutely or relatively. Keys that are not
    recorded are passed over, so that a metric more breaks no record.
    """
    path = NET / "figures" / f"{name}.json"
    found = json.loads(steady(json.dumps(found, ensure_ascii=False)))
    if RECORDING:
        _write(path, _laid_out(_short(found)) + "\n")
    recorded = json.loads(path.read_text(encoding="utf-8"))
    differing = list(_differences(recorded, found, "", tolerance))
    assert not differing, "\n".join([f"{path.name}: {len(differing)} differ", *differing[:20]])


def check_text(name: str, found: str) -> None:
    """Compare sentences with those recorded under `name`, line by line.

    Columns of tables whose heads are not recorded are passed over.
    """
    path = NET / "texts" / name
    found = steady(found)
    if RECORDING:
        _write(path, found)
    recorded = path.read_text(encoding="utf-8").splitlines()
    assert without_further_columns(recorded, found.splitlines()) == recorded, path.name


def without_further_columns(recorded: Sequence[str], found: Sequence[str]) -> list[str]:
    """The lines that were found, without the columns of tables that have none in the record.

    A table is known by its place among the tables, its head is its first line.
    """
    known = [rows for is_table, rows in _runs(recorded) if is_table]
    lines: list[str] = []
    place = 0
    for is_table, rows in _runs(found):
        if is_table and place < len(known):
            lines += _same_columns(known[place], rows)
            place += 1
        else:
            lines += rows
    return lines


def _runs(lines: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Lines of tables, and lines that are none, as they follow each other."""
    runs = groupby(lines, lambda line: line.startswith("|"))
    return [(is_table, list(rows)) for is_table, rows in runs]


def _same_columns(known: Sequence[str], rows: Sequence[str]) -> list[str]:
    heads, own = _cells(known[0]), [_cells(row) for row in rows]
    kept = [place for place, head in enumerate(own[0]) if head in heads]
    if len(kept) == len(own[0]) or any(len(cells) != len(own[0]) for cells in own):
        return list(rows)  # as they were, or with heads over several columns
    return ["".join(["|", *(f"{cells[place]}|" for place in kept)]) for cells in own]


def _cells(row: str) -> list[str]:
    return re.split(r"(?<!\\)\|", row)[1:-1]


def sentences_apart(found: Any) -> tuple[Any, list[str]]:
    """A JSON value without the sentences in it, and these."""
    told: list[str] = []

    def without(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: without(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [without(each) for each in value]
        if isinstance(value, str) and value and key in _SENTENCES:
            told.append(value)
            return "SENTENCE"
        return value

    return without(found), told


def json_lines(text: str) -> dict[str, Any]:
    """Rows of JSON Lines by column; see `_column`."""
    rows = [json.loads(line) for line in text.splitlines()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: _column([row.get(name, "ABSENT") for row in rows]) for name in names}
    return {"rows": len(rows), "columns": columns}


def csv_columns(content: bytes) -> dict[str, Any]:
    """The cells of a CSV file by column, numbers as numbers, sentences left out."""
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    head, *cells = [[_number(cell) for cell in row] for row in rows]
    return _columns(head, cells)


def xlsx_columns(content: bytes) -> dict[str, Any]:
    """The cells of each sheet of a workbook by column; the first row has the signatures."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    found = {}
    for sheet in book:
        signatures, head, *cells = [list(row) for row in sheet.iter_rows(values_only=True)]
        assert set(signatures[1:]) <= {None}
        found[sheet.title] = {"signatures": str(signatures[0]).count("\n") + 1}
        found[sheet.title] |= _columns(head, cells)
    return found


class _Page(HTMLParser):
    """Reads the visible text of a page block by block, and the cells of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.lines.append("|")
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "img":
            self.lines.append(f"[picture] {dict(attrs)['alt']}")
        elif re.fullmatch("h[1-6]|p|li", tag):
            self.lines.append({"p": "", "li": "- "}.get(tag, f"{'#' * int(tag[-1:] in '123456')} "))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        if tag in ("td", "th"):
            self.lines[-1] += f" {self.tables[-1][-1][-1]} |"

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] = f"{self.tables[-1][-1][-1]} {data}".strip()
        elif not {"style", "title", "script"} & set(self._open) and data.strip():
            self.lines[-1] += data


def page_text(page: bytes) -> str:
    """The visible text of an HTML file, a block or table row a line, and the texts of pictures."""
    return "".join(f"{line}\n" for line in _read(page).lines)


def page_numbers(page: bytes) -> list[dict[str, list[str]]]:
    """The cells with figures of each table of an HTML file by the heads of their columns.

    Cells of words are ""; heads that are alike are numbered, and a row is of the columns it has.
    """
    return [_numbers_by_head(table) for table in _read(page).tables if table]


def _numbers_by_head(table: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    widest = max(map(len, table))
    head = next(row for row in table if len(row) == widest)  # below what heads share
    names = [f"{name} #{head[:place].count(name) + 1}" for place, name in enumerate(head)]
    rows = [row for row in table if row is not head]
    return {
        name: [
            row[place] if re.search(r"\d", row[place]) else "" for row in rows if place < len(row)
        ]
        for place, name in enumerate(names)
    }


def archive(content: bytes) -> dict[str, bytes]:
    """The files of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@contextmanager
def served(data: Path, models: Path | None = None) -> Iterator[TestClient]:
    """The web application on a data folder, without workers."""
    more = {"models": models} if models else {}
    settings = Settings(data_dir=data, workers=0, token=False, **more)

    with TestClient(created(settings), base_url="http://localhost") as client:
        yield client


def created(settings: Settings) -> Any:
    """The application, made in an event loop: outside, Gradio opens one and leaves it open."""

    async def inside() -> Any:
        return create_app(settings)

    return asyncio.run(inside())


def exported(client: TestClient, run_id: str, extension: str, language: str = "en") -> bytes:
    """A run as the page offers it for download."""
    answer = client.get(f"/export/{run_id}.{extension}?lang={language}")
    assert answer.status_code == 200, answer.text
    return answer.content


def run_ids(database: Path) -> dict[str, str]:
    """The ids of the runs in a store, by name."""
    with closing(sqlite3.connect(database)) as opened:
        return dict(opened.execute("SELECT name, id FROM run"))


def models_file(folder: Path, endpoint: str = "http://127.0.0.1:9/v1") -> Path:
    """The recorded runs' models.toml with this machine's places."""
    text = (INPUTS / "models.toml").read_text(encoding="utf-8")
    path = folder / "models.toml"
    path.write_text(text.replace("{assets}", str(ASSETS)).replace("{endpoint}", endpoint))
    return path


def run(spec: Path, out: Path, models: Path, *options: str) -> int:
    """`evalui run`, and its exit code."""
    return main(["run", str(spec), "--out", str(out), "--models-file", str(models), *options])


def _read(page: bytes) -> _Page:
    parser = _Page()
    parser.feed(page.decode())
    parser.close()
    return parser


def _number(cell: str) -> Any:
    try:
        return float(cell) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell) else cell
    except ValueError:
        return cell


def _columns(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    assert len(set(head)) == len(head), "columns are known by their names"
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    for name in _SENTENCES:
        if name in columns:
            columns[name] = ["SENTENCE" if cell else cell for cell in columns[name]]
    return {"rows": len(rows), "columns": {name: _column(each) for name, each in columns.items()}}


def _column(values: Sequence[Any]) -> Any:
    """The values; if they are all the same that one; texts that come again numbered."""
    distinct = list(dict.fromkeys(json.dumps(value, ensure_ascii=False) for value in values))
    whole = [json.loads(value) for value in distinct]
    if len(distinct) == 1:
        return {"all": whole[0]}
    if len(distinct) > len(values) / 3 or not any(isinstance(v, str | list | dict) for v in whole):
        return list(values)
    places = {value: place for place, value in enumerate(distinct)}
    at = [places[json.dumps(value, ensure_ascii=False)] for value in values]
    return {"values": whole, "at": at}


def _differences(recorded: Any, found: Any, place: str, tolerance: float) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(found, dict):
        if list(recorded) != [key for key in found if key in recorded]:
            yield f"{place}: keys {list(recorded)} are {list(found)}"
        for key in recorded.keys() & found.keys():
            yield from _differences(recorded[key], found[key], f"{place}.{key}", tolerance)
    elif isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            yield f"{place}: {len(recorded)} entries are {len(found)}"
        for number, pair in enumerate(zip(recorded, found, strict=False)):
            yield from _differences(*pair, f"{place}[{number}]", tolerance)
    elif isinstance(recorded, float) and isinstance(found, float):
        if not math.isclose(recorded, found, rel_tol=tolerance, abs_tol=tolerance):
            yield f"{place}: {recorded!r} is {found!r}"
    elif recorded != found or type(recorded) is not type(found):
        yield f"{place}: {recorded!r} is {found!r}"


def _laid_out(found: Any, indent: str = "") -> str:
    """JSON in which what is short, and each list of plain values, is on a line of its own."""
    line = json.dumps(found, ensure_ascii=False)
    plain = isinstance(found, list) and not any(isinstance(each, list | dict) for each in found)
    if plain or len(line) <= 100 or not isinstance(found, list | dict):
        return line
    inner = f"\n{indent} "
    if isinstance(found, list):
        return f"[{inner}{f',{inner}'.join(_laid_out(each, indent + ' ') for each in found)}]"
    pairs = (
        f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(each, indent + ' ')}"
        for key, each in found.items()
    )
    return f"{{{inner}{f',{inner}'.join(pairs)}}}"


def _short(found: Any) -> Any:
    """Floats with 12 digits, more than any comparison looks at."""
    if isinstance(found, list):
        return [_short(each) for each in found]
    if isinstance(found, dict):
        return {key: _short(each) for key, each in found.items()}
    return float(f"{found:.12g}") if isinstance(found, float) else found


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
