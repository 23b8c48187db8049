from collections.abc import Callable
from pathlib import Path

import pytest

from evalui.models.local.fp32 import FILE, MatmulRate
from evalui.report.probe import probe_lines
from evalui.settings import Settings


def figures(onednn: float, blas: float) -> Callable[[], tuple[MatmulRate, ...]]:
    return lambda: (MatmulRate(64, 768, 2048, onednn, blas),)


def printed(folder: Path, measured: Callable[[], tuple[MatmulRate, ...]], **given: str) -> str:
    settings = Settings.model_validate({"data_dir": folder, "fp32": "measured"} | given)
    return "\n".join(probe_lines(settings, measured=measured))


def test_what_was_measured_is_printed_with_what_it_replaces(tmp_path: Path):
    first = printed(tmp_path, figures(90, 180))
    assert "Chosen: torch's own (fp32:blas). Nothing was measured before." in first
    second = printed(tmp_path, figures(200.04, 90))
    assert "         64 x 768 x 2048     200.0          90.0" in second
    assert "Chosen: oneDNN (fp32:onednn). Before: torch's own (fp32:blas)." in second
    assert str(tmp_path / FILE) in second
    assert "EVALUI_FP32" not in second


def test_a_library_that_is_set_goes_before_what_was_measured(tmp_path: Path):
    told = printed(tmp_path, figures(200, 90), fp32="blas")
    assert told.endswith("EVALUI_FP32 is set: models use torch's own (fp32:blas) all the same.")


def test_where_only_one_library_can_be_used_nothing_is_measured(tmp_path: Path):
    told = printed(tmp_path, lambda: ())
    assert "nothing was measured" in told
    assert "fp32:blas" in told


@pytest.mark.slow
def test_probe_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from evalui.cli.main import main

    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    assert main(["probe"]) == 0
    assert "Chosen: " in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "file" / "data"))
    assert main(["probe"]) == 2
    assert "fp32.json cannot be written: " in capsys.readouterr().err
