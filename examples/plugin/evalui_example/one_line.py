"""A mode: written answers of which the first line alone counts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

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

if TYPE_CHECKING:
    from evalui.report.analyses.base import Analysis, Report
    from evalui.report.blocks import Block

_NAME: Mapping[Language, str] = {"en": "Length of the lines", "zh": "每行长度"}
_FINDING: Mapping[Language, str] = {"en": "{n} characters at most.", "zh": "最长 {n} 个字符。"}
_HEADS: Mapping[Language, tuple[str, str]] = {
    "en": ("Model", "Longest line"),
    "zh": ("模型", "最长一行"),
}


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

    def analyses(self) -> "Mapping[str, Analysis]":
        """A section on its own cells; reports are imported only where one is made."""
        from evalui.report.analyses.base import Analysis

        return {"lengths": Analysis(lambda report: bool(report.answers), _lengths)}


def _lengths(report: "Report", language: Language) -> "Iterator[Block]":
    from evalui.report.blocks import Details, text_table

    longest = {
        one.cell.model: max((len(trial.reply or "") for trial in one.trials), default=0)
        for one in report.results
    }
    finding = _FINDING[language].format(n=max(longest.values()))
    rows = tuple((model, str(n)) for model, n in longest.items())
    yield Details("lengths", _NAME[language], finding, (text_table(_HEADS[language], rows),))


ONE_LINE = OneLine()
