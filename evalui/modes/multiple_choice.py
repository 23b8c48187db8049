"""MCP by next-token probabilities: all options shown, the label's probability decides.

Three readings stand side by side (docs/metrics.md): *forced* takes the most probable
label, *tolerant* and *strict* read the one token the model itself would have written.

A letter has several spellings of one token ("A", " A", "(A"); those that all letters of the
question have are summed. With `spellings` "lm_eval" each letter is scored as a continuation of the
prompt, in the one spelling the template has, as lm-evaluation-harness does (`api/task.py`,
`multiple_choice`), so that the choices are equal to its. With "decision" a model that writes
nothing is given the question and its options, each under a key, and says how probable each is.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalui.modes.base import MODES, ModeSettings, ModeTraits, shown_options
from evalui.modes.prompts.templates import (
    choose_template,
    render_choices,
    render_decision,
    text_before_letter,
)
from evalui.scoring.choice.decisions import option_keys, read_decision
from evalui.scoring.choice.options import label_probs, reading_of_scores
from evalui.types import (
    LETTERS,
    Ability,
    DatasetKind,
    Decision,
    Gives,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

if TYPE_CHECKING:
    from evalui.modes.own_settings import ChoiceSettings


class MultipleChoice:
    """MCP scored on the labels' probabilities."""

    abilities_needed: Ability = "next_token"
    gives: Gives = "choices"
    kinds: tuple[DatasetKind, ...] = ("multiple_choice",)
    shows_options = True
    readings: tuple[str, ...] = ("forced", "tolerant", "strict")
    headline = "forced"
    traits = ModeTraits(
        rank=0,
        spellings={"common": "next_token", "lm_eval": "loglik", "decision": "decide"},
        grades_recorded=frozenset({"letters", "decision"}),
    )

    @property
    def settings(self) -> "type[ChoiceSettings]":
        """The class of its own settings."""
        from evalui.modes.own_settings import ChoiceSettings

        return ChoiceSettings

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for the probabilities of the options shown; as lm-eval, one for each."""
        template = setting.template or choose_template(sample)
        shots = setting.shots.get(sample.subject, ())
        if setting.spellings == "decision":
            options, _ = shown_options(sample, variant)
            keys = option_keys(setting.own(self.settings).labels, sample.id, variant, options)
            named = tuple(zip(keys, options, strict=True))
            return (render_decision(template.language, sample.question, named, shots),)
        context = render_choices(template, sample, variant, shots, chat=setting.chat)
        labels = tuple(LETTERS[: len(variant.permutation)])
        # The letter of the worked examples follows this; so must the one requested.
        lead = text_before_letter(template) if isinstance(context, str) else ""
        if setting.spellings == "lm_eval":
            return tuple(Loglik(context, lead + label) for label in labels)
        return (NextToken(context + lead if isinstance(context, str) else context, labels),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the probabilities of the options; of a decision, `setting` says under which keys."""
        from evalui.replies import grade_reply

        options, target = shown_options(sample, variant)
        if len(responses) == 1 and isinstance(responses[0], Decision):
            labels = setting.own(self.settings).labels
            keys = option_keys(labels, sample.id, variant, options)
            read = read_decision(responses[0], keys, target)
            return Trial(
                sample_id=sample.id,
                variant=variant,
                target=target,
                headline=self.headline,
                readings=read.readings,
                probabilities=read.probabilities,
                mass=read.mass,
                reply=read.reply,
                truncated=responses[0].truncated,
                fixed_reason=sample.fixed_reason,
            )
        response = _label_probs(responses)
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings={
                "forced": reading_of_scores(response.logprobs, target, "forced"),
                **grade_reply(response.top_token, options, target),
            },
            probabilities=_normalised(response.logprobs),
            mass=response.mass,
            reply=response.top_token,
            merged_boundaries=sum(isinstance(each, Logprob) and each.merged for each in responses),
            truncated=response.truncated,
            fixed_reason=sample.fixed_reason,
        )


def _label_probs(responses: Sequence[Response]) -> LabelProbs:
    """The labels' probabilities; of scored continuations, the greedy one is the top token."""
    if len(responses) == 1 and isinstance(responses[0], LabelProbs):
        return responses[0]
    scored = [response for response in responses if isinstance(response, Logprob)]
    assert len(scored) == len(responses), "NextToken is answered by LabelProbs, Loglik by Logprob"
    return label_probs(
        tuple([each.total for each in scored]),
        tuple([each.greedy for each in scored]),
        truncated=any(each.truncated for each in scored),
    )


def _normalised(logprobs: Sequence[float]) -> tuple[float, ...]:
    best = max(logprobs)
    if best == -math.inf:
        return ()
    weights = [math.exp(logprob - best) for logprob in logprobs]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


MODES.register("multiple_choice")(MultipleChoice())
