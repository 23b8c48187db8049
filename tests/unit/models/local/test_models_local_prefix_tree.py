from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.models.local import prefix_tree
from evalui.models.local.prefix_tree import TreeBatch, linear_batch, plan_tree_batches
from evalui.models.scoring_requests import LogprobQuery, TokenIds, continuation_query
from evalui.models.tokenization import common_prefix_length

TOKENS = st.lists(st.integers(1, 3), min_size=1, max_size=8).map(tuple)
# Examples are long, so that there are trunks to be found, on top of one another too.
SHOTS = (tuple(range(100, 140)), tuple(range(100, 180)), tuple(range(200, 230)), ())
CONTEXTS = st.tuples(st.sampled_from(SHOTS), TOKENS).map(lambda parts: parts[0] + parts[1])


def packs(
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


def paths(pack: TreeBatch) -> list[TokenIds]:
    """For each node the tokens from the root to it, found by what the nodes below it see."""
    return [
        pack.prefix + tuple(pack.tokens[k] for k in range(q + 1) if q < pack.subtree_ends[k])
        for q in range(len(pack.tokens))
    ]


def test_options_of_a_question_share_its_tokens():
    (pack,) = packs(
        [continuation_query(key, (1, 2, 3), (token, 9, 8)) for key, token in enumerate((5, 6))]
    )
    assert pack.tokens == (1, 2, 3, 5, 9, 6, 9)
    assert pack.positions == (0, 1, 2, 3, 4, 3, 4)
    assert pack.subtree_ends == (7, 7, 7, 5, 5, 7, 7)


def test_equal_questions_are_computed_once_and_answered_twice():
    (pack,) = packs([continuation_query(key, (1, 2), (3,)) for key in (7, 8)])
    assert pack.tokens == (1, 2)
    assert pack.logit_nodes == (1,)
    assert [question.key for question, _ in pack.query_slices] == [7, 8]


def test_examples_before_many_questions_are_a_trunk():
    shots = tuple(range(300))
    for pack in packs(subject(shots)):
        assert pack.prefix == shots
        assert len(pack.tokens) == 20 * (40 + 4)
        assert pack.positions[:2] == (300, 301)


def test_each_subject_has_a_trunk_of_its_own():
    trunks = {pack.prefix for pack in packs(subject((1,) * 50) + subject((2,) * 60))}
    assert trunks == {(1,) * 50, (2,) * 60}


def test_a_trunk_may_stand_on_another():
    head = tuple(range(400, 440))
    trunks = {
        pack.prefix for pack in packs(subject(head) + subject((*head, *range(30)), length=50))
    }
    assert trunks == {head, (*head, *range(30))}


def test_a_question_alone_has_no_trunk_but_uses_one_that_is_kept():
    shots = tuple(range(300))
    alone = subject(shots, 1)
    assert [pack.prefix for pack in packs(alone)] == [()]
    assert [pack.prefix for pack in packs(alone, kept=[(*shots, 77)])] == [shots]


def test_questions_that_begin_alike_each_use_the_longest_trunk_that_is_kept():
    head = tuple(range(40))
    kept = [(*head, *range(1000, 1040)), (*head, *range(2000, 2040))]
    found = packs(
        [continuation_query(at, (*trunk, 7), (8,)) for at, trunk in enumerate(kept)], kept=kept
    )
    assert [pack.prefix for pack in found] == kept


def test_a_few_common_words_more_are_no_new_trunk():
    """All questions of this window happen to begin alike; their examples are kept already."""
    shots = tuple(range(300))
    (pack,) = packs(subject((*shots, 7, 8, 9)), kept=[shots])
    assert pack.prefix == shots


@pytest.mark.parametrize(("shared", "trunk"), [(15, 0), (16, 16)])
def test_a_trunk_spares_sixteen_tokens(shared: int, trunk: int):
    begun = tuple(range(shared))
    assert {len(pack.prefix) for pack in packs(subject(begun))} == {trunk}


@pytest.mark.parametrize(("beyond", "trunk"), [(127, 0), (128, 20)])
def test_few_tokens_beyond_a_common_beginning_need_no_batch_of_their_own(beyond: int, trunk: int):
    texts = [LogprobQuery(at, (*range(20), 50 + at, *[7] * 62), ((83, (1,)),)) for at in range(2)]
    texts.append(LogprobQuery(2, (*range(20), 60, *[7] * (beyond - 127)), ((21, (1,)),)))
    assert {len(pack.prefix) for pack in packs(texts)} == {trunk}


def test_a_common_beginning_of_a_small_part_of_a_window_is_a_trunk():
    """Twelve hundred tokens fill a batch, however much else there is."""
    shots = tuple(range(60))
    others = [continuation_query(-1 - at, (5000 + at,) * 500, (1,)) for at in range(40)]
    small = subject(shots, questions=20, length=56)
    trunks = {
        pack.prefix for pack in packs([*small, *others]) for q, _ in pack.query_slices if q in small
    }
    assert trunks == {shots}


def test_a_text_alone_has_no_trunk_however_long_its_continuation():
    (pack,) = packs([continuation_query(0, tuple(range(40)), (6,) * 300)])
    assert pack.prefix == ()


def test_a_text_a_little_longer_than_a_long_trunk_adds_none():
    shots = tuple(range(2500))
    assert {pack.prefix for pack in packs(subject(shots), kept=[shots])} == {shots}


def test_a_trunk_less_than_twice_as_long_as_the_one_below_does_not_last():
    shots = tuple(range(320))
    orders = [
        continuation_query(
            100 * number + order, shots + (500 + number,) * 120 + (order,) * 40, (5,)
        )
        for number in range(2)
        for order in range(24)
    ]
    found = packs(orders)
    assert {len(pack.prefix) for pack in found} == {440}
    assert {pack.cacheable_length for pack in found} == {320}


def test_options_are_not_parted_from_their_question_to_fill_a_pack():
    alike = [
        continuation_query(key, (1, 2, 3, *[10 + key // 4] * 60), (50 + key, 9)) for key in range(8)
    ]
    found = packs(alike, tokens=2 * 67 - 2)
    assert [len(pack.tokens) for pack in found] == [67, 67]
    assert len(packs(alike[:4], tokens=67)) == 1


def test_pieces_begin_with_questions_and_do_not_part_their_options():
    two = [(0,) * 60, (1,) * 56]
    (pack,) = packs([continuation_query(key, two[key // 4], (50 + key, 9)) for key in range(8)])
    assert [(piece.begin, piece.end, piece.ancestors) for piece in pack.chunks] == [
        (0, 64, ()),
        (64, 124, ()),
    ]


def test_options_stay_in_the_piece_of_a_long_question():
    (pack,) = packs([continuation_query(key, (0,) * 80, (50 + key, 9)) for key in range(4)])
    assert [(piece.begin, piece.end) for piece in pack.chunks] == [(0, 84)]


def test_a_question_too_wide_for_a_piece_is_cut_between_its_options():
    (pack,) = packs([continuation_query(key, (0,) * 80, (50 + key, *[9] * 40)) for key in range(2)])
    assert [(piece.begin, piece.end, piece.ancestors) for piece in pack.chunks] == [
        (0, 120, ()),
        (120, 160, tuple(range(80))),
    ]


@pytest.mark.parametrize("length", [2048, 16_000])
def test_a_long_text_alone_is_a_trunk_so_that_no_piece_gathers_it(length: int):
    text = tuple(range(length))
    (pack,) = packs([continuation_query(0, (*text, 5), (6, 7))])
    assert pack.prefix == text
    assert max(len(piece.ancestors) for piece in pack.chunks) < 16


def test_a_text_that_is_not_long_and_alone_has_no_trunk():
    (pack,) = packs([continuation_query(0, tuple(range(2047)), (6, 7))])
    assert pack.prefix == ()


def test_a_long_text_stands_on_what_it_shares():
    shots = tuple(range(300))
    trunks = {
        pack.prefix for pack in packs([*subject(shots), continuation_query(-1, shots * 9, (6, 7))])
    }
    assert trunks == {shots, (shots * 9)[:-1]}


def test_examples_last_and_questions_that_stand_on_them_do_not():
    lead, shots = tuple(range(900, 920)), tuple(range(300))
    orders = [
        continuation_query(
            100 * number + order, lead + shots + (500 + number,) * 60 + (order,) * 40, (5,)
        )
        for number in range(2)
        for order in range(24)
    ]
    for kept in [], [lead + shots]:
        for pack in packs(orders, kept=kept):
            assert len(pack.prefix) == len(lead + shots) + 60
            assert pack.prefix[: pack.cacheable_length] == lead + shots
    both = packs([*orders, *subject((*lead, 7, *range(200)))])
    assert {pack.prefix[: pack.cacheable_length] for pack in both} == {
        lead + shots,
        (*lead, 7, *range(200)),
    }


def test_a_trunk_of_one_text_does_not_last():
    (pack,) = packs([continuation_query(0, tuple(range(3000)), (6, 7))])
    assert (len(pack.prefix), pack.cacheable_length) == (2999, 0)


def test_what_is_asked_for_is_never_in_a_trunk():
    shots = tuple(range(300))
    early = LogprobQuery(-1, shots, ((250, (1,)),))
    for pack in packs([early, *subject(shots)], kept=[shots]):
        if any(question.key == -1 for question, _ in pack.query_slices):
            assert len(pack.prefix) < 250


def test_the_largest_tries_come_first():
    questions = [
        continuation_query(key, (key,) * length, (2,))
        for key, length in enumerate((20, 90, 30, 80))
    ]
    assert [len(pack.tokens) for pack in packs(questions, tokens=100)] == [90, 80, 50]


def test_no_questions_need_no_pack():
    assert packs([]) == []


def test_a_chain_continues_a_trunk():
    pack = linear_batch((4, 5, 6, 7), 2)
    assert (pack.prefix, pack.tokens, pack.positions) == ((4, 5), (6, 7), (2, 3))


@pytest.mark.parametrize("length", [1, 128, 129, 1000])
def test_pieces_of_a_long_text_see_all_before_them(length: int):
    pack = linear_batch(tuple(range(length)), 0)
    assert [piece.ancestors for piece in pack.chunks] == [
        tuple(range(piece.begin)) for piece in pack.chunks
    ]
    assert max(piece.end - piece.begin for piece in pack.chunks) <= 256


@given(
    st.lists(st.tuples(CONTEXTS, TOKENS), max_size=25),
    st.lists(CONTEXTS, max_size=3),
    st.integers(1, 200),
    st.integers(1, 40),
    st.sampled_from((20, 50, 2048)),
)
def test_every_place_is_read_after_exactly_the_tokens_asked_for(
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
        found = packs(questions, tokens, places, kept=kept)
    for pack in found:
        assert pack.cacheable_length <= len(pack.prefix)
        way = paths(pack)
        assert len(set(way)) == len(way), "each node once"
        assert [len(path) - 1 for path in way] == list(pack.positions)
        alone = len({question.tokens for question, _ in pack.query_slices}) == 1
        assert alone or (len(pack.tokens) <= tokens and len(pack.logit_nodes) <= places)
        for question, own in pack.query_slices:
            seen.append(question.key)
            context, continuation = pairs[question.key]
            assert tuple(token for _, token in pack.lookups[own]) == continuation
            for at, (place, _) in enumerate(pack.lookups[own]):
                assert way[pack.logit_nodes[place]] == context + continuation[:at]
    assert sorted(seen) == list(range(len(pairs)))


@given(st.lists(st.tuples(CONTEXTS, TOKENS), min_size=1, max_size=25))
def test_pieces_hold_every_node_once_and_all_it_sees(pairs: list[tuple[TokenIds, TokenIds]]):
    for pack in packs([continuation_query(key, *pair) for key, pair in enumerate(pairs)]):
        assert [node for each in pack.chunks for node in range(each.begin, each.end)] == list(
            range(len(pack.tokens))
        )
        for piece in pack.chunks:
            held = {*piece.ancestors, *range(piece.begin, piece.end)}
            for node in range(piece.begin, piece.end):
                assert {k for k in range(node + 1) if node < pack.subtree_ends[k]} <= held


@given(
    st.lists(st.tuples(CONTEXTS, TOKENS), min_size=1, max_size=25),
    st.sampled_from((20, 50, 2048)),
)
def test_a_trunk_is_computed_once_for_all_that_hangs_on_it(
    pairs: list[tuple[TokenIds, TokenIds]], long: int
):
    """With room for all, no token after the same tokens is in two packs of one trunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_tree, "_LONG_PREFIX_TOKENS", long)
        found = packs([continuation_query(key, *pair) for key, pair in enumerate(pairs)])
    trunks = [pack.prefix for pack in found]
    assert len(set(trunks)) == len(trunks)


@given(TOKENS, TOKENS)
def test_common_is_the_length_of_the_longest_common_prefix(left: TokenIds, right: TokenIds):
    length = common_prefix_length(left, right)
    assert left[:length] == right[:length]
    assert left[: length + 1] != right[: length + 1] or length == min(len(left), len(right))
    assert all(a <= b for a, b in pairwise((0, length, len(left))))
