"""What an arena says: its verdict, the table of standings, and groups of questions."""

from dataclasses import replace
from functools import cache

import pytest
from arena_examples import judged, leading, scattered, swept
from chart_examples import notes_of
from open_examples import judge_result

from evalui.report.analyses.arena import (
    arena_verdict,
    duels_finding,
    figure_blocks,
    group_table,
    groups_finding,
    groups_title,
    matrix_title,
    order_note,
    rank_band,
    rating_axis,
    rating_range,
    standing_details,
    standings_card,
    standings_finding,
    standings_title,
)
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers import judged_blocks
from evalui.report.blocks import (
    Card,
    ChartBlock,
    Headline,
    ModelCell,
    Paragraph,
    PlotCell,
    Table,
    ValueCell,
)
from evalui.report.numbers import format_value
from evalui.report.render.text import cell_text
from evalui.scoring.arena.bradley_terry import Connectivity
from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.arena.question_groups import question_groups
from evalui.types import Interval

THREE = ("strong", "middle", "weak")


@cache
def three() -> Arena:
    return judged(n=120)


@cache
def many() -> Arena:
    return judged(n=160)


def banded(*bands: tuple[int, int], level: int = 1) -> Arena:
    """The arena with these places, and as many models that cannot be told apart at its head."""
    found = leading(three(), level=level)
    standings = tuple(
        replace(one, rank_low=low, rank_high=high)
        for one, (low, high) in zip(found.standings, bands, strict=True)
    )
    return replace(found, standings=standings)


def table(found: Arena, **context: object) -> Table:
    shown = OpenContext("en", THREE, **context)  # type: ignore[arg-type]
    (lead,) = standings_card(found, shown).blocks
    assert isinstance(lead, Table)
    return lead


@pytest.fixture(scope="module")
def led() -> Arena:
    return leading(judged(), lead=(76.2, 19.4, 120.1))


def _share(value: float, low: float | None = None, high: float | None = None, n: int = 240):
    return Interval(value, value if low is None else low, value if high is None else high, n)


# ---------------------------------------------------------------- titles


def test_the_leader_is_named_with_its_lead(led):
    assert standings_title(led, "en") == "strong leads middle by 76 points (19–120)"
    assert standings_title(led, "zh") == "strong 比 middle 高 76 分（19–120）"


def test_models_that_cannot_be_told_apart_are_said_to_be_so(led):
    two = leading(led, level=2)
    assert standings_title(two, "en") == "strong and middle cannot be told apart with 40 questions"
    assert standings_title(two, "zh") == "40 题分不出 strong 和 middle 的高下"


def test_a_lead_without_ends_is_told_without_points(led):
    title = standings_title(replace(led, lead=None), "en")
    assert title == "strong is ahead of middle; by how much cannot be told with 40 questions"


def test_few_questions_have_no_title_of_a_winner(led):
    assert standings_title(replace(led, questions=9), "en").startswith("Too few questions (9)")
    assert standings_title(replace(led, questions=10), "en").startswith("strong leads")


def test_no_verdict_is_no_ranking():
    nothing = arena(judge_result(decide=lambda *_: None))
    assert standings_title(nothing, "en") == "No verdicts yet"


def test_a_model_that_never_lost_has_no_finite_rating():
    title = standings_title(swept(), "en")
    assert title == "No finite rating: strong never lost a point"


@pytest.mark.parametrize(
    ("connection", "title"),
    [
        (
            Connectivity((("a",), ("b",)), (("a",), ("b",)), ("a",), ("b",)),
            "No finite rating: 2 groups of models never met",
        ),
        (
            Connectivity((("a", "b"), ("c",)), (("a", "b", "c"),), (), ("c",)),
            "No finite rating: c never won a point",
        ),
        (
            Connectivity((("a", "b"), ("c", "d")), (("a", "b", "c", "d"),), (), ()),
            "No finite rating: some models never lost a point to any of the others",
        ),
    ],
)
def test_every_reason_for_no_finite_rating_is_told(led, connection, title):
    assert standings_title(replace(led, connection=connection), "en") == title


def test_the_order_is_said_in_both_languages(led):
    assert "Ordered by Bradley-Terry rating." in order_note(led, "en")
    assert "按 Bradley-Terry 评分排序。" in order_note(led, "zh")


def _scored(found: Arena, *scores: int) -> Arena:
    """The arena with other scores: so many wins more than losses, in threes."""
    standings = tuple(
        replace(one, tally=replace(one.tally, win=100 + score, lose=100, both_good=0, both_bad=0))
        for one, score in zip(found.standings, scores, strict=True)
    )
    return replace(found, standings=standings)


def test_the_order_is_said_and_that_the_score_gives_another(led):
    assert order_note(_scored(led, 3, 2, 1), "en") == "Ordered by Bradley-Terry rating."
    assert order_note(_scored(led, 2, 2, 1), "en") == "Ordered by Bradley-Terry rating."
    told = order_note(_scored(led, 2, 3, 1), "en")
    assert told == "Ordered by Bradley-Terry rating. By score, middle is first."
    assert order_note(_scored(led, 2, 3, 1), "zh").endswith("按得分，middle 居首。")
    later = order_note(_scored(led, 3, 1, 2), "en")
    assert later == "Ordered by Bradley-Terry rating. By score the order differs."


def test_elo_that_gives_another_order_is_named_beside_the_score(led):
    swapped = [replace(one, elo=elo) for one, elo in zip(led.standings, (9, 11, 5), strict=True)]
    both = _scored(replace(led, standings=tuple(swapped)), 2, 3, 1)
    assert order_note(both, "en").endswith("By score and ELO, middle is first.")
    level = [replace(one, elo=e) for one, e in zip(led.standings, (9.1, 9.3, 5), strict=True)]
    told = order_note(_scored(replace(led, standings=tuple(level)), 3, 2, 1), "en")
    assert told == "Ordered by Bradley-Terry rating."


def test_without_a_finite_rating_the_order_is_that_of_elo():
    assert order_note(swept(), "en").startswith("Ordered by ELO, since no Bradley-Terry rating")


def test_the_matrix_title_names_who_beats_all_only_if_the_ranges_say_so(led):
    names = [standing.model for standing in led.standings]
    sure = dict.fromkeys(((names[0], other) for other in names[1:]), _share(0.8, 0.7, 0.9))
    assert matrix_title(replace(led, shares={**led.shares, **sure}), "en") == (
        "strong wins most against each of the others"
    )
    unsure = {**led.shares, **sure, (names[0], names[1]): _share(0.6, 0.5, 0.7)}
    assert matrix_title(replace(led, shares=unsure), "en") == "Who beats whom"
    assert matrix_title(replace(led, shares=sure), "en") == "1 of 3 pairs of models never met"


# ---------------------------------------------------------------- groups


def test_the_panels_title_counts_where_a_model_is_first(led):
    (one, two, rest) = question_groups(led)
    first = replace(one, shares={"a": _share(0.6), "b": _share(0.4)})
    second = replace(two, shares={"a": _share(0.7), "b": _share(0.3)})
    third = replace(rest, shares={"a": _share(0.3), "b": _share(0.7)})
    title = groups_title([first, second, third], "capability", "en")
    assert title == "a is clearly first in 2 of 3 capabilities"
    split = groups_title([first, third], "capability", "en")
    assert split == "a and b: each clearly first in 1 of 2 capabilities"


def test_who_is_first_has_a_range_above_all_others(led):
    (one, two, _) = question_groups(led)
    shares = {"a": _share(0.7, 0.5, 0.9), "b": _share(0.4, 0.3, 0.5)}
    near = [replace(panel, shares=shares) for panel in (one, two)]
    title = groups_title(near, "language", "en")
    assert title == "No model is clearly first in any language"
    apart = shares | {"b": _share(0.4, 0.3, 0.49)}
    title = groups_title([replace(one, shares=apart), near[1]], "language", "en")
    assert title == "a is clearly first in 1 of 2 languages"


def test_panels_of_few_questions_do_not_make_the_title(led):
    small = [replace(panel, questions=4) for panel in question_groups(led)]
    assert groups_title(small, "language", "en") == "Too few questions per language to compare"


def test_one_group_alone_has_no_title(led):
    assert groups_title(question_groups(led)[:1], "capability", "en") == ""


# ---------------------------------------------------------------- the table


def test_the_best_model_is_on_top_with_its_rating_and_range():
    best = three().standings[0]
    assert best.rating is not None
    rank, model, plot, rating, elo, won, tied, lost, good = table(three()).rows[0]
    assert rank == rank_band(best) == "1–2"
    assert isinstance(model, ModelCell)
    assert model.name == "strong"
    assert isinstance(plot, PlotCell)
    (mark,) = plot.marks
    assert (mark.value, mark.low, mark.high) == (
        best.rating.value,
        best.rating.low,
        best.rating.high,
    )
    assert isinstance(rating, ValueCell)
    assert (rating.value, rating.size) == (f"{best.rating.value:,.0f}", "lead")
    assert isinstance(elo, ValueCell)
    assert elo.value == f"{best.elo:,.0f}"
    assert [won, tied, lost] == [str(n) for n in (best.tally.win, best.tally.tie, best.tally.lose)]
    share = three().not_bad["strong"]
    assert share.value == pytest.approx(best.tally.not_bad / best.tally.n)
    assert cell_text(good).startswith(f"{format_value(share)} % (")


def test_models_keep_the_place_of_the_run_and_scripts_are_diamonds():
    rows = table(three(), baselines={"strong"}).rows
    cells = [cell for row in rows for cell in row if isinstance(cell, ModelCell)]
    assert [(cell.name, cell.place, cell.baseline) for cell in cells] == [
        ("strong", 0, True),
        ("middle", 0, False),
        ("weak", 1, False),
    ]


def test_without_a_finite_rating_elo_leads():
    found = swept()
    shown = table(found)
    heads = [column.head for column in shown.columns]
    assert heads == ["Rank", "Model", "Rating", "ELO", "Won", "Tied", "Lost", "Won or both good"]
    best = found.standings[0]
    lead = shown.rows[0][3]
    assert isinstance(lead, ValueCell)
    assert (lead.value, lead.size) == (f"{best.elo:,.0f}", "lead")
    assert shown.rows[0][0] == "–"
    assert "no Bradley-Terry rating is finite" in standings_finding(found, "en")


def without_ranges(found: Arena) -> Arena:
    """As where too many resamples have a model that won or lost everything."""
    bare = (
        replace(
            one,
            rating=one.rating and replace(one.rating, low=None, high=None),
            rank_low=None,
            rank_high=None,
        )
        for one in found.standings
    )
    return replace(found, standings=tuple(bare))


def test_a_rating_has_a_range_or_the_reason_why_it_has_none():
    context = OpenContext("en", THREE)
    assert "Band: 95 % plausible range" in standings_card(three(), context).caption
    bare = without_ranges(three())
    caption = standings_card(bare, context).caption
    assert "Band" not in caption
    assert "No range: without some questions, a model wins or loses everything." in caption
    elo = table(bare).rows[0][4]
    assert isinstance(elo, ValueCell)
    assert elo.range == rating_range(bare.standings[0].elo_low, bare.standings[0].elo_high) != ""
    figures = [block for block in figure_blocks(bare, context) if isinstance(block, Paragraph)]
    assert any("No range: without" in each.text for each in figures)
    assert not any("No range" in str(each) for each in figure_blocks(three(), context))
    assert "Ranks need Bradley-Terry ratings." in standings_card(swept(), context).caption
    alone = judged(n=1)
    assert "One question alone has no range" in standings_card(alone, context).caption


def test_without_a_range_a_mark_stands_alone():
    plot = table(without_ranges(three())).rows[0][2]
    assert isinstance(plot, PlotCell)
    assert (plot.marks[0].low, plot.marks[0].high) == (None, None)


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((747.0, 1174.0), [700, 800, 900, 1000, 1100, 1200]),
        ((932.0, 1044.0), [900, 950, 1000, 1050, 1100]),
        ((1000.0,), [900, 950, 1000, 1050, 1100]),
        ((813.0, 1960.0), [800, 1000, 1200, 1400, 1600, 1800, 2000]),
    ],
)
def test_the_ticks_hold_every_range_and_the_start_and_are_few(ends, ticks):
    assert rating_axis(ends).ticks == ticks


def test_the_caption_says_what_the_ratings_rest_on():
    said = standings_card(three(), OpenContext("en", THREE)).caption
    assert f"from {len(three().battles)} verdicts, judge: judge-local; start 1,000" in said
    assert "over 120 questions" in said


# ---------------------------------------------------------------- the sentences


def test_a_winner_is_named_with_how_often_it_wins():
    said = arena_verdict(leading(three()), "en")
    assert said == "strong wins: the judge prefers it to middle in 6 of 10 duels."
    assert (
        arena_verdict(leading(three()), "zh")
        == "strong 胜出：与 middle 对决，裁判 10 次中有 6 次选它。"
    )


@pytest.mark.parametrize(("value", "often"), [(0.98, "in 98 % of duels"), (0.53, "in 53.0 % of")])
def test_shares_that_tenths_would_bend_are_printed_in_per_cent(value: float, often: str):
    share = Interval(value, value - 0.02, min(1.0, value + 0.02), 100)
    found = leading(three())
    shares = {**found.shares, ("strong", "middle"): replace(share, low=0.51)}
    assert often in arena_verdict(replace(found, shares=shares), "en")


def test_two_level_models_are_named_with_whom_both_beat():
    said = arena_verdict(banded((1, 2), (1, 2), (3, 3), level=2), "en")
    assert said == "strong and middle cannot be told apart; both beat weak."
    unsure = arena_verdict(banded((1, 2), (1, 3), (2, 3), level=2), "en")
    assert unsure == "strong and middle cannot be told apart with 120 questions."


def test_the_whole_ranking_stands_above_the_table():
    shared = banded((1, 2), (1, 2), (3, 3), level=2)
    assert standings_finding(shared, "en") == (
        "strong and middle share places 1–2; weak takes place 3"
    )
    assert standings_finding(shared, "zh") == "strong 和 middle 并列第 1–2 名；weak 第 3 名"
    behind = banded((1, 1), (2, 3), (2, 3))
    assert standings_finding(behind, "en") == (
        "strong takes place 1; middle and weak share places 2–3"
    )
    # Bands that overlap are no groups.
    assert standings_finding(banded((1, 2), (1, 3), (2, 3)), "en") == "Ratings by model"


def test_ranges_that_do_not_overlap_are_told_apart_from_places_alone():
    own = banded((1, 1), (2, 2), (3, 3))
    apart = [(1200.0, 1300.0), (1000.0, 1100.0), (700.0, 800.0)]
    clear = tuple(
        replace(one, rating=one.rating and replace(one.rating, low=low, high=high))
        for one, (low, high) in zip(own.standings, apart, strict=True)
    )
    assert standings_finding(replace(own, standings=clear), "en") == (
        "Each model differs from the next: no two ranges overlap"
    )
    first = replace(clear[0], rating=clear[0].rating and replace(clear[0].rating, low=1050.0))
    assert standings_finding(replace(own, standings=(first, *clear[1:])), "en") == (
        "Each model has a place of its own, though ranges overlap"
    )


def test_too_few_questions_rank_nobody():
    few = judged(n=6)
    assert arena_verdict(few, "en") == "Too few questions (6) for a ranking."
    assert standings_finding(few, "en") in (
        "Ratings by model",
        "ELO by model: no Bradley-Terry rating is finite",
    )


def test_a_judge_that_goes_on_has_no_verdict_yet():
    running = arena(judge_result(n=24, done=30))
    assert arena_verdict(running, "en") == (
        "30 of 144 verdicts are in. The verdict comes with the last one."
    )
    context = OpenContext("en", [one.name for one in running.contestants])
    top, card = judged_blocks(running, context)
    assert top == Headline(arena_verdict(running, "en"))
    assert isinstance(card, Card)
    assert card.title == "Ratings by model"


def test_who_beats_whom_begins_with_the_first_two():
    said = duels_finding(three(), "en")
    share = three().shares["strong", "middle"]
    assert said == (
        f"strong takes {100 * share.value:.0f} % of its duels with middle "
        f"({100 * share.low:.0f}–{100 * share.high:.0f}), ties as halves."
    )


def test_the_same_order_in_both_languages_is_told():
    said = groups_finding(three(), "en")
    orders = [
        sorted(group.shares, key=lambda model: -group.shares[model].value)
        for group in question_groups(three(), "language")
    ]
    assert ("Same order in both languages." in said) == (orders[0] == orders[1])
    assert "capabilit" in said


# ---------------------------------------------------------------- groups of questions


def test_a_share_of_points_counts_ties_as_halves_and_both_sides():
    # In one order only: with two, the sides even out whatever is counted.
    found = judged(orders="single")
    (panel, *_) = question_groups(found)
    points = [
        side.points
        for battle in found.battles
        for side in (battle, battle.mirrored)
        if side.model_a == "middle"
        and found.samples[side.question or ""].metadata["capability"] == panel.name
    ]
    assert panel.shares["middle"].value == pytest.approx(sum(points) / len(points))


def test_each_group_of_questions_is_a_row_with_n_and_the_models():
    shown = group_table(three(), "capability", OpenContext("en", THREE))
    assert shown is not None
    assert shown.head == ("Capability", "Questions", *(one.model for one in three().standings))
    assert [row[0] for row in shown.rows] == ["common", "creation", "reasoning"]
    assert all(row[1] == "40" for row in shown.rows)


def test_groups_of_few_questions_are_left_out_and_counted():
    # Five capabilities have four questions, the last has twenty.
    found = scattered(judged(), 6, each=4)
    shown = group_table(found, "capability", OpenContext("en", THREE))
    assert [row[0] for row in shown.rows] == ["c005"]
    _, groups = standing_details(found, OpenContext("en", THREE))
    texts = [block.text for block in groups.blocks if isinstance(block, Paragraph)]
    assert "5 with fewer than 5 questions are left out." in texts
    (chart, _) = (one for one in groups.blocks if isinstance(one, ChartBlock))
    assert "5 with fewer than 5 questions are left out." in chart.caption
    assert sum("n = " in note for note in notes_of(chart.draw())) == 1


def test_nothing_is_drawn_of_fewer_than_five_questions():
    (duels,) = standing_details(judged(n=4), OpenContext("en", THREE))
    (table,) = duels.blocks
    assert isinstance(table, Table)


def test_of_many_capabilities_the_most_frequent_have_a_row():
    shown = group_table(scattered(many(), 30), "capability", OpenContext("en", THREE))
    assert len(shown.rows) == 24
    assert shown.rows[-1][0] == "c029"


def test_below_the_win_rates_of_many_capabilities_stands_how_many_are_left_out():
    def notes(found: Arena) -> str:
        _, groups = standing_details(found, OpenContext("en", THREE))
        return " ".join(one.caption for one in groups.blocks if isinstance(one, ChartBlock))

    left = "Shown: the 24 with the most questions. 6 more are in the exported tables."
    assert left in notes(scattered(many(), 30))
    assert "exported" not in notes(three())
