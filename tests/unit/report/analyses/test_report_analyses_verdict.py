"""The one sentence on top of a run follows from the tests."""

from dataclasses import replace

import pytest
from bias_examples import cell_result, often_first
from overview_examples import (
    BASE,
    EARLY,
    LATE,
    RUNS,
    blind,
    fond,
    halting,
    losing,
    right,
    summary,
)

from evalui.messages import messages
from evalui.report.analyses.verdict import headline, standings, tied, winner
from evalui.report.blocks import Headline
from evalui.report.words import mode_name, mode_word
from evalui.scoring.cell_summary import summarise
from evalui.types import Cell, Language


def said(name: str, language: Language = "en") -> Headline:
    return headline(standings(RUNS[name], baselines={BASE}), language)


@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        (
            "winner",
            f"{LATE} wins: 80 % right in every option order, 30 points ahead of {EARLY}.",
            f"{LATE} 胜出：80 % 的题每种顺序都答对，比 {EARLY} 高 30 分。",
        ),
        (
            "tie",
            f"{EARLY} and {LATE} cannot be told apart: 83 % and 80 % right in every order.",
            f"{EARLY} 和 {LATE} 分不出高下：每种顺序都答对的为 83 % 和 80 %。",
        ),
        (
            "one model in one order",
            f"{LATE} is right on 67 % (60–72); guessing scores 25 %.",
            f"{LATE} 答对 67 %（60–72）；随机为 25 %。",
        ),
        (
            "nobody",
            "No model beats guessing on these questions.",
            "在这些题上，没有模型好于乱猜。",
        ),
        (
            "few",
            f"{LATE} wins: 100 % right in every option order, 50 points ahead of {EARLY}.",
            f"{LATE} 胜出：100 % 的题每种顺序都答对，比 {EARLY} 高 50 分。",
        ),
        (
            "unfinished",
            "660 of 1,920 answers are in. The verdict comes with the last one.",
            "已收到 660 / 1,920 条。全部完成后给出结论。",
        ),
        ("nothing", "No answers yet.", "还没有回答。"),
        (
            "other questions",
            "These models are not ranked: they were not asked in the same way.",
            "这些模型不排名：提问方式不同。",
        ),
        (
            "two datasets",
            f"{LATE} wins on each of 2 datasets.",
            f"{LATE} 在全部 2 个数据集上胜出。",
        ),
    ],
)
def test_each_situation_has_its_sentence(name: str, english: str, chinese: str):
    assert (said(name).text, said(name, "zh").text) == (english, chinese)


@pytest.mark.parametrize(
    ("name", "support"),
    [
        ("winner", "240 questions are plenty for that gap (22–38)."),
        (
            "winner in two modes",
            "240 questions are plenty for that gap (22–38). Cloze gives the same order.",
        ),
        ("another order", f"Cloze gives another order: {EARLY} leads by 39 points (31–46)."),
        ("tie", "240 questions show gaps of 10 points or more."),
        (
            "nobody",
            f"The best, {LATE}, is right on 25 % (20–31); guessing scores 25 %. "
            "So nobody is ranked.",
        ),
        ("one model", "Right in every order: 50 % (44–56)."),
        ("four modes", "240 questions are plenty for that gap (44–56). "
         "All 3 other modes give the same order."),
        ("other questions", "They differ in number of questions."),
    ],
)  # fmt: skip
def test_one_or_two_short_sentences_support_it(name: str, support: str):
    assert said(name).support == support


def test_the_one_warning_is_what_changes_how_the_verdict_is_read():
    warned = said("unreadable")
    assert (warned.kind, warned.support) == (
        "warn",
        f"More than half of {LATE}'s replies cannot be read.",
    )
    assert said("some unreadable").kind is None


def test_a_script_wins_nothing_and_is_no_rival():
    found = standings([summary(halting(5), LATE), summary(right, BASE)], baselines={BASE})
    assert winner(found[0]) is None
    assert headline(found, "en").text.startswith(f"{LATE} is right on 80 %")


def test_of_scripts_alone_the_best_wins():
    found = standings([summary(right, "a"), summary(fond, "b")], baselines={"a", "b"})
    assert headline(found, "en").text.startswith("a wins")


def test_who_guesses_is_beaten_but_not_ranked():
    found = standings([summary(right, LATE), summary(blind(0), EARLY)])
    assert headline(found, "en").text.startswith(f"{LATE} wins")
    comparison = found[0].comparison
    assert comparison is not None
    assert tied(comparison) == (LATE,)


def test_a_pair_of_many_that_turns_in_another_mode_names_both():
    third = [summary(halting(2), "third"), summary(halting(2), "third", mode="cloze")]
    other = [summary(fond, LATE, mode="cloze"), summary(halting(9), EARLY, mode="cloze")]
    found = standings([summary(halting(3), LATE), summary(losing, EARLY), *other, *third])
    assert headline(found, "en").support == (
        f"Cloze gives another order: there {EARLY} beats {LATE} by 39 points."
    )


def test_nobody_on_several_datasets():
    both = [summary(blind(0), LATE, dataset=dataset) for dataset in ("ceval", "cmmlu")]
    assert headline(standings(both), "en").text == ("No model beats guessing on any of 2 datasets.")


def test_a_winner_that_changes_with_the_dataset_is_said_so():
    found = standings(
        [
            summary(right, LATE),
            summary(fond, EARLY),
            summary(fond, LATE, dataset="cmmlu"),
            summary(right, EARLY, dataset="cmmlu"),
        ]
    )
    assert headline(found, "en").text == (
        f"The winner depends on the dataset: {LATE} and {EARLY} each win some of 2."
    )


def test_a_winner_on_one_of_two_datasets_is_named_with_how_many():
    found = standings(
        [
            summary(right, LATE),
            summary(fond, EARLY),
            summary(halting(5), LATE, dataset="cmmlu"),
            summary(halting(6), EARLY, dataset="cmmlu"),
        ]
    )
    assert headline(found, "en").text == (
        f"{LATE} wins on 1 of 2 datasets; no clear winner elsewhere."
    )
    neither = headline(found[1:] * 2, "en").text
    assert neither == "No model is a clear winner on any of 2 datasets."


def test_several_datasets_of_few_questions_are_ranked_by_their_tests():
    few = [
        summary(pick, name, n=12, dataset=dataset)
        for dataset in ("ceval", "cmmlu")
        for pick, name in ((right, LATE), (fond, EARLY))
    ]
    assert headline(standings(few), "en").text == f"{LATE} wins on each of 2 datasets."


def test_a_mode_is_called_by_its_word_and_what_tells_it_from_others():
    cell = Cell("d", "m", "cloze", "cloze 5-shot", "origin", "d@1|mode:cloze")
    assert mode_word(cell, "en") == "Cloze 5-shot"
    assert mode_word(replace(cell, label="cloze"), "zh") == messages("zh")("mode.cloze_short")
    assert mode_word(replace(cell, mode="echo", label="echo"), "en", capital=False) == "echo"


def test_a_mode_of_decisions_is_not_called_one_of_letters():
    mode = "multiple_choice"
    letters = Cell("d", "m", mode, f"{mode} 2-shot", "origin", "d@1|spell:common")
    decisions = replace(letters, signature="d@1|spell:decision")
    assert (mode_word(letters, "en"), mode_word(decisions, "en")) == (
        "Letters 2-shot",
        "Decisions 2-shot",
    )
    assert mode_name(decisions, "en") == "multiple choice, decisions 2-shot"


def test_a_run_in_which_only_scripts_answered_does_not_wait_for_answers():
    gone = summary(right, LATE, left=960, state="failed")
    found = standings([summary(right, BASE), gone], baselines={BASE})
    assert headline(found, "en").text == "Only scripted models answered; they rank nothing."
    assert headline(found, "zh").text == "只有脚本模型作答，不作排名。"


def test_who_always_says_the_most_frequent_position_does_not_win():
    def half(question: int, _: int, target: int) -> int:
        """Right on half of the questions, at any position."""
        return (target + question // 4 % 2) % 4

    picks = {"constant": lambda *_: 0, "able": half}
    cells = [cell_result(pick, model=name, pattern="origin") for name, pick in picks.items()]
    summaries = [summarise(often_first(cell)) for cell in cells]
    (standing,) = standings(summaries)
    assert standing.guessing
    assert "The best, constant, is right on 70 % (55–81); guessing scores 69.8 %." in (
        headline([standing], "en").support
    )


def test_models_that_beat_guessing_in_another_mode_alone_are_not_ranked_as_guessers():
    runs = [summary(blind(n), name) for n, name in enumerate((LATE, EARLY))]
    runs += [summary(right, name, mode="cloze", pattern="origin") for name in (LATE, EARLY)]
    assert headline(standings(runs), "en").text == "In the mode “reply” no model beats guessing."
