"""What was answered once is not computed again."""

from flow_examples import QUESTIONS, TRIALS, Office

from evalui.runs.database.runs import read_run


def test_a_circular_run_after_a_plain_one_pays_only_for_the_new_orders(office: Office) -> None:
    office.queue(pattern="origin")
    office.work_here()
    assert len(office.answered()) == QUESTIONS
    office.queue(pattern="circular")
    office.work_here()
    assert len(office.answered()) == TRIALS
    assert len(set(office.answered())) == TRIALS


def test_a_run_repeated_costs_no_model_call_and_gives_the_same(office: Office) -> None:
    first, second = office.queue(), office.queue()
    office.work_here()
    office.work_here()
    assert len(office.answered()) == TRIALS
    assert office.trials(first) == office.trials(second)


def test_a_longer_run_pays_for_the_new_questions(office: Office) -> None:
    office.queue(n=50)
    office.work_here()
    again = office.queue(n=50)
    office.work_here()
    assert len(office.answered()) == 200
    assert read_run(office.database, again).done == 200
