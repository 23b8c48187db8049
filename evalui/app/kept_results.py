"""What was computed of runs, kept until they change; whoever reads it has looked who may see it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from evalui.app.exports import estimate_sizes
from evalui.app.models_service import ModelsService
from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report, with_votes
from evalui.runs.kept_summaries import summary_source
from evalui.runs.results import read_result, read_results
from evalui.runs.spec import read_spec
from evalui.store import usage
from evalui.store.connection import Database
from evalui.store.datasets import read_dataset
from evalui.store.pictures import small_pictures
from evalui.store.results_cache import ResultCache
from evalui.store.runs import CellRow, RunRow, read_cells, read_left_out, read_run
from evalui.store.voting.plans import VoterPairs, is_voting_open
from evalui.store.voting.votes import read_run_verdicts
from evalui.types import CastVote, CellResult, CellState, Language, Sample

# Of each cell: its state, how many trials are done, its error, when it began and when it ended.
_Progress = tuple[tuple[CellState, int, str, float | None, float | None], ...]


class KeptResults:
    """Reports and results of the runs of all people; safe to share between threads.

    None of what is kept depends on who reads it.
    """

    def __init__(
        self,
        database: Database,
        cache: ResultCache,
        models: ModelsService,
        voter_pairs: VoterPairs,
    ) -> None:
        self._database = database
        self._models = models
        self._voter_pairs = voter_pairs
        self.spec = cache.memoize(read_spec)
        self._report = cache.memoize_newest(self._compile)
        self._sizes = cache.memoize_newest(self._measure)
        # A vote changes the revision of its run, but nothing of what its models and judges did.
        self._report_without_votes = cache.memoize_newest(self._compile_without_votes)
        self._result = cache.memoize_newest(self._read_result)
        # Reports, comparisons and results of one dataset hold the same questions.
        self._questions = cache.memoize(self._read_questions)

    def report(self, run: RunRow, language: Language) -> Report:
        """The figures of a run, its cells in order."""
        return self._spoken_report(run.id, run.revision, language)

    def result(self, row: CellRow) -> CellResult:
        """One cell with all its trials."""
        return self._result(row.run_id, row.id, read_run(self._database, row.run_id).revision)

    def sizes(self, run: RunRow, language: Language) -> Mapping[str, int]:
        """About the bytes of a run in each format."""
        return self._sizes(run.id, language, run.revision)

    def votes(self, run_id: str) -> dict[str, tuple[CastVote, ...]]:
        """People's verdicts on each dataset, by its name: none before all have ended, and none of
        multiple choice.
        """
        if is_voting_open(self._database, run_id, self._voter_pairs):
            return {}
        return read_run_verdicts(self._database, run_id)

    def _spoken_report(self, run_id: str, revision: int, language: Language) -> Report:
        report = self._report(run_id, revision)
        # Computed anew each time: prices may have changed since the figures were worked out.
        spent = usage.model_usages(self._database, run_id, self._models.all_models())
        counts = usage.reply_counts(self._database, run_id)
        changes = usage.model_changes(self._database, run_id)
        own = replace(report, expenses=tuple(spent), replies=counts, changes=changes)
        return own.in_language(language)

    def _read_result(self, run_id: str, cell_id: int, revision: int) -> CellResult:
        del revision  # part of the key, as for reports
        return read_result(self._database, run_id, cell_id, self._questions_of)

    def _questions_of(self, row: CellRow) -> Mapping[str, Sample]:
        return self._questions(
            row.dataset_key, read_run(self._database, row.run_id).owner, row.questions
        )

    def _read_questions(self, dataset_key: str, owner: str, n: int) -> Mapping[str, Sample]:
        samples = read_dataset(self._database, dataset_key, owner).samples[:n]
        return {sample.id: sample for sample in samples}

    def _measure(self, run_id: str, language: Language, revision: int) -> Mapping[str, int]:
        report = self._spoken_report(run_id, revision, language)
        return estimate_sizes(self._database, report, run_id, language)

    def _compile(self, run_id: str, revision: int) -> Report:
        del revision  # part of the key: another revision, other figures
        progress: _Progress = tuple(
            (cell.state, cell.done, cell.error, cell.started, cell.finished)
            for cell in read_cells(self._database, run_id)
        )
        return with_votes(self._report_without_votes(run_id, progress), self.votes(run_id))

    def _compile_without_votes(self, run_id: str, progress: _Progress) -> Report:
        del progress  # part of the key, as the revision is of the whole report
        row = read_run(self._database, run_id)
        results = read_results(self._database, run_id, self._questions_of)
        return compile_report(
            row.name,
            results,
            baselines=self._models.baselines(),
            spec=row.spec,
            left_out=read_left_out(self._database, run_id),
            source=summary_source(self._database, run_id),
            small_pictures=partial(small_pictures, self._database, run_id),
        )
