"""Logs of Inspect: zips with Zstandard members, epochs apart, orders by the texts of options."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from harness_examples import LOGS, figures_of, imported

from evalui.errors import DataError
from evalui.runs.results import read_results
from evalui.store.connection import Database


@pytest.mark.parametrize(
    ("file", "dataset", "figure", "printed"),
    [
        ("geography.eval", "geography", "choice/accuracy", 0.3125),
        ("geography_shuffled.eval", "geography", "choice/accuracy", 0.125),
        ("arithmetic.json", "arithmetic", "match/accuracy", 0.75),
        ("arithmetic.json", "arithmetic", "includes/accuracy", 0.75),
    ],
)
def test_the_marks_in_the_log_give_what_inspect_printed(
    database: Database, file: str, dataset: str, figure: str, printed: float
):
    found = figures_of(imported(database, f"inspect/{file}"), dataset)["", figure]
    assert (found.printed, found.confirmed) == (printed, True)


def test_epochs_are_cells_of_their_own(database: Database):
    run = imported(database, "inspect/geography.eval")
    first, second = read_results(database, run.run_id)
    assert (first.cell.label, second.cell.label) == ("generation", "generation 2")
    assert len(first.trials) == len(second.trials) == 8
    assert "|repeat:2|" in second.cell.signature
    # The answers of the second epoch are others.
    replies = [[trial.reply for trial in one.trials] for one in (first, second)]
    assert replies[0] != replies[1]


def test_a_mark_stands_beside_what_evalui_reads(database: Database):
    run = imported(database, "inspect/geography.eval")
    first, _ = read_results(database, run.run_id)
    for trial in first.trials:
        assert set(trial.readings) == {"tolerant", "strict", "harness"}
        assert trial.readings["harness"].credit in (0.0, 1.0)


def test_questions_are_in_the_order_of_the_dataset(database: Database):
    run = imported(database, "inspect/geography.eval")
    assert list(read_results(database, run.run_id)[0].samples) == [
        f"geography-{number}" for number in range(8)
    ]


def sample_of(log: Path, name: str) -> dict[str, object]:
    from backports.zstd import zipfile

    with zipfile.ZipFile(log) as archive:
        return json.loads(archive.read(name))


def eval_file(path: Path, samples: list[dict[str, object]], **header: object) -> Path:
    """A log of older versions, whose members are deflated."""
    run = {
        "task": "geography",
        "model": "m",
        "dataset": {"sample_ids": ["geography-0"]},
        "packages": {"inspect_ai": "0.3.1"},
    }
    with ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": run} | header))
        for sample in samples:
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample)
            )
    return path


def test_a_reducer_is_part_of_the_name_of_a_figure(database: Database, tmp_path: Path):
    own = sample_of(LOGS / "inspect/geography.eval", "samples/geography-0_epoch_1.json")
    right = {**own, "scores": {"choice": {"value": "C", "answer": "A"}}}
    wrong = {**own, "epoch": 2, "scores": {"choice": {"value": "I", "answer": "B"}}}
    scores = [
        {
            "name": "choice",
            "scorer": "choice",
            "reducer": reducer,
            "metrics": {"accuracy": {"name": "inspect_ai/accuracy", "value": value}},
        }
        for reducer, value in (("mean", 0.5), ("max", 1.0), ("pass_at_2", 1.0), ("mode", 0.0))
    ]
    log = eval_file(tmp_path / "log.eval", [right, wrong], results={"scores": scores})
    figures = figures_of(imported(database, log), "geography")
    assert {name: figure.printed for (_, name), figure in figures.items()} == {
        "choice/accuracy": 0.5,
        "choice/max/accuracy": 1.0,
        "choice/pass_at_2/accuracy": 1.0,
        "choice/mode/accuracy": 0.0,
    }
    assert figures["", "choice/accuracy"].confirmed
    assert figures["", "choice/max/accuracy"].marked is None


def test_each_value_of_a_dictionary_is_a_mark(database: Database, tmp_path: Path):
    own = sample_of(LOGS / "inspect/geography.eval", "samples/geography-0_epoch_1.json")
    own = {**own, "scores": {"quiz": {"value": {"right": "C", "style": 0.25}, "answer": "A"}}}
    scores = [
        {"name": name, "scorer": "quiz", "metrics": {"mean": {"name": "mean", "value": value}}}
        for name, value in (("right", 1.0), ("style", 0.25))
    ]
    log = eval_file(tmp_path / "log.eval", [own], results={"scores": scores})
    figures = figures_of(imported(database, log), "geography")
    assert {name: (each.printed, each.marked) for (_, name), each in figures.items()} == {
        "quiz/right/mean": (1.0, 1.0),
        "quiz/style/mean": (0.25, 0.25),
    }


def test_figures_of_one_name_stand_side_by_side(database: Database, tmp_path: Path):
    own = sample_of(LOGS / "inspect/geography.eval", "samples/geography-0_epoch_1.json")
    own = {**own, "scores": {"choice": {"value": "C", "answer": "A"}}}
    metrics = {
        "accuracy": {"name": "inspect_ai/accuracy", "value": 1.0},
        "accuracy1": {"name": "mine/accuracy", "value": 0.75},
    }
    scores = [{"name": "choice", "scorer": "choice", "metrics": metrics}]
    log = eval_file(tmp_path / "log.eval", [own], results={"scores": scores})
    figures = figures_of(imported(database, log), "geography")
    assert {name: figure.printed for (_, name), figure in figures.items()} == {
        "choice/accuracy": 1.0,
        "choice/accuracy #2": 0.75,
    }


def test_epochs_in_other_orders_are_orders_of_one_cell(database: Database, tmp_path: Path):
    own = sample_of(LOGS / "inspect/geography.eval", "samples/geography-0_epoch_1.json")
    moved = {
        **own,
        "epoch": 2,
        "choices": ["Rome", "Madrid", "Berlin", "Paris"],
        "target": "D",
        "messages": [],
    }
    run = imported(database, eval_file(tmp_path / "log.eval", [own, moved]))
    (result,) = read_results(database, run.run_id)
    assert result.cell.pattern == "circular"
    assert [trial.variant.permutation for trial in result.trials] == [(0, 1, 2, 3), (1, 2, 3, 0)]
    assert [trial.target for trial in result.trials] == [0, 3]


def test_an_order_whose_right_text_is_another_is_left_out(database: Database, tmp_path: Path):
    own = sample_of(LOGS / "inspect/geography.eval", "samples/geography-0_epoch_1.json")
    moved = {**own, "epoch": 2, "choices": ["Rome", "Madrid", "Berlin", "Paris"], "messages": []}
    run = imported(database, eval_file(tmp_path / "log.eval", [own, moved]))
    assert [(each.rule, each.rows) for each in run.left_out] == [("log-gold", 1)]


def test_an_unfinished_log_says_what_to_do(database: Database, tmp_path: Path):
    with pytest.raises(DataError, match=r"its state is started.*eval-retry"):
        imported(database, eval_file(tmp_path / "log.eval", [], status="started"))
    with pytest.raises(DataError, match="--no-log-samples"):
        imported(database, eval_file(tmp_path / "log.eval", []))


def test_a_damaged_archive_says_so(database: Database, tmp_path: Path):
    broken = tmp_path / "log.eval"
    broken.write_bytes((LOGS / "inspect/geography.eval").read_bytes()[:9000])
    with pytest.raises(DataError, match=r"log.eval is damaged.*Copy it again"):
        imported(database, broken)


@pytest.mark.parametrize("member", ["header.json", "samples/1_epoch_1.json"])
@pytest.mark.parametrize("lies", [False, True])
def test_a_member_that_unpacks_to_gigabytes_takes_no_memory(
    tmp_path: Path, member: str, lies: bool
):
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(tmp_path / "log.eval"), member, str(int(lies))],
        check=True,
        capture_output=True,
        text=True,
    )
    said, grown = done.stdout.splitlines()
    assert "log.eval" in said or said == "unreadable: 1"
    assert float(grown) < 100


BOMB = """
import resource, struct, sys
from pathlib import Path
from backports.zstd import ZstdCompressor, zipfile
from evalui.errors import DataError
from evalui.harnesses.inspect_log import read_inspect

path, member, lies = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
header = b'{"status": "success", "eval": {"task": "t", "model": "m", "dataset": {}}}'
others = {"header.json": header, "samples/1_epoch_1.json": b"{}"}
with zipfile.ZipFile(path, "w", compression=zipfile.ZIP_ZSTANDARD) as archive:
    for name in others:
        if name != member:
            archive.writestr(name, others[name])
        else:
            with archive.open(name, "w", force_zip64=True) as entry:
                for _ in range(60):
                    entry.write(b" " * 10_000_000)
if lies:  # a member of as many bytes as its content begins with
    raw = path.read_bytes()
    assert raw.count(struct.pack("<Q", 6 * 10**8)) or raw.count(struct.pack("<I", 6 * 10**8))
    raw = raw.replace(struct.pack("<I", 6 * 10**8), struct.pack("<I", 10))
    path.write_bytes(raw.replace(struct.pack("<Q", 6 * 10**8), struct.pack("<Q", 10)))

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before = megabytes()
try:
    (part,) = read_inspect([path])
    said = f"unreadable: {len(list(part.read()))}"
except DataError as error:
    said = str(error)
print(said)
print(megabytes() - before)
"""
