"""What the path of a file says of its questions."""

from pathlib import PurePosixPath

import pytest

from evalui.datasets.model import FileRole
from evalui.datasets.opening import role_of, roles_of


@pytest.mark.parametrize(
    ("path", "subject", "split", "name"),
    [
        ("law_val.csv", "law", "val", "law_val.csv"),
        ("law-dev.csv", "law", "dev", "law-dev.csv"),
        ("law.TEST.csv", "law", "test", "law.TEST.csv"),
        ("law_validation.jsonl", "law", "val", "law_validation.jsonl"),
        ("law_train.jsonl", "law", "train", "law_train.jsonl"),
        ("questions.csv", "questions", None, "questions.csv"),
        # The folder counts where the name says nothing, and names the file then.
        ("dev/law.csv", "law", "dev", "dev/law.csv"),
        ("cmmlu_v1_0_1/Test/law.csv", "law", "test", "Test/law.csv"),
        ("set/validation/law.csv", "law", "val", "validation/law.csv"),
        ("set/train/law.csv", "law", "train", "train/law.csv"),
        ("test/stem/law.csv", "law", "test", "test/law.csv"),
        ("data/test/law_dev.csv", "law", "dev", "law_dev.csv"),
        ("set/law.csv", "law", None, "law.csv"),
        # Names that are a split alone: the folder is the subject.
        ("test.csv", "default", "test", "test.csv"),
        ("law/validation.jsonl", "law", "val", "law/validation.jsonl"),
        ("mmlu/law/dev.csv", "law", "dev", "law/dev.csv"),
        ("train/dev.csv", "default", "dev", "dev.csv"),
        # CommonsenseQA's
        ("train_rand_split.jsonl", "default", "train", "train_rand_split.jsonl"),
        ("csqa/dev_rand_split.jsonl", "csqa", "dev", "csqa/dev_rand_split.jsonl"),
        (
            "test_rand_split_no_answers.jsonl",
            "default",
            "test",
            "test_rand_split_no_answers.jsonl",
        ),
    ],
)
def test_names_and_folders_tell_subject_and_split(
    path: str, subject: str, split: str | None, name: str
):
    role = role_of(PurePosixPath(path))
    assert (role.subject, role.split, role.name) == (subject, split, name)


@pytest.mark.parametrize("path", ["law_val.csv", "questions.csv", "set/law_dev.csv"])
def test_what_a_name_says_as_it_always_did_is_no_news(path: str):
    assert not role_of(PurePosixPath(path)).is_new


@pytest.mark.parametrize("path", ["dev/law.csv", "test.csv", "law_train.csv", "a/dev.csv"])
def test_what_was_not_read_in_a_path_before_is_news(path: str):
    assert role_of(PurePosixPath(path)).is_new


def test_subjects_may_have_any_name():
    assert role_of(PurePosixPath("_val.csv")) == FileRole("_val", None, "_val.csv")


@pytest.mark.parametrize("path", ["test/law.csv", "test.csv", "law_train.csv", "a/dev.csv"])
def test_what_is_news_counts_only_beside_another_split(path: str):
    alone = PurePosixPath(path)
    assert roles_of([alone, alone]) == (FileRole(alone.stem, None, alone.name),) * 2
    assert roles_of([alone, PurePosixPath("law_val.csv")])[0] == role_of(alone)
