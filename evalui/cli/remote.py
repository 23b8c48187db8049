"""`evalui run SPEC --server URL`: the run is done by a server, its report written here.

    evalui run SPEC.json --out DIR --server URL [--token-file FILE] [--insecure]

The files of the specification are uploaded first. The run goes on there when this command is
stopped.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.cli.store import read_text
from evalui.errors import SpecError
from evalui.local_runs import with_benchmarks

if TYPE_CHECKING:
    from evalui.client import CellProgress, Client
    from evalui.runs.spec import RunSpec
    from evalui.types import Cell


def add_server_options(command: argparse.ArgumentParser, help: str) -> None:
    """Add the options that name a server; `help` says what it is for."""
    command.add_argument("--server", metavar="URL", help=help)
    command.add_argument("--token-file", metavar="FILE", type=Path, help="holds the token for it")
    command.add_argument(
        "--insecure", action="store_true", help="send the token over plain http to another machine"
    )


def server_client(given: argparse.Namespace) -> "Client":
    """The client of the server that the options name."""
    from evalui.client import Client

    token = ""
    if given.token_file:
        token = read_text(given.token_file).strip()
        if not token:
            raise SpecError("token-missing", path=str(given.token_file))
    return Client(given.server, token, insecure=given.insecure)


def run_on_server(given: argparse.Namespace, requested: "RunSpec", base: Path) -> int:
    """Do the run of a specification, whose paths are relative to `base`, and return the exit code.

    Raises:
        EvaluiError: files cannot be read, or the server cannot be reached or refuses.
    """
    from tqdm import tqdm

    for option in ("models_file", "engine", "language"):
        if getattr(given, option):
            raise SpecError("server-options", option=f"--{option.replace('_', '-')}")
    client = server_client(given)
    named, notes = with_benchmarks(requested, base)
    for note in notes:
        print(f"evalui: {note}", file=sys.stderr)
    spec = _uploaded(client, named, base)
    run = client.start(spec)
    for line in run.left_out:
        print(f"evalui: left out: {line}", file=sys.stderr)
    print(f"evalui: the run is at {client.url}/r/{run.id}", file=sys.stderr)
    with tqdm(total=run.total, unit=" trials", file=sys.stderr) as bar:
        ended = client.wait(run, lambda progress: bar.update(progress.done - bar.n))
    client.report(ended, given.out)
    print(f"evalui: the report is in {given.out}", file=sys.stderr)
    code = report_failures((each, each.state, each.error) for each in ended.cells if each.error)
    if ended.state == "cancelled":
        print("evalui: the run was stopped on the server", file=sys.stderr)
    return code if ended.state == "done" else 1


def report_failures(failed: "Iterable[tuple[Cell | CellProgress, str, str]]") -> int:
    """State which cells failed, of each its state and its error; the exit code.

    What could not be tried was stated before the run began.
    """
    code = 0
    for cell, state, error in failed:
        code = 1
        if state != "impossible":
            place = f"{cell.model} on {cell.dataset}, {cell.label}"
            print(f"evalui: {place}: {error}", file=sys.stderr)
    return code


def _uploaded(client: "Client", spec: "RunSpec", base: Path) -> dict[str, Any]:
    """The specification with what `base` holds uploaded, as it is sent."""
    datasets = [
        source.model_copy(update={"path": "", "upload": _upload(client, base, source.paths)})
        if source.path
        else source
        for source in spec.datasets
    ]
    keys = {
        ", ".join(before.paths): after.key
        for before, after in zip(spec.datasets, datasets, strict=True)
    }
    answers = [
        each.model_copy(
            update={
                "path": "",
                "upload": _upload(client, base, (each.path,)) if each.path else each.upload,
                "dataset": keys.get(each.dataset, each.dataset),
            }
        )
        for each in spec.answers
    ]
    whole = spec.model_copy(update={"datasets": datasets, "answers": answers})
    return whole.model_dump(exclude_defaults=True)


def _upload(client: "Client", base: Path, paths: tuple[str, ...]) -> str:
    from evalui.runs.submit import absolute_path

    try:
        return client.upload(
            [absolute_path(base, path) for path in paths],
            lambda now: print(
                f"evalui: the server has read {now.rows_read:,} rows of {', '.join(now.files)}",
                file=sys.stderr,
            ),
        ).id
    except OSError as error:
        raise SpecError(
            "file-unread", path=str(error.filename), reason=error.strerror or str(error)
        ) from error
