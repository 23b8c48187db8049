from dataclasses import replace

import pytest
from bias_examples import (
    Decide,
    as_sure,
    calibrated,
    cell_result,
    decided,
    fond,
    right,
    with_probabilities,
)

from evalui.messages import messages
from evalui.report.analyses.calibration import (
    CalibratedCell,
    act_finding,
    calibrated_cells,
    calibration_blocks,
    fit_finding,
)
from evalui.report.blocks import ChartBlock, Details, Notes, StateCell, Table, TextCell
from evalui.report.render.text import cell_text
from evalui.scoring.calibration import ActAbove, Floored
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import Decision, Interval, Language


@pytest.fixture(scope="module")
def sure() -> Summary:
    return summarise(with_probabilities(cell_result(right, model="sure"), sure=0.9))


@pytest.fixture(scope="module")
def rash() -> Summary:
    return summarise(with_probabilities(cell_result(fond, model="rash"), sure=0.9))


def _section(*summaries: Summary, **words) -> Details:
    return _sections(*summaries, **words)[1]


def _sections(*summaries: Summary, **words) -> tuple[Details, Details]:
    """When to act, and calibration."""
    acting, fitting, *_ = calibration_blocks(summaries, "en", **words)
    return acting, fitting


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
    assert chart.caption == "Order as written. n = 120. Letters hold 95 % of the probability."


def test_the_bins_have_their_ranges_and_counts(rash):
    (folded,) = [b for b in _section(rash, address=_address).blocks if isinstance(b, Details)]
    (bins,) = _tables(folded)
    assert [[cell_text(cell) for cell in row] for row in bins.rows] == [
        ["90–100 %", "90 %", "50 % (41–59)", "120"]
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
    questions, ece, floor, state = (cell_text(cell) for cell in figures.rows[1][1:5])
    assert questions == "120"
    assert ece.startswith("40.0 (")
    assert ece.endswith("; all orders 27.5)") or "all orders 27.5" in ece
    assert float(floor.split()[0]) < 10
    assert state == "more than chance gives"
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


def test_what_lies_within_chance_is_claimed_by_no_sentence(fair):
    section = _section(fair, address=_address)
    assert section.finding == ("ECE 2.3 points lies within chance (up to 6.5): it shows nothing.")
    beside = _tables(section)[0]
    assert [cell_text(row[0]) for row in beside.rows] == [
        "Calibration error (ECE), points",
        "Brier score, 0 to 2",
        "Log loss (nll), nats",
        "Risk over coverage (AURC), points",
    ]
    assert {row[3] for row in beside.rows} == {StateCell("na", "shows nothing")}


def test_an_average_that_is_off_is_not_claimed_where_the_error_lies_within(rash):
    (cell,) = calibrated_cells([rash])
    wide = replace(cell.calibration, ece=Floored(0.4, 0.3, 0.5, 0.3, 0.1, 0.6))
    assert fit_finding(replace(cell, calibration=wide), messages("en")) == (
        "ECE 40.0 points lies within chance (up to 60.0): it shows nothing"
    )
    narrow = replace(cell.calibration, ece=Floored(0.4, 0.3, 0.5, 0.3, 0.1, 0.39))
    assert "surer than it is right" in fit_finding(
        replace(cell, calibration=narrow), messages("en")
    )


def test_each_figure_outside_says_on_which_side(sure, rash):
    states = {
        name: [row[3] for row in _tables(_section(cell, address=_address))[0].rows]
        for name, cell in (("sure", sure), ("rash", rash))
    }
    apart = StateCell("warn", "more than chance gives")  # an error of either side
    assert states["rash"] == [apart, *[StateCell("warn", "less right than it says")] * 3]
    assert states["sure"] == [apart, *[StateCell("ok", "more right than it says")] * 3]


def test_few_questions_show_nothing():
    few = summarise(with_probabilities(cell_result(fond, n=20), sure=0.9))
    section = _section(few, address=_address)
    assert section.finding == "Too few questions (20) to judge how well probabilities fit."
    assert {row[3] for row in _tables(section)[0].rows} == {StateCell("na", "too few questions")}


def test_decisions_have_no_mass_of_letters():
    section = _section(summarise(decided(calibrated)), address=_address)
    assert "Letters" not in _charts(section)[0].caption
    assert "Probability on the letters, %" not in _tables(section)[-1].head


# ---------------------------------------------------------------- when to act


@pytest.fixture(scope="module")
def fair() -> Summary:
    return summarise(decided(calibrated, n=400))


def _rows(table: Table) -> list[list[str]]:
    return [[cell_text(cell) for cell in row] for row in table.rows]


def test_the_section_says_from_where_on_one_can_act(fair):
    acting, _ = _sections(fair, address=_address)
    assert acting.finding == "Act above 0.90: 93 % right (82–98) on 23 % of questions."
    (chart,) = _charts(acting)
    assert chart.title == acting.finding[:-1]
    thresholds, gates = _tables(acting)
    assert _rows(thresholds)[:2] == [
        ["90 %", "0.85", "91 % (82–96) (n = 69)", "35 % (28–41)", "cannot be told"],
        ["95 %", "0.90", "93 % (82–98) (n = 45)", "23 % (17–29)", "cannot be told"],
    ]
    assert _rows(thresholds)[2][2] == "21 of 22 (78–99 %)"
    assert _rows(gates)[0][:4] == ["0.8", "160", "89.4 % (83.6–93.3)", "100.0 % (97.7–100.0)"]


def test_what_moves_with_the_order_does_not_pass_a_gate():
    def by_order(question: int, order: int, target: int) -> Decision:
        del order
        # Of ten in a row the first four choose A whatever stands there.
        return as_sure(0.95, 0 if question % 10 < 4 else target)

    acting, _ = _sections(summarise(decided(by_order)), address=_address)
    _, gates = _tables(acting)
    assert [row[3] for row in _rows(gates)] == ["60 % (51–68)"] * 2


def _with_act(cell: CalibratedCell, *act: ActAbove) -> CalibratedCell:
    assert cell.bias.risk is not None
    return replace(cell, bias=replace(cell.bias, risk=replace(cell.bias.risk, act=act)))


def _act(goal: float, value: float, low: float, high: float, n: int = 80) -> ActAbove:
    return ActAbove(
        goal, 0.83, Interval(0.61, 0.55, 0.67, 200), Interval(value, low, high, n), 200, 200
    )


@pytest.mark.parametrize(
    ("act", "english", "chinese"),
    [
        (
            (_act(0.95, 0.94, 0.9, 0.97),),
            "Act above 0.83: 94.0 % right (90.0–97.0) on 61 % of questions",
            "把握高于 0.83 时采信：61 % 的题上答对 94.0 %（90.0–97.0）",
        ),
        (
            (_act(0.95, 0.8, 0.7, 0.88),),
            "Above 0.83, chosen for 95 % right, only 80 % are (70–88)",
            "把握高于 0.83（为答对 95 % 选定）只答对 80 %（70–88）",
        ),
        (
            (_act(0.95, 0.9, 0.6, 0.98, n=10),),
            "Above 0.83, 9 of 10 are right (60–98 %): too few to act on",
            "把握高于 0.83 的 10 题中答对 9 题（60–98 %）：太少，不足以采信",
        ),
        (
            (ActAbove(0.9, None, None, None, 200, 200),),
            "No threshold gives 90 % right; ECE 2.3 points is within chance (up to 6.5)",
            "没有阈值能答对 90 %；ECE 2.3 分在偶然范围内（最高 6.5）",
        ),
    ],
)
def test_the_finding_claims_no_more_than_the_check(fair, act, english, chinese):
    (cell,) = calibrated_cells([fair])
    told: dict[Language, str] = {"en": english, "zh": chinese}
    for language, text in told.items():
        assert act_finding(_with_act(cell, *act), messages(language)) == text
        assert len(text.split()) <= 25


def test_which_threshold_is_spoken_of_does_not_depend_on_what_its_check_finds(fair):
    (cell,) = calibrated_cells([fair])
    missed, holding = _act(0.95, 0.8, 0.7, 0.88), _act(0.9, 0.92, 0.85, 0.96)
    few = _act(0.95, 1.0, 0.7, 1.0, n=9)
    assert _with_act(cell, holding, missed).act == missed
    assert _with_act(cell, few, holding).act == holding
    assert _with_act(cell, few).act == few


def test_few_questions_have_no_threshold():
    acting, _ = _sections(summarise(decided(calibrated, n=29)), address=_address)
    assert acting.finding == "Too few questions (29) to judge how well probabilities fit."


def test_of_several_models_each_has_its_threshold(fair):
    other = summarise(decided(lambda *at: as_sure(0.9, fond(*at)), model="rash"))
    acting, _ = _sections(fair, other, address=_address)
    assert acting.finding == "m: act above 0.90, 93 % right (82–98) on 23 % of questions."
    rows = _rows(_tables(acting)[-1])
    assert [row[0] for row in rows] == ["m", "rash"]
    assert rows[1][1:] == ["–", "–", "–", "–", "no threshold"]


# ---------------------------------------------------------------- what servers gave


def _served(decide: Decide) -> Details:
    *_, served = calibration_blocks([summarise(decided(decide))], "en", address=_address)
    return served


def test_decisions_that_can_be_used_are_said_to_be():
    served = _served(calibrated)
    assert served.finding == "All 480 decisions have probabilities that sum to 1."
    assert (served.name, served.kind) == ("What the servers gave", None)


def test_what_servers_did_not_give_is_counted():
    def mixed(question: int, order: int, target: int) -> Decision:
        whole = calibrated(question, order, target)
        if question % 10 == 0:
            return Decision(refused=True)
        if question % 10 == 1:
            return Decision((), target)
        if question % 10 == 2:
            return replace(whole, probabilities=tuple(each / 2 for each in whole.probabilities))
        if question % 10 == 3:
            return Decision((0.4, 0.4, 0.1, 0.1), 2)
        return whole

    served = _served(mixed)
    assert served.finding == "144 of 480 decisions have no probabilities to use."
    assert served.kind == "warn"
    (table,) = _tables(served)
    counts = dict(zip(table.head, _rows(table)[0], strict=True))
    assert counts | {"Decimals": "over 4"} == {
        "Model and mode": "m",
        "Decisions": "480",
        "Refused": "48",
        "Without probabilities": "48",
        "Sum is not 1": "48",
        "Ties": "48",
        "Named a less probable option": "48",
        "Cut": "0",
        "Decimals": "over 4",
    }


def test_letters_have_nothing_from_servers(sure):
    names = [each.name for each in calibration_blocks([sure], "en", address=_address)]
    assert names == ["When to act", "Calibration"]
