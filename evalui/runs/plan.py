"""What a run will ask: its cells, checked before anything starts, and the work of each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from evalui.errors import SpecError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import find_entry
from evalui.modes import MODES, Mode, ModeSettings
from evalui.runs.cells import MAX_TRIALS, CellPlan, blocking_reason, mode_settings, permutes_options
from evalui.runs.contest import CollectedAnswers
from evalui.runs.database.codec import dataset_key
from evalui.runs.limits import limit_datasets
from evalui.runs.plan_judges import answering_plans, plan_judges
from evalui.runs.signature import labels, signature
from evalui.runs.spec import OPEN, DatasetSpec, ModeSpec, RunSpec
from evalui.scoring.choice.permutations import count_variants
from evalui.types import Cell, Dataset, Pattern, Sample, Variant


def plan_run(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    catalog: Mapping[str, ModelEntry],
    collected: Sequence[CollectedAnswers] = (),
) -> tuple[CellPlan, ...]:
    """All cells of a run, those of one model together, so that it is loaded once.

    Answers that are there already follow the models, and the judges come last. `datasets` are
    what `spec.datasets` name, by `DatasetSpec.key`, `collected` what `spec.answers` name.

    Raises:
        SpecError: two datasets, contestants or modes are the same, a dataset has fewer worked
            examples than shots are asked, a pattern asks for more than can be done, or there is
            nothing to judge.
        UnknownName: no such model, mode, template or form.
    """
    _reject_duplicates(spec, datasets, collected)
    datasets = limit_datasets(datasets, spec)
    judges = spec.judging.judges if spec.judging else []
    for name in (*spec.models, *judges):
        find_entry(catalog, name)
    keys = {source.key: dataset_key(datasets[source.key]) for source in spec.datasets}
    named_modes = list(zip(spec.modes, labels(spec.modes), strict=True))
    asked = [
        _plan_cell(spec, source, datasets[source.key], keys[source.key], catalog[name], mode, label)
        for name, source in product(spec.models, spec.datasets)
        for mode, label in _applicable_modes(datasets[source.key], named_modes)
    ]
    plans = [*asked, *_plan_recorded(spec, datasets, keys, collected)]
    plans += plan_judges(spec, datasets, catalog, answering_plans(plans))
    return tuple(plans)


def _applicable_modes(
    dataset: Dataset, named_modes: Sequence[tuple[ModeSpec, str]]
) -> Sequence[tuple[ModeSpec, str]]:
    """The modes for datasets of this kind; all of them if none is, so that the reason is told."""
    fitting = [named for named in named_modes if dataset.kind in MODES[named[0].mode].kinds]
    return fitting or named_modes


def _plan_recorded(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    keys: Mapping[str, str],
    collected: Sequence[CollectedAnswers],
) -> Iterator[CellPlan]:
    """A cell for the answers of each contestant that is not asked."""
    for found in collected:
        dataset = datasets[found.source]
        samples = dataset.samples[: spec.questions_per_dataset]
        mode = ModeSpec(mode=OPEN, chat=False, recorded=True)
        kept = {
            sample.id: found.answers[sample.id] for sample in samples if sample.id in found.answers
        }
        told = signature(
            dataset,
            samples,
            mode,
            model=found.model,
            seed=spec.seed,
            limit=spec.limit,
            limit_per=spec.counts_per,
            answers=kept,
        )
        yield CellPlan(
            cell=Cell(dataset.name, found.model, OPEN, OPEN, "origin", told),
            source=found.source,
            dataset_key=keys[found.source],
            entry=ModelEntry(found.model, "recorded"),
            mode=mode,
            setting=mode_settings(mode, ()),
            questions=len(samples),
            total=len(kept),
            requests=0,
            answers=kept,
        )


def _reject_duplicates(
    spec: RunSpec, datasets: Mapping[str, Dataset], collected: Sequence[CollectedAnswers]
) -> None:
    names = [datasets[source.key].name for source in spec.datasets]
    # One contestant may bring answers to several datasets.
    brought = dict.fromkeys(found.model for found in collected)
    twice = Counter((found.model, found.source) for found in collected)
    again = [model for (model, _), count in twice.items() for _ in range(count - 1)]
    contestants = [*spec.models, *brought, *again]
    judges = spec.judging.judges if spec.judging else []
    for what, listed in (
        (sentence("error.twin-datasets"), names),
        (sentence("error.twin-models"), contestants),
        (sentence("error.twin-judges"), judges),
        (sentence("error.twin-modes"), labels(spec.modes)),
    ):
        name, count = next(iter(Counter(listed).most_common(1)), ("", 0))
        if count > 1:
            raise SpecError(
                "twins",
                n=count,
                what=what,
                name=name,
            )


def _plan_cell(
    spec: RunSpec,
    source: DatasetSpec,
    dataset: Dataset,
    key: str,
    entry: ModelEntry,
    asked: ModeSpec,
    label: str,
) -> CellPlan:
    scorer = MODES[asked.mode]
    mode = asked.model_copy(update={"chat": entry.chat if asked.chat is None else asked.chat})
    pattern: Pattern = mode.pattern if scorer.shows_options else "origin"
    samples = dataset.samples[: spec.questions_per_dataset]
    setting = mode_settings(mode, dataset.shots)
    impossible = blocking_reason(dataset, entry, mode)
    if not impossible:
        _check_shots(dataset, samples, mode.shots)
    counts = Counter(
        (len(sample.choices), permutes_options(scorer, pattern, sample)) for sample in samples
    )
    totals = {
        (options, reordered): count * count_variants(options, pattern if reordered else "origin")
        for (options, reordered), count in counts.items()
    }
    total = sum(totals.values())
    if total > MAX_TRIALS:
        raise SpecError(
            "too-many-trials",
            dataset=dataset.name,
            mode=label,
            n=total,
            limit=MAX_TRIALS,
        )
    requests = 0 if impossible else _count_requests(scorer, setting, samples, totals)
    told = signature(
        dataset,
        samples,
        mode,
        model=entry.name,
        seed=spec.seed,
        limit=spec.limit,
        limit_per=spec.counts_per,
    )
    return CellPlan(
        cell=Cell(dataset.name, entry.name, mode.mode, label, pattern, told),
        source=source.key,
        dataset_key=key,
        entry=entry,
        mode=mode,
        setting=setting,
        questions=len(samples),
        total=total,
        requests=requests,
        impossible=impossible,
    )


def _check_shots(dataset: Dataset, samples: Sequence[Sample], wanted: int) -> None:
    if not wanted:
        return
    have = Counter(shot.subject for shot in dataset.shots)
    for subject in dict.fromkeys(sample.subject for sample in samples):
        if have[subject] < wanted:
            name = dataset.name
            if subject:
                name = sentence("error.of-subject", dataset=name, subject=subject)
            raise SpecError(
                "few-shots",
                name=name,
                n=have[subject],
                wanted=wanted,
            )


def _count_requests(
    mode: Mode,
    setting: ModeSettings,
    samples: Sequence[Sample],
    totals: Mapping[tuple[int, bool], int],
) -> int:
    if "multiple_choice" not in mode.kinds:
        return sum(1 + len(sample.follow_ups) for sample in samples)
    # What a trial asks depends on its number of options alone, so one of each is planned.
    examples = {len(sample.choices): sample for sample in samples}
    asked = {
        options: len(mode.plan(sample, Variant(tuple(range(options))), setting))
        for options, sample in examples.items()
    }
    return sum(asked[options] * count for (options, _), count in totals.items())
