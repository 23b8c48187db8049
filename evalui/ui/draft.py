"""What the Evaluate form says, read into a run specification, and back again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from evalui.data.base import Layout
from evalui.errors import Sentence, SpecError
from evalui.modes import MODES
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.types import Pattern

# Every named field of a tab, as the browser sends it.
Form = dict[str, str | list[str]]

PATTERNS: Mapping[str, Pattern] = {name: name for name in get_args(Pattern)}
OWN = "own"  # the template list's last entry: the text fields below it
_CHAT: Mapping[str, bool | None] = {"": None, "yes": True, "no": False}
_OWN_FIELDS = ("name", "language", "question", "cloze", "answer", "unconditional")


@dataclass(frozen=True, slots=True)
class Draft:
    """A run as its form stands. `template` is a name, "" for one by question, or own text."""

    uploads: tuple[str, ...]
    models: tuple[str, ...]
    modes: tuple[str, ...]
    layout: Layout = field(default_factory=Layout)
    skip_faulty: bool = True
    shots: tuple[int, ...] = (0,)
    pattern: Pattern = "circular"
    template: str | dict[str, Any] = ""
    chat: bool | None = None
    max_tokens: int = 64
    limit: int | None = None
    seed: int = 0
    name: str = ""

    def mode_specs(self) -> list[ModeSpec]:
        """Each mode with each number of worked examples."""
        return [
            ModeSpec(
                mode=mode,
                shots=shots,
                pattern=self.pattern if MODES[mode].shows_options else "origin",
                template=self.template,
                chat=self.chat,
                max_tokens=self.max_tokens,
            )
            for mode in self.modes
            for shots in self.shots
        ]

    def dataset_spec(self, paths: Sequence[str], *, name: str, sha256: str) -> DatasetSpec:
        """One upload, read as the form says."""
        return DatasetSpec(
            path=list(paths),
            name=name,
            sha256=sha256,
            skip_faulty=self.skip_faulty,
            options=list(self.layout.options),
            answer=self.layout.answer,
            answer_key=self.layout.answer_key,
            question=self.layout.question,
        )

    def run_spec(self, datasets: Sequence[DatasetSpec]) -> RunSpec:
        """The whole run."""
        return RunSpec(
            name=self.name,
            datasets=list(datasets),
            models=list(self.models),
            modes=self.mode_specs(),
            seed=self.seed,
            limit=self.limit,
        )


def read_draft(form: Form) -> Draft:
    """The form's fields as a draft.

    Raises:
        SpecError: a number field holds no number, or the models or modes are none.
    """
    return Draft(
        uploads=many(form, "uploads"),
        models=many(form, "models"),
        modes=tuple(mode for mode in many(form, "modes") if mode in MODES),
        layout=read_layout(form),
        skip_faulty=one(form, "skip_faulty") == "yes",
        shots=_shots(one(form, "shots")),
        pattern=PATTERNS.get(one(form, "pattern"), "circular"),
        template=_template(form),
        chat=_CHAT.get(one(form, "chat")),
        max_tokens=_number(one(form, "max_tokens"), Sentence("Longest reply", "set.max_tokens"))
        or 64,
        limit=_number(one(form, "limit"), Sentence("Questions", "set.limit")) or None,
        seed=_number(one(form, "seed"), Sentence("Seed", "set.seed")) or 0,
        name=one(form, "name").strip()[:120],
    )


def read_layout(form: Form) -> Layout:
    """The column names of the form; empty fields keep the format's own."""
    options = re.split(r"[,，;；\n]", one(form, "col_options"))  # a name may hold blanks
    return Layout(
        options=tuple(name.strip() for name in options if name.strip()),
        answer=one(form, "col_answer").strip(),
        answer_key=one(form, "col_key") or "letter",
        question=one(form, "col_question").strip(),
    )


def form_of(spec: RunSpec, uploads: Sequence[str]) -> Form:
    """The form that makes `spec` again, for repeating a run with changes."""
    first, dataset = spec.modes[0], spec.datasets[0]
    form: Form = {
        "uploads": list(uploads),
        "models": list(spec.models),
        "modes": list(dict.fromkeys(mode.mode for mode in spec.modes)),
        "shots": ", ".join(str(n) for n in dict.fromkeys(mode.shots for mode in spec.modes)),
        "pattern": next(
            (mode.pattern for mode in spec.modes if mode.pattern != "origin"), "origin"
        ),
        "chat": {None: "", True: "yes", False: "no"}[first.chat],
        "max_tokens": str(first.max_tokens),
        "limit": str(spec.limit or ""),
        "seed": str(spec.seed),
        "name": spec.name,
        "skip_faulty": "yes" if dataset.skip_faulty else "",
        "col_options": ", ".join(dataset.options),
        "col_answer": dataset.answer,
        "col_key": dataset.answer_key,
        "col_question": dataset.question,
    }
    if isinstance(first.template, str):
        return form | {"template": first.template}
    own = {f"own_{name}": str(first.template.get(name, "")) for name in _OWN_FIELDS}
    return form | {"template": OWN} | own


def one(form: Form, name: str) -> str:
    """A single field, "" if it is not there."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def many(form: Form, name: str) -> tuple[str, ...]:
    """A field of several values, () if it is not there."""
    value = form.get(name, ())
    return (value,) if isinstance(value, str) else tuple(value)


def _template(form: Form) -> str | dict[str, Any]:
    if one(form, "template") != OWN:
        return one(form, "template")
    # Browsers send line breaks of text areas as they show them.
    return {name: one(form, f"own_{name}").replace("\r\n", "\n") for name in _OWN_FIELDS}


def _shots(text: str) -> tuple[int, ...]:
    parts = [part for part in re.split(r"[,，;；\s]+", text.strip()) if part]
    if not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        raise SpecError(
            "Worked examples: “{text}” is not a number, nor several with commas.",
            "shots-no-number",
            text=text,
        )
    return tuple(dict.fromkeys(int(part) for part in parts)) or (0,)


def _number(text: str, field: Sentence) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise SpecError(
            "{field}: “{text}” is not a whole number.", "no-number", field=field, text=text
        )
    return int(text)
