import pytest

from evalui.replies import is_chinese


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("法国的首都是哪里？", True),
        ("下列关于 Transformer 和 attention 的说法，正确的是", True),
        ("「ありがとう」这个日语词在中文里最接近的意思是下面的哪一个词语？", True),
        ("What does the character 水 mean, and how is it written?", False),
        (
            "请把下面的话译成中文：The quick brown fox jumps over the lazy dog, and then it sleeps",
            True,
        ),
        ("日本国憲法について正しいものはどれか。", False),
        ("다음 중 漢字가 아닌 것은?", False),
        ("پاکستان کا دارالحکومت کیا ہے؟", False),
        ("Hangi şehir Türkiye'nin başkentidir?", False),
        ("1 + 1 = ?", False),
    ],
)
def test_a_text_is_chinese_by_the_script_of_most_of_it(text: str, expected: bool):
    assert is_chinese(text) is expected
