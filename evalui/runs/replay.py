"""The prompts of a question, made again as they were sent, for the drill-down."""

from dataclasses import dataclass

from evalui.modes import MODES
from evalui.runs.plan import setting_of, work
from evalui.runs.spec import ModeSpec
from evalui.types import Dataset, Pattern, Request, Sample, Variant


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model was asked about one order of a question."""

    variant: Variant
    requests: tuple[Request, ...]


def prompts(
    mode: ModeSpec, pattern: Pattern, dataset: Dataset, sample: Sample
) -> tuple[Asked, ...]:
    """The requests of every variant of one question, in the order of the variants."""
    scorer = MODES[mode.mode]
    setting = setting_of(mode, dataset.shots)
    return tuple(
        Asked(variant, scorer.plan(sample, variant, setting))
        for _, variant in work(scorer, pattern, (sample,))
    )
