"""A model judges: which of two answers is better, or what one answer is worth.

The judge is prompted for each showing, once more if its verdict cannot be read, and a
verdict that still cannot be read stays unreadable: it is no tie and no zero. A judge by rule that
needs a reference and finds none does not judge, which is no unreadable verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.models.scripted.judges import UNDECIDED
from evalui.modes.base import MODES, ModeSettings
from evalui.modes.prompts.rubrics import Rubric, choose_rubric, render_judge_prompt
from evalui.scoring.parsing.judged_answer import contains_injection
from evalui.scoring.parsing.rating import (
    HIGHEST_RATING,
    LOWEST_RATING,
    read_correctness,
    read_rating,
)
from evalui.scoring.parsing.verdict import read_verdict
from evalui.types import (
    NO_REFERENCE,
    OUTCOMES,
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Message,
    Outcome,
    Prompt,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

_CREDIT_BY_OUTCOME: dict[Outcome, float] = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}


class Judge:
    """A verdict on the contestants whose places the variant gives, in the order shown."""

    abilities_needed: Ability = "generate"
    kinds: tuple[DatasetKind, ...] = ("general_qa", "subjective")
    shows_options = False
    readings: tuple[str, ...] = ("verdict", "rating")
    headline = "verdict"

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for a verdict; every contestant shown must have answered the sample.

        In a conversation everything is one user's turn: some chat templates know no system.
        """
        rubric = rubric_of(sample, variant, setting)
        answers = _shown_answers(sample, variant, setting)
        text = render_judge_prompt(rubric, sample, answers, seed=setting.seed)
        prompt: Prompt = (Message("user", text),) if setting.chat else text + "\n\n"
        return (Generate(prompt, max_tokens=setting.max_tokens),)

    def follow_up(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> tuple[Request, ...]:
        """The same again with a reminder of the form, after one unreadable reply."""
        rubric = rubric_of(sample, variant, setting)
        (first, *again) = _text_responses(responses)
        graded = _grade_reply(rubric, sample, first.text)
        if again or graded.is_readable or graded.lacks_reference:
            return ()
        (request,) = self.plan(sample, variant, setting)
        assert isinstance(request, Generate), "a judge writes"
        prompt = _with_reminder(request.prompt, first.text, rubric.reminder)
        return (Generate(prompt, max_tokens=setting.max_tokens),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the verdict from the last reply: the first was readable, or is the only one."""
        rubric = rubric_of(sample, variant, setting)
        texts = _text_responses(responses)
        replies = tuple(response.text for response in texts)
        graded = _grade_reply(rubric, sample, replies[-1])
        headline = "rating" if rubric.single else "verdict"
        injected = tuple(
            float(any(map(contains_injection, turns)))
            for turns in _shown_answers(sample, variant, setting)
        )
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline=headline,
            readings={headline: graded.reading},
            reply=replies[-1],
            scores={**graded.scores, "injected": injected},
            truncated=any(response.truncated for response in texts),
            turns=replies if len(replies) > 1 else (),
        )


def rubric_of(sample: Sample, variant: Variant, setting: ModeSettings) -> Rubric:
    """The run's rubric, or the sample's own if the run names none."""
    single = len(variant.permutation) == 1
    rubric = setting.rubric or choose_rubric(sample, single=single)
    assert rubric.single == single, "a rubric for one answer is shown one, any other two"
    return rubric


@dataclass(frozen=True, slots=True)
class _GradedReply:
    reading: Reading
    scores: dict[str, tuple[float, ...]]

    @property
    def is_readable(self) -> bool:
        return self.reading.choice is not None

    @property
    def lacks_reference(self) -> bool:
        return self.reading.rule == NO_REFERENCE


def _grade_reply(rubric: Rubric, sample: Sample, reply: str) -> _GradedReply:
    if not sample.references and reply in UNDECIDED.values():
        return _GradedReply(Reading(None, 0.0, NO_REFERENCE), {})
    match rubric.form:
        case "rating":
            mark = read_rating(reply)
            value = LOWEST_RATING if mark.value is None else mark.value
            return _graded_rating(
                "rating",
                mark.value,
                (value - LOWEST_RATING) / (HIGHEST_RATING - LOWEST_RATING),
                mark.rule,
            )
        case "correctness":
            mark = read_correctness(reply)
            return _graded_rating("correct", mark.value, mark.value or 0.0, mark.rule)
        case form:
            return _graded_verdict(form, reply)


def _graded_rating(name: str, value: float | None, credit: float, rule: str) -> _GradedReply:
    if value is None:
        return _GradedReply(Reading(None, 0.0, rule), {})
    return _GradedReply(Reading(0, credit, rule), {name: (value,)})


def _graded_verdict(verdict_format: str, reply: str) -> _GradedReply:
    read = read_verdict(verdict_format, reply)
    if read.outcome is None:
        return _GradedReply(Reading(None, 0.0, read.rule), {})
    reading = Reading(OUTCOMES.index(read.outcome), _CREDIT_BY_OUTCOME[read.outcome], read.rule)
    return _GradedReply(
        reading, {} if read.strength is None else {"strength": (float(read.strength),)}
    )


def _with_reminder(prompt: Prompt, reply: str, reminder: str) -> Prompt:
    """The prompt with its unreadable reply and the reminder; a blank reply is no turn."""
    if isinstance(prompt, str):
        return f"{prompt}{reminder}\n\n"
    if not reply.strip():
        (message,) = prompt
        return (Message("user", f"{message.content}\n\n{reminder}"),)
    return (*prompt, Message("assistant", reply), Message("user", reminder))


def _shown_answers(
    sample: Sample, variant: Variant, setting: ModeSettings
) -> tuple[tuple[str, ...], ...]:
    shown = (setting.contestants[place] for place in variant.permutation)
    return tuple(contestant.answers[sample.id] for contestant in shown)


def _text_responses(responses: Sequence[Response]) -> list[GeneratedText]:
    texts = [response for response in responses if isinstance(response, GeneratedText)]
    assert texts, "Generate is answered by Text"
    return texts


MODES.register("judge")(Judge())
