"""A model whose servers are down before the worker has ever met them."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_flow_examples import TRIALS, Branch
from flow_examples import wait_until

from evalui.cli.main import main
from evalui.runs.worker import waiting
from evalui.store.runs import read_cells, read_run

pytestmark = pytest.mark.slow


@pytest.fixture
def branch(tmp_path: Path) -> Iterator[Branch]:
    opened = Branch(tmp_path)
    yield opened
    opened.close()


def test_a_run_waits_for_servers_that_are_down_when_it_begins(branch: Branch) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.kill()
    branch.start_worker()  # a process of its own, which knows nothing of the servers
    wait_until(lambda: branch.waiting(run_id) is not None)
    (cell,) = read_cells(branch.database, run_id)
    assert (cell.state, cell.done) == ("waiting", 0)
    place.start()
    branch.wait_for(run_id, lambda run: run.state == "done")
    assert read_run(branch.database, run_id).done == TRIALS
    assert set(branch.answered_by_all().values()) == {1}


@pytest.fixture
def command(branch: Branch, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`evalui run` of three questions to the model."""
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.2)
    monkeypatch.setenv("EVALUI_DATA_DIR", str(branch.folder / "data"))
    monkeypatch.chdir(branch.folder)
    branch.set_options(timeout_s=0.5)
    rows = [{"query": f"What is {n} plus {n}?", "response": f"{2 * n}"} for n in range(1, 4)]
    Path("sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    spec = {"version": 3, "datasets": ["sums.jsonl"], "models": ["remote"]}
    Path("spec.json").write_text(json.dumps(spec | {"mode": "question_answer"}))
    return ["run", "spec.json", "--out", "out", "--models-file", str(branch.models)]


@pytest.mark.parametrize(
    ("mood", "why"),
    [
        ({"status": 503}, "HTTP 503: overloaded"),
        ({"delay": 1.5}, "did not answer within 0.5 s; raise timeout_s"),
    ],
)
def test_a_command_waits_for_a_server_that_is_there_and_still_loads_its_model(
    branch: Branch,
    command: list[str],
    mood: dict[str, Any],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (place,) = branch.places
    place.be(**mood)
    told, has_ended = [""], threading.Event()

    def load() -> None:
        while "waited for" not in told[0] and not has_ended.wait(0.05):
            told[0] += capsys.readouterr().err
        place.be()

    loading = threading.Thread(target=load)
    loading.start()
    code = main(command)
    has_ended.set()
    loading.join()
    assert code == 0, told[0] + capsys.readouterr().err
    assert "evalui: remote is waited for, 30 minutes at most" in told[0]
    assert why in told[0]
    wait_until(lambda: len(place.answered()) == 3)  # it notes a moment after it answers


def test_a_command_ends_at_once_where_no_server_is(
    branch: Branch, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    branch.places[0].kill()
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "cannot be reached" in told
    assert "waited for" not in told
    branch.places[0].start()
