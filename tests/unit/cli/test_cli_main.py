import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main


def _write(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def _rotations(name: str, replies: str) -> list[dict[str, Any]]:
    """One question with the right option B, asked in three orders and answered so."""
    orders = ([0, 1, 2], [2, 0, 1], [1, 2, 0])
    return [
        {"id": name, "options": list("xyz"), "answer": "B", "permutation": order, "reply": reply}
        for order, reply in zip(orders, replies, strict=True)
    ]


def test_choices_are_scored_into_one_json_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    # Option y stands in slots B, C, A. q1 is right in every order, q2 always says A.
    path = _write(tmp_path, *_rotations("q1", "BCA"), *_rotations("q2", "AAA"))
    assert main(["score", "choices", path]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["acc_origin"] == pytest.approx(50)
    assert told["acc_circular"] == pytest.approx(100 * (1 + 1 / 3) / 2)
    assert told["perf_circular"] == told["robust"] == pytest.approx(50)
    assert told["more_1_circular"] == pytest.approx(100)
    assert list(told)[:6] == [
        "acc_origin",
        "acc_circular",
        "perf_origin",
        "more_1_circular",
        "more_2_circular",
        "perf_circular",
    ]


def test_all_adds_to_the_figures_of_choices_and_changes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = _write(tmp_path, *_rotations("q1", "BCA"), *_rotations("q2", "AAA"))
    printed: list[dict[str, Any]] = []
    for more in ([], ["--all"]):
        assert main(["score", "choices", *more, path]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    short, full = printed
    assert short["positions"]
    assert full.keys() - short.keys() == {
        "bias",
        "calibration",
        "calibration_figures",
        "consistency",
        "flips",
        "gates",
        "priors",
        "risk_coverage",
        "thresholds",
    }
    assert {name: full[name] for name in short if name != "positions"} == {
        name: value for name, value in short.items() if name != "positions"
    }
    for slot, whole in zip(short["positions"], full["positions"], strict=True):
        unknown = {name for name, value in slot.items() if value is None}
        assert unknown == {"gold", "rstd_floor95", "permutation_p", "light"}
        assert {name: whole[name] for name in slot if name not in unknown} == {
            name: value for name, value in slot.items() if name not in unknown
        }


def test_replies_are_read_into_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ["x", "y"]
    path = _write(
        tmp_path, {"reply": "答案：B", "options": options}, {"reply": "no", "options": options}
    )
    assert main(["score", "replies", path]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["choice"] for line in lines] == ["B", None]
    assert all(line["rule"] for line in lines)


def test_the_program_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    assert "  run         " in capsys.readouterr().out


def test_a_file_whose_name_begins_like_an_option_stands_behind_two_dashes(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["check", "--", "--sums.csv"]) == 2
    assert "--sums.csv does not exist" in capsys.readouterr().err


def test_questions_in_place_of_a_specification_are_told_how_to_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["run", "sums.csv", "--out", str(tmp_path / "out")]) == 2
    assert "by --dataset sums.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["dance"], "evalui: argument COMMAND: there is no 'dance'; there are demo, serve, run,"),
        (["srve"], "there is no 'srve'; did you mean serve?"),
        (
            ["score", "chioces"],
            "evalui score: argument KIND: there is no 'chioces'; did you mean choices?",
        ),
        (["score"], "evalui score: the following arguments are required: KIND"),
        (["score", "choices"], "required: FILE.jsonl"),
        (["run", "spec.json"], "evalui run: the following arguments are required: --out"),
        (["serve", "--prot", "1"], "evalui serve: there is no --prot; did you mean --port?"),
        (["run", "--modle", "m"], "evalui run: there is no --modle; did you mean --model?"),
        (["run", "--orders", "circular"], "evalui run: there is no --orders (see"),
        (["serve", "--port", "x"], "argument --port: a port is 0 to 65535, not 'x'"),
        (["serve", "--port", "70000"], "argument --port: a port is 0 to 65535, not '70000'"),
        (["check", "a.csv", "--head-row", "-2"], "a row is -1 or more, not '-2'"),
        (["gate", "a", "b", "--allow", "x"], "the loss allowed in points is 0 to 100, not 'x'"),
    ],
)
def test_wrong_arguments_end_with_code_2_and_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("kind", ["choices", "replies"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "rows.jsonl is empty"),
        (b"{}\n", "rows.jsonl line 1: "),
        (b"not json\n", "rows.jsonl line 1, column 1: not valid JSON"),
        (b"\xff\xfe\x00\x00", "rows.jsonl is not UTF-8"),
    ],
)
def test_bad_rows_end_with_code_2_and_one_line(
    kind: str, content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    assert main(["score", kind, str(path)]) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_missing_file_ends_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["score", "choices", str(tmp_path / "gone.jsonl")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


def test_a_folder_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["score", "replies", str(tmp_path)]) == 2
    assert "cannot be read: Is a directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("EVALUI_PORT", "many", "Setting EVALUI_PORT: "),
        ("EVALUI_LANGUAGE", "fr", "Setting EVALUI_LANGUAGE: 'fr' is neither en nor zh."),
    ],
)
def test_a_wrong_setting_is_named(
    setting: str,
    value: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv(setting, value)
    spec = tmp_path / "spec.json"
    spec.write_text('{"datasets": ["x.csv"], "models": ["perfect"], "mode": "generation"}')
    assert main(["run", str(spec), "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err


def test_a_broken_settings_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("evalui.toml").write_text("port =")
    assert main(["worker"]) == 2
    assert capsys.readouterr().err.startswith("evalui: evalui.toml: ")


def test_a_worker_for_a_device_that_is_none_is_not_started(capsys: pytest.CaptureFixture[str]):
    assert main(["worker", "--device", "gpu"]) == 2
    assert "'gpu' is not a device of a worker" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["score", "choices", "--help"], ["--version"]])
def test_help_and_version_are_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    assert "evalui" in capsys.readouterr().out


def test_the_help_of_score_shows_a_row(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["score", "choices", "--help"])
    told = capsys.readouterr().out
    assert '{"id": "q1", "options": ["Paris", "Rome"], "answer": "B"' in told
    assert "permutation[slot] is the index of the option shown there" in told


@pytest.mark.parametrize("command", ["help", "choices", "replies"])
def test_help_and_scoring_load_nothing_heavy(command: str, tmp_path: Path):
    row = {"id": 1, "options": ["x", "y"], "answer": "A", "reply": "A"}
    arguments = {
        "help": ["--help"],
        "choices": ["score", "choices", _write(tmp_path, row)],
        "replies": ["score", "replies", _write(tmp_path, row)],
    }[command]
    program = (
        "import sys\n"
        "from evalui.cli.main import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'torch', 'transformers', 'gradio', 'pandas', 'fastapi'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_a_reader_that_has_seen_enough_causes_no_traceback(tmp_path: Path):
    rows = [{"reply": "A", "options": ["x", "y"]}] * 20_000
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "evalui.cli", "score", "replies", _write(tmp_path, *rows)],
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, error = process.communicate()
    assert error == b""
    assert process.returncode == 1


def test_what_has_no_room_is_reported_without_a_traceback(tmp_path: Path):
    rows = [{"reply": "A", "options": ["x", "y"]}] * 20_000
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "evalui.cli", "score", "replies", _write(tmp_path, *rows)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    expected = "evalui: No space left on device; the output is incomplete\n"
    assert (done.returncode, done.stderr) == (1, expected)
