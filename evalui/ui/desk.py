"""What every tab works with: settings, the store, the uploads, and the person in front of it."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from evalui.data import bundle, health
from evalui.data.base import Layout, Limits, Loaded
from evalui.data.health import Health
from evalui.errors import DataError, FaultyRows, SpecError, UnknownRun
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, describe, read_catalog
from evalui.report.document import Report, compile_report
from evalui.report.export import write
from evalui.runs.access import LOCAL, may_see
from evalui.runs.estimate import Estimate, estimate
from evalui.runs.inputs import submit
from evalui.runs.plan import CellPlan, plan_run
from evalui.runs.rows import RunRow
from evalui.runs.spec import DatasetSpec, RunSpec, read_spec
from evalui.runs.store import Store
from evalui.settings import ASSETS, Settings
from evalui.types import Language
from evalui.ui.draft import Draft
from evalui.ui.text import text
from evalui.ui.uploads import Uploads

_SAMPLE = ASSETS / "samples" / "demo"
_SAMPLE_NAME = "evalui-sample.zip"
_KEPT = 8  # uploads whose contents stay in memory
_REPORTS = 3  # runs whose trials stay in memory


@dataclass(frozen=True, slots=True)
class Intent:
    """A draft worked out: its specification, its data by source, its cells, and its cost."""

    spec: RunSpec
    loaded: dict[str, Loaded]
    plans: tuple[CellPlan, ...]
    cost: Estimate


class Desk:
    """One per server; safe to share between threads."""

    def __init__(self, settings: Settings, store: Store, owner: str = LOCAL) -> None:
        self.settings = settings
        self.store = store
        self.owner = owner
        self.uploads = Uploads(settings.uploads, settings.max_upload_mb * 2**20)
        # Reading a file again for each click would be slow, and it cannot change.
        self._load = lru_cache(maxsize=_KEPT)(self._read)
        self._report = lru_cache(maxsize=_REPORTS)(self._compile)
        self._check = lru_cache(maxsize=_KEPT)(self._examine)

    # Files

    def load(self, upload: str, layout: Layout) -> Loaded:
        """An upload as a dataset; raises `DataError` if it is none."""
        return self._load(upload, layout)

    def health(self, upload: str, layout: Layout) -> Health:
        """What can be said of an upload without a model."""
        return self._check(upload, layout)

    def size(self, upload: str) -> int:
        """The bytes of an upload."""
        return sum(path.stat().st_size for path in self.uploads.paths(self.owner, upload))

    def keep(self, files: Sequence[tuple[str, bytes]]) -> str:
        """Store uploaded files and return the id of the upload."""
        return self.uploads.keep(self.owner, files)

    def keep_sample(self) -> str:
        """Store the shipped sample as if somebody had uploaded it, in an archive with a name."""
        if not sample_files():
            raise DataError("This installation has no sample.", "no-sample")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path in sample_files():
                # Always the same date, so that it is always the same upload.
                archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())
        return self.keep([(_SAMPLE_NAME, packed.getvalue())])

    @cached_property
    def sample_size(self) -> int:
        """The questions of the shipped sample, 0 if there is none."""
        paths = sample_files()
        return len(bundle.load(paths).dataset.samples) if paths else 0

    # Models and runs

    def catalog(self) -> dict[str, ModelEntry]:
        """The models of the server, read anew, so that the administrator need not restart it."""
        return read_catalog(self.settings.models)

    def states(self) -> list[ModelState]:
        """Each model with what it can do here."""
        return [describe(entry) for entry in self.catalog().values()]

    def baselines(self) -> frozenset[str]:
        """The scripted models, which are drawn grey and never ranked."""
        return frozenset(entry.name for entry in self.catalog().values() if entry.baseline)

    def plan(self, draft: Draft) -> Intent:
        """What the draft would do.

        Raises:
            DataError, SpecError: it cannot be done; the message says why.
        """
        if not draft.models:
            raise SpecError("Choose a model.", "no-model")
        if not draft.modes:
            raise SpecError("Choose a mode.", "no-mode")
        loaded: dict[str, Loaded] = {}
        sources: list[DatasetSpec] = []
        for upload in draft.uploads:
            found = self.load(upload, draft.layout)
            if found.faults and not draft.skip_faulty:
                raise FaultyRows(
                    "Rows are faulty: leave them out, or correct the file.", "faulty-rows"
                )
            paths = [str(path) for path in self.uploads.paths(self.owner, upload)]
            sources.append(
                draft.dataset_spec(paths, name=found.dataset.name, sha256=found.dataset.sha256)
            )
            loaded[sources[-1].key] = found
        spec = draft.run_spec(sources)
        datasets = {key: found.dataset for key, found in loaded.items()}
        plans = plan_run(spec, datasets, self.catalog())
        cost = estimate(plans, datasets, self.store.rates(), self.store.cached(plans, datasets))
        return Intent(spec, loaded, plans, cost)

    def start(self, draft: Draft) -> str:
        """Queue the run and return its id; raises as `plan` does."""
        intent = self.plan(draft)
        return submit(self.store, intent.spec, intent.loaded, self.catalog(), self.owner)

    def run(self, run_id: str) -> RunRow:
        """A run of this person; raises `UnknownRun` for anybody else's as for one that is not."""
        row = self.store.run(run_id)
        if not may_see(row.owner, self.owner):
            raise UnknownRun("There is no run {run!r}.", "no-run", run=run_id)
        return row

    def report(self, run_id: str, language: Language) -> Report:
        """The figures of a run, its cells in order; kept until the run changes."""
        t, found = text(language), self._report(run_id, self.run(run_id).revision)
        told = (replace(summary, error=t.told(summary.error)) for summary in found.summaries)
        return replace(found, summaries=tuple(told))

    def export(self, run_id: str, extension: str, language: Language) -> tuple[str, bytes]:
        """A run as a file of its own name."""
        report = self.report(run_id, language)
        name = "".join(c if c.isalnum() or c in "-_. " else "_" for c in report.name).strip()
        return f"{name or run_id}.{extension}", write(report, extension, language)

    def ahead(self) -> int:
        """How many runs would come before a new one."""
        return sum(row.state in ("queued", "running") for row in self.store.runs(self.owner))

    def uploads_of(self, run_id: str) -> tuple[RunSpec, tuple[str, ...]]:
        """The specification of a run and the uploads it was made from.

        Raises:
            DataError: a file did not come from this page, or is no longer here.
        """
        spec = read_spec(self.run(run_id).spec)
        uploads = tuple(self._upload_of(source.paths) for source in spec.datasets)
        for upload in uploads:
            self.uploads.paths(self.owner, upload)
        return spec, uploads

    def _upload_of(self, paths: Sequence[str]) -> str:
        return self.uploads.id_of(self.owner, [Path(path) for path in paths])

    def _read(self, upload: str, layout: Layout) -> Loaded:
        limits = Limits(bytes=self.uploads.limit)
        return bundle.load(self.uploads.paths(self.owner, upload), layout=layout, limits=limits)

    def _examine(self, upload: str, layout: Layout) -> Health:
        return health.check(self.load(upload, layout).dataset.samples)

    def _compile(self, run_id: str, revision: int) -> Report:
        del revision  # part of the key: another revision, other figures
        row, results = self.store.run(run_id), self.store.results(run_id)
        return compile_report(row.name, results, baselines=self.baselines(), spec=row.spec)


def sample_files() -> tuple[Path, ...]:
    """The files of the shipped sample, () if there are none."""
    return tuple(sorted(_SAMPLE.glob("*.csv")))
