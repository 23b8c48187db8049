"""The registry of figures, and the metrics of this package."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scoring_examples import circular_intervals
from strata_examples import answered, as_trials, simulated

from evalui.messages import LANGUAGES, messages
from evalui.modes import MODES
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.circular import circular_metrics
from evalui.scoring.metrics import (
    METRICS,
    Metric,
    Needs,
    compute_figures,
    is_added,
    metric_named,
    metric_names,
    metrics_in,
)
from evalui.scoring.repeats import PASS_AT
from evalui.scoring.texts.metrics import TEXT_METRICS
from evalui.types import Interval, Sample

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Metric:
    """A metric of another package, registered for one test."""
    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    metric = Metric(
        "first_slot", lambda trials: sum(one.choice == 0 for one in trials) / len(trials)
    )
    return METRICS.register(metric.name)(metric)


# A family has one row: `pass_at_k` for every k, `rouge-N-f` for every N.
_FAMILIES = (
    (r"pass_at_\d+", "pass_at_k"),
    (r"one of \d+ replies", "one of k replies"),
    (r"`[\w-]+_spread`", "`*_spread`"),
    (r"deviation of `[\w-]+`", "deviation of `*`"),
    (r"(rouge|ROUGE)-[12lL]\b", r"\1-N"),
    (r"(bleu-|order )\d", r"\1N"),
)


def _docs_row(metric: Metric) -> str:
    low, high = (f"{end:g}" if math.isfinite(end) else "∞" for end in metric.range)
    better = {"higher": "higher", "lower": "lower", "none": "–"}[metric.direction]
    needs = metric.needs or "–"
    row = (
        f"| `{metric.name}` | {metric.answers} | {metric.unit} | {better} | {low} to {high} | "
        f"{needs} | {metric.docs['en']} |"
    )
    for member, family in _FAMILIES:
        row = re.sub(member, family, row)
    return row


def test_the_list_of_metrics_in_the_documentation_is_the_registry():
    head = "| name | of | unit | better | range | needs | what it is |"
    rows = dict.fromkeys(_docs_row(METRICS[name]) for name in METRICS)
    page = DOCS.read_text(encoding="utf-8")
    assert "\n".join([head, "|" + "---|" * 7, *rows]) in page
    ks = f"k is {', '.join(map(str, PASS_AT[:-1]))} and {PASS_AT[-1]}"
    assert ks in " ".join(page.split())


def test_every_metric_says_what_it_is():
    for name in METRICS:
        metric = METRICS[name]
        assert metric.name == name
        assert metric.docs["en"]
        assert metric.range[0] < metric.range[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_metrics_of_pages_and_reports_have_labels(language):
    t = messages(language)
    assert all(one.label or f"head-{one.key}" in t for one in metrics_in("report"))


def test_the_figures_of_a_cell_are_those_of_the_functions_they_name():
    trials = as_trials(simulated(20, np.random.default_rng(0), bias=1.0))
    figures = compute_figures(trials, "circular")
    found, metrics = circular_intervals(trials, "circular"), circular_metrics(trials, "circular")
    assert figures["acc_origin"] == found.accuracy
    assert figures["robust"] == found.robust
    assert figures["order_sensitivity"] == found.order_sensitivity
    assert figures["n"] == metrics.n_origin == 20
    assert figures["chance"] == 0.25
    assert figures["chance_robust"] == pytest.approx(0.25**4)
    assert figures["readable"].value == 1
    special = ("repeats", "yes or no")
    asked_once = [one.name for one in metrics_in("files") if one.needs not in special]
    assert list(figures) == asked_once


def test_every_name_that_a_table_shows_is_a_metric():
    cell = CellTrials(as_trials(simulated(30, np.random.default_rng(0), bias=1.0)), "circular")
    for name, percent in cell.circular.values.items():
        metric = metric_named(name)
        assert metric is not None
        made = metric.compute(cell)
        found = made.value if isinstance(made, Interval) else made
        assert found == pytest.approx(percent / 100)
    for name in metric_names():
        assert metric_named(name.replace("_k_", "_2_")) is not None
    for name in ("more_0_circular", "perf_origin_movable", "acc_letters", "verdict", ""):
        assert metric_named(name) is None


def test_every_reading_of_a_mode_of_choices_is_a_metric():
    readings = {
        name for mode in MODES if MODES[mode].gives == "choices" for name in MODES[mode].readings
    }
    assert readings >= {"raw", "un", "forced", "tolerant", "strict"}
    assert all(map(metric_named, readings))


def test_without_trials_counts_are_zero_and_shares_unknown():
    figures = compute_figures((), "circular")
    assert (figures["n"], figures["tied"], figures["acc_origin"]) == (0, 0, None)
    assert "label_mass" not in figures
    assert compute_figures((), "origin", answers="texts") == {}


def test_written_answers_have_the_text_metrics():
    assert [one.name for one in metrics_in("files", "texts")][:13] == list(TEXT_METRICS)
    assert {one.needs for one in metrics_in("files", "texts")} == {"references", "repeats"}


def test_a_metric_of_another_package_comes_last_in_every_open_view(registered: Metric):
    assert is_added(registered)
    assert metrics_in("report")[-1] is registered
    assert metrics_in("files")[-1] is registered
    assert registered not in metrics_in("form")
    assert registered not in metrics_in("files", "texts")
    trials = [answered("q", (0, 1), 0, 0), answered("p", (0, 1), 0, 1)]
    assert compute_figures(trials, "origin")["first_slot"] == 0.5


def test_a_metric_reads_the_trials_of_a_cell_as_a_sequence():
    trials = [answered("q", (0, 1), 0, 0), answered("p", (0, 1), 0, 1)]
    cell = CellTrials(trials, "origin")
    assert (len(cell), cell[0], cell[1:], list(cell)) == (2, trials[0], trials[1:], trials)


def test_a_metric_without_a_label_is_called_by_its_name(registered: Metric):
    assert registered.own_label("zh") == "first_slot"
    named = Metric("x", registered.compute, label={"en": "First slot"})
    assert (named.own_label("en"), named.own_label("zh")) == ("First slot", "First slot")


def test_a_metric_has_the_name_that_it_is_registered_under(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    METRICS.register("first")(Metric("acc_origin", lambda _: 0.125))
    figures = compute_figures([answered("q", (0, 1), 0, 0)], "origin")
    assert figures["first"] == 0.125
    assert figures["acc_origin"] != 0.125
    assert metrics_in("files")[-1].name == "first"


@pytest.mark.parametrize("needs", ["orders", "probabilities", "references"])
def test_a_figure_whose_needs_are_not_met_is_not_computed(
    monkeypatch: pytest.MonkeyPatch, needs: Needs
):
    def fail(trials: CellTrials) -> float:
        raise AssertionError(len(trials))

    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    METRICS.register("needy")(Metric("needy", fail, needs=needs))
    bare = [answered("q", (0, 1), 0, 0)]
    assert compute_figures(bare, "origin")["needy"] is None


def _add(monkeypatch: pytest.MonkeyPatch, metric: Metric) -> None:
    monkeypatch.setitem(METRICS._entries, metric.name, metric)  # pyright: ignore[reportPrivateUsage]


def test_a_metric_sees_the_questions_beside_the_trials():
    trials = [answered("q", (0, 1), 0, 0), answered("p", (0, 1), 0, 1), answered("q", (1, 0), 0, 1)]
    samples = {
        "p": Sample("p", "P?", ("a", "b"), 0, {"subject": "law", "level": "hard"}),
        "q": Sample("q", "Q?", ("c", "d"), 1, {"subject": "art", "level": ""}),
    }
    seen = CellTrials(trials, "circular", samples).questions
    assert list(seen.question) == ["Q?", "P?", "Q?"]
    assert list(seen.options) == [("c", "d"), ("a", "b"), ("c", "d")]
    assert list(seen.target) == [1, 0, 1]
    assert list(seen.references) == [(), (), ()]
    assert list(seen.subject) == ["art", "law", "art"]
    assert list(seen.metadata("level")) == ["", "hard", ""]


@pytest.mark.parametrize(
    ("needs", "metadata", "expected"),
    [
        ("subjects", (), 0.5),
        ("questions", (), 0.5),
        ("", ("level",), None),
        ("", ("subject",), 0.5),
    ],
)
def test_a_metric_is_computed_where_its_questions_have_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
    needs: Needs,
    metadata: tuple[str, ...],
    expected: float | None,
):
    _add(monkeypatch, Metric("half", lambda _: 0.5, needs=needs, metadata=metadata))
    trials = [answered("q", (0, 1), 0, 0)]
    samples = {"q": Sample("q", "Q?", ("c", "d"), 1, {"subject": "art", "level": ""})}
    assert compute_figures(CellTrials(trials, "origin", samples), "origin")["half"] == expected
    unknown = None if needs or metadata else 0.5
    assert compute_figures(trials, "origin")["half"] == unknown
