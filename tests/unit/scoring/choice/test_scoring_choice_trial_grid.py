from scoring_examples import asked, tied, trial

from evalui.scoring.choice.trial_grid import ABSENT, TIED, UNREADABLE, trial_grids


def test_each_number_of_options_has_its_own_grid():
    trials = [trial("long", "ABCD", 0, choice=0), trial("short", "ABC", 0, choice=0)]
    tables = trial_grids(trials, "circular")
    assert [(table.n_options, table.ids.tolist()) for table in tables] == [
        (3, ["short"]),
        (4, ["long"]),
    ]


def test_what_was_not_asked_is_absent_and_what_has_no_answer_is_told_apart():
    trials = [
        trial("q", "ABC", 0, choice=None),
        tied("q", "BCA", 1, among=(0, 1)),
    ]
    (table,) = trial_grids([trials[0]], "circular")
    assert table.choice.tolist() == [[UNREADABLE, ABSENT, ABSENT]]
    (table,) = trial_grids([trials[1]], "circular")
    assert table.choice.tolist() == [[ABSENT, TIED, ABSENT]]
    assert table.credit.tolist() == [[0.0, 0.5, 0.0]]


def test_rows_and_columns_do_not_depend_on_the_order_of_the_trials():
    trials = asked("q", 0, {"ABC": 0, "BCA": 1, "CAB": None})
    (table,) = trial_grids(trials, "circular")
    (shuffled,) = trial_grids([trials[2], trials[0], trials[1]], "circular")
    assert table.choice.tolist() == shuffled.choice.tolist() == [[0, 1, UNREADABLE]]
    assert table.target.tolist() == shuffled.target.tolist() == [[0, 1, 2]]


def test_questions_stand_as_they_first_came_even_if_their_trials_are_mixed():
    two = [
        trial("late", "AB", 0, choice=0),
        trial("early", "BA", 1, choice=None),
        trial("late", "BA", 1, choice=0),
    ]
    (table,) = trial_grids(two, "circular")
    assert table.ids.tolist() == ["late", "early"]
    assert table.choice.tolist() == [[0, 0], [ABSENT, UNREADABLE]]
    assert table.target.tolist() == [[0, 1], [ABSENT, 1]]
    assert table.credit.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_orders_outside_the_pattern_are_passed_over_but_their_question_is_known():
    (table,) = trial_grids([trial("q", "BAC", 1, choice=1)], "circular")
    assert table.ids.tolist() == ["q"]
    assert not table.present.any()


def test_of_a_trial_that_comes_twice_the_later_counts():
    (table,) = trial_grids(
        [trial("q", "AB", 0, choice=0), trial("q", "AB", 0, choice=1)], "circular"
    )
    assert table.choice.tolist() == [[1, ABSENT]]


def test_a_question_whose_options_name_others_is_not_reorderable():
    trials = [trial("q", label, 0, choice=0, fixed="naming") for label in ("AB", "BA")]
    (table,) = trial_grids(trials, "circular")
    assert table.complete.tolist() == [True]
    assert table.reorderable.tolist() == [False]
