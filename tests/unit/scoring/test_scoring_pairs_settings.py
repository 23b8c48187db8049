"""Which cells may be compared, and what they were asked with otherwise."""

import pytest

from evalui.scoring.pairs import differing_settings, incompatibilities
from evalui.types import Cell

SIGNATURE = (
    "sums@4f1c9ae2|n:240|mode:multiple_choice|prompt:plain-en.1|rule:forced|shots:5|"
    "orders:circular4|chat:no|temp:0|seed:0|model:one|evalui:1.0"
)


def cell(signature: str = SIGNATURE, *, model: str = "one") -> Cell:
    return Cell("sums", model, "multiple_choice", "mcp", "circular", signature)


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("model:one", "model:two@1234", ""),
        ("chat:no", "chat:yes", ""),
        ("@4f1c9ae2", "@00000000", "dataset"),
        ("sums@", "other@", "dataset"),
        ("n:240", "n:239", "n"),
        ("prompt:plain-en.1", "prompt:mine.1@ab", "prompt"),
        ("rule:forced", "rule:tolerant.1", "rule"),
        ("shots:5", "shots:0", "shots"),
        ("orders:circular4", "orders:origin", "orders"),
        ("mode:multiple_choice", "mode:generation", "mode"),
        ("|chat:no", "|chat:no|un:12", "un"),
        ("rule:forced|shots:5", "rule:strict|shots:1", "rule, shots"),
    ],
)
def test_cells_made_otherwise_are_not_compared_and_it_is_said_why(was: str, now: str, told: str):
    assert was in SIGNATURE
    assert incompatibilities(cell(), cell(SIGNATURE.replace(was, now), model="two")) == told


def test_cells_without_orders_in_their_signature_are_told_by_their_pattern():
    bare = cell("sums@4f1c9ae2|n:1")
    assert incompatibilities(bare, cell("sums@4f1c9ae2|n:1")) == ""
    assert incompatibilities(
        bare, Cell("sums", "one", "cloze", "cp", "origin", bare.signature)
    ) == ("mode, orders")


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("model:one", "model:two@1234|fp32:blas", ""),
        ("n:240", "n:12|limit:12|duplicate-options:1|cluster:page", ""),
        ("evalui:1.0", "evalui:1.1", ""),
        ("@4f1c9ae2", "@00000000", ""),
        ("chat:no", "chat:yes", "chat:no/yes"),
        ("temp:0", "temp:0.7|top_p:0.9", "temp:0/0.7, top_p:–/0.9"),
        ("shots:5|", "", "shots:5/–"),
        ("prompt:plain-en.1|rule:forced|shots:5", "prompt:recorded|rule:forced", ""),
        ("prompt:plain-en.1", "prompt:mine.1@ab", "prompt:plain-en.1/mine.1@ab"),
    ],
)
def test_every_other_setting_in_which_two_cells_differ_is_named(was: str, now: str, told: str):
    assert was in SIGNATURE
    assert differing_settings(cell(), cell(SIGNATURE.replace(was, now), model="two")) == told
