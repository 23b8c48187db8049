"""Verdicts and judge trials written in one line."""

from evalui.types import OUTCOMES, Contestant, Duel, Outcome, Reading, Trial, Variant, Verdict

LETTERS: dict[str, Outcome | None] = {
    "A": "a",
    "B": "b",
    "C": "tie",
    "D": "neither",
    "-": None,
}


def said(question: str, models: str, letter: str, by: str = "judge") -> Verdict:
    """A verdict on two models named by one letter each, the first shown first."""
    return Verdict(Duel(question, models[0], models[1]), LETTERS[letter], by)


def showing(
    question: str, places: tuple[int, ...], outcome: Outcome | None, **scores: tuple[float, ...]
) -> Trial:
    choice = None if outcome is None else OUTCOMES.index(outcome)
    reading = Reading(choice, 0.0, "unparsed" if choice is None else "announced")
    return Trial(
        question,
        Variant(places),
        0,
        "verdict",
        {"verdict": reading},
        reply="the reply",
        scores=scores,
    )


def contestant(name: str, **answers: str) -> Contestant:
    return Contestant(name, {question: (text,) for question, text in answers.items()})
