from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import golden, letters

from evalui.replies import TOLERANT_VERSION, grade_reply
from evalui.replies import options as option_texts
from evalui.replies.choices import RULES, ParsedChoice, read_strict, read_tolerant
from evalui.types import LETTERS, Reading

CITIES = ("Paris", "London", "Rome", "Berlin")
ACIDS = ("尿素", "尿酸", "丙酮酸", "二氧化碳")
NUMBERS = ("4", "22", "20", "19")
TOLERANT = golden("bias/tolerant.json")
EXTRACTION = golden("opencompass/extraction.json")["cases"]

# Where our table names a rule more precisely than the golden labels do.
OTHER_RULE = {
    "Rome is the capital of Italy": "leading-text",  # not the whole line is the option
    "A or B": "ambiguous",
    "A和B": "ambiguous",
    "<think>A A A": "unfinished",  # it was cut off, not silent
    "A. London": "label-text-conflict",
    "A. Paris": "letter+text",
}
# The golden reading takes the letter. But who writes it with another option's text has named two.
UNREAD = ("A. London",)
# The replies were collected without their options; these occur in none of them.
NEUTRAL = ("the first thing", "the second thing", "the third thing", "the fourth thing")
# A lone number is the option at that place; the golden reading did not allow for indices.
MISSED = {"１": "A"}


def read(reply: str, options: tuple[str, ...] = CITIES) -> tuple[str, str]:
    found = read_tolerant(reply, options)
    return letters([found.choice]), found.rule


# ------------------------------------------------------------------ golden replies


@pytest.mark.parametrize("case", TOLERANT, ids=lambda case: repr(case["reply"]))
def test_the_hand_labelled_replies_are_read_as_labelled(case: dict):
    options = tuple(case["options"].values())
    strict, tolerant = read_strict(case["reply"], options), read_tolerant(case["reply"], options)
    assert letters([strict.choice]) == (case["strict"] or "-")
    expected = "-" if case["reply"] in UNREAD else case["tolerant"] or "-"
    assert letters([tolerant.choice]) == expected
    assert tolerant.rule == OTHER_RULE.get(case["reply"], case["rule"])


@pytest.mark.parametrize("case", EXTRACTION, ids=lambda case: repr(case["text"]))
def test_the_replies_of_opencompass_are_read_as_a_person_would(case: dict):
    expected = MISSED.get(case["text"], case["intended"])
    assert read(case["text"], NEUTRAL)[0] == (expected or "-")


def test_we_miss_one_reply_in_107_where_opencompass_misses_eleven():
    agree = [read(case["text"], NEUTRAL)[0] == (case["intended"] or "-") for case in EXTRACTION]
    assert (sum(agree), len(agree)) == (106, 107)


# ------------------------------------------------------------------ strict


@pytest.mark.parametrize("reply", ["B", " B", "\nB\n", "B.", "B)", "B。", "▁B", "ĠB"])
def test_strict_takes_one_capital_letter_and_one_closing_mark(reply: str):
    assert read_strict(reply, CITIES) == ParsedChoice(1, "strict")


@pytest.mark.parametrize(
    "reply", ["", "b", "(B)", "**B**", "B..", "B,", "B London", "E", "Ｂ", "2", "AB"]
)
def test_strict_takes_nothing_else(reply: str):
    assert read_strict(reply, CITIES) == ParsedChoice(None, "not-a-letter")


def test_strict_knows_how_many_options_there_are():
    assert read_strict("C", ("True", "False")).choice is None
    assert read_strict("J", tuple("abcdefghij")).choice == 9


# ------------------------------------------------------------------ the rules, one by one


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("答案：A。不需要解释。", "A"),
        ("答案是A，理由是B项错误", "A"),
        ("答案：A，B是错的", "A"),
        ("我选择的是B", "B"),
        ("正确选项是D", "D"),
        ("不能选A，应选B", "B"),
        ("排除A，选B", "B"),
        ("选A不选B", "A"),
        ("答案是C不是A", "C"),
        ("不是A而是C", "C"),
        ("答案不是A，而是C", "C"),
        ("The correct option is (b).", "B"),
        ("the answer is b because it is", "B"),
        ("the answer is a because it is", "A"),
        ("The answer is most likely C", "C"),
        ("The answer is B probably", "B"),
        ("Answer: A\nWrong: B", "A"),
        ("Final Answer: The final answer is B. I hope it is correct.", "B"),
        ("<answer> C </answer>", "C"),
        ("**Answer: C**", "C"),
        ("Answer:\n\nC", "C"),
        ("$\\text{Answer}$: the answer is $\\boxed{\\text{D}}$", "D"),
        ("\\boxed{\\text{C}}", "C"),
        ("I choose (D)", "D"),
        ("My choice is C", "C"),
        ("A is the answer", "A"),
        ("请选择\n\nA. 北京\nB. 上海\n答案：B", "B"),
        ("B\n\nbut then: the answer is C", "C"),
    ],
)
def test_a_letter_after_a_marker_is_the_answer(reply: str, expected: str):
    assert read(reply) == (expected, "marker")


@pytest.mark.parametrize(
    "reply",
    [
        "答案不是A",
        "不应选A",
        "The answer isn't A",
        "I cannot answer A",
        "The answer is either A or B",
        "The answer is A mammal",
        "the answer is b flat",
        "Answer: B12",
        "Answer: B-tree",
        "The answer is C++",
        "Answer: E",
        "答案：E",
        "请选择：\nA. 北京\nB. 上海",
        "If the answer is A we lose",
    ],
)
def test_a_denied_supposed_or_missing_letter_is_no_answer(reply: str):
    assert read(reply)[0] == "-"


@pytest.mark.parametrize(
    "reply", ["A股市场上涨。", "B超检查。", "C语言是一种语言", "A型血", "D. H. Lawrence wrote it."]
)
def test_a_letter_of_a_name_is_no_answer(reply: str):
    assert read_tolerant(reply, NEUTRAL).choice is None


def test_what_is_called_right_too_contradicts_the_answer_before():
    assert read_tolerant("The answer is C. A is also correct.", NEUTRAL).choice is None


def test_the_pronoun_i_is_not_the_ninth_option():
    assert read("Answer: I cannot say", tuple("abcdefghij"))[0] == "-"


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("The answer is Paris.", CITIES, "A"),
        ("Answer: London", CITIES, "B"),
        ("Answer: Paris\nNow the final answer: London", CITIES, "B"),
        ("答案是丙酮酸。", ACIDS, "C"),
        ("The answer is 22", NUMBERS, "B"),
        ("Answer: A mammal", ("A bird", "a reptile", "A mammal", "A fish"), "C"),
        ("Answer: A or C", ("DC", "AC", "A or C", "AB"), "C"),
    ],
)
def test_an_option_text_after_a_marker_is_the_answer(
    reply: str, options: tuple[str, ...], expected: str
):
    assert read(reply, options) == (expected, "marker+text")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("a", "A"),
        ("Ｂ。", "B"),
        ("（C）", "C"),
        ("[[B]]", "B"),
        ("{B}", "B"),
        ("`D`", "D"),
        ("- B", "B"),
        ("> C", "C"),
        ("1. B", "B"),
        ("B</s>", "B"),
        ("A项", "A"),
        ("选项B", "B"),
        ("Option C.", "C"),
        ("C, not A", "C"),
        ("C，不是A", "C"),
        ("A。不需要解释", "A"),
        ("C. It is not hard.", "C"),
        ("A\nWrong: B", "A"),
        ("A\nB. London is wrong", "A"),
        ("A</think>B", "B"),
        ("\u200bB\u200b", "B"),
    ],
)
def test_a_leading_letter_that_stands_alone_is_the_answer(reply: str, expected: str):
    assert read(reply) == (expected, "letter")


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("A. Paris\nB. London\nC. Rome\nD. Berlin", "ambiguous"),
        ("A. Paris B. London C. Rome D. Berlin", "ambiguous"),
        ("A) Paris; B) London; C) Rome; D) Berlin", "ambiguous"),
        ("A、Paris B、London C、Rome D、Berlin", "ambiguous"),
        ("A. Wrong", "unparsed"),
        ("A. 错误", "unparsed"),
        ("I'm not sure", "unparsed"),
        ("B-tree", "unparsed"),
    ],
)
def test_a_leading_letter_is_no_answer_if_it_only_lists_or_denies(reply: str, rule: str):
    assert read(reply) == ("-", rule)


@pytest.mark.parametrize("reply", ["A. London", "B) Paris", "The answer is A (London).", "2. Rome"])
def test_a_label_with_anothers_text_is_no_answer_and_the_conflict_is_named(reply: str):
    assert read(reply) == ("-", "label-text-conflict")


@pytest.mark.parametrize("reply", ["Answer: A\nAnswer: B", "答案：A\n答案：B", "B is right\nB\nC"])
def test_answers_beside_each_other_contradict_unless_a_word_says_which_holds(reply: str):
    assert read(reply) == ("-", "ambiguous")


@pytest.mark.parametrize(
    "reply",
    ["A Paris", "A (Paris)", "A  paris.", "A. Paris", "A. Paris\n\nBecause it is", "Paris (A)"],
)
def test_a_letter_with_its_own_text_is_the_answer(reply: str):
    assert read(reply) == ("A", "letter+text")


@pytest.mark.parametrize("reply", ["A London", "A mammal lives there", "A is a city"])
def test_a_letter_with_other_words_is_an_article(reply: str):
    assert read(reply)[0] == "-"


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("“london”。", CITIES, "B"),
        ("**Rome**\nbecause of the Tiber", CITIES, "C"),
        ("丙酮酸。", ACIDS, "C"),
        ("22。", NUMBERS, "B"),
        ("b", ("x", "b", "d", "c"), "B"),
        ("AC", ("DC", "AC", "A or C", "AB"), "B"),
        ("A or C", ("DC", "AC", "A or C", "AB"), "C"),
        ("C. elegans", ("E. coli", "C. elegans", "yeast"), "B"),
        ("A mammal", ("A bird", "a reptile", "A mammal"), "C"),
        ("only A is correct", ("A", "B", "only A is correct", "neither"), "C"),
        ("CO", ("Co", "CO", "C"), "B"),
        ("f", ("f'", "f", "g"), "B"),
        ("line one\nline two", ("x", "line one\nline two"), "B"),
    ],
)
def test_an_options_exact_text_is_the_answer(reply: str, options: tuple[str, ...], expected: str):
    assert read(reply, options) == (expected, "text")


@pytest.mark.parametrize("reply", ["**B**", "Answer: B.", "b", "It is B."])
def test_the_label_of_one_option_and_the_text_of_another_is_no_answer(reply: str):
    """Which vitamin? In slot A stands "B": only whoever writes no more than a label means it."""
    assert read(reply, ("B", "A", "C", "D")) == ("-", "ambiguous")
    assert read("B", ("B", "A", "C", "D")) == ("B", "strict")


SAME = ("circuit", "packet", "packet", "message")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("C", ("C", "strict")),
        ("The answer is (B).", ("B", "marker")),
        ("C. packet", ("C", "letter+text")),
        ("B packet", ("B", "letter+text")),
        ("packet", ("-", "tie")),
        ("**Packet**.", ("-", "tie")),
        ("The answer is packet.", ("-", "tie")),
        ("packet, because it may be reordered", ("-", "tie")),
        ("message", ("D", "text")),
    ],
)
def test_of_options_with_the_same_text_a_letter_counts_and_the_text_is_a_tie(
    reply: str, expected: tuple[str, str]
):
    assert read(reply, SAME) == expected


@pytest.mark.parametrize(("target", "credit"), [(1, 0.5), (2, 0.5), (0, 0.0)])
def test_the_text_of_two_options_earns_each_of_them_half(target: int, credit: float):
    found = read_tolerant("packet", SAME).grade(target)
    assert found == Reading(None, credit, "tie", tied=True)


@pytest.mark.parametrize("options", [("Co", "CO", "iron"), ("１", "1", "iron")])
def test_options_that_only_look_the_same_to_a_reader_make_a_reply_unreadable(
    options: tuple[str, ...],
):
    assert read("co" if options[0] == "Co" else "1", options) == ("-", "ambiguous")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It's B", "B"),
        ("It must be D.", "D"),
        ("so, (C).", "C"),
        ("排除法可知B", "B"),
        ("Paris is nice but so is Rome, therefore B.", "B"),
    ],
)
def test_a_letter_that_ends_a_conclusion_is_the_answer(reply: str, expected: str):
    assert read(reply) == (expected, "conclusion")


@pytest.mark.parametrize(
    "reply",
    [
        "所以A错误",
        "所以A和B都错",
        "It is not A",
        "so it is C. elegans",
        "So B-trees win",
        "Thus A fails",
    ],
)
def test_a_conclusion_about_other_things_is_no_answer(reply: str):
    assert read(reply)[0] == "-"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("由此可知，选项B是正确的", "B"),
        ("D is the most likely", "D"),
        ("Answer A is wrong; B is right", "B"),
        ("A：错误\nB：正确", "B"),
        ("故C项正确", "C"),
        ("A (Paris) is incorrect, C is correct", "C"),
    ],
)
def test_the_only_option_called_right_is_the_answer(reply: str, expected: str):
    assert read(reply) == (expected, "verdict")


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("A is correct. B is correct.", "ambiguous"),
        ("选项A正确，选项B正确，选项C正确，选项D错误。", "ambiguous"),
        ("If A is correct, then B is wrong.", "unparsed"),
        ("A is incorrect", "unparsed"),
        ("A不正确", "unparsed"),
    ],
)
def test_several_denied_or_supposed_verdicts_are_no_answer(reply: str, rule: str):
    assert read(reply) == ("-", rule)


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("丙酮酸是终产物", ACIDS, "C"),
        ("Rome, on the Tiber", CITIES, "C"),
    ],
)
def test_a_line_that_begins_with_an_options_text_names_it(
    reply: str, options: tuple[str, ...], expected: str
):
    assert read(reply, options) == (expected, "leading-text")


TYPES = ("group C", "group A", "group B", "none")
LENGTHS = ("5 m", "10 m", "15 m", "20 m")


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("Probably A, but it could be B.", CITIES, "A"),  # one of the two is preferred
        ("B？我觉得更可能是C。", CITIES, "C"),
        ("B, I guess?", CITIES, "B"),
        ("It's A. It's B. It's C.", CITIES, "-"),  # no word says which one holds
        ("答案是A，也可以是C。", CITIES, "-"),
        ("London is not the answer; Rome is.", CITIES, "C"),
        ("Rome is the city meant.", CITIES, "C"),
        ("This city was built by Rome, so the answer is B.", CITIES, "-"),  # two are named
        ("Among these, Rome (Option C) is the capital.", CITIES, "C"),
        ("☑ A. Paris\n☐ B. London\n☐ C. Rome\n☐ D. Berlin", CITIES, "A"),
        ("〖答案〗Ａ", CITIES, "A"),
        ("C. Reom", CITIES, "C"),  # a slip of spelling
        ("到过非洲的是Rome。", CITIES, "C"),  # 非 denies nothing here
        ("It starts at 5 m and rises by 5 m, giving 10 m.", LENGTHS, "B"),
        ("The answer is A.", TYPES, "-"),  # option A, or group A
        ("B. group A", TYPES, "B"),
        ("Question: Which is a verb?\nA. run\nB. red\nAnswer: A", CITIES, "-"),  # another's
    ],
)
def test_what_a_reply_says_as_a_whole_decides(reply: str, options: tuple[str, ...], expected: str):
    assert read(reply, options)[0] == expected


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("one or two of them", ("one", "one or two", "two", "none"), "B"),
        ("4 apples", NUMBERS, "A"),
        ("The capital of Italy is Rome.", CITIES, "C"),
    ],
)
def test_a_short_reply_that_says_one_options_words_names_it(
    reply: str, options: tuple[str, ...], expected: str
):
    assert read(reply, options) == (expected, "named-text")


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("Rome is not the capital", CITIES),
        ("Paris is wrong", CITIES),
        ("Paris or London", CITIES),
        ("Parisian", CITIES),
        ("尿素酶", ACIDS),
        ("尿素不是", ACIDS),
        ("4 times as many", NUMBERS),
        ("4.5", NUMBERS),
    ],
)
def test_a_line_that_denies_doubles_or_outgrows_an_option_names_none(
    reply: str, options: tuple[str, ...]
):
    assert read(reply, options)[0] == "-"


@pytest.mark.parametrize(
    "reply", ["AB", "A B", "A, C", "B/D", "A、C", "A&B", "选 A 还是 B", "答案：A B", "答案是BC"]
)
def test_more_letters_than_one_are_ambiguous(reply: str):
    assert read(reply) == ("-", "ambiguous")


@pytest.mark.parametrize(("reply", "expected"), [("2", "B"), ("(3)", "C"), ("④", "D"), ("1.", "A")])
def test_a_lone_number_is_the_option_at_that_place(reply: str, expected: str):
    assert read(reply) == (expected, "index")


@pytest.mark.parametrize(
    "options", [NUMBERS, ("-1", "x"), ("(0, 1)", "x"), ("+3", "y"), (".5", "z")]
)
def test_a_number_among_numeric_options_is_no_place(options: tuple[str, ...]):
    assert read("2", options) == ("-", "index-guard")


@pytest.mark.parametrize(
    "reply",
    [
        "3. Rome",
        "(3) Rome",
        "3、rome.",
        "**3. Rome**",
        "3. Rome\nIt is old.",
        "3. Rome is old",
        "3 Rome",
        "The answer is 3. Rome",
    ],
)
def test_a_place_with_its_own_options_text_is_the_answer(reply: str):
    assert read(reply) == ("C", "index+text")


def test_a_place_tells_options_of_the_same_text_apart():
    assert read("3. Rome", ("Paris", "Rome", "Rome", "Oslo")) == ("C", "index+text")


def test_a_number_that_is_no_place_may_be_that_of_the_question():
    assert read("5. Rome") == ("C", "text")


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("2. Rome", CITIES),  # Rome is the third
        ("2.5", ("1", "5", "7", "9")),
        ("2. 22", ("4", "22", "2", "19")),  # "2" is an option itself
    ],
)
def test_a_place_with_another_text_is_no_answer(reply: str, options: tuple[str, ...]):
    assert read(reply, options)[0] == "-"


@pytest.mark.parametrize("reply", ["0", "5", "12", "1.5", "-2"])
def test_other_numbers_are_no_place(reply: str):
    assert read(reply) == ("-", "unparsed")


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>x</think>", "empty"),
        ("<think>the answer is A", "unfinished"),
        ("<think>a</think><thinking>Answer: B", "unfinished"),
        ("抱歉，我无法回答这个问题。", "unparsed"),
        ("As an AI, I cannot choose.", "unparsed"),
        ("Both are wrong", "unparsed"),
    ],
)
def test_silence_cut_thoughts_and_refusals_are_unreadable(reply: str, rule: str):
    assert read(reply) == ("-", rule)


STATES = ("solid", "liquid", "gas", "plasma")
STEPS = "A) It keeps its shape.\nB) It flows.\nC) It fills everything.\nD) It conducts."
STEPS_ZH = "A、有固定形状；\nB、可以流动；\nC、充满容器；\nD、能够导电。"


@pytest.mark.parametrize("guess", ["", "My first guess is A.\n\n", "At first sight A.\n\n"])
@pytest.mark.parametrize(
    "walk",
    [
        f"We need the state.\n\nLet me consider each option:\n{STEPS}\n\nANSWER: B",
        f"Water runs.\nHere is how they compare:\n{STEPS}\nThe answer is B.",
        f"题目问的是状态。\n各选项分析如下：\n{STEPS_ZH}\n故选B。",
    ],
)
def test_who_goes_through_the_options_answers_behind_them(guess: str, walk: str):
    assert letters([read_tolerant(guess + walk, STATES).choice]) == "B"


@pytest.mark.parametrize("answer", ["B", "The answer is B.", "B) liquid"])
@pytest.mark.parametrize("stem", ["What is two plus two?", "The capital of France is:"])
def test_a_question_that_follows_the_answer_is_another(answer: str, stem: str):
    reply = f"{answer}\n\n{stem}\nA. Three\nB. Four\nC. Five\nD. Six\nAnswer: A"
    assert letters([read_tolerant(reply, STATES).choice]) == "B"
    refused = read_tolerant(reply.replace(answer, "I don't know.", 1), STATES)
    assert refused.choice is None


@pytest.mark.parametrize(
    "reply",
    ["Answer: B <eoa>", "【答案】B<eoa>", "B <|eot|>", "The answer is B.</s> <pad>", "B<0x0A>"],
)
def test_a_mark_of_the_model_behind_the_letter_is_not_said(reply: str):
    assert letters([read_tolerant(reply, STATES).choice]) == "B"


def test_a_tag_that_is_an_option_is_said():
    assert letters([read_tolerant("It is <hr>", ("<br>", "<hr>", "<p>", "<div>")).choice]) == "B"


@pytest.mark.parametrize(
    "reply", ["<think>maybe A</think>B", "<THINKING>Answer: A</THINKING>\nAnswer: B"]
)
def test_what_was_thought_aloud_is_not_the_answer(reply: str):
    assert read(reply)[0] == "B"


# ------------------------------------------------------------------ grading and guarantees


def test_an_unreadable_reply_earns_nothing():
    assert ParsedChoice(None, "unparsed").grade(0) == Reading(None, 0.0, "unparsed")
    assert ParsedChoice(2, "letter").grade(2) == Reading(2, 1.0, "letter")
    assert ParsedChoice(2, "letter").grade(1) == Reading(2, 0.0, "letter")


def test_every_rule_is_listed_once():
    assert len(set(RULES)) == len(RULES)
    seen = {read_tolerant(case["reply"], tuple(case["options"].values())).rule for case in TOLERANT}
    assert seen <= set(RULES)


def test_every_rule_is_documented():
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text("utf-8")
    assert [rule for rule in RULES if f"`{rule}`" not in page] == []
    assert f"`{TOLERANT_VERSION}`" in page


PHRASES = st.sampled_from(
    [
        "A",
        "B",
        "C",
        "b",
        "答案",
        "：",
        "is",
        "the answer",
        " ",
        "\n",
        "not",
        "选",
        "Paris",
        "or",
        "London",
        "2",
        ".",
        ",",
        ")",
        "(",
        "**",
        "so",
        "正确",
        "<think>",
        "</think>",
        "错",
        "、",
        "and",
        "和",
    ]
)
REPLIES = st.lists(PHRASES, max_size=12).map("".join) | st.text(max_size=40)
OPTIONS = st.lists(st.sampled_from([*CITIES, *NUMBERS, "A", "a", "A or B"]), min_size=2, max_size=6)


@given(REPLIES, OPTIONS)
def test_every_reply_is_read_as_an_option_or_not_at_all(reply: str, options: list[str]):
    found = read_tolerant(reply, options)
    assert found.rule in RULES
    assert found.choice is None or 0 <= found.choice < len(options)


@given(REPLIES, OPTIONS)
def test_what_is_read_strictly_is_read_tolerantly_as_the_same(reply: str, options: list[str]):
    strict = read_strict(reply, options)
    assert strict.choice is None or read_tolerant(reply, options) == strict


@given(REPLIES, OPTIONS)
def test_both_readings_are_graded_as_each_alone(reply: str, options: list[str]):
    assert grade_reply(reply, options, 1) == {
        "tolerant": read_tolerant(reply, options).grade(1),
        "strict": read_strict(reply, options).grade(1),
    }


def test_an_option_is_made_comparable_once_for_all_orders():
    options = ("Suva", "Apia", "Nauru", "Tuvalu")
    before = option_texts._option_text.cache_info().misses
    for order in permutations(options):
        assert read_tolerant("The answer is Nauru.", order).choice == order.index("Nauru")
    assert option_texts._option_text.cache_info().misses == before + len(options)


def test_equal_readings_are_one_object():
    first, second = (grade_reply("B", CITIES, target) for target in (1, 1))
    assert first["tolerant"] is second["tolerant"]


@given(
    st.sampled_from(["", " ", "The answer is ", "答案：", "I say: ", "**"]), st.permutations(CITIES)
)
def test_an_option_told_by_its_text_is_found_wherever_it_stands(lead: str, options: list[str]):
    found = read_tolerant(lead + "Rome", options)
    assert found.choice in (options.index("Rome"), None)
    assert lead == "I say: " or found.choice is not None


@given(st.sampled_from(LETTERS[:4]), st.permutations(CITIES))
def test_a_letter_means_the_slot_whatever_stands_there(letter: str, options: list[str]):
    assert read(f"The answer is ({letter}).", tuple(options)) == (letter, "marker")


LONG = (
    "A|A |A, |A和|答案|选|answer to |answer is |the answer is |so | |\n|*|(|([|1. |A\n|A. \n|not A "
    "|正确的|A is the |答案是A，|A不是A|乙是|是A吗|A: |A? |50% A |第一|the first |Paris "
    "|\nA. x\nB. y|I think A but I think B, |It's A. |wait, |如果A，|{|<think>|</think>|A or |AA "
    "|选A|答えはAです。|A oder B |คำตอบ A |<b |x = 1 "
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*LONG.split("|"), "\\boxed{"])
@pytest.mark.timeout(60)  # none takes a second; a pattern that backtracks would take hours
def test_a_very_long_reply_is_read_in_a_moment(piece: str):
    read(piece * (1_000_000 // len(piece)) + "\nAnswer: B")


@pytest.mark.timeout(60)  # a quarter of a second
def test_a_chain_of_thought_is_read_in_milliseconds():
    step = (
        "Paris is older than Rome, so it may be A; but the text speaks of the Tiber. 因此不是B。\n"
    )
    for _ in range(100):
        assert read(step * 20 + "So the answer is C.") == ("C", "marker")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer is A? No, it should be C.", "C"),
        ("正确答案是A吗？不，应该是C。", "C"),
        ("正确答案是A吗？", "-"),
        ("Is the answer B? The answer is D.", "D"),
    ],
)
def test_a_letter_that_is_only_asked_about_is_no_answer(reply: str, expected: str):
    assert read(reply)[0] == expected


def test_a_reply_is_read_anew_for_other_options_and_once_for_the_same():
    reply = "It is the second: Rome."
    assert read_tolerant(reply, ["Paris", "Rome"]).choice == 1
    assert read_tolerant(reply, ["Rome", "Oslo"]).choice != 1
    assert read_tolerant(reply, ["Paris", "Rome"]) is read_tolerant(reply, ["Paris", "Rome"])
    assert read_tolerant("It is", ["Paris", "Rome"], is_cut=True).choice is None
