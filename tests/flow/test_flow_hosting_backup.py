"""A backup made while a worker writes goes on elsewhere, to the figures of the whole run."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tarfile
from contextlib import closing
from io import BytesIO
from pathlib import Path

import net_examples as net
import pytest
from flow_examples import SLOW, TRIALS, Office

from evalui.cli.main import main
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.runs import read_run, read_runs
from evalui.types import Trial

pytestmark = pytest.mark.slow

HOLDER = """
import sys
from pathlib import Path
from evalui.store.connection import Database
database = Database(Path(sys.argv[1]))
with database.writing() as connection:
    connection.execute("UPDATE run SET name = 'never committed'")
    print("held", flush=True)
    sys.stdin.read()
"""


def evalui(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    """A command of its own, as an administrator types it."""
    return subprocess.run(
        [sys.executable, "-m", "evalui.cli", *arguments],
        env=os.environ | {"EVALUI_DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_backup_of_a_running_run_ends_elsewhere_with_equal_figures(
    office: Office, expected: list[tuple[Trial, ...]], tmp_path_factory: pytest.TempPathFactory
):
    away = tmp_path_factory.mktemp("away")
    office.pace(SLOW)
    run_id = office.queue()
    worker = office.start_worker()
    office.wait_for(run_id, lambda run: run.done > 0)
    made = evalui("backup", str(away / "b.tar.gz"), data=office.folder)
    assert made.returncode == 0, made.stderr
    assert "holds secrets" in made.stderr
    assert 0 < read_run(office.database, run_id).done < TRIALS  # it went on meanwhile
    worker.send_signal(signal.SIGKILL)

    filled = evalui(
        "restore", str(away / "b.tar.gz"), "--into", str(away / "new"), data=office.folder
    )
    assert filled.returncode == 0, filled.stderr
    assert "runs waiting for a worker: 1" in filled.stderr
    elsewhere = Office(away / "new")
    elsewhere.models = office.models
    try:
        run = read_run(elsewhere.database, run_id)
        assert run.state == "queued"
        assert 0 < run.done < TRIALS
        office.pace(0)
        assert elsewhere.work_here()
        assert read_run(elsewhere.database, run_id).state == "done"
        assert elsewhere.trials(run_id) == expected
    finally:
        elsewhere.close()
    again = evalui(
        "restore", str(away / "b.tar.gz"), "--into", str(away / "new"), data=office.folder
    )
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_a_writer_in_the_middle_of_a_transaction_neither_waits_nor_is_copied(
    office: Office, tmp_path_factory: pytest.TempPathFactory
):
    away = tmp_path_factory.mktemp("away")
    run_id = office.queue()
    command = [sys.executable, "-c", HOLDER, str(office.database.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        assert evalui("backup", str(away / "b.tar.gz"), data=office.folder).returncode == 0
        holder.communicate()
    assert evalui("restore", str(away / "b.tar.gz"), data=away / "new").returncode == 0
    with closing(Database(away / "new" / "evalui.sqlite")) as copy:
        assert read_run(copy, run_id).name == "sums"


def test_a_backup_of_an_earlier_version_is_refused_and_its_converted_store_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    import convert_store

    data = tmp_path / "data"
    data.mkdir()
    old = data / "evalui.sqlite"
    old.write_bytes(gzip.decompress((net.NET / "stores" / "schema-17.sqlite.gz").read_bytes()))
    monkeypatch.setenv("EVALUI_DATA_DIR", str(data))
    assert main(["backup", str(tmp_path / "old.tar.gz")]) == 0
    assert main(["restore", str(tmp_path / "old.tar.gz"), "--into", str(tmp_path / "new")]) == 2
    assert "scripts/convert_store.py" in capsys.readouterr().err
    assert list((tmp_path / "new").iterdir()) == []
    convert_store.convert(old.rename(data / "old.sqlite"), old)
    assert main(["backup", str(tmp_path / "b.tar.gz")]) == 0
    assert main(["restore", str(tmp_path / "b.tar.gz"), "--into", str(tmp_path / "new")]) == 0
    with closing(Database(tmp_path / "new" / "evalui.sqlite")) as restored:
        runs = read_runs(restored)
        assert runs
        assert any(len(result.trials) for run in runs for result in read_results(restored, run.id))


def test_a_hostile_archive_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    manifest = json.dumps({"format": 1, "folder": "/x"}).encode()
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as archive:
        for name, data in (("backup.json", manifest), ("../../outside", b"x")):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, BytesIO(data))
    assert main(["restore", str(tmp_path / "b.tar.gz")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "'../../outside'" in printed
    assert not (tmp_path.parent / "outside").exists()
    assert list((tmp_path / "data").iterdir()) == []
