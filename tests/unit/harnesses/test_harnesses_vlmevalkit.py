"""Results of VLMEvalKit: CircularEval as it computes it, and replies that become runs."""

import base64
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pandas as pd
import pytest
from harness_examples import LOGS, figures_of, imported, report_of
from PIL import Image

from evalui.errors import DataError
from evalui.harnesses.importing import ImportedRun
from evalui.pictures import Mark, ids, parts
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.results import read_results
from evalui.scoring.choice.circular import circular_metrics
from evalui.store.connection import Database
from evalui.store.pictures import read_run_picture
from evalui.store.runs import read_left_out
from evalui.types import LETTERS, CellResult, Reading, Trial

GOLDEN = LOGS.parent / "vlmevalkit" / "mmbench"
MODEL = "seeded-vlm"
# How VLMEvalKit shortens the names of l2-categories.
SHORT = {
    "attribute_reasoning": "AR",
    "coarse_perception": "CP",
    "finegrained_perception (instance-level)": "FP-S",
    "logic_reasoning": "LR",
}


def results_of(database: Database, run: ImportedRun) -> Mapping[str, CellResult]:
    return {each.cell.dataset: each for each in read_results(database, run.run_id)}


def readings_of(dataset: str, trials: Sequence[Trial]) -> Iterator[tuple[Trial, str]]:
    """Each trial with what VLMEvalKit reads in its reply: a letter, Z for none, "" for unknown."""
    readings = json.loads((GOLDEN / f"{dataset}_readings.json").read_text())
    for trial in trials:
        shift = trial.variant.permutation[0]  # the option that a rotation shows first
        yield trial, readings[str(int(trial.sample_id) + 1_000_000 * shift)]


def printed_by(dataset: str) -> Iterator[tuple[str, str, float]]:
    """The figures of VLMEvalKit: the split, the name of the column, the share."""
    with (GOLDEN / MODEL / f"{MODEL}_{dataset}_acc.csv").open() as lines:
        for row in csv.DictReader(lines):
            split = row.pop("split")
            yield from ((split, name, float(share)) for name, share in row.items() if share)


def write_table(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """A file of replies as `to_csv` of pandas writes it, which VLMEvalKit calls."""
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(folder / name, sep="\t", index=False, quoting=csv.QUOTE_ALL)
    return folder


def row(index: int, **more: object) -> dict[str, object]:
    named = {"A": "boat", "B": "lamp", "answer": "A", "prediction": "A"}
    return {"index": index, "question": f"What is in picture {index}?"} | named | more


def without_reply(named: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in named.items() if name != "prediction"}


def png(number: int) -> str:
    """A picture of one colour, in base64."""
    written = io.BytesIO()
    Image.new("RGB", (8, 8), (number, 0, 0)).save(written, "PNG")
    return base64.b64encode(written.getvalue()).decode()


@pytest.mark.parametrize("dataset", ["MMBench_SEEDED", "MMBench_DEV_SEEDED"])
def test_the_same_choices_give_every_figure_of_circular_eval(database: Database, dataset: str):
    result = results_of(database, imported(database, GOLDEN / MODEL))[dataset]
    trials = [
        replace(trial, headline="own", readings={"own": _read(trial, letter)})
        for trial, letter in readings_of(dataset, result.trials)
    ]
    with (GOLDEN / f"{dataset}.tsv").open() as lines:
        questions = {each["index"]: each for each in csv.DictReader(lines, delimiter="\t")}
    n = 0
    for split, column, share in printed_by(dataset):
        ids = {
            index
            for index, each in questions.items()
            if split in ("none", each.get("split"))
            and column in ("Overall", each["category"], SHORT[each["l2-category"]])
        }
        own = [trial for trial in trials if trial.sample_id in ids]
        figure = circular_metrics(own, "circular").values["perf_circular"]
        assert figure == pytest.approx(100 * share, abs=1e-12), (split, column)
        n += 1
    assert n == (27 if dataset == "MMBench_SEEDED" else 14)


def _read(trial: Trial, letter: str) -> Reading:
    choice = LETTERS.index(letter) if letter and letter != "Z" else None
    return Reading(choice, float(choice == trial.target), "vlmevalkit")


def test_clear_replies_give_the_printed_figure(database: Database):
    run = imported(database, GOLDEN / MODEL)
    figure = figures_of(run, "MMBench_DEV_SEEDED")["", "hit"]
    assert figure.printed == 70 / 90
    assert (figure.confirmed, figure.ours) == (True, pytest.approx(70 / 90, abs=1e-15))
    metrics = report_of(database, run).summaries[1].metrics
    assert metrics["perf_circular"] == pytest.approx(7000 / 90)


def test_replies_that_are_read_otherwise_are_those_in_which_vlmevalkit_reads_nothing(
    database: Database,
):
    result = results_of(database, imported(database, GOLDEN / MODEL))["MMBench_SEEDED"]
    other = [
        (letter, trial.choice)
        for trial, letter in readings_of("MMBench_SEEDED", result.trials)
        if _read(trial, letter).choice != trial.choice
    ]
    assert (len(other), len(result.trials)) == (25, 270)
    assert {letter for letter, _ in other} == {""}
    documented = (Path(__file__).parents[3] / "docs/import.md").read_text()
    assert "25 of 270 seeded replies" in " ".join(documented.split())


def test_marks_give_the_printed_figures_of_each_split_and_category(database: Database):
    run = imported(database, GOLDEN / MODEL)
    for dataset in ("MMBench_SEEDED", "MMBench_DEV_SEEDED", "AI2D_SEEDED"):
        figures = figures_of(run, dataset)
        marked = {key: each for key, each in figures.items() if key[1].startswith("hit")}
        assert all(each.confirmed for each in marked.values())
        groups = {key[1].partition(",")[0] for key in figures.keys() - marked.keys()}
        assert groups == (set() if dataset == "AI2D_SEEDED" else set(SHORT.values()))
        assert len(figures) == sum(1 for _ in printed_by(dataset))


def test_rotations_are_orders_of_their_question(database: Database):
    circular = results_of(database, imported(database, GOLDEN / MODEL))["MMBench_SEEDED"]
    assert (circular.cell.pattern, circular.cell.model) == ("circular", MODEL)
    assert (len(circular.samples), len(circular.trials)) == (90, 270)
    question = circular.samples["7"]
    assert question.question == "The picture was taken at noon.\nWhich thing stands in picture 1?"
    orders = {each.variant.permutation for each in circular.trials if each.sample_id == "10"}
    assert orders == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}


def test_the_order_of_a_question_is_that_of_its_own_row(database: Database, tmp_path: Path):
    moved = {"A": "lamp", "B": "boat", "answer": "B"}
    rotation = row(1) | moved | {"index": 1_000_001}
    run = imported(database, write_table(tmp_path / "m", "m_S.tsv", [rotation, row(1)]))
    (result,) = read_results(database, run.run_id)
    assert result.samples["1"].choices == ("boat", "lamp")
    assert [trial.correct for trial in result.trials] == [True, False]


def test_a_large_index_alone_is_no_rotation(database: Database, tmp_path: Path):
    rows = [row(1), row(1_000_002), row(1_000_001, question="Another?")]
    run = imported(database, write_table(tmp_path / "m", "m_S.tsv", rows))
    (result,) = read_results(database, run.run_id)
    assert set(result.samples) == {"1", "1000002", "1000001"}


@pytest.mark.parametrize("suffix", ["tsv", "json"])
def test_other_formats_give_the_same_run(database: Database, suffix: str):
    workbook = results_of(database, imported(database, GOLDEN / MODEL))["AI2D_SEEDED"]
    run = imported(database, GOLDEN / suffix)
    (other,) = read_results(database, run.run_id)
    assert (other.cell.dataset, other.cell.model) == ("AI2D_SEEDED", MODEL)
    assert other.samples == workbook.samples
    assert [trial.reply for trial in other.trials] == [trial.reply for trial in workbook.trials]


def test_a_link_to_a_file_is_that_file(database: Database, tmp_path: Path):
    below = copytree(GOLDEN / "tsv" / MODEL, tmp_path / MODEL / "T20261129_Gabc")
    name = f"{MODEL}_AI2D_SEEDED.tsv"
    (tmp_path / MODEL / name).symlink_to(below / name)
    ((cell, _),) = imported(database, tmp_path).sources
    assert (cell.model, cell.dataset) == (MODEL, "AI2D_SEEDED")


def test_marks_alone_say_what_they_lack(database: Database, tmp_path: Path):
    name = f"{MODEL}_AI2D_SEEDED_exact_matching_result.xlsx"
    (tmp_path / name).write_bytes((GOLDEN / MODEL / name).read_bytes())
    with pytest.raises(DataError, match="the file of replies whose name it continues"):
        imported(database, tmp_path)


def test_marks_belong_to_the_longest_name_that_they_continue(database: Database, tmp_path: Path):
    folder = write_table(tmp_path / "m", "m_MMBench.tsv", [row(1), row(2)])
    write_table(folder, "m_MMBench_V11.tsv", [row(1), row(2, prediction="B")])
    marked = [row(1, hit=1, log=""), row(2, prediction="B", hit=0, log="")]
    write_table(folder, "m_MMBench_V11_exact_matching_result.tsv", marked)
    run = imported(database, folder)
    assert figures_of(run, "MMBench") == {}
    assert figures_of(run, "MMBench_V11")["", "hit"].marked == 0.5


def test_where_no_folder_names_the_model_the_name_of_a_set_does(database: Database, tmp_path: Path):
    folder = write_table(tmp_path / "out", "llava_7b_arc_challenge.tsv", [row(1)])
    ((cell, _),) = imported(database, folder).sources
    assert (cell.model, cell.dataset) == ("llava_7b", "arc_challenge")


def test_a_call_that_failed_is_no_reply(database: Database, tmp_path: Path):
    failed = row(2, prediction="Failed to obtain answer via API.")
    run = imported(database, write_table(tmp_path / "m", "m_S.tsv", [row(1), failed]))
    (result,) = read_results(database, run.run_id)
    assert [trial.sample_id for trial in result.trials] == ["1"]
    (sentence,) = left_out_sentences(read_left_out(database, run.run_id), "en")
    assert "m_S.tsv, 2" in sentence


def test_answers_without_options_are_written_ones(database: Database, tmp_path: Path):
    rows = [
        {"index": 1, "question": "Which sign?", "answer": "['stop', 'halt']", "prediction": "halt"},
        {"index": 2, "question": "How many?", "answer": "3", "prediction": "4"},
    ]
    run = imported(database, write_table(tmp_path / "m", "m_OCRVQA.tsv", rows))
    (result,) = read_results(database, run.run_id)
    assert result.cell.mode == "question_answer"
    assert result.samples["1"].target == ("stop", "halt")
    assert [trial.scores["exact_match"] for trial in result.trials] == [(1.0,), (0.0,)]


@pytest.mark.parametrize("dataset", ["MMBench_SEEDED", "AI2D_SEEDED"])
def test_pictures_are_those_of_the_file_of_questions(database: Database, dataset: str):
    run = imported(database, GOLDEN / MODEL, GOLDEN / f"{dataset}.tsv")
    with (GOLDEN / f"{dataset}.tsv").open() as lines:
        images = {each["index"]: each["image"] for each in csv.DictReader(lines, delimiter="\t")}
    for index, sample in results_of(database, run)[dataset].samples.items():
        mark, _ = parts(sample.question)
        assert isinstance(mark, Mark)
        picture = read_run_picture(database, run.run_id, mark.id, small=False)
        assert picture
        assert picture.body == base64.b64decode(images[index])
    lacking = {cell.dataset for cell, source in run.sources if "pictures" in source.missing}
    assert lacking == {"MMBench_SEEDED", "MMBench_DEV_SEEDED", "AI2D_SEEDED"} - {dataset}


def test_pictures_are_kept_once_for_all_models(database: Database, tmp_path: Path):
    for model, numbers in (("a", (1, 2)), ("b", (2, 3))):
        rows = [row(number) for number in numbers]
        write_table(tmp_path / model, f"{model}_Seen.tsv", rows)
    images = {number: {"image": png(number)} for number in (1, 2, 3)}
    write_table(tmp_path, "Seen.tsv", [without_reply(row(n, **images[n])) for n in images])
    run = imported(database, tmp_path)
    first, second = read_results(database, run.run_id)
    assert first.cell.dataset == second.cell.dataset == "Seen"
    assert len(first.samples) == 3
    for sample in first.samples.values():
        (id_,) = ids((sample.question,))
        assert read_run_picture(database, run.run_id, id_, small=True)


def test_pictures_stand_where_the_question_and_its_options_name_them(
    database: Database, tmp_path: Path
):
    named = {"question": "<image 1> Which is it?", "A": "<image 2>", "B": "<image 3>"}
    folder = write_table(tmp_path / "m", "m_Seen.tsv", [row(1, **named)])
    asked = without_reply(row(1, **named, image=str(list(map(png, (1, 2, 3))))))
    write_table(tmp_path, "Seen.tsv", [asked])
    run = imported(database, folder, tmp_path / "Seen.tsv")
    (result,) = read_results(database, run.run_id)
    sample = result.samples["1"]
    texts = (sample.question, *sample.choices)
    assert [len(ids((text,))) for text in texts] == [1, 1, 1]
    assert len(ids(texts)) == 3
    assert (sample.target, result.trials[0].correct) == (0, True)


def test_a_question_of_another_text_has_no_picture(database: Database, tmp_path: Path):
    folder = write_table(tmp_path / "m", "m_Seen.tsv", [row(1), row(2)])
    asked = [row(1, image=png(1)), row(2, image=png(2), question="Another question?")]
    write_table(tmp_path, "Seen.tsv", list(map(without_reply, asked)))
    run = imported(database, folder, tmp_path / "Seen.tsv")
    (result,) = read_results(database, run.run_id)
    assert ids((result.samples["1"].question,))
    assert result.samples["2"].question == "What is in picture 2?"


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04damaged", b"index\tquestion\tanswer\n1\tWhy?\tA\n", b"[1, 2]", b""]
)
@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "json"])
def test_other_files_are_no_result(database: Database, tmp_path: Path, content: bytes, suffix: str):
    (tmp_path / f"m_S.{suffix}").write_bytes(content)
    with pytest.raises(DataError, match="not a finished run"):
        imported(database, tmp_path)
