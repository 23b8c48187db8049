"""A run as DataFrames, charts and a page."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evalui.errors import SpecError, UnknownName
from evalui.messages import messages
from evalui.report.write.archive import write_private
from evalui.types import CellResult, Language

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from evalui.library.sources import RunSource


class Run:
    """A run that has been opened; what it holds is read when it is asked for.

    docs/frames.md lists the columns of each frame. Shares are in per cent. It is a snapshot: of a
    run that goes on, the metrics stay those of the first look; open it again to see more.
    """

    def __init__(self, run_id: str, source: "RunSource") -> None:
        self.id = run_id
        self.name = source.name
        self._source = source

    def __repr__(self) -> str:
        """The id and the name."""
        return f"<evalui.Run {self.id or '(exported)'}: {self.name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, after which nothing is read; a temporary one is removed.

        Without it this happens with the object.
        """
        self._source.close()

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """The run specification, with bare names of files; None where the run has none."""
        return self._source.spec

    def frame(self, name: str) -> "pd.DataFrame":
        """Any frame of the run, such as "bias", "groups" or "reliability": see docs/frames.md.

        Raises:
            UnknownName: there is none of that name; the message lists those there are.
            SpecError: it is not among exported files, from which the run is read.
            DataError: an exported file, or what the server has, is of an earlier version or broken.
            StoreError: the store cannot be read.
        """
        from evalui.report.frames.run import KINDS

        if name not in KINDS:
            raise UnknownName("unknown-name", kind="frame", name=name, known=", ".join(KINDS))
        return self._source.frame(name)

    def cells(self) -> "pd.DataFrame":
        """A row per model or judge, dataset and mode with its state and, if it failed, why."""
        return self.frame("cells")

    def trials(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """A row per trial: a question in one order of its options, or a written answer.

        With `columns` nothing else is read: of a million trials three columns take a second or two
        of a core, all of them ten. Judgements are in `verdicts`.

        Raises:
            SpecError: there is no such column; the message lists those there are.
            StoreError: the store cannot be read.
        """
        from evalui.report.frames.trials import trial_frame

        return trial_frame(self._results, columns)

    def questions(self) -> "pd.DataFrame":
        """A row per question with its options and references, in the order of the file.

        Of a run that is read from exported files or a server, only those with trials, without
        their place in the file.
        """
        from evalui.report.frames.trials import questions

        return questions(self._results)

    def picture(self, id: str) -> bytes:
        """The file of a picture (PNG, JPEG or WebP) that questions name as `<picture:ID>`.

        Raises:
            UnknownName: the run has none of this id.
            SpecError: the run is read from exported files, which hold no pictures.
        """
        return self._source.picture(id)

    def metrics(self) -> "pd.DataFrame":
        """A tidy row per dataset, group, model, mode and metric, as report.json has them."""
        return self.frame("metrics")

    def pairs(self) -> "pd.DataFrame":
        """A row per two models of a dataset and measure, tested question by question."""
        return self.frame("pairs")

    def positions(self) -> "pd.DataFrame":
        """A row per cell and slot: how often it is picked, and how often it is right."""
        return self.frame("positions")

    def standings(self) -> "pd.DataFrame":
        """A row per model of each judge: counts, ELO and Bradley-Terry with 95 % intervals."""
        return self.frame("standings")

    def verdicts(self) -> "pd.DataFrame":
        """A row per showing of two answers to a judge, readable or not."""
        return self.frame("verdicts")

    def votes(self) -> "pd.DataFrame":
        """A row per readable vote of a person; none before the vote has ended."""
        return self.frame("votes")

    def chart(self, name: str, **which: str | int) -> "Figure":
        """A Plotly figure of the page or of all cells at once: docs/python.md lists the charts.

        `which` chooses among the rows of its frame by their columns, such as `model`, `dataset`,
        `mode`, `options` or `judge`. Some charts show one of these at a time.

        Raises:
            UnknownName: there is no such chart; the message lists those there are.
            SpecError: nothing is left to draw, or more than the chart can show, or the frame has no
                such column.
        """
        from evalui.report.compile import ANALYSES
        from evalui.report.figures import CHARTS
        from evalui.report.figures.base import on_paper

        list(ANALYSES)  # those of plug-ins may bring charts
        chart = CHARTS[name]
        shown = chart.frame(self.frame)
        for column, value in which.items():
            known = [str(each) for each in shown if each not in chart.whole]
            if column not in known:
                raise SpecError("no-column", name=column, known=", ".join(known))
            shown = shown[shown[column] == value]
        if shown.empty:
            raise SpecError("chart-empty", chart=name, which=_stated(which))
        for column in chart.one:
            if len(known := shown[column].unique()) > 1:
                values = ", ".join(map(str, known))
                raise SpecError("chart-several", chart=name, column=column, known=values)
        return on_paper(chart.draw(shown, messages("en")))

    def report(self, path: str | Path, language: Language | None = None) -> Path:
        """Write the report as one HTML page that its owner alone can read; the path.

        Raises:
            StoreError: it cannot be written.
            DataError: the run is read from exported files, which hold no other language.
        """
        target = Path(path)
        write_private(target, [self._source.page(language)])
        return target

    @cached_property
    def _results(self) -> Sequence[CellResult]:
        return self._source.results()


def _stated(which: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in which.items())
