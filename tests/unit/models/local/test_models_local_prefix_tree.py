from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.models.local import prefix_tree
from evalui.models.local.prefix_tree import TreeBatch, linear_batch, plan_tree_batches
from evalui.models.scoring_requests import LogprobQuery, TokenIds, continuation_query
from evalui.models.tokenization import common_prefix_length

TOKENS = st.lists(st.integers(1, 3), min_size=1, max_size=8).map(tuple)
# Examples are long, so that there are prefixes to be found, on top of one another too.
SHOTS = (tuple(range(100, 140)), tuple(range(100, 180)), tuple(range(200, 230)), ())
CONTEXTS = st.tuples(st.sampled_from(SHOTS), TOKENS).map(lambda parts: parts[0] + parts[1])


def batches(
    questions: list[LogprobQuery],
    tokens: int = 10_000,
    places: int = 10_000,
    kept: list[TokenIds] | None = None,
) -> list[TreeBatch]:
    return list(
        plan_tree_batches(
            questions,
            cached_prefixes=kept or (),
            token_budget=tokens,
            max_logit_rows=places,
        )
    )


def subject(shots: TokenIds, questions: int = 20, length: int = 40) -> list[LogprobQuery]:
    """Questions with four options each after the same examples, each with ids of its own."""
    found: list[LogprobQuery] = []
    for number in range(questions):
        stem = tuple(1000 + 100 * number + place for place in range(length))
        found += [
            continuation_query(hash((shots, number, option)), shots + stem, (5 + option, 9))
            for option in range(4)
        ]
    return found


def paths(batch: TreeBatch) -> list[TokenIds]:
    """For each node the tokens from the root to it, found by what the nodes below it see."""
    return [
        batch.prefix + tuple(batch.tokens[k] for k in range(q + 1) if q < batch.subtree_ends[k])
        for q in range(len(batch.tokens))
    ]


def test_options_of_a_question_share_its_tokens():
    (batch,) = batches(
        [continuation_query(key, (1, 2, 3), (token, 9, 8)) for key, token in enumerate((5, 6))]
    )
    assert batch.tokens == (1, 2, 3, 5, 9, 6, 9)
    assert batch.positions == (0, 1, 2, 3, 4, 3, 4)
    assert batch.subtree_ends == (7, 7, 7, 5, 5, 7, 7)


def test_equal_questions_are_computed_once_and_answered_twice():
    (batch,) = batches([continuation_query(key, (1, 2), (3,)) for key in (7, 8)])
    assert batch.tokens == (1, 2)
    assert batch.logit_nodes == (1,)
    assert [question.key for question, _ in batch.query_slices] == [7, 8]


def test_examples_before_many_questions_are_a_prefix():
    shots = tuple(range(300))
    for batch in batches(subject(shots)):
        assert batch.prefix == shots
        assert len(batch.tokens) == 20 * (40 + 4)
        assert batch.positions[:2] == (300, 301)


def test_each_subject_has_a_prefix_of_its_own():
    prefixes = {batch.prefix for batch in batches(subject((1,) * 50) + subject((2,) * 60))}
    assert prefixes == {(1,) * 50, (2,) * 60}


def test_a_prefix_may_extend_another():
    head = tuple(range(400, 440))
    prefixes = {
        batch.prefix for batch in batches(subject(head) + subject((*head, *range(30)), length=50))
    }
    assert prefixes == {head, (*head, *range(30))}


def test_a_question_alone_has_no_prefix_but_uses_one_that_is_kept():
    shots = tuple(range(300))
    alone = subject(shots, 1)
    assert [batch.prefix for batch in batches(alone)] == [()]
    assert [batch.prefix for batch in batches(alone, kept=[(*shots, 77)])] == [shots]


def test_questions_that_begin_alike_each_use_the_longest_prefix_that_is_kept():
    head = tuple(range(40))
    kept = [(*head, *range(1000, 1040)), (*head, *range(2000, 2040))]
    found = batches(
        [continuation_query(at, (*each, 7), (8,)) for at, each in enumerate(kept)], kept=kept
    )
    assert [batch.prefix for batch in found] == kept


def test_a_few_common_words_more_are_no_new_prefix():
    """All questions of this window happen to begin alike; their examples are kept already."""
    shots = tuple(range(300))
    (batch,) = batches(subject((*shots, 7, 8, 9)), kept=[shots])
    assert batch.prefix == shots


@pytest.mark.parametrize(("shared", "n_prefix"), [(15, 0), (16, 16)])
def test_a_prefix_spares_sixteen_tokens(shared: int, n_prefix: int):
    begun = tuple(range(shared))
    assert {len(batch.prefix) for batch in batches(subject(begun))} == {n_prefix}


@pytest.mark.parametrize(("beyond", "n_prefix"), [(127, 0), (128, 20)])
def test_few_tokens_beyond_a_common_beginning_need_no_batch_of_their_own(
    beyond: int, n_prefix: int
):
    texts = [LogprobQuery(at, (*range(20), 50 + at, *[7] * 62), ((83, (1,)),)) for at in range(2)]
    texts.append(LogprobQuery(2, (*range(20), 60, *[7] * (beyond - 127)), ((21, (1,)),)))
    assert {len(batch.prefix) for batch in batches(texts)} == {n_prefix}


def test_a_common_beginning_of_a_small_part_of_a_window_is_a_prefix():
    """Twelve hundred tokens fill a batch, however much else there is."""
    shots = tuple(range(60))
    others = [continuation_query(-1 - at, (5000 + at,) * 500, (1,)) for at in range(40)]
    small = subject(shots, questions=20, length=56)
    prefixes = {
        batch.prefix
        for batch in batches([*small, *others])
        for q, _ in batch.query_slices
        if q in small
    }
    assert prefixes == {shots}


def test_a_text_alone_has_no_prefix_however_long_its_continuation():
    (batch,) = batches([continuation_query(0, tuple(range(40)), (6,) * 300)])
    assert batch.prefix == ()


def test_a_text_a_little_longer_than_a_long_prefix_adds_none():
    shots = tuple(range(2500))
    assert {batch.prefix for batch in batches(subject(shots), kept=[shots])} == {shots}


def test_a_prefix_less_than_twice_as_long_as_the_one_below_does_not_last():
    shots = tuple(range(320))
    orders = [
        continuation_query(
            100 * number + order, shots + (500 + number,) * 120 + (order,) * 40, (5,)
        )
        for number in range(2)
        for order in range(24)
    ]
    found = batches(orders)
    assert {len(batch.prefix) for batch in found} == {440}
    assert {batch.cacheable_length for batch in found} == {320}


def test_options_are_not_parted_from_their_question_to_fill_a_batch():
    alike = [
        continuation_query(key, (1, 2, 3, *[10 + key // 4] * 60), (50 + key, 9)) for key in range(8)
    ]
    found = batches(alike, tokens=2 * 67 - 2)
    assert [len(batch.tokens) for batch in found] == [67, 67]
    assert len(batches(alike[:4], tokens=67)) == 1


def test_pieces_begin_with_questions_and_do_not_part_their_options():
    two = [(0,) * 60, (1,) * 56]
    (batch,) = batches([continuation_query(key, two[key // 4], (50 + key, 9)) for key in range(8)])
    assert [(piece.begin, piece.end, piece.ancestors) for piece in batch.chunks] == [
        (0, 64, ()),
        (64, 124, ()),
    ]


def test_options_stay_in_the_chunk_of_a_long_question():
    (batch,) = batches([continuation_query(key, (0,) * 80, (50 + key, 9)) for key in range(4)])
    assert [(piece.begin, piece.end) for piece in batch.chunks] == [(0, 84)]


def test_a_question_too_wide_for_a_chunk_is_cut_between_its_options():
    (batch,) = batches(
        [continuation_query(key, (0,) * 80, (50 + key, *[9] * 40)) for key in range(2)]
    )
    assert [(piece.begin, piece.end, piece.ancestors) for piece in batch.chunks] == [
        (0, 120, ()),
        (120, 160, tuple(range(80))),
    ]


@pytest.mark.parametrize("length", [2048, 16_000])
def test_a_long_text_alone_is_a_prefix_so_that_no_chunk_gathers_it(length: int):
    text = tuple(range(length))
    (batch,) = batches([continuation_query(0, (*text, 5), (6, 7))])
    assert batch.prefix == text
    assert max(len(piece.ancestors) for piece in batch.chunks) < 16


def test_a_text_that_is_not_long_and_alone_has_no_prefix():
    (batch,) = batches([continuation_query(0, tuple(range(2047)), (6, 7))])
    assert batch.prefix == ()


def test_a_long_text_stands_on_what_it_shares():
    shots = tuple(range(300))
    prefixes = {
        batch.prefix
        for batch in batches([*subject(shots), continuation_query(-1, shots * 9, (6, 7))])
    }
    assert prefixes == {shots, (shots * 9)[:-1]}


def test_examples_last_and_questions_that_extend_them_do_not():
    lead, shots = tuple(range(900, 920)), tuple(range(300))
    orders = [
        continuation_query(
            100 * number + order, lead + shots + (500 + number,) * 60 + (order,) * 40, (5,)
        )
        for number in range(2)
        for order in range(24)
    ]
    for kept in [], [lead + shots]:
        for batch in batches(orders, kept=kept):
            assert len(batch.prefix) == len(lead + shots) + 60
            assert batch.prefix[: batch.cacheable_length] == lead + shots
    both = batches([*orders, *subject((*lead, 7, *range(200)))])
    assert {batch.prefix[: batch.cacheable_length] for batch in both} == {
        lead + shots,
        (*lead, 7, *range(200)),
    }


def test_a_prefix_of_one_text_does_not_last():
    (batch,) = batches([continuation_query(0, tuple(range(3000)), (6, 7))])
    assert (len(batch.prefix), batch.cacheable_length) == (2999, 0)


def test_what_is_looked_up_is_never_in_a_prefix():
    shots = tuple(range(300))
    early = LogprobQuery(-1, shots, ((250, (1,)),))
    for batch in batches([early, *subject(shots)], kept=[shots]):
        if any(question.key == -1 for question, _ in batch.query_slices):
            assert len(batch.prefix) < 250


def test_the_largest_trees_come_first():
    questions = [
        continuation_query(key, (key,) * length, (2,))
        for key, length in enumerate((20, 90, 30, 80))
    ]
    assert [len(batch.tokens) for batch in batches(questions, tokens=100)] == [90, 80, 50]


def test_no_questions_need_no_batch():
    assert batches([]) == []


def test_a_chain_continues_a_prefix():
    batch = linear_batch((4, 5, 6, 7), 2)
    assert (batch.prefix, batch.tokens, batch.positions) == ((4, 5), (6, 7), (2, 3))


@pytest.mark.parametrize("length", [1, 128, 129, 1000])
def test_pieces_of_a_long_text_see_all_before_them(length: int):
    batch = linear_batch(tuple(range(length)), 0)
    assert [piece.ancestors for piece in batch.chunks] == [
        tuple(range(piece.begin)) for piece in batch.chunks
    ]
    assert max(piece.end - piece.begin for piece in batch.chunks) <= 256


@given(
    st.lists(st.tuples(CONTEXTS, TOKENS), max_size=25),
    st.lists(CONTEXTS, max_size=3),
    st.integers(1, 200),
    st.integers(1, 40),
    st.sampled_from((20, 50, 2048)),
)
def test_every_place_is_read_after_exactly_the_tokens_looked_up(
    pairs: list[tuple[TokenIds, TokenIds]],
    kept: list[TokenIds],
    tokens: int,
    places: int,
    long: int,
):
    questions = [continuation_query(key, *pair) for key, pair in enumerate(pairs)]
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_tree, "_LONG_PREFIX_TOKENS", long)
        found = batches(questions, tokens, places, kept=kept)
    for batch in found:
        assert batch.cacheable_length <= len(batch.prefix)
        way = paths(batch)
        assert len(set(way)) == len(way), "each node once"
        assert [len(path) - 1 for path in way] == list(batch.positions)
        alone = len({question.tokens for question, _ in batch.query_slices}) == 1
        assert alone or (len(batch.tokens) <= tokens and len(batch.logit_nodes) <= places)
        for question, own in batch.query_slices:
            seen.append(question.key)
            context, continuation = pairs[question.key]
            assert tuple(token for _, token in batch.lookups[own]) == continuation
            for at, (place, _) in enumerate(batch.lookups[own]):
                assert way[batch.logit_nodes[place]] == context + continuation[:at]
    assert sorted(seen) == list(range(len(pairs)))


@given(st.lists(st.tuples(CONTEXTS, TOKENS), min_size=1, max_size=25))
def test_pieces_hold_every_node_once_and_all_it_sees(pairs: list[tuple[TokenIds, TokenIds]]):
    for batch in batches([continuation_query(key, *pair) for key, pair in enumerate(pairs)]):
        assert [node for each in batch.chunks for node in range(each.begin, each.end)] == list(
            range(len(batch.tokens))
        )
        for piece in batch.chunks:
            held = {*piece.ancestors, *range(piece.begin, piece.end)}
            for node in range(piece.begin, piece.end):
                assert {k for k in range(node + 1) if node < batch.subtree_ends[k]} <= held


@given(
    st.lists(st.tuples(CONTEXTS, TOKENS), min_size=1, max_size=25),
    st.sampled_from((20, 50, 2048)),
)
def test_a_prefix_is_computed_once_for_all_that_follows_it(
    pairs: list[tuple[TokenIds, TokenIds]], long: int
):
    """With room for all, no token after the same tokens is in two batches of one prefix."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_tree, "_LONG_PREFIX_TOKENS", long)
        found = batches([continuation_query(key, *pair) for key, pair in enumerate(pairs)])
    prefixes = [batch.prefix for batch in found]
    assert len(set(prefixes)) == len(prefixes)


@given(TOKENS, TOKENS)
def test_common_is_the_length_of_the_longest_common_prefix(left: TokenIds, right: TokenIds):
    length = common_prefix_length(left, right)
    assert left[:length] == right[:length]
    assert left[: length + 1] != right[: length + 1] or length == min(len(left), len(right))
    assert all(a <= b for a, b in pairwise((0, length, len(left))))
