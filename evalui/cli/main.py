"""The command line: the same core and the same figures as the screen.

Bad input ends with exit code 2 and one line that says what is wrong. Each command imports what it
needs when it runs, so that help and scoring start at once.
"""

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.cli.benchmarks import add_benchmarks_command
from evalui.cli.check import add_check_command
from evalui.cli.export import add_export_command
from evalui.cli.gate import add_gate_command
from evalui.cli.hosting import add_hosting_commands
from evalui.cli.imports import add_import_command
from evalui.cli.models import add_models_command
from evalui.cli.parser import Group, Parser, number
from evalui.cli.people import add_people_commands
from evalui.cli.run import add_report_command, add_run_command
from evalui.cli.runs import add_runs_commands
from evalui.cli.score import add_score_command
from evalui.cli.share import add_share_command
from evalui.cli.votes import add_votes_commands
from evalui.errors import EvaluiError
from evalui.imports import uncollected_imports
from evalui.local_runs import load_settings
from evalui.version import __version__

if TYPE_CHECKING:
    from evalui.settings import Settings

_EXAMPLE = """

example:
  evalui run --model demo-late --dataset questions.csv --pattern circular --out report/
  (report/report.html is the result; evalui COMMAND --help has the options of a command)"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 a model failed, 2 bad input."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _parser(arguments)
    if not arguments:
        parser.print_help()
        return 0
    given = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = given.command
    try:
        return command(given)
    except EvaluiError as error:
        print(f"evalui: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        # Python must not flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.ENOSPC:  # else the reader has seen enough (`| head`)
            print(f"evalui: {error.strerror}; the output is incomplete", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("evalui: stopped", file=sys.stderr)
        return 130


def _parser(arguments: Sequence[str]) -> Parser:
    """The parser of all commands; what is slow to import is there for its own command alone."""
    parser = Parser(
        prog="evalui",
        usage="evalui COMMAND ...",
        description="Evaluate language models on your own files.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evalui {__version__}")
    commands = parser.add_subparsers(
        prog="evalui", required=True, metavar="COMMAND", help=argparse.SUPPRESS
    )
    titles = ("start", "files", "results", "server")
    start, files, results, server = groups = [Group(commands, title) for title in titles]
    port = number("a port", 0, 65535)

    demo = start.add_parser("demo", help="open a read-only gallery of finished runs")
    demo.add_argument("--port", type=port, help="port to listen on (default: 7860)")
    demo.add_argument("--reset", action="store_true", help="build the gallery again")
    demo.set_defaults(command=_demo)

    serve = start.add_parser("serve", help="open the web application")
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=port, help="port to listen on (default: 7860)")
    serve.add_argument(
        "--no-token",
        dest="token",
        action="store_const",
        const=False,
        help="let anyone who reaches the address in, without the access token",
    )
    serve.add_argument(
        "--new-token", action="store_true", help="make a new access token and revoke the old one"
    )
    serve.set_defaults(command=_serve)

    add_run_command(start, in_full="run" in arguments[:1])
    add_check_command(files)
    add_score_command(files)
    add_benchmarks_command(files)
    add_models_command(files)
    add_runs_commands(results)
    add_report_command(results)
    add_export_command(results)
    add_import_command(results)
    add_gate_command(results)
    add_votes_commands(results)
    add_share_command(results)
    add_people_commands(server)
    worker = server.add_parser("worker", help="work on queued runs until stopped")
    worker.add_argument("--database", type=Path, help="the store of the server")
    worker.add_argument("--models-file", type=Path, help="another models.toml")
    worker.add_argument("--device", help="the only device to use: cpu, or a GPU such as cuda:1")
    worker.set_defaults(command=_worker)
    add_hosting_commands(server)

    parser.epilog = "\n\n".join(map(str, groups)) + _EXAMPLE
    return parser


def _serve(given: argparse.Namespace) -> int:
    given_settings = {"host": given.host, "port": given.port, "token": given.token}
    updates = {name: value for name, value in given_settings.items() if value is not None}
    return _open(load_settings().model_copy(update=updates), renew=given.new_token)


def _demo(given: argparse.Namespace) -> int:
    from evalui.app.gallery import gallery_settings, read_gallery

    settings = gallery_settings(load_settings())
    if given.port is not None:
        settings = settings.model_copy(update={"port": given.port})
    gallery = None if given.reset else read_gallery(settings)
    if gallery is None:
        print("evalui: building the gallery, up to a minute", file=sys.stderr, flush=True)
        from evalui.app.gallery_builder import build_gallery

        gallery = build_gallery(settings)
    print("evalui: the gallery is read-only; --reset builds it again", file=sys.stderr)
    return _open(settings, query=gallery.orders)


def _open(settings: "Settings", *, renew: bool = False, query: str = "") -> int:
    """Print the address of a page, then serve it until interrupted."""
    from evalui.web.address import access_token, address_of, check_door, listen

    check_door(settings)
    is_alone = settings.auth == "token"
    with listen(settings.host, settings.port, only_here=is_alone) as listener:
        has_token = is_alone and settings.token
        token = access_token(settings.data_dir, renew=renew) if has_token else ""
        address = address_of(listener, token)
        print(f"{address}{'&' if token else '?'}{query}" if query else address, flush=True)
        began = time.monotonic()

        def tell_ready() -> None:
            place = f" at {settings.public_url}" if settings.public_url else ""
            seconds = max(1, round(time.monotonic() - began))
            print(f"evalui: ready after {seconds} s{place}", file=sys.stderr, flush=True)

        # It takes seconds to import, so nothing above may import it.
        with uncollected_imports():
            from evalui.server import serve

        serve(settings, listener, tell_ready)
    return 0


def _worker(given: argparse.Namespace) -> int:
    settings = load_settings()
    from evalui.runs.worker.supervisor import supervise

    supervise(
        settings, database=given.database, models=given.models_file, device=given.device or ""
    )
    return 0
