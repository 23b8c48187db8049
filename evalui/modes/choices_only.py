"""MCP without the question: can the options alone give the answer away?

A model that does better than chance here needs no question: the options betray the right one, by
their length, their wording, or because it has seen them. Everything but the question is sent as
in `multiple_choice`, so that the two accuracies can be compared question by question.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evalui.modes.base import MODES, ModeSettings, ModeTraits
from evalui.modes.multiple_choice import MultipleChoice
from evalui.modes.prompts.templates import Template, cached_by_identity, choose_template
from evalui.types import Ability, DatasetKind, Gives, Request, Response, Sample, Trial, Variant

if TYPE_CHECKING:
    from evalui.modes.own_settings import ChoiceSettings


class ChoicesOnly:
    """The letters' probabilities when the question, and those of the examples, are blank."""

    abilities_needed: Ability = "next_token"
    gives: Gives = "choices"
    kinds: tuple[DatasetKind, ...] = ("multiple_choice",)
    shows_options = True
    traits = ModeTraits(
        rank=3,
        spellings={"common": "next_token", "lm_eval": "loglik", "decision": "decide"},
        omits=frozenset({"question"}),
    )

    def __init__(self, base_mode: MultipleChoice) -> None:
        self.readings = base_mode.readings
        self.headline = base_mode.headline
        self._base_mode = base_mode

    @property
    def settings(self) -> "type[ChoiceSettings]":
        """Those of the mode that it is without the question."""
        return self._base_mode.settings

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for the probabilities of the letters shown."""
        # The script of the question chooses the template, and would be lost with the question.
        template = setting.template or choose_template(sample)
        return self._base_mode.plan(
            _without_question(sample), variant, _settings_without_questions(setting, template)
        )

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the label probabilities."""
        return self._base_mode.grade(sample, variant, responses, setting)


@cached_by_identity(256)
def _without_question(sample: Sample) -> Sample:
    return replace(sample, question="")


@cached_by_identity(8)
def _settings_without_questions(setting: ModeSettings, template: Template) -> ModeSettings:
    shots = {
        subject: tuple(map(_without_question, examples))
        for subject, examples in setting.shots.items()
    }
    return replace(setting, shots=shots, template=template)


MODES.register("choices_only")(ChoicesOnly(MultipleChoice()))
