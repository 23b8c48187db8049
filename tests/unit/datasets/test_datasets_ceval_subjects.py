from collections import Counter

from evalui.datasets.ceval_subjects import CATEGORIES, SUBJECTS, subject_metadata


def test_the_categories_have_their_published_sizes() -> None:
    sizes = Counter(subject.category for subject in SUBJECTS.values())
    assert [sizes[category] for category in CATEGORIES] == [20, 10, 11, 11]


def test_eight_subjects_are_hard_and_all_of_them_stem() -> None:
    hard = [subject for subject in SUBJECTS.values() if subject.hard]
    assert len(hard) == 8
    assert {subject.category for subject in hard} == {"stem"}


def test_chinese_names_are_unique() -> None:
    assert len({subject.zh for subject in SUBJECTS.values()}) == 52


def test_an_unknown_subject_has_its_name_only() -> None:
    assert subject_metadata("geology") == {"subject": "geology"}


def test_a_hard_subject_says_so() -> None:
    assert subject_metadata("college_physics") == {
        "subject": "college_physics",
        "subject_zh": "大学物理",
        "ceval_subject": "1",
        "category": "stem",
        "hard": "1",
    }
