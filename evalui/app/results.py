"""Results: the runs that a person may see, their figures, and the files that hold them."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

from evalui.app.permissions import checks, requires
from evalui.app.run_labels import file_name
from evalui.app.service import AppService
from evalui.local_runs import bundle_of
from evalui.report.analyses.base import Report
from evalui.report.write.formats import BUNDLE, require_installed
from evalui.store.runs import CellRow, RunRow, read_runs
from evalui.store.trials import TrialCursor, TrialPage, read_trial_page
from evalui.types import CastVote, CellResult, Language

NamedParts = tuple[str, Iterable[bytes]]


@requires("see")
def list_runs(service: AppService) -> Sequence[RunRow]:
    """The runs of the person, everyone's, and those to vote on, the newest first."""
    return read_runs(service.database, service.person)


@requires("see", "run_id")
def trial_page(service: AppService, run_id: str, cursor: TrialCursor, limit: int) -> TrialPage:
    """So many trials of a run from a place on, and the place of the next ones."""
    return read_trial_page(service.database, run_id, cursor, limit)


@checks("that the person may do it")
def may_repeat(service: AppService, run: RunRow) -> bool:
    """Whether the person may start a run again whose files are theirs, and still here."""
    own = service.may_start and run.owner == service.owner
    return own and service.files.has_sources(service.kept.spec(run.spec))


@requires("see", "run_id")
def run_report(service: AppService, run_id: str, language: Language) -> Report:
    """The figures of a run, its cells in order; kept until the run changes."""
    return service.kept.report(service.run(run_id), language)


@checks("that the person may see its run")
def cell_result(service: AppService, row: CellRow) -> CellResult:
    """One cell with all its trials; kept until its run changes."""
    service.run(row.run_id)  # which the person may see
    return service.kept.result(row)


@requires("see", "run_id")
def run_votes(service: AppService, run_id: str) -> dict[str, tuple[CastVote, ...]]:
    """People's verdicts on each dataset, by its name: none before all have ended, and none of
    multiple choice.
    """
    return service.kept.votes(run_id)


@requires("see", "run_id")
def export_run(service: AppService, run_id: str, extension: str, language: Language) -> NamedParts:
    """The name of a run as a file, and the file piece by piece as it is made.

    Raises:
        SpecError: what writes the format is not installed.
        UnknownName: the run has nothing for it.
    """
    from evalui.report.write.files import parts  # no page needs it

    require_installed(extension)
    run = service.run(run_id)
    if extension == BUNDLE:
        return file_name(run, extension), bundle_of(service.database, run.id)
    return file_name(run, extension), parts(service.kept.report(run, language), extension, language)


@requires("see", "run_id")
def export_apart(
    service: AppService, run_id: str, extension: str, language: Language
) -> AsyncGenerator[bytes]:
    """The same file from a process of its own; raises as `export_run` does, and `ExportFailed`."""
    require_installed(extension)
    service.models.catalog()  # raises here what the process would only log
    return service.exports.stream(service.run(run_id).id, extension, language)


@requires("see", "run_id")
def export_sizes(service: AppService, run_id: str, language: Language) -> Mapping[str, int]:
    """About the bytes of a run in each format; kept until the run changes."""
    return service.kept.sizes(service.run(run_id), language)
