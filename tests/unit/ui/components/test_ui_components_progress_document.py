"""How far a run is, in words: its cells, its tokens and their price, models that do not answer."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from drawn_page import DrawnPage
from ui_examples import HOSTILE

from evalui.app.evaluations import start_run
from evalui.app.results import run_report
from evalui.app.run_progress import progress_version, read_progress
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Sentence, messages, sentence
from evalui.report.compile import markdown
from evalui.store import queue, usage
from evalui.store.runs import Lease, read_runs
from evalui.store.trials import set_width
from evalui.store.usage import ModelWait
from evalui.types import Language, Usage
from evalui.ui.components.form import Form
from evalui.ui.components.progress_document import (
    ProgressDocument,
    ShownCell,
    progress_document,
)
from evalui.ui.pages.evaluate.spec import form_to_spec

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
    start_run(desk, form_to_spec(form_for(modes=["multiple_choice"], name="capitals")))
    run = queue.claim(desk.database, "worker-1")
    assert run
    queue.start_cell(desk.database, run.lease, 1, "f")
    return run.lease


def shown(desk: AppService, lease: Lease) -> ProgressDocument:
    """The run as its progress states it."""
    return progress_document(messages("en"), read_progress(desk, lease.run_id))


def cell_of(desk: AppService, lease: Lease, row: int) -> ShownCell:
    """The only cell of a model."""
    (cell,) = shown(desk, lease).models[row].cells
    assert cell
    return cell


def page(desk: AppService, language: Language = "en") -> str:
    return DrawnPage("runs", desk, language=language).text


def price(desk: AppService) -> None:
    desk.settings.models.write_text(PRICED, encoding="utf-8")


@pytest.mark.usefixtures("lease")
def test_a_run_without_token_counts_has_no_cost(desk: AppService):
    price(desk)
    assert "tokens" not in page(desk)


def test_a_run_tells_its_tokens_and_their_price_today(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    assert "1.20 M tokens read, 0.30 M written, US$ 0.42 at today&#39;s prices" in page(desk)
    assert "读入 1.20 M 词元，写出 0.30 M 词元，按今日价格 0.42 美元" in page(desk, "zh")


def test_tokens_without_a_price_have_no_dollars(desk: AppService, lease: Lease):
    usage.add_usage(desk.database, lease, 1, Usage(1_200, 300))
    assert shown(desk, lease).charges == "1,200 tokens read, 300 written"
    assert "$" not in page(desk)


def test_several_cells_stand_one_by_one(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_000_000, 0))
    assert not shown(desk, lease).charge_rows
    usage.add_usage(desk.database, lease, 2, Usage(500, 7))
    unpriced = "at today's prices, without what has no price"
    told = shown(desk, lease)
    assert told.charges == f"1.00 M tokens read, 7 written, US$ 0.25 {unpriced}"
    assert "按今日价格 0.25 美元，未计没有价格的部分" in page(desk, "zh")
    assert told.charge_rows == (
        ("biased · capitals · letters, circular", "1.00 M", "0", "0.25"),
        ("always-A · capitals · letters, circular", "500", "7", "–"),
    )


def test_a_finished_run_tells_its_cost_in_the_list(desk: AppService, lease: Lease):
    price(desk)
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    queue.fail(desk.database, lease, "It broke.")
    finished = page(desk).partition("<h2>Finished</h2>")[2]
    assert '<div class="meta">1.20 M tokens read, 0.30 M written, US$ 0.42' in finished


def test_a_waiting_cell_tells_why_since_when_and_until_when(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1_700_000_000.0, 1_700_000_060.0))
    (wait,) = shown(desk, lease).waits
    assert wait.cell.startswith("biased · ")
    assert "Given up after 30 minutes" in wait.reason
    assert "No answer since 2023-11-1" in wait.when
    assert ":20. What is answered is kept." in wait.when
    queue = page(desk).partition("<h2>Queue</h2>")[2].partition("</table>")[0]
    assert "Waiting for a model" in queue
    assert "not yet known" in queue
    assert cell_of(desk, lease, 0).word == "Waiting for a model"


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
    loading = "loading the model"
    assert loading not in page(desk)
    with desk.database.writing() as connection:
        connection.execute("UPDATE cell SET state = 'waiting'")
    assert [cell_of(desk, lease, row).speed for row in (0, 1)] == [loading, ""]
    with desk.database.writing() as connection:
        connection.execute("UPDATE run SET state = 'queued'")
    assert loading not in page(desk)


def test_a_bar_is_named_in_the_words_of_its_column(desk: AppService, lease: Lease):
    assert cell_of(desk, lease, 0).label == "biased, letters, circular"


def test_baselines_have_the_grey_marker(desk: AppService, lease: Lease):
    own, baseline = shown(desk, lease).models
    assert (own.model, own.is_baseline) == ("biased", False)
    assert (baseline.model, baseline.is_baseline) == ("always-A", True)


def test_the_version_is_another_one_for_each_other_content(desk: AppService, lease: Lease):
    before = progress_version(desk, lease.run_id)
    assert before == progress_version(desk, lease.run_id)
    usage.add_usage(desk.database, lease, 1, Usage(1, 1))
    after = progress_version(desk, lease.run_id)
    assert before != after
    assert before.queue == after.queue  # the rest of a page need not follow
    price(desk)
    assert after != progress_version(desk, lease.run_id)


def test_the_rest_of_a_page_follows_when_a_run_comes_or_goes(
    desk: AppService, lease: Lease, form_for: Callable[..., Form]
):
    before = progress_version(desk, lease.run_id)
    other = start_run(desk, form_to_spec(form_for(name="other")))
    queued = progress_version(desk, lease.run_id)
    assert queued.queue != before.queue
    queue.cancel(desk.database, other)
    assert progress_version(desk, lease.run_id).queue == before.queue
    queue.finish_cancelled(desk.database, lease)
    ended = progress_version(desk, lease.run_id)
    assert ended.queue != before.queue
    assert before.is_any_live
    assert not ended.is_any_live


@pytest.mark.parametrize("counted", [0, 1_200])
def test_a_broken_catalog_takes_the_prices_and_nothing_else(
    desk: AppService, lease: Lease, counted: int
):
    usage.add_usage(desk.database, lease, 1, Usage(counted, counted))
    desk.settings.models.write_text("[biased", encoding="utf-8")
    with pytest.raises(EvaluiError):
        desk.models.catalog()
    told = page(desk)
    assert "capitals" in told
    assert ("1,200 tokens read, 1,200 written" in told) is bool(counted)
    assert "$" not in told


def test_a_run_is_stopped_and_deleted_with_a_broken_catalog(desk: AppService, lease: Lease):
    desk.settings.models.write_text("[biased", encoding="utf-8")
    DrawnPage("runs", desk).press("Stop")
    queue.finish_cancelled(desk.database, lease)
    DrawnPage("runs", desk).act("delete", target=lease.run_id)
    assert read_runs(desk.database, desk.person) == []


def test_the_report_tells_what_the_page_tells_at_the_prices_of_today(
    desk: AppService, lease: Lease
):
    usage.add_usage(desk.database, lease, 1, Usage(1_200_000, 300_000))
    assert "no price given" in markdown(run_report(desk, lease.run_id, "en"), "en")
    price(desk)
    told = markdown(run_report(desk, lease.run_id, "en"), "en")
    assert "| biased | 0 | 1,200,000 | 300,000 | US$ 0.25 / 0.40 | US$ 0.42 |" in told
    assert "US$ 0.42 at today&#39;s prices" in page(desk)


def test_a_chinese_report_tells_in_chinese_who_is_waited_for(desk: AppService, lease: Lease):
    usage.set_wait(desk.database, lease, 1, ModelWait(WHY, 1_700_000_000.0, 1_700_000_060.0))
    assert "等了 30 分钟仍没有应答" in markdown(run_report(desk, lease.run_id, "zh"), "zh")


def test_verdicts_that_still_come_have_no_running_accuracy(desk: AppService, lease: Lease):
    with desk.database.writing() as connection:
        connection.execute("UPDATE cell SET done = 1")
    assert shown(desk, lease).moves
    assert "Running accuracy still moves." in page(desk)
    progress = read_progress(desk, lease.run_id)
    judged = [
        replace(cell, cell=replace(cell.cell, mode="judge", label="judge", gives="verdicts"))
        for cell in progress.cells
    ]
    assert not progress_document(messages("en"), replace(progress, cells=judged)).moves


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
