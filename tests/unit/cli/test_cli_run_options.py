"""Runs by options alone, over a specification, in stages; an endpoint counts what it is asked."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from adapter_examples import make_adapter
from decision_server import DecisionBehaviour, DecisionServer, Form, Options
from endpoint_server_examples import MODEL, Behaviour, Json, ToyServer

from evalui.cli.main import main
from evalui.shipped_files import ASSETS

_CHOICES = "question,A,B,C,D,answer\n" + "".join(
    f"What is {n} plus one?,{n},{n + 1},{n + 2},{n + 3},B\n" for n in range(1, 6)
)
_OPEN = "".join(
    json.dumps({"query": f"What is {n} plus {n}?", "response": f"{2 * n}"}) + "\n"
    for n in range(1, 5)
)
_MODELS = """
[always-A]
backend = "scripted"
baseline = true
options = {rule = "always-A"}
[referee]
backend = "scripted"
options = {role = "judge", rule = "first-biased-judge"}
[referee-too]
backend = "scripted"
options = {role = "judge", rule = "length-biased-judge"}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models.toml").write_text(_MODELS)
    (tmp_path / "sums.csv").write_text(_CHOICES)
    (tmp_path / "open.jsonl").write_text(_OPEN)
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _report(folder: Path = Path("out")) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


def _questions(server: ToyServer) -> list[str]:
    """The questions that the server was asked, without what only finds out what it can do."""
    contents = [body["messages"][-1]["content"] for body in server.posts("chat/completions")]
    return [content for content in contents if "What is" in str(content)]


def _writes_much(answer: Json) -> Json:
    for choice in answer.get("choices", ()):
        if "message" in choice:
            choice["message"]["content"] = "It is so and so."
    return answer


def test_options_alone_are_a_run_and_the_questions_decide_the_mode(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    run = ["run", "--model", "always-A", "--dataset", "sums.csv", "--out", "out", "--limit", "3"]
    assert main([*run, "--pattern", "circular", "--name", "Sums"]) == 0
    assert "--mode multiple_choice" in capsys.readouterr().err
    report = _report()
    (cell,) = report["overview"]
    assert (report["name"], cell["mode"]) == ("Sums", "multiple_choice")
    assert "|orders:circular" in cell["signature"]
    assert cell["n"] == 3
    assert "limit:3/subject" in cell["signature"]


def test_options_stand_over_a_specification(place: Path):
    spec = {"version": 3, "datasets": ["gone.csv"], "models": ["gone"], "mode": "generation"}
    (place / "spec.json").write_text(json.dumps(spec | {"limit": 1, "name": "Kept"}))
    over = ["--model", "always-A", "--dataset", "sums.csv", "--limit", "2"]
    assert main(["run", "spec.json", "--out", "out", *over]) == 0
    report = _report()
    (cell,) = report["overview"]
    assert (report["name"], cell["model"], cell["mode"]) == ("Kept", "always-A", "generation")
    assert cell["n"] == 2


def test_modes_of_a_specification_keep_their_settings_under_options(place: Path):
    modes = [{"mode": "multiple_choice", "template": "plain-zh.1"}, {"mode": "generation"}]
    spec = {"datasets": ["sums.csv"], "models": ["always-A"], "modes": modes}
    (place / "spec.json").write_text(json.dumps(spec))
    stated = ["--mode", "multiple_choice", "--pattern", "circular"]
    assert main(["run", "spec.json", "--out", "out", *stated]) == 0
    (cell,) = _report()["overview"]
    assert "|orders:circular" in cell["signature"]
    assert "prompt:plain-zh.1" in cell["signature"]


@pytest.mark.parametrize("with_name", [True, False])
def test_a_model_of_an_endpoint_needs_no_catalog(
    place: Path, monkeypatch: pytest.MonkeyPatch, with_name: bool
):
    monkeypatch.setenv("TOY_API_KEY", "sk-toy")
    with ToyServer(Behaviour(key="sk-toy")) as server:
        if with_name:
            named = ["--model", MODEL, "--eval-url", server.url]
        else:
            named = ["--model", server.url]
        run = ["run", *named, "--key-env", "TOY_API_KEY", "--dataset", "sums.csv"]
        assert main([*run, "--mode", "generation", "--out", "out"]) == 0
        assert len(_questions(server)) == 5
    (cell,) = _report()["overview"]
    assert (cell["model"], cell["n"]) == (MODEL, 5)
    assert "sk-toy" not in (place / "out" / "report.json").read_text()


def test_the_replies_of_another_address_are_named_and_used_only_where_somebody_says_so(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    with ToyServer() as before, ToyServer() as after:
        run = ["run", "--dataset", "sums.csv", "--mode", "generation", "--model"]
        assert main([*run, before.url, "--out", "first"]) == 0
        assert "--replies-of" not in capsys.readouterr().err
        assert main([*run, after.url, "--out", "second"]) == 0
        told = capsys.readouterr().err
        assert f"{MODEL}: 5 of 5 replies are kept from run" in told
        assert len(_questions(after)) == 5
        chosen = told.partition("--replies-of ")[2].split()[0]
        assert main([*run, after.url, "--replies-of", chosen, "--out", "third"]) == 0
        assert len(_questions(after)) == 5
    (count,) = _report(Path("third"))["reply_counts"]
    assert (count["replies"], count["kept"]) == (5, True)


def _right_answer(context: str, _question: str, options: Options) -> list[float]:
    """The right sum has 0.7 wherever it stands, and the first option 0.3 more."""
    right = str(int(re.findall(r"\d+", context + " 0")[0]) + 1)
    return [0.7 * (text == right) + 0.3 * (at == 0) for at, (_, text) in enumerate(options)]


@pytest.mark.parametrize("form", ["systemone", "decisions", "decide"])
def test_a_model_that_only_decides_is_asked_for_decisions_where_no_mode_is_named(
    place: Path, form: Form
):
    del place
    with DecisionServer(DecisionBehaviour(form=form, answer=_right_answer)) as server:
        run = ["run", "--model", server.url, "--dataset", "sums.csv", "--pattern", "circular"]
        assert main([*run, "--out", "out"]) == 0
        asked = Counter((each.context, each.question) for each in server.questions)
    which = "Which option is the right answer to the question?"
    assert [asked[f"What is {n} plus one?", which] for n in range(1, 6)] == [4] * 5
    (cell,) = _report()["overview"]
    assert (cell["mode"], cell["model"], cell["acc_circular"]) == ("multiple_choice", MODEL, 100.0)
    assert "|spell:decision|" in cell["signature"]


def test_a_server_with_chat_is_asked_for_decisions_by_the_backend(place: Path):
    del place
    with DecisionServer(DecisionBehaviour(chat=True)) as server:
        run = ["run", "--model", server.url, "--dataset", "sums.csv", "--out", "out"]
        assert main([*run, "--backend", "decision"]) == 0
        assert {path for path, _, _ in server.asked} == {"/v1/models", "/v1/systemone"}
    (cell,) = _report()["overview"]
    assert cell["mode"] == "multiple_choice"


def test_a_model_without_probabilities_replies_where_no_mode_is_named(place: Path):
    del place
    with ToyServer(Behaviour(logprobs=False, completions=False)) as server:
        run = ["run", "--model", server.url, "--dataset", "sums.csv", "open.jsonl"]
        assert main([*run, "--out", "out"]) == 0
    report = _report()
    assert [cell["mode"] for cell in report["overview"]] == ["generation"]
    assert [cell["mode"] for cell in report["answers"]] == ["question_answer"]


@pytest.mark.slow
def test_a_folder_with_an_adapter_is_another_model_than_its_base(place: Path):
    base = ASSETS / "models" / "demo-late"
    adapter = make_adapter(base, place / "lora")
    run = ["run", "--model", str(base), "--dataset", "sums.csv", "--mode", "multiple_choice"]
    assert main([*run, "--adapter", str(adapter), "--out", "tuned"]) == 0
    assert main([*run, "--out", "plain"]) == 0
    (tuned,), (plain,) = (_report(Path(name))["overview"] for name in ("tuned", "plain"))
    assert (tuned["model"], plain["model"]) == ("demo-late+lora", "demo-late")
    scored = [
        [json.loads(line)["probabilities"] for line in path.read_text().splitlines()]
        for path in (place / "tuned/trials.jsonl", place / "plain/trials.jsonl")
    ]
    assert len(scored[0]) == len(scored[1]) == 5
    assert all(one != other for one, other in zip(*scored, strict=True))


LATE = str(ASSETS / "models" / "demo-late")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "always-A"], "--dataset is missing"),
        (["--dataset", "sums.csv"], "--model is missing"),
        (["--model", "nobody", "--dataset", "sums.csv"], "nobody"),
        (["--model", "./no-folder", "--dataset", "sums.csv"], "--model: "),
        (["--model", "always-A", "--dataset", "arc_unknown"], "“arc_unknown” is neither a file"),
        (
            ["--model", "always-A", "--dataset", "sums.csv", "--mode", "guess"],
            "--mode: “guess” is unknown. Known: ",
        ),
        (["--model", "a", "b", "--dataset", "sums.csv", "--adapter", "x"], "one --model"),
        (["--model", "always-A", "--dataset", "sums.csv", "--adapter", "x"], "--adapter is for"),
        (["--model", "always-A", "--dataset", "sums.csv", "--key-env", "X_API_KEY"], "--eval-url"),
        (["--model", "always-A", "--dataset", "sums.csv", "--device", "cpu"], "--device is for"),
        (["--model", LATE, "--dataset", "sums.csv", "--dtype", "float17"], "--dtype: "),
        (
            ["--model", LATE, "--dataset", "sums.csv", "--tensor-parallel", "2"],
            "--backend: “transformers” is unknown. Known: vllm.",
        ),
        (["--model", "m", "--eval-url", "ftp://x", "--dataset", "sums.csv"], "--eval-url: "),
        (
            ["--model", "always-A", "--dataset", "sums.csv", "--temperature", "3"],
            "--temperature: Input should be less than or equal to 2.",
        ),
        (
            ["--model", "always-A", "--dataset", "sums.csv", "--mode", "cloze", "--stop", "x"],
            "None of the modes has any use for “--stop”",
        ),
        (
            ["--model", "always-A", "--dataset", "sums.csv", "--replies-of", "always-A=x"],
            "--replies-of: ",
        ),
        (
            ["--model", "m", "--eval-url", "http://x", "--dataset", "sums.csv", "--adapter", "x"],
            "--adapter is for models whose files are here",
        ),
    ],
)
def test_a_wrong_option_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert main(["run", *arguments, "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (place / "out").exists()


@pytest.mark.parametrize(("option", "least"), [("--limit", 1), ("--shots", 0)])
def test_a_number_that_is_too_small_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], option: str, least: int
):
    del place
    with pytest.raises(SystemExit) as caught:
        main(["run", "--out", "out", option, "-1"])
    assert caught.value.code == 2
    assert f"is {least} or more, not '-1'" in capsys.readouterr().err


def _judged(judge: str) -> dict[str, Any]:
    judging = {"judges": [judge]}
    return {"version": 3, "datasets": ["open.jsonl"], "models": [MODEL, "other"]} | {
        "mode": "question_answer",
        "judging": judging,
    }


def _two_models(place: Path, server: ToyServer) -> None:
    endpoint = f'backend = "openai"\npath = "{MODEL}"\nchat = true\n'
    options = f'options = {{base_url = "{server.url}", api = "chat"}}\n'
    sent = 'options = {{base_url = "{}", api = "chat", extra_body = {{user = "o"}}}}\n'
    (place / "models.toml").write_text(
        f"{_MODELS}\n[{MODEL}]\n{endpoint}{options}[other]\n{endpoint}{sent.format(server.url)}"
    )


def test_another_judge_asks_no_model_again(place: Path):
    with ToyServer(Behaviour(alter=_writes_much)) as server:
        _two_models(place, server)
        for judge in ("referee", "referee-too"):
            (place / "spec.json").write_text(json.dumps(_judged(judge)))
            assert main(["run", "spec.json", "--out", "out"]) == 0
            assert len(_questions(server)) == 8  # four questions of each model
    assert {row["judge"] for row in _report()["reliability"]} == {"referee-too"}


def _chosen(whole: dict[str, Any]) -> list[str]:
    """The metrics that the specification chooses, in which pairs are tested."""
    return [*dict.fromkeys(pair["measure"] for pair in whole["pairs"] if pair["mode"])]


def test_other_metrics_ask_no_model_again(place: Path):
    (place / "spec.json").write_text(json.dumps(_judged("referee")))
    with ToyServer(Behaviour(alter=_writes_much)) as server:
        _two_models(place, server)
        for out, metrics in (
            ("first", ()),
            ("bleu", ("bleu-1",)),
            ("two", ("rouge-1-f", "bleu-2")),
        ):
            chosen = ["--metrics", *metrics] if metrics else []
            assert main(["run", "spec.json", "--out", out, *chosen]) == 0
            assert len(_questions(server)) == 8  # four questions of each model
            assert _report(place / out)["spec"].get("metrics", []) == [*metrics]
    assert main(["report", "first", "--metrics", "rouge-1-f"]) == 0  # the endpoint is gone by now
    whole = _report(place / "first")
    assert whole["spec"]["metrics"] == _chosen(whole) == ["rouge-1-f"]


def test_answers_are_collected_then_scored_then_reported_without_asking_again(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    (place / "spec.json").write_text(json.dumps(_judged("referee")))
    with ToyServer(Behaviour(alter=_writes_much)) as server:
        _two_models(place, server)
        assert main(["run", "spec.json", "--out", "out", "--only", "answers"]) == 0
        assert len(_questions(server)) == 8
        assert not (place / "out" / "report.json").exists()
        assert main(["run", "spec.json", "--out", "out", "--only", "scores"]) == 0
        assert len(_questions(server)) == 8
    whole = _report()
    assert [row["judge"] for row in whole["reliability"]] == ["referee"]
    assert len(whole["answers"]) == 2
    (place / "out" / "report.json").unlink()
    capsys.readouterr()
    assert main(["report", "out"]) == 0  # the endpoint is gone by now
    assert "the report is in out" in capsys.readouterr().err
    assert _report() == whole


def test_scores_alone_ask_no_model_whose_replies_are_not_there(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    with ToyServer() as server:
        run = ["run", "--model", server.url, "--dataset", "sums.csv", "--mode", "generation"]
        assert main([*run, "--out", "out", "--only", "scores"]) == 1
        assert _questions(server) == []
    assert "is not asked with --only scores" in capsys.readouterr().err


def test_a_report_is_drawn_elsewhere_in_another_language(place: Path):
    run = ["run", "--model", "always-A", "--dataset", "sums.csv", "--out", "out"]
    assert main([*run, "--mode", "multiple_choice"]) == 0
    assert main(["report", "out", "--out", "again", "--language", "zh"]) == 0
    assert _report(place / "again") == _report(place / "out")
    assert (place / "again" / "report.md").read_text() != (place / "out" / "report.md").read_text()


def test_a_report_is_drawn_again_with_other_metrics(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    run = ["run", "--model", "always-A", "--dataset", "sums.csv", "--out", "out"]
    assert main([*run, "--mode", "multiple_choice", "--metrics", "acc_origin"]) == 0
    whole = _report(place / "out")
    assert whole["spec"]["metrics"] == ["acc_origin"]
    again = ["run", "--out", "out", "--only", "report", "--metrics"]
    assert main([*again, "readable", "n"]) == 0
    whole = _report(place / "out")
    assert whole["spec"]["metrics"] == ["readable", "n"]
    assert (
        main(["report", "out", "--out", "other", "--metrics", "mean_over_orders", "acc_origin"])
        == 0
    )
    whole = _report(place / "other")
    assert whole["spec"]["metrics"] == ["mean_over_orders", "acc_origin"]
    assert _report(place / "out")["spec"]["metrics"] == ["readable", "n"]
    capsys.readouterr()
    assert main(["report", "out", "--metrics", "nicety"]) == 2
    assert "There is no metric 'nicety'" in capsys.readouterr().err
    assert main([*again, "nicety"]) == 2
    assert "There is no metric 'nicety'" in capsys.readouterr().err


def test_published_groups_are_an_option_of_a_run_and_of_a_report(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    (place / "val").mkdir()
    for subject in ("law", "high_school_physics"):
        (place / "val" / f"{subject}_val.csv").write_text(_CHOICES)
    run = ["run", "--model", "always-A", "--dataset", "val", "--mode", "multiple_choice"]
    assert main([*run, "--out", "out", "--groups", "ceval"]) == 0
    whole = _report(place / "out")
    assert whole["spec"]["summary_groups"] == [{"published": "ceval"}]
    numbers = {each["group"]: each for each in whole["summary_groups"] if each["metric"] == "n"}
    assert len(numbers["C-Eval Average"]["missing"].split(", ")) == 50
    assert numbers["C-Eval Average"]["value"] == 10
    assert numbers["C-Eval Hard"]["value"] == 5

    assert main([*run, "--out", "plain"]) == 0
    assert "summary_groups" not in _report(place / "plain")
    assert main(["run", "--out", "plain", "--only", "report", "--groups", "ceval"]) == 0
    assert _report(place / "plain")["summary_groups"] == whole["summary_groups"]
    assert main(["report", "plain", "--out", "again", "--groups", "ceval"]) == 0
    assert _report(place / "again")["summary_groups"] == whole["summary_groups"]
    capsys.readouterr()
    assert main([*run, "--out", "none", "--groups", "cevil"]) == 2
    assert "--groups: There are no published groups 'cevil'" in capsys.readouterr().err
    assert main([*run, "--out", "none", "--groups", "mmlu"]) == 2
    assert "'MMLU STEM' has no figures" in capsys.readouterr().err


def test_a_folder_without_a_run_is_named(place: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(place)]) == 2
    assert "evalui.sqlite" in capsys.readouterr().err


# ---------------------------------------------------------------- a server that decides


def test_a_server_that_decides_is_given_its_options_as_a_decision(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    with DecisionServer() as server:
        run = ["run", "--model", server.url, "--dataset", "sums.csv", "--out", "out"]
        assert main([*run, "--labels", "neutral", "--pattern", "circular"]) == 0
        asked = [each for each in server.questions if "plus one" in each.context]
    assert "--mode multiple_choice" in capsys.readouterr().err
    assert len(asked) == 5 * 4
    assert all(len(key) == 2 for each in asked for key, _ in each.options)
    (cell,) = _report()["overview"]
    assert (cell["model"], cell["mode"]) == (MODEL, "multiple_choice")
    assert {"spell:decision", 'labels:"neutral"'} <= {*cell["signature"].split("|")}


def test_a_model_with_letters_is_not_asked_for_decisions(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    run = ["run", "--model", "always-A", "--dataset", "sums.csv", "--out", "out"]
    assert main([*run, "--spellings", "decision"]) == 2
    assert "always-A cannot do this mode: it makes no decisions." in capsys.readouterr().err


def test_a_server_of_both_is_asked_for_decisions_where_the_command_says_so(
    place: Path, capsys: pytest.CaptureFixture[str]
):
    del place
    run = ["run", "--dataset", "sums.csv", "--backend", "decision", "--limit", "1"]
    with DecisionServer(DecisionBehaviour(chat=True)) as server:
        assert main([*run, "--model", server.url, "--out", "out"]) == 0
        assert server.posts("chat/completions") == []
    (cell,) = _report()["overview"]
    assert "|spell:decision|" in cell["signature"]
    capsys.readouterr()
    assert main([*run, "--model", "a/b", "--out", "none"]) == 2
    assert "--backend decision needs an endpoint" in capsys.readouterr().err
