"""Models are added, listed and removed from the command line; a key comes by standard input."""

import io
from pathlib import Path

import pytest

from evalui.cli.main import main
from evalui.models.endpoint.config import read_endpoint
from evalui.models.user_catalog import additions_path, read_added

URL = "http://127.0.0.1:8000/v1"


@pytest.fixture
def additions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models.toml").write_text('[mine]\nbackend = "scripted"\n')
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    return additions_path(tmp_path / "data" / "evalui.sqlite")


def test_a_model_is_added_with_a_key_listed_and_removed(
    additions: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-stdin\n"))
    assert main(["models", "add", "far", "--url", URL, "--model", "gpt", "--key-stdin"]) == 0
    endpoint = read_endpoint(read_added(additions)["far"])
    assert (endpoint.model, endpoint.key) == ("gpt", "sk-stdin")
    capsys.readouterr()
    assert main(["models", "list"]) == 0
    told = capsys.readouterr().out
    assert told == f"mine\tmodels.toml\tscripted\nfar\tadded\topenai\tgpt\t{URL}\tkey\n"
    assert main(["models", "remove", "far"]) == 0
    assert read_added(additions) == {}


def test_a_model_is_called_as_its_server_calls_it(additions: Path):
    assert main(["models", "add", "gpt", "--url", URL, "--no-chat"]) == 0
    entry = read_added(additions)["gpt"]
    assert (entry.path, entry.chat, entry.options) == ("gpt", False, {"base_url": URL})


def test_a_server_may_be_asked_for_decisions_whatever_else_it_can_do(
    additions: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["models", "add", "m", "--url", URL, "--backend", "decision"]) == 0
    entry = read_added(additions)["m"]
    assert (entry.backend, entry.options) == ("decision", {"base_url": URL})
    assert main(["models", "add", "n", "--path", "a/b", "--backend", "decision"]) == 2
    assert "--backend decision cannot be used with --path" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["add", "a b", "--url", URL], "name may have"),
        (["add", "far", "--url", "ftp://x"], "not the address"),
        (["remove", "mine"], "was not added"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    additions: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert main(["models", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not additions.exists()


def test_what_is_added_to_requests_is_given_by_arguments(additions: Path):
    extras = ["--extra-body", '{"provider": {"order": ["a"]}}', "--header", "X-Project=p=q"]
    extras += ["--query", "api-version=2024-10-21", "--key-header", "api-key"]
    extras += ["--timeout", "300"]
    assert main(["models", "add", "far", "--url", URL, *extras]) == 0
    endpoint = read_endpoint(read_added(additions)["far"])
    assert (endpoint.timeout_s, endpoint.total_timeout_s) == (300, 1500)
    read = endpoint.extras
    assert read.body == {"provider": {"order": ["a"]}}
    assert (read.headers, read.query) == ({"X-Project": "p=q"}, {"api-version": "2024-10-21"})
    assert read.key_header == "api-key"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--extra-body", "{enable_thinking: false}"], "not a JSON object"),
        (["--extra-body", '{"a": null}'], "not a JSON object"),
        (["--extra-body", '{"model": "b"}'], "must not have model"),
        (["--header", "Authorization=Bearer sk-1"], "name of a secret"),
        (["--header", "X-A=$PATH"], "must end in _API_KEY"),
        (["--query", "version"], "NAME=VALUE"),
    ],
)
def test_what_may_not_be_added_to_requests_is_told(
    additions: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert main(["models", "add", "far", "--url", URL, *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "sk-1" not in error
    assert not additions.exists()


def test_a_model_of_a_folder_is_added_with_its_adapter(
    additions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    base = Path("models/demo-late").absolute()
    monkeypatch.setattr("evalui.models.user_catalog.problem_of", lambda _: "")
    adapter = tmp_path / "lora"
    adapter.mkdir()
    add = ["models", "add", "tuned", "--path", str(base), "--adapter", str(adapter)]
    assert main([*add, "--backend", "vllm", "--dtype", "bfloat16", "--chat"]) == 0
    entry = read_added(additions)["tuned"]
    assert (entry.path, entry.adapter) == (str(base.resolve()), str(adapter.resolve()))
    assert (entry.backend, entry.dtype, entry.chat) == ("vllm", "bfloat16", True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--url", URL, "--adapter", "x"], "--adapter cannot be used with --url."),
        (["--path", "x/y", "--key-stdin"], "--key-stdin cannot be used with --path."),
        (["--path", "./nowhere"], "nowhere"),
    ],
)
def test_options_of_the_other_place_are_named(
    additions: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert main(["models", "add", "far", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not additions.exists()
