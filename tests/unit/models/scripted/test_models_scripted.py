import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import MissingAbility, ModelError
from evalui.models import ModelEntry, NeedsAnswerKey, describe, open_model
from evalui.models.scripted import ScriptedModel
from evalui.models.scripted.rules import RULES
from evalui.models.scripted.shown_questions import KnownSamples
from evalui.modes import MODES, ModeSettings
from evalui.modes.prompts.templates import (
    TEMPLATES,
    continuation,
    render_choices,
    render_cloze,
    text_before_letter,
)
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Request,
    Response,
    Sample,
    Variant,
)

CAPITAL = Sample("q1", "Capital of France?", ("London", "Paris", "Rome", "Bern"), 1)
SUM = Sample("q2", "1+2+2=", ("5", "-5", "15", "1"), 0)
CHINESE = Sample("q3", "中国的首都是____。", ("上海", "北京"), 1)
SAMPLES = (CAPITAL, SUM, CHINESE, Sample("q4", "2+2=", ("5", "4", "3", "22"), 1))
REVERSED = Variant((3, 2, 1, 0))


TWICE = Sample("q5", "Which may reorder?", ("circuit", "packet", "packet", "message"), 2)


def scripted(rule: str, key: Sequence[Sample] = SAMPLES, **options: Any) -> ScriptedModel:
    entry = ModelEntry(rule, "scripted", baseline=True, options={"rule": rule, **options})
    return ScriptedModel(entry, key)


def ask(model: ScriptedModel, request: Request) -> Response:
    ((_, response),) = model.answer([request])
    return response


def origin(sample: Sample) -> Variant:
    return Variant(tuple(range(len(sample.choices))))


def reply(model: ScriptedModel, sample: Sample, variant: Variant, name: str = "plain-en.1") -> str:
    prompt = render_choices(TEMPLATES[name], sample, variant, (), chat=False)
    text = ask(model, Generate(prompt))
    assert isinstance(text, GeneratedText)
    return text.text


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("name", list(TEMPLATES))
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_perfect_finds_the_right_slot_in_every_template_and_order(
    sample: Sample, name: str, chat: bool
):
    variant = Variant(tuple(reversed(range(len(sample.choices)))))
    shots = [other for other in SAMPLES if other != sample]
    template = TEMPLATES[name]
    prompt = render_choices(template, sample, variant, shots, chat=chat)
    if isinstance(prompt, str):
        prompt += text_before_letter(template)
    labels = tuple("ABCD"[: len(sample.choices)])
    response = ask(scripted("perfect"), NextToken(prompt, labels))
    assert isinstance(response, LabelProbs)
    best = response.logprobs.index(max(response.logprobs))
    assert variant.permutation[best] == sample.target
    assert response.top_token == labels[best]


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("name", list(TEMPLATES))
def test_perfect_finds_the_right_text_without_seeing_options(name: str, chat: bool):
    template, model = TEMPLATES[name], scripted("perfect")
    prompt = render_cloze(template, CAPITAL, [SUM, CHINESE], chat=chat)
    totals: list[float] = []
    for text in CAPITAL.choices:
        response = ask(model, Loglik(prompt, continuation(template, text, chat=chat)))
        assert isinstance(response, Logprob)
        totals.append(response.total)
        assert response.greedy == (text == "Paris")
    assert totals.index(max(totals)) == 1


def test_without_a_question_every_text_is_as_probable():
    model = scripted("perfect")
    responses = [ask(model, Loglik("Answer:", " " + text)) for text in CAPITAL.choices]
    assert len({response.total for response in responses if isinstance(response, Logprob)}) == 1


def test_of_questions_with_the_same_words_the_one_with_these_options_is_meant():
    twin = replace(CAPITAL, id="twin", choices=("Nice", "Paris", "Rome", "Lyon"), target=2)
    model = scripted("perfect", [CAPITAL, twin])
    assert reply(model, twin, origin(twin)) == "C"
    assert reply(scripted("perfect", [twin, CAPITAL]), CAPITAL, origin(CAPITAL)) == "B"


def test_a_question_within_a_longer_one_is_not_mistaken_for_it():
    inner = Sample("inner", "2+2=", ("1", "-5", "15", "5"), 1)
    assert reply(scripted("perfect", [SUM, inner]), SUM, origin(SUM)) == "A"


def test_without_options_the_longer_of_two_questions_is_meant():
    inner = Sample("inner", "2+2=", ("5", "-5", "15", "1"), 1)
    prompt = render_cloze(TEMPLATES["plain-en.1"], SUM, (), chat=False)
    response = ask(scripted("perfect", [inner, SUM]), Loglik(prompt, " 5"))
    assert isinstance(response, Logprob)
    assert response.greedy


def test_an_option_that_begins_another_is_distinguished_from_it():
    length = Sample("length", "How long?", ("1", "1 m", "1 m 5", "2"), 1)
    assert reply(scripted("perfect", [length]), length, REVERSED) == "C"


def test_always_a_answers_a_in_every_order():
    model = scripted("always-A")
    assert {reply(model, CAPITAL, order) for order in (origin(CAPITAL), REVERSED)} == {"A"}


def test_always_a_gives_no_probability_for_a_text():
    with pytest.raises(MissingAbility, match="always-A cannot answer Loglik"):
        ask(scripted("always-A"), Loglik("Question: x", " y"))


def test_the_labels_share_the_mass_of_the_rule():
    response = ask(
        scripted("refusing"),
        NextToken(
            render_choices(TEMPLATES["plain-en.1"], CAPITAL, REVERSED, (), chat=False), ("A",) * 4
        ),
    )
    assert isinstance(response, LabelProbs)
    assert response.mass == 0.02
    assert response.top_token == "I"


def test_more_labels_than_options_are_an_error():
    prompt = render_choices(TEMPLATES["plain-en.1"], CHINESE, origin(CHINESE), (), chat=False)
    with pytest.raises(ModelError, match=r"sees 2 options .* asked for 4 labels"):
        ask(scripted("perfect"), NextToken(prompt, tuple("ABCD")))


def test_an_unknown_question_is_an_error_and_not_a_guess():
    with pytest.raises(ModelError, match="knows only the questions it was shown"):
        ask(scripted("noisy"), Generate("Question: Who knows?\nA. me\nB. you\nAnswer:"))


def test_options_that_cannot_be_made_out_are_an_error():
    with pytest.raises(ModelError, match="No option A can be made out"):
        ask(scripted("perfect"), Generate("Capital of France?\nLondon, Paris, Rome or Bern"))


def test_a_stop_cuts_the_reply():
    prompt = render_choices(TEMPLATES["plain-en.1"], CAPITAL, REVERSED, (), chat=False)
    response = ask(scripted("refusing"), Generate(prompt, stop=(",",)))
    assert isinstance(response, GeneratedText)
    assert response.text == "I am sorry"


def test_learning_replaces_what_was_known_and_changes_the_fingerprint():
    model = scripted("perfect", [CAPITAL])
    before = model.fingerprint
    assert isinstance(model, NeedsAnswerKey)
    model.set_answer_key([SUM])
    assert model.fingerprint != before
    with pytest.raises(ModelError, match="knows only"):
        reply(model, CAPITAL, REVERSED)
    model.set_answer_key([CAPITAL])
    assert model.fingerprint == before


@pytest.mark.parametrize(("rule", "seed"), [("noisy", 0), ("perfect", 1)])
def test_the_fingerprint_tells_rule_and_seed(rule: str, seed: int):
    assert scripted(rule, seed=seed).fingerprint != scripted("perfect", seed=0).fingerprint


def test_real_models_cannot_be_shown_answers(small: object):
    assert not isinstance(small, NeedsAnswerKey)


def test_each_answered_request_leaves_a_line_in_the_log(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    model = scripted("perfect", log=str(log))
    prompt = render_choices(TEMPLATES["plain-en.1"], CAPITAL, REVERSED, (), chat=False)
    answers = model.answer([Generate(prompt), Generate(prompt), Generate(prompt, max_tokens=9)])
    next(answers)
    assert len(log.read_text().splitlines()) == 1
    list(answers)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["request"] for line in lines] == ["Generate"] * 3
    assert lines[0] == lines[1] != lines[2]


def test_no_line_of_the_log_crosses_a_page(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    prompt = render_choices(TEMPLATES["plain-en.1"], CAPITAL, REVERSED, (), chat=False)
    asked: list[Request] = [NextToken(prompt, tuple("ABCD")), Generate(prompt)]
    list(scripted("perfect", log=str(log)).answer(asked * 3))
    assert {len(line) for line in log.read_bytes().splitlines(keepends=True)} == {128}


def test_an_unknown_rule_is_reported_with_the_known_ones():
    entry = ModelEntry("x", "scripted", options={"rule": "psychic"})
    state = describe(entry)
    assert state.abilities == frozenset()
    assert state.problem == f"options.rule 'psychic' is unknown. Known: {', '.join(RULES)}."
    with pytest.raises(ModelError, match="psychic"):
        open_model(entry)


@pytest.mark.parametrize("rule", RULES)
def test_what_a_rule_says_it_can_is_what_its_model_can(rule: str):
    entry = ModelEntry(rule, "scripted", options={"rule": rule})
    assert describe(entry).abilities == open_model(entry).abilities


def test_of_options_with_the_same_text_each_has_its_own_slot() -> None:
    model = scripted("perfect", [TWICE])
    assert reply(model, TWICE, origin(TWICE)) == "C"


def test_options_of_the_same_text_have_the_same_probability() -> None:
    context = render_cloze(TEMPLATES["plain-en.1"], TWICE, (), chat=False)
    model = scripted("perfect", [TWICE])
    right, wrong = (ask(model, Loglik(context, f" {text}")) for text in ("packet", "circuit"))
    assert isinstance(right, Logprob)
    assert isinstance(wrong, Logprob)
    assert right.total > wrong.total


def test_the_options_of_a_cloze_question_are_scored_after_one_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[str] = []

    def search(known: KnownSamples, prompt: str) -> Sample | None:
        searched.append(prompt)
        return find(known, prompt)

    find = KnownSamples.find_choice_sample
    monkeypatch.setattr(KnownSamples, "find_choice_sample", search)
    model = scripted("noisy")
    requests = [
        request
        for sample in SAMPLES
        for request in MODES["cloze"].plan(sample, origin(sample), ModeSettings(shots={}))
    ]
    answers = [response for _, response in model.answer(requests)]
    assert searched == [key for key, _ in groupby(str(request.context) for request in requests)]
    assert len(searched) == 2 * len(SAMPLES)
    alone = [ask(scripted("noisy"), request) for request in requests]
    assert answers == alone


def test_other_answers_replace_what_was_scored_with_the_first() -> None:
    model = scripted("perfect")
    request = Loglik(render_cloze(TEMPLATES["plain-en.1"], CAPITAL, (), chat=False), " London")
    before = ask(model, request)
    model.set_answer_key([replace(CAPITAL, target=0)])
    assert ask(model, request) != before
