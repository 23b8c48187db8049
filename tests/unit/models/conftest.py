from collections.abc import Iterator
from pathlib import Path

import pytest

from evalui.models import Model, ModelEntry, open_model

SMALL = Path(__file__).parents[2] / "golden" / "lmeval" / "qwen2-small-4l256"


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads on two busy cores are many times slower than one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUI_THREADS", "1")
        yield


@pytest.fixture(scope="session")
def small_folder() -> Path:
    """A Qwen2 of four layers, trained a little; its answers by lm-eval are golden."""
    return SMALL


@pytest.fixture(scope="session")
def small_entry() -> ModelEntry:
    return ModelEntry("small", "transformers", path=str(SMALL), device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def small(small_entry: ModelEntry) -> Iterator[Model]:
    model = open_model(small_entry)
    yield model
    model.close()
