"""The prompts of a question, made again as they were sent, for the drill-down."""

from dataclasses import dataclass

from evalui.modes import MODES
from evalui.runs.cells import mode_settings, trials_to_run
from evalui.runs.spec import ModeSpec
from evalui.types import Contestant, Dataset, Pattern, Request, Sample, Variant


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a model was asked about one order of a question."""

    variant: Variant
    requests: tuple[Request, ...]


def prompts(
    mode: ModeSpec,
    pattern: Pattern,
    dataset: Dataset,
    sample: Sample,
    contestants: tuple[Contestant, ...] = (),
) -> tuple[SentPrompt, ...]:
    """The requests of every variant of one question, in the order of the variants.

    Those that only earlier responses call for are left out.
    """
    scorer = MODES[mode.mode]
    setting = mode_settings(mode, dataset.shots, contestants)
    return tuple(
        SentPrompt(variant, scorer.plan(sample, variant, setting))
        for _, variant in trials_to_run(mode, pattern, (sample,), setting)
    )
