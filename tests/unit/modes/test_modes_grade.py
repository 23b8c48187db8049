"""Each mode on hand-made responses: what is requested, and what is read from the answer."""

import math
from dataclasses import replace

import pytest

from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.modes.own_settings import ChoiceSettings, ClozeSettings
from evalui.modes.prompts.templates import TEMPLATES
from evalui.scoring.choice.options import variants
from evalui.types import (
    Decide,
    Decision,
    Generate,
    GeneratedText,
    LabelProbs,
    Labels,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Sample,
    Variant,
)

CITY = Sample("1", "What is the capital of Peru?", ("Rome", "Lima", "Cairo", "Oslo"), 1)
ORIGIN = Variant((0, 1, 2, 3))
ROTATED = Variant((3, 0, 1, 2))
PLAIN = ModeSettings(shots={})


class TestMultipleChoice:
    mode = MODES["multiple_choice"]

    def grade(self, probabilities: list[float], top: str = "B", variant: Variant = ORIGIN):
        logprobs = tuple(math.log(p) if p else -math.inf for p in probabilities)
        response = LabelProbs(logprobs, mass=sum(probabilities), top_token=top)
        return self.mode.grade(CITY, variant, [response], PLAIN)

    def test_asks_one_question_for_the_letters_shown(self):
        (request,) = self.mode.plan(CITY, ORIGIN, PLAIN)
        assert isinstance(request, NextToken)
        assert request.labels == ("A", "B", "C", "D")
        assert str(request.context).endswith("D. Oslo\nAnswer: ")

    def test_lm_evals_spelling_is_scored_as_a_continuation(self):
        setting = replace(PLAIN, spellings="lm_eval")
        requests = self.mode.plan(CITY, ORIGIN, setting)
        assert [each.continuation for each in requests] == [" A", " B", " C", " D"]
        assert all(str(each.context).endswith("D. Oslo\nAnswer:") for each in requests)
        spoken = self.mode.plan(CITY, ORIGIN, replace(setting, chat=True))
        assert [each.continuation for each in spoken] == ["A", "B", "C", "D"]

    @pytest.mark.parametrize(("greedy", "strict"), [(1, 1), (3, 3), (None, None)])
    def test_of_lm_evals_scores_the_best_is_chosen_and_the_greedy_one_is_what_was_written(
        self, greedy: int | None, strict: int | None
    ):
        scores = [
            Logprob(math.log(p), 1, greedy=slot == greedy)
            for slot, p in enumerate([0.1, 0.4, 0.2, 0.1])
        ]
        trial = self.mode.grade(CITY, ORIGIN, scores, replace(PLAIN, spellings="lm_eval"))
        assert (trial.choice, trial.mass) == (1, pytest.approx(0.8))
        assert trial.readings["strict"].choice == strict
        assert trial.readings["tolerant"].choice == strict

    def test_asks_a_conversation_when_told_to(self):
        (request,) = self.mode.plan(CITY, ORIGIN, ModeSettings(shots={}, chat=True))
        assert isinstance(request, NextToken)
        assert request.context == (
            Message(
                "user",
                "What is the capital of Peru?\nA. Rome\nB. Lima\nC. Cairo\nD. Oslo\n"
                "Answer with the letter of the correct option.",
            ),
        )

    def test_the_most_probable_letter_is_the_choice(self):
        trial = self.grade([0.1, 0.4, 0.2, 0.1])
        assert (trial.choice, trial.correct, trial.mass) == (1, True, pytest.approx(0.8))
        assert trial.probabilities == pytest.approx((0.125, 0.5, 0.25, 0.125))

    def test_the_target_moves_with_the_variant(self):
        trial = self.grade([0.1, 0.4, 0.2, 0.1], variant=ROTATED)
        assert (trial.target, trial.choice, trial.correct) == (2, 1, False)

    def test_a_tie_is_no_choice_and_shares_the_credit(self):
        trial = self.grade([0.4, 0.4, 0.1, 0.1])
        assert trial.choice is None
        assert trial.reading.tied
        assert trial.reading.credit == 0.5
        assert not trial.unreadable

    def test_no_mass_at_all_is_unreadable(self):
        trial = self.grade([0, 0, 0, 0])
        assert trial.unreadable
        assert trial.probabilities == ()

    def test_strict_follows_the_top_token_and_forced_the_letters(self):
        trial = self.grade([0.1, 0.2, 0.1, 0.1], top="The")
        assert trial.readings["forced"].choice == 1
        assert trial.readings["strict"].choice is None
        assert trial.readings["tolerant"].choice is None


def decided_under(labels: Labels, **others: object) -> ModeSettings:
    own = ChoiceSettings.model_validate({"labels": labels} | others)
    return replace(PLAIN, spellings="decision", generation=own)


class TestDecision:
    mode = MODES["multiple_choice"]

    def ask(self, setting: ModeSettings, variant: Variant = ORIGIN, sample: Sample = CITY):
        (request,) = self.mode.plan(sample, variant, setting)
        assert isinstance(request, Decide)
        return request

    def test_a_question_is_a_decision_between_its_options_as_shown(self):
        request = self.ask(decided_under(""), ROTATED)
        assert request.context == "What is the capital of Peru?"
        assert request.question == "Which option is the right answer to the question?"
        assert request.options == (("A", "Oslo"), ("B", "Rome"), ("C", "Lima"), ("D", "Cairo"))

    @pytest.mark.parametrize("labels", ["dealt", "neutral"])
    def test_dealt_keys_are_the_same_ones_elsewhere(self, labels: Labels):
        setting = decided_under(labels)
        asked = [self.ask(setting, order).options for order in variants(4, "circular")]
        assert len({frozenset(dict(each)) for each in asked}) == 1
        assert len({dict(map(reversed, each))["Lima"] for each in asked}) > 1  # keys move, too
        assert all([text for _, text in each] != sorted(dict(each)) for each in asked)

    def test_texts_are_their_own_keys(self):
        request = self.ask(decided_under("texts"))
        assert [key for key, _ in request.options] == list(CITY.choices)

    def test_no_two_options_share_a_key_whatever_their_texts(self):
        alike = Sample("s", "Which?", ("a", "a", "a (1)", "b", "a (1)"), 3)
        request = self.ask(decided_under("texts"), Variant((0, 1, 2, 3, 4)), alike)
        keys = [key for key, _ in request.options]
        assert keys == ["a (2)", "a (3)", "a (1) (1)", "b", "a (1) (2)"]

    def test_worked_examples_show_their_options_and_the_text_of_the_answer(self):
        shot = Sample("s", "Which is a metal?", ("Sand", "Iron"), 1)
        request = self.ask(replace(decided_under(""), shots={"": (shot,)}))
        assert request.context == (
            "Which is a metal?\n- Sand\n- Iron\nAnswer: Iron\n\nWhat is the capital of Peru?"
        )

    def test_a_chinese_question_is_asked_in_chinese_and_left_out_in_chinese(self):
        chinese = Sample("1", "秘鲁的首都是哪里？", ("Rome", "Lima"), 1)
        assert self.ask(PLAIN_DECISION, Variant((0, 1)), chinese).question.startswith("哪个选项")
        (blank,) = MODES["choices_only"].plan(chinese, Variant((0, 1)), PLAIN_DECISION)
        assert isinstance(blank, Decide)
        assert (blank.context, blank.question[:4]) == ("题目已略去。", "哪个选项")

    def test_words_of_the_system_stand_before_the_question(self):
        setting = decided_under("", system_prompt="Think of maps.")
        (request,) = plan_requests(self.mode, CITY, ORIGIN, setting)
        assert isinstance(request, Decide)
        assert request.question.startswith("Think of maps.\n\nWhich option")

    def test_the_probabilities_are_those_of_the_options_as_shown(self):
        response = Decision((0.1, 0.2, 0.6, 0.1), 2, confidence=0.6)
        trial = self.mode.grade(CITY, ROTATED, [response], decided_under(""))
        assert (trial.target, trial.choice, trial.correct) == (2, 2, True)
        assert trial.probabilities == pytest.approx((0.1, 0.2, 0.6, 0.1))
        assert (trial.reply, trial.scores) == ("C", {})
        assert trial.mass == pytest.approx(1.0)

    def test_the_reply_is_the_key_that_was_named(self):
        setting = decided_under("neutral")
        key = self.ask(setting, ROTATED).options[2][0]
        trial = self.mode.grade(CITY, ROTATED, [Decision(choice=2)], setting)
        assert (trial.reply, trial.choice, trial.probabilities) == (key, 2, ())

    @pytest.mark.parametrize(
        ("response", "choice", "tied"),
        [
            (Decision(refused=True), None, False),
            (Decision(), None, False),
            (Decision((0.4, 0.4, 0.1, 0.1), 0), None, True),
            (Decision((0.9, 0.4, 0.1, 0.1), 0), 0, False),
        ],
    )
    def test_what_is_not_said_is_not_guessed(
        self, response: Decision, choice: int | None, tied: bool
    ):
        trial = self.mode.grade(CITY, ORIGIN, [response], PLAIN_DECISION)
        assert (trial.choice, trial.reading.tied) == (choice, tied)
        assert len(trial.probabilities) == 4 * tied


PLAIN_DECISION = replace(PLAIN, spellings="decision")


class TestGeneration:
    mode = MODES["generation"]

    def grade(self, text: str, variant: Variant = ORIGIN):
        return self.mode.grade(CITY, variant, [GeneratedText(text)], PLAIN)

    def test_a_plain_prompt_stops_before_the_next_question(self):
        (request,) = self.mode.plan(CITY, ORIGIN, PLAIN)
        assert isinstance(request, Generate)
        assert request.stop == ("\n\nQuestion: ",)

    def test_a_template_that_begins_with_the_question_has_no_stop(self):
        template = replace(TEMPLATES["plain-en.1"], question="{question}\n{options}\n->")
        (request,) = self.mode.plan(CITY, ORIGIN, ModeSettings(shots={}, template=template))
        assert isinstance(request, Generate)
        assert request.stop == ()

    def test_tolerant_is_the_headline_and_strict_stands_beside_it(self):
        trial = self.grade("The answer is (B).")
        assert (trial.choice, trial.reading.rule) == (1, "marker")
        assert trial.readings["strict"].choice is None

    def test_a_reply_by_text_is_read_in_the_order_shown(self):
        assert self.grade("Lima", ROTATED).choice == 2

    @pytest.mark.parametrize(
        ("reply", "finish_reason", "choice"),
        [
            ("A is wrong. B is correct.", "stop", 1),
            ("A is wrong. B is correct.", "length", None),
            ("The answer is B. C", "length", 1),
        ],
    )
    def test_of_a_reply_that_was_cut_only_an_announced_answer_counts(
        self, reply: str, finish_reason: str, choice: int | None
    ):
        response = GeneratedText(reply, finish_reason=finish_reason)
        assert self.mode.grade(CITY, ORIGIN, [response], PLAIN).choice == choice

    def test_two_letters_are_unreadable(self):
        trial = self.grade("A or B")
        assert trial.unreadable
        assert trial.reading.credit == 0


class TestCloze:
    mode = MODES["cloze"]

    def test_asks_each_option_with_and_without_the_question(self):
        requests = self.mode.plan(CITY, ORIGIN, PLAIN)
        question = "Question: What is the capital of Peru?\nAnswer:"
        assert requests[1] == Loglik(question, " Lima")
        assert requests[5] == Loglik("Answer:", " Lima")
        assert len(requests) == 8

    def test_the_empty_unconditional_context_is_allowed(self):
        requests = self.mode.plan(
            CITY, ORIGIN, ModeSettings(shots={}, generation=ClozeSettings(unconditional=""))
        )
        assert requests[4] == Loglik("", " Rome")

    def test_every_normalisation_comes_from_the_same_sums(self):
        conditional = [
            Logprob(-4, 2, False),
            Logprob(-6, 4, False, merged=True),
            *[Logprob(-9, 2, False)] * 2,
        ]
        bare = [Logprob(-1, 2, False), Logprob(-6, 4, False), *[Logprob(-8, 2, False)] * 2]
        trial = self.mode.grade(CITY, ORIGIN, [*conditional, *bare], PLAIN)
        assert trial.scores["raw"] == (-4, -6, -9, -9)
        assert trial.scores["un"] == (-3, 0, -1, -1)
        assert trial.scores["ln_token"] == (-2, -1.5, -4.5, -4.5)
        assert {name: reading.choice for name, reading in trial.readings.items()} == {
            "raw": 0, "un": 1, "ln_token": 1, "ln_char": 0, "ln_byte": 0,
        }  # fmt: skip
        assert trial.merged_boundaries == 1


class TestOptionsOfTheSameText:
    """Two options that cannot be told apart by their text: letters count as letters."""

    sample = Sample("2", "Which may reorder?", ("circuit", "packet", "packet", "message"), 2)

    def test_a_letter_is_scored_by_the_letter(self):
        response = LabelProbs(tuple(map(math.log, (0.1, 0.5, 0.3, 0.1))), 1.0, "B")
        trial = MODES["multiple_choice"].grade(self.sample, ORIGIN, [response], PLAIN)
        assert (trial.choice, trial.correct, trial.fixed_reason) == (1, False, "duplicates")

    @pytest.mark.parametrize(
        ("reply", "choice", "credit"), [("C", 2, 1.0), ("B", 1, 0.0), ("packet", None, 0.5)]
    )
    def test_a_reply_counts_by_its_letter_and_their_text_in_part(
        self, reply: str, choice: int | None, credit: float
    ):
        trial = MODES["generation"].grade(self.sample, ORIGIN, [GeneratedText(reply)], PLAIN)
        assert (trial.choice, trial.reading.credit, trial.unreadable) == (choice, credit, False)
        assert trial.fixed_reason == "duplicates"

    @pytest.mark.parametrize("hair", [0.0, 1e-9])
    def test_their_texts_tie_in_cloze_though_they_were_asked_twice(self, hair: float):
        conditional = [Logprob(total, 1, greedy=False) for total in (-5, -1, -1 - hair, -9)]
        bare = [Logprob(total, 1, greedy=False) for total in (-2, -2, -2 + hair, -2)]
        trial = MODES["cloze"].grade(self.sample, ORIGIN, [*conditional, *bare], PLAIN)
        assert {found.credit for found in trial.readings.values()} == {0.5}
        assert all(found.tied for found in trial.readings.values())
        assert trial.fixed_reason == "duplicates"
