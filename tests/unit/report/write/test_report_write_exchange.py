"""Files for other programs: what is exported is valid, is read again, and keeps its figures."""

import json
import math
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from log_examples import HARNESSES, LOGS

import evalui
from evalui.cli.main import main
from evalui.errors import DataError
from evalui.report.frames import metrics as metric_frame
from evalui.store.bundle import import_bundle
from evalui.store.connection import Database

_SCHEMAS = Path(__file__).parents[3] / "golden" / "every_eval_ever"
_MODELS = """
[steady]
backend = "scripted"
options = {rule = "position-biased"}
[other]
backend = "scripted"
options = {rule = "noisy"}
[referee]
backend = "scripted"
options = {role = "judge", rule = "length-biased-judge"}
"""
_CHOICES = "question,A,B,C,answer\n" + "".join(
    f"What is {n} plus one?,{n},{n + 1},{n + 2},B\n" for n in range(1, 13)
)
_OPEN = "".join(
    json.dumps({"query": f"What is {n} plus {n}?", "response": f"{2 * n}"}) + "\n"
    for n in range(1, 5)
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of choices in two modes and of judged answers, in `out`, its bundle beside."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "models.toml").write_text(_MODELS)
    (folder / "sums.csv").write_text(_CHOICES)
    (folder / "open.jsonl").write_text(_OPEN)
    modes = [
        {"mode": "multiple_choice", "pattern": "circular"},
        {"mode": "cloze"},
        {"mode": "question_answer"},
    ]
    spec = {
        "version": 3,
        "datasets": ["sums.csv", "open.jsonl"],
        "models": ["steady", "other"],
        "modes": modes,
        "judging": {"judges": ["referee"]},
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVALUI_MODELS", str(folder / "models.toml"))
        patched.setenv("EVALUI_DATA_DIR", str(folder / "data"))
        run = ["run", str(folder / "spec.json"), "--out", str(folder / "out")]
        assert main(run) == 0
        yield folder


def _export(place: Path, to: str) -> Path:
    store, target = place / "out" / "evalui.sqlite", place / f"run.{to}"
    with closing(sqlite3.connect(store)) as opened:
        ((run_id,),) = opened.execute("SELECT id FROM run")
    command = ["export", run_id, "--to", to, "--database", str(store), "--output", str(target)]
    assert main(command) == 0
    return target


def _report(place: Path) -> dict[str, Any]:
    return json.loads((place / "out" / "report.json").read_text())


def test_every_eval_ever_is_valid_against_its_schema_and_has_our_figures(place: Path):
    whole = jsonschema.Draft7Validator(json.loads((_SCHEMAS / "eval.schema.json").read_text()))
    line = jsonschema.Draft7Validator(
        json.loads((_SCHEMAS / "instance_level_eval.schema.json").read_text())
    )
    scores: dict[str, float] = {}
    better_lower: set[str] = set()
    lines = 0
    with zipfile.ZipFile(_export(place, "eee.zip")) as archive:
        for name in archive.namelist():
            content = archive.read(name).decode()
            if name.endswith(".json"):
                whole.validate(json.loads(content))
                for each in json.loads(content)["evaluation_results"]:
                    key = f"{name[4:]}:{each['metric_config']['metric_name']}"
                    scores[key] = each["score_details"]["score"]
                    if each["metric_config"]["lower_is_better"]:
                        better_lower.add(each["metric_config"]["metric_name"])
            else:
                for text in content.splitlines():
                    line.validate(json.loads(text))
                    lines += 1
    assert better_lower == {"order_sensitivity"}
    report = _report(place)
    assert lines == 2 * (12 * 3 + 12 + 4)
    for cell in report["overview"]:
        label = cell["mode"].replace(" ", "_").replace(",", "_")
        found = [key for key in scores if key.endswith(":acc_origin") and cell["model"] in key]
        assert found, label
        assert cell["acc_origin"] in [scores[key] for key in found]


@pytest.mark.slow
@pytest.mark.parametrize("harness", HARNESSES)
def test_an_imported_run_of_each_harness_leaves_valid(harness: str, tmp_path: Path):
    (tmp_path / "out").mkdir()
    store = str(tmp_path / "out" / "evalui.sqlite")
    assert main(["import", str(LOGS / harness), "--database", store]) == 0
    assert _check_every_eval_ever(_export(tmp_path, "eee.zip"))


def _check_every_eval_ever(path: Path) -> int:
    """Validate each object and line; how many there are."""
    whole, line = (
        jsonschema.Draft7Validator(json.loads((_SCHEMAS / f"{name}.schema.json").read_text()))
        for name in ("eval", "instance_level_eval")
    )
    n = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name).decode()
            texts = [content] if name.endswith(".json") else content.splitlines()
            for text in texts:
                (whole if name.endswith(".json") else line).validate(json.loads(text))
                n += 1
    return n


def test_a_bundle_keeps_every_figure_in_another_store(place: Path, tmp_path: Path):
    bundle = _export(place, "sqlite")
    other = tmp_path / "other.sqlite"
    with closing(Database(other)) as database:
        import_bundle(bundle, database)  # numbers of trials are others in the second
        run_id = import_bundle(bundle, database)
    with evalui.open(other, run=run_id) as copied, evalui.open(place / "out") as own:
        assert copied.metrics().equals(own.metrics())
        assert copied.standings().equals(own.standings())
        assert copied.trials().equals(own.trials())
        assert copied.verdicts().equals(own.verdicts())


def test_a_bundle_is_recognised_by_import_and_opened_by_the_library(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bundle = _export(place, "sqlite").rename(tmp_path / "no-name")
    with evalui.open(bundle) as opened, evalui.open(place / "out") as own:
        assert opened.metrics().equals(own.metrics())
    store = str(tmp_path / "server.sqlite")
    assert main(["import", str(bundle), "--database", store, "--name", "Brought"]) == 0
    assert "(Brought)" in capsys.readouterr().err
    assert main(["import", str(place / "out"), "--database", store]) == 0  # a whole folder, too


def test_a_bundle_names_no_folder_of_the_machine_it_left(place: Path):
    with closing(sqlite3.connect(_export(place, "sqlite"))) as opened:
        written = "\n".join(opened.iterdump())
    assert str(place) not in written
    assert "sums.csv" in written


def test_a_store_with_other_tables_is_no_bundle(place: Path, tmp_path: Path):
    bundle = _export(place, "sqlite").rename(tmp_path / "bundle.sqlite")
    with closing(sqlite3.connect(bundle)) as opened, opened:
        opened.execute("CREATE TRIGGER sly AFTER INSERT ON run BEGIN DELETE FROM person; END")
    with (
        closing(Database(tmp_path / "other.sqlite")) as database,
        pytest.raises(DataError, match="its tables differ"),
    ):
        import_bundle(bundle, database)


def test_a_database_beside_a_log_does_not_hide_the_log(tmp_path: Path):
    log = shutil.copytree(LOGS / "lmeval", tmp_path / "log")
    with closing(sqlite3.connect(log / "cache.db")) as cache, cache:
        cache.execute("CREATE TABLE anything (value)")
    with evalui.open(log) as found, evalui.open(LOGS / "lmeval") as alone:
        assert found.cells().equals(alone.cells())


def test_the_metrics_leave_as_the_library_has_them(place: Path):
    metrics = evalui.open(place / "out").metrics()
    as_csv = pd.read_csv(_export(place, "metrics.csv"), keep_default_na=False, na_values=[""])
    as_json = json.loads(_export(place, "metrics.json").read_text())
    assert [*as_csv] == [*metrics] == [*as_json[0]]
    assert len(as_csv) == len(metrics) == len(as_json) > 50
    for name in ("value", "low", "high"):
        expected = metrics[name].tolist()
        assert as_csv[name].tolist() == pytest.approx(expected, nan_ok=True)
        found = [math.nan if row[name] is None else row[name] for row in as_json]
        assert found == pytest.approx(expected, nan_ok=True)
    sheet = pd.read_excel(_export(place, "xlsx"), sheet_name="metrics", engine="openpyxl")
    assert [*sheet] == [*metrics]
    assert sheet["metric"].tolist() == metrics["metric"].tolist()
    assert sheet["value"].tolist() == pytest.approx(metrics["value"].tolist(), nan_ok=True)
    named = metrics[["model", "metric"]].astype(str)
    assert as_csv[["model", "metric"]].astype(str).to_numpy().tolist() == named.to_numpy().tolist()


def test_a_name_in_the_metrics_is_no_formula(place: Path, monkeypatch: pytest.MonkeyPatch):
    known = metric_frame.metric_rows

    def hostile(*figures: Any) -> Iterator[dict[str, Any]]:
        return ({**row, "model": "=1+1"} for row in known(*figures))

    monkeypatch.setattr("evalui.report.frames.metrics.metric_rows", hostile)
    content = _export(place, "metrics.csv").read_text(encoding="utf-8-sig")
    assert "'=1+1" in content
    assert ",=1+1" not in content
