"""Inspect evaluates questions at a chat server; a whole `eval` is timed, as its users run it."""

import os
import resource
import tempfile
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.solver import generate
from rounds import Prepared, serve, work

given = work()
os.environ |= {"INSPECT_LOG_DIR": tempfile.mkdtemp(), "INSPECT_TELEMETRY": "", "FAKE_API_KEY": "x"}


def prepare(job: str) -> Prepared:
    width, prompts = given["jobs"][job]["width"], given["jobs"][job]["prompts"]
    model = get_model("openai-api/fake/fake", base_url=given["url"], api_key="none")

    def answer() -> dict[str, float]:
        task = Task(
            dataset=MemoryDataset([Sample(input=prompt) for prompt in prompts]), solver=generate()
        )
        (log,) = eval(
            task,
            model=model,
            max_connections=width,
            max_samples=width,
            max_tokens=64,
            temperature=0,
            display="none",
            log_realtime=False,
        )
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"answered": len(log.samples or ()), "megabytes": megabytes}

    return answer


serve(f"Inspect {version('inspect_ai')}", ("openai", "httpx"), prepare)
