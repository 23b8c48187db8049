"""Measure, print one table, and write benchmarks/RESULTS.md (see README.md beside this file)."""

import os

# Before numpy and torch are loaded. One thread: on a shared machine a second one mostly waits.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["EVALUI_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import argparse
import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    biases,
    circular,
    endpoints,
    exports,
    gpu,
    importing,
    large_runs,
    models,
    ratings,
    scripted_run,
    starting,
    storing,
    texts,
    watchers,
)
from benchmarks.contest import Session
from benchmarks.rows import Row, table
from evalui.models.local.fp32 import processor

RESULTS = Path(__file__).with_name("RESULTS.md")
GROUPS = {
    module.GROUP: module.rows
    for module in (
        models,
        texts,
        circular,
        ratings,
        biases,
        storing,
        scripted_run,
        exports,
        importing,
        starting,
        watchers,
        large_runs,
        endpoints,
    )
}
_PACKAGES = ("torch", "transformers", "numpy", "scipy", "nltk", "jieba", "gradio")


def main() -> None:
    """Run the benchmarks that are asked for; the results of a whole run are kept."""
    given = _parser().parse_args()
    session = Session(
        rounds=1 if given.quick else 3,
        patience=20,
        sizes=(0.05,) if given.quick else (1,) if given.gpu else (0.05, 0.2, 1),
        peers=given.peers,
    )
    began = time.monotonic()
    wanted = given.only or list(GROUPS)
    measured = gpu.rows(session) if given.gpu else _rows(session, wanted)
    lines = _told(list(measured), session, time.monotonic() - began)
    print("\n".join(lines))
    if not (given.quick or given.only or given.gpu):
        # What was measured apart has sections of its own, which stay.
        _, section, apart = RESULTS.read_text(encoding="utf-8").partition("\n## ")
        text = "# Results\n\n" + "\n".join(lines) + "\n" + section + apart
        RESULTS.write_text(text, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=GROUPS, help="these groups of rows alone")
    parser.add_argument("--quick", action="store_true", help="one small size, one round")
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", help="ready environments, instead of making them"
    )
    parser.add_argument("--gpu", action="store_true", help="models on a CUDA device instead")
    return parser


def _rows(session: Session, names: list[str]) -> Iterator[Row]:
    for name in names:
        yield from GROUPS[name](session)


def _told(rows: list[Row], session: Session, seconds: float) -> list[str]:
    """The table, under what it was measured with and above what came out."""
    ours = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    peers = {row.peer: row.built_on for row in rows if row.built_on}
    return [
        f"- evalui {version('evalui')}, Python {platform.python_version()}, {ours}.",
        *(f"- {name}: {', '.join(built_on)}." for name, built_on in peers.items()),
        f"- {processor()}, {os.cpu_count()} cores, load {load} after the run.",
        f"- One thread each. Medians of at most {session.rounds} rounds (peer+ours), in turn; no "
        f"further round that would pass {session.patience:g} s.",
        "",
        *table(rows),
        "",
        _summary(rows, seconds),
    ]


def _summary(rows: list[Row], seconds: float) -> str:
    goals = [row for row in rows if row.goal]
    met = sum(row.met is True for row in goals)
    unknown = sum(row.met is None for row in goals)
    faulty = sum(row.faulty for row in rows)
    return (
        f"{met} of {len(goals)} goals met, {unknown} not measured, {faulty} rows with unequal "
        f"results; {seconds / 60:.0f} minutes in all."
    )


if __name__ == "__main__":
    sys.exit(main())
