import pytest

from evalui.replies.verdict_labels import (
    GradedOutcome,
    explicit_labels,
    label_at,
    only_label,
    outcome_by_scores,
    preferences_in,
    sides_in,
)

LETTERS = {"C": GradedOutcome("tie"), "D": GradedOutcome("neither")}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("A", "a"),
        ("Response 2", "b"),
        ("assistant_b", "b"),
        ("the first answer", "a"),
        ("回答乙", "b"),
        ("第二个回答", "b"),
        ("前者", "a"),
        ("B is slightly better", "b"),
        ("A is worse", "b"),
        ("回答 A 不如回答 B", "b"),
        ("A > B", "a"),
        ("助手1=助手2", "tie"),
        ("both are good", "tie"),
        ("neither is better", "tie"),
        ("C", "tie"),
        ("平局", "tie"),
        ("both are equally bad", "neither"),
        ("tie (both bad)", "neither"),
        ("两个都不好", "neither"),
        ("D", "neither"),
        ("E", None),
        ("A or B", None),
        ("A good one", None),
        ("甲醇", None),
        ("A>A", None),
        ("", None),
    ],
)
def test_a_label_names_an_outcome(text: str, outcome: str | None):
    named = only_label(text, LETTERS)
    assert (named.outcome if named else None) == outcome


@pytest.mark.parametrize(
    ("text", "strength"),
    [("A>B", 1), ("A>>B", 3), ("B is much better", 3), ("B++", 3), ("B", None)],
)
def test_a_label_has_the_strength_it_states(text: str, strength: int | None):
    named = only_label(text, LETTERS)
    assert named is not None
    assert named.strength == strength


def test_brackets_that_hold_no_outcome_are_a_malformed_label():
    label = label_at("[[A>C]]", 0, LETTERS)
    assert label is not None
    assert label.explicit
    assert label.value is None
    assert label_at("[[reference]]", 0, LETTERS) is None


def test_an_index_is_no_label():
    assert [start for start, _ in explicit_labels("m[[A]] and [[B]]", LETTERS)] == [11]
    assert [start for start, _ in explicit_labels("答案是[[B]]", LETTERS)] == [3]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("Answer A is better.", ["a"]),
        ("Answer A is better in style.", []),
        ("A better answer would name it.", []),
        ("A is better than B, as said.", ["a"]),
        ("A is better than B in turn 1.", []),
        ("回答 B 更好;回答 A 不好。", ["b"]),
        ("B 并不更好。", []),
    ],
)
def test_a_preference_is_a_statement_of_the_whole(text: str, sides: list[str]):
    assert [one.side for one in preferences_in(text) if not one.limited] == sides


def test_all_answers_that_are_named_are_known():
    assert sides_in("Answer A, the first one") == {"a"}
    assert sides_in("助手1与助手2") == {"a", "b"}


@pytest.mark.parametrize(("score_b", "outcome"), [(7.1, "tie"), (7.2, "b"), (6.8, "a")])
def test_scores_no_further_apart_than_a_tenth_tie(score_b: float, outcome: str):
    assert outcome_by_scores(7.0, score_b).outcome == outcome
