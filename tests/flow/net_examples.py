"""Recorded figures and sentences: what the product writes, made comparable.

A table is `{"rows": n, "columns": {name: [cell, ...]}}`. In a record a column of one value is
`{"all": value}`, of few texts `{"values": [...], "at": [...]}`, and what stood before in the same
record is `{"=": place}`, so that a figure which five files hold is recorded once.

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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Any

import openpyxl
from starlette.testclient import TestClient
from steady import steady

from evalui.cli.main import main
from evalui.report.frames.run import KINDS
from evalui.server import create_app
from evalui.settings import Settings

NET = Path(__file__).parent.parent / "golden" / "net"
INPUTS = NET / "inputs"
RECORDING = os.environ.get("EVALUI_RECORD") == "1"
LANGUAGES = ("en", "zh")

_SENTENCES = ("error", "why")  # fields of machine-readable files that hold one
_SHORT = 60  # characters of what is recorded again rather than named by its place


def check_figures(name: str, found: Any, *, tolerance: float = 1e-9) -> None:
    """Compare keys, cells and figures with those recorded under `name`.

    Floats agree if they differ by at most `tolerance`, absolutely or relatively; where that is
    more than 1e-9, so do figures within texts. Keys that are not recorded are passed over, and so
    are rows of metrics that are not, so that a metric more breaks no record.
    """
    path = NET / "figures" / f"{name}.json"
    found = json.loads(steady(json.dumps(found, ensure_ascii=False)))
    if RECORDING:
        _write(path, _laid_out(_packed(_short(found), "", {})) + "\n")
    recorded = _unpacked(json.loads(path.read_text(encoding="utf-8")), "", {})
    differing = list(_differences(recorded, found, "", tolerance))
    assert not differing, "\n".join([f"{name}: {len(differing)} differ", *differing[:20]])


def check_text(name: str, found: str, *, tolerance: float = 1e-9) -> None:
    """Compare sentences with those recorded under `name`, line by line.

    Columns of tables whose heads are not recorded are passed over. A line that differs is stated
    with the section `== name` it stands in.
    """
    path = NET / "texts" / name
    found = steady(found)
    if RECORDING:
        _write(path, found)
    recorded = path.read_text(encoding="utf-8").splitlines()
    lines = without_further_columns(recorded, found.splitlines())
    differing = list(_different_lines(recorded, lines, tolerance))
    assert not differing, "\n".join([f"{name}: {len(differing)} lines differ", *differing[:40]])


def _different_lines(
    recorded: Sequence[str], found: Sequence[str], tolerance: float
) -> Iterator[str]:
    """What was recorded and what is now where they differ, with the section."""
    matcher = SequenceMatcher(None, recorded, found, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = zip(recorded[first:last], found[start:end], strict=False)
        if last - first == end - start and all(_is_close(*pair, tolerance) for pair in pairs):
            continue
        section = next((line for line in recorded[first::-1] if line.startswith("== ")), "")
        yield f"{section or 'line'} ({first + 1}):"
        yield from (f"  was {line}" for line in recorded[first:last])
        yield from (f"  now {line}" for line in found[start:end])


_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")


def _is_close(recorded: str, found: str, tolerance: float) -> bool:
    """Whether texts are the same but for figures that a tolerance may move by their last digit."""
    if recorded == found or tolerance <= 1e-9:
        return recorded == found
    if _FIGURE.split(recorded) != _FIGURE.split(found):
        return False
    pairs = zip(_FIGURE.findall(recorded), _FIGURE.findall(found), strict=True)
    return all(
        abs(float(one) - float(other)) <= 1.01 * 10.0 ** -len(one.partition(".")[2])
        and ("." in one or one == other)
        for one, other in pairs
    )


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


def report_json(whole: dict[str, Any]) -> dict[str, Any]:
    """What report.json holds, its frames as tables, without its sentences."""
    found, _ = sentences_apart(whole)
    return {name: table_of(each) if name in KINDS else each for name, each in found.items()}


def json_lines(text: str) -> dict[str, Any]:
    """Rows of JSON Lines as a table."""
    return table_of([json.loads(line) for line in text.splitlines()])


def table_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows as a table; what a row lacks is ABSENT."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name, "ABSENT") for row in rows] for name in names}
    return {"rows": len(rows), "columns": columns}


def csv_columns(content: bytes) -> dict[str, Any]:
    """The cells of a CSV file by column, numbers as numbers, sentences left out."""
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    head, *cells = [[_number(cell) for cell in row] for row in rows]
    return _columns(head, cells)


def xlsx_columns(content: bytes) -> dict[str, Any]:
    """The cells of each sheet of a workbook by column; the first row has the heads."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    rows = {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}
    return {title: _columns(head, cells) for title, (head, *cells) in rows.items()}


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


def run(spec: Path, out: Path, models: Path, *options: str) -> int:
    """`evalui run`, and its exit code."""
    return main(["run", str(spec), "--out", str(out), "--models-file", str(models), *options])


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
    return {"rows": len(rows), "columns": columns}


def _packed(found: Any, place: str, known: dict[str, str]) -> Any:
    """What is recorded of a value; `known` are the places of what was recorded before."""
    if not isinstance(found, list | dict):
        return found
    whole = json.dumps(found, ensure_ascii=False)
    if len(whole) > _SHORT:
        if whole in known:
            return {"=": known[whole]}
        known[whole] = place
    if isinstance(found, list):
        return [_packed(each, f"{place}[{n}]", known) for n, each in enumerate(found)]
    if not _is_table(found):
        return {key: _packed(each, f"{place}.{key}", known) for key, each in found.items()}
    columns: dict[str, Any] = {}
    for name, values in found["columns"].items():
        whole = json.dumps(values, ensure_ascii=False)
        if len(whole) > _SHORT and whole in known:
            columns[name] = {"=": known[whole]}
        else:
            known[whole] = f"{place}.columns.{name}"
            columns[name] = _packed_column(values)
    return {**found, "columns": columns}


def _unpacked(recorded: Any, place: str, known: dict[str, Any]) -> Any:
    """The value of which this was recorded."""
    if isinstance(recorded, dict) and list(recorded) == ["="]:
        return known[recorded["="]]
    if isinstance(recorded, list):
        found: Any = [_unpacked(each, f"{place}[{n}]", known) for n, each in enumerate(recorded)]
    elif isinstance(recorded, dict):
        found = {
            key: each
            if key == "columns" and _is_table(recorded)
            else _unpacked(each, f"{place}.{key}", known)
            for key, each in recorded.items()
        }
    else:
        return recorded
    known[place] = found
    if _is_table(found):
        columns: dict[str, list[Any]] = {}
        for name, each in found["columns"].items():
            columns[name] = _unpacked_column(each, found["rows"], known)
            known[f"{place}.columns.{name}"] = columns[name]
        found["columns"] = columns
    return found


def _is_table(found: Any) -> bool:
    return isinstance(found, dict) and {"rows", "columns"} <= found.keys()


def _unpacked_column(recorded: Any, rows: int, known: Mapping[str, Any]) -> list[Any]:
    match recorded:
        case {"=": place}:
            return known[place]
        case {"all": value}:
            return [value] * rows
        case {"values": values, "at": at}:
            return [values[place] for place in at]
        case _:
            return recorded


def _packed_column(values: Sequence[Any]) -> Any:
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
    if _is_table(recorded) and _is_table(found) and "metric" in recorded["columns"]:
        found = _with_metrics(found, {*recorded["columns"]["metric"]})
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
    elif isinstance(recorded, str) and isinstance(found, str):
        if not _is_close(recorded, found, tolerance):
            yield f"{place}: {recorded!r} is {found!r}"
    elif recorded != found or type(recorded) is not type(found):
        yield f"{place}: {recorded!r} is {found!r}"


def _with_metrics(table: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """A table with the rows of these metrics alone."""
    metrics = table["columns"].get("metric", [])
    kept = [place for place, metric in enumerate(metrics) if metric in known]
    columns = {name: [each[place] for place in kept] for name, each in table["columns"].items()}
    return {**table, "rows": len(kept), "columns": columns}


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
