"""What is sent for a program, what of a reply is the program, and what its tests make of it."""

from collections.abc import Sequence

import pytest
from bubblewrap_here import needs_bubblewrap

from evalui.modes import MODES, ModeSettings, mode_hindrance
from evalui.modes.code_generation import program_of
from evalui.types import Generate, GeneratedText, Message, Sample, Trial, Variant

MODE = MODES["code_generation"]
ALONE = Variant(())
STARTER = 'import math\n\ndef area(r):\n    """Of a circle."""'
CIRCLE = Sample(
    "c/1",
    STARTER,
    target=(f"{STARTER}\n    return math.pi * r * r",),
    metadata={
        "python_tests": "def check(f):\n    assert round(f(1), 2) == 3.14\ncheck(area)",
        "starter_code": STARTER,
    },
)
ADD = Sample(
    "m/11",
    "Write a function to add.\n\nThe code must pass these tests:\n\nassert add(1, 2) == 3",
    target=("def add(a, b):\r\n  return a + b",),
    metadata={"python_tests": "assert add(1, 2) == 3"},
)
SHOT = Sample("m/1", "Write a function for one.", target=("def one():\n    return 1",))


def request(sample: Sample, *shots: Sample, chat: bool) -> Generate:
    setting = ModeSettings(shots={"": shots}, chat=chat, max_tokens=99)
    (planned,) = MODE.plan(sample, ALONE, setting)
    assert isinstance(planned, Generate)
    return planned


def grade(sample: Sample, reply: str, finish_reason: str = "stop") -> Trial:
    response = GeneratedText(reply, finish_reason=finish_reason)
    return MODE.grade(sample, ALONE, (response,), ModeSettings(shots={}))


def test_a_conversation_is_asked_for_the_whole_code():
    prompt = request(ADD, SHOT, chat=True).prompt
    assert isinstance(prompt, tuple)
    assert [turn.role for turn in prompt] == ["user", "assistant", "user"]
    assert prompt[1].content == "```python\ndef one():\n    return 1\n```"
    assert prompt[2].content.startswith(ADD.question)
    assert prompt[2].content.endswith(
        "Write Python. Answer with the whole code, in one code block."
    )
    (turn,) = request(CIRCLE, chat=True).prompt
    assert isinstance(turn, Message)
    assert turn.content.startswith(f"{STARTER}\n\nComplete this Python code.")


def test_a_plain_prompt_is_the_beginning_of_the_program_or_leads_to_it():
    begun = request(CIRCLE, chat=False)
    assert begun.prompt == f"{STARTER}\n"
    assert begun.stop == ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
    asked = request(ADD, SHOT, chat=False)
    assert asked.prompt == (
        "Write a function for one.\n[BEGIN]\ndef one():\n    return 1\n[DONE]\n\n"
        f"{ADD.question}\n[BEGIN]\n"
    )
    assert asked.stop == ("[DONE]",)


def test_the_system_speaks_first():
    history = (Message("system", "Be brief."),)
    sample = Sample("m/2", "q", metadata=ADD.metadata, history=history)
    prompt = request(sample, SHOT, chat=True).prompt
    assert isinstance(prompt, tuple)
    assert prompt[0] == history[0]


BLOCK = "```python\ndef f():\n    return 1\n```"


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("def f(): ...", "def f(): ..."),
        (f"Here it is:\n\n{BLOCK}\nIt returns 1.", "def f():\n    return 1\n"),
        (f"{BLOCK}\nFor example:\n```python\nprint(f())\n```", "def f():\n    return 1\n"),
        ("```\nx = 1\n```\nBetter:\n```py\nx = 2\n```", "x = 2\n"),
        (f"```bash\nls\n```\n{BLOCK}", "def f():\n    return 1\n"),
        ("```python\ndef g(): ...\n```\nand\n```python\nclass A: ...\n```", None),
        ("```python\ndef f():\n    return 1", "def f():\n    return 1"),
        ("  ```Python\nx = 1\n  ```", "x = 1\n"),
        ("1. So:\n   ```python\n   def f():\n       return 1\n   ```", "def f():\n    return 1\n"),
        ("```python\n    return 1\n```", "    return 1\n"),
        ("```java\nclass A {}\n```", "```java\nclass A {}\n```"),
    ],
)
def test_the_program_is_what_the_blocks_of_python_define(reply: str, program: str | None):
    assert program_of(reply) == (program or "def g(): ...\n\nclass A: ...\n")


def test_a_reply_goes_on_with_the_starter_or_stands_in_its_place():
    rest = "    return math.pi * r * r\n"
    assert program_of(rest, STARTER) == f"{STARTER}\n{rest}"
    whole = f"def area(r):\n{rest}"
    assert program_of(whole, STARTER) == f"import math\n\n\n{whole}"
    assert program_of(f"```python\n{whole}```", STARTER) == f"import math\n\n\n{whole}"
    helper = "    return square(r)\n\ndef square(r):\n    return r * r\n"
    assert program_of(helper, STARTER) == f"{STARTER}\n{helper}"


def test_what_hinders_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVALUI_RUN_CODE", raising=False)
    assert "EVALUI_RUN_CODE" in str(mode_hindrance("code_generation"))
    assert mode_hindrance("question_answer") is None


def test_an_empty_reply_is_wrong_and_nothing_is_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVALUI_RUN_CODE", raising=False)
    trial = grade(ADD, " \n")
    assert (trial.choice, trial.reading.rule, trial.scores) == (None, "empty", {"passed": (0.0,)})


@needs_bubblewrap
@pytest.mark.parametrize(
    ("sample", "reply", "finish_reason", "rule"),
    [
        (CIRCLE, "    return math.pi * r * r\n", "stop", "passed"),
        (CIRCLE, f"{STARTER}\n    return math.pi * r ** 2", "stop", "passed"),
        (
            CIRCLE,
            "```python\nfrom math import pi\ndef area(r): return pi*r*r\n```",
            "length",
            "passed",
        ),
        (CIRCLE, "    return r\n", "stop", "failed"),
        (CIRCLE, "    return math.pi *", "length", "cut"),
        (CIRCLE, "I cannot.", "stop", "error"),
        (ADD, "def add(a, b):\r\n  return a + b", "stop", "passed"),
        (ADD, "def plus(a, b):\n  return a + b", "stop", "error"),
        (ADD, "import os\nos._exit(0)", "stop", "stopped"),
    ],
)
def test_the_tests_decide(
    sample: Sample, reply: str, finish_reason: str, rule: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVALUI_RUN_CODE", "true")
    trial = grade(sample, reply, finish_reason)
    passed = float(rule == "passed")
    assert (trial.reading.rule, trial.reading.credit) == (rule, passed)
    assert trial.scores == {"passed": (passed,)}
    assert trial.reply == reply


@pytest.mark.parametrize(
    ("samples", "chat", "name"),
    [
        ((ADD, CIRCLE), True, "code-chat.1"),
        ((ADD,), False, "code-plain.1"),
        ((ADD, CIRCLE), False, "code-plain.1+code-starter.1"),
    ],
)
def test_prompts_have_names(samples: Sequence[Sample], chat: bool, name: str):
    assert getattr(MODE, "prompt_names")(samples, None, chat=chat) == name  # noqa: B009
