from hypothesis import given
from hypothesis import strategies as st

from evalui.models.scripted.shown_questions import SubstringFinder

WORDS = st.text("ab", max_size=20)


@given(st.lists(WORDS), st.text("ab", max_size=60))
def test_every_text_of_a_prompt_is_found_where_it_stands_last(texts: list[str], prompt: str):
    slow = [(prompt.rfind(text) + len(text), text) for text in set(texts) if text in prompt]
    slow.sort(key=lambda found: (-found[0], -len(found[1])))
    assert list(SubstringFinder(texts).last_occurrences(prompt)) == slow


def test_texts_that_end_alike_are_distinguished():
    texts = [f"{number} is the sum of which two numbers?" for number in range(30)]
    prompt = f"{texts[7]} 3 and 4.\n{texts[11]}"
    assert [text for _, text in SubstringFinder(texts).last_occurrences(prompt)] == [
        texts[i] for i in (11, 1, 7)
    ]


def test_without_texts_nothing_is_found():
    assert list(SubstringFinder([]).last_occurrences("a prompt")) == []
