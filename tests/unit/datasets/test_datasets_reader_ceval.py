"""C-Eval tables: what is read, and every fault with its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evalui.datasets import Layout, LoadResult, load
from evalui.types import LETTERS

Write = Callable[[str, str], Path]

HEADER = "id,question,A,B,C,D,answer,explanation\n"
ROW = "1,How many?,4,22,20,19,C,Counted.\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to


def fault_texts(loaded: LoadResult) -> list[str]:
    return [str(fault) for fault in loaded.faults]


def rules(loaded: LoadResult) -> list[tuple[str, int, str]]:
    return [(fault.rule, fault.line, fault.column) for fault in loaded.faults]


def test_a_row_becomes_a_sample(write: Write) -> None:
    loaded = load([write("computer_network_val.csv", HEADER + ROW)])
    (sample,) = loaded.dataset.samples
    assert (sample.id, sample.question) == ("computer_network/1", "How many?")
    assert sample.choices == ("4", "22", "20", "19")
    assert sample.target == 2
    assert sample.metadata == {
        "subject": "computer_network",
        "subject_zh": "计算机网络",
        "ceval_subject": "1",
        "category": "stem",
        "explanation": "Counted.",
        "file": "computer_network_val.csv",
        "line": "2",
    }


def test_columns_in_any_order_and_case_are_found(write: Write) -> None:
    text = " Answer ,b,a,QUESTION\nB,two,one,Which?\n"
    (sample,) = load([write("x.csv", text)]).dataset.samples
    assert (sample.question, sample.choices, sample.target) == ("Which?", ("one", "two"), 1)


def test_rows_without_ids_are_numbered_from_one(write: Write) -> None:
    loaded = load([write("x.csv", "question,A,B,answer\nP?,1,2,A\n\nQ?,1,2,B\n")])
    assert [sample.id for sample in loaded.dataset.samples] == ["x/1", "x/2"]


def test_a_row_without_id_does_not_take_the_id_of_another(write: Write) -> None:
    loaded = load([write("x.csv", "id,question,A,B,answer\n2,P?,1,2,A\n,Q?,1,2,B\n")])
    assert [sample.id for sample in loaded.dataset.samples] == ["x/2", "x/row-2"]


def test_empty_cells_make_fewer_options(write: Write) -> None:
    (sample,) = load([write("x.csv", HEADER + "1,Sure?,yes,no,,,B,\n")]).dataset.samples
    assert (sample.choices, sample.target) == (("yes", "no"), 1)


@pytest.mark.parametrize("n", [2, 10, 11, 26])
def test_two_to_26_options_are_read(write: Write, n: int) -> None:
    cells = ",".join(str(number) for number in range(n))
    text = f"question,{','.join(LETTERS[:n])},answer\nQ?,{cells},{LETTERS[n - 1]}\n"
    (sample,) = load([write("x.csv", text)]).dataset.samples
    assert (len(sample.choices), sample.target) == (n, n - 1)


@pytest.mark.parametrize("name", ["k", "n", "x"])
def test_a_letter_away_from_the_options_is_another_column(write: Write, name: str) -> None:
    text = f"question,A,B,C,D,{name},answer\nQ?,1,2,3,4,7,C\n"
    (sample,) = load([write("x.csv", text)]).dataset.samples
    assert (sample.choices, sample.target) == (("1", "2", "3", "4"), 2)
    assert sample.metadata[name] == "7"


def test_further_columns_are_kept_but_replace_nothing(write: Write) -> None:
    header = "question,A,B,answer,category,level,file,line,ceval_subject"
    text = header + "\nQ?,1,2,A,地理,easy,evil.csv,99,1\n"
    (sample,) = load([write("x.csv", text)]).dataset.samples
    assert sample.metadata == {
        "subject": "x",
        "category": "地理",
        "level": "easy",
        "file": "x.csv",
        "line": "2",
    }


def test_the_category_of_a_ceval_subject_is_cevals(write: Write) -> None:
    text = "question,A,B,answer,category\nQ?,1,2,A,mine\n"
    (sample,) = load([write("law_val.csv", text)]).dataset.samples
    assert sample.metadata["category"] == "humanities"


def test_a_subject_column_names_the_subject_of_each_row(write: Write) -> None:
    text = "id,question,A,B,answer,subject\n1,P?,1,2,A,law\n1,Q?,1,2,A,logic\n"
    samples = load([write("all.csv", text)]).dataset.samples
    assert [sample.id for sample in samples] == ["law/1", "logic/1"]
    assert [sample.metadata["subject_zh"] for sample in samples] == ["法学", "逻辑学"]


def test_lines_are_those_of_an_editor_even_below_cells_of_several_lines(write: Write) -> None:
    text = HEADER + '1,"Why\nso\nlong?",a,b,c,d,A,"x\ny"\n\n2,Short?,a,b,c,d,E,\n'
    loaded = load([write("x.csv", text)])
    assert loaded.dataset.samples[0].metadata["line"] == "2"
    assert rules(loaded) == [("answer-not-an-option", 7, "answer")]


def test_json_lines_with_the_same_columns_are_the_same_format(write: Write) -> None:
    text = '{"id": 7, "question": "Q?", "A": 1.50, "B": "2", "answer": ["b"]}\n'
    (sample,) = load([write("x.jsonl", text)]).dataset.samples
    assert (sample.id, sample.choices, sample.target) == ("x/7", ("1.50", "2"), 1)


@pytest.mark.parametrize("answer", ["C", "c", " C ", "Ｃ", "(C)", "C.", "C、"])
def test_ways_to_write_a_letter(write: Write, answer: str) -> None:
    (sample,) = load([write("x.csv", HEADER + f"1,Q?,a,b,c,d,{answer},\n")]).dataset.samples
    assert sample.target == 2


@pytest.mark.parametrize(
    ("answer_key", "answer", "target"),
    [("index0", "2", 2), ("index1", "2", 1), ("index1", "2.0", 1), ("text", "22", 1)],
)
def test_answers_that_are_no_letters(
    write: Write, answer_key: str, answer: str, target: int
) -> None:
    text = HEADER + f"1,Q?,4,22,20,19,{answer},\n"
    loaded = load([write("x.csv", text)], layout=Layout(answer_key=answer_key))
    assert [sample.target for sample in loaded.dataset.samples] == [target]


def test_columns_under_the_users_own_names(write: Write) -> None:
    text = "goal,sol1,sol2,label\nOpen a jar,twist,wish,0\n"
    layout = Layout(("sol1", "sol2"), answer="Label", answer_key="index0", question="goal")
    (sample,) = load([write("piqa.csv", text)], layout=layout).dataset.samples
    assert (sample.question, sample.choices, sample.target) == (
        "Open a jar",
        ("twist", "wish"),
        0,
    )


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            "1,Q?,a,b,c,d,E,\n",
            "x.csv, line 2, column answer: found “E”, expected one of A, B, C, D",
        ),
        (
            "1,Q?,a,b,,,D,\n",
            "x.csv, line 2, column answer: found “D”, expected one of A, B",
        ),
        (
            "1,Q?,a,b,c,d,,\n",
            "x.csv, line 2, column answer: found empty, expected one of A, B, C, D",
        ),
        (
            "1,Q?,4,22,20,19,20,\n",
            "x.csv, line 2, column answer: found “20” (the text of option C), "
            "expected one of A, B, C, D",
        ),
        (
            "1,Q?,a,b,c,d,AC,\n",
            "x.csv, line 2, column answer: found “AC”, "
            "expected one letter; single-answer evaluation cannot score A, C",
        ),
        (
            '1,Q?,a,b,c,d,"B、D",\n',
            "x.csv, line 2, column answer: found “B、D”, "
            "expected one letter; single-answer evaluation cannot score B, D",
        ),
        ("1,  ,a,b,c,d,A,\n", "x.csv, line 2, column question: found empty, expected some text"),
        (
            "1,Q?,a,b,,d,A,\n",
            "x.csv, line 2, column C: found empty, but D is filled, "
            "expected no gap between options",
        ),
        ("1,Q?,a,,,,A,\n", "x.csv, line 2, column B: found 1 option, expected at least 2"),
    ],
)
def test_a_faulty_row_is_told_and_left_out(write: Write, row: str, sentence: str) -> None:
    loaded = load([write("x.csv", HEADER + row + ROW.replace("1,", "2,", 1))])
    assert fault_texts(loaded) == [sentence]
    assert [sample.id for sample in loaded.dataset.samples] == ["x/2"]
    assert loaded.n_rows == 2


def test_options_that_differ_by_case_only_are_different(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + "1,Q?,Cc,CC,cc,cC,A,\n")])
    assert not loaded.faults


def test_all_faults_of_a_row_are_found_in_one_pass(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + "1,,a,a,b,c,E,\n")])
    assert [fault.rule for fault in loaded.faults] == [
        "empty-question",
        "answer-not-an-option",
    ]


def test_an_unquoted_comma_is_told_as_the_likely_cause_of_a_shift(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + "1,Typically, how many?,4,22,20,19,C,Counted.\n")])
    assert fault_texts(loaded) == [
        "x.csv, line 2: found 9 cells, and “19” under answer, expected 8 cells, as in the header; "
        "a text that contains “,” needs quotes around it"
    ]
    assert not loaded.dataset.samples


def test_a_shift_is_caught_though_the_count_of_cells_is_right_by_accident(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + "1,Typically, how many?,4,22,20,19,C\n")])
    assert fault_texts(loaded) == [
        "x.csv, line 2, column answer: found “19”, but “C” under explanation, "
        "expected the answer under answer; a text that contains “,” needs quotes around it"
    ]


@pytest.mark.parametrize(
    "row",
    [
        "1,Typically, how many?,4,22,20,9,C\n",  # the answer's cell has one character too
        "1,Typically, how many?,4,22,,,A\n",  # two options: the answer's cell is empty
        "1,Typically, how many?,4,22,20,19,C,\n",  # the explanation is an empty cell
        "1,Typically, how many?,4,22,20,19,C,,\n",  # and a spreadsheet has padded the row
        "1,Typically, plants grow in water, in soil,4,22,20,19,C\n",
        "1,4,22,20\n",
        "1,How many?,4,22,20\n",
    ],
)
def test_no_shifted_row_passes(write: Write, row: str) -> None:
    loaded = load([write("x.csv", HEADER + row)])
    assert [(fault.rule, fault.line) for fault in loaded.faults] == [("shifted-row", 2)]
    assert not loaded.dataset.samples


def test_a_row_may_stop_after_the_last_column_that_is_needed(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + "1,How many?,4,22,20,19,C\n")])
    assert not loaded.faults
    assert len(loaded.dataset.samples) == 1


def test_empty_cells_and_rows_that_a_spreadsheet_adds_are_no_fault(write: Write) -> None:
    text = "id,question,A,B,answer,,\n1,Q?,a,b,A,,\n2,R?,a,b,B,,,,\n,,,,,,\n"
    loaded = load([write("x.csv", text)])
    assert not loaded.faults
    assert loaded.n_rows == len(loaded.dataset.samples) == 2


def test_a_letter_in_a_later_column_is_no_shift_if_the_answer_is_good(write: Write) -> None:
    text = "question,A,B,answer,level\nQ?,a,b,B,A\nR?,a,b,AB,A\n"
    loaded = load([write("x.csv", text)])
    assert rules(loaded) == [("multi-letter-answer", 3, "answer")]
    assert len(loaded.dataset.samples) == 1


def test_a_later_letter_means_nothing_where_answers_are_numbers(write: Write) -> None:
    text = "question,A,B,answer,level\nQ?,a,b,1,A\n"
    loaded = load([write("x.csv", text)], layout=Layout(answer_key="index0"))
    assert not loaded.faults


@pytest.mark.parametrize(
    ("header", "faults"),
    [
        (
            "id,qustion,A,B,answer",
            ["column “question”; is “qustion” meant?"],
        ),
        ("question,A,B,anser", ["column “answer”; is “anser” meant?"]),
        ("question,A,B,D,answer", ["column “C”"]),
        ("question,A,answer", ["column “B”"]),
        ("题目,A,B,C,D,答案", ["column “question”", "column “answer”"]),
    ],
)
def test_a_missing_column_is_told_with_the_nearest_name(
    write: Write, header: str, faults: list[str]
) -> None:
    loaded = load([write("x.csv", header + "\n1,2,3,4,5,6\n")])
    assert [fault.expected for fault in loaded.faults] == [f"a {fault}" for fault in faults]
    assert {fault.rule for fault in loaded.faults} == {"missing-column"}
    assert loaded.n_rows == 1


def test_two_columns_of_one_name_are_a_fault(write: Write) -> None:
    loaded = load([write("x.csv", "question,A,a,B,answer\nQ?,1,2,3,A\n")])
    assert rules(loaded) == [("duplicate-column", 1, "a")]


def test_a_header_without_rows_is_a_fault(write: Write) -> None:
    assert rules(load([write("x.csv", HEADER)])) == [("no-rows", 1, "")]


def test_a_second_row_of_the_same_id_is_a_fault(write: Write) -> None:
    loaded = load([write("x.csv", HEADER + ROW + ROW.replace("How", "So how"))])
    assert fault_texts(loaded) == [
        "x.csv, line 3, column id: found “1”, already on line 2, expected an id of its own"
    ]
    assert len(loaded.dataset.samples) == 1


def test_options_that_name_others_are_marked(write: Write) -> None:
    text = HEADER + "1,Q?,one,two,A and B,three,C,\n2,R?,one,two,three,four,A,\n"
    samples = load([write("x.csv", text)]).dataset.samples
    assert [sample.refers_to_other_options for sample in samples] == [True, False]
