"""How much a cell gives its model to compute, so that a speed measured at one length serves others.

The unit is the prompt token: one token read at the beginning of a text. A look at some questions is
enough, because the same look is taken when a speed is measured and when a time is estimated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalui.models.base import ModelEntry, traits_of
from evalui.models.memory_estimate import hidden_size
from evalui.models.tokenization import common_prefix_length
from evalui.modes import MODES, ModeSettings
from evalui.runs.cells import trials_to_run
from evalui.runs.spec import ModeSpec
from evalui.text_tokenizers.han import HAN_CHARACTER
from evalui.types import Generate, Loglik, Message, Pattern, Prompt, Request, Sample

_SAMPLED_QUESTIONS = 24  # looked at in a cell
_SAMPLED_VARIANTS = 24  # looked at of each
_TOKENS_PER_REQUEST = (
    200  # prompt tokens that would take as long as one request to an endpoint by itself
)
_TOKENS_PER_WRITTEN = 10  # prompt tokens that would take as long as one token written
_DEFAULT_HIDDEN_SIZE = 2048  # hidden size of a model that does not tell its own


@dataclass(frozen=True, slots=True)
class RequestSize:
    """A request of a cell on average, in tokens.

    `sent` is its prompt, `distinct` the part of it that no request before it had, `written` the
    reply.
    """

    sent: float = 0.0
    distinct: float = 0.0
    written: float = 0.0


def request_size(
    mode: ModeSpec,
    pattern: Pattern,
    samples: Sequence[Sample],
    setting: ModeSettings,
    *,
    written: float = 0.0,
) -> RequestSize:
    """The size of the cell's requests, roughly, by a look at some questions."""
    looked = _sampled_requests(mode, pattern, samples, setting)
    requests = [request for each in looked for request in each]
    if not requests:
        return RequestSize()
    return RequestSize(
        sent=sum(count_tokens(_text(request)) for request in requests) / len(requests),
        distinct=_extrapolated_distinct(looked, len(samples))
        * len(looked)
        / len(requests)
        / len(samples),
        written=written,
    )


def workload(entry: ModelEntry, size: RequestSize) -> float:
    """What a request gives the model to compute, in prompt tokens.

    A local model reads what prompts have in common once (docs/speed.md), so only what is distinct
    counts. A token at the place L takes 1 + L / (4 d) times as long as the first, where d is the
    hidden size: beside the 24 d^2 operations of a layer's products stand 4 d L of attention (Kaplan
    et al. 2020, table 1), which run at a lower rate. An endpoint is sent every prompt whole.
    """
    if traits_of(entry).remote:
        return _TOKENS_PER_REQUEST + size.sent + _TOKENS_PER_WRITTEN * size.written
    attention = size.sent / (4 * (hidden_size(entry) or _DEFAULT_HIDDEN_SIZE))
    return size.distinct * (1 + attention) + _TOKENS_PER_WRITTEN * size.written


def count_tokens(text: str) -> int:
    """A rough number of tokens: one per Chinese character, one per four others."""
    chinese = len(HAN_CHARACTER.findall(text))
    return chinese + -(-(len(text) - chinese) // 4)


def _sampled_requests(
    mode: ModeSpec, pattern: Pattern, samples: Sequence[Sample], setting: ModeSettings
) -> list[list[Request]]:
    """The requests of some questions, evenly spread, by question."""
    some = samples[:: max(1, len(samples) // _SAMPLED_QUESTIONS)]
    found: dict[str, list[Request]] = {}
    seen: dict[str, int] = {}
    for sample, variant in trials_to_run(mode, pattern, some, setting):
        seen[sample.id] = seen.get(sample.id, 0) + 1
        if seen[sample.id] <= _SAMPLED_VARIANTS:
            found.setdefault(sample.id, []).extend(MODES[mode.mode].plan(sample, variant, setting))
    return [requests for requests in found.values() if requests]


def _extrapolated_distinct(looked: Sequence[Sequence[Request]], n: int) -> float:
    """The distinct prompt tokens of `n` questions, from those of some.

    Half of the questions have less than half of them, because they share their beginnings: what
    the other half adds is what each further question adds.
    """
    half = looked[::2]
    whole = _trie_tokens(request for each in looked for request in each)
    if len(half) == len(looked):
        return float(whole * n)
    each = (whole - _trie_tokens(request for each in half for request in each)) / (
        len(looked) - len(half)
    )
    return max(0.0, whole - each * len(looked)) + each * n


def _trie_tokens(requests: Iterable[Request]) -> int:
    """The tokens of a trie of all texts: each as far as it differs from the one before it."""
    tokens, before = 0, ""
    for text in sorted({_text(request) for request in requests}):
        tokens += count_tokens(text[common_prefix_length(before, text) :])
        before = text
    return tokens


def _text(request: Request) -> str:
    prompt: Prompt = request.prompt if isinstance(request, Generate) else request.context
    turns = prompt if isinstance(prompt, tuple) else (Message("user", prompt),)
    scored = request.continuation if isinstance(request, Loglik) else ""
    return "".join(turn.content for turn in turns) + scored
