"""The mode role, its parameters, what a mode declares beside them, and the registry of modes.

No module outside this package knows a mode by name: it asks what the mode declares.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

from evalui.errors import UnknownName
from evalui.messages import Sentence
from evalui.modes.prompts.rubrics import Rubric
from evalui.modes.prompts.templates import Template
from evalui.pictures import has_marks, without
from evalui.registry import Registry
from evalui.types import (
    Ability,
    Contestant,
    DatasetKind,
    Decide,
    Generate,
    Gives,
    JudgeOutput,
    Loglik,
    Message,
    NextToken,
    Prompt,
    Recorded,
    Request,
    Response,
    Sample,
    Spellings,
    Trial,
    Variant,
    texts_of,
)

if TYPE_CHECKING:
    from evalui.generation import GenerationSettings

_LAST = 100  # the rank of modes of other packages, which come in the order of their names
_MAX_TOKENS: Mapping[Gives, int] = {"choices": 64, "answers": 512, "verdicts": 64}
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
    spellings: Spellings = "common"  # what stands for an option, see `multiple_choice`
    contestants: tuple[Contestant, ...] = ()
    rubric: Rubric | None = None
    rubric_version: int = 1
    seed: int = 0
    output: JudgeOutput = "text"
    generation: "GenerationSettings | None" = None

    def own(self, kind: type[_Own]) -> _Own:
        """The settings of a mode that declares its own; as usual where none is given."""
        return self.generation if isinstance(self.generation, kind) else kind()


@dataclass(frozen=True, slots=True)
class ModeTraits:
    """What the rest of evalui must know of a mode; a mode without `traits` has these.

    `rank` orders the modes that fit a file: the first is what an empty form offers and what a model
    is tested with. `max_tokens` is the longest reply unless the run says otherwise, None as for
    all modes that give the same. `spellings` are what can stand for an option, each with what the
    mode needs of a model then; none where it does not choose. `omits` are the parts of a
    question that its prompts leave out: without the question itself, better than chance means that
    the options give the answer away. `needs_references` refuses datasets
    that have none. `grades_recorded` are the records of other programs that it grades. `credit` is
    the score that stands for a written answer where only one can, "" whether there is an answer.
    `rule_versions` has the version of the rule behind a reading where that has one.
    """

    rank: int = _LAST
    max_tokens: int | None = None
    spellings: Mapping[Spellings, Ability] = field(default_factory=dict[Spellings, Ability])
    omits: frozenset[Literal["question", "options"]] = frozenset()
    needs_references: bool = False
    grades_recorded: frozenset[Recorded] = frozenset()
    credit: str = ""
    rule_versions: Mapping[str, str] = field(default_factory=dict[str, str])


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
class HasHindrance(Protocol):
    """A mode that needs something of this machine."""

    def hindrance(self) -> Sentence | None:
        """Why it cannot run here, None if it can."""
        ...


@runtime_checkable
class HasSettings(Protocol):
    """A mode that has settings of its own beside those of writing."""

    @property
    def settings(self) -> type["GenerationSettings"]:
        """The class that declares them."""
        ...


@runtime_checkable
class NamesPrompts(Protocol):
    """A mode whose prompts are neither evalui's templates nor signed by its package."""

    def prompt_names(
        self, samples: Iterable[Sample], template: Template | None, *, chat: bool
    ) -> str:
        """What its prompts for these samples are called in a signature."""
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
_AS_USUAL = ModeTraits()


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


def shown_options(sample: Sample, variant: Variant) -> tuple[tuple[str, ...], int]:
    """The options in the order of the variant, and the slot of the right one."""
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    if variant.is_origin:
        return sample.choices, sample.target
    options = tuple(sample.choices[content] for content in variant.permutation)
    return options, variant.permutation.index(sample.target)


def traits_of(mode: str) -> ModeTraits:
    """What a mode declares; the defaults of one that is not installed (any more)."""
    return getattr(MODES[mode], "traits", _AS_USUAL) if mode in MODES else _AS_USUAL


def modes_for(kinds: Collection[DatasetKind]) -> list[str]:
    """The modes in which models are evaluated on one of these kinds, in their order.

    Those that give verdicts are not among them: they judge what others give.
    """
    return [
        name
        for name in sorted(MODES, key=lambda name: traits_of(name).rank)
        if MODES[name].gives != "verdicts" and set(MODES[name].kinds) & set(kinds)
    ]


def mode_hindrance(mode: str) -> Sentence | None:
    """Why a mode cannot run on this machine, None if it can.

    Raises:
        UnknownName: no such mode.
    """
    found = MODES[mode]
    return found.hindrance() if isinstance(found, HasHindrance) else None


def usual_mode(gives: Gives, ability: Ability | None = None) -> str:
    """The first mode that gives this, and needs no other ability of a model than that; where all
    need another, the first that needs it with something else in place of an option.

    Raises:
        UnknownName: there is none.
    """
    fitting = [name for name in MODES if MODES[name].gives == gives]
    usual = [name for name in fitting if ability in (None, MODES[name].abilities_needed)]
    spelled = (name for name in fitting if ability in traits_of(name).spellings.values())
    return _first(usual or spelled)


def grader_of(recorded: Recorded) -> str:
    """The mode that grades what another program has recorded.

    Raises:
        UnknownName: there is none.
    """
    return _first(name for name in MODES if recorded in traits_of(name).grades_recorded)


def whole_of(mode: str) -> str:
    """The first mode that reads replies as this one does and omits nothing, "" if there is none."""

    def reads(name: str) -> tuple[object, ...]:
        each = MODES[name]
        return each.gives, each.readings, each.headline, dict(traits_of(name).spellings)

    alike = [name for name in MODES if reads(name) == reads(mode) and not traits_of(name).omits]
    return min(alike, key=lambda name: traits_of(name).rank, default="")


def ability_of(mode: str, spellings: Spellings) -> Ability:
    """What a mode needs of a model, with this in place of an option.

    Raises:
        UnknownName: no such mode.
    """
    return traits_of(mode).spellings.get(spellings, MODES[mode].abilities_needed)


def spellings_for(mode: str, wanted: Spellings, abilities: Collection[Ability]) -> Spellings:
    """What stands for an option for a model of these abilities: what is wanted, unless the model
    only decides.

    Of all that can stand for an option in the mode, such a model has none but a key of a decision.
    """
    offered = traits_of(mode).spellings
    can = {spelling for spelling, needed in offered.items() if needed in abilities}
    return "decision" if can == {"decision"} else wanted


def usual_max_tokens(mode: str) -> int:
    """The longest reply of a mode unless a run says otherwise.

    Raises:
        UnknownName: no such mode.
    """
    own = traits_of(mode).max_tokens
    return _MAX_TOKENS[MODES[mode].gives] if own is None else own


def _with_generation(
    requests: Iterable[Request], settings: "GenerationSettings | None", variant: Variant
) -> tuple[Request, ...]:
    if settings is None or not settings.given:
        return tuple(requests)
    return tuple(_with_settings(request, settings, variant.repeat) for request in requests)


def _with_settings(request: Request, settings: "GenerationSettings", repeat: int) -> Request:
    """A request with what the run sets; what the mode itself states of sampling stays."""
    if settings.pictures == "none":
        request = _without_pictures(request)
    if settings.picture_side and any(map(has_marks, texts_of(request))):
        request = replace(request, picture_side=settings.picture_side)
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


def _without_pictures(request: Request) -> Request:
    if isinstance(request, Generate):
        return replace(request, prompt=_prompt_without_pictures(request.prompt))
    if isinstance(request, Decide):
        options = tuple((key, without(text)) for key, text in request.options)
        return replace(request, context=without(request.context), options=options)
    return replace(request, context=_prompt_without_pictures(request.context))


def _prompt_without_pictures(prompt: Prompt) -> Prompt:
    if isinstance(prompt, str):
        return without(prompt)
    return tuple(replace(turn, content=without(turn.content)) for turn in prompt)


def _with_system_prompt(request: NextToken | Generate | Decide, text: str) -> Request:
    """The request with words of the system before all others; those of the file follow them."""
    if isinstance(request, Decide):
        return replace(request, question=f"{text}\n\n{request.question}")
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


def _first(names: Iterable[str]) -> str:
    name = min(names, key=lambda each: traits_of(each).rank, default="")
    if not name:
        raise UnknownName("unknown-name", kind=MODES.kind, name="", known=", ".join(MODES))
    return name
