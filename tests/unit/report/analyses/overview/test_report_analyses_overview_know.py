"""What to know: each thing once, with all that it holds for, the most serious first."""

from dataclasses import replace

from overview_examples import BASE, EARLY, LATE, PLACES, RUNS, fond, halting, mute, right, summary

from evalui.report.analyses.statistics import statistics_blocks
from evalui.report.analyses.warnings import first_sentence, what_to_know
from evalui.report.blocks import Details, Links, Notes
from evalui.report.render.markdown import as_markdown
from evalui.scoring.comparisons import comparisons


def lines(details: Details):
    return next(block.lines for block in details.blocks if isinstance(block, Notes))


def test_what_several_have_stands_once_with_the_gravest_first():
    details = what_to_know(RUNS["some unreadable"], "en", baselines={BASE})
    (line,) = lines(details)
    assert details.name == "What to know (1)"
    assert details.finding == f"{LATE}: 48 of 960 replies unreadable, counted as wrong."
    assert (line.kind, line.subject) == ("warn", LATE)
    assert line.text == (
        "48 of 960 replies unreadable, counted as wrong. "
        "If all were right: 100.0 % instead of 95.0 %. Also: third."
    )
    assert "也" not in details.finding


def test_a_note_leads_to_the_answers_it_is_about():
    details = what_to_know(RUNS["some unreadable"], "en", baselines={BASE}, places=PLACES)
    (line,) = lines(details)
    assert line.link is not None
    assert "sub=samples" in line.link.href
    assert "outcome=unreadable" in line.link.href
    (health,) = next(block.links for block in details.blocks if isinstance(block, Links))
    assert health.href == "results?run=k3f&sub=health"


def test_all_well_is_said_with_a_tick():
    details = what_to_know([summary(halting(5), LATE)], "en", baselines=())
    assert (details.kind, details.name) == ("ok", "What to know")
    assert details.finding == "No problem was found with these figures."


def test_what_was_left_out_is_of_the_run():
    details = what_to_know([summary(right, LATE)], "en", baselines=(), left_out=["Rows: 3."])
    assert details.finding == "The run: Rows: 3."
    assert details.kind is None


def test_that_a_script_guesses_is_no_news():
    details = what_to_know(RUNS["winner"], "en", baselines={BASE})
    assert details.kind == "ok"


def test_what_the_headline_says_is_not_repeated():
    guessing = RUNS["nobody"]
    every = what_to_know(guessing, "en", baselines={BASE})
    rest = what_to_know(guessing, "en", baselines={BASE}, unless=("chance",))
    assert every.finding.startswith(f"{LATE}: Cannot be told apart from guessing")
    assert rest.kind == "ok"


def test_few_questions_are_a_matter_of_the_file():
    details = what_to_know(RUNS["few"], "en", baselines=())
    assert lines(details)[0].subject == "ceval"
    assert len(lines(details)) == 1


def test_modes_are_named_where_there_are_several():
    cells = [summary(mute(3), LATE), summary(fond, LATE, mode="cloze"), summary(right, EARLY)]
    details = what_to_know(cells, "en", baselines=())
    assert details.kind == "bad"
    assert details.finding.startswith(f"{LATE} · reply: 320 of 960 replies unreadable")


def test_the_first_sentence_of_a_text():
    assert first_sentence("Cannot run. It has no 0.5 of it.") == "Cannot run."
    assert first_sentence("不能运行。没有概率。") == "不能运行。"
    assert first_sentence("3.5 % of it") == "3.5 % of it"


def test_a_file_is_small_once_whoever_answered():
    few = RUNS["few"]
    details = what_to_know(few, "en", baselines={few[0].cell.model})
    assert [line.subject for line in lines(details)] == ["ceval"]


def test_before_there_is_a_figure_nothing_is_said_of_it():
    waiting = summary(right, LATE, left=960, state="waiting")
    assert what_to_know([waiting], "en", baselines=(), places=PLACES) is None
    left_out = what_to_know([waiting], "en", baselines=(), left_out=["Rows: 3."])
    assert left_out is not None
    assert left_out.finding == "The run: Rows: 3."


def test_of_several_datasets_the_worst_is_named_and_the_others_are_counted():
    few = [summary(right, LATE, n=n, dataset=f"d{n}") for n in (20, 10, 25)]
    details = what_to_know(few, "en", baselines=())
    assert details is not None
    (line,) = lines(details)
    assert (line.subject, line.text) == (
        "d10",
        "Only 10 questions: read the counts, not the percentages. "
        "The same holds for 2 other datasets.",
    )
    one = what_to_know(few[:2], "en", baselines=())
    assert one is not None
    assert lines(one)[0].text.endswith("The same holds for 1 other dataset.")


def test_models_that_were_asked_with_other_settings_are_named():
    made = [summary(right, name, n=200) for name in ("plain", "chatty", "talking")]
    chats = ("no", "yes", "yes")
    asked = [
        replace(one, cell=replace(one.cell, signature=f"{one.cell.signature}|chat:{chat}"))
        for one, chat in zip(made, chats, strict=True)
    ]
    details = what_to_know(asked, "en", baselines={BASE})
    assert details
    (line,) = lines(details)
    assert line.text == "Asked with other settings than plain: chat:no/yes. Also: talking."
    assert line.subject == "chatty"
    (compared,) = comparisons(asked)
    assert {pair.settings for pair in compared.pairs} == {"chat:no/yes", ""}
    assert "chat:no/yes" in as_markdown(statistics_blocks(asked, compared, "en"))
