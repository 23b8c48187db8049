"""The line above every page of a server whose disk is nearly full."""

from pathlib import Path

import pytest

from evalui.app.service import AppService
from evalui.errors import StoreError
from evalui.messages import messages
from evalui.runs.upkeep import monitor
from evalui.runs.upkeep.monitor import DiskUse
from evalui.ui.components import disk_notice as module
from evalui.ui.components.disk_notice import disk_notice
from evalui.ui.top_bar import top_bar


def test_there_is_no_line_while_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "disk_use", lambda _: DiskUse(1000, 899, 101))
    assert disk_notice(tmp_path, messages("en")) is None


@pytest.mark.parametrize(("language", "words"), [("en", "is 94 % full"), ("zh", "已用 94%")])
def test_a_disk_that_is_nearly_full_is_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, words: str
):
    monkeypatch.setattr(module, "disk_use", lambda _: DiskUse(1000, 939, 61))
    assert words in str(disk_notice(tmp_path, messages(language)))


def test_a_folder_that_is_gone_is_stated(tmp_path: Path):
    with pytest.raises(StoreError, match="data folder"):
        disk_notice(tmp_path / "gone", messages("en"))


def test_the_line_stands_on_every_page(desk: AppService, monkeypatch: pytest.MonkeyPatch):
    t = messages("en")
    assert "The disk of this server" not in top_bar(desk, t, "evaluate", {})
    monkeypatch.setattr(monitor, "_NEARLY_FULL", 0.0)
    for page in ("evaluate", "runs", "models"):
        assert "The disk of this server" in top_bar(desk, t, page, {})
