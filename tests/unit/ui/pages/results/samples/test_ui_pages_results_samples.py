"""The questions of a finished run of multiple choice, as a page lists and shows them."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from decision_server import DecisionServer
from endpoint_server_examples import MODEL
from ui_choice_examples import new_desk, questions, ran
from ui_examples import GOOD, HOSTILE, MODELS
from ui_samples_examples import link, listed, pager, query, samples, show, step

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.store.runs import read_cells
from evalui.ui.pages.evaluate.spec import form_to_spec

Finished = Callable[..., str]
LETTERS_ONLY = {"models": ["always-A"], "modes": ["multiple_choice"]}


def text(page: str) -> str:
    """What a person reads."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_samples_stand_in_the_frame_of_the_run(desk: AppService, finished: Finished):
    run_id = finished(name="Midterm")
    page = show(desk, run_id)
    assert "<b>Midterm</b>" in page
    assert f'href="results?run={run_id}&amp;sub=bias">Bias' in page
    assert 'aria-current="page">Samples' in page


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, 4),
        ({"outcome": "wrong"}, 3),
        ({"outcome": "right"}, 1),
        ({"outcome": "order_sensitive"}, 4),
        ({"outcome": "unreadable"}, 0),
        ({"find": "norway"}, 1),
        ({"find": "capitals/2"}, 1),
        ({"gold": "3", "picked": "0"}, 4),
        ({"picked": "1"}, 0),
        ({"outcome": "nonsense", "gold": "x", "sort": "x"}, 4),
    ],
)
def test_the_list_holds_what_passes_the_filters(
    desk: AppService, finished: Finished, fields: dict[str, str], shown: int
):
    page = show(desk, finished(**LETTERS_ONLY), fields)
    assert len(listed(page)) == shown
    assert f"{shown} of 4" in page


def test_only_questions_with_the_right_answer_there_are_listed(
    desk: AppService, finished: Finished
):
    page = show(desk, finished(**LETTERS_ONLY, pattern="origin"), {"gold": "3"})
    assert listed(page) == ["capitals/4"]


def test_a_page_of_the_list_has_fifty_and_leads_to_those_beside_it(
    desk: AppService, finished: Finished
):
    run_id = finished(questions(124), **LETTERS_ONLY, pattern="origin")
    first = show(desk, run_id)
    assert len(listed(first)) == 50
    assert "1–50 of 124" in first
    later = pager(first, "Next")
    assert "q" not in later  # on a phone the list is a page of its own
    second = show(desk, run_id, later)
    assert listed(second)[0] == "capitals/50"
    assert "Which colour has number 50?</p>" in second
    assert (step(second, -1)["q"], step(second, 1)["q"]) == ("capitals/49", "capitals/51")
    last = show(desk, run_id, pager(second, "Next"))
    assert "101–124 of 124" in last
    assert pager(last, "Previous") == later
    assert len(listed(show(desk, run_id, {"page": "99"}))) == 24


def test_a_question_far_down_is_listed_with_those_around_it(desk: AppService, finished: Finished):
    run_id = finished(questions(124), **LETTERS_ONLY, pattern="origin")
    shown = show(desk, run_id, {"q": "capitals/77"})
    assert listed(shown)[0] == "capitals/50"
    (current,) = re.findall(r'<a href="([^"]+)" aria-current="true"><span class="q">', shown)
    assert query(current)["q"] == "capitals/77"
    beside = show(desk, run_id, pager(shown, "Previous"))
    assert listed(beside)[0] == "capitals/0"
    assert "Which colour has number 77?</p>" in beside
    assert "page" not in step(beside, 1)


def test_every_question_of_the_list_has_an_address(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"outcome": "wrong", "find": "capital"})
    assert link(page, '<span class="q">Capital of Italy?') == {
        "run": run_id,
        "sub": "samples",
        "cell": "1",
        "q": "capitals/2",
        "outcome": "wrong",
        "find": "capital",
    }


def test_j_and_k_lead_to_the_questions_beside_it(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    first = show(desk, run_id)
    assert (step(first, -1), step(first, 1)["q"]) == ({}, "capitals/2")
    middle = show(desk, run_id, {"q": "capitals/3", "outcome": "wrong"})
    assert [step(middle, by)["q"] for by in (-1, 1)] == ["capitals/2", "capitals/4"]
    assert step(show(desk, run_id, {"q": "capitals/4"}), 1) == {}


def test_from_a_question_that_does_not_match_j_leads_to_the_first_that_does(
    desk: AppService, finished: Finished
):
    page = show(desk, finished(**LETTERS_ONLY), {"q": "capitals/1", "outcome": "wrong"})
    assert "Capital of France?" in page
    assert step(page, 1)["q"] == "capitals/2"


def test_on_a_phone_a_question_stands_alone_where_the_address_names_it(
    desk: AppService, finished: Finished
):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"q": "capitals/2"})
    assert 'class="card qa alone"' in page
    assert "q" not in link(page, "‹ 4 questions")
    assert 'class="card qa"' in show(desk, run_id)


def test_a_question_and_its_options_stand_whole_with_every_order(
    desk: AppService, finished: Finished
):
    page = show(desk, finished(**LETTERS_ONLY), {"q": "capitals/2"})
    assert "Capital of Italy?</p>" in page
    told = text(page)
    for words in ("A. Paris", "B. Rome", "Right answer", "As written", "Shifted 1", "Shifted 3"):
        assert words in told
    heads = re.findall(r'<th scope="col">([^<]*)</th>', page)
    assert heads[:5] == [
        "Options, as in the file",
        "As written",
        "Shifted 1",
        "Shifted 2",
        "Shifted 3",
    ]


def test_a_cell_tells_the_letter_the_pick_and_the_probability(desk: AppService, finished: Finished):
    page = show(desk, finished(**LETTERS_ONLY), {"q": "capitals/2"})
    rome = page.partition("B. Rome")[2].partition("</tr>")[0]
    letters = re.findall(r'class="l">([A-D])', rome)
    assert letters == ["B", "C", "D", "A"]
    assert rome.count('class="pc pick"') == 1
    assert 'A<span class="hidden">, picked</span>' in rome
    assert re.findall(r'class="n">(\d+)<', rome)[-1] == "87"


def test_a_sentence_says_what_the_model_does(desk: AppService, finished: Finished):
    page = show(desk, finished(**LETTERS_ONLY), {"q": "capitals/2"})
    assert "Right in 1 of 4 orders; it takes position A in every order." in page


def test_models_stand_beside_each_other(desk: AppService, finished: Finished):
    run_id = finished(modes=["multiple_choice"])
    page = show(desk, run_id, {"q": "capitals/1", "by": "models"})
    heads = re.findall(r'<th scope="col">.*?</th>', page)
    assert ["biased" in heads[1], "always-A" in heads[2]] == [True, True]
    told = text(page)
    assert "All are right as written; " in told
    assert "Outcome · As written" in told
    assert "In the 4 orders" in told
    other = show(desk, run_id, {"q": "capitals/1", "by": "models", "order": "2"})
    menu = other.partition('<details class="menu"')[2].partition("</details>")[0]
    assert 'aria-current="true">Shifted 2</a>' in menu


def test_every_model_is_told_by_the_letters_of_the_file(desk: AppService, finished: Finished):
    page = show(desk, finished(modes=["multiple_choice"]), {"q": "capitals/2"})
    table = page.partition("Every model on this question")[2].partition("</table>")[0]
    row = table.partition("always-A")[2].partition("</tr>")[0]
    taken = re.findall(r"</svg>([A-D])</span> <span", row)
    assert taken == ["A", "D", "C", "B"]


def test_the_link_of_a_model_keeps_the_question(desk: AppService, finished: Finished):
    page = show(desk, finished(modes=["multiple_choice"]), {"q": "capitals/2"})
    table = page.partition("Every model on this question")[2].partition("</table>")[0]
    cells = [query(href) for href in re.findall(r'<a href="([^"]+)"', table)]
    assert [(cell["cell"], cell["q"]) for cell in cells] == [
        ("1", "capitals/2"),
        ("2", "capitals/2"),
    ]


def test_the_scored_question_is_visible_and_worked_examples_are_folded(
    desk: AppService, finished: Finished
):
    upload = store_upload(
        desk, [("capitals_val.csv", GOOD.encode()), ("capitals_dev.csv", EXAMPLES.encode())]
    )
    run_id = finished(uploads=[upload], shots="1", **LETTERS_ONLY)
    page = show(desk, run_id, {"q": "capitals/2"})
    prompt = page.partition("Prompt, as sent")[2]
    folded = prompt.partition("</details>")[0]
    assert "Instruction and 1 worked example" in folded
    assert "Capital of Spain?" in folded
    assert "Capital of Italy?" not in folded
    assert "Question: Capital of Italy?\nA. Paris" in prompt.partition("</details>")[2]


def test_without_worked_examples_nothing_is_folded(desk: AppService, finished: Finished):
    prompt = show(desk, finished(**LETTERS_ONLY), {"q": "capitals/2"}).partition("Prompt, as")[2]
    assert "<details" not in prompt
    assert "Question: Capital of Italy?\nA. Paris" in prompt


def test_a_decision_is_shown_with_its_question_and_each_option_under_its_key(tmp_path: Path):
    with DecisionServer() as server:
        entry = f'[decider]\nbackend = "openai"\npath = "{MODEL}"\n'
        entry += f'options = {{ base_url = "{server.url}", api = "decision" }}\n'
        desk = new_desk(tmp_path, MODELS + entry)
        run_id = ran(desk, ("capitals.csv", GOOD), models=["decider"], labels="neutral")
        orders = [each for each in server.questions if "Italy" in each.context]
    asked = next(each for each in orders if each.options[0][1] == "Paris")  # as written
    page = show(desk, run_id, {"q": "capitals/2"})
    shown = text(page.partition("Prompt, as sent")[2])
    options = " ".join(f"{key} {text}" for key, text in asked.options)
    assert f"{asked.context} {asked.question} {options}" in shown
    assert not {key for key, _ in asked.options} & {"A", "B", "C", "D"}
    # All are as probable as each other; the server names the first.
    table = text(page.partition("Prompt, as sent")[0])
    keys = [key for key, _ in asked.options]
    assert f"key {keys[0]} tie" in table
    assert all(f"{letter} 25 key {key}" in table for letter, key in zip("ABCD", keys, strict=True))
    assert "option it named A" in table
    assert "exactly one letter" not in table


def test_the_prompt_of_another_order_has_its_own_address(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"q": "capitals/2"})
    shifted = show(desk, run_id, dict(link(page, "Shifted 1")))
    assert "Capital of Italy?\nA. Bern" in shifted.partition("Prompt, as sent")[2]


def test_without_probabilities_only_the_picks_are_shown(desk: AppService, finished: Finished):
    page = show(desk, finished(models=["biased"], modes=["generation"]), {"q": "capitals/2"})
    assert "This model gives no probabilities; the table shows its picks only." in page
    assert 'class="pb"' not in page
    assert 'class="pc pick"' in page


def test_a_cloze_question_shows_every_normalisation(desk: AppService, finished: Finished):
    page = show(desk, finished(models=["biased"], modes=["cloze"]))
    heads = re.findall(r'<th scope="col">([^<]*)</th>', page)
    assert heads[1:6] == [
        "log-probability",
        "minus unconditional",
        "per token",
        "per character",
        "per byte",
    ]
    assert "score of the option under the rule" in page


def test_many_orders_stand_in_pages_of_columns(desk: AppService, finished: Finished):
    file = "id,question,A,B,C,D,E,answer\n1,Which?,a,b,c,d,e,A\n"
    run_id = finished(file, **LETTERS_ONLY, pattern="all_possible")
    page = show(desk, run_id)
    table = page.partition('class="ot wide"')[2].partition("</thead>")[0]
    assert table.count("<th ") == 1 + 24
    assert "97–120 of 120" in page
    last = show(desk, run_id, {"order": "96"})
    assert "Order EDCBA" in last.partition('class="ot wide"')[2].partition("</thead>")[0]


def test_an_address_leaves_out_what_is_as_usual(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    given = {"q": "capitals/2", "outcome": "wrong", "by": "orders", "gold": ""}
    assert step(show(desk, run_id, given), 1) == {
        "run": run_id,
        "sub": "samples",
        "cell": "1",
        "q": "capitals/3",
        "outcome": "wrong",
    }


def test_the_copied_link_names_the_question_and_what_is_seen(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"q": "capitals/2", "by": "models", "outcome": "wrong"})
    (copied,) = re.findall(r'data-copy="([^"]+)"', page)
    assert unescape(copied) == f"../r/{run_id}/q/capitals/2?cell=1&by=models&outcome=wrong"


def test_addresses_of_earlier_versions_still_open_their_question(
    desk: AppService, finished: Finished
):
    page = show(desk, finished(**LETTERS_ONLY), {"sample": "capitals/3"})
    assert "Capital of Norway?</p>" in page


def test_another_filter_begins_at_its_first_question(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = samples(desk, run_id, {"q": "capitals/1", "page": "0", "find": "capital"})
    address = query(page.choose("Outcome of always-A", "wrong"))
    assert address == {"run": run_id, "sub": "samples", "find": "capital", "outcome": "wrong"}
    assert "Capital of Italy?</p>" in show(desk, run_id, address)


def test_what_is_typed_is_added_to_the_other_filters(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    form = {"q": "capitals/1", "outcome": "wrong", "find": "nor"}
    (address,) = re.findall(r'data-find="([^"]+)"', show(desk, run_id, form))
    assert query(address) == {"run": run_id, "sub": "samples", "outcome": "wrong"}


def test_the_link_of_another_model_leads_to_the_same_question(desk: AppService, finished: Finished):
    run_id = finished(modes=["multiple_choice"])
    form = {"q": "capitals/3", "cell": "2", "outcome": "wrong"}
    page = show(desk, run_id, form)
    assert "Capital of Norway?</p>" in page
    assert "Outcome of always-A" in page
    menu = page.partition('<details class="menu"')[2].partition("</details>")[0]
    others = [query(href) for href in re.findall(r'href="([^"]+)"', menu)]
    assert [each["cell"] for each in others] == ["1", "2"]
    assert {(each["q"], each["outcome"]) for each in others} == {("capitals/3", "wrong")}


def test_another_mode_shows_the_same_model_without_the_filters_of_the_first(
    desk: AppService, finished: Finished
):
    run_id = finished(models=["biased", "always-A"], modes=["multiple_choice", "generation"])
    cells = {
        (row.cell.model, row.cell.mode): str(row.id) for row in read_cells(desk.database, run_id)
    }
    letters, replies = (cells["always-A", mode] for mode in ("multiple_choice", "generation"))
    first = samples(desk, run_id, {"cell": letters, "outcome": "right", "order": "1"})
    address = query(first.choose("Questions", replies))
    assert address == {"run": run_id, "sub": "samples", "cell": replies}
    page = show(desk, run_id, address)
    assert "4 of 4" in page
    assert "This model gives no probabilities" in page


def test_what_a_real_model_answered_is_shown_first(desk: AppService, finished: Finished):
    page = show(desk, finished(models=["always-A", "biased"], modes=["multiple_choice"]))
    assert "Outcome of biased" in page


def test_a_filter_that_nothing_passes_offers_to_clear_all(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"find": "nowhere"})
    assert "No questions match." in page
    cleared = show(desk, run_id, dict(link(page, "Clear the filters to see all 4.")))
    assert len(listed(cleared)) == 4


@pytest.mark.parametrize(
    "asked",
    [{"page": "9" * 30}, {"order": "77"}, {"find": "x" * 60_000}],
    ids=["endless list", "unknown order", "endless pattern"],
)
def test_an_address_that_asks_for_nonsense_still_shows_the_samples(
    desk: AppService, finished: Finished, asked: dict[str, str]
):
    assert " of 4</h2>" in show(desk, finished(**LETTERS_ONLY), asked)


def test_an_unknown_question_is_reported(desk: AppService, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = show(desk, run_id, {"q": "999"})
    assert "This run has no question 999." in page
    assert "q" not in link(page, "Show the first one.")


def test_a_run_without_answers_says_so(desk: AppService, form_for: Callable[..., Any]):
    page = show(desk, start_run(desk, form_to_spec(form_for())))
    assert "No answer yet." in page


def test_options_that_name_others_are_shown_in_every_order_with_a_note(
    desk: AppService, finished: Finished
):
    file = "id,question,A,B,C,D,answer\n1,Which?,Paris,Rome,Oslo,Both A and B,A\n"
    page = show(desk, finished(file, **LETTERS_ONLY))
    assert "mean something else in another order" in page.replace("means", "mean")
    assert "Shifted" in page


def test_nothing_in_questions_or_replies_becomes_markup(desk: AppService, finished: Finished):
    cell = HOSTILE.replace('"', '""') + r" ${x} {{ 7 * 7 }} \underline{x}"
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"])
    for part in ("onerror=", "${x} {{ 7 * 7 }}", r"\underline{x}"):
        assert part in show(desk, run_id)
    for form in ({}, {"by": "models"}, {"q": HOSTILE}, {"find": HOSTILE}, {"cell": HOSTILE}):
        page = show(desk, run_id, form)
        assert not re.search("<(img|script|iframe)", page)


EXAMPLES = "id,question,A,B,C,D,answer\n0,Capital of Spain?,Paris,Rome,Madrid,Bern,C\n"


def test_what_a_model_thought_stands_folded_below_its_reply(desk: AppService, finished: Finished):
    run_id = finished()
    assert "What the model thought" not in show(desk, run_id)
    with desk.database.writing() as connection:
        connection.execute("UPDATE trial SET thoughts = 'Is it <A>?'")
    page = show(desk, run_id)
    folded = page.partition("What the model thought before it replied")[2]
    assert folded.partition("</details>")[0].endswith("Is it &lt;A&gt;?</pre>")
