"""Figures come from columns: whatever the tables hold beside, and without an object per trial."""

import random
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalui.report.analyses.comparison import Contender, compare
from evalui.scoring.cell_summary import summarise
from evalui.scoring.choice.options import variants
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.types import Cell, CellResult, CellState, Reading, Sample, Trial, Variant

CELL = Cell("quiz", "m", "multiple_choice", "MCP", "circular", "quiz@1|mcp")


@st.composite
def answered(draw: st.DrawFn, name: str) -> list[Trial]:
    """A question of 2 to 4 options: some orders, probabilities, ties, and answers not read."""
    n_options = draw(st.integers(2, 4))
    fixed = draw(st.sampled_from(["", "", "", "naming", "duplicates"]))
    weights = st.lists(st.integers(1, 9), min_size=n_options, max_size=n_options)
    choices = st.sampled_from([*range(n_options), -1, -2])
    kept = st.sampled_from([True, True, True, True, False])
    gold = draw(st.integers(0, n_options - 1))
    trials: list[Trial] = []
    for order in variants(n_options, "circular"):
        shares, choice = draw(weights), draw(choices)
        target = order.permutation.index(gold)
        reading = (
            Reading(choice, float(choice == target), "letter")
            if choice >= 0
            else Reading(None, 0.0 if choice == -1 else 0.5, "tie", tied=choice == -2)
        )
        strict = reading if draw(kept) else Reading(None, 0.0, "unparsed")
        if draw(kept):
            trials.append(
                Trial(
                    name,
                    order,
                    target,
                    "tolerant",
                    {"tolerant": reading, "strict": strict},
                    probabilities=tuple(share / sum(shares) for share in shares),
                    mass=draw(st.sampled_from([None, 0.25, 0.5])),
                    fixed_reason=fixed,
                )
            )
    return trials


questions = st.lists(st.integers(0, 99), min_size=1, max_size=9, unique=True).flatmap(
    lambda names: st.tuples(*(answered(f"q{name}") for name in names))
)


def result_of(trials: Sequence[Trial], state: CellState = "running") -> CellResult:
    names = [f"q{number}" for number in range(100)]
    samples = {
        name: Sample(name, f"{name}?", metadata={"subject": f"s{place % 3}", "category": "c"})
        for place, name in enumerate(names)
    }
    return CellResult(CELL, samples, trials, len(trials), state=state)


def _widened(columns: TrialColumns, rng: random.Random) -> TrialColumns:
    """The same trials, all tables holding further entries in any order."""

    def mixed(table: tuple, more: tuple) -> tuple[tuple, np.ndarray]:
        made = [
            *((each, place) for place, each in enumerate(table)),
            *((each, -1) for each in more),
        ]
        rng.shuffle(made)
        places = np.zeros(len(table), dtype=np.int32)
        for new, (_, old) in enumerate(made):
            if old >= 0:
                places[old] = new
        return tuple(map(itemgetter(0), made)), places

    ids, sample = mixed(columns.ids, ("unused", "q", "zz"))
    orders, order = mixed(columns.orders, (Variant(()), Variant((4, 3, 2, 1, 0))))
    rules, rule = mixed(columns.rules, ("index", "never"))
    return replace(
        columns,
        ids=ids,
        orders=orders,
        rules=rules,
        sample=sample[columns.sample],
        order=order[columns.order],
        readings={
            name: replace(each, rule=rule[each.rule]) for name, each in columns.readings.items()
        },
    )


@settings(max_examples=60, deadline=None)
@given(questions, st.randoms(use_true_random=False))
def test_a_place_in_a_table_is_nothing_to_a_figure(made: tuple[list[Trial]], rng: random.Random):
    trials = [trial for question in made for trial in question]
    rng.shuffle(trials)
    if trials:
        columns = _widened(columns_of(trials), rng)
        assert repr(summarise(result_of(columns))) == repr(summarise(result_of(trials)))


@settings(max_examples=30, deadline=None)
@given(questions, st.randoms(use_true_random=False))
def test_the_order_of_trials_is_nothing_to_accuracies_and_positions(
    made: tuple[list[Trial]], rng: random.Random
):
    trials = [trial for question in made for trial in question]
    if not trials:
        return
    plain = summarise(result_of(trials))
    order = np.array(rng.sample(range(len(trials)), len(trials)))
    shuffled = summarise(result_of(_widened(columns_of(trials), rng).take(order)))
    assert shuffled.n == plain.n
    assert shuffled.robust == plain.robust
    assert shuffled.metrics == pytest.approx(plain.metrics)
    assert shuffled.format == replace(
        plain.format, mass=pytest.approx(plain.format.mass) if plain.format.mass else None
    )
    assert {name: dict(each) for name, each in shuffled.outcomes.items()} == plain.outcomes
    counted = [each.counts for each in shuffled.positions]
    assert counted == [each.counts for each in plain.positions]
    assert {(each.kind, each.name, each.n) for each in shuffled.groups} == {
        (each.kind, each.name, each.n) for each in plain.groups
    }


def _trials(n: int) -> list[Trial]:
    rng = random.Random(n)
    return [
        Trial(
            f"q{number}",
            order,
            order.permutation.index(1),
            "forced",
            {"forced": Reading(pick, float(order.permutation[pick] == 1), "forced")},
            probabilities=(0.5, 0.25, 0.25),
            mass=0.9,
        )
        for number in range(n)
        for order in variants(3, "circular")
        for pick in [rng.randrange(3)]
    ]


@pytest.mark.parametrize("state", ["running", "done"])
def test_no_trial_is_built_for_a_summary_or_a_comparison(
    monkeypatch: pytest.MonkeyPatch, state: CellState
):
    built: list[int] = []
    build = TrialColumns.build

    def counting(columns: TrialColumns) -> list[Trial]:
        built.append(len(columns))
        return build(columns)

    one, other = (result_of(columns_of(_trials(n)), state) for n in (9, 10))
    monkeypatch.setattr(TrialColumns, "build", counting)
    summary = summarise(one)
    pair = [Contender(name, name, place, False, "r", "r") for place, name in enumerate("ab")]
    compared = compare(pair, [one, other])
    assert summary.n == 9
    assert len(compared.rows) == 3
    assert built == []
