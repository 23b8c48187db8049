"""`evalui backup`, `restore`, `prune` and `doctor`: what an administrator does with a data folder.

evalui backup FILE.tar.gz | backup FOLDER --keep N | restore FILE.tar.gz [--into DIR] | doctor
evalui prune --older-than 90d [--with-votes] [--dry-run]
"""

import argparse
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalui.cli.parser import number
from evalui.cli.store import opened_service
from evalui.local_runs import load_settings


def add_hosting_commands(commands: Any) -> None:
    """Add the four commands to the subparsers of `evalui`."""
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
    prune = commands.add_parser("prune", help="delete runs that ended long ago, and unused files")
    prune.add_argument(
        "--older-than", required=True, type=_days, metavar="90d", help="days since a run ended"
    )
    prune.add_argument("--with-votes", action="store_true", help="runs that people voted on, too")
    prune.add_argument("--dry-run", action="store_true", help="list what it would delete")
    prune.add_argument("--database", type=Path, help="the store of the server")
    prune.set_defaults(command=_prune)
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


def _days(text: str) -> int:
    found = re.fullmatch(r"([1-9]\d{0,4})d", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of days, such as 90d")
    return int(found[1])


def _prune(given: argparse.Namespace) -> int:
    from evalui.runs.upkeep.prune import find_prunable, prune, upload_bytes

    with opened_service(given, read_only=given.dry_run) as service:
        database, uploads, days = service.database, service.settings.uploads, given.older_than
        whole = find_prunable(database, uploads, days, with_votes=True)
        found = whole if given.with_votes else find_prunable(database, uploads, days)
        for run in found.runs:
            ended = datetime.fromtimestamp(run.finished, UTC).astimezone()
            print(
                run.id, f"{ended:%Y-%m-%d}", f"{run.bytes:,} bytes", run.owner, run.name, sep="\t"
            )
        what = f"runs: {len(found.runs):,}; uploads: {len(found.uploads):,}"
        if given.dry_run:
            freed = sum(run.bytes for run in found.runs) + sum(map(upload_bytes, found.uploads))
            line = f"would delete {what}, and free about {freed:,} bytes"
        else:
            line = f"deleted {what}, and freed {prune(database, found):,} bytes"
    print(f"evalui: {line}", file=sys.stderr)
    if voted := len(whole.runs) - len(found.runs):
        print(f"evalui: kept for their votes: {voted:,} (--with-votes)", file=sys.stderr)
    return 0


def _doctor(given: argparse.Namespace) -> int:
    """One line per fault, or "ok"; 1 if there is a fault."""
    del given
    from evalui.cli.doctor import faults

    lines = list(faults(load_settings()))
    print("\n".join(lines) or "ok")
    return 1 if lines else 0
