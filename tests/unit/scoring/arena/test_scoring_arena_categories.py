import random
from dataclasses import replace
from typing import Any

import pytest
from judging_examples import LETTERS, said
from scoring_examples import golden

from evalui.replies import read_verdict
from evalui.scoring.arena.battles import Battle, BattleTally
from evalui.scoring.arena.categories import (
    SampleCategory,
    capabilities,
    category_tables,
    count_judgements,
)
from evalui.scoring.arena.elo import median_elos, sequential_elo
from evalui.scoring.arena.verdicts import (
    battles_from_verdicts,
    judge_reliability,
    panel_verdicts,
)
from evalui.types import Duel, Outcome, Verdict

GOLDEN: dict[str, Any] = golden("opencompass/subjective2023.json")
CASES: dict[str, dict[str, Any]] = {case["id"].partition("-")[2]: case for case in GOLDEN["cases"]}

# The cases that show a bug of the program they come from, and the bug.
BUGS = {
    "seed004-shape": "books the second order's letters on the wrong models, so that W = L",
    "QUIRK-model-absent-in-cn": "moves a column up where a model has no row: EN stands at CN",
    "ERROR-integer-index": "stops at an index that is a number",
    "ERROR-underscore-in-model-name": "stops at a model with _ in its name",
}
SOUND = [name for name in CASES if name not in BUGS]
LANGUAGES = {"cn": "zh", "en": "en"}


@pytest.mark.parametrize("name", SOUND)
def test_shares_and_scores_agree_with_the_peer_in_every_dimension(name: str):
    case = CASES[name]
    found = _shown(case, _verdicts(case))
    assert found == _theirs(case)
    assert list(found)[3:] == [f"CAPA: {one}" for one in case["capability_row_order"]]


@pytest.mark.parametrize("name", SOUND)
def test_the_head_of_the_report_agrees_with_the_peer(name: str):
    head, wanted = count_judgements(_verdicts(CASES[name])), CASES[name]["parsed"]
    assert head.total == wanted["comparisons"]
    assert (head.meaningful, head.extracted) == (wanted["meaningful"], wanted["extracted"])
    assert f"{100 * (head.extraction_rate or 0):.2f}" == wanted["extraction_rate_pct"]
    # Their line on consistency is missing where all are consistent.
    consistency = wanted.get("consistency", {"consistent": head.extracted, "rate_pct": "100.00"})
    assert head.consistent == consistency["consistent"]
    assert f"{100 * (head.consistent_rate or 0):.2f}" == consistency["rate_pct"]


@pytest.mark.parametrize(
    ("name", "comparisons", "meaningful"),
    [("mixed-langs-bad-replies", 42, 37), ("QUIRK-model-absent-in-cn", 18, 12)],
)
def test_a_verdict_of_exactly_em_is_not_meaningful(name: str, comparisons: int, meaningful: int):
    judged = _verdicts(CASES[name])
    head = count_judgements(judged)
    assert (head.total, head.meaningful) == (comparisons, meaningful)
    lost = judge_reliability(judged, ()).unreadable
    assert lost
    assert (lost.n, lost.value) == (meaningful, pytest.approx(1 - head.extracted / meaningful))


@pytest.mark.parametrize("reply", ["EM.", " EM", "em", "EM\n", ""])
def test_any_other_text_is_a_comparison_that_could_not_be_read(reply: str):
    head = count_judgements([replace(said("q", "xy", "-"), reply=reply)])
    assert (head.total, head.meaningful, head.extraction_rate) == (1, 1, 0.0)


def test_a_panel_that_gave_no_verdict_but_em_gives_none_either():
    equal = replace(said("q", "xy", "-"), reply="EM")
    judged = [[equal], [equal]]
    assert count_judgements(panel_verdicts(judged)).meaningful == 0
    judged = [[equal], [said("q", "xy", "-")]]
    assert count_judgements(panel_verdicts(judged)).meaningful == 1


@pytest.mark.parametrize("name", SOUND)
def test_the_battles_that_count_are_the_peers(name: str):
    wanted = [(row[1], row[2], LETTERS[row[3]]) for row in CASES[name]["kept_rows"]]
    found = battles_from_verdicts(_verdicts(CASES[name]), "drop")
    assert [(one.model_a, one.model_b, one.outcome) for one in found] == wanted


def test_the_case_with_swapped_letters_agrees_only_if_they_are_booked_wrongly():
    case = CASES["seed004-shape"]
    n = len(case["questions"])
    as_booked = _verdicts(case)
    assert _shown(case, as_booked, conflict="half") == _theirs(case)
    as_shown = [
        Verdict(
            Duel(one.duel.sample_id, one.duel.model_b, one.duel.model_a), one.outcome, one.rater
        )
        if place % (2 * n) >= n
        else one
        for place, one in enumerate(as_booked)
    ]
    assert _shown(case, as_shown, conflict="half") != _theirs(case)


def test_a_model_without_rows_in_a_language_is_none_there_and_nowhere_else():
    case = CASES["QUIRK-model-absent-in-cn"]
    wanted, found = _theirs(case), _shown(case, _verdicts(case))
    absent = "internlm-chat-7b-hf"
    assert found["LANG: CN"][absent] == ("N/A", "N/A")
    # Their column has one cell too few: what they print at CN belongs to EN, and so on.
    assert found["LANG: EN"][absent] == wanted["LANG: CN"][absent]
    assert found["CAPA: common"][absent] == wanted["LANG: EN"][absent]
    for row, cells in wanted.items():
        for model, cell in cells.items():
            assert model == absent or found[row][model] == cell


def test_numbered_questions_and_models_with_an_underscore_are_counted():
    for name in ("ERROR-integer-index", "ERROR-underscore-in-model-name"):
        case = CASES[name]
        (folder, replies), *_ = case["results"].items()
        first, second = case["models"]
        assert folder == f"{first}_{second}"
        judged = [_read(str(n), first, second, reply) for n, reply in enumerate(replies)]
        topics = {str(n): SampleCategory("", ("common",)) for n in range(len(replies))}
        rows = category_tables(battles_from_verdicts(judged, "drop"), topics, models=case["models"])
        tally = rows[-1].tallies[first]
        assert tally is not None
        assert tally.n == 3


# Replies that the 2023 parser does not read and ours does; all others of `match_answer` read alike.
READ_BETTER = {
    "选择: A\n原因：半角冒号",
    "Choice: A",
    "  选择：A（行首有空格）",
    "选择：a",
    "A",
    "选择：\nA",
    "**选择：A**",
}
# Two announcements that differ decide nothing; a doubled letter is no letter.
READ_OTHERWISE = {"选择：A\n选择：B": None, "选择：DD": None}


@pytest.mark.parametrize(("reply", "letter"), GOLDEN["match_answer"])
def test_replies_read_by_the_peer_are_read_alike(reply: str, letter: str | None):
    found = read_verdict("compass", reply).outcome
    assert _read_in_2023(reply) == LETTERS[letter or "-"]
    if reply in READ_OTHERWISE:
        assert found == READ_OTHERWISE[reply]
    elif letter is not None:
        assert found == LETTERS[letter]


@pytest.mark.parametrize("reply", sorted(READ_BETTER))
def test_replies_lost_by_the_peer_are_read(reply: str):
    assert _read_in_2023(reply) is None
    assert read_verdict("compass", reply).outcome == "a"


@pytest.mark.parametrize("name", [*SOUND, "seed004-shape", "QUIRK-model-absent-in-cn"])
def test_median_ratings_over_their_shuffles_agree_to_the_printed_digits(name: str):
    case = CASES[name]
    fought = [_battle(row[1], row[2], row[3]) for row in case["kept_rows"]]
    elos = case["parsed"]["elo"]
    wanted = {
        model: (mean, elos["elo_score [Std]"][model])
        for model, mean in elos["elo_score [Mean]"].items()
    }
    assert {model: one.printed for model, one in median_elos(fought).items()} == wanted


@pytest.mark.parametrize("case", GOLDEN["elo"], ids=range(len(GOLDEN["elo"])))
def test_single_shuffles_agree_with_the_peer(case: dict[str, Any]):
    fought = [_battle(*row) for row in case["battles"]]
    for seed, wanted in case["single"].items():
        shuffled = list(fought)
        random.Random(int(seed)).shuffle(shuffled)
        assert sequential_elo(shuffled, 32) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("case", "wanted", "rounds", "times"),
    [
        (case, case[key], rounds, times)
        for case in GOLDEN["elo"]
        for key, rounds, times in [
            ("bootstrap_num_round_50_times_4", 50, 4),
            ("bootstrap_default_1000x10", 1000, 10),
        ]
        if key in case
    ],
)
def test_medians_of_shuffles_agree_with_the_peer(
    case: dict[str, Any], wanted: dict[str, Any], rounds: int, times: int
):
    fought = [_battle(*row) for row in case["battles"]]
    found = median_elos(fought, orders=rounds, runs=times)
    assert set(found) == set(wanted)
    for model, one in found.items():
        assert one.mean == pytest.approx(wanted[model]["mean"], abs=1e-9)
        assert one.std == pytest.approx(wanted[model]["std"], abs=1e-9)


@pytest.mark.parametrize(
    "case", GOLDEN["find_inconsistent"], ids=range(len(GOLDEN["find_inconsistent"]))
)
def test_the_same_rows_are_inconsistent(case: dict[str, Any]):
    judged = [said(index[: -len(";m1;m2")], _pair(index), letter) for index, letter in case["rows"]]
    kept = [
        index
        for (index, _), one in zip(case["rows"], judged, strict=True)
        if _battle_of(one) in battles_from_verdicts(judged, "drop")
    ]
    assert sorted(kept) == sorted(case["consistent"])


def test_a_consistent_judge_has_no_balance_of_wins_and_losses():
    judged = [
        one for n in range(10) for one in (said(f"q{n}", "xy", "A"), said(f"q{n}", "yx", "B"))
    ]
    overall = category_tables(battles_from_verdicts(judged, "tie"), {}, models="xy")[0]
    assert overall.tallies == {"x": BattleTally(20, 0, 0, 0), "y": BattleTally(0, 0, 0, 20)}


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("common", ("common",)),
        ("reasoning, creation", ("reasoning", "creation")),
        ("推理、创作；常识，推理", ("推理", "创作", "常识")),
        ("math reasoning", ("math reasoning",)),
        ("", ()),
        (" ; ", ()),
    ],
)
def test_a_cell_may_name_several_capabilities(cell: str, names: tuple[str, ...]):
    assert capabilities(cell) == names


def test_a_question_counts_in_each_of_its_capabilities_and_in_no_other():
    topics = {
        "q1": SampleCategory("zh", ("reason", "code")),
        "q2": SampleCategory("en", ("reasoning",)),
    }
    judged = [said("q1", "xy", "A"), said("q2", "xy", "B"), said("q3", "xy", "C")]
    rows = {
        row.name: row
        for row in category_tables(battles_from_verdicts(judged, "tie"), topics, models="xyz")
    }
    counts = {
        name: (row.kind, tally.n if (tally := row.tallies["x"]) else None)
        for name, row in rows.items()
    }
    assert counts == {
        "Overall": ("overall", 3),
        "CN": ("language", 1),
        "EN": ("language", 1),
        "reason": ("capability", 1),  # "reason" is a part of "reasoning" and not the same
        "code": ("capability", 1),
        "reasoning": ("capability", 1),
    }
    assert all(row.tallies["z"] is None for row in rows.values())


def test_a_report_without_readable_verdicts_has_no_figures():
    head = count_judgements([said("q", "xy", "-")])
    assert (head.total, head.extracted, head.extraction_rate) == (1, 0, 0.0)
    assert head.consistent_rate is None
    assert count_judgements([]).extraction_rate is None
    overall = category_tables([], {}, models="xy")[0]
    assert overall.tallies == {"x": None, "y": None}


# ---------------------------------------------------------------- the golden cases as verdicts


def _read_in_2023(reply: str) -> Outcome | None:
    """The first line that starts with the announcement, if it holds one of the letters."""
    line = next((line for line in reply.split("\n") if line.startswith("选择：")), "")
    letters = [letter for letter in "ABCD" if letter in line]
    return LETTERS[letters[0]] if len(letters) == 1 else None


def _read(question: str, first: str, second: str, reply: str) -> Verdict:
    outcome = _read_in_2023(reply)
    return Verdict(Duel(question, first, second), outcome, "gpt-4", reply=reply)


def _verdicts(case: dict[str, Any]) -> list[Verdict]:
    """Every row with the models that its folder names."""
    indexes = [str(question["index"]) for question in case["questions"]]
    return [
        _read(indexes[place % len(indexes)], *folder.split("_"), reply)
        for folder in case["subdir_order"]
        for place, reply in enumerate(case["results"][folder])
    ]


def _topics(case: dict[str, Any]) -> dict[str, SampleCategory]:
    return {
        question["index"]: SampleCategory(
            LANGUAGES[question["index"].partition("-")[0]], capabilities(question["capability"])
        )
        for question in case["questions"]
    }


def _shown(
    case: dict[str, Any], judged: list[Verdict], conflict: Any = "drop"
) -> dict[str, dict[str, tuple[str, str]]]:
    """W / T / L / NB and the score of each model by row, as the peer prints them."""
    rows = category_tables(
        battles_from_verdicts(judged, conflict), _topics(case), models=case["models"]
    )
    prefix = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}
    return {
        f"{prefix[row.kind]}: {row.name}": {
            model: _cell(tally) if tally else ("N/A", "N/A") for model, tally in row.tallies.items()
        }
        for row in rows
    }


def _cell(tally: BattleTally) -> tuple[str, str]:
    counts = (tally.win, tally.tie, tally.lose, tally.not_bad)
    return " / ".join(f"{100 * count / tally.n:.1f}%" for count in counts), str(tally.score)


def _theirs(case: dict[str, Any]) -> dict[str, dict[str, tuple[str, str]]]:
    stats, scores = case["parsed"]["stats"], case["parsed"]["scores"]
    return {
        row: {model: (shares, scores[row][model]) for model, shares in cells.items()}
        for row, cells in stats.items()
    }


def _battle(first: str, second: str, letter: str) -> Battle:
    outcome = LETTERS[letter]
    assert outcome is not None
    return Battle(first, second, outcome)


def _battle_of(one: Verdict) -> Battle:
    assert one.outcome is not None
    return Battle(one.duel.model_a, one.duel.model_b, one.outcome, one.duel.sample_id)


def _pair(index: str) -> str:
    return index.split(";")[1][1] + index.split(";")[2][1]
