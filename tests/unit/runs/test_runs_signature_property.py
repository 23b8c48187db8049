"""Cells that may have other figures never share a signature, whatever a run differs in.

Nothing here believes what is declared: runs are planned as `evalui run` plans them, a fake model
answers what it is sent, its answers are graded, and signatures are compared with all of that. One
mode of another package puts every setting it gets into its prompts.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from evalui.errors import SpecError
from evalui.generation import GenerationSettings, Setting
from evalui.models.base import BACKENDS, Backend, ModelEntry, sampling_seed
from evalui.models.endpoint.backend import _fingerprint as endpoint_fingerprint
from evalui.models.endpoint.config import EndpointOptions, read_endpoint
from evalui.models.endpoint.requests import Capabilities
from evalui.modes import MODES, Mode, ModeSettings, MultiTurn, follow_up_requests, plan_requests
from evalui.modes.own_settings import all_settings
from evalui.modes.prompts.templates import choose_template
from evalui.runs import plan as plan_module
from evalui.runs.cells import CellPlan, trials_to_run
from evalui.runs.contest import CollectedAnswers, JudgingSpec
from evalui.runs.plan import limit_datasets, plan_run
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.runs.submit import expand_entries, read_datasets
from evalui.scoring.arena.verdicts import battles_from_verdicts, judge_verdicts
from evalui.store.runs import with_fingerprint
from evalui.types import (
    Ability,
    Dataset,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)

_ALL_ABILITIES: frozenset[Ability] = frozenset({"next_token", "loglik", "generate", "schema"})


# ---------------------------------------------------------------- a model that is sent everything


class FakeBackend(Backend):
    """A model that can do and honours everything."""

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """All, or those that the entry names."""
        return frozenset(entry.options.get("abilities", _ALL_ABILITIES))

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """All settings there are."""
        del entry
        return frozenset({*GenerationSettings.model_fields, *WholeSettings.model_fields})

    def problem(self, entry: ModelEntry) -> str:
        """None."""
        del entry
        return ""

    def open(self, entry: ModelEntry) -> Any:
        """Nothing is loaded here."""
        raise NotImplementedError


def fingerprint_of(entry: ModelEntry) -> str:
    """What the fake model's replies depend on beside what it is sent."""
    return hashlib.sha256(repr((entry.path, entry.options.get("seed", 0))).encode()).hexdigest()


def replied(entry: ModelEntry, request: Request) -> Response:
    """What the model answers: it depends on every field of the request and on its seed."""
    whole = repr((fingerprint_of(entry), request))
    if isinstance(request, Generate) and request.temperature:
        whole += str(sampling_seed(entry.options.get("seed", 0), request))
    digest = hashlib.sha256(whole.encode()).digest()
    if isinstance(request, NextToken):
        return LabelProbs(
            tuple(-1.0 - digest[i] / 64 for i in range(len(request.labels))), 0.9, "A"
        )
    if isinstance(request, Loglik):
        return Logprob(-1.0 - digest[0] / 8, 3, greedy=False)
    if "reply" in entry.options:
        return GeneratedText(entry.options["reply"])
    return GeneratedText(f"{digest.hex()} The answer is {'ABCD'[digest[0] % 4]}")


# ---------------------------------------------------------------- modes of another package


class WholeSettings(GenerationSettings):
    """One setting that the mode honours and one of the backend."""

    accent: Annotated[str, Setting("accent", honoured_by="mode")] = ""
    charge: Annotated[float | None, Field(ge=0, le=2), Setting("charge")] = None


class Whole:
    """Puts every setting it gets into its prompts; states a temperature of its own at first."""

    kinds: tuple[DatasetKind, ...] = ("multiple_choice", "general_qa", "subjective")
    shows_options = True
    readings: tuple[str, ...] = ("answer",)
    headline = "answer"
    settings: type[GenerationSettings] = WholeSettings
    version = "1"  # of its package: another one writes other prompts

    def __init__(self, gives: Gives, ability: Ability) -> None:
        self.gives: Gives = gives
        self.abilities_needed: Ability = ability

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        own = setting.own(WholeSettings)
        # Without a template of the run, options have the one that their question chooses.
        usual = choose_template(sample) if self.gives == "choices" else None
        template = setting.template or usual
        told = replace(setting, generation=None, shots={}, template=template)
        shots = [[one.question for one in each] for each in setting.shots.values()]
        prompt = f"{self.version} {told} {own.accent} {shots} {sample.question} {sample.choices} "
        prompt += str(variant.permutation)
        if self.abilities_needed == "next_token":
            return (NextToken(prompt, tuple("ABCD"[: len(variant.permutation)])),)
        first = sample.question.startswith("0:")
        return (Generate(prompt, setting.max_tokens, temperature=0.8 if first else 0.0),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        del setting
        (response,) = responses
        reply = response.text if isinstance(response, GeneratedText) else repr(response)
        right = variant.permutation.index(sample.target) if isinstance(sample.target, int) else 0
        read = Reading(len(reply) % max(1, len(variant.permutation)), 1.0, "answered")
        return Trial(sample.id, variant, right, "answer", {"answer": read}, reply=reply)


# ---------------------------------------------------------------- runs

_ROWS = (
    "number,question,prompt,A,B,C,D,E,answer,other\n"
    "1,0: what?,0: why?,1,2,3,4,5,1,2\n"
    "2,1: what?,1: why?,1,2,4,4,5,2,1\n"
    "3,2: what?,2: why?,1,2,3,4,5,3,3\n"
)
_COLUMNS = {"question": "question", "answer": "answer", **{each: each for each in "ABCD"}}
_SET: Mapping[str, Any] = {"path": "set.csv", "columns": _COLUMNS, "answer_key": "index1"}
_DEV = "question,A,B,C,D,answer\nd0?,1,2,3,4,A\nd1?,1,2,3,4,B\n"
_WRITTEN = "".join(
    json.dumps({"query": f"{n}: what?", "response": f"{n}"}) + "\n" for n in range(3)
)
_BEGINNING = "Take your time, and think of everything that you were told before. " * 20
_TEMPLATE = {
    "name": "mine.1",
    "language": "en",
    "question": "{question}\n{options}\n",
    "cloze": "{question}\n",
    "answer": "{answer}",
    "unconditional": "",
}


@dataclass(frozen=True)
class World:
    """All that figures may depend on: files, specification, models, packages."""

    spec: Mapping[str, Any]
    files: Mapping[str, str | bytes]
    entry: ModelEntry = ModelEntry("m", "fake", chat=True)  # noqa: RUF009 (frozen)
    judge: ModelEntry = ModelEntry("j", "fake", chat=True)  # noqa: RUF009 (frozen)
    collected: tuple[CollectedAnswers, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Made:
    """A cell: its signature, and all that comes of it before figures are made."""

    signature: str
    outcome: str


def cells_of(world: World, folder: Path) -> list[Made]:
    """Plan the run, ask its models, grade what they reply; [] where the run is refused."""
    for name, content in world.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        spec = expand_entries(RunSpec.model_validate(world.spec), base=folder)
        loaded = read_datasets(spec, base=folder)
        packages = tuple(
            f"{name} {version}" for name, version in world.versions.items() if name == "format"
        )
        datasets = {key: replace(each.dataset, packages=packages) for key, each in loaded.items()}
        catalog = {each.name: each for each in (world.entry, world.judge)}
        plans = plan_run(spec, limit_datasets(datasets, spec), catalog, world.collected)
    except (ValidationError, SpecError):
        return []
    limited = limit_datasets(datasets, spec)
    return [
        Made(
            with_fingerprint(each.cell.signature, fingerprint_of(each.entry)),
            outcome_of(each, limited[each.source], world),
        )
        for each in plans
        if not each.impossible
    ]


def outcome_of(plan: CellPlan, dataset: Dataset, world: World) -> str:
    """What a cell's model is sent and the trials that come of it; of a judge the battles, too."""
    samples = dataset.samples[: plan.questions]
    if plan.mode.recorded:
        return repr([(each.question, each.target, plan.answers.get(each.id)) for each in samples])
    mode, lines, trials = MODES[plan.mode.mode], list[object](), list[Trial]()
    for sample, variant in trials_to_run(plan.mode, plan.pattern, samples, plan.setting):
        requests = list(plan_requests(mode, sample, variant, plan.setting))
        responses = [replied(plan.entry, each) for each in requests]
        while isinstance(mode, MultiTurn) and (
            more := follow_up_requests(mode, sample, variant, responses, plan.setting)
        ):
            requests += more
            responses += [replied(plan.entry, each) for each in more]
        trials.append(mode.grade(sample, variant, responses, plan.setting))
        lines += [sample.target, sample.references, requests, trials[-1]]
    if judging := plan.mode.judging:
        names = [each.name for each in plan.setting.contestants]
        if not judging.rates_single:
            verdicts = judge_verdicts(trials, names, "j")
            lines += battles_from_verdicts(verdicts, judging.conflict, strong=judging.strong)
    return repr((world.versions.get("metric"), lines))


def told_apart(one: World, other: World, folder: Path) -> bool:
    """Whether the runs have other outcomes; asserts one of each signature."""
    made = [cells_of(one, folder / "one"), cells_of(other, folder / "other")]
    outcomes: dict[str, str] = {}
    for cell in (*made[0], *made[1]):
        assert outcomes.setdefault(cell.signature, cell.outcome) == cell.outcome, cell.signature
    return [each.outcome for each in made[0]] != [each.outcome for each in made[1]]


# ---------------------------------------------------------------- what a run can differ in

Values = st.SearchStrategy[Any]
_TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
_LONG = _TEXTS.map(lambda text: _BEGINNING + text)  # the same for so long, then another
_STOPS = st.lists(_TEXTS, min_size=1, max_size=3).map(lambda each: [_BEGINNING[:60], *each])
_TEMPLATES = st.one_of(
    st.sampled_from(["", "plain-en.1", "plain-zh.1", "ceval-zh.1"]),
    _LONG.map(lambda text: _TEMPLATE | {"question": text + "{question}\n{options}\n"}),
    _LONG.map(lambda text: _TEMPLATE | {"unconditional": text}),
)
_RUBRIC: Mapping[str, Any] = {
    "name": "mine.1",
    "language": "en",
    "form": "mtbench",
    "closing": "End with [[A]], [[B]] or [[C]].",
}
_RUBRICS = st.one_of(
    st.sampled_from(["auto.1", "auto.2", "mtbench-en.2", "arena-hard-en.2", "score10-en.1"]),
    _LONG.map(lambda text: {**_RUBRIC, "instruction": text}),
)
# A value of each setting of writing; a setting that is added is added here, see below.
_WRITING: dict[str, Values] = {
    # Numbers that are one number when they are written with six digits.
    "temperature": st.one_of(st.floats(0, 2), st.sampled_from([0.7, 0.70000001, 0.2, 0.5])),
    "top_p": st.one_of(st.floats(0.01, 1), st.sampled_from([0.9, 0.90000001])),
    "top_k": st.integers(1, 10**6),
    "min_p": st.floats(0.01, 1),
    "stop": _STOPS,
    "system_prompt": _LONG,
    "thinking": st.sampled_from(["", "on", "off"]),
    "reasoning_effort": st.sampled_from(["", "minimal", "low", "medium", "high"]),
    "max_tokens": st.integers(1, 5000),
    "seed": st.one_of(st.none(), st.integers(0, 3)),
    "pictures": st.sampled_from(["", "none"]),
    "picture_side": st.one_of(st.none(), st.integers(64, 8192)),
    "repeats": st.integers(1, 3),
}
_OF_MODE: dict[str, Values] = {
    **_WRITING,
    "mode": st.sampled_from(["multiple_choice", "choices_only", "cloze", "generation", "texts"]),
    "shots": st.integers(0, 2),
    "pattern": st.sampled_from(["origin", "circular"]),
    "template": _TEMPLATES,
    "chat": st.sampled_from([None, True, False]),
    "unconditional": st.one_of(st.none(), st.just(""), _LONG),
    "spellings": st.sampled_from(["common", "lm_eval"]),
    "accent": _LONG,
    "charge": st.floats(0, 2),
}
_OF_JUDGING: dict[str, Values] = {
    **_WRITING,
    "judges": st.just(["j"]),
    "template": _RUBRICS,
    "orders": st.sampled_from(["double", "single", "random"]),
    "pairs": st.sampled_from(["all", "baseline"]),
    "baseline": st.sampled_from([["right"], ["wrong"], ["third"]]),
    "against": st.sampled_from([["wrong"], ["third"], ["wrong", "third"]]),
    "sample": st.sampled_from([None, 1, 2, 5]),
    "conflict": st.sampled_from(["tie", "half", "drop"]),
    "max_tokens": st.integers(1, 5000),
    "chat": st.sampled_from([None, True, False]),
    "output": st.sampled_from(["auto", "text", "schema", "probabilities"]),
    "strong": st.integers(1, 3),
}
_OF_DATASET: dict[str, Values] = {
    "path": st.sampled_from(["set.csv", "more.csv", ["set.csv", "more.csv"]]),
    "options": st.sampled_from([[*"ABCD"], [*"ABDE"], [*"ABC"]]),
    "answer": st.sampled_from(["answer", "other"]),
    "answer_key": st.sampled_from(["index1", "index0", "text"]),
    "question": st.sampled_from(["question", "prompt"]),
    "sheet": st.sampled_from(["one", "two"]),
    "kind": st.sampled_from(["multiple_choice", "general_qa"]),
    "duplicate_options": st.sampled_from(["keep", "skip"]),
    "entry": st.sampled_from(["first", "second"]),
    "columns": st.sampled_from([_COLUMNS, _COLUMNS | {"question": "prompt"}]),
    "split": st.sampled_from(["val", "test"]),
    "head_row": st.sampled_from([1, 2, 3]),
    "commas_in_text": st.booleans(),
}
_OF_RUN: dict[str, Values] = {
    "version": st.sampled_from([1, 2, 3]),
    "models": st.just(["m"]),
    "modes": st.just([{"mode": "texts"}]),
    "answers": st.just([]),
    "judging": st.just({"judges": ["j"]}),
    "seed": st.integers(-2, 3),
    "limit": st.sampled_from([None, 1, 2]),
    "limit_per": st.sampled_from(["subject", "dataset"]),
    "datasets": st.sampled_from(
        [["written.jsonl", _SET], ["written.jsonl", {**_SET, "path": "more.csv"}]]
    ),
}
_OF_ENTRY: dict[str, Values] = {
    "name": _TEXTS.filter(lambda text: "|" not in text),
    "path": _LONG,
    "chat": st.booleans(),
    "options": st.one_of(
        st.integers(0, 3).map(lambda seed: {"seed": seed}),
        _LONG.map(lambda text: {"extra_body": {"a": text}}),
    ),
}

# What cannot move a score, and why.
_EXEMPT: Mapping[type, Mapping[str, str]] = {
    RunSpec: {
        "name": "what the run is called",
        "metrics": "which figures lead the report; no answer depends on them",
        "summary_groups": "further figures of the same trials",
        "replies_of": "the option of an endpoint with this name, see below",
    },
    ModeSpec: {
        "judging": "stands in plans alone: the fields of JudgingSpec",
        "recorded": "stands in plans alone: no model is asked",
        "log": "stands in plans alone: see imported_signature",
    },
    JudgingSpec: {},
    DatasetSpec: {
        "upload": "which file it is: its digest is signed",
        "name": "what tables and signatures call it",
        "sha256": "a run whose file has another digest is refused",
        "skip_faulty": "without it a file with faulty rows is refused",
        "cluster": "no answer depends on it, only ranges and tests, and it is signed",
    },
    ModelEntry: {
        "backend": "part of what a backend makes its fingerprint of",
        **dict.fromkeys(
            ("revision", "dtype", "device", "max_length", "adapter"),
            "part of the fingerprint, see tests/unit/models/local",
        ),
        **dict.fromkeys(("notes", "baseline", "parameters"), "said of the model, not to it"),
        **dict.fromkeys(("input_price", "output_price"), "cost"),
        **dict.fromkeys(("owner", "everyone", "people", "teams"), "who may use it"),
    },
    EndpointOptions: {
        "base_urls": "the same addresses, in whatever order",
        **dict.fromkeys(("api_key_env", "key_store", "key_header"), "who asks"),
        **dict.fromkeys(("concurrency", "requests_per_minute"), "how fast requests are sent"),
        **dict.fromkeys(("timeout_s", "total_timeout_s", "retries"), "when a request is given up"),
        "allowed_hosts": "where requests may go",
        "role": "whether a model judges only",
        "notes_zh": "said of the model",
    },
}


# ---------------------------------------------------------------- the worlds of each field


def _spec(**changes: Any) -> Mapping[str, Any]:
    return {"version": 3, "datasets": [_SET], "models": ["m"], "modes": [_CHOICES]} | changes


_CHOICES: Mapping[str, Any] = {"mode": "generation", "temperature": 0.3}
_FILES: Mapping[str, str | bytes] = {
    "set.csv": _ROWS,
    "more.csv": _ROWS.replace("what?", "which?"),
    "few/law_dev.csv": _DEV,
    "few/law_val.csv": _DEV.replace("d0?", "0: v?").replace("d1?", "1: v?"),
    "written.jsonl": _WRITTEN,
}
_MODES_TRIED = ("multiple_choice", "cloze", "generation", "texts", "letters", "scores")


def of_mode(name: str, value: Any, mode: str) -> World:
    """One mode with a value of one of its fields."""
    fields = {"mode": mode, "shots": 2 if name == "template" else 0} | {name: value}
    if mode in ("generation", "texts", "letters") and name not in ("temperature", "mode"):
        fields["temperature"] = 0.4  # so that replies are drawn
    return World(_spec(datasets=["few"], modes=[fields]), _FILES)


def of_judging(name: str, value: Any, form: str) -> World:
    """A judge of three contestants, whose verdicts depend on the order, or are all the same."""
    given: dict[str, Any] = {"judges": ["j"], "template": "arena-hard-en.2"}
    given |= {"template": "arena-hard-en.1"} if form == "first" else {}
    if name == "strong":
        given |= {"orders": "single"}  # orders that conflict count once
    elif name == "against":
        given |= {"pairs": "matrix", "baseline": ["right"]}
    elif name in ("pairs", "baseline"):
        given |= {"pairs": "baseline", "baseline": ["right"]}
    elif name in ("seed", "sample"):
        given |= {"sample": 2, "orders": "random", "temperature": 0.5}
    reply = {"mixed": {}, "first": {"reply": "[[A>>B]]"}}[form]
    datasets = ["written.jsonl"]
    contestants = tuple(
        CollectedAnswers(
            who, "written.jsonl", {f"written/row-{n}": (f"{who} {n}",) for n in range(1, 4)}
        )
        for who in ("right", "wrong", "third")
    )
    answers = [{"model": each.model, "path": "x"} for each in contestants]
    spec = {
        "version": 3,
        "datasets": datasets,
        "answers": answers,
        "judging": given | {name: value},
    }
    judge = ModelEntry("j", "fake", chat=True, options=dict(reply))
    return World(spec, _FILES, judge=judge, collected=contestants)


def of_dataset(name: str, value: Any) -> World:
    """One dataset with a value of one of its fields."""
    files = dict(_FILES)
    source: dict[str, Any] = dict(_SET)
    if name in ("options", "answer", "question"):
        source = {"path": "set.csv", "question": "question", "answer": "answer"}
        source |= {"options": [*"ABCD"], "answer_key": "index1"}
    elif name == "sheet":
        source["path"] = "book.xlsx"
        files["book.xlsx"] = _workbook()
    elif name == "kind":
        source = {"path": "set.csv"}
        files["set.csv"] = (
            "question,A,B,C,D,answer,response\n0: v?,1,2,3,4,A,x\n1: v?,1,2,3,4,B,y\n"
        )
    elif name == "entry":
        source = {"path": "swift"}
        files |= {"swift/custom_config.json": _CONFIG, "swift/first/x_val.csv": _DEV}
        files |= {"swift/second/x_val.csv": _DEV.replace("d0?", "e0?")}
        source = {"path": "swift/custom_config.json"}
    elif name == "split":
        source = {"path": "both"}
        files |= {"both/law_val.csv": _DEV, "both/law_test.csv": _DEV.replace("d0?", "t0?")}
    elif name == "head_row":
        source = {"path": "set.csv"}
        files["set.csv"] = "question,A,B,C,D,answer\n" * 3 + _DEV.partition("\n")[2]
        source["columns"] = _COLUMNS
        source["skip_faulty"] = True
    elif name == "commas_in_text":
        source = {"path": "set.csv", "skip_faulty": True}
        files["set.csv"] = _DEV + "9, or more?,1,2,3,4,A\n"
    modes = [{"mode": "texts"}, {"mode": "letters"}]
    return World(_spec(datasets=[source | {name: value}], modes=modes), files)


_CONFIG = json.dumps(
    [
        {"name": name, "pattern": "ceval", "dataset": f"swift/{name}", "subset_list": ["x"]}
        for name in ("first", "second")
    ]
)


def _workbook() -> bytes:
    import io

    import openpyxl

    book: Any = openpyxl.Workbook()
    book.active.title = "one"
    for sheet, words in ((book.active, "what?"), (book.create_sheet("two"), "which?")):
        for line in _ROWS.replace("what?", words).splitlines():
            sheet.append(line.split(","))
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def of_run(name: str, value: Any) -> World:
    """A run of models and judges with a value of one of its fields."""
    files = dict(_FILES)
    files["subjects/a_val.csv"] = _DEV
    files["subjects/b_val.csv"] = _DEV.replace("d0?", "t0?")
    answers = [{"model": "right", "path": "x"}]
    collected = (
        CollectedAnswers(
            "right", "written.jsonl", {f"written/row-{n}": (f"a {n}",) for n in (1, 2, 3)}
        ),
    )
    limited = {"limit": 1} if name == "limit_per" else {}
    spec = _spec(
        datasets=["subjects", "written.jsonl"],
        modes=[{"mode": each, "temperature": 0.4} for each in ("question_answer", "generation")],
        answers=answers,
        judging={"judges": ["j"], "sample": 2, "orders": "random", "temperature": 0.5},
        **limited,
    )
    return World({**spec, name: value}, files, collected=collected)


def of_entry(name: str, value: Any) -> World:
    """A run of one model that is entered otherwise."""
    entry = replace(ModelEntry("m", "fake", chat=True), **{name: value})
    spec = _spec(models=[entry.name], modes=[{"mode": "texts", "temperature": 0.4}, _CHOICES])
    return World(spec, _FILES, entry=entry)


Worlds = Mapping[str, Any]
# Of each class: how a value becomes a run (one of each variant), and the values of its fields.
_TRIED: list[tuple[str, str, Values, Any]] = [
    *(
        (f"ModeSpec.{name} in {mode}", name, values, partial(of_mode, mode=mode))
        for name, values in _OF_MODE.items()
        for mode in _MODES_TRIED
        if name != "mode" or mode == "texts"
    ),
    *(
        (f"JudgingSpec.{name}, {form}", name, values, partial(of_judging, form=form))
        for name, values in _OF_JUDGING.items()
        for form in ("mixed", "first")
    ),
    *((f"DatasetSpec.{name}", name, values, of_dataset) for name, values in _OF_DATASET.items()),
    *((f"RunSpec.{name}", name, values, of_run) for name, values in _OF_RUN.items()),
    *((f"ModelEntry.{name}", name, values, of_entry) for name, values in _OF_ENTRY.items()),
]


# ---------------------------------------------------------------- the tests


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    modes: Mapping[str, Mode] = {
        "texts": Whole("answers", "generate"),
        "letters": Whole("choices", "generate"),
        "scores": Whole("choices", "next_token"),
    }
    for name, mode in modes.items():
        MODES.register(name)(mode)
    BACKENDS.register("fake")(FakeBackend())
    yield
    for name in modes:
        MODES._entries.pop(name)
    BACKENDS._entries.pop("fake")


@pytest.mark.parametrize(
    ("owner", "tried"),
    [
        (RunSpec, _OF_RUN),
        (ModeSpec, _OF_MODE),
        (JudgingSpec, _OF_JUDGING),
        (DatasetSpec, _OF_DATASET),
        (ModelEntry, _OF_ENTRY),
    ],
)
def test_no_field_is_forgotten(owner: type, tried: Mapping[str, Values]) -> None:
    names = (
        {*owner.model_fields}
        if issubclass(owner, BaseModel)
        else {each.name for each in fields(owner)}
    )
    own = {*all_settings().model_fields} - {*GenerationSettings.model_fields}
    assert {*tried} - (own if owner is ModeSpec else set()) | {*_EXEMPT[owner]} == names
    assert not {*tried} & {*_EXEMPT[owner]}
    assert {*_WRITING} >= {*GenerationSettings.model_fields}


@pytest.mark.parametrize(
    ("name", "values", "world_of"), [each[1:] for each in _TRIED], ids=[each[0] for each in _TRIED]
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(data=st.data())
def test_cells_of_one_signature_have_one_outcome(
    name: str, values: Values, world_of: Any, data: st.DataObject, tmp_path: Path
) -> None:
    one, other = data.draw(values), data.draw(values)
    told_apart(world_of(name, one), world_of(name, other), tmp_path)


# Of each field two values that must be told apart, so that no property above is empty.
_PAIRS: Mapping[str, tuple[Any, Any]] = {
    "temperature": (0.7, 0.70000001),
    "top_p": (0.9, 0.90000001),
    "top_k": (5, 6),
    "min_p": (0.1, 0.2),
    "stop": (["x"], ["y"]),
    "system_prompt": (_BEGINNING + "x", _BEGINNING + "y"),
    "thinking": ("on", "off"),
    "reasoning_effort": ("low", "high"),
    "repeats": (1, 2),
    "mode": ("texts", "letters"),
    "shots": (0, 2),
    "pattern": ("origin", "circular"),
    "template": ("plain-en.1", "plain-zh.1"),
    "chat": (True, False),
    "max_tokens": (7, 8),
    "unconditional": ("", "x"),
    "spellings": ("common", "lm_eval"),
    "accent": ("x", "y"),
    "charge": (0.1, 0.2),
    "orders": ("double", "single"),
    "pairs": ("all", "baseline"),
    "baseline": (["right"], ["wrong"]),
    "against": (["wrong"], ["third"]),
    "sample": (1, 2),
    "conflict": ("tie", "half"),
    "seed": (0, 1),
    "output": ("text", "schema"),
    "strong": (1, 2),
    "path": ("set.csv", "more.csv"),
    "options": ([*"ABCD"], [*"ABC"]),
    "answer": ("answer", "other"),
    "answer_key": ("index1", "index0"),
    "question": ("question", "prompt"),
    "sheet": ("one", "two"),
    "kind": ("multiple_choice", "general_qa"),
    "duplicate_options": ("keep", "skip"),
    "entry": ("first", "second"),
    "columns": (_COLUMNS, _COLUMNS | {"question": "prompt"}),
    "split": ("val", "test"),
    "head_row": (1, 3),
    "commas_in_text": (False, True),
    "version": (1, 3),
    "limit": (1, 2),
    "limit_per": ("subject", "dataset"),
    "datasets": (
        ["written.jsonl", _SET],
        ["written.jsonl", {**_SET, "path": "more.csv"}],
    ),
    "options of an entry": ({"seed": 0}, {"seed": 1}),
}
# Those of which another one tells runs apart, or that have but one value here (no file has
# pictures).
_NOT_ALONE = frozenset(
    {"judges", "models", "modes", "answers", "judging", "name", "pictures", "picture_side"}
)


def _acting() -> Iterator[tuple[str, tuple[Any, Any], Any]]:
    for where, name, _, world_of in _TRIED:
        if name in _NOT_ALONE:
            continue
        key = "options of an entry" if where == "ModelEntry.options" else name
        pair = _PAIRS[key]
        if where.startswith("JudgingSpec.template"):
            pair = ("mtbench-en.2", "arena-hard-en.2")
        yield where, pair, partial(world_of, name)


_ACTING = tuple(_acting())


def test_each_field_moves_an_outcome_somewhere(tmp_path: Path) -> None:
    moved: dict[str, bool] = {}
    for place, (where, (one, other), world_of) in enumerate(_ACTING):
        fields_name = where.partition(" ")[0].partition(",")[0]
        apart = told_apart(world_of(one), world_of(other), tmp_path / str(place))
        moved[fields_name] = moved.get(fields_name, False) or apart
    assert [name for name, has in moved.items() if not has] == []


@pytest.mark.parametrize("package", ["mode", "backend", "metric", "scorer", "format"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(data=st.data())
def test_versions_of_the_packages_that_make_a_score_are_signed(
    package: str, data: st.DataObject, tmp_path: Path
) -> None:
    """An outcome does not show what a metric of another package makes of it, so all differ."""
    versions = st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}(\.dev[0-9])?", fullmatch=True)
    one, other = data.draw(versions), data.draw(versions)
    signed = [_signed_with(package, each, tmp_path) for each in (one, other)]
    assert (signed[0] == signed[1]) == (one == other)


def _signed_with(package: str, version: str, folder: Path) -> list[str]:
    world = World(_spec(modes=[{"mode": "texts"}]), _FILES, versions={package: version})
    with pytest.MonkeyPatch.context() as patch:
        if package == "mode":
            patch.setitem(MODES._packages, "texts", f"others {version}")
        elif package == "backend":
            patch.setitem(BACKENDS._packages, "fake", f"others {version}")
        groups = {"metric": "evalui.metrics", "scorer": "evalui.scorers"}
        brought = {groups[package]: (f"others {version}",)} if package in groups else {}
        patch.setattr(plan_module, "plugin_versions", lambda group: brought.get(group, ()))
        made = cells_of(world, folder)
    assert made
    return [each.signature for each in made]


_OPTIONS: dict[str, Values] = {
    "base_url": st.integers(1, 9).map(lambda port: f"http://127.0.0.1:{port}/v1"),
    "replies_of": st.from_regex(r"[0-9a-f]{8}", fullmatch=True),
    "api": st.sampled_from(["auto", "chat", "completions"]),
    "tokenizer": st.sampled_from(["", "tokenizer"]),
    "extra_body": _LONG.map(lambda text: {"a": text}),
    "headers": st.from_regex(r"[a-z]{1,9}", fullmatch=True).map(lambda text: {"x-a": text}),
    "query": _LONG.map(lambda text: {"a": text}),
    "seed": st.integers(0, 9),
}


def test_no_option_of_an_endpoint_is_forgotten() -> None:
    assert {*_OPTIONS} | {*_EXEMPT[EndpointOptions]} == {*EndpointOptions.model_fields}


@pytest.mark.parametrize("name", _OPTIONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(data=st.data())
def test_models_at_endpoints_that_may_answer_otherwise_have_other_fingerprints(
    name: str, data: st.DataObject, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    values = [data.draw(_OPTIONS[name]) for _ in range(2)]
    prints: list[str] = []
    for value in values:
        given = str(tmp_path) if value == "tokenizer" else value
        options = {"base_url": "http://127.0.0.1:1/v1", name: given}
        entry = ModelEntry("m", "openai", path="m", options=options)
        prints.append(endpoint_fingerprint(entry.name, read_endpoint(entry), Capabilities()))
    assert (prints[0] == prints[1]) == (values[0] == values[1])
