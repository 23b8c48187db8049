"""Runs of open questions, made by hand: answers, judges and people whose figures can be counted.

`late` answers best, `early` less well, `weak` copies one sentence. By default a judge always
prefers the better of two, but calls `late` and `early` good alike on every fourth question, both
`early` and `weak` bad on every fifth, and takes whatever it sees first on every sixth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from judging_examples import LETTERS
from scoring_examples import golden

from evalui.scoring.texts.metrics import TEXT_METRICS
from evalui.types import (
    OUTCOMES,
    Cell,
    CellResult,
    ConflictRule,
    Contestant,
    Duel,
    Outcome,
    PresentationOrders,
    Reading,
    Sample,
    Trial,
    Variant,
    Verdict,
)

MODELS = ("late", "early", "weak")
DATASET = "open-qa"
CAPABILITIES = ("common", "creation", "reasoning")

# What a judge says of (number of the question, first shown, second shown): an outcome, or None
# for a reply that cannot be read.
Decide = Callable[[int, str, str], Outcome | None]


def samples(n: int = 12) -> dict[str, Sample]:
    """Chinese and English questions by turns; each third has no reference, each fourth two."""
    return {sample.id: sample for sample in map(_sample, range(n))}


def decide(number: int, first: str, second: str) -> Outcome | None:
    """The default judge."""
    pair = {first, second}
    if number % 4 == 3 and pair == {"late", "early"}:
        return "tie"
    if number % 5 == 4 and pair == {"early", "weak"}:
        return "neither"
    if number % 6 == 5:
        return "a"
    return "a" if _place(first) < _place(second) else "b"


def answers_result(
    model: str, *, n: int = 12, done: int | None = None, dataset: str = DATASET
) -> CellResult:
    """A finished (or half-done) cell of answers."""
    asked = samples(n)
    trials = tuple(
        answer_trial(sample, answer_of(model, number), figure=0.9 - 0.2 * _place(model))
        for number, sample in enumerate(asked.values())
    )[:done]
    cell = Cell(
        dataset,
        model,
        "question_answer",
        "question_answer",
        "origin",
        f"{dataset}@1|mode:qa|{model}",
        "answers",
    )
    state = "done" if len(trials) == n else "running"
    return CellResult(cell, asked, trials, n, state)


def answer_trial(
    sample: Sample, reply: str, *, figure: float = 0.5, cut: bool = False, turns: int = 1
) -> Trial:
    """An answer whose text figures are all `figure` if its question has a reference."""
    rule = "cut" if cut else "answered" if reply.strip() else "empty"
    names = (*TEXT_METRICS, "exact_match", "token_f1")
    scores = {name: (figure if reply.strip() else 0.0,) for name in names}
    credit = (figure if sample.references else 1.0) if reply.strip() else 0.0
    return Trial(
        sample.id,
        Variant(()),
        0,
        "answer",
        {"answer": Reading(0 if reply.strip() else None, credit, rule)},
        reply=reply,
        scores=scores if sample.references else {},
        turns=(reply,) * turns if turns > 1 else (),
    )


def answered_result(
    *replies: str, figures: tuple[float, ...] = (), references: str = "r"
) -> CellResult:
    """A cell of answers, every question with one reference."""
    asked = {
        f"q{n}": Sample(f"q{n}", f"Why, {n}?", target=(references,)) for n in range(len(replies))
    }
    figures = figures or (0.5,) * len(replies)
    trials = tuple(
        answer_trial(sample, reply, figure=figure)
        for sample, reply, figure in zip(asked.values(), replies, figures, strict=True)
    )
    return replace(answers_result("m"), samples=asked, trials=trials, total=len(trials))


def judge_result(
    *,
    judge: str = "judge-local",
    models: Sequence[str] = MODELS,
    n: int = 12,
    decide: Decide = decide,
    orders: PresentationOrders = "double",
    conflict: ConflictRule = "tie",
    done: int | None = None,
    dataset: str = DATASET,
    injected: Sequence[int] = (),
) -> CellResult:
    """A judge's cell: every pair on every question in both orders (or as combined, in one)."""
    asked = samples(n)
    pairs = list(combinations(range(len(models)), 2))
    shown = [order for i, j in pairs for order in ([(i, j), (j, i)][: 1 + (orders == "double")])]
    trials: list[Trial] = []
    for number, sample in enumerate(asked.values()):
        for first, second in shown:
            outcome = decide(number, models[first], models[second])
            trials.append(judge_trial(sample.id, (first, second), outcome, number in injected))
    signature = f"{dataset}@1|mode:judge|judge:{judge}|orders:{orders}|conflict:{conflict}"
    cell = Cell(dataset, judge, "judge", "judge", "origin", signature, "verdicts")
    state = "done" if done is None else "running"
    return CellResult(
        cell,
        asked,
        tuple(trials[:done]),
        len(trials),
        state,
        contestants=tuple(contestant(name, asked) for name in models),
        orders=orders,
        conflict=conflict,
    )


def judge_trial(
    sample_id: str, shown: tuple[int, int], outcome: Outcome | None, injected: bool = False
) -> Trial:
    """One showing, judged; the reply is what OpenCompass's form asks for."""
    choice = None if outcome is None else OUTCOMES.index(outcome)
    credit = {"a": 1.0, "b": 0.0}.get(outcome or "", 0.5) if outcome else 0.0
    reply = "I cannot decide." if choice is None else f"Choice: {'ABCD'[choice]}\nReason: …"
    rule = "unparsed" if choice is None else "announced"
    return Trial(
        sample_id,
        Variant(shown),
        0,
        "verdict",
        {"verdict": Reading(choice, credit, rule)},
        reply=reply,
        scores={"injected": (float(injected), 0.0)} if injected else {},
    )


def rating_result(
    ratings: Mapping[str, Sequence[float | None]],
    *,
    judge: str = "judge-local",
    scale: str = "rating",
    n: int = 12,
    dataset: str = DATASET,
) -> CellResult:
    """A judge's cell of single answers: each contestant's marks by question, None unreadable."""
    asked = samples(n)
    trials = [
        Trial(
            sample_id,
            Variant((place,)),
            0,
            "rating",
            {"rating": Reading(None if mark is None else 0, (mark or 0) / 10, "announced")},
            reply="Rating: …",
            scores={} if mark is None else {scale: (mark,)},
        )
        for place, marks in enumerate(ratings.values())
        for sample_id, mark in zip(asked, marks, strict=False)
    ]
    cell = Cell(
        dataset, judge, "judge", "judge", "origin", f"{dataset}@1|mode:judge|single", "verdicts"
    )
    shown = tuple(contestant(name, asked) for name in ratings)
    return CellResult(cell, asked, tuple(trials), len(trials), contestants=shown)


def judged_run(
    *,
    models: Sequence[str] = MODELS,
    judges: Sequence[str] = ("judge-local",),
    n: int = 12,
    decide: Decide = decide,
    orders: PresentationOrders = "double",
    conflict: ConflictRule = "tie",
) -> list[CellResult]:
    """The cells of a whole run: the answers of each model, then each judge's verdicts."""
    return [
        *(answers_result(model, n=n) for model in models),
        *(
            judge_result(
                judge=judge, models=models, n=n, decide=decide, orders=orders, conflict=conflict
            )
            for judge in judges
        ),
    ]


def votes(person: str = "ann", *, n: int = 12, decide: Decide = decide) -> tuple[Verdict, ...]:
    """One person's votes on every pair of every question, sides as the default models stand."""
    return tuple(
        Verdict(Duel(sample_id, first, second), decide(number, first, second), person)
        for number, sample_id in enumerate(samples(n))
        for first, second in combinations(MODELS, 2)
    )


def contestant(name: str, asked: Mapping[str, Sample]) -> Contestant:
    """A model with its answers."""
    answers = {key: (answer_of(name, number),) for number, key in enumerate(asked)}
    return Contestant(name, answers)


def answer_of(model: str, number: int) -> str:
    """What a model answers; the weaker, the shorter, and lists only from the best."""
    texts = {
        "late": f"- 第 {number} 点\n- 因为……\n- 所以……",
        "early": f"Answer {number}: because …",
        "weak": "OK.",
    }
    return texts.get(model, f"Answer {number} of {model}.")


def _place(model: str) -> int:
    return MODELS.index(model) if model in MODELS else len(MODELS)


def _sample(number: int) -> Sample:
    chinese = number % 2 == 0
    references = ("熵是无序的量度。",) if chinese else ("Because it is so.",)
    if number % 3 == 2:
        references = ()
    elif number % 4 == 3:
        references = (*references, "So it is.")
    return Sample(
        f"cn-{number}" if chinese else f"en-{number}",
        f"第 {number} 题：什么是熵？" if chinese else f"Question {number}: why?",
        target=references,
        metadata={
            "language": "zh" if chinese else "en",
            "capability": CAPABILITIES[number % len(CAPABILITIES)],
            "index": f"{'cn' if chinese else 'en'}-{number}",
            "guidance": "",
        },
    )


def _read_2023(reply: str) -> Outcome | None:
    """As OpenCompass read a reply then: one letter in the first line that begins with 选择：."""
    for line in reply.split("\n"):
        if line.startswith("选择："):
            found = {letter for letter in line if letter in "ABCD"}
            return LETTERS[found.pop()] if len(found) == 1 else None
    return None


def opencompass_cases() -> dict[str, dict[str, Any]]:
    """The recorded reports of OpenCompass on judged answers, by their ids."""
    return {case["id"]: case for case in golden("opencompass/subjective2023.json")["cases"]}


def opencompass_result(case: dict[str, Any]) -> CellResult:
    """What its judge said in one of them."""
    languages = {"cn": "zh", "en": "en"}
    asked = {
        row["index"]: Sample(
            row["index"],
            row["question"],
            metadata={
                "language": languages[row["index"][:2]],
                "capability": row["capability"],
            },
        )
        for row in case["questions"]
    }
    models: list[str] = case["models"]
    trials = tuple(
        replace(
            judge_trial(key, (models.index(first), models.index(second)), _read_2023(reply)),
            reply=reply,
        )
        for pair, replies in case["results"].items()
        for first, second in [pair.split("_")]
        for key, reply in zip(asked, replies, strict=True)
    )
    cell = Cell("subjective", "gpt-4", "judge", "Judge", "origin", "s", "verdicts")
    shown = tuple(contestant(name, asked) for name in models)
    return CellResult(cell, asked, trials, len(trials), contestants=shown, conflict="drop")
