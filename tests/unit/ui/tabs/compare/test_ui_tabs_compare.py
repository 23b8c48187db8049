"""What the Compare tab says of two or more cells, and which it refuses."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from evalui.ui.tabs.compare.comparison import compare, split_by_winner
from ui_examples import HOSTILE, built

from evalui.messages import messages
from evalui.report.analyses.statistics import CellComparison
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_cells
from evalui.runs.worker.main import Worker
from evalui.settings import Settings
from evalui.ui.components.component_tabs import SKIP
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.compare import CompareTab
from evalui.ui.tabs.compare.questions import PAGE_SIZE
from evalui.ui.tabs.compare.selection import (
    ComparableRuns,
    compared_cells,
    incompatibilities,
    read_ids,
)

MakeAct = Callable[..., Action]
MODELS = """
[perfect]
backend = "scripted"
options = { rule = "perfect" }

[biased]
backend = "scripted"
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }

[other-A]
backend = "scripted"
options = { rule = "always-A", seed = 1 }
"""
QUESTIONS = 160  # of which always-A gets none in every order, so that its list has two pages


def csv(n: int, *, first: str = "Question 0?") -> str:
    """A file whose right answers go round the letters."""
    rows = [
        f"{i},{first if not i else f'Question {i}?'},a{i},b{i},c{i},d{i},{'ABCD'[i % 4]}"
        for i in range(n)
    ]
    return "\n".join(["id,question,A,B,C,D,answer", *rows]) + "\n"


def open_desk(folder: Path) -> AppService:
    models = folder / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, Database(settings.database))


def run(desk: AppService, file: str, models: Sequence[str], **fields: str | list[str]) -> str:
    """A finished run of the file, every order unless told otherwise."""
    form: Form = {
        "uploads": [desk.store_upload([("quiz.csv", file.encode())])],
        "models": list(models),
        "modes": ["multiple_choice"],
        "pattern": "circular",
        "shots": "0",
    }
    run_id = desk.start(read_run_form(form | fields))
    Worker(desk.database, desk.catalog).run_once()
    assert desk.run(run_id).state == "done"
    return run_id


def cells(desk: AppService, run_id: str) -> dict[str, str]:
    """The ids of a run's cells by model."""
    return {row.cell.model: str(row.id) for row in read_cells(desk.database, run_id)}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return open_desk(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="module")
def both(desk: AppService) -> tuple[str, str]:
    """Two runs of the same file."""
    first = run(desk, csv(QUESTIONS), ["perfect", "biased", "always-A"], name="Spring")
    return first, run(desk, csv(QUESTIONS), ["perfect"], name="Autumn")


@pytest.fixture(scope="module")
def tab(desk: AppService) -> CompareTab:
    tab = CompareTab(desk, messages("en"))

    def lay_out() -> None:
        with gr.Blocks(analytics_enabled=False):
            tab.build()

    built(lay_out)
    return tab


@pytest.fixture(scope="module")
def ids(desk: AppService, both: tuple[str, str]) -> dict[str, str]:
    return cells(desk, both[0])


def told(outputs: Sequence[Any]) -> str:
    """All the text of the panes."""
    return "".join(part for part in outputs[2:] if isinstance(part, str))


def page(tab: CompareTab, *chosen: str, **form: str) -> str:
    """The tab at the address of some cells."""
    return told(tab.enter("", {"tab": "compare", "cells": ",".join(chosen), **form}))


# ---------------------------------------------------------------- the choice


def test_without_a_finished_run_the_next_step_is_shown(tmp_path: Path):
    said = told(CompareTab(open_desk(tmp_path), messages("en")).enter("", {"tab": "compare"}))
    assert "Nothing to compare yet" in said
    assert 'data-tab="tab-evaluate"' in said


def test_runs_are_offered_with_their_cells(tab: CompareTab, ids: dict[str, str]):
    said = page(tab)
    assert said.index("Autumn") < said.index("Spring")
    for id_ in ids.values():
        assert f'value="{id_}"' in said
    assert "Tick two or more models." in said


def test_a_cell_of_other_rules_is_grey_and_says_why(tmp_path: Path, act: MakeAct):
    desk = open_desk(tmp_path)
    first = cells(desk, run(desk, csv(4), ["perfect"]))["perfect"]
    other = cells(desk, run(desk, csv(4), ["perfect"], pattern="origin"))["perfect"]
    tab = CompareTab(desk, messages("en"))
    tab.outputs = list(range(9))
    head = tab.answer("", act("set", {"cells": [first]}, name="cells"))[2]
    assert "Not comparable with perfect: other option orders." in head
    assert f'value="{other}" disabled' in head
    assert "Tick one more" in head


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ()),
        ({"dataset": "quiz@99999999"}, ("dataset",)),
        ({"prompt": "prompt:other.1"}, ("prompt",)),
        ({"rule": "rule:tolerant.2"}, ("rule",)),
        ({"shots": "shots:5"}, ("shots",)),
        ({"orders": "orders:origin"}, ("orders",)),
    ],
)
def test_what_differs_is_named(
    desk: AppService, ids: dict[str, str], change: dict[str, str], expected: tuple[str, ...]
):
    offered = ComparableRuns(desk).all()
    (row,) = (c for o in offered for c in o.cells if str(c.id) == ids["perfect"])
    dataset, *parts = row.cell.signature.split("|")
    signature = "|".join(
        [
            change.get("dataset", dataset),
            *(change.get(part.partition(":")[0], part) for part in parts),
        ]
    )
    other = dataclasses.replace(row, cell=dataclasses.replace(row.cell, signature=signature))
    assert incompatibilities(row, other) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [("3,1", (3, 1)), ("1,1,2", (1, 2)), ("1; drop,-2,x,٣,7", (7,)), ("", ())],
)
def test_an_address_names_cells(address: str, expected: tuple[int, ...]):
    assert read_ids(address) == expected


def test_too_many_ticks_end_at_the_most_a_page_holds():
    assert len(read_ids(",".join(map(str, range(1, 30))))) == 8


def test_ticks_below_a_comparison_leave_it_as_it_is(
    tab: CompareTab, ids: dict[str, str], act: MakeAct
):
    form = {"compared": f"{ids['perfect']},{ids['biased']}", "cells": [ids["always-A"]]}
    outputs = tab.answer("", act("set", form, name="cells"))
    assert [part is not SKIP for part in outputs] == [False, False, True] + [False] * 6
    assert "Copy link" in outputs[2]
    assert f'value="{ids["always-A"]}" checked' in outputs[2]


# ---------------------------------------------------------------- the figures


def test_the_sentence_comes_first_with_its_test(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["always-A"], ids["perfect"])
    assert "perfect is ahead of always-A by 100" in said
    assert "on each of 160 questions" in said
    said = page(tab, ids["biased"], ids["perfect"])
    assert 'class="compare-title">perfect beats biased by ' in said
    assert "Paired on the same questions, p &lt; .001." in said


def test_a_model_no_better_than_guessing_is_reported_and_wins_nothing(
    tab: CompareTab, desk: AppService, ids: dict[str, str]
):
    told = page(tab, ids["biased"], ids["always-A"])
    assert "; always-A is no better than guessing" in told
    run_id = run(desk, csv(QUESTIONS), ["always-A", "other-A"])
    told = page(tab, *cells(desk, run_id).values())
    assert "always-A and other-A are not ranked: neither is better than guessing" in told
    assert "beats" not in told


def test_the_table_has_difference_test_and_what_may_be_missed(tab: CompareTab, ids: dict[str, str]):
    below = page(tab, *ids.values()).partition("Pair by pair")[2].partition("</table>")[0]
    for head in ("Plausible range", "McNemar mid-p", "p, corrected", "Usually missed below"):
        assert head in below
    # The widest difference first: perfect against always-A, on which all questions differ.
    assert "160 : 0" in below.partition("<tbody>")[2].partition("</tr>")[0]


def test_the_four_counts_add_up_to_the_questions(desk: AppService, ids: dict[str, str]):
    chosen = compared_cells(
        ComparableRuns(desk).all(), [int(ids["perfect"]), int(ids["biased"])], ()
    )
    compared = compare(desk, chosen)
    ahead, behind, alike = split_by_winner(compared, compared.pairs[0])
    found = compared.pairs[0].result
    assert isinstance(found, CellComparison)
    assert found.mcnemar
    table = found.mcnemar
    assert (len(ahead), len(behind)) == (table.first_only, table.second_only)
    assert len(ahead) + len(behind) + len(alike) == QUESTIONS


def test_one_model_of_two_runs_has_two_names_and_no_difference(
    tab: CompareTab, desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = page(tab, ids["perfect"], cells(desk, both[1])["perfect"])
    assert "By this figure perfect (Spring) and perfect (Autumn) are equal on each of 160" in said
    assert "By this figure they do not differ on any question." in said


def test_few_questions_show_counts_and_no_test(tmp_path: Path):
    desk = open_desk(tmp_path)
    found = cells(desk, run(desk, csv(8), ["perfect", "biased"]))
    said = page(CompareTab(desk, messages("en")), *found.values())
    assert "too few questions to tell (8)" in said
    assert "Under 30 questions no test is shown" in said
    assert "McNemar mid-p = " not in said


def test_another_measure_changes_the_counts_and_the_address(
    tab: CompareTab, ids: dict[str, str], act: MakeAct
):
    form = {"compared": f"{ids['perfect']},{ids['always-A']}", "measure": "accuracy"}
    said = told(tab.answer("", act("set", form, name="measure")))
    assert "Right as written, number of questions" in said
    assert "measure=accuracy" in said
    assert "All 120" in said  # always-A is right on every fourth question as written


def test_mean_over_orders_has_no_right_and_wrong(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], measure="mean_over_orders")
    assert "perfect higher" in said
    assert "McNemar mid-p &lt;" not in said


def test_cells_that_cannot_be_compared_have_the_reason(
    tab: CompareTab, desk: AppService, ids: dict[str, str]
):
    other = cells(desk, run(desk, csv(QUESTIONS), ["biased"], pattern="origin", name="Plain"))
    said = page(tab, ids["perfect"], other["biased"])
    assert "biased cannot be compared with perfect: other option orders." in said
    assert "Choose two or more" in said
    with_third = page(tab, ids["perfect"], other["biased"], ids["always-A"])
    assert "cannot be compared with perfect" in with_third
    assert "perfect is ahead of always-A" in with_third


# ---------------------------------------------------------------- the questions


def test_a_page_has_a_hundred_questions(tab: CompareTab, ids: dict[str, str], act: MakeAct):
    first = page(tab, ids["perfect"], ids["always-A"])
    assert first.count('data-do="question"') == PAGE_SIZE
    assert "1–100 of 160" in first
    form = {"compared": f"{ids['perfect']},{ids['always-A']}"}
    outputs = tab.answer("", act("page", form, page="1"))
    assert [part is SKIP for part in outputs] == [True] * 8 + [False]
    assert outputs[-1].count('data-do="question"') == QUESTIONS - PAGE_SIZE
    assert "101–160 of 160" in outputs[-1]


def test_only_the_questions_of_one_side_are_listed(
    tab: CompareTab, ids: dict[str, str], act: MakeAct
):
    form = {"compared": f"{ids['perfect']},{ids['always-A']}"}
    below = tab.answer("", act("only", form, only=ids["always-A"]))[-1]
    assert "No question passes this filter." in below
    assert 'aria-pressed="true">Only always-A 0' in below
    assert f'data-only="{ids["perfect"]}"' in below


def test_an_unknown_filter_shows_all(tab: CompareTab, ids: dict[str, str]):
    assert 'aria-pressed="true">All 160' in page(
        tab, ids["perfect"], ids["always-A"], only="<b>", page="-1"
    )


def test_a_question_unfolds_with_both_models_in_every_order(
    tab: CompareTab, ids: dict[str, str], act: MakeAct
):
    form = {"compared": f"{ids['perfect']},{ids['always-A']}"}
    below = tab.answer("", act("question", form, question="quiz/1"))[-1]
    detail = below.partition("compare-detail")[2].partition("</li>")[0]
    assert "Right answer: B · b1" in detail
    assert [detail.count(f">{word}<") for word in ("As written", "Shifted 3")] == [1, 1]
    assert detail.count("perfect picks this") == detail.count("always-A picks this") == 4
    assert f"cell={ids['perfect']}" in detail
    closed = tab.answer("", act("question", form | {"question": "quiz/1"}, question=""))[-1]
    assert "compare-detail" not in closed


def test_an_address_opens_its_question_on_the_page_that_has_it(
    tab: CompareTab, ids: dict[str, str]
):
    said = page(tab, ids["perfect"], ids["always-A"], question="quiz/150")
    assert "101–160 of 160" in said
    assert 'aria-expanded="true" autofocus' in said


def test_a_question_on_which_both_agree_is_shown_beside_the_list(
    tab: CompareTab, desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = page(tab, ids["perfect"], cells(desk, both[1])["perfect"], question="quiz/3")
    assert "They do not differ on this question." in said
    assert "Right answer: D · d3" in said


def test_a_pair_is_chosen_among_several(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, *ids.values(), pair=f"{ids['always-A']}-{ids['biased']}")
    assert f'value="{ids["biased"]}-{ids["always-A"]}" selected' in said
    assert "biased right" in said


def test_markers_are_those_of_the_run(desk: AppService, ids: dict[str, str]):
    chosen = compared_cells(
        ComparableRuns(desk).all(), [int(ids["biased"]), int(ids["always-A"])], {"always-A"}
    )
    assert [(each.place, each.baseline) for each in chosen] == [(1, False), (0, True)]


def test_hostile_text_stays_text(tmp_path: Path):
    desk = open_desk(tmp_path)
    name = HOSTILE.replace('"', "").replace(",", "")
    found = cells(
        desk, run(desk, csv(8, first=name), ["perfect", "always-A"], name="<script>x</script>")
    )
    said = page(CompareTab(desk, messages("en")), *found.values(), question="quiz/0")
    assert "&lt;img src=x" in said
    assert "<img" not in said
    assert "<script" not in said


# ---------------------------------------------------------------- whose it is, and when


def test_cells_of_another_user_are_no_such_run(desk: AppService, ids: dict[str, str]):
    other = AppService(desk.settings, desk.database, owner="somebody-else")
    said = told(
        CompareTab(other, messages("en")).enter(
            "", {"tab": "compare", "cells": f"{ids['perfect']},{ids['biased']}"}
        )
    )
    assert "There is no such run." in said
    assert "perfect" not in said
    assert "Spring" not in said


def test_a_run_of_another_user_is_no_such_run(desk: AppService, both: tuple[str, str]):
    other = CompareTab(
        AppService(desk.settings, desk.database, owner="somebody-else"), messages("en")
    )
    assert "There is no such run." in told(other.enter(both[0], {"tab": "compare"}))


def test_a_run_of_an_address_begins_with_its_first_group(tab: CompareTab, both: tuple[str, str]):
    assert "perfect is ahead of always-A" in told(tab.enter(both[0], {"tab": "compare"}))
    assert "Tick one more" in told(tab.enter(both[1], {"tab": "compare"}))


def test_a_run_that_waits_is_reported(desk: AppService, tab: CompareTab):
    form: Form = {
        "uploads": [desk.store_upload([("later.csv", csv(4).encode())])],
        "models": ["perfect"],
        "modes": ["multiple_choice"],
    }
    waiting = desk.start(read_run_form(form))
    said = told(tab.enter(waiting, {"tab": "compare"}))
    queue.delete(desk.database, waiting)
    assert "This run has no finished answers yet." in said


def test_a_run_deleted_in_another_window_is_reported(tmp_path: Path, act: MakeAct):
    desk = open_desk(tmp_path)
    run_id = run(desk, csv(8), ["perfect", "always-A"])
    found = ",".join(cells(desk, run_id).values())
    tab = CompareTab(desk, messages("en"))
    assert "Where they part" in told(tab.enter("", {"tab": "compare", "cells": found}))
    queue.delete(desk.database, run_id)
    for do in ("page", "question", "pair"):
        assert "There is no such run." in told(tab.answer("", act(do, {"compared": found})))


def test_another_tab_leaves_the_page_empty_until_it_is_pressed(
    tab: CompareTab, both: tuple[str, str]
):
    run_id, seen, *panes = tab.enter(both[0], {"tab": "results"})
    assert (run_id, seen) == (both[0], "")
    assert told([run_id, seen, *panes]) == ""
    pressed = tab.open(run_id, seen)
    assert "perfect is ahead of always-A" in told(pressed)
    assert all(part is SKIP for part in tab.open(pressed[0], pressed[1]))


def test_an_annotator_is_shown_no_names(desk: AppService):
    tab = CompareTab(desk, messages("en"))
    tab.outputs = list(range(9))
    closed = tab.blind_voting_outputs()
    assert "Names stay hidden while you vote" in told(closed)
    assert "perfect" not in told(closed)
    assert all(part is SKIP for part in tab.open(closed[0], closed[1]))


def test_every_output_gets_a_value(tab: CompareTab):
    wishes: list[Form] = [{}, {"tab": "compare"}, {"tab": "compare", "cells": "1,2"}]
    for form in wishes:
        assert len(tab.enter("", form)) == len(tab.outputs)
    assert len(tab.blind_voting_outputs()) == len(tab.outputs)


def test_both_languages_tell_it(desk: AppService, ids: dict[str, str]):
    said = page(CompareTab(desk, messages("zh")), ids["perfect"], ids["biased"])
    assert "perfect 比 biased 高" in said
    assert "分歧在哪里" in said
