"""What a reader must know before believing a figure."""

from dataclasses import replace

import pytest
from bias_examples import as_sure, cell_result, decided, fond, right, with_probabilities
from overview_examples import BASE, EARLY, LATE, PLACES, RUNS, halting, mute, summary

from evalui.report.analyses.statistics import statistics_blocks
from evalui.report.analyses.warnings import evidence, first_sentence, notes, what_to_know
from evalui.report.blocks import Details, Links, Notes
from evalui.report.render.markdown import as_markdown
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.choice.answer_format import FormatMetrics
from evalui.scoring.comparisons import comparisons
from evalui.types import Cell, Decision, Interval


def _form(**change: object) -> FormatMetrics:
    plain = FormatMetrics(
        n_questions=240,
        n_trials=960,
        readings={},
        format_gap=None,
        mass=None,
        index_hits=0,
        label_text_conflicts=0,
        merged_boundaries=0,
        truncated=0,
    )
    return replace(plain, **change)


def _summary(**change: object) -> Summary:
    form = change.pop("form", {})
    plain = Summary(
        Cell("d", "m", "generation", "generation", "circular", "s"),
        "done",
        "",
        questions=240,
        done=960,
        total=960,
        n=240,
        accuracy=Interval(0.6, 0.54, 0.66, 240),
        chance=0.25,
        format=_form(**form),
    )
    return replace(plain, **change)


def _gap(value: float) -> Interval:
    return Interval(value, value, value, 240)


def test_a_sound_cell_needs_no_note():
    assert notes(_summary(), "en") == ()


@pytest.mark.parametrize(
    ("change", "level", "rule", "told"),
    [
        ({"state": "failed", "error": "Out of memory."}, "bad", "failed", "Failed. Out of memory."),
        (
            {"done": 412, "state": "running"},
            "warn",
            "partial",
            "Only 412 of 960 answers are in; fig",
        ),
        ({"done": 412}, "warn", "partial", "412 of 960 answers are in, and no more will come."),
        ({"n": 29}, "warn", "fewer-than-30", "Only 29 questions: read the counts"),
        (
            {"n": 99},
            "info",
            "fewer-than-100",
            "With 99 questions small differences would usually be missed",
        ),
        ({"chance": 0.55}, "warn", "chance", "54–66 % includes chance, 55 %"),
        ({"chance": 0.54}, "warn", "chance", "54–66 % includes chance, 54 %"),
        ({"chance": 0.7}, "warn", "below-chance", "54–66 % lies under chance, 70 %"),
        (
            {"unreadable": 20, "unreadable_origin": 12},
            "warn",
            "unreadable-many",
            "20 of 960 replies unreadable, counted as wrong. "
            "If all were right: 65 % instead of 60 %.",
        ),
        ({"unreadable": 97}, "bad", "unreadable-many", "97 of 960"),
        ({"form": {"format_gap": _gap(0.051)}}, "warn", "format", "Answer format costs 5 points:"),
        ({"form": {"index_hits": 49}}, "warn", "by-number", "5.1 % of replies give a number"),
        ({"form": {"mass": 0.49}}, "bad", "mass", "only 49 % of the probability"),
        ({"form": {"mass": 0.89}}, "warn", "mass-some", "hold 89 % of the probability"),
        ({"ties": 10}, "warn", "ties", "10 of 960 answers tie at the top. They count in part"),
        ({"incomplete": ("a", "b")}, "warn", "incomplete", "not asked in every order: 2."),
        (
            {"clusters": {"a": 0, "b": 0, "c": 0}},
            "warn",
            "repeated-questions",
            "2 of 240 questions repeat another one. Ranges and tests rest on the 238",
        ),
        (
            {
                "clusters": {"a": 0, "b": 0, "c": 0},
                "cell": Cell("d", "m", "generation", "generation", "circular", "s|cluster:page"),
            },
            "info",
            "clustered",
            "The 240 questions form 238 groups by “page”. Ranges and tests rest on the groups.",
        ),
        (
            {"naming": ("a",)},
            "info",
            "naming",
            "above”: 1. They are left out of the robust figures",
        ),
        ({"form": {"near_ties": 40}}, "info", "near-ties", "decided by a tiny margin: 40 of 960."),
        ({"form": {"merged_boundaries": 3}}, "info", "merged", "joined with the question: 3."),
        (
            {"duplicates": ("a", "b")},
            "info",
            "duplicates-text",
            "same text: 2. Equally probable, they count",
        ),
        ({"form": {"truncated": 3}}, "warn", "truncated", "longer than the model's limit: 3."),
    ],
)
def test_what_a_reader_must_know(change: dict[str, object], level: str, rule: str, told: str):
    (note,) = notes(_summary(**change), "en")
    assert (note.level, note.rule) == (level, rule)
    assert told in note.text


@pytest.mark.parametrize(
    "change",
    [
        {"n": 100},
        {"chance": 0.539},
        {"unreadable": 19},
        {"form": {"format_gap": _gap(0.05)}},
        {"form": {"index_hits": 48}},
        {"form": {"mass": 0.9}},
        {"ties": 9},
        {"form": {"near_ties": 19}},
    ],
    ids=str,
)
def test_below_its_threshold_nothing_is_said(change: dict[str, object]):
    assert notes(_summary(**change), "en") == ()


def test_a_cell_that_cannot_run_says_only_why():
    summary = replace(_summary(n=3), state="impossible", error="It gives no probabilities.")
    (note,) = notes(summary, "zh")
    assert (note.level, note.text) == ("info", "不能运行。It gives no probabilities.")


def test_a_cell_at_work_is_not_blamed_for_missing_orders():
    found = notes(_summary(state="running", done=412, incomplete=("a",)), "en")
    assert [note.rule for note in found] == ["partial"]


def test_naming_options_matter_only_where_options_move():
    cell = replace(_summary().cell, pattern="origin")
    assert notes(_summary(cell=cell, naming=("a",)), "en") == ()


def test_the_most_serious_note_comes_first():
    found = notes(_summary(n=50, ties=100, unreadable=300), "en")
    assert [note.level for note in found] == ["bad", "warn", "info"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_real_cell_can_be_told_in_both_languages(make_result, language):
    result = make_result({"q0": [None, None, None, None], "q1": ["tie", 0, 1]}, mass=0.3)
    rules = {note.rule for note in notes(summarise(result), language)}
    assert rules == {"fewer-than-30", "chance", "unreadable-many", "mass", "ties", "incomplete"}


def test_both_the_gap_and_the_numbers_are_told_of_a_format_problem():
    found = notes(_summary(form={"format_gap": _gap(0.08), "index_hits": 96}), "en")
    texts = {note.rule: note.text for note in found}
    assert texts["format-index"] == (
        "Answer format costs 8 points: 10 % of replies give a number where one letter is expected."
    )
    assert "by-number" in texts


def test_few_unreadable_answers_matter_where_the_range_is_narrow():
    # 1 % of the replies is little, unless accuracy is known to half a point.
    summary = _summary(unreadable=130, done=13000, total=13000, form={"n_trials": 13000})
    assert notes(summary, "en") == ()
    narrow = replace(summary, accuracy=Interval(0.6, 0.592, 0.608, 13000), n=13000)
    assert [note.rule for note in notes(narrow, "en")] == ["unreadable-many"]


def _told(summary: Summary, language: str = "en") -> dict[str, str]:
    return {note.rule: note.text for note in notes(summary, language)}


def test_a_spread_that_even_an_unbiased_model_has_is_told_of_few_questions():
    told = _told(summarise(cell_result(fond, n=80)))
    assert told["exploratory"].startswith("With 80 questions small differences are missed. Even")
    assert "exploratory" not in _told(summarise(cell_result(fond, n=100)))


@pytest.mark.parametrize(
    ("pattern", "rule"), [("circular", "unbalanced"), ("origin", "unbalanced-origin")]
)
def test_right_answers_that_stand_mostly_at_one_letter_are_told(make_result, pattern, rule):
    picks = {f"q{i}": "right" for i in range(100)}
    targets = {f"q{i}": 0 if i < 45 else 1 + i % 3 for i in range(100)}
    uneven = summarise(make_result(picks, targets=targets, pattern=pattern))
    assert "45 % of right answers stand at A" in _told(uneven)[rule]
    assert _told(summarise(make_result(picks, pattern=pattern))) == {}


def test_ten_questions_are_not_called_unbalanced(make_result):
    few = make_result({f"q{i}": "right" for i in range(10)}, targets={f"q{i}": 0 for i in range(9)})
    assert set(_told(summarise(few))) == {"fewer-than-30"}


def test_what_can_be_answered_without_its_question_is_told():
    blind = summarise(cell_result(right, mode="choices_only"))
    assert (
        "100.0 % right from the options alone, without the question (p < .001)"
        in _told(blind)["choices-only"]
    )
    assert "只看选项即可答对" in _told(blind, "zh")["choices-only"]
    assert "choices-only" not in _told(summarise(cell_result(right)))


def test_guessing_without_the_question_is_as_it_should_be():
    blind = summarise(cell_result(lambda *_: 0, mode="choices_only"))
    assert _told(blind) == {}
    assert "chance" in _told(summarise(cell_result(lambda *_: 0)))


def test_a_prior_that_hurts_is_told():
    summary = summarise(with_probabilities(cell_result(fond)))
    prior = summary.main_bias.prior

    def changed(before: float, after: float) -> Summary:
        stratum = replace(
            summary.main_bias, prior=replace(prior, rstd_plain=before, rstd_debiased=after)
        )
        return replace(summary, bias=replace(summary.bias, strata=(stratum,)))

    assert "spreads wider (2.1 to 5.3 points)" in _told(changed(2.1, 5.3))["debiasing-hurts"]
    assert "debiasing-hurts" not in _told(changed(5.3, 2.1))


@pytest.mark.parametrize(
    ("language", "told"), [("en", "A letter counts as itself"), ("zh", "答字母按该字母计分")]
)
def test_where_letters_are_chosen_the_note_says_what_a_letter_counts(make_result, language, told):
    found = replace(summarise(make_result({"q0": [0], "q1": [1]})), duplicates=("q1",))
    (note,) = (note for note in notes(found, language) if note.rule == "duplicates")
    assert told in note.text


def test_every_rule_that_can_fire_has_its_words():
    from evalui.report.analyses import warnings as module

    known = set(module._RULES)
    assert known == set(module._VALUES)
    fields = set(evidence(_summary(), _summary().accuracy).__slots__)
    assert {"flips", "single_order", "judge_unreadable", "incompatibilities"} < fields


def test_a_run_at_work_has_no_figure_of_the_floor():
    told = _told(summarise(cell_result(fond, n=80, state="running")))
    assert "fewer-than-100" in told


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
    assert details.finding == "No problems found with these figures."


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


def test_what_a_decision_gives_is_no_mass_of_letters():
    def halved(question: int, order: int, target: int) -> Decision:
        whole = as_sure(0.7, right(question, order, target))
        return replace(whole, probabilities=tuple(each / 2 for each in whole.probabilities))

    cell = summarise(decided(halved))
    assert cell.format is not None
    assert cell.format.mass == pytest.approx(0.5)
    close = replace(cell, format=replace(cell.format, near_ties=cell.format.n_trials))
    assert not {"mass", "mass-some", "near-ties"} & _told(close).keys()
    letters = replace(close, cell=replace(cell.cell, signature="d@1|spell:common"))
    assert {"mass-some", "near-ties"} <= _told(letters).keys()
