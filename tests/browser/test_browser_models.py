"""The Models page on a server of its own, with the demo models and nobody else's runs."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser_examples import upload_sample
from browser_servers import ROOT, admitted, started
from open_browser_examples import overflow
from playwright.sync_api import expect

LATE = ROOT / "assets" / "models" / "demo-late"
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """One whose visitors may add models and one whose may not, started at the same time."""
    open_, closed = tmp_path_factory.mktemp("open"), tmp_path_factory.mktemp("closed")
    none = {"EVALUI_EDIT_MODELS": "false", "EVALUI_WORKERS": "0"}
    with started(open_) as first, started(closed, **none) as second:
        first.wait_for_buttons()
        second.wait_for_buttons()
        yield first.address, second.address


@pytest.fixture(scope="module")
def server(servers: tuple[str, str]) -> str:
    """In place of the other tests' server, which has not the demo models."""
    return servers[0]


def model(page: Any, name: str) -> Any:
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.locator(".models-list > li").filter(has=heading)


def test_a_model_is_added_and_removed(page: Any):
    page.goto("/en/models")
    page.get_by_role("link", name="Add a model").click()
    page.get_by_label("Folder", exact=True).check()
    page.locator("#add-name input").fill("mine")
    page.get_by_label("Folder of the model").fill("/no/such/folder")
    page.get_by_role("button", name="Add model").click()
    expect(page.locator(".add-model [role=alert]")).to_contain_text("There is no folder")
    page.get_by_label("Folder of the model").fill(str(LATE))
    page.get_by_role("button", name="Add model").click()
    expect(model(page, "mine")).to_contain_text("added here")
    model(page, "mine").get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove from the catalog").click()
    expect(model(page, "mine")).to_have_count(0)


def test_what_is_typed_while_the_fields_change_stays(page: Any):
    held: list[Any] = []
    page.goto("/en/models?add=endpoint")
    expect(page.get_by_role("heading", name="Add a model")).to_be_visible()
    page.route("**/gradio_api/run/**", lambda route: held.append(route), times=1)
    with page.expect_request("**/gradio_api/run/**"):
        page.get_by_label("Folder", exact=True).check()
    page.locator("#add-name input").fill("mine")
    held[0].continue_()
    expect(page.get_by_label("Folder of the model")).to_be_visible()
    expect(page.locator("#add-name input")).to_have_value("mine")


def test_a_demo_model_is_tested(page: Any):
    page.goto("/en/models")
    late = model(page, "demo-late")
    expect(late).to_contain_text("Ready to load")
    late.locator("summary").click()
    expect(late).to_contain_text("about 12.5 MB, fits")
    late.get_by_role("button", name="Test this model").click()
    expect(late).to_contain_text(re.compile("Test is queued|Loading|Being tested|Loaded now"))
    # The first model of a worker brings torch with it.
    expect(late.locator(".tried")).to_contain_text("Paris", timeout=60_000)
    expect(late.locator(".tried")).to_contain_text("requests per s")
    expect(late).to_contain_text("Ready to load")
    expect(model(page, "always-A")).to_contain_text("No texts: it gives no probability of a text.")


def test_models_chosen_by_an_address_stay_chosen(page: Any):
    page.goto("/en/?tab=evaluate&models=demo-early&models=noisy")
    expect(page.locator(".preselected")).to_contain_text("Chosen: demo-early, noisy.")
    upload_sample(page)
    expect(page.get_by_label("noisy", exact=True)).to_be_checked()
    expect(page.get_by_label("demo-early", exact=True)).to_be_checked()
    expect(page.get_by_label("demo-late", exact=True)).not_to_be_checked()
    expect(page.get_by_role("button", name="Start evaluation")).to_be_enabled()
    page.get_by_role("link", name="Models", exact=True).click()
    expect(page.locator("h1")).to_have_text("Models")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_scrolls_down_only(page: Any):
    page.goto("/zh/models?__theme=dark")
    expect(page.locator("h1")).to_have_text("模型")
    expect(page.get_by_role("link", name="模型", exact=True)).to_be_in_viewport()  # its tab
    early = model(page, "demo-early")
    expect(early).to_contain_text("可以载入")
    early.locator("summary").click()
    expect(early.get_by_role("button", name="测试这个模型")).to_be_visible()
    assert overflow(page) == 0
    page.get_by_role("link", name="添加模型").click()
    expect(page.locator("#add-key input")).to_be_visible()
    assert overflow(page) == 0


def test_who_may_not_add_models_has_no_form(chromium: Any, servers: tuple[str, str]):
    context = admitted(chromium, servers[1])
    tab = context.new_page()
    tab.goto("/en/models?add=endpoint")
    expect(tab.locator("main [role=alert]")).to_contain_text("by the administrator")
    expect(tab.get_by_role("button", name="Add model")).to_have_count(0)
    tab.get_by_role("link", name="Models", exact=True).click()
    expect(tab.locator(".models-page")).to_be_visible()
    expect(tab.get_by_role("link", name="Add a model")).to_have_count(0)
    expect(tab.locator(".models-page")).to_contain_text("No worker is running")
    context.close()


KEY = "sk-browser-secret"


class Fickle(BaseHTTPRequestHandler):
    """An endpoint of one small model, which answers while `up` to whoever has the key."""

    up = False

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "m", "object": "model"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "A"}
        self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _send(self, answer: object) -> None:
        given = self.headers["authorization"]
        status = 503 if not self.up else 200 if given == f"Bearer {KEY}" else 401
        # As servers do that say which key they were given.
        body = json.dumps(answer if status == 200 else {"error": {"message": given}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def fickle(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an endpoint that is down until a test sets `Fickle.up`."""
    monkeypatch.setattr(Fickle, "up", False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Fickle) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/v1"
        served.shutdown()


def test_an_endpoint_is_added_with_a_key_changed_and_asked_again(page: Any, fickle: str):
    page.goto("/en/models")
    page.get_by_role("link", name="Add a model").click()
    form = page.locator(".add-model")
    form.get_by_label("Base URL").fill(fickle)
    form.locator("#add-key input").fill("sk-wrong")
    page.locator("#add-path input").fill("m")
    page.locator("#add-name input").fill("moody")
    form.locator(".fold > button").click()
    form.get_by_label("Price of tokens written").fill("0,6")
    form.get_by_role("button", name="Add model").click()
    expect(form.locator(".fault")).to_contain_text("Expected an amount of US dollars, as in 0.15.")
    form.get_by_label("Price of tokens written").fill("0.6")
    form.get_by_role("button", name="Add model").click()
    moody = model(page, "moody")
    expect(moody).to_contain_text("0.60 written")
    expect(moody).to_contain_text("Out of reach", timeout=60_000)
    Fickle.up = True
    moody.get_by_role("button", name="Ask again").click()
    expect(moody).to_contain_text("Cannot be used", timeout=60_000)
    assert "sk-wrong" not in page.content()
    moody.get_by_role("link", name="Edit").click()
    expect(page).to_have_url(re.compile(r"/models[?]edit=moody$"))
    expect(form.locator("#add-key input")).to_have_value("")
    form.locator("#add-key input").fill(KEY)
    form.get_by_role("button", name="Save").click()
    expect(moody).to_contain_text("Answers", timeout=60_000)
    moody.get_by_role("button", name="Ask again").click()
    expect(moody.get_by_text("Last asked")).to_be_visible()  # it is as unfolded as before
    page.go_back()
    expect(form.get_by_label("Base URL")).to_have_value(fickle)
    expect(form.locator("#add-key input")).to_have_value("")
    page.get_by_role("link", name="Cancel").click()
    assert KEY not in page.content()
    moody.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove from the catalog").click()
    expect(moody).to_have_count(0)


def test_the_way_back_to_an_evaluation_keeps_its_file(page: Any):
    page.goto("/en/")
    upload_sample(page)
    page.wait_for_url("**uploads=**")
    page.get_by_role("link", name="Models", exact=True).click()
    expect(page.locator("h1")).to_have_text("Models")
    page.get_by_role("link", name="Evaluate", exact=True).click()
    page.wait_for_url("**uploads=**")
    expect(page.get_by_role("button", name="Start evaluation")).to_be_visible()


def test_no_text_of_a_model_is_a_template(chromium: Any, tmp_path: Path):
    texts = (
        "${document.title = 'run'}",
        "{{value}}",
        r"\\underline{x}",
        "`<img src=x onerror=alert(1)>",
    )
    models = "\n".join(
        f'[m{n}]\nbackend = "scripted"\nnotes = {json.dumps(text)}\n'
        for n, text in enumerate(texts)
    )
    with started(tmp_path, models=models, EVALUI_WORKERS="0") as server:
        server.wait_for_buttons()
        context = admitted(chromium, server.address)
        tab = context.new_page()
        tab.goto("/en/models")
        for text in texts:
            expect(tab.locator(".models-page")).to_contain_text(text)
        assert tab.title() == "Models · evalui"
        context.close()
