import json
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import DataError
from evalui.report.imports.battles import read_battles, score_battles, score_verdicts
from evalui.scoring.arena.battles import Battle

_SUBJECTIVE = Path(__file__).parents[3] / "golden" / "opencompass" / "subjective2023.json"
_ROW = {"model_a": "x", "model_b": "y", "winner": "model_a"}


def _write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "rows.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _scored(folder: Path, *rows: dict[str, Any]) -> dict[str, Any]:
    return json.loads("\n".join(score_battles(_write(folder, *rows))))


def test_fastchats_word_for_two_bad_answers_is_read(tmp_path: Path):
    ours, theirs = (
        _scored(tmp_path, _ROW, _ROW | {"winner": word}) for word in ("neither", "tie (bothbad)")
    )
    assert ours == theirs


def test_winners_are_named_by_side(tmp_path: Path):
    rows = [_ROW | {"winner": winner} for winner in ("model_a", "model_b", "tie", "neither")]
    found = read_battles(_write(tmp_path, *rows))
    assert [battle.outcome for battle in found] == ["a", "b", "tie", "neither"]
    assert found[0] == Battle("x", "y", "a")


def test_a_tie_of_two_orders_that_differ_keeps_what_each_said(tmp_path: Path):
    rows = [
        _ROW | {"winner": "tie", "judged": "model_a"},
        {"model_a": "y", "model_b": "x", "winner": "tie", "judged": "neither"},
    ]
    assert read_battles(_write(tmp_path, *rows)) == (
        Battle("x", "y", "tie", judged="a"),
        Battle("y", "x", "tie", judged="neither"),
    )
    found = _scored(tmp_path, *rows)["table"]
    assert (found["x"]["T"], found["x"]["NB"], found["x"]["contradicted"]) == (2, 1, 2)
    assert (found["y"]["T"], found["y"]["NB"]) == (2, 0)


def test_questions_may_be_texts_or_numbers(tmp_path: Path):
    found = read_battles(_write(tmp_path, _ROW | {"question": 7}, _ROW | {"question": "q8"}))
    assert [battle.question for battle in found] == ["7", "q8"]


def test_counts_and_scores_stand_beside_the_ratings(tmp_path: Path):
    rows = [_ROW, _ROW, _ROW | {"winner": "tie"}, _ROW | {"winner": "model_b"}]
    found = _scored(tmp_path, *rows)
    assert found["battles"] == 4
    row = found["table"]["x"]
    assert [row[key] for key in ("n", "W", "T", "L", "NB")] == [4, 2, 1, 1, 3]
    assert row["percent"] == {"W": 50, "T": 25, "L": 25, "NB": 75}
    assert found["scores"] == {"x": 4, "y": -2}


def test_ratings_in_file_order_and_over_orders_are_told(tmp_path: Path):
    found = _scored(tmp_path, _ROW, _ROW | {"winner": "model_b"}, _ROW)
    elo = found["elo"]
    assert elo["finite"] is True
    # By hand: 1016; then E = 0.545923, so 998.530447; then E = 0.495770.
    assert elo["k32"]["x"] == pytest.approx(1014.6658, abs=1e-3)
    assert elo["k4"]["x"] + elo["k4"]["y"] == pytest.approx(2000)
    assert (elo["permutations"]["runs"], elo["permutations"]["seed"]) == (1000, 0)
    low, high = elo["permutations"]["order_range"]["x"]
    assert low <= elo["permutations"]["median"]["x"] <= high


def test_opencompass_elo_is_that_of_the_folders_by_name(tmp_path: Path):
    golden = json.loads(_SUBJECTIVE.read_text(encoding="utf-8"))
    (case,) = [one for one in golden["cases"] if one["id"] == "public-four-models-refm"]
    winners = {"A": "model_a", "B": "model_b", "C": "tie", "D": "neither"}
    rows = [
        {
            "model_a": row[1],
            "model_b": row[2],
            "winner": winners[row[3]],
            "question": row[0].partition(";")[0],
        }
        for row in case["kept_rows"]
    ]
    by_question = sorted(rows, key=lambda row: row["question"])
    contradicted = rows[0] | {"winner": "tie", "judged": "model_b"}
    found = _scored(tmp_path, *by_question, contradicted)["elo"]["opencompass"]
    assert (found["k"], found["runs"], found["orders"], found["problem"]) == (32, 10, 1000, None)
    told = case["parsed"]["elo"]
    for name, key in (("mean", "elo_score [Mean]"), ("std", "elo_score [Std]")):
        assert {model: f"{one[name]:g}" for model, one in found["models"].items()} == told[key]


def test_opencompass_elo_of_many_battles_is_made_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.report.imports.battles.MEDIAN_ELO_MAX_BATTLES", 2)
    path = _write(tmp_path, _ROW, _ROW, _ROW | {"winner": "model_b"})
    (plain,), (asked,) = score_battles(path), score_battles(path, opencompass_elo=True)
    left_out = json.loads(plain)["elo"]["opencompass"]
    assert left_out["models"] is None
    assert "without --opencompass-elo" in left_out["problem"]
    made = json.loads(asked)["elo"]["opencompass"]
    assert made["problem"] is None
    assert made["models"]["x"]["mean"] > 1000


def test_bradley_terry_has_an_interval_over_questions(tmp_path: Path):
    rows = [
        _ROW | {"winner": "model_b" if number % 3 else "model_a", "question": number}
        for number in range(60)
    ]
    found = _scored(tmp_path, *rows)["bradley_terry"]
    assert (found["finite"], found["resampled"], found["units"]) == (True, "question", 60)
    rating = found["ratings"]["y"]
    # Two wins to one: half of 400 log10(2) above the mean.
    assert rating["rating"] == pytest.approx(1060.206, abs=1e-3)
    assert rating["low"] < rating["rating"] < rating["high"]


def test_elo_has_a_range_over_questions_and_ratings_have_ranks(tmp_path: Path):
    rows = [
        _ROW | {"winner": "model_b" if number % 3 else "model_a", "question": number}
        for number in range(60)
    ]
    found = _scored(tmp_path, *rows)
    low, high = found["elo"]["question_range"]["y"]
    assert low < found["elo"]["permutations"]["median"]["y"] < high
    assert found["bradley_terry"]["ranks"] == {
        "x": {"rank": 2, "low": 2, "high": 2, "with_leader": False},
        "y": {"rank": 1, "low": 1, "high": 1, "with_leader": True},
    }


def test_a_model_without_a_finite_rating_has_no_rank(tmp_path: Path):
    assert _scored(tmp_path, _ROW)["bradley_terry"]["ranks"] == {"x": None, "y": None}


def test_an_unbeaten_model_leaves_no_finite_rating(tmp_path: Path):
    found = _scored(tmp_path, _ROW)
    assert found["elo"]["finite"] is found["bradley_terry"]["finite"] is False
    assert found["bradley_terry"]["ratings"] == {"x": None, "y": None}
    assert found["bradley_terry"]["problem"] == "No finite rating: x never lost a point."


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (
            ["x>y", "y>x", "z>u", "u>z"],
            "No finite rating: 2 groups of models never met each other.",
        ),
        (["x>y", "y>x", "x>u", "y>u"], "No finite rating: u never won a point."),
        (
            ["x>y", "y>x", "z>u", "u>z", "x>z"],
            "No finite rating: some models never lost a point to any of the others.",
        ),
    ],
)
def test_the_reason_for_no_finite_rating_is_told(tmp_path: Path, pairs: list[str], problem: str):
    rows = [{"model_a": pair[0], "model_b": pair[2], "winner": "model_a"} for pair in pairs]
    assert _scored(tmp_path, *rows)["bradley_terry"]["problem"] == problem


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"model_a": "x", "model_b": "y"}, "'winner' is missing"),
        (_ROW | {"winner": "A"}, "winner 'A' is unknown. Expected one of model_a, model_b, tie"),
        (_ROW | {"judged": "model_a"}, "“judged” is what one order said of a pair that counts as"),
        (_ROW | {"winner": "tie", "judged": "A"}, "tie, neither, tie (bothbad); found 'A'"),
        (_ROW | {"winner": None}, "'winner' is null, expected a text"),
        (_ROW | {"model_b": "x"}, "model 'x' meets itself"),
        (_ROW | {"model_b": " "}, "'model_b' is \" \", expected a text"),
        (_ROW | {"question": True}, "'question' is true, expected a text or a number"),
        (_ROW | {"questions": "q"}, "unknown key 'questions'. Did you mean 'question'?"),
        (_ROW | {"question": "q"}, "some rows have a 'question' and others have none"),
        ("{", "not valid JSON"),
    ],
)
def test_a_bad_row_is_told_with_its_line(tmp_path: Path, row: dict[str, Any] | str, said: str):
    with pytest.raises(DataError) as caught:
        score_battles(_write(tmp_path, _ROW, row))
    assert str(caught.value).startswith("rows.jsonl line 2")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_verdicts_come_a_line_each_with_their_rule(tmp_path: Path):
    path = _write(
        tmp_path,
        {"format": "mtbench", "reply": "Final verdict: [[B]]"},
        {"format": "compass", "reply": "选择：D"},
        {"format": "json", "reply": ""},
    )
    assert [json.loads(line) for line in score_verdicts(path)] == [
        {"verdict": "B", "rule": "announced"},
        {"verdict": "neither", "rule": "announced"},
        {"verdict": None, "rule": "empty"},
    ]


def test_marks_come_with_those_of_their_criteria(tmp_path: Path):
    criteria = {"format": "rating", "criteria": ["accuracy", "style"]}
    path = _write(
        tmp_path,
        {"format": "rating", "reply": "Rating: [[7]]"},
        {"format": "rating", "reply": "Rating: [[7]]", "scale": [1, 5]},
        {"format": "rating", "reply": "[[4]]", "scale": [1, 5]},
        {**criteria, "reply": "accuracy: 8\nstyle: 6\n\nRating: [[7]]"},
        {"format": "correctness", "reply": "[[incorrect]]"},
        {"format": "rating", "reply": "It is so far", "finish_reason": "length"},
        {"format": "mtbench", "reply": "A is better than", "finish_reason": "length"},
    )
    assert [json.loads(line) for line in score_verdicts(path)] == [
        {"mark": 7, "rule": "announced"},
        {"mark": None, "rule": "out-of-range"},
        {"mark": 4, "rule": "end"},
        {"mark": 7, "rule": "announced", "criteria": {"accuracy": 8, "style": 6}},
        {"mark": 0, "rule": "end"},
        {"mark": None, "rule": "cut"},
        {"verdict": None, "rule": "cut"},
    ]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"criteria": "style"}, "'criteria' is"),
        ({"criteria": ["style", "style"]}, "'criteria' is"),
        ({"scale": [5, 1]}, "'scale' is"),
        ({"scale": 5}, "'scale' is"),
        ({"finish_reason": 3}, "'finish_reason' is 3"),
    ],
)
def test_a_wrong_setting_of_a_mark_is_told(tmp_path: Path, setting: dict[str, Any], said: str):
    with pytest.raises(DataError, match=said):
        score_verdicts(_write(tmp_path, {"format": "rating", "reply": "[[7]]", **setting}))


def test_an_unknown_format_is_told_with_the_known_ones(tmp_path: Path):
    path = _write(tmp_path, {"format": "xml", "reply": "A"})
    with pytest.raises(DataError, match=r"line 1: format 'xml' is unknown\. Expected .*mtbench"):
        score_verdicts(path)
