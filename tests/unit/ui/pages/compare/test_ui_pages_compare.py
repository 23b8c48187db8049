"""What the Compare page says of two or more cells, and which it refuses."""

import dataclasses
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from store_examples import open_database
from ui_examples import HOSTILE

from evalui.access import Person
from evalui.app.comparisons import (
    MAX_CELLS,
    comparable_runs,
    compared_cells,
    incompatibilities,
    read_ids,
)
from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.results import cell_result, run_report
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.worker.worker import Worker
from evalui.scoring.trial_columns import TextReader, TrialColumns
from evalui.settings import Settings
from evalui.store import queue, trials
from evalui.store.column_blocks import decode_columns
from evalui.store.runs import read_cells
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.compare.comparing import read_shown
from evalui.ui.pages.compare.questions import PAGE_SIZE
from evalui.ui.pages.evaluate.spec import form_to_spec

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
        "uploads": [store_upload(desk, [("quiz.csv", file.encode())])],
        "models": list(models),
        "modes": ["multiple_choice"],
        "pattern": "circular",
        "shots": "0",
    }
    run_id = start_run(desk, form_to_spec(form | fields))
    Worker(desk.database, desk.models.catalog).run_once()
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
def ids(desk: AppService, both: tuple[str, str]) -> dict[str, str]:
    return cells(desk, both[0])


def opened(desk: AppService, form: Form | str, language: Language = "en") -> DrawnPage:
    return DrawnPage("compare", desk, form, language)


def page(desk: AppService, *chosen: str, **form: str) -> DrawnPage:
    """The page at the address of some cells."""
    return opened(desk, {"cells": ",".join(chosen), **form})


def said_of(desk: AppService, *chosen: str, **form: str) -> str:
    """What it shows."""
    return page(desk, *chosen, **form).text


def chosen_in(shown: DrawnPage, label: str) -> list[str]:
    """The words of what is chosen in a list."""
    field = shown.component(label)
    values: list[str] = field.value if isinstance(field.value, list) else [field.value]
    words = {value: word for word, value in field.choices}
    return [words[each] for each in values]


def address(desk: AppService, *chosen: str, **form: str) -> str:
    """The address of that, without what goes without saying."""
    named: Form = {"cells": ",".join(chosen), **form}
    return read_shown(desk, messages("en"), named).query.address


def sections(said: str) -> dict[str, str]:
    """The findings of the sections that fold, by name."""
    found = re.findall(r"<fold[^>]*>(.*?)</fold>", said)
    return dict(unescape(each).split(": ", 1) for each in found)


# ---------------------------------------------------------------- the choice


def test_without_a_finished_run_the_next_step_is_shown(tmp_path: Path):
    said = opened(open_desk(tmp_path), {}).text
    assert "Nothing to compare yet" in said
    assert 'href="evaluate"' in said


def test_runs_are_offered_and_all_that_fits_of_them_is_compared(
    desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    first = opened(desk, {})
    assert "Choose one or more runs to begin" in first.text
    runs = "Several runs"
    assert [each.partition(" ")[0] for each in first.offered(runs)] == ["Autumn", "Spring"]
    assert f'href="compare?run={both[0]}"' in first.text
    assert f'href="compare?run={both[1]}"' not in first.text  # of one model alone
    one = opened(desk, first.choose(runs, [both[1]])[1:])
    assert "Choose one more model" in one.text
    query = one.choose("Runs", [both[1], both[0]])
    autumn = cells(desk, both[1])["perfect"]
    assert query == f"?cells={','.join([autumn, *ids.values()])}"
    several = opened(desk, query[1:])
    assert "cannot be told apart at the top" in several.text
    assert "perfect (Spring)" in several.offered("Models")
    assert several.choose("Runs", [both[0]]) == f"?cells={','.join(ids.values())}"
    assert several.choose("Runs", []) == "?"


def test_a_run_of_other_rules_says_why_nothing_of_it_is_offered(tmp_path: Path):
    desk = open_desk(tmp_path)
    first = run(desk, csv(4), ["perfect"], name="Spring")
    other = run(desk, csv(4), ["perfect"], pattern="origin", name="Plain")
    one = opened(desk, {"run": first})
    assert "Choose one more model" in one.text
    two = opened(desk, one.choose("Runs", [first, other])[1:])
    assert "Plain cannot be compared with perfect: other option orders." in two.text
    assert two.offered("Models") == ["perfect"]
    assert [each.partition(" · ")[2] for each in two.offered("Dataset and mode")] == [
        "letters",
        "letters, circular",
    ]
    group = cells(desk, other)["perfect"]
    assert two.choose("Dataset and mode", group) == f"?runs={first}&cells={group}"


def test_what_is_chosen_stays_when_no_model_is(desk: AppService, both: tuple[str, str]):
    query = opened(desk, {"run": both[0]}).choose("Models", [])
    assert query.startswith(f"?runs={both[0]}&group=")
    none = opened(desk, query[1:])
    assert "Choose two or more models." in none.text
    assert len(none.offered("Models")) == 3
    assert chosen_in(none, "Models") == []


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


def test_an_address_ends_at_the_most_cells_that_a_page_holds():
    assert len(read_ids(",".join(map(str, range(1, 30))))) == MAX_CELLS


def test_models_are_chosen_one_by_one(desk: AppService, ids: dict[str, str]):
    form = {"pair": "x", "only": "y", "measure": "accuracy"}
    two = page(desk, ids["perfect"], ids["biased"], **form)
    assert chosen_in(two, "Models") == ["perfect", "biased"]
    query = two.choose("Models", [ids["perfect"], ids["always-A"], "no cell", "999"])
    assert query == f"?cells={ids['perfect']},{ids['always-A']}&measure=accuracy"


# ---------------------------------------------------------------- the figures


def test_the_sentence_comes_first_with_its_test(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["biased"], ids["perfect"])
    assert "<h1>perfect beats biased by " in said
    assert "p &lt; .001, paired on the same 32 questions." in said
    assert said.index("<h1>") < said.index("<table")
    said = said_of(desk, ids["always-A"], ids["perfect"])
    assert "<h1>perfect is ahead of always-A by 100" in said


def test_two_models_have_a_row_for_each_measure_with_both_figures(
    desk: AppService, ids: dict[str, str]
):
    said = said_of(desk, ids["perfect"], ids["always-A"])
    rows = said.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    names = ["Robust accuracy", "Accuracy", "Mean over orders"]
    assert [name for name, row in zip(names, rows, strict=False) if name in row] == names
    assert "32 : 0" in rows[0]
    assert "24 : 0" in rows[1]  # always-A is right on every fourth question as written
    assert [f"{n}<small>" in rows[1] for n in ("+75", "100", "25")] == [True] * 3


def test_three_models_have_a_row_for_each_pair_and_links_to_its_questions(
    desk: AppService, ids: dict[str, str]
):
    said = said_of(desk, *ids.values())
    rows = said.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    # The widest difference first: perfect against always-A, on which all questions differ.
    assert "over always-A" in rows[0]
    assert "32 differ" in rows[0]
    assert f"pair={ids['perfect']}-{ids['always-A']}" in rows[0].replace("&amp;", "&")
    assert sections(said)["Each model alone"] == (
        "perfect is highest with 100 %, always-A lowest with 0 %."
    )
    assert "<h1>perfect beats all others, the next, biased, by " in said


def test_a_model_no_better_than_guessing_wins_nothing(desk: AppService):
    run_id = run(desk, csv(QUESTIONS), ["always-A", "other-A"])
    told = said_of(desk, *cells(desk, run_id).values())
    assert "<h1>Neither always-A nor other-A is better than guessing.</h1>" in told
    assert "beats" not in told


def test_what_folds_states_its_finding(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["perfect"], ids["biased"])
    found = sections(said)
    assert list(found)[:2] == ["How sure is this?", "Where they part"]
    assert found["How sure is this?"].startswith("Very. 32 questions show any difference of ")
    table = said.partition('id="sure"')[2].partition("</details>")[0]
    for head in ("Only one right", "McNemar mid-p", "p, corrected", "Usually missed below"):
        assert head in table


def test_the_four_counts_add_up_to_the_questions(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["perfect"], ids["biased"])
    finding = sections(said)["Where they part"]
    ahead, behind, alike = map(int, re.findall(r"\d+", finding))
    assert ahead + behind + alike == QUESTIONS
    table = said.partition('id="parts"')[2].partition("</details>")[0]
    assert [f">{n}</td>" in table for n in (alike, ahead, behind)] == [True] * 3


def test_one_model_of_two_runs_has_two_names_and_no_difference(
    desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = said_of(desk, ids["perfect"], cells(desk, both[1])["perfect"])
    assert "<h1>perfect (Spring) and perfect (Autumn) are equal on each of 32 questions." in said
    assert "By this metric they agree on every question." in said


def test_few_questions_are_tested_too(tmp_path: Path):
    desk = open_desk(tmp_path)
    found = cells(desk, run(desk, csv(8), ["perfect", "biased"]))
    said = said_of(desk, *found.values())
    assert "Under 30 questions" not in said
    assert "McNemar mid-p" in said
    assert "exact p" in said


def test_another_measure_changes_the_counts_and_the_address(desk: AppService, ids: dict[str, str]):
    pair = f"{ids['perfect']},{ids['always-A']}"
    query = opened(desk, {"cells": pair, "page": "1", "q": "quiz/3"}).choose("Measure", "accuracy")
    assert query == f"?cells={pair}&measure=accuracy"
    other = opened(desk, query[1:])
    assert "All 24" in other.text
    assert chosen_in(other, "Measure") == ["Accuracy, as written"]


def test_mean_over_orders_has_no_right_and_wrong(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["perfect"], ids["always-A"], measure="mean_over_orders")
    assert "perfect higher" in said
    assert "perfect higher on 32 questions, always-A on 0; 0 alike." in said
    assert "McNemar mid-p &lt;" not in said


def test_cells_that_cannot_be_compared_have_the_reason(desk: AppService, ids: dict[str, str]):
    other = cells(desk, run(desk, csv(QUESTIONS), ["biased"], pattern="origin", name="Plain"))
    said = said_of(desk, ids["perfect"], other["biased"])
    assert "biased cannot be compared with perfect: other option orders." in said
    assert "Choose one more model" in said
    with_third = said_of(desk, ids["perfect"], other["biased"], ids["always-A"])
    assert sections(with_third)["What to know (1)"].endswith("other option orders.")
    assert "perfect is ahead of always-A" in with_third


# ---------------------------------------------------------------- the questions


def listed(said: str) -> list[str]:
    """The ids of the questions in the list."""
    return re.findall(r'<span class="mono id">([^<]*)</span>', said)


def test_a_page_has_twenty_questions(desk: AppService, ids: dict[str, str]):
    first = said_of(desk, ids["perfect"], ids["always-A"])
    assert len(listed(first)) == PAGE_SIZE == 20
    assert "1–20 of 32" in first
    second = said_of(desk, ids["perfect"], ids["always-A"], page="1")
    assert len(listed(second)) == QUESTIONS - PAGE_SIZE
    assert "21–32 of 32" in second
    assert address(desk, ids["perfect"], ids["always-A"], page="1").endswith("&page=1")


def test_only_the_questions_of_one_side_are_listed(desk: AppService, ids: dict[str, str]):
    pair, label = (ids["perfect"], ids["always-A"]), "Questions shown"
    one = page(desk, *pair, only=ids["always-A"])
    assert "No questions match this filter." in one.text
    assert chosen_in(one, label) == ["Only always-A 0"]
    assert address(desk, *pair, only=ids["always-A"]).endswith(f"&only={ids['always-A']}")
    assert one.choose(label, ids["perfect"]).endswith(f"&only={ids['perfect']}")
    assert "only" not in one.choose(label, "")


def test_an_unknown_filter_shows_all(desk: AppService, ids: dict[str, str]):
    pair, form = (ids["perfect"], ids["always-A"]), {"only": "<b>", "page": "-1"}
    every = page(desk, *pair, **form)
    assert chosen_in(every, "Questions shown") == ["All 32"]
    assert "only" not in address(desk, *pair, **form)
    assert "1–20 of 32" in said_of(desk, *pair, pair="x", page="x")
    assert "21–32 of 32" in said_of(desk, *pair, page="99")


def test_a_question_unfolds_with_both_models_in_every_order(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["perfect"], ids["always-A"], q="quiz/1")
    detail = said.partition('class="qtext"')[2]
    assert "Question 1?" in detail
    assert [detail.count(f">{word}</th>") for word in ("As written", "Shifted 3")] == [2, 2]
    assert detail.count("Right answer") == 2  # a table for each model
    assert f"cell={ids['perfect']}" in detail
    shown = address(desk, ids["perfect"], ids["always-A"], q="quiz/1")
    assert shown.endswith("&q=quiz%2F1")


def test_questions_in_one_order_have_both_models_as_columns(desk: AppService):
    run_id = run(desk, csv(QUESTIONS), ["perfect", "always-A"], pattern="origin")
    said = said_of(desk, *cells(desk, run_id).values(), q="quiz/1")
    heads = re.findall(r"<th[^>]*>(.*?)</th>", said.partition('class="qtext"')[2])
    assert ["perfect" in heads[1], "always-A" in heads[2]] == [True, True]


def test_an_address_opens_its_question_on_the_page_that_has_it(
    desk: AppService, ids: dict[str, str]
):
    said = said_of(desk, ids["perfect"], ids["always-A"], q="quiz/30")
    assert "21–32 of 32" in said
    assert 'aria-expanded="true"' in said


def test_a_question_on_which_both_agree_is_shown_beside_the_list(
    desk: AppService, both: tuple[str, str], ids: dict[str, str]
):
    said = said_of(desk, ids["perfect"], cells(desk, both[1])["perfect"], q="quiz/3")
    assert "Their results on this question are equal." in said
    assert "Question 3?" in said.partition('class="qtext"')[2]


def test_an_unknown_question_is_reported(desk: AppService, ids: dict[str, str]):
    said = said_of(desk, ids["perfect"], ids["always-A"], q="quiz/<999>")
    assert "This comparison has no question quiz/&lt;999&gt;." in said


def test_a_pair_is_chosen_among_several(desk: AppService, ids: dict[str, str]):
    named = f"{ids['always-A']}-{ids['biased']}"
    shown = page(desk, *ids.values(), pair=named)
    assert chosen_in(shown, "Pair") == ["biased and always-A"]
    assert "biased right" in shown.text
    assert f"pair={ids['biased']}-{ids['always-A']}" in address(desk, *ids.values(), pair=named)
    key = f"{ids['perfect']}-{ids['biased']}"
    assert shown.choose("Pair", key) == f"?cells={','.join(ids.values())}&pair={key}"


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
    said = said_of(desk, *found.values(), q="quiz/0")
    assert "&lt;img src=x" in said
    assert "<img" not in said
    assert "<script" not in said


# ---------------------------------------------------------------- whose it is, and when


def test_cells_of_another_user_are_no_such_run(desk: AppService, ids: dict[str, str]):
    with acting_as(Person("somebody-else", "annotator")):
        said = said_of(desk, ids["perfect"], ids["biased"])
    assert "There is no such run." in said
    assert "perfect" not in said
    assert "Spring" not in said


def test_a_run_of_another_user_is_no_such_run(desk: AppService, both: tuple[str, str]):
    with acting_as(Person("somebody-else", "annotator")):
        said = opened(desk, {"run": both[0]}).text
    assert "There is no such run." in said


def test_a_run_of_an_address_begins_with_its_first_group(desk: AppService, both: tuple[str, str]):
    said = opened(desk, {"run": both[0]}).text
    assert "perfect beats all others" in said
    assert "Choose one more" in opened(desk, {"run": both[1]}).text


def test_a_run_that_waits_is_reported(desk: AppService):
    form: Form = {
        "uploads": [store_upload(desk, [("later.csv", csv(4).encode())])],
        "models": ["perfect"],
        "modes": ["multiple_choice"],
    }
    waiting = start_run(desk, form_to_spec(form))
    said = opened(desk, {"run": waiting}).text
    queue.delete(desk.database, waiting)
    assert "This run has no finished answers yet." in said


def test_a_run_deleted_in_another_window_is_reported(tmp_path: Path):
    desk = open_desk(tmp_path)
    run_id = run(desk, csv(8), ["perfect", "always-A"])
    found = cells(desk, run_id).values()
    assert "Where they part" in said_of(desk, *found)
    queue.delete(desk.database, run_id)
    assert "There is no such run." in said_of(desk, *found)


def test_both_languages_tell_it(desk: AppService, ids: dict[str, str]):
    said = opened(desk, {"cells": f"{ids['perfect']},{ids['biased']}"}, "zh").text
    assert "perfect 比 biased 高" in said
    assert "分歧在哪里" in said


def test_the_sentences_before_the_first_figure_are_short(desk: AppService, ids: dict[str, str]):
    for chosen in (list(ids.values()), [ids["perfect"], ids["biased"]]):
        said = said_of(desk, *chosen)
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
    fresh = AppService(desk.settings, desk.database).with_sender(current_person)
    pair = (ids["perfect"], ids["always-A"])
    assert "○" in said_of(fresh, *pair)
    assert not decoded
    unfolded = said_of(fresh, *pair, q="quiz/1")
    assert len(decoded) == len(pair)
    with desk.database.writing() as connection:
        kept = connection.execute("SELECT * FROM kept_figures").fetchall()
        connection.execute("DELETE FROM kept_figures")
    anew = AppService(desk.settings, desk.database).with_sender(current_person)
    assert said_of(anew, *pair, q="quiz/1") == unfolded
    with desk.database.writing() as connection:
        connection.executemany("INSERT INTO kept_figures VALUES (?, ?, ?, ?)", map(tuple, kept))


def test_cells_of_one_file_share_its_questions(desk: AppService, both: tuple[str, str]) -> None:
    rows = [row for run_id in both for row in read_cells(desk.database, run_id)]
    first, *others = [cell_result(desk, row).samples for row in rows]
    assert others
    assert all(each is first for each in others)
    assert run_report(desk, both[0], "en").results[0].samples is first


def test_more_orders_than_can_be_drawn_are_counted(desk: AppService) -> None:
    run_id = run(desk, csv(4), ["perfect", "biased"], pattern="all_possible", name="Every order")
    listed = said_of(desk, *cells(desk, run_id).values())
    assert "24/24" in listed
    assert "of all" in listed
    assert "○" not in listed
