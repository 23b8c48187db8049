"""`evalui export`: a run as a file, from the store of a server that may be running.

    evalui export RUN FORMAT [--database FILE] [--output FILE]

The server streams the exports of larger runs from this very command.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evalui.errors import StoreError
from evalui.report.export.formats import FORMATS
from evalui.types import Language

if TYPE_CHECKING:
    from evalui.settings import Settings


def add_export_command(commands: Any, load_settings: "Callable[[], Settings]") -> None:
    """Add `export` to the subparsers of `evalui`."""
    export = commands.add_parser("export", help="write a run as a file")
    export.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
    export.add_argument("format", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    export.add_argument("--database", type=Path, help="the store of the server")
    export.add_argument("--models-file", type=Path, help="another models.toml")
    export.add_argument("--language", choices=get_args(Language), default="en", help="of its texts")
    export.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")
    export.set_defaults(command=_export, load_settings=load_settings)


def _export(given: argparse.Namespace) -> int:
    from contextlib import closing

    from evalui.report.export.workbook import write_private
    from evalui.runs.database.connection import Database
    from evalui.ui.services.service import AppService

    settings: Settings = given.load_settings()
    path: Path = given.database or settings.database
    if not path.exists():
        raise StoreError("no-store", path=str(path))
    place = {"data_dir": path.parent, "models": given.models_file or settings.models}
    with closing(Database(path, read_only=True)) as database:
        service = AppService(settings.model_copy(update=place | {"read_only": True}), database)
        _, pieces = service.export(given.run, given.format, given.language)
        if given.output is None:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.flush()
            return 0
        try:
            write_private(given.output, pieces)
        except OSError as error:
            reason = str(error.strerror)
            raise StoreError("not-written", path=str(given.output), reason=reason) from error
    return 0
