"""MCP by next-token probabilities: all options shown, the label's probability decides.

Three readings stand side by side (docs/metrics.md): *forced* takes the most probable
label, *tolerant* and *strict* read the one token the model itself would have written.
"""

import math
from collections.abc import Sequence

from evalui.modes.base import MODES, Setting, shown
from evalui.modes.templates import ask_choices, choose, letter_lead
from evalui.types import (
    LETTERS,
    Ability,
    Kind,
    LabelProbs,
    NextToken,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
    tie_credit,
)


class MultipleChoice:
    """MCP scored on the labels' probabilities."""

    abilities_needed: Ability = "next_token"
    kinds: tuple[Kind, ...] = ("multiple_choice",)
    shows_options = True
    readings: tuple[str, ...] = ("forced", "tolerant", "strict")
    headline = "forced"

    def plan(self, sample: Sample, variant: Variant, setting: Setting) -> tuple[Request, ...]:
        """One request for the probabilities of the letters shown."""
        template = setting.template or choose(sample)
        shots = setting.shots.get(sample.subject, ())
        context = ask_choices(template, sample, variant, shots, chat=setting.chat)
        if isinstance(context, str):
            # The letter of the worked examples follows this; so must the one asked for.
            context += letter_lead(template)
        return (NextToken(context, tuple(LETTERS[: len(variant.permutation)])),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: Setting
    ) -> Trial:
        """Read the label probabilities; `setting` plays no part."""
        from evalui.scoring.reply import read_strict, read_tolerant

        del setting
        (response,) = responses
        assert isinstance(response, LabelProbs), "NextToken is answered by LabelProbs"
        options, target = shown(sample, variant)
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings={
                "forced": tie_credit(response.logprobs, target, "forced"),
                "tolerant": read_tolerant(response.top_token, options).against(target),
                "strict": read_strict(response.top_token, options).against(target),
            },
            probabilities=_normalised(response.logprobs),
            mass=response.mass,
            reply=response.top_token,
            truncated=response.truncated,
            fixed=sample.fixed,
        )


def _normalised(logprobs: Sequence[float]) -> tuple[float, ...]:
    best = max(logprobs)
    if best == -math.inf:
        return ()
    weights = [math.exp(logprob - best) for logprob in logprobs]
    return tuple(weight / sum(weights) for weight in weights)


MODES.register("multiple_choice")(MultipleChoice())
