"""`evalui benchmarks`: published sets by name.

    evalui benchmarks list | search WORDS | show NAME [--download] | fetch NAME
    evalui benchmarks official NAME --model MODEL [--shots N] [--limit N] [--json FILE]

`official` gives the figures of lm-eval's own task; every other command of evalui takes the name of
a set where it takes files.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.cli.parser import number
from evalui.cli.store import write_text
from evalui.local_runs import load_settings, read_model_entries

if TYPE_CHECKING:
    from evalui.benchmarks.index import Benchmark


def add_benchmarks_command(commands: Any) -> None:
    """Add `benchmarks` with its actions to the subparsers of `evalui`."""
    benchmarks = commands.add_parser("benchmarks", help="published sets by name")
    actions = benchmarks.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list all sets, and where each is on this machine")
    listing.set_defaults(command=_list)

    search = actions.add_parser("search", help="find sets by words")
    search.add_argument(
        "words", metavar="WORD", nargs="+", help="word of a name, topic or language"
    )
    search.set_defaults(command=_search)

    show = actions.add_parser("show", help="show a set, and where its data are")
    show.add_argument("name", metavar="NAME")
    show.add_argument(
        "--download", action="store_true", help="ask the hub for the size of the download"
    )
    show.set_defaults(command=_show)

    fetch = actions.add_parser("fetch", help="get the data of a set from the hub")
    fetch.add_argument("name", metavar="NAME")
    fetch.add_argument("--revision", default="main", help="a commit of the hub (default: main)")
    fetch.set_defaults(command=_fetch)

    official = actions.add_parser("official", help="run lm-eval's own task and print its figures")
    official.add_argument("name", metavar="NAME", help="a set, or a task of lm-eval")
    official.add_argument("--model", required=True, help="a model of `evalui models list`")
    official.add_argument("--models-file", type=Path, help="another models.toml")
    official.add_argument(
        "--shots",
        type=number("the number of examples", 0),
        help="worked examples (default: the task's own)",
    )
    official.add_argument(
        "--limit",
        type=number("the number of questions", 1),
        help="only the first questions of each task",
    )
    official.add_argument("--json", type=Path, metavar="FILE", help="write the figures here, too")
    official.set_defaults(command=_official)


def _list(given: argparse.Namespace) -> int:
    del given
    from evalui.benchmarks.index import read_index

    return _print_lines(read_index().values())


def _search(given: argparse.Namespace) -> int:
    from evalui.benchmarks.index import search

    chosen = search(" ".join(given.words))
    if not chosen:
        print("evalui: no set matches; `evalui benchmarks list` lists all", file=sys.stderr)
    return _print_lines(chosen)


def _print_lines(chosen: "Iterable[Benchmark]") -> int:
    """A line for each set: name, title, topic, languages, questions, and where it is."""
    from evalui.benchmarks.preparing import availability, task_data

    data = task_data(load_settings())
    for each in chosen:
        here = availability(each, data).origin if not each.unsupported else each.unsupported
        count = str(each.questions) if each.questions else "?"
        parts = (each.name, each.title, each.topic, "+".join(each.languages), count, here or "-")
        print("\t".join(parts))
    return 0


def _show(given: argparse.Namespace) -> int:
    from evalui.benchmarks.index import find
    from evalui.benchmarks.preparing import availability, hindrance, task_data
    from evalui.benchmarks.published import published_figures

    benchmark, data = find(given.name), task_data(load_settings())
    here = availability(benchmark, data)
    facts = {
        "name": ", ".join((benchmark.name, *benchmark.names)),
        "title": benchmark.title,
        "topic": benchmark.topic,
        "languages": ", ".join(benchmark.languages),
        "licence": benchmark.licence,
        "data": f"hub: {benchmark.hub}" if benchmark.hub else benchmark.source,
        "scored": f"{benchmark.split} ({benchmark.questions or '?'} questions)",
        "examples": benchmark.shots,
        "lm-eval": benchmark.lm_eval,
        "here": f"{here.path} ({here.bytes} bytes)" if here.origin else "",
        "revision": here.revision,
        "files": ", ".join(here.files),
    }
    for head, value in facts.items():
        if value:
            print(f"{head}:\t{value}")
    if given.download:
        from evalui.benchmarks.hub import download_sizes

        sizes = download_sizes(benchmark, data)
        print(f"download:\t{sum(sizes.values())} bytes\t{', '.join(sizes)}")
    for each in published_figures(benchmark.name):
        print(f"published:\t{each.model}\t{each.value:g} %\t{each.setting}\t{each.source}")
    if advice := hindrance(benchmark, data):
        print(advice)
    return 0


def _fetch(given: argparse.Namespace) -> int:
    from evalui.benchmarks.hub import fetch
    from evalui.benchmarks.index import find
    from evalui.benchmarks.preparing import task_data

    fetched = fetch(find(given.name), task_data(load_settings()), revision=given.revision)
    for path, size in fetched.files.items():
        print(f"{path}\t{size}")
    print(f"evalui: {fetched.name} is in {fetched.place}", file=sys.stderr)
    return 0


def _official(given: argparse.Namespace) -> int:
    from evalui.benchmarks.harness import harness_version, official_figures, task_of
    from evalui.benchmarks.preparing import task_data
    from evalui.benchmarks.published import published_figures
    from evalui.models import open_model
    from evalui.models.catalog import find_entry

    settings = load_settings()
    task_of(given.name)  # what cannot run is said before a model is loaded
    harness_version()
    entry = find_entry(read_model_entries(settings, given.models_file), given.model)
    with closing(open_model(entry)) as model:
        result = official_figures(
            given.name, model, task_data(settings), shots=given.shots, limit=given.limit
        )
    for each in result.figures:
        spread = "" if each.stderr is None else f" ± {each.stderr:.4f}"
        print(
            f"{each.task}\t{each.metric}\t{each.filter}\t{each.value:.4f}{spread}\t"
            f"n={each.n}\tshots={each.shots}\ttask version {each.version}"
        )
    for each in published_figures(given.name):
        print(f"published:\t{each.model}\t{each.value:g} %\t{each.setting}\t{each.source}")
    print(f"evalui: figures of lm-eval {result.harness_version}", file=sys.stderr)
    if given.json:
        shown = {key: value for key, value in result.raw.items() if key != "samples"}
        write_text(given.json, json.dumps(shown, indent=1, default=str))
    return 0
