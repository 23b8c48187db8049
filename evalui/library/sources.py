"""Where a run is read from: a store of this machine, a folder of exported files, or a server."""

import json
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Literal, Protocol, cast

from evalui.errors import DataError
from evalui.local_runs import report_of
from evalui.report.analyses.base import Report
from evalui.report.imports.predictions import read_rows
from evalui.report.imports.trial_lines import read_results, rows_of
from evalui.report.write.json import JsonObject
from evalui.store.connection import Database
from evalui.store.runs import read_run
from evalui.types import CellResult, Language

if TYPE_CHECKING:
    from evalui.client import Client
    from evalui.models.base import ModelEntry

Figures = JsonObject  # report.json
LinesName = Literal["duels", "votes"]
REPORT_FILE = "report.json"


class RunSource(Protocol):
    """What a run is read from; each reading may raise `EvaluiError`."""

    @property
    def name(self) -> str:
        """The name of the run."""
        ...

    def results(self) -> Sequence[CellResult]:
        """The cells with their trials, which may be read when they are looked at."""
        ...

    def figures(self) -> Figures:
        """What report.json holds."""
        ...

    def lines(self, name: LinesName) -> Iterator[JsonObject]:
        """The objects of a file of lines."""
        ...

    def page(self, language: Language | None) -> bytes:
        """The page report.html; None for the language takes whichever there is."""
        ...

    def close(self) -> None:
        """Give back what is held: an open store, files of a temporary folder."""
        ...


class StoreSource:
    """A run of a store; `temporary` is the folder of a store that goes with it."""

    def __init__(
        self,
        database: Database,
        run_id: str,
        catalog: "Mapping[str, ModelEntry]",
        temporary: Path | None = None,
    ) -> None:
        self.name = read_run(database, run_id).name
        self._database = database
        self._run_id = run_id
        self._catalog = catalog
        self._end = weakref.finalize(self, _end, database, temporary)

    @cached_property
    def report(self) -> Report:
        """The figures, each worked out when it is first read."""
        return report_of(self._database, self._run_id, self._catalog)

    def results(self) -> Sequence[CellResult]:
        """The cells; trials are read from the store when they are looked at."""
        return self.report.results

    def figures(self) -> Figures:
        """What report.json would hold."""
        from evalui.report.write.files import write_json

        return json.loads(write_json(self.report, "en"))

    def lines(self, name: LinesName) -> Iterator[JsonObject]:
        """The lines that the file would have."""
        from evalui.report.write.lines import duel_lines, vote_lines

        report = self.report
        lines = duel_lines(report.arenas) if name == "duels" else vote_lines(report.votes)
        return map(json.loads, lines)

    def page(self, language: Language | None) -> bytes:
        """The page in a language, else in English."""
        from evalui.report.write.files import write_html

        return write_html(self.report, language or "en")

    def close(self) -> None:
        """Close the store, and remove it if it is temporary."""
        self._end()


class FolderSource:
    """The files of a report without a store: of `evalui run --server`, or of a report.zip."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        """The name that report.json has."""
        return self.figures()["name"]

    def results(self) -> Sequence[CellResult]:
        """The cells that trials.jsonl has lines of."""
        path = self._folder / "trials.jsonl"
        if path.exists() and not path.stat().st_size:
            return ()  # of a run without a trial
        return read_results(read_rows(path))

    def figures(self) -> Figures:
        """What report.json holds."""
        path = self._folder / REPORT_FILE
        try:
            whole = json.loads(path.read_bytes())
        except OSError as error:
            raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error
        except ValueError as error:
            raise DataError("file-unread", path=str(path), reason=str(error)) from error
        if not isinstance(whole, dict) or "cells" not in whole:
            raise DataError("no-report", path=str(path))
        return cast("Figures", whole)

    def lines(self, name: LinesName) -> Iterator[JsonObject]:
        """The lines of the file; a run that has none has no file."""
        path = self._folder / f"{name}.jsonl"
        return (dict(row.values) for row in read_rows(path)) if path.exists() else iter(())

    def page(self, language: Language | None) -> bytes:
        """The page as it lies there; raises `DataError` if it is missing or another is wanted."""
        path = self._folder / "report.html"
        if language is not None:
            raise DataError("report-language", path=str(path))
        try:
            return path.read_bytes()
        except OSError as error:
            raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error

    def close(self) -> None:
        """Nothing is held."""


class ServerSource:
    """A run of a server: figures and trials by their own routes, the rest from its archive."""

    def __init__(self, client: "Client", run_id: str) -> None:
        self.name = client.run(run_id).name
        self._client = client
        self._run_id = run_id
        self._folder = Path(mkdtemp(prefix="evalui-"))
        self._end = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def results(self) -> Sequence[CellResult]:
        """The cells that the server sends trials of."""
        return read_results(rows_of(self._client.url, self._client.trials(self._run_id)))

    def figures(self) -> Figures:
        """What the server answers to runs/{run}/figures."""
        return self._client.call(Figures, "GET", f"runs/{self._run_id}/figures")

    def lines(self, name: LinesName) -> Iterator[JsonObject]:
        """The lines of that file in the archive."""
        return self._archive.lines(name)

    def page(self, language: Language | None) -> bytes:
        """The page in the archive."""
        return self._archive.page(language)

    @cached_property
    def _archive(self) -> FolderSource:
        self._client.report(self._run_id, self._folder)
        return FolderSource(self._folder)

    def close(self) -> None:
        """Remove the files that were downloaded."""
        self._end()


def _end(database: Database, temporary: Path | None) -> None:
    database.close()
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
