import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs_examples import dataset, sample, trial

from evalui.messages import Sentence, sentence
from evalui.runs.database import codec
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Usage,
    Variant,
)

numbers = st.floats(allow_nan=False)
words = st.text(st.characters(exclude_categories=["Cs"]))
responses = st.one_of(
    st.builds(LabelProbs, st.lists(numbers).map(tuple), numbers, words, st.booleans()),
    st.builds(Logprob, numbers, st.integers(0), st.booleans(), st.booleans(), st.booleans()),
    st.builds(
        GeneratedText, words, st.none() | st.builds(Usage, st.integers(0), st.integers(0)), words
    ),
)


@given(responses)
def test_a_response_reads_back_to_the_last_bit(response: Response) -> None:
    assert codec.decode_response(codec.encode_response(response)) == response


def test_no_probability_at_all_reads_back() -> None:
    response = Logprob(-math.inf, 3, greedy=False)
    assert codec.decode_response(codec.encode_response(response)).total == -math.inf  # pyright: ignore


@given(
    probabilities=st.lists(numbers, max_size=4).map(tuple),
    mass=st.none() | numbers,
    scores=st.dictionaries(words, st.lists(numbers).map(tuple)),
    choice=st.none() | st.integers(0, 9),
    reply=st.none() | words,
)
def test_a_trial_reads_back_as_it_was(
    probabilities: tuple[float, ...],
    mass: float | None,
    scores: dict[str, tuple[float, ...]],
    choice: int | None,
    reply: str | None,
) -> None:
    written = Trial(
        sample_id="law/3",
        variant=Variant((3, 0, 1, 2)),
        target=2,
        headline="tolerant",
        readings={
            "tolerant": Reading(choice, 0.5, "marker", tied=True),
            "strict": Reading(None, 0.0, "not-a-letter"),
        },
        probabilities=probabilities,
        mass=mass,
        reply=reply,
        scores=scores,
        merged_boundaries=2,
        truncated=True,
        fixed_reason="duplicates",
    )
    read = codec.decode_trial("law/3", "3,0,1,2", reply, codec.encode_trial(written))
    assert read == written


def test_trials_that_were_answered_alike_share_their_readings() -> None:
    body = codec.encode_trial(trial(1))
    one, other = (codec.decode_trial(name, "0,1", None, body) for name in ("a", "b"))
    assert one.readings is other.readings
    assert one.headline is other.headline
    wrong = codec.encode_trial(trial(1, choice=3, credit=0.0))
    assert codec.decode_trial("a", "0,1", None, wrong).readings != one.readings


def test_a_sample_reads_back_as_it_was() -> None:
    written = Sample("法/1", "“行政” {A}\n？", ("甲", "乙"), 1, {"subject_zh": "法学"}, True)
    assert codec.decode_sample(codec.encode_sample(written)) == written


def test_a_sentence_reads_back_with_its_translation() -> None:
    why = sentence("error.lacks-generate")
    written = sentence("error.cannot-do", model="“m”", why=why)
    read = codec.decode_sentence(codec.encode_sentence(written))
    assert isinstance(read, Sentence)
    assert (read, read.key, read.values) == (written, written.key, written.values)
    inner = read.values["why"]
    assert isinstance(inner, Sentence)
    assert inner.key == "error.lacks-generate"


@pytest.mark.parametrize("plain", ["", "KeyError: '[\"a\"]'"])
def test_other_words_read_back_as_they_are(plain: str) -> None:
    assert codec.decode_sentence(codec.encode_sentence(plain)) == plain


def test_a_variant_of_ten_options_reads_back() -> None:
    variant = Variant((9, 0, 1, 2, 3, 4, 5, 6, 7, 8))
    assert codec.decode_variant(codec.encode_variant(variant)) == variant


@pytest.mark.parametrize(
    "other",
    [
        NextToken("Q", ("A", "B", "C")),
        NextToken("Q ", ("A", "B")),
        NextToken((Message("user", "Q"),), ("A", "B")),
        Loglik("Q", "A"),
        Generate("Q"),
    ],
)
def test_different_requests_have_different_keys(other: Request) -> None:
    assert codec.request_key("m", other) != codec.request_key("m", NextToken("Q", ("A", "B")))


@pytest.mark.parametrize(
    "change", [{"max_tokens": 9}, {"stop": ("\n",)}, {"temperature": 0.5}, {"prompt": "R"}]
)
def test_each_setting_of_generation_is_part_of_the_key(change: dict[str, object]) -> None:
    asked = Generate("Q")
    assert codec.request_key("m", replace(asked, **change)) != codec.request_key("m", asked)


def test_another_model_has_another_key() -> None:
    asked = Loglik("Q", "A")
    assert codec.request_key("m1", asked) != codec.request_key("m2", asked)


def test_a_dataset_read_otherwise_has_another_key() -> None:
    first = dataset(2)
    one, two = first.samples
    keys = {
        codec.dataset_key(changed)
        for changed in (
            first,
            replace(first, samples=(replace(one, target=3), two)),
            replace(first, samples=(two, one)),
            replace(first, samples=(one,), shots=(two, *first.shots)),
            replace(first, name="other"),
        )
    }
    assert len(keys) == 5


def test_the_same_dataset_has_the_same_key() -> None:
    assert codec.dataset_key(dataset(3)) == codec.dataset_key(dataset(3))


def test_the_columns_of_a_trial_are_not_written_twice() -> None:
    assert "spoken" not in codec.encode_trial(trial(1, reply="spoken"))
    assert sample(1).id not in codec.encode_trial(trial(1))


@pytest.mark.parametrize(("written", "fixed"), [("true", "naming"), ("false", "")])
def test_a_trial_of_an_older_store_keeps_why_its_options_did_not_move(written: str, fixed: str):
    text = f'[0,"forced",{{"forced":[0,1.0,"forced",false]}},[],null,{{}},0,false,{written}]'
    assert codec.decode_trial("law/3", "0,1", None, text).fixed_reason == fixed
