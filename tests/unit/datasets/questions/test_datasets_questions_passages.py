from evalui.datasets.questions.passages import passage_text, with_instruction, with_passage


def test_a_passage_stands_before_its_question_once():
    assert with_passage(" It rained. ", "Why wet?") == "It rained.\nWhy wet?"
    assert with_passage("It rained.", "It rained. Why wet?") == "It rained. Why wet?"
    assert with_passage("", "Why?") == "Why?"
    assert with_passage("It rained.", "") == ""


def test_an_instruction_stands_before_what_it_is_about():
    assert with_instruction("Translate.", "house") == "Translate.\nhouse"
    assert with_instruction("Name a fruit.", "") == "Name a fruit."


def test_the_parts_of_a_list_are_lines():
    assert passage_text(["M: Hello.", "W: Bye."]) == "M: Hello.\nW: Bye."
    assert passage_text([{"speaker": "M", "text": "Hello."}, {"text": "Bye."}]) == "M: Hello.\nBye."
    assert passage_text(None) == ""
