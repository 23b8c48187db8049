"""Above temperature 0 a model says otherwise when it is asked again: that is no effect of order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from bias_examples import cell_result

from evalui.report.analyses.overview import overview_blocks
from evalui.report.analyses.verdict import standings
from evalui.report.render.markdown import as_markdown
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.comparisons import comparisons
from evalui.types import CellResult, Trial, Variant

N, ORDERS = 60, 4


def drawn(
    name: str, knows: Sequence[float], *, repeats: int = 4, by_order: bool = False
) -> CellResult:
    """Right with the chance `knows` of a question, drawn for each reply, or for each order."""
    rng, trials, result = np.random.default_rng(len(name)), list[Trial](), None
    chances = np.resize(knows, N)
    fixed = rng.random((N, ORDERS)) < chances[:, None]
    for repeat in range(repeats):
        right = fixed if by_order else rng.random((N, ORDERS)) < chances[:, None]

        def pick(question: int, order: int, target: int, right: np.ndarray = right) -> int:
            return target if right[question, order] else (target + 1) % 4

        result = cell_result(pick, n=N, model=name)
        trials += [
            replace(each, variant=Variant(each.variant.permutation, repeat))
            for each in result.trials
        ]
    assert result is not None
    cell = replace(result.cell, signature=f"{result.cell.signature}|temp:0.7")
    return replace(result, cell=cell, trials=trials, total=len(trials))


def text_of(summaries: Sequence[Summary]) -> str:
    return as_markdown(overview_blocks(summaries, "en"))


KNOWS = (0.9, 0.7, 0.5, 0.95)


def test_who_is_sampled_is_ranked_by_the_mean_over_orders():
    one, other = (summarise(drawn(name, KNOWS)) for name in ("one", "other"))
    (compared,) = comparisons([one, other])
    assert compared.measure == "mean_over_orders"
    (standing,) = standings([one, other])
    assert standing.measure == "mean_over_orders"
    told = text_of([one, other])
    assert "loses" not in told
    assert "Right in every order" not in told.split("##")[1]
    assert one.mean_over_orders is not None
    assert f"{100 * one.mean_over_orders.interval.value:.0f}" in told.split("##")[1]


@pytest.mark.parametrize("by_order", [False, True])
def test_repeats_part_what_sampling_loses_from_what_order_loses(*, by_order: bool):
    figures = summarise(drawn("one", KNOWS, by_order=by_order)).figures
    same, loss = figures["same_order"], figures["order_loss"]
    parts = [figures[f"variance_{part}"] for part in ("questions", "sampling", "order")]
    assert sum(parts) == pytest.approx(1)
    if by_order:
        assert loss.low > 0.2
        assert same.value == pytest.approx(figures["mean_over_orders"].value)
        assert parts[1] == 0
    else:
        assert loss.low < 0 < loss.high
        assert same.value == pytest.approx(np.mean(np.power(KNOWS, 4)), abs=0.05)
        assert parts[2] < 0.05 < parts[1]


def test_one_reply_to_each_order_leaves_a_caution():
    told = text_of([summarise(drawn("one", KNOWS, repeats=1))])
    assert "may be chance" in told


def test_all_subjects_together_have_the_ranges_of_the_whole():
    result = drawn("one", KNOWS)
    samples = {
        name: replace(sample, metadata={"subject": f"s{place % 2}"})
        for place, (name, sample) in enumerate(result.samples.items())
    }
    summary = summarise(replace(result, samples=samples))
    every = next(group for group in summary.groups if group.kind == "all")
    for measure in ("accuracy", "robust", "mean_over_orders"):
        # The questions stand by subject there: a sum in another order differs in its last digit.
        one, other = every.share(measure), summary.share(measure)
        assert one is not None
        assert other is not None
        assert (one.low, one.high, one.n) == pytest.approx((other.low, other.high, other.n))
