"""The `transformers` backend: any causal language model in a folder or on the Hugging Face hub.

torch and transformers are imported when a model is opened, not before.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalui.errors import ModelError, RequestRejected
from evalui.imports import uncollected_imports
from evalui.messages import Sentence, sentence
from evalui.models.base import (
    BACKENDS,
    Backend,
    BackendTraits,
    Model,
    ModelEntry,
    sampling_seed,
)
from evalui.models.local import lora, weights
from evalui.models.scoring_requests import (
    UNLIMITED,
    LogprobQuery,
    ScoringBatch,
    encode_requests,
)
from evalui.models.tokenization import (
    EncodedContext,
    HFTokenizer,
    TokenIds,
    Tokenizer,
    encode_contexts,
    generated_text,
    prompt_limit,
    spellings_among,
    with_line_splitting,
)
from evalui.pictures import Mark, parts
from evalui.types import Ability, Generate, Prompt, Request, Response, texts_of

if TYPE_CHECKING:
    from evalui.models.local.loading import LoadedModel
    from evalui.models.local.pictures import PictureInputs, PictureTokenizer, SeeingTokenizer
    from evalui.models.local.self_check import CheckedPaths

Draw = tuple[Prompt, int]  # a prompt and which of its repeats

VERSION = "transformers.4"  # part of every fingerprint: raise it when an answer may change
DTYPES = ("auto", "float32", "bfloat16", "float16")
_ABILITIES: frozenset[Ability] = frozenset({"next_token", "loglik", "generate"})
# All of a repository's top folder that is needed to load a model, and nothing that is pickled.
_FILES = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt")
# Some tokenizer files hold a length of 10**30 where none is known.
_UNSPECIFIED_LENGTH = 10**9
# What an entry names as for a server, of which a model on this machine needs the template's part.
EXTRA_BODY, TEMPLATE_FIELD = "extra_body", "chat_template_kwargs"
_TEMPLATE_RESERVED = {"tokenize", "add_generation_prompt", "continue_final_message"}
# Threads of OpenMP that wait for one another sleep after some microseconds. By themselves they keep
# a processor busy for milliseconds, again and again, which is the other's time on a busy machine.
_OPENMP = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
_MAX_PREPARED_BYTES = 2**30  # of the pictures of prompts that are continued together
_CHECKED_TOKENS = 130  # of the texts that every model is checked with


class TransformersBackend(Backend):
    """Opens folders and hub ids, safetensors only, never with code of their own."""

    traits = BackendTraits(opens_folders=True, has_fp32_library=True)

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """All three, whatever the entry."""
        del entry
        return _ABILITIES

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """How it draws, and whether it thinks where its chat template has such a switch."""
        return weights.honoured_settings(entry.path)

    def problem(self, entry: ModelEntry) -> str:
        """Why the entry's settings or files cannot work, "" if nothing is known against them."""
        if entry.dtype not in DTYPES:
            return sentence("error.unknown-dtype", dtype=entry.dtype, known=", ".join(DTYPES))
        if problem := _library_problem(entry) or template_problem(entry):
            return problem
        if not entry.path:
            return sentence("error.no-path")
        folder = Path(entry.path)
        is_here = folder.is_absolute()  # else a hub id
        if problem := (weights.problem(folder) if is_here else "") or lora.problem_of(entry):
            return problem
        if is_here and entry.chat and not weights.has_chat_template(folder):
            return sentence("error.chat-without-template", folder=str(folder))
        return ""

    def sees_pictures(self, entry: ModelEntry) -> bool:
        """Whether the files in its folder say so; of a hub id it is not known."""
        folder = Path(entry.path)
        with suppress(OSError, ModelError):  # which are the entry's problem
            return folder.is_absolute() and weights.sees_pictures(folder)
        return False

    def open(self, entry: ModelEntry) -> Model:
        """Load the model; raises `ModelError` with the reason if it cannot be."""
        import_libraries()
        from evalui.models.local import fp32
        from evalui.models.local.loading import load
        from evalui.settings import Settings

        settings = Settings()
        folder = folder_of(entry)
        if problem := self.problem(replace(entry, path=str(folder))):
            raise ModelError(problem)
        tokenizer, blind = tokenizer_of(entry, folder)
        loaded = load(
            folder,
            dtype=entry.dtype,
            device=entry.device,
            threads=settings.threads,
            eos_ids=tokenizer.eos_ids,
            adapter=Path(entry.adapter) if entry.adapter else None,
            merge=entry.options.get("merge"),
        )
        if loaded.can_choose_library:
            loaded = replace(loaded, library=fp32.library_of(entry, settings))
        return TransformersModel(
            entry,
            folder,
            tokenizer,
            loaded,
            token_budget=settings.token_budget,
            data_dir=settings.data_dir if settings.self_checks == "kept" else None,
            blind=blind,
        )


def tokenizer_of(entry: ModelEntry, folder: Path) -> tuple[HFTokenizer, Sentence | None]:
    """The tokenizer of the files, with the processor of one that sees pictures; or why that
    cannot be had.
    """
    if weights.sees_pictures(folder):
        from evalui.models.local.pictures import SeeingTokenizer

        try:
            return SeeingTokenizer(entry.name, folder, template_of(entry)), None
        except ModelError as error:
            return HFTokenizer(entry.name, folder, template_of(entry)), error.sentence
    return HFTokenizer(entry.name, folder, template_of(entry)), None


def import_libraries() -> None:
    """Import what opening and using a model imports, which takes seconds and 350 MB."""
    if not os.environ.keys() & {*_OPENMP, "KMP_BLOCKTIME"}:
        os.environ.update(_OPENMP)  # read when torch is imported
    with uncollected_imports():
        for name in ("loading", "scorer", "generator"):
            import_module(f"evalui.models.local.{name}")


class TransformersModel:
    """A loaded model; see `base.Model`.

    `data_dir` is where the result of its self check is kept, None if that is repeated. `blind` is
    why it cannot be shown pictures, None where it can or never sees any.
    """

    def __init__(
        self,
        entry: ModelEntry,
        folder: Path,
        tokenizer: HFTokenizer,
        loaded: "LoadedModel",
        *,
        token_budget: int,
        data_dir: Path | None = None,
        blind: Sentence | None = None,
    ) -> None:
        import torch

        from evalui.models.local.fp32 import use_onednn
        from evalui.models.local.generator import TokenGenerator
        from evalui.models.local.picture_network import PictureNetwork
        from evalui.models.local.pictures import SeeingTokenizer
        from evalui.models.local.scorer import Scorer
        from evalui.models.local.self_check import max_tree_length

        if loaded.library == "onednn":
            use_onednn(loaded.model)
        self.name = entry.name
        self.abilities = _ABILITIES
        self._tokenizer = tokenizer
        self._device = loaded.device
        self._token_budget = token_budget
        self._seed = int(entry.options.get("seed", 0))
        self._line_tokenizer: Tokenizer = tokenizer
        self._spellings: dict[str, tuple[int, ...]] = {}
        lengths = (entry.max_length, loaded.max_length, tokenizer.max_length)
        self._limit = min(
            (length for length in lengths if 0 < length < _UNSPECIFIED_LENGTH), default=2048
        )
        library = f"fp32:{loaded.library}" if loaded.library else ""
        self._seeing = tokenizer if isinstance(tokenizer, SeeingTokenizer) else None
        identity = (
            VERSION,
            loaded.dtype,
            loaded.device.type,
            str(self._limit),
            torch.__version__,
            import_module("transformers").__version__,
            *(self._seeing.parts_of_identity if self._seeing else ()),
            *[part for part in (loaded.adapter, library) if part],
        )
        adapter = Path(entry.adapter) if entry.adapter else None
        unchecked = weights.fingerprint(folder, *identity, adapter=adapter)
        checked = _checked_paths(loaded, unchecked, data_dir, self._seeing)
        # Models that the check or their prefix changes nothing of keep the answers they have given.
        added = [*checked.differences, *tokenizer.unusual_prefix, *tokenizer.template_parts]
        added += [f"seed:{self._seed}"] if self._seed else []
        fingerprint = (
            weights.fingerprint(folder, *identity, *added, adapter=adapter) if added else unchecked
        )
        # The signature of the scores shows the library, which it reads off the beginning.
        self.fingerprint = f"{library}|{fingerprint}" if library else fingerprint
        self.notes = checked.notes(str(loaded.model.config.model_type))
        if code := weights.own_code(folder):
            self.notes = (sentence("error.own-code-unused", file=code), *self.notes)
        self._blind = blind or checked.pictures_refused(str(loaded.model.config.model_type))
        if self._blind:
            self.notes = (self._blind, *self.notes)
        self._scorer = Scorer(loaded, checked, token_budget=token_budget)
        self._generator = TokenGenerator(loaded, checked)
        shared = 0 if checked.picture_prefix else max_tree_length(loaded)
        self._picture_network = PictureNetwork(loaded, max_shared_length=shared)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield responses batch by batch: log-probabilities first, then texts; last those to
        requests with pictures.

        Raises:
            RequestRejected: at the end, if the model cannot take some of these.
        """
        texts = {key: each for key, each in enumerate(requests) if not each.pictures}
        yield from self._score(texts)
        yield from self._generate(texts)
        if len(texts) < len(requests):
            yield from self._answer_with_pictures(
                {key: each for key, each in enumerate(requests) if each.pictures}
            )

    def close(self) -> None:
        """Free the device; a second call does nothing."""
        from evalui.models.local.loading import empty_cache

        for name in ("_scorer", "_generator", "_picture_network"):
            self.__dict__.pop(name, None)
        empty_cache(self._device)

    def _score(self, requests: Mapping[int, Request]) -> Iterator[tuple[int, Response]]:
        """Answer NextToken and Loglik, which share forward passes."""
        keys, spelled = list(requests), self._spelled()
        batch = encode_requests(
            self._line_tokenizer, spelled, list(requests.values()), limit=self._limit
        )
        for scored in self._scorer.score(batch.queries()):
            key = scored.query.key
            yield keys[key], batch.response(key, scored.logprobs, scored.best)

    def _spelled(self) -> Mapping[str, tuple[int, ...]]:
        """The tokens that spell a text; also finds out whether lines are encoded by themselves."""
        if not self._spellings:
            spelled = self._tokenizer.spell(range(self._tokenizer.size))
            self._spellings = dict(spellings_among(spelled))
            self._line_tokenizer = with_line_splitting(self._tokenizer, spelled)
        return self._spellings

    def _generate(self, requests: Mapping[int, Request]) -> Iterator[tuple[int, Response]]:
        """Answer Generate, requests with the same parameters together."""
        for group in _by_parameters(requests):
            like = next(iter(group.values()))
            limit = prompt_limit(self.name, self._limit, like.max_tokens)
            draws = _draws(group)
            prompts = [prompt for prompt, _ in draws]
            thinking = like.setting("thinking") or ""
            contexts = encode_contexts(self._tokenizer, prompts, limit=limit, thinking=thinking)
            encoded = [(context, None) for context in contexts]
            yield from self._write(group, dict(zip(draws, encoded, strict=True)))

    def _write(
        self,
        requests: Mapping[int, Generate],
        prompts: Mapping[Draw, tuple[EncodedContext, "PictureInputs | None"]],
    ) -> Iterator[tuple[int, Response]]:
        """Answer those of some requests with the same parameters whose prompts are encoded; all
        are given with their pictures, or none.
        """
        like, keys_of, draws = next(iter(requests.values())), _draws(requests), list(prompts)
        contexts = [context for context, _ in prompts.values()]
        for index, generated in self._generator.generate(
            [context.ids for context in contexts],
            max_tokens=like.max_tokens,
            temperature=like.temperature,
            sampling={name: like.setting(name) for name in weights.SAMPLING},
            seeds=[sampling_seed(self._seed, requests[keys_of[draw][0]]) for draw in draws],
            stop_check=lambda _, ids: self._has_stop(ids, like.stop),
            token_budget=self._token_budget,
            with_pictures=[text for _, text in prompts.values() if text],
        ):
            text = generated_text(
                contexts[index],
                self._tokenizer.decode(generated.ids),
                n_tokens=len(generated.ids),
                stop=like.stop,
                ended=generated.is_complete,
            )
            for key in keys_of[draws[index]]:
                yield key, text

    def _answer_with_pictures(
        self, requests: Mapping[int, Request]
    ) -> Iterator[tuple[int, Response]]:
        """Answer requests with pictures: letters and texts that show the same ones together."""
        if self._seeing is None or self._blind:
            why = self._blind or sentence("error.sees-no-pictures", model=self.name)
            raise ModelError(why)
        groups: dict[tuple[str, ...], dict[int, Request]] = {}
        for key, request in requests.items():
            if not isinstance(request, Generate):
                groups.setdefault(shown_pictures(request), {})[key] = request
        rejected: dict[int, str] = {}
        for pictures, group in groups.items():
            known = next(iter(group.values())).pictures
            tokenizer = self._seeing.with_pictures(pictures, known)
            yield from self._score_with_pictures(group, tokenizer, rejected)
        yield from self._generate_with_pictures(requests, rejected)
        if rejected:
            reason = next(iter(rejected.values()))
            raise RequestRejected(
                "pictures-refused", n=len(rejected), model=self.name, reason=reason
            )

    def _score_with_pictures(
        self,
        requests: Mapping[int, Request],
        tokenizer: "PictureTokenizer",
        rejected: dict[int, str],
    ) -> Iterator[tuple[int, Response]]:
        """Answer NextToken and Loglik that show the same pictures."""
        batches: dict[int, ScoringBatch] = {}
        queries: list[LogprobQuery] = []
        for key, request in requests.items():
            try:
                batch = encode_requests(tokenizer, self._spelled(), [request], limit=UNLIMITED)
                for query in batch.queries():
                    self._check_length(query.tokens, self._limit)
                    queries.append(replace(query, key=key))
                batches[key] = batch
            except RequestRejected as error:
                rejected[key] = error.sentence
        for scored in self._picture_network.score(queries, tokenizer.inputs):
            key = scored.query.key
            yield key, batches[key].response(0, scored.result.logprobs, scored.result.best)

    def _generate_with_pictures(
        self, requests: Mapping[int, Request], rejected: dict[int, str]
    ) -> Iterator[tuple[int, Response]]:
        """Answer Generate, as many together as there is memory for their pictures."""
        for group in _by_parameters(requests):
            prompts: dict[Draw, tuple[EncodedContext, PictureInputs]] = {}
            for draw, keys in _draws(group).items():
                try:
                    prompts[draw] = self._prompt_with_pictures(group[keys[0]])
                except RequestRejected as error:
                    rejected |= dict.fromkeys(keys, error.sentence)
                if sum(text.n_bytes for _, text in prompts.values()) > _MAX_PREPARED_BYTES:
                    yield from self._write(group, prompts)
                    prompts = {}
            if prompts:
                yield from self._write(group, prompts)

    def _prompt_with_pictures(self, request: Generate) -> tuple[EncodedContext, "PictureInputs"]:
        """The prompt as token ids, and with its pictures; raises RequestRejected if it does not
        fit.
        """
        assert self._seeing
        tokenizer = self._seeing.with_pictures(shown_pictures(request), request.pictures)
        thinking = request.setting("thinking") or ""
        (context,) = encode_contexts(
            tokenizer, [request.prompt], limit=UNLIMITED, thinking=thinking
        )
        self._check_length(context.ids, prompt_limit(self.name, self._limit, request.max_tokens))
        return context, tokenizer.inputs(context.ids)

    def _check_length(self, tokens: TokenIds, limit: int) -> None:
        if len(tokens) > limit:
            raise RequestRejected("pictures-too-long", model=self.name, n=len(tokens), limit=limit)

    def _has_stop(self, ids: Sequence[int], stop: Sequence[str]) -> bool:
        if not stop:
            return False
        # A stop of n bytes spans at most n tokens; one token more, because sentencepiece drops
        # a space at the beginning of the decoded text.
        longest = max(len(text.encode()) for text in stop) + 1
        tail = self._tokenizer.decode(ids[-longest:])
        return any(text in tail for text in stop)


def shown_pictures(request: Request) -> tuple[str, ...]:
    """The ids of the pictures that a request shows, one for each mark, in order."""
    pieces = (part for text in texts_of(request) for part in parts(text))
    return tuple(part.id for part in pieces if isinstance(part, Mark))


def _by_parameters(requests: Mapping[int, Request]) -> Iterator[dict[int, Generate]]:
    """The Generate among the requests, those that differ in their prompts only together."""
    groups: dict[Generate, dict[int, Generate]] = {}
    for key, request in requests.items():
        if isinstance(request, Generate):
            groups.setdefault(replace(request, prompt="", pictures=()), {})[key] = request
    yield from groups.values()


def _draws(requests: Mapping[int, Generate]) -> dict[Draw, list[int]]:
    """The keys of the requests that have one reply: equal prompts have equal texts, but for the
    repeats of one, which are drawn.
    """
    keys: dict[Draw, list[int]] = {}
    for key, request in requests.items():
        keys.setdefault((request.prompt, request.repeat), []).append(key)
    return keys


def _checked_paths(
    loaded: "LoadedModel",
    fingerprint: str,
    data_dir: Path | None,
    seeing: "SeeingTokenizer | None",
) -> "CheckedPaths":
    """Which ways of computing agree, as found before where that is kept."""
    from evalui.models.local.forward import OutOfMemory
    from evalui.models.local.loading import out_of_memory
    from evalui.models.local.self_check import check_paths, stored_paths

    examples = seeing.examples if seeing else ()
    try:
        if data_dir:
            return stored_paths(data_dir, fingerprint, loaded, examples)
        return check_paths(loaded, examples)
    except OutOfMemory as error:
        raise out_of_memory(_CHECKED_TOKENS) from error


def _library_problem(entry: ModelEntry) -> str:
    from evalui.models.local.fp32 import LIBRARIES

    pinned = entry.options.get("fp32")
    if pinned is None or pinned in LIBRARIES:
        return ""
    return sentence("error.unknown-fp32", found=repr(pinned), known=", ".join(LIBRARIES))


def template_of(entry: ModelEntry) -> Mapping[str, Any]:
    """The values for the chat template that an entry without a `template_problem` states."""
    return entry.options.get(EXTRA_BODY, {}).get(TEMPLATE_FIELD, {})


def template_problem(entry: ModelEntry) -> str:
    """Why the entry's options cannot be values for a chat template, "" if they can."""
    extra: Any = entry.options.get(EXTRA_BODY, {})
    if isinstance(extra, dict) and not (extra.keys() - {TEMPLATE_FIELD}):
        values: Any = cast("dict[str, Any]", extra).get(TEMPLATE_FIELD, {})
        if isinstance(values, dict) and not (values.keys() & _TEMPLATE_RESERVED):
            return ""
    return sentence("error.local-extra-body", found=repr(cast(object, extra)))


def folder_of(entry: ModelEntry) -> Path:
    """The folder of the model's files; a hub id is downloaded, or read from the hub's cache.

    Raises:
        ModelError: the hub cannot be reached or has no such model.
    """
    if Path(entry.path).is_absolute():
        return Path(entry.path)
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError

    try:
        download = cast(Any, huggingface_hub.snapshot_download)  # typed only in part
        return Path(
            download(
                entry.path,
                revision=entry.revision or None,
                allow_patterns=list(_FILES),
                ignore_patterns=["*/*"],
            )
        )
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise ModelError("not-on-hub", path=entry.path, reason=str(error)) from error


BACKENDS.register("transformers")(TransformersBackend())
