"""The settings that a mode takes: those of writing that mean something to it, and its own.

Loaded when it is wanted: pydantic takes a tenth of a second to import.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import create_model

from evalui.generation import GenerationSettings, Setting, declared_settings
from evalui.modes.base import MODES, HasSettings, ability_of
from evalui.types import Labels, Spellings

# Settings that specifications of earlier versions may state with every mode.
_ONCE_OF_ALL = frozenset({"max_tokens", "unconditional"})


class ClozeSettings(GenerationSettings):
    """`unconditional` is the context after which options are scored without their question; None
    takes the template's, "" the model's begin-of-text token.
    """

    unconditional: Annotated[str | None, Setting("un", honoured_by="mode")] = None


class ChoiceSettings(GenerationSettings):
    """`labels` are the keys under which a decision is given its options; `common` letters and those
    that are scored as lm-eval does have none of it.
    """

    labels: Annotated[Labels, Setting("labels", honoured_by="mode")] = ""


def settings_of(mode: str) -> type[GenerationSettings]:
    """The class of a mode's settings; those of writing of one that is not installed (any more)."""
    if mode not in MODES:
        return GenerationSettings
    own = MODES[mode]
    return own.settings if isinstance(own, HasSettings) else GenerationSettings


def settings_taken(mode: str, spellings: Spellings = "common") -> frozenset[str]:
    """The names of the settings that mean something to a mode, its own ones among them.

    Raises:
        UnknownName: no such mode.
    """
    ability = ability_of(mode, spellings)
    declared = declared_settings(settings_of(mode))
    return frozenset(name for name, each in declared.items() if each.is_for(ability))


def without_unused(mode: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a specification of a mode, less what it ignored in earlier versions.

    Raises:
        UnknownName: no such mode.
    """
    spellings: Any = given.get("spellings")
    # What is no spelling is refused later, with its place.
    taken = settings_taken(mode, "lm_eval" if spellings == "lm_eval" else "common")
    unused = _ONCE_OF_ALL - taken
    return {
        name: value
        for name, value in given.items()
        if name not in unused and not (name in _ONCE_OF_ALL and value is None)
    }


def all_settings() -> type[GenerationSettings]:
    """A class with the settings of every mode: what a form, or a command for all modes, can set."""
    return _joined(tuple(dict.fromkeys(map(settings_of, MODES))))


@cache
def _joined(kinds: tuple[type[GenerationSettings], ...]) -> type[GenerationSettings]:
    fields = {name: field for kind in kinds for name, field in kind.model_fields.items()}
    own = {
        name: (field.annotation, field)
        for name, field in fields.items()
        if name not in GenerationSettings.model_fields
    }
    if not own:
        return GenerationSettings
    made: Any = create_model  # its type has no fields of names that are not known before
    return made("AllSettings", __base__=_JoinedSettings, **own)


class _JoinedSettings(GenerationSettings):
    """What a class of `_joined` inherits: another process makes the same class for its values."""

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], GenerationSettings], tuple[Any]]:
        return _restored, (self.model_dump(exclude_unset=True),)


def _restored(given: dict[str, Any]) -> GenerationSettings:
    return all_settings().model_validate(given)
