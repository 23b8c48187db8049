from evalui.messages import messages, sentence
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


def test_a_fault_that_is_a_sentence_is_translated_as_a_whole():
    reason = sentence("error.picture-missing", name="1.png")
    fault = Fault("x.csv", 2, "image", "picture", reason, sentence("fault.picture.expected"))
    actual, expected = fault_text(messages("zh"), fault)
    assert actual == "上传的文件里没有这张图片，或有多张同名图片：“1.png”"
    assert expected.startswith("随文件上传的 PNG")
    assert fault_text(messages("en"), fault) == (fault.actual, fault.expected)
