"""Open questions: the model writes, the reply is compared with the references.

A conversation is sent as SWIFT and EvalScope send it, the bare question after its history; a
plain prompt is a completion form. Further turns are sent one after the other, each after the
model's own answer to the one before.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalui.modes.base import MODES, ModeSettings, ModeTraits
from evalui.modes.prompts.rubrics import language_of
from evalui.modes.prompts.templates import Template
from evalui.scoring.scorers import score_answers
from evalui.scoring.texts import metrics
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Language,
    Message,
    Prompt,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)


@dataclass(frozen=True, slots=True)
class PlainPrompt:
    """The plain prompt of one language: a block per question, what leads to the answer, blanks."""

    name: str
    question: str
    answer: str
    separator: str = "\n\n"

    @property
    def stop(self) -> str:
        """How a base model begins when it goes on with questions of its own."""
        return "\n" + self.question.partition("{")[0].strip()


# Scores depend on every character: a change gets a new name.
PLAIN_PROMPTS: Mapping[Language, PlainPrompt] = {
    "en": PlainPrompt("qa-plain-en.1", "Question: {question}\nAnswer:", " {answer}"),
    "zh": PlainPrompt("qa-plain-zh.1", "问题：{question}\n答案：", "{answer}"),
}


class OpenAnswer:
    """An answer in words, with the text figures of SWIFT and EvalScope beside it."""

    abilities_needed: Ability = "generate"
    gives: Gives = "answers"
    kinds: tuple[DatasetKind, ...] = ("general_qa", "subjective")
    shows_options = False
    readings: tuple[str, ...] = ("answer",)
    headline = "answer"
    traits = ModeTraits(
        rank=4,
        grades_recorded=frozenset({"written"}),
        credit=metrics.MAIN,
        rule_versions={"answer": metrics.VERSION},
    )

    def prompt_names(
        self, samples: Iterable[Sample], template: Template | None, *, chat: bool
    ) -> str:
        """The bare question, or the plain prompts of the languages of the samples."""
        del template
        names = {"question.1"} if chat else {plain_prompt_of(sample).name for sample in samples}
        return "+".join(sorted(names))

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request, for the answer to the first question."""
        del variant
        return (_build_request(sample, (), setting),)

    def follow_up(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> tuple[Request, ...]:
        """The next question of the conversation, () after the last."""
        del variant
        if len(responses) > len(sample.follow_ups):
            return ()
        return (_build_request(sample, _answer_texts(responses, setting), setting),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Compare the answer with the references.

        The credit is ROUGE-L's f. Without a reference nothing can be compared: the credit is 1
        for whatever is no blank, and its mean the share of questions answered.
        """
        texts = [response for response in responses if isinstance(response, GeneratedText)]
        assert len(texts) == 1 + len(sample.follow_ups), "one answer to each question"
        turns = _answer_texts(responses, setting)
        scores = score_answers(sample, turns)
        answered = bool(turns[-1].strip())
        cut = any(response.finish_reason == "length" for response in texts)
        rule = ("cut" if cut else "answered") if answered else "empty"
        credit = scores.get(metrics.MAIN, float(answered))
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline=self.headline,
            readings={"answer": Reading(0 if answered else None, credit, rule)},
            reply=texts[-1].text,
            scores={name: (figure,) for name, figure in scores.items()},
            truncated=any(response.truncated for response in texts),
            turns=turns if len(turns) > 1 else (),
        )


def plain_prompt_of(sample: Sample) -> PlainPrompt:
    """The plain prompt of a sample, by its language."""
    return PLAIN_PROMPTS[language_of(sample)]


def _build_request(sample: Sample, answers: Sequence[str], setting: ModeSettings) -> Generate:
    turns = list(_context_turns(sample, setting.shots.get(sample.subject, ())))
    for question, answer in zip((sample.question, *sample.follow_ups), answers, strict=False):
        turns += [Message("user", question), Message("assistant", answer)]
    question = (sample.question, *sample.follow_ups)[len(answers)]
    turns.append(Message("user", question))
    form = plain_prompt_of(sample)
    prompt: Prompt = tuple(turns) if setting.chat else _render_plain(form, turns)
    stop = () if setting.chat else (form.stop,)
    return Generate(prompt, max_tokens=setting.max_tokens, stop=stop)


def _context_turns(sample: Sample, shots: Sequence[Sample]) -> Iterator[Message]:
    """What stands before the question: the system's words, worked examples, then the history."""
    yield from (turn for turn in sample.history if turn.role == "system")
    for shot in shots:
        if shot.references:
            yield Message("user", shot.question)
            yield Message("assistant", shot.references[0])
    yield from (turn for turn in sample.history if turn.role != "system")


def _render_plain(form: PlainPrompt, turns: Sequence[Message]) -> str:
    """The turns as one text that the answer continues."""
    text = ""
    for turn in turns:
        gap = form.separator if text else ""
        match turn.role:
            case "system":
                text += gap + turn.content
            case "user":
                text += gap + form.question.replace("{question}", turn.content)
            case "assistant":
                text += form.answer.replace("{answer}", turn.content)
    return text


def _answer_texts(responses: Sequence[Response], setting: ModeSettings) -> tuple[str, ...]:
    """The answers as they are compared and repeated in later prompts.

    The blanks around a plain continuation are the form's; a conversation's reply stays as it is.
    """
    replies = [response.text for response in responses if isinstance(response, GeneratedText)]
    return tuple(replies if setting.chat else (reply.strip() for reply in replies))


MODES.register("question_answer")(OpenAnswer())
