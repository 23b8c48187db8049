"""`evalui demo`: one command to a finished gallery, whose pages open and which takes nothing."""

import json
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from drawn_event import drawn_event

BOUNDARY = "files-of-a-form"
UPLOAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="quiz.csv"\r\n'
    f"\r\nquestion,A,B,answer\r\nWhy?,x,y,A\r\n--{BOUNDARY}--\r\n"
).encode()


@contextmanager
def demonstrated(*options: str) -> Generator[str]:
    """The address that the command prints, while it runs."""
    command = [sys.executable, "-m", "evalui.cli", "demo", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def drawn(browser: urllib.request.OpenerDirector, plain: str, address: str) -> str:
    """What the page of an address draws with an event, as JSON."""
    parameters = dict(urllib.parse.parse_qsl(address))
    place = parameters.pop("tab", "results")
    query = urllib.parse.urlencode(parameters)
    with browser.open(f"{plain}config?page={place}", timeout=100) as answer:
        sent = drawn_event(json.loads(answer.read()))
    request = urllib.request.Request(
        f"{plain}gradio_api/run/predict?{query}",
        json.dumps(sent).encode(),
        {"Content-Type": "application/json"},
    )
    with browser.open(request, timeout=60) as answer:
        return json.dumps(json.loads(answer.read()), ensure_ascii=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    return tmp_path / "demo"


def test_the_command_opens_a_gallery_whose_pages_are_finished_and_cannot_be_changed(folder: Path):
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with demonstrated() as address:
        with browser.open(address, timeout=100) as answer:
            assert answer.status == 200
        plain = f"{address.partition('?')[0]}en/"
        shown = json.loads((folder / "gallery.json").read_text(encoding="utf-8"))
        for name in ("orders", "judged", "people", "compared"):
            with browser.open(f"{plain}?{shown[name]}", timeout=60) as answer:
                assert answer.status == 200
        assert "steady beats all others" in drawn(browser, plain, shown["compared"])
        assert "a real difference" in drawn(browser, plain, shown["orders"])
        assert "judge" in drawn(browser, plain, shown["judged"])
        assert "You preferred " in drawn(browser, plain, shown["people"])
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        request = urllib.request.Request(
            f"{address.partition('?')[0]}upload?lang=en", UPLOAD, headers
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            browser.open(request, timeout=60)
        with refused.value as error:
            assert "This server is read-only" in json.loads(error.read())["error"]
    built = (folder / "gallery.json").read_text(encoding="utf-8")
    with demonstrated() as again:
        assert again
        assert (folder / "gallery.json").read_text(encoding="utf-8") == built
    with demonstrated("--reset") as anew:
        assert anew
        assert (folder / "gallery.json").read_text(encoding="utf-8") != built
