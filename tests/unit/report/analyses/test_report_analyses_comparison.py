"""Two or more models on the same questions: figures, sentences, blocks."""

from dataclasses import replace
from typing import get_args

import pytest
from bias_examples import Pick, as_sure, calibrated, cell_result, decided, fond, halting, right
from comparison_examples import CASES, compared, comparison_page, contenders
from open_examples import answers_result

from evalui.messages import messages
from evalui.report.analyses.comparison import (
    Comparison,
    compare,
    comparison_blocks,
    marks_title,
    split_questions,
    support,
    sureness,
    verdict,
)
from evalui.report.blocks import Card, Details, Headline, PlotCell, Table, ValueCell
from evalui.report.render.markdown import as_markdown
from evalui.report.render.text import cell_text
from evalui.scoring.comparisons import CellComparison
from evalui.scoring.pairs import MetricPair
from evalui.scoring.scorers import SCORERS, ReplyScorer
from evalui.types import CellResult, Language, Variant


def test_all_pairs_stand_with_the_widest_difference_first():
    case = CASES["three, one ahead"]
    assert [(each.first.name, each.second.name) for each in case.pairs] == [
        ("sure", "fond"),
        ("sure", "less"),
        ("less", "fond"),
    ]
    assert [each.difference for each in case.pairs] == sorted(
        (each.difference for each in case.pairs), reverse=True
    )


def test_two_are_drawn_under_every_measure_seen_from_the_same_side():
    case = CASES["two apart"]
    measures = [
        each.result.measure for each in case.rows if isinstance(each.result, CellComparison)
    ]
    assert measures == ["robust", "accuracy", "mean_over_orders"]
    assert {each.first.name for each in case.rows} == {"sure"}
    # Every second question: A is right as written on a quarter of those, of which no order counts.
    assert [round(100 * (one - other)) for one, other in (each.means for each in case.rows)] == [
        round(100 * each.difference) for each in case.rows
    ]


def test_the_one_behind_stays_second_where_it_is_ahead():
    other = compared({"less": halting(4), "fond": fond}, measure="accuracy")
    turned = [each for each in other.rows if each.difference < 0]
    assert all(each.first.name == other.rows[0].first.name for each in other.rows)
    assert all(each.means[0] < each.means[1] for each in turned)


def test_an_unknown_measure_gives_way_to_the_first():
    assert compared({"sure": right, "fond": fond}, measure="<b>").measure == "robust"
    assert compared({"sure": right, "fond": fond}, measure="accuracy").measure == "accuracy"


@pytest.mark.parametrize("name", CASES)
def test_the_split_holds_each_question_that_both_have_once(name: str):
    case = CASES[name]
    for pair in case.pairs:
        split = split_questions(case, pair)
        together = [*split.ahead, *split.behind, *split.alike]
        assert len(together) == len(set(together)) == pair.result.n


def test_the_split_is_the_table_of_the_test():
    case = CASES["two apart"]
    (pair,) = case.pairs
    assert isinstance(pair.result, CellComparison)
    assert pair.result.mcnemar
    split = split_questions(case, pair)
    assert len(split.ahead) == pair.result.mcnemar.first_only == 60
    assert len(split.behind) == pair.result.mcnemar.second_only == 0


def test_a_pair_is_named_in_either_order():
    case = CASES["three, one ahead"]
    assert case.pair("3-2") == case.pair("2-3")
    assert case.pair("nothing") == case.pairs[0]


def test_cells_of_one_model_keep_their_own_names():
    results = [cell_result(right), cell_result(fond)]
    named = contenders(results)
    one, other = (
        type(each)(each.id, f"m {each.id}", each.place, False, each.run, each.run_name)
        for each in named
    )
    case = compare((one, other), results)
    assert [(each.first.name, each.second.name) for each in case.pairs] == [("m 1", "m 2")]


def drawn(model: str, *picks: Pick) -> CellResult:
    """The answers of a model that was asked each of 120 questions so often."""
    parts = [cell_result(pick, model=model, pattern="origin") for pick in picks]
    trials = [
        replace(trial, variant=Variant(trial.variant.permutation, repeat))
        for repeat, part in enumerate(parts)
        for trial in part.trials
    ]
    return replace(parts[0], trials=trials, total=len(trials))


@pytest.fixture
def asked_twice() -> Comparison:
    """One model is right twice, the other on every second question only once."""
    results = [drawn("steady", right, right), drawn("loose", right, fond)]
    return compare(contenders(results), results, "repeat_agreement")


def test_options_are_compared_in_any_metric_that_is_a_mean_over_questions(asked_twice: Comparison):
    named = ("accuracy", "majority", "pass_at_2", "repeat_agreement", "same_order")
    assert asked_twice.measures == named
    assert (asked_twice.measure, asked_twice.scored) == ("repeat_agreement", True)
    (pair,) = asked_twice.pairs
    assert isinstance(pair.result, MetricPair)
    assert pair.first.name == "steady"
    assert pair.means == (1, 0.5)
    assert (pair.difference, pair.result.n) == (0.5, 120)
    assert 0 < pair.result.low < 0.5 < pair.result.high
    split = split_questions(asked_twice, pair)
    assert (len(split.ahead), len(split.behind), len(split.alike)) == (60, 0, 60)


def test_a_metric_of_options_is_drawn_as_a_score(asked_twice: Comparison):
    (pair,) = asked_twice.pairs
    head, *rest = comparison_blocks(messages("en"), asked_twice, pair)
    assert isinstance(head, Headline)
    assert head.text == "steady has the higher Agreement of replies: 0.50 above loose."
    tests = next(one for one in rest if isinstance(one, Details) and one.key == "sure")
    table = next(block for block in tests.blocks if isinstance(block, Table))
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_cells_that_cannot_stand_beside_each_other_have_no_pair_in_a_metric():
    results = [drawn("steady", right, right), drawn("loose", right, fond)]
    signature = results[1].cell.signature.replace("prompt:p", "prompt:other")
    results[1] = replace(results[1], cell=replace(results[1].cell, signature=signature))
    assert compare(contenders(results), results, "majority").pairs == ()


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("two apart", "sure beats fond by 50 points.", "sure 比 fond 高 50 分。"),
        (
            "two steady",
            "sure is ahead of never by 100.0 points on every question.",
            "sure 在每一题上都比 never 高 100.0 分。",
        ),
        (
            "two alike",
            "sure and same are equal on each of 120 questions.",
            "sure 与 same 在全部 120 题上都相同。",
        ),
        (
            "two level",
            "less and lesser cannot be told apart.",
            "less 与 lesser 分不出高下。",
        ),
        (
            "two guessing",
            "Neither never nor nor is better than guessing.",
            "never 和 nor 都不比乱猜好。",
        ),
        (
            "two of few questions",
            "sure and less cannot be told apart.",
            "sure 与 less 分不出高下。",
        ),
        (
            "three, one ahead",
            "sure beats all others, the next, less, by 33 points.",
            "sure 胜过其他所有模型，比其次的 less 高 33 分。",
        ),
        (
            "three, two on top",
            "less and lesser cannot be told apart at the top.",
            "less 和 lesser 并列最前，分不出高下。",
        ),
        ("three alike", "Nothing separates these 3 models.", "这 3 个模型分不出高下。"),
        (
            "three guessing",
            "None of these 3 models is better than guessing.",
            "这 3 个模型都不比乱猜好。",
        ),
    ],
)
def test_the_verdict_follows_from_the_tests(name: str, english: str, chinese: str):
    assert verdict(messages("en"), CASES[name]) == english
    assert verdict(messages("zh"), CASES[name]) == chinese


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two apart", "Plausible range 41–59, p < .001, paired on the same 120 questions."),
        ("two level", "120 questions would usually miss a difference under "),
        ("two of few questions", "12 questions would usually miss a difference under 40 points."),
        ("three, one ahead", "Paired on the same questions, corrected for 3 comparisons."),
    ],
)
def test_the_support_gives_range_test_and_questions(name: str, expected: str):
    assert support(messages("en"), CASES[name]).startswith(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two apart", "Very. 120 questions show any difference of "),
        ("two steady", "Very: the same on every one of 40 questions."),
        ("two level", "Not enough to tell: the plausible range, "),
        (
            "two of few questions",
            "Not enough to tell: p = .125, corrected and, for few questions, exact.",
        ),
        ("two alike", "No difference is shown on 120 questions."),
        ("three, two on top", "2 of 3 pairs are told apart after correction."),
    ],
)
def test_how_sure_it_is_stands_on_the_closed_line(name: str, expected: str):
    assert sureness(messages("en"), CASES[name]).startswith(expected)


def test_the_title_of_the_marks_counts_the_measures():
    assert marks_title(messages("en"), CASES["two apart"]) == "sure is ahead under all 3 measures"
    assert marks_title(messages("en"), CASES["two alike"]) == "Difference by measure"
    assert marks_title(messages("en"), CASES["three alike"]) == "Difference of each pair"


def test_that_the_second_only_guesses_is_part_of_the_support():
    case = compared({"sure": right, "drawn": lambda question, _, target: (target + question) % 4})
    assert support(messages("en"), case).endswith("; drawn is no better than guessing.")
    assert "guessing" not in support(messages("en"), CASES["two apart"])


def marks_table(name: str) -> Table:
    """The table of marks of a case."""
    card = next(block for block in comparison_page(name, "en") if isinstance(block, Card))
    table = card.blocks[0]
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("name", CASES)
def test_the_sentence_is_first_then_the_marks_then_what_folds(name: str, language: Language):
    head, card, *folded = comparison_page(name, language)
    assert isinstance(head, Headline)
    assert isinstance(card, Card)
    assert all(isinstance(block, Details) and block.finding for block in folded)
    keys = [block.key for block in folded if isinstance(block, Details)]
    assert keys[:2] == ["sure", "parts"]
    assert keys[-1] == "know"
    assert len(set(keys)) == len(keys)


def test_a_mark_stands_at_its_difference_with_its_range():
    for row in marks_table("two apart").rows:
        plot, figure = row[1], row[2]
        assert isinstance(plot, PlotCell)
        assert isinstance(figure, ValueCell)
        (mark,) = plot.marks
        assert float(figure.value.lstrip("+")) == pytest.approx(mark.value, abs=1)
        assert mark.low is not None
        assert mark.high is not None
        assert mark.low < mark.value < mark.high


def test_what_cannot_be_seen_is_grey_only_where_nothing_is_told_apart():
    cells = [row[1] for row in marks_table("two level").rows]
    assert all(isinstance(cell, PlotCell) and cell.grey for cell in cells)
    assert "Grey:" in as_markdown(comparison_page("two level", "en"))
    cells = [row[1] for row in marks_table("two apart").rows]
    assert not any(isinstance(cell, PlotCell) and cell.grey for cell in cells)


def test_the_axis_is_as_wide_on_both_sides_and_holds_all_ranges():
    for name in CASES:
        table = marks_table(name)
        axis = table.columns[1].axis
        assert axis
        assert axis.low == -axis.high
        marks = [
            mark for row in table.rows if isinstance(row[1], PlotCell) for mark in row[1].marks
        ]
        assert all(mark.high is None or mark.high <= axis.high for mark in marks)


def test_more_pairs_than_eight_fold():
    case = compared({f"m{k}": halting(k) for k in range(2, 7)}, n=60)
    assert len(case.pairs) == 10
    blocks = comparison_blocks(messages("en"), case, case.pair(""))
    card = next(block for block in blocks if isinstance(block, Card))
    assert isinstance(card.blocks[0], Table)
    assert len(card.blocks[0].rows) == 8
    rest = next(b for b in blocks if isinstance(b, Details) and b.key == "pairs")
    assert rest.finding == "2 narrower differences."


def test_each_model_alone_is_given_where_rows_are_pairs():
    text = as_markdown(comparison_page("three, one ahead", "en"))
    assert "sure is highest with 100 %, fond lowest with 50 %." in text
    assert "Each model alone" not in as_markdown(comparison_page("two apart", "en"))


def test_written_answers_are_compared_in_their_own_unit():
    table = marks_table("three written")
    axis = table.columns[1].axis
    assert axis
    assert all(label == "0" or "." in label for label in axis.labels)
    assert "paired t test" in as_markdown(comparison_page("three written", "en"))


def test_written_answers_are_compared_by_the_values_of_another_scorer(
    monkeypatch: pytest.MonkeyPatch,
):
    added = ReplyScorer(lambda _sample, _reply: 0.5, label={"en": "Edit similarity"})
    monkeypatch.setitem(SCORERS._entries, "similar", added)  # pyright: ignore[reportPrivateUsage]
    results = [
        replace(
            one, trials=[replace(t, scores={**t.scores, "similar": (value,)}) for t in one.trials]
        )
        for one, value in ((answers_result("late"), 0.75), (answers_result("weak"), 0.25))
    ]
    assert compare(contenders(results), results).measures == ("rouge", "similar")
    case = compare(contenders(results), results, "similar")
    text = as_markdown(comparison_blocks(messages("en"), case, case.pair("")))
    assert "late has the higher Edit similarity: 0.50 above weak." in text
    assert "Number of questions by Edit similarity" in text
    assert "Closer to the reference" not in text


def test_any_text_metric_can_be_compared_by_its_name():
    results = [answers_result(model) for model in ("late", "weak")]
    case = compare(contenders(results), results, "bleu-1")
    assert (case.measure, case.measures) == ("bleu-1", ("rouge", "bleu-1"))
    assert "late has the higher bleu-1" in as_markdown(
        comparison_blocks(messages("en"), case, case.pair(""))
    )


def test_without_a_pair_the_sentence_says_that_nothing_is_shared():

    results = [cell_result(right, model="a", n=1), cell_result(right, model="b", n=1)]
    case = compare(contenders(results), results)
    (head,) = comparison_blocks(messages("en"), case, case.pair(""))
    assert isinstance(head, Headline)
    assert head.text == "They share fewer than two questions, so there is nothing to compare."


def test_how_the_models_were_asked_otherwise_is_named():
    answers = [answers_result(name) for name in ("late", "early")]
    for results in ([cell_result(right, model=name) for name in ("sure", "same")], answers):
        first, other = results
        signature = other.cell.signature + "|temp:0.7"
        results = [first, replace(other, cell=replace(other.cell, signature=signature))]
        page = as_markdown(comparison_blocks(messages("en"), compare(contenders(results), results)))
        assert f"Asked with other settings than {first.cell.model}: temp:–/0.7." in page


def _at_coverage(*results: CellResult) -> Details | None:
    case = compare(contenders(results), results)
    blocks = comparison_blocks(messages("en"), case, case.pair(""))
    named = (block for block in blocks if isinstance(block, Details))
    return next((each for each in named if each.key == "coverage"), None)


def test_two_models_are_compared_on_the_same_share_of_their_surest_answers():
    better = decided(calibrated, n=400, model="better")
    worse = decided(
        lambda question, _, target: as_sure(0.9, (target + (question % 3 == 0)) % 4),
        n=400,
        model="worse",
    )
    section = _at_coverage(better, worse)
    assert section is not None
    assert section.finding == "better is right more often at every coverage."
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert table.head[1:3] == ("better right", "worse right")
    assert [cell_text(cell) for cell in table.rows[0][:3]] == [
        "50 %",
        "87 % (from 0.75)",
        "67 % (from 0.90)",
    ]


def test_a_model_that_is_ahead_on_its_surest_answers_alone_is_so_said():
    # Both are right on three in four; the second is as sure of what is wrong.
    blind = decided(
        lambda question, _, target: as_sure(0.9, (target + (question % 4 == 0)) % 4),
        n=400,
        model="b",
    )
    section = _at_coverage(decided(calibrated, n=400, model="a"), blind)
    assert section is not None
    assert section.finding == "a is right more often on the surest 50 %."


def test_of_two_equally_good_deciders_no_coverage_shows_a_difference():
    same = (decided(calibrated, n=400, model=name) for name in ("one", "other"))
    section = _at_coverage(*same)
    assert section is not None
    assert section.finding == "No difference shown where both act on the same share."


def test_replies_have_no_coverage_to_be_equal_at():
    assert _at_coverage(cell_result(right, model="a"), cell_result(fond, model="b")) is None
