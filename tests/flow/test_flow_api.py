"""From files to a report through a real server: by the client and by `evalui run --server`."""

import json
import os
import re
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server_examples import ApiServer, api_server

from evalui.api.schemas import RunProgress
from evalui.cli.main import main
from evalui.client import Client
from evalui.errors import EvaluiError, SpecError, Unreachable
from evalui.models import read_catalog
from evalui.report.frames.run import KINDS
from evalui.shipped_files import ASSETS

ROOT = Path(__file__).parents[2]
SAMPLE = ASSETS / "samples" / "demo"
OPEN = ROOT / "examples" / "open.json"
MODELS = """
[biased]
backend = "scripted"
options = { rule = "position-biased", delay = 0.002 }

[demo-late]
backend = "scripted"
options = { rule = "position-biased" }

[perfect]
backend = "scripted"
options = { rule = "perfect" }

[wordy]
backend = "scripted"
options = { rule = "verbose" }

[reference-judge]
backend = "scripted"
options = { rule = "reference-judge", role = "judge" }

[gone]
backend = "transformers"
path = "./nowhere"
"""
SPEC: dict[str, Any] = {
    "version": 2,
    "name": "Sample",
    "datasets": [{"path": str(SAMPLE), "name": "sample"}],
    "models": ["biased", "perfect"],
    "modes": [{"mode": "multiple_choice", "pattern": "circular"}, {"mode": "cloze"}],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "models.toml"
    path.write_text(MODELS)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[ApiServer]:
    with api_server(tmp_path_factory.mktemp("data"), models=str(models)) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    """The report of the run, done in this process."""
    return run_here(SPEC, tmp_path_factory.mktemp("here"), models)


@pytest.fixture(scope="module")
def client(server: ApiServer) -> Client:
    return Client(server.url, server.token)


def cells_of(folder: Path) -> Any:
    """The figures of a report; nothing in them depends on where or when the run was done."""
    return json.loads((folder / "report.json").read_text())["overview"]


def run_here(spec: dict[str, Any], folder: Path, models: Path) -> Path:
    """The report of the same run, done in this process."""
    (folder / "here.json").write_text(json.dumps(spec))
    out = folder / "here"
    arguments = ["run", str(folder / "here.json"), "--out", str(out), "--models-file", str(models)]
    assert main(arguments) == 0
    return out


def test_a_client_uploads_starts_follows_and_takes_the_report(
    client: Client, tmp_path: Path, here: Path
) -> None:
    uploaded = client.upload([SAMPLE])
    (part,) = uploaded.parts
    assert (uploaded.files, part.kind, uploaded.problem) == (["demo.zip"], "multiple_choice", "")
    spec = {**SPEC, "datasets": [{"upload": uploaded.id, "name": "sample"}]}
    run = client.start(spec, key="once")
    assert client.start(spec, key="once").id == run.id
    seen: list[RunProgress] = []
    ended = client.wait(run, seen.append)
    assert (ended.state, ended.done) == ("done", run.total)
    assert [each.revision for each in seen] == sorted({each.revision for each in seen})
    assert seen[-1].state == "done"
    trials = list(client.trials(run))
    assert len(trials) == run.total
    client.report(run, tmp_path / "there")
    assert cells_of(tmp_path / "there") == cells_of(here)
    lines = (tmp_path / "there" / "trials.jsonl").read_text().splitlines()
    by_text = sorted(json.dumps(trial, sort_keys=True) for trial in trials)
    assert by_text == sorted(json.dumps(json.loads(line), sort_keys=True) for line in lines)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "there").iterdir()}
    assert modes == {0o600}


def test_four_replies_to_each_question_by_the_interface(
    client: Client, tmp_path: Path, models: Path
) -> None:
    drawn = {"mode": "generation", "temperature": 0.7, "repeats": 4}
    spec = {**SPEC, "models": ["biased"], "modes": [drawn]}
    uploaded = client.upload([SAMPLE])
    run = client.start({**spec, "datasets": [{"upload": uploaded.id, "name": "sample"}]})
    ended = client.wait(run, lambda _: None)
    assert (ended.state, ended.done) == ("done", run.total)
    trials = list(client.trials(run))
    assert len(trials) == run.total
    assert [trial["repeat"] for trial in trials] == [1, 2, 3, 4] * (run.total // 4)
    client.report(run, tmp_path / "there")
    (there,) = cells_of(tmp_path / "there")
    assert there == cells_of(run_here(spec, tmp_path, models))[0]
    assert there["pass_at_4"] > there["acc_origin"]


def test_models_have_their_states(client: Client) -> None:
    problems = {model.name: bool(model.problem) for model in client.models()}
    usable = ("biased", "demo-late", "perfect", "wordy", "reference-judge")
    assert problems == dict.fromkeys(usable, False) | {"gone": True}


def test_the_same_files_and_figures_come_from_the_server_as_from_here(
    server: ApiServer, tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", str(here.parent / "here.json"), "--out", str(tmp_path / "there")]
    arguments += ["--server", server.url, "--token-file", str(server.token_file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().err
    assert f"evalui: the run is at {server.url}/r/" in printed
    assert f"evalui: the report is in {tmp_path / 'there'}" in printed
    assert server.token not in printed
    assert cells_of(tmp_path / "there") == cells_of(here)
    run_id = printed.partition("/r/")[2].split()[0]
    assert main(["wait", run_id, *arguments[-4:]]) == 0
    assert re.fullmatch(r"done: .+, ([\d,]+) of \1 trials\n", capsys.readouterr().out)
    names = {path.name for path in here.iterdir() if path.name != "evalui.sqlite"}
    assert names <= {path.name for path in (tmp_path / "there").iterdir()}
    assert {n for n in names if n.startswith("evalui.sqlite")} == set()


def test_a_run_of_answers_and_judges_has_the_same_figures(
    server: ApiServer, tmp_path: Path, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = json.loads(OPEN.read_text())
    assert set(example["models"]) <= set(read_catalog(ASSETS / "models.toml"))
    answers = tmp_path / "mine.jsonl"
    questions = (OPEN.parent / example["datasets"][0]).resolve()
    first = json.loads(questions.read_text().splitlines()[0])
    answers.write_text(json.dumps({"index": first.get("index", 1), "answer": "Perhaps."}) + "\n")
    spec = example | {
        "datasets": [str(questions)],
        "models": ["wordy"],
        "answers": [{"model": "mine", "path": str(answers), "dataset": str(questions)}],
    }
    here = run_here(spec, tmp_path, models)
    arguments = ["run", str(tmp_path / "here.json"), "--out", str(tmp_path / "there")]
    arguments += ["--server", server.url, "--token-file", str(server.token_file)]
    assert main(arguments) == 0, capsys.readouterr().err
    there = json.loads((tmp_path / "there" / "report.json").read_text())
    local = json.loads((here / "report.json").read_text())
    assert {"answers", "pairs", "standings"} < set(local)
    for part in {*KINDS} - {"expenses", "reply_counts"}:  # each has its own prices and replies
        assert there.get(part) == local.get(part), part


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        ({"models": ["none"]}, 2, "Unknown model 'none'."),
        ({"datasets": ["missing.csv"]}, 2, "missing.csv"),
        ({"models": ["perfect", "gone"]}, 1, "left out: gone"),
    ],
)
def test_what_is_wrong_ends_with_the_code_of_a_run_here(
    server: ApiServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    code: int,
    line: str,
) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC | change))
    arguments = ["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out")]
    arguments += ["--server", server.url, "--token-file", str(server.token_file)]
    assert main(arguments) == code
    printed = capsys.readouterr().err
    assert line in printed
    assert "Traceback" not in printed
    if place := re.search(r"/r/([\w-]+)", printed):
        waiting = ["wait", place[1], *arguments[-4:]]
        assert main(waiting) == code


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--server", "http://10.1.2.3:7860"], "would get the token unencrypted"),
        (["--server", "http://127.0.0.1:1/?token=abc"], "not the address of a server"),
        (["--server", "ftp://x"], "not the address of a server"),
        (["--server", "{url}", "--engine", "ray"], "--engine cannot be used with --server"),
    ],
)
def test_a_token_goes_nowhere_unencrypted(
    server: ApiServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    sentence: str,
) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    arguments = ["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out")]
    given = [option.format(url=server.url) for option in options]
    assert main([*arguments, *given, "--token-file", str(server.token_file)]) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert "abc" not in printed
    assert server.token not in printed


def test_a_wrong_token_and_a_server_that_is_not_there_are_sentences(server: ApiServer) -> None:
    with pytest.raises(EvaluiError, match="token") as refused:
        Client(server.url, "wrong").models()
    assert refused.value.sentence.key == "access.about"
    with pytest.raises(Unreachable, match="cannot be reached"):
        Client("http://127.0.0.1:1").models()
    with pytest.raises(SpecError):
        Client("http://box.example.org", "t")
    Client("http://box.example.org", "t", insecure=True)
    Client("https://box.example.org", "t")


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", 403), ("", 404)])
def test_pages_of_other_sites_write_nothing(server: ApiServer, origin: str, status: int) -> None:
    request = urllib.request.Request(f"{server.url}/api/v1/runs/x/stop", method="POST")
    request.add_header("Authorization", f"Bearer {server.token}")
    if origin:
        request.add_header("Origin", origin)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value as answer:
        assert answer.status == status


def test_the_pages_of_the_interface_need_the_token(server: ApiServer) -> None:
    for path in ("docs", "openapi.json", "runs"):
        request = urllib.request.Request(f"{server.url}/api/v1/{path}")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        with refused.value as answer:
            assert answer.status == 401
            assert answer.headers["Content-Type"] == "application/problem+json"
        request.add_header("Authorization", f"Bearer {server.token}")
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200


def test_the_examples_of_the_documentation_run(server: ApiServer, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    (tmp_path / "questions.csv").write_text((SAMPLE / "capitals_en_val.csv").read_text())
    (tmp_path / "token").write_text(server.token)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = {"URL": server.url, "TOKEN": server.token, "PATH": path}
    curl, python = (
        re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("sh", "python")
    )
    assert curl
    assert python
    done = subprocess.run(
        ["sh", "-euxc", "\n".join(curl)],
        cwd=tmp_path,
        env=told | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(python)],
        cwd=tmp_path,
        env=told | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report" / "report.html").is_file()
