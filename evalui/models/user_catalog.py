"""Models added on the page: a file of their own beside the database.

The administrator's models.toml is only ever read. The server, its workers and the command line
read both files; of two models with one name that of models.toml counts.
"""

import json
import math
import re
import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from evalui.errors import ModelError, StoreError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import problem_of, read_catalog, read_entry, resolve_links
from evalui.models.endpoint.http.addresses import check_url, is_http_url, may_hold_secret
from evalui.models.endpoint.keys import remove_key, replace_file, store_key

ModelSource = Literal["folder", "hub", "endpoint"]

_FILE = "models-added.toml"
_KEYS_FILE = "model-keys.json"
_FILE_HEADER = "# Models added on the Models page. evalui writes this file anew with each change.\n"
_NAME = re.compile(r"[^\W_][\w.+-]{0,63}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# The user who adds a model chooses the host as well: no other secret of the server may go there.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,91}_API_KEY")
_MAX_FIELD_LENGTH = 500  # characters of one field
_TOKEN_COUNT = re.compile(r"[1-9][0-9]{0,8}")
# What a form decides of an endpoint; whatever else stands in its table was written by hand.
_ENDPOINT_FIELDS = ("backend", "path", "chat", "input_price", "output_price", "max_length")
_ENDPOINT_OPTIONS = ("base_url", "api_key_env", "key_store")
_LOCAL_FIELDS = ("backend", "path", "dtype", "chat", "adapter")
# Two forms sent at the same moment read and write one file: without it one model would be lost.
_WRITE_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class NewModelForm:
    """A model as its form describes it; the fields from `address` on are an endpoint's.

    `path` is a folder, a hub id, or the model's name at the endpoint. `key` is kept encrypted for
    this address, and `drops_key` forgets an earlier one; `key_variable` names the environment
    variable that holds the key instead. The prices, in US dollars for a million tokens, and
    `max_length` are numbers as they were typed, "" if they were not.
    """

    name: str
    path: str
    place: ModelSource = "folder"
    backend: str = "transformers"
    dtype: str = "auto"
    chat: bool = False
    adapter: str = ""
    address: str = ""
    key: str = field(default="", repr=False)
    drops_key: bool = False
    key_variable: str = ""
    input_price: str = ""
    output_price: str = ""
    max_length: str = ""


class InvalidModelForm(ModelError):
    """Fields of a form are wrong: `faults` has a sentence for each, by field of `NewModelForm`."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(next(iter(faults.values())))
        self.faults = faults


def additions_path(database: Path) -> Path:
    """The file of added models of the server with this database."""
    return database.parent / _FILE


def read_models(catalog: Path, additions: Path) -> dict[str, ModelEntry]:
    """The models of both files by name; no additions are as good as an empty file.

    An added model whose name the administrator took later is left out. Raises as `read_catalog`.
    """
    models = read_catalog(catalog)
    added = read_added(additions)
    return models | {name: entry for name, entry in added.items() if name not in models}


def read_added(additions: Path) -> dict[str, ModelEntry]:
    """The added models by name; raises as `read_catalog`."""
    entries = read_catalog(additions) if additions.is_file() else {}
    return {name: _with_key_store(entry, additions) for name, entry in entries.items()}


def has_key(entry: ModelEntry) -> bool:
    """Whether a key was entered for the model."""
    return bool(entry.options.get("key_store"))


def add_model(additions: Path, wanted: NewModelForm, *, catalog: Path) -> ModelEntry:
    """Check a model and append it; what it became.

    Raises:
        InvalidModelForm: fields are wrong, or the name is taken.
        ModelError: the files cannot be loaded.
        StoreError: a file cannot be written.
    """
    with _WRITE_LOCK:
        if wanted.name in read_models(catalog, additions):
            taken = sentence("error.model-name-taken", name=wanted.name)
            raise InvalidModelForm({"name": taken})
        return _save(additions, wanted, {})


def change_model(additions: Path, wanted: NewModelForm) -> ModelEntry:
    """Check an added model and write it anew; what it became. Fields that no form has stay.

    Raises:
        InvalidModelForm: fields are wrong, or the key was entered for another address.
        ModelError: it was not added, or the files cannot be loaded.
        StoreError: a file cannot be written.
    """
    with _WRITE_LOCK:
        return _save(additions, wanted, _added_table(_read_tables(additions), wanted.name))


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


def _added_table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name not in tables:
        raise ModelError("model-not-added", name=name)
    return tables[name]


def _key_store(additions: Path) -> Path:
    return additions.parent / _KEYS_FILE


def _with_key_store(entry: ModelEntry, additions: Path) -> ModelEntry:
    """The entry with the whole path of its keys: the data folder may be moved."""
    if not has_key(entry):
        return entry
    return replace(entry, options={**entry.options, "key_store": str(_key_store(additions))})


def _save(additions: Path, wanted: NewModelForm, earlier: Mapping[str, Any]) -> ModelEntry:
    """Write a model, `earlier` its table until now."""
    faults = _field_errors(wanted)
    if faults := faults or _key_faults(wanted, earlier.get("options", {})):
        raise InvalidModelForm(faults)
    table = _merged(wanted, earlier)
    entry = read_entry(additions, wanted.name, table)
    if wanted.place != "endpoint" and (problem := problem_of(entry)):
        raise ModelError(problem)  # an endpoint may be down for now: its status will show that
    store = _key_store(additions)
    if wanted.key:
        store_key(store, wanted.name, _plain(wanted.address), wanted.key)
    _write(additions, _read_tables(additions) | {wanted.name: table})
    if not has_key(entry):
        remove_key(store, wanted.name)
    return _with_key_store(entry, additions)


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


def _merged(wanted: NewModelForm, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the form, and of the earlier table those that no form has."""
    table, options = _table(wanted), earlier.get("options", {})
    decided = _ENDPOINT_FIELDS if wanted.place == "endpoint" else _LOCAL_FIELDS
    stay = {key: each for key, each in earlier.items() if key not in (*decided, "options")}
    if wanted.place != "endpoint":
        return {**table, **stay, **({"options": options} if options else {})}
    kept = {key: each for key, each in options.items() if key not in _ENDPOINT_OPTIONS}
    if wanted.key or ("key_store" in options and not wanted.drops_key):
        kept["key_store"] = _KEYS_FILE
    # The options come last: in the file they are one long line.
    return {**table, **stay, "options": {**table["options"], **kept}}


def _field_errors(wanted: NewModelForm) -> dict[str, str]:
    """What is wrong with the fields, a sentence by name; whether the files can be loaded is not
    looked at.
    """
    errors: dict[str, str] = {}
    for name, check in _checks(wanted).items():
        try:
            check(getattr(wanted, name))
        except ModelError as error:
            errors[name] = error.sentence
    return errors


def _checks(wanted: NewModelForm) -> dict[str, Callable[[str], object]]:
    """The fields that matter for where the model is, in the order of the form."""
    if wanted.place == "endpoint":
        return {
            "name": _check_name,
            "address": _check_address,
            "path": _check_model_name,
            "key": _check_key,
            "key_variable": _check_variable,
            "input_price": _price,
            "output_price": _price,
            "max_length": _length,
        }
    path = _folder if wanted.place == "folder" else _hub
    return {"name": _check_name, "path": path, "adapter": _adapter}


def _table(wanted: NewModelForm) -> dict[str, Any]:
    """The fields of models.toml, each of which is right by itself."""
    if wanted.place == "endpoint":
        return _endpoint(wanted)
    path = _folder(wanted.path) if wanted.place == "folder" else _hub(wanted.path)
    table: dict[str, Any] = {"backend": wanted.backend, "path": path, "dtype": wanted.dtype}
    if wanted.chat:
        table["chat"] = True
    if wanted.adapter:
        table["adapter"] = _adapter(wanted.adapter)
    return table


def _endpoint(wanted: NewModelForm) -> dict[str, Any]:
    options = {"base_url": wanted.address}
    if wanted.key_variable:
        options["api_key_env"] = wanted.key_variable
    numbers = {
        "input_price": _price(wanted.input_price),
        "output_price": _price(wanted.output_price),
        "max_length": _length(wanted.max_length),
    }
    stated = {key: number for key, number in numbers.items() if number}
    described = {"backend": "openai", "path": wanted.path, "chat": wanted.chat}
    return {**described, **stated, "options": options}


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ModelError(
            "model-bad-name",
        )


def _check_text(text: str) -> None:
    if len(text) > _MAX_FIELD_LENGTH or not text.isprintable():
        raise ModelError(
            "model-bad-field",
            n=_MAX_FIELD_LENGTH,
        )


def _folder(path: str) -> str:
    _check_text(path)
    if not path:
        raise ModelError("no-model-folder")
    folder = Path(path).expanduser() if path.startswith("~/") else Path(path)
    if not folder.is_absolute():
        raise ModelError(
            "path-not-absolute",
            path=path,
        )
    return str(resolve_links(folder))


def _adapter(path: str) -> str:
    return _folder(path) if path else ""


def _hub(path: str) -> str:
    _check_text(path)
    if not _HUB_ID.fullmatch(path) or ".." in path:
        raise ModelError(
            "no-hub-id",
            path=path,
        )
    return path


def _check_model_name(path: str) -> None:
    _check_text(path)
    if not path:
        raise ModelError("endpoint-no-model")


def _check_variable(name: str) -> None:
    if name and not _VARIABLE.fullmatch(name):
        raise ModelError(
            "no-variable",
        )


def _check_key(key: str) -> None:
    if len(key) > _MAX_FIELD_LENGTH or not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelError("key-characters")  # without the key


def _price(text: str) -> float:
    try:
        price = float(text or 0)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        raise ModelError("price-no-amount")
    return price


def _length(text: str) -> int:
    if text and not _TOKEN_COUNT.fullmatch(text):
        raise ModelError("length-no-number")
    return int(text or 0)


def _check_address(address: str) -> None:
    _check_text(address)
    if may_hold_secret(address) or not is_http_url(address):
        raise ModelError(  # without the address: it may hold a password or a key
            "no-address",
        )
    check_url(address)


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
