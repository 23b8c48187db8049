"""`evalui run`, from a CSV to a report, and everything a user can get wrong."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flow_examples import wait_until

from evalui.cli.main import main
from evalui.report.imports.predictions import read_choices
from evalui.runs.worker import cell
from evalui.shipped_files import ASSETS

_HEADER = "id,question,A,B,C,D,answer\n"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with 40 questions and a catalog of scripted models that log each request."""
    rows = "".join(
        f"{n},What is {n} plus {n}?,{2 * n},{2 * n + 1},{2 * n + 2},{2 * n + 3},A\n"
        for n in range(40)
    )
    (tmp_path / "sums_val.csv").write_text(_HEADER + rows)
    (tmp_path / "models.toml").write_text(
        "".join(
            f'[{name}]\nbackend = "scripted"\nbaseline = true\n[{name}.options]\nrule = "{rule}"\n'
            f'seed = 1\nlog = "{tmp_path / (name + ".log")}"\n{more}'
            for name, rule, more in (
                ("perfect", "perfect", ""),
                ("always", "always-A", ""),
                ("biased", "position-biased", ""),
                ("slow", "perfect", "delay = 0.05\n"),
            )
        )
        + '[gone]\nbackend = "transformers"\npath = "./nowhere"\n'
    )
    return tmp_path


def _spec(folder: Path, **change: Any) -> Path:
    spec = {
        "datasets": ["sums_val.csv"],
        "models": ["perfect"],
        "mode": "generation",
        "pattern": "circular",
    }
    path = folder / "spec.json"
    path.write_text(json.dumps(spec | change))
    return path


def _arguments(folder: Path, spec: Path) -> list[str]:
    models = str(folder / "models.toml")
    return ["run", str(spec), "--out", str(folder / "out"), "--models-file", models]


def _run(folder: Path, **change: Any) -> int:
    return main(_arguments(folder, _spec(folder, **change)))


def _report(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))["overview"]


def test_a_run_writes_report_figures_and_trials(desk: Path):
    assert _run(desk, models=["perfect", "always"]) == 0
    perfect, always = _report(desk)
    assert (perfect["acc_origin"], perfect["perf_circular"]) == (100, 100)
    assert (always["acc_circular"], always["perf_circular"]) == (25, 0)
    assert "| perfect | sums |" in (desk / "out" / "report.md").read_text(encoding="utf-8")
    assert len((desk / "out" / "trials.jsonl").read_text().splitlines()) == 2 * 40 * 4


def test_the_report_can_be_in_chinese(desk: Path):
    assert main([*_arguments(desk, _spec(desk)), "--language", "zh"]) == 0
    assert "准确率" in (desk / "out" / "report.md").read_text(encoding="utf-8")


def test_the_report_keeps_the_specification_to_repeat_it(desk: Path):
    assert _run(desk, limit=5) == 0
    told = json.loads((desk / "out" / "report.json").read_text())
    (desk / "again.json").write_text(json.dumps(told["spec"]))
    assert main(_arguments(desk, desk / "again.json")) == 0
    assert _report(desk) == told["overview"]


@pytest.mark.parametrize("mode", ["generation", "multiple_choice"])
def test_the_trials_scored_again_give_the_same_figures(
    desk: Path, mode: str, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk, models=["biased"], mode=mode) == 0
    capsys.readouterr()
    assert main(["score", "choices", str(desk / "out" / "trials.jsonl")]) == 0
    again = json.loads(capsys.readouterr().out)
    (cell,) = _report(desk)
    for name in ("acc_origin", "acc_circular", "perf_circular", "order_sensitivity", "unreadable"):
        assert again[name] == pytest.approx(cell[name]), name
    assert 0 < again["perf_circular"] < again["acc_circular"] < 100


def test_a_run_repeated_asks_nothing_twice(desk: Path):
    assert _run(desk) == 0
    asked = (desk / "perfect.log").read_text().count("\n")
    assert _run(desk) == 0
    assert (desk / "perfect.log").read_text().count("\n") == asked == 40 * 4


def test_the_bar_is_on_stderr_and_stdout_has_the_first_sentence(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk) == 0
    said = capsys.readouterr()
    sentence = said.out.removesuffix("\n")
    assert f"**{sentence}**" in (desk / "out" / "report.md").read_text().splitlines()
    assert "160/160" in said.err


@pytest.mark.parametrize(
    ("language", "verdict"),
    [
        ("en", "No model beats guessing on these questions."),
        ("zh", "在这些题上，没有模型好于乱猜。"),
    ],
)
def test_that_no_model_beats_guessing_is_said_first_everywhere(
    desk: Path, language: str, verdict: str, capsys: pytest.CaptureFixture[str]
):
    rows = "".join(f"{n},Which is {n}?,a{n},b{n},c{n},d{n},{'ABCD'[n % 4]}\n" for n in range(40))
    (desk / "even_val.csv").write_text(_HEADER + rows)
    spec = _spec(desk, datasets=["even_val.csv"], models=["always"])
    assert main([*_arguments(desk, spec), "--language", language]) == 0
    assert capsys.readouterr().out == f"{verdict}\n"
    _, first, *_ = (desk / "out" / "report.md").read_text().split("\n\n")
    assert first == f"**{verdict}**"
    page = (desk / "out" / "report.html").read_text()
    assert re.sub("<[^>]*>", "", page.partition("</h1>")[2]).strip().startswith(verdict)


def test_a_model_that_cannot_load_is_told_and_the_others_go_on(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk, models=["gone", "perfect"]) == 1
    assert "evalui: left out: gone on sums, reply: " in capsys.readouterr().err
    gone, perfect = _report(desk)
    assert (gone["state"], perfect["acc_origin"]) == ("impossible", 100)


def test_swifts_custom_config_is_a_dataset(desk: Path):
    folder = desk / "eval_example" / "custom_ceval"
    folder.mkdir(parents=True)
    (desk / "sums_val.csv").rename(folder / "sums_val.csv")
    entry = {
        "name": "mine",
        "pattern": "ceval",
        "dataset": "eval_example/custom_ceval",
        "subset_list": ["sums"],
    }
    (desk / "custom_config.json").write_text(json.dumps([entry]))
    assert _run(desk, datasets=["custom_config.json"]) == 0
    (cell,) = _report(desk)
    assert (cell["dataset"], cell["n"]) == ("mine", 40)


@pytest.mark.parametrize(
    ("change", "n", "limit"),
    [
        ({}, 2, "2"),
        ({"version": 2}, 4, "2/subject"),
        ({"version": 2, "limit_per": "dataset"}, 2, "2"),
    ],
)
def test_a_limit_counts_per_subject_from_version_2_on(
    desk: Path, change: dict[str, Any], n: int, limit: str
):
    (desk / "sets").mkdir()
    for subject in ("law", "logic"):
        (desk / "sets" / f"{subject}_val.csv").write_text((desk / "sums_val.csv").read_text())
    assert _run(desk, datasets=["sets"], pattern="origin", limit=2, **change) == 0
    (cell,) = _report(desk)
    assert cell["n"] == n
    assert f"|limit:{limit}|" in cell["signature"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"models": ["nobody"]}, "Unknown model 'nobody'. Known: "),
        ({"models": []}, "Run specification, the whole: expected a model, or answers."),
        ({"mode": "dance"}, "dance"),
        ({"datasets": ["none.csv"]}, "none.csv does not exist"),
        ({"shots": 5}, "0 worked examples"),
        ({"colour": 1}, "there is no such field"),
        ({"limit": 0}, "limit"),
        ({"version": 4}, "The run specification has version 4. This evalui reads versions 1 to 3"),
        ({"models": ["gone"]}, "Nothing in this run can be evaluated"),
    ],
)
def test_a_wrong_specification_ends_with_code_2_and_one_line(
    desk: Path, change: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk, **change) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (desk / "out" / "report.json").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "The run specification is not JSON: line 1, column 2"),
        (b"\xff", "spec.json is not UTF-8 text"),
        (b"[]", "Run specification"),
        (b"null", "Run specification"),
    ],
    ids=["cut", "bytes", "list", "null"],
)
def test_a_specification_that_is_none_is_told(
    desk: Path, content: bytes, told: str, capsys: pytest.CaptureFixture[str]
):
    (desk / "spec.json").write_bytes(content)
    assert main(_arguments(desk, desk / "spec.json")) == 2
    assert told in capsys.readouterr().err


def test_faulty_rows_stop_the_run_until_told_to_skip_them(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    with (desk / "sums_val.csv").open("a") as file:
        file.write("40,What is it?,1,2,3,4,E\n")
    assert _run(desk) == 2
    assert "line 42, column answer" in capsys.readouterr().err
    assert _run(desk, datasets=[{"path": "sums_val.csv", "skip_faulty": True}]) == 0
    assert _report(desk)[0]["n"] == 40


def test_an_output_folder_that_is_a_file_is_told(desk: Path, capsys: pytest.CaptureFixture[str]):
    (desk / "out").write_text("")
    assert _run(desk) == 2
    assert "out cannot be made a folder: File exists" in capsys.readouterr().err


def test_a_catalog_that_does_not_exist_is_told(desk: Path, capsys: pytest.CaptureFixture[str]):
    (desk / "models.toml").unlink()
    assert _run(desk) == 2
    assert "models.toml" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_answered_and_the_next_run_goes_on_from_there(desk: Path):
    command = [sys.executable, "-m", "evalui.cli", *_arguments(desk, _spec(desk, models=["slow"]))]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        # A shell makes what it runs in the background deaf to it, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    log = desk / "slow.log"
    try:
        wait_until(lambda: log.exists() and log.read_text().count("\n") >= 20)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert b"Traceback" not in error
    asked = log.read_text().count("\n")
    models = desk / "models.toml"
    models.write_text(models.read_text().replace("delay = 0.05", "delay = 0"))
    assert _run(desk, models=["slow"]) == 0
    # What was in hand when the key was pressed may be asked again, all the rest is kept.
    assert log.read_text().count("\n") <= 160 + 40
    assert 20 <= asked < 160


def test_the_library_that_multiplied_is_reported(
    desk: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Where the data folder cannot be written, too, and then the terminal says so."""
    demo = ASSETS / "models" / "demo-late"
    (desk / "models.toml").write_text(
        f'[demo]\nbackend = "transformers"\npath = "{demo}"\ndevice = "cpu"\n'
    )
    spec = _spec(desk, models=["demo"], mode="multiple_choice", pattern="origin", limit=4)
    (desk / "file").write_text("")

    monkeypatch.setenv("EVALUI_FP32", "measured")
    monkeypatch.setenv("EVALUI_DATA_DIR", str(desk / "file" / "data"))
    command = [sys.executable, "-m", "evalui.cli", *_arguments(desk, spec)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "fp32.json cannot be written" in told.stderr
    monkeypatch.setenv("EVALUI_DATA_DIR", str(desk / "data"))
    assert main(_arguments(desk, spec)) == 0
    assert "fp32" not in caplog.text
    (choice,) = json.loads((desk / "data" / "fp32.json").read_text()).values()
    (cell,) = _report(desk)
    assert f"|fp32:{choice['library']}|" in cell["signature"]


def test_nobody_else_can_read_what_a_run_writes(desk: Path):
    (desk / "out").mkdir(mode=0o755)
    assert _run(desk) == 0
    written = sorted((desk / "out").iterdir())
    assert len(written) > 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert stat.S_IMODE((desk / "out").stat().st_mode) == 0o755


def test_replies_of_other_runs_are_used_again_unless_told_otherwise(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    spec = _spec(desk, models=["slow"], pattern="origin")
    models, log = str(desk / "models.toml"), desk / "slow.log"
    monkeypatch.setattr(cell, "cacheable_by", lambda _, **__: lambda _: True)  # a script is instant

    def asked(out: str, *options: str) -> int:
        before = log.read_text().count("\n") if log.exists() else 0
        given = ["run", str(spec), "--out", str(desk / out), "--models-file", models, *options]
        assert main(given) == 0
        return log.read_text().count("\n") - before

    assert asked("one") == 40
    assert asked("two") == 0
    assert asked("three", "--no-reuse") == 40
    capsys.readouterr()
    reports = [(desk / out / "report.json").read_text() for out in ("one", "two", "three")]
    cells = [json.loads(text)["overview"][0] for text in reports]
    assert cells[0] == cells[1] == cells[2]
    assert main(["runs", "--database", str(desk / "two" / "evalui.sqlite")]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    run_id, _, state, done, *_ = line.split("\t")
    assert (state, done) == ("done", "40 of 40")
    store = str(desk / "two" / "evalui.sqlite")
    assert main(["export", run_id, "csv", "--database", store]) == 0


def test_a_run_states_its_id(desk: Path, capsys: pytest.CaptureFixture[str]):
    assert _run(desk) == 0
    told = capsys.readouterr().err
    assert main(["runs", "--database", str(desk / "out/evalui.sqlite"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert f"evalui: run {row['id']}; the report is in" in told
    assert (row["state"], row["done"], row["total"]) == ("done", 160, 160)


def test_a_data_folder_that_cannot_be_used_hinders_no_run(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (desk / "file").write_text("")
    monkeypatch.setenv("EVALUI_DATA_DIR", str(desk / "file" / "data"))
    assert _run(desk) == 0
    assert "no replies are used again" in capsys.readouterr().err


def test_letters_of_exported_trials_are_those_that_were_shown(desk: Path):
    """So that comparing two columns gives the accuracy that the report states, in every file."""
    assert _run(desk, models=["biased"]) == 0
    rows = [json.loads(line) for line in (desk / "out/trials.jsonl").read_text().splitlines()]
    assert len({row["order"] for row in rows}) == 4
    for row in rows:
        right = row["readings"]["tolerant"]
        assert (right["choice"] == row["answer"]) == (right["credit"] == 1)
        order = row["permutation"]
        assert row["options"] == [row["file_options"][content] for content in order]
        assert order["ABCD".index(row["answer"])] == "ABCD".index(row["file_answer"])
    # Of earlier versions, with the file's letters under the plain names; both are read alike.
    earlier = [
        {key: value for key, value in row.items() if not key.startswith("file_")}
        | {"options": row["file_options"], "answer": row["file_answer"]}
        for row in rows
    ]
    before = desk / "earlier.jsonl"
    before.write_text("".join(json.dumps(row) + "\n" for row in earlier))
    assert read_choices(before) == read_choices(desk / "out/trials.jsonl")


_DRAWN = {"models": ["slow"], "pattern": "origin", "temperature": 0.7, "limit": 10}


def test_four_replies_to_each_question_by_specification_and_by_option(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk, **_DRAWN | {"models": ["biased"], "repeats": 4}) == 0
    (by_spec,) = _report(desk)
    figures = by_spec
    assert (figures["n"], figures["trials"]) == (10, 40)
    assert figures["majority"] is not None
    assert figures["pass_at_4"] >= figures["pass_at_2"] >= figures["acc_origin"]
    assert 0 < figures["repeat_agreement"] < 100
    assert "|repeats:4|" in by_spec["signature"]
    assert "pass@4" in (desk / "out" / "report.md").read_text(encoding="utf-8")
    lines = map(json.loads, (desk / "out" / "trials.jsonl").read_text().splitlines())
    assert [line["repeat"] for line in lines] == [1, 2, 3, 4] * 10
    capsys.readouterr()
    assert main(["score", "choices", str(desk / "out" / "trials.jsonl")]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["acc_origin"] == pytest.approx(figures["acc_origin"])
    assert again["pass_at_4"] == pytest.approx(figures["pass_at_4"])
    plain = _spec(desk, models=["biased"], pattern="origin", limit=10)
    options = ["--temperature", "0.7", "--repeats", "4"]
    assert main([*_arguments(desk, plain), *options]) == 0
    assert _report(desk)[0] == figures


def test_eight_replies_after_four_ask_for_four_more(desk: Path):
    log = desk / "slow.log"

    def asked(out: str, repeats: int) -> int:
        before = log.read_text().count("\n") if log.exists() else 0
        spec = _spec(desk, **_DRAWN, repeats=repeats)
        models = str(desk / "models.toml")
        assert main(["run", str(spec), "--out", str(desk / out), "--models-file", models]) == 0
        return log.read_text().count("\n") - before

    assert asked("four", 4) == 10 * 4
    assert asked("eight", 8) == 10 * 4
    assert asked("again", 8) == 0


def test_copies_at_temperature_0_are_refused_before_the_run(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    assert _run(desk, repeats=4) != 0
    assert "would be 4 copies" in capsys.readouterr().err


def test_that_no_browser_draws_the_pictures_is_told_and_fails_nothing(
    desk: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("kaleido")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("BROWSER_PATH", "no-such-browser")
    assert _run(desk, models=["perfect", "biased"]) == 0
    told = "evalui: Pictures are drawn without a browser: kaleido finds no Chrome and no Chromium"
    assert told in capsys.readouterr().err.splitlines()
    assert (desk / "out" / "positions-1.png").exists()
