"""As much of vLLM as evalui uses, over a model that is a formula.

FAKE_VLLM tells it to misbehave: "unopenable", "dies" or "fails" at a step, "nan", "slow", or
"gated": after the first step it goes on once the file FAKE_VLLM_GATE is there. FAKE_VLLM_LOG is a
file that gets a character for each step.
"""

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from vllm_formula import best, logprobs

from vllm.exceptions import VLLMClientError

__version__ = "0.0.fake"
BLOCK = 4  # tokens that share a place in the cache
FORBIDDEN = 13  # a prompt with this token is turned down
_MOOD = os.environ.get("FAKE_VLLM", "")


def SamplingParams(**given: Any) -> SimpleNamespace:  # noqa: N802 - as vLLM calls it
    return SimpleNamespace(**given)


class EngineArgs(SimpleNamespace):
    pass


class LLMEngine:
    def __init__(self, arguments: EngineArgs) -> None:
        print("fake: opening", arguments.model, flush=True)  # noqa: T201 - vLLM talks, too
        if _MOOD == "unopenable":
            raise RuntimeError("there is no room for it")
        self._arguments = arguments
        length = getattr(arguments, "max_model_len", 128)
        dtype = f"torch.{arguments.dtype}"
        self.model_config = SimpleNamespace(dtype=dtype, max_model_len=length)
        self._waiting: dict[str, tuple[list[int], Any]] = {}
        self._cached: set[tuple[int, ...]] = set()
        self.adapters: list[Any] = []
        self._steps = 0

    @classmethod
    def from_engine_args(cls, arguments: EngineArgs) -> "LLMEngine":
        return cls(arguments)

    def add_lora(self, adapter: Any) -> None:
        assert self._arguments.enable_lora
        self.adapters.append(adapter)

    def add_request(self, name: str, prompt: Any, parameters: Any, lora_request: Any) -> None:
        assert [lora_request] == (self.adapters or [None])
        tokens = prompt["prompt_token_ids"]
        if FORBIDDEN in tokens:
            raise VLLMClientError(f"token {FORBIDDEN} is forbidden")
        constraint = getattr(parameters, "structured_outputs", None)
        if constraint and "unknown" in constraint.json:
            raise ValueError("the schema has a feature that is not supported")
        available = self.model_config.max_model_len
        assert len(tokens) + 1 <= available, "the prompt and a token do not fit"
        self._waiting[name] = (tokens, parameters)

    def abort_request(self, names: list[str]) -> None:
        for name in names:
            self._waiting.pop(name, None)

    def step(self) -> list[Any]:
        if _MOOD == "dies":
            print("fake: out of luck", file=sys.stderr, flush=True)  # noqa: T201 - as above
            os._exit(7)
        if _MOOD == "fails":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        if _MOOD == "slow":
            time.sleep(0.05)
        self._steps += 1
        while (
            _MOOD == "gated" and self._steps > 1 and not Path(os.environ["FAKE_VLLM_GATE"]).exists()
        ):
            time.sleep(0.01)
        if log := os.environ.get("FAKE_VLLM_LOG"):
            Path(log).write_text("." * self._steps, encoding="utf-8")
        name = next(iter(self._waiting))
        return [self._finished(name, *self._waiting.pop(name))]

    def _finished(self, name: str, tokens: list[int], given: Any) -> Any:
        hit = 0 if getattr(given, "skip_reading_prefix_cache", False) else self._hit(tokens)
        # As in vLLM, the probabilities of cached tokens are whatever was in memory.
        probable = (
            [logprobs(tokens[:end])[tokens[end]] if end > hit else -99.0 for end in _ends(tokens)]
            if hasattr(given, "prompt_logprobs")
            else []
        )
        ranks = [1 + (best(tokens[:end]) != tokens[end]) for end in _ends(tokens)]
        prompt = SimpleNamespace(logprobs=probable, ranks=ranks, token_ids=tokens[1:])
        return SimpleNamespace(
            request_id=name,
            finished=True,
            prompt_token_ids=tokens,
            num_cached_tokens=hit,
            prompt_logprobs=prompt,
            outputs=[_look(tokens, given) if given.max_tokens == 1 else _write(tokens, given)],
        )

    def _hit(self, tokens: list[int]) -> int:
        ends = range(BLOCK, len(tokens), BLOCK)
        hit = max((end for end in ends if tuple(tokens[:end]) in self._cached), default=0)
        self._cached |= {tuple(tokens[:end]) for end in ends}
        return hit


def _ends(tokens: list[int]) -> range:
    return range(1, len(tokens))


def _look(tokens: list[int], given: Any) -> Any:
    found, first = logprobs(tokens), best(tokens)
    ids = getattr(given, "logprob_token_ids", None) or []
    assert len(ids) <= 128, "vLLM takes 128 at most"
    wanted = [first, *ids]
    values = [float("nan") if _MOOD == "nan" else found[token] for token in wanted]
    padding = [float("-inf")] * 3
    return SimpleNamespace(
        token_ids=[first],
        logprobs=SimpleNamespace(token_ids=[*wanted, 0, 0, 0], logprobs=values + padding),
        finish_reason="length",
        stop_reason=None,
        cumulative_logprob=found[first],
    )


def _write(tokens: list[int], given: Any) -> Any:
    written: list[int] = []
    reason = "length"
    if constraint := getattr(given, "structured_outputs", None):
        # As many tokens as the schema has characters, so that a test sees which one was kept to.
        written = [best(tokens)] * len(constraint.json)
    while len(written) < given.max_tokens:
        written.append(best([*tokens, *written]))
        if len(written) == 5 and len(tokens) % 2:
            written[-1], reason = given.stop_token_ids[0], "stop"
            break
    return SimpleNamespace(
        token_ids=written,
        finish_reason=reason,
        stop_reason=written[-1] if reason == "stop" else None,
        cumulative_logprob=float("nan") if _MOOD == "nan" else -1.0,
    )
