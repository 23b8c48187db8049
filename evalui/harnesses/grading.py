"""An answer of a log as a sample and a trial, graded as evalui grades its own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from evalui.datasets.option_references import refers_to_other_options
from evalui.harnesses.base import FlawedAnswer, LoggedAnswer, LogPart
from evalui.harnesses.options import order_of
from evalui.modes import MODES, Mode, ModeSettings, grader_of
from evalui.scoring.choice.options import label_probs, normalise_scores, reading_of_scores
from evalui.types import GeneratedText, Reading, Sample, Trial, Variant

HARNESS_READING = "harness"  # the option that the harness read, and the mark that it gave
_NO_MARK = Reading(None, 0.0, "no-mark")
_UNSET = ModeSettings(shots={})
NO_ORDER = Variant(())


class GradedAnswer(NamedTuple):
    """An answer to a question that comes once, read and graded; the question has no place yet."""

    sample: Sample
    trial: Trial
    marks: Mapping[str, float]


# What is left of a log's answers: those graded, further marks of one, and those of no use.
ReadAnswer = GradedAnswer | LoggedAnswer | FlawedAnswer


def graded_answers(
    part: LogPart, answers: Iterable[LoggedAnswer | FlawedAnswer]
) -> Iterator[ReadAnswer]:
    """The answers of a part whose questions come once, graded."""
    mode = MODES[grader_of(part.evidence)]
    for answer in answers:
        if isinstance(answer, FlawedAnswer) or answer.marks_only:
            yield answer
            continue
        own = answer.own_options or answer.options
        order = order_of(answer.options, own) if answer.options else NO_ORDER
        if order is None:
            yield FlawedAnswer(answer.id, "options")
            continue
        sample = logged_sample(answer, own, place=0)
        trial = grade_logged(part, mode, answer, sample, order)
        yield GradedAnswer(sample, trial, answer.marks)


def logged_sample(answer: LoggedAnswer, own: tuple[str, ...], place: int) -> Sample:
    """The question of an answer, its options in their `own` order; `place` counts from 1."""
    metadata = {"line": str(place)}
    if answer.subject:
        metadata["subject"] = answer.subject
    if answer.gold is None:
        return Sample(answer.id, answer.question, target=answer.references, metadata=metadata)
    target = own.index(answer.options[answer.gold])
    return Sample(
        answer.id,
        answer.question,
        own,
        target,
        metadata,
        refers_to_other_options=refers_to_other_options(own),
    )


def numbered(sample: Sample, place: int) -> Sample:
    """The same question at a place of the log, counted from 1."""
    metadata = {**sample.metadata, "line": str(place)}
    # A third of the time of `replace`; a log has no conversations.
    return Sample(
        sample.id,
        sample.question,
        sample.choices,
        sample.target,
        metadata,
        sample.refers_to_other_options,
    )


def grade_logged(
    part: LogPart, mode: Mode, answer: LoggedAnswer, sample: Sample, order: Variant
) -> Trial:
    """The trial of an answer in an order of its options; `mode` grades what decides the part."""
    if part.evidence == "letters":
        trial = mode.grade(sample, order, [label_probs(answer.totals, answer.greedy)], _UNSET)
        # Without the greedy letters nothing is known of what the model would have written.
        return (
            trial
            if answer.greedy
            else replace(trial, readings={"forced": trial.readings["forced"]}, reply=None)
        )
    if part.evidence == "decision":
        assert answer.decision, "a part of decisions has nothing else"
        # The reply would be a letter of evalui's own; the log has the key under which it was asked.
        return replace(mode.grade(sample, order, [answer.decision], _UNSET), reply=answer.reply)
    if part.evidence == "texts":
        return _grade_texts(answer, sample, order)
    written = [GeneratedText(answer.reply)]
    if part.evidence == "written":
        return mode.grade(sample, NO_ORDER, written, _UNSET)
    trial = mode.grade(sample, order, written, _UNSET)
    if not part.main_mark:
        return trial
    return replace(
        trial, readings={**trial.readings, HARNESS_READING: _harness_reading(part, answer)}
    )


def _grade_texts(answer: LoggedAnswer, sample: Sample, order: Variant) -> Trial:
    """As the mode for texts does with what a log holds; the lengths in tokens are not in it."""
    target = order.permutation.index(int(sample.target)) if isinstance(sample.target, int) else 0
    scores = normalise_scores(
        answer.options, totals=answer.totals, tokens=None, unconditional=answer.unconditional
    )
    return Trial(
        sample_id=sample.id,
        variant=order,
        target=target,
        headline="raw",
        readings={name: reading_of_scores(own, target, name) for name, own in scores.items()},
        scores=scores,
        fixed_reason=sample.fixed_reason,
    )


def _harness_reading(part: LogPart, answer: LoggedAnswer) -> Reading:
    mark = answer.marks.get(part.main_mark)
    if mark is None:
        return _NO_MARK
    choice = answer.gold if mark == 1.0 else answer.extracted
    if choice == answer.gold and mark == 0.0:
        choice = None  # its mark stands, whatever it read
    return Reading(choice, mark, HARNESS_READING)
