"""ROUGE and BLEU of written answers, beside EvalScope.

The texts are made of sentences that people and models wrote: English ones of the 16 real pairs
among the parity tests' inputs, Chinese ones of the same inputs and of Z-Bench's reference answers
(CC BY 4.0). Reply and reference share some of their sentences, as right answers do.
"""

import json
import math
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contest import Compared, Contest, Session, meet
from benchmarks.peer import opened
from benchmarks.rows import Goal, Row
from evalui.scoring.texts.metrics import Scores, score_pair, tokenize
from evalui.shipped_files import ASSETS

GROUP = "texts"
_INPUTS = Path(__file__).parents[1] / "tests" / "golden" / "evalscope" / "qa_inputs.json"
_FULL = 5000
_LENGTHS = {"en": 560, "zh": 185}  # characters of a text: some 115 and 100 tokens
Pair = tuple[str, str]


def rows(session: Session) -> Iterator[Row]:
    """The 13 figures of SWIFT and EvalScope, pair after pair."""
    made = {language: pairs(language, _FULL) for language in _LENGTHS}
    sizes = session.scaled(_FULL)
    jobs = {f"{language} {size}": made[language][:size] for language in made for size in sizes}
    work = {"punkt": str(ASSETS / "nltk" / "punkt_tab_english"), "jobs": jobs}
    with opened("evalscope", session.peers, work) as peer:
        for language, size in ((language, size) for language in made for size in sizes):
            chosen = made[language][:size]
            _score(chosen[:2])  # loads the dictionaries
            contest = Contest(
                group=GROUP,
                work=f"rouge + bleu, {language.upper()}",
                count=size,
                unit="pairs",
                job=f"{language} {size}",
                ours=lambda chosen=chosen: _score(chosen),
                compare=_compared,
                goal=Goal("ratio", 10) if size == _FULL else None,
            )
            yield meet(contest, peer, session)


def pairs(language: str, count: int) -> list[Pair]:
    """Replies and references, no two texts alike."""
    rng = random.Random(0)
    sentences = _sentences(language)
    return [_pair(rng, sentences, _LENGTHS[language], language) for _ in range(count)]


def _pair(rng: random.Random, sentences: Sequence[str], length: int, language: str) -> Pair:
    blank = "" if language == "zh" else " "
    reply = rng.sample(sentences, 12)
    reference = [said if rng.random() < 0.4 else rng.choice(sentences) for said in reply]
    return blank.join(reply)[:length], blank.join(reference)[:length]


def _sentences(language: str) -> list[str]:
    given = json.loads(_INPUTS.read_text(encoding="utf-8"))
    texts = [
        each[side]
        for each in given
        if each["kind"] == f"real_{language}"
        for side in ("prediction", "reference")
    ]
    if language == "zh":
        texts += _zbench()
        parts = [part for each in texts for part in re.findall(r"[^。！？\n]+[。！？]?", each)]
    else:
        parts = [part for each in texts for part in re.split(r"(?<=[.!?:])\s+|\n+", each)]
    return sorted({part.strip() for part in parts if len(part.strip()) > 8})


def _zbench() -> list[str]:
    import openpyxl

    book: Any = openpyxl.load_workbook(ASSETS / "samples" / "zbench" / "subjective_zbench.xlsx")
    head, *lines = book.active.iter_rows(values_only=True)
    column = head.index("reference_answer")
    return [str(line[column]) for line in lines if line[column]]


def _score(chosen: Sequence[Pair]) -> list[Scores]:
    """The peer's 13 figures; `score_text` would add two that it does not have."""
    return [score_pair(tokenize(reply), tokenize(reference)) for reply, reference in chosen]


def _compared(theirs: list[dict[str, float]], ours: list[Scores]) -> Compared:
    apart = max(
        abs(figures[name.lower()] - value)
        for found, figures in zip(theirs, ours, strict=True)
        for name, value in found.items()
    )
    figures = sum(map(len, theirs))
    return Compared(
        f"{figures:,} figures, max difference {apart:.0e}"
        if apart
        else f"{figures:,} figures equal",
        equal=not math.isnan(apart) and apart <= 1e-12,
    )
