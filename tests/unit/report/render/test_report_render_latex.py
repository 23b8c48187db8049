"""Lead tables for a paper; nothing of a file becomes a command."""

from evalui.report.axes import Axis
from evalui.report.blocks import (
    Card,
    Column,
    Details,
    Heading,
    ModelCell,
    Paragraph,
    Table,
    ValueCell,
)
from evalui.report.render.latex import as_latex, escape_latex

COLUMNS = (
    Column("Model"),
    Column("Marks", axis=Axis(0, 1, (), ())),
    Column("As written", group="Cloze", right=True),
)
ROWS = ((ModelCell("a_b"), "", ValueCell("66", "%", "60–72")),)


def test_a_lead_table_has_its_caption_and_its_figures():
    text = as_latex([Card((Paragraph("x"), Table(COLUMNS, ROWS, lead=True)), title="50 % & more")])
    assert text.splitlines() == [
        r"\begin{table}",
        r"  \caption{50 \% \& more}",
        r"  \begin{tabular}{lr}",
        r"    \toprule",
        r"    Model & Cloze · As written \\",
        r"    \midrule",
        r"    a\_b & 66 \% (60–72) \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_other_tables_are_taken_from_the_sections_that_are_named():
    blocks = [Table(COLUMNS, ROWS), Details("every-figure", "Every", "", (Table(COLUMNS, ROWS),))]
    assert as_latex(blocks) == ""
    assert as_latex(blocks, ["every-figure"]).count(r"\begin{table}") == 1


def test_tables_of_a_section_with_headings_are_named_after_them():
    tables = (Heading(3, "law"), Table(COLUMNS, ROWS), Heading(3, "arts"), Table(COLUMNS, ROWS))
    text = as_latex([Details("every-rule", "Rules", "", tables)], ["every-rule"])
    captions = [line.strip() for line in text.splitlines() if "caption" in line]
    assert captions == [r"\caption{Rules: law}", r"\caption{Rules: arts}"]


def test_signs_of_latex_stay_text():
    assert escape_latex(r"\input{x} $1 #2 ~^") == (
        r"\textbackslash{}input\{x\} \$1 \#2 \textasciitilde{}\textasciicircum{}"
    )
