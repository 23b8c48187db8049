"""What the answers to one question say, in a sentence: of one model, or of all models."""

from collections.abc import Sequence

from evalui.app.questions import AnsweringModel, outcome_of
from evalui.messages import Messages
from evalui.types import LETTERS, Trial, Variant


def orders_finding(t: Messages, trials: Sequence[Trial]) -> str:
    """How often one model is right, and what it takes instead where that is one and the same."""
    if len(trials) < 2:
        return _single(t, trials[0]) if trials else t("samples.unanswered")
    right, n = sum(trial.correct is True for trial in trials), len(trials)
    if any(trial.variant.repeat for trial in trials):
        return _sentence(t, t("samples.right_replies", right=right, n=n), _unread(t, trials))
    key = "all" if right == n else "some"
    rest = _habit(t, trials) or _unread(t, trials)
    return _sentence(t, t(f"samples.right_{key}", right=right, n=n), rest)


def models_finding(
    t: Messages, models: Sequence[AnsweringModel], variant: Variant, label: str
) -> str:
    """How many models are right in one order, and which of them stay right in every order."""
    shown = [(model, trial) for model in models if (trial := model.trial(variant))]
    if not shown:
        return t("samples.unanswered")
    right, n = sum(trial.correct is True for _, trial in shown), len(shown)
    key = "all" if right == n else "none" if right == 0 else "some"
    order = t("samples.as_written") if variant.is_origin else t("samples.in_order", label=label)
    head = t(f"samples.models_{key}", right=right, n=n, order=order)
    return _sentence(t, head, _steady(t, [model for model, _ in shown]) if right else "")


def letters(t: Messages, slots: Sequence[int]) -> str:
    """The letters of these slots: "C or D"."""
    names = [LETTERS[slot] for slot in sorted(set(slots))]
    if len(names) == 1:
        return names[0]
    return t("samples.or", letters=t("list.comma").join(names[:-1]), last=names[-1])


def _single(t: Messages, trial: Trial) -> str:
    outcome = outcome_of(trial)
    return t(f"samples.single_{outcome}", option=_option(trial))


def _habit(t: Messages, trials: Sequence[Trial]) -> str:
    """What the model takes where it is wrong, "" if that is not always the same."""
    taken = {trial.choice for trial in trials}
    if len(trials) > 2 and len(taken) == 1 and None not in taken:
        return t("samples.same_slot", letter=LETTERS[trials[0].choice or 0])
    wrong = [trial for trial in trials if trial.correct is not True]
    options = {_option(trial) for trial in wrong}
    if len(options) != 1 or "" in options:
        return ""
    if len(wrong) == len(trials):
        return t("samples.same_option", option=options.pop())
    slots = {trial.target for trial in wrong}
    if slots & {trial.target for trial in trials if trial.correct}:
        return ""
    return t("samples.with_answer_at", letters=letters(t, tuple(slots)), option=options.pop())


def _unread(t: Messages, trials: Sequence[Trial]) -> str:
    k = sum(trial.unreadable for trial in trials)
    return t.count("samples.unread", k) if k else ""


def _steady(t: Messages, models: Sequence[AnsweringModel]) -> str:
    moved = [model for model in models if len({each.variant.order for each in model.trials}) > 1]
    if not moved:
        return ""
    steady = [model.name for model in moved if all(trial.correct for trial in model.trials)]
    if len(steady) == 1 and len(moved) > 1:
        return t("samples.steady_one", model=steady[0])
    key = "none" if not steady else "all" if len(steady) == len(moved) else "some"
    return t(f"samples.steady_{key}", k=len(steady), n=len(moved))


def _option(trial: Trial) -> str:
    """The letter in the file of the option that was picked, "" if none was."""
    return "" if trial.choice is None else LETTERS[trial.variant.permutation[trial.choice]]


def _sentence(t: Messages, head: str, rest: str) -> str:
    return (
        t("samples.finding_more", head=head, rest=rest) if rest else t("samples.finding", head=head)
    )
