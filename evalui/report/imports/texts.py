"""Written answers collected elsewhere, scored against their references by ROUGE and BLEU."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evalui.errors import DataError
from evalui.report.imports.predictions import JsonlRow, abbreviated_json, read_rows
from evalui.scoring.text_metrics import WordTokenizers, mean_scores, score_text
from evalui.text_tokenizers import tokenize_en, tokenize_zh


@dataclass(frozen=True, slots=True)
class PredictionPair:
    """A written answer and the texts it is compared with, at least one."""

    prediction: str
    references: tuple[str, ...]


def read_pairs(path: Path) -> tuple[PredictionPair, ...]:
    """The pairs of `{"prediction", "reference"}` rows; `reference` is a text or a list of texts.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    return tuple(
        PredictionPair(row.text("prediction"), _references(row)) for row in read_rows(path)
    )


def score_texts(path: Path, *, samples: bool) -> list[str]:
    """The lines to print: the means of all figures, and with `samples` a line for each pair.

    `empty` counts the blank predictions; they score 0 in every figure and in the means. With
    `samples` every line is one JSON object, the means first, then the pairs in file order.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    pairs = read_pairs(path)
    splitters = WordTokenizers(tokenize_zh, tokenize_en)
    scores = [score_text(pair.prediction, pair.references, splitters) for pair in pairs]
    empty = [not pair.prediction.strip() for pair in pairs]
    metrics = mean_scores(scores, empty=sum(empty))
    told = {"n": metrics.n, "empty": metrics.empty} | dict(metrics.means)
    if not samples:
        return [json.dumps(told, indent=2)]
    each = zip(empty, scores, strict=True)
    return [
        json.dumps(told),
        *(
            json.dumps({"pair": number, "empty": blank} | dict(found))
            for number, (blank, found) in enumerate(each, start=1)
        ),
    ]


def _references(row: JsonlRow) -> tuple[str, ...]:
    value = row.field("reference")
    found = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not found:
        raise DataError("row-no-reference", place=row.location)
    wrong = [each for each in found if not isinstance(each, str)]
    if wrong:
        raise DataError("row-reference", place=row.location, value=abbreviated_json(wrong[0]))
    return tuple(found)
