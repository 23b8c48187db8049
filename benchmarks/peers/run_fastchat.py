"""FastChat's ratings: Elo of 1000 bootstraps, Bradley-Terry of 1000 bootstraps."""

from importlib.metadata import version

import numpy as np
import pandas as pd
from rounds import Prepared, serve, work

try:
    from fastchat.serve.monitor import rating_systems
except ImportError as error:
    raise SystemExit(
        f"fschat {version('fschat')} has no rating_systems: its newest release is older than "
        "the ratings of its repository"
    ) from error

given = work()


def prepare(job: str) -> Prepared:
    what, _, size = job.partition(" ")
    battles = pd.DataFrame(given["battles"][: int(size)], columns=["model_a", "model_b", "winner"])
    return (lambda: _elo(battles)) if what == "elo" else (lambda: _bradley_terry(battles))


def _elo(battles: pd.DataFrame) -> dict[str, float]:
    np.random.seed(0)
    return dict(rating_systems.compute_bootstrap_elo(battles, num_round=1000).median())


def _bradley_terry(battles: pd.DataFrame) -> dict[str, list[float]]:
    drawn = rating_systems.compute_bootstrap_bt(battles, num_round=1000, num_cpu=1)
    ratings = rating_systems.compute_bt(battles)
    ends = drawn.quantile([0.025, 0.975])
    return {name: [ratings[name], *ends[name]] for name in ratings.index}


serve("FastChat, its repository", ("fschat", "numpy", "scipy", "pandas"), prepare)
