"""The first page of a run as blocks: their order, their links, and the same in a file."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from bias_examples import right
from overview_examples import BASE, EARLY, LATE, LEFT_OUT, PLACES, RUNS, blind, page, summary

from evalui.report.analyses.left_out import left_out_sentences
from evalui.report.analyses.overview import overview_blocks
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    Details,
    Headline,
    Links,
    Notes,
    Places,
    Table,
)
from evalui.report.render.markdown import as_markdown
from evalui.report.render.text import cell_text
from evalui.scoring.cell_summary import Summary
from evalui.types import LeftOut

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
