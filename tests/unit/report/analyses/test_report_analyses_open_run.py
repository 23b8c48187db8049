"""Runs of written answers in parts, and how many words their pages have."""

import math
import re
from collections.abc import Iterator, Sequence

import pytest
from judged_examples import RUNS, page, run_of
from open_examples import answers_result, judge_result, judged_run, rating_result, votes

from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_run import open_blocks, open_parts, part_blocks
from evalui.report.blocks import Card, Details, Heading, Headline, ModelCell, Table
from evalui.report.compile import compile_report
from evalui.report.render.json import JsonBlock, as_json
from evalui.scoring.arena.people import human_arenas
from evalui.types import Language

VERDICT, SUPPORT, TITLE, CAPTION, CLOSED, CELL, WARNING = 16, 16, 14, 20, 14, 6, 18
FIRST_FIGURE = 25  # words of the page before it

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(
    r"[^\u4e00-\u9fff\s，。：；（）、“”]*[A-Za-z0-9][^\u4e00-\u9fff\s，。：；（）、“”]*"
)


def words(text: str, language: Language) -> int:
    """Tokens with a letter or a digit; in Chinese two characters count as one word."""
    if language == "zh":
        return math.ceil(len(_CHINESE.findall(text)) / 2) + len(_LATIN.findall(text))
    return sum(any(sign.isalnum() for sign in token) for token in text.split())


def pieces(blocks: Sequence[JsonBlock]) -> Iterator[tuple[int, str]]:
    """Each text of the blocks that has a budget, after the budget."""
    for block in blocks:
        match block["type"]:
            case "headline":
                yield VERDICT, block["text"]
                yield SUPPORT, f"{block['lead']} {block['support']}"
            case "card" | "chartblock":
                yield TITLE, block["title"]
                yield CAPTION, block["caption"]
                yield from pieces(block.get("blocks", ()))
            case "details":
                yield CLOSED, block["finding"]
                yield from pieces(block["blocks"])
            case "notes":
                yield from ((WARNING, line["text"]) for line in block["lines"])
            case "table" if block["lead"]:
                cells = (cell for row in block["rows"] for cell in row if isinstance(cell, dict))
                yield from ((CELL, cell.get("below", "")) for cell in cells)
            case _:
                pass


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", RUNS)
def test_no_text_has_more_words_than_its_place_allows(name: str, language: Language):
    over = [
        (budget, words(text, language), text)
        for budget, text in pieces(as_json(page(name, language)))
        if words(text, language) > budget
    ]
    assert over == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [name for name in RUNS if name != "nothing readable"])
def test_the_first_figure_comes_early(name: str, language: Language):
    first, second, *_ = page(name, language)
    assert isinstance(first, Headline)
    read = [first.text, first.lead, first.support]
    if isinstance(second, Card):
        read += [second.title, second.caption]
    before = re.split(r"(?<![\w-])\d", " ".join(read))[0]
    assert words(before, language) <= FIRST_FIGURE


# ---------------------------------------------------------------- parts


def test_a_dataset_has_a_part_for_each_judge_its_panel_first_and_people_last():
    report = compile_report(
        "Run", judged_run(judges=("one", "two")), votes={"open-qa": votes("ann")}
    )
    shown = open_parts(report, (*report.arenas, *human_arenas(report.people)))
    assert [part.judge for part in shown] == ["panel", "one", "two", "people"]
    assert [part.label("en", frozenset({"two"})) for part in shown] == [
        "all judges together",
        "one",
        "two (rule-based)",
        "people",
    ]
    assert [part.judge for part in open_parts(report)] == ["panel", "one", "two"]


def test_datasets_without_a_judge_have_a_part_of_their_own():
    results = [*judged_run(), answers_result("late", dataset="other"), judge_result(dataset="last")]
    assert [(part.dataset, part.judge) for part in open_parts(_run(results))] == [
        ("open-qa", "judge-local"),
        ("other", ""),
        ("last", "judge-local"),
    ]


def test_the_judge_leads_and_the_references_come_second():
    first, table, texts, *_ = page("one winner", "en")
    assert isinstance(first, Headline)
    assert "the judge prefers it" in first.text
    assert isinstance(table, Card)
    assert isinstance(texts, Card)
    assert "closest to the references" in texts.title


def test_without_a_judge_the_references_lead_with_places_that_the_tests_leave():
    first, table, *rest = page("references alone", "en")
    assert isinstance(first, Headline)
    assert first.text.startswith("late is closest to the references: ROUGE-L 0.90")
    assert isinstance(table, Card)
    (lead,) = table.blocks
    assert isinstance(lead, Table)
    assert lead.lead
    ranks = [row[0] for row in lead.rows]
    names = [cell.name for row in lead.rows for cell in row if isinstance(cell, ModelCell)]
    assert names == ["late", "early", "weak"]
    assert ranks[0] == "1"
    keys = [block.key for block in rest if isinstance(block, Details)]
    assert keys == ["how-sure", "every-figure", "what-to-know"]


def test_marks_of_a_judge_lead_before_the_references():
    first, marks, texts, *_ = page("marks of a judge", "en")
    assert isinstance(first, Headline)
    assert first.text.startswith("judge-local marks late highest: 8.5 of 10")
    assert isinstance(marks, Card)
    assert isinstance(texts, Card)
    assert "closest to the references" in texts.title


def test_a_run_that_goes_on_has_no_verdict():
    (first, *_) = page("verdicts to come", "en")
    assert isinstance(first, Headline)
    assert first.text == "40 of 144 verdicts are in. The verdict comes with the last one."
    (first, *_) = page("answers to come", "en")
    assert isinstance(first, Headline)
    assert first.text == "5 of 12 answers are in. The verdict comes with the last one."


def test_a_file_names_dataset_and_judge_above_each_part():
    run = _run([*judged_run(), answers_result("late", dataset="other")])
    heads = [
        block.text for block in open_blocks(run, OpenContext("en")) if isinstance(block, Heading)
    ]
    assert heads == ["Judged · open-qa · judge: judge-local", "Written answers · other"]


def test_models_have_one_place_in_every_part():
    run = _run([*judged_run(), rating_result({"late": [9.0] * 12}, dataset="marks")])
    context = OpenContext("en", run.answerers)
    places = {
        (cell["name"], cell["place"])
        for part in open_parts(run)
        for cell in _models(as_json(part_blocks(run, part, context)))
    }
    assert places == {("late", 0), ("early", 1), ("weak", 2)}


def test_every_example_has_a_part():
    assert all(open_parts(run_of(name)) for name in RUNS)


def _run(results):
    return compile_report("Run", results)


def _models(value: object) -> Iterator[JsonBlock]:
    if isinstance(value, dict):
        if value.get("type") == "modelcell":
            yield value
        for each in value.values():
            yield from _models(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _models(each)
