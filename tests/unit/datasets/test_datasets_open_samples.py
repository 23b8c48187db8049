from evalui.datasets.open_samples import passage_text, with_passage


def test_a_passage_stands_before_its_question_once():
    assert with_passage(" It rained. ", "Why wet?") == "It rained.\nWhy wet?"
    assert with_passage("It rained.", "It rained. Why wet?") == "It rained. Why wet?"
    assert with_passage("", "Why?") == "Why?"
    assert with_passage("It rained.", "") == ""


def test_the_parts_of_a_list_are_lines():
    assert passage_text(["M: Hello.", "W: Bye."]) == "M: Hello.\nW: Bye."
    assert passage_text([{"speaker": "M", "text": "Hello."}, {"text": "Bye."}]) == "M: Hello.\nBye."
    assert passage_text(None) == ""
