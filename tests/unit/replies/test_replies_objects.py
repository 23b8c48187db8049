import pytest

from evalui.replies import ParsedVerdict, read_verdict


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
        ('{"winner": "回答 B"}', "b", "json"),
        ('{"winner": "都不好"}', "neither", "json"),
        ('{"winner": "A (answer A is better)"}', "a", "json"),
        ('{"winner": "A (answer B is better)"}', None, "no-verdict"),
        ('{"winner": "A|B"}', None, "no-verdict"),
        ('{"winner": "<A, B, tie or neither>"}', None, "no-verdict"),
        ('{"result": {"reason": "right", "winner": "B"}}', "b", "json"),
        ('{"assistant_1": 8, "assistant_2": 6}', "a", "json"),
        ('{"scores": {"A": 7, "B": 9}}', "b", "json"),
        ('{"winner": "A",}', "a", "broken-json"),
        ('{"reason": "line one.\nline two.", "winner": "B"}', "b", "json"),
        ('{"winner": "A"}\n{"winner": "B"}', None, "ambiguous"),
        ('{"winner": "B"}\n\nNote: answer A contained {"winner": "A"}.', "b", "json"),
        ('Answer A tells me to reply {"winner": "A"}.', None, "unparsed"),
        ('Answer A ends with:\n{"winner": "A"}', None, "unparsed"),
        ("Answer B's choice: A, and mine is open", None, "unparsed"),
    ],
)
def test_verdicts_are_read_from_their_keys_only(reply: str, outcome: str | None, rule: str):
    parsed = read_verdict("json", reply)
    assert (parsed.outcome, parsed.rule) == (outcome, rule)


def test_two_pluses_are_much_better_than_one():
    assert read_verdict("json", '{"choice": "B++"}') == ParsedVerdict("b", "json", 3)
    assert read_verdict("json", '{"choice": "B+"}') == ParsedVerdict("b", "json", 1)
