from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from bias_examples import (
    as_sure,
    calibrated,
    cell_result,
    decided,
    fond,
    right,
    with_probabilities,
)
from chart_examples import hrefs_of, traces_of

from evalui.report.analyses.metrics import bias_cell
from evalui.report.analyses.position_bias import (
    BiasChoice,
    BiasLinks,
    BiasSubject,
    GridCell,
    bias_document,
    bias_page,
    grid_places,
    questions_in,
    verdict,
)
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    ChartBlock,
    Details,
    Headline,
    Links,
    Paragraph,
    Places,
    PlotCell,
    StateCell,
    Table,
    TextCell,
)
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import render_blocks
from evalui.report.render.text import cell_text
from evalui.scoring.cell_summary import summarise
from evalui.scoring.choice.decisions import NEUTRAL_KEYS, key_places
from evalui.types import CellResult, Labels, Language, Reading, Trial

FOND = cell_result(fond)


def _subject(result: CellResult = FOND, **words: Any) -> BiasSubject:
    summary = summarise(result)
    assert summary.main_bias is not None
    return BiasSubject(summary, summary.main_bias, **words)


def _links(subject: BiasSubject) -> BiasLinks:
    return BiasLinks(Places("r1", {subject.summary.cell: 7}), {"cell": "7"})


def _page(
    result: CellResult = FOND, language: Language = "en", choice: BiasChoice | None = None
) -> list[Block]:
    subject = _subject(result)
    return bias_page(subject, language, _links(subject), choice=choice or BiasChoice())


def _section(blocks: Iterable[Block], key: str) -> Details:
    return next(block for block in blocks if isinstance(block, Details) and block.key == key)


def _charts(blocks: Iterable[Block]) -> Iterator[ChartBlock]:
    for block in blocks:
        if isinstance(block, ChartBlock):
            yield block
        elif isinstance(block, Details):
            yield from _charts(block.blocks)


def _lead(blocks: Iterable[Block]) -> Table:
    card = next(block for block in blocks if isinstance(block, Card))
    (table,) = card.blocks
    assert isinstance(table, Table)
    return table


def test_the_page_says_its_verdict_first_and_its_signature_last():
    subject = _subject()
    page = bias_page(subject, "en", _links(subject), choice=BiasChoice(), maps=[])
    assert isinstance(page[0], Headline)
    assert page[0].text.startswith("m picks A 63 %")
    assert isinstance(page[1], Card)
    assert isinstance(page[-1], Bullets)
    assert "rule:tolerant" in page[-1].texts[0]


def test_each_position_has_its_share_its_range_and_what_is_found_there():
    table = _lead(_page(FOND, "en"))
    assert [column.head for column in table.columns] == [
        "Position",
        "Picked",
        "Picked",
        "Recall",
    ]
    first = [cell_text(cell) for cell in table.rows[0]]
    assert first == ["A", "A: 63 % (56–69)", "63 % (56–69)", "100.0 % (96.9–100.0)"]
    assert [cell_text(row[3])[:4] for row in table.rows[1:]] == ["50 %"] * 3
    mark = table.rows[0][1]
    assert isinstance(mark, PlotCell)
    assert mark.marks[0].value == pytest.approx(62.5)
    axis, rule = table.columns[1].axis, table.columns[1].rule
    assert axis is not None
    assert (axis.low, rule) == (0, (25, "fair 25 %"))


@pytest.mark.parametrize(
    ("result", "title"),
    [
        (FOND, "Right answers found most at A (100.0 %)"),
        (cell_result(right), "Picks and right answers by position"),
        (cell_result(fond, n=28), "Picks and right answers by position"),
    ],
)
def test_the_title_is_a_finding_only_where_its_test_passes(result: CellResult, title: str):
    card = _page(result, "en")[1]
    assert isinstance(card, Card)
    assert card.title.startswith(title)


def test_probabilities_add_a_column():
    table = _lead(_page(with_probabilities(FOND), "en"))
    assert table.columns[-1].head == "Probability when right"
    assert [cell_text(row[-1]) for row in table.rows] == ["70.0 %", "40.0 %", "40.0 %", "40.0 %"]


def test_every_section_states_its_finding():
    sections = {b.key: b.finding for b in _page(FOND, "en") if isinstance(b, Details)}
    assert sections == {
        "by-answer": "180 of 180 wrong picks went to A.",
        "content-or-position": "60 of 120 questions kept a position in more orders than an option.",
        "flips": "Two orders have another option chosen on 50 % of questions (41–59).",
        "tests": "Picks depend on position (p < .001).",
        "figures": "Recalls spread by 21.7 points.",
    }
    assert max(len(finding.split()) for finding in sections.values()) <= 14


def test_who_is_always_right_has_no_wrong_picks():
    blocks = _page(cell_result(right), "zh")
    assert _section(blocks, "by-answer").finding == "可判读的回答全部选对。"
    assert _section(blocks, "tests").finding.startswith("看不出选择与位置有关")


def test_wrong_picks_that_go_everywhere_name_no_position():
    result = cell_result(lambda question, _, target: (target + 1 + question % 3) % 4)
    blocks = _page(result, "en")
    assert _section(blocks, "by-answer").finding == "480 wrong picks; no position stands out."


def test_in_one_order_there_is_no_grid():
    blocks = _page(cell_result(fond, pattern="origin"), "en")
    keys = [block.key for block in blocks if isinstance(block, Details)]
    assert keys == ["by-answer", "tests", "figures"]
    assert _section(blocks, "tests").finding == "Whether picks depend on position is not tested."


def test_a_figure_of_the_page_leads_to_the_questions_it_counts():
    subject = _subject()
    blocks = bias_page(subject, "en", _links(subject), choice=BiasChoice())
    position = _lead(blocks).rows[0][0]
    assert isinstance(position, TextCell)
    assert position.href == "results?run=r1&sub=samples&cell=7&picked=0"
    picks, grid = _charts(blocks)
    letters = traces_of(picks.draw())[0]["customdata"]
    assert letters[3][0].endswith("sub=samples&cell=7&gold=3&picked=0")
    assert letters[0][1] == ""  # no answer lies there
    assert hrefs_of(grid.draw()) == [
        f"results?run=r1&sub=bias&cell=7&slots={slots}&options={options}#content-or-position"
        for slots, options in ((1, 4), (4, 1))
    ]
    assert "Cells link to questions." in picks.caption


def test_an_unreadable_answer_leads_to_its_questions():
    subject = _subject(cell_result(lambda question, _, target: target if question else None))
    picks, _ = _charts(bias_page(subject, "en", _links(subject), choice=BiasChoice()))
    outcomes = traces_of(picks.draw())[-2]["customdata"]
    assert outcomes[0][0].endswith("gold=0&outcome=unreadable")


def test_an_open_cell_of_the_grid_lists_its_questions_as_links():
    subject, cell = _subject(), GridCell(4, 1)
    questions = questions_in(FOND.samples, grid_places(FOND, 4), cell)
    blocks = bias_page(subject, "en", _links(subject), choice=BiasChoice(cell, questions))
    section = _section(blocks, "content-or-position")
    assert section.open
    _, title, table, more, close = section.blocks
    assert isinstance(title, Paragraph)
    assert title.text == "Kept one position 4 times and one option 1 times"
    assert isinstance(table, Table)
    assert len(table.rows) == 50
    first = table.rows[0][0]
    assert isinstance(first, TextCell)
    assert first.href.endswith("sub=samples&cell=7&q=q1")
    assert more == Paragraph("and 10 more", small=True)
    assert isinstance(close, Links)
    assert "slots" not in close.links[0].href


def test_an_open_cell_without_questions_says_so():
    subject = _subject()
    choice = BiasChoice(GridCell(2, 2))
    blocks = bias_page(subject, "en", _links(subject), choice=choice)
    texts = [
        b.text for b in _section(blocks, "content-or-position").blocks if isinstance(b, Paragraph)
    ]
    assert texts[1] == "This cell holds no question."


def test_a_file_has_no_links_and_names_of_its_own_for_its_pictures():
    other = summarise(cell_result(fond, model="other"))
    blocks = list(bias_document([summarise(FOND), other], "en"))
    files = [chart.file for chart in _charts(blocks)]
    assert files == ["positions-1.png", "positions-2.png", "priors-1.png"]
    assert not any(hrefs_of(chart.draw()) for chart in _charts(blocks))
    page = render_blocks(blocks, filed=True)
    assert "href" not in page
    assert 'id="tests-2"' in page
    text = as_markdown(blocks)
    assert "![Picks A 63 % of the time where 25 % is fair](positions-2.png)" in text
    assert "| A | 63 % (56–69) | 100.0 % (96.9–100.0) |" in text


def test_every_test_is_explained_with_its_method_and_p():
    (table,) = _section(_page(FOND, "en"), "tests").blocks
    assert isinstance(table, Table)
    rows = {cell_text(row[0]): row for row in table.rows}
    question, how, p = rows["Do picks depend on position?"]
    assert "within-question permutation" in cell_text(how)
    assert (cell_text(question), p) == ("Do picks depend on position?", "< .001")
    assert rows["Were any replies left out?"][2] == "–"


def test_few_questions_have_no_p_value():
    blocks = _page(cell_result(fond, n=28), "en")
    (table,) = _section(blocks, "tests").blocks
    assert isinstance(table, Table)
    assert {row[2] for row in table.rows} == {"–"}
    _, figures = _section(blocks, "figures").blocks
    assert isinstance(figures, Table)
    values = {cell_text(row[0]): cell_text(row[1]) for row in figures.rows}
    assert values["Cochran's Q: recalls"] == "too few questions"


def test_the_figures_that_no_sentence_states_stand_last():
    _, table = _section(_page(FOND, "en"), "figures").blocks
    assert isinstance(table, Table)
    values = {cell_text(row[0]): cell_text(row[1]) for row in table.rows}
    assert values["Spread of what is found (RStd)"] == "21.7 points"
    assert values["Right in some orders, not in all"] == "50 % (41–59)"
    assert values["Calibration error over all orders (ECE)"] == "–"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("options", [2, 3, 5])
def test_any_number_of_options_can_be_shown(options: int, language):
    subject = _subject(cell_result(fond, options=options, n=40))
    blocks = bias_page(subject, language, _links(subject), choice=BiasChoice())
    assert len(_lead(blocks).rows) == options
    assert "{" not in as_markdown(blocks)
    assert render_blocks(blocks)


def test_nothing_readable_can_be_shown():
    result = cell_result(lambda *_: None)
    assert [cell_text(row[2]) for row in _lead(_page(result)).rows] == ["–"] * 4
    assert render_blocks(_page(result, "zh"))


def test_a_baseline_is_grey():
    subject = _subject(baseline=True, place=3)
    assert subject.colour == "#80868B"
    assert replace(subject, baseline=False).colour != subject.colour


def _folds(result: CellResult) -> dict[str, Details]:
    subject = _subject(result)
    links = BiasLinks(Places("r", {subject.summary.cell: 1}), {})
    blocks = bias_page(subject, "en", links, choice=BiasChoice())
    return {each.key: each for each in blocks if isinstance(each, Details)}


def test_each_pair_of_orders_says_how_often_the_option_changes():
    section = _folds(FOND)["flips"]
    assert section.finding.startswith("Two orders have another option chosen on 50 %")
    (table, _) = section.blocks
    assert isinstance(table, Table)
    assert len(table.rows) == 6
    first, second, changed, n = (cell_text(cell) for cell in table.rows[0])
    assert (first, second, n) == ("ABCD", "BCDA", "120")
    assert changed.startswith("50 %")


def test_what_keeps_its_option_never_changes_with_the_order():
    assert "on 0.0 % of questions (0.0–" in _folds(cell_result(right))["flips"].finding


@pytest.mark.parametrize(("labels", "first"), [("dealt", "A"), ("neutral", NEUTRAL_KEYS[0])])
def test_a_model_that_follows_a_place_is_told_from_one_that_follows_a_key(
    labels: Labels, first: str
):
    result = decided(lambda *_: as_sure(0.9, 0), labels=labels)
    by_key = tuple(
        _chosen(trial, key_places(labels, trial.sample_id, trial.variant).index(0))
        for trial in result.trials
    )
    place = _folds(result)["key-or-place"]
    key = _folds(replace(result, trials=by_key))["key-or-place"]
    assert place.finding == "The place moves its choices; the key is not seen to."
    assert key.finding == "The key moves its choices; the place is not seen to."
    for section, row, text in ((place, 0, "1: 100.0 %"), (key, 1, f"{first}: 100.0 %")):
        table, _ = section.blocks
        assert isinstance(table, Table)
        assert cell_text(table.rows[row][1]).startswith(text)


def test_the_verdict_does_not_clear_a_model_whose_choices_its_keys_move():
    by_place = decided(lambda *_: as_sure(0.9, 0), labels="dealt")
    trials = tuple(
        _chosen(trial, key_places("dealt", trial.sample_id, trial.variant).index(0))
        for trial in by_place.trials
    )
    by_key = summarise(replace(by_place, trials=trials))
    assert by_key.main_bias
    told = verdict("m", by_key.main_bias, "en")
    assert told.kind == "warn"
    assert told.support.startswith("Key: p < .001, place: p = ")
    assert told.lead == "The key moves its choices; the place is not seen to."
    assert isinstance(cell := bias_cell(by_key, "en"), StateCell)
    assert cell.below == "but keys move its choices"
    of_place = summarise(by_place).main_bias
    assert of_place
    told = verdict("m", of_place, "en")
    assert "key" not in told.lead + told.support


def _chosen(trial: Trial, slot: int) -> Trial:
    shares = tuple(0.9 if at == slot else 0.1 / 3 for at in range(4))
    reading = Reading(slot, float(slot == trial.target), "forced")
    return replace(trial, readings=dict.fromkeys(trial.readings, reading), probabilities=shares)


def test_letters_in_order_are_their_places():
    assert "key-or-place" not in _folds(decided(calibrated))
