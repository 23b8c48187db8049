"""MCP without the question: can the options alone give the answer away?

A model that does better than chance here needs no question: the options betray the right one, by
their length, their wording, or because it has seen them. Everything but the question is asked as
in `multiple_choice`, so that the two accuracies can be compared question by question.
"""

from collections.abc import Sequence
from dataclasses import replace

from evalui.modes.base import MODES, Mode, Setting
from evalui.modes.multiple_choice import MultipleChoice
from evalui.modes.prompts.templates import choose
from evalui.types import Ability, Kind, Request, Response, Sample, Trial, Variant


class ChoicesOnly:
    """The letters' probabilities when the question, and those of the examples, are blank."""

    abilities_needed: Ability = "next_token"
    kinds: tuple[Kind, ...] = ("multiple_choice",)
    shows_options = True

    def __init__(self, whole: Mode) -> None:
        self.readings = whole.readings
        self.headline = whole.headline
        self._whole = whole

    def plan(self, sample: Sample, variant: Variant, setting: Setting) -> tuple[Request, ...]:
        """One request for the probabilities of the letters shown."""
        return self._whole.plan(_blank(sample), variant, _blanked(sample, setting))

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: Setting
    ) -> Trial:
        """Read the label probabilities."""
        return self._whole.grade(sample, variant, responses, setting)


def _blank(sample: Sample) -> Sample:
    return replace(sample, question="")


def _blanked(sample: Sample, setting: Setting) -> Setting:
    shots = {subject: tuple(map(_blank, examples)) for subject, examples in setting.shots.items()}
    # The script of the question chooses the template, and would be lost with the question.
    return replace(setting, shots=shots, template=setting.template or choose(sample))


MODES.register("choices_only")(ChoicesOnly(MultipleChoice()))
