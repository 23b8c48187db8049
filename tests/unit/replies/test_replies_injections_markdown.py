import pytest

from evalui.replies import MarkdownCounts, count_markdown


@pytest.mark.parametrize(
    ("line", "items"),
    [
        ("- one", 1),
        ("  * nested", 1),
        ("+ plus", 1),
        ("•one", 1),
        ("1. one", 1),
        ("2) two", 1),
        ("1.首先", 1),
        ("3、然后", 1),
        ("3.5 million", 0),
        ("-5 degrees", 0),
        ("---", 0),
        ("**bold** text", 0),
        ("2024. A year", 0),
        ("text - dash", 0),
    ],
)
def test_list_items_are_lines_that_begin_like_one(line: str, items: int):
    assert count_markdown([line]).items == items


def test_marks_are_counted_outside_of_code_and_length_with_it():
    text = "# Title\n\n**bold** and __bold__\n```\n# comment\n- minus **x**\n```\n## End"
    assert count_markdown([text]) == MarkdownCounts(length=len(text), headers=2, items=0, bold=2)


def test_turns_are_counted_together():
    assert count_markdown(["- a", "- b"]) == MarkdownCounts(6, 0, 2, 0)
    assert count_markdown([]) == MarkdownCounts(0, 0, 0, 0)
