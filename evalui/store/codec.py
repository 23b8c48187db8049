"""How samples, trials and responses are written, and the keys under which they are stored.

JSON throughout: Python writes the shortest text that reads back as the same float, and -inf and
NaN as the names its own reader knows, so every number survives the round trip to the last bit.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import orjson

from evalui.messages import Sentence, Value
from evalui.types import (
    Dataset,
    Decide,
    Decision,
    GeneratedText,
    LabelProbs,
    LeftOut,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Prompt,
    Request,
    Response,
    Sample,
    Usage,
    Variant,
)

# Nothing here can hold itself.
_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def encode_variant(variant: Variant) -> str:
    """The permutation as text, "3,0,1,2"; of a later repeat with its number, "3,0,1,2#1"."""
    order = ",".join(map(str, variant.permutation))
    return f"{order}#{variant.repeat}" if variant.repeat else order


@lru_cache(1 << 12)  # a run has a few orders and many trials, which then share them
def decode_variant(text: str) -> Variant:
    """The inverse of `encode_variant`."""
    order, _, repeat = text.partition("#")
    return Variant(tuple(int(content) for content in order.split(",") if content), int(repeat or 0))


def encode_sentence(text: str) -> str:
    """The sentence as JSON: [text, key, values], or [text] alone; "" stays "".

    A value that is a sentence itself is such a list again.
    """
    if not text:
        return ""
    return _json(_parts(text if isinstance(text, Sentence) else Sentence(text)))


def decode_sentence(text: str) -> str:
    """The inverse of `encode_sentence`."""
    return _sentence(json.loads(text)) if text else ""


def encode_left_out(entries: Sequence[LeftOut]) -> str:
    """What a run leaves out, as a JSON list of objects; a reason is a text, or as a sentence is."""
    return _json([asdict(each) | {"why": _parts(each.why)} for each in entries])


def decode_left_out(text: str) -> tuple[LeftOut, ...]:
    """The inverse of `encode_left_out`."""
    return tuple(
        LeftOut(**each | {"why": why if isinstance(why, str) else _sentence(why)})
        for each in json.loads(text)
        for why in (each["why"],)
    )


def encode_sample(sample: Sample) -> str:
    """All of a sample as JSON; a conversation and a cluster only where there is one."""
    written: list[Any] = [
        sample.id,
        sample.question,
        sample.choices,
        sample.target,
        dict(sample.metadata),
        sample.refers_to_other_options,
    ]
    if sample.history or sample.follow_ups or sample.cluster:
        written += [_prompt(sample.history), sample.follow_ups]
    if sample.cluster:
        written.append(sample.cluster)
    try:  # the same text, to the letter, in a tenth of the time
        return orjson.dumps(written).decode()
    except TypeError:  # half of a surrogate pair, or a number of more than 64 bits
        return _json(written)


def decode_sample(text: str) -> Sample:
    """The inverse of `encode_sample`."""
    id_, question, choices, target, metadata, names_options, *talk = json.loads(text)
    history, follow_ups, cluster, *_ = (*talk, "") if talk else ((), (), "")
    return Sample(
        id=id_,
        question=question,
        choices=tuple(choices),
        target=target if isinstance(target, int) else tuple(target),
        metadata=metadata,
        refers_to_other_options=names_options,
        history=tuple(Message(*turn) for turn in history),
        follow_ups=tuple(follow_ups),
        cluster=cluster,
    )


def encode_turns(turns: Sequence[str]) -> str | None:
    """The answers to each question of a conversation as JSON, None of a single one."""
    return _json(turns) if turns else None


def decode_turns(text: str | None) -> tuple[str, ...]:
    """The inverse of `encode_turns`."""
    return tuple(json.loads(text)) if text else ()


def decode_answers(reply: str | None, turns: str | None) -> tuple[str, ...]:
    """What `Trial.answers` is, from the columns of its row."""
    return decode_turns(turns) or (reply or "",)


def encode_response(response: Response) -> str:
    """A response as JSON; its kind comes first."""
    match response:
        case LabelProbs(logprobs, mass, top_token, truncated):
            return _json(["label_probs", logprobs, mass, top_token, truncated])
        case Logprob(total, n_tokens, greedy, merged, truncated):
            return _json(["logprob", total, n_tokens, greedy, merged, truncated])
        case Decision(probabilities, choice, refused, confidence, truncated):
            return _json(["decision", probabilities, choice, refused, confidence, truncated])
        case GeneratedText(text, usage, finish_reason, truncated, thoughts, constrained):
            tokens = usage and (usage.prompt_tokens, usage.completion_tokens)
            written = ["text", text, tokens, finish_reason, truncated]
            # Written only where there are any, as responses were in earlier versions.
            rest = [thoughts, True] if constrained else [thoughts] if thoughts else []
            return _json([*written, *rest])


def decode_response(text: str) -> Response:
    """The inverse of `encode_response`."""
    kind, *values = json.loads(text)
    if kind == "label_probs":
        logprobs, mass, top_token, truncated = values
        return LabelProbs(tuple(logprobs), mass, top_token, truncated)
    if kind == "logprob":
        return Logprob(*values)
    if kind == "decision":
        probabilities, *rest = values
        return Decision(tuple(probabilities), *rest)
    assert kind == "text", f"unknown kind of response {kind!r}"
    written, tokens, *rest = values
    return GeneratedText(written, tokens and Usage(*tokens), *rest)


def request_key(fingerprint: str, request: Request) -> bytes:
    """The key of one model's response to one request: 32 bytes."""
    match request:
        case NextToken(context, labels):
            parts = ["next_token", _prompt(context), labels]
        case Loglik(context, continuation):
            parts = ["loglik", _prompt(context), continuation]
        case Decide(context, question, options):
            parts = ["decide", context, question, options]
        case _:
            parts = [
                "generate",
                _prompt(request.prompt),
                request.max_tokens,
                request.stop,
                request.temperature,
                # Left out where there are none: what was kept before keeps its key.
                *([request.json_schema] if request.json_schema or request.settings else []),
                *([request.settings] if request.settings else []),
                *([{"repeat": request.repeat}] if request.repeat else []),
                *([{"seed": request.seed}] if request.seed else []),
            ]
    sized = [{"picture_side": request.picture_side}] if request.picture_side else []
    return hashlib.sha256(_json([fingerprint, *parts, *sized]).encode()).digest()


def dataset_key(dataset: Dataset) -> str:
    """The key of a dataset in the store: a digest of all its questions as they were read.

    Not the digest of the file: the same file gives other questions when its columns are chosen
    otherwise, when faulty rows are left out, or when a later version reads it better.
    """
    digest = hashlib.sha256(_json([dataset.name, dataset.kind, dataset.sha256]).encode())
    for role in (dataset.samples, dataset.shots):
        _update_digest(digest, (encode_sample(sample) for sample in role))
    return digest.hexdigest()


def _update_digest(digest: Any, lines: Iterable[str]) -> None:
    for line in lines:
        digest.update(line.encode())
        digest.update(b"\n")
    digest.update(b"\f")


def _parts(value: Value) -> Value | list[Any]:
    if not isinstance(value, Sentence):
        return value
    if not value.key:
        return [value]
    return [value, value.key, {name: _parts(part) for name, part in value.values.items()}]


def _sentence(parts: list[Any]) -> Sentence:
    if len(parts) == 1:
        return Sentence(parts[0])
    text, key, values = parts
    return Sentence(
        text,
        key,
        {
            name: part if isinstance(part, Value) else _sentence(part)
            for name, part in values.items()
        },
    )


def _prompt(prompt: Prompt) -> str | list[tuple[str, str]]:
    if isinstance(prompt, str):
        return prompt
    return [(message.role, message.content) for message in prompt]
