"""Who sees which picture of a run or an upload."""

from collections.abc import Callable

import pytest
from annotate_examples import open_run
from pictured_runs import (
    BLUE,
    BLUE_MARK,
    RED,
    RED_MARK,
    SMALL,
    asked,
    give_pictures,
    put_pictures,
    uri_of,
)

from evalui.access import Person
from evalui.app.datasets import delete_upload, store_upload
from evalui.app.pictures import run_picture, upload_picture
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import EvaluiError, UnknownName, UnknownRun
from evalui.store.voting.plans import keep_plan
from evalui.types import Sample
from evalui.ui.current_person import acting_as


def pictured(number: int, question: str) -> Sample:
    return Sample(f"talk/{number}", question, target=("Because.",))


def test_a_picture_of_a_run_is_whole_or_small(desk: AppService):
    run_id = open_run(desk, samples=[pictured(1, asked(RED_MARK))])
    give_pictures(desk.database, run_id, RED)
    whole, small = (run_picture(desk, run_id, RED_MARK.id, small=each) for each in (False, True))
    assert (whole.body, small.body, whole.media_type) == (RED, SMALL, "image/png")


def test_a_picture_of_another_run_is_unknown(desk: AppService):
    run_id, other = (open_run(desk, samples=[pictured(n, "Why?")]) for n in (1, 2))
    give_pictures(desk.database, other, RED)
    with pytest.raises(UnknownName):
        run_picture(desk, run_id, RED_MARK.id, small=False)


@pytest.mark.parametrize("name", ["stranger", ""])
def test_a_picture_of_anothers_run_is_unknown(desk: AppService, name: str):
    run_id = open_run(desk, samples=[pictured(1, asked(RED_MARK))])
    give_pictures(desk.database, run_id, RED)
    with acting_as(Person(name, "annotator")), pytest.raises(UnknownRun):
        run_picture(desk, run_id, RED_MARK.id, small=True)


def test_a_guest_sees_the_pictures_of_their_own_pairs_alone(desk: AppService):
    samples = [pictured(1, asked(RED_MARK)), pictured(2, asked(BLUE_MARK))]
    run_id = open_run(desk, samples=samples)
    give_pictures(desk.database, run_id, RED, BLUE)
    keep_plan(desk.database, run_id, ["guest:Mia", "guest:Bo"], 1)
    seen: dict[str, set[str]] = {}
    for name in ("guest:Mia", "guest:Bo"):
        with acting_as(Person(name, guest_of=run_id)):
            seen[name] = {mark.id for mark in (RED_MARK, BLUE_MARK) if sees(desk, run_id, mark.id)}
    assert sorted(map(sorted, seen.values())) == sorted([[RED_MARK.id], [BLUE_MARK.id]])


def sees(desk: AppService, run_id: str, picture: str) -> bool:
    try:
        return bool(run_picture(desk, run_id, picture, small=True))
    except UnknownName:
        return False


def test_a_picture_of_an_upload_is_its_owners(desk: AppService, become: Callable[[str], None]):
    upload = store_upload(desk, [("a.csv", b"id,question\n1,x\n")])
    put_pictures(desk.uploads.pictures(desk.owner, upload), RED)
    for part in (upload, f"{upload}.part"):
        assert upload_picture(desk, part, RED_MARK.id, small=False).body == RED
        assert upload_picture(desk, part, RED_MARK.id, small=True).body == SMALL
    become("stranger")
    with pytest.raises(UnknownName):
        upload_picture(desk, upload, RED_MARK.id, small=False)


def test_an_upload_that_was_deleted_comes_again_with_its_pictures(desk: AppService):
    files = [("a.csv", f"id,question,answer\n1,{uri_of(RED)} What?,red\n".encode())]
    for _ in range(2):
        upload = store_upload(desk, files)
        assert desk.files.view(upload, Layout()).n_questions == 1
        assert upload_picture(desk, upload, RED_MARK.id, small=False).body == RED
        delete_upload(desk, upload)
        assert not list(desk.uploads.root.rglob("*.pictures"))


def test_an_upload_without_a_folder_of_pictures_is_deleted(desk: AppService):
    upload = store_upload(desk, [("a.csv", b"id,question\n1,x\n")])
    delete_upload(desk, upload)
    assert not [*desk.uploads.root.glob("*/*")]


def test_pictures_found_in_an_upload_count_with_its_bytes(desk: AppService):
    file = f"id,question,answer\n1,{uri_of(RED)} What?,red\n".encode()
    upload = store_upload(desk, [("a.csv", file)])
    desk.files.view(upload, Layout())
    found = desk.uploads.pictures(desk.owner, upload).glob("*")
    (row,) = desk.database.rows("SELECT bytes FROM upload")
    assert row["bytes"] == len(file) + sum(path.stat().st_size for path in found) > len(file)


@pytest.mark.parametrize("name", [BLUE_MARK.id, "../{upload}/a.csv", "x", ""])
def test_what_is_no_picture_of_an_upload_is_unknown(desk: AppService, name: str):
    upload = store_upload(desk, [("a.csv", b"id,question\n1,x\n")])
    put_pictures(desk.uploads.pictures(desk.owner, upload), RED)
    with pytest.raises(EvaluiError) as told:
        upload_picture(desk, upload, name.format(upload=upload), small=False)
    assert isinstance(told.value, UnknownName)
