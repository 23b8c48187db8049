"""The saved form of a run: what people share and repeat, and the signature of its figures."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails

from evalui.benchmarks.groups import SummaryGroup, declared_groups
from evalui.datasets.containers.json import has_lone_surrogate
from evalui.datasets.model import COLUMN_ROLES, DuplicatePolicy
from evalui.errors import SpecError
from evalui.generation import (
    OF_RUN,
    SETTINGS,
    DeclaredSetting,
    GenerationSettings,
    MaxTokens,
    check_used,
    declared_settings,
    fitting,
)
from evalui.messages import sentence
from evalui.modes import MODES, ability_of, usual_max_tokens, usual_mode
from evalui.modes.own_settings import (
    all_settings,
    settings_of,
    settings_taken,
    without_unused,
)
from evalui.modes.prompts.templates import TEMPLATES, Template, parse_template
from evalui.runs.contest import AnswersSpec, JudgingSpec
from evalui.types import Ability, DatasetKind, Gives, LogSource, Pattern, Spellings, Split

MAX_NAME = 120  # characters of what a person calls a run, a dataset or a model
VERSION = 3  # what the screen and the examples write
RUBRICS_BY_VERSION = 3  # from here on rubrics that are chosen by sample are of the second version
LimitPer = Literal["subject", "dataset"]
_MAX_DEPTH = 32  # of lists and objects in each other


def check_json(values: Any) -> Any:
    """What was sent as JSON if it can be stored.

    Raises:
        SpecError: it has halves of characters, or is nested for ever.
    """
    if _is_deeper(values, _MAX_DEPTH):
        raise SpecError("spec-too-deep")
    if isinstance(values, dict) and has_lone_surrogate(values):
        raise SpecError("half-character")
    return cast("Any", values)


def _is_deeper(value: Any, depth: int) -> bool:
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).values()
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
    return not depth or any(_is_deeper(each, depth - 1) for each in inner)


class DatasetSpec(BaseModel):
    """One dataset: its files and how to read them.

    `path` is a file, folder, zip or SWIFT's custom_config.json, or a list of files. A server takes
    an `upload` in its place: the id of uploaded files, with `.2` for the second entry of a SWIFT
    configuration among them. `sha256` pins the contents. `columns` says which column is what, by
    `datasets.COLUMN_ROLES`; the older settings name some of them alone. The others are those of
    `datasets.Layout`; without them the content of the files decides.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str | list[str] = ""
    name: str = ""
    sha256: str = ""
    skip_faulty: bool = False
    options: list[str] = []
    answer: str = ""
    answer_key: str = "letter"
    question: str = ""
    sheet: str = ""
    kind: DatasetKind | Literal[""] = ""
    duplicate_options: DuplicatePolicy = "keep"
    entry: str = ""
    columns: dict[str, str] = {}
    split: Split | Literal[""] = ""
    head_row: int = Field(default=0, ge=-1)
    cluster: str = ""
    commas_in_text: bool = False
    upload: str = ""

    @field_validator("columns")
    @classmethod
    def _known_roles(cls, columns: dict[str, str]) -> dict[str, str]:
        for role in columns:
            if role not in COLUMN_ROLES:
                raise ValueError(f"“{role}” is none of {', '.join(COLUMN_ROLES)}")
        return columns

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and folders, one or many."""
        return tuple(filter(None, [self.path])) if isinstance(self.path, str) else tuple(self.path)

    @property
    def key(self) -> str:
        """What the dataset is called among the datasets of one run before it is read."""
        return self.name or self.entry or self.upload or ", ".join(self.paths)


class ModeSpec(GenerationSettings):
    """One mode with its parameters. `chat` None takes the model's own habit.

    Written answers may be longer than those that only name an option. `judging`, `recorded`
    (answers that are there already) and `log` (the harness that has collected them) stand in the
    plans of cells, never in a user's own file. Settings that the mode declares itself are fields
    like the others; where it is not installed (any more) they are kept as they stand.
    """

    # For the mode's own settings; what it does not declare is refused, see `_read_own`.
    model_config = ConfigDict(extra="allow", frozen=True)

    mode: str
    shots: int = Field(default=0, ge=0)
    pattern: Pattern = "origin"
    template: str | dict[str, Any] = ""
    chat: bool | None = None
    max_tokens: MaxTokens[int] = 64  # pyright: ignore[reportIncompatibleVariableOverride] # its default is the mode's
    spellings: Spellings = "common"
    judging: JudgingSpec | None = None
    recorded: bool = False
    log: LogSource | None = None

    @model_validator(mode="before")
    @classmethod
    def _length_by_mode(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        given = cast("dict[str, Any]", values)
        name = given.get("mode")
        if isinstance(name, str) and name in MODES:
            own = cls._read_own(name, without_unused(name, given))
            return {"max_tokens": usual_max_tokens(name)} | own
        return given

    @classmethod
    def _read_own(cls, mode: str, given: dict[str, Any]) -> dict[str, Any]:
        """The fields with the mode's own settings as it declares them; others are refused."""
        kind = settings_of(mode)
        declared, fields = declared_settings(kind), cls.model_fields
        if unknown := [name for name in given if name not in fields and name not in declared]:
            extra = [
                InitErrorDetails(type="extra_forbidden", loc=(name,), input=given[name])
                for name in unknown
            ]
            raise ValidationError.from_exception_data(cls.__name__, extra)
        own = {name: value for name, value in given.items() if name not in fields}
        rest = {name: value for name, value in given.items() if name in fields}
        return rest | dict(kind.model_validate(own).given)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema with the settings that only one or another mode has."""
        schema = handler(core_schema)
        of_all = all_settings().model_json_schema()["properties"]
        whole = handler.resolve_ref_schema(schema)
        own = {name: each for name, each in of_all.items() if name not in SETTINGS}
        whole["properties"] |= {
            name: each | {"description": str(declared_settings(all_settings())[name].help)}
            for name, each in own.items()
        }
        whole["additionalProperties"] = False
        return schema

    def usual(self, name: str) -> Any:
        """The value of a setting where none is given; the longest reply depends on the mode."""
        if name != "max_tokens":
            return super().usual(name)
        return usual_max_tokens(self.mode) if self.mode in MODES else self.max_tokens

    @property
    def declared(self) -> Mapping[str, DeclaredSetting]:
        """The settings that the mode has."""
        return declared_settings(settings_of(self.mode))

    @property
    def generation(self) -> GenerationSettings:
        """The settings alone, of the class that the mode declares."""
        return settings_of(self.mode)(**self.given)

    @property
    def gives(self) -> Gives:
        """What the mode declares to give."""
        return MODES[self.mode].gives

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        """A setting that means nothing to the mode is refused: nothing is shown and not sent."""
        if self.mode in MODES:
            taken = settings_taken(self.mode, self.spellings)
            if name := next((name for name in self.given if name not in taken), ""):
                label = self.declared[name].label
                raise ValueError(
                    sentence("error.setting-not-of-mode", mode=self.mode, setting=label)
                )
        return self

    @property
    def ability(self) -> Ability:
        """What a model needs for the mode."""
        if self.judging and self.judging.decided_output == "decision":
            return "decide"
        return ability_of(self.mode, self.spellings)

    def read_template(self) -> Template | None:
        """The template to use, None to choose one by sample.

        Raises:
            UnknownName, SpecError: no such template, or the user's own one is wrong.
        """
        if not self.template:
            return None
        if isinstance(self.template, str):
            return TEMPLATES[self.template]
        return parse_template(self.template)


class RunSpec(BaseModel):
    """A whole run: every dataset by every model in the modes that fit, then the judges' part.

    `answers` take part beside the models, or in their place. Without `datasets` the questions are
    those that the answers of earlier runs are to. `limit` takes the first questions of
    each subject, or of each dataset: `limit_per` says which. By default this depends on the
    `version`: in 1 (a specification without a version, as 0.1.0 wrote it) the dataset, in 2 the
    subject. From version 2 on each entry of a SWIFT configuration is a dataset, and from version 3
    on rubrics that are chosen by sample are of the second version. `seed` is that of every draw,
    where modes and judges state none of their own. `metrics` are those that lead its report, in
    this order, and `summary_groups` the groups of subjects or datasets that it has figures of; they
    decide nothing of the answers. `replies_of` names, by model, the digest of other addresses whose
    kept replies count as the model's, see `docs/endpoints.md`. For short, the fields of one mode
    may stand at the top ({"mode": "cloze", "shots": 5}), "mode" may be a list of names, a dataset
    may be a path alone, and where there are answers or judges and no mode, questions are answered
    in writing, and a published list of groups may be its name alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1, 2, 3] = 1
    name: str = ""
    datasets: list[DatasetSpec] = Field(default=[], min_length=1)
    models: list[str] = []
    modes: list[ModeSpec] = Field(min_length=1)
    answers: list[AnswersSpec] = []
    judging: JudgingSpec | None = None
    seed: int = 0
    limit: int | None = Field(default=None, gt=0)
    limit_per: LimitPer | None = None
    metrics: list[str] = []
    summary_groups: list[SummaryGroup] = []
    replies_of: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]] = {}

    @property
    def counts_per(self) -> LimitPer:
        """What `limit` counts the questions of."""
        return self.limit_per or ("dataset" if self.version == 1 else "subject")

    @property
    def questions_per_dataset(self) -> int | None:
        """The questions from the head of each dataset; None where `limits` chooses them."""
        return self.limit if self.counts_per == "dataset" else None

    @model_validator(mode="before")
    @classmethod
    def _fold_mode(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "modes" in values:
            return cast(Any, values)
        flat = cast("dict[str, Any]", values)  # the keys of a JSON object are texts
        if "mode" not in flat:
            open_ = flat.get("answers") or flat.get("judging")
            return flat | {"modes": [{"mode": usual_mode("answers")}]} if open_ else flat
        fields = ModeSpec.model_fields.keys() - cls.model_fields.keys() - {"recorded"}
        shared = {name: flat[name] for name in fields if name in flat}
        some = all_settings().model_fields.keys() - ModeSpec.model_fields.keys()
        own = {name: flat[name] for name in flat if name in some}
        names = cast(
            "list[Any]", flat["mode"] if isinstance(flat["mode"], list) else [flat["mode"]]
        )
        rest = {name: value for name, value in flat.items() if name not in shared | own}
        modes = [shared | _taken(own, name) | {"mode": name} for name in names]
        if lost := own.keys() - {name for mode in modes for name in mode}:
            rest |= {name: own[name] for name in lost}  # no mode has it, so it is refused
        return rest | {"modes": modes}

    @model_validator(mode="after")
    def _require_contestant(self) -> Self:
        if not self.models and not self.answers:
            raise ValueError("expected a model, or answers")
        if not self.datasets and not (self.answers and all(each.run for each in self.answers)):
            raise ValueError("expected datasets, or answers of earlier runs alone")
        for mode in self.modes:
            judges = (
                mode.mode in MODES and mode.gives == "verdicts"
            )  # the plan names what is unknown
            if judges or mode.judging or mode.recorded or mode.log:
                raise ValueError("judges belong under “judging”, answers under “answers”")
        return self

    @field_validator("datasets", mode="before")
    @classmethod
    def _name_paths(cls, entries: Any) -> Any:
        if not isinstance(entries, list):
            return entries
        listed = cast("list[Any]", entries)  # what else it holds is checked next
        return [{"path": entry} if isinstance(entry, str) else entry for entry in listed]

    @field_validator("summary_groups", mode="before")
    @classmethod
    def _name_published(cls, entries: Any) -> Any:
        if not isinstance(entries, str | list):
            return entries
        listed = [entries] if isinstance(entries, str) else cast("list[Any]", entries)
        return [{"published": entry} if isinstance(entry, str) else entry for entry in listed]

    @field_validator("summary_groups")
    @classmethod
    def _named_apart(cls, groups: list[SummaryGroup]) -> list[SummaryGroup]:
        names = [group.name for group in declared_groups(groups)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(sentence("error.group-twice", group=twice[0]))
        return groups


def _taken(own: Mapping[str, Any], mode: Any) -> dict[str, Any]:
    """Those of the settings of single modes that a mode has."""
    if not isinstance(mode, str):
        return {}
    declared = declared_settings(settings_of(mode))
    return {name: value for name, value in own.items() if name in declared}


def with_generation(
    spec: RunSpec, settings: GenerationSettings, named: Callable[[str], str] | None = None
) -> RunSpec:
    """The specification with these settings of writing in each mode that they mean something to;
    what a run has at its top holds in place of what its modes state.

    Raises:
        SpecError: a setting means nothing to any of the modes.
    """
    if not settings.given:
        return spec
    taken = [settings_taken(mode.mode, mode.spellings) for mode in spec.modes]
    check_used(settings, taken, named)
    of_run = fitting(settings, OF_RUN)
    modes = [
        mode.model_copy(update=fitting(settings, names - OF_RUN) | dict.fromkeys(of_run))
        for mode, names in zip(spec.modes, taken, strict=True)
    ]
    return spec.model_copy(update={"modes": modes, **of_run})


def check_metrics(names: Iterable[str]) -> None:
    """Raises `SpecError` with those there are if one of the metrics is unknown here."""
    from evalui.scoring.metrics import metric_named, metric_names

    for name in names:
        if metric_named(name) is None:
            raise SpecError("spec-metric", name=name, known=", ".join(metric_names()))


def read_spec(text: str) -> RunSpec:
    """Read a specification whose files are here.

    Raises:
        SpecError: as `parse_spec`, or a dataset has no path.
    """
    return require_paths(parse_spec(text))


def require_paths(spec: RunSpec) -> RunSpec:
    """The specification, if all its files are here; raises `SpecError`."""
    for place, source in enumerate(spec.datasets):
        if source.upload:
            reason = sentence("error.spec-upload")
            raise SpecError("spec-field", place=f"datasets[{place}].upload", reason=reason)
        if not source.paths:
            raise SpecError("spec-field", place=f"datasets[{place}].path", reason="Field required.")
    return spec


def parse_spec(text: str) -> RunSpec:
    """Read a specification, whose files may be uploads of a server.

    Raises:
        SpecError: it is no JSON, or a field is missing, unknown or of the wrong kind; the
            message begins with the place.
    """
    return validate(read_json(text))


def validate(values: Any, name_of: Callable[[Sequence[int | str]], str] = lambda _: "") -> RunSpec:
    """The specification of values as JSON has them.

    `name_of` is what the person who set a field sees of it, "" where that is its place.

    Raises:
        SpecError: a field is missing, unknown or of the wrong kind, or cannot be stored.
    """
    _check_version(check_json(values))
    try:
        return RunSpec.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        if not (name := name_of(first["loc"])):
            reason = _field_error(first["type"], first["msg"], first["loc"])
            place = _field_path(first["loc"])
            raise SpecError("spec-field", place=place, reason=reason) from error
        if first["type"] in ("int_parsing", "int_from_float"):
            raise SpecError("no-number", field=name, text=first["input"]) from error
        reason = first["msg"].removeprefix("Value error, ").removesuffix(".")
        raise SpecError("setting-value", setting=name, reason=reason) from error


def read_json(text: str) -> Any:
    """What the JSON of a specification holds; raises `SpecError` if it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SpecError(
            "spec-no-json", line=error.lineno, column=error.colno, reason=error.msg
        ) from error
    except (RecursionError, ValueError) as error:  # a number of thousands of digits, too
        raise SpecError("spec-too-deep") from error


def _check_version(values: Any) -> None:
    if not isinstance(values, dict):
        return
    version: Any = cast("dict[str, Any]", values).get("version", 1)
    if type(version) is not int or not 1 <= version <= VERSION:
        raise SpecError("spec-version", version=json.dumps(version))


def write_spec(spec: RunSpec) -> str:
    """The specification as JSON, without what stands at its default."""
    return spec.model_dump_json(exclude_defaults=True)


def _field_path(path: tuple[int | str, ...]) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return place.lstrip(".") or "the whole"


def _field_error(kind: str, message: str, path: tuple[int | str, ...]) -> str:
    if kind == "too_short":
        known = ", ".join(name for name in MODES if MODES[name].gives != "verdicts")
        return sentence(f"error.spec-empty-{path[0]}", known=known)
    if kind in ("list_type", "dict_type"):
        return sentence(f"error.spec-{kind.removesuffix('_type')}")
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ").removesuffix(".") + "."
    owners = {
        "datasets": DatasetSpec,
        "modes": ModeSpec,
        "answers": AnswersSpec,
        "judging": JudgingSpec,
        "summary_groups": SummaryGroup,
    }
    owner = owners.get(str(path[0]), RunSpec)
    # Its own fields first: those of writing are many, and the same everywhere.
    names: list[str] = [*owner.model_fields]
    if owner is ModeSpec:
        names += all_settings().model_fields.keys() - {*names}
    if issubclass(owner, GenerationSettings):
        names.sort(key=GenerationSettings.model_fields.__contains__)
    return sentence("error.spec-no-field", known=", ".join(names))
