"""Foreign pages may not write, and our pages carry their head and headers."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from evalui.web.middleware import SameOriginMiddleware


async def page(_: Request) -> HTMLResponse:
    return HTMLResponse('<html lang="en"><head></head><body lang="en"></body></html>')


async def write(_: Request) -> PlainTextResponse:
    return PlainTextResponse("written")


async def shared(_: Request) -> PlainTextResponse:
    """As Gradio answers pages of other ports of this machine."""
    allowed = {
        "Access-Control-Allow-Origin": "http://localhost:3000",
        "Access-Control-Allow-Credentials": "true",
    }
    return PlainTextResponse("shared", headers=allowed)


@pytest.fixture
def client() -> TestClient:
    app = Starlette(
        routes=[
            Route("/other", page),
            Route("/shared", shared),
            Route("/write", write, methods=["POST"]),
        ]
    )
    app.add_middleware(SameOriginMiddleware, hosts=["EvalUI.test"])
    return TestClient(app, base_url="http://evalui.test")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evalui.test", 200),
        ("http://evil.test", 403),
        ("null", 403),
        (None, 200),
        ("http://[::1", 403),
        ("http://[", 403),
    ],
)
def test_only_our_own_pages_may_write(client: TestClient, origin: str | None, status: int):
    headers = {"origin": origin} if origin else {}
    assert client.post("/write", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("site", "status"),
    [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)],
)
def test_what_a_browser_sends_for_another_site_is_refused_without_an_origin(
    client: TestClient, site: str, status: int
):
    headers = {"sec-fetch-site": site}
    assert client.post("/write", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evalui.test:7860", 200),
        ("localhost:7860", 200),
        ("127.0.0.1:7860", 200),
        ("[::1]:7860", 200),
        ("192.168.0.7", 200),
        ("evil.test:7860", 421),
        ("127.0.0.1.evil.test", 421),
        ("", 421),
        ("[::1", 421),
        ("]", 421),
        ("[x]:1", 421),
        ("127.0.0.1:x", 200),
    ],
)
def test_only_known_names_are_answered(client: TestClient, host: str, status: int):
    """A foreign name that is made to point here could otherwise read everything."""
    assert client.get("/other", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/other", {"host": "evil.test"}, 421),
        ("POST", "/write", {"origin": "http://evil.test"}, 403),
        ("GET", "/none", {}, 404),
        ("GET", "/write", {}, 405),
        ("GET", "/broken", {}, 500),
    ],
)
def test_errors_carry_the_security_headers(
    method: str, path: str, headers: dict[str, str], status: int
):
    async def broken(_: Request) -> HTMLResponse:
        raise ZeroDivisionError

    routes = [
        Route("/other", page),
        Route("/write", write, methods=["POST"]),
        Route("/broken", broken),
    ]
    app = SameOriginMiddleware(Starlette(routes=routes), ["evalui.test"])
    client = TestClient(app, base_url="http://evalui.test", raise_server_exceptions=False)
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers["content-security-policy"].startswith("default-src")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "Traceback" not in answer.text


def test_every_answer_forbids_other_hosts(client: TestClient):
    policy = client.get("/other").headers["content-security-policy"]
    assert "img-src 'self' data: blob:;" in policy
    assert "connect-src 'self'" in policy
    assert "http" not in policy


def test_no_other_origin_may_read_an_answer(client: TestClient):
    answer = client.get("/shared", headers={"origin": "http://localhost:3000"})
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control-")]
