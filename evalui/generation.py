"""How models write: the settings of a run, each declared once.

A field of `GenerationSettings` is all there is to a setting. The fields of a specification, their
JSON schema and that of the REST API, the options of `evalui run`, the fields of the page, labels,
signatures and the tables of docs/specification.md are derived from it; what computes reads it from
`Generate.settings` by its name. Label and help stand in the messages under "generation.NAME".

A mode that has settings of its own declares a subclass, see `Setting`; the same is derived from it.
"""

import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from evalui.errors import SpecError
from evalui.messages import Sentence, add_label, sentence
from evalui.types import MAX_REPEATS, Ability, Language

Value = float | int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be known of a setting beside its type, limits and default.

    `abilities`: it means something to modes that need one of these of a model. `honoured_by` the
    backend, which may lack it, by evalui itself, which applies it to every request, or by the mode
    that declares it, which plans its requests by it. `in_signature` is its name there. `of_judges`:
    judges have it, too. `of_run`: a run has one at its top for all that state none of their own.
    `label` and `help` are those of a package that brings no messages.
    """

    in_signature: str
    abilities: frozenset[Ability] = frozenset({"generate"})
    honoured_by: Literal["backend", "evalui", "mode"] = "backend"
    of_judges: bool = True
    of_run: bool = False
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])
    help: Mapping[Language, str] = field(default_factory=dict[Language, str])


_OF_PROMPTS: frozenset[Ability] = frozenset({"generate", "next_token", "loglik", "decide"})
PICTURE_SIDE = 2048  # pixels of the longer side of a picture that is sent, unless a run says so
_Tokens = TypeVar("_Tokens")
# What is usual depends on who writes what, so specifications have a default of their own.
MaxTokens = Annotated[_Tokens, Field(gt=0), Setting("max", honoured_by="evalui")]


class GenerationSettings(BaseModel):
    """How a model writes its reply; what stands at its default is left to the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False), Setting("temp")] = 0.0
    top_p: Annotated[float | None, Field(gt=0, le=1), Setting("top_p")] = None
    top_k: Annotated[int | None, Field(ge=1, le=10**6), Setting("top_k")] = None
    min_p: Annotated[float | None, Field(ge=0, le=1), Setting("min_p")] = None
    max_tokens: MaxTokens[int | None] = None
    stop: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
        Field(max_length=16),
        Setting("stop", honoured_by="evalui"),
    ] = ()
    system_prompt: Annotated[
        str,
        Field(max_length=20_000),
        Setting("system", frozenset({"generate", "next_token", "decide"}), honoured_by="evalui"),
    ] = ""
    thinking: Annotated[Literal["", "on", "off"], Setting("thinking")] = ""
    reasoning_effort: Annotated[
        Literal["", "minimal", "low", "medium", "high"], Setting("effort")
    ] = ""
    seed: Annotated[int | None, Setting("seed", honoured_by="evalui", of_run=True)] = None
    pictures: Annotated[
        Literal["", "none"], Setting("pictures", _OF_PROMPTS, honoured_by="evalui")
    ] = ""
    picture_side: Annotated[
        int | None, Field(ge=64, le=8192), Setting("px", _OF_PROMPTS, honoured_by="evalui")
    ] = None
    repeats: Annotated[
        int, Field(ge=1, le=MAX_REPEATS), Setting("repeats", honoured_by="evalui", of_judges=False)
    ] = 1

    @property
    def declared(self) -> "Mapping[str, DeclaredSetting]":
        """The settings there are, by name."""
        return declared_settings(type(self))

    def usual(self, name: str) -> Any:
        """The value of a setting where none is given."""
        return self.declared[name].default

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings that are not as usual, by name, in the order of declaration."""
        values = {name: getattr(self, name, each.default) for name, each in self.declared.items()}
        return {name: value for name, value in values.items() if value != self.usual(name)}

    @property
    def of_backend(self) -> Mapping[str, Any]:
        """Those of the given settings that the backend must honour, sorted by name."""
        return {
            name: value
            for name, value in sorted(self.given.items())
            if self.declared[name].setting.honoured_by == "backend"
        }

    @property
    def generation(self) -> "GenerationSettings":
        """These settings alone, of a specification that has other fields, too."""
        return GenerationSettings(**self.given)


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A field of `GenerationSettings` as forms, options and tables show it.

    `kind` is how its value is entered; `choices` are those of a choice, "" the default first.
    `owner` has the field.
    """

    owner: type[GenerationSettings]
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
        return self.setting.honoured_by == "mode" or ability in self.setting.abilities

    def read(self, text: str) -> Value | None:
        """The value that a form or an option of a command gives as text; "" is the default.

        Two quotation marks are the empty text where that is not the default. Stop texts are one a
        line; a line break within one is written as a backslash and an n, a backslash as two where
        an n or another one follows.

        Raises:
            SpecError: it is none, with the reason.
        """
        if not text.strip():
            return self.default
        given: object = text.strip()
        if self.kind == "number":
            given = text.strip().replace(",", ".")
        elif self.kind == "text" and self.default is None and text.strip() == _EMPTY:
            given = ""
        elif self.kind == "text":
            given = text.replace("\r\n", "\n")
        elif self.kind == "lines":
            given = tuple(
                _ESCAPED.sub(lambda at: "\n" if at[0] == "\\n" else "\\", line)
                for line in text.splitlines()
                if line
            )
        try:
            return getattr(self.owner.model_validate({self.name: given}), self.name)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise SpecError("setting-value", setting=self.label, reason=reason) from error

    def write(self, value: Value | None) -> str:
        """The inverse of `read`."""
        if value is None or value == self.default:
            return ""
        if value == "":
            return _EMPTY
        if isinstance(value, tuple):
            return "\n".join(_AMBIGUOUS.sub(r"\\\\", line).replace("\n", "\\n") for line in value)
        return write_number(value) if isinstance(value, float) else str(value)


def write_number(value: float) -> str:
    """A number as short as may be so that no other is written like it: 0.7, 1 for 1.0."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


_EMPTY = '""'
_ESCAPED = re.compile(r"\\[n\\]")
_AMBIGUOUS = re.compile(r"\\(?=[n\\\n]|$)")  # a backslash that would be read as one of these

# Names that no setting of a mode can have: what else stands beside it in a specification and in the
# form of Evaluate, and the options of `evalui run`. A test compares them with those there are.
RESERVED_NAMES = frozenset(
    (
        "adapter",
        "answers",
        "backend",
        "chat",
        "command",
        "dataset",
        "datasets",
        "device",
        "dtype",
        "earlier",
        "engine",
        "eval_url",
        "groups",
        "help",
        "insecure",
        "judging",
        "key_env",
        "key_stdin",
        "kinds",
        "language",
        "limit",
        "limit_per",
        "log",
        "logs",
        "metrics",
        "mode",
        "model",
        "models",
        "models_file",
        "modes",
        "name",
        "no_chat",
        "no_reuse",
        "only",
        "out",
        "pattern",
        "recorded",
        "replies_of",
        "reuse",
        "server",
        "shots",
        "skip_faulty",
        "spec",
        "spellings",
        "summary_groups",
        "template",
        "tensor_parallel",
        "timeout",
        "token_file",
        "uploads",
        "version",
    )
)


@cache
def declared_settings(kind: type[GenerationSettings]) -> "Mapping[str, DeclaredSetting]":
    """The settings of a class, in the order of declaration; its other fields are none.

    Raises:
        TypeError: a setting is of a type that no form has.
    """
    return {
        name: declared
        for name, each in kind.model_fields.items()
        if (declared := _declared(kind, name, each))
    }


def check_declaration(
    kind: type[GenerationSettings], others: Iterable[type[GenerationSettings]]
) -> None:
    """Check the settings that a mode declares; `others` are those of the other modes.

    Raises:
        TypeError: a field is no setting, or of a type that no form has.
        ValueError: a name is taken.
    """
    declared = declared_settings(kind)
    if missing := kind.model_fields.keys() - declared.keys():
        raise TypeError(f"{', '.join(sorted(missing))}: not declared as Setting(...)")
    own = declared.keys() - SETTINGS.keys()
    taken = {*RESERVED_NAMES, *dir(GenerationSettings)}
    taken |= {name for other in others for name in _foreign(other, kind)}
    signed = [each.setting.in_signature for each in declared.values()]
    for name in own:
        if name in taken or signed.count(declared[name].setting.in_signature) > 1:
            raise ValueError(f"the name of the setting {name} is taken")
        if not declared[name].setting.in_signature.isidentifier():
            raise ValueError(f"the setting {name} has no name for signatures")
        if declared[name].setting.honoured_by == "evalui":
            raise ValueError(f"the setting {name} is honoured by the mode, or by a backend")


def _foreign(other: type[GenerationSettings], kind: type[GenerationSettings]) -> set[str]:
    """The settings of another class that this one does not have from it or beside it."""
    own = declared_settings(other).keys() - SETTINGS.keys()
    return {name for name in own if _origin(other, name) is not _origin(kind, name)}


def _origin(kind: type[GenerationSettings], name: str) -> type | None:
    """The class that declares a field."""
    return next(
        (each for each in kind.__mro__ if name in vars(each).get("__annotations__", ())), None
    )


def _declared(
    owner: type[GenerationSettings], name: str, field: FieldInfo
) -> DeclaredSetting | None:
    settings = [each for each in field.metadata if isinstance(each, Setting)]
    if not settings:
        return None
    setting = settings[-1]
    kind, choices = _kind(name, field)
    if owner is not GenerationSettings:  # ours have messages
        add_label(f"generation.{name}", setting.label, name)
        add_label(f"generation.{name}_help", setting.help, name)
        for choice in filter(None, choices):
            add_label(f"generation.{name}_{choice}", {}, choice)
    return DeclaredSetting(owner, name, setting, field, kind, choices)


def _kind(name: str, field: FieldInfo) -> tuple[Any, tuple[str, ...]]:
    """How values of this type are entered; a type that no form has is refused at once."""
    annotation: Any = field.annotation
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (each for each in get_args(annotation) if each is not types.NoneType)
    if get_origin(annotation) is Literal:
        if get_args(annotation)[0] != field.default or field.default != "":
            raise TypeError(f"the first choice of {name} is “”, its default")
        return "choice", get_args(annotation)
    if get_origin(annotation) is tuple:
        return "lines", ()
    kinds: dict[Any, str] = {float: "number", int: "whole number", str: "text"}
    if annotation not in kinds or field.is_required():
        raise TypeError(f"{name} is a number, a text, a list of texts or a choice with a default")
    return kinds[annotation], ()


AS_USUAL = GenerationSettings()  # everything at its default
SETTINGS: Mapping[str, DeclaredSetting] = declared_settings(GenerationSettings)
OF_RUN = frozenset(name for name, each in SETTINGS.items() if each.setting.of_run)


def fitting(settings: GenerationSettings, names: Collection[str]) -> dict[str, Any]:
    """Those of the given settings that a mode takes, see `modes.own_settings`."""
    return {name: each for name, each in settings.given.items() if name in names}


def check_used(
    settings: GenerationSettings,
    taken: Iterable[Collection[str]],
    named: Callable[[str], str] | None = None,
) -> None:
    """Check that each setting is the run's, or one of those that one of the modes takes.

    `named` is what the person who gives it sees of it, its label without.

    Raises:
        SpecError: one is not.
    """
    used = OF_RUN.union(*taken)
    for name in settings.given:
        if name not in used:
            shown = named(name) if named else settings.declared[name].label
            raise SpecError("setting-of-no-mode", setting=shown)


def not_honoured(settings: GenerationSettings, honoured: Iterable[str]) -> tuple[Sentence, ...]:
    """The labels of the settings that a backend is asked for and does not have."""
    have = frozenset(honoured)
    return tuple(settings.declared[name].label for name in settings.of_backend if name not in have)
