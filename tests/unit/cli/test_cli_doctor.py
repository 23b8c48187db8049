"""`evalui doctor`: "ok" where all is well, a line for each fault, and its exit code."""

import os
import socket
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from evalui.cli import doctor as cli_doctor
from evalui.cli.main import main
from evalui.models.endpoint import keys as keys
from evalui.runs.upkeep import monitor
from evalui.runs.worker import devices
from evalui.runs.worker.devices import DeviceMemory
from evalui.store.connection import Database

CATALOG = '[rule]\nbackend = "scripted"\noptions = { rule = "always-A" }\n'


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A healthy data folder with a store; the port is free."""
    (tmp_path / "models.toml").write_text(CATALOG, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("EVALUI_PORT", str(free.getsockname()[1]))
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.setattr(devices, "gpus", tuple)
    Database(tmp_path / "data" / "evalui.sqlite").close()
    return tmp_path / "data"


def examine(capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = main(["doctor"])
    return code, capsys.readouterr().out.splitlines()


def test_a_healthy_machine_is_ok(capsys: pytest.CaptureFixture[str]):
    assert examine(capsys) == (0, ["ok"])


def test_a_machine_before_its_first_start_is_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "none" / "yet"))
    assert examine(capsys) == (0, ["ok"])
    assert not (tmp_path / "none").exists()


def test_files_that_others_can_read_are_named(data: Path, capsys: pytest.CaptureFixture[str]):
    (data / "secret-key").touch(mode=0o600)
    (data / "secret-key").chmod(0o640)
    data.chmod(0o755)
    code, found = examine(capsys)
    assert code == 1
    assert found == [
        f"files: {data} is open to other users (mode 0755); chmod go= {data}",
        f"files: {data}/secret-key is open to other users (mode 0640); chmod go= {data}/secret-key",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_another_user_are_named(data: Path, capsys: pytest.CaptureFixture[str]):
    os.chown(data / "evalui.sqlite", 12345, -1)
    assert "belongs to another user (number 12345)" in examine(capsys)[1][0]
    os.chown(data, 12345, -1)
    assert examine(capsys) == (0, ["ok"])  # root examines the folder of the server's user


def test_a_damaged_store_is_stated(data: Path, capsys: pytest.CaptureFixture[str]):
    path = data / "evalui.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:16384] = b"\xa5" * 12288
    path.write_bytes(content)
    code, (line, *_) = examine(capsys)
    assert code == 1
    assert line.startswith("store: ")
    path.write_bytes(b"no store at all")
    assert examine(capsys)[1] == [f"store: {path} is damaged: file is not a database"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a disk of its own")
def test_a_full_disk_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False)
    if mounted.returncode:
        pytest.skip("this machine mounts none")
    try:
        data = place / "data"
        monkeypatch.setenv("EVALUI_DATA_DIR", str(data))
        Database(data / "evalui.sqlite").close()
        with suppress(OSError), (place / "rest").open("wb", buffering=0) as rest:
            while True:
                rest.write(bytes(4096))
        code, (store, use) = examine(capsys)
        assert (code, use) == (1, "disk: 100% in use, 0 bytes are free")
        assert store.startswith("store: it cannot be examined. The disk is full")
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_store_of_another_version_is_a_fault(data: Path, capsys: pytest.CaptureFixture[str]):
    with closing(sqlite3.connect(data / "evalui.sqlite")) as store:
        store.execute("PRAGMA user_version = 999")
    code, (line,) = examine(capsys)
    assert code == 1
    assert line.startswith("store: evalui.sqlite is a store of version 999 and this evalui reads ")


def test_a_clock_that_is_behind(data: Path, capsys: pytest.CaptureFixture[str]):
    with closing(sqlite3.connect(data / "evalui.sqlite")) as store:
        store.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued)"
            " VALUES ('x', 'local', '', '{}', 'done', ?, 0)",
            (time.time() + 90_000,),
        )
        store.commit()
    (clock,) = examine(capsys)[1]
    assert clock.startswith("clock: the newest run of the store is 9")


def test_a_log_that_grows_is_stated(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(cli_doctor, "_MAX_LOG_BYTES", 1000)
    with closing(Database(data / "evalui.sqlite")) as database, database.writing() as connection:
        connection.execute("INSERT INTO decision VALUES ('x', 'y')")
        connection.execute("COMMIT")
        assert "restart what uses the store" in examine(capsys)[1][0]
        connection.execute("BEGIN")


def test_a_full_disk_is_stated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(monitor, "_NEARLY_FULL", 0.0)
    assert examine(capsys)[1][0].startswith("disk: ")


def test_a_port_that_another_program_has_is_stated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(cli_doctor, "_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("EVALUI_PORT", str(taken.getsockname()[1]))
        code, (line,) = examine(capsys)
    assert code == 1
    assert line.startswith("port: ")
    assert "in use" in line


def test_an_address_without_a_door_is_stated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("EVALUI_HOST", "0.0.0.0")
    code, (line,) = examine(capsys)
    assert code == 1
    assert line.startswith("port: ")
    assert "EVALUI_AUTH" in line


def test_a_driver_that_torch_does_not_use_is_stated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(devices, "gpus", lambda: (DeviceMemory("GPU", 2, 1),))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert examine(capsys)[1] == [f"gpu: the driver has 1, but torch {torch.__version__} uses none"]


def endpoint(name: str, address: str, more: str) -> str:
    return (
        f'[{name}]\nbackend = "openai"\npath = "m"\noptions = {{ base_url = "{address}"{more} }}\n'
    )


def test_keys_and_endpoints_that_cannot_be_used_are_stated(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.delenv("NONE_API_KEY", raising=False)
    with socket.socket() as gone:  # bound, so that no other program gets the port
        gone.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
        keys.store_key(data / "model-keys.json", "kept", address, "sk-secret")
        (tmp_path / "models.toml").write_text(
            CATALOG
            + endpoint("gone", address, "")
            + endpoint("nokey", address, ', api_key_env = "NONE_API_KEY"'),
            encoding="utf-8",
        )
        (data / "models-added.toml").touch(mode=0o600)
        (data / "models-added.toml").write_text(
            endpoint("kept", address, ', key_store = "model-keys.json"'), encoding="utf-8"
        )
        silent, variable, kept = examine(capsys)[1]
        (data / "secret-key").write_text("x" * 40, encoding="ascii")
        undecipherable = examine(capsys)[1][-1]
    assert silent.startswith("model gone: The endpoint cannot be asked")
    assert variable.startswith("model nokey: ")
    assert "NONE_API_KEY" in variable
    assert kept.startswith("model kept: The endpoint cannot be asked")
    assert undecipherable.startswith("model kept: Its key")
    assert "sk-secret" not in kept + undecipherable


def test_a_catalog_that_cannot_be_read_is_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "models.toml").write_text("[x", encoding="utf-8")
    assert examine(capsys)[1][0].startswith("models: ")
