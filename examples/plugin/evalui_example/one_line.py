"""A mode: written answers of which the first line alone counts."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from evalui.modes import ModeSettings, ModeTraits
from evalui.scoring.scorers import score_answers
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Language,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)


class OneLine:
    """The question after an instruction; scored by every scorer there is."""

    label: ClassVar[Mapping[Language, str]] = {"en": "One line", "zh": "一行"}
    abilities_needed: Ability = "generate"
    gives: Gives = "answers"
    kinds: tuple[DatasetKind, ...] = ("general_qa", "subjective")
    shows_options = False
    readings: tuple[str, ...] = ("answer",)
    headline = "answer"
    traits = ModeTraits(max_tokens=128, needs_references=True, credit="exact_match")

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for an answer."""
        del variant
        prompt = f"Answer in one line: {sample.question}"
        return (Generate(prompt, max_tokens=setting.max_tokens),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Compare the first line with the references."""
        del setting
        (response,) = responses
        assert isinstance(response, GeneratedText), "Generate is answered by GeneratedText"
        line = response.text.strip().partition("\n")[0]
        scores = score_answers(sample, (line,))
        reading = Reading(
            0 if line else None, scores["exact_match"], "answered" if line else "empty"
        )
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline=self.headline,
            readings={"answer": reading},
            reply=line,
            truncated=response.truncated,
            scores={name: (score,) for name, score in scores.items()},
        )


ONE_LINE = OneLine()
