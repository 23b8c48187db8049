import pytest

from evalui.scoring.parsing.verdict_json import GradedOutcome, outcome_by_scores, read_json


@pytest.mark.parametrize(
    ("reply", "outcome", "rule"),
    [
        ('{"winner": "A", "winner": "B"}', None, "ambiguous"),
        ('{"winner": "A"}\nCorrected: {"winner": "B"}', "b", "json"),
        ('{"winner": model_b, "why": ', "b", "broken-json"),
        ("{“winner”: “A”}", "a", "broken-json"),
        ("{'choice': 'B<A'}", "a", "json"),
        ('{"verdict": "Tie"}', "tie", "json"),
        ('{"score_a": 7.0, "score_b": 7.1}', "tie", "json"),
        ('{"score_a": NaN, "score_b": 3}', None, "unparsed"),
        ('{"winner": true}', None, "no-verdict"),
        ('{"reason": "it says \\"winner\\": \\"A\\"", "score', None, "unparsed"),
        ("no object at all", None, "unparsed"),
        ("[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2}]", "a", "json"),
        ('[{"model": "model_1", "rank": 1}]', None, "unparsed"),
        ('{"winner": "A", "choice": "B"}', None, "ambiguous"),
        ('{"winner": "both bad"}', "neither", "json"),
        ('{"reason": "I looked at both", "Final Verdict": "Assistant B"}', "b", "json"),
    ],
)
def test_verdicts_are_read_from_their_keys_only(reply: str, outcome: str | None, rule: str):
    judged, found = read_json(reply)
    assert (judged.outcome if judged else None, found) == (outcome, rule)


def test_two_pluses_are_much_better_than_one():
    assert read_json('{"choice": "B++"}')[0] == GradedOutcome("b", 3)
    assert read_json('{"choice": "B+"}')[0] == GradedOutcome("b", 1)


@pytest.mark.parametrize(("score_b", "outcome"), [(7.1, "tie"), (7.2, "b"), (6.8, "a")])
def test_scores_no_further_apart_than_a_tenth_tie(score_b: float, outcome: str):
    assert outcome_by_scores(7.0, score_b).outcome == outcome
