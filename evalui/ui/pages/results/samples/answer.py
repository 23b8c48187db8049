"""One open question in full: an answer beside its reference, the other answers, and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.questions import OpenedQuestion
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.numbers import format_fraction
from evalui.report.words import in_words
from evalui.scoring.texts.metrics import BLEUS, MAIN, ROUGES
from evalui.store.question_pages import JudgedQuestion
from evalui.types import Sample, Trial
from evalui.ui.components.option_table import thoughts_of
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill
from evalui.ui.components.texts import closest_reference, diff_texts, marked
from evalui.ui.components.widgets import model_name
from evalui.ui.pages.results.samples.address import SamplesAddress
from evalui.ui.pages.results.samples.prompt import sent_prompt
from evalui.ui.pages.results.samples.question import model_menu, question_head
from evalui.ui.pages.results.samples.verdicts import verdict_section

_KINDS = {
    "answered": "ok",
    "empty": "bad",
    "cut": "warn",
    # of a program
    "passed": "ok",
    "failed": "bad",
    "error": "bad",
    "timeout": "bad",
    "stopped": "bad",
}
_OTHERS = ("exact_match", "token_f1")


@dataclass(frozen=True, slots=True)
class _Turn:
    """One reply beside its reference, if it has one, and the question that followed it.

    `reference` and `marked` show where the two differ, unless they were too long to compare.
    """

    reply: str
    following: str = ""
    reference: Html | str = ""
    others: Sequence[str] = ()
    marked: Html | str = ""
    is_compared: bool = True


@dataclass(frozen=True, slots=True)
class _Answer:
    """What became of an answer, as kind and word, and how close it is to the reference."""

    kind: str
    word: str
    closeness: str
    turns: Sequence[_Turn] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class _OtherAnswer:
    """An answer that stands below, whole, with a link that compares it if it is another model's."""

    kind: str
    word: str
    closeness: str
    name: Html | str
    replies: Sequence[str]
    href: str = ""


def answer_in_full(
    t: Messages,
    opened: OpenedQuestion,
    address: SamplesAddress,
    pictures: Pictures,
    judged: Sequence[JudgedQuestion],
    arenas: Mapping[int, int],
) -> Html:
    """What the reader shows of an open question; `arenas` are the places of the judges' cells."""
    sample = opened.sample
    trial = next(iter(opened.chosen.trials), None)
    rouge, others = _figures(trial)
    further = [
        (t("samples.further_replies"), _further_replies(t, opened)),
        (t("samples.other_answers"), _other_answers(t, opened, address)),
    ]
    return fill(
        "questions/answer.html",
        t=t,
        sample=sample,
        pictures=pictures,
        head=question_head(t, sample, address),
        guidance=sample.metadata.get("guidance", ""),
        picker=model_menu(t, opened, address),
        answer=_answer(t, sample, trial) if trial else None,
        thoughts=thoughts_of(t, trial) if trial else "",
        further=further,
        verdicts=verdict_section(t, address.run, judged, arenas),
        rouge=rouge,
        others=others,
        parts=[t(f"answer.part_{part}") for part in "rpf"],
        prompt=sent_prompt(t, opened.sent, opened.mode.shots, sample.subject, pictures)
        if opened.sent
        else "",
    )


def _answer(t: Messages, sample: Sample, trial: Trial) -> _Answer:
    last = max(len(trial.turns) - 1, 0)
    earlier = [
        _turn(t, _references(sample, trial, place), reply, question)
        for place, (reply, question) in enumerate(
            zip(trial.turns[:-1], sample.follow_ups, strict=False)
        )
    ]
    turns = [*earlier, _turn(t, _references(sample, trial, last), trial.reply or "")]
    return _Answer(*_state(t, trial), turns, trial.truncated)


def _state(t: Messages, trial: Trial) -> tuple[str, str, str]:
    """What became of an answer (answered, empty or cut), and how close it is to the reference."""
    state = trial.reading.rule if trial.reading.rule in _KINDS else "answered"
    score = trial.scores.get(MAIN)
    closeness = t("answer.closeness", value=format_fraction(score[0])) if score else ""
    return _KINDS[state], t(f"outcome.{state}"), closeness


def _turn(t: Messages, references: Sequence[str], reply: str, following: str = "") -> _Turn:
    references = [in_words(text, t.language) for text in references]
    if not references:
        return _Turn(reply, following)
    place = closest_reference(references, reply)
    diff = diff_texts(references[place], reply)
    return _Turn(
        reply,
        following,
        marked(diff.reference, "del"),
        [text for at, text in enumerate(references) if at != place],
        marked(diff.reply, "ins") if reply.strip() else "",
        diff.compared,
    )


def _references(sample: Sample, trial: Trial, turn: int) -> tuple[str, ...]:
    """What a turn is compared with: a reference of its own, or all of them for the last one."""
    if len(trial.turns) > 1 and len(trial.turns) == len(sample.references):
        return (sample.references[turn],)
    return sample.references if turn == max(len(trial.turns) - 1, 0) else ()


def _other_answers(
    t: Messages, opened: OpenedQuestion, address: SamplesAddress
) -> list[_OtherAnswer]:
    """The answers of the other models."""
    return [
        _OtherAnswer(
            *_state(t, model.trials[0]),
            model_name(model.name, model.place, model.baseline),
            model.trials[0].answers,
            address.to(cell=str(model.row.id)).href,
        )
        for model in opened.models
        if model.trials and model.row.id != opened.chosen.row.id
    ]


def _further_replies(t: Messages, opened: OpenedQuestion) -> list[_OtherAnswer]:
    """What the model replied when it was asked again; all of them in their order."""
    return [
        _OtherAnswer(
            *_state(t, trial), t("samples.reply_n", n=trial.variant.repeat + 1), trial.answers
        )
        for trial in opened.chosen.trials[1:]
    ]


_Rows = list[tuple[str, list[float]]]


def _figures(trial: Trial | None) -> tuple[_Rows, _Rows]:
    """The figures in three parts each, and the others."""
    scores = {name: values[0] for name, values in trial.scores.items()} if trial else {}
    with_parts = [each for each in ROUGES if scores.keys() >= set(_parts_of(each))]
    in_parts = {name for each in with_parts for name in _parts_of(each)}
    ours = [name for name in (*BLEUS, *_OTHERS) if name in scores]
    own = [name for name in scores if name not in ours and name not in in_parts]
    return (
        [(each, [scores[name] for name in _parts_of(each)]) for each in with_parts],
        [(name, [scores[name]]) for name in (*ours, *own)],
    )


def _parts_of(rouge: str) -> list[str]:
    return [f"{rouge}-{part}" for part in "rpf"]
