"""Keys that were entered: encrypted, bound to a model and an address, for their owner alone."""

import json
import stat
from pathlib import Path

import pytest

from evalui.errors import ModelError, StoreError
from evalui.models.endpoint.keys import SECRET_VARIABLE, read_key, remove_key, store_key

URL = "https://a.example/v1"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    return tmp_path / "data" / "model-keys.json"


def test_a_key_comes_back_for_its_model_and_address_alone(store: Path):
    store_key(store, "far", URL, "sk-one")
    assert read_key(store, "far", URL) == "sk-one"
    with pytest.raises(ModelError, match="another address"):
        read_key(store, "far", "https://b.example/v1")
    with pytest.raises(ModelError, match="not on this server"):
        read_key(store, "near", URL)


def test_a_key_cannot_be_moved_to_another_model(store: Path):
    store_key(store, "far", URL, "sk-one")
    token = json.loads(store.read_text())["far"]
    store.write_text(json.dumps({"near": token}))
    with pytest.raises(ModelError, match="another address"):
        read_key(store, "near", URL)


def test_files_are_the_owners_alone_and_hold_no_key(store: Path):
    store_key(store, "far", URL, "sk-one")
    files = sorted(path.name for path in store.parent.iterdir())
    assert files == ["model-keys.json", "secret-key"]
    for path in store.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "sk-one" not in path.read_text()


def test_the_same_key_looks_different_each_time(store: Path):
    store_key(store, "far", URL, "sk-one")
    first = store.read_text()
    store_key(store, "far", URL, "sk-one")
    assert store.read_text() != first


def test_a_key_is_replaced_and_removed_and_others_stay(store: Path):
    store_key(store, "far", URL, "sk-one")
    store_key(store, "near", URL, "sk-near")
    store_key(store, "far", URL, "sk-two")
    assert read_key(store, "far", URL) == "sk-two"
    remove_key(store, "far")
    remove_key(store, "far")
    assert read_key(store, "near", URL) == "sk-near"
    assert list(json.loads(store.read_text())) == ["near"]


def test_another_secret_decrypts_nothing(store: Path, monkeypatch: pytest.MonkeyPatch):
    store_key(store, "far", URL, "sk-one")
    monkeypatch.setenv(SECRET_VARIABLE, "s" * 32)
    with pytest.raises(ModelError, match="secret of this server has changed"):
        read_key(store, "far", URL)
    store_key(store, "far", URL, "sk-two")
    assert read_key(store, "far", URL) == "sk-two"
    monkeypatch.delenv(SECRET_VARIABLE)
    with pytest.raises(ModelError, match="secret of this server has changed"):
        read_key(store, "far", URL)


def test_with_a_secret_of_the_environment_no_file_is_made(
    store: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(SECRET_VARIABLE, "s" * 32)
    store_key(store, "far", URL, "sk-one")
    assert [path.name for path in store.parent.iterdir()] == ["model-keys.json"]


def test_a_short_secret_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SECRET_VARIABLE, "s" * 31)
    with pytest.raises(ModelError, match="at least 32 characters"):
        store_key(store, "far", URL, "sk-one")
    assert not store.exists()


def test_a_secret_that_others_can_read_is_refused(store: Path):
    store_key(store, "far", URL, "sk-one")
    (store.parent / "secret-key").chmod(0o644)
    with pytest.raises(ModelError, match="chmod 600"):
        store_key(store, "near", URL, "sk-two")
    with pytest.raises(ModelError, match="chmod 600"):
        read_key(store, "far", URL)


def test_a_secret_that_is_a_link_is_refused(store: Path, tmp_path: Path):
    store.parent.mkdir()
    (tmp_path / "other").write_text("s" * 40)
    (store.parent / "secret-key").symlink_to(tmp_path / "other")
    with pytest.raises(ModelError, match="cannot be read"):
        store_key(store, "far", URL, "sk-one")


def test_a_broken_store_is_reported_without_its_contents(store: Path):
    store.parent.mkdir()
    store.write_text("{sk-one")
    with pytest.raises(ModelError, match="cannot be read") as caught:
        read_key(store, "far", URL)
    assert "sk-one" not in caught.value.sentence


def test_a_store_that_cannot_be_written_leaves_nothing_behind(
    store: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        store_key(store, "far", URL, "sk-one")
    assert [path.name for path in store.parent.iterdir()] == ["secret-key"]
