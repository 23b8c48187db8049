"""Stores written by earlier versions, converted, export what they exported, and go on."""

import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import net_examples as net
import pytest
from flow_examples import wait_until

from evalui.report.imports.battles import read_votes
from evalui.store.connection import Database
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.plans import close_voting
from evalui.store.voting.votes import add_imported_votes

pytestmark = pytest.mark.slow

MODELS = net.INPUTS / "store-models.toml"
STORES = ("schema-4", "schema-7", "schema-8", "schema-9", "schema-10")
COUNTS = ("trials", "planned")


@pytest.fixture(params=STORES)
def data(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a recorded store as the converter brings it to this version."""
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    import convert_store

    content = (net.NET / "stores" / f"{request.param}.sqlite.gz").read_bytes()
    (tmp_path / "old.sqlite").write_bytes(gzip.decompress(content))
    convert_store.convert(tmp_path / "old.sqlite", tmp_path / "evalui.sqlite")
    return tmp_path


def _end_votes(data: Path) -> None:
    """Close the vote on every run: what people said is kept back until then."""
    with closing(Database(data / "evalui.sqlite")) as database:
        for run_id in net.run_ids(database.path).values():
            close_voting(database, run_id, "local")


def _rows(data: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(data / "evalui.sqlite", isolation_level=None)) as opened:
        return opened.execute(statement).fetchall()


def test_its_figures_stay(data: Path, request: pytest.FixtureRequest):
    _end_votes(data)
    found: dict[str, object] = {}
    with net.served(data, MODELS) as client:
        for name, run_id in sorted(net.run_ids(data / "evalui.sqlite").items()):
            votes = client.get(f"/votes/{run_id}.jsonl")
            found[name] = {
                "report.json": net.report_json(json.loads(net.exported(client, run_id, "json"))),
                "csv": net.csv_columns(net.exported(client, run_id, "csv")),
                "votes": net.json_lines(votes.text),
            }
    assert list(found) == ["Store: choice", "Store: open", "Store: queued"]
    assert found["Store: open"]["votes"]["rows"] == 34  # those skipped are none
    net.check_figures(request.node.callspec.params["data"], found)


@pytest.mark.parametrize("data", ["schema-4"], indirect=True)
def test_its_queued_run_is_done_by_a_worker(data: Path):
    command = [sys.executable, "-m", "evalui.cli", "worker", "--models-file", str(MODELS)]
    worker = subprocess.Popen([*command, "--database", str(data / "evalui.sqlite")])
    try:
        wait_until(lambda: ("queued",) not in _rows(data, "SELECT state FROM run"))
        wait_until(lambda: ("running",) not in _rows(data, "SELECT state FROM run"))
    finally:
        worker.terminate()
        worker.wait()
    assert _rows(data, "SELECT DISTINCT state FROM run") == [("done",)]
    assert _rows(data, "SELECT 1 FROM cell WHERE done < total") == []


@pytest.mark.parametrize("data", ["schema-4"], indirect=True)
def test_its_answers_can_be_judged_again(data: Path, tmp_path: Path):
    """By the command line, in the same store."""
    run_id = net.run_ids(data / "evalui.sqlite")["Store: open"]
    spec = {
        "name": "Again",
        "datasets": [{"path": str(net.INPUTS / "open" / "subjective.xlsx"), "name": "subjective"}],
        "answers": [{"model": name, "run": run_id} for name in ("careful", "hasty")],
        "judging": {"judges": ["by-length"]},
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert net.run(tmp_path / "spec.json", data, MODELS) == 0
    standings = json.loads((data / "report.json").read_text())["standings"]
    assert [standing["model"] for standing in standings] == ["careful", "hasty"]


# The schemas before had other digests of scripted models.
@pytest.mark.parametrize("data", ["schema-8"], indirect=True)
def test_what_its_models_answered_is_not_asked_again(data: Path, tmp_path: Path):
    """The keys of the cache and the specification in report.json mean what they meant."""
    run_id = net.run_ids(data / "evalui.sqlite")["Store: choice"]
    with net.served(data, MODELS) as client:
        report = json.loads(net.exported(client, run_id, "json"))
    asked = _rows(data, "SELECT hex(request) FROM response ORDER BY 1")
    shutil.copy(net.INPUTS / "choice" / "sums_val.csv", tmp_path)
    # Responses are kept of models that take their time.
    slow = tmp_path / "slow.toml"
    slow.write_text(MODELS.read_text().replace("options = {", "options = { delay = 1e-6,"))
    (tmp_path / "spec.json").write_text(json.dumps(report["spec"]))
    assert net.run(tmp_path / "spec.json", data, slow) == 0
    again = json.loads((data / "report.json").read_text())
    for figures, earlier in zip(again["overview"], report["overview"], strict=True):
        # Earlier runs asked the question whose options name others in its own order only.
        movable = {name for name in figures if name.endswith("_movable")}
        assert movable
        for name in movable:
            assert figures.pop(name) == earlier.pop(name.removesuffix("_movable"))
            del figures[name.removesuffix("_movable")]
        added = {name: figures.pop(name) - earlier.pop(name) for name in COUNTS}
        assert added == dict.fromkeys(COUNTS, 3)
        masses = [name for name in figures if name.startswith("label_mass")]
        mass, earlier_mass = ({name: of.pop(name) for name in masses} for of in (figures, earlier))
        assert mass["label_mass"] == pytest.approx(earlier_mass["label_mass"])
        del figures["signature"], earlier["signature"]
        assert figures == earlier
    requests = _rows(data, "SELECT hex(request) FROM response ORDER BY 1")
    assert set(asked) <= set(requests)
    assert len(requests) - len(asked) == 3 * len(report["overview"])


@pytest.mark.parametrize("data", ["schema-8"], indirect=True)
def test_votes_brought_in_a_file_count_as_those_that_were_cast(data: Path, tmp_path: Path):
    run_id = net.run_ids(data / "evalui.sqlite")["Store: open"]
    _end_votes(data)
    with net.served(data, MODELS) as client:
        cast = json.loads(net.exported(client, run_id, "json"))
        (tmp_path / "votes.jsonl").write_bytes(client.get(f"/votes/{run_id}.jsonl").content)
        _rows(data, "DELETE FROM vote")
        with closing(Database(data / "evalui.sqlite")) as database:
            assert (
                add_imported_votes(
                    database,
                    run_id,
                    read_votes(tmp_path / "votes.jsonl"),
                    pairs=voting_pairs(database, run_id),
                )
                == 34
            )
        assert json.loads(net.exported(client, run_id, "json")) == cast
