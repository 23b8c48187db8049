"""Comparisons of two and more models whose difference is known, because it was put in."""

from collections.abc import Mapping, Sequence

from bias_examples import Pick, cell_result, fond, halting, right
from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.messages import messages
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.comparison import Comparison, Contender, compare, comparison_blocks
from evalui.report.analyses.people import people_blocks
from evalui.report.blocks import Block
from evalui.report.compile import compile_report
from evalui.types import CellResult, Language


def first(question: int, order: int, target: int) -> int:
    """Always A."""
    del question, order, target
    return 0


def second(question: int, order: int, target: int) -> int:
    """Always B."""
    del question, order, target
    return 1


def contenders(results: Sequence[CellResult]) -> list[Contender]:
    """One for each result, in the same order; ids count from 1."""
    return [
        Contender(str(n), one.cell.model, n - 1, False, "k3f", "Spring")
        for n, one in enumerate(results, 1)
    ]


def compared(picks: Mapping[str, Pick], *, n: int = 120, measure: str = "") -> Comparison:
    """Models by how they pick, on `n` questions in every order."""
    results = [cell_result(pick, model=model, n=n) for model, pick in picks.items()]
    return compare(contenders(results), results, measure)


def written(models: Sequence[str] = MODELS) -> Comparison:
    """The written answers of models."""
    results = [answers_result(model) for model in models]
    return compare(contenders(results), results)


CASES: Mapping[str, Comparison] = {
    "two apart": compared({"sure": right, "fond": fond}),
    "two steady": compared({"sure": right, "never": second}, n=40),
    "two alike": compared({"sure": right, "same": right}),
    "two level": compared({"less": halting(20), "lesser": halting(21)}),
    "two guessing": compared({"never": first, "nor": second}),
    "two of few questions": compared({"sure": right, "less": halting(3)}, n=12),
    "three, one ahead": compared({"sure": right, "less": halting(3), "fond": fond}),
    "three, two on top": compared({"less": halting(20), "lesser": halting(21), "fond": fond}),
    "three alike": compared({"sure": right, "same": right, "equal": right}),
    "three guessing": compared({"never": first, "nor": second, "neither": first}),
    "two written": written(MODELS[:2]),
    "three written": written(),
}


def comparison_page(name: str, language: Language) -> tuple[Block, ...]:
    """The blocks of a case with all that a page adds to them."""
    case = CASES[name]
    notes = [
        messages(language)("compare.unfinished", name="sure", done="200", total="240"),
        messages(language)("compare.refused", name="sure", first="fond", parts="x"),
    ]
    return comparison_blocks(messages(language), case, case.pair(""), notes=notes)


def voted_page(language: Language) -> tuple[Block, ...]:
    """What people said of a run that a panel judged."""
    cast = (*votes("ann"), *votes("eve", n=6))
    report = compile_report("", judged_run(judges=("one", "two")), votes={DATASET: cast})
    return tuple(people_blocks(report.people, OpenContext(language)))
