import pytest

from evalui.report.words import (
    band_text,
    join_names,
    join_names_shortened,
    join_sentences,
    mode_name,
    name_parts,
    names,
    shorten_name,
)
from evalui.scoring.cell_summary import Summary
from evalui.types import Cell


@pytest.mark.parametrize(
    ("models", "english", "chinese"),
    [
        (["a"], "a", "a"),
        (["a", "b"], "a and b", "a 和 b"),
        (["a", "b", "c"], "a, b and c", "a、b 和 c"),
        (["a", "b", "c", "d"], "a and 3 others", "a 等 4 个模型"),
    ],
)
def test_lists_of_models_read_well(models, english, chinese):
    assert (join_names_shortened(models, "en"), join_names_shortened(models, "zh")) == (
        english,
        chinese,
    )


def test_sentences_stand_apart_as_their_language_sets_them():
    assert join_sentences("One (1).", "", "Two.") == "One (1). Two."
    assert join_sentences("共 3 题（人工）。", "其余见下。") == "共 3 题（人工）。其余见下。"
    assert join_sentences("裁判（规则）", "p < .001") == "裁判（规则）p < .001"
    assert join_sentences("", "") == ""


def test_names_and_bands_are_written_in_one_way():
    assert (join_names("ab", "en"), join_names("ab", "zh")) == ("a, b", "a、b")
    assert (band_text(1, 1), band_text(2, 3)) == ("1", "2–3")


def test_cells_are_called_by_what_tells_them_apart():
    one, other = (
        Summary(Cell("a", "x", "generation", label, "circular", ""), "done", "", 1, 1, 1)
        for label in ("generation", "generation 5-shot")
    )
    assert set(names([one, other], "en").values()) == {
        ("x", "multiple choice, reply"),
        ("x", "multiple choice, reply 5-shot"),
    }
    assert names([one], "zh")[one.cell] == ("x", "")


def test_a_mode_without_words_keeps_its_name():
    cell = Cell("d", "m", "predictions", "predictions", "origin", "")
    assert mode_name(cell, "zh") == "predictions"


LONG = "organisation/Model-With-A-Very-Long-Name-7B-Instruct-v0.3-tuned-2026"


def test_a_long_name_keeps_its_head_and_its_tail():
    fits = "meta-llama/Llama-3.1-8B-Instruct"
    assert shorten_name(fits) == fits
    assert shorten_name(LONG) == "…/Model-With-A-V…v0.3-tuned-2026"
    assert shorten_name("a-rather-long-organisation/Model-7B") == "…/Model-7B"
    assert len(shorten_name(LONG)) == len(fits)


def test_long_names_of_a_sentence_are_found_and_addresses_and_paths_are_left():
    short = shorten_name(LONG)
    assert name_parts(f"{LONG} wins.") == [("", ""), (short, LONG), (" wins.", "")]
    assert name_parts(f"胜过{LONG}，{LONG}。")[1::2] == [(short, LONG)] * 2
    for text in (f"at https://example.org/{LONG}", f"/data/models/{LONG}", "x" * 32, ""):
        assert name_parts(text) == [(text, "")]
