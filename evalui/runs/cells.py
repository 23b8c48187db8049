"""One cell before it runs: which model is prompted with what, and the trials that it holds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from evalui.generation import not_honoured
from evalui.messages import Sentence, sentence
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.modes import MODES, Mode, ModeSettings, plan_requests, spellings_for
from evalui.modes import traits_of as mode_traits
from evalui.pictures import has_marks
from evalui.runs.contest import presentations
from evalui.runs.spec import ModeSpec
from evalui.scoring.choice.options import variants
from evalui.types import (
    Ability,
    Cell,
    Contestant,
    Dataset,
    Generate,
    Pattern,
    Sample,
    Variant,
    ask_with_pictures,
)

# Beyond this a pattern is a mistake: ten options have 3.6 million orders.
MAX_TRIALS = 1_000_000

Describe = Callable[[ModelEntry], ModelState]  # what is known of a model, see `catalog.describe`
Hindrance = Callable[[str], Sentence | None]  # why a mode cannot run here, see `mode_hindrance`

_LACKS: dict[Ability, str] = {
    "next_token": "error.lacks-next-token",
    "loglik": "error.lacks-loglik",
    "generate": "error.lacks-generate",
    "decide": "error.lacks-decide",
}


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One cell, decided: which model answers which questions, and how.

    `source` is the dataset's key in the specification, `dataset_key` its key in the store.
    `mode` has its chat setting decided. `questions` are taken from the head of the dataset,
    `total` counts trials, `requests` what they send. `impossible` is the reason why the cell
    cannot run, "" if it can. `answers` are there already, by sample: then no model is prompted.
    """

    cell: Cell
    source: str
    dataset_key: str
    entry: ModelEntry
    mode: ModeSpec
    setting: ModeSettings
    questions: int
    total: int
    requests: int
    impossible: str = ""
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def pattern(self) -> Pattern:
        """The orders in which the options are shown."""
        return self.cell.pattern

    @property
    def computes_here(self) -> bool:
        """Whether a model computes where the worker is; supplied answers are only graded."""
        return not (self.mode.recorded or traits_of(self.entry).remote)

    @property
    def mode_name(self) -> str:
        """The registered name of the mode."""
        return self.mode.mode


def trials_to_run(
    mode: ModeSpec, pattern: Pattern, samples: Sequence[Sample], setting: ModeSettings
) -> Iterator[tuple[Sample, Variant]]:
    """Every question in every order it is shown in, the variants of a question together.

    Each order is asked as often as the run repeats it, one repeat after the other.
    For a judge these are the answers it is shown, see `contest.presentations`.
    """
    if mode.judging:
        yield from presentations(mode.judging, setting.contestants, samples)
        return
    scorer = MODES[mode.mode]
    shown = pattern if permutes_options(scorer, pattern) else "origin"
    orders: dict[int, tuple[Variant, ...]] = {}
    for sample in samples:
        count = len(sample.choices)
        if count not in orders:
            orders[count] = repeated(variants(count, shown), mode.repeats)
        for variant in orders[count]:
            yield sample, variant


def repeated(orders: Sequence[Variant], repeats: int) -> tuple[Variant, ...]:
    """Each of the orders as often as it is asked: all orders of a repeat together."""
    return tuple(replace(order, repeat=repeat) for repeat in range(repeats) for order in orders)


def permutes_options(mode: Mode, pattern: Pattern) -> bool:
    """Whether the options are shown in other orders, those that name other options, too: figures
    under OpenCompass's names rest on them. What is measured of positions leaves them out.
    """
    return mode.shows_options and pattern != "origin"


def mode_settings(
    mode: ModeSpec, shots: Sequence[Sample], contestants: tuple[Contestant, ...] = ()
) -> ModeSettings:
    """The settings of the mode: the first worked examples of each subject, template and limits.

    `mode.chat` must be decided. `contestants` are those whose answers a judge compares.
    """
    by_subject: dict[str, tuple[Sample, ...]] = {}
    for shot in shots if mode.shots else ():
        known = by_subject.get(shot.subject, ())
        if len(known) < mode.shots:
            by_subject[shot.subject] = (*known, shot)
    judging = mode.judging
    # What a mode does not declare it does not get: signatures state what is declared.
    return ModeSettings(
        shots=by_subject,
        template=mode.read_template(),
        chat=bool(mode.chat),
        max_tokens=mode.max_tokens,
        spellings=mode.spellings if mode_traits(mode.mode).spellings else "common",
        contestants=contestants,
        rubric=judging.read_rubric() if judging else None,
        rubric_version=judging.rubric_version if judging else 1,
        seed=(judging.seed if judging else mode.seed) or 0,
        output=judging.decided_output if judging else "text",
        generation=mode.generation if mode.given else None,
    )


def decided_spellings(entry: ModelEntry, mode_spec: ModeSpec, describe: Describe) -> dict[str, Any]:
    """What stands for an option, and under which labels: a model that only decides is given its
    options as a decision, whatever the run says, and no other model has labels of one. A decision
    has no template, and is no conversation.
    """
    spellings = spellings_for(mode_spec.mode, mode_spec.spellings, describe(entry).abilities)
    if spellings == "decision" and mode_traits(mode_spec.mode).spellings:
        return {"spellings": spellings, "chat": False, "template": ""}
    return {"labels": ""} if "labels" in mode_spec.given else {}


def uses_chat(entry: ModelEntry, mode_spec: ModeSpec, describe: Describe) -> bool:
    """Whether prompts of the mode go through the chat template: as the run or else the entry says.

    Where nobody says so for this run, options are scored after plain prompts if the model can
    score them there alone.
    """
    if mode_spec.chat is not None:
        return mode_spec.chat
    if entry.chat and mode_spec.ability == "loglik":
        return "loglik" not in describe(entry).plain_only
    return entry.chat


def blocking_reason(
    dataset: Dataset, entry: ModelEntry, mode_spec: ModeSpec, describe: Describe
) -> str:
    """Why the model cannot be evaluated on the dataset in the mode, "" if it can."""
    mode = MODES[mode_spec.mode]
    if dataset.kind not in mode.kinds:
        if dataset.has_options:
            return sentence("error.has-options", dataset=dataset.name)
        return sentence("error.no-options", dataset=dataset.name)
    if not dataset.samples:
        return sentence("error.no-usable", dataset=dataset.name)
    if mode_traits(mode_spec.mode).needs_references and not any(
        sample.references for sample in dataset.samples
    ):
        return sentence("error.no-references", dataset=dataset.name)
    state = describe(entry)
    if state.problem:
        return state.problem
    if mode_spec.ability not in state.abilities:
        lacks = _LACKS[mode_spec.ability]
        return sentence(
            "error.cannot-do",
            model=entry.name,
            why=state.missing_reasons.get(mode_spec.ability) or sentence(lacks),
        )
    if mode_spec.chat and mode_spec.ability in state.plain_only:
        return sentence(
            "error.cannot-do", model=entry.name, why=state.plain_only[mode_spec.ability]
        )
    if "question" in mode_traits(mode_spec.mode).omits and traits_of(entry).needs_question:
        return sentence("error.needs-question", model=entry.name)
    if dataset.pictures and (reason := _picture_reason(dataset, state, mode_spec)):
        return reason
    if missing := not_honoured(mode_spec, state.honours):
        return sentence("error.setting-not-honoured", model=entry.name, setting=missing[0])
    if mode_spec.repeats > 1 and "temperature" in state.honours and not _draws(dataset, mode_spec):
        return sentence("error.repeats-alike", model=entry.name, n=mode_spec.repeats)
    return ""


def _picture_reason(dataset: Dataset, state: ModelState, mode_spec: ModeSpec) -> str:
    """Why the model cannot be asked about the pictures of the dataset in the mode, "" if it can."""
    if not ask_with_pictures(chain(dataset.samples, dataset.shots)):
        return ""
    name, leaves_out = state.entry.name, mode_spec.pictures == "none"
    options = (option for sample in dataset.samples for option in sample.choices)
    scores_options = not MODES[mode_spec.mode].shows_options
    if (leaves_out or scores_options) and any(map(has_marks, options)):
        return sentence("error.pictures-as-options", dataset=dataset.name)
    if leaves_out:
        return ""
    if why := state.text_only.get(mode_spec.ability):
        return sentence("error.sees-no-pictures-because", model=name, why=why)
    if not state.sees_pictures:
        return sentence("error.sees-no-pictures", model=name)
    return ""


def _draws(dataset: Dataset, mode_spec: ModeSpec) -> bool:
    """Whether replies are drawn, so that those to one prompt may differ."""
    sample, setting = dataset.samples[0], mode_settings(mode_spec, dataset.shots)
    requests = plan_requests(
        MODES[mode_spec.mode], sample, Variant(tuple(range(len(sample.choices)))), setting
    )
    return any(isinstance(each, Generate) and each.temperature > 0 for each in requests)
