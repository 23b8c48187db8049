"""Answers that are there already: files beside the questions, and models of earlier runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalui.access import Person
from evalui.app.files.views import AnswersFile, EarlierRun
from evalui.app.uploads import UploadStore, is_whole, upload_of
from evalui.datasets.external_answers import ExternalAnswers, read_answers
from evalui.datasets.model import Limits
from evalui.errors import DataError, EvaluiError, SpecError
from evalui.runs.contest import AnswersSpec
from evalui.runs.submit import answering_cells
from evalui.store.connection import Database
from evalui.store.datasets import read_dataset
from evalui.store.results_cache import ResultCache
from evalui.store.runs import RunRow, read_cells, read_run, read_runs
from evalui.types import Dataset

_MAX_RUNS_SEARCHED = 20  # runs that are looked through for answers to the same questions
_SHOWN_UNKNOWN = 50  # indices that no question has


class AnswersReader:
    """The answers of files and earlier runs that a person may use."""

    def __init__(self, database: Database, uploads: UploadStore, cache: ResultCache) -> None:
        self._database = database
        self._uploads = uploads
        self._questions = cache.memoize(self._read_questions)

    def file(self, owner: str, part: str, model: str, datasets: Sequence[Dataset]) -> AnswersFile:
        """What a file of answers holds of a model for the open questions it fits best."""
        file = AnswersFile(part, model)
        try:
            (path,) = self.paths(owner, part)
            file = replace(file, name=path.name)
            dataset = self._best_matching_dataset(path, datasets, model)
            read = self._read_answers(path, dataset, model)
        except EvaluiError as error:
            return replace(file, problem=error.sentence)
        matched, questions = len(read.answers), len(dataset.samples)
        return replace(
            file,
            matched=matched,
            questions=questions,
            unknown=read.unknown[:_SHOWN_UNKNOWN],
            n_unknown=len(read.unknown),
            faults=read.unusable,
            unlisted=read.unlisted,
        )

    def paths(self, owner: str, upload: str) -> Sequence[Path]:
        """The files of an upload, or the one that a part of it is; raises `DataError`."""
        paths = self._uploads.paths(owner, upload_of(upload))
        if is_whole(upload):
            return paths
        chosen = [path for n, path in enumerate(paths, 1) if upload == f"{upload_of(upload)}.{n}"]
        if not chosen:
            raise DataError("upload-gone")
        return chosen

    def earlier_runs(self, person: Person, datasets: Sequence[Dataset]) -> tuple[EarlierRun, ...]:
        """The runs whose models answered the same questions in writing, newest first."""
        wanted = [_questions_of(dataset) for dataset in datasets]
        runs = [row for row in read_runs(self._database, person) if row.done][:_MAX_RUNS_SEARCHED]
        earlier = (
            EarlierRun(row.id, row.name, tuple(self._models_with_answers(row, wanted)))
            for row in runs
        )
        return tuple(run for run in earlier if run.models)

    def matched(
        self, person: Person, source: AnswersSpec, datasets: Mapping[str, Dataset]
    ) -> AnswersSpec:
        """The answers with the key of the dataset that most of them are to."""
        open_ = {key: each for key, each in datasets.items() if not each.has_options}
        if not open_:
            raise SpecError("answers-no-open")
        if source.run:
            answered = self._answered_questions(person, source)
            key = max(open_, key=lambda each: len(answered & _questions_of(open_[each])))
            return source.model_copy(update={"dataset": key})
        (path,) = self.paths(person.name, source.upload)
        dataset = self._best_matching_dataset(path, list(open_.values()), source.model)
        key = next(key for key, each in open_.items() if each is dataset)
        return source.model_copy(update={"dataset": key})

    def _best_matching_dataset(
        self, path: Path, datasets: Sequence[Dataset], model: str
    ) -> Dataset:
        """The dataset that most of the answers belong to."""
        if len(datasets) == 1:
            return datasets[0]
        return max(datasets, key=lambda each: len(self._read_answers(path, each, model).answers))

    def _read_answers(self, path: Path, dataset: Dataset, model: str) -> ExternalAnswers:
        return read_answers(
            path, dataset.samples, model=model, limits=Limits(upload=self._uploads.limit)
        )

    def _answered_questions(
        self, person: Person, source: AnswersSpec
    ) -> frozenset[tuple[str, str]]:
        """The questions that the model answered in the earlier run."""
        keys = {row.dataset_key for row in answering_cells(self._database, source, person)}
        owner = read_run(self._database, source.run).owner
        return frozenset(question for key in keys for question in self._questions(key, owner))

    def _models_with_answers(
        self, run: RunRow, wanted: Sequence[frozenset[tuple[str, str]]]
    ) -> Iterator[tuple[str, int]]:
        for row in read_cells(self._database, run.id):
            if row.cell.gives == "answers" and row.done:
                questions = self._questions(row.dataset_key, run.owner)
                if any(questions <= one or one <= questions for one in wanted):
                    yield row.cell.model, row.done

    def _read_questions(self, dataset_key: str, owner: str) -> frozenset[tuple[str, str]]:
        return _questions_of(read_dataset(self._database, dataset_key, owner))


def _questions_of(dataset: Dataset) -> frozenset[tuple[str, str]]:
    # Ids alone are often row numbers, which any file has.
    return frozenset((sample.id, sample.question) for sample in dataset.samples)
