"""Measure the demo models on the demo questions, with the product's own parts.

    OMP_NUM_THREADS=1 python assets/models/evaluate.py [MODEL_FOLDER ...]

prints the tables of README.md. What is asked, how, and what counts is all decided by evalui: its
reader, its modes and templates, its transformers backend, its circular score.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalui.datasets import load
from evalui.models.base import Model, ModelEntry
from evalui.models.catalog import open_model
from evalui.modes import MODES
from evalui.modes.base import ModeSettings
from evalui.modes.prompts.templates import TEMPLATES
from evalui.replies import contains_han
from evalui.scoring.choice.circular import circular_metrics, variants
from evalui.types import Dataset, Language, Pattern, Sample, Trial, Variant

HERE = Path(__file__).parent
DEMO = HERE.parent / "samples" / "demo"
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking: which template, in a conversation or not, after how many examples."""

    template: str
    chat: bool
    shots: int

    def __str__(self) -> str:
        """As a table row begins."""
        return f"{self.template} | {'chat' if self.chat else 'plain'} | {self.shots}"


def main() -> None:
    """Print both tables for each model folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="*", type=Path, default=[HERE / "demo-early", HERE / "demo-late"]
    )
    dataset = load([DEMO]).dataset
    for folder in parser.parse_args().folders:
        model = open_model(ModelEntry(folder.name, "transformers", str(folder.resolve())))
        print(f"\n### {folder.name}\n")
        for table in (letters, texts, by_subject):
            print("\n".join(table(model, dataset)) + "\n", flush=True)
        model.close()


def letters(model: Model, dataset: Dataset) -> Iterator[str]:
    """Multiple choice by letter, in all circular orders."""
    yield "| questions | template | form | shots | origin | circular | perf | A B C D | mass |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for language in LANGUAGES:
        plain = f"plain-{language}.1"
        asked = [Way(plain, chat, shots) for chat in (False, True) for shots in (0, 5)]
        for way in (*asked, Way("ceval-zh.1", False, 0), Way("ceval-zh.1", False, 5)):
            trials = ask(model, dataset, "multiple_choice", "circular", way, language)
            figures = _circular(trials)
            chosen = Counter(trial.choice for trial in trials)
            shares = " ".join(f"{chosen[slot] / len(trials):.2f}" for slot in range(4))
            mass = sum(trial.mass or 0 for trial in trials) / len(trials)
            yield f"| {language} | {way} | {' | '.join(figures)} | {shares} | {mass:.2f} |"


def texts(model: Model, dataset: Dataset) -> Iterator[str]:
    """Cloze: the option's own text, raw and per token."""
    yield "| questions | template | form | shots | raw | per token | less the unconditional |"
    yield "|---|---|---|---|---|---|---|"
    for language in LANGUAGES:
        plain = f"plain-{language}.1"
        for way in (Way(plain, False, 0), Way(plain, False, 5), Way(plain, True, 0)):
            trials = ask(model, dataset, "cloze", "origin", way, language)
            shares = [
                sum(trial.readings[name].credit for trial in trials) / len(trials)
                for name in ("raw", "ln_token", "un")
            ]
            yield f"| {language} | {way} | {' | '.join(f'{share:.2f}' for share in shares)} |"


def by_subject(model: Model, dataset: Dataset) -> Iterator[str]:
    """Circular accuracy and cloze of each subject without examples."""
    yield "| subject | origin | circular | perf | cloze |"
    yield "|---|---|---|---|---|"
    for subject in dict.fromkeys(sample.subject for sample in dataset.samples):
        language: Language = "zh" if subject.endswith("_zh") else "en"
        way = Way(f"plain-{language}.1", chat=False, shots=0)
        chosen = ask(model, dataset, "multiple_choice", "circular", way, language, subject)
        cloze = ask(model, dataset, "cloze", "origin", way, language, subject)
        right = sum(trial.reading.credit for trial in cloze) / len(cloze)
        yield f"| {subject} | {' | '.join(_circular(chosen))} | {right:.2f} |"


def ask(
    model: Model,
    dataset: Dataset,
    mode_name: str,
    pattern: Pattern,
    way: Way,
    language: Language,
    subject: str = "",
) -> list[Trial]:
    """Every trial of the questions in a language, of one subject or of all."""
    mode = MODES[mode_name]
    shots = {name: rows[: way.shots] for name, rows in _shots(dataset).items()}
    setting = ModeSettings(shots=shots, template=TEMPLATES[way.template], chat=way.chat)
    work: list[tuple[Sample, Variant]] = [
        (sample, variant)
        for sample in dataset.samples
        if contains_han(sample.question) == (language == "zh") and subject in ("", sample.subject)
        for variant in variants(len(sample.choices), pattern)
    ]
    plans = [mode.plan(sample, variant, setting) for sample, variant in work]
    requests = [request for plan in plans for request in plan]
    responses = dict(model.answer(requests))
    replies = iter(responses[i] for i in range(len(requests)))
    return [
        mode.grade(sample, variant, [next(replies) for _ in plan], setting)
        for (sample, variant), plan in zip(work, plans, strict=True)
    ]


def _shots(dataset: Dataset) -> Mapping[str, tuple[Sample, ...]]:
    subjects = {sample.subject for sample in dataset.shots}
    return {
        name: tuple(sample for sample in dataset.shots if sample.subject == name)
        for name in subjects
    }


def _circular(trials: Sequence[Trial]) -> list[str]:
    values = circular_metrics(trials, "circular").values
    names = ("acc_origin", "acc_circular", "perf_circular")
    return [f"{values[name] / 100:.2f}" for name in names]


if __name__ == "__main__":
    main()
