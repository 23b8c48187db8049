from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, right

from evalui.report.analyses.position_bias import bias_document
from evalui.report.blocks import Block, ChartBlock, Details, Heading, Paragraph
from evalui.report.render.page import as_page
from evalui.scoring.cell_summary import Summary, summarise


def _two_sizes() -> Summary:
    """One cell whose questions have two or four options."""
    four, two = cell_result(fond), cell_result(right, options=2)
    renamed = tuple(replace(t, sample_id="p" + t.sample_id) for t in two.trials)
    samples = four.samples | {"p" + name: each for name, each in two.samples.items()}
    return summarise(replace(four, samples=samples, trials=four.trials + renamed))


def _files(blocks: list[Block]) -> list[str]:
    inside = [b for block in blocks if isinstance(block, Details) for b in block.blocks]
    return [block.file for block in [*blocks, *inside] if isinstance(block, ChartBlock)]


def _headings(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Heading)]


def test_each_cell_has_its_heading_its_verdict_and_its_sections():
    summaries = [summarise(cell_result(pick, model=m)) for m, pick in (("a", right), ("b", fond))]
    blocks = list(bias_document(summaries, "en"))
    assert _headings(blocks) == ["Position bias", "a", "b"]
    verdicts = [block.text for block in blocks if isinstance(block, Paragraph) and block.strong]
    assert verdicts == [
        "No position bias is found in a.",
        "b picks A 63 % of the time; 25 % is fair.",
    ]
    assert "Clear. p < .001, 120 questions in 4 orders." in [
        block.text for block in blocks if isinstance(block, Paragraph)
    ]
    sections = [block.key for block in blocks if isinstance(block, Details)]
    assert len(sections) == len(set(sections)) == 2 * 3 + 1
    assert [key for key in sections if key.startswith("all-models")] == ["all-models-1"]


def test_each_number_of_options_has_its_own_part_and_pictures():
    blocks = list(bias_document([_two_sizes()], "en"))
    assert _headings(blocks) == ["Position bias", "m · 2 options", "m · 4 options"]
    files = _files(blocks)
    assert len(files) == len(set(files))
    assert "positions-1-4.png" in files


def test_a_run_that_showed_no_options_has_no_such_part():
    hidden = replace(summarise(cell_result(right)), bias=None)
    assert list(bias_document([hidden], "en")) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_for_itself_leads_nowhere(language):
    blocks = list(bias_document([_two_sizes()], language, baselines=["m"]))
    page = as_page(blocks, language).decode()
    assert "href" not in page.partition("<script>")[0]
    assert "<details" in page
    assert "open" in page
