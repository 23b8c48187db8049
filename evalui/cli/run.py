"""`evalui run` and `evalui report`: a run of this process, its stages, and its report.

    evalui run [SPEC.json] --out DIR [--model … --dataset …] [--only answers|scores|report]
    evalui report DIR

The stages leave their results in DIR: the first asks models and keeps what they reply, the second
scores it and lets judges compare, without asking a model again, the third draws the report.
"""

import argparse
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from evalui.cli.remote import add_server_options, report_failures, run_on_server
from evalui.cli.run_fields import (
    RequestedRun,
    add_field_options,
    add_figure_options,
    option,
    read_fields,
    read_settings,
    validated,
)
from evalui.cli.run_models import (
    add_model_options,
    check_server_options,
    described_models,
    with_fitting_modes,
)
from evalui.errors import SpecError, StoreError, UnknownRun
from evalui.local_runs import (
    STORE_NAME,
    do_run,
    left_out_of,
    load_settings,
    make_folder,
    prepare_run,
    read_model_entries,
    report_of,
    wait_for_endpoints,
)
from evalui.types import Language

if TYPE_CHECKING:
    from evalui.local_runs import PreparedRun
    from evalui.models.base import ModelEntry
    from evalui.settings import Settings
    from evalui.store.connection import Database

Stage = Literal["answers", "scores", "report"]


def add_run_command(commands: Any, *, in_full: bool) -> None:
    """Add `run` to the subparsers of `evalui`; `in_full` with what is slow to import."""
    run = commands.add_parser("run", help="do a run and write its report")
    run.add_argument(
        "spec", metavar="SPEC.json", type=Path, nargs="?", help="datasets, models and modes"
    )
    run.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder to write to")
    run.add_argument(
        "--only",
        choices=get_args(Stage),
        help="one stage: answers asks the models, scores scores and judges kept replies, report "
        "writes the report again",
    )
    run.add_argument("--models-file", type=Path, help="another models.toml")
    run.add_argument(
        "--engine", choices=("local", "ray"), help="where models run: here, or on a Ray cluster"
    )
    run.add_argument("--language", choices=get_args(Language), help="language of report.md")
    run.add_argument(
        "--no-reuse",
        dest="reuse",
        action="store_false",
        help="ask again for replies that other runs on this machine have kept",
    )
    add_field_options(run, in_full=in_full)
    add_model_options(run)
    add_server_options(run, "have this server do the run")
    run.set_defaults(command=_run)


def add_report_command(commands: Any) -> None:
    """Add `report` to the subparsers of `evalui`."""
    report = commands.add_parser("report", help="write the report of a folder again")
    report.add_argument("folder", metavar="DIR", type=Path, help="folder that `evalui run` wrote")
    report.add_argument(
        "--run", default="", help="id of the run (default: the newest of the folder)"
    )
    report.add_argument(
        "--out", metavar="DIR", type=Path, help="folder to write to (default: the same)"
    )
    report.add_argument("--models-file", type=Path, help="another models.toml")
    report.add_argument("--language", choices=get_args(Language), help="of report.md")
    add_figure_options(report)
    report.set_defaults(command=_report)


def _run(given: argparse.Namespace) -> int:
    if given.only == "report":
        return _draw(given, given.out, given.out)
    requested = read_fields(given)
    if given.server:
        return _run_there(given, requested)
    settings = load_settings()
    from tqdm import tqdm

    from evalui.store.connection import Database
    from evalui.store.usage import run_cost

    language = given.language or default_language(settings)
    catalog = read_model_entries(settings, given.models_file)
    prepared, catalog = _prepared(given, requested, catalog)
    if given.engine:
        settings = settings.model_copy(update={"engine": given.engine})
    for line in prepared.assumptions:
        _say(line)
    if given.reuse:
        _offer_kept(prepared, settings, catalog)
    # Open until the files are written: replies are read when they are exported.
    with closing(Database(make_folder(given.out) / STORE_NAME)) as database:
        run_id = prepared.queue(database, catalog)
        for line in left_out_of(database, run_id):
            _say(f"left out: {line}")
        do_run(
            database,
            run_id,
            catalog,
            settings,
            reuse=given.reuse,
            asks_models=given.only != "scores",
            bar=lambda total: tqdm(total=total, unit=" trials", file=sys.stderr),
            warn=_say,
        )
        charge = run_cost(database, run_id, catalog)
        failed = _finish(given, database, run_id, catalog, language)
    if charge:
        _say(str(charge))
    what = "answers are" if given.only == "answers" else "report is"
    _say(f"run {run_id}; the {what} in {given.out}")
    return report_failures(failed)


def _run_there(given: argparse.Namespace, requested: RequestedRun) -> int:
    """Have a server do the run."""
    check_server_options(given)
    if given.only:
        raise SpecError("server-options", option="--only")
    if requested.chooses_mode:
        raise SpecError("flag-missing", flag="--mode")
    from evalui.runs.spec import with_generation

    settings = read_settings(given)
    spec = with_generation(validated(given, requested.values), settings, named=option)
    return run_on_server(given, spec, requested.base)


def _prepared(
    given: argparse.Namespace, requested: RequestedRun, catalog: "dict[str, ModelEntry]"
) -> "tuple[PreparedRun, dict[str, ModelEntry]]":
    """The run with its files read, and the models that it may name."""
    from evalui.runs.spec import require_paths, with_generation

    settings = read_settings(given)
    own = described_models(given, catalog)
    catalog = catalog | {entry.name: entry for entry in own}
    names = {"models": [entry.name for entry in own]} if own else {}
    values = requested.values | names if names else requested.values
    spec = require_paths(validated(given, values))
    if given.only == "answers":
        if not spec.models:
            raise SpecError("only-answers-none")
        spec = spec.model_copy(update={"judging": None})
    prepared = prepare_run(spec, requested.base)
    wait_for_endpoints(prepared.spec, catalog, load_settings(), warn=_say)
    if requested.chooses_mode:
        prepared = with_fitting_modes(prepared, catalog)
        _say(f"--mode {' '.join(mode.mode for mode in prepared.spec.modes)}")
    spec = with_generation(prepared.spec, settings, named=option)
    return prepared.with_spec(spec), catalog


def _offer_kept(
    prepared: "PreparedRun", settings: "Settings", catalog: "Mapping[str, ModelEntry]"
) -> None:
    """State which replies are kept of models whose addresses have changed, and how to use them."""
    for kept in prepared.kept_elsewhere(settings, catalog):
        from evalui.app.evaluations import kept_words  # imports much, and is rarely needed
        from evalui.messages import messages

        use = f"--replies-of {kept.model}={kept.addresses}"
        _say(f"{kept_words(messages('en'), kept)}; {use} counts them as its own")


def _finish(
    given: argparse.Namespace,
    database: "Database",
    run_id: str,
    catalog: "Mapping[str, ModelEntry]",
    language: Language,
) -> list[tuple[Any, str, str]]:
    """Write the report, unless only answers are wanted; the cells that failed."""
    report = report_of(database, run_id, catalog)
    if given.only != "answers":
        _save(report, given.out, language)
    return [(each.cell, each.state, each.error) for each in report.results if each.error]


def _report(given: argparse.Namespace) -> int:
    return _draw(given, given.folder, given.out or given.folder, run_id=given.run)


def _draw(
    given: argparse.Namespace,
    folder: Path,
    out: Path,
    *,
    run_id: str = "",
) -> int:
    """Draw the report of a run that is in a folder; no model is asked or even looked for."""
    from evalui.benchmarks.groups import published_groups
    from evalui.report.compile import with_groups, with_metrics
    from evalui.runs.spec import check_metrics
    from evalui.store.connection import Database
    from evalui.store.runs import read_runs

    metrics = given.metrics or ()
    check_metrics(metrics)
    published = published_groups(given.summary_groups or ())
    settings = load_settings()
    language = given.language or default_language(settings)
    store = folder / STORE_NAME if folder.is_dir() else folder
    if not store.is_file():
        raise StoreError("no-store", path=str(store))
    catalog = read_model_entries(settings, given.models_file)
    with closing(Database(store, read_only=True)) as database:
        chosen = run_id or next((row.id for row in read_runs(database)), "")
        if not chosen:
            raise UnknownRun("store-no-run", path=str(store))
        report = report_of(database, chosen, catalog)
        report = with_metrics(report, metrics) if metrics else report
        report = with_groups(report, published) if published else report
        _save(report, make_folder(out), language)
    _say(f"run {chosen}; the report is in {out}")
    return 0


def _save(report: Any, out: Path, language: Language) -> None:
    from evalui.report.compile import first_sentence
    from evalui.report.write.files import save

    with _warnings_told():
        save(report, out, language)
    if headline := first_sentence(report, language):
        print(headline)


@contextmanager
def _warnings_told() -> Generator[None]:
    """Print what the log of reports warns of, such as pictures that no browser draws."""
    import logging

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("evalui: %(message)s"))
    log = logging.getLogger("evalui.report")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def default_language(settings: "Settings") -> Language:
    """The language of the settings; raises `SpecError` where it is none of evalui's."""
    for language in get_args(Language):
        if language == settings.language:
            return language
    raise SpecError("setting-language", language=settings.language)


def _say(line: str) -> None:
    print(f"evalui: {line}", file=sys.stderr)
