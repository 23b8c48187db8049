"""MMLU's files without a header, and what is not to be taken for one."""

from pathlib import Path

import pytest

from evalui.datasets import Layout, LoadResult, load, read_columns
from evalui.datasets.guess import guess_roles
from evalui.errors import DataError
from evalui.types import Sample

GOLDEN = Path(__file__).parents[2] / "golden" / "mmlu"
WIDE = tuple(f"o{n}" for n in range(26))
ROWS = 'How many?,1,2,3,4,B\n"Which, then?",a,b,c,d,D\n'


def loaded(folder: Path, text: str) -> LoadResult:
    (folder / "x_test.csv").write_text(text, encoding="utf-8")
    return load([folder / "x_test.csv"])


def taken(folder: Path, text: str, layout: Layout = Layout()) -> bool:  # noqa: B008 - frozen
    """Whether all rows are questions, the first one too."""
    (folder / "taken.csv").write_text(text, encoding="utf-8")
    try:
        found = load([folder / "taken.csv"], layout=layout)
    except DataError:
        return False
    if found.dataset.kind != "multiple_choice":
        return False
    lines = [sample.metadata["line"] for sample in found.dataset.samples]
    return lines == [str(n) for n in range(1, len(text.splitlines()) + 1)]


def test_the_first_row_is_a_question_too(tmp_path: Path) -> None:
    found = loaded(tmp_path, ROWS)
    assert (found.dataset.kind, found.n_rows, found.faults) == ("multiple_choice", 2, ())
    assert [sample.question for sample in found.dataset.samples] == ["How many?", "Which, then?"]
    first = found.dataset.samples[0]
    assert (first.choices, first.target, first.metadata["line"]) == (("1", "2", "3", "4"), 1, "1")


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Is it?,yes,no,A\n", ("yes", "no")),
        ("Q?,v,w,x,y,z,E\nP?,v,w,x,y,z,A\n", tuple("vwxyz")),
        ("Q?," + ",".join(WIDE) + ",Z\nP?," + ",".join(WIDE) + ",A\n", WIDE),
    ],
)
def test_there_may_be_two_to_26_options(
    tmp_path: Path, text: str, choices: tuple[str, ...]
) -> None:
    assert loaded(tmp_path, text).dataset.samples[0].choices == choices


@pytest.mark.parametrize(
    "text",
    [
        "id,question,A,B,C,D,answer\n" + "0,Q?,a,b,c,d,A\n",
        ",Question,A,B,C,D,Answer\n" + "0,Q?,a,b,c,d,A\n",
        "question,A,B,C,D\nQ?,a,b,c,D\n",  # a test file whose last column is D
        "题目,A,B,C,D\nQ?,a,b,c,D\n",
        "prompt,w,x,y,z,A\nQ?,a,b,c,d,A\n",
        "stem,A,B,C,D,E\nQ?,a,b,c,d,D\n",
        "question,answer\nQ?,A\n",
        "Q?,a,b,c,d,A\nP?,a,b,c,d,E\n",  # a letter that none of the options has
        "Q?,a,b,c,d,A\nP?,a,b,c,d,paris\n",
        "Q?,a,b,c,d,A\nP?,a,b,c,A\n",
        "Q?,A\n",
        ",a,b,c,d,A\n",
        '{"question": "Q?"}\n',
    ],
)
def test_a_file_with_a_header_or_without_letters_is_none(tmp_path: Path, text: str) -> None:
    assert not taken(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "0,How many of them?,1,2,3,4,B\n1,Which of them?,a,b,c,d,D\n",
            1,
        ),  # as pandas numbers rows
        (
            "0,How many of them?,1,2,3,4,A,B\n1,Which of them?,a,b,c,d,D,C\n",
            1,
        ),  # with replies of a model
        ("How many of them?,one,two,six,ten,A,B\nWhich of them?,an ant,a bee,a cow,a dog,D,D\n", 0),
        ("law,How many of them?,1,2,3,4,B\nlaw,Which of them?,a,b,c,d,D\n", 1),
    ],
)
def test_other_columns_among_them_are_asked_about(tmp_path: Path, text: str, place: int) -> None:
    assert not taken(tmp_path, text)
    assert loaded(tmp_path, text).faults[0].rule in ("confirm-columns", "confirm-answer")
    table = read_columns([tmp_path / "x_test.csv"])
    assert table
    assert guess_roles(table).place("question") == place


def test_a_question_may_be_a_word(tmp_path: Path) -> None:
    assert taken(tmp_path, "abandon,leave,keep,hold,take,A\ncommence,end,begin,stay,go,B\n")


def test_columns_that_the_user_names_stand_in_a_header(tmp_path: Path) -> None:
    assert taken(tmp_path, ROWS)
    assert not taken(tmp_path, ROWS, Layout(question="How many?"))


def test_a_row_of_another_width_is_told_beside_the_first_row(tmp_path: Path) -> None:
    rows = ROWS * 10 + "Where, then?,a,b,c,d,A\n"
    (fault,) = loaded(tmp_path, rows).faults
    assert (fault.line, fault.rule) == (21, "shifted-row")
    assert "6 cells, as in the first row" in fault.expected


def test_a_subject_that_c_eval_has_too_is_not_asked_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "high_school_physics_test.csv").write_text(ROWS)
    sample = load([tmp_path / "high_school_physics_test.csv"]).dataset.samples[0]
    assert sample.subject == "high_school_physics"
    assert "ceval_subject" not in sample.metadata


def test_the_benchmarks_own_folders_are_paired() -> None:
    found = load([GOLDEN])
    assert (found.faults, [note.rule for note in found.notes]) == ((), [])
    assert _targets(found.dataset.samples) == [
        ("anatomy_test/1", 0),
        ("anatomy_test/2", 1),
        ("anatomy_test/3", 0),
    ]
    assert len(found.dataset.shots) == 5
    assert found.dataset.samples[1].question.startswith('A "dished face" profile')


def _targets(samples: tuple[Sample, ...]) -> list[tuple[str, int | tuple[str, ...]]]:
    return [(sample.id, sample.target) for sample in samples]
