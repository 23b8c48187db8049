"""Results of VLMEvalKit with the file of their questions: pictures go where the run goes."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from evalui.cli.main import main
from evalui.pictures import ids
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.pictures import read_run_picture
from evalui.store.runs import read_runs

GOLDEN = Path(__file__).parents[1] / "golden" / "vlmevalkit" / "mmbench"


def shown(store: Path) -> list[bytes]:
    """The small pictures of all questions of the one run in a store."""
    with closing(Database(store)) as database:
        (run,) = read_runs(database)
        samples = [
            each for cell in read_results(database, run.id) for each in cell.samples.values()
        ]
        pictures = [
            read_run_picture(database, run.id, id_, small=True)
            for id_ in ids(sample.question for sample in samples)
        ]
        assert len(pictures) == len(samples)
        return [picture.body for picture in pictures if picture]


def test_pictures_travel_with_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    first, second = tmp_path / "first.sqlite", tmp_path / "second.sqlite"
    for path in (GOLDEN / "seeded-vlm").glob("*MMBench_DEV_SEEDED*"):
        folder = tmp_path / "outputs" / "seeded-vlm"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / path.name).write_bytes(path.read_bytes())
    questions = GOLDEN / "MMBench_DEV_SEEDED.tsv"
    log = [str(tmp_path / "outputs"), str(questions)]
    assert main(["import", *log, "--database", str(first)]) == 0
    out = capsys.readouterr().out
    assert "hit\tprinted 0.7778\tits marks 0.7778\tevalui 0.7778" in out
    assert main(["runs", "--database", str(first), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    bundle = tmp_path / "run.sqlite"
    export = ["export", run["id"], "--to", "sqlite", "--output", str(bundle)]
    assert main([*export, "--database", str(first)]) == 0
    assert main(["import", str(bundle), "--database", str(second)]) == 0
    assert shown(first) == shown(second)
    assert len(shown(second)) == 90
