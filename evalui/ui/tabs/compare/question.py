"""Compare, one question: every order or answer of two contenders side by side."""

from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.analyses.comparison.figures import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
)
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import marker, model_name
from evalui.types import LETTERS, Sample, Trial, Variant
from evalui.ui.components.texts import closest_reference, diff_texts
from evalui.ui.components.widgets import bar, status
from evalui.ui.tabs.compare.query import CompareQuery
from evalui.ui.tabs.results.samples.open import marked
from evalui.ui.tabs.results.samples.question import fixed_note, order_label, source_line

_KINDS = {"right": "ok", "wrong": "bad", "unreadable": "na", "tied": "warn"}


def side_by_side(
    t: Messages,
    compared: Comparison,
    pair: PairComparison,
    sample: Sample,
    query: CompareQuery,
) -> Html:
    """One question with everything both answered."""
    address = f"?{query.with_question(sample.id).address}"
    body = _written(t, compared, pair, sample) if compared.written else None
    return div(
        div(source_line(t, sample, address), cls="source"),
        el("p", sample.question, cls="question"),
        body or _orders(t, compared, pair, sample),
        div(*(_link(t, each, sample) for each in (pair.first, pair.second)), cls="links gap-s"),
        cls="compare-detail",
    )


def outcome(trial: Trial) -> str:
    """What became of one order: right, wrong, unreadable or tied."""
    if trial.reading.tied:
        return "tied"
    if trial.choice is None:
        return "unreadable"
    return "right" if trial.reading.credit == 1 else "wrong"


def _orders(t: Messages, compared: Comparison, pair: PairComparison, sample: Sample) -> Html:
    """Each order of the options once, with what both chose."""
    both = (pair.first, pair.second)
    by_variant = [
        {trial.variant: trial for trial in compared.trials[each.id].get(sample.id, ())}
        for each in both
    ]
    pattern = compared.results[0].cell.pattern
    variants = list(dict.fromkeys([*by_variant[0], *by_variant[1]]))
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    gold = f"{LETTERS[sample.target]} · {sample.choices[sample.target]}"
    return join(
        div(status("ok", t("question.answer", text=gold)), cls="gap-s"),
        fixed_note(t, sample),
        div(
            *(
                _order(
                    t,
                    sample,
                    variant,
                    order_label(t, pattern, variant, place),
                    both,
                    [trials.get(variant) for trials in by_variant],
                )
                for place, variant in enumerate(variants)
            ),
            cls="variants gap-s",
        ),
    )


def _order(
    t: Messages,
    sample: Sample,
    variant: Variant,
    title: str,
    both: Sequence[Contender],
    trials: Sequence[Trial | None],
) -> Html:
    heads = [
        div(_named(each), _verdict(t, trial), cls="who")
        for each, trial in zip(both, trials, strict=True)
    ]
    choices = [
        _choice(t, sample, variant, slot, both, trials) for slot in range(len(variant.permutation))
    ]
    replies = [_reply(t, trial) for trial in trials]
    return div(
        el("b", title),
        div(span(), span(), *heads, cls="both heads"),
        *choices,
        div(*replies, cls="sides gap-s") if any(replies) else None,
        cls="variant",
    )


def _verdict(t: Messages, trial: Trial | None) -> Html:
    if trial is None:
        return span(t("compare.question.missing"), cls="meta")
    became = outcome(trial)
    return status(_KINDS[became], t(f"outcome.{became}"))


def _choice(
    t: Messages,
    sample: Sample,
    variant: Variant,
    slot: int,
    both: Sequence[Contender],
    trials: Sequence[Trial | None],
) -> Html:
    option = variant.permutation[slot]
    text = sample.choices[option]
    gold = option == sample.target
    shares = [_share(t, each, trial, slot) for each, trial in zip(both, trials, strict=True)]
    return div(
        span(LETTERS[slot]),
        span(text, title=text),
        *shares,
        cls="both gold" if gold else "both",
    )


def _share(t: Messages, contender: Contender, trial: Trial | None, slot: int) -> Html:
    """The probability of one option, and the model's marker if it is the pick."""
    if trial is None:
        return span()
    known: list[Child] = []
    if trial.probabilities:
        share = trial.probabilities[slot]
        known = [bar(share), span(f"{100 * share:.0f}", cls="r")]
    elif trial.headline in trial.scores:
        known = [span(f"{trial.scores[trial.headline][slot]:.2f}", cls="r")]
    return div(
        *known,
        span(_pick_marker(t, contender) if trial.choice == slot else None, cls="pick"),
        cls="share",
    )


def _pick_marker(t: Messages, contender: Contender) -> Html:
    drawn = marker(contender.place, baseline=contender.baseline)
    return join(drawn, span(t("compare.question.picks", name=contender.name), cls="hidden"))


def _reply(t: Messages, trial: Trial | None) -> Html:
    if trial is None or trial.reply is None:
        return div()
    rule = trial.reading.rule
    rule_text = span(rule, cls="mono") if rule != trial.headline else None
    return div(
        el("pre", trial.reply), div(t(f"reading.{trial.headline}"), " ", rule_text, cls="meta")
    )


def _written(t: Messages, compared: Comparison, pair: PairComparison, sample: Sample) -> Html:
    """The reference once, and both answers below it with what the reference does not contain."""
    both = (pair.first, pair.second)
    texts = [_answer(compared, each, sample) for each in both]
    references = [div(el("b", t("answer.reference")), _text(text)) for text in sample.references]
    answers = [
        div(
            div(
                _named(each),
                span(_closeness(t, compared, each, sample), cls="meta"),
                cls="who",
            ),
            _marked_answer(t, sample.references, text),
            cls="side",
        )
        for each, text in zip(both, texts, strict=True)
    ]
    return join(
        *references,
        div(*answers, cls="sides gap-s"),
        el("p", t("compare.question.legend"), cls="meta gap-s"),
    )


def _answer(compared: Comparison, contender: Contender, sample: Sample) -> str:
    trials = compared.trials[contender.id].get(sample.id, ())
    return "\n\n".join(trials[0].turns or (trials[0].reply or "",)) if trials else ""


def _closeness(t: Messages, compared: Comparison, contender: Contender, sample: Sample) -> str:
    value = compared.values[contender.id].get(sample.id)
    name = t(f"figure.{FIGURES[compared.measure]}")
    return f"{name} {format_fraction(value)}" if value is not None else ""


def _marked_answer(t: Messages, references: Sequence[str], text: str) -> Html:
    if not text.strip():
        return el("p", t("answer.blank"), cls="dim")
    if not references:
        return _text(text)
    diff = diff_texts(references[closest_reference(references, text)], text)
    return el("p", marked(diff.reply, "ins"), cls="text")


def _text(text: str) -> Html:
    return el("p", text, cls="text")


def _link(t: Messages, contender: Contender, sample: Sample) -> Html:
    address = {
        "run": contender.run,
        "tab": "results",
        "sub": "samples",
        "cell": contender.id,
        "sample": sample.id,
    }
    words = t("compare.question.prompt_link", name=contender.name)
    return el("a", words, href=f"?{urlencode(address)}")


def _named(contender: Contender) -> Html:
    return model_name(contender.name, contender.place, contender.baseline)
