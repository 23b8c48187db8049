"""How the figures of a cell were made, in sacreBLEU's manner, and the names of a run's modes."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalui.generation import SETTINGS, DeclaredSetting, write_number
from evalui.modes import MODES, NamesPrompts, traits_of
from evalui.modes.own_settings import settings_taken
from evalui.modes.prompts.rubrics import RUBRICS, Rubric, choose_rubric
from evalui.modes.prompts.templates import (
    DECISION_PROMPT,
    TEMPLATES,
    Template,
    choose_template,
)
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import LimitPer, ModeSpec
from evalui.types import Dataset, Generate, LogSource, Pattern, Request, Sample, Variant
from evalui.version import __version__

_MOVED = "+naming"  # questions whose options name other options are moved, too

_MAX_SHOWN = 80  # characters of a table in a signature


def signature(
    dataset: Dataset,
    samples: Sequence[Sample],
    mode: ModeSpec,
    *,
    model: str,
    seed: int,
    limit: int | None,
    limit_per: LimitPer = "dataset",
    contestants: Sequence[str] = (),
    answers: Mapping[str, tuple[str, ...]] | None = None,
    extra_body: object = None,
    requests: Sequence[Request] = (),
    packages: Iterable[str] = (),
    cluster: str = "",
) -> str:
    """How the figures of one cell are made, in sacreBLEU's manner; `samples` are those of the cell.

    For a judge's cell, `model` is the judge and `contestants` are those it compares; `answers`
    are those that were brought along, and then nothing is stated of prompts. `extra_body` are the
    fields that the model's entry adds to each request. `requests` are those of one question, which
    say how texts are sampled; `packages` are the plug-ins that make the score, with their versions.
    `cluster` is the column by which ranges and tests are clustered.

    What stands at its default and cannot change a score is left out. The dataset's digest
    distinguishes its column settings too. `mode.chat` is decided.
    """
    prompted = answers is None
    writes = "max_tokens" in settings_taken(mode.mode, mode.spellings)
    parts = [
        f"{dataset.name}@{dataset.sha256[:8]}",
        f"n:{len(samples)}",
        f"limit:{limit}{'/subject' * (limit_per == 'subject')}" if limit is not None else "",
        _duplicates(dataset, samples, mode),
        f"cluster:{cluster.replace('|', '/')}" if cluster else "",
        f"mode:{mode.mode}",
        f"prompt:{prompts}" if (prompts := _prompts(mode, samples)) else "",
        f"rule:{_rule(mode)}",
        f"spell:{mode.spellings}" if traits_of(mode.mode).spellings else "",
        f"shots:{mode.shots}" if prompted and mode.judging is None else "",
        f"answers:{_digest(repr(sorted(answers.items())))}" if answers is not None else "",
        f"contestants:{'+'.join(contestants)}" if contestants else "",
        *_order_parts(mode, samples),
        f"chat:{'yes' if mode.chat else 'no'}" if prompted else "",
        _stated("max_tokens", mode.max_tokens) if prompted and writes else "",
        _stated("temperature", _temperatures(mode, requests)) if prompted else "",
        *_generation_parts(mode),
        _stated("seed", seed),
        f"{'model' if mode.judging is None else 'judge'}:{model}",
        f"body:{_shown(extra_body)}" if extra_body else "",
        f"plugins:{'+'.join(plugins)}" if (plugins := sorted({*packages} - {""})) else "",
        f"evalui:{__version__}",
    ]
    return "|".join(part for part in parts if part)


def imported_signature(
    dataset: str,
    questions: int,
    mode: ModeSpec,
    log: LogSource,
    *,
    model: str,
    task_version: str,
    shots: int | None,
    n_options: Sequence[int],
) -> str:
    """How the figures of answers are made that another harness has collected.

    `dataset` has its digest behind it; `n_options` are the numbers of options of its questions.
    What the log does not hold is left out: the seed, the temperature, how the prompt was made.
    """
    task = f"@{task_version}" if task_version else ""
    moved = "-".join(map(str, n_options)) + _MOVED if mode.pattern != "origin" else ""
    parts = [
        dataset,
        f"n:{questions}",
        f"mode:{mode.mode}",
        f"prompt:{log.harness}{task}",
        f"rule:{_rule(mode)}",
        f"spell:{mode.spellings}" if traits_of(mode.mode).spellings else "",
        f"shots:{shots}" if shots is not None else "",
        f"orders:{mode.pattern}{moved}" if mode.gives != "answers" else "",
        f"repeat:{log.repeat}" if log.repeat > 1 else "",
        f"harness:{log.harness}@{log.version or '?'}",
        f"model:{model}",
        f"evalui:{__version__}",
    ]
    # A name with a bar would look like another part.
    return "|".join(part.replace("|", "/") for part in parts if part)


_ALWAYS = ("max_tokens", "temperature", "seed")  # stated where they are as usual, too


def _stated(name: str, value: object) -> str:
    """The part of a setting that is always stated."""
    return f"{SETTINGS[name].setting.in_signature}:{value}"


def _generation_parts(mode: ModeSpec) -> Iterator[str]:
    """How replies are written, where it is not as usual, but for what is always stated."""
    for name, value in mode.given.items():
        if name not in _ALWAYS:
            yield f"{mode.declared[name].setting.in_signature}:{_shown(value, digits=32)}"


def _temperatures(mode: ModeSpec, requests: Sequence[Request]) -> str:
    """At which temperatures replies are sampled; 0 where nothing is.

    `requests` are those of one question. That of the run is always among them: the mode may set
    one of its own for that question alone.
    """
    sampled = {each.temperature for each in requests if isinstance(each, Generate)}
    sampled |= {mode.temperature} if "temperature" in mode.given else set()
    return "+".join(map(write_number, sorted(sampled))) or "0"


def labels(modes: Sequence[ModeSpec]) -> tuple[str, ...]:
    """A name for each mode of a run: the mode, then what distinguishes it from others of that mode.

    >>> labels([ModeSpec(mode="cloze"), ModeSpec(mode="cloze", shots=5)])
    ('cloze 0-shot', 'cloze 5-shot')
    """
    return tuple(
        _label(mode, [other for other in modes if other.mode == mode.mode]) for mode in modes
    )


def _label(mode: ModeSpec, same_mode: Sequence[ModeSpec]) -> str:
    own = _traits(mode)
    distinct = [
        trait for name, trait in own.items() if len({_traits(r)[name] for r in same_mode}) > 1
    ]
    return " ".join(filter(None, (mode.mode, *distinct)))


def _traits(mode: ModeSpec) -> dict[str, str]:
    template = mode.template if isinstance(mode.template, str) else str(mode.template.get("name"))
    chat: dict[bool | None, str] = {None: "auto", True: "chat", False: "plain"}
    return {
        "shots": f"{mode.shots}-shot",
        "pattern": mode.pattern,
        "template": template or "auto",
        "chat": chat[mode.chat],
        "spellings": mode.spellings,
        **{name: _generation_trait(mode, each) for name, each in mode.declared.items()},
    }


def _generation_trait(mode: ModeSpec, declared: DeclaredSetting) -> str:
    value = getattr(mode, declared.name, declared.default)
    if value == "" and declared.kind == "choice":  # which the others of a run tell by themselves
        return ""
    return f"{declared.setting.in_signature}:{'-' if value is None else _shown(value)}"


def _rule(mode: ModeSpec) -> str:
    single = mode.judging is not None and mode.judging.rates_single
    headline = "rating" if single else MODES[mode.mode].headline
    return traits_of(mode.mode).rule_versions.get(headline, headline)


def _order_parts(mode: ModeSpec, samples: Iterable[Sample]) -> tuple[str, ...]:
    """In which orders options or answers are shown; nothing where a model only writes."""
    if judging := mode.judging:
        pairs = "" if judging.rates_single else judging.pairs
        chosen = "+".join(judging.baseline) + (
            f"x{'+'.join(judging.against)}" if judging.against else ""
        )
        parts = [
            f"orders:{judging.orders}" if pairs else "",
            f"pairs:{pairs}{f'({chosen})' if chosen else ''}" if pairs else "",
            f"sample:{judging.sample}" if judging.sample else "",
            f"conflict:{judging.conflict}" if pairs else "",
            f"strong:{judging.strong}" if pairs and judging.strong > 1 else "",
            _output_part(judging, samples),
        ]
        return tuple(part for part in parts if part)
    pattern = mode.pattern if MODES[mode.mode].shows_options else "origin"
    if mode.gives == "answers" and pattern == "origin":
        return ()
    return (f"orders:{_orders(pattern, samples)}",)


def _output_part(judging: JudgingSpec, samples: Iterable[Sample]) -> str:
    """What verdicts are given in; nothing where the rubrics leave no choice but text."""
    choices = {output for rubric in judge_rubrics(judging, samples) for output in rubric.outputs}
    return "" if choices <= {"text"} else f"output:{judging.decided_output}"


def _duplicates(dataset: Dataset, samples: Iterable[Sample], mode: ModeSpec) -> str:
    """How many questions and worked examples have options of the same text; "" if none has."""
    shots = dataset.shots if mode.shots else ()
    n = sum(sample.duplicate_options for sample in (*samples, *shots))
    return f"duplicate-options:{n}" if n else ""


def _prompts(mode: ModeSpec, samples: Sequence[Sample]) -> str:
    if mode.recorded:
        return "recorded"
    if judging := mode.judging:
        rubrics = judge_rubrics(judging, samples)
        joined = "+".join(rubric.name for rubric in rubrics) or "auto"
        own = [rubric for rubric in rubrics if rubric.name not in RUBRICS]
        return f"{joined}@{_digest(own[0].identity)}" if own else joined
    if mode.spellings == "decision" and traits_of(mode.mode).spellings:
        return DECISION_PROMPT  # no template is used
    scorer, template = MODES[mode.mode], mode.read_template()
    if isinstance(scorer, NamesPrompts):
        return scorer.prompt_names(samples, template, chat=bool(mode.chat))
    if mode.gives == "answers" and template is None:
        return ""  # its package writes the prompt, and is signed
    return _template_names(template, samples)


def _template_names(template: Template | None, samples: Iterable[Sample]) -> str:
    if template is None:
        return "+".join(sorted({choose_template(sample).name for sample in samples})) or "auto"
    if template.name in TEMPLATES:
        return template.name
    # A name can be used again for another text, so the text itself counts too.
    return f"{template.name}@{_digest(repr(template))}"


def _orders(pattern: Pattern, samples: Iterable[Sample]) -> str:
    if pattern == "origin":
        return "origin"
    every = list(samples)
    counts = sorted({len(sample.choices) for sample in every})
    # Earlier versions asked questions whose options name other options as written only.
    marked = _MOVED if any(sample.fixed_reason for sample in every) else ""
    return pattern + "-".join(str(count) for count in counts) + marked


def is_shown_in(sample: Sample, variant: Variant, signature: str) -> bool:
    """Whether the cell of a signature shows a question in an order of its pattern.

    Cells of earlier versions show one whose options name other options as written only.
    """
    return variant.is_origin or not sample.fixed_reason or f"{_MOVED}|" in f"{signature}|"


def _shown(table: object, *, digits: int = 8) -> str:
    """A table as short JSON; one that is long, or would look like several parts, as a digest."""
    text = json.dumps(table, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    short = len(text) <= _MAX_SHOWN and "|" not in text
    return text if short else f"@{hashlib.sha256(text.encode()).hexdigest()[:digits]}"


def judge_rubrics(judging: JudgingSpec, samples: Iterable[Sample]) -> list[Rubric]:
    """The rubrics on which these samples are judged, each once, by name."""
    rubric, version = judging.read_rubric(), judging.rubric_version
    if rubric:
        return [rubric]
    chosen = (choose_rubric(sample, version=version) for sample in samples)
    return sorted(set(chosen), key=lambda each: each.name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
