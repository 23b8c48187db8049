"""A model judges: which of two answers is better, or what one answer is worth.

The judge is prompted for each showing, once more if its verdict cannot be read, and a
verdict that still cannot be read stays unreadable: it is no tie and no zero. A judge by rule that
needs a reference and finds none does not judge, which is no unreadable verdict.
"""

from collections.abc import Sequence
from functools import lru_cache

from evalui.models.scripted.judges import UNDECIDED
from evalui.modes.base import MODES, ModeSettings, ModeTraits
from evalui.modes.judge_outputs import (
    GradedReply,
    decided_options,
    graded_correctness,
    graded_criteria,
    graded_outcome,
    graded_rating,
    json_schema,
    labels,
    named_words,
    read_decisions,
    read_labels,
    read_last_object,
    read_object,
    unreadable,
)
from evalui.modes.prompts.rubrics import (
    Rubric,
    choose_rubric,
    closing_of,
    pattern_of,
    reminder_of,
    render_judge_prompt,
)
from evalui.replies import (
    RATING_VERSION,
    VERDICT_VERSION,
    ParsedRating,
    ParsedVerdict,
    contains_injection,
    read_by_pattern,
    read_correctness,
    read_mark_by_pattern,
    read_rating,
    read_verdict,
    without_options,
)
from evalui.types import (
    NO_REFERENCE,
    NOT_MEANINGFUL,
    SAME_ANSWERS,
    Ability,
    DatasetKind,
    Decide,
    Decision,
    Generate,
    GeneratedText,
    Gives,
    JudgeOutput,
    LabelProbs,
    Message,
    NextToken,
    Prompt,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)


class Judge:
    """A verdict on the contestants whose places the variant gives, in the order shown."""

    abilities_needed: Ability = "generate"
    gives: Gives = "verdicts"
    kinds: tuple[DatasetKind, ...] = ("general_qa", "subjective", "code")
    shows_options = False
    readings: tuple[str, ...] = ("verdict", "rating")
    headline = "verdict"
    traits = ModeTraits(
        rank=5, rule_versions={"verdict": VERDICT_VERSION, "rating": RATING_VERSION}
    )

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """What a verdict takes; every contestant shown must have answered the sample.

        One request, or one for each criterion where nothing is written; none for two equal
        answers, which are a tie. In a conversation everything is one user's turn:
        some chat templates know no system.
        """
        if _are_equal(_shown_answers(sample, variant, setting)):
            return ()
        rubric = rubric_of(sample, variant, setting)
        output = _output_of(rubric, setting)
        if output in ("text", "schema"):
            return (_written(rubric, sample, variant, setting, output),)
        criteria = [name for name, _ in rubric.criteria] or [""]
        if output == "decision":
            return tuple(_decide(rubric, sample, variant, setting, name) for name in criteria)
        return tuple(
            NextToken(_prompt(rubric, sample, variant, setting, output, name), labels(rubric))
            for name in criteria
        )

    def follow_up(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> tuple[Request, ...]:
        """What is sent once more after a verdict that cannot be read, () if it can.

        After a reply it is the same again with a reminder of the form; where no label is likely,
        the judge is left to write. A decision stays what it is.
        """
        rubric = rubric_of(sample, variant, setting)
        output, texts = _output_of(rubric, setting), _texts(responses)
        if output == "decision":
            return ()
        graded = _grade(rubric, sample, responses, output)
        if graded.is_readable or graded.reading.rule == NO_REFERENCE:
            return ()
        if not texts:
            return (_written(rubric, sample, variant, setting, "text"),)
        (first, *again) = texts
        if again or output == "probabilities":
            return ()
        request = _written(rubric, sample, variant, setting, output)
        reminder = reminder_of(rubric, output)
        prompt = _with_reminder(request.prompt, first.text, reminder)
        return (Generate(prompt, setting.max_tokens, json_schema=request.json_schema),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the verdict from the last reply: the first was readable, or is the only one."""
        if not responses:
            readings = {"verdict": graded_outcome("tie", SAME_ANSWERS).reading}
            return Trial(sample.id, variant, 0, "verdict", readings, reply=NOT_MEANINGFUL)
        rubric = rubric_of(sample, variant, setting)
        texts = _texts(responses)
        graded = _grade(rubric, sample, responses, _output_of(rubric, setting))
        replies = tuple(response.text for response in texts)
        tokens = [each.top_token for each in responses if isinstance(each, LabelProbs)]
        named = named_words(rubric, _decisions(responses))
        headline = "rating" if rubric.single else "verdict"
        injected = tuple(
            float(any(map(contains_injection, turns)))
            for turns in _shown_answers(sample, variant, setting)
        )
        retried = float(len(texts) > 1 or bool(texts and tokens))
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline=headline,
            readings={headline: graded.reading},
            probabilities=graded.probabilities,
            mass=graded.mass,
            reply=replies[-1] if replies else named or " ".join(tokens),
            scores={**graded.scores, "injected": injected, "retried": (retried,)},
            truncated=any(response.truncated for response in responses),
            turns=replies if len(replies) > 1 else (),
        )


def read_sample_reply(rubric: Rubric, reply: str) -> GradedReply:
    """What would be read of a reply in words, for whoever writes a rubric."""
    return _read_text(rubric, GeneratedText(reply))


def rubric_of(sample: Sample, variant: Variant, setting: ModeSettings) -> Rubric:
    """The run's rubric, or the sample's own if the run names none."""
    single = len(variant.permutation) == 1
    rubric = setting.rubric or choose_rubric(sample, single=single, version=setting.rubric_version)
    assert rubric.single == single, "a rubric for one answer is shown one, any other two"
    return rubric


def _output_of(rubric: Rubric, setting: ModeSettings) -> JudgeOutput:
    return setting.output if setting.output in rubric.outputs else "text"


# ---------------------------------------------------------------- requests


def _prompt(
    rubric: Rubric,
    sample: Sample,
    variant: Variant,
    setting: ModeSettings,
    output: JudgeOutput,
    criterion: str = "",
) -> Prompt:
    text = _text(rubric, sample, variant, setting, output, criterion)
    return (Message("user", text),) if setting.chat else text + "\n\n"


def _text(
    rubric: Rubric,
    sample: Sample,
    variant: Variant,
    setting: ModeSettings,
    output: JudgeOutput,
    criterion: str = "",
) -> str:
    answers = _shown_answers(sample, variant, setting)
    return render_judge_prompt(
        rubric, sample, answers, seed=setting.seed, output=output, criterion=criterion
    )


def _decide(
    rubric: Rubric, sample: Sample, variant: Variant, setting: ModeSettings, criterion: str
) -> Decide:
    """The request for a decision: what is judged, what is to be decided, and between what."""
    context = _text(rubric, sample, variant, setting, "decision")
    question = closing_of(rubric, "decision", criterion)
    return Decide(context, question, decided_options(rubric))


def _written(
    rubric: Rubric, sample: Sample, variant: Variant, setting: ModeSettings, output: JudgeOutput
) -> Generate:
    """The request for a verdict in writing."""
    prompt = _prompt(rubric, sample, variant, setting, output)
    schema = json_schema(rubric) if output == "schema" else ""
    return Generate(prompt, max_tokens=setting.max_tokens, json_schema=schema)


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


def _are_equal(answers: Sequence[tuple[str, ...]]) -> bool:
    shown = [tuple(map(str.strip, turns)) for turns in answers]
    return len(shown) > 1 and shown.count(shown[0]) == len(shown)


# ---------------------------------------------------------------- verdicts


def _grade(
    rubric: Rubric, sample: Sample, responses: Sequence[Response], output: JudgeOutput
) -> GradedReply:
    """The verdict of the last reply, or of decisions or labels if nothing was written."""
    if texts := _texts(responses):
        reply = texts[-1]
        if not sample.references and reply.text in UNDECIDED.values():
            return unreadable(NO_REFERENCE)
        return _read_schema(rubric, reply) if output == "schema" else _read_once(rubric, reply)
    if decisions := _decisions(responses):
        return read_decisions(rubric, decisions)
    probable = [response for response in responses if isinstance(response, LabelProbs)]
    assert probable, "a judge writes, decides, or says how probable labels are"
    return read_labels(rubric, probable)


def _read_schema(rubric: Rubric, reply: GeneratedText) -> GradedReply:
    """A reply that was to fit a schema; only if it was made to, it counts as such."""
    if reply.constrained and (graded := read_object(rubric, reply.text)):
        return graded
    if reply.finish_reason == "stop" and (graded := read_last_object(rubric, reply.text)):
        return graded
    return _read_once(rubric, reply, "schema")


def _read_text(rubric: Rubric, reply: GeneratedText, output: JudgeOutput = "text") -> GradedReply:
    """A reply in words, or in JSON that no schema held."""
    cut = reply.finish_reason
    # What is shown as the form is no verdict where it is repeated.
    forms = (closing_of(rubric, output), reminder_of(rubric, output))
    if rubric.pattern:
        return _read_pattern(rubric, reply, forms)
    if rubric.form == "correctness":
        return _graded_mark(
            rubric, read_correctness(reply.text, finish_reason=cut, prompt_forms=forms)
        )
    if rubric.form == "rating":
        names = [name for name, _ in rubric.criteria]
        parsed = read_rating(reply.text, criteria=names, finish_reason=cut, prompt_forms=forms)
        return _graded_mark(rubric, parsed)
    text, form = reply.text, rubric.form
    if rubric.frame == "2" and (form == "json" or output == "schema"):
        text, form = without_options(text), "json"  # a letter is an option's there
    read = read_verdict(form, text, finish_reason=cut, prompt_forms=forms)
    return _graded_verdict(read)


# A verdict that was looked at for a follow-up is read again when it is graded.
_read_once = lru_cache(maxsize=256)(_read_text)


def _read_pattern(rubric: Rubric, reply: GeneratedText, forms: tuple[str, ...]) -> GradedReply:
    """A reply that the user's own pattern reads."""
    pattern, cut = pattern_of(rubric), reply.finish_reason
    if rubric.single:
        parsed = read_mark_by_pattern(pattern, reply.text, finish_reason=cut, prompt_forms=forms)
        return _graded_mark(rubric, parsed)
    read = read_by_pattern(pattern, reply.text, finish_reason=cut, prompt_forms=forms)
    return _graded_verdict(read)


def _graded_verdict(read: ParsedVerdict) -> GradedReply:
    if read.outcome is None:
        return unreadable(read.rule)
    return graded_outcome(read.outcome, read.rule, read.strength)


def _graded_mark(rubric: Rubric, parsed: ParsedRating) -> GradedReply:
    if rubric.criteria and not rubric.pattern:
        # The mark is the mean of all criteria, whatever else the judge wrote.
        if len(parsed.marks) == len(rubric.criteria):
            return graded_criteria(parsed.marks, "criteria")
        return unreadable(parsed.rule if parsed.value is None else "unparsed")
    if parsed.value is None:
        return unreadable(parsed.rule)
    if rubric.form == "correctness":
        return graded_correctness(parsed.value, parsed.rule)
    return graded_rating(parsed.value, parsed.rule)


def _decisions(responses: Sequence[Response]) -> list[Decision]:
    return [response for response in responses if isinstance(response, Decision)]


def _texts(responses: Sequence[Response]) -> list[GeneratedText]:
    return [response for response in responses if isinstance(response, GeneratedText)]


MODES.register("judge")(Judge())
