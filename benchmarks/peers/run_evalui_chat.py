"""Our own side, in a process of its own as the peers are: a model at an endpoint answers."""

import resource

from rounds import Prepared, serve, work

from evalui import __version__
from evalui.models import ModelEntry
from evalui.models.endpoint.backend import OpenAIBackend
from evalui.types import Generate, Message, Request

given = work()


def prepare(job: str) -> Prepared:
    width, prompts = given["jobs"][job]["width"], given["jobs"][job]["prompts"]
    options = {"base_url": given["url"], "concurrency": width, "api": "chat"}
    model = OpenAIBackend().open(ModelEntry("fake", "openai", "fake", chat=True, options=options))
    requests: list[Request] = [Generate((Message("user", each),), 64) for each in prompts]
    dict(model.answer(requests[:2]))  # warm

    def answer() -> dict[str, float]:
        replies = dict(model.answer(requests))
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"answered": len(replies), "megabytes": megabytes}

    return answer


serve(f"evalui {__version__}", ("aiohttp",), prepare)
