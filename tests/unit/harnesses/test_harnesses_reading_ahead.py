"""What several processes read of a log is what one reads, and none of it is kept if one fails."""

import sys
from pathlib import Path

import pytest
from harness_examples import choice_line, imported, write_lm_eval

from evalui.errors import DataError
from evalui.harnesses import importing, reading_ahead
from evalui.harnesses.importing import recognise
from evalui.harnesses.reading_ahead import ReadingAhead
from evalui.store.connection import Database
from evalui.store.runs import read_runs

_STORED = (
    "SELECT name, sha256, n_samples FROM dataset ORDER BY id",
    "SELECT id, line, subject, question, body FROM sample ORDER BY dataset, place",
    "SELECT sample, variant, reply FROM trial ORDER BY id",
    "SELECT n, body FROM trial_block ORDER BY cell, first",
    "SELECT label, pattern, signature, plan, questions, done FROM cell ORDER BY id",
)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log is large enough for several processes."""
    monkeypatch.setattr(importing, "_MIN_BYTES", 0)
    monkeypatch.setattr(importing, "_FLUSH_S", 1e9)  # blocks of columns are those of full batches


def reply_line(number: int) -> dict[str, object]:
    prompt = f"Which? ({number})\nA. x{number}\nB. y{number}\nAnswer:"
    return choice_line(
        number,
        target="AB"[number % 2],
        arguments=[[prompt, {"until": ["\n"]}]],
        resps=[[f"The answer is {'AB'[number % 3 > 0]}."]],
        filtered_resps=["A"],
        filter="first" if number % 5 else "second",
    )


def two_logs(folder: Path) -> tuple[Path, Path]:
    """Letters, with lines that are damaged, come again or disagree; and replies, of two filters."""
    lines: list[dict[str, object] | str] = [choice_line(number) for number in range(1300)]
    lines[7] = "{"
    lines[600] = choice_line(5)
    lines[1250] = choice_line(1250, target="1")
    replies = [{**reply_line(number + 1), "model": "r"} for number in range(700)]
    return write_lm_eval(folder / "scores", lines), write_lm_eval(folder / "replies", replies)


@pytest.mark.usefixtures("large")
def test_three_processes_keep_what_one_keeps(tmp_path: Path):
    logs = two_logs(tmp_path)
    kept: list[list[object]] = []
    for processes in (0, 3):
        database = Database(tmp_path / f"{processes}.sqlite")
        run = imported(database, *logs, processes=processes)
        rows = [tuple(row) for sql in _STORED for row in database.rows(sql)]
        kept.append([*rows, run.left_out, *(source for _, source in run.sources)])
        database.close()
    assert kept[0] == kept[1]
    assert {each.rule for each in run.left_out} == {"log-damaged", "log-again", "log-gold"}


@pytest.mark.usefixtures("large")
def test_a_process_that_ends_leaves_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reading_ahead, "_COMMAND", (sys.executable, "-c", "raise SystemExit(9)"))
    with pytest.raises(DataError, match="exit code 9"):
        imported(database, *two_logs(tmp_path), processes=2)
    assert not read_runs(database)


@pytest.mark.usefixtures("large")
def test_a_process_that_cannot_be_started_says_why(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reading_ahead, "_COMMAND", (str(tmp_path / "nowhere"),))
    with pytest.raises(DataError, match="cannot be started"):
        imported(database, *two_logs(tmp_path), processes=2)
    assert not read_runs(database)


def test_a_file_that_is_gone_is_named(tmp_path: Path):
    (part,) = recognise([*write_lm_eval(tmp_path / "log", [choice_line()]).iterdir()])
    for path in (tmp_path / "log").iterdir():
        path.unlink()
    with ReadingAhead([part], 2) as ahead, pytest.raises(DataError, match="samples_capitals"):
        list(ahead.answers())


def test_a_small_log_starts_no_process(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reading_ahead, "_COMMAND", (str(tmp_path / "nowhere"),))
    assert imported(database, *two_logs(tmp_path), processes=2).sources
