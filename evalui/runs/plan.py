"""The plan of a run: its cells, checked before anything starts, the judges' after all answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from evalui.benchmarks.groups import check_groups
from evalui.errors import SpecError
from evalui.messages import sentence
from evalui.models.base import BACKENDS, ModelEntry
from evalui.models.catalog import describe, find_entry, with_replies_of
from evalui.modes import (
    MODES,
    Mode,
    ModeSettings,
    grader_of,
    mode_hindrance,
    plan_requests,
    usual_mode,
)
from evalui.modes.own_settings import settings_taken
from evalui.modes.prompts.rubrics import Rubric
from evalui.registry import plugin_versions
from evalui.runs.cells import (
    MAX_TRIALS,
    CellPlan,
    Describe,
    Hindrance,
    blocking_reason,
    decided_spellings,
    mode_settings,
    permutes_options,
    trials_to_run,
    uses_chat,
)
from evalui.runs.contest import CollectedAnswers, JudgingSpec, judged_pairs
from evalui.runs.signature import judge_rubrics, labels, signature
from evalui.runs.spec import RUBRICS_BY_VERSION, DatasetSpec, ModeSpec, RunSpec, check_metrics
from evalui.scoring.choice.options import count_variants
from evalui.store.codec import dataset_key
from evalui.types import Cell, Contestant, Dataset, JudgeOutput, Pattern, Request, Sample, Variant

# What an answer that is not written yet is taken to be, for an estimate of what judging costs.
_ASSUMED_TOKENS = 150
_ASSUMED_WORD = "word "


def plan_run(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    catalog: Mapping[str, ModelEntry],
    collected: Sequence[CollectedAnswers] = (),
    *,
    describe: Describe = describe,
    mode_hindrance: Hindrance = mode_hindrance,
) -> tuple[CellPlan, ...]:
    """All cells of a run, those of one model together, so that it is loaded once.

    Answers that are there already follow the models, and the judges come last. `datasets` are
    what `spec.datasets` name, by `DatasetSpec.key`, `collected` what `spec.answers` name.
    `describe` states what is known of a model, `mode_hindrance` why a mode cannot run here.

    Raises:
        SpecError: two datasets, contestants or modes are the same, a dataset has fewer worked
            examples than requested shots, a metric or a member of a group is unknown, a pattern
            makes more trials than can be run, or there is nothing to judge.
        UnknownName: no such model, mode, template or form.
        ModelError: a model whose replies of other addresses are named is at no address.
    """
    check_metrics(spec.metrics)
    _reject_duplicates(spec, datasets, collected)
    check_groups(
        spec.summary_groups,
        {each.name: {one.subject for one in each.samples} for each in datasets.values()},
    )
    datasets = limit_datasets(datasets, spec)
    judges = spec.judging.judges if spec.judging else []
    for name in (*spec.models, *judges):
        find_entry(catalog, name)
    catalog = with_replies_of(catalog, spec.replies_of)
    keys = {source.key: dataset_key(datasets[source.key]) for source in spec.datasets}
    named_modes = list(zip(spec.modes, labels(spec.modes), strict=True))
    plans: list[CellPlan] = []
    for name, source in product(spec.models, spec.datasets):
        dataset, key = datasets[source.key], keys[source.key]
        # All modes if none is for datasets of this kind, so that the reason is stated.
        fitting = [each for each in named_modes if dataset.kind in MODES[each[0].mode].kinds]
        for mode, label in fitting or named_modes:
            plans.append(
                _plan_cell(
                    spec,
                    source,
                    dataset,
                    key,
                    catalog[name],
                    mode,
                    label,
                    describe=describe,
                    hindrance=mode_hindrance(mode.mode) or "",
                )
            )
    plans += _plan_recorded(spec, datasets, keys, collected)
    answering = [plan for plan in plans if plan.cell.gives == "answers"]
    plans += _plan_judges(spec, datasets, catalog, answering, describe)
    return tuple(plans)


def limit_dataset(dataset: Dataset, spec: RunSpec) -> Dataset:
    """The dataset with the first `spec.limit` questions of each subject, in its own order.

    Unchanged where the limit counts per dataset: its cells take the head of their dataset.
    To limit a dataset again changes nothing.
    """
    if spec.limit is None or spec.counts_per == "dataset":
        return dataset
    seen: Counter[str] = Counter()
    kept: list[Sample] = []
    for sample in dataset.samples:
        seen[sample.subject] += 1
        if seen[sample.subject] <= spec.limit:
            kept.append(sample)
    return replace(dataset, samples=tuple(kept))


def limit_datasets(datasets: Mapping[str, Dataset], spec: RunSpec) -> dict[str, Dataset]:
    """Each dataset limited, under its key."""
    return {key: limit_dataset(dataset, spec) for key, dataset in datasets.items()}


def requests_per_verdict(output: JudgeOutput, rubrics: Sequence[Rubric]) -> int:
    """How many requests a verdict takes: one for each criterion where nothing is written."""
    criteria = max((len(rubric.criteria) for rubric in rubrics), default=0)
    return max(1, criteria) if output in ("probabilities", "decision") else 1


def _reject_duplicates(
    spec: RunSpec, datasets: Mapping[str, Dataset], collected: Sequence[CollectedAnswers]
) -> None:
    names = [datasets[source.key].name for source in spec.datasets]
    # One contestant may bring answers to several datasets.
    brought = dict.fromkeys(supplied.model for supplied in collected)
    twice = Counter((supplied.model, supplied.source) for supplied in collected)
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
            raise SpecError("twins", n=count, what=what, name=name)


def _plan_cell(
    spec: RunSpec,
    source: DatasetSpec,
    dataset: Dataset,
    key: str,
    entry: ModelEntry,
    requested: ModeSpec,
    label: str,
    *,
    describe: Describe,
    hindrance: str,
) -> CellPlan:
    scorer = MODES[requested.mode]
    chat = uses_chat(entry, requested, describe)
    seed = spec.seed if requested.seed is None else requested.seed
    # What draws nothing has no seed in the store, as in earlier versions.
    draws = "seed" in settings_taken(requested.mode, requested.spellings)
    decided = decided_spellings(entry, requested, describe)
    mode = requested.model_copy(
        update={"chat": chat, "seed": seed or None if draws else None, **decided}
    )
    pattern: Pattern = mode.pattern if scorer.shows_options else "origin"
    samples = dataset.samples[: spec.questions_per_dataset]
    setting = mode_settings(mode, dataset.shots)
    impossible = hindrance or blocking_reason(dataset, entry, mode, describe)
    if not impossible:
        _check_shots(dataset, samples, mode.shots)
    shown = pattern if permutes_options(scorer, pattern) else "origin"
    counts = Counter(len(sample.choices) for sample in samples)
    totals = {options: count * count_variants(options, shown) for options, count in counts.items()}
    totals = {options: count * mode.repeats for options, count in totals.items()}
    total = sum(totals.values())
    if total > MAX_TRIALS:
        raise SpecError(
            "too-many-trials", dataset=dataset.name, mode=label, n=total, limit=MAX_TRIALS
        )
    requests = 0 if impossible else _count_requests(scorer, setting, samples, totals, mode.repeats)
    signed = signature(
        dataset,
        samples,
        mode,
        model=entry.name,
        seed=seed,
        limit=spec.limit,
        limit_per=spec.counts_per,
        cluster=source.cluster,
        extra_body=entry.options.get("extra_body"),
        requests=() if impossible else _first_requests(scorer, setting, samples),
        packages=(*_packages(mode, entry), *dataset.packages),
    )
    return CellPlan(
        cell=Cell(dataset.name, entry.name, mode.mode, label, pattern, signed, scorer.gives),
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
            raise SpecError("few-shots", name=name, n=have[subject], wanted=wanted)


def _count_requests(
    mode: Mode,
    setting: ModeSettings,
    samples: Sequence[Sample],
    totals: Mapping[int, int],
    repeats: int,
) -> int:
    if mode.gives == "answers":
        return repeats * sum(1 + len(sample.follow_ups) for sample in samples)
    # What a trial sends depends on its number of options alone, so one of each is planned.
    examples = {len(sample.choices): sample for sample in samples}
    requests = {
        options: len(plan_requests(mode, sample, Variant(tuple(range(options))), setting))
        for options, sample in examples.items()
    }
    return sum(requests[options] * count for options, count in totals.items())


def _first_requests(
    mode: Mode, setting: ModeSettings, samples: Sequence[Sample]
) -> tuple[Request, ...]:
    """What the first question is asked by, in the order as written."""
    return tuple(
        request
        for sample in samples[:1]
        for request in plan_requests(
            mode, sample, Variant(tuple(range(len(sample.choices)))), setting
        )
    )


def _packages(mode: ModeSpec, entry: ModelEntry) -> Iterator[str]:
    """The plug-ins that make the score of a cell, with their versions."""
    yield MODES.package_of(mode.mode)
    yield BACKENDS.package_of(entry.backend)
    yield from plugin_versions("evalui.metrics")
    if mode.gives == "answers":
        yield from plugin_versions("evalui.scorers")


def _plan_recorded(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    keys: Mapping[str, str],
    collected: Sequence[CollectedAnswers],
) -> Iterator[CellPlan]:
    """A cell for the answers of each contestant that is not prompted."""
    clusters = {source.key: source.cluster for source in spec.datasets}
    for supplied in collected:
        dataset = datasets[supplied.source]
        samples = dataset.samples[: spec.questions_per_dataset]
        mode = ModeSpec(mode=grader_of("written"), chat=False, recorded=True)
        kept = {
            sample.id: supplied.answers[sample.id]
            for sample in samples
            if sample.id in supplied.answers
        }
        signed = signature(
            dataset,
            samples,
            mode,
            model=supplied.model,
            seed=spec.seed,
            limit=spec.limit,
            limit_per=spec.counts_per,
            answers=kept,
            cluster=clusters[supplied.source],
        )
        yield CellPlan(
            cell=Cell(
                dataset.name, supplied.model, mode.mode, mode.mode, "origin", signed, mode.gives
            ),
            source=supplied.source,
            dataset_key=keys[supplied.source],
            entry=ModelEntry(supplied.model, "recorded"),
            mode=mode,
            setting=mode_settings(mode, ()),
            questions=len(samples),
            total=len(kept),
            requests=0,
            answers=kept,
        )


def _plan_judges(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    catalog: Mapping[str, ModelEntry],
    answering: Sequence[CellPlan],
    describe: Describe,
) -> Iterator[CellPlan]:
    """The cells of `spec.judging`; `answering` are the cells whose answers will be judged.

    Datasets without written answers are passed over.

    Raises:
        SpecError, UnknownName: a dataset has too few contestants, or the form is wrong.
    """
    judging = spec.judging
    if judging is None:
        return
    latest = "auto.1" if spec.version < RUBRICS_BY_VERSION else "auto.2"
    decided = judging.model_copy(
        update={
            "seed": spec.seed if judging.seed is None else judging.seed,
            "template": judging.template or latest,
        }
    )
    by_dataset = {
        plan.dataset_key: [other for other in answering if other.dataset_key == plan.dataset_key]
        for plan in answering
    }
    for name, plans in product(judging.judges, by_dataset.values()):
        dataset = datasets[plans[0].source]
        yield _plan_judge_cell(spec, decided, dataset, catalog[name], plans, describe)


def _plan_judge_cell(
    spec: RunSpec,
    judging: JudgingSpec,
    dataset: Dataset,
    entry: ModelEntry,
    answering: Sequence[CellPlan],
    describe: Describe,
) -> CellPlan:
    able = [plan for plan in answering if not plan.impossible]
    needed = 1 if judging.rates_single else 2
    if len(able) < needed:
        n, why = len(able), next((plan.impossible for plan in answering if plan.impossible), "")
        if why:
            raise SpecError(
                "few-contestants-because", dataset=dataset.name, n=n, needed=needed, reason=why
            )
        raise SpecError("few-contestants", dataset=dataset.name, n=n, needed=needed)
    name, count = Counter(plan.cell.model for plan in able).most_common(1)[0]
    if count > 1:
        raise SpecError("twin-contestants", model=name, dataset=dataset.name, n=count)
    _check_trial_limit(
        dataset, judging, [plan.cell.model for plan in able], spec.questions_per_dataset
    )
    chat = entry.chat if judging.chat is None else judging.chat
    samples = dataset.samples[: spec.questions_per_dataset]
    rubrics = judge_rubrics(judging, samples)
    state = describe(entry)
    shows = bool(dataset.pictures) and state.sees_pictures
    able_to = state.abilities - state.text_only.keys() if shows else state.abilities
    output = judging.choose_output(rubrics, able_to)
    judging = judging.model_copy(update={"output": output})
    written: dict[str, Any] = {
        **judging.given,
        "max_tokens": judging.max_tokens,
        "seed": judging.seed or None,
    }
    if dataset.pictures and not state.sees_pictures:
        written["pictures"] = "none"  # the signature states it, and a note of the report
    mode = ModeSpec(mode=usual_mode("verdicts"), chat=chat, judging=judging, **written)
    contestants = tuple(_expected_answers(plan, dataset, at) for at, plan in enumerate(able))
    setting = mode_settings(mode, (), contestants)
    total = sum(1 for _ in trials_to_run(mode, "origin", samples, setting))
    signed = signature(
        dataset,
        samples,
        mode,
        model=entry.name,
        seed=judging.seed or 0,
        limit=spec.limit,
        limit_per=spec.counts_per,
        contestants=[contestant.name for contestant in contestants],
        extra_body=entry.options.get("extra_body"),
        packages=(*_packages(mode, entry), *dataset.packages),
    )
    impossible = (
        _writing_reason(rubrics, entry, mode, describe)
        or blocking_reason(dataset, entry, mode, describe)
        or ("" if total else sentence("error.nothing-to-judge"))
    )
    return CellPlan(
        cell=Cell(dataset.name, entry.name, mode.mode, mode.mode, "origin", signed, mode.gives),
        source=answering[0].source,
        dataset_key=answering[0].dataset_key,
        entry=entry,
        mode=mode,
        setting=setting,
        questions=len(samples),
        total=total,
        requests=0 if impossible else total * requests_per_verdict(output, rubrics),
        impossible=impossible,
    )


def _writing_reason(
    rubrics: Sequence[Rubric], entry: ModelEntry, mode: ModeSpec, describe: Describe
) -> str:
    """Why a judge that only decides cannot use a rubric that has its verdicts written, else ""."""
    abilities = describe(entry).abilities
    if "decide" not in abilities or mode.ability in abilities:
        return ""
    written = [rubric.name for rubric in rubrics if "decision" not in rubric.outputs]
    return sentence("error.rubric-written", model=entry.name, rubric=written[0]) if written else ""


def _check_trial_limit(
    dataset: Dataset, judging: JudgingSpec, names: Sequence[str], limit: int | None
) -> None:
    pairs = len(dataset.samples[:limit]) * len(judged_pairs(judging, names))
    showings = pairs * (2 if judging.orders == "double" and not judging.rates_single else 1)
    # A sample is drawn from all of them, so all of them have to be gone through.
    if showings > MAX_TRIALS:
        raise SpecError("too-many-showings", dataset=dataset.name, n=showings, limit=MAX_TRIALS)


def _expected_answers(plan: CellPlan, dataset: Dataset, place: int) -> Contestant:
    """The answers that there are, or texts as long as those that will be written may be."""
    if plan.mode.recorded:
        return Contestant(plan.cell.model, plan.answers)
    words = _ASSUMED_WORD * min(_ASSUMED_TOKENS, plan.mode.max_tokens)
    # Each its own, since equal answers are sent to no judge.
    assumed = (f"{place} {words}"[: len(words)],)
    written = {
        sample.id: assumed * (1 + len(sample.follow_ups))
        for sample in dataset.samples[: plan.questions]
    }
    return Contestant(plan.cell.model, written)
