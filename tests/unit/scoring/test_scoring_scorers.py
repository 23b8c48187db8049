from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher

import pytest

from evalui.errors import DataError
from evalui.scoring.answer_summary import ranking_metric, summarise_answers
from evalui.scoring.metrics import known_metrics, metrics_in
from evalui.scoring.scorers import SCORERS, ReplyScorer, Score, ScoreValue, score_answers
from evalui.scoring.texts.metrics import ALL_TEXT_METRICS, MAIN
from evalui.types import Cell, CellResult, Reading, Sample, Trial, Variant


def similarity(sample: Sample, reply: str) -> float:
    return max(SequenceMatcher(None, each, reply).ratio() for each in sample.references)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> dict[str, ReplyScorer]:
    """The entries of the registry, to which a test may add."""
    entries = dict(SCORERS._entries)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(SCORERS, "_entries", entries)
    return entries


def _sample(*references: str) -> Sample:
    return Sample("q", "Which town?", target=references)


def _cell(values: Mapping[str, float], name: str = "similar") -> CellResult:
    trials = tuple(
        Trial(
            id_,
            Variant(()),
            0,
            "answer",
            {"answer": Reading(0, 0.0, "answered")},
            reply="x",
            scores={name: (value,)},
        )
        for id_, value in values.items()
    )
    cell = Cell("qa", "m", "question_answer", "question_answer", "origin", "s", "answers")
    samples = {id_: Sample(id_, "", target=("x",)) for id_ in values}
    return CellResult(cell, samples, trials, len(trials))


def test_the_15_text_metrics_are_entries_of_the_registry():
    assert list(score_answers(_sample("Paris"), ("Paris",))) == list(ALL_TEXT_METRICS)
    assert list(SCORERS) == ["rouge_bleu", "exact_match", "token_f1", "visual"]


def test_a_row_has_the_figure_of_pictures_that_it_names():
    sample = Sample("q", "How many?", target=("100", "7"), metadata={"metric": "relaxed_accuracy"})
    made = score_answers(sample, ("104",))
    assert made["relaxed_accuracy"] == 1
    assert set(made) == {*ALL_TEXT_METRICS, "relaxed_accuracy"}
    few = replace(sample, metadata={"metric": "vqa_accuracy"})
    assert set(score_answers(few, ("7",))) == set(ALL_TEXT_METRICS)  # two people are too few
    other = replace(sample, metadata={"metric": "kilometres"})
    assert set(score_answers(other, ("7",))) == set(ALL_TEXT_METRICS)


def test_the_figure_that_all_rows_name_leads():
    cell = _cell({"a": 1.0, "b": 0.0}, "anls")
    named = {id_: replace(one, metadata={"metric": "anls"}) for id_, one in cell.samples.items()}
    assert ranking_metric([summarise_answers(replace(cell, samples=named))]).figure == "anls"
    both = {"rouge-l-f": (0.5,), "bleu-1": (0.3,), "token_f1": (0.2,)}
    written = replace(cell, trials=[replace(one, scores=both) for one in cell.trials])
    assert ranking_metric([summarise_answers(replace(written, samples=named))]).figure == MAIN
    named["a"] = replace(named["a"], metadata={"metric": "bleu-1"})
    named["b"] = replace(named["a"], metadata={"metric": "token_f1"})
    assert ranking_metric([summarise_answers(replace(written, samples=named))]).figure == MAIN
    named["a"] = named["b"]
    assert ranking_metric([summarise_answers(replace(written, samples=named))]).figure == "token_f1"


def test_a_scorer_of_another_package_is_scored_and_is_a_metric(added: dict[str, ReplyScorer]):
    added["similar"] = ReplyScorer(similarity, label={"en": "Similar"})
    assert score_answers(_sample("ab", "abcd"), ("abc",))["similar"] == 6 / 7
    metric = known_metrics()["similar"]
    assert (metric.own_label("zh"), metric.needs, metric.answers) == (
        "Similar",
        "references",
        "texts",
    )
    names = [one.name for one in metrics_in("files", "texts")]
    assert names[-2:] == ["similar", "similar_spread"]


def test_the_core_averages_a_value_with_its_range_over_questions(added: dict[str, ReplyScorer]):
    added["similar"] = ReplyScorer(similarity)
    summary = summarise_answers(_cell({"a": 0.0, "b": 1.0, "c": 0.5, "d": 0.5}))
    mean = summary.means["similar"]
    assert (mean.value, mean.n) == (0.5, 4)
    assert 0 < mean.low < 0.5 < mean.high < 1
    assert summary.figures["similar"] == mean


def test_what_was_stored_before_a_scorer_came_has_no_figure_of_it(added: dict[str, ReplyScorer]):
    added["similar"] = ReplyScorer(similarity)
    summary = summarise_answers(_cell({"a": 0.3}, "rouge-l-f"))
    assert summary.figures["similar"] is None
    assert summary.means["rouge-l-f"].value == 0.3


def test_a_conversation_with_a_reference_per_turn_is_scored_turn_by_turn(
    added: dict[str, ReplyScorer],
):
    added["equal"] = ReplyScorer(lambda sample, reply: float(sample.references == (reply,)))
    assert score_answers(_sample("one", "two"), ("one", "no"))["equal"] == 0.5
    assert score_answers(_sample("one", "two", "three"), ("one", "no"))["equal"] == 0.0


def test_a_question_without_a_reference_is_scored_by_those_that_need_none(
    added: dict[str, ReplyScorer],
):
    added["short"] = ReplyScorer(lambda _, reply: float(len(reply) < 5), needs_reference=False)
    assert score_answers(_sample(), ("Rome",)) == {"short": 1.0}
    made = summarise_answers(_cell({"a": 1.0, "b": 0.0}, "short"))
    assert (made.means["short"].value, known_metrics()["short"].needs) == (0.5, "")


def test_a_value_that_needs_no_reference_counts_no_answer_as_compared(
    added: dict[str, ReplyScorer],
):
    added["short"] = ReplyScorer(lambda _, reply: float(len(reply) < 5), needs_reference=False)
    result = _cell({"a": 1.0, "b": 0.0}, "short")
    first, second = result.trials
    both = Trial(
        second.sample_id, second.variant, 0, "answer", second.readings,
        reply="x", scores={"short": (0.0,), "rouge-l-f": (0.25,)},
    )  # fmt: skip
    made = summarise_answers(CellResult(result.cell, result.samples, (first, both), 2))
    assert (made.compared, made.means["short"].n, made.means["rouge-l-f"].n) == (1, 2, 1)


def test_several_values_are_declared_and_none_is_no_value(added: dict[str, ReplyScorer]):
    def several(sample: Sample, reply: str) -> Score:
        assert sample.references
        return {"left": 0.25, "right": 0.75} if reply else None

    added["both"] = ReplyScorer(several, {"left": ScoreValue("lower"), "right": ScoreValue()})
    made = score_answers(_sample("x"), ("x",))
    assert (made["left"], made["right"]) == (0.25, 0.75)
    assert "left" not in score_answers(_sample("x"), ("",))
    assert known_metrics()["left"].direction == "lower"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (1.5, "The scorer odd gives 1.5 as odd; expected a number from 0 to 1."),
        (float("nan"), "The scorer odd gives nan as odd; expected a number from 0 to 1."),
        ({"even": 0.5}, "The scorer odd gives a value even that it does not declare."),
    ],
)
def test_what_is_no_declared_share_is_refused(
    added: dict[str, ReplyScorer], given: Score, problem: str
):
    added["odd"] = ReplyScorer(lambda _sample, _reply: given)
    with pytest.raises(DataError) as caught:
        score_answers(_sample("x"), ("x",))
    assert str(caught.value) == problem


def test_what_decides_right_or_wrong_has_pass_at_k_and_gives_nothing_between(
    added: dict[str, ReplyScorer],
):
    added["solved"] = ReplyScorer(lambda _, reply: float(reply), right_or_wrong=True)
    assert {"solved_pass_at_2", "solved_majority"} <= set(known_metrics())
    assert "solved_spread" not in known_metrics()
    assert score_answers(_sample("x"), ("1",))["solved"] == 1
    with pytest.raises(DataError, match=r"gives 0\.5 as solved, which it declares right or wrong"):
        score_answers(_sample("x"), ("0.5",))


def test_a_scorer_with_a_value_of_another_one_is_left_out_and_named(
    added: dict[str, ReplyScorer], caplog: pytest.LogCaptureFixture
):
    added["mine"] = ReplyScorer(lambda _sample, _reply: {"bleu-1": 1.0}, {"bleu-1": ScoreValue()})
    assert score_answers(_sample("a"), ("b",))["bleu-1"] == 0.0
    score_answers(_sample("a"), ("b",))  # it is named once
    assert [each.getMessage() for each in caplog.records] == [
        "The scorer mine is left out: bleu-1 is given by another scorer already."
    ]
