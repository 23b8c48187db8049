"""The Report view: files with their sizes and how far they are, and what report.html shows."""

import re
from collections.abc import Callable

import pytest
from drawn_page import DrawnPage

from evalui.app.results import export_run, export_sizes, run_report
from evalui.app.service import AppService
from evalui.report.write.formats import ON_PAGE


def page(desk: AppService, run_id: str, **form: str) -> DrawnPage:
    return DrawnPage("results", desk, {"run": run_id, "sub": "report", **form})


def test_each_format_has_its_link_and_the_report_is_a_preview_at_its_own_address(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished(name="Midterm")
    said = page(desk, run_id).text
    for extension in ON_PAGE:
        assert f'href="../export/{run_id}.{extension}?lang=en"' in said
    first = said.index(f"{run_id}.html"), said.index(f"{run_id}.xlsx")
    assert first[0] < first[1] < said.index('<fold id="other-files">') < said.index(".zip")
    assert "<h1>" not in said
    assert f'href="results?run={run_id}&amp;sub=report&amp;preview=1"' in said
    said = page(desk, run_id, preview="1").text
    assert said.index("<h1>Midterm</h1>") < said.index('<fold id="every-figure"')
    assert "Close the preview" in said
    assert " kB<" not in said


def test_the_sizes_come_after_the_page(desk: AppService, finished: Callable[..., str]):
    drawn = page(desk, finished())
    weighed = "".join(drawn.submitted('class="files"'))
    assert len(re.findall(r"about [\d.]+ (kB|MB|B)</span>", weighed)) == len(ON_PAGE)


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


def test_a_format_whose_package_is_missing_has_a_reason_in_place_of_its_link(
    desk: AppService, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    run_id = finished()
    monkeypatch.setattr("evalui.report.write.formats.find_spec", lambda _: None)
    said = page(desk, run_id).text
    assert f"{run_id}.trials.parquet" not in said
    assert "evalui[parquet]" in said
