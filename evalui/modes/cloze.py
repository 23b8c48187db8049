"""CP: the options are not shown, the probability of each option's text decides.

One log-probability per option, and one after the unconditional context, give every
normalisation at once: raw, UN, LN per token, per character and per byte.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalui.modes.base import MODES, ModeSettings, ModeTraits, shown_options
from evalui.modes.prompts.templates import choose_template, continuation, render_cloze
from evalui.scoring.choice.options import NORMALISATIONS, normalise_scores, reading_of_scores
from evalui.types import (
    Ability,
    DatasetKind,
    Gives,
    Loglik,
    Logprob,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

if TYPE_CHECKING:
    from evalui.modes.own_settings import ClozeSettings


class Cloze:
    """CP under every normalisation; raw is the headline."""

    abilities_needed: Ability = "loglik"
    gives: Gives = "choices"
    kinds: tuple[DatasetKind, ...] = ("multiple_choice",)
    shows_options = False
    readings: tuple[str, ...] = NORMALISATIONS
    headline = "raw"
    traits = ModeTraits(rank=2, grades_recorded=frozenset({"texts"}), omits=frozenset({"options"}))

    @property
    def settings(self) -> "type[ClozeSettings]":
        """The class of its own settings."""
        from evalui.modes.own_settings import ClozeSettings

        return ClozeSettings

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """A request per option after the question, then one per option without the question."""
        template = setting.template or choose_template(sample)
        shots = setting.shots.get(sample.subject, ())
        context = render_cloze(template, sample, shots, chat=setting.chat)
        own = setting.own(self.settings).unconditional
        nothing = template.unconditional if own is None else own
        texts, _ = shown_options(sample, variant)
        conditional = [
            Loglik(context, continuation(template, text, chat=setting.chat)) for text in texts
        ]
        unconditional = [
            Loglik(nothing, continuation(template, text, chat=False)) for text in texts
        ]
        return (*conditional, *unconditional)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Compare the options' scores; `setting` plays no part."""
        del setting
        logprobs = [response for response in responses if isinstance(response, Logprob)]
        assert len(logprobs) == 2 * len(variant.permutation), "two requests per option"
        conditional, unconditional = logprobs[: len(logprobs) // 2], logprobs[len(logprobs) // 2 :]
        options, target = shown_options(sample, variant)
        # Options of the same text are one request: an endpoint that answers it anew each time
        # must not decide between them by the last digit.
        same = [options.index(text) for text in options]
        scores = normalise_scores(
            options,
            totals=tuple(conditional[slot].total for slot in same),
            tokens=tuple(conditional[slot].n_tokens for slot in same),
            unconditional=tuple(unconditional[slot].total for slot in same),
        )
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings={
                name: reading_of_scores(scores[name], target, name) for name in NORMALISATIONS
            },
            scores=scores,
            merged_boundaries=sum(response.merged for response in conditional),
            truncated=any(response.truncated for response in conditional),
            fixed_reason=sample.fixed_reason,
        )


MODES.register("cloze")(Cloze())
