"""A model as its form describes it: what each field may be, and the table that comes of it."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from evalui.errors import ModelError
from evalui.models.catalog import resolve_links
from evalui.models.endpoint.limits import check_url, is_http_url, may_hold_secret
from evalui.models.endpoint.protocol import check_extras

ModelSource = Literal["folder", "hub", "endpoint"]

_NAME = re.compile(r"[^\W_][\w.+-]{0,63}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# The user who adds a model chooses the host as well: no other secret of the server may go there.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,91}_API_KEY")
_MAX_FIELD_LENGTH = 500  # characters of one field
_TOKEN_COUNT = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class NewModelForm:
    """A model as its form describes it; the fields from `address` on are an endpoint's.

    `path` is a folder, a hub id, or the model's name at the endpoint. `key` is kept encrypted for
    this address, and `drops_key` forgets an earlier one; `key_variable` names the environment
    variable that holds the key instead. The prices, in US dollars for a million tokens, and
    `max_length` in tokens are numbers, or as they were typed, "" if they were not. `extra_body`,
    `headers`, `query` and `key_header` are as in `endpoint.extras`: tables, or as they were typed,
    as JSON. `everyone` or
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
    extra_body: dict[str, Any] | str = ""
    headers: dict[str, str] | str = ""
    query: dict[str, str] | str = ""
    key_header: str = ""
    everyone: bool | None = None
    people: tuple[str, ...] | None = None


class InvalidModelForm(ModelError):
    """Fields of a form are wrong: `faults` has a sentence for each, by field of `NewModelForm`."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(next(iter(faults.values())))
        self.faults = faults


def field_errors(wanted: NewModelForm, hosts: Sequence[str]) -> dict[str, str]:
    """What is wrong with the fields, a sentence by name; whether the files can be loaded is not
    looked at.
    """
    errors: dict[str, str] = {}
    for name, check in _checks(wanted, hosts).items():
        try:
            check(getattr(wanted, name))
        except ModelError as error:
            errors[name] = error.sentence
    return errors


def _checks(wanted: NewModelForm, hosts: Sequence[str]) -> dict[str, Callable[[Any], object]]:
    """The fields that matter for where the model is, in the order of the form."""
    if wanted.place == "endpoint":
        return {
            "name": _check_name,
            "address": partial(_check_address, hosts=hosts),
            "path": _check_model_name,
            "key": _check_key,
            "key_variable": _check_variable,
            "input_price": _price,
            "output_price": _price,
            "max_length": _length,
            "extra_body": lambda given: check_extras(_table(given), {}, {}, ""),
            "headers": lambda given: _check_headers(_texts(given)),
            "query": lambda given: check_extras({}, {}, _texts(given), ""),
            "key_header": lambda given: check_extras({}, {}, {}, given),
        }
    path = _folder if wanted.place == "folder" else _hub
    return {"name": _check_name, "path": path, "adapter": _adapter}


def model_table(wanted: NewModelForm) -> dict[str, Any]:
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
    options: dict[str, Any] = {"base_url": wanted.address}
    if wanted.key_variable:
        options["api_key_env"] = wanted.key_variable
    extras = {
        "extra_body": _table(wanted.extra_body),
        "headers": _texts(wanted.headers),
        "query": _texts(wanted.query),
        "key_header": wanted.key_header,
    }
    options |= {name: given for name, given in extras.items() if given}
    numbers = {
        "input_price": _price(wanted.input_price),
        "output_price": _price(wanted.output_price),
        "max_length": _length(wanted.max_length),
    }
    stated = {key: number for key, number in numbers.items() if number}
    described = {"backend": "openai", "path": wanted.path, "chat": wanted.chat}
    return {**described, **stated, "options": options}


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


def _check_headers(headers: Mapping[str, str]) -> None:
    check_extras({}, headers, {}, "")
    for value in headers.values():
        if value.startswith("$"):
            _check_variable(value.removeprefix("$"))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ModelError("model-bad-name")


def _check_text(text: str) -> None:
    if len(text) > _MAX_FIELD_LENGTH or not text.isprintable():
        raise ModelError("model-bad-field", n=_MAX_FIELD_LENGTH)


def _folder(path: str) -> str:
    _check_text(path)
    if not path:
        raise ModelError("no-model-folder")
    folder = Path(path).expanduser() if path.startswith("~/") else Path(path)
    if not folder.is_absolute():
        raise ModelError("path-not-absolute", path=path)
    return str(resolve_links(folder))


def _adapter(path: str) -> str:
    return _folder(path) if path else ""


def _hub(path: str) -> str:
    _check_text(path)
    if not _HUB_ID.fullmatch(path) or ".." in path:
        raise ModelError("no-hub-id", path=path)
    return path


def _check_model_name(path: str) -> None:
    _check_text(path)
    if not path:
        raise ModelError("endpoint-no-model")


def _check_variable(name: str) -> None:
    if name and not _VARIABLE.fullmatch(name):
        raise ModelError("no-variable")


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


def _check_address(address: str, hosts: Sequence[str]) -> None:
    _check_text(address)
    if may_hold_secret(address) or not is_http_url(address):
        raise ModelError("no-address")  # without the address: it may hold a password or a key
    check_url(address, hosts)
