"""The way in: what belongs together, what it is called, and what never breaks."""

import codecs
import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalui.datasets import Layout, Limits, LoadResult, load
from evalui.errors import DataError
from evalui.types import DatasetKind, Sample

GOLDEN = Path(__file__).parents[2] / "golden"
HEADER = "id,question,A,B,C,D,answer\n"
ROWS = HEADER + "0,P?,a,b,c,d,A\n1,Q?,a,b,c,d,B\n"
DEV = HEADER + "".join(f"{n},D{n}?,a,b,c,d,C\n" for n in range(5))
BARE = "id,question,A,B,C,D\n0,T?,a,b,c,d\n"


def write(folder: Path, **files: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.csv" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_a_pair_becomes_samples_and_shots(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=DEV))
    dataset = loaded.dataset
    assert (dataset.name, dataset.kind) == ("law", "multiple_choice")
    assert [sample.id for sample in dataset.samples] == ["law/0", "law/1"]
    assert [sample.id for sample in dataset.shots] == [f"law/{n}" for n in range(5)]
    assert (loaded.files, loaded.n_rows) == (("law_dev.csv", "law_val.csv"), 2)
    assert not loaded.notes


def test_faults_of_dev_rows_are_told_but_not_counted_as_scored_rows(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=DEV + "9,D?,a,b,c,d,E\n"))
    assert [(fault.file, fault.line) for fault in loaded.faults] == [("law_dev.csv", 7)]
    assert loaded.n_rows == 2


@pytest.mark.parametrize("empty", ["", "\n", HEADER, "题目,选项,答案\n"])
@pytest.mark.parametrize("split", ["dev", "train"])
def test_there_may_be_no_worked_examples(tmp_path: Path, split: str, empty: str) -> None:
    loaded = load(write(tmp_path, **{"law_val": ROWS, f"law_{split}": empty}))
    assert (len(loaded.dataset.samples), loaded.dataset.shots, loaded.faults) == (2, (), ())
    assert [note.rule for note in loaded.notes] == ["no-worked-examples"]
    with pytest.raises(DataError, match=r"law_val\.csv is empty"):
        load(write(tmp_path, law_val=""))


def test_the_layout_of_the_benchmarks_archive_is_paired_across_folders(tmp_path: Path) -> None:
    archive = tmp_path / "ceval-exam.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for subject in ("law", "logic"):
            packed.writestr(f"dev/{subject}_dev.csv", DEV)
            packed.writestr(f"val/{subject}_val.csv", ROWS)
            packed.writestr(f"test/{subject}_test.csv", BARE)
    loaded = load([archive])
    assert loaded.dataset.name == "ceval-exam"
    assert [sample.id for sample in loaded.dataset.samples] == [
        "law/0",
        "law/1",
        "logic/0",
        "logic/1",
    ]
    assert [note.rule for note in loaded.notes] == ["test-without-answers"] * 2


def test_where_val_and_test_come_together_one_of_them_is_scored(tmp_path: Path) -> None:
    other = HEADER + "0,P?,a,b,c,d,A\n1,R?,a,b,c,d,B\n"
    paths = write(tmp_path, law_val=ROWS, law_test=other, art_test=ROWS.replace("?", "!"))
    loaded = load(paths)
    assert [sample.question for sample in loaded.dataset.samples] == ["P!", "Q!", "P?", "Q?"]
    (note,) = [note for note in loaded.notes if note.rule == "other-split"]
    assert note.params == {"files": "law_test.csv", "split": "val"}
    chosen = load(paths, layout=Layout(split="test"))
    assert [sample.question for sample in chosen.dataset.samples] == ["P!", "Q!", "P?", "R?"]
    assert chosen.dataset.sha256 != loaded.dataset.sha256
    assert load(paths[:1] + paths[2:]).dataset.sha256 == loaded.dataset.sha256


def test_a_split_that_is_not_there_leaves_nothing_to_score(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="law_val"):
        load(write(tmp_path, law_val=ROWS), layout=Layout(split="test"))


def test_the_worked_examples_can_be_scored(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=DEV), layout=Layout(split="dev"))
    assert [sample.question for sample in loaded.dataset.samples][:2] == ["D0?", "D1?"]
    assert loaded.dataset.shots == ()


def test_questions_that_stand_in_several_files_are_named(tmp_path: Path) -> None:
    dev = HEADER + "0,P?,d,c,b,a,D\n" + "".join(f"{n},Q?,e,f,g,h,C\n" for n in range(1, 5))
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=dev))
    (note,) = [note for note in loaded.notes if note.rule == "across-files"]
    assert note.params == {"n": "1", "files": "law_dev.csv, law_val.csv"}


# As CMMLU has it: the row number without a name, the split in the folder alone.
OWN = ",Question,A,B,C,D,Answer\n"
OWN_DEV = OWN + "".join(f"{n},例{n}？,甲,乙,丙,丁,C\n" for n in range(5))
OWN_TEST = OWN + "0,问？,甲,乙,丙,丁,A\n1,答？,甲,乙,丙,丁,B\n"
SUBJECTS = ("anatomy", "arts", "high_school_physics")


def cmmlu(archive: Path, *, above: str = "", splits: Sequence[str] = ("dev", "test")) -> Path:
    texts = {"dev": OWN_DEV, "test": OWN_TEST}
    with zipfile.ZipFile(archive, "w") as packed:
        for subject in SUBJECTS:
            for split in splits:
                packed.writestr(f"{above}{split}/{subject}.csv", texts[split])
                packed.writestr(f"__MACOSX/{above}{split}/._{subject}.csv", b"\0\5\x16\7")
    return archive


@pytest.mark.parametrize("above", ["", "cmmlu_v1_0_1/", "data/test/"])
def test_folders_say_the_split_where_names_do_not(tmp_path: Path, above: str) -> None:
    loaded = load([cmmlu(tmp_path / "cmmlu.zip", above=above)])
    assert (loaded.faults, loaded.notes, loaded.n_rows) == ((), (), 6)
    assert [sample.id for sample in loaded.dataset.samples][:3] == [
        "anatomy_test/1",
        "anatomy_test/2",
        "arts_test/1",
    ]
    shots = Counter(shot.subject for shot in loaded.dataset.shots)
    assert shots == dict.fromkeys(SUBJECTS, 5)
    assert loaded.files[:2] == ("dev/anatomy.csv", "dev/arts.csv")


def test_a_folder_is_read_as_its_archive_is(tmp_path: Path) -> None:
    archive = cmmlu(tmp_path / "cmmlu.zip")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "set")
    one, other = load([archive]).dataset, load([tmp_path / "set"]).dataset
    assert (one.sha256, one.samples, one.shots) == (other.sha256, other.samples, other.shots)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_one_folder_alone_is_scored_as_its_files_are(tmp_path: Path, split: str) -> None:
    loaded = load([cmmlu(tmp_path / "cmmlu.zip", splits=[split])])
    assert len(loaded.dataset.samples) == loaded.n_rows > 0
    assert (loaded.dataset.samples[0].id, loaded.files[0]) == ("anatomy/1", "anatomy.csv")
    assert (loaded.dataset.shots, loaded.notes) == ((), ())


def test_two_files_with_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(cmmlu(tmp_path / "cmmlu.zip")) as packed:
        packed.extractall(tmp_path)
    loaded = load([tmp_path / "dev" / "arts.csv", tmp_path / "test" / "arts.csv"])
    assert (len(loaded.dataset.shots), len(loaded.dataset.samples)) == (5, 2)


def test_subjects_that_c_eval_has_too_are_not_taken_for_its_own(tmp_path: Path) -> None:
    samples = load([cmmlu(tmp_path / "cmmlu.zip")]).dataset.samples
    assert {sample.subject for sample in samples} == set(SUBJECTS)
    assert not any("ceval_subject" in sample.metadata for sample in samples)


def csqa(*answers: str) -> str:
    choices = [{"label": label, "text": f"text {label}"} for label in "ABCDE"]
    return "\n".join(
        json.dumps(
            {"id": f"{n}{answer}", "question": {"stem": "Why?", "choices": choices}}
            | ({"answerKey": answer} if answer else {})
        )
        for n, answer in enumerate(answers)
    )


@pytest.mark.parametrize(
    ("train", "dev", "test"),
    [
        ("train_rand_split", "dev_rand_split", "test_rand_split_no_answers"),
        ("train", "validation", "test"),
    ],
)
def test_a_set_whose_test_answers_are_held_back_is_scored_on_its_validation_rows(
    tmp_path: Path, train: str, dev: str, test: str
) -> None:
    texts = {train: csqa(*"ABCDEA"), dev: csqa(*"EB"), test: csqa("", "", "")}
    for name, text in texts.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    loaded = load(sorted(tmp_path.iterdir()))
    assert [sample.target for sample in loaded.dataset.samples] == [4, 1]
    assert [shot.target for shot in loaded.dataset.shots] == [0, 1, 2, 3, 4, 0]
    assert not loaded.faults
    single = [note for note in loaded.notes if note.rule != "across-files"]
    rules = {note.rule: note.params["file"] for note in single}
    assert rules.pop("test-without-answers") == f"{test}.jsonl"
    assert rules == ({"dev-scored": f"{dev}.jsonl"} if dev.startswith("dev") else {})


def test_the_published_questions_of_commonsense_have_five_options() -> None:
    loaded = load([GOLDEN / "csqa" / "dev_rand_split.jsonl"])
    assert [sample.target for sample in loaded.dataset.samples] == [0, 0, 1, 0]
    assert loaded.dataset.samples[0].choices == (
        "bank",
        "library",
        "department store",
        "mall",
        "new york",
    )


def test_a_train_file_beside_dev_is_left_out(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=DEV, law_train=ROWS))
    assert [note.rule for note in loaded.notes] == ["train-unused"]
    assert (len(loaded.dataset.samples), len(loaded.dataset.shots)) == (2, 5)


def test_a_lone_train_file_is_scored_like_any_file(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_train=ROWS))
    assert ([sample.id for sample in loaded.dataset.samples], loaded.notes) == (
        ["law_train/0", "law_train/1"],
        (),
    )


def test_train_files_are_scored_where_nothing_else_has_questions(tmp_path: Path) -> None:
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("train/law.csv", ROWS)
        packed.writestr("dev/law.csv", ROWS.splitlines()[0])
    loaded = load([archive])
    assert sorted(map(str, loaded.notes)) == [
        "dev/law.csv has no rows, so there are no worked examples; every question is asked without "
        "them (shots 0).",
        "train/law.csv is scored although it is a train file: "
        "there is no val or test file with answers.",
    ]


@pytest.mark.parametrize(("name", "news"), [("law_val", False), ("law_validation", True)])
def test_a_role_that_was_not_read_before_is_part_of_the_hash(
    tmp_path: Path, name: str, news: bool
) -> None:
    before = hashlib.sha256()
    for path in (paths := write(tmp_path, law_dev=DEV, **{name: ROWS})):
        before.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    assert (load(paths).dataset.sha256 != before.hexdigest()) == news


@pytest.mark.parametrize("name", ["csqa", "test_rand_split_no_answers"])
def test_a_file_without_any_answer_says_so_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.jsonl").write_text(csqa("", "", ""))
    with pytest.raises(DataError, match=rf"no questions to score\. {name}\.jsonl has no answers"):
        load([tmp_path / f"{name}.jsonl"])


def test_the_hash_is_that_of_the_files_however_they_come(tmp_path: Path) -> None:
    paths = write(tmp_path / "set", law_val=ROWS, law_dev=DEV)
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in paths:
            packed.write(path, path.name)
    ways = (paths, paths[::-1], [tmp_path / "set"], [archive])
    assert len({load(way).dataset.sha256 for way in ways}) == 1


def test_the_hash_changes_with_content_name_and_layout(tmp_path: Path) -> None:
    (first,) = write(tmp_path, law_val=ROWS)
    (renamed,) = write(tmp_path, logic_val=ROWS)
    hashes = [load([first]).dataset.sha256, load([renamed]).dataset.sha256]
    hashes.append(load([first], layout=Layout(options=("B", "A"))).dataset.sha256)
    first.write_text(ROWS + "\n")
    hashes.append(load([first]).dataset.sha256)
    assert len(set(hashes)) == 4


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["law_val"], "law"),
        (["law_dev", "law_val"], "law"),
        (["questions"], "questions"),
        (["law_val", "logic_val"], "law+1"),
    ],
)
def test_a_dataset_is_called_by_its_subject(tmp_path: Path, files: list[str], name: str) -> None:
    assert load(write(tmp_path, **dict.fromkeys(files, ROWS))).dataset.name == name


def test_a_folder_of_many_gives_its_name_and_the_user_may_give_another(tmp_path: Path) -> None:
    write(tmp_path / "exam", law_val=ROWS, logic_val=ROWS)
    assert load([tmp_path / "exam"]).dataset.name == "exam"
    assert load([tmp_path / "exam"], name="mine").dataset.name == "mine"


@pytest.mark.parametrize("bare", [BARE, HEADER + "0,T?,a,b,c,d,\n"])
def test_test_files_without_answers_alone_are_nothing_to_score(tmp_path: Path, bare: str) -> None:
    with pytest.raises(DataError, match=r"no questions to score\. law_test\.csv has no answers"):
        load(write(tmp_path, law_test=bare, law_dev=DEV))


def test_a_val_file_without_answers_is_a_fault(tmp_path: Path) -> None:
    (fault,) = load(write(tmp_path, law_val=BARE)).faults
    assert (fault.rule, fault.column) == ("missing-column", "answer")


def test_a_lone_dev_file_is_scored_with_a_note(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, law_dev=DEV))
    assert (len(loaded.dataset.samples), loaded.dataset.shots) == (5, ())
    assert [note.rule for note in loaded.notes] == ["dev-scored"]


def test_what_is_missing_for_worked_examples_is_noted(tmp_path: Path) -> None:
    short = HEADER + "0,D?,a,b,c,d,A\n"
    loaded = load(write(tmp_path, law_val=ROWS, law_dev=short, logic_val=ROWS, art_dev=DEV))
    assert sorted((note.rule, *note.params.values()) for note in loaded.notes) == [
        ("few-dev-rows", "law_dev.csv", "1"),
        ("no-dev-file", "logic"),
        ("no-scored-file", "art_dev.csv", "art"),
    ]
    assert {sample.subject for sample in loaded.dataset.shots} == {"law"}


def test_shots_are_found_by_the_subject_column_too(tmp_path: Path) -> None:
    text = "id,question,A,B,answer,subject\n0,P?,a,b,A,law\n1,Q?,a,b,B,logic\n"
    loaded = load(write(tmp_path, train_dev=text, exam_val=text))
    assert [sample.subject for sample in loaded.dataset.shots] == ["law", "logic"]


def test_equal_ids_in_two_files_are_told(tmp_path: Path) -> None:
    text = "id,question,A,B,answer,subject\n7,Q?,a,b,A,law\n"
    (fault,) = load(write(tmp_path, one=text, two=text)).faults
    assert str(fault) == (
        "two.csv, line 2, column id: found “7”, already on line 2 of one.csv, "
        "expected an id of its own"
    )


def test_two_files_of_one_role_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path / folder, law_val=ROWS)
    with pytest.raises(DataError, match=r"law_val\.csv and law_val\.csv are both the val rows"):
        load([tmp_path / "a", tmp_path / "b"])


def mixed(folder: Path) -> Path:
    write(folder, a_val=ROWS)
    (folder / "b.jsonl").write_text('{"query": "Capital?", "response": "Beijing"}\n')
    (folder / "c.jsonl").write_text('{"question": "Discuss.", "capability": "talk"}\n')
    return folder


def test_the_first_of_several_kinds_counts_and_the_others_are_named(tmp_path: Path) -> None:
    loaded = load([mixed(tmp_path / "set")])
    assert (loaded.dataset.kind, loaded.files) == ("multiple_choice", ("a_val.csv",))
    assert loaded.kinds == ("multiple_choice", "general_qa", "subjective")
    assert [note.rule for note in loaded.notes] == ["other-kind", "other-kind"]
    assert str(loaded.notes[0]).startswith("b.jsonl was left out: its questions are of another")


@pytest.mark.parametrize(
    ("kind", "file"),
    [("multiple_choice", "a_val.csv"), ("general_qa", "b.jsonl"), ("subjective", "c.jsonl")],
)
def test_another_kind_can_be_chosen(tmp_path: Path, kind: DatasetKind, file: str) -> None:
    loaded = load([mixed(tmp_path / "set")], layout=Layout(kind=kind))
    assert (loaded.dataset.kind, loaded.files) == (kind, (file,))
    assert len(loaded.kinds) == 3


def test_open_questions_may_be_read_as_the_other_open_kind(tmp_path: Path) -> None:
    path = tmp_path / "essays.csv"
    path.write_text("question\nDiscuss.\n")
    assert load([path]).dataset.kind == "general_qa"
    chosen = load([path], layout=Layout(kind="subjective"))
    assert chosen.dataset.kind == "subjective"
    assert chosen.kinds == ("general_qa", "subjective")


def test_a_kind_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    content = "question,answer\nWhy?,Because.\n"
    reason = r"law\.csv: there are no questions of the kind multiple_choice\. Found: general_qa\."
    with pytest.raises(DataError, match=reason):
        load(write(tmp_path, law=content), layout=Layout(kind="multiple_choice"))


@pytest.mark.parametrize("kind", ["general_qa", "subjective"])
def test_who_forces_questions_with_options_to_be_open_is_told_what_is_read(
    tmp_path: Path, kind: DatasetKind
) -> None:
    loaded = load(write(tmp_path, law=ROWS), layout=Layout(kind=kind))
    assert loaded.dataset.kind == kind
    assert any("question" in str(note) and "answer" in str(note) for note in loaded.notes)


def test_the_choice_of_a_kind_is_not_part_of_the_hash(tmp_path: Path) -> None:
    paths = write(tmp_path, law_val=ROWS)
    chosen = load(paths, layout=Layout(kind="multiple_choice")).dataset.sha256
    assert chosen == load(paths).dataset.sha256


@pytest.mark.parametrize(
    ("layout", "digest"),
    [
        (Layout(), "35b6b726"),
        (Layout(options=("B", "A")), "c2ef8b95"),
    ],
)
def test_the_hash_of_multiple_choice_stays_what_it_was(
    tmp_path: Path, layout: Layout, digest: str
) -> None:
    assert load(write(tmp_path, law_val=ROWS), layout=layout).dataset.sha256[:8] == digest


def test_a_text_file_that_just_lies_there_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "set", law_val=ROWS)
    (tmp_path / "set" / "LICENSE.txt").write_text("All rights reserved.")
    loaded = load([tmp_path / "set"])
    assert loaded.files == ("law_val.csv",)
    assert [note.rule for note in loaded.notes] == ["ignored-files"]


def test_an_encoding_that_had_to_be_recognised_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "law_val.csv"
    path.write_bytes((HEADER + "0,这是什么？,一,二,三,四,A\n").encode("gb18030"))
    assert [str(note) for note in load([path]).notes] == [
        "law_val.csv is not UTF-8; it was read as GB18030."
    ]


def test_more_lines_than_a_server_should_judge_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"law_dev\.csv, law_val\.csv: 9 lines; at most 8 are read"):
        load(write(tmp_path, law_val=ROWS, law_dev=DEV), limits=Limits(lines=8))


def test_an_unknown_table_is_told_which_columns_it_lacks(tmp_path: Path) -> None:
    faults = load(write(tmp_path, sales="month,amount\n1,2\n")).faults
    assert [fault.column for fault in faults] == ["question", "A", "B", "answer"]


def outcome(path: Path) -> LoadResult | str:
    """What was loaded, or the sentence of the refusal; every other error is a bug."""
    try:
        return load([path])
    except DataError as error:
        return str(error)


def check(sample: Sample) -> None:
    assert sample.question
    if isinstance(sample.target, int):
        assert 0 <= sample.target < len(sample.choices)
        assert len(set(sample.choices)) == len(sample.choices) >= 2
    else:
        assert not sample.choices
        assert all(reference.strip() for reference in sample.references)
    str(sample).encode()


_ENDINGS = st.sampled_from([".csv", ".tsv", ".txt", ".jsonl", ".json", ".zip", ".xlsx", ""])
_PIECES = st.sampled_from(
    [
        b"id,question,A,B,answer\n",
        b"question;A;B;answer\n",
        b'{"question": "q", "A": "x", "B": "y", "answer": "A"}\n',
        b'{"question": {"stem": "s", "choices": [{"text": "t", "label": "A"}]}, "answerKey": "A"}',
        b'{"question": [], "choices": {"label": [1, null], "text": {}}, "answerKey": {}}\n',
        b'[{"pattern": "ceval", "dataset": "../..", "subset_list": ["x"]}]',
        b"1,Q?,a,b,A\n",
        b"query,response,history\n",
        b'{"query": "q", "response": ["r", 1, null], "history": [["a", "b"]], "system": "s"}\n',
        b'{"messages": [{"role": "user", "content": "q"}, {"role": "assistant"}]}\n',
        b'{"turns": ["a", "b"], "reference": [{}], "index": 1.0}\n',
        b"question,capability,turns\n",
        b'"',
        b"\r\n",
        b",,,,",
        b"\\ud800",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF8,
        "问题，答案".encode("gb18030"),
    ]
)
_BYTES = st.one_of(
    st.binary(max_size=300), st.lists(st.one_of(_PIECES, st.binary(max_size=9))).map(b"".join)
)


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=_BYTES, ending=_ENDINGS)
@example(data=b',"\n', ending=".csv")
@example(data=b"\v", ending=".csv")
@example(data=b"{}\n", ending=".jsonl")
@example(data=b'{" ": 1}\n', ending=".jsonl")
def test_whatever_the_bytes_they_load_or_are_refused(
    tmp_path: Path, data: bytes, ending: str
) -> None:
    path = tmp_path / f"x{ending}"
    path.write_bytes(data)
    loaded = outcome(path)
    if isinstance(loaded, str):
        assert loaded.endswith(".")
        return
    assert loaded.n_rows >= len(loaded.dataset.samples)
    for sample in loaded.dataset.samples:
        check(sample)


def test_the_questions_of_passages_are_limited_as_rows_are(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"context": "c", "qas": [{"question": "q"}] * 11}]))
    with pytest.raises(DataError, match="11"):
        load([path], limits=Limits(lines=10))
