"""models.toml: which models there are, and what each can do here."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from evalui.errors import EvaluiError, ModelError, UnknownName
from evalui.messages import Sentence, sentence
from evalui.models.base import BACKENDS, Model, ModelEntry, ProbeStatus, traits_of
from evalui.models.local import weights
from evalui.types import Ability

if TYPE_CHECKING:
    from evalui.models.validation import CheckedTable, InvalidField

_ENDPOINT_DOWN = "error.endpoint-down"  # the problem of an endpoint where no server answers now
# Why one that is there does not answer; a request to it was on its way all the time.
_COLD_REASONS = {"error.endpoint-not-yet", "error.endpoint-timeout", "error.endpoint-overdue"}

_FIELD_TYPES = {key: hint for key, hint in get_type_hints(ModelEntry).items() if key != "name"}


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is known of a model without loading it. `problem` "" means nothing is against it.

    `missing_reasons` gives reasons for missing abilities, where the backend knows better ones than
    evalui, `plain_only` for those that it has for plain prompts alone. `unavailable_addresses` are
    those of its addresses that cannot be used now, and why. `honours` are the settings of writing
    that change its replies. `sees_pictures`: it is shown those of a question; `text_only` gives
    reasons for what it does with texts and not with pictures.
    """

    entry: ModelEntry
    abilities: frozenset[Ability]
    problem: str
    missing_reasons: Mapping[Ability, str] = field(default_factory=dict[Ability, str])
    unavailable_addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    plain_only: Mapping[Ability, str] = field(default_factory=dict[Ability, str])
    honours: frozenset[str] = frozenset()
    sees_pictures: bool = False
    text_only: Mapping[Ability, str] = field(default_factory=dict[Ability, str])

    @property
    def is_endpoint_down(self) -> bool:
        """Whether the problem is only that no server answers now, which may pass by itself."""
        return isinstance(self.problem, Sentence) and self.problem.key == _ENDPOINT_DOWN

    @property
    def is_endpoint_cold(self) -> bool:
        """Whether a server is there and has not answered yet: it may be loading the model."""
        if not (isinstance(self.problem, Sentence) and self.is_endpoint_down):
            return False
        reason = self.problem.values["reason"]
        if not isinstance(reason, Sentence):
            return False
        is_loading = reason.values.get("status") == HTTPStatus.SERVICE_UNAVAILABLE
        return is_loading or reason.key in _COLD_REASONS


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What is known of a model now: `state` is None before anything is.

    `pending` while it is probed, for the first time or again. `checked_at` is when it was last
    probed, in Unix time; None before that, and of files, which are looked at each time.
    """

    state: ModelState | None
    pending: bool = False
    checked_at: float | None = None


def without_answer(status: ModelStatus, reason: str) -> ModelStatus:
    """The status of an endpoint that has not answered a worker since it was probed."""
    if status.state is None or status.state.problem:
        return status
    is_whole = isinstance(reason, Sentence) and reason.key == _ENDPOINT_DOWN
    problem = reason if is_whole else sentence(_ENDPOINT_DOWN, reason=reason)
    return replace(status, state=replace(status.state, abilities=frozenset(), problem=problem))


def read_catalog(path: Path) -> dict[str, ModelEntry]:
    """The models of a catalog by name, in the order of the file.

    A `path` that names a folder, from the catalog's own folder, becomes absolute; one that
    begins with a dot, a slash or a tilde is always a folder; any other is a hub id.

    Raises:
        ModelError: the file cannot be read, or an entry has a wrong or missing field.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            "catalog-unreadable",
            file=str(path),
            reason=str(error.strerror),
        ) from error
    except ValueError as error:  # broken TOML, and bytes that are no UTF-8
        raise ModelError(
            "catalog-no-toml",
            file=str(path),
            reason=str(error),
        ) from error
    return {name: read_entry(path, name, table) for name, table in tables.items()}


def read_entry(catalog: Path, name: str, table: Any) -> ModelEntry:
    """One table of the file `catalog` as an entry; raises `ModelError` as `read_catalog` does."""
    where = sentence("error.where-model", file=catalog.name, name=name)
    if not isinstance(table, dict):
        raise ModelError(
            "model-no-table",
            where=where,
            found=repr(table),
        )
    fields = _checked_fields(where, name, cast("dict[str, Any]", table))  # TOML's keys are texts
    entry = ModelEntry(name=name, **fields)
    # What a server calls its model is a name, also where it looks like a folder of ours.
    path = entry.path if traits_of(entry).remote else _absolute_path(catalog, entry.path)
    return replace(
        entry,
        path=path,
        adapter=_absolute_path(catalog, entry.adapter),
        everyone=entry.everyone and not entry.names_teams,
    )


def with_replies_of(
    catalog: Mapping[str, ModelEntry], addresses: Mapping[str, str]
) -> dict[str, ModelEntry]:
    """The models, of which some use the kept replies of other addresses, given by their digest.

    Raises:
        UnknownName: there is no such model.
        ModelError: a model is at no address.
    """
    changed = {name: find_entry(catalog, name) for name in addresses}
    for name, entry in changed.items():
        if not traits_of(entry).remote:
            raise ModelError("replies-of-no-endpoint", model=name)
    return {
        **catalog,
        **{
            name: replace(entry, options={**entry.options, "replies_of": addresses[name]})
            for name, entry in changed.items()
        },
    }


def own_addresses(entry: ModelEntry) -> str:
    """The digest of the addresses of an entry; "" of a model that is at none."""
    return BACKENDS[entry.backend].addresses(entry) if entry.backend in BACKENDS else ""


def base_of(entry: ModelEntry, entries: Iterable[ModelEntry]) -> ModelEntry | None:
    """The model that `entry` was tuned from: the same path without an adapter, None if unknown.

    Among several it is the one that computes as `entry` does.
    """
    if not entry.adapter:
        return None
    same = [each for each in entries if each.path == entry.path and not each.adapter]
    alike = [each for each in same if (each.backend, each.dtype) == (entry.backend, entry.dtype)]
    return next(iter(alike or same), None)


def describe(entry: ModelEntry) -> ModelState:
    """What the screen shows of a model. Loads nothing; an endpoint is probed, which takes seconds.

    Counts the parameters where the catalog does not state them and the model lies in a folder.
    """
    try:
        backend = BACKENDS[entry.backend]
    except UnknownName as error:
        return ModelState(entry, frozenset(), error.sentence)
    problem = problem_of(entry)
    folder = Path(entry.path)
    here = folder.is_absolute() and not backend.traits.remote
    if here and not problem and not entry.parameters:
        try:
            entry = replace(entry, parameters=weights.parameters(folder))
        except OSError as error:  # a file went just now
            problem = weights.unreadable_reason(folder, error)
    lacks, down = backend.missing_reasons(entry), backend.unavailable_addresses(entry)
    plain_only = backend.plain_only(entry)
    honours = frozenset[str]() if problem else backend.honours(entry)
    return ModelState(
        entry,
        backend.abilities(entry),
        problem,
        lacks,
        down,
        plain_only,
        honours,
        backend.sees_pictures(entry),
        backend.text_only(entry),
    )


def statuses(entries: Sequence[ModelEntry], *, wait_s: float) -> list[ModelStatus]:
    """What is known of each model. Waits for those that were never probed, all at the same time,
    until `wait_s` seconds after that began.
    """
    for entry in entries:
        _probe_status(entry, 0.0)
    return [_status(entry, wait_s) for entry in entries]


def probe_again(entry: ModelEntry) -> None:
    """Have an endpoint probed now, in the background, however lately that was done."""
    if entry.backend in BACKENDS:
        BACKENDS[entry.backend].probe_again(entry)


def _probe_status(entry: ModelEntry, wait_s: float) -> ProbeStatus:
    if entry.backend not in BACKENDS:
        return ProbeStatus()
    return BACKENDS[entry.backend].probe_status(entry, wait_s=wait_s)


def _status(entry: ModelEntry, wait_s: float) -> ModelStatus:
    probed = _probe_status(entry, wait_s)
    if not probed.is_known:
        return ModelStatus(None, pending=True)
    try:
        state = describe(entry)
    except EvaluiError as error:
        state = ModelState(entry, frozenset(), error.sentence)
    return ModelStatus(state, probed.pending, probed.checked_at)


def problem_of(entry: ModelEntry) -> str:
    """What the entry's backend has against it, "" if nothing; unreadable files among it.

    Raises:
        UnknownName: there is no such backend.
    """
    try:
        return BACKENDS[entry.backend].problem(entry)
    except OSError as error:
        return weights.unreadable_reason(Path(entry.path), error)


def resolve_links(folder: Path) -> Path:
    """The folder without links, or as it is where none can be there, which its problem reports."""
    try:
        return folder.resolve()
    except (RuntimeError, ValueError):  # links in a ring; a character that no path has
        return folder


def find_entry(catalog: Mapping[str, ModelEntry], name: str) -> ModelEntry:
    """The entry of that name; raises `UnknownName` if there is none."""
    if name not in catalog:
        raise UnknownName(
            "unknown-model",
            name=name,
            known=", ".join(sorted(catalog)),
        )
    return catalog[name]


def open_model(entry: ModelEntry) -> Model:
    """Load a model; raises `ModelError` with the reason if it cannot be, `UnknownName` if its
    backend is unknown.
    """
    return BACKENDS[entry.backend].open(entry)


def _checked_fields(where: str, name: str, table: dict[str, Any]) -> dict[str, Any]:
    """The fields that a table of the catalog has; raises `ModelError` for the first wrong one."""
    from evalui.models.validation import InvalidTable, validated  # loads pydantic

    try:
        return validated(_entry_schema(), table).model_dump(exclude_unset=True)
    except InvalidTable as error:
        raise _field_error(where, name, error.field) from None


def _field_error(where: str, name: str, wrong: "InvalidField") -> ModelError:
    field, value = wrong.name, wrong.value
    if wrong.problem == "extra_forbidden" and (rest := _dotted_rest(field, value)):
        return ModelError("model-dotted-name", where=where, name=name, rest=rest)
    if wrong.problem == "extra_forbidden":
        known = ", ".join(_FIELD_TYPES)
        return ModelError("model-unknown-field", where=where, field=field, known=known)
    if wrong.problem == "missing":
        return ModelError("model-no-backend", where=where, known=", ".join(BACKENDS))
    if wrong.problem in ("greater_than_equal", "less_than"):
        return ModelError("price-below-zero", where=where, field=field, found=str(value))
    return ModelError(
        "model-wrong-field", where=where, field=field, wanted=wrong.expected, found=repr(value)
    )


@cache
def _entry_schema() -> "type[CheckedTable]":
    """The fields of `ModelEntry` as pydantic checks them; only the backend must be there."""
    from pydantic import Field, create_model

    from evalui.models.validation import CheckedTable

    # TOML knows nan and inf, which no price is.
    price: Any = Field(default=0.0, ge=0, lt=math.inf, description="error.kind-number")
    fields: dict[str, Any] = {key: (hint, None) for key, hint in _FIELD_TYPES.items()}
    fields |= {"backend": (str, ...), "input_price": (float, price), "output_price": (float, price)}
    return create_model("CatalogTable", __base__=CheckedTable, **fields)


def _dotted_rest(key: str, value: Any) -> str:
    """The rest of a model's name, of which TOML makes tables in tables; "" if it is none."""
    while isinstance(value, dict) and value:
        table = cast("dict[str, Any]", value)
        if not table.keys().isdisjoint(_FIELD_TYPES):
            return key
        inner, value = next(iter(table.items()))
        key = f"{key}.{inner}"
    return ""


def _absolute_path(catalog: Path, path: str) -> str:
    if not path:
        return ""
    if path.startswith("~") and not path.startswith("~/"):
        return path  # another user's home is never meant; the folder will be missing
    folder = catalog.absolute().parent / Path(path).expanduser()
    return str(resolve_links(folder)) if path[0] in "./~" or _is_folder(folder) else path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # one that cannot be looked at; the model's problem reports it
        return True
