"""Four replies to each question at temperature 0.7, from a demo model and an endpoint."""

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from api_server_examples import ApiServer, api_server
from endpoint_server_examples import MODEL, Behaviour, Json, ToyServer

import evalui
from evalui.cli.main import main
from evalui.client import Client

_N = 5
_QUESTIONS = "question,A,B,C,D,answer\n" + "".join(
    f"What is {n} plus one?,{n},{n + 1},{n + 2},{n + 3},B\n" for n in range(1, _N + 1)
)
_DRAWN = {"temperature": 0.7, "repeats": 4}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ToyServer]:
    letters = cycle("ABCDB")

    def choose(answer: Json) -> Json:
        for choice in answer.get("choices", ()):
            if "message" in choice:
                choice["message"]["content"] = next(letters)
        return answer

    with ToyServer(Behaviour(alter=choose)) as server:
        yield server


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, endpoint: ToyServer) -> Path:
    """The folder with a file of questions, and with models.toml."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "sums.csv").write_text(_QUESTIONS)
    (folder / "models.toml").write_text(
        '[demo]\nbackend = "scripted"\noptions = {rule = "position-biased"}\n'
        f'[endpoint]\nbackend = "openai"\npath = "{MODEL}"\nchat = true\n'
        f'options = {{base_url = "{endpoint.url}", api = "chat"}}\n'
    )
    return folder


@pytest.fixture(scope="module")
def server(desk: Path) -> Iterator[ApiServer]:
    with api_server(desk / "data", models=str(desk / "models.toml")) as running:
        yield running


def by_specification(desk: Path, model: str, out: Path) -> None:
    """`evalui run` with a file that says it."""
    spec = {"version": 3, "datasets": [str(desk / "sums.csv")], "models": [model]}
    (desk / "spec.json").write_text(json.dumps(spec | {"mode": "generation", **_DRAWN}))
    models = ["--models-file", str(desk / "models.toml")]
    assert main(["run", str(desk / "spec.json"), "--out", str(out), *models]) == 0


def by_command(desk: Path, model: str, out: Path) -> None:
    """`evalui run` with options alone."""
    run = ["run", "--model", model, "--dataset", str(desk / "sums.csv"), "--mode", "generation"]
    run += ["--temperature", "0.7", "--repeats", "4", "--out", str(out)]
    assert main([*run, "--models-file", str(desk / "models.toml")]) == 0


def by_library(desk: Path, model: str, out: Path) -> None:
    """`evalui.evaluate`, and its frames."""
    models = desk / "models.toml"
    with evalui.evaluate(
        desk / "sums.csv",
        models=model,
        mode="generation",
        models_file=models,
        out=out,
        progress=False,
        **_DRAWN,
    ) as run:
        assert run.trials()["repeat"].tolist() == [1, 2, 3, 4] * _N


def by_interface(desk: Path, server: ApiServer, model: str, out: Path) -> None:
    """The REST interface of a server, from the upload to the report."""
    client = Client(server.url, server.token)
    upload = client.upload([desk / "sums.csv"])
    modes = [{"mode": "generation", **_DRAWN}]
    spec = {"version": 3, "datasets": [{"upload": upload.id}], "models": [model], "modes": modes}
    ended = client.wait(client.start(spec), lambda _: None)
    assert ended.state == "done"
    client.report(ended, out)


def asked_of(endpoint: ToyServer, before: int) -> dict[str, list[dict[str, Any]]]:
    """The requests of a run by their question."""
    requests: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for body in endpoint.posts("chat/completions")[before:]:
        if "What is" in (question := str(body["messages"][-1]["content"])):
            requests[question].append(body)
    return requests


@pytest.mark.parametrize("model", ["demo", "endpoint"])
@pytest.mark.parametrize("way", ["specification", "command", "library", "interface"])
def test_four_replies_to_each_question(
    way: str,
    model: str,
    desk: Path,
    endpoint: ToyServer,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    before, out = len(endpoint.posts("chat/completions")), tmp_path / "out"
    if way == "interface":
        by_interface(desk, request.getfixturevalue("server"), model, out)
    else:
        ways = {"specification": by_specification, "command": by_command, "library": by_library}
        ways[way](desk, model, out)
    (cell,) = json.loads((out / "report.json").read_text())["overview"]
    assert (cell["n"], cell["trials"]) == (_N, 4 * _N)
    assert "|temp:0.7|repeats:4|" in cell["signature"]
    trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
    assert [trial["repeat"] for trial in trials] == [1, 2, 3, 4] * _N
    shares: dict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        shares[trial["id"]].append(trial["readings"]["tolerant"]["choice"] == "B")
    of_questions = [sum(each) / 4 for each in shares.values()]
    assert cell["acc_origin"] == pytest.approx(100 * sum(of_questions) / _N)
    solved = sum(any(each) for each in shares.values())
    assert cell["pass_at_4"] == pytest.approx(100 * solved / _N)
    asked = asked_of(endpoint, before)
    if model == "demo":
        assert asked == {}
        assert 0 < cell["repeat_agreement"] < 100
        return
    assert len(asked) == _N
    for bodies in asked.values():
        assert [body["temperature"] for body in bodies] == [0.7] * 4
        assert len({body["seed"] for body in bodies}) == 4


def written_run(desk: Path, out: Path, **settings: Any) -> evalui.Run:
    """Written answers of the endpoint, of which B is right, led by a metric of repeats."""
    lines = [{"query": f"Which letter is number {n}?", "response": "B"} for n in range(1, _N + 1)]
    (desk / "letters.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return evalui.evaluate(
        desk / "letters.jsonl",
        models="endpoint",
        mode="question_answer",
        models_file=desk / "models.toml",
        metrics=["exact_match_pass_at_4", "rouge-l-f_spread"],
        out=out,
        progress=False,
        **settings,
    )


def test_written_answers_have_pass_at_k_majority_and_agreement(desk: Path, tmp_path: Path) -> None:
    with written_run(desk, tmp_path, **_DRAWN) as run:
        trials, metrics = run.trials(), run.metrics().set_index("metric")["value"]
        run_id = run.id
    right = trials.assign(right=trials["reply"] == "B").groupby("id", observed=True)["right"]
    assert metrics["exact_match_pass_at_4"] == pytest.approx(100 * right.any().mean())
    assert 0 < metrics["answer_agreement"] < 100
    assert {"exact_match_majority", "rouge-l-f_spread"} <= set(metrics.index)
    scored = trials.rename(columns={"reply": "prediction"}).assign(reference="B")
    again = evalui.score_texts(scored).set_index("metric")["value"]
    for name in metrics.index[metrics.index.str.contains("_pass_at_|_majority|agreement|_spread")]:
        assert again[name] == pytest.approx(metrics[name]), name
    (cell,) = json.loads((tmp_path / "report.json").read_text())["answers"]
    assert cell["exact_match_pass_at_4"] == metrics["exact_match_pass_at_4"]
    store = str(tmp_path / "evalui.sqlite")
    export = ["export", run_id, "csv", "--database", store, "--output", str(tmp_path / "run.csv")]
    assert main([*export, "--models-file", str(desk / "models.toml")]) == 0
    assert "exact_match_majority,exact_match_majority_low" in (tmp_path / "run.csv").read_text()
    page = (tmp_path / "report.md").read_text().replace("\\", "")
    assert "| Model | exact_match_pass_at_4 |" in page
    assert "| exact_match_majority | " in page


def test_metrics_of_repeats_are_left_out_with_the_reason_where_there_are_none(
    desk: Path, tmp_path: Path
) -> None:
    with written_run(desk, tmp_path) as run:
        assert not [name for name in run.metrics()["metric"] if "pass_at" in name]
    reason = "is not shown: each question was asked once, or not often enough"
    text = (tmp_path / "report.md").read_text().replace("\\", "")
    assert f"exact_match_pass_at_4 {reason}" in text
