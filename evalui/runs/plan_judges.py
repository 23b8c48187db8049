"""The judges' part of a run: a cell for each dataset and judge, after all answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from evalui.errors import SpecError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.runs.cells import MAX_TRIALS, CellPlan, blocking_reason, mode_settings, trials_to_run
from evalui.runs.contest import JudgingSpec, judged_pairs
from evalui.runs.signature import signature
from evalui.runs.spec import JUDGE, OPEN, ModeSpec, RunSpec
from evalui.types import Cell, Contestant, Dataset

# What an answer that is not written yet is taken to be, for an estimate of what judging costs.
_ASSUMED_TOKENS = 150
_ASSUMED_WORD = "word "


def plan_judges(
    spec: RunSpec,
    datasets: Mapping[str, Dataset],
    catalog: Mapping[str, ModelEntry],
    answering: Sequence[CellPlan],
) -> Iterator[CellPlan]:
    """The cells of `spec.judging`; `answering` are the cells whose answers will be judged.

    The datasets nobody answers in writing are passed over.

    Raises:
        SpecError, UnknownName: a dataset has too few contestants, or the form is wrong.
    """
    judging = spec.judging
    if judging is None:
        return
    decided = judging.model_copy(
        update={"seed": spec.seed if judging.seed is None else judging.seed}
    )
    by_dataset = {
        plan.dataset_key: [other for other in answering if other.dataset_key == plan.dataset_key]
        for plan in answering
    }
    for name, plans in product(judging.judges, by_dataset.values()):
        yield _plan(spec, decided, datasets[plans[0].source], catalog[name], plans)


def _plan(
    spec: RunSpec,
    judging: JudgingSpec,
    dataset: Dataset,
    entry: ModelEntry,
    answering: Sequence[CellPlan],
) -> CellPlan:
    able = [plan for plan in answering if not plan.impossible]
    needed = 1 if judging.rates_single else 2
    if len(able) < needed:
        raise SpecError(
            "few-contestants",
            dataset=dataset.name,
            n=len(able),
            needed=needed,
        )
    _reject_duplicates(dataset, able)
    _check_trial_limit(
        dataset, judging, [plan.cell.model for plan in able], spec.questions_per_dataset
    )
    chat = entry.chat if judging.chat is None else judging.chat
    mode = ModeSpec(mode=JUDGE, max_tokens=judging.max_tokens, chat=chat, judging=judging)
    samples = dataset.samples[: spec.questions_per_dataset]
    contestants = tuple(_expected_answers(plan, dataset) for plan in able)
    setting = mode_settings(mode, (), contestants)
    total = sum(1 for _ in trials_to_run(mode, "origin", samples, setting))
    told = signature(
        dataset,
        samples,
        mode,
        model=entry.name,
        seed=judging.seed or 0,
        limit=spec.limit,
        limit_per=spec.counts_per,
        contestants=[contestant.name for contestant in contestants],
    )
    impossible = blocking_reason(dataset, entry, mode) or (
        "" if total else sentence("error.nothing-to-judge")
    )
    return CellPlan(
        cell=Cell(dataset.name, entry.name, JUDGE, JUDGE, "origin", told),
        source=answering[0].source,
        dataset_key=answering[0].dataset_key,
        entry=entry,
        mode=mode,
        setting=setting,
        questions=len(samples),
        total=total,
        requests=0 if impossible else total,
        impossible=impossible,
    )


def _reject_duplicates(dataset: Dataset, able: Sequence[CellPlan]) -> None:
    name, count = Counter(plan.cell.model for plan in able).most_common(1)[0]
    if count > 1:
        raise SpecError(
            "twin-contestants",
            model=name,
            dataset=dataset.name,
            n=count,
        )


def _check_trial_limit(
    dataset: Dataset, judging: JudgingSpec, names: Sequence[str], limit: int | None
) -> None:
    pairs = len(dataset.samples[:limit]) * len(judged_pairs(judging, names))
    showings = pairs * (2 if judging.orders == "double" and not judging.rates_single else 1)
    # A sample is drawn from all of them, so all of them have to be gone through.
    if showings > MAX_TRIALS:
        raise SpecError(
            "too-many-showings",
            dataset=dataset.name,
            n=showings,
            limit=MAX_TRIALS,
        )


def _expected_answers(plan: CellPlan, dataset: Dataset) -> Contestant:
    """The answers that there are, or texts as long as those that will be written may be."""
    if plan.mode.recorded:
        return Contestant(plan.cell.model, plan.answers)
    assumed = (_ASSUMED_WORD * min(_ASSUMED_TOKENS, plan.mode.max_tokens),)
    written = {
        sample.id: assumed * (1 + len(sample.follow_ups))
        for sample in dataset.samples[: plan.questions]
    }
    return Contestant(plan.cell.model, written)


def answering_plans(plans: Sequence[CellPlan]) -> tuple[CellPlan, ...]:
    """The cells in which answers are written or recorded."""
    return tuple(plan for plan in plans if plan.mode_name == OPEN)
