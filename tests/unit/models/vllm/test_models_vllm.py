import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from vllm_examples import FAKE, PYTHON
from vllm_fake.vllm_formula import best, logprobs

from evalui.errors import ModelError, RequestRejected
from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.tokenization import HFTokenizer, spellings
from evalui.models.vllm import VllmModel
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

QUESTION = "Question: Which one?\nA. ice\nB. fire\nC. sand\nD. wood\nAnswer:"
pytestmark = pytest.mark.slow  # transformers takes seconds to import
LONG = "Once upon a time there was a question. " * 3 + QUESTION


@pytest.fixture(scope="module")
def entry(small_folder: Path) -> Iterator[ModelEntry]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FAKE))
        yield ModelEntry(
            "fake",
            "vllm",
            path=str(small_folder),
            max_length=256,
            options={"python": PYTHON},
        )


@pytest.fixture(scope="module")
def fake(entry: ModelEntry) -> Iterator[Model]:
    model = open_model(entry)
    yield model
    model.close()


@pytest.fixture(scope="module")
def tokenizer(small_folder: Path) -> HFTokenizer:
    return HFTokenizer("small", small_folder)


def answer(model: Model, *requests: Request) -> list[Response]:
    responses = dict(model.answer(requests))
    assert sorted(responses) == list(range(len(requests)))
    return [responses[index] for index in range(len(requests))]


def gather(model: Model, requests: list[Request], got: dict[int, Response]) -> None:
    for index, response in model.answer(requests):
        got[index] = response


def test_a_label_has_the_probability_of_all_its_spellings(fake: Model, tokenizer: HFTokenizer):
    (label,) = answer(fake, NextToken(QUESTION, ("A", "B")))
    (context,) = tokenizer.encode([QUESTION])
    probable = logprobs(context)
    spelt = spellings(tokenizer)
    assert isinstance(label, LabelProbs)
    for found, letter in zip(label.logprobs, "AB", strict=True):
        assert len(spelt[letter]) > 1
        expected = sum(math.exp(probable[token]) for token in spelt[letter])
        assert math.exp(found) == pytest.approx(expected)
    assert label.top_token == tokenizer.spell([best(context)])[0]


def test_more_spellings_than_vllm_looks_up_at_once_are_looked_up_in_pieces(
    fake: Model, tokenizer: HFTokenizer
):
    known = spellings(tokenizer)
    many = tuple(label for label in known if len(label) == 1)[:140]
    assert sum(len(known[label]) for label in many) > 128
    (wide,) = answer(fake, NextToken(QUESTION, many))
    (narrow,) = answer(fake, NextToken(QUESTION, many[-1:]))
    assert isinstance(wide, LabelProbs)
    assert isinstance(narrow, LabelProbs)
    assert wide.logprobs[-1] == narrow.logprobs[0]


@pytest.mark.parametrize("context", [QUESTION, LONG, ""])
@pytest.mark.parametrize("text", [" ice", " fire, sand and wood", "冰"])
def test_a_continuation_is_scored_token_by_token(
    fake: Model, tokenizer: HFTokenizer, context: str, text: str
):
    (score,) = answer(fake, Loglik(context, text))
    (whole,) = tokenizer.encode([context + text])
    left = tokenizer.encode([context])[0] if context else []
    if not context:
        left = [tokenizer.empty_context_id or 0]
        whole = left + whole
    places = range(len(left), len(whole))
    assert isinstance(score, Logprob)
    assert score.n_tokens == len(places)
    assert score.total == pytest.approx(sum(logprobs(whole[:n])[whole[n]] for n in places))
    assert score.greedy == all(best(whole[:n]) == whole[n] for n in places)


def test_what_the_cache_hides_of_a_continuation_is_computed_again(fake: Model):
    """The second begins with all of the first, whose tokens are in the cache by then."""
    requests = [Loglik(LONG, " fire and sand and wood"), Loglik(LONG, " fire and sand and wood!")]
    first, second = answer(fake, *requests)
    assert [first] == answer(fake, requests[0])
    assert [second] == answer(fake, requests[1])
    assert isinstance(second, Logprob)
    assert second.total > -300  # what the cache hides would be worth hundreds


def test_equal_requests_are_sent_once_and_all_answered(fake: Model):
    request = Loglik(LONG, " fire and sand")
    label = NextToken(LONG, ("A", "B"))
    one, two, three, four = answer(fake, request, label, request, label)
    assert one == three
    assert two == four


def test_what_is_written_is_the_formula_s_choice_without_the_token_that_ends_it(
    fake: Model, tokenizer: HFTokenizer
):
    prompts = [QUESTION, QUESTION + "."]
    texts = answer(fake, *(Generate(prompt, 8) for prompt in prompts))
    lengths: set[tuple[int, str]] = set()
    for prompt, text in zip(prompts, texts, strict=True):
        (tokens,) = tokenizer.encode([prompt])
        written: list[int] = []
        while len(written) < (4 if len(tokens) % 2 else 8):
            written.append(best([*tokens, *written]))
        assert isinstance(text, GeneratedText)
        assert text.text == tokenizer.decode(written)
        assert text.usage is not None
        lengths.add((text.usage.completion_tokens, text.finish_reason))
    assert lengths == {(4, "stop"), (8, "length")}


def test_a_schema_goes_to_vllm_and_is_left_out_where_it_is_turned_down(fake: Model):
    assert "schema" in fake.abilities
    schema, unknown = '{"type": "object"}', '{"unknown": 1}'
    free, forced, refused = answer(
        fake,
        Generate(QUESTION, 30),
        Generate(QUESTION, 30, json_schema=schema),
        Generate(QUESTION, 30, json_schema=unknown),
    )
    assert isinstance(forced, GeneratedText)
    assert isinstance(refused, GeneratedText)
    assert forced.constrained
    assert forced.text != refused.text
    assert refused == free
    assert not refused.constrained


def test_a_request_that_vllm_turns_down_is_refused_after_all_others_are_answered(
    fake: Model, tokenizer: HFTokenizer
):
    forbidden = tokenizer.decode([13])
    requests: list[Request] = [
        Generate("a" + forbidden, 2),
        Generate("a", 2),
        NextToken(forbidden + "a", ("A",)),
    ]
    got: dict[int, Response] = {}
    with pytest.raises(
        RequestRejected, match=r"rejected 2 requests to fake.*token 13 is forbidden"
    ):
        gather(fake, requests, got)
    assert list(got) == [1]


def test_a_request_turned_down_in_several_pieces_is_counted_once(
    fake: Model, tokenizer: HFTokenizer
):
    many = tuple(label for label in spellings(tokenizer) if len(label) == 1)[:140]
    with pytest.raises(RequestRejected, match="rejected 1 requests"):
        list(fake.answer([NextToken(tokenizer.decode([13]) + "a", many)]))


def test_answers_that_are_no_longer_awaited_never_reach_the_next_call(fake: Model):
    requests = [NextToken(f"{number} {QUESTION}", ("A",)) for number in range(20)]
    whole = answer(fake, *requests)
    begun = fake.answer(requests)
    next(begun)
    begun.close()  # type: ignore[attr-defined]
    assert answer(fake, *reversed(requests)) == whole[::-1]


def test_prompts_over_the_length_are_cut_and_marked(entry: ModelEntry):
    model = open_model(replace(entry, max_length=16))
    responses = answer(
        model, NextToken(QUESTION, ("A",)), Loglik(QUESTION, " ice"), Generate(QUESTION, 2)
    )
    assert [response.truncated for response in responses] == [True] * 3
    with pytest.raises(ModelError, match="at most 16 tokens together; 16 were asked for"):
        list(model.answer([Generate(QUESTION, 16)]))
    model.close()


@pytest.mark.parametrize(
    ("mood", "complaint"),
    [
        ("dies", "ended with code 7. Its last lines: fake: opening .*\nfake: out of luck"),
        ("fails", "vLLM failed on fake: RuntimeError: CUDA error: an illegal memory access"),
        ("nan", "computes NaN"),
    ],
)
@pytest.mark.parametrize("request_", [NextToken(QUESTION, ("A",)), Generate(QUESTION, 3)])
def test_a_failure_is_never_an_answer(
    entry: ModelEntry,
    monkeypatch: pytest.MonkeyPatch,
    mood: str,
    complaint: str,
    request_: Request,
):
    monkeypatch.setenv("FAKE_VLLM", mood)
    model = open_model(entry)
    with pytest.raises(ModelError, match=complaint):
        list(model.answer([request_]))
    model.close()


def test_what_cannot_be_opened_says_why(entry: ModelEntry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAKE_VLLM", "unopenable")
    with pytest.raises(ModelError, match="vLLM failed on fake: RuntimeError: there is no room"):
        open_model(entry)


def test_an_interpreter_without_vllm_says_so(entry: ModelEntry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(ModelError, match="No module named 'vllm'"):
        open_model(entry)


def test_another_device_than_vllm_was_built_for_is_refused(entry: ModelEntry):
    with pytest.raises(ModelError, match="fake is to run on cuda, but this vLLM is built for cpu"):
        open_model(replace(entry, device="cuda"))


def test_closing_ends_the_process(entry: ModelEntry):
    model = open_model(entry)
    assert isinstance(model, VllmModel)
    pid = model.pid
    os.kill(pid, 0)
    model.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_fingerprint_tells_what_changes_an_answer(fake: Model, entry: ModelEntry):
    changes = [{}, {"name": "other"}, {"max_length": 64}, {"options": {**entry.options, "seed": 1}}]
    prints: list[str] = []
    for change in changes:
        model = open_model(replace(entry, **change))
        prints.append(model.fingerprint)
        model.close()
    assert prints[:2] == [fake.fingerprint] * 2
    assert len({*prints}) == 3


def test_an_adapter_goes_with_every_request(entry: ModelEntry, small_folder: Path, tmp_path: Path):
    from adapter_examples import make_adapter

    adapter = make_adapter(small_folder, tmp_path)
    model = open_model(replace(entry, adapter=str(adapter)))
    answer(model, NextToken(QUESTION, ("A",)), Loglik(QUESTION, " ice"), Generate(QUESTION, 2))
    model.close()


def test_the_state_of_an_entry_tells_abilities_and_problems(
    entry: ModelEntry, small_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    state = describe(entry)
    assert (state.problem, len(state.abilities)) == ("", 4)
    assert "There is no folder" in describe(replace(entry, path="/nowhere")).problem
    assert "tensor_parallel" in describe(replace(entry, options={"tensor_parallel": 0})).problem
    from adapter_examples import make_adapter

    adapter = make_adapter(small_folder, tmp_path)
    about = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(about | {"r": 600}))
    assert "has rank 600" in describe(replace(entry, adapter=str(adapter))).problem
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert "There is no cuda:1" in describe(replace(entry, device="cuda:1")).problem
