"""Links to a comparison: who has its runs makes and ends them, and nobody else."""

import re
from collections.abc import Callable

import gradio as gr
import pytest
from drawn_page import DrawnPage
from fastapi import FastAPI
from fastapi.testclient import TestClient

from evalui.access import Person
from evalui.accounts.shares import list_shares
from evalui.app.service import AppService
from evalui.store.voting.plans import keep_plan
from evalui.ui.current_person import acting_as
from evalui.ui.web.routes import add_routes

ANN, BOB = Person("ann", "annotator"), Person("bob", "annotator")
DAYS = "How long the link works"


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk)
    return TestClient(app, follow_redirects=False)


def opened(desk: AppService, run_id: str) -> DrawnPage:
    """The comparison of a run with its panel open."""
    return DrawnPage("compare", desk, {"run": run_id, "panel": "share"})


def test_a_comparison_is_shared_as_it_is(
    desk: AppService, finished: Callable[..., str], client: TestClient
):
    run_id = finished()
    page = opened(desk, run_id)
    assert page.press("Make a link", **{DAYS: "7"}) == f"?run={run_id}&panel=share"
    page = opened(desk, run_id)
    (link,) = re.findall(r'href="\.\.(/s/[^"]+)"', page.text)
    answer = client.get(link)
    verdict = re.search(r"<h1>(.*?)</h1>", page.text)
    assert verdict
    assert verdict[1] in answer.text
    assert "Both models answered the same questions" in answer.text
    (share,) = list_shares(desk.database)
    assert share.address.startswith("?tab=compare&cells=")
    with pytest.raises(gr.Error, match="7, 30, 90"):
        page.press("Make a link", **{DAYS: "31"})
    assert len(list_shares(desk.database)) == 1
    page.act("withdraw", link=share.id)
    assert "ended" in opened(desk, run_id).text
    assert client.get(link).status_code == 410


def test_a_comparison_of_another_s_run_is_not_shared(
    desk: AppService, finished: Callable[..., str]
):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(ANN):
        run_id = finished()
    keep_plan(desk.database, run_id, ["bob"], 1)
    assert "Make a link" not in opened(desk.acting_for(BOB), run_id).text
    page = opened(desk.acting_for(ANN), run_id)
    page.press("Make a link", **{DAYS: "30"})
    page = opened(desk.acting_for(ANN), run_id)
    (share,) = list_shares(desk.database)
    page.service = desk.acting_for(BOB)  # who sends what was drawn for another
    with pytest.raises(gr.Error):
        page.press("Make a link", **{DAYS: "30"})
    with pytest.raises(gr.Error):
        page.act("withdraw", link=share.id)
    assert [each.ended for each in list_shares(desk.database)] == [None]
