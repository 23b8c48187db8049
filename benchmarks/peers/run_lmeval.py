"""lm-eval's HFLM answers log-likelihood requests; tokenising is timed, loading is not."""

from importlib.metadata import version

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from rounds import Prepared, serve, work

torch.set_num_threads(1)
given = work()
model = HFLM(
    pretrained=given["model"],
    device=given["device"],
    dtype=given["dtype"],
    batch_size=given["batch"],
)


def prepare(job: str) -> Prepared:
    pairs = given["jobs"][job]
    model.loglikelihood(_instances(pairs[:2]), disable_tqdm=True)  # warm
    return lambda: model.loglikelihood(_instances(pairs), disable_tqdm=True)


def _instances(pairs: list[list[str]]) -> list[Instance]:
    return [
        Instance("loglikelihood", {}, (context, continuation), place)
        for place, (context, continuation) in enumerate(pairs)
    ]


serve(f"lm-eval {version('lm_eval')}", ("torch", "transformers"), prepare)
