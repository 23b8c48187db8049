"""One question in full: every order of it, with probabilities, reply, rule and prompt."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.question_pages import SentPrompt
from evalui.runs.database.records import QuestionDetail
from evalui.scoring.choice.permutations import variant_label
from evalui.types import LETTERS, Generate, Loglik, Pattern, Prompt, Request, Sample, Trial, Variant
from evalui.ui.components.format import short_id
from evalui.ui.components.widgets import bar, card, note, status, table


def question_card(
    t: Messages,
    question: QuestionDetail,
    prompts: Sequence[SentPrompt],
    pattern: Pattern,
    *,
    address: str,
) -> Html:
    """The card of one question."""
    sample, trials = question.sample, question.trials
    right = sum(trial.correct is True for trial in trials)
    places = {entry.variant: place for place, entry in enumerate(prompts)}
    orders = [
        _variant(
            t, trial, sample, order_label(t, pattern, trial.variant, places.get(trial.variant, 0))
        )
        for trial in trials
    ]
    summary = "ok" if right == len(trials) else "warn"
    return card(
        div(
            el("h2", t("question.title", id=short_id(sample.id))),
            source_line(t, sample, address),
            cls="card-h",
        ),
        el("p", sample.question, cls="question"),
        div(status("ok", t("question.answer", text=_gold(sample))), cls="gap-s"),
        fixed_note(t, sample),
        div(*orders, cls="variants gap"),
        div(
            note(summary, t("question.right", right=right, n=len(trials)), " ", _legend(t, trials)),
            cls="gap",
        )
        if trials
        else None,
        _explanation(t, sample),
        *(
            _prompt(t, entry, order_label(t, pattern, entry.variant, place), opened=place == 0)
            for place, entry in enumerate(prompts)
        ),
        cls="detail",
    )


def fixed_note(t: Messages, sample: Sample) -> Html | None:
    """Why a question is presented in the order as written only."""
    return (
        div(note("warn", t(f"question.{sample.fixed_reason}")), cls="gap-s")
        if sample.fixed_reason
        else None
    )


def order_label(t: Messages, pattern: Pattern, variant: Variant, place: int) -> str:
    """What an order of the options is called."""
    if variant.is_origin:
        return t("order.origin")
    if pattern == "circular":
        return t("order.shifted", n=place)
    return t("order.label", label=variant_label(variant))


def source_line(t: Messages, sample: Sample, address: str) -> Html:
    """Where a question comes from, and a button that copies its address."""
    file, line = sample.metadata.get("file", ""), sample.metadata.get("line", "")
    where = t("question.line", line=line, file=file) if file and line else file
    words = " · ".join(word for word in (sample.subject, where) if word)
    copy = el(
        "button",
        t("question.copy"),
        type="button",
        cls="link",
        data_copy=address,
        data_done=t("question.copied"),
    )
    return join(span(words, cls="meta"), copy)


def _gold(sample: Sample) -> str:
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    return f"{LETTERS[sample.target]} · {sample.choices[sample.target]}"


def _variant(t: Messages, trial: Trial, sample: Sample, title: str) -> Html:
    return div(
        div(el("b", title), _outcome(t, trial), cls="two"),
        div(
            *(_choice(trial, sample, slot) for slot in range(len(trial.variant.permutation))),
            cls="gap-s",
        ),
        el("pre", trial.reply, cls="gap-s") if trial.reply is not None else None,
        _scores(t, trial) if trial.scores else None,
        div(_rules(t, trial, sample), cls="meta gap-s"),
        div(t("question.cut"), cls="meta warn") if trial.truncated else None,
        cls="variant",
    )


def _outcome(t: Messages, trial: Trial) -> Html:
    if trial.reading.tied:
        return status("warn", t("outcome.tied"))
    if trial.correct is None:
        return status("na", t("outcome.unreadable"))
    return status("ok", t("outcome.right")) if trial.correct else status("bad", t("outcome.wrong"))


def _choice(trial: Trial, sample: Sample, slot: int) -> Html:
    text = sample.choices[trial.variant.permutation[slot]]
    probability = trial.probabilities[slot] if trial.probabilities else None
    kinds = [
        "choice",
        "gold" if slot == trial.target else "",
        "pick" if slot == trial.choice else "",
    ]
    return div(
        span(LETTERS[slot]),
        span(text, title=text),
        bar(probability) if probability is not None else span(),
        span(f"{100 * probability:.0f}" if probability is not None else "", cls="r"),
        cls=" ".join(kind for kind in kinds if kind),
    )


def _scores(t: Messages, trial: Trial) -> Html:
    heads = ["", *(t(f"reading.{name}") for name in trial.scores)]
    rows: list[list[Child]] = [
        [LETTERS[slot], *(_score(scores, slot) for scores in trial.scores.values())]
        for slot in range(len(trial.variant.permutation))
    ]
    return table(heads, rows, right=range(1, len(heads)))


def _score(scores: Sequence[float], slot: int) -> Child:
    number = f"{scores[slot]:.2f}"
    return el("b", number) if scores[slot] == max(scores) else number


def _rules(t: Messages, trial: Trial, sample: Sample) -> Html:
    lines: list[Child] = []
    for name, reading in trial.readings.items():
        if reading.choice is None:
            chosen = t("outcome.tied") if reading.tied else t("outcome.unreadable")
        else:
            text = sample.choices[trial.variant.permutation[reading.choice]]
            chosen = f"{LETTERS[reading.choice]} · {text}"
        rule = span(reading.rule, cls="mono") if reading.rule != name else None
        lines.append(div(t(f"reading.{name}"), " ", rule, " → ", chosen))
    return join(*lines)


def _legend(t: Messages, trials: Sequence[Trial]) -> str:
    return t("question.bars") if any(trial.probabilities for trial in trials) else ""


def _explanation(t: Messages, sample: Sample) -> Html | None:
    text = sample.metadata.get("explanation", "")
    return (
        join(el("h3", t("question.explanation"), cls="gap"), el("p", text, cls="dim"))
        if text
        else None
    )


def _prompt(t: Messages, entry: SentPrompt, title: str, *, opened: bool) -> Html:
    first, *more = entry.requests
    return el(
        "details",
        el("summary", t("question.prompt", order=title)),
        _request(t, first),
        *(div(_continuation(request), cls="meta") for request in more),
        cls="gap",
        open=opened,
    )


def _request(t: Messages, request: Request) -> Html:
    prompt = request.prompt if isinstance(request, Generate) else request.context
    text = el("pre", format_prompt(t, prompt))
    return join(text, div(_continuation(request), cls="meta gap-s"))


def _continuation(request: Request) -> Html:
    if isinstance(request, Loglik):
        context = request.context if isinstance(request.context, str) else ""
        alone = span("… ", context[-24:], cls="mono") if context else span("…", cls="mono")
        return join(alone, el("b", request.continuation, cls="mono"))
    return join()


def format_prompt(t: Messages, prompt: Prompt) -> Html:
    """A prompt as it is read: a text as it is, a conversation with its roles."""
    if isinstance(prompt, str):
        return join(prompt)
    return join(
        *(join(el("b", t(f"role.{turn.role}")), "\n", turn.content, "\n\n") for turn in prompt)
    )
