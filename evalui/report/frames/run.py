"""Every frame of a run by name, each made once, when it is first wanted."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING

from evalui.modes import usual_mode
from evalui.report.analyses.base import Report
from evalui.report.analyses.chosen_metrics import chosen_pairs
from evalui.report.frames import arena, calibration, choices, metrics, people, texts
from evalui.report.frames.base import Columns, FrameColumn, Row, frame
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import human_arenas
from evalui.scoring.arena.verdicts import PANEL_NAME

if TYPE_CHECKING:
    import pandas as pd

CELLS: Columns = {
    "dataset": choices.DATASET,
    "model": FrameColumn("category", "name of the model, or of the judge"),
    "mode": choices.MODE,
    "orders": FrameColumn(
        "category", "orders of the options: origin, circular, all_possible; of a judge its own"
    ),
    "state": choices.STATE,
    "error": choices.ERROR,
    "signature": choices.SIGNATURE,
}
LEFT_OUT: Columns = {
    "rule": FrameColumn("category", "why it is not evaluated, as a key"),
    "dataset": choices.DATASET,
    "what": FrameColumn("str", "the file, entry or model; else empty"),
    "mode": FrameColumn("category", "the modes; else empty"),
    "why": FrameColumn("str", "what else there is to know"),
    "rows": FrameColumn("Int64", "rows of a file"),
}
IMPORTED: Columns = {
    **choices.CELL,
    "harness": FrameColumn("category", "who collected the answers"),
    "version": FrameColumn("category", "its version, empty where its files do not state it"),
    "files": FrameColumn("str", "names of its files, after commas"),
    "repeat": FrameColumn("Int64", "which of several answers to one order these are, from 1"),
    "left_out": FrameColumn("Int64", "answers of its log that cannot be used"),
    "missing": FrameColumn("category", "what the log does not hold, as keys after commas"),
    "name": FrameColumn("category", "a figure that it printed; missing where it printed none"),
    "subject": FrameColumn("category", "the subject that it is of; empty for the whole dataset"),
    "printed": FrameColumn("float64", "as its files state it"),
    "full": FrameColumn("float64", "what stands for all right there, 1 or 100"),
    "n": FrameColumn("Int64", "answers of the log"),
    "marked": FrameColumn("float64", "mean of the marks that it gave them, 0 to 1"),
    "reading": FrameColumn("category", "evalui's rule of reading beside it"),
    "ours": FrameColumn("float64", "what evalui makes of them, 0 to 1"),
    "differing": FrameColumn("Int64", "answers with another credit than mark"),
    "tied": FrameColumn("Int64", "of these, because options tie"),
    "unread": FrameColumn("Int64", "of these, because no option is read"),
    "signature": choices.SIGNATURE,
}
EXPENSES: Columns = {
    "model": choices.MODEL,
    "requests": FrameColumn("Int64", "requests behind its answers"),
    "input_tokens": FrameColumn("Int64", "tokens read; missing where nobody counts them"),
    "output_tokens": FrameColumn("Int64", "tokens written"),
    "input_price": FrameColumn("float64", "US dollars for a million tokens read"),
    "output_price": FrameColumn("float64", "US dollars for a million tokens written"),
    "dollars": FrameColumn("float64", "US dollars that all cost"),
    "waits": FrameColumn("str", "why it does not answer now; missing if it does"),
    "signature": FrameColumn("category", "how the dollars are made; missing without tokens"),
}
REPLY_COUNTS: Columns = {
    "model": choices.MODEL,
    "replies": FrameColumn("Int64", "replies that the run rests on"),
    "kept": FrameColumn("boolean", "whether they were requested before it"),
    "run": FrameColumn("str", "by which run; missing for its own, and where that is not known"),
    "made": FrameColumn("str", "from when on, in UTC"),
}


@dataclass(frozen=True, slots=True)
class FrameKind:
    """One frame: its `columns`, and its `rows` of a report; `more`: others stand behind them."""

    columns: Columns
    rows: Callable[[Report], Iterable[Row]]
    more: bool = False


def _arenas(report: Report) -> tuple[Arena, ...]:
    """Those of the judges, then those of the people who voted."""
    return (*report.arenas, *human_arenas(report.people))


def _reliability(report: Report) -> Iterator[Row]:
    strangers = {one.judged.dataset: one.unmatched_votes for one in report.people}
    return arena.reliability(_arenas(report), strangers)


# The text figures in which models are compared two by two.
_COMPARED = ("rouge-1-f", "rouge-l-f", "rouge-l-r", "bleu-4", "exact_match", "token_f1")


def _pairs(report: Report) -> Iterator[Row]:
    """Of choices, then of written answers, then in the metrics that the specification chooses.

    Two models are compared once in a metric.
    """
    known = set[tuple[object, ...]]()
    for row in choices.pairs(report.comparisons):
        known.add((row["dataset"], row["mode"], row["measure"]))
        yield row
    for figure in _COMPARED:
        if figure not in report.metrics:
            yield from metrics.answer_pairs(report.figures.pairs(figure))
    for row in metrics.chosen_pairs(chosen_pairs(report)):
        if (row["dataset"], row["mode"], row["measure"]) not in known:
            yield row


def _cells(report: Report) -> Iterator[Row]:
    """A row per model or judge, dataset and mode, also of those that failed or cannot run."""
    cells: dict[tuple[str, str, str], Row] = {}

    def add(named: Row, state: str, error: str, **more: str) -> None:
        row = {**named, "state": state, "error": error, **more}
        cells.setdefault((row["dataset"], row["model"], row["mode"]), row)

    for one in report.summaries:
        own = {"orders": one.cell.pattern, "signature": one.cell.signature}
        add(choices.cell_names(one.cell), one.state, one.error, **own)
    for one in report.answers:
        add(choices.cell_names(one.cell), one.state, one.error, signature=one.cell.signature)
    judging = {"mode": usual_mode("verdicts")}
    for one in report.arenas:
        if one.by != PANEL_NAME:
            own = {"orders": one.orders, "signature": one.signature}
            add({"dataset": one.dataset, "model": one.by, **judging}, one.state, one.error, **own)
    for one in report.answers:
        for rated in one.ratings:
            named = {"dataset": one.cell.dataset, "model": rated.judge, **judging}
            add(named, rated.state, rated.error)
    return iter(cells.values())


def _imported(report: Report) -> Iterator[Row]:
    """A row per cell of another harness and figure that it printed; one of a cell without any."""
    for one in report.results:
        if log := one.log:
            for figure in log.figures or (None,):
                yield {
                    **choices.cell_names(one.cell),
                    "harness": log.harness,
                    "version": log.version,
                    "files": ", ".join(log.files),
                    "repeat": log.repeat,
                    "left_out": log.left_out,
                    "missing": ", ".join(log.missing),
                    **(asdict(figure) if figure else {}),
                    "signature": one.cell.signature,
                }


def _expenses(report: Report) -> Iterator[Row]:
    """A row per model; what nobody knows is missing."""
    for each in report.expenses:
        counted = bool(each.read or each.written)
        read, written = each.prices or (None, None)
        priced = "none" if each.dollars is None else f"{read}/{written}|per:1000000"
        yield {
            "model": each.model,
            "requests": each.requests,
            "input_tokens": each.read if counted else None,
            "output_tokens": each.written if counted else None,
            "input_price": read,
            "output_price": written,
            "dollars": each.dollars if counted else None,
            "waits": each.why or None,
            "signature": f"prices:{priced}|model:{each.model}" if counted else None,
        }


def _reply_counts(report: Report) -> Iterator[Row]:
    """A row per model and run that requested replies of it."""
    for each in report.replies:
        made = datetime.fromtimestamp(each.made, UTC).isoformat(timespec="seconds")
        yield {
            "model": each.model,
            "replies": each.replies,
            "kept": each.run != "",
            "run": each.run or None,
            "made": made if each.run else None,
        }


# In the order of a reader's interest.
KINDS: Mapping[str, FrameKind] = {
    "overview": FrameKind(
        choices.OVERVIEW, lambda report: choices.overview(report.summaries), more=True
    ),
    "readings": FrameKind(choices.READINGS, lambda report: choices.readings(report.summaries)),
    "rules": FrameKind(choices.RULES, lambda report: choices.rules(report.summaries)),
    "groups": FrameKind(choices.GROUPS, lambda report: choices.groups(report.summaries), more=True),
    "positions": FrameKind(choices.POSITIONS, lambda report: choices.positions(report.summaries)),
    "confusion": FrameKind(choices.CONFUSION, lambda report: choices.confusion(report.summaries)),
    "consistency": FrameKind(
        choices.CONSISTENCY, lambda report: choices.consistency(report.summaries)
    ),
    "priors": FrameKind(choices.PRIORS, lambda report: choices.priors(report.summaries)),
    "bias": FrameKind(choices.BIAS, lambda report: choices.bias(report.summaries)),
    "flips": FrameKind(choices.FLIPS, lambda report: choices.flips(report.summaries)),
    "keys": FrameKind(choices.KEYS, lambda report: choices.keys(report.summaries)),
    "calibration": FrameKind(
        calibration.CALIBRATION, lambda report: calibration.calibration(report.summaries)
    ),
    "calibration_figures": FrameKind(
        calibration.CALIBRATION_FIGURES,
        lambda report: calibration.calibration_figures(report.summaries),
    ),
    "risk_coverage": FrameKind(
        calibration.RISK_COVERAGE, lambda report: calibration.risk_coverage(report.summaries)
    ),
    "thresholds": FrameKind(
        calibration.THRESHOLDS, lambda report: calibration.thresholds(report.summaries)
    ),
    "gates": FrameKind(calibration.GATES, lambda report: calibration.gates(report.summaries)),
    "decisions": FrameKind(
        calibration.DECISIONS, lambda report: calibration.decisions(report.summaries)
    ),
    "pairs": FrameKind(choices.PAIRS, _pairs),
    "incomparable": FrameKind(
        choices.INCOMPARABLE, lambda report: choices.incomparable(report.comparisons)
    ),
    "equal_coverage": FrameKind(
        calibration.EQUAL_COVERAGE,
        lambda report: calibration.equal_coverage(report.comparisons, report.results),
    ),
    "ranks": FrameKind(
        choices.RANKS, lambda report: choices.ranks(report.comparisons, report.summaries)
    ),
    "summary_groups": FrameKind(
        metrics.SUMMARY_GROUPS, lambda report: metrics.summary_groups(report.groups)
    ),
    "standings": FrameKind(arena.STANDINGS, lambda report: arena.standings(_arenas(report))),
    "dimensions": FrameKind(arena.DIMENSIONS, lambda report: arena.dimensions(_arenas(report))),
    "win_matrix": FrameKind(arena.WIN_MATRIX, lambda report: arena.win_matrix(_arenas(report))),
    "win_rates": FrameKind(arena.WIN_RATES, lambda report: arena.win_rates(_arenas(report))),
    "reliability": FrameKind(arena.RELIABILITY, _reliability),
    "answers": FrameKind(texts.ANSWERS, lambda report: texts.answers(report.answers), more=True),
    "marks": FrameKind(texts.MARKS, lambda report: texts.marks(report.answers)),
    "duels": FrameKind(arena.DUELS, lambda report: arena.duels(report.arenas)),
    "verdicts": FrameKind(arena.VERDICTS, lambda report: arena.verdicts(report.arenas)),
    "people": FrameKind(people.PEOPLE, lambda report: people.people(report.people)),
    "agreement": FrameKind(people.AGREEMENT, lambda report: people.agreement(report.people)),
    "powered": FrameKind(people.POWERED, lambda report: people.powered(report.people)),
    "disagreements": FrameKind(
        people.DISAGREEMENTS, lambda report: people.disagreements(report.people)
    ),
    "votes": FrameKind(people.VOTES, lambda report: people.votes(report.votes)),
    "metrics": FrameKind(
        metrics.METRICS,
        lambda report: metrics.metric_rows(
            report.summaries, report.answers, report.arenas, report.groups
        ),
    ),
    "cells": FrameKind(CELLS, _cells),
    "left_out": FrameKind(LEFT_OUT, lambda report: map(asdict, report.left_out)),
    "imported": FrameKind(IMPORTED, _imported),
    "expenses": FrameKind(EXPENSES, _expenses),
    "reply_counts": FrameKind(REPLY_COUNTS, _reply_counts),
}
# Those with a row for each judgement or answer, which files of lines hold.
ROW_BY_ROW = frozenset({"duels", "verdicts", "votes"})


class Frames(Mapping[str, "pd.DataFrame"]):
    """The frames of a report by name; nobody may change one that is handed out.

    Safe to share between threads.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._made: dict[str, pd.DataFrame] = {}
        self._lock = RLock()  # over `_made`: a frame is made by one thread only

    def __getitem__(self, name: str) -> "pd.DataFrame":
        """The frame of a name; raises `KeyError` if there is none."""
        kind = KINDS[name]
        if name not in self._made:
            with self._lock:
                if name not in self._made:
                    self._made[name] = frame(kind.rows(self._report), kind.columns, more=kind.more)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of a reader's interest."""
        return iter(KINDS)

    def __len__(self) -> int:
        """How many frames there are, empty ones too."""
        return len(KINDS)
