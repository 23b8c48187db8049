"""How a worker gets a model on a cluster, and the cluster itself."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_ray_examples import ENTRY, LOADS, Echo, FakeRay
from runs_examples import add_run

from evalui.errors import ModelError, Unreachable
from evalui.models import ModelEntry, open_model
from evalui.runs.cluster import actor, model
from evalui.runs.cluster.model import connect, model_opener
from evalui.runs.worker import worker
from evalui.runs.worker.model_tests import model_tests, queue_model_test
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run


def test_models_that_are_taught_or_far_away_stay_in_the_worker(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(model, "open_model", lambda entry: entry.backend)
    monkeypatch.setattr(model, "connect", lambda _: ray)
    opens = model_opener(Settings(engine="ray", ray_address="head:6379", ray_cores=1))
    assert opens(ModelEntry("m", "scripted")) == "scripted"
    assert opens(ModelEntry("m", "openai")) == "openai"
    assert opens(ENTRY).fingerprint == "echo"


@pytest.mark.parametrize("fp32", ["onednn", "blas"])
def test_all_actors_multiply_by_the_library_of_the_worker(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch, fp32: Any
):
    held: list[ModelEntry] = []

    def open_there(entry: ModelEntry) -> Echo:
        held.append(entry)
        return Echo()

    monkeypatch.setattr(model, "connect", lambda _: ray)
    monkeypatch.setattr(actor, "open_model", open_there)
    opens = model_opener(Settings(engine="ray", ray_cores=1, fp32=fp32))
    opens(replace(ENTRY, options={"seed": 1}))
    assert [entry.options for entry in held] == [{"seed": 1, "fp32": fp32}] * 2


def test_a_model_that_loads_for_long_is_requested_again_and_not_loaded_twice(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(model, "connect", lambda _: ray)
    monkeypatch.setattr(model, "NO_ACTOR_TIMEOUT_S", 0.0)
    ray.slow = True
    opens = model_opener(Settings(engine="ray", ray_cores=1))
    for _ in range(3):
        with pytest.raises(Unreachable, match="m is being loaded on the cluster"):
            opens(ENTRY)
    assert ray.made == 2
    with pytest.raises(Unreachable):
        opens(replace(ENTRY, name="other"))
    assert len(ray.killed) == 2, "what is no longer waited for frees its resources"
    ray.slow = False
    assert opens(replace(ENTRY, name="other")).name == "other"


def test_a_model_that_is_no_longer_waited_for_frees_its_resources(
    ray: FakeRay, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(model, "connect", lambda _: ray)
    monkeypatch.setattr(model, "NO_ACTOR_TIMEOUT_S", 0.0)
    run_id = add_run(database)
    ray.slow = True
    runs = Worker(
        database,
        lambda: {"perfect": replace(ENTRY, name="perfect")},
        opener=model_opener(Settings(engine="ray", ray_cores=1)),
        on_batch=lambda: queue.cancel(database, run_id),
    )
    assert runs.run_once(run_id)
    assert read_run(database, run_id).state == "cancelled"
    assert len(ray.killed) == ray.made == 2


@pytest.mark.parametrize("ends", ["loaded", "late", "stopped"])
def test_a_model_to_try_out_is_waited_for_while_the_cluster_loads_it(
    ray: FakeRay, database: Database, monkeypatch: pytest.MonkeyPatch, ends: str
):
    monkeypatch.setattr(model, "connect", lambda _: ray)
    monkeypatch.setattr(model, "NO_ACTOR_TIMEOUT_S", 0.0)
    monkeypatch.setattr(worker, "LOADING_TIMEOUT_S", 0.0 if ends == "late" else 60.0)
    wait, waits = ray.wait, count(1)

    def wait_in_vain(references: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        ray.slow = ends != "loaded" or next(waits) < 3
        return wait(references)

    monkeypatch.setattr(ray, "wait", wait_in_vain)
    queue_model_test(database, ENTRY, "me")
    looks = count()
    tries = Worker(
        database,
        dict,
        opener=model_opener(Settings(engine="ray", ray_cores=1)),
        stopping=lambda: ends == "stopped" and next(looks) > 2,
    )
    assert tries.run_test_once()
    trial = model_tests(database, "me")["m"]
    expected = {"loaded": ("done", ""), "late": ("failed", LOADS), "stopped": ("queued", "")}
    assert (trial.state, trial.error) == expected[ends]
    assert len(ray.killed) == ray.made == 2, "the seats are given back, however it ends"


def test_without_the_setting_everything_stays_in_the_worker():
    assert model_opener(Settings()) is open_model


def test_an_address_that_is_none_is_reported():
    with pytest.raises(ModelError, match="expected host:port"):
        connect("localhost")


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address that is reserved and has no listener."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{reserved.getsockname()[1]}"


@pytest.mark.timeout(20)
def test_a_head_that_is_gone_is_noticed_at_once(nowhere: str):
    with pytest.raises(Unreachable, match=f"The cluster at {nowhere} cannot be reached"):
        connect(nowhere)


def test_ray_tries_a_head_that_turns_it_away_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ray.py").write_text(
        "import os\n"
        "tries = os.environ.get('RAY_NUM_REDIS_GET_RETRIES')\n"
        "exceptions = type('', (), {'RayError': OSError})\n"
        "def is_initialized(): return False\n"
        "def init(**_): raise ConnectionError(f'Tried: {tries}.')\n"
    )
    monkeypatch.setitem(sys.modules, "ray", None)  # type: ignore[arg-type] # so that it is put back
    del sys.modules["ray"]
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unreachable, match=r"cannot be reached: Tried: 1\.$"):
        connect("")
    assert "RAY_NUM_REDIS_GET_RETRIES" not in os.environ, "actors read it, too"


def test_a_cluster_whose_head_is_gone_is_left_before_ray_ends_the_process(
    nowhere: str, monkeypatch: pytest.MonkeyPatch
):
    left: list[str] = []
    context = SimpleNamespace(gcs_address=nowhere)
    joined = SimpleNamespace(
        is_initialized=lambda: True,
        get_runtime_context=lambda: context,
        shutdown=lambda: left.append(context.gcs_address),
    )
    monkeypatch.setitem(sys.modules, "ray", joined)  # type: ignore[arg-type] # the little that is used
    with pytest.raises(Unreachable, match=f"The cluster at {nowhere} cannot be reached"):
        connect(nowhere)
    assert left == [nowhere]
    with socket.create_server(("127.0.0.1", 0)) as server:
        context.gcs_address = f"127.0.0.1:{server.getsockname()[1]}"
        assert connect(nowhere) is joined
    assert left == [nowhere]
