"""The gallery: what it shows, that it is built once, and that nothing in it can be changed."""

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from annotate_page import Booth, pair_in_view
from drawn_page import DrawnPage

from evalui.app import gallery as gallery_module
from evalui.app.datasets import store_upload
from evalui.app.evaluations import run_to_repeat, start_run
from evalui.app.gallery import Gallery, gallery_settings, read_gallery
from evalui.app.gallery_builder import build_gallery
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.errors import EvaluiError, StoreError
from evalui.messages import messages
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_runs
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import (
    VoteInput,
    cast_vote,
    finish_voting,
    next_ballots,
    read_votes,
    undo_vote,
)
from evalui.ui.components.form import Form
from evalui.ui.top_bar import top_bar

SENTENCE = "This server is read-only"


def form_of(query: str) -> Form:
    return {name: values[0] for name, values in parse_qs(query).items()}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return gallery_settings(Settings(data_dir=tmp_path_factory.mktemp("gallery")))


@pytest.fixture(scope="module")
def gallery(settings: Settings) -> Gallery:
    return build_gallery(settings)


@pytest.fixture(scope="module")
def service(settings: Settings, gallery: Gallery) -> AppService:
    del gallery
    return AppService(settings, Database(settings.database, read_only=True))


def test_the_gallery_has_a_folder_and_models_of_its_own(settings: Settings, service: AppService):
    assert settings.data_dir.name == "demo"
    assert {"steady", "wavering", "hasty"} <= service.models.catalog().keys()
    assert all(entry.backend == "scripted" for entry in service.models.catalog().values())


def test_it_has_a_circular_run_and_a_judged_one_with_votes(service: AppService, gallery: Gallery):
    rows = read_runs(service.database)
    assert [row.state for row in rows] == ["done", "done"]
    judged = form_of(gallery.judged)["run"]
    votes = read_votes(service.database, str(judged))
    assert {vote.by for vote in votes} == {"Ann", "Ben", "Chao"}
    assert run_report(service, str(judged), "en").people
    orders = run_report(service, str(form_of(gallery.orders)["run"]), "en")
    assert any(summary.robust for summary in orders.summaries)


def test_its_addresses_show_a_comparison_and_what_people_said(
    service: AppService, gallery: Gallery
):
    compared = DrawnPage("compare", service, form_of(gallery.compared)).text
    assert "<h1>steady beats all others" in compared
    people = DrawnPage("annotate", service, form_of(gallery.people)).text
    assert "<h1>You preferred " in people
    assert "Most people and the panel say the same" in people


def test_each_page_links_to_all_of_it(service: AppService, gallery: Gallery):
    bar = top_bar(service, messages("en"), "models", {})
    links = re.findall(r'href="(\?[^"]*)"', bar.partition('class="gallery"')[2] or bar)
    wanted = [f"?{query}" for name, query in asdict(gallery).items() if name != "version"]
    assert set(wanted) <= {link.replace("&amp;", "&") for link in links}


def test_other_servers_have_no_such_links(tmp_path: Path):
    own = Settings(data_dir=tmp_path)
    assert read_gallery(own) is None
    service = AppService(own, Database(own.database))
    assert "gallery" not in top_bar(service, messages("en"), "models", {})


def test_it_is_read_again_and_built_anew_for_another_version(
    settings: Settings, gallery: Gallery, monkeypatch: pytest.MonkeyPatch
):
    assert read_gallery(settings) == gallery
    monkeypatch.setattr(gallery_module, "__version__", "999")
    assert read_gallery(settings) is None


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path):
    settings = gallery_settings(Settings(data_dir=tmp_path))
    settings.data_dir.mkdir()
    kept = settings.data_dir / "thesis.txt"
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="is not a gallery of evalui"):
        build_gallery(settings)
    assert kept.read_text(encoding="utf-8") == "mine"


# ---------------------------------------------------------------- nothing can be changed


def _start(service: AppService, run_id: str) -> None:
    start_run(service, run_to_repeat(service, run_id))


def _vote(service: AppService, run_id: str) -> None:
    pairs = voting_pairs(service.database, run_id)
    (ballot,) = next_ballots(service.database, run_id, "Zoe", pairs=pairs, count=1)
    cast_vote(service.database, run_id, "Zoe", VoteInput(ballot.pair_key, "a"), pairs=pairs)


def _new_upload(service: AppService, run_id: str) -> None:
    store_upload(service, [(f"{run_id}.csv", b"question,A,B,answer\nWhy?,x,y,A\n")])


CHANGES: list[Callable[[AppService, str], object]] = [
    _start,
    _vote,
    _new_upload,
    lambda service, run_id: queue.delete(service.database, run_id),
    lambda service, run_id: queue.cancel(service.database, run_id),
    lambda service, run_id: queue.resume(service.database, run_id),
    lambda service, run_id: undo_vote(service.database, run_id, "Zoe"),
    lambda service, run_id: finish_voting(service.database, run_id, "Zoe"),
    lambda service, run_id: service.models.queue_test("steady", run_id),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_refused_with_one_sentence(
    service: AppService, gallery: Gallery, change: Callable[[AppService, str], object]
):
    before = service.settings.database.read_bytes()
    with pytest.raises(EvaluiError, match=SENTENCE):
        change(service, str(form_of(gallery.judged)["run"]))
    assert service.settings.database.read_bytes() == before


def test_models_cannot_be_added(service: AppService):
    assert not service.models.may_edit


def test_a_voter_is_told_on_the_page(service: AppService, gallery: Gallery):
    booth = Booth(service, str(form_of(gallery.judged)["run"]), "Zoe", "zh")
    pair = pair_in_view(booth.text)
    assert "本服务器是只读的" in booth.press("1")
    assert pair_in_view(booth.text) == pair
