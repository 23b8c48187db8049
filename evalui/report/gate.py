"""A gate: a candidate's answers against a baseline's on the same questions, for a build to stop at.

Cells of the same dataset and mode are compared; each comparison is a check with one sentence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from evalui.errors import SpecError
from evalui.messages import localized
from evalui.report.numbers import count, signed_points
from evalui.scoring.cell_summary import pair_summary
from evalui.scoring.cell_trials import question_clusters, scores_by_question
from evalui.scoring.pairs import differing_settings
from evalui.scoring.statistics.tests import Decision, MarginTest, compare_with_margin
from evalui.scoring.trial_columns import columns_of
from evalui.types import CellResult, Sample

EXIT_CODES: Mapping[Decision, int] = {"pass": 0, "worse": 1, "undecided": 3}
_POINTS_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One comparison; `unpaired` counts questions that only one of the two has answered.

    `settings` are those in which the two were asked otherwise, see `differing_settings`.
    """

    dataset: str
    mode: str
    metric: str
    baseline: str
    candidate: str
    test: MarginTest
    unpaired: int
    settings: str = ""

    @property
    def text(self) -> str:
        """What came of it, in one English sentence."""
        test = self.test
        needed = (
            localized("gate.needed", "en", n=count(test.needed))
            if test.needed
            else localized("gate.never", "en")
        )
        return localized(
            f"gate.{test.decision}",
            "en",
            candidate=self.candidate,
            baseline=self.baseline,
            dataset=self.dataset,
            metric=self.metric,
            difference=signed_points(test.difference, _POINTS_DECIMALS),
            low=signed_points(test.low, _POINTS_DECIMALS),
            high=signed_points(test.high, _POINTS_DECIMALS),
            n=count(test.n),
            allow=signed_points(test.margin, _POINTS_DECIMALS),
            needed=needed,
            unpaired=localized("gate.unpaired", "en", n=count(self.unpaired))
            if self.unpaired
            else "",
            settings=localized("gate.settings", "en", parts=self.settings) if self.settings else "",
        )


def run_gate(
    baseline: Sequence[CellResult], candidate: Sequence[CellResult], metric: str, allow: float
) -> tuple[GateCheck, ...]:
    """A check for each dataset and mode that both have and whose answers have the metric.

    `allow` is in points: by so much the candidate may be worse. A metric is "accuracy", "robust" or
    "mean_over_orders", a figure of written answers such as "rouge-l-f", or a reading of answers
    such as "ln_char" or "harness".

    Raises:
        SpecError: nothing can be compared, one of the two has several models, or no question is
            answered by both; the message says which.
    """
    checks: list[GateCheck] = []
    known: dict[str, None] = {}
    for mine, theirs in _pairs(baseline, candidate):
        known |= dict.fromkeys((*metrics_of(mine), *metrics_of(theirs)))
        values = question_values(mine, metric), question_values(theirs, metric)
        if not values[0] or not values[1]:
            continue
        same = _same_questions(mine.samples, theirs.samples)
        own = {name: value for name, value in values[0].items() if name in same}
        other = {name: value for name, value in values[1].items() if name in same}
        test = compare_with_margin(own, other, allow / 100, question_clusters(theirs.samples))
        if test is None:
            raise SpecError("gate-no-questions", dataset=mine.cell.dataset)
        unpaired = len(values[0].keys() | values[1].keys()) - test.n
        checks.append(
            GateCheck(
                mine.cell.dataset,
                theirs.cell.label,
                metric,
                mine.cell.model,
                theirs.cell.model,
                test,
                unpaired,
                differing_settings(mine.cell, theirs.cell),
            )
        )
    if not checks:
        raise SpecError("gate-no-metric", metric=metric, known=", ".join(known) or "-")
    return tuple(checks)


def exit_code(checks: Sequence[GateCheck]) -> int:
    """1 if a check is worse, else 3 if one is undecided, else 0."""
    decisions = {check.test.decision for check in checks}
    order: tuple[Decision, ...] = ("worse", "undecided", "pass")
    return next(EXIT_CODES[each] for each in order if each in decisions)


def junit_xml(checks: Sequence[GateCheck]) -> str:
    """The checks as a JUnit file: a worse one is a failure, an undecided one an error."""
    counts = dict.fromkeys(EXIT_CODES, 0)
    for check in checks:
        counts[check.test.decision] += 1
    suite = ElementTree.Element(
        "testsuite",
        name="evalui gate",
        tests=str(len(checks)),
        failures=str(counts["worse"]),
        errors=str(counts["undecided"]),
    )
    for check in checks:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"{check.dataset}.{check.mode}", name=check.metric
        )
        if check.test.decision != "pass":
            kind = "failure" if check.test.decision == "worse" else "error"
            ElementTree.SubElement(case, kind, message=check.text, type=check.test.decision)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def metrics_of(result: CellResult) -> tuple[str, ...]:
    """What the answers of a cell can be compared by."""
    if not result.trials:
        return ()
    columns = columns_of(result.trials)
    if not columns.orders[0].permutation:
        return tuple(columns.scores)
    outcomes = (name for name, values in pair_summary(result).outcomes.items() if values)
    return tuple(dict.fromkeys((*outcomes, *columns.readings)))


def question_values(result: CellResult, metric: str) -> Mapping[str, float]:
    """The value of each question in a metric, mostly 0..1; {} where the answers lack it.

    A reading counts in the order as written.
    """
    if not result.trials:
        return {}
    columns = columns_of(result.trials)
    if not columns.orders[0].permutation:
        return scores_by_question(result.trials, metric)
    outcomes = {str(name): values for name, values in pair_summary(result).outcomes.items()}
    if metric in outcomes:
        return outcomes[metric]
    if metric not in columns.readings:
        return {}
    written = columns.take(columns.is_origin)
    credit, codes = written.readings[metric].credit, written.sample
    counts = np.bincount(codes, minlength=len(written.ids))
    sums = np.bincount(codes, weights=credit, minlength=len(written.ids))
    return {written.ids[code]: float(sums[code] / counts[code]) for code in np.flatnonzero(counts)}


def _pairs(
    baseline: Sequence[CellResult], candidate: Sequence[CellResult]
) -> Iterator[tuple[CellResult, CellResult]]:
    """The cells of one dataset and mode; repeats of an answer are left out, the first counts."""
    mine, theirs = _by_kind(baseline, "baseline"), _by_kind(candidate, "candidate")
    shared = [key for key in mine if key in theirs]
    if not shared:
        known = "; ".join(
            f"{side}: {_kinds(cells)}"
            for side, cells in (("baseline", mine), ("candidate", theirs))
        )
        raise SpecError("gate-nothing-shared", known=known)
    return ((mine[key], theirs[key]) for key in shared)


def _by_kind(results: Sequence[CellResult], side: str) -> dict[tuple[str, str], CellResult]:
    kinds: dict[tuple[str, str], CellResult] = {}
    for result in results:
        if result.cell.gives == "verdicts" or (result.log and result.log.repeat > 1):
            continue
        key = result.cell.dataset, result.cell.mode
        known = kinds.setdefault(key, result)
        if known.cell.model != result.cell.model:
            models = ", ".join(dict.fromkeys(each.cell.model for each in results))
            raise SpecError("gate-models", side=side, models=models)
    return kinds


def _kinds(cells: Mapping[tuple[str, str], CellResult]) -> str:
    return ", ".join(f"{dataset} ({mode})" for dataset, mode in cells) or "-"


def _same_questions(mine: Mapping[str, Sample], theirs: Mapping[str, Sample]) -> set[str]:
    """The ids of questions that are the same in both, in their text, options and right answer."""
    return {
        name
        for name, sample in mine.items()
        if (other := theirs.get(name)) and _content(sample) == _content(other)
    }


def _content(sample: Sample) -> tuple[object, ...]:
    return sample.question, sample.choices, sample.target
