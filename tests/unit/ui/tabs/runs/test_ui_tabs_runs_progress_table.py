"""What the Runs tab tells of tokens, their price, and of models that nobody answers for."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from ui_examples import HOSTILE

from evalui.app.models_service import ModelsService
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Sentence, messages, sentence
from evalui.report.compile import markdown
from evalui.runs.database import queue, usage
from evalui.runs.database.records import Lease
from evalui.runs.database.runs import read_cells, read_runs
from evalui.runs.database.trials import set_width
from evalui.runs.database.usage import Catalog, ModelWait
from evalui.types import Language, Usage
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.run_form import read_run_form
from evalui.ui.tabs.runs import RunsTab
from evalui.ui.tabs.runs.progress_table import progress_table

PRICED = """
[biased]
backend = "scripted"
input_price = 0.25
output_price = 0.4
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }
"""
WHY = sentence(
    "error.gave-up",
    why=Sentence("The model 'x' is unknown.", "error.no-such-rule", {"name": "x"}),
    n="30",
)


@pytest.fixture
def lease(desk: AppService, form_for: Callable[..., Form]) -> Lease:
    """A run with two cells, of biased (1) and always-A (2), whose first is at work."""
    desk.start(read_run_form(form_for(modes=["multiple_choice"], name="capitals")))
    run = queue.claim(desk.database, "worker-1")
    assert run
    queue.start_cell(desk.database, run.lease, 1, "f")
    return run.lease


def page(desk: AppService, language: Language = "en") -> str:
    return RunsTab(desk, messages(language)).render({})


def price(desk: AppService) -> None:
    desk.settings.models.write_text(PRICED, encoding="utf-8")


@pytest.mark.usefixtures("lease")
def test_a_run_without_token_counts_has_no_cost(desk: AppService):
    price(desk)
    assert "tokens" not in page(desk)


def test_a_run_tells_its_tokens_and_their_price_today(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    assert "1.20 M tokens read, 0.30 M written, US$ 0.42 at today&#x27;s prices" in page(desk)
    assert "读入 1.20 M 词元，写出 0.30 M 词元，按今日价格 0.42 美元" in page(desk, "zh")


def test_tokens_without_a_price_have_no_dollars(desk: AppService, lease: Lease):
    usage.add_usage(desk.database, lease, 1, Usage(1_200, 300))
    assert '<div class="meta gap-s">1,200 tokens read, 300 written</div>' in page(desk)
    assert "$" not in page(desk)


def test_several_cells_stand_one_by_one(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_000_000, 0))
    assert "<details" not in page(desk)
    usage.add_usage(desk.database, lease, 2, Usage(500, 7))
    told = page(desk)
    unpriced = "at today&#x27;s prices, without what has no price"
    assert f"1.00 M tokens read, 7 written, US$ 0.25 {unpriced}" in told
    assert "按今日价格 0.25 美元，未计没有价格的部分" in page(desk, "zh")
    first, second = told.partition("Tokens by model")[2].split("always-A · capitals · ")
    assert '<td class="r">0.25</td>' in first
    assert '<td class="r">500</td><td class="r">7</td><td class="r">–</td>' in second


def test_a_finished_run_tells_its_cost_in_the_list(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    queue.fail(desk.database, lease, "It broke.")
    finished = page(desk).partition("<h2>Finished</h2>")[2]
    assert '<div class="meta">1.20 M tokens read, 0.30 M written, US$ 0.42' in finished


def test_a_waiting_cell_tells_why_since_when_and_until_when(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1_700_000_000.0, 1_700_000_060.0))
    told = page(desk)
    assert "<b>biased · " in told
    assert "Given up after 30 minutes" in told
    assert "No answer since 2023-11-1" in told
    assert ":20. What is answered is kept." in told
    queue = told.partition("<h2>Queue</h2>")[2].partition("</table>")[0]
    assert "Waiting for a model" in queue
    assert "not yet known" in queue
    cell = told.partition('class="matrix"')[2].partition("</table>")[0]
    assert "Waiting for a model" in cell


def test_a_waiting_cell_does_not_count_as_running(desk: AppService, lease: Lease):
    assert "asking the first questions" in page(desk)
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    assert "asking the first questions" not in page(desk)
    usage.clear_wait(desk.database, lease, 1)
    assert "asking the first questions" in page(desk)
    assert "No answer since" not in page(desk)


def test_a_chinese_page_tells_in_chinese_why_a_cell_waits(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    told = page(desk, "zh")
    assert "等了 30 分钟仍没有应答" in told
    assert "等待模型应答" in told
    assert "已有的回答都会保留" in told


def test_a_waiting_run_that_is_stopped_says_so_at_once(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    queue.cancel(desk.database, lease.run_id)
    assert "Stopping" in page(desk)


def test_what_a_server_says_never_becomes_markup(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(HOSTILE, 1.0, 2.0))
    told = page(desk)
    assert "&lt;img" in told
    assert "<img" not in told


def test_a_run_whose_model_is_being_opened_says_so(desk: AppService, lease: Lease):
    running, waiting = read_cells(desk.database, lease.run_id)
    cells = [replace(running, state="waiting"), waiting]
    t = messages("en")
    assert "loading the model" not in str(progress_table(t, [running, waiting], (), at_work=True))
    assert str(progress_table(t, cells, (), at_work=True)).count("loading the model") == 1
    assert "loading the model" not in str(progress_table(t, cells, ()))


def test_a_bar_is_named_in_the_words_of_its_column(desk: AppService, lease: Lease):
    cells = read_cells(desk.database, lease.run_id)
    shown = str(progress_table(messages("en"), cells, ()))
    assert 'aria-label="biased, letters, circular"' in shown


@pytest.mark.parametrize("counted", [0, 1_200])
def test_a_broken_catalog_takes_the_prices_and_nothing_else(
    desk: AppService, lease: Lease, counted: int
):
    usage.add_usage(desk.database, lease, 1, Usage(counted, counted))
    desk.settings.models.write_text("[biased", encoding="utf-8")
    with pytest.raises(EvaluiError):
        desk.catalog()
    shown = page(desk)
    assert "capitals" in shown
    assert ("1,200 tokens read, 1,200 written" in shown) is bool(counted)
    assert "$" not in shown


def test_a_run_is_stopped_and_deleted_with_a_broken_catalog(
    desk: AppService, lease: Lease, act: Callable[..., Action]
):
    desk.settings.models.write_text("[biased", encoding="utf-8")
    tab = RunsTab(desk, messages("en"))
    tab.act(act("stop", target=lease.run_id))
    queue.finish_cancelled(desk.database, lease)
    tab.act(act("delete", target=lease.run_id))
    assert read_runs(desk.database, desk.person) == []


def test_the_catalog_is_read_once_for_a_page(
    desk: AppService, lease: Lease, monkeypatch: pytest.MonkeyPatch
):
    usage.add_usage(desk.database, lease, 1, Usage(1, 1))
    queue.finish_cancelled(desk.database, lease)
    read: list[int] = []
    catalog = desk.models.all_models()

    def read_once_more(_: ModelsService) -> Catalog:
        read.append(1)
        return catalog

    monkeypatch.setattr(ModelsService, "all_models", read_once_more)
    RunsTab(desk, messages("en")).render({"run": lease.run_id})
    assert len(read) == 1


def test_the_report_tells_what_the_page_tells_at_the_prices_of_today(
    desk: AppService, lease: Lease
):
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    assert "no price given" in markdown(desk.report(lease.run_id, "en"), "en")
    price(desk)
    told = markdown(desk.report(lease.run_id, "en"), "en")
    assert "| biased | 0 | 1,200,000 | 300,000 | US$ 0.25 / 0.40 | US$ 0.42 |" in told
    assert "US$ 0.42 at today&#x27;s prices" in page(desk)


def test_a_chinese_report_tells_in_chinese_who_is_waited_for(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1_700_000_000.0, 1_700_000_060.0))
    assert "等了 30 分钟仍没有应答" in markdown(desk.report(lease.run_id, "zh"), "zh")


def test_verdicts_that_still_come_have_no_running_accuracy(desk: AppService, lease: Lease):
    t = messages("en")
    cells = [replace(cell, done=1) for cell in read_cells(desk.database, lease.run_id)]
    note = "Running accuracy still moves."
    assert note in progress_table(t, cells, ())
    judged = [
        replace(cell, cell=replace(cell.cell, mode="judge", label="judge", gives="verdicts"))
        for cell in cells
    ]
    assert note not in progress_table(t, judged, ())


@pytest.mark.parametrize(
    ("language", "told"), [("en", "32 of 64 at a time"), ("zh", "并发 32 / 64")]
)
def test_how_many_requests_are_sent_at_a_time_is_shown_while_a_cell_runs(
    desk: AppService, lease: Lease, language: Language, told: str
):
    with desk.database.writing() as connection:
        connection.execute("UPDATE cell SET rate = 9.0 WHERE id = 1")
    assert told not in page(desk, language)
    with desk.database.writing() as connection:
        set_width(connection, 1, 32, 64)
    assert told in page(desk, language)
    queue.finish_cell(desk.database, lease, 1)
    assert told not in page(desk, language)
