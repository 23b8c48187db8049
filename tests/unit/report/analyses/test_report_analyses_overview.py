"""The first page of a run: its table, its sections, and what stands in files alone."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from bias_examples import Pick, calibrated, cell_result, decided, fond, right, with_probabilities
from chart_examples import traces_of
from overview_examples import (
    BASE,
    EARLY,
    LATE,
    LEFT_OUT,
    PLACES,
    RUNS,
    blind,
    first,
    halting,
    page,
    summary,
)

from evalui.report.analyses.left_out import left_out_sentences
from evalui.report.analyses.metrics import bias_state, picks
from evalui.report.analyses.overview import (
    how_sure,
    lead_card,
    lead_table,
    order_loss_title,
    overview_blocks,
    section,
)
from evalui.report.analyses.position_bias import (
    BiasSubject,
    bias_document,
    findings,
    model_maps,
    verdict,
)
from evalui.report.analyses.verdict import DatasetStanding, standings
from evalui.report.axes import Axis
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    ChartBlock,
    Details,
    Heading,
    Headline,
    Links,
    ModelCell,
    Notes,
    Paragraph,
    Places,
    PlotCell,
    StateCell,
    Table,
    TextCell,
    ValueCell,
)
from evalui.report.frames.choices import bias
from evalui.report.render.markdown import as_markdown
from evalui.report.render.text import cell_text
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.comparisons import comparisons
from evalui.types import Cell, CellResult, Interval, Language, LeftOut, Trial, Variant

STEPS = replace(
    PLACES, repeat="evaluate?again=k3f", examples="evaluate?again=k3f&shots=5", sample="evaluate"
)


def names(name: str) -> list[str]:
    return [block.key for block in page(name, "en") if isinstance(block, Details)]


def test_the_sentence_comes_first_then_the_table_then_what_folds():
    blocks = page("winner", "en")
    assert [type(block) for block in blocks] == [Headline, Card, *[Details] * 4, Bullets]
    assert names("winner") == ["how-sure", "by-subject", "what-to-know", "every-figure"]


def test_that_all_guess_opens_the_next_steps():
    assert names("nobody")[0] == "why"
    why = next(block for block in page("nobody", "en", places=STEPS) if isinstance(block, Details))
    assert why.open
    (table,) = why.blocks
    assert isinstance(table, Table)
    assert [row[2].href for row in table.rows] == [
        "evaluate?again=k3f&shots=5",
        "results?run=k3f&sub=samples&cell=&outcome=wrong",
        "evaluate",
    ]
    filed = next(b for b in page("nobody", "en", places=None) if isinstance(b, Details))
    assert all(len(row) == 2 for row in filed.blocks[0].rows)


def test_a_run_without_answers_has_no_table():
    assert names("nothing") == ["what-to-know"]


def test_of_many_models_the_first_eight_and_the_way_to_all():
    blocks = page("many models", "en")
    card = next(block for block in blocks if isinstance(block, Card))
    (more,) = next(block.links for block in blocks if isinstance(block, Links))
    assert len(card.blocks[0].rows) == 8
    assert (more.text, "all=1" in more.href) == ("Show all 14", True)
    every = overview_blocks(RUNS["many models"], "en", places=PLACES, all_models=True)
    assert len(every[1].blocks[0].rows) == 14
    filed = page("many models", "en", places=None)
    assert len(filed[1].blocks[0].rows) == 14


def sections(blocks: tuple[Block, ...]) -> dict[str, tuple[Block, ...]]:
    return {block.key: block.blocks for block in blocks if isinstance(block, Details)}


def test_what_folds_is_of_the_models_in_the_table_with_the_way_to_all():
    shown = sections(page("many models", "en"))
    table, note, _, more = shown["how-sure"]
    assert len(table.rows) == 8 * 7 // 2
    assert note.lines[0].text == "The first 28 of 91 pairs; the spreadsheet lists all."
    assert more.links[0].href.endswith("&all=1#how-sure")
    subjects, _, more = shown["by-subject"]
    assert len(subjects.columns) == 2 + 8
    assert more.links[0].href.endswith("&all=1#by-subject")
    for every in (
        overview_blocks(RUNS["many models"], "en", places=PLACES, all_models=True),
        page("many models", "en", places=None),
    ):
        table, _ = sections(every)["how-sure"]
        assert len(table.rows) == 91
        subjects, _ = sections(every)["by-subject"]
        assert len(subjects.columns) == 2 + 14


def test_a_page_lists_two_hundred_pairs_and_a_file_all():
    one = summary(right, "one", n=40)
    runs = [replace(one, cell=replace(one.cell, model=f"model-{n:02d}")) for n in range(21)]
    page = sections(overview_blocks(runs, "en", places=PLACES, all_models=True))
    table, note, _ = page["how-sure"]
    assert len(table.rows) == 200
    assert note.lines[0].text.startswith("The first 200 of 210 pairs")
    table, _ = sections(overview_blocks(runs, "en"))["how-sure"]
    assert len(table.rows) == 210


def test_of_four_modes_one_is_shown_and_an_address_names_another():
    switch = page("four modes", "en")[1]
    assert isinstance(switch, Links)
    assert [link.current for link in switch.links] == [True, False, False, False]
    assert "mode=cloze" in switch.links[2].href
    cloze = overview_blocks(RUNS["four modes"], "en", places=PLACES, mode="cloze")
    assert [link.current for link in cloze[1].links] == [False, False, True, False]
    assert cloze[2].blocks[0].columns[3].group == "Cloze"


def test_several_datasets_have_a_table_each():
    cards = [block for block in page("two datasets", "en") if isinstance(block, Card)]
    assert [card.title for card in cards] == ["ceval", "cmmlu"]
    assert [card.blocks[1].file for card in cards] == ["accuracy.png", "accuracy-2.png"]


def test_every_figure_has_its_files_and_its_order():
    blocks = overview_blocks(RUNS["winner"], "en", baselines={BASE}, places=PLACES, sort="-model")
    every = next(b for b in blocks if isinstance(b, Details) and b.key == "every-figure")
    table, *_, files = every.blocks
    assert [row[0] for row in table.rows] == sorted([LATE, EARLY, BASE], reverse=True)
    assert table.columns[0].order == "descending"
    assert table.columns[0].href.endswith("sort=model#every-figure")
    assert table.columns[4].href.endswith("sort=-accuracy#every-figure")
    assert [link.href for link in files.links] == [
        f"../export/k3f.{extension}?lang=en" for extension in ("csv", "xlsx", "tex")
    ]


@pytest.mark.parametrize("name", RUNS)
def test_a_file_says_the_same_and_leads_nowhere(name: str):
    text = as_markdown(page(name, "en", places=None))
    first = page(name, "en")[0]
    assert isinstance(first, Headline)
    assert first.text.split(":")[0].replace("-", "") in text.replace("\\", "").replace("-", "")
    assert "?run=" not in text
    assert "](../export" not in text


def test_modes_left_out_are_named_in_words():
    assert left_out_sentences(LEFT_OUT[1:], "en") == (
        "Not used for ceval, which has options to choose from and nothing to write: judge.",
    )
    several = [LeftOut("choice-modes", "qa", mode="cloze, generation")]
    assert left_out_sentences(several, "zh")[0].endswith("完形、回复。")


def test_what_a_cell_says_itself_is_not_said_of_the_run():
    blocks = overview_blocks(
        RUNS["winner in two modes"],
        "en",
        baselines={BASE},
        left_out=[LeftOut("model", "ceval", BASE, "cloze", "no probability")],
    )
    assert as_markdown(blocks).count("cloze: no probability") == 0


def steps(cells: Sequence[Summary], places: Places) -> dict[str, str]:
    """The links of "Why might this be?"."""
    blocks = overview_blocks(cells, "en", baselines={BASE}, places=places)
    why = next(b for b in blocks if isinstance(b, Details) and b.key == "why")
    (table,) = why.blocks
    assert isinstance(table, Table)
    return {cell_text(row[0]): cell_text(row[2]) for row in table.rows}


def test_a_change_of_a_server_stands_first_of_what_to_know():
    said = "toy: its answers in this run named 2 values of system_fingerprint."
    told = overview_blocks(RUNS["winner"], "en", changes=[said])
    (notes,) = sections(told)["what-to-know"]
    assert isinstance(notes, Notes)
    assert (notes.lines[0].kind, notes.lines[0].text) == ("warn", said)


@pytest.mark.parametrize(
    ("places", "examples", "difficulty"),
    [
        (STEPS, "Repeat with examples", "Go to the sample"),
        (replace(STEPS, examples=""), "–", "Go to the sample"),  # no file has any
        (PLACES, "–", "–"),  # one who only reads, or a run whose files are not here
    ],
)
def test_next_steps_are_links_where_they_can_be_taken(
    places: Places, examples: str, difficulty: str
):
    assert steps(RUNS["nobody"], places) == {
        "Worked examples": examples,
        "Replies": "Read 3 replies",
        "Difficulty": difficulty,
    }


def test_probabilities_have_no_replies_to_read():
    cells = [summary(blind(0), LATE, mode="multiple_choice"), summary(blind(1), LATE, mode="cloze")]
    assert "Replies" not in steps(cells, STEPS)
    written = [*cells, summary(blind(2), LATE)]
    assert steps(written, STEPS)["Replies"] == "Read 3 replies"


def standing(name: str) -> DatasetStanding:
    return standings(RUNS[name], baselines={BASE})[0]


def cells(name: str, model: str, language: Language = "en"):
    table = lead_table(standing(name), language)
    heads = [" · ".join(filter(None, (c.group, c.head))) for c in table.columns]
    row = next(row for row in table.rows if ModelCell in map(type, row) and _name(row) == model)
    return dict(zip(heads, row, strict=True))


def _name(row) -> str:
    return next(cell.name for cell in row if isinstance(cell, ModelCell))


GROUP = "Multiple choice, reply, 4 orders"


def test_a_row_has_rank_model_marks_and_the_figure_that_ranks_first():
    row = cells("winner in two modes", LATE)
    assert list(row) == [
        "Rank",
        "Model",
        "Right answers",
        f"{GROUP} · Right in every order",
        f"{GROUP} · As written",
        f"{GROUP} · Position bias",
        "Cloze · Accuracy",
    ]
    assert row["Rank"] == "1"
    assert row[f"{GROUP} · Right in every order"] == ValueCell("80", "%", "74–85", size="lead")
    assert row["Cloze · Accuracy"] == ValueCell("75", "%", "69–80", size="large")


def test_who_has_no_rank_is_told_why_below_its_name():
    row = cells("winner", BASE)
    assert row["Rank"] == "–"
    assert row["Model"] == ModelCell(BASE, 0, True, "no better than guessing")
    assert cells("unreadable", LATE)["Model"].below == "no better than guessing"


def test_a_rank_is_the_range_of_places_that_the_test_allows():
    assert {cells("tie", model)["Rank"] for model in (LATE, EARLY)} == {"1–2"}


def test_a_mode_that_cannot_run_says_so_in_its_cell():
    assert cells("winner in two modes", BASE)["Cloze · Accuracy"] == TextCell(
        "–", "cannot run here"
    )


def test_marks_stand_on_one_axis_with_the_line_of_guessing():
    table = lead_table(standing("winner"), "en")
    column = next(column for column in table.columns if column.axis)
    assert isinstance(column.axis, Axis)
    assert (column.axis.low, column.axis.high) == (0.0, 1.0)
    assert column.rule == (0.25, "guessing 25 %, solid 0.4 %")
    plot = table.rows[1][2]
    assert isinstance(plot, PlotCell)
    assert [(mark.value, mark.hollow) for mark in plot.marks] == [(0.5, False), (1.0, True)]
    assert plot.text == "50 % (44–56) in every order, 100.0 % (98.4–100.0) as written"


def test_where_all_guess_nobody_is_ranked_and_accuracy_comes_first():
    card = lead_card(standing("nobody"), "en")
    assert card.title == "Every plausible range includes the guessing line"
    row = cells("nobody", LATE)
    assert row["Rank"] == "–"
    assert row["Model"].below == ""
    assert row[f"{GROUP} · As written"].size == "lead"


def test_of_few_questions_the_count_stands_in_place_of_the_share():
    shown = cells("few", EARLY)[f"{GROUP} · Right in every order"]
    assert shown == ValueCell("6", "of 12", "25–75 %", size="lead")


def test_the_title_is_a_finding_or_the_neutral_fact():
    assert lead_card(standing("winner"), "en").title == (
        f"{EARLY} loses about 5 in 10 of its right answers when options move"
    )
    assert lead_card(standing("four modes"), "en").title == "Right answers by model"


def test_of_several_datasets_each_has_its_name_and_its_verdict():
    card = lead_card(standing("two datasets"), "en", named="ceval")
    assert card.title == "ceval"
    assert isinstance(card.blocks[0], Paragraph)
    assert card.blocks[0].text.startswith(f"{LATE} wins")


def test_different_numbers_of_questions_stand_in_the_cells():
    shown = cells("other questions", EARLY)[f"{GROUP} · Right in every order"]
    assert shown.below == "n = 200"
    assert lead_card(standing("other questions"), "en").caption.endswith("n = 200 to 240.")


def test_a_cell_at_work_says_how_far_it_is():
    assert cells("unfinished", LATE)["Model"].below == "660 of 960 so far"
    assert "Rank" not in cells("unfinished", LATE)


def test_a_run_at_work_shows_how_far_it_is_and_its_figures_and_concludes_nothing():
    guesser = summary(blind(0), LATE, left=300, state="running")
    for cells in (RUNS["unfinished"], [guesser, summary(blind(1), EARLY)]):
        top, card = overview_blocks(cells, "en")
        assert isinstance(top, Headline)
        assert top.text.endswith("answers are in. The verdict comes with the last one.")
        assert isinstance(card, Card)
        assert card.title == "Right answers by model"


def test_four_modes_do_not_stand_beside_each_other():
    heads = [column.head for column in lead_table(standing("four modes"), "en").columns]
    assert heads.count("Accuracy") == 1


def test_the_position_bias_has_a_word_and_the_favourite():
    fixed, sound = summary(first, BASE).main_bias, summary(halting(5), LATE).main_bias
    assert fixed is not None
    assert sound is not None
    assert bias_state(fixed, "en") == ("bad", "One position only")
    assert picks(fixed, "en") == "picks A every time"
    assert bias_state(sound, "zh") == ("ok", "未见")
    leaning = cells("some unreadable", EARLY)[f"{GROUP} · Position bias"]
    assert leaning == StateCell("bad", "Clear", "picks A 63 %, fair is 25")


@pytest.fixture(scope="module")
def muted():
    """A model that likes A, whose letters hold a fiftieth of the probability."""
    given = with_probabilities(cell_result(fond, model="muted", mode="multiple_choice"))
    trials = tuple(replace(trial, mass=0.02) for trial in given.trials)
    return summarise(replace(given, trials=trials))


@pytest.fixture(scope="module")
def loud():
    """The same one, whose letters hold nearly all of it."""
    return summarise(with_probabilities(cell_result(fond, model="loud", mode="multiple_choice")))


LITTLE = {
    "en": "Letters hold 2 % of the probability, too little to speak of a bias",
    "zh": "字母只占 2 % 的概率，太少，不足以判断位置偏差",
}


def _title_of_picks(of, language: Language) -> str:
    sections = (each for each in bias_document([of], language) if isinstance(each, Details))
    (chart,) = next(each for each in sections if each.key.startswith("by-answer")).blocks
    assert isinstance(chart, ChartBlock)
    return chart.title


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_claims_a_bias_of_letters_that_hold_too_little(muted, loud, language):
    bias, little = muted.main_bias, LITTLE[language]
    headline = verdict("muted", bias, language)
    assert ("2 %" in headline.text, headline.lead, headline.support) == (True, "", "")
    assert _title_of_picks(muted, language) == little
    told = {each.rule: each for each in findings(muted, bias, language)}
    for rule in ("picks", "recalls"):
        assert told[rule].finding.startswith(little)
        assert told[rule].p == ""
    assert _title_of_picks(loud, language) != little


def test_the_first_page_and_the_files_claim_none_either(muted, loud):
    text = as_markdown(overview_blocks([muted, loud], "en"))
    assert "Not by letters: letters hold 2 %" in text
    assert text.count("Clear: picks A 63 %, fair is 25") == 2
    assert [row["light"] for row in bias([muted])] == ["mass"]


def test_what_is_preferred_whatever_stands_there_is_not_said_of_it(muted, loud):
    others = [muted, loud, replace(loud, cell=replace(loud.cell, model="third"))]
    section, *_ = model_maps(BiasSubject(muted, muted.main_bias), others, "en")
    (cells,) = traces_of(section.blocks[0].draw())
    assert [row[0].partition(":")[0] for row in cells["hovertext"]] == ["loud", "third"]


def test_replies_have_no_letter_mass_to_doubt():
    found = summarise(cell_result(fond, model="replies"))
    assert (found.main_bias.level, found.main_bias.mass) == ("red", None)
    assert summarise(cell_result(right)).main_bias.level == "green"


def _share(value: float, n: int = 240, half: float = 0.06) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def _summary(
    model: str = "m", accuracy: float = 0.6, robust: float | None = None, n: int = 240, **cell: str
) -> Summary:
    described = Cell(
        cell.get("dataset", "d"),
        model,
        "generation",
        cell.get("label", "generation"),
        "circular",
        "",
    )
    plain = Summary(described, "done", "", n, n, n, n=n, accuracy=_share(accuracy, n), chance=0.25)
    if robust is None:
        return plain
    gap = accuracy - robust
    return replace(
        plain,
        robust=_share(robust, n),
        order_sensitivity=_share(gap, n),
        lost_with_order=gap / accuracy,
    )


@pytest.mark.parametrize(
    ("summaries", "title"),
    [
        ([], ""),
        ([replace(_summary(), accuracy=None)], ""),
        ([_summary(robust=None)], ""),
        ([_summary(accuracy=0.30, robust=0.1)], ""),  # not above guessing: nothing to lose
        ([_summary(robust=0.36)], "m loses about 4 in 10 of its right answers when options move"),
        ([_summary(robust=0.6)], "m loses at most 1 in 20 of its right answers when options move"),
        ([_summary(robust=0.558)], "m loses about 1 in 10 of its right answers when options move"),
        ([_summary(robust=0.0)], "m loses all its right answers when options move"),
        ([_summary(robust=0.01)], "m loses nearly all its right answers when options move"),
        (
            [_summary("x", 0.7, 0.69), _summary("y", 0.6, 0.3)],
            "y loses about 5 in 10 of its right answers when options move",
        ),
        (
            [_summary("x", 0.7, 0.69), _summary("y", 0.6, 0.58)],
            "No model loses over 1 in 20 right answers when options move",
        ),
        (
            # A guesser has nothing to lose and is not spoken of.
            [_summary("x", 0.7, 0.35), _summary("y", 0.25, 0.0)],
            "x loses about 5 in 10 of its right answers when options move",
        ),
    ],
)  # fmt: skip
def test_the_title_says_what_is_lost_with_the_order(summaries: list[Summary], title: str):
    assert order_loss_title(summaries, "en") == title


@pytest.mark.parametrize(
    ("robust", "title"),
    [
        (0.36, "选项换个顺序，m 的正确答案约丢掉四成"),
        (0.48, "选项换个顺序，m 的正确答案约丢掉两成"),
        (0.0, "选项换个顺序，m 的正确答案全部丢掉"),
    ],
)
def test_chinese_counts_losses_in_tenths(robust: float, title: str):
    assert order_loss_title([_summary(robust=robust)], "zh") == title


N, ORDERS = 60, 4


def drawn(
    name: str, knows: Sequence[float], *, repeats: int = 4, by_order: bool = False
) -> CellResult:
    """Right with the chance `knows` of a question, drawn for each reply, or for each order."""
    rng, trials, result = np.random.default_rng(len(name)), list[Trial](), None
    chances = np.resize(knows, N)
    fixed = rng.random((N, ORDERS)) < chances[:, None]
    for repeat in range(repeats):
        right = fixed if by_order else rng.random((N, ORDERS)) < chances[:, None]

        def pick(question: int, order: int, target: int, right: np.ndarray = right) -> int:
            return target if right[question, order] else (target + 1) % 4

        result = cell_result(pick, n=N, model=name)
        trials += [
            replace(each, variant=Variant(each.variant.permutation, repeat))
            for each in result.trials
        ]
    assert result is not None
    cell = replace(result.cell, signature=f"{result.cell.signature}|temp:0.7")
    return replace(result, cell=cell, trials=trials, total=len(trials))


def text_of(summaries: Sequence[Summary]) -> str:
    return as_markdown(overview_blocks(summaries, "en"))


KNOWS = (0.9, 0.7, 0.5, 0.95)


def test_who_is_sampled_is_ranked_by_the_mean_over_orders():
    one, other = (summarise(drawn(name, KNOWS)) for name in ("one", "other"))
    (compared,) = comparisons([one, other])
    assert compared.measure == "mean_over_orders"
    (standing,) = standings([one, other])
    assert standing.measure == "mean_over_orders"
    told = text_of([one, other])
    assert "loses" not in told
    assert "Right in every order" not in told.split("##")[1]
    assert one.mean_over_orders is not None
    assert f"{100 * one.mean_over_orders.interval.value:.0f}" in told.split("##")[1]


@pytest.mark.parametrize("by_order", [False, True])
def test_repeats_part_what_sampling_loses_from_what_order_loses(*, by_order: bool):
    figures = summarise(drawn("one", KNOWS, by_order=by_order)).figures
    same, loss = figures["same_order"], figures["order_loss"]
    parts = [figures[f"variance_{part}"] for part in ("questions", "sampling", "order")]
    assert sum(parts) == pytest.approx(1)
    if by_order:
        assert loss.low > 0.2
        assert same.value == pytest.approx(figures["mean_over_orders"].value)
        assert parts[1] == 0
    else:
        assert loss.low < 0 < loss.high
        assert same.value == pytest.approx(np.mean(np.power(KNOWS, 4)), abs=0.05)
        assert parts[2] < 0.05 < parts[1]


def test_one_reply_to_each_order_leaves_a_caution():
    told = text_of([summarise(drawn("one", KNOWS, repeats=1))])
    assert "may be chance" in told


def test_all_subjects_together_have_the_ranges_of_the_whole():
    result = drawn("one", KNOWS)
    samples = {
        name: replace(sample, metadata={"subject": f"s{place % 2}"})
        for place, (name, sample) in enumerate(result.samples.items())
    }
    summary = summarise(replace(result, samples=samples))
    every = next(group for group in summary.groups if group.kind == "all")
    for measure in ("accuracy", "robust", "mean_over_orders"):
        # The questions stand by subject there: a sum in another order differs in its last digit.
        one, other = every.share(measure), summary.share(measure)
        assert one is not None
        assert other is not None
        assert (one.low, one.high, one.n) == pytest.approx((other.low, other.high, other.n))


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("winner", "Very: 30 points (22–38), and 240 questions show gaps of 12 or more."),
        ("tie", "Not enough to tell: 240 questions show gaps of 10 points or more."),
        ("tie of many", "The first two are equal on each of 240 questions."),
        ("nobody", "Fairly. With 240 questions a model needs 31 % or more to stand out."),
        ("one model in one order", "240 questions leave a range of 12 points."),
        ("few", "Fairly. The gap is 50 points (17–83), p = .031."),
    ],
)
def test_how_sure_the_verdict_is(name: str, finding: str):
    made = how_sure(standing(name), "en")
    assert made is not None
    assert made[0] == finding


def test_nothing_is_sure_while_answers_are_to_come_or_models_were_not_asked_alike():
    assert how_sure(standing("unfinished"), "en") is None
    assert how_sure(standing("other questions"), "en") is None


def test_the_pairs_stand_with_their_ranges_and_corrected_p_values():
    made = how_sure(standing("winner"), "en")
    assert made is not None
    table, caption = made[1]
    assert isinstance(table, Table)
    assert isinstance(caption, Paragraph)
    assert table.head == ("Pair", "Difference", "Plausible range", "p, corrected", "In words")
    assert [row[0] for row in table.rows] == [
        f"{LATE} over {BASE}",
        f"{EARLY} over {BASE}",
        f"{LATE} over {EARLY}",
    ]
    assert table.rows[2][1:] == (
        ValueCell("+30", "points"),
        "22–38",
        "< .001",
        "a real difference",
    )
    assert caption.text.startswith(
        "Robust accuracy, paired on the same 240 questions, Holm over 3 pairs."
    )


def test_the_test_decides_on_few_questions_too():
    made = how_sure(standing("few"), "en")
    assert made is not None
    table = made[1][0]
    assert isinstance(table, Table)
    assert table.rows[0][3:] == (".031", "a real difference")


def test_of_several_datasets_each_has_its_tables_under_its_name():
    both = standings(RUNS["two datasets"], baselines={BASE})
    made = section("how-sure", how_sure, both, "en", kind="overview.sure")
    assert made is not None
    assert made.finding == "The first place is certain on 2 of 2 datasets."
    heads = [block.text for block in made.blocks if isinstance(block, Heading)]
    assert heads == ["ceval", "cmmlu"]


def _act_card(blocks: Sequence[Block]) -> Card | None:
    cards = (block for block in blocks if isinstance(block, Card))
    return next((card for card in cards if "Act above" in _heads(card)), None)


def _heads(card: Card) -> Sequence[str]:
    return [head for block in card.blocks if isinstance(block, Table) for head in block.head]


def test_of_decisions_a_card_says_from_where_on_one_can_act():
    card = _act_card(page("decisions", "en"))
    assert card is not None
    assert card.title == f"{LATE}: act above 0.90, 93 % right (82–98) on 23 % of questions"
    assert len(card.title.split()) <= 25
    table, links = card.blocks
    assert isinstance(table, Table)
    assert isinstance(links, Links)
    assert [cell_text(cell) for cell in table.rows[0][2:]] == [
        "0.90 (for 95 % right)",
        "93 % (82–98) (n = 45)",
        "23 % (17–29)",
        "cannot be told",
    ]
    assert table.rows[1][2] == "–"
    assert links.links[0].href.endswith("sub=calibration")


def test_decisions_without_a_threshold_have_their_card_without_a_table():
    few = summarise(decided(calibrated, n=20))
    cards = [block for block in overview_blocks([few], "en") if isinstance(block, Card)]
    assert cards[1].title == "Too few questions (20) to judge how well probabilities fit"
    assert (cards[1].blocks, cards[1].caption) == ((), "")


def _letters(pick: Pick, sure: float) -> Summary:
    signature = "d@1|mode:multiple_choice|spell:common"
    result = cell_result(pick, n=240, mode="multiple_choice", signature=signature)
    return summarise(with_probabilities(result, sure=sure))


def test_letters_fold_where_they_have_a_threshold_and_are_silent_without_one():
    sections = {
        name: [each for each in overview_blocks([cell], "en") if isinstance(each, Details)]
        for name, cell in (("sure", _letters(halting(50), 0.9)), ("not", _letters(fond, 0.9)))
    }
    assert sections["sure"][0].name == "When to act"
    assert sections["sure"][0].finding.startswith("Act above 0.90: ")
    assert "When to act" not in [each.name for each in sections["not"]]


def test_nobody_acts_while_answers_are_to_come():
    whole = decided(calibrated, n=400)
    running = replace(whole, trials=whole.trials[:900], state="running")
    blocks = overview_blocks([summarise(running)], "en")
    assert [type(block) for block in blocks] == [Headline, Card]
