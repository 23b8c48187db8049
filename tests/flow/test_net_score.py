"""Recorded figures of `evalui score`, and the sentences of the command line and of plain routes."""

import json
from pathlib import Path

import net_examples as net
import pytest
from recorded_runs import models_file

from evalui.cli.main import main
from evalui.shipped_files import ASSETS

KINDS = ("choices", "replies", "texts", "battles", "verdicts")
SCORES = {
    "choices": ("choices", "choices.jsonl"),
    "choices --all": ("choices", "choices.jsonl", "--all"),
    "choices of probabilities": ("choices", "probabilities.jsonl"),
    "choices of probabilities --all": ("choices", "probabilities.jsonl", "--all"),
    "replies": ("replies", "replies.jsonl"),
    "texts": ("texts", "texts.jsonl"),
    "texts --samples": ("texts", "texts.jsonl", "--samples"),
    "battles": ("battles", "battles.jsonl"),
    "battles, some unbeaten": ("battles", "battles-unbeaten.jsonl"),
    "verdicts": ("verdicts", "verdicts.jsonl"),
}
# What is wrong of a run's specification, beside {"datasets", "models", "mode"}.
WRONG = (
    {"models": ["nobody"]},
    {"models": []},
    {"mode": "dance"},
    {"datasets": ["none.csv"]},
    {"datasets": []},
    {"shots": 50},
    {"colour": 1},
    {"limit": 0},
    {"version": 4},
    {"models": ["knows"], "mode": "choices_only"},
    {"mode": "multiple_choice", "template": "nothing.1"},
    {"datasets": ["sums_val.csv"], "pattern": "backwards"},
    {"datasets": [{"path": "faulty.csv"}]},
    {"judging": {"judges": ["knows"]}, "mode": "question_answer"},
    {"answers": [{"model": "x", "path": "none.jsonl"}], "models": [], "mode": "question_answer"},
)


@pytest.mark.parametrize("name", SCORES)
def test_scores_stay(name: str, capsys: pytest.CaptureFixture[str]):
    kind, file, *options = SCORES[name]
    assert main(["score", kind, str(net.INPUTS / "score" / file), *options]) == 0
    told = capsys.readouterr().out
    try:
        found = json.loads(told)
    except json.JSONDecodeError:
        found = [json.loads(line) for line in told.splitlines()]
    net.check_figures(f"score {name}".replace(" ", "-").replace(",", ""), found)


def test_sentences_of_wrong_rows_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "wrong.jsonl").write_text('{"winner": "nobody"}\n{"reply": 3}\n')
    (tmp_path / "broken.jsonl").write_text("{\n")
    told: list[str] = []
    for kind in KINDS:
        for file in ("wrong.jsonl", "broken.jsonl", "none.jsonl"):
            assert main(["score", kind, str(tmp_path / file)]) == 2
            told.append(f"{kind} {file}\n{capsys.readouterr().err}")
    net.check_text("score.txt", "\n".join(told))


def test_sentences_of_wrong_specifications_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    models = models_file(tmp_path)
    for file in ("choice/sums_val.csv", "faulty.csv"):
        source = net.INPUTS / file if "/" in file else ASSETS / "samples" / file
        (tmp_path / source.name).write_bytes(source.read_bytes())
    usual = {"datasets": [{"path": "sums_val.csv", "skip_faulty": True}], "models": ["knows"]}
    told: list[str] = []
    for change in WRONG:
        spec = usual | {"mode": "generation"} | change
        (tmp_path / "spec.json").write_text(json.dumps(spec))
        assert net.run(tmp_path / "spec.json", tmp_path / "out", models) == 2
        told.append(f"{json.dumps(change)}\n{capsys.readouterr().err}")
    net.check_text("specifications.txt", "\n".join(told))


def test_help_stays(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands = [[], ["serve"], ["run"], ["score"], ["worker"]]
    for command in [*commands, *(["score", kind] for kind in KINDS)]:
        with pytest.raises(SystemExit):
            main([*command, "--help"])
    net.check_text("help.txt", capsys.readouterr().out)


@pytest.mark.slow
def test_sentences_of_plain_routes_stay(tmp_path: Path):
    told: list[str] = []
    faulty = (ASSETS / "samples" / "faulty.csv").read_bytes()
    with net.served(tmp_path) as client:
        for language in net.LANGUAGES:
            sent = client.post(f"/upload?lang={language}", files=[("files", ("bad.csv", faulty))])
            upload = sent.json()["upload"]
            told.append(client.get(f"/faults/{upload}.csv?lang={language}").text)
            told.append(client.post(f"/upload?lang={language}", data={"files": "text"}).text)
            told += [
                client.get(f"{path}?lang={language}").text
                for path in (
                    "/export/none.pdf",
                    "/export/none.csv",
                    "/faults/0.csv",
                    "/votes/none.jsonl",
                )
            ]
        assert set(client.get("/healthz").json()) == {"ok", "version", "revision"}
    net.check_text("routes.txt", "\n\n".join(told) + "\n")
