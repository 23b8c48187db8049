"""The table of a question: rows are its options as in the file, columns orders, models or rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evalui.app.questions import AnsweringModel, outcome_of
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.scoring.cell_summary import is_decided, labels_of
from evalui.scoring.choice.decisions import option_keys
from evalui.scoring.choice.options import variant_label
from evalui.store.question_pages import MAX_MARKS, TrialOutcome
from evalui.types import LETTERS, Pattern, Reading, Sample, Trial, Variant
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill, macro

OUTCOME_KINDS: dict[TrialOutcome, str] = {
    "right": "ok",
    "wrong": "bad",
    "unreadable": "na",
    "tied": "warn",
}
PHONE_COLUMNS = 4  # that stand beside each other on a phone
_SHORT_REPLY = 24  # characters that a cell of the table holds
_CELLS = "questions/cells.html"


@dataclass(frozen=True, slots=True)
class OptionColumn:
    """One column: a trial read by one rule. `label` is its head in words, for narrow screens.

    `shares` are probabilities and `scores` log-probabilities of the slots, () where there are none.
    """

    head: Html | str
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
    def keys(self) -> tuple[str, ...]:
        """By which key the model was given each slot, () where the letter of the slot is its key,
        or its text.
        """
        labels = labels_of(self.model.row.cell) if _decides(self.model) else ""
        if self.trial is None or labels not in ("dealt", "neutral"):
            return ()
        texts = ("",) * len(self.trial.variant.permutation)
        return option_keys(labels, self.trial.sample_id, self.trial.variant, texts)

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
    cells: Sequence[Html | None]


def column(
    head: Html | str, label: str, model: AnsweringModel, trial: Trial | None
) -> OptionColumn:
    """A trial under the rule that counts."""
    if trial is None:
        return OptionColumn(head, label, model, None, None)
    scores = trial.scores.get(trial.headline, ()) if not trial.probabilities else ()
    return OptionColumn(head, label, model, trial, trial.reading, scores)


def rule_columns(t: Messages, model: AnsweringModel, trial: Trial) -> tuple[OptionColumn, ...]:
    """A trial under each rule that gives the options scores: the normalisations of cloze."""
    return tuple(
        OptionColumn(
            rule_words(t, model, name), rule_words(t, model, name), model, trial, reading, scores
        )
        for name, reading in trial.readings.items()
        if (scores := trial.scores.get(name))
    )


def option_table(
    t: Messages,
    sample: Sample,
    pictures: Pictures,
    columns: Sequence[OptionColumn],
    feet: Sequence[TableFoot],
) -> Html:
    """The whole table; wide ones scroll inside their box."""
    return fill(
        "questions/options.html",
        t=t,
        sample=sample,
        pictures=pictures,
        columns=columns,
        feet=feet,
        letters=LETTERS,
        is_wide=len(columns) > PHONE_COLUMNS,
    )


def outcome_cell(t: Messages, each: OptionColumn) -> Html:
    """What became of a column, with its icon and word."""
    outcome = each.outcome
    if outcome is None:
        return macro(_CELLS, "missing", t("samples.no_answer"))
    cut = t("question.cut") if each.trial and each.trial.truncated else ""
    return macro(_CELLS, "outcome", OUTCOME_KINDS[outcome], t(f"outcome.{outcome}"), cut)


def reply_cell(t: Messages, each: OptionColumn) -> Html | None:
    """The reply, or its first words where it stands in full below, and the rule that read it."""
    if each.trial is None or each.reading is None or each.trial.reply is None:
        return None
    reply = each.trial.reply.strip()
    if not reply:
        reply = t("answer.names_none" if _decides(each.model) else "answer.blank")
    elif each.keys:
        reply = t("question.key", key=reply)
    return macro(_CELLS, "reply", reply, rule_words(t, each.model, each.reading.rule))


def other_rules_cell(t: Messages, each: OptionColumn) -> Html | None:
    """What the other rules read, where that is another option."""
    trial = each.trial
    if trial is None:
        return None
    by_result: dict[str, list[str]] = {}
    words = partial(rule_words, t, each.model)
    for name, reading in trial.readings.items():
        # What a decision names is the same for both rules.
        if reading.choice != trial.choice and not (name == "strict" and _decides(each.model)):
            by_result.setdefault(_picked(t, trial, reading), []).append(words(name))
    lines = [(t("list.comma").join(rules), result) for result, rules in by_result.items()]
    return macro(_CELLS, "results", lines) if lines else None


def rule_words(t: Messages, model: AnsweringModel, rule: str) -> str:
    """What a rule of reading, or what it found, is called; itself where it has no words."""
    kinds = ["decided-"] * _decides(model) + [""]
    return next((t(key) for each in kinds if (key := f"reading.{each}{rule}") in t), rule)


def _decides(model: AnsweringModel) -> bool:
    return is_decided(model.row.cell)


def picked_letter(trial: Trial, reading: Reading | None = None) -> str:
    """The letter in the file of the option that was picked, "" if none was."""
    choice = (reading or trial.reading).choice
    return "" if choice is None else LETTERS[trial.variant.permutation[choice]]


def order_label(t: Messages, pattern: Pattern, variant: Variant, place: int) -> str:
    """What an order of the options is called; `place` is that among all orders and repeats."""
    if variant.repeat:
        order = order_label(t, pattern, variant.order, place % max(1, len(variant.permutation)))
        return t("order.reply", n=variant.repeat + 1, order=order)
    if variant.is_origin:
        return t("order.origin")
    if pattern == "circular":
        return t("order.shifted", n=place)
    return t("order.label", label=variant_label(variant))


def marks(t: Messages, outcomes: Sequence[TrialOutcome]) -> Html:
    """A mark for each order, or how many are right where there are too many to draw."""
    if len(outcomes) > MAX_MARKS:
        return macro(_CELLS, "counted", outcomes.count("right"), len(outcomes))
    words = t("list.comma").join(t(f"outcome.{outcome}") for outcome in outcomes)
    return macro(_CELLS, "marks", outcomes, words)


def fixed_note(t: Messages, sample: Sample) -> Html:
    """Why a question is presented in the order as written only, empty if it is not."""
    if not sample.fixed_reason:
        return Html("")
    return macro(_CELLS, "note", "warn", t(f"question.{sample.fixed_reason}"))


def option_legend(t: Messages, columns: Sequence[OptionColumn], *, models: bool = False) -> Html:
    """How to read the cells of a table of options."""
    shares, scores = (any(each.shares for each in columns), any(each.scores for each in columns))
    decided = all(_decides(each.model) for each in columns if each.shares)
    bare = any(each.trial and not each.shares and not each.scores for each in columns)
    lines = (
        t("question.shares_of_options" if decided else "question.shares") if shares else "",
        t("question.scores") if scores else t("question.letter"),
        t("question.keys") if any(each.keys for each in columns) else "",
        t("question.no_shares_models" if models else "question.no_shares") if bare else "",
    )
    return macro(_CELLS, "legend", t("question.picked"), [line for line in lines if line])


def thoughts_of(t: Messages, trial: Trial) -> Html:
    """What the model thought before it replied, folded: no part of the answer."""
    if not trial.thoughts:
        return Html("")
    return macro(_CELLS, "thoughts", t("answer.thoughts"), trial.thoughts)


def long_replies(t: Messages, columns: Sequence[OptionColumn]) -> Html:
    """Replies that are too long for the table, in full, and thoughts apart from them."""
    answered = [each for each in columns if each.trial and each.trial.reply is not None]
    if not any(each.trial and (each.trial.thoughts or _is_long(each.trial)) for each in columns):
        return Html("")
    texts = [(each.head, each.trial) for each in answered]
    return macro(_CELLS, "replies", t("question.replies"), t("answer.thoughts"), texts)


def _is_long(trial: Trial) -> bool:
    return len((trial.reply or "").strip()) > _SHORT_REPLY


def _picked(t: Messages, trial: Trial, reading: Reading) -> str:
    if reading.choice is not None:
        return picked_letter(trial, reading)
    return t("outcome.tied") if reading.tied else t("outcome.unreadable")
