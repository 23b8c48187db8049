"""An uploaded SWIFT configuration is a dataset for each of its entries."""

import io
import json
import os
import zipfile
from collections.abc import Callable

import pytest
from drawn_page import DrawnPage
from fastapi import FastAPI
from fastapi.testclient import TestClient
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import FAULTY, GOOD

from evalui.app.datasets import read_upload, store_upload, upload_parts
from evalui.app.evaluations import run_to_repeat, start_run
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import DataError
from evalui.runs.spec import read_spec
from evalui.runs.worker.worker import Worker
from evalui.store.runs import read_cells, read_runs
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.web.routes import add_routes

MakeAct = Callable[..., Press]
QA = '{"query": "Capital of Spain?", "response": "Madrid"}\n'
CONFIG = json.dumps(
    [
        {"name": "written", "pattern": "general_qa", "dataset": "x/qa"},
        {"name": "chosen", "pattern": "ceval", "dataset": "x/mcq"},
    ]
)
LOOSE = (
    ("custom_config.json", CONFIG.encode()),
    ("default_val.csv", FAULTY.encode()),
    ("default.jsonl", QA.encode()),
)


def packed() -> tuple[str, bytes]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x/custom_config.json", CONFIG)
        archive.writestr("x/mcq/default_val.csv", FAULTY)
        archive.writestr("x/qa/default.jsonl", QA)
    return "mine.zip", stream.getvalue()


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk)


def started(desk: AppService, upload: str) -> str:
    """The id of a run of all parts of an upload, in a mode for each kind."""
    form: Form = {
        "uploads": list(upload_parts(desk, upload)),
        "models": ["always-A"],
        "modes": ["multiple_choice", "question_answer"],
        "pattern": "origin",
    }
    return start_run(desk, form_to_spec(form))


@pytest.mark.parametrize("files", [LOOSE, [packed()]], ids=["files", "zip"])
def test_each_entry_of_a_configuration_has_a_card_of_its_own(
    tab: Screen, desk: AppService, act: MakeAct, files: list[tuple[str, bytes]]
):
    page = tab.act(act("uploaded", upload=store_upload(desk, files)))
    assert page.count('name="uploads"') == 2
    written, chosen = page.index("<b>written</b>"), page.index("<b>chosen</b>")
    assert written < page.index("No faults") < chosen < page.index("2 rows are set aside")
    assert page.count("was left out") == 0


def test_one_entry_can_be_removed_without_the_other(tab: Screen, desk: AppService, act: MakeAct):
    parts = upload_parts(desk, store_upload(desk, LOOSE))
    page = tab.act(act("remove", {"uploads": list(parts)}, upload=parts[0]))
    assert "<b>written</b>" not in page
    assert "<b>chosen</b>" in page


def test_both_entries_become_one_run_with_the_modes_that_fit(desk: AppService):
    run_id = started(desk, store_upload(desk, LOOSE))
    cells = [(row.cell.dataset, row.cell.mode) for row in read_cells(desk.database, run_id)]
    assert cells == [("written", "question_answer"), ("chosen", "multiple_choice")]
    spec = read_spec(desk.run(run_id).spec)
    assert [(source.name, source.entry) for source in spec.datasets] == [
        ("written", "written"),
        ("chosen", "chosen"),
    ]


def test_the_run_can_be_repeated_from_its_page(tab: Screen, desk: AppService):
    upload = store_upload(desk, LOOSE)
    again = run_to_repeat(desk, started(desk, upload))
    assert tuple(each.upload for each in again.datasets) == upload_parts(desk, upload)
    page = tab.render({"again": read_runs(desk.database)[0].id})
    assert "<b>written</b>" in page
    assert "<b>chosen</b>" in page


def test_the_overview_lists_what_the_run_left_out(desk: AppService):
    run_id = started(desk, store_upload(desk, LOOSE))
    Worker(desk.database, desk.models.catalog).run_once()
    page = DrawnPage("results", desk, {"run": run_id}).text
    assert "What to know" in page
    assert "Faulty rows left out of chosen: 2." in page
    assert "Not used for written, which has no options to choose from: letters." in page
    chinese = DrawnPage("results", desk, {"run": run_id}, "zh").text
    assert "chosen：略去 2 行有错误的数据。" in chinese


def test_the_faults_of_one_entry_are_a_file_of_their_own(desk: AppService):
    app = FastAPI()
    add_routes(app, desk)
    written, chosen = upload_parts(desk, store_upload(desk, LOOSE))
    client = TestClient(app)
    assert client.get(f"/faults/{written}.csv").text.count("\n") == 1
    assert client.get(f"/faults/{chosen}.csv").text.count("\n") == 3


def test_other_uploads_are_one_dataset_each(desk: AppService):
    upload = store_upload(desk, [("capitals.csv", GOOD.encode())])
    assert upload_parts(desk, upload) == (upload,)
    single = json.dumps(json.loads(CONFIG)[1:])
    upload = store_upload(desk, [("custom_config.json", single.encode()), *LOOSE[1:2]])
    assert upload_parts(desk, upload) == (upload,)


@pytest.mark.parametrize("end", [".0", ".3", ".x", ".", ".1.1"])
def test_a_part_that_does_not_exist_is_gone(desk: AppService, end: str):
    upload = store_upload(desk, LOOSE)
    with pytest.raises(DataError, match="no longer here"):
        read_upload(desk, upload + end, Layout())


def test_a_configuration_is_read_once_however_often_its_page_is_shown(
    desk: AppService,
):
    upload = store_upload(desk, LOOSE)
    run_id = started(desk, upload)
    came = desk.uploads.came(desk.owner, upload)
    paths = desk.uploads.paths(desk.owner, upload)
    for path in paths:
        path.unlink()
    os.utime(paths[0].parent, ns=(came, came))
    assert len(upload_parts(desk, upload)) == 2
    assert read_upload(desk, upload_parts(desk, upload)[0], Layout()).name == "written"
    assert desk.run(run_id).state == "queued"
