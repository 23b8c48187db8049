"""Figures of groups, checked by hand."""

from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.benchmarks.groups import SummaryGroup, declared_groups
from evalui.proportions import wilson_interval
from evalui.scoring.answer_summary import summarise_answers
from evalui.scoring.cell_summary import summarise
from evalui.scoring.groups import MemberFigures, combine, group_summaries
from evalui.types import Cell, CellResult, DeclaredGroup, Interval, Reading, Sample, Trial, Variant

SIZES = {"law": (10, 8), "logic": (30, 15), "history": (20, 5)}  # questions, right ones
AB = DeclaredGroup("ab", ("a", "b"))


def result(
    sizes: dict[str, tuple[int, int]] = SIZES, dataset: str = "d", model: str = "m"
) -> CellResult:
    samples: dict[str, Sample] = {}
    trials: list[Trial] = []
    for subject, (n, right) in sizes.items():
        for number in range(n):
            name = f"{subject}-{number}"
            samples[name] = Sample(name, f"{name}?", ("u", "v", "w", "x"), 0, {"subject": subject})
            place = 0 if number < right else 1
            reading = Reading(place, 1.0 - place, "letter")
            trials.append(
                Trial(name, Variant((0, 1, 2, 3)), 0, "strict", {"strict": reading}, reply="A")
            )
    cell = Cell(dataset, model, "generation", "generation", "origin", f"{dataset}|{model}")
    return CellResult(cell, samples, tuple(trials), len(trials))


def of_subjects(**values: object) -> tuple[DeclaredGroup, ...]:
    return declared_groups([SummaryGroup.model_validate({"name": "g"} | values)])


def accuracy(figure: object) -> Interval:
    assert isinstance(figure, Interval)
    return figure


def test_a_macro_mean_weighs_subjects_and_a_micro_mean_questions() -> None:
    names = ["law", "logic"]
    (macro,) = group_summaries(of_subjects(members=names), [result()], ())
    (micro,) = group_summaries(of_subjects(members=names, mean="micro"), [result()], ())
    shown = [accuracy(each.figures["acc_origin"].figure) for each in (macro, micro)]
    assert shown[0].value == pytest.approx((0.8 + 0.5) / 2)
    assert shown[1].value == pytest.approx((8 + 15) / 40)
    assert [each.n for each in shown] == [40, 40]
    assert (macro.dataset, macro.model, macro.missing) == ("d", "m", ())
    assert macro.signatures == ("d|m",)


def test_the_interval_is_made_of_the_intervals_of_the_members() -> None:
    (group,) = group_summaries(of_subjects(members=["law", "logic"]), [result()], ())
    shown = accuracy(group.figures["acc_origin"].figure)
    law, logic = wilson_interval(8, 10), wilson_interval(15, 30)
    below = sqrt((0.8 - law.low) ** 2 + (0.5 - logic.low) ** 2) / 2
    above = sqrt((law.high - 0.8) ** 2 + (logic.high - 0.5) ** 2) / 2
    assert (shown.low, shown.high) == (pytest.approx(0.65 - below), pytest.approx(0.65 + above))
    assert shown.high - shown.low < law.high - law.low


def test_weights_weigh_the_members_of_a_macro_mean() -> None:
    weights = {"law": 3, "logic": 1}
    (group,) = group_summaries(of_subjects(members=[*weights], weights=weights), [result()], ())
    assert accuracy(group.figures["acc_origin"].figure).value == pytest.approx((3 * 0.8 + 0.5) / 4)


def test_counts_are_added_up_whatever_the_mean() -> None:
    (group,) = group_summaries(of_subjects(members=["law", "history"]), [result()], ())
    assert group.figures["n"].figure == 30
    assert group.figures["unreadable"].figure == 0


def test_a_member_without_an_answer_is_named_and_the_others_make_the_figure() -> None:
    whole = result()
    partly = replace(
        whole, trials=tuple(t for t in whole.trials if not t.sample_id.startswith("law"))
    )
    (group,) = group_summaries(of_subjects(members=["law", "logic"]), [partly], ())
    assert group.missing == ("law",)
    assert group.figures["acc_origin"].missing == ("law",)
    assert accuracy(group.figures["acc_origin"].figure).value == pytest.approx(0.5)


def test_a_published_group_names_the_subjects_that_the_dataset_lacks() -> None:
    groups = declared_groups([SummaryGroup(published="ceval")])
    sizes = {"law": (10, 8), "logic": (30, 15), "college_physics": (5, 1)}
    made = {each.group.name: each for each in group_summaries(groups, [result(sizes)], ())}
    assert [*made] == [group.name for group in groups]
    humanities, hard, social = (
        made[f"C-Eval {name}"] for name in ("Humanities", "Hard", "Social Science")
    )
    assert accuracy(humanities.figures["acc_origin"].figure).value == pytest.approx(0.65)
    assert len(humanities.missing) == 9
    assert "high_school_history" in humanities.missing
    assert accuracy(hard.figures["acc_origin"].figure).value == pytest.approx(0.2)
    assert (len(social.missing), social.figures) == (10, {})


def test_a_group_of_all_subjects_by_questions_is_the_dataset_itself() -> None:
    (group,) = group_summaries(of_subjects(members=[*SIZES], mean="micro"), [result()], ())
    whole = summarise(result())
    for name, each in group.figures.items():
        figure = whole.figures[name]
        if isinstance(figure, Interval):
            assert accuracy(each.figure).value == pytest.approx(figure.value), name
        else:
            assert each.figure == pytest.approx(figure), name
    assert {*group.figures} == {name for name, own in whole.figures.items() if own is not None}


def test_datasets_are_grouped_by_model_and_mode() -> None:
    results = [
        result({"s": (10, 8)}, "one"),
        result({"s": (30, 15)}, "two"),
        result({"s": (4, 1)}, "one", "other"),
    ]
    group = of_subjects(members=["one", "two"], of="datasets")
    first, second = group_summaries(group, results, [summarise(each) for each in results])
    assert (first.dataset, first.model, first.signatures) == ("", "m", ("one|m", "two|m"))
    assert accuracy(first.figures["acc_origin"].figure).value == pytest.approx(0.65)
    assert (second.model, second.missing) == ("other", ("two",))
    assert accuracy(second.figures["acc_origin"].figure).value == pytest.approx(0.25)


def test_groups_wait_for_cells_at_work() -> None:
    running = replace(result(), state="running")
    both = (*of_subjects(members=["law"]), *of_subjects(name="h", members=["d"], of="datasets"))
    assert group_summaries(both, [running], [summarise(running)]) == ()


def test_written_answers_have_groups_of_every_figure() -> None:
    samples = {
        f"q{n}": Sample(f"q{n}", f"q{n}?", (), ("r",), {"subject": "ab"[n % 2]}) for n in range(4)
    }
    trials = tuple(
        Trial(
            name,
            Variant(()),
            0,
            "text",
            {"text": Reading(0, 1.0, "text")},
            reply="r",
            scores={"bleu-4": (place / 10,), "exact_match": (place % 2,)},
        )
        for place, name in enumerate(samples)
    )
    cell = Cell("d", "m", "question_answer", "question_answer", "origin", "d|m", "answers")
    written = CellResult(cell, samples, trials, 4)
    (group,) = group_summaries(of_subjects(members=["a", "b"]), [written], ())
    assert group.answers == "texts"
    assert accuracy(group.figures["bleu-4"].figure).value == pytest.approx(0.15)
    assert accuracy(group.figures["exact_match"].figure).value == pytest.approx(0.5)
    assert group.figures["bleu-4"].n == 4
    over = of_subjects(members=["d"], of="datasets")
    (alone,) = group_summaries(over, [written], [summarise_answers(written)])
    whole = summarise_answers(written).figures["bleu-4"]
    assert accuracy(alone.figures["bleu-4"].figure) == pytest.approx(accuracy(whole))


def test_without_the_range_of_a_member_there_is_none_of_the_group() -> None:
    members = {
        "a": MemberFigures({"chance": 0.25, "robust": Interval(0.5, 0.4, 0.6, 9)}, 10),
        "b": MemberFigures({"chance": 0.5, "robust": 0.7}, 30),
    }
    made = combine(replace(AB, mean="micro"), members, "choices")
    assert made["chance"].figure == pytest.approx((10 * 0.25 + 30 * 0.5) / 40)
    assert made["robust"].figure == pytest.approx((9 * 0.5 + 30 * 0.7) / 39)


shares = st.tuples(*[st.floats(0, 1)] * 3, st.integers(1, 1000)).map(
    lambda drawn: Interval(sorted(drawn[:3])[1], min(drawn[:3]), max(drawn[:3]), drawn[3])
)


@given(shares, shares, st.sampled_from(["macro", "micro"]))
def test_a_group_lies_between_its_members_and_so_does_its_interval(
    one: Interval, other: Interval, mean: str
) -> None:
    members = {
        "a": MemberFigures({"readable": one}, one.n),
        "b": MemberFigures({"readable": other}, other.n),
    }
    (group,) = declared_groups(
        [SummaryGroup.model_validate({"name": "g", "members": ["a", "b"], "mean": mean})]
    )
    made = accuracy(combine(group, members, "choices")["readable"].figure)
    margin = 1e-9
    assert min(one.value, other.value) - margin <= made.value
    assert made.value <= max(one.value, other.value) + margin
    assert min(one.low, other.low) - margin <= made.low <= made.value + margin
    assert made.value - margin <= made.high <= max(one.high, other.high) + margin
