"""Do a run in this process, without a server."""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal, cast

from evalui.errors import SpecError
from evalui.library.run import Run
from evalui.library.sources import StoreSource
from evalui.local_runs import (
    STORE_NAME,
    do_run,
    left_out_of,
    load_settings,
    make_folder,
    prepare_run,
    read_model_entries,
    stop_run,
    wait_for_endpoints,
)
from evalui.modes import MODES
from evalui.runs.spec import VERSION, RunSpec, read_spec
from evalui.store.connection import Database
from evalui.types import Pattern

# The arguments that are called otherwise than the fields of a specification.
_ARGUMENTS = {"datasets": "files", "modes": "mode", "pattern": "orders"}
Files = str | Path | Sequence[str | Path | Sequence[str | Path] | Mapping[str, Any]]


class RunWarning(UserWarning):
    """Something that a run assumed, leaves out or failed to do; the run goes on without it."""


def evaluate(
    files: Files | Mapping[str, Any],
    *,
    models: str | Sequence[str] = (),
    mode: str | Sequence[str] = (),
    orders: Pattern = "origin",
    judges: str | Sequence[str] = (),
    out: str | Path | None = None,
    keep: bool = True,
    reuse: bool = True,
    progress: bool = True,
    models_file: str | Path | None = None,
    engine: Literal["local", "ray"] | None = None,
    **settings: Any,
) -> Run:
    """Evaluate models on files, in this process; the run with its results.

    `files` is a path, or a list with an entry per dataset: a path, a list of the paths of one
    dataset, or a mapping as docs/specification.md has it. `mode` is one of docs/modes.md or a list,
    `orders` the orders of the options that are shown, `judges` compare written answers. `settings`
    are the other fields of a specification or of its modes: `shots=5`, `limit=100`, `seed=1`,
    `answers=[…]`. In place of all that, `files` may be a whole specification as a dict.

    The run is kept in the store of the data folder, where `list_runs`, `open(run.id)` and the
    server of that folder have it; with `keep=False` in a temporary store that goes with the
    object, with `out` in that folder, as `evalui run` writes it. With `reuse`, replies that models
    gave to other runs of this machine are used again. `models_file` is another models.toml,
    `engine` where models run. `progress` shows a bar, in a notebook too.

    Warns:
        RunWarning: what was assumed of the files, what is left out, and each cell that failed.

    Raises:
        DataError: a file cannot be used, or has faulty rows and nothing says to skip them.
        SpecError: a field is unknown or wrong, or the run has nothing to do.
        UnknownName: there is no such model or mode; the message lists those there are.
        StoreError: the results cannot be written.
        Cancelled: somebody stopped the run on a page of the server.
    """
    spec = _spec(files, models, mode, orders, judges, settings)
    own = load_settings()
    if engine:
        own = own.model_copy(update={"engine": engine})
    prepared = prepare_run(spec, Path())
    catalog = read_model_entries(own, Path(models_file) if models_file else None)
    for line in prepared.assumptions:
        _warn(line)
    wait_for_endpoints(prepared.spec, catalog, own, warn=_warn)
    temporary = None if keep or out is not None else Path(mkdtemp(prefix="evalui-"))
    folder = temporary or (make_folder(Path(str(out))) if out is not None else None)
    database = Database(folder / STORE_NAME if folder else own.database)
    run_id = ""
    try:
        run_id = prepared.queue(database, catalog)
        for line in left_out_of(database, run_id):
            _warn(f"left out: {line}")
        do_run(
            database,
            run_id,
            catalog,
            own,
            reuse=reuse,
            bar=partial(_bar, shown=progress),
            warn=_warn,
        )
        source = StoreSource(database, run_id, catalog, temporary)
    except BaseException:
        try:
            if run_id:
                stop_run(database, run_id)
        finally:
            database.close()
            if temporary:
                import shutil

                shutil.rmtree(temporary, ignore_errors=True)
        raise
    for result in source.report.results:
        if result.error and result.state != "impossible":  # that was stated before the run began
            cell = result.cell
            _warn(f"{cell.model} on {cell.dataset}, {cell.label}: {result.error}")
    if out is not None and folder:
        from evalui.report.write.files import save

        save(source.report, folder, "en")
    return Run(run_id, source)


def _spec(
    files: Files | Mapping[str, Any],
    models: str | Sequence[str],
    mode: str | Sequence[str],
    orders: Pattern,
    judges: str | Sequence[str],
    settings: Mapping[str, Any],
) -> RunSpec:
    """The specification that the arguments say; of a mapping, itself."""
    arguments = {"datasets": files, "modes": mode, "pattern": orders != "origin"}
    if twice := [name for name, own in arguments.items() if own and name in settings]:
        raise SpecError("spec-twice", field=twice[0])
    if judges and "judges" in settings.get("judging", {}):
        raise SpecError("spec-twice", field="judges")
    fields: dict[str, Any] = {"models": _listed(models), **settings}
    if judges:
        fields["judging"] = {"judges": _listed(judges)} | dict(settings.get("judging", {}))
    if orders != "origin":
        fields["pattern"] = orders
    if mode:
        fields["mode"] = _listed(mode)
    given = {name: value for name, value in fields.items() if value != []}
    if isinstance(files, Mapping):
        if given:
            raise SpecError("spec-and-fields", fields=", ".join(given))
        return read_spec(json.dumps(files, default=_plain))
    datasets = [files] if isinstance(files, str | Path) else [_dataset(each) for each in files]
    text = json.dumps({"version": VERSION, "datasets": datasets, **given}, default=_plain)
    try:
        return read_spec(text)
    except SpecError as error:
        raise _about_argument(error, given) from error


def _about_argument(error: SpecError, given: Mapping[str, Any]) -> SpecError:
    """The error of a specification as one of the arguments that it was made of."""
    place, reason = (str(error.sentence.values.get(name, "")) for name in ("place", "reason"))
    if not place:
        return error
    if place == "modes" and not given.keys() & {"mode", "modes"}:
        known = ", ".join(name for name in MODES if MODES[name].gives != "verdicts")
        return SpecError("argument-mode", known=known)
    if not given.keys() & {"models", "answers"}:
        return SpecError("argument-models")
    if "modes" not in given:
        place = re.sub(r"^modes\[\d+\]\.", "", place)  # each mode has what the arguments say
    name = place.partition("[")[0].partition(".")[0]
    place = _ARGUMENTS.get(name, name) + place[len(name) :]
    return SpecError("argument", place=place, reason=reason)


def _dataset(entry: str | Path | Sequence[str | Path] | Mapping[str, Any]) -> Any:
    """An entry of a list of files as a specification has it."""
    if isinstance(entry, str | Path | Mapping):
        return entry
    return {"path": list(entry)}


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _plain(value: object) -> object:
    """What JSON has for an argument: paths are texts, mappings objects."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))  # JSON checks its keys
    raise TypeError(f"{value!r} cannot stand in a specification")


def _bar(total: int, *, shown: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit=" trials", disable=not shown)


def _warn(line: str) -> None:
    warnings.warn(line, RunWarning, stacklevel=3)
