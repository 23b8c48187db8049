"""The `vllm` backend: a model in this machine's vLLM, in a process of its own.

Texts become token ids here, so vLLM is imported in that process only, which may run in another
environment than evalui. What the requests to it mean is stated in `process`.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalui.errors import ModelError, RequestRejected
from evalui.messages import sentence
from evalui.models.base import (
    BACKENDS,
    Backend,
    BackendTraits,
    Model,
    ModelEntry,
    sampling_seed,
)
from evalui.models.local import folder_of, shown_pictures, tokenizer_of, weights
from evalui.models.scoring_requests import UNLIMITED, ScoringBatch, encode_requests
from evalui.models.tokenization import (
    EncodedContext,
    HFTokenizer,
    encode_contexts,
    generated_text,
    prompt_limit,
    spellings,
)
from evalui.models.vllm.child import EngineProcess, script
from evalui.pictures import Picture
from evalui.types import Ability, Generate, Prompt, Request, Response

_MAX_IDS = 128  # the most token ids that vLLM looks up at once
_SHARED = 64  # a context of so many tokens is worth being computed by itself first
VERSION = "vllm.2"  # part of every fingerprint: raise it when an answer may change
_ABILITIES: frozenset[Ability] = frozenset({"next_token", "loglik", "generate", "schema"})

Tokens = tuple[int, ...]


class VllmBackend(Backend):
    """Opens what the `transformers` backend opens, in vLLM."""

    traits = BackendTraits(opens_folders=True, needs_full_length_cache=True)

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """All of them, whatever the entry."""
        del entry
        return _ABILITIES

    def problem(self, entry: ModelEntry) -> str:
        """Why the entry's settings or files cannot work, "" if nothing is known against them."""
        from evalui.models.vllm.options import lora_rank, missing, read_options, visible_gpu

        if problem := BACKENDS["transformers"].problem(entry):
            return problem
        try:
            options = read_options(entry)
            visible_gpu(entry, os.environ)
            if entry.adapter:
                lora_rank(Path(entry.adapter))
        except ModelError as error:
            return error.sentence
        return missing(options)

    def sees_pictures(self, entry: ModelEntry) -> bool:
        """As transformers does: whether the files in its folder say so."""
        return BACKENDS["transformers"].sees_pictures(entry)

    def accelerators(self, entry: ModelEntry) -> int:
        """As many GPUs as options.tensor_parallel states."""
        from evalui.models.vllm.options import read_options

        return read_options(entry).tensor_parallel

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """How it draws, and whether it thinks where its chat template has such a switch."""
        return weights.honoured_settings(entry.path)

    def open(self, entry: ModelEntry) -> Model:
        """Load the model; raises `ModelError` with the reason if it cannot be."""
        from evalui.models.vllm.options import engine, environment, interpreter, read_options
        from evalui.settings import Settings

        folder = folder_of(entry)
        if problem := self.problem(replace(entry, path=str(folder))):
            raise ModelError(problem)
        options = read_options(entry)
        tokenizer, blind = tokenizer_of(entry, folder)
        command = [str(interpreter(options)), str(script())]
        child = EngineProcess(
            entry.name, command, environment(entry, os.environ, Settings().threads)
        )
        try:
            info = EngineInfo(
                **child.open({"engine": engine(entry, options, folder), "adapter": entry.adapter})
            )
            info.check(entry)
        except BaseException:
            child.close()
            raise
        return VllmModel(entry, folder, tokenizer, child, info=info, seed=options.seed, blind=blind)


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """The opened engine: vLLM's version, device and dtype, and the longest input in tokens."""

    version: str
    device: str
    dtype: str
    max_length: int

    @property
    def limit(self) -> int:
        """The longest input in tokens: vLLM counts the token that is scored, and one token that
        it always generates.
        """
        return self.max_length - 2

    def check(self, entry: ModelEntry) -> None:
        """Raise `ModelError` if the entry names another kind of device."""
        wanted = entry.device.partition(":")[0]
        if wanted not in ("auto", self.device):
            raise ModelError("vllm-device", model=entry.name, wanted=wanted, found=self.device)


class VllmModel:
    """A loaded model; see `base.Model`. `blind` is why it cannot be shown pictures."""

    def __init__(
        self,
        entry: ModelEntry,
        folder: Path,
        tokenizer: HFTokenizer,
        child: EngineProcess,
        *,
        info: EngineInfo,
        seed: int,
        blind: str | None = None,
    ) -> None:
        from evalui.models.local.pictures import SeeingTokenizer

        self.name = entry.name
        self.abilities = _ABILITIES
        self.device = info.device
        self._tokenizer = tokenizer
        self._seeing = tokenizer if isinstance(tokenizer, SeeingTokenizer) else None
        self._blind = blind
        self._child = child
        self._limit = info.limit
        self._seed = seed
        self._spellings: dict[str, tuple[int, ...]] = {}
        adapter = Path(entry.adapter) if entry.adapter else None
        self.fingerprint = weights.fingerprint(
            folder,
            VERSION,
            info.version,
            info.dtype,
            info.device,
            str(info.limit),
            str(entry.options.get("quantization", "")),
            str(entry.options.get("tensor_parallel", 1)),
            str(seed),
            *(self._seeing.parts_of_identity if self._seeing else ()),
            *tokenizer.template_parts,
            adapter=adapter,
        )

    @property
    def pid(self) -> int:
        """The id of the process that uses the device."""
        return self._child.pid

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield responses as they are known: log-probabilities first, then texts.

        Raises:
            RequestRejected: at the end, if vLLM does not take some of them.
            ModelError: the engine failed, or its files say nothing of how it is shown pictures.
        """
        rejected: dict[int, str] = {}
        yield from self._score(requests, rejected)
        yield from self._generate(requests, rejected)
        if rejected:
            raise RequestRejected(
                "vllm-refused",
                n=len(rejected),
                model=self.name,
                reason=next(iter(rejected.values())),
            )

    def close(self) -> None:
        """Free the device, by ending the process that uses it."""
        self._child.close()

    def _score(
        self, requests: Sequence[Request], rejected: dict[int, str]
    ) -> Iterator[tuple[int, Response]]:
        """Answer NextToken and Loglik, those that show the same pictures by themselves."""
        if not self._spellings:
            self._spellings = dict(spellings(self._tokenizer))
        sent: list[dict[str, Any]] = []
        # Of each request to the engine: whose it is, its place there, and their keys here.
        owners: list[tuple[ScoringRequests, int, list[int]]] = []
        for shown, keys in _by_pictures(requests).items():
            limit = UNLIMITED if shown else self._limit  # a prompt that shows any is not cut
            group = [
                replace(request, context=self._placed(request))
                for request in map(requests.__getitem__, keys)
                if not isinstance(request, Generate)
            ]
            scoring = ScoringRequests(
                encode_requests(self._tokenizer, self._spellings, group, limit=limit)
            )
            for place, each in enumerate(scoring.requests()):
                sent.append({**each, "pictures": shown})
                owners.append((scoring, place, keys))
        for answer in self._child.answer(sent, _pictures(requests)):
            scoring, place, keys = owners[int(answer["place"])]
            if "refused" in answer:
                # A query may need several requests, all of which are rejected.
                rejected.update((keys[key], answer["refused"]) for key in scoring.keys(place))
                continue
            for key, response in scoring.responses(place, sent[int(answer["place"])], answer):
                yield keys[key], response

    def _generate(
        self, requests: Sequence[Request], rejected: dict[int, str]
    ) -> Iterator[tuple[int, Response]]:
        """Answer Generate, all at once: vLLM batches them continuously."""
        keys = [key for key, request in enumerate(requests) if isinstance(request, Generate)]
        texts = [request for request in requests if isinstance(request, Generate)]
        contexts = self._contexts(texts)
        sent = [self._request(*each) for each in zip(texts, contexts, strict=True)]
        for answer in self._child.answer(sent, _pictures(texts)):
            place = int(answer["place"])
            if "refused" in answer:
                rejected[keys[place]] = answer["refused"]
                continue
            reject_nan([answer["logprob"]])
            yield (
                keys[place],
                generated_text(
                    contexts[place],
                    self._tokenizer.decode(answer["ids"]),
                    n_tokens=len(answer["ids"]),
                    stop=texts[place].stop,
                    ended=answer["ended"],
                    constrained=answer["constrained"],
                ),
            )

    def _contexts(self, requests: Sequence[Generate]) -> list[EncodedContext]:
        """The prompts as token ids, each cut so that its reply fits the model, too."""
        contexts: dict[int, EncodedContext] = {}
        alike: dict[tuple[int, str, bool], list[int]] = {}
        for key, each in enumerate(requests):
            group = each.max_tokens, each.setting("thinking") or "", bool(each.pictures)
            alike.setdefault(group, []).append(key)
        for (length, thinking, shows_pictures), like in alike.items():
            prompts = [self._placed(requests[key]) for key in like]
            limit = UNLIMITED if shows_pictures else prompt_limit(self.name, self._limit, length)
            cut = encode_contexts(self._tokenizer, prompts, limit=limit, thinking=thinking)
            contexts |= zip(like, cut, strict=True)
        return [contexts[key] for key in range(len(requests))]

    def _placed(self, request: Request) -> Prompt:
        """The prompt with places of pictures for the marks in a plain one; a conversation gets
        them by the chat template.
        """
        prompt = request.prompt if isinstance(request, Generate) else request.context
        if not request.pictures:
            return prompt
        if self._seeing is None:
            why = self._blind or sentence("error.sees-no-pictures", model=self.name)
            raise ModelError(why)
        return self._seeing.placed(prompt) if isinstance(prompt, str) else prompt

    def _request(self, request: Generate, context: EncodedContext) -> dict[str, Any]:
        return {
            "kind": "generate",
            "tokens": context.ids,
            "pictures": shown_pictures(request),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "sampling": {
                name: value for name, value in request.settings if name in weights.SAMPLING
            },
            "stop": request.stop,
            "json_schema": request.json_schema,
            "ends": sorted(self._tokenizer.eos_ids),
            "seed": sampling_seed(self._seed, request),  # vLLM takes 63 bits
        }


@dataclass(slots=True)
class _NextToken:
    """The ids to look up after some tokens, the queries they are for, their log-probabilities so
    far, the most probable token, and the number of answers that are pending.
    """

    ids: dict[int, None]
    keys: list[int]
    logprobs: dict[int, float]
    best: int = -1
    pending: int = 0


class ScoringRequests:
    """The engine requests for one batch of queries, and the responses that an answer completes.

    Queries after the same context become one request; so does a continuation of one token.
    """

    def __init__(self, batch: ScoringBatch) -> None:
        self._batch = batch
        self._next_tokens: dict[Tokens, _NextToken] = {}
        # By context, then by context and continuation together: the queries that need it.
        self._continuations: dict[Tokens, dict[Tokens, list[int]]] = {}
        self._ids: dict[int, Tokens] = {}
        self._keys: list[list[int]] = []  # for each request the queries that need it
        for query in batch.queries():
            if len(query.targets) == 1:
                ((_, ids),) = query.targets
                self._add_next_token(query.tokens, ids).keys.append(query.key)
                self._ids[query.key] = ids
                continue
            start = query.targets[0][0]
            context, whole = query.tokens[:start], query.tokens + query.targets[-1][1]
            self._continuations.setdefault(context, {}).setdefault(whole, []).append(query.key)
            if start >= _SHARED:
                # Else the first continuation would have the output layer, which is slow and
                # large, applied to the whole context; so it finds the context in the cache.
                self._add_next_token(context, ())

    def requests(self) -> list[dict[str, Any]]:
        """The requests; those after one context are neighbours, while it is cached."""
        requests: list[dict[str, Any]] = []
        for context in dict.fromkeys((*self._next_tokens, *self._continuations)):
            if lookup := self._next_tokens.get(context):
                ids = list(lookup.ids)
                pieces = [ids[at : at + _MAX_IDS] for at in range(0, len(ids), _MAX_IDS)] or [[]]
                lookup.pending = len(pieces)
                requests += (
                    {"kind": "next_token", "tokens": context, "ids": piece} for piece in pieces
                )
                self._keys += [lookup.keys] * len(pieces)
            for whole, keys in self._continuations.get(context, {}).items():
                requests.append({"kind": "score", "tokens": whole, "start": len(context)})
                self._keys.append(keys)
        return requests

    def keys(self, place: int) -> list[int]:
        """The queries that need the request at this place."""
        return self._keys[place]

    def responses(
        self, place: int, request: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        """The responses that the answer to the request at this place completes.

        Raises:
            ModelError: the network computes NaN.
        """
        reject_nan(answer["logprobs"])
        if request["kind"] == "next_token":
            yield from self._completed(self._next_tokens[request["tokens"]], request["ids"], answer)
            return
        ends = request["tokens"][request["start"] :]
        best = [token if first else -1 for token, first in zip(ends, answer["first"], strict=True)]
        for key in self.keys(place):
            yield key, self._batch.response(key, answer["logprobs"], best)

    def _add_next_token(self, tokens: Tokens, ids: Tokens) -> _NextToken:
        lookup = self._next_tokens.setdefault(tokens, _NextToken({}, [], {}))
        lookup.ids |= dict.fromkeys(ids)
        return lookup

    def _completed(
        self, lookup: _NextToken, ids: Sequence[int], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        lookup.logprobs |= zip(ids, answer["logprobs"], strict=True)
        lookup.best = answer["best"]
        lookup.pending -= 1
        if lookup.pending:
            return
        for key in lookup.keys:
            logprobs = [lookup.logprobs[token] for token in self._ids[key]]
            yield key, self._batch.response(key, logprobs, [lookup.best] * len(logprobs))


def _by_pictures(requests: Sequence[Request]) -> dict[tuple[str, ...], list[int]]:
    """The places of the requests to be scored, by the pictures that they show."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for key, request in enumerate(requests):
        if not isinstance(request, Generate):
            groups.setdefault(shown_pictures(request), []).append(key)
    return groups


def _pictures(requests: Sequence[Request]) -> list[Picture]:
    """All pictures of some requests, each once."""
    return list({each.id: each for request in requests for each in request.pictures}.values())


def reject_nan(logprobs: Sequence[float]) -> None:
    """Raise `ModelError` if one is NaN."""
    if any(math.isnan(each) for each in logprobs):
        raise ModelError("nan")


BACKENDS.register("vllm")(VllmBackend())
