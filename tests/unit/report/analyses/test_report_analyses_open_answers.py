"""Runs of written answers in parts, how many words their pages have, and who is closest."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from judged_examples import RUNS, page, run_of
from open_examples import (
    answer_trial,
    answers_result,
    judge_result,
    judged_run,
    rating_result,
    samples,
    votes,
)

from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers import (
    answer_notes,
    open_blocks,
    open_parts,
    part_blocks,
    recall_reason,
    text_title,
)
from evalui.report.blocks import Card, Details, Heading, Headline, ModelCell, Table
from evalui.report.compile import compile_report
from evalui.report.render.json import JsonBlock, as_json
from evalui.scoring.answer_summary import answers, ranking_metric
from evalui.scoring.arena.people import human_arenas
from evalui.scoring.pairs import compare_answers
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import CellResult, Language

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
    assert [part.label(OpenContext("en", rules=frozenset({"two"}))) for part in shown] == [
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


# ---------------------------------------------------------------- whose answers are closest


def test_the_model_closest_to_the_references_is_named():
    found = answers([answers_result(model) for model in ("late", "early")])
    assert text_title(found, OpenContext("en")).startswith(
        "late is closest to the references: ROUGE-L 0.90"
    )
    assert (
        text_title(found[:1], OpenContext("en"))
        == "late reaches ROUGE-L 0.90 (0.56–0.98) on 8 questions"
    )
    assert text_title([replace(found[0], means={})], OpenContext("en")).startswith(
        "No answer has a reference"
    )
    level = [found[0], replace(found[1], means=found[0].means)]
    assert text_title(
        level, OpenContext("en")
    ) == "late and early are equally close to the references: " + ("ROUGE-L 0.90")


def test_means_over_different_questions_name_no_closest_model():
    found = answers([answers_result("weak", done=2), answers_result("late")])
    assert text_title(found, OpenContext("en")).startswith(
        "The models were compared on different questions"
    )
    assert text_title(found[:1], OpenContext("en")).startswith("weak reaches")
    silent = replace(found[0], means={}, question_ids=frozenset())
    assert text_title([silent, found[1]], OpenContext("en")).startswith("late reaches")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("running", "Only 4 of 12 answers are in; figures may still change."),
        ("done", "4 of 12 questions were answered; the figures rest on these alone."),
        ("failed", "4 of 12 questions were answered; the figures rest on these alone."),
    ],
)
def test_answers_that_are_missing_may_come_only_while_the_cell_is_open(state, told):
    (late,) = answers([answers_result("late", done=4)])
    assert told in [
        note.text for note in answer_notes(replace(late, state=state), OpenContext("en"))
    ]


def test_answers_left_without_a_rating_are_counted():
    cells = [answers_result("late"), rating_result({"late": [7.0, None, 8.0]})]
    (late,) = answers(cells)
    judged = OpenContext("en", rules=frozenset({"judge-local"}))
    texts = [note.text for note in answer_notes(late, judged)]
    assert texts[-1] == ("Answers without a readable rating from judge-local (rule-based): 1 of 3.")
    (rated,) = answers([cells[0], rating_result({"late": [7.0, 8.0]})])
    assert [note.rule for note in answer_notes(rated, OpenContext("en"))] == ["bare"]


def test_a_cell_that_cannot_run_says_only_why():
    (late,) = answers(judged_run()[:1])
    notes = answer_notes(replace(late, state="impossible", error="No text."), OpenContext("en"))
    assert [note.text for note in notes] == ["Cannot run. No text."]


def _cell(model: str, length: int, *, recall: float, f: float, reference: str = "三个字"):
    """Answers of `length` characters, each question with one reference of its own."""
    asked = {key: replace(one, target=(reference,)) for key, one in samples(12).items()}
    trials = tuple(
        replace(
            trial := answer_trial(one, "字" * length),
            scores={**trial.scores, RECALL: (recall,), MAIN: (f,)},
        )
        for one in asked.values()
    )
    return replace(answers_result(model), samples=asked, trials=trials)


def _told(*cells: CellResult) -> str:
    figure = ranking_metric(answers(cells)).figure
    return text_title(answers(cells), OpenContext("en"), compare_answers(cells, figure))


def test_scripted_models_are_no_peers_of_real_ones():
    cells = [_cell("real", 3, recall=0.5, f=0.4), _cell("script", 3, recall=1.0, f=1.0)]
    context = OpenContext("en", baselines={"script"})
    title = text_title(answers(cells), context)
    assert "real" in title
    assert "script" not in title
    assert "script" in text_title(answers(cells[1:]), context)


def test_answers_over_five_times_as_long_as_the_references_lead_with_recall():
    found = ranking_metric(answers([_cell("m", 16, recall=0.5, f=0.1)]))
    assert (found.figure, found.reference_length, found.answer_length) == (RECALL, 3, 16)


def test_answers_of_five_times_the_length_lead_with_f():
    assert ranking_metric(answers([_cell("m", 15, recall=0.5, f=0.1)])).figure == MAIN


def test_all_models_decide_together():
    cells = [_cell(name, n, recall=0.5, f=0.1) for name, n in (("a", 3), ("b", 40), ("c", 50))]
    assert ranking_metric(answers(cells)).answer_length == 40
    assert ranking_metric(answers(cells)).figure == RECALL
    assert ranking_metric(answers(cells[:1])).figure == MAIN


def test_only_what_is_compared_with_a_reference_counts():
    cell = _cell("m", 16, recall=0.5, f=0.1)
    asked = {key: replace(one, target=()) for key, one in list(cell.samples.items())[:9]}
    bare = tuple(answer_trial(one, "x") for one in asked.values())
    mixed = replace(cell, samples={**cell.samples, **asked}, trials=(*bare, *cell.trials[9:]))
    assert ranking_metric(answers([mixed])).answer_length == 16


def test_without_references_nothing_is_brief():
    asked = {key: replace(one, target=()) for key, one in samples(4).items()}
    trials = tuple(answer_trial(one, "x" * 99) for one in asked.values())
    cell = replace(answers_result("m", n=4), samples=asked, trials=trials)
    assert ranking_metric(answers([cell])).figure == MAIN
    assert recall_reason(ranking_metric(answers([cell])), "en") == ""


def test_the_reason_is_given_in_both_languages():
    found = ranking_metric(answers([_cell("m", 130, recall=0.5, f=0.1)]))
    assert recall_reason(found, "en") == (
        "References are 3 characters, answers 130 (medians): "
        "recall or a judge says more than ROUGE-L."
    )
    assert recall_reason(found, "zh") == (
        "参考答案 3 字，回答 130 字（中位数）：召回率或裁判比 ROUGE-L 更能说明问题。"
    )
    one = ranking_metric(answers([_cell("m", 130, recall=0.5, f=0.1, reference="熵")]))
    assert recall_reason(one, "en").startswith("References are 1 character, answers 130")


def test_the_longer_answer_that_holds_more_of_the_reference_is_named_first():
    brief, long = _cell("brief", 100, recall=0.4, f=0.3), _cell("long", 160, recall=0.6, f=0.1)
    assert _told(brief, long).startswith("long covers the references best: recall (ROUGE-L) 0.60")
    assert "long" in text_title(answers([brief, long]), OpenContext("zh"))


def test_the_title_names_no_winner_where_the_pair_has_none():
    first, second = answers(
        [_cell("a", 99, recall=0.50, f=0.1), _cell("b", 99, recall=0.49, f=0.1)]
    )
    cells = [_cell("a", 99, recall=0.50, f=0.1), _cell("b", 99, recall=0.49, f=0.1)]
    (pair,) = compare_answers(cells, RECALL)
    told = text_title([first, second], OpenContext("en"), [replace(pair, p=0.2)])
    assert told == "Against the references, a and b cannot be told apart"
    assert text_title([first, second], OpenContext("en"), [replace(pair, p=0.01)]).startswith(
        "a covers"
    )
    other = [replace(pair, p=0.01, metric=MAIN)]
    with pytest.raises(AssertionError, match="the figure that leads"):
        text_title([first, second], OpenContext("en"), other)


def _without_pictures(given: CellResult, figures: Sequence[float]) -> CellResult:
    """The same cell with the pictures left out, and other figures for each answer."""
    name = f"{given.cell.label} pictures"
    signature = f'{given.cell.signature}|pictures:"none"'
    trials = tuple(
        replace(trial, scores=dict.fromkeys(trial.scores, (figure,)))
        for trial, figure in zip(given.trials, figures, strict=True)
    )
    return replace(given, cell=replace(given.cell, label=name, signature=signature), trials=trials)


def test_what_needs_no_picture_is_compared_with_the_answers_that_saw_them():
    late = answers_result("late")
    blind = _without_pictures(late, [0.3 + n / 100 for n in range(len(late.trials))])
    report = _run([late, answers_result("early"), blind])
    (part,) = open_parts(report)
    blocks = list(part_blocks(report, part, OpenContext("en", ("late", "early"))))
    (section,) = (b for b in blocks if isinstance(b, Details) and b.key == "without-pictures")
    assert section.finding.startswith("late with pictures beats late without by 0.55 of ROUGE-L")
    lead = next(b for card in blocks if isinstance(card, Card) for b in card.blocks)
    assert isinstance(lead, Table)
    names = [cell.name for row in lead.rows for cell in row if isinstance(cell, ModelCell)]
    assert names == ["late", "early"]  # a baseline takes no place


def test_a_run_without_a_baseline_has_no_such_section():
    keys = [block.key for block in page("references alone", "en") if isinstance(block, Details)]
    assert "without-pictures" not in keys
