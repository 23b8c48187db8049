import pytest

from evalui.report.compile import compile_report, markdown
from evalui.report.render.markdown import escaped


@pytest.fixture
def report(make_result):
    subjects = {f"q{i}": {"subject": "law" if i % 2 else "art"} for i in range(40)}
    good = make_result({f"q{i}": "right" for i in range(40)}, model="good", subjects=subjects)
    fond = make_result({f"q{i}": [0, 0, 0, 0] for i in range(40)}, model="fond|x")
    late = make_result({}, model="late", state="failed", error="Out <of> memory.")
    return compile_report("Midterm", [good, fond, late], baselines=frozenset({"fond|x"}))


def test_the_report_begins_with_its_name_and_a_sentence(report):
    lines = markdown(report, "en").splitlines()
    assert lines[0] == "# Midterm"
    assert lines[2] == "**good is right on 100.0 % (91.2–100.0); guessing scores 25 %.**"


def test_a_report_without_a_name_is_called_a_report(report):
    assert markdown(compile_report("", report.results), "zh").startswith("# 评测报告\n")


def test_each_cell_has_a_row_of_figures_with_ranges(report):
    row = "| good | d | multiple choice, reply | 40 | 100.0 % (91.2–100.0) | 100.0 % (91.2–100.0) |"
    assert row in markdown(report, "en")


def test_foreign_names_cannot_break_the_table_or_become_markup(report):
    text = markdown(report, "en")
    assert "fond\\|x" in text
    assert "Failed. Out &lt;of&gt; memory." in text


def test_every_signature_is_there(report):
    text = markdown(report, "zh")
    for signature in report.signatures:
        assert f"`{signature}`" in text


def test_subjects_have_their_table(report):
    text = markdown(report, "en")
    assert "| Subject | n | good |" in text
    assert "| All subjects | 40 |" in text


def test_the_chinese_report_has_no_english_sentence(report):
    text = markdown(report, "zh")
    assert "选项换个顺序" in text
    assert "plausible" not in text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a|b", "a\\|b"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("[x](javascript:y)", "\\[x\\](javascript:y)"),
        ("two\nlines", "two lines"),
        ("`code` *b*", "\\`code\\` \\*b\\*"),
        ("中文 & more", "中文 &amp; more"),
    ],
)
def test_foreign_text_stays_text(text: str, printed: str):
    assert escaped(text) == printed
