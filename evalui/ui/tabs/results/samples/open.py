"""One open question in full: an answer beside its reference, the other answers, and verdicts."""

from collections.abc import Mapping, Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.question_pages import JudgedQuestion
from evalui.scoring.answer_pairs import MAIN
from evalui.scoring.text_metrics import BLEUS, ROUGES
from evalui.types import Sample, Trial
from evalui.ui.components.texts import DiffSegment, closest_reference, diff_texts
from evalui.ui.components.widgets import card, note, status, table
from evalui.ui.tabs.results.samples.answering import AnsweringModel
from evalui.ui.tabs.results.samples.duels import verdict_section
from evalui.ui.tabs.results.samples.prompt import sent_prompt
from evalui.ui.tabs.results.samples.question import (
    OpenedQuestion,
    model_picker,
    question_head,
    thoughts_of,
)

_KINDS = {"answered": "ok", "empty": "bad", "cut": "warn"}
_OTHERS = ("exact_match", "token_f1")


def answer_card(
    t: Messages,
    opened: OpenedQuestion,
    judged: Sequence[JudgedQuestion],
    arenas: Mapping[int, int],
) -> Html:
    """The reader of one open question; `arenas` are the places of the judges' cells, by id."""
    sample = opened.sample
    trial = next(iter(opened.chosen.trials), None)
    return card(
        question_head(t, sample, opened.address),
        _conversation(t, sample),
        el("p", sample.question, cls="qtext"),
        _guidance(t, sample),
        div(model_picker(t, opened), _finding(t, trial), cls="tools"),
        *(_answer(t, sample, trial) if trial else ()),
        _further_replies(t, opened),
        _other_answers(t, opened),
        verdict_section(t, opened.address.run, judged, arenas),
        _figures(t, trial) if trial else None,
        _prompt(t, opened),
        cls="qa",
    )


def marked(pieces: Sequence[DiffSegment], tag: str) -> Html:
    """A text whose own words stand out: by colour, and struck out (del) or underlined (ins)."""
    return join(*(piece.text if piece.shared else el(tag, piece.text) for piece in pieces))


def _finding(t: Messages, trial: Trial | None) -> Html:
    if trial is None:
        return el("b", t("samples.unanswered"), cls="finding")
    return span(_state(t, trial), span(_closeness(t, trial), cls="meta"), cls="finding row-l")


def _state(t: Messages, trial: Trial) -> Html:
    """What became of an answer: answered, empty or cut."""
    state = trial.reading.rule if trial.reading.rule in _KINDS else "answered"
    return status(_KINDS[state], t(f"outcome.{state}"))


def _closeness(t: Messages, trial: Trial) -> str:
    score = trial.scores.get(MAIN)
    return t("answer.closeness", value=format_fraction(score[0])) if score else ""


def _answer(t: Messages, sample: Sample, trial: Trial) -> list[Html | None]:
    cut = div(note("warn", t("question.cut")), cls="gap") if trial.truncated else None
    thought = thoughts_of(t, trial)
    return [*_earlier_turns(t, sample, trial), _last_turn(t, sample, trial), thought, cut]


def _conversation(t: Messages, sample: Sample) -> Html | None:
    if not sample.history:
        return None
    turns = [
        div(el("b", t(f"role.{turn.role}")), el("p", turn.content), cls="turn")
        for turn in sample.history
    ]
    return div(*turns, cls="turns")


def _earlier_turns(t: Messages, sample: Sample, trial: Trial) -> list[Html]:
    """The answers before the last one, each with the question that followed it."""
    return [
        join(
            _side_by_side(t, _references(sample, trial, turn), answer),
            el("p", question, cls="qtext gap"),
        )
        for turn, (answer, question) in enumerate(
            zip(trial.turns[:-1], sample.follow_ups, strict=False)
        )
    ]


def _last_turn(t: Messages, sample: Sample, trial: Trial) -> Html:
    references = _references(sample, trial, max(len(trial.turns) - 1, 0))
    bare = el("p", t("answer.no_reference"), cls="meta gap-s") if not sample.references else None
    return join(_side_by_side(t, references, trial.reply or ""), bare)


def _references(sample: Sample, trial: Trial, turn: int) -> tuple[str, ...]:
    """What a turn is compared with: a reference of its own, or all of them for the last one."""
    if len(trial.turns) > 1 and len(trial.turns) == len(sample.references):
        return (sample.references[turn],)
    return sample.references if turn == max(len(trial.turns) - 1, 0) else ()


def _side_by_side(t: Messages, references: Sequence[str], reply: str) -> Html:
    if not references:
        return div(el("b", t("answer.reply")), _text(t, reply), cls="side gap")
    place = closest_reference(references, reply)
    diff = diff_texts(references[place], reply)
    answer = el("p", marked(diff.reply, "ins"), cls="text") if reply.strip() else _text(t, reply)
    others = [text for at, text in enumerate(references) if at != place]
    return join(
        div(
            div(
                el("b", t("answer.reference")),
                el("p", marked(diff.reference, "del"), cls="text"),
                *(el("p", text, cls="text dim gap-s") for text in others),
                cls="side",
            ),
            div(el("b", t("answer.reply")), answer, cls="side"),
            cls="sides gap",
        ),
        el("p", t("answer.legend") if diff.compared else t("answer.too_long"), cls="meta gap-s"),
    )


def _text(t: Messages, reply: str) -> Html:
    return el("p", reply, cls="text") if reply.strip() else el("p", t("answer.blank"), cls="dim")


def _other_answers(t: Messages, opened: OpenedQuestion) -> Html | None:
    """The answers of the other models, each whole, with a link that compares it."""
    sides = [
        _other(t, opened, model, model.trials[0])
        for model in opened.models
        if model.trials and model.row.id != opened.chosen.row.id
    ]
    if not sides:
        return None
    return div(el("h2", t("samples.other_answers")), div(*sides, cls="sides gap-s"), cls="sec")


def _further_replies(t: Messages, opened: OpenedQuestion) -> Html | None:
    """What the model replied when it was asked again, each whole; all of them in their order."""
    sides = [
        div(
            div(
                el("b", t("samples.reply_n", n=trial.variant.repeat + 1)),
                _state(t, trial),
                span(_closeness(t, trial), cls="meta"),
                cls="row-l",
            ),
            *(_text(t, answer) for answer in trial.answers),
            cls="side",
        )
        for trial in opened.chosen.trials[1:]
    ]
    if not sides:
        return None
    return div(el("h2", t("samples.further_replies")), div(*sides, cls="sides gap-s"), cls="sec")


def _other(t: Messages, opened: OpenedQuestion, model: AnsweringModel, trial: Trial) -> Html:
    return div(
        div(
            el("a", model.name_with_marker, href=opened.address.to(cell=str(model.row.id)).href),
            _state(t, trial),
            span(_closeness(t, trial), cls="meta"),
            cls="row-l",
        ),
        *(_text(t, answer) for answer in trial.answers),
        cls="side",
    )


def _guidance(t: Messages, sample: Sample) -> Html | None:
    text = sample.metadata.get("guidance", "")
    if not text:
        return None
    return el("details", el("summary", t("answer.guidance")), el("p", text, cls="text"), cls="gap")


def _figures(t: Messages, trial: Trial) -> Html | None:
    if not trial.scores:
        return None
    scores = {name: values[0] for name, values in trial.scores.items()}
    with_parts = [each for each in ROUGES if scores.keys() >= set(_parts_of(each))]
    rouge: list[list[Child]] = [
        [span(each, cls="mono"), *(f"{scores[name]:.4f}" for name in _parts_of(each))]
        for each in with_parts
    ]
    in_parts = {name for each in with_parts for name in _parts_of(each)}
    ours = [name for name in (*BLEUS, *_OTHERS) if name in scores]
    own = [name for name in scores if name not in ours and name not in in_parts]
    others: list[list[Child]] = [
        [span(name, cls="mono"), f"{scores[name]:.4f}"] for name in (*ours, *own)
    ]
    parts, corner = [t(f"answer.part_{part}") for part in "rpf"], _unseen(t("answer.measure"))
    return div(
        el("h2", t("answer.figures")),
        div(
            table([corner, *parts], rouge, right=(1, 2, 3), cls="narrow") if rouge else None,
            table([corner, t("answer.value")], others, right=(1,), cls="narrow")
            if others
            else None,
            cls="figures-pair gap-s",
        ),
        cls="sec",
    )


def _parts_of(rouge: str) -> list[str]:
    return [f"{rouge}-{part}" for part in "rpf"]


def _unseen(words: str) -> Html:
    return span(words, cls="hidden")


def _prompt(t: Messages, opened: OpenedQuestion) -> Html:
    if opened.sent is None:
        return el("p", t("answer.recorded"), cls="meta sec")
    return div(
        el("h2", t("question.prompt")),
        sent_prompt(t, opened.sent, opened.mode.shots, opened.sample.subject),
        cls="sec",
    )
