"""What a trial of a model found: its answers, how right they are, and how fast they came."""

from evalui.messages import Messages
from evalui.runs.worker.model_tests import CHOICE_SAMPLE, OPEN_SAMPLE, AbilityTest, ModelTestRow
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.html import Html, div, el, span
from evalui.ui.components.widgets import note, status

_MIN_TOKENS = 8  # a shorter reply tells nothing of the speed
_MAX_ANSWER_LENGTH = 400  # characters of a reply


def test_result(t: Messages, trial: ModelTestRow) -> Html | None:
    """The finished trial below its model; None while it is on its way."""
    if trial.is_pending:
        return None
    when = format_time(t, trial.finished or trial.created)
    if trial.error and not trial.ability_tests:
        return div(
            note("bad", t("tried.failed", when=when), " ", t.translate(trial.error)), cls="tried"
        )
    loaded = t("tried.loaded", time=seconds(t, trial.load_s or 0.0))
    return div(
        div(el("b", t("tried.title", when=when)), span(loaded, cls="meta"), cls="tried-h"),
        div(*(_ability(t, tried) for tried in trial.ability_tests), cls="abilities"),
        *(div(t.translate(said), cls="meta") for said in trial.notes),
        div(t("tried.questions", asked=_questions(trial)), cls="meta"),
        cls="tried",
    )


def seconds(t: Messages, spent: float) -> str:
    """ "0.4 s" while it is short, then as other times."""
    if spent >= 10:
        return duration(t, spent)
    return t("time.seconds", n=f"{spent:.1f}" if spent >= 0.1 else f"{spent:.2f}")


def _questions(trial: ModelTestRow) -> str:
    written = {tried.ability == "generate" for tried in trial.ability_tests}
    asked = (
        CHOICE_SAMPLE.question if False in written else "",
        OPEN_SAMPLE.question if True in written else "",
    )
    return " ".join(question for question in asked if question)


def _ability(t: Messages, tried: AbilityTest) -> Html:
    """One ability: its mark tells whether it works, the words whether the answer is right."""
    word = t("tried.judge") if tried.mode == "judge" else t(f"ability.{tried.ability}")
    if tried.problem:
        return div(status("bad", word), div(t.translate(tried.problem), cls="bad"))
    return div(
        status("ok" if tried.answer.strip() else "na", word),
        _answer(t, tried),
        div(_speed(t, tried), cls="meta"),
    )


def _answer(t: Messages, tried: AbilityTest) -> Html:
    if tried.ability == "generate":
        said = tried.answer.strip()
        cut = said[:_MAX_ANSWER_LENGTH] + ("…" if len(said) > _MAX_ANSWER_LENGTH else "")
        return div(cut or t("tried.blank"), cls="said" if cut else "dim")
    if not tried.answer:
        return div(t("tried.tie"), cls="dim")
    key = "tried.right" if tried.correct else "tried.wrong"
    if tried.probability is None:
        return div(el("b", tried.answer), " ", span(t(key), cls="dim"))
    sure = t(f"{key}_sure", share=f"{100 * tried.probability:.3g}")
    return div(el("b", tried.answer), " ", span(sure, cls="dim"))


def _speed(t: Messages, tried: AbilityTest) -> str:
    spent = max(tried.seconds, 1e-4)
    asked = t.count("tried.asked", tried.requests, time=seconds(t, tried.seconds))
    if tried.ability == "generate":
        if tried.tokens < _MIN_TOKENS:
            return asked
        return t("tried.tokens", n=f"{tried.tokens / spent:,.0f}", tokens=tried.tokens)
    return t("tried.rate", n=f"{tried.requests / spent:,.3g}", asked=asked)
