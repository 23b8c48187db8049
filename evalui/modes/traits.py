"""What a mode declares beside its role, and the modes that fit what is wanted.

No module outside this package knows a mode by name: it asks what the mode declares.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from evalui.errors import UnknownName
from evalui.modes.base import MODES
from evalui.modes.prompts.templates import Template
from evalui.types import Ability, DatasetKind, Gives, Recorded, Sample, Spellings

_LAST = 100  # modes of other packages, in the order of their names


@dataclass(frozen=True, slots=True)
class ModeTraits:
    """What the rest of evalui must know of a mode; a mode without `traits` has these.

    `rank` orders the modes that fit a file: the first is what an empty form offers and what a model
    is tested with. `max_tokens` is the longest reply unless the run says otherwise, None as for
    all modes that give the same. `spellings` are those of a letter that the mode can score, each
    with what it needs of a model then; none where it does not choose. `omits` are the parts of a
    question that its prompts leave out: without the question itself, better than chance means that
    the options give the answer away. `needs_references` refuses datasets
    that have none. `grades_recorded` is what of another program's records it grades. `credit` is
    the score that stands for a written answer where only one can, "" whether there is an answer.
    `rule_versions` has the version of the rule behind a reading where that has one.
    """

    rank: int = _LAST
    max_tokens: int | None = None
    spellings: Mapping[Spellings, Ability] = field(default_factory=dict[Spellings, Ability])
    omits: frozenset[Literal["question", "options"]] = frozenset()
    needs_references: bool = False
    grades_recorded: Recorded | None = None
    credit: str = ""
    rule_versions: Mapping[str, str] = field(default_factory=dict[str, str])


@runtime_checkable
class NamesPrompts(Protocol):
    """A mode whose prompts are neither evalui's templates nor signed by its package."""

    def prompt_names(
        self, samples: Iterable[Sample], template: Template | None, *, chat: bool
    ) -> str:
        """What its prompts for these samples are called in a signature."""
        ...


_AS_USUAL = ModeTraits()
_MAX_TOKENS: Mapping[Gives, int] = {"choices": 64, "answers": 512, "verdicts": 64}


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


def usual_mode(gives: Gives, ability: Ability | None = None) -> str:
    """The first mode that gives this, and needs no other ability of a model than that.

    Raises:
        UnknownName: there is none.
    """
    return _first(
        name
        for name in MODES
        if MODES[name].gives == gives and ability in (None, MODES[name].abilities_needed)
    )


def grader_of(recorded: Recorded) -> str:
    """The mode that grades what another program has recorded.

    Raises:
        UnknownName: there is none.
    """
    return _first(name for name in MODES if traits_of(name).grades_recorded == recorded)


def whole_of(mode: str) -> str:
    """The first mode that reads replies as this one does and omits nothing, "" if there is none."""

    def reads(name: str) -> tuple[object, ...]:
        each = MODES[name]
        return each.gives, each.readings, each.headline, dict(traits_of(name).spellings)

    alike = [name for name in MODES if reads(name) == reads(mode) and not traits_of(name).omits]
    return min(alike, key=lambda name: traits_of(name).rank, default="")


def ability_of(mode: str, spellings: Spellings) -> Ability:
    """What a mode needs of a model, with letters in these spellings.

    Raises:
        UnknownName: no such mode.
    """
    return traits_of(mode).spellings.get(spellings, MODES[mode].abilities_needed)


def usual_max_tokens(mode: str) -> int:
    """The longest reply of a mode unless a run says otherwise.

    Raises:
        UnknownName: no such mode.
    """
    own = traits_of(mode).max_tokens
    return _MAX_TOKENS[MODES[mode].gives] if own is None else own


def _first(names: Iterable[str]) -> str:
    name = min(names, key=lambda each: traits_of(each).rank, default="")
    if not name:
        raise UnknownName("unknown-name", kind=MODES.kind, name="", known=", ".join(MODES))
    return name
