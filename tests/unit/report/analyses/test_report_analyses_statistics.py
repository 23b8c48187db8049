"""Pairs of models: tested, in sentences, and as blocks."""

import re
from dataclasses import replace
from random import Random
from typing import get_args

import pytest
from bias_examples import cell_result, fond, halting, right
from hypothesis import given
from hypothesis import strategies as st
from pair_examples import GUESSING, KNOWING, LEVEL, summary, two

from evalui.report.analyses.overview import overview_blocks, pairs_table
from evalui.report.analyses.statistics import pair_plot, pairs_caption, statistics_blocks
from evalui.report.analyses.verdict import (
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
    mcnemar_sentence,
    refusal_sentence,
)
from evalui.report.blocks import Card, Details, Headline, ModelCell, Notes, Table, TextCell
from evalui.report.numbers import format_value, p_value, signed_points
from evalui.report.render.page import render_blocks
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.comparisons import (
    CellComparison,
    ComparisonSet,
    IncomparablePair,
    compare_cells,
    comparisons,
)
from evalui.scoring.statistics.tests import McNemar, PairedTTest
from evalui.types import Cell, Language


def _cell(model: str) -> Cell:
    return Cell("d", model, "generation", "generation", "circular", "")


def _pair(
    difference: float = 0.30, low: float = 0.24, high: float = 0.36, p: float = 0.0001, n: int = 240
) -> CellComparison:
    found = PairedTTest(difference, 0.03, low, high, p, 0.44, n, all_equal=False)
    return CellComparison(
        _cell("late"), _cell("early"), "robust", found, p, McNemar(78, 6, 0.0, 0.0), 0.0796
    )


def _same(difference: float, n: int = 240) -> CellComparison:
    found = PairedTTest(difference, 0.0, difference, difference, None, 0.0, n, all_equal=True)
    p = 2.0 ** (1 - n) if difference else 1.0
    return CellComparison(
        _cell("x"), _cell("y"), "robust", found, p, McNemar(0, 0, None, None), None
    )


@pytest.fixture
def three():
    """One model always right, one right on 4 in 5, one that likes A on every second question."""
    made = [("sure", right), ("less", halting(5)), ("fond", fond)]
    return [summarise(cell_result(pick, model=model)) for model, pick in made]


@pytest.mark.parametrize(
    ("given", "finding", "gap", "span"),
    [
        (_pair(), "apart", "30", "24–36"),
        # A half-width under 5 points deserves a decimal.
        (_pair(0.041, 0.012, 0.070, 0.006), "apart", "4.1", "1.2–7.0"),
        (_pair(0.02, -0.04, 0.08, 0.5), "level", "2", "−4–8"),
        # Significant alone, but not among several: the corrected p decides.
        (_pair(0.05, 0.001, 0.099, 0.06), "level", "5.0", "0.1–9.9"),
        (_pair(n=29), "apart", "30", "24–36"),
        (_same(0.0), "same", "0.0", "0.0–0.0"),
        (_same(1.0), "steady", "100.0", "100.0–100.0"),
    ],
)
def test_a_pair_has_one_finding_and_its_difference_in_points(
    given: CellComparison, finding: str, gap: str, span: str
):
    assert given.finding == finding
    assert (format_points(given), format_points_range(given.paired)) == (gap, span)


def _first_only(k: int, n: int):
    """Two models of n questions, of which the first is right on k that the second is wrong on."""
    both, first = {f"q{place}": 1.0 for place in range(n)}, summarise(cell_result(right, n=n))
    second = both | {f"q{place}": 0.0 for place in range(k)}
    (made,) = comparisons(
        [
            replace(first, cell=replace(first.cell, model="a"), outcomes={"robust": both}),
            replace(first, cell=replace(first.cell, model="b"), outcomes={"robust": second}),
        ]
    )
    return made.pairs[0]


@pytest.mark.parametrize(
    ("k", "n", "p", "finding"),
    [
        (5, 6, 2 * 0.5**5, "level"),  # p .004 by the t test, which takes them to be normal
        (6, 7, 2 * 0.5**6, "apart"),
        (5, 5, 2 * 0.5**5, "level"),
        (6, 6, 2 * 0.5**6, "steady"),
        (0, 6, 1.0, "same"),
    ],
)
def test_the_exact_test_decides_on_few_questions(k: int, n: int, p: float, finding: str):
    pair = _first_only(k, n)
    assert pair.adjusted == pytest.approx(p)
    assert pair.finding == finding


def test_the_first_is_the_better_one(three):
    (found,) = comparisons(three)
    names = [(each.first.model, each.second.model) for each in found.pairs]
    assert names == [("sure", "less"), ("sure", "fond"), ("less", "fond")]
    (swapped,) = comparisons([three[2], three[0]])
    assert (swapped.pairs[0].first.model, swapped.pairs[0].paired.difference > 0) == ("sure", True)


def test_pairs_are_tested_on_question_means_and_corrected(three):
    (found,) = comparisons(three)
    assert found.measure == "robust"
    first = found.pairs[0]
    assert first.paired.difference == pytest.approx(24 / 120)
    assert (first.mcnemar.first_only, first.mcnemar.second_only) == (24, 0)


def test_p_values_are_corrected_for_the_pairs_shown_together():
    made = [("a", right), ("b", halting(40)), ("c", halting(15))]
    (found,) = comparisons([summarise(cell_result(pick, model=name)) for name, pick in made])
    raw = sorted(each.paired.p for each in found.pairs)
    adjusted = sorted(each.adjusted for each in found.pairs)
    assert raw[0] > 0.001
    assert adjusted == pytest.approx([3 * raw[0], 2 * raw[1], 2 * raw[1]])


def test_what_may_be_missed_shrinks_with_the_questions():
    few, many = (
        comparisons(
            [summarise(cell_result(pick, n=n, model=str(pick))) for pick in (halting(5), fond)]
        )[0].pairs[0]
        for n in (60, 240)
    )
    assert few.detectable == pytest.approx(2 * many.detectable, rel=0.05)


def test_the_sentences_come_with_the_widest_difference_first(three):
    (found,) = comparisons(three)
    told = [row[0] for row in pairs_table(found.pairs, "en").rows]
    assert told == ["sure over fond", "less over fond", "sure over less"]


def test_the_small_line_tells_correction_and_p(three):
    (found,) = comparisons(three)
    text = comparison_method(found, "en")
    assert text.startswith("Paired on the same questions, corrected for 3 comparisons, each p <")
    assert "missed" not in text
    assert comparison_method(comparisons(three[:2])[0], "zh").startswith("按题配对，p < .001。")


def test_mixed_p_values_are_told_by_their_ends(three):
    (found,) = comparisons(three)
    pairs = [replace(p, adjusted=x) for p, x in zip(found.pairs, (0.5, 0.012, 0.2), strict=True)]
    assert "p from .012 to .500." in comparison_method(replace(found, pairs=tuple(pairs)), "en")


def test_of_few_questions_the_p_is_told():
    summaries = [
        summarise(cell_result(pick, n=24, model=name)) for pick, name in ((right, "a"), (fond, "b"))
    ]
    (found,) = comparisons(summaries)
    assert "p < .001" in comparison_method(found, "en")


def test_identical_models_are_not_a_test():
    summaries = [summarise(cell_result(halting(5), model=name)) for name in "ab"]
    (found,) = comparisons(summaries)
    assert found.pairs[0].adjusted == 1
    assert not found.pairs[0].significant
    assert [row[-1] for row in pairs_table(found.pairs, "en").rows] == ["equal on each question"]
    assert mcnemar_sentence(found.pairs[0], "en") == "No question separates a and b."


@pytest.mark.parametrize(
    ("other", "parts", "english", "chinese"),
    [
        (
            "d@2|mode:generation|prompt:p|rule:tolerant|n:120|model:b",
            ("dataset",),
            "a and b are not compared: they differ in dataset",
            "a 与 b 不作比较：数据集不同",
        ),
        (
            "d@1|mode:generation|prompt:q|rule:strict|n:120|model:b",
            ("prompt", "rule"),
            "a and b are not compared: they differ in prompt, rule of reading",
            "a 与 b 不作比较：提示词、判读规则不同",
        ),
    ],
)
def test_what_was_made_differently_is_refused_with_the_reason(
    other: str, parts: tuple[str, ...], english: str, chinese: str
):
    summaries = [
        summarise(cell_result(right, model="a")),
        summarise(cell_result(fond, model="b", signature=other)),
    ]
    (found,) = comparisons(summaries)
    (refused,) = found.incomparable
    assert refused.differences == parts
    assert (found.pairs, found.ranks) == ((), ())
    assert refusal_sentence(refused, "en") == english
    assert refusal_sentence(refused, "zh") == chinese
    assert comparison_method(found, "en") == ""


def test_one_that_cannot_be_compared_leaves_all_without_a_rank(three):
    other = summarise(cell_result(right, model="other", signature="e@1|mode:generation"))
    (found,) = comparisons([*three, other])
    assert (len(found.pairs), len(found.incomparable), found.ranks) == (3, 3, ())


def test_a_tie_counts_in_part_but_is_not_right(make_result):
    picks = {f"q{i}": "right" for i in range(40)}
    sure = summarise(make_result(picks, model="sure"))
    tied = summarise(make_result(picks | {"q0": ["tie", 0, 0, 0]}, model="tied"))
    found = compare_cells(sure, tied, "accuracy")
    assert isinstance(found, CellComparison)
    assert found.paired.difference == pytest.approx(0.5 / 40)
    assert (found.mcnemar.first_only, found.mcnemar.second_only) == (1, 0)


def test_accuracy_is_compared_until_all_have_a_robust_one(three):
    late = replace(three[1], robust=None)
    assert comparisons([three[0], late])[0].measure == "accuracy"


def test_cells_without_a_common_question_are_refused():
    one, other = (summarise(cell_result(right, model=name)) for name in "ab")
    apart = replace(other, outcomes={"robust": {"else": 1.0}})
    found = compare_cells(one, apart, "robust")
    assert isinstance(found, IncomparablePair)
    assert refusal_sentence(found, "en").endswith("they share fewer than two independent questions")


def test_models_of_one_band_share_their_rank(three):
    (found,) = comparisons(three)
    assert [place.band for place in found.ranks] == [1, 2, 3]
    again = summarise(cell_result(halting(5), model="same"))
    (found,) = comparisons([*three, again])
    assert {place.name: place.band for place in found.ranks}["same"] == 2
    assert sorted(place.band for place in found.ranks) == [1, 2, 2, 3]


def test_a_model_ranks_by_the_share_that_is_shown_with_unreadable_replies_as_wrong():
    """60 % with two replies in five unreadable stand before 40 % of readable ones."""
    picks = {"mute": lambda q, _, target: None if q % 5 < 2 else target, "wrong": halting(2)}
    mute, wrong = (summarise(cell_result(pick, model=name)) for name, pick in picks.items())
    assert mute.unreadable == 0.4 * mute.done
    (found,) = comparisons([wrong, mute])
    assert [(place.name, place.value) for place in found.ranks] == [("mute", 0.6), ("wrong", 0.5)]


def test_guessers_are_compared_but_have_no_rank(three):
    blind = summarise(cell_result(lambda *_: 0, model="always-A"))
    (found,) = comparisons([*three, blind])
    assert found.unranked == {blind.cell: "guessing"}
    assert len(found.pairs) == 6
    assert [place.name for place in found.ranks] == ["sure", "less", "fond"]


def test_modes_and_datasets_are_compared_apart(three):
    reply = summarise(cell_result(right, model="sure", mode="multiple_choice"))
    assert [len(found.pairs) for found in comparisons([*three, reply])] == [3]


def test_in_one_order_accuracy_is_compared():
    summaries = [
        summarise(cell_result(pick, model=name, pattern="origin"))
        for pick, name in ((right, "a"), (fond, "b"))
    ]
    (found,) = comparisons(summaries)
    assert found.measure == "accuracy"


def test_the_mean_over_orders_has_no_table_of_right_and_wrong(three):
    (found,) = comparisons(three, "mean_over_orders")
    assert found.pairs[0].mcnemar is None
    assert mcnemar_sentence(found.pairs[0], "en") == ""


def test_the_deciding_questions_are_counted():
    assert mcnemar_sentence(_pair(), "en") == (
        "84 questions decide the difference: 78 only late gets right, 6 only early. "
        "McNemar mid-p < .001."
    )


@pytest.mark.parametrize(
    ("share", "told"), [(0.0796, "8"), (0.08, "8"), (0.0801, "8"), (0.081, "9"), (0.001, "1")]
)
def test_the_least_visible_difference_is_never_understated(share: float, told: str):
    assert format_least_difference(share) == told


@pytest.mark.parametrize(("p", "told"), [(0.0009, "< .001"), (0.001, "= .001"), (1.0, "= 1.000")])
def test_p_values_have_three_decimals(p: float, told: str):
    assert p_value(p) == told


def test_a_negative_difference_has_a_true_minus():
    assert signed_points(-0.021, 1) == "−2.1"


def test_of_very_many_pairs_the_first_are_shown_and_all_are_counted():
    many = [summary(f"m{k}", [(i * k) % 7 < 4 for i in range(20)]) for k in range(1, 23)]
    (found,) = comparisons(many)
    assert len(found.pairs) == 22 * 21 // 2
    blocks = statistics_blocks(many, found, "en")
    shown = render_blocks(blocks)
    card, power = blocks[0], blocks[-1]
    assert isinstance(card, Card)
    assert isinstance(power, Details)
    tables = [block for block in (*card.blocks, *power.blocks) if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [200, 200]
    assert "The first 200 of 231 pairs; the spreadsheet lists all." in shown
    few = statistics_blocks(many[:2], comparisons(many[:2])[0], "en")
    assert "the spreadsheet lists all" not in render_blocks(few)


def test_the_difference_that_is_shown_is_that_of_the_shares_that_are_shown():
    """Of 91 questions 66 and 60 are right in every order: 72.5 % and 65.9 %, 6.6 points apart."""
    first, second = (
        summarise(cell_result(pick, model=name, n=91))
        for name, pick in (
            ("more", lambda q, _, target: (target + (q < 25)) % 4),
            ("less", lambda q, _, target: (target + (q < 31)) % 4),
        )
    )
    pair = compare_cells(first, second, "robust")
    assert isinstance(pair, CellComparison)
    assert pair.figures
    shown = [format_value(figure) for figure in pair.figures]
    assert shown == ["73", "66"]
    assert format_points(pair) == "7"
    fewer = replace(second, outcomes={"robust": dict(list(second.outcomes["robust"].items())[:60])})
    part = compare_cells(first, fewer, "robust")
    assert isinstance(part, CellComparison)
    assert part.figures
    assert [figure.n for figure in part.figures] == [60, 60]


LANGUAGES: tuple[Language, ...] = get_args(Language)
# What says that a difference would not have been seen.
MISSED = re.compile(r"\bmiss|invisible|看不出")


def only_pair(counts: tuple[int, int, int, int]) -> tuple[ComparisonSet, CellComparison]:
    (found,) = comparisons(two(*counts))
    return found, found.pairs[0]


def test_a_small_difference_that_passes_its_test_is_a_win_and_never_invisible():
    found, pair = only_pair(KNOWING)
    assert pair.finding == "apart"
    assert pair.detectable is not None
    assert pair.detectable > pair.paired.difference
    for language in LANGUAGES:
        text = comparison_method(found, language) + pairs_caption(found.pairs, language)
        assert not MISSED.search(text)
    assert (format_points(pair), format_points_range(pair.paired)) == ("5", "0.4–9.4")
    assert pair_plot(pair, ModelCell("a")).grey is None


def test_the_mark_of_a_pair_has_its_range_and_grey_is_what_may_be_missed():
    found, pair = only_pair(LEVEL)
    cell = pair_plot(pair, ModelCell("a", baseline=True))
    (mark,) = cell.marks
    ends = (pair.paired.difference, pair.paired.low, pair.paired.high)
    assert (mark.value, mark.low, mark.high) == pytest.approx([100 * end for end in ends])
    assert pair.undetected_difference
    missed = 100 * pair.undetected_difference
    assert cell.grey == pytest.approx((-missed, missed))
    assert cell.baseline
    (card, *_) = statistics_blocks(two(*LEVEL), found, "en")
    assert isinstance(card, Card)
    assert [column.rule for column in card.blocks[0].columns if column.axis] == [
        (0.0, "no difference")
    ]
    assert card.blocks[0].rows[0][0] == TextCell("a − b")


def test_where_a_page_compares_the_pairs_a_line_leads_there():
    found, _ = only_pair(LEVEL)
    first, *_ = statistics_blocks(two(*LEVEL), found, "en", compared_at="compare?cells=1,2")
    assert isinstance(first, Notes)
    assert [(line.text, line.link and line.link.href) for line in first.lines] == [
        ("0 of 1 pair are told apart after correction.", "compare?cells=1,2")
    ]


def test_of_a_pair_that_is_not_told_apart_the_planning_figure_is_said_to_be_one():
    found, pair = only_pair(LEVEL)
    assert pair.finding == "level"
    assert pair.undetected_difference is not None
    assert format_least_difference(pair.undetected_difference) == "7"
    assert "would usually miss" in pairs_caption(found.pairs, "en")
    assert "通常看不出" in pairs_caption(found.pairs, "zh")


@pytest.mark.parametrize(
    ("language", "why"), [("en", "no better than guessing"), ("zh", "不比乱猜好")]
)
def test_of_two_guessers_nobody_wins(language: Language, why: str):
    cells = two(*GUESSING)
    (found,) = comparisons(cells)
    (pair,) = found.pairs
    assert (pair.significant, pair.finding) == (True, "guessing")
    assert found.ranks == ()
    assert [row[-1] for row in pairs_table(found.pairs, language).rows] == [why]
    assert comparison_method(found, language) == ""
    ranks = next(
        block
        for block in statistics_blocks(cells, found, language)
        if isinstance(block, Details) and block.key == "ranks"
    )
    table = ranks.blocks[0]
    assert isinstance(table, Table)
    assert [(row[0], row[-1]) for row in table.rows] == [("–", why)] * 2


def test_of_two_guessers_no_section_claims_a_decision():
    cells = two(*GUESSING)
    (found,) = comparisons(cells)
    made = statistics_blocks(cells, found, "en")
    findings = {each.key: each.finding for each in made if isinstance(each, Details)}
    assert findings["ranks"] == "No model is ranked."
    assert findings["power"] == "These answers allow no estimate."


def test_who_beats_a_guesser_beats_no_more_than_that():
    found, pair = only_pair((48, 60, 5, 132))
    assert (pair.finding, pair.second_at_chance) == ("apart", True)
    assert (format_points(pair), format_points_range(pair.paired)) == ("22", "17–28")
    assert [place.name for place in found.ranks] == ["a"]


def test_a_guesser_that_is_ahead_wins_nothing():
    # Its questions are harder to guess, so the one behind is the only one that knows something.
    one, other = two(70, 60, 30, 85)
    guesser = Summary(**{f: getattr(one, f) for f in one.__slots__} | {"chance": 0.52})
    (found,) = comparisons([guesser, other])
    (pair,) = found.pairs
    assert (pair.finding, pair.leader_at_chance, pair.second_at_chance) == ("guessing", True, False)
    assert not pair.has_winner


def test_the_pairs_show_no_p_of_guessers():
    for counts, wanted in ((KNOWING, ".034"), (GUESSING, "–")):
        (found,) = comparisons(two(*counts))
        table = pairs_table(found.pairs, "en")
        row = dict(zip(table.head, table.rows[0], strict=True))
        assert row["p, corrected"] == wanted


def test_ranks_follow_the_verdicts_on_pairs():
    # With a scripted model the pair is one of three, and no longer passes its corrected test.
    a, b = two(*KNOWING)
    script = summary("script", [bool(value) for value in b.outcomes["accuracy"].values()])
    (found,) = comparisons([a, b, script], baselines={"script"})
    assert found.pairs[0].finding == "level"
    assert [(place.name, place.band) for place in found.ranks] == [("a", 1), ("b", 1)]
    assert found.unranked[script.cell] == "baseline"


@st.composite
def runs(draw: st.DrawFn) -> list[Summary]:
    """Two to four models that share some of their answers, on up to 300 questions."""
    n = draw(st.integers(2, 300))
    random = Random(draw(st.integers(0, 2**32)))
    shares = draw(st.lists(st.floats(0, 1), min_size=2, max_size=4))
    alike = draw(st.floats(0, 1))
    luck = [random.random() for _ in range(n)]
    chance = draw(st.sampled_from([0.25, 0.5, 0.02]))
    return [
        summary(
            "abcd"[place],
            [(luck[i] if random.random() < alike else random.random()) < share for i in range(n)],
            chance=chance,
        )
        for place, share in enumerate(shares)
    ]


@given(runs())
def test_no_page_tells_a_difference_as_a_win_and_as_invisible(summaries: list[Summary]):
    (found,) = comparisons(summaries)
    guessers = {s.cell.model for s in summaries if not s.above_chance}
    assert not guessers & {place.name for place in found.ranks}
    for language, won in (("en", "a real difference"), ("zh", "确有差别")):
        for pair in found.pairs:
            (row,) = pairs_table([pair], language).rows
            assert (row[-1] == won) == (pair.finding in ("apart", "steady"))
            if pair.has_winner:
                ahead = pair.first if pair.paired.difference > 0 else pair.second
                assert ahead.model not in guessers
                assert pair.undetected_difference is None
        wins = [pair for pair in found.pairs if pair.has_winner]
        whole = comparison_method(found, language)
        # What is said of all pairs together may not doubt any of those that were told apart.
        assert not (wins and MISSED.search(whole))
        assert not (
            len(wins) == len(found.pairs) and MISSED.search(pairs_caption(found.pairs, language))
        )
        for pair in wins:
            better, worse = (found.rank_of(cell.model) for cell in (pair.first, pair.second))
            if better and worse:
                assert better.high < worse.low or better.band <= worse.band


@given(runs())
def test_a_report_never_holds_both_sentences_of_one_pair(summaries: list[Summary]):
    for block in overview_blocks(summaries, "en"):
        texts = (block.text, block.support) if isinstance(block, Headline) else ()
        texts += (block.finding,) if isinstance(block, Details) else ()
        for text in texts:
            assert not (re.search("beats|ahead of", text) and MISSED.search(text))
