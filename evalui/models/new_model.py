"""A model as its form describes it: what each field may be, and where the catalog has it."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, cast, get_args

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.base import ModelEntry, is_remote, traits_of
from evalui.models.catalog import resolve_links
from evalui.models.endpoint.limits import check_url, is_http_url, may_hold_secret
from evalui.models.endpoint.protocol import Api, check_extras

ModelSource = Literal["folder", "hub", "endpoint"]

_NAME = re.compile(r"[^\W_][\w.+-]{0,63}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# The user who adds a model chooses the host as well: no other secret of the server may go there.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,91}_API_KEY")
_MAX_FIELD_LENGTH = 500  # characters of one field
_TOO_LONG_S = 1_000_000_000
_TOKEN_COUNT = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class NewModelForm:
    """A model as its form describes it; the fields from `address` on are an endpoint's.

    `path` is a folder, a hub id, or the model's name at the endpoint. `key` is kept encrypted for
    this address, and `drops_key` forgets an earlier one; `key_variable` names the environment
    variable that holds the key instead. The prices, in US dollars for a million tokens,
    `max_length` in tokens and `timeout_s` are numbers, or as they were typed, "" if they were not.
    `extra_body`, `headers`, `query` and `key_header` are as in `RequestExtras`: tables, or as they
    were typed, as JSON. `api` is the only interface that is used, "auto" for any. `everyone` or
    else these `people` may use it beside its owner, as in `ModelEntry`; None is as before, and of a
    new model everyone.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # where it comes as JSON

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
    input_price: float | str = ""
    output_price: float | str = ""
    max_length: int | str = ""
    timeout_s: float | str = ""
    extra_body: dict[str, Any] | str = ""
    headers: dict[str, str] | str = ""
    query: dict[str, str] | str = ""
    key_header: str = ""
    api: Api = "auto"
    everyone: bool | None = None
    people: tuple[str, ...] | None = None


class InvalidModelForm(ModelError):
    """Fields of a form are wrong: `faults` has a sentence for each, by field of `NewModelForm`."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(next(iter(faults.values())))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: `read` gives its value as the catalog has it, or raises `ModelError`;
    `option` is its name among the options of an endpoint, "" of a field of the entry itself.
    """

    read: Callable[[Any], Any]
    option: str = ""


def fields_of(place: ModelSource) -> Mapping[str, FormField]:
    """The fields that a form decides of a model that is there, beside its name, its key and who may
    use it; in the order of the form. What else its table says was written by hand.
    """
    return _ENDPOINT_FIELDS if place == "endpoint" else _FILE_FIELDS[place]


def field_errors(wanted: NewModelForm, hosts: Sequence[str]) -> dict[str, str]:
    """What is wrong with the fields, a sentence by name; whether the files can be loaded is not
    looked at.
    """
    checks: dict[str, Callable[[Any], object]] = {"name": _check_name}
    if wanted.place == "endpoint":
        checks["key"] = _check_key
    checks |= {name: each.read for name, each in fields_of(wanted.place).items()}
    errors: dict[str, str] = {}
    for name, check in checks.items():
        try:
            check(getattr(wanted, name))
            if name == "address":
                check_url(wanted.address, hosts)
        except ModelError as error:
            errors[name] = error.sentence
    decides = traits_of(ModelEntry(wanted.name, wanted.backend)).only_decides
    if wanted.place == "endpoint" and decides and wanted.api in ("chat", "completions"):
        errors["api"] = sentence(
            "error.endpoint-wrong-option", option="api", expected="decision", found=wanted.api
        )
    return errors


def model_table(wanted: NewModelForm) -> dict[str, Any]:
    """The fields of models.toml, each of which is right by itself; those at their default are left
    out.
    """
    table: dict[str, Any] = {"backend": wanted.backend}
    options: dict[str, Any] = {}
    if wanted.place == "endpoint" and not is_remote(wanted.backend):
        table["backend"] = "openai"
    for name, each in fields_of(wanted.place).items():
        value = each.read(getattr(wanted, name))
        if value or (name == "chat" and wanted.place == "endpoint"):
            (options if each.option else table)[each.option or name] = value
    return {**table, "options": options} if wanted.place == "endpoint" else table


def typed_fields(entry: ModelEntry) -> dict[str, Any]:
    """What the catalog says of an added model, as it would be typed into the fields of text; a key
    is none of them.
    """
    typed: dict[str, Any] = {}
    for name, each in {**fields_of("folder"), **fields_of("endpoint")}.items():
        value = entry.options.get(each.option) if each.option else getattr(entry, name)
        if isinstance(value, dict):
            value = json.dumps(value, ensure_ascii=False) if value else ""
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{value:.12g}" if value else ""
        typed[name] = "" if value is None else value
    if traits_of(entry).only_decides:
        typed["api"] = "decision"
    return typed


def header_variables(wanted: NewModelForm) -> tuple[str, ...]:
    """The environment variables that the headers of a form name, which are right by themselves."""
    values = _texts(wanted.headers).values() if wanted.place == "endpoint" else ()
    return tuple(sorted(value[1:] for value in values if value.startswith("$")))


def _table(given: Mapping[str, Any] | str) -> dict[str, Any]:
    """A table as it was given, or as it was typed in JSON; "" is an empty one."""
    if not isinstance(given, str):
        table = dict(given)
    elif not given:
        table = dict[str, Any]()
    else:
        try:
            read: object = json.loads(given)
        except (ValueError, RecursionError):
            raise ModelError("no-json-table") from None
        if not isinstance(read, dict):
            raise ModelError("no-json-table")
        table = cast("dict[str, Any]", read)
    # What the file of added models cannot hold: TOML has no null.
    if not json.dumps(table, ensure_ascii=False).isprintable() or _has_null(table):
        raise ModelError("no-json-table")
    return table


def _texts(given: Mapping[str, str] | str) -> dict[str, str]:
    table = _table(given)
    if not all(isinstance(value, str) for value in table.values()):
        raise ModelError("no-table-of-texts")
    return table


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return any(map(_has_null, cast("list[object]", value)))
    return value is None


def _headers(given: Mapping[str, str] | str) -> dict[str, str]:
    headers = _texts(given)
    check_extras({}, headers, {}, "")
    for value in headers.values():
        if value.startswith("$"):
            _variable(value.removeprefix("$"))
    return headers


def _extra_body(given: Mapping[str, Any] | str) -> dict[str, Any]:
    body = _table(given)
    check_extras(body, {}, {}, "")
    return body


def _query(given: Mapping[str, str] | str) -> dict[str, str]:
    query = _texts(given)
    check_extras({}, {}, query, "")
    return query


def _key_header(name: str) -> str:
    check_extras({}, {}, {}, name)
    return name


def _api(api: str) -> str:
    if api not in (known := get_args(Api)):
        raise ModelError(
            "endpoint-wrong-option", option="api", expected=", ".join(known), found=repr(api)
        )
    return "" if api == "auto" else api


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ModelError("model-bad-name")


def _text(text: str) -> str:
    if len(text) > _MAX_FIELD_LENGTH or not text.isprintable():
        raise ModelError("model-bad-field", n=_MAX_FIELD_LENGTH)
    return text


def _folder(path: str) -> str:
    _text(path)
    if not path:
        raise ModelError("no-model-folder")
    folder = Path(path).expanduser() if path.startswith("~/") else Path(path)
    if not folder.is_absolute():
        raise ModelError("path-not-absolute", path=path)
    return str(resolve_links(folder))


def _adapter(path: str) -> str:
    return _folder(path) if path else ""


def _hub(path: str) -> str:
    _text(path)
    if not _HUB_ID.fullmatch(path) or ".." in path:
        raise ModelError("no-hub-id", path=path)
    return path


def _model_name(path: str) -> str:
    if not _text(path):
        raise ModelError("endpoint-no-model")
    return path


def _variable(name: str) -> str:
    if name and not _VARIABLE.fullmatch(name):
        raise ModelError("no-variable")
    return name


def _check_key(key: str) -> None:
    if len(key) > _MAX_FIELD_LENGTH or not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelError("key-characters")  # without the key


def _price(text: float | str) -> float:
    try:
        price = float(text or 0)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        raise ModelError("price-no-amount")
    return price


def _length(text: int | str) -> int:
    if text != "" and not _TOKEN_COUNT.fullmatch(str(text)):
        raise ModelError("length-no-number")
    return int(text or 0)


def _seconds(text: float | str) -> float:
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = math.nan
    if text and not 0.1 <= seconds < _TOO_LONG_S:
        raise ModelError("timeout-no-number")
    return seconds


def _address(address: str) -> str:
    _text(address)
    if may_hold_secret(address) or not is_http_url(address):
        raise ModelError("no-address")  # without the address: it may hold a password or a key
    return address


_ENDPOINT_FIELDS: Mapping[str, FormField] = {
    "address": FormField(_address, "base_url"),
    "path": FormField(_model_name),
    "chat": FormField(bool),
    "key_variable": FormField(_variable, "api_key_env"),
    "input_price": FormField(_price),
    "output_price": FormField(_price),
    "max_length": FormField(_length),
    "timeout_s": FormField(_seconds, "timeout_s"),
    "extra_body": FormField(_extra_body, "extra_body"),
    "headers": FormField(_headers, "headers"),
    "query": FormField(_query, "query"),
    "key_header": FormField(_key_header, "key_header"),
    "api": FormField(_api, "api"),
}
_FILE_FIELDS: Mapping[str, Mapping[str, FormField]] = {
    place: {
        "path": FormField(path),
        "dtype": FormField(str),
        "chat": FormField(bool),
        "adapter": FormField(_adapter),
    }
    for place, path in (("folder", _folder), ("hub", _hub))
}
