"""`evalui import`: the finished run of another harness becomes a run in the store.

evalui import PATH... [--name NAME] [--without FILE ...] [--mapping ROLE=COLUMN ...]
    [--database FILE]
"""

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.imports import uncollected
from evalui.local_runs import load_settings
from evalui.messages.command_help import IMPORT_HELP

if TYPE_CHECKING:
    from evalui.harnesses.importing import ImportedRun


def add_import_command(commands: Any) -> None:
    """Add `import` to the subparsers of `evalui`."""
    import_ = commands.add_parser(
        "import",
        help="import a finished run of another harness",
        description=IMPORT_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    import_.add_argument("path", nargs="+", type=Path, metavar="PATH", help="a folder or files")
    import_.add_argument("--name", default="", help="name of the run (default: its datasets)")
    import_.add_argument(
        "--mapping", nargs="+", metavar="ROLE=COLUMN", help="the columns of a CSV file"
    )
    import_.add_argument(
        "--without", nargs="+", default=[], metavar="FILE", help="names of files to leave out"
    )
    import_.add_argument("--database", type=Path, help="store to write to (default: the server's)")
    import_.set_defaults(command=_import)


def _import(given: argparse.Namespace) -> int:
    from tqdm import tqdm

    from evalui.harnesses import table_reader
    from evalui.harnesses.importing import import_run
    from evalui.store.connection import Database

    path: Path = given.database or load_settings().database
    reader = table_reader(given.mapping) if given.mapping else None
    with (
        closing(Database(path)) as database,
        tqdm(unit=" answers", file=sys.stderr, delay=1) as bar,
        uncollected(),
    ):
        imported = import_run(
            database,
            given.path,
            name=given.name,
            without=given.without,
            reader=reader,
            progress=bar.update,
        )
    _print(imported)
    return 0


def _print(imported: "ImportedRun") -> None:
    """A line for each figure of a whole dataset, as it is printed and as it is here."""
    from evalui.report.analyses.left_out import left_out_sentences

    for cell, source in imported.sources:
        for figure in source.figures if source.repeat == 1 else ():
            if not figure.subject:
                printed, marked, ours = (
                    "-" if value is None else f"{value:.4f}"
                    for value in (
                        figure.printed,
                        None if figure.marked is None else figure.marked * figure.full,
                        None if figure.ours is None else figure.ours * figure.full,
                    )
                )
                values = f"printed {printed}", f"its marks {marked}", f"evalui {ours}"
                print(cell.model, cell.dataset, figure.name, *values, sep="\t")
    for line in left_out_sentences(imported.left_out, "en"):
        print(f"evalui: left out: {line}", file=sys.stderr)
    print(f"evalui: run {imported.run_id} ({imported.name})", file=sys.stderr)
