"""The Evaluate page's view of a file: what it is, how healthy it is, what is wrong with it."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.data.base import ANSWER_KEYS, Loaded
from evalui.data.health import Health, Lengths
from evalui.report.numbers import figure, percent, span
from evalui.types import LETTERS, Fault, Sample
from evalui.ui.draft import one
from evalui.ui.figures import size
from evalui.ui.html import Child, Html, div, el, join
from evalui.ui.html import span as inline
from evalui.ui.pane import Form
from evalui.ui.text import Text
from evalui.ui.widgets import (
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

SHOWN_FAULTS = 50
_SHOWN_SAMPLES, _SHOWN_BESIDE = 10, 3
_SHOWN_SUBJECTS = 60
_QUOTED = re.compile(r"“[^”]*”")


def file_card(
    t: Text, loaded: Loaded, health: Health, *, upload: str, n_bytes: int, form: Form
) -> Html:
    """Name, kind, counts; preview and column names below."""
    dataset = loaded.dataset
    subjects = t.count("file.subjects", len(health.subjects)) if len(health.subjects) > 1 else ""
    languages = t("list.comma").join(t(f"language.{name}") for name in health.languages)
    options = t("file.options", n="/".join(str(n) for n in sorted(health.options_per_question)))
    facts = [
        t.count("file.rows", loaded.n_rows),
        t("file.ready", n=f"{len(dataset.samples):,}"),
        t.count("file.shots", len(dataset.shots)) if dataset.shots else t("file.no_shots"),
        subjects,
        languages,
        options,
        size(n_bytes),
    ]
    return card(
        el("input", type="hidden", name="uploads", value=upload, data_many=True),
        div(
            div(
                el("b", dataset.name),
                " ",
                inline(t(f"kind.{dataset.kind}"), cls="chip on"),
                div(" · ".join(fact for fact in facts if fact), cls="meta gap-s"),
            ),
            button(t("file.remove"), "remove", data_upload=upload),
            cls="head",
        ),
        *(
            div(note("na", t(f"note.{told.rule}", **told.params)), cls="gap-s")
            for told in loaded.notes
        ),
        _folded(t("file.preview"), _preview(t, dataset.samples[:_SHOWN_SAMPLES])),
        _columns(t, form),
        cls="file",
    )


def health_card(t: Text, health: Health) -> Html:
    """What can be said of the questions without any model."""
    tell = health.longest_option.low > health.chance
    longest = f"{figure(health.longest_option)} %"
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (
            t("health.longest"),
            status("warn", longest) if tell else longest,
        ),
        (
            t("health.always", letter=health.always_letter.letter),
            f"{figure(health.always_letter.share)} %",
        ),
        (t("health.duplicates"), _count(sum(len(group) - 1 for group in health.duplicates))),
        (t("health.naming"), _count(len(health.naming))),
        (t("health.question_length"), _range(health.question_length)),
        (t("health.option_length"), _range(health.option_length)),
    ]
    return titled(
        t("health.title"),
        definitions(rows),
        div(_balance(t, health), cls="meta gap-s"),
        _letters(health.letters),
        div(
            note(
                "warn",
                el("b", t("health.length_tells")),
                " ",
                t(
                    "health.length_about",
                    share=figure(health.longest_option),
                    span=span(health.longest_option),
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


def faults_card(t: Text, loaded: Loaded, *, upload: str, form: Form) -> Html:
    """Every fault with its place and what was expected; whether to go on is the user's choice."""
    faults = loaded.faults
    if not faults:
        return titled(
            t("faults.none"),
            note("ok", t("faults.none_about")),
            el("h3", t("file.preview"), cls="gap"),
            _preview(t, loaded.dataset.samples[:_SHOWN_BESIDE]),
            cls="f15",
        )
    rows = [_fault(t, fault) for fault in faults[:SHOWN_FAULTS]]
    rest = len(faults) - len(rows)
    heads = [t(f"faults.{name}") for name in ("line", "column", "found", "expected")]
    several = len(loaded.files) > 1
    left_out = len({(fault.file, fault.line) for fault in faults if fault.line})
    agree = el(
        "label",
        el(
            "input",
            type="checkbox",
            name="skip_faulty",
            value="yes",
            checked=one(form, "skip_faulty") == "yes",
        ),
        div(el("h3", t.count("faults.skip", left_out)), div(t("faults.skip_about"), cls="meta")),
        cls="opt",
    )
    return titled(
        t.count("faults.title", left_out),
        el("p", t("faults.about", n=f"{len(loaded.dataset.samples):,}"), cls="dim"),
        table(
            [t("faults.file"), *heads] if several else heads,
            rows if several else [row[1:] for row in rows],
        ),
        el("p", t.count("faults.rest", rest), cls="meta gap-s") if rest > 0 else None,
        div(agree, cls="gap"),
        aside=el(
            "a",
            t("faults.download"),
            href=f"../faults/{upload}.csv?{_layout(form)}&lang={t.language}",
            download=True,
        ),
        cls="f15",
    )


def _layout(form: Form) -> str:
    fields = {name: one(form, name) for name in form if name.startswith("col_")}
    return urlencode({name: value for name, value in fields.items() if value})


def _fault(t: Text, fault: Fault) -> list[Child]:
    # Found and expected are English phrases; a Chinese page keeps what they quote of the file.
    what, found, expected = t(f"fault.{fault.rule}.what"), fault.found, fault.expected
    if t.language == "zh":
        found = "：".join(filter(None, (what, "、".join(_QUOTED.findall(fault.found)))))
        expected = t(f"fault.{fault.rule}.expected")
    return [
        fault.file,
        fault.line or "",
        inline(fault.column, cls="mono"),
        inline(found, title=what),
        expected,
    ]


def _folded(title: str, content: Html) -> Html:
    return el("details", el("summary", title), content, cls="gap-s")


def _preview(t: Text, samples: Sequence[Sample]) -> Html:
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
    text = f"{LETTERS[place]}. {sample.choices[place]}"
    return el("b", text) if place == sample.target else join(text)


def _columns(t: Text, form: Form) -> Html:
    keys = {name: t(f"key.{name}") for name in ANSWER_KEYS}
    fields = [
        field(
            t(f"columns.{name}"),
            el(
                "input",
                type="text",
                name=f"col_{name}",
                value=one(form, f"col_{name}"),
                autocomplete="off",
            ),
            hint=t(f"columns.{name}_hint"),
        )
        for name in ("question", "options", "answer")
    ]
    picker = field(t("columns.key"), select("col_key", keys, one(form, "col_key") or "letter"))
    return el(
        "details",
        el("summary", t("columns.title")),
        div(*fields, picker, cls="fields"),
        cls="gap-s",
    )


def _balance(t: Text, health: Health) -> str:
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


def _subjects(t: Text, health: Health) -> Html | None:
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


def _range(lengths: Lengths) -> str:
    return f"{lengths.shortest:,} – {lengths.median:,.0f} – {lengths.longest:,}"
