import json
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import DataError
from evalui.report.imports.predictions import read_choices, read_replies, read_rows
from evalui.scoring.choice.options import pattern_of
from evalui.types import Variant

_ROW = {"id": "q1", "options": ["Paris", "Rome", "Oslo"], "answer": "B", "reply": "A"}


def _write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _read(folder: Path, *rows: dict[str, Any] | str):
    return read_choices(_write(folder, *rows))


def test_the_letter_of_a_reply_is_the_slot_shown_and_the_answer_the_option_of_the_file(
    tmp_path: Path,
):
    (trial,) = _read(tmp_path, _ROW | {"permutation": [1, 2, 0], "reply": "A"})
    assert trial.variant == Variant((1, 2, 0))
    assert (trial.target, trial.choice, trial.correct) == (0, 0, True)


def test_a_reply_with_an_options_text_is_read_in_the_order_shown(tmp_path: Path):
    (trial,) = _read(tmp_path, _ROW | {"permutation": [1, 2, 0], "reply": "Paris"})
    assert (trial.choice, trial.correct) == (2, False)


def test_without_a_permutation_the_order_is_that_of_the_file(tmp_path: Path):
    (trial,) = _read(tmp_path, _ROW)
    assert trial.variant.is_origin


def test_replies_are_read_tolerantly_and_strictly(tmp_path: Path):
    (trial,) = _read(tmp_path, _ROW | {"reply": "The answer is (B)"})
    assert trial.headline == "tolerant"
    assert {name: reading.choice for name, reading in trial.readings.items()} == {
        "tolerant": 1,
        "strict": None,
    }


def test_probabilities_are_slots_and_their_sum_is_the_mass(tmp_path: Path):
    row = _ROW | {"permutation": [2, 0, 1], "probabilities": [0.1, 0.1, 0.3]}
    row.pop("reply")
    (trial,) = _read(tmp_path, row)
    assert (trial.headline, trial.choice, trial.correct) == ("forced", 2, True)
    assert trial.mass == pytest.approx(0.5)
    assert trial.probabilities == pytest.approx((0.2, 0.2, 0.6))


def test_tied_probabilities_are_not_resolved_by_position(tmp_path: Path):
    row = _ROW | {"probabilities": [0.4, 0.4, 0.2]}
    row.pop("reply")
    (trial,) = _read(tmp_path, row)
    assert (trial.choice, trial.reading.tied, trial.reading.credit) == (None, True, 0.5)


def test_no_probability_at_all_is_unreadable_and_no_tie(tmp_path: Path):
    row = _ROW | {"probabilities": [0, 0, 0]}
    row.pop("reply")
    (trial,) = _read(tmp_path, row)
    assert (trial.unreadable, trial.reading.tied) == (True, False)


def test_options_that_name_options_are_marked(tmp_path: Path):
    (trial,) = _read(tmp_path, _ROW | {"options": ["Paris", "Rome", "all of the above"]})
    assert trial.fixed_reason == "naming"


def test_options_of_the_same_text_are_marked_and_a_reply_with_it_is_a_tie(tmp_path: Path):
    row = _ROW | {"options": ["Rome", "Paris", "Paris"], "answer": "B", "reply": "Paris"}
    row.pop("permutation", None)
    (trial,) = _read(tmp_path, row)
    assert trial.fixed_reason == "duplicates"
    assert (trial.choice, trial.reading.credit) == (None, 0.5)


def test_a_number_may_be_an_id(tmp_path: Path):
    (trial,) = _read(tmp_path, _ROW | {"id": 7})
    assert trial.sample_id == "7"


def test_blank_lines_and_a_byte_order_mark_are_no_rows(tmp_path: Path):
    assert len(_read(tmp_path, "\ufeff" + json.dumps(_ROW), "", "  ")) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"id": None}, "'id' is null, expected a text or a number"),
        ({"id": ""}, "'id' is"),
        ({"id": True}, "'id' is true"),
        ({"options": "ABC"}, "'options' is \"ABC\", expected a list of texts"),
        ({"options": ["a", 1]}, "expected a list of texts"),
        ({"options": ["a", " "]}, "expected a list of texts"),
        ({"options": ["a"]}, "1 options, expected between 2 and 26"),
        ({"options": [*map(str, range(27))]}, "27 options, expected between 2 and 26"),
        ({"answer": "D"}, "answer 'D' names no option, expected A to C"),
        ({"answer": "AB"}, "answer 'AB' names no option"),
        ({"answer": ""}, "answer '' names no option"),
        ({"answer": 1}, "'answer' is 1, expected a text"),
        ({"reply": 3}, "'reply' is 3, expected a text"),
        ({"permutation": [0, 1]}, "'permutation' is [0, 1], expected the numbers 0 to 2 once each"),
        ({"permutation": [0, 1, 1]}, "expected the numbers 0 to 2 once each"),
        ({"permutation": [1, 2, 3]}, "expected the numbers 0 to 2 once each"),
        ({"permutation": [0.0, 1.0, 2.0]}, "expected the numbers 0 to 2 once each"),
        ({"permutation": [False, True, 2]}, "expected the numbers 0 to 2 once each"),
        ({"permutation": "012"}, "expected the numbers 0 to 2 once each"),
        ({"permutaton": [0, 1, 2]}, "unknown key 'permutaton'. Did you mean 'permutation'?"),
        ({"probabilities": [0.2, 0.3, 0.5]}, "expected either 'reply' or 'probabilities'"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(tmp_path: Path, change: dict[str, Any], told: str):
    with pytest.raises(DataError) as caught:
        _read(tmp_path, _ROW, "", _ROW | {"id": "q2"} | change)
    assert str(caught.value).startswith("answers.jsonl line 3: ")
    assert told in str(caught.value)


@pytest.mark.parametrize("missing", ["id", "options", "answer"])
def test_a_missing_key_is_named(tmp_path: Path, missing: str):
    row = {key: value for key, value in _ROW.items() if key != missing}
    with pytest.raises(DataError, match=f"line 1: '{missing}' is missing"):
        _read(tmp_path, row)


@pytest.mark.parametrize(
    "value",
    [
        [0.2, 0.3],
        [0.5, 0.6, 0.1],
        [0.5, -0.1, 0.1],
        [0.5, "0.1", 0.1],
        [True, False, False],
        0.5,
        None,
    ],
)
def test_wrong_probabilities_are_refused(tmp_path: Path, value: Any):
    row = {key: value for key, value in _ROW.items() if key != "reply"} | {"probabilities": value}
    with pytest.raises(DataError, match=r"line 1: 'probabilities' is .*expected 3 numbers"):
        _read(tmp_path, row)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1" + "0" * 400])
def test_probabilities_that_are_no_probabilities_are_refused(tmp_path: Path, number: str):
    line = json.dumps(_ROW).replace('"reply": "A"', f'"probabilities": [{number}, 0, 0]')
    with pytest.raises(DataError, match="expected 3 numbers"):
        _read(tmp_path, line)


def test_probabilities_rounded_to_two_decimals_may_sum_to_a_little_over_one(tmp_path: Path):
    row = _ROW | {"probabilities": [0.34, 0.34, 0.33]}
    row.pop("reply")
    (trial,) = _read(tmp_path, row)
    assert trial.mass == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{'id': 1}", "line 1, column 2: not valid JSON"),
        ("[1, 2]", "line 1: expected a JSON object in braces"),
        ("null", "line 1: expected a JSON object in braces"),
        ("[" * 100_000, "line 1: too large or nested too deeply"),
        ("1" * 5000, "line 1: too large or nested too deeply"),
    ],
    ids=["no-json", "list", "null", "deep", "huge-number"],
)
def test_a_line_that_is_no_object_is_told(tmp_path: Path, line: str, told: str):
    with pytest.raises(DataError) as caught:
        _read(tmp_path, line)
    assert told in str(caught.value)


def test_the_same_variant_twice_is_told_with_both_lines(tmp_path: Path):
    with pytest.raises(DataError, match=r"line 2: id 'q1' has this permutation already at .* 1"):
        _read(tmp_path, _ROW, _ROW)


def test_options_that_change_between_rows_are_refused(tmp_path: Path):
    other = _ROW | {"permutation": [1, 2, 0], "options": ["Rome", "Oslo", "Paris"]}
    with pytest.raises(DataError, match="line 2: id 'q1' has other options"):
        _read(tmp_path, _ROW, other)


def test_replies_and_probabilities_are_never_compared(tmp_path: Path):
    other = _ROW | {"id": "q2", "probabilities": [1, 0, 0]}
    other.pop("reply")
    with pytest.raises(
        DataError, match="line 2: replies and probabilities are not scored together"
    ):
        _read(tmp_path, _ROW, other)


def test_an_empty_file_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match=r"answers\.jsonl is empty"):
        _read(tmp_path, "")


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(DataError, match=r"gone\.jsonl cannot be read: No such file"):
        list(read_rows(tmp_path / "gone.jsonl"))


def test_a_file_in_another_encoding_is_told(tmp_path: Path):
    path = tmp_path / "gb.jsonl"
    path.write_bytes('{"id": "题"}'.encode("gb18030"))
    with pytest.raises(DataError, match=r"gb\.jsonl is not UTF-8"):
        list(read_rows(path))


@pytest.mark.parametrize(
    ("permutations", "pattern"),
    [
        ([(0, 1, 2)], "origin"),
        ([(0, 1, 2), (1, 2, 0), (2, 0, 1)], "circular"),
        ([(0, 1), (1, 0)], "circular"),
        ([(0, 1, 2), (1, 0, 2)], "all_possible"),
        ([(1, 2, 0)], "circular"),
    ],
)
def test_the_orders_tell_the_pattern(
    tmp_path: Path, permutations: list[tuple[int, ...]], pattern: str
):
    rows = [
        {"id": 1, "options": list("xyz"[: len(p)]), "answer": "A", "permutation": p, "reply": "A"}
        for p in permutations
    ]
    assert pattern_of(trial.variant for trial in _read(tmp_path, *rows)) == pattern


def test_each_reply_becomes_its_letter_and_rule(tmp_path: Path):
    rows = [{"reply": "B", "options": ["x", "y"]}, {"reply": "I cannot say", "options": ["x", "y"]}]
    found = list(read_replies(_write(tmp_path, *rows)))
    assert [row["choice"] for row in found] == ["B", None]
    assert found[0]["rule"] == "strict"


def test_a_reply_that_was_cut_is_read_as_in_a_run(tmp_path: Path):
    row = {"reply": "x melts first, so x is right", "options": ["x", "y"]}
    cut = {**row, "finish_reason": "length"}
    assert [each["choice"] for each in read_replies(_write(tmp_path, row, cut))] == ["A", None]
    row |= {"id": 1, "answer": "A"}
    whole, broken = _read(tmp_path, row, {**row, "id": 2, "finish_reason": "length"})
    assert (whole.correct, broken.correct) == (True, None)


def test_a_wrong_reply_row_stops_before_anything_is_told(tmp_path: Path):
    rows = [{"reply": "B", "options": ["x", "y"]}, {"options": ["x", "y"]}]
    with pytest.raises(DataError, match="line 2: 'reply' is missing"):
        next(read_replies(_write(tmp_path, *rows)))
