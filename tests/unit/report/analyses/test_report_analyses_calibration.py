from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, right, with_probabilities

from evalui.report.analyses.calibration import calibrated_cells, calibration_blocks
from evalui.report.blocks import ChartBlock, Details, Notes, StateCell, Table, TextCell
from evalui.report.render.text import cell_text
from evalui.scoring.cell_summary import Summary, summarise


@pytest.fixture(scope="module")
def sure() -> Summary:
    return summarise(with_probabilities(cell_result(right, model="sure"), sure=0.9))


@pytest.fixture(scope="module")
def rash() -> Summary:
    return summarise(with_probabilities(cell_result(fond, model="rash"), sure=0.9))


def _section(*summaries: Summary, **words) -> Details:
    (section,) = calibration_blocks(summaries, "en", **words)
    assert isinstance(section, Details)
    return section


def _charts(section: Details) -> list[ChartBlock]:
    return [block for block in section.blocks if isinstance(block, ChartBlock)]


def _tables(section: Details) -> list[Table]:
    return [block for block in section.blocks if isinstance(block, Table)]


def _address(cell, n_options: int) -> str:
    return f"?calibration={cell.model}.{n_options}"


def test_the_section_states_its_finding(rash):
    section = _section(rash, address=_address)
    assert section.name == "Calibration"
    assert section.finding == "rash is surer than it is right: by 40 points on average."
    (chart,) = _charts(section)
    assert chart.caption.startswith("Order as written. ECE 40.0 points, Brier")


def test_the_bins_have_their_ranges_and_counts(rash):
    bins, _ = _tables(_section(rash, address=_address))
    assert [[cell_text(cell) for cell in row] for row in bins.rows] == [
        ["80–90 %", "90 %", "50 % (41–59)", "120"]
    ]


def test_each_cell_leads_to_its_diagram(sure, rash):
    section = _section(sure, rash, address=_address)
    assert [chart.title for chart in _charts(section)] == [
        "sure is right more often than it is sure: by 10 points on average"
    ]
    figures = _tables(section)[-1]
    name = figures.rows[1][0]
    assert isinstance(name, TextCell)
    assert name.href == "?calibration=rash.4"
    assert [cell_text(cell) for cell in figures.rows[1][1:3]] == [
        "120",
        "40.0 (all orders 27.5)",
    ]
    other = _section(sure, rash, address=_address, chosen=(rash.cell, 4))
    assert other.open
    assert _charts(other)[0].title.startswith("rash is surer")


def test_an_unknown_choice_is_the_first(sure, rash):
    section = _section(sure, rash, address=_address, chosen=(rash.cell, 9))
    assert not section.open
    assert _charts(section)[0].title.startswith("sure is right")


def test_a_file_has_every_diagram_under_a_name_of_its_own(sure, rash):
    section = _section(sure, rash)
    assert [chart.file for chart in _charts(section)] == ["calibration-1.png", "calibration-2.png"]


def test_without_probabilities_there_is_no_section():
    assert calibration_blocks([summarise(cell_result(fond))], "en") == []


def test_cells_without_probabilities_are_named_with_the_reason(sure):
    section = _section(sure, summarise(cell_result(fond, model="words")), address=_address)
    notes = [block for block in section.blocks if isinstance(block, Notes)]
    assert "nothing to calibrate: words." in notes[-1].lines[0].text


@pytest.mark.parametrize(("mass", "kind"), [(0.95, "ok"), (0.7, "warn"), (0.3, "bad")])
def test_little_mass_on_the_letters_is_a_warning(mass: float, kind: str):
    result = with_probabilities(cell_result(fond))
    held = replace(result, trials=tuple(replace(t, mass=mass) for t in result.trials))
    section = _section(summarise(held), address=_address)
    state = _tables(section)[-1].rows[0][-1]
    assert isinstance(state, StateCell)
    assert (state.kind, state.word) == (kind, f"{100 * mass:.0f} %")
    low = [b.lines[0].text for b in section.blocks if isinstance(b, Notes)]
    assert len(low) == (kind != "ok")


def test_each_number_of_options_has_its_own_figures():
    four, two = (with_probabilities(cell_result(right, options=k)) for k in (4, 2))
    renamed = tuple(replace(t, sample_id="p" + t.sample_id) for t in two.trials)
    samples = four.samples | {"p" + name: each for name, each in two.samples.items()}
    both = summarise(replace(four, samples=samples, trials=four.trials + renamed))
    assert [each.bias.n_options for each in calibrated_cells([both])] == [2, 4]
    section = _section(both, address=_address)
    rows = _tables(section)[-1].rows
    assert [cell_text(row[0]) for row in rows] == ["m (2 options)", "m (4 options)"]
