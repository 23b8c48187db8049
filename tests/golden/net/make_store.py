"""Write a store of the version of evalui that Python sees; see SOURCES.md beside this file."""

import gzip
import json
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from itertools import cycle
from pathlib import Path

from evalui.cli.main import main
from evalui.models import read_catalog
from evalui.runs.database.voting.ballots import voting_pairs
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_runs
from evalui.runs.database.voting.votes import VoteInput, cast_vote, finish_voting, next_ballots
from evalui.runs.spec import read_spec
from evalui.runs.submit import collect_answers, read_datasets, submit

INPUTS = Path(__file__).parent / "inputs"
SUMS = {"path": "choice/sums_val.csv", "name": "sums", "skip_faulty": True}
CHOICE = {
    "name": "Store: choice",
    "datasets": [SUMS],
    "models": ["knows", "leans"],
    "mode": ["multiple_choice", "generation"],
    "pattern": "circular",
    "limit": 8,
}
OPEN = {
    "name": "Store: open",
    "datasets": [{"path": "open/subjective.xlsx", "name": "subjective"}],
    "models": ["knows"],
    "answers": [
        {"model": "careful", "path": "open/answers_careful.xlsx"},
        {"model": "hasty", "path": "open/answers_hasty.jsonl"},
    ],
    "judging": {"judges": ["by-order", "by-length"]},
}
QUEUED = CHOICE | {"name": "Store: queued", "models": ["leans"], "mode": "cloze"}
SAID = ("a", "tie", "b", "a", "neither", "skip", "a")


def vote(database: Database, run_id: str) -> None:
    """Two people say something of some pairs, and one of them has seen the names."""
    for person, most in (("ann", 24), ("bob", 15)):
        for number, choice in zip(range(most), cycle(SAID), strict=False):
            pairs = voting_pairs(database, run_id)
            now, *_ = next_ballots(database, run_id, person, pairs=pairs)
            comment = "clearer" if number % 5 == 0 else ""
            cast = VoteInput(now.pair_key, choice, comment, 2.5 + number)
            cast_vote(database, run_id, person, cast, pairs=pairs)
    finish_voting(database, run_id, "bob")


def make(folder: Path) -> bytes:
    """The bytes of the store."""
    models, out = folder / "models.toml", folder / "out"
    shutil.copy(INPUTS / "store-models.toml", models)
    for name in ("choice", "open"):
        shutil.copytree(INPUTS / name, folder / name)
    for spec in (CHOICE, OPEN):
        path = folder / "spec.json"
        path.write_text(json.dumps(spec))
        assert main(["run", str(path), "--out", str(out), "--models-file", str(models)]) == 0
    with closing(Database(out / "evalui.sqlite")) as database:
        spec = read_spec(json.dumps(QUEUED))
        loaded = read_datasets(spec, base=folder)
        datasets = {key: upload.dataset for key, upload in loaded.items()}
        collected = collect_answers(database, spec, datasets, base=folder)
        submit(database, spec, loaded, read_catalog(models), collected=collected)
        (judged,) = (run.id for run in read_runs(database) if run.name == OPEN["name"])
        vote(database, judged)
    with closing(sqlite3.connect(out / "evalui.sqlite", isolation_level=None)) as opened:
        opened.execute("PRAGMA journal_mode = DELETE")
        opened.execute("VACUUM")
    return (out / "evalui.sqlite").read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        Path(sys.argv[1]).write_bytes(gzip.compress(make(Path(temporary)), 9, mtime=0))
