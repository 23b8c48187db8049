"""What it takes to read large files (`python -m benchmarks.reading --checkout OLD NEW`).

Each file is read by each checkout in turn, each time in a process of its own. Printed are medians:
seconds of the processor and on the wall, and the most memory that one process held, that of a child
which reads among them. Imports are not timed; the making of the files neither.
"""

import argparse
import csv
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pyarrow
from openpyxl import Workbook
from pyarrow import parquet

from benchmarks.pages import ROOT, Checkout

_LONG = "下列关于第{}号材料的说法中，结合所学知识和材料所给的信息，哪一项最符合题目的要求？"
_OPTION = "选项内容第{}种，说明其成立的理由和不成立的条件"
_HEADS = ("id", "question", "A", "B", "C", "D", "answer")
_TIMEOUT_S = 900
_READ = """
import json, resource, sys, time
from pathlib import Path
from evalui.datasets import load
def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
began, wall = cpu(), time.perf_counter()
loaded = load([Path(sys.argv[1])])
spent = cpu() - began, time.perf_counter() - wall
own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(json.dumps([*spent, peak / 1024, len(loaded.dataset.samples)]))
"""


def _rows(n: int) -> Iterator[tuple[str, ...]]:
    draw = random.Random(0)
    for number in range(n):
        options = (_OPTION.format(draw.randrange(10**6)) for _ in "ABCD")
        yield str(number), _LONG.format(number), *options, draw.choice("ABCD")


def _write_csv(path: Path, n: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows((_HEADS, *_rows(n)))


def _write_parquet(path: Path, n: int) -> None:
    columns = zip(_HEADS, zip(*_rows(n), strict=True), strict=True)
    parquet.write_table(pyarrow.table({name: list(texts) for name, texts in columns}), path)


def _write_xlsx(path: Path, n: int) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("题库")
    for row in (_HEADS, *_rows(n)):
        sheet.append(row)
    book.save(path)


def _write_json(path: Path, n: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            row = {"question": f"Q{number}?", "A": 1, "B": 2, "answer": "AB"[number % 2]}
            file.write(("[" if not number else ",") + json.dumps(row, separators=(",", ":")))
        file.write("]")


# The name of each file, its rows, and how it is written.
FILES: tuple[tuple[str, int, Callable[[Path, int], None]], ...] = (
    ("made_val.csv", 100_000, _write_csv),
    ("made_val.parquet", 100_000, _write_parquet),
    ("made_val.xlsx", 10_000, _write_xlsx),
    ("made_val.json", 990_000, _write_json),
)


def main() -> None:
    """Print a line for each file and checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--checkout", type=Path, nargs="+", default=[ROOT], help="the old one first"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="the endings of some files: csv json")
    parser.add_argument("--share", type=float, default=1.0, help="of the rows")
    given = parser.parse_args()
    checkouts = [Checkout(folder.resolve()) for folder in given.checkout]
    print(f"{'file':18}{'rows':>9}  {'CPU s':>8}{'wall s':>8}{'MB':>7}{'CPU':>7}  checkout")
    with tempfile.TemporaryDirectory() as name:
        for file, full, write in FILES:
            path, rows = Path(name) / file, round(full * given.share)
            if given.only and path.suffix[1:] not in given.only:
                continue
            write(path, rows)
            measured: dict[Path, list[list[float]]] = {each.folder: [] for each in checkouts}
            for _, checkout in product(range(given.rounds), checkouts):
                measured[checkout.folder].append(_read(path, checkout, Path(name)))
            first = 0.0
            for folder, found in measured.items():
                cpu, wall, peak, samples = map(statistics.median, zip(*found, strict=True))
                first = first or cpu
                figures = f"{cpu:8.2f}{wall:8.2f}{peak:7.0f}{cpu / first:7.2f}"
                print(f"{file:18}{samples:9,.0f}  {figures}  {folder}", flush=True)


def _read(path: Path, checkout: Checkout, data: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _READ, str(path)],
        env=checkout.environment(data / "data"),
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if done.returncode:
        raise RuntimeError(f"{checkout.folder}, {path.name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
