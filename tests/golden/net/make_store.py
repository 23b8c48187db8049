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
from evalui.store.voting.ballots import voting_pairs
from evalui.store.connection import Database
from evalui.store.runs import read_runs
from evalui.store.voting.votes import VoteInput, cast_vote, finish_voting, next_ballots
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

# What people leave in a store, a row of each kind.
PEOPLE = """
    INSERT INTO person VALUES ('ann', 'admin', '$argon2id$x', 0, 1.5, 2.5, '{"queued": 2}', '{}');
    INSERT INTO person VALUES ('bob', 'annotator', '', 1, 1.5, NULL, '{}', '{}');
    INSERT INTO invitation VALUES ('d1', 'bob', 1.5, 9e9);
    INSERT INTO session VALUES ('d2', 'ann', 1.5, 2.5, 3600.0, 9e9);
    INSERT INTO sign_in_failure VALUES ('bob', 3.5);
    INSERT INTO api_token VALUES (7, 'd3', 'ann', 'write', 'gate', 1.5, NULL, 9e9);
    INSERT INTO audit VALUES (9, 1.5, 'ann', 'start', 'r', '{"n": 1}');
    INSERT INTO upload VALUES ('ann', 'u1', 'sums.csv', 120, 1.5);
    INSERT INTO share VALUES
        ('s1', 'ann', '/en/?run=r', 'Bias', 1.5, 9e9, NULL, 3, 4.5, x'00ff', x'612c62');
    INSERT INTO decision VALUES ('queue', '"paused"');
    INSERT INTO turn VALUES ('ann', 5.5);
    INSERT INTO spending VALUES ('ann', '2026-11-22', 1.5, 200, 0.25);
    INSERT INTO reply_source VALUES (3, 'knows', 'f', '', 1.5);
    INSERT INTO response VALUES (x'aa', '["A"]', 3);
    INSERT INTO voting_plan SELECT id, 2, 1.5 FROM run WHERE name = 'Store: open';
    INSERT INTO assigned_voter SELECT run, 'ann', 0 FROM voting_plan;
    INSERT INTO closed_vote SELECT run, 'ann', 6.5 FROM voting_plan;
    INSERT INTO adjudication SELECT run, pair, 'ann', shown_left, shown_right, 'a', 'yes', 7.5
        FROM vote WHERE owner = 'bob' LIMIT 1;
    INSERT INTO guest_link SELECT 'd4', run, 'ann', 1.5, 9e9, NULL FROM voting_plan;
    INSERT INTO guest VALUES ('d5', 'd4', 'Gus', 1.5, 2.5, 'd6');
    INSERT INTO request_key SELECT 'ann', 'k', 'd7', run, 1.5 FROM voting_plan;
    UPDATE run SET owner = 'ann', priority = 2 WHERE name = 'Store: queued';
"""


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
        opened.executescript(PEOPLE)
        opened.execute("PRAGMA journal_mode = DELETE")
        opened.execute("VACUUM")
    return (out / "evalui.sqlite").read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        Path(sys.argv[1]).write_bytes(gzip.compress(make(Path(temporary)), 9, mtime=0))
