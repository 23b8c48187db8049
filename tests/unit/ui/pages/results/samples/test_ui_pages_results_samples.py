"""The questions of a finished run of multiple choice, as a page lists and shows them."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import pytest
from ui_choice_examples import questions
from ui_examples import GOOD, HOSTILE
from ui_samples_examples import ShownSamples

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.store.runs import read_cells
from evalui.ui.pages.evaluate.spec import form_to_spec

Finished = Callable[..., str]
LETTERS_ONLY = {"models": ["always-A"], "modes": ["multiple_choice"]}


@pytest.fixture
def samples(desk: AppService) -> ShownSamples:
    return ShownSamples(desk)


def listed(page: str) -> list[str]:
    """The ids of the questions in the list, in order."""
    part = page.partition('class="questions"')[2].partition("</ul>")[0]
    return [query(href)["q"] for href in re.findall(r'<a href="([^"]+)"', part)]


def query(href: str) -> dict[str, str]:
    named = parse_qs(unescape(href).removeprefix("results?"))
    return {name: values[0] for name, values in named.items()}


def link(page: str, words: str) -> dict[str, str]:
    """Where the link with these words leads."""
    (href,) = re.findall(rf'<a href="([^"]+)"[^>]*>(?:<b>)?{re.escape(words)}', page)
    return query(href)


def leads(samples: ShownSamples, run_id: str, form: Any = None) -> dict[str, dict[str, str]]:
    """Where the links lead that depend on what is open, by their names; no others."""
    links = samples.content(run_id, form).steps.links
    return {name: query(href) for name, href in links.items() if href}


def beside(samples: ShownSamples, run_id: str, form: Any = None) -> tuple[str, str]:
    """The questions to which k and j lead, "" where there is none."""
    links = leads(samples, run_id, form)
    return links.get("previous", {}).get("q", ""), links.get("following", {}).get("q", "")


def text(page: str) -> str:
    """What a person reads."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


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
    samples: ShownSamples, finished: Finished, fields: dict[str, str], shown: int
):
    page = samples.show(finished(**LETTERS_ONLY), fields)
    assert len(listed(page)) == shown
    assert f"{shown} of 4" in page


def test_only_questions_with_the_right_answer_there_are_listed(
    samples: ShownSamples, finished: Finished
):
    page = samples.show(finished(**LETTERS_ONLY, pattern="origin"), {"gold": "3"})
    assert listed(page) == ["capitals/4"]


def test_the_list_grows_by_fifty(samples: ShownSamples, finished: Finished):
    run_id = finished(questions(124), **LETTERS_ONLY, pattern="origin")
    first = samples.show(run_id)
    assert len(listed(first)) == 50
    assert "Show 50 more" in first
    more = leads(samples, run_id)["more"]
    second = samples.show(run_id, {**more})
    assert len(listed(second)) == 100
    assert "Show 24 more" in second
    third = samples.show(run_id, {**leads(samples, run_id, {**more})["more"]})
    assert len(listed(third)) == 124
    assert "more</b>" not in third


def test_a_question_far_down_is_listed_with_those_around_it(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(questions(124), **LETTERS_ONLY, pattern="origin")
    shown = samples.content(run_id, {"q": "capitals/77"})
    assert listed(shown.lines)[0] == "capitals/50"
    assert 'data-line="capitals/77"' in shown.lines
    assert shown.steps.line == "capitals/77"
    assert "Show 50 before" in shown.lines
    assert "Show 24 more" in shown.lines
    links = leads(samples, run_id, {"q": "capitals/77"})
    assert len(listed(samples.show(run_id, {**links["before"]}))) == 100
    assert len(listed(samples.show(run_id, {**links["more"]}))) == 124
    assert {links[name]["q"] for name in ("before", "more")} == {"capitals/77"}


def test_every_question_of_the_list_has_an_address(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = samples.show(run_id, {"outcome": "wrong", "find": "capital"})
    assert link(page, '<span class="q">Capital of Italy?') == {
        "run": run_id,
        "sub": "samples",
        "cell": "1",
        "q": "capitals/2",
        "outcome": "wrong",
        "find": "capital",
    }


def test_j_and_k_lead_to_the_questions_beside_it(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    assert beside(samples, run_id) == ("", "capitals/2")
    middle = {"q": "capitals/3", "outcome": "wrong"}
    assert beside(samples, run_id, middle) == ("capitals/2", "capitals/4")
    assert beside(samples, run_id, {"q": "capitals/4"})[1] == ""


def test_from_a_question_that_does_not_match_j_leads_to_the_first_that_does(
    samples: ShownSamples, finished: Finished
):
    run_id, form = finished(**LETTERS_ONLY), {"q": "capitals/1", "outcome": "wrong"}
    assert "Capital of France?" in samples.show(run_id, form)
    assert beside(samples, run_id, form)[1] == "capitals/2"


def test_the_list_is_the_same_whichever_of_its_questions_is_open(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(**LETTERS_ONLY)
    one, other = (samples.content(run_id, {"q": f"capitals/{number}"}) for number in (2, 3))
    assert one.lines == other.lines
    assert (one.steps.line, other.steps.line) == ("capitals/2", "capitals/3")
    assert one.steps.is_alone
    assert not samples.content(run_id).steps.is_alone


def test_a_question_and_its_options_stand_whole_with_every_order(
    samples: ShownSamples, finished: Finished
):
    page = samples.show(finished(**LETTERS_ONLY), {"q": "capitals/2"})
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


def test_a_cell_tells_the_letter_the_pick_and_the_probability(
    samples: ShownSamples, finished: Finished
):
    page = samples.show(finished(**LETTERS_ONLY), {"q": "capitals/2"})
    rome = page.partition("B. Rome")[2].partition("</tr>")[0]
    letters = re.findall(r'class="l">([A-D])', rome)
    assert letters == ["B", "C", "D", "A"]
    assert rome.count('class="pc pick"') == 1
    assert 'A<span class="hidden">, picked</span>' in rome
    assert re.findall(r'class="n">(\d+)<', rome)[-1] == "87"


def test_a_sentence_says_what_the_model_does(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(**LETTERS_ONLY), {"q": "capitals/2"})
    assert "Right in 1 of 4 orders; it takes position A in every order." in page


def test_models_stand_beside_each_other(samples: ShownSamples, finished: Finished):
    run_id = finished(modes=["multiple_choice"])
    page = samples.show(run_id, {"q": "capitals/1", "by": "models"})
    heads = re.findall(r'<th scope="col">.*?</th>', page)
    assert ["biased" in heads[1], "always-A" in heads[2]] == [True, True]
    told = text(page)
    assert "All are right as written; " in told
    assert "Outcome · As written" in told
    assert "In the 4 orders" in told
    other = samples.show(run_id, {"q": "capitals/1", "by": "models", "order": "2"})
    menu = other.partition('<details class="menu"')[2].partition("</details>")[0]
    assert 'aria-current="true">Shifted 2</a>' in menu


def test_every_model_is_told_by_the_letters_of_the_file(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(modes=["multiple_choice"]), {"q": "capitals/2"})
    table = page.partition("Every model on this question")[2].partition("</table>")[0]
    row = table.partition("always-A")[2].partition("</tr>")[0]
    taken = re.findall(r"</svg>([A-D])</span> <span", row)
    assert taken == ["A", "D", "C", "B"]


def test_the_link_of_a_model_keeps_the_question(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(modes=["multiple_choice"]), {"q": "capitals/2"})
    table = page.partition("Every model on this question")[2].partition("</table>")[0]
    cells = [query(href) for href in re.findall(r'<a href="([^"]+)"', table)]
    assert [(cell["cell"], cell["q"]) for cell in cells] == [
        ("1", "capitals/2"),
        ("2", "capitals/2"),
    ]


def test_the_scored_question_is_visible_and_worked_examples_are_folded(
    samples: ShownSamples, desk: AppService, finished: Finished
):
    upload = store_upload(
        desk, [("capitals_val.csv", GOOD.encode()), ("capitals_dev.csv", EXAMPLES.encode())]
    )
    run_id = finished(uploads=[upload], shots="1", **LETTERS_ONLY)
    page = samples.show(run_id, {"q": "capitals/2"})
    prompt = page.partition("Prompt, as sent")[2]
    folded = prompt.partition("</details>")[0]
    assert "Instruction and 1 worked example" in folded
    assert "Capital of Spain?" in folded
    assert "Capital of Italy?" not in folded
    assert "Question: Capital of Italy?\nA. Paris" in prompt.partition("</details>")[2]


def test_without_worked_examples_nothing_is_folded(samples: ShownSamples, finished: Finished):
    prompt = samples.show(finished(**LETTERS_ONLY), {"q": "capitals/2"}).partition("Prompt, as")[2]
    assert "<details" not in prompt
    assert "Question: Capital of Italy?\nA. Paris" in prompt


def test_the_prompt_of_another_order_has_its_own_address(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = samples.show(run_id, {"q": "capitals/2"})
    shifted = samples.show(run_id, dict(link(page, "Shifted 1")))
    assert "Capital of Italy?\nA. Bern" in shifted.partition("Prompt, as sent")[2]


def test_without_probabilities_only_the_picks_are_shown(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(models=["biased"], modes=["generation"]), {"q": "capitals/2"})
    assert "This model gives no probabilities; the table shows its picks only." in page
    assert 'class="pb"' not in page
    assert 'class="pc pick"' in page


def test_a_cloze_question_shows_every_normalisation(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(models=["biased"], modes=["cloze"]))
    heads = re.findall(r'<th scope="col">([^<]*)</th>', page)
    assert heads[1:6] == [
        "log-probability",
        "minus unconditional",
        "per token",
        "per character",
        "per byte",
    ]
    assert "score of the option under the rule" in page


def test_many_orders_stand_in_pages_of_columns(samples: ShownSamples, finished: Finished):
    file = "id,question,A,B,C,D,E,answer\n1,Which?,a,b,c,d,e,A\n"
    run_id = finished(file, **LETTERS_ONLY, pattern="all_possible")
    page = samples.show(run_id)
    table = page.partition('class="ot wide"')[2].partition("</thead>")[0]
    assert table.count("<th ") == 1 + 24
    assert "97–120 of 120" in page
    last = samples.show(run_id, {"order": "96"})
    assert "Order EDCBA" in last.partition('class="ot wide"')[2].partition("</thead>")[0]


def test_an_address_leaves_out_what_is_as_usual(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    given = {"q": "capitals/2", "outcome": "wrong", "by": "orders", "rows": "50", "gold": ""}
    assert leads(samples, run_id, given)["following"] == {
        "run": run_id,
        "sub": "samples",
        "cell": "1",
        "q": "capitals/3",
        "outcome": "wrong",
    }


def test_the_copied_link_names_the_question_and_what_is_seen(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(**LETTERS_ONLY)
    page = samples.show(run_id, {"q": "capitals/2", "by": "models", "outcome": "wrong"})
    (copied,) = re.findall(r'data-copy="([^"]+)"', page)
    assert unescape(copied) == f"../r/{run_id}/q/capitals/2?cell=1&by=models&outcome=wrong"


def test_addresses_of_earlier_versions_still_open_their_question(
    samples: ShownSamples, finished: Finished
):
    page = samples.show(finished(**LETTERS_ONLY), {"sample": "capitals/3"})
    assert "Capital of Norway?</p>" in page


def test_another_filter_leaves_a_question_that_it_does_not_list(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(**LETTERS_ONLY)
    form = {"q": "capitals/1", "rows": "100"}
    address = samples.changed(run_id, form, outcome="wrong")
    assert address == {"run": run_id, "sub": "samples", "outcome": "wrong"}
    assert "Capital of Italy?</p>" in samples.show(run_id, address)


def test_another_filter_keeps_a_question_that_it_lists(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    address = samples.changed(run_id, {"q": "capitals/3"}, outcome="wrong")
    assert address["q"] == "capitals/3"


def test_what_the_address_has_already_is_no_change(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    form = {"outcome": "wrong", "find": "norway", "rows": "100", "q": "capitals/3"}
    assert samples.changed(run_id, form, outcome="wrong", group="", gold="") == {}
    assert samples.changed(run_id, form, find="norway ") == {}
    assert samples.changed(run_id, form, find="italy")["find"] == "italy"


def test_the_link_of_another_model_leads_to_the_same_question(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(modes=["multiple_choice"])
    form = {"q": "capitals/3", "cell": "2", "outcome": "wrong"}
    page = samples.show(run_id, form)
    assert "Capital of Norway?</p>" in page
    assert "Outcome of always-A" in page
    menu = page.partition('<details class="menu"')[2].partition("</details>")[0]
    others = [query(href) for href in re.findall(r'href="([^"]+)"', menu)]
    assert [each["cell"] for each in others] == ["1", "2"]
    assert {(each["q"], each["outcome"]) for each in others} == {("capitals/3", "wrong")}


def test_another_mode_shows_the_same_model_without_the_filters_of_the_first(
    samples: ShownSamples, finished: Finished, desk: AppService
):
    run_id = finished(models=["biased", "always-A"], modes=["multiple_choice", "generation"])
    cells = {
        (row.cell.model, row.cell.mode): str(row.id) for row in read_cells(desk.database, run_id)
    }
    letters, replies = (cells["always-A", mode] for mode in ("multiple_choice", "generation"))
    assert f'<option value="{replies}">' in samples.show(run_id, {"cell": letters})
    form = {"cell": letters, "outcome": "right"}
    address = samples.changed(run_id, form, group=replies, outcome="right")
    page = samples.show(run_id, address)
    assert "4 of 4" in page
    assert "This model gives no probabilities" in page
    kept = samples.changed(run_id, {**form, "q": "capitals/3"}, group=replies)
    assert "Capital of Norway?</p>" in samples.show(run_id, kept)


def test_what_a_real_model_answered_is_shown_first(samples: ShownSamples, finished: Finished):
    page = samples.show(finished(models=["always-A", "biased"], modes=["multiple_choice"]))
    assert "Outcome of biased" in page


def test_a_filter_that_nothing_passes_offers_to_clear_all(
    samples: ShownSamples, finished: Finished
):
    run_id = finished(**LETTERS_ONLY)
    page = samples.show(run_id, {"find": "nowhere", "rows": "100"})
    assert "No question matches." in page
    cleared = samples.show(run_id, dict(link(page, "Clear the filters to see all 4.")))
    assert len(listed(cleared)) == 4


def test_an_unknown_question_is_reported(samples: ShownSamples, finished: Finished):
    run_id = finished(**LETTERS_ONLY)
    page = samples.show(run_id, {"q": "999"})
    assert "This run has no question 999." in page
    assert "q" not in link(page, "Show the first one.")


def test_a_run_without_answers_says_so(
    samples: ShownSamples, desk: AppService, form_for: Callable[..., Any]
):
    page = samples.show(start_run(desk, form_to_spec(form_for())))
    assert "No answer yet." in page


def test_options_that_name_others_are_shown_in_every_order_with_a_note(
    samples: ShownSamples, finished: Finished
):
    file = "id,question,A,B,C,D,answer\n1,Which?,Paris,Rome,Oslo,Both A and B,A\n"
    page = samples.show(finished(file, **LETTERS_ONLY))
    assert "mean something else in another order" in page.replace("means", "mean")
    assert "Shifted" in page


def test_nothing_in_questions_or_replies_becomes_markup(samples: ShownSamples, finished: Finished):
    cell = HOSTILE.replace('"', '""')
    row = f'"1{cell}","Which? {cell}","{cell}",b,c,d,B,"{cell}"'
    hostile = f"id,question,A,B,C,D,answer,explanation\n{row}\n"
    run_id = finished(hostile, modes=["multiple_choice", "generation"])
    assert "onerror=" in samples.show(run_id)
    for form in ({}, {"by": "models"}, {"q": HOSTILE}, {"find": HOSTILE}, {"cell": HOSTILE}):
        page = samples.show(run_id, form)
        assert not re.search("<(img|script|iframe)", page)


EXAMPLES = "id,question,A,B,C,D,answer\n0,Capital of Spain?,Paris,Rome,Madrid,Bern,C\n"


def test_what_a_model_thought_stands_folded_below_its_reply(
    desk: AppService, samples: ShownSamples, finished: Finished
):
    run_id = finished()
    assert "What the model thought" not in samples.show(run_id)
    with desk.database.writing() as connection:
        connection.execute("UPDATE trial SET thoughts = 'Is it <A>?'")
    page = samples.show(run_id)
    folded = page.partition("What the model thought before it replied")[2]
    assert folded.partition("</details>")[0].endswith("Is it &lt;A&gt;?</pre>")
