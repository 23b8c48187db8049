"""Recorded inputs done by the library: options in every order, and answers that are judged."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalui
from evalui.shipped_files import ASSETS

INPUTS = Path(__file__).parents[2] / "golden" / "net" / "inputs"


def done(name: str, folder: Path) -> evalui.Run:
    """The recorded run of that name, written to a folder."""
    models = folder / "models.toml"
    text = (INPUTS / "models.toml").read_text(encoding="utf-8")
    models.write_text(text.replace("{assets}", str(ASSETS)).replace("{endpoint}", "http://[::1]:9"))
    spec: dict[str, Any] = json.loads((INPUTS / f"{name}.json").read_text(encoding="utf-8"))
    for source in (*spec["datasets"], *spec.get("answers", ())):
        source["path"] = str(INPUTS / source["path"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evalui.RunWarning)  # it leaves out faulty rows
        return evalui.evaluate(spec, out=folder / name, models_file=models, progress=False)


@pytest.fixture(scope="session")
def choice_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("choice")
    done("choice", folder).close()
    return folder / "choice"


@pytest.fixture(scope="session")
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("open")
    done("judged", folder).close()
    return folder / "judged"


@pytest.fixture
def choice(choice_folder: Path) -> Iterator[evalui.Run]:
    with evalui.open(choice_folder, models_file=choice_folder.parent / "models.toml") as run:
        yield run


@pytest.fixture
def judged(open_folder: Path) -> Iterator[evalui.Run]:
    with evalui.open(open_folder, models_file=open_folder.parent / "models.toml") as run:
        yield run
