"""The Evaluate page's judge: who judges, on what form, which answers, and in which order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import traits_of
from evalui.models.catalog import ModelState
from evalui.models.scripted.rules import RULES_NEEDING_REFERENCE
from evalui.modes.judge import read_sample_reply
from evalui.modes.judge_outputs import CRITERION, GradedReply
from evalui.modes.prompts.rubrics import (
    RUBRICS,
    SINGLE_ANSWER_FORMATS,
    VERDICT_FORMATS,
    parse_rubric,
)
from evalui.report.html import Html, div, el, join
from evalui.types import OUTCOMES
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import field, hidden, note, select, text_input, tick
from evalui.ui.model_labels import model_notes
from evalui.ui.run_form import (
    CONFLICTS,
    CUSTOM,
    ORDERS,
    OUTPUTS,
    PAIRS,
    WEIGHTS,
    read_rubric,
    read_weight,
)
from evalui.ui.tabs.evaluate.generation_fields import generation_fold
from evalui.ui.tabs.evaluate.model_choice import remote_hosts_of
from evalui.ui.tabs.evaluate.rows import choice_row, list_card, own_text, text_area

AUTO = ""  # the list's first entry: OpenCompass's four choices, by the question's language
_EARLIER = ("auto.1",)  # the same of the first version


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """How many of the open questions there are, and how many of them have no reference."""

    questions: int
    without_reference: int


def can_judge(state: ModelState) -> bool:
    """Whether a model can give verdicts here; of the scripted ones, those made for it."""
    meant_to_judge = not traits_of(state.entry).rule_based or state.entry.judges_only
    return meant_to_judge and "generate" in state.abilities and not state.problem


def judge_card(
    t: Messages,
    states: Sequence[ModelState],
    contestants: Sequence[str],
    form: Form,
    *,
    referenced: ReferenceCounts,
) -> Html:
    """The switch, and below it everything about judging; what is switched off is kept."""
    on = "yes" in field_values(form, "judging")
    switch = choice_row("judging", "yes", t("judge.on"), t("judge.on_about"), on=on)
    able = [state for state in states if can_judge(state)]
    chosen = [
        state.entry.name for state in able if state.entry.name in field_values(form, "judges")
    ]
    return list_card(
        t("judge.title"),
        None,
        switch,
        div(
            div(t("judge.who"), cls="gh"),
            *(_judge(t, state, state.entry.name in chosen) for state in able),
            el("p", t("judge.none"), cls="meta") if not able else None,
            _own_judge(t, chosen, contestants),
            _judges_needing_references(
                t, [state for state in able if state.entry.name in chosen], form, referenced
            ),
            div(_fields(t, contestants, form), cls="gap judge-set"),
            generation_fold(t, form, judge=True),
            _own_rubric(t, form),
            hidden=not on,
        ),
        cls="judge",
    )


def is_single(template: str, form: Form) -> bool:
    """Whether the form chosen rates answers one by one; an unknown one does not."""
    if template == CUSTOM:
        return field_value(form, "rubric_form") in SINGLE_ANSWER_FORMATS
    return template in RUBRICS and RUBRICS[template].single


def _judge(t: Messages, state: ModelState, on: bool) -> Html:
    entry = state.entry
    ruled = t("judge.ruled") if traits_of(entry).rule_based else None
    about = " · ".join(part for part in (remote_hosts_of(t, entry), model_notes(t, entry)) if part)
    return choice_row("judges", entry.name, entry.name, about, ruled, on=on)


def _own_judge(t: Messages, judges: Sequence[str], contestants: Sequence[str]) -> Html | None:
    both = [name for name in judges if name in contestants]
    if not both:
        return None
    return div(note("warn", t("judge.own", name=t("list.comma").join(both))), cls="gap-s")


def _judges_needing_references(
    t: Messages, judges: Sequence[ModelState], form: Form, referenced: ReferenceCounts
) -> Html | None:
    """Which of the judges chosen cannot judge the questions that have no reference."""
    single = is_single(field_value(form, "rubric"), form)
    entries = [state.entry for state in judges if traits_of(state.entry).rule_based]
    names = [
        entry.name
        for entry in entries
        if single or entry.options.get("rule") in RULES_NEEDING_REFERENCE
    ]
    if not names or not referenced.without_reference:
        return None
    values = {"names": t("list.comma").join(names), "total": f"{referenced.questions:,}"}
    return div(
        note("warn", t.count("judge.needs", referenced.without_reference, **values)), cls="gap-s"
    )


def _fields(t: Messages, contestants: Sequence[str], form: Form) -> Html:
    pairs = field_value(form, "judge_pairs") or "all"
    template = field_value(form, "rubric")
    single = is_single(template, form)
    fields = [
        div(
            field(
                t("judge.rubric"),
                select("rubric", _rubrics(t, len(contestants), template), template),
                hint=t("judge.rubric_hint"),
            ),
            cls="wide",
        ),
        _pick(t, "orders", ORDERS, field_value(form, "judge_orders") or "double", single),
        _pick(t, "pairs", PAIRS, pairs, single),
        _baseline(t, contestants, form, pairs) if not single else None,
        _pick(t, "conflict", CONFLICTS, field_value(form, "judge_conflict") or "tie", single),
        _pick(t, "output", OUTPUTS, field_value(form, "judge_output") or "auto", False),
        div(_weight(t, read_weight(form)), hidden=single),
        field(
            t("judge.sample_single") if single else t("judge.sample"),
            text_input(
                "judge_sample",
                field_value(form, "judge_sample"),
                placeholder=t("judge.sample_all"),
            ),
            hint=t("judge.sample_hint"),
        ),
    ]
    return div(*fields, cls="fields")


def _pick(t: Messages, name: str, options: Iterable[str], chosen: str, unused: bool) -> Html:
    """A list of the ways to do one thing; rating answers one by one has few of them."""
    words = {option: t(f"judge.{name}_{option}") for option in options}
    listed = field(
        t(f"judge.{name}"),
        select(f"judge_{name}", words, chosen),
        hint=t(f"judge.{name}_hint") if f"judge.{name}_hint" in t else None,
    )
    return div(listed, hidden=unused)


def _weight(t: Messages, chosen: int) -> Html:
    """What "much better" counts; a run that is repeated may bring another number."""
    offered = {n: t(f"judge.strong_{n}") for n in WEIGHTS}
    offered.setdefault(chosen, t("judge.strong_times", n=str(chosen)))
    words = {str(n): word for n, word in offered.items()}
    return field(t("judge.strong"), select("judge_strong", words, str(chosen)))


def _baseline(t: Messages, contestants: Sequence[str], form: Form, pairs: str) -> Html | None:
    if pairs == "all":
        return None
    if pairs == "baseline":
        chosen = (*field_values(form, "judge_baseline"), *contestants, "")[0]
        names = {name: name for name in contestants}
        return field(t("judge.baseline"), select("judge_baseline", names, chosen))
    lists = {"judge_baseline": "judge.first_list", "judge_against": "judge.second_list"}
    return join(*(_ticks(t(title), name, contestants, form) for name, title in lists.items()))


def _ticks(title: str, name: str, names: Sequence[str], form: Form) -> Html:
    chosen = field_values(form, name)
    boxes = (tick(name, each, each, on=each in chosen) for each in names)
    return el("fieldset", el("legend", title), *boxes, cls="ticks")


def _rubrics(t: Messages, contestants: int, chosen: str) -> Mapping[str, str]:
    """The forms that fit: one contestant can only be rated alone.

    Duels by themselves always stand first: a browser sends the first of a list that nobody touched,
    and a file whose answers are not chosen yet must not be rated answer by answer for that.
    """
    fitting = [rubric for name in RUBRICS if (rubric := RUBRICS[name]).single or contestants > 1]
    automatic = {AUTO: t("judge.rubric_auto")}
    if chosen in _EARLIER:  # of a run that is repeated
        automatic |= {chosen: t("judge.rubric_auto_first")}
    return (
        automatic
        | {rubric.name: f"{t(f'rubric.{rubric.name}')} · {rubric.name}" for rubric in fitting}
        | {CUSTOM: t("set.template_own")}
    )


def _own_rubric(t: Messages, form: Form) -> Html:
    base = RUBRICS["compass-zh.2" if t.language == "zh" else "compass-en.2"]
    chosen = field_value(form, "rubric_form") or base.form
    forms = {name: t(f"form.{name}") for name in VERDICT_FORMATS}
    own = field_value(form, "rubric") == CUSTOM
    more = field_value(form, "rubric_more")
    return join(
        own_text(
            t,
            form,
            base,
            {name: t(f"judge.{name}") for name in ("instruction", "closing")},
            field(t("judge.form"), select("rubric_form", forms, chosen)),
            prefix="rubric",
            name="my-rubric.1",
            about=t("judge.own_about"),
            shown=own,
        ),
        div(
            div(
                field(
                    t("judge.criteria"),
                    text_area("rubric_criteria", field_value(form, "rubric_criteria")),
                    hint=t("judge.criteria_hint"),
                ),
                field(
                    t("judge.pattern"),
                    text_input("rubric_pattern", field_value(form, "rubric_pattern")),
                    hint=t("judge.pattern_hint"),
                ),
                field(
                    t("judge.try"),
                    text_area("rubric_try", field_value(form, "rubric_try")),
                    hint=t("judge.try_hint"),
                ),
                cls="fields gap-s",
            ),
            _tried(t, form) if own else None,
            hidden("rubric_more", more) if more else None,
            hidden=not own,
        ),
    )


def _tried(t: Messages, form: Form) -> Html | None:
    """What is read of the sample reply, or what is wrong with the rubric."""
    reply = field_value(form, "rubric_try").replace("\r\n", "\n")
    if not reply.strip():
        return None
    values = read_rubric(form)
    assert isinstance(values, dict), "the rubric is one's own"
    try:
        graded = read_sample_reply(parse_rubric(values), reply)
    except EvaluiError as error:
        return div(note("warn", t.translate(error.sentence)), cls="gap-s")
    kind = "ok" if graded.is_readable else "warn"
    return div(note(kind, _reading(t, graded)), cls="gap-s")


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
