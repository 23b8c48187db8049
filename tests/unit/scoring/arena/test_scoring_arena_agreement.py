import math
import random

import numpy as np
import pytest
from judging_examples import said

from evalui.proportions import wilson_interval
from evalui.scoring.arena.agreement import (
    cohen_kappa,
    fleiss_kappa,
    fleiss_kappa_of_table,
    merge_ties,
    voter_agreements,
    votes_by_item,
)
from evalui.types import Verdict

# Fleiss (1971) rated 30 patients with 6 psychiatrists; the textbook example of 10 subjects,
# 14 raters and 5 categories gives kappa = 0.210 (Wikipedia, "Fleiss' kappa").
TEXTBOOK = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def _pair(counts: dict[str, int]) -> tuple[list[Verdict], list[Verdict]]:
    """Two raters by the counts of their pairs of letters, each item a question of its own."""
    letters = [pair for pair, count in counts.items() for _ in range(count)]
    first = [said(f"q{n}", "xy", pair[0], "one") for n, pair in enumerate(letters)]
    second = [said(f"q{n}", "xy", pair[1], "two") for n, pair in enumerate(letters)]
    return first, second


@pytest.mark.parametrize(
    ("counts", "raw", "kappa"),
    [
        # Wikipedia, "Cohen's kappa": 50 proposals; and two cases of equal raw agreement.
        ({"AA": 20, "AB": 5, "BA": 10, "BB": 15}, 0.7, 0.4),
        ({"AA": 45, "AB": 15, "BA": 25, "BB": 15}, 0.6, 0.1304),
        ({"AA": 25, "AB": 35, "BA": 5, "BB": 35}, 0.6, 0.2593),
        # Fleiss, Cohen and Everitt (1969): 200 cases, three categories, kappa = 0.429.
        (
            {
                "AA": 106,
                "AB": 10,
                "AC": 4,
                "BA": 22,
                "BB": 28,
                "BC": 10,
                "CA": 2,
                "CB": 12,
                "CC": 6,
            },
            0.70,
            0.429,
        ),
    ],
)
def test_kappa_agrees_with_published_examples(counts: dict[str, int], raw: float, kappa: float):
    found = cohen_kappa(*_pair(counts))
    assert found is not None
    assert found.n == sum(counts.values())
    assert found.raw == wilson_interval(raw * found.n, found.n)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(kappa, abs=0.0005)


def test_the_interval_agrees_with_the_closed_form():
    # Fleiss, Cohen and Everitt (1969) for the plain kappa, with shares p and margins r, c.
    counts = {
        "AA": 106,
        "AB": 10,
        "AC": 4,
        "BA": 22,
        "BB": 28,
        "BC": 10,
        "CA": 2,
        "CB": 12,
        "CC": 6,
    }
    shares = np.array([counts[a + b] for a in "ABC" for b in "ABC"]).reshape(3, 3) / 200
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, chance = np.trace(shares), rows @ columns
    kappa = (observed - chance) / (1 - chance)
    margins = columns[:, None] + rows[None, :]
    on = (np.diag(shares) * (1 - (rows + columns) * (1 - kappa)) ** 2).sum()
    off = (1 - kappa) ** 2 * (shares * (1 - np.eye(3)) * margins**2).sum()
    last = (kappa - chance * (1 - kappa)) ** 2
    error = math.sqrt(on + off - last) / ((1 - chance) * math.sqrt(200))
    found = cohen_kappa(*_pair(counts))
    assert found is not None
    assert found.kappa is not None
    assert found.kappa.low == pytest.approx(kappa - 1.96 * error, abs=0.15 * error)
    assert found.kappa.high == pytest.approx(kappa + 1.96 * error, abs=0.15 * error)


def test_items_of_one_question_are_drawn_together():
    first, second = _pair({"AA": 20, "AB": 5, "BA": 10, "BB": 15})
    single = cohen_kappa(first, second)
    # Each question with the same two answers of ten pairs of models: no more is known.
    many = [
        [
            said(one.duel.sample_id, pair, "A" if one.outcome == "a" else "B", one.rater)
            for one in rater
            for pair in ("uv", "uw", "ux", "vw", "vx")
        ]
        for rater in (first, second)
    ]
    repeated = cohen_kappa(*many)
    assert single is not None
    assert repeated is not None
    assert repeated.n == 5 * single.n
    assert repeated.kappa == pytest.approx(single.kappa)
    assert repeated.raw.low == pytest.approx(single.raw.low, abs=0.01)


def test_votes_on_exchanged_sides_are_the_same_vote():
    found = cohen_kappa(
        [said("q", "xy", "A"), said("r", "xy", "C"), said("s", "yx", "D")],
        [said("q", "yx", "B"), said("r", "yx", "C"), said("s", "xy", "D")],
    )
    assert found is not None
    assert (found.n, found.raw.value) == (3, 1.0)


def test_a_rater_with_two_opinions_of_an_item_has_no_preference():
    ballot = votes_by_item([said("q", "xy", "A"), said("q", "yx", "A"), said("r", "xy", "-")])
    assert list(ballot.values()) == ["tie"]


def test_three_ways_join_the_two_kinds_of_ties():
    first, second = _pair({"CD": 3, "AA": 3})
    four, three = cohen_kappa(first, second), cohen_kappa(merge_ties(first), merge_ties(second))
    assert four is not None
    assert three is not None
    assert (four.raw.value, three.raw.value) == (0.5, 1.0)


def test_kappa_is_undefined_where_all_votes_are_of_one_category():
    found = cohen_kappa(*_pair({"AA": 5}))
    assert found is not None
    assert found.kappa is None
    assert found.raw == wilson_interval(5, 5)


def test_full_agreement_on_a_few_items_is_not_certain():
    found = cohen_kappa(*_pair({"AA": 3, "BB": 3}))
    assert found is not None
    assert found.kappa is not None
    assert (found.kappa.value, found.kappa.high) == (1.0, 1.0)
    # Wilson's lower end for 6 of 6, beyond the chance of one half.
    assert found.kappa.low == pytest.approx((wilson_interval(6, 6).low - 0.5) / 0.5)


def test_a_kappa_that_most_resamples_cannot_have_has_no_ends():
    found = cohen_kappa(*_pair({"AA": 4, "AB": 1}))
    assert found is not None
    assert found.kappa is not None
    assert (found.kappa.value, found.kappa.low, found.kappa.high) == (0.0, None, None)


def test_raters_that_share_nothing_have_no_agreement():
    assert cohen_kappa([said("q", "xy", "A")], [said("r", "xy", "A")]) is None
    assert cohen_kappa([said("q", "xy", "A")], [said("q", "xy", "-")]) is None
    assert cohen_kappa([], []) is None
    assert fleiss_kappa([[said("q", "xy", "A")], []]) is None
    assert fleiss_kappa([]) is None


def test_one_question_gives_a_kappa_without_ends():
    pairs = [("xy", "A"), ("xz", "B")]
    rater = [said("q", models, letter) for models, letter in pairs]
    found = cohen_kappa(rater, rater)
    assert found is not None
    assert found.kappa is not None
    assert (found.kappa.value, found.kappa.low) == (1.0, None)


def test_fleiss_kappa_agrees_with_the_textbook():
    table = np.array(TEXTBOOK, dtype=float)
    found = fleiss_kappa_of_table(table, [str(n) for n in range(10)])
    assert found.raw.value == pytest.approx(0.378, abs=0.0005)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.210, abs=0.0005)
    assert found.kappa.low is not None
    assert found.kappa.high is not None
    assert found.kappa.low < found.kappa.value < found.kappa.high


def test_a_panel_is_counted_by_item_even_where_a_rater_is_missing():
    raters = [
        [said("q", "xy", "A"), said("r", "xy", "B")],
        [said("q", "yx", "B"), said("r", "xy", "B")],
        [said("q", "xy", "B"), said("s", "xy", "A")],
    ]
    found = fleiss_kappa(raters)
    assert found is not None
    # q: one of three pairs agrees, r: its only pair; s has one vote. Votes: 2 x a, 3 x b.
    assert (found.n, found.raw.value) == (2, pytest.approx(2 / 3))
    chance = (2 / 5) ** 2 + (3 / 5) ** 2
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx((2 / 3 - chance) / (1 - chance))


def _crowd(quality: dict[str, float], *, items: int, seed: int) -> list[Verdict]:
    """Voters that hit the common opinion with their quality and else say anything."""
    rng = random.Random(seed)
    return [
        said(f"q{n}", "xy", opinion if rng.random() < share else rng.choice("ABC"), name)
        for n in range(items)
        for opinion in [rng.choice("ABC")]
        for name, share in quality.items()
    ]


def test_a_voter_at_random_stands_out_and_the_others_do_not():
    crowd = _crowd({"ann": 0.9, "bob": 0.9, "cai": 0.9, "dice": 0.0}, items=60, seed=3)
    found = {one.name: one for one in voter_agreements(crowd)}
    assert [one.name for one in found.values() if one.outlier] == ["dice"]
    assert found["dice"].agreement is not None
    assert found["dice"].agreement.value < 0.5
    assert (found["dice"].others_agreement or 0) > 0.8
    assert found["dice"].n > 50


@pytest.mark.slow
def test_voters_alike_are_rarely_called_outliers():
    quality = dict.fromkeys("abcde", 0.7)
    flagged = sum(
        any(one.outlier for one in voter_agreements(_crowd(quality, items=40, seed=seed)))
        for seed in range(200)
    )
    assert flagged / 200 <= 0.08


def test_two_voters_cannot_be_told_apart():
    crowd = _crowd({"ann": 0.9, "dice": 0.0}, items=20, seed=1)
    assert [(one.others_agreement, one.p, one.outlier) for one in voter_agreements(crowd)] == [
        (None, None, False),
        (None, None, False),
    ]


def test_a_voter_alone_agrees_with_nobody():
    (found,) = voter_agreements([said("q", "xy", "A", "ann")])
    assert (found.n, found.agreement, found.outlier) == (0, None, False)
    assert voter_agreements([]) == ()
