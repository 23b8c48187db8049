"""lm-eval's `local-chat-completions` asks a chat server; its requests and replies are timed."""

import json
import resource
from importlib.metadata import version

from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.openai_completions import LocalChatCompletion
from rounds import Prepared, serve, work

given = work()


def prepare(job: str) -> Prepared:
    width, prompts = given["jobs"][job]["width"], given["jobs"][job]["prompts"]
    model = LocalChatCompletion(
        model="fake",
        base_url=f"{given['url']}/chat/completions",
        num_concurrent=width,
        tokenizer_backend=None,
        tokenized_requests=False,
    )
    model.generate_until(_instances(prompts[:2]), disable_tqdm=True)  # warm

    def answer() -> dict[str, float]:
        replies = model.generate_until(_instances(prompts), disable_tqdm=True)
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"answered": len(replies), "megabytes": megabytes}

    return answer


def _instances(prompts: list[str]) -> list[Instance]:
    return [
        Instance(
            "generate_until",
            {},
            (
                JsonChatStr(json.dumps([{"role": "user", "content": prompt}])),
                {"until": [], "max_gen_toks": 64, "temperature": 0},
            ),
            place,
        )
        for place, prompt in enumerate(prompts)
    ]


serve(f"lm-eval {version('lm_eval')}", ("aiohttp",), prepare)
