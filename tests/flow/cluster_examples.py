"""`python cluster_examples.py DATABASE MODELS RUN OUT`: do a run on a cluster that loses a machine.

A process of its own, because Ray asks the network for its own address and keeps threads.
Writes one JSON object: how many actors were lost, and how many trials were there when it happened.
"""

import json
import logging
import sys
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from evalui.models import Model, read_catalog
from evalui.runs.cluster.model import ClusterModel, model_opener
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.runs import read_run


class Counting(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.lost += "is lost" in record.getMessage()


def main(path: Path, models: Path, run_id: str, out: Path) -> None:
    told = Counting()
    logging.getLogger("evalui.runs.cluster.model").addHandler(told)
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            # Else actors let everybody else on a busy machine go first, and load for minutes.
            "_system_config": {"worker_niceness": 0},
        },
    )
    machines = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
    database = Database(path)
    killed_at: list[int] = []

    def kill_one() -> None:
        done = read_run(database, run_id).done
        if done and not killed_at:  # as early as can be: most is still to be answered
            killed_at.append(done)
            cluster.remove_node(machines[0], allow_graceful=False)

    open_there = model_opener(Settings(engine="ray", ray_cores=1))
    worker = Worker(
        database,
        lambda: read_catalog(models),
        opener=lambda entry: with_everybody(open_there(entry), len(machines)),
        on_batch=kill_one,
    )
    worker.run_once(run_id)
    database.close()
    out.write_text(json.dumps({"lost": told.lost, "killed_at": killed_at}))
    ray.shutdown()
    cluster.shutdown()


def with_everybody(model: Model, count: int) -> Model:
    """The model once `count` actors hold it: the first could do the whole run alone meanwhile."""
    assert isinstance(model, ClusterModel)
    while sum(actor.is_ready for actor in model._actors) < count:
        model._admit_ready_actors(model._wait_for_references())
    return model


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
