"""The library is chosen by figures, once, and is then the same for all."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry, describe, open_model
from evalui.models.local import fp32
from evalui.models.local.fp32 import (
    FILE,
    LibraryChoice,
    MatmulRate,
    choose,
    library_choice,
    library_of,
)
from evalui.settings import Settings

HERE = "a processor, torch 9"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp32, "machine", lambda: HERE)


def figures(onednn: float, blas: float) -> Callable[[], tuple[MatmulRate, ...]]:
    """A measurement that finds the same GFLOP/s for two shapes."""
    return lambda: (
        MatmulRate(64, 768, 2048, onednn, blas),
        MatmulRate(512, 768, 2048, onednn, blas),
    )


def never() -> tuple[MatmulRate, ...]:
    raise AssertionError("what is kept is not measured again")


@pytest.mark.parametrize(
    ("onednn", "blas", "library"),
    [
        (200.0, 90.0, "onednn"),
        (111.0, 100.0, "onednn"),
        (109.0, 100.0, "blas"),  # within what two measurements may differ
        (100.0, 100.0, "blas"),
        (90.0, 110.0, "blas"),
    ],
)
def test_the_library_is_the_one_that_is_clearly_faster(onednn: float, blas: float, library: str):
    assert choose(figures(onednn, blas)()) == library


def test_large_products_weigh_more_than_small_ones():
    small, large = MatmulRate(64, 768, 2048, 100, 200), MatmulRate(512, 768, 2048, 200, 100)
    assert choose((small, large)) == "onednn"


def test_with_nothing_to_choose_from_it_is_torchs_own(tmp_path: Path):
    assert library_choice(tmp_path, measured=lambda: ()) == LibraryChoice("blas", HERE, ())


def test_both_libraries_are_measured():
    rates = fp32.measure()
    assert rates
    assert all(rate.onednn > 0 and rate.blas > 0 for rate in rates)


def test_measuring_leaves_the_number_of_threads_and_the_random_state_alone():
    import torch

    before, rng = torch.get_num_threads(), torch.random.get_rng_state()
    fp32.measure()
    assert torch.get_num_threads() == before
    assert torch.equal(torch.random.get_rng_state(), rng)


def test_elsewhere_than_on_x86_nothing_is_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fp32.platform, "machine", lambda: "arm64")
    assert fp32.measure() == ()


def test_a_choice_is_kept_with_its_figures(tmp_path: Path):
    folder = tmp_path / "data"  # it may be the first thing that a new folder gets
    made = library_choice(folder, measured=figures(200, 90))
    assert made.library == "onednn"
    assert library_choice(folder, measured=never) == made
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_another_processor_or_torch_is_measured_and_the_first_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = library_choice(tmp_path, measured=figures(200, 90))
    monkeypatch.setattr(fp32, "machine", lambda: "a processor, torch 10")
    assert library_choice(tmp_path, measured=figures(90, 200)).library == "blas"
    monkeypatch.setattr(fp32, "machine", lambda: HERE)
    assert library_choice(tmp_path, measured=never) == first


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{",
        "[]",
        "\ufeffx",
        f'{{"{HERE}": 5}}',
        f'{{"{HERE}": {{"library": "mkl", "rates": []}}}}',
        f'{{"{HERE}": {{"library": "blas", "rates": [{{"rows": 1}}]}}}}',
        f'{{"{HERE}": {{"library": ["blas"], "rates": []}}}}',
    ],
)
def test_a_damaged_file_is_measured_anew(
    tmp_path: Path, written: str, caplog: pytest.LogCaptureFixture
):
    (tmp_path / FILE).write_text(written, encoding="utf-8")
    assert library_choice(tmp_path, measured=figures(200, 90)).library == "onednn"
    assert "measured again" in caplog.text
    assert library_choice(tmp_path, measured=never).library == "onednn"


def test_of_two_processes_that_measure_at_once_the_first_decides(tmp_path: Path):
    def slowly() -> tuple[MatmulRate, ...]:
        library_choice(tmp_path, measured=figures(200, 90))  # another process, meanwhile
        return figures(90, 200)()

    assert library_choice(tmp_path, measured=slowly).library == "onednn"
    assert library_choice(tmp_path, measured=never).library == "onednn"


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    """A folder in which no user can write, not even root: its parent is a file."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "data"


def test_what_cannot_be_kept_holds_for_the_process_and_is_logged_once(
    unwritable: Path, caplog: pytest.LogCaptureFixture
):
    counted: list[int] = []

    def measured() -> tuple[MatmulRate, ...]:
        counted.append(1)
        return figures(200, 90)()

    for _ in range(3):
        assert library_choice(unwritable, measured=measured).library == "onednn"
    assert len(counted) == 1
    assert caplog.text.count("cannot be written") == 1


def test_the_entry_goes_before_the_server_and_the_server_before_what_was_measured(tmp_path: Path):
    library_choice(tmp_path, measured=figures(200, 90))
    entry = ModelEntry("m", "transformers")
    measured = Settings(data_dir=tmp_path, fp32="measured")
    assert library_of(entry, measured) == "onednn"
    pinned = Settings(data_dir=tmp_path, fp32="blas")
    assert library_of(entry, pinned) == "blas"
    assert library_of(replace(entry, options={"fp32": "onednn"}), pinned) == "onednn"


def test_the_library_of_the_data_folder_computes_and_names_the_model(
    small_entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    modified: list[object] = []
    monkeypatch.setattr(fp32, "use_onednn", modified.append)
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("EVALUI_FP32", "measured")
    prints: list[str] = []
    for rates in (figures(200, 90), figures(90, 200)):
        (tmp_path / FILE).unlink(missing_ok=True)
        library_choice(tmp_path, measured=rates)
        prints.append(open_model(small_entry).fingerprint)
    assert [name.partition("|")[0] for name in prints] == ["fp32:onednn", "fp32:blas"]
    assert len({name.rpartition("|")[2] for name in prints}) == 2
    assert len(modified) == 1


def test_in_coarser_numbers_nothing_is_chosen(
    small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fp32, "library_of", never)
    model = open_model(replace(small_entry, dtype="bfloat16"))
    assert model.fingerprint.startswith("sha256:")


def test_an_unknown_library_is_reported_with_the_known_ones(small_entry: ModelEntry):
    entry = replace(small_entry, options={"fp32": "mkl"})
    problem = "options.fp32 'mkl' is unknown. Known: onednn, blas."
    assert describe(entry).problem == problem
    with pytest.raises(ModelError, match="'mkl' is unknown"):
        open_model(entry)
