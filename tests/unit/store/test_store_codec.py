import json
import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs_examples import dataset

from evalui.messages import Sentence, sentence
from evalui.store import codec
from evalui.types import (
    Decide,
    Decision,
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Request,
    Response,
    Sample,
    Usage,
    Variant,
)

numbers = st.floats(allow_nan=False)
words = st.text(st.characters(exclude_categories=["Cs"]))
responses = st.one_of(
    st.builds(LabelProbs, st.lists(numbers).map(tuple), numbers, words, st.booleans()),
    st.builds(Logprob, numbers, st.integers(0), st.booleans(), st.booleans(), st.booleans()),
    st.builds(
        Decision,
        st.lists(numbers).map(tuple),
        st.none() | st.integers(0, 254),
        st.booleans(),
        st.none() | numbers,
        st.booleans(),
    ),
    st.builds(
        GeneratedText,
        words,
        st.none() | st.builds(Usage, st.integers(0), st.integers(0)),
        words,
        st.booleans(),
        words,
        st.booleans(),
    ),
)


@given(responses)
def test_a_response_reads_back_to_the_last_bit(response: Response) -> None:
    assert codec.decode_response(codec.encode_response(response)) == response


def test_no_probability_at_all_reads_back() -> None:
    response = Logprob(-math.inf, 3, greedy=False)
    assert codec.decode_response(codec.encode_response(response)).total == -math.inf  # pyright: ignore


@pytest.mark.parametrize("turns", [(), ("one",), ("“一”", 'a "b"\n')])
def test_the_turns_of_a_conversation_read_back(turns: tuple[str, ...]) -> None:
    written = codec.encode_turns(turns)
    assert codec.decode_turns(written) == turns
    assert codec.decode_answers("last", written) == (turns or ("last",))


def test_no_reply_is_a_blank_answer() -> None:
    assert codec.decode_answers(None, None) == ("",)


def test_a_sample_reads_back_as_it_was() -> None:
    written = Sample("法/1", "“行政” {A}\n？", ("甲", "乙"), 1, {"subject_zh": "法学"}, True)
    assert codec.decode_sample(codec.encode_sample(written)) == written


@pytest.mark.parametrize("question", ['“行政”\n\x7f\u2028\x01 "a\\', "half a pair \ud800"])
def test_a_sample_is_written_as_json_of_python_writes_it(question: str) -> None:
    """Digests of datasets are of these texts: they stay what they were in older stores."""
    sample = Sample("1", question, ("a", "é"), 1, {"line": "1"})
    parts = ["1", question, ["a", "é"], 1, {"line": "1"}, False]
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    assert codec.encode_sample(sample) == text
    assert codec.decode_sample(text) == sample


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


_OTHERWISE: dict[str, object] = {
    "prompt": "R",
    "max_tokens": 9,
    "stop": ("\n",),
    "temperature": 0.5,
    "json_schema": "{}",
    "settings": (("top_p", 0.5),),
    "repeat": 1,
    "seed": 7,
    "picture_side": 512,
}


@pytest.mark.parametrize("name", [each.name for each in fields(Generate)])
def test_each_setting_of_generation_is_part_of_the_key(name: str) -> None:
    if name == "pictures":  # whose marks are in the prompt
        return
    asked = Generate("Q", settings=(("top_p", 0.9),))
    changed = replace(asked, **{name: _OTHERWISE[name]})
    assert codec.request_key("m", changed) != codec.request_key("m", asked)


def test_what_was_kept_before_there_were_schemas_keeps_its_key_and_form() -> None:
    request = Generate((Message("user", "Hi"),), 5, (".",), 0.5)
    key = "19a701eb8a68bb2a104e6e28dc0121bc34edd935ffd90b08e480cabe13627886"
    assert codec.request_key("f", request).hex() == key
    written = codec.encode_response(GeneratedText("a", Usage(1, 2)))
    assert written == '["text","a",[1,2],"stop",false]'


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


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        (Variant((3, 0, 1, 2)), "3,0,1,2"),
        (Variant((3, 0, 1, 2), 2), "3,0,1,2#2"),
        (Variant(()), ""),
        (Variant((), 7), "#7"),
    ],
)
def test_a_repeat_is_written_behind_its_order_and_the_first_as_ever(variant: Variant, text: str):
    assert codec.encode_variant(variant) == text
    assert codec.decode_variant(text) == variant


def test_each_repeat_has_a_key_and_the_first_that_of_a_single_reply():
    single = Generate("a", temperature=0.7)
    keys = [codec.request_key("m", replace(single, repeat=repeat)) for repeat in range(5)]
    assert keys[0] == codec.request_key("m", single)
    assert len(set(keys)) == 5


def test_a_decision_is_kept_under_all_that_was_asked() -> None:
    asked = Decide("Which?", "Choose.", (("A", "one"), ("B", "two")))
    others = (
        replace(asked, context="What?"),
        replace(asked, question="Choose one."),
        replace(asked, options=(("B", "two"), ("A", "one"))),
        replace(asked, options=(("A", "two"), ("B", "one"))),
        replace(asked, picture_side=512),
    )
    keys = {codec.request_key("model", each) for each in (asked, *others)}
    assert len(keys) == 6
    assert codec.request_key("model", replace(asked)) in keys
