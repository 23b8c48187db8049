import os

import pytest
from vllm_questions import PAPERS, TOLERANCE, Paper, answer, apart, conversation, sit

from evalui.models import Model
from evalui.models.vllm import VllmModel
from evalui.types import Generate, GeneratedText, Loglik, Logprob, NextToken

QUESTION = "Question: What is the capital of France?\nA. Paris\nB. Lima\nC. Rome\nD. Oslo\nAnswer:"


@pytest.mark.parametrize("paper", PAPERS, ids=str)
def test_vllm_answers_as_transformers_does(ours: VllmModel, reference: Model, paper: Paper):
    mine, theirs = sit(ours, paper), sit(reference, paper)
    pairs = list(zip(mine.responses, theirs.responses, strict=True))
    assert max(apart(one, other) for one, other in pairs) < TOLERANCE
    assert mine.choices == theirs.choices


def test_answers_out_of_the_cache_are_those_without(ours: VllmModel):
    paper = Paper("cloze", "origin", shots=True)
    first, second = sit(ours, paper), sit(ours, paper)
    pairs = zip(first.responses, second.responses, strict=True)
    assert max(apart(one, other) for one, other in pairs) < 1e-4


def test_continuations_that_begin_alike_do_not_read_each_others_cache(
    ours: VllmModel, reference: Model
):
    shared = " Paris, which lies on the Seine, and of which people say much," * 3
    texts = [shared + end for end in (" so", " so it is", " so it is said", " but")]
    requests = [Loglik(QUESTION, text) for text in texts]
    for one, other in zip(answer(ours, requests), answer(reference, requests), strict=True):
        assert apart(one, other) < 10 * TOLERANCE  # of a hundred tokens each


def test_prompts_at_the_very_limit_are_answered_and_longer_ones_are_cut(
    ours: VllmModel, reference: Model
):
    long = QUESTION * 40
    requests = [
        NextToken(long, ("A", "B")),
        Loglik(long, " Paris and Rome"),
        Generate(long, 5),
    ]
    for one, other in zip(answer(ours, requests), answer(reference, requests), strict=True):
        assert one.truncated
        assert apart(one, other) < TOLERANCE


def test_texts_end_before_the_stop(ours: VllmModel, reference: Model):
    requests = [
        Generate(QUESTION + " A\n\nQuestion:", 24, stop=stop)
        for stop in ((), ("\n",), ("e",), ("什么", " the"))
    ]
    mine, theirs = answer(ours, requests), answer(reference, requests)
    assert mine == theirs
    assert len({text.text for text in mine if isinstance(text, GeneratedText)}) > 1


def test_a_sample_is_the_same_again_and_in_any_company(ours: VllmModel):
    requests = [Generate(conversation(f"Tell me {n}"), 24, temperature=1.5) for n in range(6)]
    together = answer(ours, requests)
    assert answer(ours, requests[3:4]) == together[3:4]
    assert len({text.text for text in together if isinstance(text, GeneratedText)}) > 1


def test_what_the_model_writes_is_greedy_and_what_it_does_not_is_not(ours: VllmModel):
    (written,) = answer(ours, [Generate(QUESTION, 1)])
    assert isinstance(written, GeneratedText)
    own, other = answer(ours, [Loglik(QUESTION, written.text), Loglik(QUESTION, " Rome is it")])
    assert isinstance(own, Logprob)
    assert isinstance(other, Logprob)
    assert own.greedy
    assert not other.greedy


def test_the_model_lives_in_a_process_of_its_own(ours: VllmModel):
    assert ours.device == "cpu"
    assert os.getpgid(ours.pid) == ours.pid
