import pytest
from open_run_examples import capitals

from evalui.errors import SpecError, UnknownName
from evalui.runs.contest import JudgingSpec, judged_pairs, presentations
from evalui.types import Contestant, Variant

NAMES = ("x", "y", "z")
SAMPLES = capitals().samples
EVERYBODY = tuple(Contestant(name, {s.id: (name,) for s in SAMPLES}) for name in NAMES)


def judging(**fields: object) -> JudgingSpec:
    return JudgingSpec.model_validate({"judges": ["j"], "seed": 0} | fields)


@pytest.mark.parametrize(
    ("fields", "pairs"),
    [
        ({}, [(0, 1), (0, 2), (1, 2)]),
        ({"pairs": "baseline", "baseline": ["y"]}, [(1, 0), (1, 2)]),
        ({"pairs": "baseline", "baseline": ["x", "y"]}, [(0, 1), (0, 2), (1, 2)]),
        ({"pairs": "matrix", "baseline": ["x", "y"], "against": ["z"]}, [(0, 2), (1, 2)]),
        ({"pairs": "matrix", "baseline": ["x", "y"], "against": ["y", "x"]}, [(0, 1)]),
        ({"template": "score10-en.1"}, [(0,), (1,), (2,)]),
    ],
)
def test_the_plan_decides_who_meets_whom(fields: dict[str, object], pairs: list[tuple[int]]):
    assert {frozenset(pair) for pair in judged_pairs(judging(**fields), NAMES)} == {
        frozenset(pair) for pair in pairs
    }


def test_a_name_that_takes_no_part_is_reported_with_those_that_do():
    with pytest.raises(UnknownName, match="'w' does not take part"):
        judged_pairs(judging(pairs="baseline", baseline=["w"]), NAMES)


def test_a_baseline_must_be_named():
    with pytest.raises(SpecError, match="needs names under"):
        judged_pairs(judging(pairs="baseline"), NAMES)


def test_both_orders_are_shown_of_each_pair_and_question():
    shown = list(presentations(judging(), EVERYBODY, SAMPLES))
    assert len(shown) == 4 * 3 * 2
    assert [variant.permutation for sample, variant in shown if sample == SAMPLES[0]] == [
        (0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1),
    ]  # fmt: skip


def test_one_order_is_the_contestants_own():
    shown = {variant for _, variant in presentations(judging(orders="single"), EVERYBODY, SAMPLES)}
    assert shown == {Variant((0, 1)), Variant((0, 2)), Variant((1, 2))}


def test_random_orders_turn_about_half_of_the_pairs_and_depend_on_the_seed():
    samples = tuple(SAMPLES[0].__class__(f"q{n}", "?") for n in range(400))
    both = tuple(Contestant(name, {s.id: (name,) for s in samples}) for name in ("x", "y"))

    def turned(seed: int) -> list[bool]:
        plan = judging(orders="random", seed=seed)
        return [variant.permutation == (1, 0) for _, variant in presentations(plan, both, samples)]

    assert 150 < sum(turned(0)) < 250
    assert turned(0) == turned(0) != turned(1)


def test_pairs_without_an_answer_are_passed_over():
    partly = Contestant("z", {SAMPLES[1].id: ("z",)})
    shown = list(presentations(judging(), (*EVERYBODY[:2], partly), SAMPLES))
    assert sum(2 in variant.permutation for _, variant in shown) == 4
    assert len(shown) == 4 * 2 + 4


def test_an_answer_that_comes_later_changes_nothing_of_the_draw():
    some = Contestant("z", {SAMPLES[0].id: ("z",)})
    before, after = (
        {
            (sample.id, variant)
            for sample, variant in presentations(judging(sample=6), (*EVERYBODY[:2], last), SAMPLES)
        }
        for last in (some, EVERYBODY[2])
    )
    assert before < after
    assert len(after) == 12


def test_a_sample_of_pairs_keeps_both_orders_and_the_files_order():
    shown = list(presentations(judging(sample=5), EVERYBODY, SAMPLES))
    assert len(shown) == 10
    places = [SAMPLES.index(sample) for sample, _ in shown]
    assert places == sorted(places)
    assert shown == list(presentations(judging(sample=5), EVERYBODY, SAMPLES))
    assert shown != list(presentations(judging(sample=5, seed=1), EVERYBODY, SAMPLES))
