"""The shipped site for nginx before a real server: pages, uploads, events and exports."""

import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from drawn_event import drawn_event
from flow_examples import Office, wait_until
from proxy_examples import HOST, NGINX, write_site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: nginx-light)"),
]


def free_ports(n: int) -> list[int]:
    with_ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [each.getsockname()[1] for each in with_ports]
    for each in with_ports:
        each.close()
    return ports


@dataclass
class Answer:
    """What came back; `body` is read whole."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass
class Box:
    """A server behind the proxy, and a browser that remembers one cookie."""

    folder: Path
    http_port: int
    https_port: int
    server_port: int
    run_id: str
    queued_id: str
    cookie: str = ""

    def connect(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        return http.client.HTTPSConnection(
            "127.0.0.1", self.https_port, context=context, timeout=60
        )

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        connection = self.connect()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, {"Host": HOST, **self.cookies, **named})
        answer = connection.getresponse()
        read = Answer(answer.status, answer.headers, answer.read())
        connection.close()
        return read

    @property
    def cookies(self) -> dict[str, str]:
        return {"Cookie": self.cookie} if self.cookie else {}

    @property
    def token(self) -> str:
        return (self.folder / "access-token").read_text(encoding="ascii").strip()

    def direct(self, path: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.server_port, timeout=60)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        read = Answer(answer.status, answer.headers, answer.read())
        connection.close()
        return read

    def answers(self) -> bool:
        try:
            return self.send("GET", "/evalui/healthz").status == 200
        except OSError:
            return False


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A server with a finished run whose exports are streamed; signed in by its start-up token."""
    folder = tmp_path_factory.mktemp("box")
    office = Office(folder)
    office.hire(delay=0)
    run_id = office.queue(n=1300)
    assert office.work_here()
    queued_id = office.queue(n=1)  # nobody works on it
    http_port, https_port, server_port = free_ports(3)
    write_site(folder, http_port=http_port, https_port=https_port, server_port=server_port)
    environment = os.environ | {
        "EVALUI_DATA_DIR": str(folder),
        "EVALUI_MODELS": str(office.models),
        "EVALUI_PORT": str(server_port),
        "EVALUI_WORKERS": "0",
        "EVALUI_ROOT_PATH": "/evalui",
        "EVALUI_PROXY_ADDRESSES": '["127.0.0.1/32"]',
        "EVALUI_ALLOWED_HOSTS": f'["{HOST}"]',
        "EVALUI_LOG": "json",
    }
    assert NGINX
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "evalui.cli", "serve"], env=environment, stderr=log, stdout=log
        )
        proxy = subprocess.Popen([NGINX, "-c", str(folder / "nginx.conf")], stderr=log)
        try:
            made = Box(folder, http_port, https_port, server_port, run_id, queued_id)
            wait_until(made.answers)
            entered = made.send("GET", f"/evalui/?token={made.token}")
            made.cookie = entered.headers["set-cookie"].partition(";")[0]
            yield made
        finally:
            proxy.terminate()
            server.terminate()
            proxy.wait(100)
            server.wait(100)
            office.close()


def test_plain_http_leads_to_https(box: Box):
    connection = http.client.HTTPConnection("127.0.0.1", box.http_port, timeout=60)
    connection.request("GET", "/evalui/en/", headers={"Host": HOST})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["location"]) == (301, f"https://{HOST}/evalui/en/")
    connection.close()


def test_the_cookie_is_for_https_and_the_sub_path_alone(box: Box):
    entered = box.send("GET", f"/evalui/?token={box.token}")
    assert (entered.status, entered.headers["location"]) == (303, "./")
    parts = {part.strip().lower() for part in entered.headers["set-cookie"].split(";")[1:]}
    assert {"secure", "httponly", "path=/evalui", "samesite=lax"} <= parts


def test_a_page_and_all_that_it_names_come_below_the_sub_path(box: Box):
    assert box.send("GET", "/evalui").headers["location"].endswith("/evalui/")
    old = box.send("GET", f"/evalui/en/?run={box.run_id}&tab=results")
    assert old.headers["location"] == f"results?run={box.run_id}"
    page = box.send("GET", f"/evalui/en/results?run={box.run_id}&sub=samples")
    assert page.status == 200
    # Gradio 6.31 names its manifest at the root of the server, where nothing answers.
    text = page.body.decode().replace('href="/manifest.json"', "")
    assert page.headers["strict-transport-security"]
    assert page.headers["content-security-policy"]
    static = {part.partition('"')[0] for part in text.split('="../static/')[1:]}
    assert len(static) > 5
    assert {box.send("GET", f"/evalui/static/{name}").status for name in static} == {200}
    assert not re.search('(href|src|action|data-copy)="/(?!/)', text)  # out of the sub-path
    link = box.send("GET", f"/evalui/r/{box.run_id}")
    assert link.headers["location"].startswith("../en/?run=")


def test_a_visitor_without_the_cookie_is_refused(box: Box):
    box.cookie, cookie = "", box.cookie
    try:
        assert box.send("GET", "/evalui/en/").status == 401
        assert box.send("GET", "/evalui/metrics").status == 401
        assert box.send("GET", "/evalui/metrics", Forwarded="for=127.0.0.1").status == 401
    finally:
        box.cookie = cookie
    assert box.direct("/metrics").status == 200


def test_an_upload_of_some_megabytes_and_an_event_go_through(box: Box):
    boundary = "b0undary"
    content = b"id,question,A,B,answer\n" + b"1,One?,x,y,A\n" + b"#" * 3 * 2**20
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    kind = f"multipart/form-data; boundary={boundary}"
    origin = f"https://{HOST}"
    sent = box.send("POST", "/evalui/upload", body, Content_Type=kind, Origin=origin)
    assert sent.status == 200, sent.body
    assert json.loads(sent.body)["upload"]
    foreign = box.send(
        "POST", "/evalui/upload", body, Content_Type=kind, Origin="https://evil.example"
    )
    assert foreign.status == 403

    config = json.loads(box.send("GET", "/evalui/en/config").body)
    assert urlsplit(config["root"]).path == "/evalui/en"
    page = json.loads(box.send("GET", "/evalui/en/config?page=results").body)
    answer = box.send(
        "POST",
        f"/evalui/en/gradio_api/run/predict?run={box.run_id}&sub=samples",
        json.dumps(drawn_event(page)).encode(),
        Content_Type="application/json",
        Origin=origin,
    )
    assert answer.status == 200, answer.body
    assert b"sums" in answer.body


def test_a_streamed_export_comes_whole(box: Box):
    through = box.send("GET", f"/evalui/export/{box.run_id}.trials.jsonl")
    assert through.status == 200
    assert through.headers["content-length"] is None
    assert through.body.count(b"\n") == 4 * 1300
    assert through.body == box.direct(f"/export/{box.run_id}.trials.jsonl").body


def test_what_is_sent_bit_by_bit_is_not_held_back(box: Box):
    # A stream that never ends: a proxy that collects answers would send nothing of it.
    connection = box.connect()
    path = f"/evalui/api/v1/runs/{box.queued_id}/events"
    headers = {"Host": HOST, "Authorization": f"Bearer {box.token}"}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.read1(20)
    connection.sock.close()  # what is left of it never comes


def test_the_log_names_no_address_of_a_run(box: Box):
    assert box.send("GET", f"/evalui/export/{box.run_id}.pdf").status == 404
    lines = (box.folder / "log").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines if line.startswith("{")]
    assert ("/export/{file}", 404) in {(line.get("route"), line.get("status")) for line in read}
    own = [line for line in lines if line.startswith("{")]
    assert [line for line in own if box.run_id in line or box.token in line] == []
