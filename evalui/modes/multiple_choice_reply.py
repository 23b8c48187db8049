"""MCP by reply: all options shown, the model writes, a rule finds the letter."""

from collections.abc import Sequence

from evalui.modes.base import MODES, Setting, shown
from evalui.modes.prompts.templates import Template, ask_choices, choose
from evalui.types import Ability, Generate, Kind, Request, Response, Sample, Text, Trial, Variant


class Generation:
    """MCP scored on what the model wrote."""

    abilities_needed: Ability = "generate"
    kinds: tuple[Kind, ...] = ("multiple_choice",)
    shows_options = True
    readings: tuple[str, ...] = ("tolerant", "strict")
    headline = "tolerant"

    def plan(self, sample: Sample, variant: Variant, setting: Setting) -> tuple[Request, ...]:
        """One request for a reply. A plain prompt stops where the next question would begin."""
        template = setting.template or choose(sample)
        shots = setting.shots.get(sample.subject, ())
        prompt = ask_choices(template, sample, variant, shots, chat=setting.chat)
        stop = () if setting.chat else _next_questions(template)
        return (Generate(prompt, max_tokens=setting.max_tokens, stop=stop),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: Setting
    ) -> Trial:
        """Read the reply; `setting` plays no part."""
        from evalui.scoring.parsing.choice import read_strict, read_tolerant

        del setting
        (response,) = responses
        assert isinstance(response, Text), "Generate is answered by Text"
        options, target = shown(sample, variant)
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=target,
            headline=self.headline,
            readings={
                "tolerant": read_tolerant(response.text, options).against(target),
                "strict": read_strict(response.text, options).against(target),
            },
            reply=response.text,
            truncated=response.truncated,
            fixed=sample.fixed,
        )


def _next_questions(template: Template) -> tuple[str, ...]:
    """How a base model begins when it goes on with questions of its own."""
    begins = (template.question.partition("{")[0], template.subjectless)
    return tuple(template.separator + words for words in begins if words)


MODES.register("generation")(Generation())
