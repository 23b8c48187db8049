from evalui.messages import messages
from evalui.types import Fault
from evalui.ui.components.format import fault_text


def test_a_chinese_page_says_how_long_a_cell_is():
    fault = Fault("x.csv", 2, "A", "cell-too-long", "a cell of 200,000 characters", "at most 1")
    found, expected = fault_text(messages("zh"), fault)
    assert found == "单元格过长：200,000"
    assert "131,072" in expected


def test_a_chinese_page_keeps_what_a_fault_quotes():
    fault = Fault("x.csv", 2, "answer", "answer-not-an-option", "“E”", "one of A, B")
    assert fault_text(messages("zh"), fault)[0] == "答案不是选项之一：“E”"
