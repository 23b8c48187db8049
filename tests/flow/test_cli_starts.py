"""What each command imports when it really runs: a start pays for every package."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evalui.report.write.formats import FORMATS, TRIAL_FORMATS

# For a page, a model, a table: what computes figures needs none of them.
NEVER = (
    "torch transformers peft gradio fastapi pandas openpyxl scipy.stats aiohttp httpcore sklearn"
)
# What the light ways need as little.
LIGHT = f"{NEVER} evalui.report.blocks scipy nltk jieba pydantic sqlite3 sacrebleu unittest"
WITHOUT_SCIPY = " ".join({*LIGHT.split()} - {"scipy", "unittest"})
# nltk imports scipy.stats, too.
WITHOUT_NLTK = " ".join({*LIGHT.split()} - {"nltk", "scipy", "scipy.stats", "sqlite3", "unittest"})
# What shows figures, of which files of trials have none.
FIGURES = "scipy evalui.report.compile evalui.app.service"
# Commands of one process, one after the other: those that may import more come later.
PROGRAM = """
import json, sys
from evalui.cli.main import main
for arguments, unwanted in json.loads(sys.argv[1]):
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    print(code, *sorted(set(unwanted.split()) & set(sys.modules)), file=sys.stderr)
"""


def _rotations() -> list[dict[str, Any]]:
    """Questions in all rotations, unequally right, so that every range and test is computed."""
    rows: list[dict[str, Any]] = []
    for number in range(12):
        for turn in range(4):
            order = [(slot + turn) % 4 for slot in range(4)]
            reply = "ABCD"[(number * turn) % 4] if number % 3 else "A"
            rows.append({"id": number, "options": [*"wxyz"], "answer": "ABCD"[number % 4]})
            rows[-1] |= {"permutation": order, "reply": reply}
    return rows


def _battles() -> list[dict[str, Any]]:
    winners = ["model_a", "model_b", "tie", "model_b", "model_a"]
    return [
        {"model_a": "xy"[n % 2], "model_b": "yz"[n % 2], "winner": winners[n % 5], "question": n}
        for n in range(20)
    ]


def _pair(prediction: str, reference: str) -> list[dict[str, Any]]:
    return [{"prediction": prediction, "reference": reference}]


ENGLISH = _pair("Mr. Smith's cat can't sit. (It's \"late\".)", "Dr. Smith said it's late.")
CHINESE = _pair("今天天气很好，我们去公园玩。", "今天天气不错，我们去公园。")


def _run(*commands: tuple[list[str], str], folder: Path) -> tuple[str, list[str]]:
    """What the commands print, then of each its exit code and which of its unwanted modules have
    been imported.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    lines = [line for line in done.stderr.splitlines() if re.match(r"\d( |$)", line)]
    assert len(lines) == len(commands), done.stderr
    return done.stdout, lines


@pytest.mark.parametrize(
    ("arguments", "rows", "unwanted", "expected"),
    [
        (["choices"], _rotations(), WITHOUT_SCIPY, '"perf_circular"'),
        (["choices", "--all"], _rotations(), NEVER, '"gold_p"'),
        (["replies"], [{"reply": "A", "options": ["x", "y"]}], f"{LIGHT} numpy", '"choice": "A"'),
        (["texts"], CHINESE, LIGHT.replace("jieba ", "") + " numpy", '"rouge-l-f"'),
        (["texts"], ENGLISH, WITHOUT_NLTK, '"rouge-l-f"'),
        (["battles"], _battles(), NEVER, '"bradley_terry"'),
        (["verdicts"], [{"format": "mtbench", "reply": "[[B]]"}], LIGHT, '"verdict": "B"'),
    ],
    ids=["choices", "choices-all", "replies", "chinese", "english", "battles", "verdicts"],
)
def test_scoring_imports_no_more_than_it_needs(
    arguments: list[str], rows: list[dict[str, Any]], unwanted: str, expected: str, tmp_path: Path
):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    printed, imported = _run((["score", *arguments, str(file)], unwanted), folder=tmp_path)
    assert expected in printed
    assert imported == ["0"]


def test_help_imports_nothing_that_computes(tmp_path: Path):
    commands = [["--version"], ["--help"], ["score", "texts", "--help"], ["models", "--help"]]
    printed, imported = _run(*((each, f"{LIGHT} numpy") for each in commands), folder=tmp_path)
    assert printed.count("usage: evalui") == 3
    assert imported == ["0"] * 4


def _scripted_run(folder: Path) -> tuple[str, list[str]]:
    questions = "".join(f"{n},What is {n} plus {n}?,{2 * n},x,y,z,A\n" for n in range(8))
    (folder / "sums_val.csv").write_text("id,question,A,B,C,D,answer\n" + questions)
    (folder / "models.toml").write_text(
        '[biased]\nbackend = "scripted"\n[biased.options]\nrule = "position-biased"\n'
    )
    spec = {"datasets": ["sums_val.csv"], "models": ["biased"], "mode": "generation"}
    (folder / "spec.json").write_text(json.dumps(spec | {"pattern": "circular"}))
    given = ["run", "spec.json", "--out", "out", "--models-file", "models.toml"]
    return _run((given, NEVER.replace("pandas ", "")), folder=folder)


def test_a_run_and_its_exports_import_no_more_than_they_need(tmp_path: Path):
    printed, imported = _scripted_run(tmp_path)
    assert "biased is right on 88 %" in printed
    assert imported == ["0"]
    with closing(sqlite3.connect(tmp_path / "out" / "evalui.sqlite")) as store:
        ((run_id,),) = store.execute("SELECT id FROM run")
    formats = [each for each in FORMATS if each != "opencompass.md"]  # one of judged answers
    # Files are written from DataFrames, but for lines of trials, which need no figure either.
    with_frames = NEVER.replace(" pandas", "")
    unwanted = dict.fromkeys(formats, with_frames)
    unwanted |= dict.fromkeys(TRIAL_FORMATS, f"{with_frames} {FIGURES}")
    unwanted["trials.jsonl"] = f"{NEVER} {FIGURES}"
    wanted = sorted(formats, key=lambda extension: -len(unwanted[extension]))
    options = ["--database", "out/evalui.sqlite", "--output"]
    commands = [
        (["export", run_id, extension, *options, f"report.{extension}"], unwanted[extension])
        for extension in wanted
    ]
    _, imported = _run(*commands, folder=tmp_path)
    assert dict(zip(wanted, imported, strict=True)) == dict.fromkeys(formats, "0")
    assert all((tmp_path / f"report.{extension}").stat().st_size for extension in formats)
