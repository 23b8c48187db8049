import json
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import DataError
from evalui.report.imports.predictions import PredictionPair, read_pairs, score_texts
from evalui.scoring.texts.metrics import TEXT_METRICS

_GOLDEN = Path(__file__).parents[3] / "golden" / "evalscope"


def _write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _row(prediction: Any, reference: Any) -> dict[str, Any]:
    return {"prediction": prediction, "reference": reference}


def _published(folder: Path) -> tuple[Path, dict[str, float]]:
    row = json.loads((_GOLDEN / "seed003_row.json").read_text(encoding="utf-8"))
    rows = map(_row, row["predictions"], row["references"])
    return _write(folder, *rows), row["seed_report"]


def test_a_reference_is_a_text_or_a_list_of_texts(tmp_path: Path):
    path = _write(tmp_path, _row("a", "b"), _row("c", ["d", "e"]))
    assert read_pairs(path) == (PredictionPair("a", ("b",)), PredictionPair("c", ("d", "e")))


def test_the_means_of_the_published_row_are_printed_to_the_last_digit(tmp_path: Path):
    path, expected = _published(tmp_path)
    (text,) = score_texts(path, samples=False)
    told = json.loads(text)
    assert {name: told[name] for name in TEXT_METRICS} == expected
    assert list(told)[:3] == ["n", "empty", "rouge-1-r"]
    assert (told["n"], told["empty"]) == (3, 0)


def test_samples_add_a_line_for_each_pair_after_the_means(tmp_path: Path):
    path, expected = _published(tmp_path)
    lines = score_texts(path, samples=True)
    assert not any("\n" in line for line in lines)
    told, *pairs = map(json.loads, lines)
    assert [pair["pair"] for pair in pairs] == [1, 2, 3]
    for name in TEXT_METRICS:
        assert told[name] == expected[name] == sum(pair[name] for pair in pairs) / 3


def test_blank_predictions_are_counted_and_score_zero(tmp_path: Path):
    path = _write(tmp_path, _row("Paris", "Paris"), _row(" ", "Paris"))
    told, _, blank = map(json.loads, score_texts(path, samples=True))
    assert (told["n"], told["empty"], told["rouge-1-r"]) == (2, 1, 0.5)
    assert (blank["empty"], blank["rouge-1-r"], blank["exact_match"]) == (True, 0.0, 0.0)


def test_the_closest_of_several_references_counts(tmp_path: Path):
    told = json.loads(*score_texts(_write(tmp_path, _row("Rome", ["Oslo", "Rome"])), samples=False))
    assert (told["rouge-1-r"], told["exact_match"], told["token_f1"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"reference": "a"}, "line 2: 'prediction' is missing."),
        ({"prediction": "a"}, "line 2: 'reference' is missing."),
        (_row(None, "a"), "line 2: 'prediction' is null, expected a text."),
        (_row("a", None), "line 2: 'reference' holds null, expected a text or a list of texts."),
        (_row("a", ["b", 4]), "line 2: 'reference' holds 4, expected a text or a list of texts."),
        (_row("a", []), "line 2: 'reference' is an empty list, expected one text or more."),
        ("{", "line 2, column 2: not valid JSON"),
    ],
)
def test_a_bad_row_is_told_with_its_line(row: Any, message: str, tmp_path: Path):
    path = _write(tmp_path, _row("a", "a"), row)
    with pytest.raises(DataError) as caught:
        score_texts(path, samples=False)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_file_is_told(tmp_path: Path):
    with pytest.raises(DataError, match="is empty"):
        score_texts(_write(tmp_path, ""), samples=True)
