"""The mode role, its parameters, and the registry of modes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from evalui.modes.prompts.rubrics import Rubric
from evalui.modes.prompts.templates import Template
from evalui.registry import Registry
from evalui.types import (
    Ability,
    Contestant,
    DatasetKind,
    Generate,
    Gives,
    JudgeOutput,
    Loglik,
    Message,
    NextToken,
    Prompt,
    Request,
    Response,
    Sample,
    Spellings,
    Trial,
    Variant,
)

if TYPE_CHECKING:
    from evalui.generation import GenerationSettings

_Own = TypeVar("_Own", bound="GenerationSettings")


@dataclass(frozen=True, slots=True)
class ModeSettings:
    """What all modes need to know beside the sample.

    `shots` are the worked examples by subject, already cut to the requested number; `chat` sends
    conversations instead of plain text; `template` None chooses one by sample (see
    `templates.choose_template`), `seed` is that of draws. A judge's are the `contestants` whose
    answers it compares, its `rubric` (None chooses by sample, see `rubrics.choose_rubric`, in the
    `rubric_version`) and the `output` that it gives its verdict in, where its rubric has it.
    `generation` is applied to every request of every mode, see `plan_requests`; None is as usual.
    A mode with settings of its own reads them by `own`.
    """

    shots: dict[str, tuple[Sample, ...]]
    template: Template | None = None
    chat: bool = False
    max_tokens: int = 64
    spellings: Spellings = "common"  # which tokens stand for a letter, see `multiple_choice`
    contestants: tuple[Contestant, ...] = ()
    rubric: Rubric | None = None
    rubric_version: int = 1
    seed: int = 0
    output: JudgeOutput = "text"
    generation: "GenerationSettings | None" = None

    def own(self, kind: type[_Own]) -> _Own:
        """The settings of a mode that declares its own; as usual where none is given."""
        return self.generation if isinstance(self.generation, kind) else kind()


@runtime_checkable
class Mode(Protocol):
    """Plans the requests that decide one variant of a sample, and grades the responses."""

    abilities_needed: Ability
    gives: Gives  # what its trials hold, which decides their figures
    kinds: tuple[DatasetKind, ...]  # the kinds of dataset it can evaluate
    shows_options: bool  # False: the order of the options cannot matter, only origin is run
    readings: tuple[str, ...]  # the names of the rules each trial is read under
    headline: str

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        """The requests whose responses decide this variant."""
        ...

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        """Turn the responses to `plan`, in its order, into one trial."""
        ...


@runtime_checkable
class MultiTurn(Protocol):
    """A mode whose later requests depend on the earlier responses."""

    def follow_up(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> tuple[Request, ...]:
        """What the responses so far call for; () once `grade` can decide on all of them."""
        ...


@runtime_checkable
class HasSettings(Protocol):
    """A mode that has settings of its own beside those of writing."""

    @property
    def settings(self) -> type["GenerationSettings"]:
        """The class that declares them."""
        ...


def _check_own_settings(mode: Mode, others: Iterable[Mode]) -> None:
    """Check what another package declares; of our own modes a test does, and pydantic is not loaded
    when they are registered.
    """
    if not type(mode).__module__.startswith("evalui.modes.") and isinstance(mode, HasSettings):
        from evalui.generation import check_declaration

        have = [each.settings for each in others if isinstance(each, HasSettings)]
        check_declaration(mode.settings, have)


MODES: Registry[Mode] = Registry("mode", Mode, _check_own_settings)


def plan_requests(
    mode: Mode, sample: Sample, variant: Variant, setting: ModeSettings
) -> tuple[Request, ...]:
    """What is sent to decide a variant: the mode's requests with the run's generation settings."""
    return _with_generation(mode.plan(sample, variant, setting), setting.generation, variant)


def follow_up_requests(
    mode: MultiTurn,
    sample: Sample,
    variant: Variant,
    responses: Sequence[Response],
    setting: ModeSettings,
) -> tuple[Request, ...]:
    """What is sent after these responses: the mode's requests with the run's settings."""
    further = mode.follow_up(sample, variant, responses, setting)
    return _with_generation(further, setting.generation, variant)


def _with_generation(
    requests: Iterable[Request], settings: "GenerationSettings | None", variant: Variant
) -> tuple[Request, ...]:
    if settings is None or not settings.given:
        return tuple(requests)
    return tuple(_with_settings(request, settings, variant.repeat) for request in requests)


def _with_settings(request: Request, settings: "GenerationSettings", repeat: int) -> Request:
    """A request with what the run sets; what the mode itself states of sampling stays."""
    if isinstance(request, Loglik):
        return request  # a text is scored as it is
    if settings.system_prompt:
        request = _with_system_prompt(request, settings.system_prompt)
    if not isinstance(request, Generate):
        return request
    rest = tuple(each for each in settings.of_backend.items() if each[0] != "temperature")
    temperature = request.temperature or settings.temperature
    return replace(
        request,
        temperature=temperature,
        stop=(*request.stop, *(text for text in settings.stop if text not in request.stop)),
        settings=rest,
        repeat=repeat,
        seed=(settings.seed or 0) if temperature > 0 else 0,
    )


def _with_system_prompt(request: NextToken | Generate, text: str) -> Request:
    """The request with words of the system before all others; those of the file follow them."""
    if isinstance(request, Generate):
        return replace(request, prompt=_after_system(request.prompt, text))
    return replace(request, context=_after_system(request.context, text))


def _after_system(prompt: Prompt, text: str) -> Prompt:
    if isinstance(prompt, str):
        return f"{text}\n\n{prompt}"
    if prompt and prompt[0].role == "system":
        first, *rest = prompt
        return (Message("system", f"{text}\n\n{first.content}"), *rest)
    return (Message("system", text), *prompt)


def shown_options(sample: Sample, variant: Variant) -> tuple[tuple[str, ...], int]:
    """The options in the order of the variant, and the slot of the right one."""
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    if variant.is_origin:
        return sample.choices, sample.target
    options = tuple(sample.choices[content] for content in variant.permutation)
    return options, variant.permutation.index(sample.target)
