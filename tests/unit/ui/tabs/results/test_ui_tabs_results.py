"""What the views say of a finished run."""

from collections.abc import Callable

import gradio as gr
import pytest
from ui_choice_examples import MANY
from ui_examples import HOSTILE, built

from evalui.messages import messages
from evalui.runs.database import queue
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import SKIP, Action
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results import VIEWS, ResultsTab
from evalui.ui.tabs.results.run_view import RunView

Finished = Callable[..., str]
MakeAct = Callable[..., Action]


@pytest.fixture
def tab(desk: AppService) -> ResultsTab:
    tab = ResultsTab(desk, messages("en"))

    def lay_out() -> None:
        with gr.Blocks():
            tab.build()

    built(lay_out)
    return tab


def test_an_address_fills_its_view_and_leaves_the_others(tab: ResultsTab, finished: Finished):
    run_id = finished()
    outputs = dict(zip(map(id, tab.outputs), tab.enter(run_id, {"sub": "report"}), strict=True))
    assert "Keep this run" in outputs[id(tab.report.outputs[0])]
    assert "__type__" in outputs[id(tab.overview.outputs[0])]


@pytest.mark.parametrize("view", VIEWS)
def test_a_press_on_a_tab_fills_all_of_it(tab: ResultsTab, finished: Finished, view: str):
    run_id = finished()
    _, filled, _, _, *values = tab.open(view, run_id, "")
    assert view in filled
    assert len(values) == len(tab._views()[VIEWS.index(view)].outputs)  # pyright: ignore[reportPrivateUsage]


def test_every_output_gets_a_value_for_every_view(tab: ResultsTab, finished: Finished):
    run_id = finished()
    for view in ("", *VIEWS):
        assert len(tab.enter(run_id, {"sub": view})) == len(tab.outputs)
    assert len(tab.enter("", {})) == len(tab.outputs)


def test_a_run_without_answers_has_every_view(
    tab: ResultsTab, desk: AppService, form_for: Callable[..., Form]
):
    run_id = desk.start(read_run_form(form_for()))
    for view in VIEWS:
        assert len(tab.enter(run_id, {"sub": view})) == len(tab.outputs)
    assert "No answers yet." in tab.overview.show(run_id)[0]
    assert "Nothing to test yet" in tab.statistics.show(run_id)[0]
    assert "No probabilities to judge" in tab.calibration.show(run_id)[0]
    assert "4 questions, as this run asked them" in tab.health.show(run_id)


def test_an_unknown_run_is_reported_and_recent_ones_are_offered(
    tab: ResultsTab, finished: Finished
):
    run_id = finished()
    head = tab.enter("nothing-here", {})[2]
    assert "There is no run" in head
    assert f"?run={run_id}" in head


def test_the_overview_has_range_and_n_beside_each_figure(tab: ResultsTab, finished: Finished):
    top, *_ = tab.overview.show(finished(MANY, models=["always-A"], modes=["multiple_choice"]))
    assert (
        '<div class="v">25<small> %</small></div><div class="meta">plausible range 18–33</div>'
        in top
    )
    assert "n 120" in top
    assert "Picks A in all 480 readable replies" in top


def test_the_table_of_figures_is_sorted_by_a_press(
    tab: ResultsTab, act: MakeAct, finished: Finished
):
    run_id = finished(modes=["multiple_choice"])
    falling = tab.overview.sorted(run_id, act("sort", sort="-model"))
    rising = tab.overview.sorted(run_id, act("sort", sort="model"))

    def order(page: str) -> list[str]:
        rows = page.partition("All figures")[2].partition("</table>")[0]
        return sorted(["biased", "always-A"], key=lambda name: rows.index(f"{name}</span>"))

    assert order(rising) == ["always-A", "biased"]
    assert order(falling) == ["biased", "always-A"]
    assert 'aria-sort="descending"' in falling


def test_forced_tolerant_and_strict_stand_side_by_side(tab: ResultsTab, finished: Finished):
    below = tab.overview.show(finished(modes=["multiple_choice"]))[-1]
    for rule in ("most probable letter", "tolerant reading", "exactly one letter"):
        assert rule in below


def test_every_figure_carries_its_signature(tab: ResultsTab, desk: AppService, finished: Finished):
    run_id = finished()
    below = tab.overview.show(run_id)[-1]
    for signature in desk.report(run_id, "en").signatures:
        assert signature.replace("|", " · ") in below


def test_nothing_in_questions_or_replies_becomes_markup(tab: ResultsTab, finished: Finished):
    cell = HOSTILE.replace('"', '""')
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"], name=HOSTILE[:100])
    pages = [
        tab.samples.show(run_id),
        tab.enter(run_id, {})[2],
        *(part for part in tab.overview.show(run_id) if isinstance(part, str)),
        *(part for part in tab.bias.show(run_id) if isinstance(part, str)),
        *(part for part in tab.statistics.show(run_id) if isinstance(part, str)),
        *(part for part in tab.calibration.show(run_id) if isinstance(part, str)),
        tab.health.show(run_id),
    ]
    assert "onerror=" in pages[0]
    for page in pages:
        assert "<img" not in page
        assert "<script" not in page
        assert "<iframe" not in page


def test_a_view_is_filled_once_and_then_keeps_its_filters(tab: ResultsTab, finished: Finished):
    run_id = finished()
    _, filled, _, _, page = tab.open("samples", run_id, "")
    assert 'class="questions"' in page
    assert tab.open("samples", run_id, filled) == (SKIP,) * 5


@pytest.mark.parametrize(
    "asked",
    [{"q": "nope"}, {"rows": "9" * 30}, {"order": "77"}, {"find": "x" * 60_000}],
    ids=["unknown question", "endless list", "unknown order", "endless pattern"],
)
def test_an_address_that_asks_for_nonsense_still_shows_the_samples(
    tab: ResultsTab, finished: Finished, asked: dict[str, str]
):
    shown = tab.enter(finished(), {"sub": "samples"} | asked)
    outputs = dict(zip(map(id, tab.outputs), shown, strict=True))
    assert " of 4</h2>" in outputs[id(tab.samples.outputs[0])]


def test_a_waiting_run_says_that_it_has_not_begun(
    tab: ResultsTab, desk: AppService, form_for: Callable[..., Form]
):
    run_id = desk.start(read_run_form(form_for()))
    head = tab.head(RunView(desk, tab.t, run_id))
    assert "Not begun: this run waits for its turn." in head
    assert "newest figures" not in head


def test_a_live_run_tells_how_far_it_is_and_offers_the_newest_figures(
    tab: ResultsTab, desk: AppService, form_for: Callable[..., Form]
):
    run_id = desk.start(read_run_form(form_for(models=["biased"], modes=["multiple_choice"])))
    assert queue.claim(desk.database, "worker-1")
    told = "Still running: 0 of 16 done."
    head = tab.head(RunView(desk, tab.t, run_id))
    assert told in head
    assert f'href="?run={run_id}&amp;tab=results" data-param="tab" data-value="results"' in head
    assert "仍在运行：已完成 0 / 16。" in ResultsTab(desk, messages("zh")).head(
        RunView(desk, messages("zh"), run_id)
    )


def test_a_finished_run_offers_no_newer_figures(
    tab: ResultsTab, desk: AppService, finished: Finished
):
    assert "newest figures" not in tab.head(RunView(desk, tab.t, finished()))


def test_runs_of_one_file_differ_in_head_and_list(
    tab: ResultsTab, desk: AppService, finished: Finished
):
    plain, seeded = finished(), finished(seed="7")
    assert "seed 7" in tab.head(RunView(desk, tab.t, seeded))
    assert "seed 7" not in tab.head(RunView(desk, tab.t, plain))
    listed = tab.enter("", {})[2]
    assert listed.count("biased, always-A · letters, circular; cloze") == 2
    assert listed.count("seed 7") == 1
