"""The table of a question: rows are its options as in the file, columns orders, models or rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import status
from evalui.runs.database.records import TrialOutcome
from evalui.types import LETTERS, Reading, Sample, Trial
from evalui.ui.tabs.results.samples.answering import AnsweringModel, outcome_of

OUTCOME_KINDS: dict[TrialOutcome, str] = {
    "right": "ok",
    "wrong": "bad",
    "unreadable": "na",
    "tied": "warn",
}
_SHORT_REPLY = 24  # characters that a cell of the table holds
PHONE_COLUMNS = 4  # that stand beside each other on a phone


@dataclass(frozen=True, slots=True)
class OptionColumn:
    """One column: a trial read by one rule. `label` is its head in words, for narrow screens.

    `shares` are probabilities and `scores` log-probabilities of the slots, () where there are none.
    """

    head: Child
    label: str
    model: AnsweringModel
    trial: Trial | None
    reading: Reading | None
    scores: tuple[float, ...] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """The probability of each letter, () if the model gives none."""
        return self.trial.probabilities if self.trial else ()

    @property
    def outcome(self) -> TrialOutcome | None:
        """What became of it, None while there is no answer."""
        if self.trial is None or self.reading is None:
            return None
        if self.reading == self.trial.reading:
            return outcome_of(self.trial)
        if self.reading.tied:
            return "tied"
        if self.reading.choice is None:
            return "unreadable"
        return "right" if self.reading.choice == self.trial.target else "wrong"


@dataclass(frozen=True, slots=True)
class TableFoot:
    """A row below the options: its name, and a cell for each column."""

    name: str
    cells: Sequence[Child]


def column(head: Child, label: str, model: AnsweringModel, trial: Trial | None) -> OptionColumn:
    """A trial under the rule that counts."""
    if trial is None:
        return OptionColumn(head, label, model, None, None)
    scores = trial.scores.get(trial.headline, ()) if not trial.probabilities else ()
    return OptionColumn(head, label, model, trial, trial.reading, scores)


def rule_columns(t: Messages, model: AnsweringModel, trial: Trial) -> tuple[OptionColumn, ...]:
    """A trial under each rule that gives the options scores: the normalisations of cloze."""
    return tuple(
        OptionColumn(t(f"reading.{name}"), t(f"reading.{name}"), model, trial, reading, scores)
        for name, reading in trial.readings.items()
        if (scores := trial.scores.get(name))
    )


def option_table(
    t: Messages,
    sample: Sample,
    columns: Sequence[OptionColumn],
    feet: Sequence[TableFoot],
) -> Html:
    """The whole table; wide ones scroll inside their box."""
    heads = [
        el("th", t("question.options"), scope="col"),
        *(el("th", each.head, scope="col") for each in columns),
    ]
    body = [_row(t, sample, option, columns) for option in range(len(sample.choices))]
    rows = [
        el(
            "tr",
            el("th", foot.name, scope="row"),
            *(
                el("td", cell, data_l=each.label)
                for cell, each in zip(foot.cells, columns, strict=True)
            ),
        )
        for foot in feet
    ]
    kind = "ot wide" if len(columns) > PHONE_COLUMNS else "ot"
    return div(
        el(
            "table",
            el("thead", el("tr", *heads)),
            el("tbody", *body),
            el("tfoot", *rows),
            cls=kind,
            style=f"--columns:{len(columns)}",
        ),
        cls="scroll",
        tabindex=0 if len(columns) > PHONE_COLUMNS else None,
    )


def outcome_cell(t: Messages, each: OptionColumn) -> Html:
    """What became of a column, with its icon and word."""
    outcome = each.outcome
    if outcome is None:
        return span(t("samples.no_answer"), cls="meta")
    cut = div(t("question.cut"), cls="meta warn") if each.trial and each.trial.truncated else None
    return join(status(OUTCOME_KINDS[outcome], t(f"outcome.{outcome}")), cut)


def reply_cell(t: Messages, each: OptionColumn) -> Html | None:
    """The reply, or its first words where it stands in full below, and the rule that read it."""
    if each.trial is None or each.reading is None or each.trial.reply is None:
        return None
    rule = each.reading.rule
    words = t(f"reading.{rule}") if f"reading.{rule}" in t else rule
    return join(
        span(each.trial.reply.strip() or t("answer.blank"), cls="mono reply"),
        div(words, cls="meta"),
    )


def is_long(trial: Trial | None) -> bool:
    """Whether a reply is too long for a cell of the table."""
    return trial is not None and len((trial.reply or "").strip()) > _SHORT_REPLY


def other_rules_cell(t: Messages, each: OptionColumn) -> Html | None:
    """What the other rules read, where that is another option."""
    trial = each.trial
    if trial is None:
        return None
    by_result: dict[str, list[str]] = {}
    for name, reading in trial.readings.items():
        if reading.choice != trial.choice:
            by_result.setdefault(_picked(t, trial, reading), []).append(t(f"reading.{name}"))
    lines = [
        div(t("list.comma").join(rules), " ", el("b", result), cls="meta")
        for result, rules in by_result.items()
    ]
    return join(*lines) if lines else None


def picked_letter(trial: Trial, reading: Reading | None = None) -> str:
    """The letter in the file of the option that was picked, "" if none was."""
    choice = (reading or trial.reading).choice
    return "" if choice is None else LETTERS[trial.variant.permutation[choice]]


def _picked(t: Messages, trial: Trial, reading: Reading) -> str:
    if reading.choice is not None:
        return picked_letter(trial, reading)
    return t("outcome.tied") if reading.tied else t("outcome.unreadable")


def _row(t: Messages, sample: Sample, option: int, columns: Sequence[OptionColumn]) -> Html:
    right = option == sample.target
    text = f"{LETTERS[option]}. {sample.choices[option]}"
    words = join(el("b", text), div(status("ok", t("question.right_answer")))) if right else text
    return el(
        "tr",
        el("th", words, scope="row"),
        *(el("td", _cell(t, each, option), data_l=each.label) for each in columns),
        cls="right" if right else None,
    )


def _cell(t: Messages, each: OptionColumn, option: int) -> Html | None:
    trial, reading = each.trial, each.reading
    if trial is None or reading is None:
        return None
    slot = trial.variant.permutation.index(option)
    picked = slot == reading.choice
    hidden = span(t("question.picked_sign"), cls="hidden") if picked else None
    return div(
        span(LETTERS[slot], hidden, cls="l"),
        _bar(each, slot, picked=picked) if each.shares else span(),
        span(_figure(each, slot), cls="n"),
        cls="pc pick" if picked else "pc",
    )


def _bar(each: OptionColumn, slot: int, *, picked: bool) -> Html:
    colour = f";background:{each.model.colour}" if picked else ""
    return span(el("b", style=f"width:{100 * each.shares[slot]:.0f}%{colour}"), cls="pb")


def _figure(each: OptionColumn, slot: int) -> str:
    if each.shares:
        return f"{100 * each.shares[slot]:.0f}"
    return f"{each.scores[slot]:.2f}" if each.scores else ""
