"""The run that analyses speak of: what kind it is, and who answered."""

from open_examples import answers_result, judged_run

from evalui.report.compile import compile_report


def test_a_run_of_written_answers_alone_has_no_choices(make_result):
    written, choices = judged_run(n=3), make_result({"q0": "right"})
    assert not compile_report("Run", written).has_choices
    assert compile_report("Run", [*written, choices]).has_choices
    assert compile_report("Run", ()).has_choices


def test_models_that_wrote_or_were_judged_stand_in_the_order_of_the_run():
    report = compile_report("Run", [answers_result("weak"), *judged_run(n=3)])
    assert report.answerers == ("weak", "late", "early")


def test_a_figure_is_worked_out_once(make_result):
    report = compile_report("Run", [make_result({"q0": "right"})])
    assert report.summaries is report.summaries
    assert report.in_language("zh").figures is report.figures
