"""Programs: the model writes Python, and the tests of the question say whether it is right.

A conversation is asked for the whole code in one block. A plain prompt is the beginning of the
program where the question has one, as HumanEval's paper has it (Chen et al., arXiv 2107.03374);
else the question and the mark after which MBPP's paper has the code (Austin et al., arXiv
2108.07732).
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from evalui.datasets.open_samples import STARTER, TESTS
from evalui.messages import Sentence
from evalui.modes import bubblewrap
from evalui.modes.base import MODES, ModeSettings, ModeTraits
from evalui.modes.prompts.templates import Template
from evalui.scoring.scorers import PASSED
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Message,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

# Scores depend on every character: a change gets a new name.
_WRITE = "Write Python. Answer with the whole code, in one code block."
_COMPLETE = "Complete this Python code. Answer with the whole code, in one code block."
_BEGIN, _DONE = "[BEGIN]", "[DONE]"
# At the beginning of a line, how a base model goes on with something else (Chen et al.).
_NEXT = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_BLOCK = re.compile(r"^( *)```[ ]*(\w*)[^\n]*\n(.*?)(?:^ *```|\Z)", re.DOTALL | re.MULTILINE)
_PYTHON = ("", "python", "py", "python3")
_DEFINITION = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)


class CodeGeneration:
    """A program, right if its tests pass."""

    abilities_needed: Ability = "generate"
    gives: Gives = "answers"
    kinds: tuple[DatasetKind, ...] = ("code",)
    shows_options = False
    readings: tuple[str, ...] = ("program",)
    headline = "program"
    traits = ModeTraits(
        rank=5,
        max_tokens=1024,
        credit=PASSED,
        # What passes depends on the Python that runs it, too.
        rule_versions={"program": f"code.1-py{sys.version_info.major}.{sys.version_info.minor}"},
    )

    def hindrance(self) -> Sentence | None:
        """Why no program can be run."""
        return bubblewrap.hindrance()

    def prompt_names(
        self, samples: Iterable[Sample], template: Template | None, *, chat: bool
    ) -> str:
        """The question with an instruction, or the plain prompts of the samples."""
        del template
        if chat:
            return "code-chat.1"
        starts = {bool(sample.metadata.get(STARTER)) for sample in samples}
        return "+".join(sorted("code-starter.1" if each else "code-plain.1" for each in starts))

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for a program."""
        del variant
        shots = setting.shots.get(sample.subject, ())
        if setting.chat:
            turns = tuple(_turns(sample, shots))
            return (Generate(turns, max_tokens=setting.max_tokens),)
        if starter := sample.metadata.get(STARTER):
            return (Generate(f"{starter}\n", max_tokens=setting.max_tokens, stop=_NEXT),)
        shown = "".join(
            f"{each.question}\n{_BEGIN}\n{each.references[0]}\n{_DONE}\n\n"
            for each in shots
            if each.references
        )
        prompt = f"{shown}{sample.question}\n{_BEGIN}\n"
        return (Generate(prompt, max_tokens=setting.max_tokens, stop=(_DONE,)),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Run the program of the reply, then the tests."""
        del setting
        (response,) = responses
        assert isinstance(response, GeneratedText), "Generate is answered by GeneratedText"
        rule, passed = "empty", 0.0
        if response.text.strip():
            program = program_of(response.text, sample.metadata.get(STARTER, ""))
            rule = bubblewrap.run_program(program, sample.metadata[TESTS])
            passed = float(rule == "passed")
            if not passed and response.finish_reason == "length":
                rule = "cut"
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline=self.headline,
            readings={"program": Reading(None if rule == "empty" else 0, passed, rule)},
            reply=response.text,
            scores={PASSED: (passed,)},
            truncated=response.truncated,
        )


def program_of(reply: str, starter: str = "") -> str:
    """The program that a reply holds.

    Of its blocks of Python those count that define something, one after the other, else the last;
    a reply without a block is code. It goes on where `starter` ends. One that defines anew what
    `starter` defines last stands in its place, behind what comes before it: imports, helpers.
    """
    blocks = [
        re.sub(f"^ {{0,{len(indent)}}}", "", text, flags=re.MULTILINE)  # that of a list, say
        for indent, tag, text in _BLOCK.findall(reply)
        if tag.lower() in _PYTHON
    ]
    defining = [text for text in blocks if _DEFINITION.search(text)]
    code = "\n".join(defining or blocks[-1:]) if blocks else reply
    if not starter:
        return code
    *_, last = chain([None], _DEFINITION.finditer(starter))
    if last and last[1] in {each[1] for each in _DEFINITION.finditer(code)}:
        return f"{starter[: last.start()]}\n{code}"
    return f"{starter}\n{code}"


def _turns(sample: Sample, shots: Sequence[Sample]) -> Iterator[Message]:
    yield from (turn for turn in sample.history if turn.role == "system")
    for shot in shots:
        if shot.references:
            yield Message("user", _asked(shot))
            yield Message("assistant", f"```python\n{shot.references[0]}\n```")
    yield from (turn for turn in sample.history if turn.role != "system")
    yield Message("user", _asked(sample))


def _asked(sample: Sample) -> str:
    return f"{sample.question}\n\n{_COMPLETE if sample.metadata.get(STARTER) else _WRITE}"


MODES.register("code_generation")(CodeGeneration())
