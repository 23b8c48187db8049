from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from chart_examples import layout_of, notes_of, traces_of

from evalui.messages import messages
from evalui.report.figures.bias import answered, answers
from evalui.report.frames import choices
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import Language


@pytest.fixture
def summary(make_result) -> Summary:
    """Four questions that always get A, one that is unreadable twice."""
    picks = {f"q{i}": [0, 0, 0, 0] for i in range(4)} | {"q4": [None, None, 2, 1]}
    return summarise(make_result(picks))


def rows_of(summary: Summary) -> pd.DataFrame:
    made = {"confusion": choices.confusion, "positions": choices.positions}
    return answered(lambda name: pd.DataFrame(made[name]([summary])))


def drawn(summary: Summary, language: Language = "en", **look: Any) -> go.Figure:
    return answers(rows_of(summary), messages(language), **look)


def layers(summary: Summary, language: Language = "en") -> list[dict[str, Any]]:
    return [each for each in traces_of(drawn(summary, language)) if each["type"] == "heatmap"]


def test_each_row_of_the_heat_map_sums_to_one_with_the_unreadable(summary):
    letters, others = layers(summary)
    for row, rest in zip(letters["z"], others["z"], strict=True):
        assert sum(row) + sum(rest) == pytest.approx(1)


def test_rows_are_gold_and_columns_are_picks(summary):
    letters, _ = layers(summary)
    assert letters["z"][0][0] == pytest.approx(4 / 5)
    assert letters["z"][1][0] == pytest.approx(4 / 5)
    assert letters["text"][1][0] == "80 %"


def test_hover_tells_the_counts(summary):
    letters, others = layers(summary)
    assert letters["hovertext"][1][0] == "B → A: 4 of 5, 80 % (38–96)"
    # q4's right option is A: as written it stands in slot A, in the second order in slot B.
    assert others["hovertext"][0][0] == "A → unreadable: 1 of 5, 20 % (4–62)"
    assert layers(summary, "zh")[1]["hovertext"][0][0].startswith("A → 无法判读：5 次中 1 次")


def linked_layers(summary: Summary) -> Any:
    rows = rows_of(summary)
    linked = rows.assign(href="?" + rows["gold"] + rows["picked"])
    letters, others, _ = traces_of(answers(linked, messages("en")))
    return letters, others


def test_a_cell_leads_to_the_questions_it_counts(summary):
    letters, others = linked_layers(summary)
    assert letters["customdata"][1][2] == "?BC"
    assert others["customdata"][3][0] == "?Dunreadable"
    assert not any("customdata" in each for each in layers(summary))


def test_colours_have_a_key_where_there_are_any(make_result, summary):
    enough = summarise(make_result({f"q{i}": "right" for i in range(30)}))
    coloured, _ = linked_layers(enough)
    assert coloured["showscale"]
    assert coloured["colorbar"]["ticktext"][-1] == "≥ 75 %"
    grey, _ = linked_layers(summary)
    assert not grey["showscale"]
    assert not layers(enough)[0]["showscale"]


def test_rows_of_few_questions_are_grey(make_result, summary):
    grey = layers(summary)[0]["colorscale"]
    assert grey[0][1] == grey[-1][1]
    enough = summarise(make_result({f"q{i}": "right" for i in range(30)}))
    assert layers(enough)[0]["colorscale"][-1] == [1.0, "rgba(0,114,178,0.8)"]


def test_in_one_order_each_row_has_its_own_number_of_questions(make_result):
    picks = {f"q{i}": "right" for i in range(60)}
    targets = {f"q{i}": 0 if i < 40 else 1 + i % 3 for i in range(60)}
    blue, grey, _ = layers(summarise(make_result(picks, targets=targets, pattern="origin")))
    assert [row[0] is None for row in blue["z"]] == [False, True, True, True]
    assert [row[0] is None for row in grey["z"]] == [True, False, False, False]


def test_many_orders_of_a_question_do_not_narrow_a_range(make_result):
    picks = {f"q{i}": "right" for i in range(40)}
    letters, _ = layers(summarise(make_result(picks, pattern="all_possible")))
    assert letters["hovertext"][0][0] == "A → A: 240 of 240, 100.0 % (91.2–100.0)"


def test_the_scale_is_fixed_so_that_charts_compare(summary):
    letters, _ = layers(summary)
    assert (letters["zmin"], letters["zmax"]) == (0, 0.75)


def test_the_diagonal_is_outlined(summary):
    boxes = [each for each in layout_of(drawn(summary))["shapes"] if each.get("type") != "line"]
    assert [(box["x0"], box["y0"]) for box in boxes] == [(at - 0.5, at - 0.5) for at in range(4)]


def test_all_picks_stand_below_against_chance(summary):
    figure = drawn(summary, colour="#D55E00")
    bars = traces_of(figure)[-1]
    assert bars["y"] == pytest.approx([16 / 18, 1 / 18, 1 / 18, 0])
    assert bars["marker"]["color"][:2] == ["#D55E00", "#80868B"]
    lines = [each for each in layout_of(figure)["shapes"] if each.get("type") == "line"]
    assert [each["y0"] for each in lines] == [0.25]
    assert "<b>89 %</b>" in notes_of(figure)


def test_ties_get_a_column_only_if_there_are_any(make_result, summary):
    assert layout_of(drawn(summary))["xaxis"]["ticktext"][-1] == "unreadable"
    tied = summarise(make_result({"q0": ["tie", 0, 0, 0]}))
    assert layout_of(drawn(tied))["xaxis"]["ticktext"][-2:] == ["unreadable", "tied"]


def test_three_options_have_three_rows(make_result):
    assert len(layers(summarise(make_result({"q0": "right"}, options=3)))[0]["z"]) == 3


def test_nothing_readable_can_still_be_drawn(make_result):
    letters, others = layers(summarise(make_result({"q0": [None] * 4})), "zh")
    assert sum(map(sum, letters["z"])) == 0
    assert all(row[0] == 1 for row in others["z"])
