"""`evalui models`: the models that were added, from the command line.

    evalui models list | add NAME --url URL [--model ID] [--key-stdin] | remove NAME
    evalui models add NAME --path DIR_OR_HUB_ID [--adapter DIR] [--backend vllm] [--dtype DTYPE]
    evalui models add NAME --url URL --extra-body '{"enable_thinking": false}'
    evalui models add NAME --url URL --backend decision
    evalui models add NAME --url URL --query api-version=2024-10-21 --key-header api-key --key-stdin

They are those of the Models page. A key is read from standard input, so that no list of processes
and no history of a shell has it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalui.cli.parser import number
from evalui.errors import ModelError
from evalui.local_runs import load_settings, read_model_entries


def add_models_command(commands: Any) -> None:
    """Add `models` with its three actions to the subparsers of `evalui`."""
    models = commands.add_parser("models", help="list, add and remove models")
    actions = models.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list all models and their sources")
    listing.set_defaults(command=_list)

    add = actions.add_parser("add", help="add a model: an endpoint, a folder or a hub id")
    add.add_argument("name", metavar="NAME", help="name in runs and reports")
    place = add.add_mutually_exclusive_group(required=True)
    place.add_argument("--url", "--eval-url", help="base URL, such as http://127.0.0.1:8000/v1")
    place.add_argument("--path", metavar="DIR_OR_HUB_ID", help="its folder, or its id on the hub")
    add.add_argument("--adapter", metavar="DIR", default="", help="LoRA adapter on top of it")
    add.add_argument(
        "--backend",
        choices=("transformers", "vllm", "decision"),
        help="backend of a model whose files are here (default: transformers); decision asks a "
        "server for decisions, whatever else it can do",
    )
    add.add_argument("--dtype", help="its precision, such as bfloat16 (default: auto)")
    add.add_argument("--chat", action="store_true", help="send it conversations")
    add.add_argument("--model", metavar="ID", help="its name at the server (default: NAME)")
    add.add_argument("--no-chat", action="store_true", help="send plain prompts")
    add.add_argument(
        "--key-stdin", action="store_true", help="read its API key from standard input"
    )
    add.add_argument(
        "--timeout",
        type=number("the seconds", 0.1, kind=float),
        metavar="SECONDS",
        help="without a byte, after which a request has failed (default: 60)",
    )
    add.add_argument(
        "--extra-body", metavar="JSON", default="", help="fields added to each request, as JSON"
    )
    add.add_argument(
        "--header",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help='header of each request; "$VARIABLE" is read from the environment',
    )
    add.add_argument(
        "--query",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="added to the address of each request, such as api-version=2024-10-21",
    )
    add.add_argument(
        "--key-header",
        metavar="NAME",
        default="",
        help="header that carries the key, such as api-key (default: a bearer token)",
    )
    add.set_defaults(command=_add)

    remove = actions.add_parser("remove", help="remove an added model and its key")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(command=_remove)


def _list(given: argparse.Namespace) -> int:
    del given
    from evalui.models.user_catalog import additions_path, has_key, read_added

    settings = load_settings()
    added = read_added(additions_path(settings.database), settings.endpoint_hosts)
    for name, entry in read_model_entries(settings).items():
        source = "added" if added.get(name) == entry else settings.models.name
        address = entry.options.get("base_url", "")
        parts = [name, source, entry.backend, entry.path, address, "key" * has_key(entry)]
        print("\t".join(str(part) for part in parts if part))
    return 0


def _add(given: argparse.Namespace) -> int:
    from evalui.models.user_catalog import NewModelForm, add_model, additions_path

    settings = load_settings()
    _check_options(given)
    wanted = NewModelForm(
        given.name,
        given.model or given.name,
        place="endpoint",
        chat=not given.no_chat,
        backend=given.backend or "transformers",
        address=given.url,
        key=sys.stdin.readline().strip() if given.key_stdin else "",
        timeout_s=given.timeout or "",
        extra_body=given.extra_body,
        headers=_pairs(given.header),
        query=_pairs(given.query),
        key_header=given.key_header,
    )
    if given.path:
        folder = Path(given.path).expanduser()
        is_folder = folder.is_dir() or given.path.startswith(("/", ".", "~"))
        wanted = NewModelForm(
            given.name,
            str(folder.absolute()) if is_folder else given.path,
            place="folder" if is_folder else "hub",
            backend=given.backend or "transformers",
            dtype=given.dtype or "auto",
            chat=given.chat,
            adapter=str(Path(given.adapter).expanduser().absolute()) if given.adapter else "",
        )
    add_model(additions_path(settings.database), wanted, catalog=settings.models)
    print(f"evalui: {given.name} is added", file=sys.stderr)
    return 0


def _check_options(given: argparse.Namespace) -> None:
    """Raises `ModelError` for an option that means nothing to where the model is."""
    from evalui.models.base import is_remote

    asks_servers = is_remote(given.backend or "")
    of_endpoint = {
        "--backend decision": asks_servers,
        "--model": given.model,
        "--no-chat": given.no_chat,
        "--key-stdin": given.key_stdin,
        "--timeout": given.timeout,
        "--extra-body": given.extra_body,
        "--header": given.header,
        "--query": given.query,
        "--key-header": given.key_header,
    }
    of_files = {
        "--adapter": given.adapter,
        "--backend": given.backend and not asks_servers,
        "--dtype": given.dtype,
        "--chat": given.chat,
    }
    wrong, place = (of_endpoint, "--path") if given.path else (of_files, "--url")
    for option, value in wrong.items():
        if value:
            raise ModelError("flag-elsewhere", flag=option, place=place)


def _pairs(listed: Sequence[str]) -> dict[str, str]:
    """The values of arguments NAME=VALUE by their names."""
    for each in listed:
        if "=" not in each:
            raise ModelError("no-name-value", text=each)
    return {name: value for name, _, value in (each.partition("=") for each in listed)}


def _remove(given: argparse.Namespace) -> int:
    from evalui.models.user_catalog import additions_path, remove_model

    settings = load_settings()
    remove_model(additions_path(settings.database), given.name)
    print(f"evalui: {given.name} is removed", file=sys.stderr)
    return 0
