"""What the Compare tab says of two or more cells, and which it refuses."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from store_examples import open_database
from ui_examples import HOSTILE

from evalui.access import Person
from evalui.app.comparisons import comparable_runs, compared_cells, incompatibilities, read_ids
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.database import queue, trials
from evalui.runs.database.column_blocks import decode_columns
from evalui.runs.database.runs import read_cells
from evalui.runs.worker.worker import Worker
from evalui.scoring.trial_columns import TextReader, TrialColumns
from evalui.settings import Settings
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.run_form import read_run_form
from evalui.ui.tabs.compare import CompareTab
from evalui.ui.tabs.compare.questions import PAGE_SIZE

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
QUESTIONS = 32  # of which always-A gets none in every order, so that its list has two pages


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
    return AppService(settings, open_database(settings.database)).with_sender(current_person)


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
    return CompareTab(desk, messages("en"))


@pytest.fixture(scope="module")
def ids(desk: AppService, both: tuple[str, str]) -> dict[str, str]:
    return cells(desk, both[0])


def page(tab: CompareTab, *chosen: str, **form: str) -> str:
    """The tab at the address of some cells."""
    return tab.render({"tab": "compare", "cells": ",".join(chosen), **form})


def address(said: str) -> str:
    """The address that the page states for itself."""
    found = re.search(r'data-address="([^"]*)"', said)
    assert found
    return found[1].replace("&amp;", "&")


def sections(said: str) -> dict[str, str]:
    """The findings of the sections that fold, by name."""
    found = re.findall(
        r"<summary><b>([^<]*)</b><span class=\"finding\">(.*?)</span></summary>", said
    )
    return {name: re.sub(r"<[^>]*>", "", finding) for name, finding in found}


# ---------------------------------------------------------------- the choice


def test_without_a_finished_run_the_next_step_is_shown(tmp_path: Path):
    said = CompareTab(open_desk(tmp_path), messages("en")).render({"tab": "compare"})
    assert "Nothing to compare yet" in said
    assert 'href="?tab=evaluate"' in said


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
    said = CompareTab(desk, messages("en")).act(act("set", {"ticked": [first]}, name="ticked"))
    assert "Not comparable with perfect: other option orders." in said
    assert f'value="{other}" disabled' in said
    assert "Tick one more" in said


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ()),
        ({"dataset": "quiz@99999999"}, ("dataset",)),
        ({"prompt": "prompt:other.1"}, ("prompt",)),
        ({"rule": "rule:tolerant.3"}, ("rule",)),
        ({"shots": "shots:5"}, ("shots",)),
        ({"orders": "orders:origin"}, ("orders",)),
    ],
)
def test_what_differs_is_named(
    desk: AppService, ids: dict[str, str], change: dict[str, str], expected: tuple[str, ...]
):
    offered = comparable_runs(desk)
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
    form = {"cells": f"{ids['perfect']},{ids['biased']}", "ticked": [ids["always-A"]]}
    said = tab.act(act("set", form, name="ticked"))
    assert "perfect beats biased by " in said
    assert f'value="{ids["always-A"]}" checked' in said
    assert f'value="{ids["perfect"]}" checked' not in said
    assert f"cells={ids['perfect']},{ids['biased']}" in address(said)


# ---------------------------------------------------------------- the figures


def test_the_sentence_comes_first_with_its_test(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["biased"], ids["perfect"])
    assert "<h1>perfect beats biased by " in said
    assert "p &lt; .001, paired on the same 32 questions." in said
    assert said.index("<h1>") < said.index("<table")
    said = page(tab, ids["always-A"], ids["perfect"])
    assert "<h1>perfect is ahead of always-A by 100" in said


def test_two_models_have_a_row_for_each_measure_with_both_figures(
    tab: CompareTab, ids: dict[str, str]
):
    said = page(tab, ids["perfect"], ids["always-A"])
    rows = said.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    names = ["Robust accuracy", "Accuracy", "Mean over orders"]
    assert [name for name, row in zip(names, rows, strict=False) if name in row] == names
    assert "32 : 0" in rows[0]
    assert "24 : 0" in rows[1]  # always-A is right on every fourth question as written
    assert [f"{n}<small>" in rows[1] for n in ("+75", "100", "25")] == [True] * 3


def test_three_models_have_a_row_for_each_pair_and_links_to_its_questions(
    tab: CompareTab, ids: dict[str, str]
):
    said = page(tab, *ids.values())
    rows = said.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    # The widest difference first: perfect against always-A, on which all questions differ.
    assert "over always-A" in rows[0]
    assert "32 differ" in rows[0]
    assert f"pair={ids['perfect']}-{ids['always-A']}" in rows[0].replace("&amp;", "&")
    assert sections(said)["Each model alone"] == (
        "perfect is highest with 100 %, always-A lowest with 0 %."
    )
    assert "<h1>perfect beats all others, the next, biased, by " in said


def test_a_model_no_better_than_guessing_wins_nothing(desk: AppService, tab: CompareTab):
    run_id = run(desk, csv(QUESTIONS), ["always-A", "other-A"])
    told = page(tab, *cells(desk, run_id).values())
    assert "<h1>Neither always-A nor other-A is better than guessing.</h1>" in told
    assert "beats" not in told


def test_what_folds_states_its_finding(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["biased"])
    found = sections(said)
    assert list(found)[:2] == ["How sure is this?", "Where they part"]
    assert found["How sure is this?"].startswith("Very. 32 questions show any difference of ")
    table = said.partition('id="sure"')[2].partition("</details>")[0]
    for head in ("Plausible range", "McNemar mid-p", "p, corrected", "Usually missed below"):
        assert head in table


def test_the_four_counts_add_up_to_the_questions(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["biased"])
    finding = sections(said)["Where they part"]
    ahead, behind, alike = map(int, re.findall(r"\d+", finding))
    assert ahead + behind + alike == QUESTIONS
    table = said.partition('id="parts"')[2].partition("</details>")[0]
    assert [f">{n}</td>" in table for n in (alike, ahead, behind)] == [True] * 3


def test_one_model_of_two_runs_has_two_names_and_no_difference(
    tab: CompareTab, desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = page(tab, ids["perfect"], cells(desk, both[1])["perfect"])
    assert "<h1>perfect (Spring) and perfect (Autumn) are equal on each of 32 questions." in said
    assert "By this figure they do not differ on any question." in said


def test_few_questions_are_tested_too(tmp_path: Path):
    desk = open_desk(tmp_path)
    found = cells(desk, run(desk, csv(8), ["perfect", "biased"]))
    said = page(CompareTab(desk, messages("en")), *found.values())
    assert "Under 30 questions" not in said
    assert "McNemar mid-p" in said


def test_another_measure_changes_the_counts_and_the_address(
    tab: CompareTab, ids: dict[str, str], act: MakeAct
):
    form = {
        "cells": f"{ids['perfect']},{ids['always-A']}",
        "measure": "accuracy",
        "page": "1",
        "q": "quiz/3",
    }
    said = tab.act(act("set", form, name="measure"))
    assert "All 24" in said
    assert address(said) == (
        f"tab=compare&cells={ids['perfect']},{ids['always-A']}&measure=accuracy"
    )


def test_mean_over_orders_has_no_right_and_wrong(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], measure="mean_over_orders")
    assert "perfect higher" in said
    assert "perfect higher on 32 questions, always-A on 0; 0 alike." in said
    assert "McNemar mid-p &lt;" not in said


def test_cells_that_cannot_be_compared_have_the_reason(
    tab: CompareTab, desk: AppService, ids: dict[str, str]
):
    other = cells(desk, run(desk, csv(QUESTIONS), ["biased"], pattern="origin", name="Plain"))
    said = page(tab, ids["perfect"], other["biased"])
    assert "biased cannot be compared with perfect: other option orders." in said
    assert "Choose two or more" in said
    with_third = page(tab, ids["perfect"], other["biased"], ids["always-A"])
    assert sections(with_third)["What to know (1)"].endswith("other option orders.")
    assert "perfect is ahead of always-A" in with_third


# ---------------------------------------------------------------- the questions


def listed(said: str) -> list[str]:
    """The ids of the questions in the list."""
    return re.findall(r'<span class="mono id">([^<]*)</span>', said)


def test_a_page_has_twenty_questions(tab: CompareTab, ids: dict[str, str]):
    first = page(tab, ids["perfect"], ids["always-A"])
    assert len(listed(first)) == PAGE_SIZE == 20
    assert "1–20 of 32" in first
    second = page(tab, ids["perfect"], ids["always-A"], page="1")
    assert len(listed(second)) == QUESTIONS - PAGE_SIZE
    assert "21–32 of 32" in second
    assert address(second).endswith("&page=1")


def test_only_the_questions_of_one_side_are_listed(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], only=ids["always-A"])
    assert "No question passes this filter." in said
    assert 'aria-current="true">Only always-A 0' in said
    assert f"only={ids['perfect']}" in said
    assert address(said).endswith(f"&only={ids['always-A']}")


def test_an_unknown_filter_shows_all(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], only="<b>", page="-1")
    assert 'aria-current="true">All 32' in said
    assert "only" not in address(said)
    assert "1–20 of 32" in page(tab, ids["perfect"], ids["always-A"], pair="x", page="x")
    assert "21–32 of 32" in page(tab, ids["perfect"], ids["always-A"], page="99")


def test_a_question_unfolds_with_both_models_in_every_order(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], q="quiz/1")
    detail = said.partition("compare-detail")[2].partition("</li>")[0]
    assert "Question 1?" in detail
    assert [detail.count(f">{word}</th>") for word in ("As written", "Shifted 3")] == [2, 2]
    assert detail.count("Right answer") == 2  # a table for each model
    assert f"cell={ids['perfect']}" in detail
    assert address(said).endswith("&q=quiz%2F1")


def test_questions_in_one_order_have_both_models_as_columns(desk: AppService, tab: CompareTab):
    run_id = run(desk, csv(QUESTIONS), ["perfect", "always-A"], pattern="origin")
    said = page(tab, *cells(desk, run_id).values(), q="quiz/1")
    heads = re.findall(r"<th[^>]*>(.*?)</th>", said.partition("compare-detail")[2])
    assert ["perfect" in heads[1], "always-A" in heads[2]] == [True, True]


def test_an_address_opens_its_question_on_the_page_that_has_it(
    tab: CompareTab, ids: dict[str, str]
):
    said = page(tab, ids["perfect"], ids["always-A"], q="quiz/30")
    assert "21–32 of 32" in said
    assert 'aria-expanded="true"' in said


def test_a_question_on_which_both_agree_is_shown_beside_the_list(
    tab: CompareTab, desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = page(tab, ids["perfect"], cells(desk, both[1])["perfect"], q="quiz/3")
    assert "They do not differ on this question." in said
    assert "Question 3?" in said.partition("compare-detail")[2]


def test_an_unknown_question_is_reported(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, ids["perfect"], ids["always-A"], q="quiz/<999>")
    assert "This comparison has no question quiz/&lt;999&gt;." in said


def test_a_pair_is_chosen_among_several(tab: CompareTab, ids: dict[str, str]):
    said = page(tab, *ids.values(), pair=f"{ids['always-A']}-{ids['biased']}")
    assert f'value="{ids["biased"]}-{ids["always-A"]}" selected' in said
    assert "biased right" in said
    assert f"pair={ids['biased']}-{ids['always-A']}" in address(said)


def test_markers_are_those_of_the_run(desk: AppService, ids: dict[str, str]):
    chosen = compared_cells(
        comparable_runs(desk), [int(ids["biased"]), int(ids["always-A"])], {"always-A"}
    )
    assert [(each.contender.place, each.contender.baseline) for each in chosen] == [
        (1, False),
        (0, True),
    ]


def test_hostile_text_stays_text(tmp_path: Path):
    desk = open_desk(tmp_path)
    name = HOSTILE.replace('"', "").replace(",", "")
    found = cells(
        desk, run(desk, csv(8, first=name), ["perfect", "always-A"], name="<script>x</script>")
    )
    said = page(CompareTab(desk, messages("en")), *found.values(), q="quiz/0")
    assert "&lt;img src=x" in said
    assert "<img" not in said
    assert "<script" not in said


# ---------------------------------------------------------------- whose it is, and when


def test_cells_of_another_user_are_no_such_run(desk: AppService, ids: dict[str, str]):
    with acting_as(Person("somebody-else", "annotator")):
        said = page(CompareTab(desk, messages("en")), ids["perfect"], ids["biased"])
    assert "There is no such run." in said
    assert "perfect" not in said
    assert "Spring" not in said


def test_a_run_of_another_user_is_no_such_run(desk: AppService, both: tuple[str, str]):
    with acting_as(Person("somebody-else", "annotator")):
        said = CompareTab(desk, messages("en")).render({"tab": "compare", "run": both[0]})
    assert "There is no such run." in said


def test_a_run_of_an_address_begins_with_its_first_group(tab: CompareTab, both: tuple[str, str]):
    said = tab.render({"tab": "compare", "run": both[0]})
    assert "perfect beats all others" in said
    assert address(said).startswith(f"run={both[0]}&tab=compare&cells=")
    assert "Tick one more" in tab.render({"tab": "compare", "run": both[1]})


def test_a_run_that_waits_is_reported(desk: AppService, tab: CompareTab):
    form: Form = {
        "uploads": [desk.store_upload([("later.csv", csv(4).encode())])],
        "models": ["perfect"],
        "modes": ["multiple_choice"],
    }
    waiting = desk.start(read_run_form(form))
    said = tab.render({"tab": "compare", "run": waiting})
    queue.delete(desk.database, waiting)
    assert "This run has no finished answers yet." in said


def test_a_run_deleted_in_another_window_is_reported(tmp_path: Path):
    desk = open_desk(tmp_path)
    run_id = run(desk, csv(8), ["perfect", "always-A"])
    found = cells(desk, run_id).values()
    tab = CompareTab(desk, messages("en"))
    assert "Where they part" in page(tab, *found)
    queue.delete(desk.database, run_id)
    assert "There is no such run." in page(tab, *found)


def test_both_languages_tell_it(desk: AppService, ids: dict[str, str]):
    said = page(CompareTab(desk, messages("zh")), ids["perfect"], ids["biased"])
    assert "perfect 比 biased 高" in said
    assert "分歧在哪里" in said


def test_the_sentences_before_the_first_figure_are_short(tab: CompareTab, ids: dict[str, str]):
    for chosen in (list(ids.values()), [ids["perfect"], ids["biased"]]):
        said = page(tab, *chosen)
        head = re.search(r'<h1>(.*?)</h1><p class="support">(.*?)</p>', said)
        assert head
        assert all(len(re.sub(r"<[^>]*>", "", part).split()) <= 16 for part in head.groups())
        assert all(len(finding.split()) <= 14 for finding in sections(said).values())


def test_pairs_are_compared_by_what_is_kept_and_trials_read_of_the_opened_question_only(
    desk: AppService, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []

    def counted(body: bytes, texts: TextReader) -> TrialColumns:
        decoded.append(body)
        return decode_columns(body, texts)

    monkeypatch.setattr(trials, "decode_columns", counted)
    fresh = CompareTab(
        AppService(desk.settings, desk.database).with_sender(current_person), messages("en")
    )
    pair = (ids["perfect"], ids["always-A"])
    assert "○" in page(fresh, *pair)
    assert not decoded
    opened = page(fresh, *pair, q="quiz/1")
    assert len(decoded) == len(pair)
    with desk.database.writing() as connection:
        kept = connection.execute("SELECT * FROM kept_figures").fetchall()
        connection.execute("DELETE FROM kept_figures")
    anew = CompareTab(
        AppService(desk.settings, desk.database).with_sender(current_person), messages("en")
    )
    assert page(anew, *pair, q="quiz/1") == opened
    with desk.database.writing() as connection:
        connection.executemany("INSERT INTO kept_figures VALUES (?, ?, ?, ?)", map(tuple, kept))


def test_cells_of_one_file_share_its_questions(desk: AppService, both: tuple[str, str]) -> None:
    rows = [row for run_id in both for row in read_cells(desk.database, run_id)]
    first, *others = [desk.result(row).samples for row in rows]
    assert others
    assert all(each is first for each in others)
    assert desk.report(both[0], "en").results[0].samples is first


def test_more_orders_than_can_be_drawn_are_counted(desk: AppService) -> None:
    run_id = run(desk, csv(4), ["perfect", "biased"], pattern="all_possible", name="Every order")
    listed = page(CompareTab(desk, messages("en")), *cells(desk, run_id).values())
    assert "24/24" in listed
    assert "of all" in listed
    assert "○" not in listed
