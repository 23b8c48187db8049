"""The models of `evalui run --model` that no models.toml describes, in SWIFT's words.

    evalui run --model PATH_OR_URL --dataset NAME_OR_FILE... --out DIR
    evalui run --model qwen --eval-url http://127.0.0.1:8000/v1 --dataset law_val.csv --out DIR

Such a model is a folder, a hub id or an endpoint; it is there for this run alone.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evalui.cli.parser import number
from evalui.cli.run_fields import option
from evalui.errors import EvaluiError, ModelError, SpecError, UnknownName

if TYPE_CHECKING:
    from evalui.local_runs import PreparedRun
    from evalui.models.base import ModelEntry
    from evalui.models.new_model import NewModelForm

_STDIN_KEY = "EVALUI_RUN_API_KEY"  # of this process alone
_URL_STARTS = ("http://", "https://")
_FOLDER_STARTS = ("/", "./", "../", "~")
_OF_FILES = ("adapter", "backend", "device", "dtype", "tensor_parallel")  # of models here
_OF_ENDPOINTS = ("key_env", "key_stdin", "timeout")
_OF_THE_SERVER = (*_OF_FILES, *_OF_ENDPOINTS, "eval_url")
# The option that a field of a model's form comes from.
_OPTIONS = {"address": "--eval-url", "key_variable": "--key-env", "adapter": "--adapter"}


def add_model_options(run: argparse.ArgumentParser) -> None:
    """Add the options that describe the models of `--model`."""
    group = run.add_argument_group("its models", "where models.toml does not describe them")
    group.add_argument("--adapter", metavar="DIR", help="LoRA adapter on top of the model")
    group.add_argument(
        "--eval-url", metavar="URL", help="endpoint, such as http://127.0.0.1:8000/v1"
    )
    group.add_argument(
        "--key-env", metavar="NAME", help="environment variable with the endpoint's key"
    )
    group.add_argument(
        "--key-stdin", action="store_true", help="read the endpoint's key from standard input"
    )
    group.add_argument(
        "--timeout",
        type=number("the seconds", 0.1, kind=float),
        metavar="SECONDS",
        help="without a byte, after which a request to the endpoint has failed (default: 60)",
    )
    group.add_argument(
        "--backend",
        choices=("transformers", "vllm", "decision"),
        help="backend of a model in a folder; decision asks an endpoint for decisions, whatever "
        "else it can do",
    )
    group.add_argument("--device", help="its device: cpu, cuda, or one GPU such as cuda:1")
    group.add_argument("--dtype", help="its precision, such as bfloat16")
    group.add_argument(
        "--tensor-parallel",
        type=number("the number of GPUs", 1),
        metavar="N",
        help="number of GPUs that share the model, with --backend vllm",
    )


def check_server_options(given: argparse.Namespace) -> None:
    """Raises `SpecError` for an option that is a server's to decide."""
    for name in _OF_THE_SERVER:
        if getattr(given, name):
            raise SpecError("server-options", option=option(name))


def described_models(
    given: argparse.Namespace, catalog: "Mapping[str, ModelEntry]"
) -> "list[ModelEntry]":
    """The models of `--model` and `--eval-url`, in their order.

    Raises:
        SpecError: an option is wrong, or cannot go with another.
        UnknownName: a model is neither of the catalog nor a folder, a hub id or an address.
        ModelError: an endpoint does not list the one model that it has.
    """
    wanted: list[str] = list(given.models or ([given.eval_url] if given.eval_url else []))
    stated = [option(name) for name in _OF_FILES if getattr(given, name)]
    if stated and (not wanted or (given.adapter and len(wanted) != 1)):
        raise SpecError("flag-one-model", flag=stated[0])
    remote = [option(name) for name in _OF_ENDPOINTS if getattr(given, name)]
    if remote and not _has_address(given, wanted):
        raise SpecError("flag-needs", flag=remote[0])
    if given.key_stdin:
        os.environ[_STDIN_KEY] = sys.stdin.readline().strip()
    return [_entry(name, given, catalog) for name in wanted]


def with_fitting_modes(
    prepared: "PreparedRun", catalog: "Mapping[str, ModelEntry]"
) -> "PreparedRun":
    """The run in the usual mode of each kind of question, which its models can do.

    Options are compared by their probabilities, of letters or as a decision, where every model
    gives them or the run says what stands for an option, else models reply.
    """
    from evalui.models.catalog import describe, find_entry
    from evalui.modes import ability_of, modes_for, spellings_for, usual_mode
    from evalui.types import DatasetKind, has_options

    kinds: set[DatasetKind] = {upload.dataset.kind for upload in prepared.loaded.values()}
    entries = [find_entry(catalog, name) for name in prepared.spec.models]
    choice = usual_mode("choices")
    own = {mode.mode: mode for mode in prepared.spec.modes}
    wanted = own[choice].spellings
    scored = wanted != "common" or all(
        ability_of(choice, spellings_for(choice, wanted, state.abilities)) in state.abilities
        or state.problem
        for state in map(describe, entries)
    )
    first = own[choice].model_dump(include={"shots", "pattern", "chat"})
    names = [choice if scored else usual_mode("choices", "generate")]
    names = names if any(map(has_options, kinds)) else []
    names += sorted({modes_for((kind,))[0] for kind in kinds if not has_options(kind)})
    modes = [own.get(name) or type(own[choice])(mode=name, **first) for name in names]
    return replace(prepared, spec=prepared.spec.model_copy(update={"modes": modes}))


def _has_address(given: argparse.Namespace, wanted: Sequence[str]) -> bool:
    return bool(given.eval_url) or any(name.startswith(_URL_STARTS) for name in wanted)


def _entry(
    name: str, given: argparse.Namespace, catalog: "Mapping[str, ModelEntry]"
) -> "ModelEntry":
    from evalui.models.base import is_remote

    is_address = name.startswith(_URL_STARTS)
    asks_servers = is_remote(given.backend or "")
    if given.eval_url or is_address:
        for each in _OF_FILES:
            if getattr(given, each) and not (each == "backend" and asks_servers):
                raise SpecError("flag-no-endpoint", flag=option(each))
        return _endpoint("" if is_address else name, given.eval_url or name, given, catalog)
    if asks_servers:
        raise SpecError("flag-needs", flag=f"--backend {given.backend}")
    if name in catalog:
        return _changed(catalog[name], given)
    return _placed(_local(name, given, catalog), given)


def _endpoint(
    model: str, address: str, given: argparse.Namespace, catalog: "Mapping[str, ModelEntry]"
) -> "ModelEntry":
    from evalui.models.new_model import NewModelForm

    variable = _STDIN_KEY if given.key_stdin else given.key_env or ""
    form = NewModelForm(
        "endpoint",
        model or "unknown",
        place="endpoint",
        backend=given.backend or "transformers",
        chat=True,
        address=address,
        key_variable=variable,
        timeout_s=given.timeout or "",
    )
    _check(form)
    model = model or _only_model(address, os.environ.get(variable, ""))
    short = _short_name(model)
    name = f"{short}@{urlsplit(address).hostname}" if short in catalog else short
    return _read_entry(replace(form, path=model), name)


def _only_model(address: str, key: str) -> str:
    """What an endpoint calls the one model that it has."""
    from evalui.models.endpoint.protocol import RejectedError, RetryableError, as_list, as_object
    from evalui.models.endpoint.server import HttpServer

    server = HttpServer(address.rstrip("/"), key=key, timeout_s=30.0, total_s=60.0)
    try:
        listed = as_list(server.get("models").get("data"))
    except (RejectedError, RetryableError) as error:
        raise ModelError("flag-unlisted", url=address, reason=str(error)) from error
    finally:
        server.close()
    names = [str(as_object(each).get("id")) for each in listed]
    if len(names) != 1:
        raise ModelError("flag-which-model", url=address, known=", ".join(names) or "-")
    return names[0]


def _changed(entry: "ModelEntry", given: argparse.Namespace) -> "ModelEntry":
    """A model of the catalog with what the options say of models whose files are here."""
    from evalui.models.base import traits_of

    stated = [option(name) for name in _OF_FILES if getattr(given, name)]
    if stated and (traits_of(entry).remote or not entry.path):
        raise SpecError("flag-no-endpoint", flag=stated[0])
    if given.backend:
        entry = replace(entry, backend=given.backend)
    entry = _placed(entry, given)
    if not given.adapter:
        return entry
    adapter = Path(given.adapter).expanduser().absolute()
    return _usable(
        replace(entry, name=f"{entry.name}+{adapter.name}", adapter=str(adapter)), "--adapter"
    )


def _placed(entry: "ModelEntry", given: argparse.Namespace) -> "ModelEntry":
    """The model on the device, in the precision and on the number of GPUs of the options."""
    from evalui.models.base import BACKENDS

    for name in ("device", "dtype"):
        if getattr(given, name):
            entry = _usable(replace(entry, **{name: getattr(given, name)}), option(name))
    if (given.tensor_parallel or 1) == 1:
        return entry
    options = entry.options | {"tensor_parallel": given.tensor_parallel}
    spread = replace(entry, options=options)
    if BACKENDS[entry.backend].accelerators(spread) != given.tensor_parallel:
        raise SpecError("flag-value", flag="--backend", value=entry.backend, known="vllm")
    return _usable(spread, "--tensor-parallel")


def _local(
    name: str, given: argparse.Namespace, catalog: "Mapping[str, ModelEntry]"
) -> "ModelEntry":
    """A model in a folder or on the hub."""
    from evalui.models.new_model import NewModelForm

    folder = Path(name).expanduser()
    is_folder = folder.is_dir() or name.startswith(_FOLDER_STARTS)
    if not is_folder and name.count("/") != 1:
        raise UnknownName("unknown-model", name=name, known=", ".join(sorted(catalog)))
    adapter = str(Path(given.adapter).expanduser().absolute()) if given.adapter else ""
    form = NewModelForm(
        "folder",
        str(folder.absolute()) if is_folder else name,
        place="folder" if is_folder else "hub",
        backend=given.backend or "transformers",
        adapter=adapter,
    )
    _check(form)
    short = _short_name(form.path)
    if short in catalog:
        short = f"{short}@{Path(form.path).parent.name}"
    tuned = f"{short}+{Path(adapter).name}" if adapter else short
    return _usable(_read_entry(form, tuned), "--adapter" if adapter else "--model")


def _short_name(model: str) -> str:
    return model.rstrip("/").rpartition("/")[2] or model


def _check(form: "NewModelForm") -> None:
    """Raises `SpecError` that names the option of the first wrong field."""
    from evalui.models.new_model import field_errors

    for name, reason in field_errors(form, ()).items():
        raise SpecError("flag-wrong", flag=_OPTIONS.get(name, "--model"), reason=reason)


def _read_entry(form: "NewModelForm", name: str) -> "ModelEntry":
    from evalui.models.catalog import read_entry
    from evalui.models.new_model import model_table

    return read_entry(Path("--model"), name, model_table(form))


def _usable(entry: "ModelEntry", flag: str) -> "ModelEntry":
    from evalui.models.catalog import problem_of

    try:
        problem = problem_of(entry)
    except EvaluiError as error:
        problem = error.sentence
    if problem:
        raise SpecError("flag-wrong", flag=flag, reason=problem)
    return entry
