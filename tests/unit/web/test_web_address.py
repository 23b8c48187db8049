"""The token is a secret of its folder: private, lasting, renewed only on request."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from evalui.errors import StoreError
from evalui.web.address import FILE, access_token, cookie_of, is_same


def test_a_restart_finds_the_same_token(tmp_path: Path):
    first = access_token(tmp_path / "data")
    assert len(first) >= 43  # 256 bits
    assert access_token(tmp_path / "data") == first


def test_two_folders_have_two_tokens(tmp_path: Path):
    assert access_token(tmp_path / "a") != access_token(tmp_path / "b")


def test_a_new_token_replaces_the_old_one(tmp_path: Path):
    first = access_token(tmp_path)
    second = access_token(tmp_path, renew=True)
    assert second != first
    assert access_token(tmp_path) == second


def test_no_other_user_can_read_it(tmp_path: Path):
    access_token(tmp_path / "data")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600


def test_a_token_that_others_could_read_is_replaced(tmp_path: Path):
    first = access_token(tmp_path)
    (tmp_path / FILE).chmod(0o644)
    assert access_token(tmp_path) != first
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "short\n", "x" * 5000, "\xff" * 40, "a b" * 20])
def test_what_is_no_token_is_replaced(tmp_path: Path, content: str):
    path = tmp_path / FILE
    path.write_text(content, encoding="latin-1")
    path.chmod(0o600)
    found = access_token(tmp_path)
    assert path.read_text(encoding="ascii") == f"{found}\n"
    assert len(found) == 43


def test_a_link_is_not_followed(tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="access token cannot be kept"):
        access_token(tmp_path / "data")
    assert elsewhere.read_text() == "kept"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"^The data folder cannot be made: .*Not a directory"):
        access_token(tmp_path / "file" / "data")


def test_servers_that_start_together_agree(tmp_path: Path):
    script = "import sys, pathlib, evalui.web.address as a\n"
    script += "sys.stdin.readline(); print(a.access_token(pathlib.Path(sys.argv[1])))"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "data")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for _ in range(4)
    ]
    said = {process.communicate("go\n")[0] for process in started}
    assert said == {f"{access_token(tmp_path / 'data')}\n"}


def test_the_cookie_does_not_hold_the_token():
    token = "t" * 43
    name, value = cookie_of(token)
    assert token not in name + value
    assert name != value
    assert cookie_of(token) == (name, value)
    assert cookie_of("u" * 43)[0] != name


@pytest.mark.parametrize(
    ("given", "same"),
    [("abc", True), ("abd", False), ("", False), ("中", False), ("\ud800", False)],
)
def test_secrets_are_compared_whatever_is_given(given: str, same: bool):
    assert is_same(given, "abc") is same
