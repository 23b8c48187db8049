"""Who gets what from a server with accounts: every route and every action of a page, by person.

What a person may do is decided by `access.may`; this asks the whole application from outside.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest
from drawn_event import drawn_event
from fastapi import FastAPI
from net_examples import created
from pictured_runs import RED, RED_MARK, give_pictures, put_pictures
from starlette.routing import Mount
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.guests import (
    admit_guest,
    make_guest_link,
    read_guest_links,
    revoke_guest_link,
)
from evalui.accounts.people import add_person, set_disabled
from evalui.accounts.sessions import start_session
from evalui.accounts.shares import revoke_share
from evalui.accounts.tokens import add_token
from evalui.api.application import PREFIX
from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.samples import sample_run
from evalui.app.service import AppService
from evalui.app.sharing import share_run
from evalui.messages import LANGUAGES, messages
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import RunRow, read_runs_in
from evalui.store.voting.plans import keep_plan
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.top_bar import PAGES
from evalui.ui.web.doors.guests import guest_cookie
from evalui.web.address import access_token, cookie_of

RUN_STATES = ("queued", "running", "done", "failed", "cancelled")
PASSWORD = "correct horse battery"
Outcome = str  # in, sign in, no, unknown, ended
ROLES = {
    "reader": "reader",  # named to vote on the run before this was their role
    "voter": "annotator",  # named to vote on it
    "stranger": "annotator",
    "operator": "operator",
    "owner": "annotator",
    "admin": "admin",
    "disabled": "admin",
}
TOKENS = {
    "read token": "owner",
    "write token": "owner",
    "admin read": "admin",
    "admin write": "admin",
}
VISITORS = ("anonymous", *ROLES, *TOKENS, "revoked token")


def expected(default: Outcome, **others: Outcome) -> Mapping[str, Outcome]:
    """What each visitor gets; nobody who is unknown gets in."""
    unknown = dict.fromkeys(("anonymous", "disabled", "revoked token"), "sign in")
    found = dict.fromkeys(VISITORS, default) | unknown
    return found | {name.replace("_", " "): outcome for name, outcome in others.items()}


ONE = b"id,question,A,B,answer\n1,which of both,a,b,A\n"  # each run that is made has it
OWN = b"id,question,A,B,answer\n1,only the owner knows,a,b,A\n"
_OWNERS = dict.fromkeys(("owner", "admin", "write_token", "admin_write"), "in")
_BY_TOKEN = ("read_token", "write_token", "admin_read", "admin_write")
EXPECTED: Mapping[str, Mapping[str, Outcome]] = {
    "public": dict.fromkeys(VISITORS, "in"),
    "ended": dict.fromkeys(VISITORS, "ended"),
    "account": expected("in", **dict.fromkeys(_BY_TOKEN, "no")),
    "page": expected("in"),
    "closed": expected("unknown"),
    "link": dict.fromkeys(VISITORS, "unknown"),  # one that is none
    "see": expected(
        "unknown", **_OWNERS, reader="in", voter="in", read_token="in", admin_read="in"
    ),
    "annotate": expected(
        "unknown", **_OWNERS, reader="no", voter="in", read_token="no", admin_read="no"
    ),
    "change": expected(
        "unknown", **_OWNERS, reader="no", voter="no", read_token="no", admin_read="no"
    ),
    "own": expected("unknown", owner="in", read_token="in", write_token="in"),
    "start": expected("in", reader="no", read_token="no", admin_read="no"),
    "add_models": expected("no", operator="in", admin="in", admin_write="in"),
    "administer": expected("no", admin="in", admin_write="in"),
    "manage_accounts": expected("no", admin="in"),  # no token, not even an administrator's
    "own files": expected(
        "unknown", owner="in", write_token="in", reader="no", read_token="no", admin_read="no"
    ),
    "link of run": expected("unknown", **_OWNERS, read_token="no", admin_read="no"),
    "accounts none": expected("no", admin="unknown"),  # there is no such person or token
    "put model": expected(
        "no", operator="unknown", admin="unknown", admin_write="unknown"
    ),  # there is no such model
}
"""By what a request requires. The tokens are the owner's."""


@dataclass
class Box:
    """A server with accounts, a run of the owner's, and an upload."""

    client: TestClient
    service: AppService
    headers: dict[str, dict[str, str]]
    upload: str = ""
    run: str = ""
    share: str = ""  # the last part of a link to the run, as of the next
    withdrawn: str = ""
    endpoints: Mapping[str, int] = field(default_factory=dict[str, int])
    drawings: Mapping[str, int] = field(default_factory=dict[str, int])
    sessions: Iterator[int] = field(default_factory=itertools.count)

    def fresh_run(self) -> str:
        """Another run of the owner's, on which the voter and the reader are named to vote."""
        owner = Person("owner", "annotator")
        with acting_as(owner):
            run_id = start_run(self.service, sample_run(self.upload, self.service.models.states()))
        keep_plan(self.service.database, run_id, ["reader", "voter"], 1)
        return run_id

    def send(self, visitor: str, method: str, path: str, **more: Any) -> Any:
        """The response to a visitor; nothing is remembered between two of them."""
        self.client.cookies.clear()
        headers = {**self.headers[visitor], **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def sign_in(self) -> None:
        """Give everybody who has an account a session."""
        cookie, _ = cookie_of(access_token(self.service.settings.data_dir))
        for name in ROLES:
            secret = start_session(self.service.database, name)
            self.headers[name] = {"cookie": f"{cookie}={secret}"}

    def draw(self, visitor: str, page: str, query: str = "") -> Any:
        """The response to a page that asks for what it shows at an address."""
        event = {"data": [], "fn_index": self.drawings[page]}
        return self.tell(visitor, page, query, event, f"s{next(self.sessions)}")

    def tell(
        self, visitor: str, page: str, query: str, event: Mapping[str, Any], session: str
    ) -> Any:
        """The response to an event of a page in a session."""
        return self.send(
            visitor,
            "POST",
            f"/en/gradio_api/run/predict?{query}",
            json={**event, "session_hash": session},
            headers={"referer": f"http://127.0.0.1/en/{page}?{query}", "x-session": session},
        )

    def press_all(self, visitor: str, page: str, query: str, data: Mapping[str, str]) -> int:
        """Send what is drawn for a visitor each event, those of markup with every act.

        Returns how many were sent.
        """
        drawn = self.draw(visitor, page, query)
        if drawn.status_code != 200:
            return 0
        config = drawn.json()["render_config"]
        session = drawn.request.headers["x-session"]
        values = {each["id"]: each["props"].get("value") for each in config["components"]}
        count = 0
        for listener in config["dependencies"]:
            event = {
                "fn_index": listener["id"],
                "data": [values.get(each) for each in listener["inputs"]],
            }
            acts = ACTS if any(name == "act" for _, name in listener["targets"]) else ("",)
            for do in acts:
                told = event | ({"event_data": {**data, "do": do}} if do else {})
                self.tell(visitor, page, query, told, session)
                count += 1
        return count

    def call(self, visitor: str, name: str, value: Any) -> "Outcome":
        """What comes of a call as `gradio_client` sends it."""
        session = f"{visitor}-{name}".replace(" ", "-")
        sent = {"fn_index": self.endpoints[name], "data": [value], "session_hash": session}
        joined = self.send(visitor, "POST", "/en/gradio_api/queue/join", json=sent)
        if joined.status_code != 200:
            return outcome_of(joined)
        address = f"/en/gradio_api/queue/data?session_hash={session}"
        told = self.send(visitor, "GET", address).text
        ended = next(
            each
            for each in (json.loads(line[5:]) for line in told.splitlines() if line)
            if each["msg"] == "process_completed"
        )
        if not ended["success"] and any(each in ended["output"]["error"] for each in _NO):
            return "no"
        return "unknown" if "There is no run" in json.dumps(ended["output"]) else "in"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("box"), workers=0, auth="password", port=0)
    app = created(settings)
    database = Database(settings.database)
    service = AppService(settings, database).with_sender(current_person)
    headers: dict[str, dict[str, str]] = {"anonymous": {}}
    for name, role in ROLES.items():
        add_person(database, name, role, by=LOCAL_PERSON, password=PASSWORD)
    set_disabled(database, "disabled", disabled=True, by=LOCAL_PERSON)
    for name, owner in TOKENS.items():
        secret = add_token(
            database, owner, scope="read" if "read" in name else "write", by=LOCAL_PERSON
        )
        headers[name] = {"authorization": f"Bearer {secret}"}
    headers["revoked token"] = {"authorization": "Bearer " + "x" * 43}
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        opened = Box(client, service, headers)
        opened.sign_in()
        with acting_as(Person("owner", "annotator")):
            opened.upload = store_upload(service, [("one.csv", ONE)])
        put_pictures(service.uploads.pictures("owner", opened.upload), RED)
        opened.run = opened.fresh_run()
        give_pictures(database, opened.run, RED)
        with acting_as(Person("owner", "annotator")):
            opened.share, opened.withdrawn = (share_run(service, opened.run, 30) for _ in range(2))
        revoke_share(database, opened.withdrawn.partition(".")[0], by=LOCAL_PERSON)
        listed = opened.send("owner", "GET", "/en/config").json()["dependencies"]
        opened.endpoints = {
            each["api_name"]: each["id"] for each in listed if each["api_visibility"] == "public"
        }
        for page in PAGES:
            config = opened.send("owner", "GET", f"/en/config?page={page}").json()
            opened.drawings = {**opened.drawings, page: drawn_event(config)["fn_index"]}
        yield opened
    database.close()


_NO = {
    messages("en")(f"error.not-allowed-{deed}")
    for deed in (
        "see",
        "annotate",
        "change",
        "start",
        "add-models",
        "administer",
        "manage-accounts",
    )
}


def list_runs_of(box: Box, run_id: str) -> list[RunRow]:
    """The run of an id, if it is there."""
    return [row for row in read_runs_in(box.service.database, RUN_STATES) if row.id == run_id]


def outcome_of(response: Any) -> Outcome:
    """What a response says of the visitor."""
    if response.status_code == 401 or "sign-in" in response.headers.get("location", ""):
        return "sign in"
    if response.status_code == 410:
        return "ended"
    if response.status_code in (403, 404):
        return "no" if response.status_code == 403 else "unknown"
    if "gradio_api/run" in str(response.url):
        shown = " ".join(_texts(response.json()))
        if any(sentence in shown for sentence in _NO):
            return "no"
        return "unknown" if "There is no run" in shown else "in"
    kind = response.headers.get("content-type", "")
    if kind.startswith(("text/html", "application/json")) and "There is no run" in response.text:
        return "unknown"
    assert response.status_code < 500 or response.url.path == "/readyz", response.text
    return "in"


def _texts(answer: Any) -> Iterator[str]:
    if isinstance(answer, str):
        yield answer
    for each in answer.values() if isinstance(answer, dict) else answer or ():
        if isinstance(each, (str, dict, list)) and each != answer:
            yield from _texts(each)


ROUTES: Mapping[tuple[str, str], str] = {
    ("GET", "/healthz"): "public",
    ("GET", "/readyz"): "public",  # 503: no worker is there
    ("GET", "/metrics"): "page",
    ("GET", "/static/css/tokens.css"): "public",
    ("GET", "/"): "page",
    ("GET", "/en/"): "page",
    ("GET", "/zh/"): "page",
    ("GET", "/en"): "page",
    ("GET", "/zh"): "page",
    ("GET", "/en/evaluate"): "page",
    ("GET", "/zh/evaluate?models=always-A"): "page",
    ("GET", "/en/annotate"): "page",
    ("GET", "/en/models"): "page",
    ("GET", "/en/runs"): "page",
    ("GET", "/zh/runs?run={run}"): "page",  # its events state what of it one may see
    ("GET", "/live/{run}"): "see",
    ("GET", "/zh/models?add=endpoint"): "page",
    ("GET", "/en/admin"): "page",  # what is on it comes with its events
    ("GET", "/zh/admin?sub=server"): "page",
    ("GET", "/en/results?run={run}"): "page",  # which holds nothing of the run
    ("GET", "/en/?run={run}&tab=results"): "page",  # leads there
    ("GET", "/en/?run={run}&tab=results&sub=samples"): "page",
    ("GET", "/r/{run}"): "page",
    ("GET", "/r/{run}/q/1"): "page",
    ("GET", "/export/{run}.json"): "see",
    ("GET", "/export/{run}.xlsx"): "see",
    ("GET", "/votes/{run}.jsonl"): "see",
    ("GET", "/votes/{run}.csv"): "see",
    ("GET", f"/pictures/{{run}}/{RED_MARK.id}"): "see",
    ("GET", f"/pictures/{{run}}/{RED_MARK.id}?small"): "see",
    ("GET", f"/pictures/upload/{{upload}}/{RED_MARK.id}?small"): "own",
    ("GET", f"/pictures/none/{RED_MARK.id}"): "closed",
    ("GET", f"/pictures/{{run}}/{'0' * 32}"): "closed",  # none of it
    ("GET", "/vote/none"): "link",
    ("POST", "/vote/none"): "link",
    ("GET", "/faults/{upload}.csv"): "own",
    ("GET", "/examples/choice.csv"): "page",
    ("POST", "/upload"): "start",
    ("GET", "/upload/{upload}"): "own",
    ("POST", "/notices/1/close"): "page",  # those of others it leaves alone
    ("GET", "/me/"): "account",
    ("POST", "/me/"): "account",
    ("GET", "/s/{share}"): "public",
    ("GET", "/s/{share}.csv"): "public",
    ("GET", "/s/{withdrawn}"): "ended",
    ("GET", "/s/{withdrawn}.csv"): "ended",
}
SPEC = {"datasets": [{"upload": "x"}], "models": ["m"], "mode": "cloze"}
API: Mapping[tuple[str, str], tuple[str, Any]] = {
    ("GET", "/me"): ("page", None),
    ("GET", "/docs"): ("page", None),
    ("GET", "/openapi.json"): ("page", None),
    ("GET", "/datasets"): ("page", None),
    ("POST", "/datasets"): ("start", "files"),
    ("GET", "/datasets/{upload}"): ("own", None),
    ("DELETE", "/datasets/{upload}"): ("own files", None),
    ("GET", "/runs"): ("page", None),
    ("POST", "/runs"): ("start", SPEC),
    ("POST", "/imports"): ("start", {"upload": "x"}),
    ("GET", "/runs/{run}"): ("see", None),
    ("DELETE", "/runs/{run}"): ("change", None),
    ("POST", "/runs/{run}/stop"): ("change", None),
    ("POST", "/runs/{run}/resume"): ("change", None),
    ("PUT", "/runs/{run}/everyone"): ("change", None),
    ("DELETE", "/runs/{run}/everyone"): ("change", None),
    ("GET", "/runs/{run}/events"): ("see", None),
    ("GET", "/runs/{run}/trials"): ("see", None),
    ("GET", "/runs/{run}/report.json"): ("see", None),
    ("GET", "/runs/{run}/figures"): ("see", None),
    ("GET", f"/runs/{{run}}/pictures/{RED_MARK.id}?small=1"): ("see", None),
    ("GET", "/runs/{run}/votes"): ("see", None),
    ("GET", "/runs/{run}/ballot"): ("annotate", None),
    ("PUT", "/runs/{run}/voters"): ("change", {"people": ["voter"]}),
    ("POST", "/runs/{run}/votes"): ("annotate", {"pair": "x", "choice": "a"}),
    ("GET", "/benchmarks"): ("page", None),
    ("GET", "/leaderboard"): ("page", None),
    ("GET", "/benchmarks/mmlu"): ("page", None),
    ("POST", "/benchmarks/humaneval/take"): ("start", None),
    ("POST", "/benchmarks/bustm/fetch"): ("add_models", None),
    ("GET", "/models"): ("page", None),
    ("GET", "/models/always-A"): ("page", None),
    ("POST", "/models"): (
        "add_models",
        {"name": "far", "path": "m", "place": "endpoint", "address": "http://127.0.0.1:9/v1"},
    ),
    ("PUT", "/models/none"): ("put model", {"name": "none", "path": "x"}),
    ("DELETE", "/models/none"): ("put model", None),
    ("POST", "/models/always-A/test"): ("start", None),
    ("POST", "/models/always-A/look"): ("start", None),
    ("POST", "/runs/plan"): ("start", SPEC),
    ("POST", "/datasets/{upload}/columns"): ("own files", {}),
    ("POST", "/runs/{run}/links"): ("change", None),
    ("GET", "/links"): ("page", None),
    ("DELETE", "/links/{link}"): ("link of run", None),
    ("GET", "/comparisons.csv?cells=1&cells=2"): ("page", None),
    ("POST", "/comparisons/links?cells=1&cells=2"): ("start", None),
    ("GET", "/runs/{run}/voters"): ("change", None),
    ("GET", "/runs/{run}/guest-links"): ("change", None),
    ("POST", "/runs/{run}/guest-links"): ("change", None),
    ("DELETE", "/runs/{run}/guest-links/x"): ("change", None),
    ("DELETE", "/runs/{run}/guest-links/x/guests"): ("change", None),
    ("DELETE", "/runs/{run}/votes/last"): ("annotate", None),
    ("POST", "/runs/{run}/votes/finish"): ("annotate", None),
    ("POST", "/runs/{run}/votes/import?upload=x"): ("change", None),
    ("POST", "/runs/{run}/votes/close"): ("change", None),
    ("GET", "/runs/{run}/disagreements"): ("change", None),
    ("PUT", "/runs/{run}/disagreements/x"): ("change", {"outcome": "a"}),
    ("GET", "/people"): ("administer", None),
    ("POST", "/people/reader?role=reader"): ("manage_accounts", None),
    ("DELETE", "/people/none?heir=="): ("accounts none", None),
    ("PUT", "/people/stranger/role/annotator"): ("manage_accounts", None),
    ("PUT", "/people/stranger/limits"): ("administer", {}),
    ("POST", "/people/disabled/disable"): ("manage_accounts", None),
    ("POST", "/people/stranger/enable"): ("manage_accounts", None),
    ("POST", "/people/stranger/invitation"): ("manage_accounts", None),
    ("DELETE", "/people/stranger/invitation"): ("manage_accounts", None),
    ("GET", "/tokens"): ("administer", None),
    ("DELETE", "/tokens/999"): ("accounts none", None),
    ("DELETE", "/sessions"): ("manage_accounts", None),
    ("GET", "/audit"): ("administer", None),
    ("GET", "/queue"): ("administer", None),
    ("PUT", "/queue/open"): ("administer", None),
    ("POST", "/queue/runs/{run}/stop"): ("administer", None),
    ("PUT", "/queue/runs/{run}/priority/1"): ("administer", None),
}
# Everybody who may start runs may send these, each for files of their own.
_OWN_FILES = ("own", "own files")
BROKEN = [
    each
    for each, (kind, body) in API.items()
    if each[0] in ("POST", "PUT") and isinstance(body, dict) and kind not in _OWN_FILES
]
CLOSED = [
    *(
        ("GET", f"/{page}/gradio_api/file={path}")
        for page, path in product(LANGUAGES, ("/etc/passwd", "evalui.sqlite"))
    ),
    ("GET", "/en/gradio_api/proxy=http://127.0.0.1/"),
    ("GET", "/en/gradio_api/queue/data?session_hash=x"),
    ("GET", "/en/gradio_api/queue/status"),
    ("POST", "/en/gradio_api/call/act_runs"),
    ("GET", "/en/gradio_api/stream/x/y/z/playlist.m3u8"),
    ("GET", "/en/gradio_api/dev/reload"),
    ("GET", "/en/monitoring"),
    ("GET", "/en/gradio_api/monitoring/summary"),
    ("POST", "/en/gradio_api/component_server"),
    ("GET", "/en/login_check"),
    ("POST", "/en/login"),
]


def of_all(send: Callable[[str], Any]) -> dict[str, Outcome]:
    """What each visitor gets."""
    return {visitor: outcome_of(send(visitor)) for visitor in VISITORS}


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_each_route_answers_those_it_is_for(box: Box, method: str, path: str):
    more: dict[str, Any] = {}
    if path == "/upload":
        more["files"] = [("files", ("a.csv", b"id,question,A,B,answer\n1,x,a,b,A\n"))]
    places = {"share": box.share, "withdrawn": box.withdrawn}
    place = path.format(run=box.run, upload=box.upload, **places)
    found = of_all(lambda visitor: box.send(visitor, method, place, **more))
    assert found == EXPECTED[ROUTES[method, path]]


@pytest.mark.parametrize(("method", "path"), BROKEN)
@pytest.mark.parametrize("body", [b"{", b'{"nothing": 1}'], ids=["no json", "wrong"])
def test_who_may_not_is_not_told_what_is_wrong_with_a_body(
    box: Box, method: str, path: str, body: bytes
):
    place = PREFIX + path.format(run=box.run, upload=box.upload)
    sent = {"content": body, "headers": {"content-type": "application/json"}}
    for visitor in ("stranger", "admin read"):
        answer = box.send(visitor, method, place, **sent)
        allowed = EXPECTED[API[method, path][0]][visitor]
        assert (answer.status_code in (403, 404)) == (allowed in ("no", "unknown")), visitor


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_what_is_gradios_own_is_closed(box: Box, method: str, path: str):
    assert of_all(lambda visitor: box.send(visitor, method, path)) == EXPECTED["closed"]


@pytest.mark.parametrize("ended", [False, True])
def test_a_guest_votes_on_one_run_until_the_link_ends(box: Box, ended: bool):
    database, owner = box.service.database, Person("owner", "annotator")
    own, other = box.fresh_run(), box.fresh_run()
    link = make_guest_link(database, own, by=owner, days=1)
    cookie = f"{guest_cookie(link)}={admit_guest(database, link, 'Mia')}"
    ballot = f"/en/annotate?run={own}"
    guest = {"cookie": cookie, "referer": f"http://127.0.0.1{ballot}"}
    box.headers = {**box.headers, "guest": guest}
    if ended:
        revoke_guest_link(database, own, read_guest_links(database, own)[0].digest, by=owner)
    links = {"share": box.share, "withdrawn": box.withdrawn}
    paths = [path.format(run=own, upload=box.upload, **links) for _, path in ROUTES]
    routes = {path: outcome_of(box.send("guest", "GET", path)) for path in (*paths, ballot)}
    inside = {path for path, outcome in routes.items() if outcome == "in"}
    public = {path.format(**links) for (_, path), kind in ROUTES.items() if kind == "public"}
    assert inside == public | (set() if ended else {ballot})
    for page, query in product(PAGES, (f"run={own}", f"run={other}", "")):
        mine = not ended and (page, query) == ("annotate", f"run={own}")
        drawn = box.draw("guest", page, query)
        assert (outcome_of(drawn) == "in") is mine, (page, query)


def test_every_route_of_the_application_is_in_the_matrix(box: Box):
    app: Any = box.client.app
    while not isinstance(app, FastAPI):
        app = app.app
    known = [re.sub(r"\?.*", "", path) for _, path in ROUTES]
    routes = [route for route in app.routes if not isinstance(route, Mount)]
    for route in routes:
        assert any(route.path_regex.match(path) for path in known), route.path


@pytest.mark.parametrize(("method", "path"), API)
def test_each_route_for_programs_answers_those_it_is_for(box: Box, method: str, path: str):
    kind, body = API[method, path]
    more: dict[str, Any] = {"json": body} if body is not None else {}

    def send(visitor: str) -> Any:
        run_id = box.fresh_run() if "{run}" in path else ""
        if run_id:  # one that has ended: its events end, too
            queue.cancel(box.service.database, run_id)
        upload = link = ""
        with acting_as(Person("owner", "annotator")):  # nobody else has stored the same
            if "{upload}" in path:
                upload = store_upload(box.service, [("own.csv", OWN)])
            if "{link}" in path:
                link = share_run(box.service, box.run, 30)
        if body == "files":
            more.clear()
            more["files"] = [("files", ("a.csv", b"id,question,A,B,answer\n1,x,a,b,A\n"))]
        place = path.format(run=run_id, upload=upload, link=link.partition(".")[0])
        answer = box.send(visitor, method, "/api/v1" + place, **more)
        if path == "/sessions":  # it ended those of all others
            box.sign_in()
        return answer

    assert of_all(send) == EXPECTED[kind]


def test_every_route_for_programs_is_in_the_matrix(box: Box):
    app: Any = box.client.app
    while not isinstance(app, FastAPI):
        app = app.app
    (mounted,) = (route.app for route in app.routes if getattr(route, "path", "") == PREFIX)
    for path, item in mounted.openapi()["paths"].items():
        known = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method in item:
            asked = [each.partition("?")[0] for verb, each in API if verb == method.upper()]
            assert any(known.fullmatch(each) for each in asked), (method, path)


DRAWN = [
    ("evaluate", "", "start"),  # the whole page is for those who may start a run
    ("evaluate", "models=always-A", "start"),
    ("annotate", "run={run}", "annotate"),
    ("arena", "", "page"),
    ("arena", "board_judge=x", "page"),
    ("models", "", "page"),
    ("models", "add=endpoint", "page"),
    ("runs", "", "page"),
    ("runs", "run={run}", "see"),
    ("results", "run={run}&panel=share", "see"),
    ("results", "run={run}&sub=health", "see"),
    ("results", "run={run}&sub=samples", "see"),
    ("results", "run={run}&sub=duels", "see"),
    ("compare", "", "page"),
    *(("admin", query, "administer") for query in ("", "sub=server", "person=owner", "add=person")),
]


@pytest.mark.parametrize(("page", "query", "kind"), DRAWN)
def test_each_page_is_drawn_for_those_who_may_see_it(box: Box, page: str, query: str, kind: str):
    address = query.format(run=box.run)
    assert of_all(lambda visitor: box.draw(visitor, page, address)) == EXPECTED[kind]


# What any button of any page states.
ACTS = ("stop", "delete", "resume", "remove", "withdraw", "revoke", "free", "test", "vote", "undo")
PRESSED = [
    (page, query)
    for page, query, _ in DRAWN
    if "sub=" not in query and page not in ("arena", "compare")
]


def kept(box: Box, run_id: str) -> object:
    """What nobody but its owner, or an administrator, may change."""
    database = box.service.database
    rows = (
        database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
        for table in ("share", "guest_link", "guest", "voter")
    )
    people = database.rows("SELECT name, role, disabled FROM person ORDER BY name")
    with acting_as(Person("admin", "admin")):
        added = sorted(box.service.models.added())
    runs = [(row.state, row.owned) for row in list_runs_of(box, run_id)]
    return [[tuple(each) for each in table] for table in (*rows, people)], added, runs


@pytest.mark.parametrize("visitor", ["reader", "stranger", "voter", "read token", "disabled"])
def test_whatever_is_sent_by_what_is_drawn_changes_nothing_of_others(box: Box, visitor: str):
    run_id = box.fresh_run()
    told = dict.fromkeys(("target", "key", "run", "name", "model"), run_id) | {"link": "x"}
    before = kept(box, run_id)
    sent = sum(
        box.press_all(visitor, page, query.format(run=run_id), told) for page, query in PRESSED
    )
    assert (sent > 0) == (visitor != "disabled")
    if visitor == "voter":  # who may vote on it, and does
        with acting_as(Person("owner", "annotator")):
            before, after = before[1:], kept(box, run_id)[1:]  # pyright: ignore[reportIndexIssue]
        assert after == before
    else:
        assert kept(box, run_id) == before


def test_the_owner_stops_a_run_by_what_is_drawn(box: Box):
    run_id = box.fresh_run()
    told = dict.fromkeys(("target", "key", "run"), run_id)
    assert box.press_all("owner", "runs", f"run={run_id}", told)
    assert [row.state for row in list_runs_of(box, run_id)] in ([], ["cancelled"])


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [("evaluate", {}, "start"), ("status", "{run}", "see"), ("results", "{run}", "see")],
)
def test_each_endpoint_answers_those_it_is_for(box: Box, name: str, value: Any, kind: str):
    sent = value.format(run=box.run) if isinstance(value, str) else value
    assert {each: box.call(each, name, sent) for each in VISITORS} == EXPECTED[kind]
