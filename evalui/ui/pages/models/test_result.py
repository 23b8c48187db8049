"""What the last test of a model found, ability by ability."""

from typing import Any

from evalui.messages import Messages
from evalui.modes import MODES
from evalui.runs.worker.model_tests import CHOICE_SAMPLE, OPEN_SAMPLE, AbilityTest, ModelTestRow
from evalui.ui.components.format import duration, format_time

_MIN_TOKENS = 8  # a shorter reply is no measure of the speed
_MAX_ANSWER_LENGTH = 400  # characters of a reply


def test_result(t: Messages, test: ModelTestRow) -> dict[str, Any] | None:
    """The finished test, as "models/test.html" draws it; None while it is on its way."""
    if test.is_pending:
        return None
    return {
        "when": format_time(t, test.finished or test.created),
        "error": t.translate(test.error) if test.error and not test.ability_tests else "",
        "loaded": _seconds(t, test.load_s or 0.0),
        "abilities": [_ability(t, ability_test) for ability_test in test.ability_tests],
        "notes": [t.translate(note) for note in test.notes],
        "questions": _questions(test),
    }


def _seconds(t: Messages, spent: float) -> str:
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


def _ability(t: Messages, test: AbilityTest) -> dict[str, str]:
    """One ability: its mark shows whether it works, the words whether the answer is right."""
    word = t("tried.judge") if _judges(test) else t(f"ability.{test.ability}")
    if test.problem:
        return {"kind": "bad", "word": word, "problem": t.translate(test.problem)}
    answer = test.answer.strip()
    written = test.ability == "generate"
    return {
        "kind": "ok" if answer else "na",
        "word": word,
        "problem": "",
        "letter": "" if written else test.answer,
        "reply": answer[:_MAX_ANSWER_LENGTH] + "…" * (len(answer) > _MAX_ANSWER_LENGTH)
        if written
        else "",
        "about": t("tried.blank") if written else _correctness(t, test),
        "speed": _measured_speed(t, test),
    }


def _judges(ability_test: AbilityTest) -> bool:
    mode = ability_test.mode
    return mode in MODES and MODES[mode].gives == "verdicts"


def _correctness(t: Messages, test: AbilityTest) -> str:
    """Whether a letter is right, and how sure the model was of it."""
    if not test.answer:
        return t("tried.tie")
    key = "tried.right" if test.correct else "tried.wrong"
    if test.probability is None:
        return t(key)
    return t(f"{key}_sure", share=f"{100 * test.probability:.3g}")


def _measured_speed(t: Messages, ability_test: AbilityTest) -> str:
    spent = max(ability_test.seconds, 1e-4)
    requests = t.count("tried.asked", ability_test.requests, time=_seconds(t, ability_test.seconds))
    if ability_test.ability == "generate":
        if ability_test.tokens < _MIN_TOKENS:
            return requests
        return t(
            "tried.tokens", n=f"{ability_test.tokens / spent:,.0f}", tokens=ability_test.tokens
        )
    return t("tried.rate", n=f"{ability_test.requests / spent:,.3g}", asked=requests)
