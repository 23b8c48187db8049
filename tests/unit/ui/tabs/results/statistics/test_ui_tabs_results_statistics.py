"""The Statistics view: clustered errors, the paired table, what could be seen, rank bands."""

import re
from collections.abc import Callable

import pytest
from pair_examples import GUESSING, KNOWING, LEVEL, two
from ui_choice_examples import MANY, new_desk, ran
from ui_examples import GOOD, MODELS, laid_out, shown

from evalui.messages import messages
from evalui.report.analyses.overview.sections import pairs_table
from evalui.report.analyses.statistics import comparisons
from evalui.report.charts.theme import COLOURS, series_styles
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.overview import overview_tables
from evalui.ui.tabs.results.overview.figures import overview_top
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.statistics import StatisticsView, power_chart, power_table

MakeAct = Callable[..., Action]
SECOND = '\n[second]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"), MODELS + SECOND)


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def few(room: AppService) -> str:
    """Four questions, every order, two models."""
    return ran(room, ("capitals.csv", GOOD))


@pytest.fixture(scope="module")
def view(room: AppService) -> StatisticsView:
    return laid_out(StatisticsView(room, messages("en")))


def test_each_figure_has_its_clustered_error_and_design_effect(view: StatisticsView, many: str):
    top = shown(view, many)["statistics-top"]
    for head in ("Error, clustered", "Design effect", "Worth"):
        assert head in top
    assert '<td class="r">480</td>' in top


def test_a_model_has_one_marker_on_every_table_even_if_one_before_it_failed(
    view: StatisticsView, room: AppService
):
    run_id = ran(room, ("many.csv", MANY), models=["gone", "biased", "second"])
    t = messages("en")
    found = RunView(room, t, run_id)
    summaries = list(found.summaries.values())
    drawn = {
        name: mark.colour for name, mark in series_styles([s.cell.model for s in summaries]).items()
    }
    assert (drawn["biased"], drawn["second"]) == (COLOURS[1], COLOURS[2])
    parts = shown(view, run_id)
    pages = [
        overview_top(t, found),
        overview_tables(t, summaries, found.baselines, sort=""),
        parts["statistics-top"],
        parts["statistics-bands"],
    ]
    for page in pages:
        for model, number in (("biased", 2), ("second", 3)):
            assert re.search(rf'"var\(--d{number}\)">(?:(?!<svg).)*</svg>{model}<', page)
    rows = [row.customdata[0][0] for row in view.show(run_id)[3].data]
    assert set(rows) == {"second"}


def test_every_pair_has_its_difference_tests_and_finding(view: StatisticsView, many: str):
    tests = shown(view, many)["statistics-tests"]
    assert "<b>biased − always-A</b>" in tests
    assert "told apart" in tests
    assert "exact p &lt; .001" in tests
    assert "1 comparison" in tests


def test_few_questions_have_no_p_values(view: StatisticsView, few: str):
    tests = shown(view, few)["statistics-tests"]
    assert "too few questions" in tests
    assert "exact p" not in tests


def test_another_measure_is_another_difference(view: StatisticsView, many: str):
    robust = shown(view, many)["statistics-tests"]
    written = shown(view, many, {"measure": "accuracy"})["statistics-tests"]
    means = shown(view, many, {"measure": "mean_over_orders"})["statistics-tests"]
    assert len({robust, written, means}) == 3
    assert shown(view, many, {"measure": "nonsense"})["statistics-tests"] == robust


def test_a_figure_that_a_mode_lacks_is_not_offered_for_it(view: StatisticsView, room: AppService):
    models, modes = ["biased", "second"], ["multiple_choice", "cloze"]
    run_id = ran(room, ("many.csv", MANY), models=models, modes=modes)
    letters = shown(view, run_id, {"compared": "many|multiple_choice"})
    cloze = shown(view, run_id, {"compared": "many|cloze", "measure": "robust"})
    assert 'value="robust"' in letters["statistics-top"]
    assert 'value="robust"' not in cloze["statistics-top"]
    assert "accuracy, as written" in cloze["statistics-top"]
    assert letters["statistics-bands"].count('class="mk"') == 2


def test_the_slider_tells_what_more_questions_would_show(
    view: StatisticsView, many: str, act: MakeAct
):
    table, chart = view.resized(many, act("set", {"size": "15"}, name="size"))
    assert "With 120 questions (now)" in table
    assert "With 10,000 questions" in table
    assert chart.data
    unchanged, _ = view.resized(many, act("set", {"size": "99"}))
    assert "With 200 questions" in unchanged


@pytest.mark.parametrize(
    ("counts", "finding", "missed"),
    [
        (KNOWING, "told apart", "–"),
        (LEVEL, "cannot be told apart", "7 points"),
        (GUESSING, "no better than guessing", None),
    ],
)
def test_what_may_have_been_missed_is_of_pairs_without_a_difference_only(
    counts: tuple[int, int, int, int], finding: str, missed: str | None
):
    (found,) = comparisons(two(*counts))
    t = messages("en")
    assert f"<td>{finding}</td>" in pairs_table(t, found)
    planned = power_table(t, found, "")
    cells = re.findall('<td class="r">(.*?)</td>', planned)
    assert cells[:1] == ([missed] if missed else [])
    assert len(power_chart(found, "", "en").data) == (4 if missed == "7 points" else 3)


def test_one_model_alone_has_errors_and_no_pair(view: StatisticsView, room: AppService):
    parts = shown(view, ran(room, ("many.csv", MANY), models=["biased"]))
    assert "Design effect" in parts["statistics-top"]
    assert "Two models are needed" in parts["statistics-top"]


def test_one_real_model_beside_a_scripted_one_has_no_rank(view: StatisticsView, many: str):
    assert "no rank" in shown(view, many)["statistics-bands"]
