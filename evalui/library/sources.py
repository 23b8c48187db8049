"""Where a run is read from: a store of this machine, a folder of exported files, or a server."""

import json
import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Protocol, cast

from evalui.errors import DataError, SpecError, UnknownName
from evalui.local_runs import report_of
from evalui.report.analyses.base import Report
from evalui.report.imports.predictions import read_rows
from evalui.report.imports.trial_lines import read_results, rows_of
from evalui.report.write.json_text import JsonObject
from evalui.store.connection import Database
from evalui.store.pictures import read_run_picture
from evalui.store.runs import read_run
from evalui.types import CellResult, Language

if TYPE_CHECKING:
    import pandas as pd

    from evalui.client import Client
    from evalui.models.base import ModelEntry

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

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """Its specification, with bare names of files."""
        ...

    def frame(self, name: str) -> "pd.DataFrame":
        """One of the frames of a run."""
        ...

    def picture(self, id_: str) -> bytes:
        """The file of a picture of its questions."""
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

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """The specification as report.json would have it."""
        from evalui.report.write.json import portable_spec

        return portable_spec(self.report.spec) if self.report.spec else None

    def frame(self, name: str) -> "pd.DataFrame":
        """The frame of the report, which a caller may change."""
        return self.report.frames[name].copy(deep=False)

    def picture(self, id_: str) -> bytes:
        """The file in the store; raises `UnknownName` if the run has none of this id."""
        picture = read_run_picture(self._database, self._run_id, id_, small=False)
        if picture is None:
            raise UnknownName("no-picture", picture=id_[:8])
        return picture.body

    def page(self, language: Language | None) -> bytes:
        """The page in a language, else in English."""
        from evalui.report.write.files import write

        return write(self.report, "html", language or "en")

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
        return self._whole["name"]

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """The specification that report.json has."""
        return self._whole["spec"]

    def results(self) -> Sequence[CellResult]:
        """The cells that trials.jsonl has lines of."""
        path = self._folder / "trials.jsonl"
        if path.exists() and not path.stat().st_size:
            return ()  # of a run without a trial
        return read_results(read_rows(path))

    def frame(self, name: str) -> "pd.DataFrame":
        """The records of report.json, and what the files of lines hold beside it."""
        return _exported_frame(self._whole, self.lines, name)

    @cached_property
    def _whole(self) -> JsonObject:
        """What report.json holds."""
        path = self._folder / REPORT_FILE
        try:
            whole = json.loads(path.read_bytes())
        except OSError as error:
            raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error
        except ValueError as error:
            raise DataError("file-unread", path=str(path), reason=str(error)) from error
        return _checked(whole, str(path))

    def lines(self, name: str) -> Iterator[JsonObject]:
        """The lines of a file; a run that has none has no file."""
        path = self._folder / f"{name}.jsonl"
        return (dict(row.values) for row in read_rows(path)) if path.exists() else iter(())

    def picture(self, id_: str) -> bytes:
        """None is among them; raises `SpecError`."""
        raise SpecError("pictures-not-exported", picture=id_[:8])

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

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """The specification that the server states."""
        return self._whole["spec"]

    def frame(self, name: str) -> "pd.DataFrame":
        """What the server answers to runs/{run}/figures, and the lines of its archive."""
        return _exported_frame(self._whole, lambda file: self._archive.lines(file), name)

    @cached_property
    def _whole(self) -> JsonObject:
        address = f"runs/{self._run_id}/figures"
        return _checked(self._client.call(JsonObject, "GET", address), address)

    def picture(self, id_: str) -> bytes:
        """The file that the server sends."""
        return self._client.picture(self._run_id, id_)

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


def _checked(whole: object, place: str) -> JsonObject:
    """What report.json holds; that of an earlier version has `comparisons`, nested, and no frames.

    Raises:
        DataError: it is not one of this version.
    """
    if not isinstance(whole, dict) or "spec" not in whole or "comparisons" in whole:
        raise DataError("no-report", path=place)
    return cast("JsonObject", whole)


# The frames that files of lines hold.
_LINES: Mapping[str, str] = {"verdicts": "duels", "votes": "votes"}


def _exported_frame(
    whole: JsonObject, lines: Callable[[str], Iterator[JsonObject]], name: str
) -> "pd.DataFrame":
    """A frame of exported files.

    Raises:
        SpecError: they do not hold it.
    """
    from evalui.report.frames.base import frame
    from evalui.report.frames.run import KINDS, ROW_BY_ROW
    from evalui.report.write.json import read_frame

    if name in _LINES:
        return frame(lines(_LINES[name]), KINDS[name].columns)
    if name in ROW_BY_ROW:
        raise SpecError("frame-not-exported", name=name)
    return read_frame(whole, name)


def _end(database: Database, temporary: Path | None) -> None:
    database.close()
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
