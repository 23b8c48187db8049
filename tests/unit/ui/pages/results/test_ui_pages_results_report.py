"""The Report view: files with their sizes and how far they are, and what report.html shows."""

import json
import re
from collections.abc import Callable

import pytest
from ui_results_screen import ResultsScreen

from evalui.app.exports import ExportProgress
from evalui.app.results import export_run, export_sizes, run_report
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.write.formats import ON_PAGE


def test_each_format_has_its_link_and_the_report_is_a_preview_at_its_own_address(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished(name="Midterm")
    screen = ResultsScreen(desk, messages("en"))
    page = screen.render({"run": run_id, "sub": "report"})
    for extension in ON_PAGE:
        assert f'href="../export/{run_id}.{extension}?lang=en"' in page
    assert page.index(f"{run_id}.html") < page.index(f"{run_id}.xlsx") < page.index(".zip")
    assert "Every figure" not in page
    assert f'href="results?run={run_id}&amp;sub=report&amp;preview=1"' in page
    assert screen.is_looking()  # for the sizes
    page = screen.render({"run": run_id, "sub": "report", "preview": "1"})
    assert page.index("report.html") < page.index("<h1>Midterm</h1>") < page.index("Every figure")
    assert "Close the preview" in page
    assert " kB<" not in page


def test_the_sizes_come_after_the_page(desk: AppService, finished: Callable[..., str]):
    screen = ResultsScreen(desk, messages("en"))
    screen.render({"run": finished(), "sub": "report"})
    assert screen.look()
    assert not screen.is_looking()
    sizes = re.findall(r"about [\d.]+ (kB|MB|B)</span>", screen.around())
    assert len(sizes) == len(ON_PAGE)


@pytest.mark.slow
def test_sizes_are_about_those_of_the_files(desk: AppService, finished: Callable[..., str]):
    rows = [f"{n},Capital of {n}?,Paris,Rome,Oslo,Bern,A" for n in range(400)]
    run_id = finished("\n".join(["id,question,A,B,C,D,answer", *rows]))
    sizes = export_sizes(desk, run_id, "en")
    assert set(sizes) == set(ON_PAGE)
    for extension, size in sizes.items():
        whole = sum(map(len, export_run(desk, run_id, extension, "en")[1]))
        assert size == pytest.approx(whole, rel=0.15), extension


def test_sizes_are_known_without_reading_every_trial(
    desk: AppService, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    rows = [f"{n},Capital of {n}?,Paris,Rome,Oslo,Bern,A" for n in range(400)]
    run_id = finished("\n".join(["id,question,A,B,C,D,answer", *rows]))
    assert run_report(desk, run_id, "en").summaries
    read: list[int] = []
    decoded = "evalui.store.trials.decode_turns"
    monkeypatch.setattr(decoded, lambda _: (read.append(1), ())[1])
    export_sizes(desk, run_id, "en")
    cells_with_answers = 3
    assert len(read) == cells_with_answers * 1024 // 4  # of 3,600, each once


def test_a_file_that_is_sent_is_watched_until_it_has_arrived(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    screen = ResultsScreen(desk, messages("en"))
    screen.render({"run": run_id, "sub": "report"})
    # The link was followed, its request has not arrived.
    assert json.loads(screen.page._watch(screen.query))["version"] == ""  # all is news
    under_way = desk.exports._under_way
    under_way.append(ExportProgress(run_id, "zip"))
    under_way.append(ExportProgress(run_id, "xlsx", 0))
    under_way.append(ExportProgress(run_id, "trials.csv", 12_000_000))
    assert screen.look()
    assert screen.is_looking()
    page = screen.around()
    assert ">waits for other files<" in page
    assert ">being prepared<" in page
    assert ">12.0 MB of about" in page
    under_way.clear()
    assert screen.look()
    assert not screen.is_looking()


def test_a_format_whose_package_is_missing_has_a_reason_in_place_of_its_link(
    desk: AppService, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    run_id = finished()
    monkeypatch.setattr("evalui.report.write.formats.find_spec", lambda _: None)
    page = ResultsScreen(desk, messages("en")).render({"run": run_id, "sub": "report"})
    assert f"{run_id}.trials.parquet" not in page
    assert "evalui[parquet]" in page
