"""Nothing is answered without the token, and the token stays in no address."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from starlette.websockets import WebSocketDisconnect

from evalui.ui.web.doors.token import TokenMiddleware
from evalui.web.address import cookie_of
from evalui.web.middleware import SameOriginMiddleware

TOKEN = "sesame-sesame-sesame-sesame-sesame-sesame"


async def said(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{request.method} {request.url.path} {request.url.query}")


def application() -> ASGIApp:
    routes = [
        Route("/healthz", said),
        Route("/r/{run_id}", said),
        Route("/write", said, methods=["POST"]),
        Mount("/en", routes=[Route("/{path:path}", said)]),
        Route("/", said),
    ]
    return SameOriginMiddleware(TokenMiddleware(Starlette(routes=routes), TOKEN), ["evalui.test"])


def browser(base: str = "http://evalui.test", **options: str) -> TestClient:
    return TestClient(application(), base_url=base, follow_redirects=False, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "path",
    ["/", "/en/", "/r/abc", "/en/gradio_api/info", "/static/js/wire.js", "/none", "/healthz/x"],
)
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%ED%A0%80", "?Token=x"])
def test_without_the_token_no_path_answers(path: str, query: str):
    answer = browser().get(path + query)
    assert answer.status_code == 401
    assert "evalui serve" in answer.text
    assert "访问令牌" in answer.text
    assert "location" not in answer.headers
    assert "set-cookie" not in answer.headers
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_without_the_token_an_event_is_refused_in_json():
    answer = browser().post("/write", json={"data": []})
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]


def test_health_is_public():
    assert browser().get("/healthz").status_code == 200


def test_the_token_is_exchanged_for_a_cookie_by_a_redirect():
    client = browser()
    answer = client.get(f"/en/?run=a%2Bb&token={TOKEN}&tab=results&x=")
    assert answer.status_code == 303
    assert answer.headers["location"] == "./?run=a%2Bb&tab=results&x="
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    for part in ("HttpOnly", "SameSite=lax", "Path=/;", "Max-Age="):
        assert part in cookie
    assert "Secure" not in cookie
    assert client.get("/en/?run=a%2Bb").text == "GET /en/ run=a%2Bb"


@pytest.mark.parametrize(
    ("path", "location"), [("/", "./"), ("/r/abc", "./abc"), ("/en/a%3Ab", "./a%3Ab")]
)
def test_the_redirect_leads_to_the_same_place(path: str, location: str):
    client = browser()
    answer = client.get(f"{path}?token={TOKEN}")
    assert answer.headers["location"] == location
    assert client.get(path).status_code == 200


def test_the_redirect_never_leads_to_another_site():
    answer = browser().get(f"//evil.test/%2F%2Fevil.test?token={TOKEN}")
    assert answer.headers["location"].startswith("./")


def test_an_old_token_is_taken_out_of_an_address_with_the_cookie():
    client = browser()
    client.get(f"/?token={TOKEN}")
    assert client.get("/en/?token=old&run=x").headers["location"] == "./?run=x"


def test_the_cookie_opens_everything():
    client = browser()
    client.get(f"/?token={TOKEN}")
    assert client.get("/r/abc").status_code == 200
    assert client.post("/write").status_code == 200
    assert client.get("/none").status_code == 404


@pytest.mark.parametrize("value", ["", TOKEN, "0" * 64, '"'])
def test_another_value_of_the_cookie_opens_nothing(value: str):
    name, _ = cookie_of(TOKEN)
    client = browser()
    assert client.get("/", headers={"cookie": f"{name}={value}"}).status_code == 401


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("Bearer wrong", 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
def test_a_script_sends_the_token_in_a_header(header: str, status: int):
    assert browser().post("/write", headers={"authorization": header}).status_code == status


def test_a_token_in_the_address_of_a_post_counts_for_nothing():
    assert browser().post(f"/write?token={TOKEN}").status_code == 401


def test_over_https_the_cookie_is_sent_over_https_alone():
    answer = browser("https://evalui.test").get(f"/?token={TOKEN}")
    assert "Secure" in answer.headers["set-cookie"]


def test_below_another_path_the_cookie_stays_there():
    client = browser("http://evalui.test", root_path="/tools/evalui")
    answer = client.get(f"/tools/evalui/en/?token={TOKEN}")
    assert answer.headers["location"] == "./"
    assert "Path=/tools/evalui;" in answer.headers["set-cookie"]
    assert client.get("/tools/evalui/en/").status_code == 200
    assert browser("http://evalui.test", root_path="/x").get("/x/healthz").status_code == 200


def test_a_websocket_is_closed():
    with pytest.raises(WebSocketDisconnect) as caught, browser().websocket_connect("/en/"):
        pass
    assert caught.value.code == 1008


def test_over_https_only_the_cookie_of_this_host_counts():
    name, value = cookie_of(TOKEN)
    client = browser()
    client.base_url = client.base_url.copy_with(scheme="https")
    answer = client.get(f"/en/?token={TOKEN}")
    assert answer.headers["set-cookie"].startswith(f"__Host-{name}=")
    assert client.get("/r/abc").status_code == 200
    client.cookies.clear()
    assert client.get("/r/abc", headers={"cookie": f"{name}={value}"}).status_code == 401
