"""What the last test of a model found, ability by ability."""

from evalui.messages import Messages
from evalui.modes import MODES
from evalui.report.html import Html, div, el, span
from evalui.runs.worker.model_tests import CHOICE_SAMPLE, OPEN_SAMPLE, AbilityTest, ModelTestRow
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.widgets import note, status

_MIN_TOKENS = 8  # a shorter reply is no measure of the speed
_MAX_ANSWER_LENGTH = 400  # characters of a reply


def test_result(t: Messages, test: ModelTestRow) -> Html | None:
    """The finished test below its model; None while it is on its way."""
    if test.is_pending:
        return None
    when = format_time(t, test.finished or test.created)
    if test.error and not test.ability_tests:
        return div(
            note("bad", t("tried.failed", when=when), " ", t.translate(test.error)), cls="tried"
        )
    loaded = t("tried.loaded", time=seconds(t, test.load_s or 0.0))
    return div(
        div(el("b", t("tried.title", when=when)), span(loaded, cls="meta"), cls="tried-h"),
        div(*(_ability(t, ability_test) for ability_test in test.ability_tests), cls="abilities"),
        *(div(t.translate(note_), cls="meta") for note_ in test.notes),
        div(t("tried.questions", asked=_questions(test)), cls="meta"),
        cls="tried",
    )


def seconds(t: Messages, spent: float) -> str:
    """ "0.4 s" while it is short, then as other times."""
    if spent >= 10:
        return duration(t, spent)
    return t("time.seconds", n=f"{spent:.1f}" if spent >= 0.1 else f"{spent:.2f}")


def _questions(test: ModelTestRow) -> str:
    written = {ability_test.ability == "generate" for ability_test in test.ability_tests}
    questions = (
        CHOICE_SAMPLE.question if False in written else "",
        OPEN_SAMPLE.question if True in written else "",
    )
    return " ".join(question for question in questions if question)


def _ability(t: Messages, ability_test: AbilityTest) -> Html:
    """One ability: its mark shows whether it works, the words whether the answer is right."""
    word = t("tried.judge") if _judges(ability_test) else t(f"ability.{ability_test.ability}")
    if ability_test.problem:
        return div(status("bad", word), div(t.translate(ability_test.problem), cls="bad"))
    return div(
        status("ok" if ability_test.answer.strip() else "na", word),
        _answer(t, ability_test),
        div(_measured_speed(t, ability_test), cls="meta"),
    )


def _judges(ability_test: AbilityTest) -> bool:
    mode = ability_test.mode
    return mode in MODES and MODES[mode].gives == "verdicts"


def _answer(t: Messages, ability_test: AbilityTest) -> Html:
    if ability_test.ability == "generate":
        answer = ability_test.answer.strip()
        cut = answer[:_MAX_ANSWER_LENGTH] + ("…" if len(answer) > _MAX_ANSWER_LENGTH else "")
        return div(cut or t("tried.blank"), cls="quoted" if cut else "dim")
    if not ability_test.answer:
        return div(t("tried.tie"), cls="dim")
    key = "tried.right" if ability_test.correct else "tried.wrong"
    if ability_test.probability is None:
        return div(el("b", ability_test.answer), " ", span(t(key), cls="dim"))
    sure = t(f"{key}_sure", share=f"{100 * ability_test.probability:.3g}")
    return div(el("b", ability_test.answer), " ", span(sure, cls="dim"))


def _measured_speed(t: Messages, ability_test: AbilityTest) -> str:
    spent = max(ability_test.seconds, 1e-4)
    requests = t.count("tried.asked", ability_test.requests, time=seconds(t, ability_test.seconds))
    if ability_test.ability == "generate":
        if ability_test.tokens < _MIN_TOKENS:
            return requests
        return t(
            "tried.tokens", n=f"{ability_test.tokens / spent:,.0f}", tokens=ability_test.tokens
        )
    return t("tried.rate", n=f"{ability_test.requests / spent:,.3g}", asked=requests)
