"""Stores of earlier versions, and what the converter makes of them."""

import gzip
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from evalui.store.codec import decode_sentence
from evalui.store.column_blocks import decode_columns, no_texts
from evalui.store.connection import Database
from evalui.types import Reading, Trial, Variant

ROOT = Path(__file__).parents[2]
STORES = ROOT / "tests" / "golden" / "net" / "stores"
VERSIONS = sorted(int(path.name[7:].partition(".")[0]) for path in STORES.glob("*.gz"))
_EN = "This rule needs a reference answer and a form it knows; it cannot decide here."


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import convert_store

    return convert_store


def old_store(folder: Path, version: int, *statements: str) -> Path:
    """A recorded store, with what the statements do to it."""
    path = folder / "old.sqlite"
    path.write_bytes(gzip.decompress((STORES / f"schema-{version}.sqlite.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(";".join(statements))
    return path


def tables_of(path: Path) -> dict[str, list[dict[str, object]]]:
    """Every row of every table."""
    with closing(sqlite3.connect(path)) as opened:
        opened.row_factory = sqlite3.Row
        names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: [dict(row) for row in opened.execute(f"SELECT * FROM {name}")]
            for (name,) in names
        }


def made_by(path: Path) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as opened:
        return set(opened.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_goes_along_under_the_tables_of_this_version(
    script: ModuleType, tmp_path: Path, version: int
):
    old, new = old_store(tmp_path, version), tmp_path / "new.sqlite"
    before = old.read_bytes()
    lines = script.convert(old, new)
    assert old.read_bytes() == before
    assert new.stat().st_mode & 0o777 == 0o600
    assert lines[0].startswith(f"{old} has version {version}, {new} has version ")
    Database(tmp_path / "empty.sqlite").close()
    assert made_by(new) == made_by(tmp_path / "empty.sqlite")
    Database(new).close()
    was, now = tables_of(old), tables_of(new)
    for table in was.keys() - script.DROPPED:
        dropped = set(was[table][0]) - set(now[table][0]) if was[table] else set()
        assert {f"{table}.{column}" for column in dropped} <= script.DROPPED
        if version < 6:  # some judgements are no longer counted as unreadable
            dropped |= {"unreadable"}
        if table == "trial_block":  # which are written in another form
            dropped |= {"body"}
        assert len(was[table]) == len(now[table])
        for kept, row in zip(was[table], now[table], strict=True):
            own = {name: row[name] for name in kept.keys() - dropped}
            assert own == {name: kept[name] for name in own}, table
    if version == 17:  # where the recorded store has whatever people leave in one
        left_empty = {table for table, rows in now.items() if not rows}
        assert left_empty <= {
            "loading",
            "dataset_picture",
            "membership",
            "picture",
            "team",
            "team_right",
            "trial_of_model",
            "worker",
        }


def test_blocks_hold_what_they_held(script: ModuleType, tmp_path: Path):
    # Of blocks that were merged the numbers of their rows are not taken again.
    old = old_store(tmp_path, 17, "UPDATE trial_block SET rowid = rowid + 1000")
    script.convert(old, tmp_path / "new.sqlite")
    was, now = tables_of(old), tables_of(tmp_path / "new.sqlite")
    credits = {row["id"]: (row["target"], row["credit"], row["rule"]) for row in was["trial"]}
    read: dict[object, tuple[object, ...]] = {}
    for row in now["trial_block"]:
        assert isinstance(row["body"], bytes)
        columns = decode_columns(row["body"], no_texts)
        rules = [columns.rules[place] for place in columns.reading.rule]
        values = columns.target.tolist(), columns.reading.credit.tolist(), rules
        read |= dict(zip(columns.number.tolist(), zip(*values, strict=True), strict=True))
    assert read == credits


def test_numbers_of_deleted_trials_are_not_given_again(script: ModuleType, tmp_path: Path):
    old = old_store(tmp_path, 17, "UPDATE sqlite_sequence SET seq = 99999 WHERE name = 'trial'")
    script.convert(old, tmp_path / "new.sqlite")
    assert (
        tables_of(tmp_path / "new.sqlite")["sqlite_sequence"] == tables_of(old)["sqlite_sequence"]
    )


def test_errors_of_the_first_version_keep_their_text(script: ModuleType, tmp_path: Path):
    old = old_store(
        tmp_path,
        4,
        "DELETE FROM migration WHERE number > 1",
        """UPDATE run SET error = 'It "broke".' WHERE name = 'Store: queued'""",
    )
    script.convert(old, tmp_path / "new.sqlite")
    runs = {row["name"]: row["error"] for row in tables_of(tmp_path / "new.sqlite")["run"]}
    assert decode_sentence(str(runs["Store: queued"])) == 'It "broke".'
    assert runs["Store: open"] == ""


def test_the_last_speeds_are_the_first_of_several(script: ModuleType, tmp_path: Path):
    old = old_store(
        tmp_path,
        4,
        "DELETE FROM pace",
        "INSERT INTO pace VALUES ('m', 'cloze', 0, 'f', 10.0), ('m', 'cloze', 5, 'f', 5.0)",
    )
    script.convert(old, tmp_path / "new.sqlite")
    kept = [tuple(row.values()) for row in tables_of(tmp_path / "new.sqlite")["pace"]]
    assert kept == [
        (1, "m", "cloze", 0, "f", 10.0),
        (2, "m", "cloze", 5, "f", 5.0),
    ]


def test_judgements_without_a_reference_are_no_longer_unreadable(
    script: ModuleType, tmp_path: Path
):
    body = '[0,"v",{"v":[null,0.0,"unparsed",false]},[],null,{},0,false,""]'
    old = old_store(
        tmp_path,
        4,
        "DELETE FROM answer",
        "DELETE FROM cell",
        "DELETE FROM trial",
        "INSERT INTO sample VALUES"
        """ (1, 'sample', 100, 'bare', 1, '', '', '["bare","?",[],[],{},false]')"""
        """, (1, 'sample', 101, 'told', 1, '', '', '["told","?",[],["x"],{},false]')""",
        "INSERT INTO cell (id, run, place, dataset, source, dataset_name, model, mode, label,"
        " pattern, signature, plan, questions, total, requests, state)"
        " SELECT 1, min(id), 0, 1, '', 'd', 'j', 'judge', '', 'origin', '', '{}', 2, 4, 4, 'done'"
        " FROM run",
        "INSERT INTO trial VALUES"
        f" (1, 'bare', '0,1', 0, 0, NULL, 0.0, 0, 'unparsed', '{_EN}', '{body}')"
        f", (1, 'bare', '1,0', 0, 0, NULL, 0.0, 0, 'unparsed', 'Who knows?', '{body}')"
        f", (1, 'told', '0,1', 0, 0, NULL, 0.0, 0, 'unparsed', '{_EN}', '{body}')",
    )
    script.convert(old, tmp_path / "new.sqlite")
    now = tables_of(tmp_path / "new.sqlite")
    (block,) = now["trial_block"]
    assert isinstance(block["body"], bytes)
    columns = decode_columns(block["body"], no_texts)
    read = [columns.rules[place] for place in columns.reading.rule]
    assert read == ["no-reference", "unparsed", "unparsed"]
    (cell,) = now["cell"]
    assert (cell["done"], cell["unreadable"], cell["unreferenced"]) == (3, 2, 1)
    assert cell["gives"] == "verdicts"


def test_every_trial_keeps_what_its_row_held_as_json(script: ModuleType, tmp_path: Path):
    read = '{"forced":[2,1.0,"forced",false],"strict":[null,0.0,"empty",false]}'
    bodies = {
        "3,0,1,2": f'[2,"forced",{read},[0.1,0.2,0.3,0.4],0.9,{{}},1,true,"duplicates"]',
        "0,1,2,3": f'[2,"forced",{read},[],null,{{"raw":[-Infinity,-1.5]}},0,false,true]',
        "": f'[0,"forced",{read},[],null,{{}},0,false,false,["first","last"]]',
    }
    rows = [
        f"(1, 'q', '{variant}', 0, 2, 2, 1.0, 0, 'forced', 'C', '{body}')"
        for variant, body in bodies.items()
    ]
    old = old_store(tmp_path, 8, "DELETE FROM trial", f"INSERT INTO trial VALUES {', '.join(rows)}")
    script.convert(old, tmp_path / "new.sqlite")
    now = tables_of(tmp_path / "new.sqlite")
    assert [row["turns"] for row in now["trial"]] == [None, None, '["first","last"]']
    body = now["trial_block"][0]["body"]
    assert isinstance(body, bytes)
    readings = {"forced": Reading(2, 1.0, "forced"), "strict": Reading(None, 0.0, "empty")}
    assert decode_columns(body, lambda numbers: [("C", ())] * len(numbers)).build() == [
        Trial(
            "q",
            Variant((3, 0, 1, 2)),
            2,
            "forced",
            readings,
            (0.1, 0.2, 0.3, 0.4),
            0.9,
            "C",
            merged_boundaries=1,
            truncated=True,
            fixed_reason="duplicates",
        ),
        Trial(
            "q",
            Variant((0, 1, 2, 3)),
            2,
            "forced",
            readings,
            reply="C",
            scores={"raw": (-math.inf, -1.5)},
            fixed_reason="naming",  # once the only reason, and a truth value
        ),
        Trial("q", Variant(()), 0, "forced", readings, reply="C"),
    ]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DROP TABLE migration", "is no store of evalui's"),
        ("PRAGMA user_version = 999; DROP TABLE migration", "has version 999 already"),
        ("CREATE TABLE other (x)", r"has other \(x\), which is unknown here"),
        ("ALTER TABLE vote ADD COLUMN mood TEXT", r"has vote \(mood\), which is unknown here"),
        ("UPDATE vote SET run = 'gone'", "a row of vote belongs to none of run"),
    ],
)
def test_what_cannot_be_converted_is_refused_and_stays(
    script: ModuleType, tmp_path: Path, statement: str, reason: str
):
    old = old_store(tmp_path, 17, statement)
    before = old.read_bytes()
    with pytest.raises(script.Refused, match=reason):
        script.convert(old, tmp_path / "new.sqlite")
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_bytes() == before


def test_a_store_that_is_open_elsewhere_is_refused_though_nothing_is_written(
    script: ModuleType, tmp_path: Path
):
    old = old_store(tmp_path, 17, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(old)) as server:
        server.execute("SELECT count(*) FROM run").fetchone()
        with pytest.raises(script.Refused, match="is in use"):
            script.convert(old, tmp_path / "new.sqlite")
    assert script.convert(old, tmp_path / "new.sqlite")


def test_a_file_that_is_there_is_never_replaced(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    old = old_store(tmp_path, 17)
    assert script.main([str(old), str(old)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert script.main([str(tmp_path / "none"), str(tmp_path / "new")]) == 2
    assert "There is no such file" in capsys.readouterr().err
