"""Prompts: C-Eval's own text, other templates, and what a user's template may hold."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from scoring_examples import variant_from_label

from evalui.errors import SpecError
from evalui.modes.prompts import templates
from evalui.modes.prompts.templates import (
    TEMPLATES,
    choose_template,
    continuation,
    parse_template,
    render_choices,
    render_cloze,
    text_before_letter,
)
from evalui.scoring.choice.options import variants
from evalui.types import Message, Sample, Variant

GOLDEN = json.loads(
    (Path(__file__).parents[3] / "golden" / "opencompass" / "prompts.json").read_text("utf-8")
)
ORIGIN = Variant((0, 1, 2, 3))
CITY = Sample("1", "What is the capital of Peru?", ("Rome", "Lima", "Cairo", "Oslo"), 1)


def _sample(row: dict[str, str]) -> Sample:
    return Sample(
        row["id"],
        row["question"],
        tuple(row[letter] for letter in "ABCD"),
        "ABCD".index(row["answer"]),
        {"subject": "computer_network", "subject_zh": GOLDEN["subject_zh"]},
    )


DEV = [_sample(row) for row in GOLDEN["dev"]]


@pytest.mark.parametrize(
    "case", GOLDEN["cases"], ids=lambda case: "".join(case["circular_pattern"])
)
class TestCEval:
    """Character for character what OpenCompass sends."""

    def test_five_shot_text(self, case: dict):
        rendered = self._render("ceval-zh.1", case, DEV, chat=False)
        assert rendered == case["gen_5shot_base"]

    def test_five_shot_conversation(self, case: dict):
        rendered = self._render("ceval-zh.1", case, DEV, chat=True)
        roles = {"HUMAN": "user", "BOT": "assistant"}
        expected = tuple(
            Message(roles[turn["role"]], turn["prompt"]) for turn in case["gen_5shot_api_messages"]
        )
        assert rendered == expected

    def test_perplexity_text(self, case: dict):
        template = TEMPLATES["ceval-zh-ppl.1"]
        rendered = self._render("ceval-zh-ppl.1", case, DEV, chat=False)
        for letter, expected in case["ppl_5shot_base"].items():
            assert f"{rendered}{text_before_letter(template)}{letter}" == expected

    def test_zero_shot_text(self, case: dict):
        assert self._render("ceval-zh-cot.1", case, [], chat=False) == case["zero_shot_base"]

    def test_zero_shot_conversation(self, case: dict):
        (message,) = self._render("ceval-zh-cot.1", case, [], chat=True)
        assert message == Message("user", case["zero_shot_api_messages"][0]["prompt"])

    def _render(self, name: str, case: dict, shots: list[Sample], *, chat: bool):
        sample = _sample(GOLDEN["val"][case["qid"]])
        variant = variant_from_label("".join(case["circular_pattern"]))
        return render_choices(TEMPLATES[name], sample, variant, shots, chat=chat)


def test_options_stand_in_the_order_of_the_variant():
    rendered = render_choices(TEMPLATES["plain-en.1"], CITY, Variant((3, 0, 1, 2)), [], chat=False)
    assert rendered == (
        "Question: What is the capital of Peru?\nA. Oslo\nB. Rome\nC. Lima\nD. Cairo\nAnswer:"
    )


@pytest.mark.parametrize("chat", [False, True])
def test_what_orders_share_is_rendered_once(chat: bool):
    template = parse_template({**OWN, "name": f"shared.{chat}"})
    shots = (CITY, replace(CITY, id="2"))
    asked = [replace(CITY, question=f"{n}?") for n in range(3)]
    leads, blocks = templates._lead.computed, templates._block_parts.computed
    rendered = {
        render_choices(template, sample, variant, shots, chat=chat)
        for sample in asked
        for variant in variants(4, "all_possible")
    }
    assert len(rendered) == 3 * 24
    assert templates._lead.computed == leads + 1
    assert templates._block_parts.computed == blocks + len(shots) + len(asked)


def test_worked_examples_keep_their_own_order_and_end_in_their_letter():
    rendered = render_choices(
        TEMPLATES["plain-en.1"], CITY, Variant((3, 0, 1, 2)), [CITY], chat=False
    )
    assert "A. Rome\nB. Lima\nC. Cairo\nD. Oslo\nAnswer: B\n\nQuestion:" in rendered


def test_cloze_does_not_show_the_options():
    rendered = render_cloze(TEMPLATES["plain-en.1"], CITY, [CITY], chat=False)
    question = "Question: What is the capital of Peru?\nAnswer:"
    assert rendered == f"{question} Lima\n\n{question}"
    assert continuation(TEMPLATES["plain-en.1"], "Lima", chat=False) == " Lima"


def test_chinese_cloze_joins_without_a_space():
    assert continuation(TEMPLATES["plain-zh.1"], "利马", chat=False) == "利马"


def test_braces_in_a_question_are_left_alone():
    sample = Sample("1", "Which is {question} or {0}?", ("{options}", "b"), 0)
    rendered = render_choices(TEMPLATES["plain-en.1"], sample, Variant((0, 1)), [], chat=False)
    assert rendered == "Question: Which is {question} or {0}?\nA. {options}\nB. b\nAnswer:"


def test_the_template_is_chosen_by_subject_then_by_script():
    ceval = Sample("1", "1+1=?", metadata={"ceval_subject": "1"})
    assert choose_template(ceval).name == "ceval-zh.1"
    assert choose_template(Sample("2", "谁？")).name == "plain-zh.1"
    assert choose_template(CITY).name == "plain-en.1"


def test_a_question_without_a_subject_gets_the_sentence_without_one():
    rendered = render_choices(TEMPLATES["ceval-zh.1"], CITY, ORIGIN, [], chat=False)
    assert rendered.startswith("以下是单项选择题，请选出其中的正确答案。\nWhat is")


OWN = {
    "name": "own.1",
    "language": "en",
    "question": "{question}\n{options}\n->",
    "cloze": "{question}\n->",
    "answer": " {answer}",
    "unconditional": "->",
}


def test_a_user_template_is_taken_as_it_is():
    template = parse_template(OWN)
    assert render_choices(template, CITY, ORIGIN, [], chat=False).endswith("D. Oslo\n->")


@pytest.mark.parametrize("name", list(TEMPLATES))
def test_a_shipped_template_passes_the_checks_of_user_templates(name: str):
    assert parse_template(asdict(TEMPLATES[name])) == TEMPLATES[name]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"question": "{options}"}, "use {question}"),
        ({"question": "{question} {topic}"}, "use {question}"),
        ({"colour": "red"}, "Unknown template field 'colour'"),
        ({"name": "plain-en.1"}, "shipped template"),
        ({"answer": "no field"}, "{answer}"),
        ({"cloze_answer": " yes"}, "{answer}"),
        ({"chat_question": "hello"}, "chat_question: use {question}, {options}"),
        ({"option": "{letter}. {txt}"}, "option: use {letter}, {text}"),
        ({"question": 7}, "question must be a text"),
        ({"cloze": ""}, "lacks cloze"),
    ],
)
def test_a_bad_user_template_is_refused_with_the_reason(change: dict, complaint: str):
    with pytest.raises(SpecError, match=complaint.replace("{", r"\{").replace("}", r"\}")):
        parse_template({**OWN, **change})


def test_a_user_template_lacking_fields_is_told_which():
    with pytest.raises(SpecError, match="lacks language, question"):
        parse_template({"name": "own.1", "cloze": "{question}", "answer": "", "unconditional": ""})
