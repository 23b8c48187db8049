"""`evalui export`: a run as a file, from the store of a server that may be running.

    evalui export RUN FORMAT [--database FILE] [--output FILE]
    evalui export RUN --to sqlite --output run.sqlite      # for another evalui: import, open

The server streams the exports of larger runs from this very command.
"""

import argparse
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evalui.errors import SpecError, StoreError
from evalui.local_runs import bundle_of, load_settings
from evalui.report.write.formats import BUNDLE, FORMATS, TRIAL_FORMATS, require_installed
from evalui.types import Language

if TYPE_CHECKING:
    from evalui.settings import Settings
    from evalui.store.connection import Database


_BINARY = ("application/vnd.", "application/zip")  # beginnings of media types


def add_export_command(commands: Any) -> None:
    """Add `export` to the subparsers of `evalui`."""
    export = commands.add_parser("export", help="write a run as a file")
    export.add_argument("run", metavar="RUN", help="id of the run, as in the address of its page")
    named = export.add_mutually_exclusive_group(required=True)
    named.add_argument(
        "format", metavar="FORMAT", nargs="?", choices=FORMATS, help=", ".join(FORMATS)
    )
    named.add_argument("--to", metavar="FORMAT", choices=FORMATS, help="the format, as an option")
    export.add_argument("--database", type=Path, help="the store of the server")
    export.add_argument("--models-file", type=Path, help="another models.toml")
    export.add_argument(
        "--language", choices=get_args(Language), default="en", help="language of its texts"
    )
    export.add_argument(
        "--output", metavar="FILE", type=Path, help="file to write (default: standard output)"
    )
    export.set_defaults(command=_export)


def _export(given: argparse.Namespace) -> int:
    from evalui.store.connection import Database

    given.format = given.format or given.to
    settings = load_settings()
    path: Path = given.database or settings.database
    if not path.exists():
        raise StoreError("no-store", path=str(path))
    require_installed(given.format)
    is_text = not FORMATS[given.format].startswith(_BINARY)
    if given.output is None and not is_text and sys.stdout.isatty():
        raise SpecError("export-to-terminal", format=given.format, run=given.run)
    place = {"data_dir": path.parent, "models": given.models_file or settings.models}
    settings = settings.model_copy(update=place | {"read_only": True})
    with closing(Database(path, read_only=True)) as database:
        pieces = _pieces(given, database, settings)
        if given.output is None:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.flush()
        else:
            from evalui.report.write.archive import write_private

            write_private(given.output, pieces)
    return 0


def _pieces(
    given: argparse.Namespace, database: "Database", settings: "Settings"
) -> Iterable[bytes]:
    if given.format in TRIAL_FORMATS:  # they need no figures, whose imports take longest
        from evalui.report.write.trial_files import trial_file
        from evalui.runs.results import read_results

        return trial_file(given.format, read_results(database, given.run))
    if given.format == BUNDLE:
        return bundle_of(database, given.run)
    from evalui.access import LOCAL_PERSON
    from evalui.app.results import export_run
    from evalui.app.service import AppService

    # Who can read the store may see all of it.
    service = AppService(settings, database).acting_for(LOCAL_PERSON)
    return export_run(service, given.run, given.format, given.language)[1]
