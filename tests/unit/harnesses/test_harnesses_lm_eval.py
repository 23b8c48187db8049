"""Logs of lm-evaluation-harness: its figures to the printed digit, and what it does not hold."""

import json
from pathlib import Path

import pytest
from harness_examples import choice_line, figures_of, imported, report_of, write_lm_eval

from evalui.errors import DataError
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.runs import read_runs
from evalui.types import Sample, Variant

# What lm_eval 0.4.13 printed, see tests/golden/SOURCES.md.
PRINTED = {
    "letters": {
        ("", "acc,none"): 0.3125,
        ("arithmetic", "acc,none"): 0.375,
        ("geography", "acc,none"): 0.25,
    },
    "texts": {
        ("", "acc,none"): 0.125,
        ("", "acc_norm,none"): 0.125,
        ("", "acc_mutual_info,none"): 0.125,
    },
    "written": {("", "exact_match,strict"): 0.0, ("", "exact_match,flexible"): 0.0},
}


@pytest.mark.parametrize("dataset", list(PRINTED))
def test_the_marks_in_the_log_give_what_lm_eval_printed(database: Database, dataset: str):
    figures = figures_of(imported(database, "lmeval"), dataset)
    assert {key: figure.printed for key, figure in figures.items()} == PRINTED[dataset]
    assert all(figure.confirmed for figure in figures.values())


def test_our_figures_are_equal_where_nothing_ties(database: Database):
    run = imported(database, "lmeval")
    for dataset in ("letters", "texts"):
        for figure in figures_of(run, dataset).values():
            assert (figure.ours, figure.differing) == (figure.printed, 0)


def test_tasks_of_a_group_are_one_dataset_with_subjects(database: Database):
    run = imported(database, "lmeval")
    letters = read_results(database, run.run_id)[0]
    assert letters.cell.dataset == "letters"
    assert {sample.subject for sample in letters.samples.values()} == {"arithmetic", "geography"}
    assert len(letters.samples) == 16


def test_letters_are_read_with_the_texts_that_they_stand_for(database: Database):
    run = imported(database, "lmeval")
    letters = read_results(database, run.run_id)[0]
    sample = letters.samples["letters_geography/0"]
    assert sample.question == "What is the capital of France?"
    assert sample.choices == ("Paris", "Rome", "Madrid", "Berlin")
    assert sample.target == 0
    trial = next(each for each in letters.trials if each.sample_id == sample.id)
    assert set(trial.readings) == {"forced", "tolerant", "strict"}
    assert sum(trial.probabilities) == pytest.approx(1)


def test_scored_texts_have_every_normalisation_but_that_per_token(database: Database):
    run = imported(database, "lmeval")
    texts = read_results(database, run.run_id)[1]
    assert set(texts.trials[0].scores) == {"raw", "un", "ln_char", "ln_byte"}
    assert texts.trials[0].scores["raw"][0] == -47.57395935058594
    assert texts.log
    assert "tokens" in texts.log.missing


def test_the_signature_names_the_harness_and_its_version(database: Database):
    run = imported(database, "lmeval")
    signature = run.sources[0][0].signature
    assert "|harness:lm-eval@0.4.13|" in signature
    assert "|prompt:lm-eval@1.0|" in signature
    assert "|shots:0|" in signature


def test_options_that_disagree_with_the_mark_are_left_out(database: Database, tmp_path: Path):
    lines = [choice_line(0), choice_line(1, target="1")]  # acc says that the first is right
    run = imported(database, write_lm_eval(tmp_path / "m", lines, {"acc,none": 1.0}))
    (left_out,) = run.left_out
    assert (left_out.rule, left_out.rows) == ("log-gold", 1)
    assert left_out.what == "samples_capitals_2026-01-01T00-00-00.0.jsonl:2"
    assert len(read_results(database, run.run_id)[0].trials) == 1


def test_a_target_that_is_a_place_and_a_text_is_decided_by_the_mark(
    database: Database, tmp_path: Path
):
    arguments = [["Q", " 1"], ["Q", " 0"]]
    by_place = choice_line(0, target="0", arguments=arguments, acc=1.0)
    by_text = choice_line(1, target="0", arguments=arguments, acc=0.0)
    run = imported(database, write_lm_eval(tmp_path / "m", [by_place, by_text]))
    samples = read_results(database, run.run_id)[0].samples
    assert [sample.target for sample in samples.values()] == [0, 1]


def test_ties_count_in_part_here_and_the_reason_is_stated(database: Database, tmp_path: Path):
    tied = choice_line(1, filtered_resps=[["-1.0", "False"], ["-1.0", "False"]])
    folder = write_lm_eval(tmp_path / "m", [choice_line(0), tied], {"acc,none": 1.0})
    run = imported(database, folder)
    figure = figures_of(run, "capitals")["", "acc,none"]
    assert (figure.printed, figure.ours) == (1.0, 0.75)
    assert (figure.confirmed, figure.differing, figure.tied) == (True, 1, 1)
    text = str(list(_imported_texts(database, run)))
    assert "In 1 of them options tie" in text


def _imported_texts(database: Database, run: object):
    from evalui.report.analyses.imported import IMPORTED

    return IMPORTED.blocks(report_of(database, run), "en")


def test_several_right_answers_and_damaged_lines_are_left_out(database: Database, tmp_path: Path):
    lines = [choice_line(0), choice_line(1, target=[0, 1]), '{"doc_id": 2, "doc"', choice_line(0)]
    run = imported(database, write_lm_eval(tmp_path / "m", lines))
    rules = {each.rule: each.rows for each in run.left_out}
    assert rules == {"log-several": 1, "log-damaged": 1, "log-again": 1}


def test_sentences_that_prompts_differ_in_are_the_options(database: Database, tmp_path: Path):
    # Winogrande: the same end after another beginning.
    arguments = [
        ["The trophy is too big because the trophy", " is large."],
        ["The trophy is too big because the case", " is large."],
    ]
    run = imported(database, write_lm_eval(tmp_path / "m", [choice_line(0, arguments=arguments)]))
    (sample,) = read_results(database, run.run_id)[0].samples.values()
    assert sample == Sample(
        "0",
        "Capital of France? (0)",
        ("trophy", "case"),
        0,
        {"line": "1"},
    )


def test_results_without_samples_say_how_to_get_them(database: Database, tmp_path: Path):
    folder = write_lm_eval(tmp_path / "m", [choice_line()], {"acc,none": 1.0})
    next(folder.glob("samples_*")).unlink()
    with pytest.raises(DataError, match="--log_samples"):
        imported(database, folder)


def test_samples_without_results_have_no_version_and_say_so(database: Database, tmp_path: Path):
    run = imported(database, write_lm_eval(tmp_path / "llama", [choice_line()]))
    ((cell, source),) = run.sources
    assert (cell.model, source.version, "results" in source.missing) == ("llama", "", True)
    assert "|harness:lm-eval@?|" in cell.signature
    (figure,) = source.figures
    assert (figure.printed, figure.marked) == (None, 1.0)


def test_a_log_without_a_usable_answer_leaves_nothing_behind(database: Database, tmp_path: Path):
    with pytest.raises(DataError, match="several right answers"):
        imported(database, write_lm_eval(tmp_path / "m", [choice_line(0, target=[0, 1])]))
    assert read_runs(database) == []
    assert database.rows("SELECT * FROM dataset") == []


def test_every_trial_is_in_the_order_as_written(database: Database):
    run = imported(database, "lmeval")
    for result in read_results(database, run.run_id):
        orders = {trial.variant for trial in result.trials}
        assert result.cell.pattern == "origin"
        assert all(order.is_origin for order in orders)
        assert orders <= {Variant((0, 1, 2, 3)), Variant(())}


def test_a_mark_that_is_a_share_is_of_several_right_answers(database: Database, tmp_path: Path):
    lines = [choice_line(0), choice_line(1, acc=0.4)]
    run = imported(database, write_lm_eval(tmp_path / "m", lines))
    assert [(each.rule, each.rows) for each in run.left_out] == [("log-several", 1)]


def test_a_task_without_a_usable_answer_is_left_out_of_the_others(
    database: Database, tmp_path: Path
):
    # Lambada: the likelihood of one continuation, which is no reply and has no options.
    folder = write_lm_eval(tmp_path / "m", [choice_line()])
    line = choice_line(arguments=[["The end of the", " story"]], target=" story")
    scores = {"resps": [[["-3.0", "False"]]], "filtered_resps": [["-3.0", "False"]]}
    path = folder / "samples_lambada_2026-01-01T00-00-00.0.jsonl"
    path.write_text(json.dumps(line | scores) + "\n")
    run = imported(database, folder)
    assert [cell.dataset for cell, _ in run.sources] == ["capitals"]
    assert [(each.rule, each.dataset) for each in run.left_out] == [("log-no-answer", "lambada")]
    assert len(database.rows("SELECT * FROM dataset")) == 1


def test_every_reply_of_a_repeated_question_is_kept(database: Database, tmp_path: Path):
    lines = [
        {
            "doc_id": number,
            "doc": {"question": f"{number} + 1?"},
            "target": f"{number + 1}",
            "arguments": {"gen_args_0": {"arg_0": f"{number} + 1?", "arg_1": {"until": []}}},
            "resps": [[f"{number + 1}", f"{number}", f"{number + 1}"]],
            "filtered_resps": [f"{number + 1}"],
            "filter": filter_,
            "metrics": ["exact_match"],
            "exact_match": 1.0,
        }
        for filter_ in ("first", "maj")
        for number in range(4)
    ]
    printed = {"exact_match,first": 1.0, "exact_match,maj": 1.0}
    run = imported(database, write_lm_eval(tmp_path / "m", lines, printed))
    results = read_results(database, run.run_id)
    assert [[trial.reply for trial in one.trials] for one in results] == [
        ["1", "2", "3", "4"],
        ["0", "1", "2", "3"],
        ["1", "2", "3", "4"],
    ]
    assert run.left_out == ()
    figure = figures_of(run, "capitals")["", "exact_match,first"]
    # The mark is of the first reply.
    assert (figure.n, figure.printed, figure.ours, figure.confirmed) == (4, 1.0, 1.0, True)
