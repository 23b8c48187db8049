"""models.toml: which models there are, and what each can do here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_origin, get_type_hints

from evalui.errors import ModelError, UnknownName
from evalui.models import weights
from evalui.models.base import BACKENDS, Model, ModelEntry
from evalui.types import Ability

_KINDS: Mapping[str, type[object]] = {
    field: get_origin(hint) or hint
    for field, hint in get_type_hints(ModelEntry).items()
    if field != "name"
}
_CALLED: Mapping[type[object], str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    dict: "a table",
}


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is known of a model without loading it. `problem` "" means nothing is against it."""

    entry: ModelEntry
    abilities: frozenset[Ability]
    problem: str


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
        raise ModelError(f"The model catalog {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # broken TOML, and bytes that are no UTF-8
        raise ModelError(f"The model catalog {path} is not valid TOML: {error}") from error
    return {name: _entry(path, name, table) for name, table in tables.items()}


def describe(entry: ModelEntry) -> ModelState:
    """What the screen shows of a model; looks only at files.

    Counts the parameters where the catalog does not tell them and the model lies in a folder.
    """
    try:
        backend = BACKENDS[entry.backend]
    except UnknownName as error:
        return ModelState(entry, frozenset(), str(error))
    problem = backend.problem(entry)
    folder = Path(entry.path)
    if not problem and not entry.parameters and folder.is_absolute():
        entry = replace(entry, parameters=weights.parameters(folder))
    return ModelState(entry, backend.abilities(entry), problem)


def open_model(entry: ModelEntry) -> Model:
    """Load a model; raises `ModelError` with the reason if it cannot be, `UnknownName` if its
    backend is unknown.
    """
    return BACKENDS[entry.backend].open(entry)


def _entry(catalog: Path, name: str, table: Any) -> ModelEntry:
    where = f"{catalog.name}, model {name!r}"
    if not isinstance(table, dict):
        raise ModelError(f"{where}: expected a table of fields, found {table!r}.")
    values = dict(cast("dict[str, Any]", table))  # TOML's keys are texts
    for field, value in values.items():
        if field not in _KINDS:
            raise ModelError(f"{where}: unknown field {field!r}. Known: {', '.join(_KINDS)}.")
        # type(), not isinstance(): true would pass for a whole number.
        if type(value) is not _KINDS[field]:
            wanted = _CALLED[_KINDS[field]]
            raise ModelError(f"{where}: {field} must be {wanted}, found {value!r}.")
    if "backend" not in values:
        raise ModelError(f"{where}: backend is missing. Known: {', '.join(BACKENDS)}.")
    values["path"] = _located(catalog, values.get("path", ""))
    return ModelEntry(name=name, **values)


def _located(catalog: Path, path: str) -> str:
    if not path:
        return ""
    folder = catalog.absolute().parent / Path(path).expanduser()
    return str(folder.resolve()) if path[0] in "./~" or folder.is_dir() else path
