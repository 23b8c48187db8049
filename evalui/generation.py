"""How models write: the settings of a run, each declared once.

A field of `GenerationSettings` is all there is to a setting. The fields of a specification, their
JSON schema and that of the REST API, the options of `evalui run`, the fields of the page, labels,
signatures and the tables of docs/specification.md are derived from it; what computes reads it from
`Generate.settings` by its name. Label and help stand in the messages under "generation.NAME".
"""

import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from evalui.errors import SpecError
from evalui.messages import Sentence, sentence
from evalui.types import MAX_REPEATS, Ability

Value = float | int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be known of a setting beside its type, limits and default.

    `abilities`: it means something to modes that need one of these of a model. `honoured_by` the
    backend, which may lack it, or by evalui itself, which applies it to every request.
    `in_signature` is its name there. `of_judges`: judges have it, too.
    """

    in_signature: str
    abilities: frozenset[Ability] = frozenset({"generate"})
    honoured_by: Literal["backend", "evalui"] = "backend"
    of_judges: bool = True


class GenerationSettings(BaseModel):
    """How a model writes its reply; what stands at its default is left to the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False), Setting("temp")] = 0.0
    top_p: Annotated[float | None, Field(gt=0, le=1), Setting("top_p")] = None
    top_k: Annotated[int | None, Field(ge=1, le=10**6), Setting("top_k")] = None
    min_p: Annotated[float | None, Field(ge=0, le=1), Setting("min_p")] = None
    stop: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
        Field(max_length=16),
        Setting("stop", honoured_by="evalui"),
    ] = ()
    system_prompt: Annotated[
        str,
        Field(max_length=20_000),
        Setting("system", frozenset({"generate", "next_token"}), honoured_by="evalui"),
    ] = ""
    thinking: Annotated[Literal["", "on", "off"], Setting("thinking")] = ""
    reasoning_effort: Annotated[
        Literal["", "minimal", "low", "medium", "high"], Setting("effort")
    ] = ""
    repeats: Annotated[
        int, Field(ge=1, le=MAX_REPEATS), Setting("repeats", honoured_by="evalui", of_judges=False)
    ] = 1

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings that are not at their default, by name, in the order of declaration."""
        values = ((name, getattr(self, name)) for name in SETTINGS)
        return {name: value for name, value in values if value != SETTINGS[name].default}

    @property
    def of_backend(self) -> Mapping[str, Any]:
        """Those of the given settings that the backend must honour, sorted by name."""
        return {
            name: value
            for name, value in sorted(self.given.items())
            if SETTINGS[name].setting.honoured_by == "backend"
        }

    @property
    def generation(self) -> "GenerationSettings":
        """These settings alone, of a specification that has other fields, too."""
        return GenerationSettings(**self.given)


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A field of `GenerationSettings` as forms, options and tables show it.

    `kind` is how its value is entered; `choices` are those of a choice, "" the default first.
    """

    name: str
    setting: Setting
    field: FieldInfo
    kind: Literal["number", "whole number", "text", "lines", "choice"]
    choices: tuple[str, ...] = ()

    @property
    def default(self) -> Any:
        """The value that asks nothing of a model."""
        return self.field.default

    @property
    def label(self) -> Sentence:
        """What people read of it."""
        return sentence(f"generation.{self.name}")

    @property
    def help(self) -> Sentence:
        """What it does, in a sentence."""
        return sentence(f"generation.{self.name}_help")

    def is_for(self, ability: Ability) -> bool:
        """Whether it means anything to a mode that needs this of a model."""
        return ability in self.setting.abilities

    def read(self, text: str) -> Value | None:
        """The value that a form or an option of a command gives as text; "" is the default.

        Stop texts are one a line; a line break within one is written as a backslash and an n.

        Raises:
            SpecError: it is none, with the reason.
        """
        if not text.strip():
            return self.default
        given: object = text.strip()
        if self.kind == "number":
            given = text.strip().replace(",", ".")
        elif self.kind == "text":
            given = text.replace("\r\n", "\n")
        elif self.kind == "lines":
            given = tuple(line.replace("\\n", "\n") for line in text.splitlines() if line)
        try:
            return getattr(GenerationSettings.model_validate({self.name: given}), self.name)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise SpecError("setting-value", setting=self.label, reason=reason) from error

    def write(self, value: Value | None) -> str:
        """The inverse of `read`."""
        if value is None or value == self.default:
            return ""
        if isinstance(value, tuple):
            return "\n".join(line.replace("\n", "\\n") for line in value)
        return f"{value:g}" if isinstance(value, float) else str(value)


def _declared(name: str, field: FieldInfo) -> DeclaredSetting:
    settings = [each for each in field.metadata if isinstance(each, Setting)]
    assert len(settings) == 1, f"{name} is declared as a setting"
    kind, choices = _kind(field.annotation)
    return DeclaredSetting(name, settings[0], field, kind, choices)


def _kind(annotation: Any) -> tuple[Any, tuple[str, ...]]:
    """How values of this type are entered; a type that no form has is refused at once."""
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (each for each in get_args(annotation) if each is not types.NoneType)
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    if get_origin(annotation) is tuple:
        return "lines", ()
    kinds: dict[Any, str] = {float: "number", int: "whole number", str: "text"}
    return kinds[annotation], ()


AS_USUAL = GenerationSettings()  # everything at its default
SETTINGS: Mapping[str, DeclaredSetting] = {
    name: _declared(name, field) for name, field in GenerationSettings.model_fields.items()
}


def fitting(settings: GenerationSettings, ability: Ability) -> GenerationSettings:
    """Those of the settings that mean something to a mode that needs this of a model."""
    given: dict[str, Any] = {
        name: each for name, each in settings.given.items() if SETTINGS[name].is_for(ability)
    }
    return GenerationSettings(**given)


def check_used(settings: GenerationSettings, abilities: Collection[Ability]) -> None:
    """Check that each setting means something to a mode that needs one of these of a model.

    Raises:
        SpecError: one does not.
    """
    for name in settings.given:
        if not any(map(SETTINGS[name].is_for, abilities)):
            raise SpecError("setting-of-no-mode", setting=SETTINGS[name].label)


def not_honoured(settings: GenerationSettings, honoured: Iterable[str]) -> tuple[Sentence, ...]:
    """The labels of the settings that a backend is asked for and does not have."""
    have = frozenset(honoured)
    return tuple(SETTINGS[name].label for name in settings.of_backend if name not in have)
