"""A run's cells go where they belong: choices, answers, judges."""

from open_examples import judge_result, judged_run, rating_result

from evalui.report.compile import compile_report


def test_cells_are_told_apart_by_their_mode(make_result):
    results = [make_result({"q0": "right"}), *judged_run(), rating_result({"late": [9]})]
    found = compile_report("Run", results)
    assert [one.cell.mode for one in found.summaries] == ["generation"]
    assert [one.cell.model for one in found.answers] == ["late", "early", "weak"]
    assert [one.by for one in found.arenas] == ["judge-local"]
    assert [len(one.ratings) for one in found.answers] == [1, 0, 0]


def test_signatures_cover_every_cell(make_result):
    results = [make_result({"q0": "right"}), *judged_run(), rating_result({"late": [9]})]
    found = compile_report("Run", results)
    assert found.signatures == tuple(result.cell.signature for result in results)


def test_the_judging_is_that_of_the_cell():
    result = judge_result(orders="single", conflict="drop")
    (found,) = compile_report("Run", [result]).arenas
    assert (found.orders, found.conflict, found.planned) == ("single", "drop", 36)


def test_a_run_without_open_questions_has_neither_answers_nor_arenas(make_result):
    found = compile_report("Run", [make_result({"q0": "right"})])
    assert (found.answers, found.arenas) == ((), ())
