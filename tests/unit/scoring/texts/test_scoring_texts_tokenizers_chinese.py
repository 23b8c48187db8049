import warnings
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.scoring.texts.tokenizers import ChineseTokenizer, tokenize_zh

# 北京大 only begins a word. The words of one character need not stand together.
DICTIONARY = "北 5 n\n北京 40 ns\n京 5 n\n北京大学 30 nt\n大 20 a\n大学 20 n\n学 9 v\n"


@cache
def _jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer: Any = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def _cut(text: str) -> list[str]:
    return ChineseTokenizer(DICTIONARY, guess=lambda run: [f"<{run}>"]).tokenize(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京大学", ["北京大学"]),  # its beginning 北京大 is no word, and does not end the search
        ("北京大", ["北京", "大"]),
        ("大北京", ["大", "北京"]),
        ("大，北京", ["大", "，", "北京"]),  # no word goes over a mark
        ("北京学京", ["北京", "<学京>"]),  # two that stand alone are given to the guess
        ("北", ["北"]),
        ("\r\n \n", ["\r\n", " ", "\n"]),
        ("", []),
    ],
)
def test_the_most_probable_words_are_found(text: str, expected: list[str]):
    assert _cut(text) == expected


def test_of_two_ways_that_are_equally_probable_the_longer_word_is_first():
    # Each way is one word of the pair and one single character, all seen equally often.
    dictionary = "甲 2 n\n甲乙 2 n\n乙 2 n\n乙丙 2 n\n丙 2 n\n"
    assert ChineseTokenizer(dictionary, guess=list).tokenize("甲乙丙") == ["甲乙", "丙"]


@pytest.mark.parametrize(("length", "times"), [(10, 1), (200, 2)])
def test_only_short_texts_are_remembered(length: int, times: int):
    asked: list[str] = []

    def guess(run: str) -> list[str]:
        asked.append(run)
        return [run]

    chinese, text = ChineseTokenizer(DICTIONARY, guess=guess), "生" * length
    assert chinese.tokenize(text) == chinese.tokenize(text) == [text]
    assert asked == [text] * times


@pytest.mark.parametrize(
    "text",
    [
        "他来到了网易杭研大厦",
        "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。",
        "蝙蝠侠（Batman）是DC漫画《侦探漫画#27》里的人物，1939年5月。",
        "的是了我在不人有他这",
        "3.14%的C++程序员用了a_b-c&d",
        "乒乓球拍卖完了",
        "㐀𠀀龘〇",
        "中国\r\n北京 \t上海",
    ],
)
def test_the_words_are_jiebas(text: str):
    assert tokenize_zh(text) == _jieba().lcut(text)


def test_the_whole_dictionary_is_jiebas():
    with _jieba().get_dict_file() as file:
        words = [line.split(" ")[0] for line in file.read().decode().splitlines()]
    # 5,000 of its words, a few of each beginning, in one text.
    text = "".join(words[::70])
    assert tokenize_zh(text) == _jieba().lcut(text)


@given(
    st.text(
        "的一是不了在人有我他这中大来上国北京研究生命起源乒乓球拍卖完龘aB9.%+ ，。\r\n", max_size=40
    )
)
def test_the_words_are_jiebas_whatever_the_text(text: str):
    assert tokenize_zh(text) == _jieba().lcut(text)
