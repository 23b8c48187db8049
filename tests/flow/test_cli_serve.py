"""`evalui serve`: the address comes first, and only with its token the pages."""

import os
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from evalui.cli.main import main
from evalui.web.address import listen

# The application is replaced by nothing, so that what is imported is what the address waits for.
BEFORE = """
import sys, types
serve = lambda settings, listener, ready: ready()
sys.modules["evalui.server"] = types.SimpleNamespace(serve=serve)
from evalui.cli.main import main
assert main(["serve", "--port", "0"]) == 0
heavy = "gradio torch transformers fastapi starlette uvicorn pandas numpy openai sqlite3"
print(sorted(set(heavy.split()) & set(sys.modules)))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVALUI_WORKERS", "0")
    return tmp_path / "data"


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port, and the first line it prints."""
    command = [sys.executable, "-m", "evalui.cli", "serve", "--port", "0", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_address_is_printed_before_anything_slow_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", BEFORE], capture_output=True, text=True, check=True, env=os.environ
    )
    address, imported = done.stdout.splitlines()
    assert address.startswith("http://127.0.0.1:")
    assert "/?token=" in address
    assert imported == "[]"


def test_the_printed_address_opens_the_pages_also_after_a_restart(folder: Path):
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with serving() as (address, process):
        plain = address.partition("?")[0]
        # It came before the application: the request waits for it instead of being refused.
        with urllib.request.urlopen(f"{plain}healthz", timeout=100) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{plain}en/")
        with refused.value as error:
            assert error.status == 401
            assert "evalui serve" in error.read().decode()
        with browser.open(address) as page:
            assert page.status == 200
            assert page.url == f"{plain}en/evaluate"
        process.terminate()
        said = "".join(process.communicate(timeout=60))
        assert address.partition("token=")[2] not in said
    token = folder / "access-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    with serving() as (again, _):
        assert again.partition("?")[2] == address.partition("?")[2]
        (cookie,) = jar
        plain = again.partition("?")[0]
        request = urllib.request.Request(f"{plain}zh/")
        request.add_header("Cookie", f"{cookie.name}={cookie.value}")
        with urllib.request.urlopen(request, timeout=100) as page:
            assert page.status == 200


def test_without_a_token_on_request_everybody_is_answered():
    with serving("--no-token") as (address, _):
        assert "token" not in address
        with urllib.request.urlopen(f"{address}en/", timeout=100) as page:
            assert page.status == 200


def test_a_new_token_is_made_on_request():
    said: list[str] = []
    for option in ((), (), ("--new-token",)):
        with serving(*option) as (address, _):
            said.append(address.partition("token=")[2])
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_needs_people_who_sign_in(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for options in ((), ("--no-token",)):
        assert main(["serve", "--host", host, "--port", "0", *options]) == 2
        shown = capsys.readouterr()
        assert "can be reached from other machines" in shown.err
        assert shown.err.count("\n") == 1
        assert shown.out == ""
    monkeypatch.setenv("EVALUI_AUTH", "proxy")
    assert main(["serve", "--host", host, "--port", "0"]) == 2
    assert "EVALUI_PROXY_ADDRESSES" in capsys.readouterr().err
    monkeypatch.setenv("EVALUI_AUTH", "password")
    assert main(["serve", "--host", host, "--port", "0", "--no-token"]) == 2
    assert "EVALUI_AUTH=token" in capsys.readouterr().err


def test_a_taken_port_ends_with_code_2_and_one_line(capsys: pytest.CaptureFixture[str]):
    with listen("127.0.0.1", 0) as other:
        assert main(["serve", "--port", str(other.getsockname()[1])]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("evalui: Cannot listen on port ")
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_folder_that_cannot_be_written_ends_with_code_2_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "file" / "data"))
    assert main(["serve", "--port", "0"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("evalui: The data folder cannot be made: ")
    assert said.err.count("\n") == 1


def test_it_says_when_pages_answer_and_at_which_public_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVALUI_PUBLIC_URL", "https://box.example.org/evalui")
    done = subprocess.run(
        [sys.executable, "-c", BEFORE], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stderr == "evalui: ready after 1 s at https://box.example.org/evalui\n"
