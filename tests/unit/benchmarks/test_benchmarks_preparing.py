"""A name becomes files that every part of evalui reads, the same on every machine."""

import json
import shutil
from pathlib import Path

import pytest
from benchmark_examples import HUB, REALDATA, lay_out, published_arc, published_csqa

from evalui.benchmarks.index import find
from evalui.benchmarks.preparing import (
    PreparedBenchmark,
    availability,
    is_benchmark,
    resolve,
    task_data,
)
from evalui.datasets import load
from evalui.errors import DataError, UnknownName
from evalui.settings import Settings


def write(settings: Settings, place: str, rows: list[dict[str, object]]) -> None:
    assert settings.task_data
    path = settings.task_data / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "questions", "shots", "first", "right"),
    [
        ("mmlu", 40, 5, "A lesion causing compression of the facial nerve", "paralysis of the"),
        ("csqa", 40, 5, "A revolving door is convenient", "bank"),
        ("gsm8k", 4, 8, "Tom has 3 apples", "7"),
    ],
)
def test_a_set_is_a_dataset(
    here: Settings, name: str, questions: int, shots: int, first: str, right: str
):
    prepared = resolve(name, here)
    loaded = load(prepared.paths, name=prepared.name)
    dataset = loaded.dataset
    assert (len(dataset.samples), len(dataset.shots)) == (questions, shots)
    assert (prepared.questions, prepared.shots) == (questions, shots)
    assert dataset.kind == prepared.kind
    sample = dataset.samples[0]
    assert sample.question.startswith(first)
    answer = sample.choices[sample.target] if isinstance(sample.target, int) else sample.target[0]
    assert answer.startswith(right)
    assert loaded.n_faults == 0
    assert (
        str(prepared.notes[0]) == f"{find(name).name} has {questions} questions here; "
        f"the published split has {find(name).questions}."
    )


def test_subjects_come_from_the_rows(here: Settings):
    dataset = load(resolve("mmlu", here).paths).dataset
    assert {sample.subject for sample in dataset.samples} == {"anatomy"}


def test_equal_data_give_an_equal_digest_wherever_they_lie(here: Settings, tmp_path: Path):
    first = load(resolve("mmlu", here).paths, name="mmlu").dataset.sha256
    shutil.copytree(HUB, tmp_path / "elsewhere/benchmarks/hub")
    moved = here.model_copy(update={"data_dir": tmp_path / "elsewhere", "task_data": None})
    prepared = resolve("mmlu", moved)
    assert prepared.origin == "fetched"
    assert load(prepared.paths, name="mmlu").dataset.sha256 == first


def test_other_data_give_another_digest(here: Settings):
    first = resolve("gsm8k", here)
    write(here, "openai/gsm8k/main/test.jsonl", [{"question": "1?", "answer": "#### 1"}])
    assert here.task_data
    (here.task_data / "openai/gsm8k/main/test-00000-of-00001.parquet").unlink()
    second = resolve("gsm8k", here)
    assert second.questions == 1
    assert first.paths[0].parent != second.paths[0].parent


def test_a_set_is_written_once(here: Settings):
    stamps = [path.stat().st_mtime_ns for path in resolve("gsm8k", here).paths]
    assert [path.stat().st_mtime_ns for path in resolve("GSM8K", here).paths] == stamps


def test_another_split_may_be_named(here: Settings):
    prepared = resolve("gsm8k:train", here)
    assert (prepared.name, prepared.questions, prepared.shots) == ("gsm8k-train", 8, 0)
    assert prepared.notes == ()
    assert load(prepared.paths).dataset.samples[0].references == ("16",)


def test_rows_that_are_not_as_declared_are_faults_that_are_counted(here: Settings):
    good = {"question": "1?", "answer": "#### 1"}
    write(here, "openai/gsm8k/main/test-0.jsonl", [good] * 30 + [{"question": "no answer"}])
    assert here.task_data
    (here.task_data / "openai/gsm8k/main/test-00000-of-00001.parquet").unlink()
    prepared = resolve("gsm8k", here)
    assert (prepared.questions, prepared.unreadable) == (31, 1)
    assert "no answer among question" in prepared.reason
    loaded = load(prepared.paths)
    assert len(loaded.dataset.samples) == 30
    assert loaded.n_unusable_rows == 1


def test_files_that_are_something_else_are_refused(here: Settings):
    rows = [{"question": f"{n}?", "text": "x"} for n in range(10)]
    write(here, "openai/gsm8k/socratic/test.jsonl", rows)
    assert here.task_data
    (here.task_data / "openai/gsm8k/main/test-00000-of-00001.parquet").unlink()
    write(here, "openai/gsm8k/main/test.jsonl", rows)
    with pytest.raises(DataError, match=r"not laid out .* 10 of 10 rows .* no answer among"):
        resolve("gsm8k", here)


def test_a_split_without_answers_is_refused(here: Settings):
    row = {"activity_label": "a", "ctx": "b", "endings": ["c", "d"], "label": ""}
    write(here, "Rowan/hellaswag/data/test.jsonl", [row])
    with pytest.raises(DataError, match="split “test” of hellaswag has no answers"):
        resolve("hellaswag:test", here)


def test_what_is_not_here_says_what_to_copy_where(settings: Settings, here: Settings):
    with pytest.raises(DataError) as fetched:
        resolve("arc_challenge", settings)
    assert "`evalui benchmarks fetch arc_challenge`" in str(fetched.value)
    assert f"(part: ARC-Challenge) to {settings.data_dir}" in str(fetched.value)
    with pytest.raises(DataError, match=f"to {here.task_data}/allenai/ai2_arc"):
        resolve("arc_challenge", here)


@pytest.mark.parametrize(
    ("name", "message"),
    [("humaneval", "EVALUI_RUN_CODE"), ("mbpp", "EVALUI_RUN_CODE"), ("lambada", "official")],
)
def test_a_set_that_no_model_is_asked_says_why(settings: Settings, name: str, message: str):
    with pytest.raises(DataError, match=message):
        resolve(name, settings)


def test_an_unknown_name_is_none(settings: Settings):
    assert not is_benchmark("law_val.csv")
    with pytest.raises(UnknownName):
        resolve("law_val.csv", settings)


def test_what_is_here_is_told_with_its_files(here: Settings, settings: Settings):
    told = availability(find("mmlu"), task_data(here))
    assert (told.origin, told.files) == ("given", ("all/test-00000-of-00001.parquet",))
    assert told.bytes > 1000
    assert availability(find("mmlu"), task_data(settings)).origin == ""


@pytest.mark.skipif(not (REALDATA / "arc").is_dir(), reason="the published files are not here")
def test_arc_as_published_has_questions_of_three_to_five_options(settings: Settings):
    rows = published_arc()
    lay_out(settings, "allenai/ai2_arc/ARC-Challenge/validation-00000-of-00001.parquet", rows)
    prepared = resolve("ARC_c:validation", settings)
    samples = load(prepared.paths).dataset.samples
    assert (prepared.questions, prepared.unreadable, len(samples)) == (299, 0, 299)
    assert {len(sample.choices) for sample in samples} == {3, 4, 5}
    for sample, row in zip(samples, rows, strict=True):
        choices = row["choices"]
        assert isinstance(choices, dict)
        assert isinstance(sample.target, int)
        right = choices["label"].index(row["answerKey"])
        assert sample.choices[sample.target] == choices["text"][right]


@pytest.mark.skipif(not (REALDATA / "csqa").is_dir(), reason="the published files are not here")
def test_commonsense_as_published_has_the_questions_of_the_index(settings: Settings):
    rows = published_csqa()
    lay_out(settings, "tau/commonsense_qa/data/validation-00000-of-00001.parquet", rows)
    prepared = resolve("csqa", settings)
    samples = load(prepared.paths).dataset.samples
    assert (prepared.questions, prepared.unreadable, len(samples)) == (1221, 0, 1221)
    assert prepared.notes == ()
    for sample, row in zip(samples, rows, strict=True):
        assert isinstance(sample.target, int)
        right = row["choices"]["label"].index(row["answerKey"])
        assert sample.choices == tuple(row["choices"]["text"])
        assert sample.choices[sample.target] == row["choices"]["text"][right]


@pytest.mark.skipif(not (REALDATA / "cmmlu").is_dir(), reason="the published files are not here")
def test_cmmlu_as_published_is_read_from_its_zip(settings: Settings):
    place = settings.data_dir / "benchmarks/hub/haonan-li/cmmlu"
    place.mkdir(parents=True)
    shutil.make_archive(str(place / "cmmlu_v1_0_1"), "zip", REALDATA / "cmmlu")
    dataset = load(resolve("cmmlu", settings).paths).dataset
    assert {sample.subject for sample in dataset.samples} == {"anatomy", "arts", "astronomy"}
    assert (len(dataset.samples), len(dataset.shots)) == (473, 15)
    assert dataset.samples[0].choices == ("卵巢", "前庭大腺", "前庭球", "乳腺")


@pytest.mark.skipif(not (REALDATA / "ceval").is_dir(), reason="the published files are not here")
def test_ceval_as_published_has_its_subjects(settings: Settings):
    place = settings.data_dir / "benchmarks/hub/ceval/ceval-exam"
    for split in ("dev", "val"):
        (place / split).mkdir(parents=True)
        for path in (REALDATA / "ceval").glob(f"*_{split}.csv"):
            shutil.copy(path, place / split)
    prepared = resolve("ceval", settings)
    dataset = load(prepared.paths).dataset
    assert len({sample.subject for sample in dataset.samples}) == 10
    assert (len(dataset.shots), prepared.unreadable) == (50, 0)


@pytest.mark.skipif(not (REALDATA / "mmlu").is_dir(), reason="the published files are not here")
def test_mmlu_as_published_has_no_heads(settings: Settings):
    shutil.copytree(REALDATA / "mmlu", settings.data_dir / "benchmarks/hub/cais/mmlu")
    dataset = load(resolve("mmlu", settings).paths).dataset
    assert (len(dataset.samples), len(dataset.shots)) == (387, 15)
    assert {s.subject for s in dataset.samples} == {"abstract_algebra", "anatomy", "astronomy"}


def test_a_set_under_the_name_of_another_says_so():
    gaokao = find("GaokaoBench")
    made = PreparedBenchmark(
        *("gaokao", gaokao.title, gaokao.stands_for, "test", (), "multiple_choice"),
        *(8, 0, 0, "", 0, "folder", "", ()),
    )
    assert [str(note) for note in made.notes] == [
        "gaokao is Gaokao, the multiple-choice parts of AGIEval here,"
        " and not GAOKAO-Bench of OpenLMLab."
    ]
