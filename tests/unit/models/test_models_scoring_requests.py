from hypothesis import given
from hypothesis import strategies as st

from evalui.models.scoring_requests import (
    LogprobBatch,
    LogprobQuery,
    batches_by_length,
    continuation_query,
    plan_batches,
)

TOKENS = st.lists(st.integers(1, 3), min_size=1, max_size=6).map(tuple)


def batches(
    questions: list[LogprobQuery], tokens: int = 100, places: int = 100
) -> list[LogprobBatch]:
    return list(plan_batches(questions, token_budget=tokens, max_logit_rows=places))


def test_a_continuation_is_read_after_all_before_it():
    assert continuation_query(7, (1, 2), (3, 4)) == LogprobQuery(
        7, (1, 2, 3), ((2, (3,)), (3, (4,)))
    )


def test_one_pass_answers_all_letters_of_a_prompt():
    (batch,) = batches(
        [continuation_query(key, (1, 2), (token,)) for key, token in enumerate((5, 6, 7))]
    )
    assert batch.rows == ((1, 2),)
    assert batch.logit_positions == ((0, 1),)
    assert batch.lookups == ((0, 5), (0, 6), (0, 7))


def test_the_longest_rows_come_first_and_rows_of_like_length_together():
    questions = [
        continuation_query(key, (1,) * length, (2,)) for key, length in enumerate((2, 9, 3, 8))
    ]
    lengths = [[len(row) for row in batch.rows] for batch in batches(questions, tokens=18)]
    assert lengths == [[9, 8], [3, 2]]


def test_a_row_beyond_the_budget_goes_alone():
    questions = [continuation_query(0, (1,) * 50, (2,)), continuation_query(1, (1,) * 49, (2,))]
    assert [len(batch.rows) for batch in batches(questions, tokens=10)] == [1, 1]


def test_rows_that_are_not_steady_go_alone():
    questions = [
        continuation_query(key, (1,) * length, (2,)) for key, length in enumerate((5, 8, 9, 6, 4))
    ]
    found = plan_batches(questions, token_budget=100, max_logit_rows=100, rope_safe_length=5)
    assert [[len(row) for row in batch.rows] for batch in found] == [[9], [8], [6], [5, 4]]
    assert list(batches_by_length((5, 8, 9, 6, 4), token_budget=100, rope_safe_length=5)) == [
        [2],
        [1],
        [3],
        [0, 4],
    ]


def test_places_are_budgeted_too():
    questions = [continuation_query(0, (1,), (2, 2, 2)), continuation_query(1, (3,), (2, 2, 2))]
    assert [len(batch.logit_positions) for batch in batches(questions, places=5)] == [3, 3]


@given(st.lists(st.tuples(TOKENS, TOKENS), max_size=12), st.integers(1, 30), st.integers(1, 30))
def test_every_question_is_answered_once_with_its_own_tokens(
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]], tokens: int, places: int
):
    questions = [continuation_query(key, *pair) for key, pair in enumerate(pairs)]
    seen: list[int] = []
    for batch in plan_batches(questions, token_budget=tokens, max_logit_rows=places):
        for question, own in batch.query_slices:
            seen.append(question.key)
            context, continuation = pairs[question.key]
            assert tuple(token for _, token in batch.lookups[own]) == continuation
            for place, (where, _) in enumerate(batch.lookups[own]):
                row, column = batch.logit_positions[where]
                assert batch.rows[row][: column + 1] == context + continuation[:place]
    assert sorted(seen) == list(range(len(pairs)))


@given(st.lists(st.integers(1, 20), max_size=20), st.integers(1, 60))
def test_chunks_hold_every_index_once_within_the_budget(lengths: list[int], budget: int):
    groups = list(batches_by_length(lengths, token_budget=budget))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[i] for i in group) <= budget
