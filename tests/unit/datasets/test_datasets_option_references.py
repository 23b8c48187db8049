import pytest

from evalui.datasets.option_references import refers_to_other_options

_NAMING = [
    "all of the above",
    "None of the above.",
    "All the above",
    "Both of the above",
    "None of the above statements is true",
    "All of the above are correct",
    "Both of the first two options",
    "A and B",
    "both A and B",
    "A, B and C are correct",
    "A & B",
    "Neither A nor B",
    "Only A and B",
    "(A) and (C)",
    "option B",
    "A和B",
    "A、B、C均正确",
    "Ａ和Ｂ",
    "选项A和B都对",
    "AB都对",
    "A、B两项",
    "以上都对",
    "以上都不是。",
    "以上说法都不对",
    "上述方法都可以",
    "以上皆非",
    "以上全部",
    "以上三者都是",
    "前两项都是",
    "都是以上",
]
_OTHERS = [
    "①②",
    "①和②都对",
    "None of these",
    "Asteroids and comets",
    "Both asteroids and comets are solids.",
    "Vitamin A and vitamin B",
    "Small rocks are left behind when glaciers retreat.",
    "Some above ground parts",
    "Older layers of rock are located above newer layers of rock.",
    "AB",
    "A",
    "用入射光B或C照射金属a，不可使金属a发生光电效应现象",
    "E1、E2、E3都属于帕累托最优状态",
    "50%以上",
    "18岁以上都可以",
    "前三个月都亏损",
    "只有毕加索的画才是杰作。",
    "都着眼于反共反苏",
    "均为500",
]


@pytest.mark.parametrize("option", _NAMING)
def test_an_option_that_speaks_of_others_is_found(option: str) -> None:
    assert refers_to_other_options(["one", "two", "three", option])


@pytest.mark.parametrize("option", _OTHERS)
def test_an_option_that_only_looks_like_it_is_left_alone(option: str) -> None:
    assert not refers_to_other_options(["one", "two", "three", option])


def test_letters_that_are_the_questions_own_name_no_option() -> None:
    assert not refers_to_other_options(["A和B", "A和C", "B和D", "C和D"])


def test_a_letter_beyond_the_options_names_none() -> None:
    assert not refers_to_other_options(["one", "two", "E and F"])


@pytest.mark.timeout(60)  # a pattern that backtracks would take hours
def test_a_hostile_option_takes_no_time() -> None:
    hostile = "A" + " ,  ,  " * 5_000 + "!"
    assert not refers_to_other_options(["one", hostile, "all of the " + " " * 5_000 + "x above"])
