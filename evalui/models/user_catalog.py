"""Models added on the page: a file of their own beside the database.

The administrator's models.toml is only ever read. The server, its workers and the command line
read both files; of two models with one name that of models.toml counts.
"""

import json
import math
import os
import re
import tempfile
import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalui.errors import ModelError, StoreError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import problem_of, read_catalog, read_entry, resolve_links
from evalui.models.endpoint.http.addresses import check_url, is_http_url, may_hold_secret

ModelSource = Literal["folder", "hub", "endpoint"]

_FILE = "models-added.toml"
_FILE_HEADER = "# Models added on the Models page. evalui writes this file anew with each change.\n"
_NAME = re.compile(r"[^\W_][\w.+-]{0,63}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# The user who adds a model chooses the host as well: no other secret of the server may go there.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,91}_API_KEY")
_MAX_FIELD_LENGTH = 500  # characters of one field
_TOKEN_COUNT = re.compile(r"[1-9][0-9]{0,8}")
# Two forms sent at the same moment read and write one file: without it one model would be lost.
_WRITE_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class NewModelForm:
    """A model as its form describes it; the fields from `address` on are an endpoint's.

    `path` is a folder, a hub id, or the model's name at the endpoint. `key_variable` names the
    environment variable that holds the key: keys never stand in files. The prices, in US dollars
    for a million tokens, and `max_length` are numbers as they were typed, "" if they were not.
    """

    name: str
    path: str
    place: ModelSource = "folder"
    backend: str = "transformers"
    dtype: str = "auto"
    chat: bool = False
    adapter: str = ""
    address: str = ""
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
    return read_catalog(additions) if additions.is_file() else {}


def add_model(additions: Path, wanted: NewModelForm, *, catalog: Path) -> ModelEntry:
    """Check a model and append it; what it became.

    Raises:
        InvalidModelForm: fields are wrong, or the name is taken.
        ModelError: the files cannot be loaded.
        StoreError: the file cannot be written.
    """
    if faults := _field_errors(wanted):
        raise InvalidModelForm(faults)
    table = _table(wanted)
    entry = read_entry(additions, wanted.name, table)
    if wanted.place != "endpoint" and (problem := problem_of(entry)):
        raise ModelError(problem)  # an endpoint may be down for now: its status will show that
    with _WRITE_LOCK:
        if wanted.name in read_models(catalog, additions):
            taken = sentence(
                "error.model-name-taken",
                name=wanted.name,
            )
            raise InvalidModelForm({"name": taken})
        _write(additions, _read_tables(additions) | {wanted.name: table})
    return entry


def remove_model(additions: Path, name: str) -> None:
    """Take an added model out again; its files stay. Raises `ModelError` if it was not added."""
    with _WRITE_LOCK:
        tables = _read_tables(additions)
        if name not in tables:
            raise ModelError(
                "model-not-added",
                name=name,
            )
        del tables[name]
        _write(additions, tables)


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
    # The options come last: in the file they are one long line.
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
        _replace(additions, text)
    except OSError as error:
        raise StoreError(
            "additions-unwritable",
            file=str(additions),
            reason=str(error.strerror),
        ) from error


def _replace(path: Path, text: str) -> None:
    number, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


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
