"""A mode: multiple choice by reply, where only a reply of one letter counts."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from evalui.generation import GenerationSettings, Setting
from evalui.modes.base import ModeSettings, shown_options
from evalui.modes.prompts.templates import choose_template, render_choices
from evalui.replies import read_strict
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Language,
    Message,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

_INSTRUCTION = "Answer with one letter and nothing else."


class OneLetterSettings(GenerationSettings):
    """The settings of writing, and one of this mode alone."""

    instruction: Annotated[
        str,
        Field(max_length=2000),
        Setting(
            "instruction",
            honoured_by="mode",
            label={"en": "Instruction", "zh": "指令"},
            help={"en": "Stands before each question.", "zh": "写在每道题之前。"},
        ),
    ] = ""


class OneLetter:
    """The instruction, then the prompt of the template, as a text or as a conversation."""

    label: ClassVar[Mapping[Language, str]] = {"en": "One letter", "zh": "单个字母"}
    abilities_needed: Ability = "generate"
    gives: Gives = "choices"
    kinds: tuple[DatasetKind, ...] = ("multiple_choice",)
    shows_options = True
    readings: tuple[str, ...] = ("strict",)
    headline = "strict"
    settings = OneLetterSettings

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for a reply."""
        template = setting.template or choose_template(sample)
        shots = setting.shots.get(sample.subject, ())
        prompt = render_choices(template, sample, variant, shots, chat=setting.chat)
        words = setting.own(OneLetterSettings).instruction or _INSTRUCTION
        if isinstance(prompt, str):
            return (Generate(f"{words}\n\n{prompt}", max_tokens=setting.max_tokens),)
        return (Generate((Message("system", words), *prompt), max_tokens=setting.max_tokens),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the reply; one that is no letter stays unreadable, it is not wrong."""
        del setting
        (response,) = responses
        assert isinstance(response, GeneratedText), "Generate is answered by GeneratedText"
        options, target = shown_options(sample, variant)
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings={"strict": read_strict(response.text, options).grade(target)},
            reply=response.text,
            truncated=response.truncated,
            fixed_reason=sample.fixed_reason,
        )


ONE_LETTER = OneLetter()
