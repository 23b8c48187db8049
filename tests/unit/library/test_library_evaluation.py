"""A run without a server: what arguments say, where results go, what is warned of."""

import gc
import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from decision_server import DecisionBehaviour, DecisionServer, Options
from endpoint_server_examples import MODEL
from pandas.testing import assert_frame_equal

import evalui
from evalui.errors import DataError, SpecError, UnknownName
from evalui.library import evaluation
from evalui.local_runs import load_settings
from evalui.runs.spec import RunSpec
from evalui.store.connection import Database

QUESTIONS = "question,A,B,C,D,answer\n" + "".join(
    f"Which letter is number {n}?,a{n},b{n},c{n},d{n},{'ABCD'[n % 4]}\n" for n in range(12)
)
MODELS = """
[knows]
backend = "scripted"
options = { rule = "perfect" }

[leans]
backend = "scripted"
options = { rule = "position-biased", seed = 3 }

[absent]
backend = "transformers"
path = "/nowhere"
"""


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "letters.csv").write_text(QUESTIONS)
    (tmp_path / "models.toml").write_text(MODELS)
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_says_what_its_metrics_are(capfd: pytest.CaptureFixture[str]):
    with evalui.evaluate(
        "letters.csv", models="knows", mode="generation", orders="circular"
    ) as run:
        metrics = run.metrics()
        robust = metrics[metrics["metric"] == "robust"].iloc[0]
        assert (robust["value"], robust["n"], robust["model"]) == (100, 12, "knows")
        assert len(run.trials(["id"])) == 48
        assert run.spec
        assert run.spec["models"] == ["knows"]
    assert "48/48" in capfd.readouterr().err


def test_groups_are_rows_of_the_metrics(capfd: pytest.CaptureFixture[str]):
    group = {"name": "Both", "members": ["letters"], "of": "datasets"}
    with evalui.evaluate(
        "letters.csv", models=["knows", "leans"], mode="generation", summary_groups=[group]
    ) as run:
        metrics = run.metrics()
    both = metrics[(metrics["group"] == "Both") & (metrics["metric"] == "acc_origin")]
    whole = metrics[(metrics["group"] == "") & (metrics["metric"] == "acc_origin")]
    assert both["model"].tolist() == ["knows", "leans"]
    assert both["value"].tolist() == pytest.approx(whole["value"].tolist())
    assert both["low"].tolist() == pytest.approx(whole["low"].tolist())
    with pytest.raises(SpecError, match="names 'numbers', which this run does not have; it has le"):
        evalui.evaluate(
            "letters.csv",
            models="knows",
            mode="generation",
            summary_groups=[{**group, "members": ["letters", "numbers"]}],
        )
    assert "24/24" in capfd.readouterr().err


def test_results_go_to_a_folder_as_the_command_writes_them(
    desk: Path, capfd: pytest.CaptureFixture[str]
):
    given = {"models": ["knows", "leans"], "mode": "generation", "out": "out", "limit": 5}
    with evalui.evaluate(Path("letters.csv"), progress=False, **given) as run:
        written = {path.name for path in (desk / "out").iterdir()}
        assert {"evalui.sqlite", "report.json", "report.html", "trials.jsonl"} <= written
        report = json.loads((desk / "out/report.json").read_text())
        assert [cell["n"] for cell in report["overview"]] == [5, 5]
        with evalui.open("out") as opened:
            assert_frame_equal(opened.metrics(), run.metrics())
    assert capfd.readouterr().err == ""


def test_a_specification_is_a_run_too():
    spec = {"version": 3, "datasets": ["letters.csv"], "models": ["leans"], "mode": "generation"}
    with (
        evalui.evaluate(spec, progress=False) as run,
        evalui.evaluate(
            ["letters.csv"], models="leans", mode=["generation"], progress=False
        ) as same,
    ):
        assert_frame_equal(run.metrics(), same.metrics())
    with pytest.raises(SpecError, match="leave out models, limit"):
        evalui.evaluate(spec, models=["knows"], limit=3)


def test_a_run_is_kept_in_the_store_of_the_data_folder(desk: Path):
    given: dict[str, Any] = {"models": "knows", "mode": "generation", "progress": False}
    with evalui.evaluate("letters.csv", **given) as run:
        assert evalui.list_runs()[["id", "state", "done"]].values.tolist() == [[run.id, "done", 12]]
        with evalui.open(run.id) as opened:
            assert_frame_equal(opened.metrics(), run.metrics())
    evalui.evaluate("letters.csv", keep=False, **given).close()
    assert evalui.list_runs()["id"].tolist() == [run.id]
    evalui.evaluate("letters.csv", out=desk / "own", **given).close()
    assert evalui.list_runs()["id"].tolist() == [run.id]
    with evalui.evaluate("letters.csv", reuse=False, **given) as anew:
        assert evalui.list_runs()["id"].tolist() == [anew.id, run.id]


def test_a_script_that_is_stopped_or_killed_leaves_no_run_at_work(
    monkeypatch: pytest.MonkeyPatch,
):
    given: dict[str, Any] = {"models": "knows", "mode": "generation", "progress": False}

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(evaluation, "do_run", stopped)
        with pytest.raises(KeyboardInterrupt):
            evalui.evaluate("letters.csv", **given)
        patched.setattr(evaluation, "stop_run", lambda *_: None)  # as if it were killed
        with pytest.raises(KeyboardInterrupt):
            evalui.evaluate("letters.csv", **given)
    assert evalui.list_runs()["state"].tolist() == ["running", "cancelled"]
    with closing(Database(load_settings().database)) as database, database.writing() as connection:
        connection.execute("UPDATE run SET beat = beat - 60 WHERE state = 'running'")
    assert evalui.list_runs()["state"].tolist() == ["failed", "cancelled"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": ["knows"]}, "evaluate needs the argument mode: one of .*cloze"),
        ({"mode": "generation"}, "evaluate needs the argument models"),
        ({"models": "knows", "mode": "generation", "limit": "x"}, r"Argument limit: .*"),
        ({"models": "knows", "mode": "generation", "shots": -1}, r"Argument shots: .*"),
    ],
)
def test_errors_name_arguments(given: dict[str, Any], said: str):
    with pytest.raises(SpecError, match=f"^{said}"):
        evalui.evaluate("letters.csv", **given)


def test_a_temporary_store_goes_with_the_run(desk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(desk / "temporary"))
    (desk / "temporary").mkdir()

    def stores() -> list[Path]:
        return list((desk / "temporary").glob("evalui-*"))

    given: dict[str, Any] = {"models": "knows", "mode": "generation", "progress": False}
    given["keep"] = False
    run = evalui.evaluate("letters.csv", **given)
    assert len(stores()) == 1
    run.close()
    assert stores() == []
    run = evalui.evaluate("letters.csv", **given)
    del run
    gc.collect()
    assert stores() == []
    with pytest.raises(UnknownName, match="Known: absent, knows, leans"):
        evalui.evaluate("letters.csv", **{**given, "models": "unknown"})
    assert stores() == []


def test_what_fails_or_is_left_out_is_warned_of():
    with pytest.warns(evalui.RunWarning, match="left out: .*absent"):
        run = evalui.evaluate(
            "letters.csv", models=["knows", "absent"], mode="generation", progress=False
        )
    cells = run.cells().set_index("model")
    assert cells.loc["absent", "state"] == "impossible"
    assert cells.loc["absent", "error"]
    run.close()


def test_faulty_files_and_fields_are_refused():
    with pytest.raises(SpecError, match="temperatur"):
        evalui.evaluate("letters.csv", models="knows", mode="generation", temperatur=1)
    with pytest.raises(DataError, match=r"missing\.csv"):
        evalui.evaluate("missing.csv", models="knows", mode="generation")


def test_arguments_become_a_specification(monkeypatch: pytest.MonkeyPatch):
    made: list[RunSpec] = []

    class Stop(Exception):
        pass

    def stop(spec: RunSpec, _: Path) -> None:
        made.append(spec)
        raise Stop

    monkeypatch.setattr(evaluation, "prepare_run", stop)
    given: dict[str, Any] = {"judging": {"orders": "single"}, "seed": 4}
    with pytest.raises(Stop):
        evalui.evaluate(
            [Path("a.csv"), ["b_dev.csv", "b_val.csv"], {"path": "c.csv", "name": "c"}],
            models="knows",
            mode="multiple_choice",
            orders="circular",
            judges="strict",
            shots=2,
            **given,
        )
    (spec,) = made
    assert [source.path for source in spec.datasets] == [
        "a.csv",
        ["b_dev.csv", "b_val.csv"],
        "c.csv",
    ]
    (mode,) = spec.modes
    assert (mode.mode, mode.pattern, mode.shots) == ("multiple_choice", "circular", 2)
    assert spec.judging
    assert (spec.judging.judges, spec.judging.orders) == (["strict"], "single")
    assert (spec.version, spec.seed) == (3, 4)


@pytest.mark.parametrize(
    "more",
    [
        {"datasets": ["other.csv"]},
        {"modes": [{"mode": "cloze"}]},
        {"orders": "circular", "pattern": "circular"},
        {"judges": "one", "judging": {"judges": ["two"]}},
    ],
)
def test_nothing_is_said_twice(more: dict[str, Any]):
    with pytest.raises(SpecError, match="is given twice"):
        evalui.evaluate("letters.csv", models="knows", mode="generation", **more)


def test_replies_of_other_runs_are_used_again_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
):
    seen: list[bool] = []
    do_run = evaluation.do_run

    def watched(*given: Any, reuse: bool, **more: Any) -> None:
        seen.append(reuse)
        do_run(*given, reuse=reuse, **more)

    monkeypatch.setattr(evaluation, "do_run", watched)
    for reuse in (True, False):
        evalui.evaluate(
            "letters.csv", models="knows", mode="generation", reuse=reuse, progress=False
        ).close()
    assert seen == [True, False]


def test_a_question_can_be_asked_several_times():
    given: dict[str, Any] = {"mode": "generation", "temperature": 0.7, "progress": False}
    with evalui.evaluate("letters.csv", models="leans", repeats=4, **given) as run:
        trials, metrics = run.trials(), run.metrics()
    assert trials["repeat"].tolist() == [1, 2, 3, 4] * 12
    again = evalui.score_choices(trials)
    with pytest.raises(DataError, match="repeat 'two' is not a whole number"):
        evalui.score_choices(trials.assign(repeat="two"))
    accuracy = metrics[metrics["metric"] == "acc_origin"].iloc[0]
    for name in ("acc_origin", "pass_at_2", "majority"):
        values = [each[each["metric"] == name].iloc[0]["value"] for each in (again, metrics)]
        assert values[0] == pytest.approx(values[1]), name
    by_question = trials.groupby("id", observed=True)["credit"].mean()
    assert accuracy["value"] == pytest.approx(100 * by_question.mean())
    assert accuracy["n"] == 12
    named = set(metrics["metric"])
    assert {"majority", "pass_at_2", "pass_at_4", "repeat_agreement"} <= named


def _knows(context: str, _question: str, options: Options) -> list[float]:
    """Nearly sure of the option that ends like the question, of the first of two answers."""
    number = context.partition("number ")[2].partition("?")[0]
    right = [text == f"{'abcd'[int(number) % 4]}{number}" for _, text in options if number]
    shares = [0.7 if each else 0.1 for each in right]
    return shares or [0.7, *[0.3 / (len(options) - 1)] * (len(options) - 1)]


def _serves(server: DecisionServer, desk: Path) -> None:
    entry = f"""
[decider]
backend = "openai"
path = "{MODEL}"
options = {{ base_url = "{server.url}" }}
"""
    (desk / "models.toml").write_text(MODELS + entry)


def test_a_model_that_only_decides_has_the_figures_of_letters(desk: Path):
    with DecisionServer(DecisionBehaviour(answer=_knows)) as server:
        _serves(server, desk)
        with evalui.evaluate(
            "letters.csv",
            models=["decider", "leans"],
            mode="multiple_choice",
            orders="circular",
            labels="dealt",
            progress=False,
        ) as run:
            metrics = run.metrics()
            trials = run.trials()
    robust = metrics[metrics["metric"] == "robust"].set_index("model")["value"]
    assert robust["decider"] == 100 > robust["leans"]
    decided = trials[trials["model"] == "decider"]
    assert len(decided) == 48
    assert decided[["p_A", "p_B", "p_C", "p_D"]].max(axis=1).tolist() == pytest.approx([0.7] * 48)


def test_a_judge_that_only_decides_is_shown_both_orders(desk: Path):
    rows = [{"query": f"What is {n} plus {n}?", "response": f"{2 * n}"} for n in range(1, 5)]
    (desk / "open.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with DecisionServer(DecisionBehaviour(answer=_knows)) as server:
        _serves(server, desk)
        with evalui.evaluate(
            "open.jsonl", models=["knows", "leans"], judges="decider", progress=False
        ) as run:
            verdicts = run.verdicts()
        asked = [each for each in server.questions if "Answer 1" in dict(each.options)]
    decided = verdicts[verdicts["rule"] != "same-answers"]
    assert len(asked) == len(decided) == 4
    assert set(decided["winner"]) == {"model_a"}  # whoever stands first
    assert set(decided["reply"]) == {"Answer 1"}
    assert [each["model_a"] for each in decided["probabilities"]] == pytest.approx([0.7] * 4)
