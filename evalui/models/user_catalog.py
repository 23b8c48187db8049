"""Models added on the page: a file of their own beside the database.

The administrator's models.toml is only ever read. The server, its workers and the command line
read both files; of two models with one name that of models.toml counts.
"""

import json
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalui.errors import ModelError, StoreError
from evalui.messages import sentence
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import problem_of, read_catalog, read_entry
from evalui.models.endpoint.keys import remove_key, replace_file, store_key
from evalui.models.new_model import (
    InvalidModelForm,
    NewModelForm,
    field_errors,
    fields_of,
    model_table,
)

_FILE = "models-added.toml"
_KEYS_FILE = "model-keys.json"
_FILE_HEADER = "# Models added on the Models page. evalui writes this file anew with each change.\n"
_SHARING_FIELDS = ("everyone", "people")
# Two forms sent at the same moment read and write one file: without it one model would be lost.
_WRITE_LOCK = threading.Lock()


def additions_path(database: Path) -> Path:
    """The file of added models of the server with this database."""
    return database.parent / _FILE


def read_models(catalog: Path, additions: Path, hosts: Sequence[str] = ()) -> dict[str, ModelEntry]:
    """The models of both files by name; no additions are as good as an empty file.

    An added model whose name the administrator took later is left out. Those that are added may be
    at `hosts` alone, see `addresses.check_address`. Raises as `read_catalog`.
    """
    models = read_catalog(catalog)
    added = read_added(additions, hosts)
    return models | {name: entry for name, entry in added.items() if name not in models}


def read_added(additions: Path, hosts: Sequence[str] = ()) -> dict[str, ModelEntry]:
    """The added models by name, see `read_models`; raises as `read_catalog`."""
    entries = read_catalog(additions) if additions.is_file() else {}
    return {name: _completed(entry, additions, hosts) for name, entry in entries.items()}


def has_key(entry: ModelEntry) -> bool:
    """Whether a key was entered for the model."""
    return bool(entry.options.get("key_store"))


def add_model(
    additions: Path,
    wanted: NewModelForm,
    *,
    catalog: Path,
    hosts: Sequence[str] = (),
    owner: str = "",
) -> ModelEntry:
    """Check a model and append it; what it became. `hosts` are as in `read_models`.

    Raises:
        InvalidModelForm: fields are wrong, or the name is taken.
        ModelError: the files cannot be loaded.
        StoreError: a file cannot be written.
    """
    with _WRITE_LOCK:
        if wanted.name in read_models(catalog, additions):
            taken = sentence("error.model-name-taken", name=wanted.name)
            raise InvalidModelForm({"name": taken})
        return _save(additions, wanted, {"owner": owner} if owner else {}, hosts)


def change_model(additions: Path, wanted: NewModelForm, *, hosts: Sequence[str] = ()) -> ModelEntry:
    """Check an added model and write it anew; what it became. Its owner and fields that no form
    has stay.

    Raises:
        InvalidModelForm: fields are wrong, or the key was entered for another address.
        ModelError: it was not added, or the files cannot be loaded.
        StoreError: a file cannot be written.
    """
    with _WRITE_LOCK:
        earlier = _added_table(_read_tables(additions), wanted.name)
        return _save(additions, wanted, earlier, hosts)


def remove_model(additions: Path, name: str) -> None:
    """Take an added model out again, with its key; its files stay. Raises `ModelError` if it was
    not added.
    """
    with _WRITE_LOCK:
        tables = _read_tables(additions)
        _added_table(tables, name)
        del tables[name]
        remove_key(_key_store(additions), name)
        _write(additions, tables)


def hand_over_models(additions: Path, owner: str, heir: str | None) -> None:
    """Make the models of an owner an heir's, with their keys, or remove them if there is none, and
    name the owner in no other any more.

    Raises:
        ModelError: a file cannot be read.
        StoreError: a file cannot be written.
    """
    with _WRITE_LOCK:
        tables = _read_tables(additions)
        changed = False
        for name, table in list(tables.items()):
            if table.get("owner") == owner:
                changed = True
                if heir is None:
                    del tables[name]
                    remove_key(_key_store(additions), name)
                else:
                    table["owner"] = heir
            if owner in table.get("people", ()):
                changed = True
                table["people"].remove(owner)
        if changed:
            _write(additions, tables)


def _added_table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name not in tables:
        raise ModelError("model-not-added", name=name)
    return tables[name]


def _key_store(additions: Path) -> Path:
    return additions.parent / _KEYS_FILE


def _completed(entry: ModelEntry, additions: Path, hosts: Sequence[str]) -> ModelEntry:
    """The entry with the whole path of its keys, as the data folder may be moved, and with where
    it may be.
    """
    options = dict(entry.options)
    if has_key(entry):
        options["key_store"] = str(_key_store(additions))
    if hosts and traits_of(entry).remote:
        options["allowed_hosts"] = list(hosts)
    return replace(entry, options=options)


def _save(
    additions: Path, wanted: NewModelForm, earlier: Mapping[str, Any], hosts: Sequence[str]
) -> ModelEntry:
    """Write a model, `earlier` its table until now."""
    faults = field_errors(wanted, hosts)
    if faults := faults or _key_faults(wanted, earlier.get("options", {})):
        raise InvalidModelForm(faults)
    before = read_entry(additions, wanted.name, {"backend": wanted.backend, **earlier})
    table = _merged(wanted, earlier, before)
    entry = read_entry(additions, wanted.name, table)
    if wanted.place != "endpoint" and (problem := problem_of(entry)):
        raise ModelError(problem)  # an endpoint may be down for now: its status will show that
    store = _key_store(additions)
    if wanted.key:
        store_key(store, wanted.name, _plain(wanted.address), wanted.key)
    _write(additions, _read_tables(additions) | {wanted.name: table})
    if not has_key(entry):
        remove_key(store, wanted.name)
    return _completed(entry, additions, hosts)


def _plain(address: str) -> str:
    """The address as requests are sent to it."""
    return address.rstrip("/")


def _key_faults(wanted: NewModelForm, options: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with the key, given the earlier options of the model."""
    kept = "key_store" in options and not (wanted.key or wanted.drops_key)
    if wanted.key_variable and (wanted.key or kept):
        return {"key_variable": sentence("error.key-twice")}
    if kept and _plain(options.get("base_url", "")) != _plain(wanted.address):
        return {"key": sentence("error.key-other-address")}
    return {}


def _merged(wanted: NewModelForm, earlier: Mapping[str, Any], before: ModelEntry) -> dict[str, Any]:
    """The fields of the form, and of the earlier table, which says `before`, those that no form
    has.
    """
    table, options = model_table(wanted), earlier.get("options", {})
    decided = {"backend", "options", *_SHARING_FIELDS, *fields_of(wanted.place)}
    stay = {key: each for key, each in earlier.items() if key not in decided}
    stay |= _sharing(wanted, before)
    if wanted.place != "endpoint":
        return {**table, **stay, **({"options": options} if options else {})}
    own = {"key_store", *(each.option for each in fields_of("endpoint").values())}
    kept = {key: each for key, each in options.items() if key not in own}
    if wanted.key or ("key_store" in options and not wanted.drops_key):
        kept["key_store"] = _KEYS_FILE
    # The options come last: in the file they are one long line.
    return {**table, **stay, "options": {**table["options"], **kept}}


def _sharing(wanted: NewModelForm, before: ModelEntry) -> dict[str, Any]:
    """Who may use it beside its owner; nothing where everybody may."""
    everyone = before.everyone if wanted.everyone is None else wanted.everyone
    people = before.people if wanted.people is None else wanted.people
    return {} if everyone else {"everyone": False, "people": [*people]}


def _read_tables(additions: Path) -> dict[str, Any]:
    """The file as it is; raises as `read_added`."""
    read_added(additions)
    return tomllib.loads(additions.read_text(encoding="utf-8")) if additions.is_file() else {}


def _write(additions: Path, tables: Mapping[str, Any]) -> None:
    """Replace the file in one step, so that a worker never reads half of it."""
    text = _FILE_HEADER + "".join(
        f"\n[{_toml(name)}]\n{_toml_lines(tables[name])}" for name in tables
    )
    try:
        additions.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(additions, text)
    except OSError as error:
        raise StoreError(
            "additions-unwritable",
            file=str(additions),
            reason=str(error.strerror),
        ) from error


def _toml_lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: Any) -> str:
    """A value as TOML writes it, tables in one line; a JSON text is a TOML text.

    Nothing else is in the file: it is ours, and its texts are printable.
    """
    if isinstance(value, dict):
        pairs: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] # TOML's keys
        return "{" + ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in pairs.items()) + "}"
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return "[" + ", ".join(map(_toml, items)) + "]"
    return json.dumps(value, ensure_ascii=False)
