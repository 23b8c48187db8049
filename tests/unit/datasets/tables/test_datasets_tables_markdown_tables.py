"""Tables in Markdown."""

from evalui.datasets.columns import is_known_name
from evalui.datasets.tables.markdown_tables import is_markdown_table, read_markdown

PAGE = """# 题库

Some words | with a bar.

## 法律
| 题目 | A | B | 答案 |
|:-----|---|:-:|----:|
| 甲 \\| 乙？ | 一<br>行 | 二 | A |
| 图中？ | ![图](a.png) | 二 | B |
| 少一格 | 一 |

```
| not | a table |
|-----|---------|
| x   | y       |
```

question | A | B | answer
--- | --- | --- | ---
Which? | a | b | B
"""


def tables():
    return read_markdown(PAGE, "x.md", is_known_name=is_known_name)


def test_every_table_is_read_under_its_heading():
    first, second = tables()
    assert (first.title, second.title) == ("法律", "table 2")
    assert first.table.table.header == ("题目", "A", "B", "答案")
    assert second.table.table.rows[0].cells == ("Which?", "a", "b", "B")
    assert second.table.table.rows[0].line == 20


def test_cells_are_as_a_page_shows_them():
    table = tables()[0].table.table
    assert [row.cells for row in table.rows] == [
        ("甲 | 乙？", "一\n行", "二", "A"),
        ("少一格", "一", "", ""),
    ]


def test_a_picture_in_a_row_is_a_fault():
    table = tables()[0].table.table
    assert [(fault.line, fault.rule) for fault in table.faults] == [(9, "picture")]


def test_other_texts_are_no_tables():
    assert not is_markdown_table("question|A|answer\nWhich?|a|A\n")
    assert not is_markdown_table("a heading\n---\n")
    assert not is_markdown_table("a|b\n" + "-" * 30_000 + "\n")
