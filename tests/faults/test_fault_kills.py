"""A worker, the server that started it, or both are killed at instants drawn by a seed."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from flow_examples import TRIALS, Office, wait_until
from test_flow_server import SERVER, lives, worker_pids

from evalui.store.runs import read_run
from evalui.types import Trial

KILLS = 3  # of each run
CI = (3, 7, 11)
SEEDS = [
    pytest.param(seed, marks=pytest.mark.ci) if seed in CI else pytest.param(seed)
    for seed in range(20)
]


def serve(office: Office) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SERVER, str(office.database.path), str(office.models)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    office.processes.append(server)
    return server


def kill(server: subprocess.Popen[bytes], victim: str) -> None:
    """Kill the workers of a server, the server, or all of them; return when they are gone."""
    workers = worker_pids(server.pid)
    if victim != "worker":
        server.send_signal(signal.SIGKILL)
    if victim != "server":
        for pid in workers:
            server_gone = victim == "both"
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                assert server_gone
    if victim != "worker":
        server.wait()
        wait_until(lambda: not any(map(lives, workers)))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_finished_is_kept_and_nothing_is_doubled(
    office: Office, expected: list[tuple[Trial, ...]], seed: int
):
    drawn = random.Random(seed)
    office.pace(0.004)  # 3 s for the whole run
    run_id = office.queue()
    server = serve(office)
    for _ in range(KILLS):
        before = read_run(office.database, run_id).done
        aim = min(TRIALS - 1, before + drawn.randrange(TRIALS // KILLS))
        office.wait_for(run_id, lambda run, aim=aim: run.done >= aim or run.state == "done")
        time.sleep(drawn.random() * 0.05)  # the instant, which no commit decides
        victim = drawn.choice(("worker", "server", "both"))
        written = read_run(office.database, run_id).done
        kill(server, victim)
        assert read_run(office.database, run_id).done >= written
        if victim != "worker":
            server = serve(office)
    office.pace(0)
    run = office.wait_for(run_id, lambda run: run.state in ("done", "failed"))
    assert run.state == "done", run.error
    assert office.trials(run_id) == expected
    assert len(set(office.answered())) == TRIALS
