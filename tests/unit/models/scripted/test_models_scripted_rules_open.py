"""What scripted models write when there is nothing to choose from."""

from collections.abc import Sequence
from typing import Any

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry
from evalui.models.scripted import ScriptedModel
from evalui.models.scripted.rules import RULES
from evalui.modes import MODES, ModeSettings
from evalui.modes.prompts.templates import TEMPLATES, render_choices
from evalui.types import Generate, GeneratedText, Message, NextToken, Sample, Variant

CONTESTANTS = [name for name in RULES if RULES[name].preference_rule is None]
KEY = tuple(Sample(str(n), f"What is fact {n}?", target=(f"Fact {n} is so.",)) for n in range(60))
CHINESE = Sample("zh", "秘鲁的首都是哪里？", target=("利马",))
MUTE = Sample("mute", "Why is it so?")
TALK = Sample("talk", "Capital of Peru?", target=("Lima", "Havana"), follow_ups=("Of Cuba?",))
PICK = Sample("pick", "Capital of France?", ("Rome", "Paris"), 1)
ALL = (*KEY, CHINESE, MUTE, TALK, PICK)


def scripted(rule: str, key: Sequence[Sample] = ALL, **options: Any) -> ScriptedModel:
    return ScriptedModel(ModelEntry(rule, "scripted", options={"rule": rule, **options}), key)


def written(model: ScriptedModel, prompt: Any) -> str:
    ((_, response),) = model.answer([Generate(prompt)])
    assert isinstance(response, GeneratedText)
    return response.text


def reply(rule: str, sample: Sample, *, chat: bool = True, **options: Any) -> str:
    (request,) = MODES["question_answer"].plan(
        sample, Variant(()), ModeSettings(shots={}, chat=chat)
    )
    assert isinstance(request, Generate)
    return written(scripted(rule, **options), request.prompt)


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("sample", [KEY[1], KEY[11], CHINESE], ids=lambda sample: sample.id)
def test_perfect_repeats_the_reference(sample: Sample, chat: bool):
    # "What is fact 1?" and "What is fact 11?" end differently, so neither is taken for the other.
    assert reply("perfect", sample, chat=chat) == sample.references[0]


def test_perfect_says_so_where_it_knows_no_reference():
    assert reply("perfect", MUTE) == "I know no reference answer to this question."


def test_perfect_answers_each_turn_of_a_conversation():
    turns = (
        Message("user", "Capital of Peru?"),
        Message("assistant", "Lima"),
        Message("user", "Of Cuba?"),
    )
    assert written(scripted("perfect"), turns[:1]) == "Lima"
    assert written(scripted("perfect"), turns) == "Havana"


def test_refusing_declines_in_the_language_of_the_question():
    assert reply("refusing", KEY[0]).startswith("I am sorry")
    assert reply("refusing", CHINESE).startswith("抱歉")


def test_verbose_hides_the_reference_in_a_list():
    text = reply("verbose", KEY[0])
    assert "Fact 0 is so." in text
    assert text.count("\n- ") == 3
    assert "利马" in reply("verbose", CHINESE)


@pytest.mark.parametrize("rule", ["noisy", "position-biased"])
def test_who_doubts_is_right_on_about_two_thirds_and_else_says_something_of_another(rule: str):
    replies = [reply(rule, sample) for sample in KEY]
    right = [text == s.references[0] for text, s in zip(replies, KEY, strict=True)]
    assert 30 <= sum(right) <= 50
    known = {text for sample in ALL for text in sample.references}
    assert set(replies) <= known


def test_noisy_doubts_anew_with_every_prompt_and_position_biased_does_not():
    def changed(rule: str) -> int:
        pairs = [(reply(rule, s), reply(rule, s, chat=False)) for s in KEY]
        return sum(first != second for first, second in pairs)

    assert changed("noisy") > 10
    assert changed("position-biased") == 0


def test_malformed_writes_in_forms_that_spoil_the_comparison():
    replies = [reply("malformed", sample) for sample in KEY]
    assert "" in replies
    assert any(text.startswith("<think>") for text in replies)
    assert any(text.startswith("**") for text in replies)


@pytest.mark.parametrize("rule", CONTESTANTS)
def test_no_rule_fails_at_an_open_question(rule: str):
    for sample in ALL[:-1]:
        assert isinstance(reply(rule, sample), str)
        assert isinstance(reply(rule, sample, key=(sample,)), str)


def test_a_question_with_options_is_still_answered_by_letter():
    prompt = render_choices(TEMPLATES["plain-en.1"], PICK, Variant((1, 0)), (), chat=False)
    assert written(scripted("perfect"), prompt) == "A"
    assert written(scripted("verbose", seed=3), prompt).startswith("Let me think")


def test_what_was_learnt_is_part_of_the_fingerprint():
    turns = Sample("talk", TALK.question, target=TALK.target, follow_ups=("Of Iran?",))
    prints = {scripted("perfect", key).fingerprint for key in ((), (TALK,), (turns,), (MUTE,))}
    assert len(prints) == 4


def test_an_open_question_has_no_letters():
    with pytest.raises(ModelError, match="knows only the questions it was shown"):
        list(scripted("perfect").answer([NextToken(KEY[0].question, ("A", "B"))]))
