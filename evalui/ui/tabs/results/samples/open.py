"""Results, Samples, of written answers: filters, the list, and one answer beside its reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.analyses.open_answers.figures import ANSWERS, MAIN
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.question_pages import SentPrompt
from evalui.runs.database.records import CellRow
from evalui.runs.spec import ModeSpec
from evalui.scoring.text_metrics import BLEUS, ROUGES
from evalui.types import CellResult, Generate, Sample, Trial
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import short_id
from evalui.ui.components.texts import DiffSegment, closest_reference, diff_texts
from evalui.ui.components.widgets import card, field, note, paged_list, select, status, table
from evalui.ui.tabs.results.samples.question import format_prompt, source_line

STATES = ("answered", "empty", "cut")
SORTS = ("file", "worst", "best")
_KINDS = {"answered": "ok", "empty": "bad", "cut": "warn"}
_OTHERS = ("exact_match", "token_f1")


@dataclass(frozen=True, slots=True)
class AnswerFilters:
    """What the list shows, and in which order; `page` counts from 0."""

    state: str = ""
    sort: str = "file"
    subject: str = ""
    capability: str = ""
    find: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One question with the answer that it got."""

    sample: Sample
    trial: Trial

    @property
    def closeness(self) -> float | None:
        """ROUGE-L's f, None without a reference."""
        score = self.trial.scores.get(MAIN)
        return score[0] if score else None


def is_open(row: CellRow) -> bool:
    """Whether a cell holds written answers."""
    return row.cell.mode == ANSWERS


def read_answer_filters(form: Form, page: int) -> AnswerFilters:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    state, sort = field_value(form, "answer"), field_value(form, "sort")
    return AnswerFilters(
        state=state if state in STATES else "",
        sort=sort if sort in SORTS else SORTS[0],
        subject=field_value(form, "subject"),
        capability=field_value(form, "capability"),
        find=field_value(form, "find").strip()[:200],
        page=page,
    )


def filter_answers(result: CellResult, filters: AnswerFilters) -> list[AnswerLine]:
    """The answers that pass the filters, in the requested order."""
    lines = [AnswerLine(result.samples[trial.sample_id], trial) for trial in result.trials]
    passing = [line for line in lines if _passes(line, filters)]
    if filters.sort == "file":
        return passing
    # Without a reference there is nothing to sort by: such questions come last either way.
    scored = [line for line in passing if line.closeness is not None]
    rest = [line for line in passing if line.closeness is None]
    return (
        sorted(scored, key=lambda line: line.closeness or 0, reverse=filters.sort == "best") + rest
    )


def filter_bar(
    t: Messages, row: CellRow, cells: Mapping[str, str], result: CellResult, filters: AnswerFilters
) -> Html:
    """A field per filter that separates questions."""
    subjects = list(dict.fromkeys(s.subject for s in result.samples.values() if s.subject))
    capabilities = list(
        dict.fromkeys(name for s in result.samples.values() if (name := _capability(s)))
    )
    any_ = {"": t("samples.any")}
    states = any_ | {name: t(f"answer.{name}") for name in STATES}
    return div(
        field(t("samples.cell"), select("cell", cells, str(row.id))),
        field(t("samples.outcome"), select("answer", states, filters.state)),
        field(t("samples.sort"), select("sort", {s: t(f"sort.{s}") for s in SORTS}, filters.sort)),
        _picker(t("samples.subject"), "subject", any_, subjects, filters.subject),
        _picker(t("samples.capability"), "capability", any_, capabilities, filters.capability),
        field(
            t("samples.find"),
            el(
                "input",
                type="search",
                name="find",
                value=filters.find,
                placeholder=t("samples.find_hint"),
            ),
        ),
        cls="fields",
    )


def listing(
    t: Messages,
    answer_lines: Sequence[AnswerLine],
    filters: AnswerFilters,
    opened: str,
    *,
    page_size: int,
) -> Html:
    """The questions of one page; arrow keys move between them."""
    first = filters.page * page_size
    lines = answer_lines[first : first + page_size]
    several = len({line.sample.subject for line in answer_lines}) > 1
    items = [_item(t, line, opened, subject=line.sample.subject * several) for line in lines]
    return paged_list(
        t,
        "samples",
        items,
        first=first,
        total=len(answer_lines),
        page=filters.page,
        opened=("sample", opened),
        legend=el("p", t("samples.open_legend"), cls="meta pad"),
    )


def open_detail(
    t: Messages, line: AnswerLine, prompts: Sequence[SentPrompt], mode: ModeSpec, *, address: str
) -> Html:
    """The card of one question: turns, reference and reply side by side, figures, prompt."""
    sample, trial = line.sample, line.trial
    return card(
        div(
            el("h2", t("question.title", id=short_id(sample.id))),
            source_line(t, sample, address),
            cls="card-h",
        ),
        _conversation(t, sample),
        el("p", sample.question, cls="question"),
        div(_state(t, trial), cls="gap-s"),
        *_earlier_turns(t, sample, trial),
        _last_turn(t, sample, trial),
        _guidance(t, sample),
        _figures(t, trial),
        _prompts(t, prompts, mode),
        div(note("warn", t("question.cut")), cls="gap") if trial.truncated else None,
        cls="detail",
    )


def marked(pieces: Sequence[DiffSegment], tag: str) -> Html:
    """A text whose own words stand out: by colour, and struck out (del) or underlined (ins)."""
    return join(*(piece.text if piece.shared else el(tag, piece.text) for piece in pieces))


def state_of(trial: Trial) -> str:
    """What became of an answer: answered, empty or cut."""
    return trial.reading.rule if trial.reading.rule in STATES else "answered"


def _passes(line: AnswerLine, filters: AnswerFilters) -> bool:
    sample, trial = line.sample, line.trial
    texts = (sample.question, *trial.answers)
    return (
        filters.state in ("", state_of(trial))
        and filters.subject in ("", sample.subject)
        and filters.capability in ("", _capability(sample))
        and (
            not filters.find
            or filters.find == sample.id
            or any(filters.find.casefold() in text.casefold() for text in texts)
        )
    )


def _capability(sample: Sample) -> str:
    return sample.metadata.get("capability", "")


def _picker(
    label: str, name: str, any_: Mapping[str, str], values: Sequence[str], chosen: str
) -> Html | None:
    if len(values) < 2:
        return None
    return field(label, select(name, {**any_, **{value: value for value in values}}, chosen))


def _item(t: Messages, line: AnswerLine, opened: str, *, subject: str) -> Html:
    sample, state = line.sample, state_of(line.trial)
    word = span(t(f"answer.{state}"), cls=f"meta {_KINDS[state]}") if state != "answered" else None
    figure = span(format_fraction(line.closeness), cls="r") if line.closeness is not None else None
    about = " · ".join(filter(None, (subject, _capability(sample))))
    return el(
        "li",
        el(
            "button",
            span(short_id(sample.id), cls="mono id"),
            span(sample.question, cls="q"),
            span(figure, word, cls="dots"),
            span(about, cls="meta") if about else None,
            type="button",
            data_do="open",
            data_sample=sample.id,
            aria_current="true" if sample.id == opened else None,
        ),
    )


def _state(t: Messages, trial: Trial) -> Html:
    state = state_of(trial)
    return status(_KINDS[state], t(f"answer.{state}"))


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
            el("p", question, cls="question gap"),
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
    answer = el("p", reply, cls="text") if reply.strip() else el("p", t("answer.blank"), cls="dim")
    if not references:
        return div(el("b", t("answer.reply")), answer, cls="side gap")
    place = closest_reference(references, reply)
    diff = diff_texts(references[place], reply)
    if reply.strip():
        answer = el("p", marked(diff.reply, "ins"), cls="text")
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


def _guidance(t: Messages, sample: Sample) -> Html | None:
    text = sample.metadata.get("guidance", "")
    if not text:
        return None
    return el("details", el("summary", t("answer.guidance")), el("p", text, cls="text"), cls="gap")


def _figures(t: Messages, trial: Trial) -> Html | None:
    if not trial.scores:
        return None
    scores = {name: values[0] for name, values in trial.scores.items()}
    rouge: list[list[Child]] = [
        [span(rouge, cls="mono"), *(f"{scores[f'{rouge}-{part}']:.4f}" for part in "rpf")]
        for rouge in ROUGES
    ]
    others: list[list[Child]] = [
        [span(name, cls="mono"), f"{scores[name]:.4f}"] for name in (*BLEUS, *_OTHERS)
    ]
    parts = [t(f"answer.part_{part}") for part in "rpf"]
    return join(
        el("h3", t("answer.figures"), cls="gap"),
        div(
            table(["", *parts], rouge, right=(1, 2, 3), cls="narrow"),
            table(["", t("answer.value")], others, right=(1,), cls="narrow"),
            cls="figures-pair gap-s",
        ),
    )


def _prompts(t: Messages, sent: Sequence[SentPrompt], mode: ModeSpec) -> Html:
    if mode.recorded:
        return el("p", t("answer.recorded"), cls="meta gap")
    prompts = [
        request.prompt
        for each in sent
        for request in each.requests
        if isinstance(request, Generate)
    ]
    return join(
        *(
            el(
                "details",
                el("summary", t("answer.prompt")),
                el("pre", format_prompt(t, prompt)),
                cls="gap",
                open=True,
            )
            for prompt in prompts
        )
    )
