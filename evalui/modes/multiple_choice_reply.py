"""MCP by reply: all options shown, the model writes, a rule finds the letter."""

from collections.abc import Sequence

from evalui.modes.base import MODES, ModeSettings, ModeTraits, shown_options
from evalui.modes.prompts.templates import Template, choose_template, render_choices
from evalui.replies import TOLERANT_VERSION, grade_reply
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)


class MultipleChoiceReply:
    """MCP scored on what the model wrote."""

    abilities_needed: Ability = "generate"
    gives: Gives = "choices"
    kinds: tuple[DatasetKind, ...] = ("multiple_choice",)
    shows_options = True
    readings: tuple[str, ...] = ("tolerant", "strict")
    headline = "tolerant"
    traits = ModeTraits(
        rank=1,
        grades_recorded=frozenset({"reply"}),
        rule_versions={"tolerant": TOLERANT_VERSION},
    )

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """One request for a reply. A plain prompt stops where the next question would begin."""
        template = setting.template or choose_template(sample)
        shots = setting.shots.get(sample.subject, ())
        prompt = render_choices(template, sample, variant, shots, chat=setting.chat)
        stop = () if setting.chat else _stop_strings(template)
        return (Generate(prompt, max_tokens=setting.max_tokens, stop=stop),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Read the reply; `setting` plays no part."""
        del setting
        (response,) = responses
        assert isinstance(response, GeneratedText), "Generate is answered by Text"
        options, target = shown_options(sample, variant)
        is_cut = response.finish_reason == "length"
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings=grade_reply(response.text, options, target, is_cut=is_cut),
            reply=response.text,
            truncated=response.truncated,
            fixed_reason=sample.fixed_reason,
        )


def _stop_strings(template: Template) -> tuple[str, ...]:
    """How a base model begins when it goes on with questions of its own."""
    begins = (template.question.partition("{")[0], template.subjectless)
    return tuple(template.separator + words for words in begins if words)


MODES.register("generation")(MultipleChoiceReply())
