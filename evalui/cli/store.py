"""The files and the store that commands work with."""

import argparse
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.errors import SpecError, StoreError
from evalui.local_runs import load_settings

if TYPE_CHECKING:
    from evalui.app.service import AppService


def read_text(path: Path) -> str:
    """A file as text; raises `SpecError` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SpecError("file-unread", path=str(path), reason=str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise SpecError("file-not-utf8", path=str(path), byte=error.start) from error


def write_text(path: Path, text: str) -> None:
    """Write a file; raises `StoreError` if it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError("folder-unmade", path=str(path), reason=str(error.strerror)) from error


@contextmanager
def opened_service(given: argparse.Namespace, *, read_only: bool) -> "Generator[AppService]":
    """The store of `--database`, else of the settings, as who is signed in to this machine sees it.

    Raises:
        StoreError: there is none.
    """
    from evalui.access import LOCAL_PERSON
    from evalui.app.service import AppService
    from evalui.store.connection import Database

    settings = load_settings()
    path: Path = given.database or settings.database
    if not path.exists():
        raise StoreError("no-store", path=str(path))
    settings = settings.model_copy(update={"data_dir": path.parent, "read_only": read_only})
    with closing(Database(path, read_only=read_only)) as database:
        yield AppService(settings, database).acting_for(LOCAL_PERSON)
