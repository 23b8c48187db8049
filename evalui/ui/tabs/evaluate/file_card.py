"""The Evaluate page's view of a file: what it is, how healthy it is, what is wrong with it."""

from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.datasets.base import LoadResult
from evalui.datasets.health import ChoiceHealth
from evalui.datasets.questions.choice import ANSWER_KEYS
from evalui.datasets.reading import KEPT_RULE, LEFT_OUT_RULE, equal_letters
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join
from evalui.report.html import span as inline
from evalui.report.numbers import format_range, format_value, percent
from evalui.types import LETTERS, Dataset, DatasetKind, Fault, Sample
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import fault_text, length_range, size
from evalui.ui.components.widgets import (
    bar,
    button,
    card,
    definitions,
    field,
    note,
    select,
    status,
    table,
    titled,
)
from evalui.ui.tabs.evaluate.open_questions import open_preview

SHOWN_FAULTS = 50
_SHOWN_SAMPLES, _SHOWN_SAMPLES_OF_SEVERAL = 10, 3
_SHOWN_SUBJECTS = 60


def choice_facts(t: Messages, loaded: LoadResult, health: ChoiceHealth) -> list[str]:
    """The facts of a file of multiple-choice questions, for one line."""
    dataset = loaded.dataset
    subjects = t.count("file.subjects", len(health.subjects)) if len(health.subjects) > 1 else ""
    return [
        t("file.ready", n=f"{len(dataset.samples):,}"),
        t.count("file.shots", len(dataset.shots)) if dataset.shots else t("file.no_shots"),
        subjects,
        t("list.comma").join(t(f"language.{name}") for name in health.languages),
        t("file.options", n="/".join(str(n) for n in sorted(health.options_per_question))),
    ]


def file_card(
    t: Messages, loaded: LoadResult, facts: Sequence[str], *, upload: str, n_bytes: int, form: Form
) -> Html:
    """Name, kind, counts; what to read of the file, preview and column names below."""
    dataset = loaded.dataset
    parts = [t.count("file.rows", loaded.n_rows), *facts, size(n_bytes)]
    return card(
        el("input", type="hidden", name="uploads", value=upload, data_many=True),
        div(
            div(
                el("b", dataset.name),
                " ",
                inline(t(f"kind.{dataset.kind}"), cls="chip on"),
                div(" · ".join(fact for fact in parts if fact), cls="meta gap-s"),
            ),
            button(t("file.remove"), "remove", data_upload=upload),
            cls="head",
        ),
        *(
            div(
                note(
                    "warn" if parts.rule == KEPT_RULE else "na",
                    t(f"note.{parts.rule}", **parts.params),
                ),
                cls="gap-s",
            )
            for parts in loaded.notes
        ),
        _layout_pickers(t, loaded, upload=upload, form=form),
        _collapsible(t("file.preview"), _preview(t, dataset, _SHOWN_SAMPLES)),
        _columns(t, form, dataset.kind),
        cls="file",
    )


def health_card(t: Messages, health: ChoiceHealth) -> Html:
    """What can be known of the questions without any model."""
    tell = health.longest_option.low > health.chance
    longest = f"{format_value(health.longest_option)} %"
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (
            t("health.longest"),
            status("warn", longest) if tell else longest,
        ),
        (
            t("health.always", letter=health.always_letter.letter),
            f"{format_value(health.always_letter.share)} %",
        ),
        (t("health.duplicates"), _count(sum(len(group) - 1 for group in health.duplicates))),
        (t("health.naming"), _count(len(health.refers_to_other_options))),
        (t("health.duplicate_options"), _count(len(health.duplicate_options))),
        (t("health.question_length"), length_range(health.question_length)),
        (t("health.option_length"), length_range(health.option_length)),
    ]
    return titled(
        t("health.title"),
        definitions(rows),
        div(_letter_balance(t, health), cls="meta gap-s"),
        _letters(health.letter_counts),
        div(
            note(
                "warn",
                el("b", t("health.length_tells")),
                " ",
                t(
                    "health.length_about",
                    share=format_value(health.longest_option),
                    span=format_range(health.longest_option),
                    chance=percent(health.chance),
                ),
            ),
            cls="gap",
        )
        if tell
        else None,
        _subjects(t, health),
        aside=t("health.aside"),
    )


def faults_card(t: Messages, loaded: LoadResult, *, upload: str, form: Form) -> Html:
    """Every fault with its place and what was expected; whether to go on is the user's choice."""
    faults = loaded.faults
    if not faults:
        return titled(
            t("faults.none"),
            note("ok", t("faults.none_about")),
            el("h3", t("file.preview"), cls="gap"),
            _preview(t, loaded.dataset, _SHOWN_SAMPLES_OF_SEVERAL),
            _duplicates(t, loaded, upload, form),
            cls="f15",
        )
    rows = [_fault(t, fault) for fault in faults[:SHOWN_FAULTS]]
    rest = loaded.n_faults - len(rows)
    heads = [t(f"faults.{name}") for name in ("line", "column", "found", "expected")]
    several = len(loaded.files) > 1
    left_out = loaded.n_unusable_rows
    more = t("faults.rest_counted", n=f"{rest:,}", kept=f"{len(faults):,}")
    agree = _choice(
        form, "skip_faulty", "yes", t.count("faults.skip", left_out), t("faults.skip_about")
    )
    return titled(
        t.count("faults.title", left_out),
        el("p", t("faults.about", n=f"{len(loaded.dataset.samples):,}"), cls="dim"),
        table(
            [t("faults.file"), *heads] if several else heads,
            rows if several else [row[1:] for row in rows],
        ),
        el("p", more if loaded.unlisted else t.count("faults.rest", rest), cls="meta gap-s")
        if rest > 0
        else None,
        div(agree, cls="gap"),
        _duplicates(t, loaded, upload, form),
        aside=el(
            "a",
            t("faults.download"),
            href=f"../faults/{upload}.csv?{_layout(form, upload)}&lang={t.language}",
            download=True,
        ),
        cls="f15",
    )


def _choice(form: Form, name: str, value: str, title: str, about: str) -> Html:
    """A box to tick, and what it means."""
    return el(
        "label",
        el(
            "input",
            type="checkbox",
            name=name,
            value=value,
            checked=field_value(form, name) == value,
        ),
        div(el("h3", title), div(about, cls="meta")),
        cls="opt",
    )


def _duplicates(t: Messages, loaded: LoadResult, upload: str, form: Form) -> Html | None:
    """Whether rows stay whose options share a text; nothing without such rows."""
    counts = [
        int(note_.params["n"]) for note_ in loaded.notes if note_.rule in (KEPT_RULE, LEFT_OUT_RULE)
    ]
    if not counts:
        return None
    title = t.count("faults.duplicates", sum(counts))
    about = t("faults.duplicates_about")
    return div(_choice(form, f"col_duplicates_{upload}", "skip", title, about), cls="gap-s")


def _layout(form: Form, upload: str) -> str:
    fields = {
        name.removesuffix(f"_{upload}"): field_value(form, name)
        for name in form
        if name.startswith("col_")
    }
    return urlencode({name: value for name, value in fields.items() if value})


def _fault(t: Messages, fault: Fault) -> list[Child]:
    actual, expected = fault_text(t, fault)
    return [
        fault.file,
        fault.line or "",
        inline(fault.column, cls="mono"),
        inline(actual, title=t(f"fault.{fault.rule}.what")),
        expected,
    ]


def _collapsible(title: str, content: Html) -> Html:
    return el("details", el("summary", title), content, cls="gap-s")


def _layout_pickers(t: Messages, loaded: LoadResult, *, upload: str, form: Form) -> Html | None:
    """Which sheet and which kind of question is read, where there are several."""
    sheet, kind = f"col_sheet_{upload}", f"col_kind_{upload}"
    kinds: dict[str, str] = {name: t(f"kind.{name}") for name in loaded.kinds}
    pickers = [
        field(
            t("columns.sheet"),
            select(sheet, {s: s for s in loaded.sheets}, field_value(form, sheet)),
        )
        if len(loaded.sheets) > 1
        else None,
        field(t("columns.kind"), select(kind, kinds, loaded.dataset.kind))
        if len(kinds) > 1
        else None,
    ]
    return div(*pickers, cls="fields gap-s") if any(pickers) else None


def _preview(t: Messages, dataset: Dataset, n: int) -> Html:
    samples = dataset.samples[:n]
    if dataset.kind != "multiple_choice":
        return open_preview(t, samples)
    rows: list[list[Child]] = [
        [
            inline(sample.id, cls="mono"),
            sample.question,
            join(*(div(_option(sample, place)) for place in range(len(sample.choices)))),
        ]
        for sample in samples
    ]
    return table([t("preview.id"), t("preview.question"), t("preview.options")], rows)


def _option(sample: Sample, place: int) -> Html:
    letter = LETTERS[place]
    text = f"{letter}. {sample.choices[place]}"
    same = "".join(group for group in equal_letters(sample.choices) if letter in group)
    others = "".join(f" = {other}" for other in same if other != letter)
    text_ = el("b", text) if place == sample.target else join(text)
    return join(text_, inline(others, cls="warn")) if others else text_


def _columns(t: Messages, form: Form, kind: DatasetKind) -> Html:
    choice = kind == "multiple_choice"
    keys = {name: t(f"key.{name}") for name in ANSWER_KEYS}
    words = {
        "question": "question",
        "options": "options",
        "answer": "answer" if choice else "reference",
    }
    fields = [
        field(
            t(f"columns.{word}"),
            el(
                "input",
                type="text",
                name=f"col_{name}",
                value=field_value(form, f"col_{name}"),
                autocomplete="off",
            ),
            hint=t(f"columns.{word}_hint"),
        )
        for name, word in words.items()
        if choice or name != "options"
    ]
    picker = field(
        t("columns.key"), select("col_key", keys, field_value(form, "col_key") or "letter")
    )
    return el(
        "details",
        el("summary", t("columns.title")),
        div(*fields, picker if choice else None, cls="fields"),
        cls="gap-s",
    )


def _letter_balance(t: Messages, health: ChoiceHealth) -> str:
    if health.letters_p is None:
        return t("health.letters")
    p = f"{health.letters_p:.2f}".lstrip("0") if health.letters_p >= 0.01 else "< .01"
    sign = "" if p.startswith("<") else "= "
    key = "health.balanced" if health.letters_p >= 0.05 else "health.unbalanced"
    return t(key, p=sign + p)


def _letters(counts: Sequence[int]) -> Html:
    most = max(counts, default=0) or 1
    rows = [
        div(el("b", LETTERS[place]), bar(count / most), inline(f"{count:,}", cls="dim r"))
        for place, count in enumerate(counts)
    ]
    return div(*rows, cls="letters")


def _subjects(t: Messages, health: ChoiceHealth) -> Html | None:
    if len(health.subjects) < 2:
        return None
    names = [f"{name} {count}" for name, count in list(health.subjects.items())[:_SHOWN_SUBJECTS]]
    return el(
        "details",
        el("summary", t.count("file.subjects", len(health.subjects))),
        el("p", " · ".join(names), cls="dim"),
        cls="gap-s",
    )


def _count(number: int) -> Html:
    return status("warn" if number else "ok", f"{number:,}")
