"""The figures of one cell of written answers, from trials as they are stored."""

from dataclasses import replace

import pytest
from open_examples import answer_trial, answered_result, answers_result, judge_result, rating_result

from evalui.report.frames.metrics import answer_metrics
from evalui.scoring.answer_summary import answers, summarise_answers
from evalui.scoring.arena.verdicts import rating_cells
from evalui.types import Sample, Variant


def test_means_are_over_questions_with_a_reference():
    found = summarise_answers(answers_result("late"))
    # Each third of twelve questions has no reference.
    assert (found.questions, found.n, found.compared) == (12, 12, 8)
    assert found.means["rouge-l-f"].value == pytest.approx(0.9)
    assert found.means["rouge-l-f"].n == 8
    assert len(found.means) == 15


def test_a_mean_has_a_range_over_questions():
    mean = summarise_answers(answered_result(*"abcd", figures=(0.0, 0.2, 0.8, 1.0))).means["bleu-4"]
    assert mean.value == pytest.approx(0.5)
    assert 0 <= mean.low < 0.3
    assert 0.7 < mean.high <= 1


def test_blank_and_cut_answers_are_counted():
    result = answered_result("good", " ", "long")
    long = answer_trial(result.samples["q2"], "long", cut=True)
    found = summarise_answers(replace(result, trials=(*result.trials[:2], long)))
    assert (found.n, found.empty, found.truncated) == (3, 1, 1)
    # The blank one counts as 0.
    assert found.means["rouge-1-f"].value == pytest.approx(1 / 3)


def test_replies_are_counted_under_their_own_name_where_questions_are_asked_several_times():
    once = answered_result("a b", "b", "a", references="a b")
    trials = [
        replace(trial, variant=Variant((), repeat)) for repeat in range(4) for trial in once.trials
    ]
    found = summarise_answers(replace(once, trials=trials, total=len(trials)))
    assert (found.n, found.compared, found.replies) == (3, 3, 12)
    first = summarise_answers(once)
    assert found.containment == first.containment
    rows = {row["metric"]: row for row in answer_metrics(found)}
    assert (rows["rouge-1-f"]["n"], rows["replies"]["value"]) == (3, 12)


def test_the_length_is_the_median_in_characters_of_all_turns():
    result = answered_result("ab", "abcd", "abc")
    assert summarise_answers(result).length == 3
    talk = answer_trial(result.samples["q2"], "abc", turns=3)
    assert summarise_answers(replace(result, trials=(*result.trials[:2], talk))).length == 4


def test_a_cell_without_answers_has_no_figures():
    found = summarise_answers(answers_result("late", done=0))
    assert (found.n, found.compared, found.means, found.corpus) == (0, 0, {}, None)
    assert found.length == 0
    assert found.state == "running"


def test_without_references_there_are_counts_only():
    asked = {"q": Sample("q", "Write a poem.")}
    trials = (answer_trial(asked["q"], "Roses are red."),)
    found = summarise_answers(replace(answers_result("m"), samples=asked, trials=trials))
    assert (found.n, found.compared, found.means, found.corpus) == (1, 0, {}, None)


def test_corpus_figures_compare_the_reply_with_its_references():
    found = summarise_answers(answered_result("a b c d x", references="a b c d e"))
    assert found.corpus
    assert found.corpus.bleu == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_a_conversation_is_compared_turn_by_turn_where_each_has_its_reference():
    sample = Sample("q", "Hello?", target=("one two three four", "five six seven eight"))
    turns = ("one two three four", "five six seven eight")
    trial = replace(answer_trial(sample, turns[1]), turns=turns)
    result = replace(answers_result("m"), samples={"q": sample}, trials=(trial,))
    found = summarise_answers(result).corpus
    assert found
    assert found.bleu == pytest.approx(100)
    swapped = replace(result, trials=(replace(trial, turns=turns[::-1]),))
    worse = summarise_answers(swapped).corpus
    assert worse
    assert worse.bleu < 1


# ---------------------------------------------------------------- marks of a judge


def test_marks_have_a_mean_on_the_judges_own_scale():
    judged = rating_result({"late": [10, 8, 9], "weak": [1, 2, None]})
    (late,) = answers([answers_result("late"), judged])[0].ratings
    assert (late.judge, late.scale, late.n, late.unscored) == ("judge-local", "rating", 3, 0)
    assert late.mean
    assert late.mean.value == pytest.approx(9)
    assert 8 <= late.mean.low < 9 < late.mean.high <= 10
    (weak,) = answers([answers_result("weak"), judged])[0].ratings
    assert (weak.n, weak.unscored) == (2, 1)
    assert weak.mean
    assert weak.mean.value == pytest.approx(1.5)


def test_correctness_is_a_share():
    judged = rating_result({"late": [1, 1, 0, 1]}, scale="correct")
    (found,) = answers([answers_result("late"), judged])[0].ratings
    assert found.scale == "correct"
    assert found.mean
    assert found.mean.value == pytest.approx(0.75)


def test_a_judge_that_gave_no_readable_mark_has_no_mean():
    judged = rating_result({"late": [None, None]})
    (found,) = answers([answers_result("late"), judged])[0].ratings
    assert (found.mean, found.n, found.unscored) == (None, 0, 2)


def test_a_run_attaches_marks_to_the_model_and_dataset_they_are_about():
    results = [
        answers_result("late"),
        answers_result("late", dataset="other"),
        rating_result({"late": [9], "weak": [1]}),
        judge_result(),
    ]
    here, there = answers(results)
    assert [one.mean and one.mean.value for one in here.ratings] == [pytest.approx(9)]
    assert there.ratings == ()


def test_a_judge_that_has_not_begun_is_asked_as_the_others_are():
    late = replace(rating_result({}, judge="late"), state="failed", error="No answer.")
    results = [answers_result("late"), rating_result({"late": [9]}), late]
    assert rating_cells(results) == tuple(results[1:])
    (summary,) = answers(results)
    assert [(one.judge, one.n, one.error) for one in summary.ratings] == [
        ("judge-local", 1, ""),
        ("late", 0, "No answer."),
    ]
    assert rating_cells([judge_result(), judge_result(judge="late", done=0)]) == ()
    assert rating_cells([late]) == ()
