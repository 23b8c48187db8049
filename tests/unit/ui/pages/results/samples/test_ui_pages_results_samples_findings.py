"""The sentence beside a model, and that above several models."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evalui.app.questions import AnsweringModel
from evalui.messages import messages
from evalui.scoring.choice.options import variants
from evalui.store.runs import CellRow
from evalui.types import Cell, Pattern, Reading, Trial, Variant
from evalui.ui.components.option_table import order_label
from evalui.ui.pages.results.samples.findings import models_finding, orders_finding

ORDERS = variants(4, "circular")
GOLD = 0  # the right option is the file's A


def trials(options: str, pattern: Pattern = "circular") -> tuple[Trial, ...]:
    """A trial of each order, in which the model takes these options of the file; - is nothing."""
    return tuple(
        Trial(
            "q",
            variant,
            variant.permutation.index(GOLD),
            "forced",
            {"forced": _reading(variant.permutation, letter)},
        )
        for variant, letter in zip(variants(4, pattern), options, strict=False)
    )


def _reading(permutation: Sequence[int], letter: str) -> Reading:
    if letter == "-":
        return Reading(None, 0.0, "unparsed")
    slot = permutation.index("ABCD".index(letter))
    return Reading(slot, float("ABCD".index(letter) == GOLD), "forced")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("AAAA", "Right in all 4 orders."),
        # Shifted once, the right option stands at B, then at C, then at D.
        ("AACC", "Right in 2 of 4 orders; with the answer at C or D it takes option C."),
        ("AAAC", "Right in 3 of 4 orders; with the answer at D it takes option C."),
        ("ACCC", "Right in 1 of 4 orders; with the answer at B, C or D it takes option C."),
        ("AACB", "Right in 2 of 4 orders."),
        ("ADCB", "Right in 1 of 4 orders; it takes position A in every order."),
        ("CCCC", "Right in 0 of 4 orders; it takes option C in every order."),
        ("BCBC", "Right in 0 of 4 orders."),
        ("AA--", "Right in 2 of 4 orders; 2 cannot be read."),
        ("A", "Right: it takes option A."),
        ("C", "Wrong: it takes option C."),
        ("-", "Its answer cannot be read."),
        ("", "No answer yet."),
    ],
)
def test_the_sentence_says_only_what_the_figures_say(options: str, sentence: str):
    assert orders_finding(messages("en"), trials(options)) == sentence


def test_replies_to_one_order_are_counted_as_replies():
    again = [
        replace(each, variant=Variant(ORDERS[0].permutation, repeat))
        for repeat, each in enumerate(trials("AAC-", "circular"))
    ]
    t = messages("en")
    assert orders_finding(t, again) == "Right in 2 of 4 replies; 1 cannot be read."
    assert order_label(t, "origin", again[2].variant, 2) == f"{t('order.origin')}, reply 3"
    shifted = Variant(ORDERS[1].permutation, 2)
    assert order_label(t, "circular", shifted, 9) == "Shifted 1, reply 3"


def test_an_answer_position_that_is_sometimes_right_is_not_blamed():
    every = trials("A" * 20 + "CCCC", "all_possible")
    assert orders_finding(messages("en"), every) == "Right in 20 of 24 orders."


def test_the_sentence_in_chinese():
    words = orders_finding(messages("zh"), trials("AACC"))
    assert words == "4 种顺序中答对 2 种；答案在 C 或 D 时选了选项 C。"


def model(name: str, options: str) -> AnsweringModel:
    cell = Cell("d", name, "multiple_choice", "multiple_choice", "circular", "")
    row = CellRow(
        *(1, "run", cell, "key", "d", "{}", 1, "done", 4, 4, 4, "", "", None, None, 1.0, None),
        *(1, 1.0, 0, 0, 0),
    )
    return AnsweringModel(row, 0, baseline=False, trials=trials(options))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["AAAA", "AACC"],
            "All are right as written; only north stays right when options move.",
        ),
        (["AAAA", "AAAA"], "All are right as written; all stay right when options move."),
        (["AABA", "CAAA"], "1 of 2 are right as written; none stays right when options move."),
        (
            ["AAAA", "AAAA", "BAAA"],
            "2 of 3 are right as written; 2 of 3 stay right when options move.",
        ),
        (["BAAA", "CAAA"], "None is right as written."),
        (["A", "A"], "All are right as written."),
    ],
)
def test_models_are_summed_up(options: list[str], sentence: str):
    names = ("north", "south", "west")
    shown = [model(name, taken) for name, taken in zip(names, options, strict=False)]
    assert models_finding(messages("en"), shown, ORDERS[0], "As written") == sentence


def test_another_order_is_named():
    shown = [model("north", "ABAA"), model("south", "AAAA")]
    told = models_finding(messages("en"), shown, ORDERS[1], "Shifted 1")
    assert told.startswith("1 of 2 are right in the order Shifted 1;")
