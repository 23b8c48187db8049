"""A log that is dropped on Evaluate: said to be one, asked about, and imported by a button."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from log_examples import CSV, HARNESSES, dropped, lone_samples, loose, zipped
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import GOOD, HOSTILE

from evalui.access import Person
from evalui.app.datasets import store_upload
from evalui.app.results import export_run
from evalui.app.service import AppService
from evalui.errors import NotAllowed
from evalui.store.runs import read_cells, read_runs
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as

MakeAct = Callable[..., Press]
Files = list[tuple[str, bytes]]


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk, "en")


@pytest.fixture
def drop(tab: Screen, desk: AppService, act: MakeAct) -> Callable[[Files], tuple[str, str]]:
    """The page after files were dropped, and their upload."""

    def dropped_files(files: Files) -> tuple[str, str]:
        upload = store_upload(desk, files)
        return str(tab.act(act("uploaded", upload=upload))), upload

    return dropped_files


def led_to(desk: AppService, page: str) -> str:
    """The run whose results an answer leads to."""
    address = re.search(r'href="results\?run=([^&"]+)"', page)
    assert address, page
    assert desk.run(address[1]).state == "done"
    return address[1]


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_zip_is_said_to_be_a_run_and_a_button_imports_it(
    tab: Screen,
    desk: AppService,
    act: MakeAct,
    drop: Callable[[Files], tuple[str, str]],
    harness: str,
):
    page, upload = drop([zipped(harness)])
    assert "finished run" in page
    assert 'data-do="import"' in page
    assert 'data-do="start"' not in page  # there are no questions to put to a model
    led_to(desk, str(tab.act(act("import", {"uploads": [upload]}, upload=upload))))


def test_the_card_names_harness_models_datasets_and_what_lacks(
    drop: Callable[[Files], tuple[str, str]],
):
    page, _ = drop(dropped("lmeval"))
    assert "<b>letters, texts, written</b>" in page
    assert "lm-evaluation-harness 0.4.13 · 1 model · 3 datasets" in page
    assert "models/qwen2-small-4l256" in page
    assert "Which positions are picked can be seen" in page
    assert "The log does not hold the number of tokens" in page
    assert "results_2026-11-23T19-16-34.858737.json" in page
    assert "log_model_" not in page  # the results state it


def test_the_address_of_a_log_shows_it_again(tab: Screen, drop: Callable[[Files], tuple[str, str]]):
    page, upload = drop([zipped("helm")])
    shown = str(tab.render({"uploads": upload}))
    assert shown.partition("<h1>")[2] == page.partition("<h1>")[2]


def test_the_name_of_the_model_is_asked_for_and_kept_with_the_run(
    tab: Screen,
    desk: AppService,
    act: MakeAct,
    drop: Callable[[Files], tuple[str, str]],
):
    page, upload = drop([lone_samples()])
    assert "No file states which model has answered: samples_texts" in page
    assert upload not in re.sub(r'"[^"]*"', "", page)  # the digest is nowhere shown as a model
    assert "drop the whole folder, or a zip of it" in page
    form: Form = {"uploads": [upload], "log_name": " Mine ", f"log_model_{upload}_0": " "}
    refused = str(tab.act(act("import", form, upload=upload)))
    assert "No file states which model has answered" in refused.partition('role="alert"')[2]
    assert 'value=" Mine "' in refused  # nothing that was typed is lost
    assert read_runs(desk.database) == []
    form[f"log_model_{upload}_0"] = "qwen2 "
    run_id = led_to(desk, str(tab.act(act("import", form, upload=upload))))
    assert desk.run(run_id).name == "Mine"
    assert {row.cell.model for row in read_cells(desk.database, run_id)} == {"qwen2"}


def test_the_name_of_a_folder_stands_in_the_field(drop: Callable[[Files], tuple[str, str]]):
    page, upload = drop([zipped("opencompass")])
    assert f'name="log_model_{upload}_0" value="pick-a"' in page
    assert "This is the name of the folder of its answers" in page


def test_questions_beside_a_log_need_a_tick(
    tab: Screen,
    desk: AppService,
    act: MakeAct,
    drop: Callable[[Files], tuple[str, str]],
):
    page, upload = drop([*loose("helm"), ("capitals.csv", CSV)])
    assert "Import without capitals.csv" in page
    form: Form = {"uploads": [upload]}
    refused = str(tab.act(act("import", form, upload=upload)))
    assert "Not part of this run: capitals.csv." in refused
    form["log_without"] = ["capitals.csv"]
    tab.act(act("set", form))
    assert tab.field(tab.t("log.apart")).value == ["capitals.csv"]
    led_to(desk, str(tab.act(act("import", form, upload=upload))))


def test_a_log_joins_the_datasets_of_the_page_and_starts_with_none_of_them(
    tab: Screen, desk: AppService, act: MakeAct, form_for: Callable[..., Form]
):
    form, log = form_for(), store_upload(desk, [zipped("helm")])
    page = str(tab.act(act("uploaded", form, upload=log)))
    assert "<b>capitals</b>" in page
    assert "<b>geography</b>" in page
    assert re.findall(r'name="uploads" value="(\w+)"', page) == form["uploads"]
    both: Form = form | {"uploads": [*form["uploads"], log]}
    gone = str(tab.act(act("remove", both, upload=log)))
    assert "<b>geography</b>" not in gone
    assert "<b>capitals</b>" in gone
    started = str(tab.act(act("start")))
    (run,) = read_runs(desk.database)
    assert run.id in started


def test_a_log_stays_beside_a_file_whose_columns_are_chosen(
    tab: Screen, desk: AppService, act: MakeAct
):
    unclear = GOOD.replace("id,question,A,B,C,D,answer", "u,v,w,x,y,z,k").encode()
    log, file = store_upload(desk, [zipped("helm")]), store_upload(desk, [("unclear.csv", unclear)])
    page = str(tab.act(act("uploaded", {"uploads": [log]}, upload=file)))
    assert 'data-do="columns"' in page
    assert f'data-remove="{log}"' in page
    replaced = str(tab.act(act("replaced", {"uploads": [file]}, upload=log)))
    assert "unclear.csv" not in replaced
    assert 'data-do="import"' in replaced


def test_a_log_that_cannot_be_used_says_why(tab: Screen, drop: Callable[[Files], tuple[str, str]]):
    page, upload = drop([file for file in loose("lmeval") if file[0].startswith("results")])
    assert "Run lm_eval again with --log_samples" in page
    assert "Drop a file of questions here" in page
    assert "--log_samples" in str(tab.render({"uploads": upload}))


def test_a_dataset_goes_its_old_way(drop: Callable[[Files], tuple[str, str]]):
    page, _ = drop([("capitals.csv", GOOD.encode())])
    assert 'data-do="import"' not in page
    assert "4 of 4 rows ready" in page


def test_a_log_that_is_gone_is_stated(tab: Screen):
    assert "no longer here" in str(tab.render({"uploads": "0" * 16}))


def test_names_of_files_are_texts(drop: Callable[[Files], tuple[str, str]]):
    page, _ = drop([lone_samples(f"samples_{HOSTILE.replace('/', '')}.jsonl")])
    assert "<img src=x" not in page
    assert "<img src=x" in unescape(page)


def test_a_chinese_page_asks_in_chinese(desk: AppService, act: MakeAct):
    upload = store_upload(desk, [lone_samples(), ("capitals.csv", CSV)])
    page = Screen(desk, "zh").act(act("uploaded", upload=upload))
    for text in ("已完成的运行", "模型名称", "导入时不含 capitals.csv", "导入这次运行"):
        assert text in str(page)
    assert "No file" not in str(page)


def test_a_bundle_of_another_evalui_is_imported_from_the_page(
    tab: Screen,
    desk: AppService,
    act: MakeAct,
    finished: Callable[..., str],
    drop: Callable[[Files], tuple[str, str]],
):
    run_id = finished()
    page, upload = drop([("mine.sqlite", b"".join(export_run(desk, run_id, "sqlite", "en")[1]))])
    assert "run of evalui" in page
    assert f"<b>{desk.run(run_id).name}</b>" in page
    again = led_to(desk, str(tab.act(act("import", {"uploads": [upload]}, upload=upload))))
    assert again != run_id


def test_a_reader_imports_nothing(desk: AppService, act: MakeAct):
    upload, tab = store_upload(desk, [zipped("helm")]), Screen(desk)
    wanted = act("import", {"uploads": [upload]}, upload=upload)
    with acting_as(Person("rob", "reader")):
        assert "Your role lets you look" in tab.act(wanted)
    with acting_as(Person("guest", guest_of="another")), pytest.raises(NotAllowed):
        tab.act(wanted)
    assert read_runs(desk.database) == []
