"""Sets of pictures by their names, from tables of VLMEvalKit to figures, at a server that looks."""

import base64
from pathlib import Path
from typing import Any

import pytest
from endpoint_server_examples import COLOURS, MODEL, Behaviour, ToyServer, painted

import evalui

NAMES = [*COLOURS]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MMBench with its copies in every order, and TextVQA with the answers of ten people."""
    folder = tmp_path / "given" / "LMUData"
    folder.mkdir(parents=True)
    circular = ["index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage"]
    for row, colour in enumerate(NAMES):
        for turn in range(4):
            options = NAMES[turn:] + NAMES[:turn]
            letter = "ABCD"[options.index(colour)]
            picture = base64.b64encode(painted(colour, side=16 + row)).decode()
            cells = (turn * 10**6 + row, f"Which colour is it, {row}?", *options, letter, "colours")
            circular.append("\t".join([*map(str, cells), str(row) if turn else picture]))
    (folder / "MMBench_DEV_EN.tsv").write_text("\n".join(circular))
    written = ["index\tquestion\tanswer\timage"]
    for row, colour in enumerate(NAMES):
        people = str([colour] * 2 + ["none of these"] * 8)
        picture = base64.b64encode(painted(colour, side=40 + row)).decode()
        written.append("\t".join([str(row), f"Name the colour, {row}.", people, picture]))
    (folder / "TextVQA_VAL.tsv").write_text("\n".join(written))
    monkeypatch.setenv("EVALUI_TASK_DATA", str(folder.parent))
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))


def evaluated(name: str, tmp_path: Path, **settings: Any) -> evalui.Run:
    """A run of a set with a model that sees its pictures."""
    models = tmp_path / "models.toml"
    with ToyServer(Behaviour(pictures="seen")) as server:
        models.write_text(
            f'[looks]\nbackend = "openai"\npath = "{MODEL}"\nchat = true\n'
            f'options = {{ base_url = "{server.url}" }}\n'
        )
        return evalui.evaluate(
            name, models="looks", models_file=models, keep=False, progress=False, **settings
        )


@pytest.mark.usefixtures("tables")
def test_a_circular_set_is_asked_once_in_each_order(tmp_path: Path):
    run = evaluated("MMBench_DEV_EN", tmp_path, mode="generation", orders="circular")
    metrics = run.metrics().set_index("metric")["value"]
    assert (metrics["n"], metrics["robust"], len(run.trials())) == (4, 100, 16)


@pytest.mark.usefixtures("tables")
def test_a_set_of_written_answers_leads_with_its_own_figure(tmp_path: Path):
    run = evaluated("textvqa_val", tmp_path, mode="question_answer")
    # Two people of ten say it: each has one that agrees, each of the others two.
    share = (2 * 1 / 3 + 8 * 2 / 3) / 10
    metrics = run.metrics().set_index("metric")["value"]
    assert metrics["vqa_accuracy"] == pytest.approx(100 * share)
    report = run.report(tmp_path / "report.html", "en").read_text()
    assert "looks reaches vqa_accuracy 0.60" in report
