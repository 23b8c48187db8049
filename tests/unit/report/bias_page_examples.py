"""Pages of position bias, of calibration and of dataset health, as blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bias_examples import (
    calibrated,
    cell_result,
    decided,
    fond,
    halting,
    right,
    with_probabilities,
)

from evalui.report.analyses.calibration import calibration_blocks
from evalui.report.analyses.health import baseline_blocks, health_blocks
from evalui.report.analyses.position_bias import (
    BiasChoice,
    BiasLinks,
    BiasSubject,
    GridCell,
    bias_page,
    model_maps,
)
from evalui.report.blocks import Block, Markers, Places
from evalui.scoring.cell_summary import summarise
from evalui.types import CellResult, Language


def _bias(results: Sequence[CellResult], language: Language) -> Sequence[Block]:
    """The page of the first cell with the maps over all, a cell of the grid open."""
    summaries = [summarise(result) for result in results]
    bias = summaries[0].main_bias
    assert bias is not None
    subject = BiasSubject(summaries[0], bias)
    cells = {summary.cell: place for place, summary in enumerate(summaries)}
    links = BiasLinks(Places("r1", cells), {"cell": "0"})
    maps = model_maps(subject, summaries, language, links=links)
    questions = tuple(results[0].samples.values())
    choice = BiasChoice(GridCell(4, 1), questions)
    return bias_page(subject, language, links, choice=choice, maps=maps)


def _moved(question: int, order: int, target: int) -> int:
    return target if question % 2 == 0 or order == 0 else 3 - target


def _mute() -> CellResult:
    result = with_probabilities(cell_result(fond, model="mute"))
    return replace(result, trials=tuple(replace(t, mass=0.02) for t in result.trials))


def _calibration(language: Language) -> Sequence[Block]:
    results = [with_probabilities(cell_result(fond, model="rash")), _mute(), cell_result(right)]
    return calibration_blocks(
        [summarise(result) for result in results], language, address=lambda *_: "?"
    )


def _decisions(language: Language) -> Sequence[Block]:
    made = (decided(calibrated, n=400, model=name) for name in ("jury", "Qwen2.5-7B-Instruct"))
    summaries = [summarise(result) for result in made]
    return calibration_blocks(summaries, language, address=lambda *_: "?")


def _health(language: Language) -> Sequence[Block]:
    result = cell_result(right, subjects=3)
    asked = list(result.samples.values())
    blind = baseline_blocks([summarise(result)], "d", asked, language, markers=Markers(("m",)))
    return health_blocks(asked, language, blind=blind)


_RUNS: Mapping[str, Sequence[CellResult]] = {
    "clear": [with_probabilities(cell_result(fond)), cell_result(right, model="other")],
    "none": [cell_result(right)],
    "slight": [cell_result(halting(7), subjects=2), cell_result(_moved, model="n", subjects=2)],
    "few": [cell_result(fond, n=12, subjects=2)],
    "one order": [cell_result(fond, pattern="origin")],
    "one position": [cell_result(lambda *_: 0)],
    "unreadable": [cell_result(lambda *_: None)],
    "at work": [cell_result(fond, state="running")],
    "mute": [_mute(), cell_result(fond)],
}
BIAS_PAGES: Mapping[str, Callable[[Language], Sequence[Block]]] = {
    **{
        f"bias, {name}": (lambda language, results=results: _bias(results, language))
        for name, results in _RUNS.items()
    },
    "calibration": _calibration,
    "calibration of decisions": _decisions,
    "dataset health": _health,
}
