"""The doors of Gradio: which routes there are; whose sessions, files and listeners are whose."""

import asyncio
import gc
import json
import re
import time
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio.state_holder import SessionState
from starlette.routing import Mount
from ui_doors_examples import GONE, LIMIT, PEOPLE, House, house, own_house, part, shared

from evalui.ui import doors
from evalui.ui.top_bar import PAGES

__all__ = ["house", "own_house", "shared"]
# What a page reads of Gradio, and what it sends.
OPEN = re.compile(
    rf"/?|/(plain|annotate|last|{'|'.join(PAGES)})|/(theme\.css|config|manifest\.json|favicon\.ico)"
    r"|/robots\.txt|/(assets|static|svelte)/.*|/gradio_api/(app_id|info|upload_progress)"
    r"|/gradio_api/(run/.*|queue/join|queue/data|upload)"
)
PATH = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
FOREIGN = {"path": "http://127.0.0.1:9/x", "meta": {"_type": "gradio.FileData"}}


def routes_of(app: Any, before: str = "") -> list[tuple[str, str]]:
    """The methods and paths of Gradio's own routes."""
    found: list[tuple[str, str]] = []
    for route in app.routes:
        path = before + getattr(route, "path", "")
        inner = getattr(getattr(route, "app", None), "routes", None)
        if isinstance(route, Mount) and inner is not None:
            found += routes_of(route.app, path)
        else:
            found += [(method, path) for method in getattr(route, "methods", None) or ("GET",)]
    return found


def test_what_no_page_uses_is_closed_to_everybody(house: House):
    found = {
        (verb, re.sub(r"\{[^}]*\}", "x", path))
        for method, path in routes_of(house.doors.app)
        if path.startswith("/en") and not OPEN.fullmatch(path[3:])
        for verb in {method, "GET", "POST"}
    }
    assert {("GET", "/en/gradio_api/file=x"), ("GET", "/en/gradio_api/proxy=x")} <= found
    assert {("POST", "/en/login"), ("GET", "/en/gradio_api/startup-events")} <= found
    assert len(found) > 90
    answered = {
        (person, method, path): answer.status_code
        for person in ("ann", "mia")
        for method, path in found
        if (answer := house.client.request(method, path, headers={"x-person": person})).status_code
        != 404
    }
    assert answered == {}


def test_an_address_that_gradio_could_not_look_for_is_none(house: House):
    for path in ("plain/x", "plain/", "plain?q=" + "x" * 9000, "assets/" + "x" * 300):
        assert house.get("ann", path).status_code == 404, path


def test_events_past_the_queue_and_by_it_are_answered(house: House):
    assert house.run("ann", house.event("direct", "x")).json()["data"] == ["heard x"]
    for name in ("queued", "call"):
        assert house.join("ann", house.event(name, "y")).status_code == 200
        assert "heard y" in house.told("ann", "s").text


def test_events_of_what_is_drawn_are_answered_both_ways(house: House):
    event = house.event("direct", "x") | {"fn_index": house.draw("ann", "s")}
    assert house.run("ann", event).json()["data"] == ["heard x"]
    event["fn_index"] += 1
    assert house.join("ann", event).status_code == 200
    assert "heard x" in house.told("ann", "s").text


def test_a_listener_takes_events_by_its_own_way_alone(house: House):
    assert house.join("ann", house.event("direct", "x")).status_code == 400
    for name in ("queued", "call"):
        assert house.run("ann", house.event(name, "x")).status_code == 400
    assert house.heard == []


WRONG: tuple[Any, ...] = (
    *("", "{", b"\xff", "[]", "null", "{}", 7),
    *({"session_hash": session} for session in (None, "a/b", "a" * 65, "\u4e2d", 7)),
    *({"fn_index": index} for index in (None, -1, "0", 1.5, True)),
    *({"data": data} for data in (None, {}, "x", [], ["x", "y"])),
    {"event_data": {"do": "\ud800"}},
    # What Gradio would believe of an event that is not from its own queue.
    *({"batched": True}, {"event_id": "x"}, {"simple_format": True}, {"request": {}}),
    *({"oauth_token": "x"}, {"trigger_id": "x"}),
)


@pytest.mark.parametrize("event", WRONG, ids=str)
def test_an_event_of_the_wrong_shape_is_refused(
    house: House, event: Any, capfd: pytest.CaptureFixture[str]
):
    whole: Any = house.event("direct", "x") | event if isinstance(event, dict) else event
    for send in (house.run, house.join):
        answer = send("ann", whole)
        assert (answer.status_code, answer.json()) == (400, {"error": "No such event."})
    assert house.heard == house.kept == []
    assert "Traceback" not in capfd.readouterr().err


def test_an_event_that_nests_without_end_is_refused(house: House):
    for deep in (b"[" * 9999, b'{"data": [' + b'{"a": ' * 9999):
        assert house.run("ann", deep).status_code == 400


def test_a_listener_that_is_none_or_only_the_browsers_is_refused(house: House):
    gap = {**house.event("direct", "x"), "fn_index": -1}
    assert house.run("ann", gap).status_code == 400
    assert house.run("ann", house.event("browser", "x")).status_code == 400


def test_an_event_that_is_too_large_is_refused(house: House):
    assert house.run("ann", b'"' + b"x" * doors.LARGEST + b'"').status_code == 413
    endless = [part(b"x" * 2**19, more=True)] * 9
    assert house.send("ann", "run/predict", *endless) == 413


def test_a_session_is_of_the_first_who_uses_it(house: House):
    assert house.run("ann", house.event("direct", "x")).status_code == 200
    assert house.run("ben", house.event("direct", "x")).status_code == 404
    assert house.join("ben", house.event("queued", "x")).status_code == 404
    assert house.join("ann", house.event("queued", "x")).status_code == 200
    assert house.told("ben", "s").status_code == 404
    assert house.told("ann", "s").status_code == 200
    assert house.heard == ["x", "x"]


@pytest.mark.parametrize("session", ["none", "", "s&session_hash=t", "a/b"])
def test_answers_of_no_session_of_ones_own_are_not_read(house: House, session: str):
    for name in ("s", "t"):
        house.join("ann", house.event("queued", "x", session=name))
    assert house.told("ann", session).status_code == 404


def test_guests_of_two_runs_who_have_one_name_are_two_people(house: House):
    number = house.draw("mia", "s")
    event = house.event("direct", "a vote") | {"fn_index": number}
    assert house.run("other mia", event).status_code == 404
    assert "a vote" not in house.heard
    assert house.run("mia", event).status_code == 200
    assert "a vote" in house.heard
    event["fn_index"] += 1  # the ballot has no use for the queue
    assert house.join("mia", event).status_code == 404


def test_a_guest_has_what_is_drawn_of_the_ballot_and_no_other_listener(house: House):
    for name in ("direct", "queued", "call", "file"):
        for send in (house.run, house.join):
            assert send("mia", house.event(name, "x")).status_code in (400, 404)
    assert house.upload("mia").status_code == 413  # the words of an error of `receiving`
    assert house.heard == []
    assert house.run("mia", house.event("apply")).status_code == 200


def test_a_file_is_used_by_who_uploaded_it(house: House):
    (path,) = house.upload("ann").json()
    event = house.event("file", {"path": path, "meta": {"_type": "gradio.FileData"}})
    assert house.run("ben", event | {"session_hash": "b"}).status_code == 404
    assert house.heard == []
    assert house.run("ann", event).status_code == 200
    assert house.heard == [path]
    assert house.upload("ben").json() == [path]  # the same content has the same path
    assert house.run("ben", event | {"session_hash": "b"}).status_code == 200


@pytest.mark.parametrize(
    "data",
    [
        PATH,
        FOREIGN,
        [PATH],
        {"path": None},
        {"path": ["/etc/passwd"]},
        {"a": [{"b": FOREIGN}]},
        {"path": "gradio/../token", "url": "x"},
    ],
    ids=str,
)
def test_a_path_or_address_that_was_not_uploaded_does_not_reach_gradio(
    house: House, data: Any, monkeypatch: pytest.MonkeyPatch
):
    reached: list[object] = []

    async def looked(*_: object) -> None:
        reached.append(data)

    monkeypatch.setattr(gr.Blocks, "process_api", looked)
    for name, send in (("file", house.run), ("queued", house.join), ("call", house.join)):
        assert send("ann", house.event(name, data)).status_code == 404
        assert send("ann", house.event(name, "x", event_data=data)).status_code == 404
    assert (reached, house.kept) == ([], [])


def test_of_two_equal_names_the_one_that_gradio_reads_is_looked_at(house: House):
    (path,) = house.upload("ann").json()
    start = json.dumps(house.event("file"))[:-2]  # within its data
    for first, last in ((path, "/etc/passwd"), ("/etc/passwd", path)):
        twice = f'{{"path": "{first}", "path": "{last}", "meta": {{"_type": "gradio.FileData"}}}}'
        house.run("ann", f"{start}{twice}]}}".encode())
    assert house.heard == [path]


def test_an_upload_is_refused_before_its_bytes(own_house: House):
    begun, form = part(b"--x\r\n", more=True), {"content_type": "multipart/form-data; boundary=x"}
    for length in ("", "-1", "1e3", "9" * 400, str(2**30), str(LIMIT + 1)):
        sent = {"content_length": length, **form}
        assert own_house.send("ann", "upload", begun, **sent) == 413, length
    sent = {"content_length": "9", "transfer_encoding": "chunked", **form}
    assert own_house.send("ann", "upload", begun, **sent) == 413
    for person in ("eve", "mia"):
        assert own_house.send(person, "upload", begun, content_length="9", **form) == 413
    assert not list(own_house.folder.glob("*/*"))


def test_files_that_wait_count_as_stored(house: House):
    first = house.upload("ann", b"x" * (LIMIT * 2 // 3))
    assert first.status_code == 200
    assert house.upload("ann", b"y" * (LIMIT * 2 // 3)).status_code == 413
    assert house.upload("ben", b"y" * (LIMIT * 2 // 3)).status_code == 200
    house.folder.joinpath(first.json()[0]).unlink()  # a listener has taken it
    assert house.upload("ann", b"z" * (LIMIT * 2 // 3)).status_code == 200


def test_a_person_has_so_many_files_that_wait(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doors, "UPLOADS", 2)
    statuses = [house.upload("ann", b"%d" % number).status_code for number in range(3)]
    assert statuses == [200, 200, 429]
    assert house.upload("ben").status_code == 200


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Gradio's own file
def test_an_upload_under_way_counts_while_gradio_writes(own_house: House):
    form = {"content_type": "multipart/form-data; boundary=x"}
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nbegun'
    size, seen = LIMIT * 2 // 3, list[int | None]()

    async def meanwhile(scope: Any, receive: Any, send: Any) -> None:
        own_house.doors.app = own_house.app
        for other in (size, LIMIT // 4):
            sent = {"content_length": str(other), **form}
            seen.append(await own_house.sent("ann", "upload", part(b""), **sent))
        await own_house.app(scope, receive, send)

    own_house.doors.app = meanwhile
    own_house.send("ann", "upload", part(head, more=True), GONE, content_length=str(size), **form)
    assert seen == [413, 200]
    gc.collect()
    assert not [each for each in own_house.folder.iterdir() if each.is_file()]
    assert own_house.upload("ann", b"x" * size).status_code == 200


def test_a_form_of_other_fields_leaves_nothing(house: House):
    assert house.upload("ann", b"x" * 9000, field="other").json() == []
    assert not [each for each in house.folder.iterdir() if each.is_file()]


def test_a_page_whose_session_is_gone_is_told_so(house: House):
    number = house.draw("ann", "s")
    drawn = house.event("direct", "x") | {"fn_index": number}
    assert house.run("ann", drawn).status_code == 200
    assert house.run("ann", drawn | {"session_hash": "t"}).status_code == 410
    house.demo.state_holder.session_data.clear()  # as Gradio does beyond its capacity
    assert house.run("ann", drawn).status_code == 410
    again = house.draw("ann", "s")
    assert house.run("ann", drawn | {"fn_index": again}).status_code == 200


def test_what_was_pressed_while_its_page_was_drawn_anew_is_told_so(house: House):
    earlier, now = house.draw("ann", "s"), house.draw("ann", "s")
    drawn = house.event("direct", "x")
    assert house.run("ann", drawn | {"fn_index": now}).status_code == 200
    assert house.run("ann", drawn | {"fn_index": earlier}).status_code == 409


def test_a_page_that_was_open_while_the_server_started_anew_is_told_so(own_house: House):
    drawn = own_house.event("direct", "x") | {"fn_index": own_house.draw("ann", "s")}
    with own_house.open() as again:
        assert again.run("ann", drawn).status_code == 410
        assert again.run("ann", drawn | {"fn_index": again.draw("ann", "s")}).status_code == 200


def test_a_person_has_so_many_sessions(house: House):
    assert house.run("ben", house.event("direct", "x", session="bens")).status_code == 200
    for number in range(doors.SESSIONS + 3):
        event = house.event("direct", "x", session=f"s{number}")
        assert house.run("ann", event).status_code == 200
    assert len(house.kept) == doors.SESSIONS + 1
    assert "bens" in house.kept
    assert {"s0", "s1", "s2"}.isdisjoint(house.kept)


def test_sessions_that_nobody_uses_are_forgotten(house: House, monkeypatch: pytest.MonkeyPatch):
    now = [1000.0]
    monkeypatch.setattr(doors, "time", SimpleNamespace(monotonic=lambda: now[0]))
    house.run("ann", house.event("direct", "x", session="old"))
    now[0] += doors.IDLE_S / 2
    house.run("ann", house.event("direct", "x", session="used"))
    now[0] += doors.IDLE_S / 2 + 1
    house.run("ben", house.event("direct", "x", session="new"))
    assert house.kept == ["used", "new"]


def sessions_alive() -> list[SessionState]:
    gc.collect()
    # Not `isinstance`: some objects of libraries warn when they are asked for their class.
    return [each for each in gc.get_objects() if type(each) is SessionState]


def test_hundreds_of_sessions_leave_no_more_than_those_of_a_person(house: House):
    of_other_tests = sessions_alive()
    for number in range(300):
        house.draw("ann", f"s{number}")
    alive = len(sessions_alive()) - len(of_other_tests)
    assert alive <= doors.SESSIONS + 1  # one that an answer was made with


def test_calls_that_nobody_reads_make_room_for_a_persons_others(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doors, "AT_ONCE", 5)
    call = house.event("call", "x", session="unread")
    statuses = [house.join("ann", call).status_code for _ in range(5)]
    assert statuses == [200] * 5
    for number in range(3):
        other = house.event("call", "x", session=f"s{number}")
        deadline = time.monotonic() + 60  # those before have to end first
        while house.join("ann", other).status_code == 429:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert "unread" not in house.kept
    assert "process_completed" in house.told("ann", "s2").text


def test_a_person_has_so_many_events_under_way(house: House):
    async def send() -> list[int | None]:
        begun, whole = part(b"{", more=True), part(b"{")
        late = [
            asyncio.ensure_future(house.sent("ann", "run/predict", begun))
            for _ in range(doors.AT_ONCE)
        ]
        await asyncio.sleep(0.1)
        seen = [await house.sent(each, "run/predict", whole) for each in ("ann", "ben")]
        await asyncio.gather(*late)
        return [*seen, await house.sent("ann", "run/predict", whole)]

    assert house.client.portal
    assert house.client.portal.call(send) == [429, 400, 400]


def test_the_people_of_these_tests_are_those_who_may_upload_and_those_who_may_not(house: House):
    allowed = {name: house.upload(name).status_code == 200 for name in PEOPLE}
    assert allowed == {"ann": True, "ben": True, "eve": False, "mia": False, "other mia": False}
