"""The written report of judged answers."""

from dataclasses import replace

import pytest
from judged_examples import report_of
from open_examples import judge_result, judged_run, rating_result

from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers import open_blocks
from evalui.report.compile import compile_report, markdown
from evalui.report.figures import theme
from evalui.report.numbers import signed
from evalui.report.render.markdown import as_markdown
from evalui.scoring.arena.figures import Arena, arena
from evalui.types import JudgeOutput


@pytest.fixture(scope="module")
def results():
    return [*judged_run(judges=("one", "two")), rating_result({"late": [9.0, None, 7.0]})]


@pytest.fixture(scope="module")
def report(results):
    return compile_report("Open", results, baselines=frozenset({"two"}))


@pytest.fixture(scope="module")
def text(report):
    return markdown(report, "en")


def _rows(text: str, head: str, *, after: str = "") -> dict[str, list[str]]:
    """The cells of the first table below `after` whose head begins with `head`, by first cell."""
    lines = text[text.index(after) :].splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {head}"))
    found: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        found[first.strip()] = rest
    return found


def _alone(found: Arena) -> str:
    """The part of a report on one arena without its answers."""
    return as_markdown(tuple(open_blocks(report_of(found), OpenContext("en"))))


def test_the_verdict_leads_and_every_section_stands_under_its_finding(text):
    judge = text[text.index("judge: one") :].replace("\\", "")
    wanted = [
        "**late wins: the judge prefers it to early",
        "](ratings-2.png)",
        "### How reliable is the judge?",
        "comparisons, of which",
        "### Who beats whom",
        "](win_matrix-2.png)",
        "### By language and capability",
        "![Win rates by language](by_lang-2.png)",
        "### Every figure",
        "[score",
        "### What to know",
    ]
    places = [judge.index(part) for part in wanted]
    assert places == sorted(places)


def test_the_scores_are_those_of_opencompass(report, text):
    one = next(found for found in report.arenas if found.by == "one")
    rows = _rows(text, "Dimension \\[score\\]", after="judge: one")
    wanted = [signed(standing.tally.score, 0) for standing in one.standings]
    assert rows["LANG: Overall"] == wanted
    assert list(rows) == [
        "LANG: Overall",
        "LANG: CN",
        "LANG: EN",
        "CAPA: common",
        "CAPA: creation",
        "CAPA: reasoning",
    ]


def test_opencompass_own_counts_stand_beside_those_of_the_rule(report, text):
    one = next(found for found in report.arenas if found.by == "one")
    rows = _rows(text, "Model | Verdicts | OpenCompass", after="judge: one")
    for standing in one.standings:
        agreed = standing.opencompass
        assert agreed
        assert agreed.n < standing.tally.n
        assert rows[standing.model] == [str(agreed.n), signed(agreed.score, 0)]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("text", "were read as text."),
        ("schema", "only JSON that fits a schema; 72 of 72 verdicts were read as text"),
        ("probabilities", "most probable as the next token; 72 of 72 verdicts were written"),
    ],
)
def test_how_the_verdicts_were_given_is_said(output: JudgeOutput, said: str):
    assert said in _alone(arena(replace(judge_result(), output=output)))


def test_verdicts_asked_for_once_more_are_counted_with_what_came_of_it():
    result = judge_result()
    twice = tuple(
        replace(trial, scores={**trial.scores, "retried": (float(at < 3),)})
        for at, trial in enumerate(result.trials)
    )
    rows = _rows(_alone(arena(replace(result, trials=twice))), "Measure")
    assert rows["Unreadable first replies, asked once more"] == ["3", "–", "72"]
    assert rows["Of these, readable the second time"] == ["3", "–", "3"]


def test_how_much_a_strong_verdict_weighs_is_said():
    assert "“Much better” counts as 3 verdicts." in _alone(arena(replace(judge_result(), strong=3)))


def test_a_model_without_battles_in_a_dimension_is_not_available_in_its_own_column():
    found = arena(judge_result())
    dimensions = tuple(
        replace(one, tallies=one.tallies | {"early": None}) if one.name == "CN" else one
        for one in found.dimensions
    )
    text = _alone(replace(found, dimensions=dimensions))
    rows = _rows(text, "Dimension \\[score\\]")
    column = [standing.model for standing in found.standings].index("early")
    assert rows["LANG: CN"][column] == "N/A"
    assert rows["LANG: CN"].count("N/A") == 1


def test_of_many_capabilities_the_most_frequent_have_a_row():
    found = arena(judge_result())
    one = next(each for each in found.dimensions if each.kind == "capability")
    small, large = (
        {model: tally and replace(tally, win=wins) for model, tally in one.tallies.items()}
        for wins in (1, 9)
    )
    dimensions = (
        *(each for each in found.dimensions if each.kind != "capability"),
        *(replace(one, name=f"c{number}", tallies=small) for number in range(3000)),
        replace(one, name="frequent", tallies=large),
    )
    text = _alone(replace(found, dimensions=dimensions))
    rows = [row for row in _rows(text, "Dimension \\[score") if row.startswith("CAPA")]
    assert rows == [*(f"CAPA: c{number}" for number in range(23)), "CAPA: frequent"]
    assert text.count("Shown: the 24 with the most questions. 2,977 more are in the") == 1


def test_ratings_come_with_ranges_and_ranks(report, text):
    one = next(found for found in report.arenas if found.by == "one")
    rows = _rows(text, "Model | Both good", after="judge: one")
    best = one.standings[0]
    assert best.rating is not None
    assert best.opencompass_elo is not None
    assert rows[best.model] == [
        str(best.tally.both_good),
        str(best.tally.both_bad),
        str(best.tally.contradicted),
        str(best.tally.score),
        f"{best.elo:,.0f} ({best.elo_low:,.0f}–{best.elo_high:,.0f})",
        f"{best.opencompass_elo.mean:g}",
        f"{best.opencompass_elo.std:g}",
        f"{best.rating.value:,.0f} ({best.rating.low:,.0f}–{best.rating.high:,.0f})",
        *rows[best.model][8:10],
        "1",
    ]
    assert "ELO, median of 1,000 orders" in text


def test_the_spread_of_opencompass_elo_is_said_to_be_no_sampling_error(text):
    part = text[text.index("judge: one") :]
    head = next(line for line in part.splitlines() if line.startswith("| Model | Both good"))
    assert "OpenCompass ELO \\[Mean\\] | OpenCompass ELO \\[Std\\]" in head
    assert "is Monte-Carlo noise, no sampling error" in part


def test_of_many_battles_the_report_says_what_computes_opencompass_elo(monkeypatch):
    monkeypatch.setattr("evalui.scoring.arena.elo.MEDIAN_ELO_MAX_BATTLES", 5)
    monkeypatch.setattr("evalui.report.analyses.arena.MEDIAN_ELO_MAX_BATTLES", 5)
    found = arena(judge_result())
    assert found.comparisons
    text = _alone(found)
    assert "OpenCompass ELO" not in text
    assert f"of more than 5 battles ({found.comparisons.consistent} here) are computed once" in text
    assert "evalui score battles --opencompass-elo computes them" in text


def test_comparisons_of_equal_answers_are_counted_and_no_part_of_the_rate():
    result = judge_result(decide=lambda number, *_: None if number == 0 else "a")
    equal = tuple(
        replace(trial, reply="EM") if trial.choice is None else trial for trial in result.trials
    )
    text = _alone(arena(replace(result, trials=equal)))
    assert "66 of 72 comparisons are meaningful: 6 are of two equal answers (EM)" in text
    assert "66 could be read (100" in text
    assert "are meaningful" not in _alone(arena(result))


def test_every_pair_that_met_has_its_share(text):
    part = text[text.index("judge: one") :]
    rows = part[part.index("| Model | Against") :].splitlines()[2:5]
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| late", "early"],
        ["| late", "weak"],
        ["| early", "weak"],
    ]


def test_a_panel_counts_what_has_no_majority_and_the_flips_of_each_judge(report, text):
    panel = next(found for found in report.arenas if found.by == "panel")
    none = sum(one.outcome is None for one in panel.verdicts)
    part = text.partition("panel of 2 judges")[2].partition("\n## ")[0]
    assert f"most judges agreed, {none} had no majority." in part
    assert "are not contradicted" not in part
    rows = _rows(text, "Measure", after="panel of 2 judges")
    assert "Without a majority" in rows
    assert "Verdicts changed with the order of the answers, one" in rows
    assert "Verdicts changed with the order of the answers" not in rows


def test_the_panel_tells_how_far_its_judges_agree(text):
    rows = _rows(text, "Measure", after="panel of 2 judges")
    assert rows["Judges agree"][-1] == "36"
    assert "Fleiss’ kappa between judges" in rows
    assert "Fleiss’ kappa between judges" not in _rows(text, "Measure", after="judge: one")


def test_rule_based_judges_are_named_as_such(text):
    assert "panel of 2 judges: one, two (rule-based)" in text
    assert "judge: two (rule-based)" in text
    assert "judge: one (rule-based)" not in text


def test_the_text_figures_have_swifts_names_and_four_decimals(text):
    rows = _rows(text, "Figure")
    assert list(rows)[:5] == ["n", "rouge-1-r", "rouge-1-p", "rouge-1-f", "rouge-2-r"]
    assert list(rows)[10:14] == ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]
    assert rows["rouge-l-f"][0] == "0.9000 (0.5557–0.9848)"
    assert len(rows) == 1 + 13 + 2


def test_corpus_figures_carry_sacrebleus_signatures(report, text):
    corpus = report.answers[0].corpus
    assert corpus is not None
    assert f"`BLEU {corpus.bleu_signature}`" in text
    assert f"`chrF {corpus.chrf_signature}`" in text


def test_differences_between_models_have_ranges_and_p_values(text):
    rows = _rows(text, "Pair | Finding")
    assert rows["late − early"][1:3] == ["0.2000", "−0.1893 … 0.4595"]
    assert rows["late − early"][4] == "8"


def test_ratings_of_single_answers_stand_beside_the_counts(text):
    assert "Rating by judge-local (1 to 10)" in text
    rows = _rows(text, "Model | Questions")
    assert rows["late"][-1].startswith("8.00 (")
    assert rows["early"][-1] == "–"


def test_what_holds_of_all_models_is_said_once(text):
    section = text[text.rindex("### What to know") :]
    assert section.count("Questions without a reference: 4 of 12") == 1
    assert "late: Answers without a readable rating from judge-local: 1 of 3." in text


def test_every_signature_is_there(report, text):
    assert all(f"`{signature}`" in text for signature in report.signatures)


def test_the_chinese_report_has_chinese_sentences(report):
    text = markdown(report, "zh")
    assert "### 裁判有多可信？" in text
    assert "### 全部数字" in text
    assert "Bradley-Terry" in text
    assert "comparisons" not in text
    assert "plausible" not in text


def test_a_preview_has_no_pictures(report, text):
    assert "![" in text
    assert "| Rank | Model | Rating |" in markdown(report, "en")


def test_pictures_that_cannot_be_drawn_are_told_in_one_line(report, monkeypatch):
    monkeypatch.setattr(theme, "matplotlib_installed", lambda: False)
    text = markdown(report, "en")
    assert "![" not in text
    assert text.count("pip install evalui") == 1


def test_a_judge_without_verdicts_has_a_heading_and_a_sentence():
    silent = judge_result(decide=lambda *_: None)
    text = markdown(compile_report("", [silent]), "en")
    assert "**No verdicts yet.**" in text
    assert "100 % of 72 verdicts cannot be read." in text
    assert "72 comparisons, of which 0 could be read (0 %)." in text
    assert "### Every figure" not in text


def test_a_run_of_both_kinds_has_both_parts(make_result, results):
    choice = make_result({"q0": "right"})
    text = markdown(compile_report("", [choice, *results]), "en")
    assert "| Model | Dataset | Mode |" in text
    assert "## Judged · open-qa" in text
    assert text.count("## How the figures were made") == 1
