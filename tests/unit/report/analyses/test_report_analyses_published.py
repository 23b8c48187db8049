"""Published figures of others stand in the report of a set that is taken by its name."""

import pytest

from evalui.report.analyses.published import PUBLISHED
from evalui.report.blocks import Details, Table
from evalui.report.compile import compile_report, frozen_blocks
from evalui.types import Cell, CellResult, Language


def report_of(*datasets: str):
    cells = (Cell(name, "m", "cloze", "cloze", "origin", f"{name}@1|model:m") for name in datasets)
    return compile_report("r", [CellResult(cell, {}, (), 0) for cell in cells], spec="{}")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_figure_stands_with_its_setting_and_source(language: Language):
    (section,) = PUBLISHED.blocks(report_of("mmlu", "sums", "mmlu"), language)
    assert isinstance(section, Details)
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert ("mmlu", "Llama 2 70B", "68.9", "5-shot", "arXiv:2307.09288, table 3") in table.rows
    assert len(table.rows) == len(set(table.rows)) == 6


def test_sets_without_published_figures_have_no_section():
    assert not PUBLISHED.speaks(report_of("sums"))
    assert PUBLISHED.speaks(report_of("bbh"))
    assert any(
        isinstance(block, Details) and block.key == "published"
        for block in frozen_blocks(report_of("agieval"), "en")
    )
