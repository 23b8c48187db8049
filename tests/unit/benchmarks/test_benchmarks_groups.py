"""What groups a specification may declare, and the groups that benchmarks publish."""

from collections import Counter

import pytest

from evalui.benchmarks.groups import (
    SummaryGroup,
    check_groups,
    declared_groups,
    published_groups,
    published_lists,
)
from evalui.datasets.ceval_subjects import SUBJECTS
from evalui.errors import SpecError
from evalui.runs.spec import RunSpec, read_spec, write_spec

BASE = '{"datasets": ["a.csv"], "models": ["m"], "mode": "cloze", "summary_groups": %s}'
RUN = {"law school": {"law", "logic", "history"}, "sums": {"algebra"}}


def read(groups: str) -> RunSpec:
    return read_spec(BASE % groups)


@pytest.mark.parametrize(
    ("name", "size", "groups"),
    [
        ("ceval", 52, {"STEM": 20, "Social Science": 10, "Humanities": 11, "Other": 11}),
        ("cmmlu", 67, {"STEM": 17, "Humanities": 13, "Social Science": 22, "Other": 15}),
        (
            "mmlu",
            57,
            {
                "STEM": 18,
                "humanities": 13,
                "social sciences": 12,
                "other (business, health, misc.)": 14,
            },
        ),
    ],
)
def test_every_subject_of_a_published_list_is_in_one_category(
    name: str, size: int, groups: dict[str, int]
) -> None:
    known = published_lists()[name]
    assert {group: len(members) for group, members in known.base.items()} == groups
    assert len(known.subjects) == size
    assert set(Counter(known.subjects).values()) == {1}
    assert all({*members} < {*known.subjects} for members in known.more.values())
    assert len(known.groups[f"{known.title} Average"]) == size


def test_the_lists_hold_the_published_subjects() -> None:
    known = published_lists()
    assert list(known) == ["ceval", "cmmlu", "mmlu"]
    assert {*known["ceval"].subjects} == {*SUBJECTS}
    hard = {name for name, subject in SUBJECTS.items() if subject.hard}
    assert {*known["ceval"].more["Hard"]} == hard
    assert len(known["cmmlu"].more["China specific"]) == 15
    assert "traditional_chinese_medicine" in known["cmmlu"].more["China specific"]
    assert "high_school_us_history" in known["mmlu"].base["humanities"]
    assert [each.mean for each in known.values()] == ["macro", "macro", "micro"]


def test_a_name_alone_is_a_published_list_and_reads_back() -> None:
    spec = read('"ceval"')
    assert spec.summary_groups == [SummaryGroup(published="ceval")]
    assert read('["ceval"]') == spec
    assert read_spec(write_spec(spec)) == spec
    names = [group.name for group in declared_groups(spec.summary_groups)]
    assert names == [
        *("C-Eval STEM", "C-Eval Social Science", "C-Eval Humanities", "C-Eval Other"),
        *("C-Eval Hard", "C-Eval Average"),
    ]


def test_a_published_list_takes_another_mean() -> None:
    (given,) = declared_groups([SummaryGroup(published="mmlu", mean="macro")])[:1]
    assert (given.name, given.mean) == ("MMLU STEM", "macro")
    assert declared_groups(published_groups(["mmlu"]))[0].mean == "micro"


def test_the_json_schema_has_the_fields() -> None:
    schema = RunSpec.model_json_schema()
    fields = schema["$defs"]["SummaryGroup"]["properties"]
    assert {"published", "name", "members", "of", "dataset", "mean", "weights"} == {*fields}
    assert "summary_groups" in schema["properties"]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ('"cevil"', "no published groups 'cevil'; there are ceval, cmmlu, mmlu."),
        ('[{"published": "ceval", "name": "x"}]', "says its name itself"),
        ('[{"name": "x"}]', "a name and at least one member"),
        ('[{"name": " ", "members": ["a"]}]', "a name and at least one member"),
        ('[{"name": "x", "members": ["a", "b", "a"]}]', "the member 'a' twice"),
        ('[{"name": "x", "members": ["a"], "of": "datasets", "dataset": "d"}]', "is of datasets"),
        ('[{"name": "x", "members": ["a"], "mean": "micro", "weights": {"a": 1}}]', "leave one"),
        ('[{"name": "x", "members": ["a", "b"], "weights": {"a": 1}}]', "none of its member 'b'"),
        ('[{"name": "x", "members": ["a"], "weights": {"a": 1, "c": 1}}]', "a weight of 'c'"),
        ('[{"name": "x", "members": ["a"], "weights": {"a": -1}}]', "'a' by -1; expected"),
        ('[{"name": "x", "members": ["a"], "weights": {"a": 0}}]', "'a' by 0; expected"),
        ('[{"name": "x", "members": ["a"]}, {"name": "x", "members": ["b"]}]', "called 'x'"),
        ('["ceval", "ceval"]', "called 'C-Eval STEM'"),
        ('[{"name": "x", "membres": ["a"]}]', "summary_groups[0].membres: there is no such field"),
        ('[{"name": "x", "members": ["a"], "mean": "median"}]', "'macro' or 'micro'"),
    ],
)
def test_a_group_that_is_wrong_in_itself_is_refused_with_a_sentence(
    groups: str, expected: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read(groups)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("Run specification, summary_groups")
    assert not str(caught.value).endswith("..")


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (
            {"name": "x", "members": ["law", "lw"]},
            r"'x' names 'lw', .* it has algebra, history, law, logic",
        ),
        ({"name": "x", "members": ["algebra"], "dataset": "law school"}, r"names 'algebra'"),
        ({"name": "x", "members": ["law"], "dataset": "sums."}, r"names 'sums.', .*law school, su"),
        ({"name": "x", "members": ["law"], "of": "datasets"}, r"names 'law', .*law school, sums"),
        ({"name": "sums", "members": ["law"]}, r"is called 'sums', too"),
        ({"name": "logic", "members": ["law"]}, r"is called 'logic', too"),
        ({"published": "mmlu"}, r"'MMLU STEM' has no figures"),
    ],
)
def test_a_group_that_does_not_fit_the_run_is_refused(
    group: dict[str, object], expected: str
) -> None:
    with pytest.raises(SpecError, match=expected):
        check_groups([SummaryGroup.model_validate(group)], RUN)


def test_groups_that_fit_the_run_are_taken() -> None:
    groups = [
        {"name": "x", "members": ["law", "algebra"]},
        {"name": "y", "members": ["sums", "law school"], "of": "datasets"},
        {"name": "z", "members": ["law"], "dataset": "law school", "weights": {"law": 2}},
    ]
    check_groups([SummaryGroup.model_validate(each) for each in groups], RUN)


def test_a_published_list_counts_where_most_subjects_are_its_own() -> None:
    # CMMLU has C-Eval's high_school_physics, too.
    (stem, *_) = declared_groups([SummaryGroup(published="ceval")])
    assert stem.counts_in("d", {"law", "high_school_physics"})
    assert not stem.counts_in("d", {"agronomy", "anatomy", "high_school_physics"})
    (named, *_) = declared_groups([SummaryGroup(published="ceval", dataset="d")])
    assert named.counts_in("d", {"agronomy", "anatomy", "high_school_physics"})
    assert not named.counts_in("e", {"law", "high_school_physics"})
