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

from evalui.cli import main
from evalui.models import read_catalog
from evalui.runs.inputs import collect, read_datasets, submit
from evalui.runs.spec import read_spec
from evalui.runs.store import Store
from evalui.runs.votes import Mark

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


def vote(store: Store, run_id: str) -> None:
    """Two people say something of some pairs, and one of them has seen the names."""
    for person, most in (("ann", 24), ("bob", 15)):
        for number, choice in zip(range(most), cycle(SAID), strict=False):
            now, *_ = store.ballots(run_id, person)
            comment = "clearer" if number % 5 == 0 else ""
            store.cast(run_id, person, Mark(now.token, choice, comment, 2.5 + number))
    store.finish_votes(run_id, "bob")


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
    with closing(Store(out / "evalui.sqlite")) as store:
        spec = read_spec(json.dumps(QUEUED))
        loaded = read_datasets(spec, base=folder)
        datasets = {key: upload.dataset for key, upload in loaded.items()}
        collected = collect(store, spec, datasets, base=folder)
        submit(store, spec, loaded, read_catalog(models), collected=collected)
        (judged,) = (run.id for run in store.runs() if run.name == OPEN["name"])
        vote(store, judged)
    with closing(sqlite3.connect(out / "evalui.sqlite", isolation_level=None)) as opened:
        opened.execute("PRAGMA journal_mode = DELETE")
        opened.execute("VACUUM")
    return (out / "evalui.sqlite").read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        Path(sys.argv[1]).write_bytes(gzip.compress(make(Path(temporary)), 9, mtime=0))
