"""What a run will ask: its cells, checked before anything starts, and the work of each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from evalui.errors import SpecError, UnknownName, sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import describe
from evalui.modes import MODES, Mode, Setting
from evalui.runs.codec import dataset_key
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec, labels, signature
from evalui.scoring.orders import count_variants, variants
from evalui.types import Ability, Cell, Dataset, Pattern, Sample, Variant

# Beyond this a pattern is a slip of the hand: ten options have 3.6 million orders.
MOST_TRIALS = 1_000_000

_LACKS: dict[Ability, str] = {
    "next_token": sentence("it gives no probabilities of the next token", "lacks-next-token"),
    "loglik": sentence("it gives no probability of a text", "lacks-loglik"),
    "generate": sentence("it does not write replies", "lacks-generate"),
}


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One cell, decided: who answers what, and how.

    `source` is the dataset's key in the specification, `dataset_key` its key in the store.
    `mode` has its chat setting decided. `questions` are taken from the head of the dataset,
    `total` counts trials, `requests` what they ask. `impossible` is the reason why the cell
    cannot run, "" if it can.
    """

    cell: Cell
    source: str
    dataset_key: str
    entry: ModelEntry
    mode: ModeSpec
    setting: Setting
    questions: int
    total: int
    requests: int
    impossible: str = ""

    @property
    def pattern(self) -> Pattern:
        """The orders in which the options are asked."""
        return self.cell.pattern

    @property
    def mode_name(self) -> str:
        """The registered name of the mode."""
        return self.mode.mode


def plan_run(
    spec: RunSpec, datasets: Mapping[str, Dataset], catalog: Mapping[str, ModelEntry]
) -> tuple[CellPlan, ...]:
    """All cells of a run, those of one model together, so that it is loaded once.

    `datasets` are what `spec.datasets` name, by `DatasetSpec.key`.

    Raises:
        SpecError: two datasets, models or modes are the same, a dataset has fewer worked
            examples than shots are asked, or a pattern asks for more than can be done.
        UnknownName: no such model, mode or template.
    """
    _refuse_twins(spec, datasets)
    for name in spec.models:
        if name not in catalog:
            raise UnknownName(
                "Unknown model {name!r}. Known: {known}.",
                "unknown-model",
                name=name,
                known=", ".join(sorted(catalog)),
            )
    keys = {source.key: dataset_key(datasets[source.key]) for source in spec.datasets}
    named_modes = list(zip(spec.modes, labels(spec.modes), strict=True))
    return tuple(
        _plan_cell(spec, source, datasets[source.key], keys[source.key], catalog[name], mode, label)
        for name, source, (mode, label) in product(spec.models, spec.datasets, named_modes)
    )


def work(
    mode: Mode, pattern: Pattern, samples: Sequence[Sample]
) -> Iterator[tuple[Sample, Variant]]:
    """Every question in every order it is asked in, the variants of a question together."""
    orders: dict[int, tuple[Variant, ...]] = {}
    for sample in samples:
        count = len(sample.choices)
        if not _reordered(mode, pattern, sample):
            yield sample, Variant(tuple(range(count)))
            continue
        if count not in orders:
            orders[count] = variants(count, pattern)
        for variant in orders[count]:
            yield sample, variant


def setting_of(mode: ModeSpec, shots: Sequence[Sample]) -> Setting:
    """What the mode is told: the first worked examples of each subject, template and limits.

    `mode.chat` must be decided.
    """
    by_subject: dict[str, tuple[Sample, ...]] = {}
    for shot in shots if mode.shots else ():
        known = by_subject.get(shot.subject, ())
        if len(known) < mode.shots:
            by_subject[shot.subject] = (*known, shot)
    return Setting(
        shots=by_subject,
        template=mode.read_template(),
        chat=bool(mode.chat),
        max_tokens=mode.max_tokens,
        unconditional=mode.unconditional,
    )


def _refuse_twins(spec: RunSpec, datasets: Mapping[str, Dataset]) -> None:
    names = [datasets[source.key].name for source in spec.datasets]
    for what, listed in (
        (sentence("datasets are called", "twin-datasets"), names),
        (sentence("models are called", "twin-models"), spec.models),
        (sentence("modes are the same,", "twin-modes"), labels(spec.modes)),
    ):
        name, count = Counter(listed).most_common(1)[0]
        if count > 1:
            raise SpecError(
                "{n} {what} {name!r}: name one of them otherwise, or leave it out.",
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
    samples = dataset.samples[: spec.limit]
    setting = setting_of(mode, dataset.shots)
    impossible = _why_not(dataset, entry, scorer)
    if not impossible:
        _check_shots(dataset, samples, mode.shots)
    counts = Counter(
        (len(sample.choices), _reordered(scorer, pattern, sample)) for sample in samples
    )
    totals = {
        (options, reordered): count * count_variants(options, pattern if reordered else "origin")
        for (options, reordered), count in counts.items()
    }
    total = sum(totals.values())
    if total > MOST_TRIALS:
        raise SpecError(
            "{dataset} in {mode} would ask {n:,} times, more than {limit:,}. "
            "Choose the circular pattern, or set a limit.",
            "too-many-trials",
            dataset=dataset.name,
            mode=label,
            n=total,
            limit=MOST_TRIALS,
        )
    requests = 0 if impossible else _count_requests(scorer, setting, samples, totals)
    told = signature(dataset, samples, mode, model=entry.name, seed=spec.seed, limit=spec.limit)
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


def _reordered(mode: Mode, pattern: Pattern, sample: Sample) -> bool:
    # "Both A and B" means something else once the options have moved.
    return mode.shows_options and pattern != "origin" and not sample.names_options


def _why_not(dataset: Dataset, entry: ModelEntry, mode: Mode) -> str:
    if dataset.kind != "multiple_choice":
        return sentence(
            "{dataset} has no options to choose from.", "no-options", dataset=dataset.name
        )
    if not dataset.samples:
        return sentence("{dataset} has no usable question.", "no-usable", dataset=dataset.name)
    state = describe(entry)
    if state.problem:
        return state.problem
    if mode.abilities_needed not in state.abilities:
        return sentence(
            "{model} cannot do this mode: {why}.",
            "cannot-do",
            model=entry.name,
            why=_LACKS[mode.abilities_needed],
        )
    return ""


def _check_shots(dataset: Dataset, samples: Sequence[Sample], wanted: int) -> None:
    if not wanted:
        return
    have = Counter(shot.subject for shot in dataset.shots)
    for subject in dict.fromkeys(sample.subject for sample in samples):
        if have[subject] < wanted:
            name = dataset.name
            if subject:
                name = sentence(
                    "{dataset}, subject {subject},", "of-subject", dataset=name, subject=subject
                )
            raise SpecError(
                "{name} has {n} worked examples in its dev file, {wanted} shots need {wanted}.",
                "few-shots",
                name=name,
                n=have[subject],
                wanted=wanted,
            )


def _count_requests(
    mode: Mode,
    setting: Setting,
    samples: Sequence[Sample],
    totals: Mapping[tuple[int, bool], int],
) -> int:
    # What a trial asks depends on its number of options alone, so one of each is planned.
    examples = {len(sample.choices): sample for sample in samples}
    asked = {
        options: len(mode.plan(sample, Variant(tuple(range(options))), setting))
        for options, sample in examples.items()
    }
    return sum(asked[options] * count for (options, _), count in totals.items())
