"""What plain transformers computes: one row at a time, eagerly, without a cache."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from evalui.models import Model
from evalui.models.scoring_requests import encode_requests
from evalui.models.tokenization import HFTokenizer, encode_contexts, spellings
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Request,
    Response,
)

LABELS = ("A", "B", "C", "D")
_SHOTS = (
    "Question: Which of these is a prime number? A. 4 B. 6 C. 7 D. 8 Answer: C\n"
    "Question: What does water become? A. steam B. ice C. sand D. glass Answer: A\n"
)
_QUESTIONS = (
    "Question: Which city is the capital of France? A. Oslo B. Paris C. Rome D. Bern Answer:",
    "Which one? Answer:",
    "Question: Which is it when it is heated to a hundred degrees and is one of these, the 17 or "
    "the 19 that they have at the city? A. steam B. ice C. sand D. glass Answer:",
    "Question: 7 or 13? A. 7 B. 13 C. 1 D. 2 Answer:",
)
_OPTIONS = (" Paris", " the capital of the city", " ice", " 13 19")
MAX_TOKENS = 8


def requests() -> list[Request]:
    """Letters, options and replies, with and without two examples before the question."""
    prompts = [*_QUESTIONS, *(_SHOTS + question for question in _QUESTIONS)]
    return [
        *(NextToken(prompt, LABELS) for prompt in prompts),
        *(Loglik(prompt, option) for prompt in prompts[1:6:2] for option in _OPTIONS),
        *(Generate(prompt, MAX_TOKENS) for prompt in prompts),
    ]


@dataclass(frozen=True, slots=True)
class Oracle:
    """A network of plain transformers with its tokenizer."""

    model: Any
    tokenizer: HFTokenizer
    prefix: tuple[int, ...]

    def responses(self, asked: Sequence[Request]) -> dict[int, Response]:
        """The response to each request, each row by itself."""
        batch = encode_requests(self.tokenizer, spellings(self.tokenizer), asked, limit=320)
        responses: dict[int, Response] = {}
        for query in batch.queries():
            assert query.tokens[: len(self.prefix)] == self.prefix
            rows = self._logprobs(query.tokens)
            logprobs = [float(rows[n - 1, id_]) for n, ids in query.targets for id_ in ids]
            best = [int(rows[n - 1].argmax()) for n, ids in query.targets for _ in ids]
            responses[query.key] = batch.response(query.key, logprobs, best)
        for key, each in enumerate(asked):
            if isinstance(each, Generate):
                responses[key] = self._reply(each)
        return responses

    def _logprobs(self, tokens: Sequence[int]) -> torch.Tensor:
        with torch.inference_mode():
            return self.model(torch.tensor([tokens]), use_cache=False).logits[0].log_softmax(-1)

    def _reply(self, request: Generate) -> GeneratedText:
        (context,) = encode_contexts(self.tokenizer, [request.prompt], limit=300)
        ids = list(context.ids)
        for _ in range(request.max_tokens):
            ids.append(int(self._logprobs(ids)[-1].argmax()))
            if ids[-1] in self.tokenizer.eos_ids:
                ids.pop()
                break
        return GeneratedText(self.tokenizer.decode(ids[len(context.ids) :]))


def oracle(folder: Path, model: Any = None, *, attention: str = "eager") -> Oracle:
    """The oracle of the folder's files in float32; `model` is used in their place if given."""
    plain = model or AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention
    )
    raw = AutoTokenizer.from_pretrained(folder)
    own = raw("a", add_special_tokens=False)["input_ids"]
    prefix = tuple(raw("a")["input_ids"])
    prefix = prefix[: prefix.index(own[0])]
    return Oracle(plain.eval(), HFTokenizer("oracle", folder), prefix)


def assert_equal(model: Model, plain: Oracle) -> None:
    """Every choice and text of the model equals the oracle's, log-probabilities within 1e-3."""
    asked = requests()
    expected, answered = plain.responses(asked), dict(model.answer(asked))
    assert answered.keys() == expected.keys()
    spread = 0.0
    for key, right in expected.items():
        answer = answered[key]
        if isinstance(right, LabelProbs) and isinstance(answer, LabelProbs):
            spread = max(spread, max(right.logprobs) - min(right.logprobs))
            assert _argmax(answer.logprobs) == _argmax(right.logprobs)
            assert _distance(answer.logprobs, right.logprobs) < 1e-3
        elif isinstance(right, Logprob) and isinstance(answer, Logprob):
            assert abs(answer.total - right.total) < 1e-3
        else:
            assert isinstance(right, GeneratedText)
            assert isinstance(answer, GeneratedText)
            assert answer.text == right.text
    assert spread > 2, "the letters are nats apart, so that errors show"
    texts = {each.text for each in expected.values() if isinstance(each, GeneratedText)}
    assert len(texts) > 2, "the network tells the prompts apart"


def _argmax(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda at: values[at])


def _distance(left: Sequence[float], right: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(left, right, strict=True) if not math.isinf(a))
