import gc
import json
import math
import shutil
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import MissingAbility, ModelError
from evalui.models import Model, ModelEntry, describe, open_model
from evalui.types import Generate, GeneratedText, LabelProbs, Loglik, Logprob, Message, NextToken

QUESTION = "Question: Which one?\nA. ice\nB. fire\nC. sand\nD. wood\nAnswer:"
CONVERSATION = (Message("user", "Which one?\nA. ice\nB. fire"),)
AB = ("A", "B")


def answer(model: Model, *requests: NextToken | Loglik | Generate) -> list[object]:
    responses = dict(model.answer(requests))
    assert sorted(responses) == list(range(len(requests)))
    return [responses[index] for index in range(len(requests))]


def test_a_mixed_list_gets_one_fitting_response_each(small: Model):
    responses = answer(
        small, Generate(QUESTION, 3), NextToken(QUESTION, AB), Loglik(QUESTION, " ice")
    )
    assert [type(response) for response in responses] == [GeneratedText, LabelProbs, Logprob]


def test_no_requests_get_no_responses(small: Model):
    assert list(small.answer([])) == []


def test_the_spellings_of_a_label_are_summed(small: Model):
    """A bare letter and one with a space are two tokens, and both mean the label."""
    label, spaced, bare = answer(
        small, NextToken(QUESTION, ("A",)), Loglik(QUESTION, " A"), Loglik(QUESTION, "A")
    )
    assert isinstance(label, LabelProbs)
    assert isinstance(spaced, Logprob)
    assert isinstance(bare, Logprob)
    both = math.exp(spaced.total) + math.exp(bare.total)
    assert math.exp(label.logprobs[0]) == pytest.approx(both, rel=1e-5)
    assert label.mass == pytest.approx(both, rel=1e-5)


def test_the_top_token_is_the_models_own_first_choice(small: Model):
    label, written = answer(small, NextToken(QUESTION, AB), Generate(QUESTION, 1))
    assert isinstance(label, LabelProbs)
    assert isinstance(written, GeneratedText)
    assert label.top_token == written.text


def test_a_space_at_the_end_makes_no_difference_to_a_label(small: Model):
    first, second = answer(small, NextToken(QUESTION, AB), NextToken(QUESTION + " ", AB))
    assert first == second


def test_a_label_without_a_token_stops_the_run_with_its_name(small: Model):
    with pytest.raises(ModelError, match="no single token for 'Zebra'"):
        answer(small, NextToken(QUESTION, ("A", "Zebra")))


def test_what_the_model_writes_is_what_it_finds_most_probable(small: Model):
    (written,) = answer(small, Generate(QUESTION, 4))
    assert isinstance(written, GeneratedText)
    (score,) = answer(small, Loglik(QUESTION, written.text))
    assert isinstance(score, Logprob)
    assert score.greedy


def test_a_text_ends_before_the_stop_and_says_that_it_stopped(small: Model):
    (free,) = answer(small, Generate(QUESTION, 12))
    assert isinstance(free, GeneratedText)
    stop = free.text[4:7]
    (text,) = answer(small, Generate(QUESTION, 12, stop=("§§", stop)))
    assert isinstance(text, GeneratedText)
    assert text.text == free.text[: free.text.index(stop)]
    assert text.finish_reason == "stop"


def test_a_text_cut_off_says_so_and_counts_its_tokens(small: Model):
    (text,) = answer(small, Generate(QUESTION, 3))
    assert isinstance(text, GeneratedText)
    assert text.finish_reason == "length"
    assert text.usage is not None
    assert text.usage.completion_tokens == 3


def test_special_tokens_are_never_in_the_text(small: Model):
    (text,) = answer(small, Generate(CONVERSATION, 40))
    assert isinstance(text, GeneratedText)
    assert "<|" not in text.text


def test_temperature_zero_writes_the_same_twice_and_in_any_company(small: Model):
    alone = answer(small, Generate(QUESTION, 8))
    assert alone == answer(small, Generate(QUESTION * 3, 8), Generate(QUESTION, 8))[1:]


def test_a_sample_is_the_same_in_any_company_and_another_under_another_seed(
    small: Model, small_entry: ModelEntry
):
    alone = answer(small, Generate(QUESTION, 8, temperature=1.5))
    company = [Generate(text, 8, temperature=1.5) for text in (QUESTION * 2, QUESTION)]
    assert alone == answer(small, *company)[1:]
    other = open_model(replace(small_entry, options={"seed": 1}))
    assert alone != answer(other, Generate(QUESTION, 8, temperature=1.5))


def test_a_conversation_is_rendered_once_by_the_chat_template(small: Model):
    system = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    rendered = (
        f"{system}<|im_start|>user\n{CONVERSATION[0].content}<|im_end|>\n<|im_start|>assistant\n"
    )
    by_template, by_hand = answer(small, NextToken(CONVERSATION, AB), NextToken(rendered, AB))
    assert by_template == by_hand


def test_a_conversation_can_be_scored(small: Model):
    (score,) = answer(small, Loglik(CONVERSATION, "ice"))
    assert isinstance(score, Logprob)
    assert score.total < 0
    assert not score.merged


def test_a_prompt_over_the_length_is_cut_and_marked(small_entry: ModelEntry):
    model = open_model(replace(small_entry, max_length=16))
    responses = answer(
        model, NextToken(QUESTION, AB), Loglik(QUESTION, " ice"), Generate(QUESTION, 2)
    )
    assert [response.truncated for response in responses] == [True] * 3  # type: ignore[attr-defined]


def test_more_tokens_than_fit_are_refused(small_entry: ModelEntry):
    model = open_model(replace(small_entry, max_length=16))
    with pytest.raises(ModelError, match="at most 16 tokens together; 16 were asked for"):
        answer(model, Generate(QUESTION, 16))


def test_the_length_in_the_files_cannot_be_exceeded_by_the_catalog(small_entry: ModelEntry):
    model = open_model(replace(small_entry, max_length=10**6))
    with pytest.raises(ModelError, match="at most 8192 tokens"):
        answer(model, Generate(QUESTION, 9000))


def test_conversations_without_a_template_are_refused(
    small_folder: Path, small_entry: ModelEntry, tmp_path: Path
):
    folder = without_template(small_folder, tmp_path)
    model = open_model(replace(small_entry, path=str(folder)))
    with pytest.raises(ModelError, match="small has no chat template"):
        answer(model, Generate(CONVERSATION, 4))


def without_template(small_folder: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    (folder / "chat_template.jinja").unlink()
    about = json.loads((folder / "tokenizer_config.json").read_text())
    del about["chat_template"]
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder


def test_the_fingerprint_tells_what_changes_an_answer(small: Model, small_entry: ModelEntry):
    assert open_model(small_entry).fingerprint == small.fingerprint
    for change in ({"dtype": "bfloat16"}, {"max_length": 64}, {"options": {"seed": 1}}):
        assert open_model(replace(small_entry, **change)).fingerprint != small.fingerprint


def test_a_seed_that_is_not_stated_changes_no_fingerprint(small: Model, small_entry: ModelEntry):
    stated = replace(small_entry, options={**small_entry.options, "seed": 0})
    assert open_model(stated).fingerprint == small.fingerprint


def test_the_name_does_not_change_the_fingerprint(small: Model, small_entry: ModelEntry):
    assert open_model(replace(small_entry, name="other")).fingerprint == small.fingerprint


def test_a_small_token_budget_changes_no_answer(
    small: Model, small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVALUI_TOKEN_BUDGET", "1")
    requests = [Loglik(QUESTION, text) for text in (" ice", " fire and sand", " wood")]
    narrow = answer(open_model(small_entry), *requests)
    wide = answer(small, *requests)
    for one, other in zip(narrow, wide, strict=True):
        assert isinstance(one, Logprob)
        assert isinstance(other, Logprob)
        assert one.total == pytest.approx(other.total, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"dtype": "int3"}, "dtype 'int3' is unknown. Known: auto, float32"),
        ({"path": ""}, "has no path"),
        ({"path": "/nowhere"}, "There is no folder /nowhere."),
    ],
)
def test_what_can_be_seen_without_loading_is_reported_before(
    small_entry: ModelEntry, change: dict[str, str], complaint: str
):
    assert complaint in describe(replace(small_entry, **change)).problem


def test_chat_without_a_template_is_a_problem(
    small_folder: Path, small_entry: ModelEntry, tmp_path: Path
):
    folder = without_template(small_folder, tmp_path)
    assert describe(replace(small_entry, path=str(folder))).problem == ""
    assert "no chat template" in describe(replace(small_entry, path=str(folder), chat=True)).problem


def test_a_hub_id_that_cannot_be_had_is_an_error_with_its_name(
    small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    import huggingface_hub.constants as constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="nobody/nothing is neither a folder"):
        open_model(replace(small_entry, path="nobody/nothing"))


def test_importing_the_backends_imports_no_torch():
    code = "import sys, evalui.models; print({'torch', 'transformers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


@pytest.mark.parametrize("collecting", [True, False])
def test_opening_imports_libraries_without_collecting_garbage(
    collecting: bool, small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    seen: list[bool] = []

    def fail(name: str) -> None:
        seen.append(gc.isenabled())
        raise ImportError(name)

    monkeypatch.setattr("evalui.models.local.import_module", fail)
    if not collecting:
        gc.disable()
    try:
        with pytest.raises(ImportError, match="local"):
            open_model(small_entry)
        assert (seen, gc.isenabled()) == ([False], collecting)
    finally:
        gc.enable()


@pytest.mark.slow  # it loads a model of its own
def test_a_closed_model_holds_nothing_and_may_be_closed_again(small_entry: ModelEntry):
    model: Any = open_model(small_entry)
    answer(model, Generate(QUESTION, 3), NextToken(QUESTION, AB), Loglik(QUESTION, " ice"))
    weights = [weakref.ref(each) for each in model._generator._loaded.model.parameters()]
    gc.disable()  # else the collection could come in between
    try:
        model.close()
        assert all(weight() is None for weight in weights)
    finally:
        gc.enable()
    model.close()


@pytest.fixture
def thinking_entry(small_entry: ModelEntry, tmp_path: Path) -> ModelEntry:
    """The small model with a template that opens a thought unless thinking is off."""
    folder = tmp_path / "thinking"
    shutil.copytree(small_entry.path, folder)
    template = (
        "{% for message in messages %}{{ message['content'] + '\n' }}{% endfor %}"
        "{{ '<think>\n' }}{% if enable_thinking is false %}{{ '\n</think>\n\n' }}{% endif %}"
    )
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return replace(small_entry, path=str(folder), chat=True)


def without_thinking(entry: ModelEntry) -> ModelEntry:
    return replace(
        entry, options={"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    )


@pytest.mark.parametrize("request_", [NextToken(CONVERSATION, AB), Loglik(CONVERSATION, "A")])
def test_what_follows_an_opened_thought_is_neither_letter_nor_option(
    thinking_entry: ModelEntry, request_: NextToken | Loglik
):
    model = open_model(thinking_entry)
    with pytest.raises(MissingAbility, match="chat template opens a thought"):
        list(model.answer([request_]))
    assert isinstance(answer(model, NextToken(QUESTION, AB))[0], LabelProbs)
    off = open_model(without_thinking(thinking_entry))
    assert len(answer(off, request_)) == 1
    assert off.fingerprint != model.fingerprint


def test_a_reply_that_is_cut_within_an_opened_thought_begins_with_its_mark(
    thinking_entry: ModelEntry,
):
    request_ = Generate(CONVERSATION, 3)
    (cut,), (whole,) = (
        answer(open_model(entry), request_)
        for entry in (thinking_entry, without_thinking(thinking_entry))
    )
    assert isinstance(cut, GeneratedText)
    assert isinstance(whole, GeneratedText)
    assert cut.text.startswith("<think>\n")
    assert not whole.text.startswith("<think>")


@pytest.mark.parametrize(
    "extra",
    [
        "enable_thinking",
        {"enable_thinking": False},
        {"chat_template_kwargs": "off"},
        {"chat_template_kwargs": {"add_generation_prompt": False}},
    ],
)
def test_other_options_of_a_server_are_refused(small_entry: ModelEntry, extra: object):
    entry = replace(small_entry, options={"extra_body": extra})
    assert "values for the chat template alone" in describe(entry).problem
    with pytest.raises(ModelError, match="values for the chat template alone"):
        open_model(entry)
