"""`evalui backup`, `restore` and `doctor`: what an administrator does with a data folder.

evalui backup FILE.tar.gz | backup FOLDER --keep N | restore FILE.tar.gz [--into DIR] | doctor
"""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalui.cli.parser import number
from evalui.local_runs import load_settings


def add_hosting_commands(commands: Any) -> None:
    """Add the three commands to the subparsers of `evalui`."""
    backup = commands.add_parser("backup", help="copy the data folder while it is used")
    backup.add_argument(
        "file",
        metavar="FILE.tar.gz",
        type=Path,
        help="a new file (it holds secrets); a folder with --keep",
    )
    backup.add_argument(
        "--keep",
        type=number("the number of backups", 1),
        metavar="N",
        help="name the file by date and time, and keep only the newest N in the folder",
    )
    backup.set_defaults(command=_backup)
    restore = commands.add_parser("restore", help="fill an empty data folder from a backup")
    restore.add_argument("file", metavar="FILE.tar.gz", type=Path)
    restore.add_argument("--into", metavar="DIR", type=Path, help="default: EVALUI_DATA_DIR")
    restore.set_defaults(command=_restore)
    doctor = commands.add_parser("doctor", help="examine the machine, the store and the settings")
    doctor.set_defaults(command=_doctor)


def _backup(given: argparse.Namespace) -> int:
    from evalui.runs.upkeep.backup import write_backup

    settings = load_settings()
    file: Path = given.file
    if given.keep:
        file = given.file / f"evalui-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"
    n_bytes = write_backup(settings.data_dir, file)
    print(f"evalui: {file} has {n_bytes:,} bytes; it holds secrets", file=sys.stderr)
    if given.keep:
        for older in sorted(given.file.glob("evalui-????????T??????Z.tar.gz"))[: -given.keep]:
            older.unlink()
            print(f"evalui: deleted {older}", file=sys.stderr)
    return 0


def _restore(given: argparse.Namespace) -> int:
    from evalui.runs.upkeep.backup import restore_backup

    settings = load_settings()
    folder: Path = given.into or settings.data_dir
    waiting = restore_backup(given.file, folder)
    print(f"evalui: restored into {folder}; runs waiting for a worker: {waiting}", file=sys.stderr)
    return 0


def _doctor(given: argparse.Namespace) -> int:
    """One line per fault, or "ok"; 1 if there is a fault."""
    del given
    from evalui.cli.doctor import faults

    lines = list(faults(load_settings()))
    print("\n".join(lines) or "ok")
    return 1 if lines else 0
