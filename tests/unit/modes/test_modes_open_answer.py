"""Open questions on hand-made responses: what is requested, and how the reply is compared."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evalui.modes import MODES, ModeSettings, MultiTurn
from evalui.modes.open_answer import OpenAnswer, plain_prompt_of
from evalui.scoring.texts.metrics import BLEUS, TEXT_METRICS
from evalui.types import Generate, GeneratedText, Message, Prompt, Sample, Variant

MODE = OpenAnswer()
NONE = Variant(())
CITY = Sample("1", "What is the capital of Peru?", target=("Lima",), metadata={"subject": "s"})
CHINESE = Sample("2", "“秘鲁”的首都是哪里？", target=("利马",))
TALK = replace(CITY, follow_ups=("And of Cuba?", "And of Iran?"))
HISTORY = (
    Message("system", "Be brief."),
    Message("user", "Hi."),
    Message("assistant", "Yes?"),
)
PLAIN, CHAT = ModeSettings(shots={}, max_tokens=99), ModeSettings(shots={}, chat=True)


def request_for(sample: Sample, setting: ModeSettings, replies: Sequence[str] = ()) -> Generate:
    texts = [GeneratedText(reply) for reply in replies]
    plan = MODE.follow_up(sample, NONE, texts, setting) if texts else None
    (request,) = MODE.plan(sample, NONE, setting) if plan is None else plan
    assert isinstance(request, Generate)
    return request


def test_a_conversation_is_the_bare_question():
    request = request_for(CITY, CHAT)
    assert request.prompt == (Message("user", CITY.question),)
    assert request.stop == ()
    assert request.temperature == 0.0


def test_a_conversation_begins_with_its_history():
    request = request_for(replace(CITY, history=HISTORY), CHAT)
    assert request.prompt == (*HISTORY, Message("user", CITY.question))


@pytest.mark.parametrize(
    ("sample", "prompt", "stop", "form"),
    [
        (CITY, "Question: What is the capital of Peru?\nAnswer:", "\nQuestion:", "qa-plain-en.1"),
        (CHINESE, "问题：“秘鲁”的首都是哪里？\n答案：", "\n问题：", "qa-plain-zh.1"),
        (
            replace(CITY, history=HISTORY),
            "Be brief.\n\nQuestion: Hi.\nAnswer: Yes?\n\n"
            "Question: What is the capital of Peru?\nAnswer:",
            "\nQuestion:",
            "qa-plain-en.1",
        ),
    ],
)
def test_a_plain_prompt_is_a_form_that_ends_where_a_question_begins(
    sample: Sample, prompt: str, stop: str, form: str
):
    request = request_for(sample, PLAIN)
    assert request == Generate(prompt, max_tokens=99, stop=(stop,))
    assert plain_prompt_of(sample).name == form


SHOT = Sample("dev", "Capital of Cuba?", target=("Havana", "La Habana"))


@pytest.mark.parametrize(
    ("chat", "prompt"),
    [
        (
            True,
            (
                HISTORY[0],
                Message("user", "Capital of Cuba?"),
                Message("assistant", "Havana"),
                *HISTORY[1:],
                Message("user", CITY.question),
            ),
        ),
        (
            False,
            "Be brief.\n\nQuestion: Capital of Cuba?\nAnswer: Havana\n\nQuestion: Hi.\nAnswer: Yes?"
            "\n\nQuestion: What is the capital of Peru?\nAnswer:",
        ),
    ],
)
def test_worked_examples_stand_after_the_system_and_before_the_history(chat: bool, prompt: Prompt):
    mute = Sample("dev2", "No reference?")
    setting = ModeSettings(shots={"s": (SHOT, mute), "": (mute,)}, chat=chat)
    assert request_for(replace(CITY, history=HISTORY), setting).prompt == prompt


def test_each_question_of_a_conversation_follows_the_models_own_answer():
    assert isinstance(MODES["question_answer"], MultiTurn)
    assert request_for(TALK, CHAT, ["Lima"]).prompt == (
        Message("user", TALK.question),
        Message("assistant", "Lima"),
        Message("user", "And of Cuba?"),
    )
    assert request_for(TALK, PLAIN, [" Lima", " Havana\n"]).prompt == (
        "Question: What is the capital of Peru?\nAnswer: Lima\n\n"
        "Question: And of Cuba?\nAnswer: Havana\n\nQuestion: And of Iran?\nAnswer:"
    )
    assert (
        MODE.follow_up(
            TALK, NONE, [GeneratedText("a"), GeneratedText("b"), GeneratedText("c")], CHAT
        )
        == ()
    )
    assert MODE.follow_up(CITY, NONE, [GeneratedText("a")], CHAT) == ()


def test_a_right_answer_has_full_credit_and_all_figures():
    trial = MODE.grade(CITY, NONE, [GeneratedText(" Lima")], PLAIN)
    assert trial.reply == " Lima"
    assert (trial.choice, trial.correct, trial.reading.rule) == (0, True, "answered")
    assert trial.reading.credit == pytest.approx(1.0)
    assert set(trial.scores) == {*TEXT_METRICS, "exact_match", "token_f1"}
    assert trial.scores["exact_match"] == (1.0,)
    assert trial.turns == ()


def test_a_conversations_reply_is_compared_as_it_is():
    # jieba counts a blank as a word; SWIFT and EvalScope compare the raw reply.
    raw = MODE.grade(CHINESE, NONE, [GeneratedText(" 利马")], CHAT)
    form = MODE.grade(CHINESE, NONE, [GeneratedText(" 利马")], PLAIN)
    assert raw.scores["bleu-1"] == (0.5,)
    assert form.scores["bleu-1"] == (1.0,)
    thought = MODE.grade(CITY, NONE, [GeneratedText("<think>Rome</think> Lima")], CHAT)
    assert thought.scores["rouge-1-p"] == (0.5,)
    assert thought.reply == "<think>Rome</think> Lima"


def test_the_closest_of_several_references_counts():
    sample = replace(CITY, target=("The city of Lima", "Lima"))
    assert MODE.grade(sample, NONE, [GeneratedText("Lima")], CHAT).scores["rouge-l-f"][0] > 0.99


@pytest.mark.parametrize(
    ("text", "credit", "choice", "rule"),
    [
        (GeneratedText("Because."), 1.0, 0, "answered"),
        (GeneratedText("Because", finish_reason="length"), 1.0, 0, "cut"),
        (GeneratedText(" \n"), 0.0, None, "empty"),
        (GeneratedText("", finish_reason="length"), 0.0, None, "empty"),
    ],
)
def test_without_a_reference_the_credit_says_whether_it_was_answered(
    text: GeneratedText, credit: float, choice: int | None, rule: str
):
    trial = MODE.grade(Sample("1", "Why?"), NONE, [text], CHAT)
    assert (trial.reading.credit, trial.choice, trial.reading.rule) == (credit, choice, rule)
    assert trial.scores == {}


def test_a_blank_reply_to_a_question_with_a_reference_scores_nothing():
    trial = MODE.grade(CITY, NONE, [GeneratedText("")], CHAT)
    assert trial.unreadable
    assert trial.reading.credit == 0.0
    assert set(map(sum, trial.scores.values())) == {0.0}


def test_a_conversation_keeps_all_turns_and_replies_with_the_last():
    texts = [
        GeneratedText("Lima"),
        GeneratedText("Havana", truncated=True),
        GeneratedText("Tehran"),
    ]
    trial = MODE.grade(TALK, NONE, texts, CHAT)
    assert trial.turns == ("Lima", "Havana", "Tehran")
    assert trial.reply == "Tehran"
    assert trial.truncated
    assert trial.scores["exact_match"] == (0.0,)  # one reference, compared with the last answer


def test_a_conversation_with_a_reference_for_each_turn_is_compared_turn_by_turn():
    sample = replace(TALK, target=("Lima", "Havana", "Tehran"))
    texts = [GeneratedText("Lima"), GeneratedText("Rome"), GeneratedText("Tehran")]
    trial = MODE.grade(sample, NONE, texts, CHAT)
    assert trial.scores["exact_match"] == pytest.approx((2 / 3,))
    assert trial.reading.credit == pytest.approx(2 / 3)
    assert list(trial.scores)[:13] == [*TEXT_METRICS]
    assert set(BLEUS) < set(trial.scores)
