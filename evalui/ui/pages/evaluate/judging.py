"""Judging: who can judge, on what forms, and what is to be known of the judges that are chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import traits_of
from evalui.models.catalog import ModelState
from evalui.models.scripted.rules import RULES_NEEDING_REFERENCE
from evalui.modes.judge import read_sample_reply
from evalui.modes.judge_outputs import GradedReply
from evalui.modes.prompts.rubrics import RUBRICS, SINGLE_ANSWER_FORMATS, parse_rubric
from evalui.report.html import Html
from evalui.types import CRITERION, OUTCOMES
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.templates import fill
from evalui.ui.model_labels import model_notes
from evalui.ui.pages.evaluate.choices import Choice, ChoiceGroup, choice_list
from evalui.ui.pages.evaluate.model_list import remote_hosts_of
from evalui.ui.pages.evaluate.spec import CUSTOM, read_rubric

_WEIGHTS = (1, 3)  # of a verdict of "much better", which the page offers: Arena-Hard's is 3
_AUTO = ""  # the list's first entry: OpenCompass's four choices, by the question's language
_EARLIER = ("auto.1",)  # the same of the first version


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """How many of the open questions there are, and how many of them have no reference."""

    questions: int
    without_reference: int


def can_judge(state: ModelState) -> bool:
    """Whether a model can give verdicts here; of the scripted ones, those made for it."""
    meant_to_judge = not traits_of(state.entry).rule_based or state.entry.judges_only
    can_do = not state.abilities.isdisjoint(("generate", "decide"))
    return meant_to_judge and can_do and not state.problem


def is_single(template: str, form: Form) -> bool:
    """Whether the form chosen rates answers one by one; an unknown one does not."""
    if template == CUSTOM:
        return field_value(form, "judging.template.form") in SINGLE_ANSWER_FORMATS
    return template in RUBRICS and RUBRICS[template].single


def judge_list(t: Messages, states: Sequence[ModelState], form: Form) -> Html:
    """A row for each model that can judge."""
    rows = [_judge(t, state) for state in states if can_judge(state)]
    group = ChoiceGroup(rows, title=t("judge.who"))
    chosen = field_values(form, "judging.judges")
    return choice_list("judging.judges", [group], chosen, note="" if rows else t("judge.none"))


def judging_summary(t: Messages, form: Form, rubrics: Mapping[str, str], writing: str) -> str:
    """What judges will do, in the words of a line."""
    template = field_value(form, "judging.template")
    orders = field_value(form, "judging.orders") or "double"
    pairs = field_value(form, "judging.pairs") or "all"
    sample = field_value(form, "judging.sample")
    duels = (t(f"judge.pairs_{pairs}_short"), t(f"judge.orders_{orders}_short"))
    parts = [rubrics[template].partition(" · ")[0]]
    parts += [] if is_single(template, form) else duels
    parts += [t("judge.sampled", n=sample)] if sample else []
    return " · ".join([*parts, writing])


def judge_notes(
    t: Messages,
    states: Sequence[ModelState],
    contestants: Sequence[str],
    form: Form,
    referenced: ReferenceCounts,
) -> Html:
    """What is to be known of the judges that are chosen."""
    judges = [
        state
        for state in states
        if can_judge(state) and state.entry.name in field_values(form, "judging.judges")
    ]
    names = [state.entry.name for state in judges]
    own = _own_judge(t, names, contestants)
    needing = _judges_needing_references(t, judges, form, referenced)
    return fill("evaluate/notes.html", notes=[("warn", text) for text in (own, needing) if text])


def weights(t: Messages, chosen: str) -> Mapping[str, str]:
    """What "much better" counts; a run that is repeated may bring another number."""
    offered = {str(n): t(f"judge.strong_{n}") for n in _WEIGHTS}
    if chosen and chosen not in offered:
        offered[chosen] = t("judge.strong_times", n=chosen)
    return offered


def _judge(t: Messages, state: ModelState) -> Choice:
    entry = state.entry
    ruled = t("judge.ruled") if traits_of(entry).rule_based else ""
    about = " · ".join(part for part in (remote_hosts_of(t, entry), model_notes(t, entry)) if part)
    return Choice(entry.name, entry.name, about, ruled)


def _own_judge(t: Messages, judges: Sequence[str], contestants: Sequence[str]) -> str:
    both = [name for name in judges if name in contestants]
    return t("judge.own", name=t("list.comma").join(both)) if both else ""


def _judges_needing_references(
    t: Messages, judges: Sequence[ModelState], form: Form, referenced: ReferenceCounts
) -> str:
    """Which of the judges chosen cannot judge the questions that have no reference."""
    single = is_single(field_value(form, "judging.template"), form)
    entries = [state.entry for state in judges if traits_of(state.entry).rule_based]
    names = [
        entry.name
        for entry in entries
        if single or entry.options.get("rule") in RULES_NEEDING_REFERENCE
    ]
    if not names or not referenced.without_reference:
        return ""
    values = {"names": t("list.comma").join(names), "total": f"{referenced.questions:,}"}
    return t.count("judge.needs", referenced.without_reference, **values)


def rubrics(t: Messages, contestants: int, chosen: str) -> Mapping[str, str]:
    """The forms that fit: one contestant can only be rated alone.

    Duels by themselves always stand first, which is the usual form: a file whose answers are not
    chosen yet must not be rated answer by answer for that.
    """
    fitting = [rubric for name in RUBRICS if (rubric := RUBRICS[name]).single or contestants > 1]
    automatic = {_AUTO: t("judge.rubric_auto")}
    if chosen in _EARLIER:  # of a run that is repeated
        automatic |= {chosen: t("judge.rubric_auto_first")}
    return (
        automatic
        | {rubric.name: f"{t(f'rubric.{rubric.name}')} · {rubric.name}" for rubric in fitting}
        | {CUSTOM: t("set.template_own")}
    )


def tried(t: Messages, form: Form) -> Html | None:
    """What is read of the sample reply, or what is wrong with the rubric."""
    reply = field_value(form, "rubric_try").replace("\r\n", "\n")
    if not reply.strip():
        return None
    values = read_rubric(form)
    assert isinstance(values, dict), "the rubric is one's own"
    try:
        graded = read_sample_reply(parse_rubric(values), reply)
    except EvaluiError as error:
        read = "warn", t.translate(error.sentence)
    else:
        read = "ok" if graded.is_readable else "warn", _reading(t, graded)
    return fill("evaluate/notes.html", notes=[read])


def _reading(t: Messages, graded: GradedReply) -> str:
    """The verdict or the marks in words, with the rule that read them."""
    rule, scores = graded.reading.rule, graded.scores
    if graded.reading.choice is None:
        return t("judge.try_nothing", rule=rule)
    if "correct" in scores:
        return t("judge.try_correct" if scores["correct"][0] else "judge.try_incorrect", rule=rule)
    if "rating" in scores:
        marks = [
            f"{name.removeprefix(CRITERION)} {value:g}"
            for name, (value, *_) in scores.items()
            if name.startswith(CRITERION)
        ]
        marks.append(f"{t('reading.rating')} {scores['rating'][0]:g}")
        return t("judge.try_marks", marks=t("list.comma").join(marks), rule=rule)
    outcome = OUTCOMES[graded.reading.choice]
    much = "_much" if scores.get("strength") == (3.0,) else ""
    return t(f"judge.try_{outcome}{much}", rule=rule)
