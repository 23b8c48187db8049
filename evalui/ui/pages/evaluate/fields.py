"""What is chosen and typed for a run: the fields of its form, and how Gradio shows them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import gradio as gr

from evalui.benchmarks.groups import published_lists
from evalui.generation import GenerationSettings, declared_settings
from evalui.messages import Messages
from evalui.modes.own_settings import all_settings
from evalui.modes.prompts.rubrics import RUBRICS, VERDICT_FORMATS
from evalui.modes.prompts.templates import TEMPLATES
from evalui.runs.contest import OutputChoice, PairPlan
from evalui.types import ConflictRule, Pattern, PresentationOrders, Spellings
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.pages.evaluate.spec import BOTH, CUSTOM, JUDGING, LABELS

_LANGUAGES = {"zh": "中文", "en": "English"}
_CLASSES = {
    "area": "field wide",
    "one": "wide",
    "ticks": "wide",
    "list": "field",
    "text": "field",
}
_TEMPLATE_PARTS = ("question", "cloze", "answer", "unconditional")


@dataclass(frozen=True, slots=True)
class Field:
    """A field and the value that it holds.

    `words` are those of the values to choose from. A `quiet` one changes nothing else on the page.
    """

    name: str
    label: str
    value: str | Sequence[str]
    kind: Literal["text", "area", "list", "one", "ticks"] = "text"
    hint: str = ""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    placeholder: str = ""
    lines: int = 1
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """Makes the fields of a form, which has their usual values from then on."""

    t: Messages
    form: Form

    def text(
        self,
        name: str,
        label: str = "",
        hint: str = "",
        *,
        lines: int = 1,
        usual: str = "",
        placeholder: str = "",
        quiet: bool = False,
    ) -> Field:
        """A text, of several lines if told; numbers are texts, too, which are read where used."""
        self.form.setdefault(name, usual)
        value = field_value(self.form, name)
        kind = "area" if lines > 1 else "text"
        label = label or self.t(LABELS[name])
        return Field(
            name, label, value, kind, hint, placeholder=placeholder, lines=lines, quiet=quiet
        )

    def pick(
        self,
        name: str,
        words: Mapping[str, str],
        label: str = "",
        hint: str = "",
        *,
        usual: str = "",
    ) -> Field:
        """One of several words: the usual one, else the first, unless the form has another."""
        self.form.setdefault(name, usual or next(iter(words)))
        value = field_value(self.form, name)
        offered = words if value in words else {**words, value: value}
        return Field(name, label or self.t(LABELS[name]), value, "list", hint, offered)

    def ticks(self, name: str, words: Mapping[str, str], label: str = "") -> Field:
        """Any of several words."""
        label = label or self.t(LABELS[name])
        return Field(name, label, field_values(self.form, name), "ticks", words=words)

    # What of the questions is asked, and how -----------------------------------------------------

    def asking(self, *, choice: bool) -> list[Field]:
        """How the questions are put; `choice`: some have options."""
        t, form = self.t, self.form
        templates = {"": t("set.template_auto")} | {name: name for name in TEMPLATES}
        templates[CUSTOM] = t("set.template_own")
        chats = {"": "auto", "yes": "yes", "no": "no"}
        spellings = {name: t(f"set.spellings_{name}") for name in get_args(Spellings)}
        per = "dataset" if field_value(form, "limit_per") == "dataset" else "subject"
        limit_hint = t(f"set.limit_hint_{per}")
        fields = [
            self.text("limit", hint=limit_hint, placeholder=t("set.all")),
            self.pick("limit_per", {one: t(f"set.per_{one}") for one in ("subject", "dataset")}),
            self.pick("chat", {name: t(f"set.chat_{word}") for name, word in chats.items()}),
        ]
        if choice:
            shots = self.text("shots", hint=t("set.shots_hint"), usual="0")
            letters = self.pick("spellings", spellings, hint=t("set.spellings_hint"))
            groups = self.pick("summary_groups", self._groups())
            fields = [shots, *fields, self.pick("template", templates), letters, groups]
        # Chosen in a specification; a run that is repeated keeps them.
        return [*fields, self.text("metrics")] if field_value(form, "metrics") else fields

    def orders(self) -> Field:
        """In which orders the options are shown."""
        t = self.t
        names: Sequence[str] = get_args(Pattern)
        words = {name: f"{t(f'orders.{name}')} · {t(f'orders.{name}_about')}" for name in names}
        chosen = field_value(self.form, "pattern") or "circular"
        return Field("pattern", t(LABELS["pattern"]), chosen, "one", words=words)

    def own_template(self) -> list[Field]:
        """The fields of a prompt of the user's own, filled from a shipped one."""
        t = self.t
        base = TEMPLATES["plain-zh.1" if t.language == "zh" else "plain-en.1"]
        parts = [
            self.text(f"template.{name}", t(f"own.{name}"), lines=5, usual=getattr(base, name))
            for name in _TEMPLATE_PARTS
        ]
        return [*self._named("template", "my-prompt.1"), *parts]

    def writing(self, names: Collection[str], *, beginning: str = "") -> list[Field]:
        """How replies are written: a field for each declared setting of these names."""
        t = self.t
        declared = declared_settings(GenerationSettings if beginning else all_settings())
        fields: list[Field] = []
        for each in declared.values():
            if each.name not in names or (beginning and not each.setting.of_judges):
                continue
            name = beginning + each.name
            label, hint = t.translate(each.label), t.translate(each.help)
            stated = f"generation.{each.name}_usual"
            unstated = t(stated if stated in t else "generation.model")
            if each.kind == "choice":
                words = {
                    one: t(f"generation.{each.name}_{one}") if one else unstated
                    for one in each.choices
                }
                words |= {BOTH: t("generation.pictures_both")} if name == "pictures" else {}
                fields.append(self.pick(name, words, label, hint))
            elif each.kind in ("text", "lines"):
                fields.append(self.text(name, label, hint, lines=3))
            else:
                shown = unstated if each.default is None else f"{each.default:g}"
                fields.append(self.text(name, label, hint, placeholder=shown))
        return fields

    # Judges --------------------------------------------------------------------------------------

    def judging(
        self,
        rubrics: Mapping[str, str],
        weights: Mapping[str, str],
        contestants: Iterable[str],
        *,
        single: bool,
    ) -> list[Field]:
        """On what form, in which order and over which pairs judges decide.

        Rating answers one by one (`single`) has few settings.
        """
        t, names = self.t, {name: name for name in contestants}
        pairs = field_value(self.form, "judging.pairs") or "all"
        first = t("judge.baseline" if pairs == "baseline" else "judge.first_list")
        lists = [self.ticks("judging.baseline", names, first)] if pairs != "all" else []
        lists += [self.ticks("judging.against", names)] if pairs == "matrix" else []
        duels = [
            self._judge_pick("orders", get_args(PresentationOrders), "double"),
            self._judge_pick("pairs", get_args(PairPlan), "all"),
            *lists,
            self._judge_pick("conflict", get_args(ConflictRule), "tie"),
            self.pick("judging.strong", weights, usual="1"),
        ]
        sample = t("judge.sample_single" if single else "judge.sample")
        return [
            self.pick("judging.template", rubrics, hint=t("judge.rubric_hint")),
            *([] if single else duels),
            self._judge_pick("output", get_args(OutputChoice), "auto"),
            self.text(
                "judging.sample",
                sample,
                t("judge.sample_hint"),
                placeholder=t("judge.sample_all"),
            ),
        ]

    def own_rubric(self) -> list[Field]:
        """The fields of a rubric of one's own, filled from a shipped one, and a reply to try."""
        t = self.t
        base = RUBRICS["compass-zh.2" if t.language == "zh" else "compass-en.2"]
        forms = {name: t(f"form.{name}") for name in VERDICT_FORMATS}
        template = "judging.template."
        return [
            *self._named("judging.template", "my-rubric.1"),
            self.pick(f"{template}form", forms, t("judge.form"), usual=base.form),
            *(
                self.text(
                    f"{template}{name}", t(f"judge.{name}"), lines=5, usual=getattr(base, name)
                )
                for name in ("instruction", "closing")
            ),
            *(
                self.text(
                    "rubric_try" if name == "try" else f"{template}{name}",
                    t(f"judge.{name}"),
                    t(f"judge.{name}_hint"),
                    lines=1 if name == "pattern" else 5,
                )
                for name in ("criteria", "pattern", "try")
            ),
        ]

    def _groups(self) -> Mapping[str, str]:
        t, own = self.t, field_value(self.form, "summary_groups")
        published = {name: each.title for name, each in published_lists().items()}
        groups = {"": t("set.groups_none")} | published
        return groups if own in groups else groups | {own: t("set.groups_own")}

    def _named(self, prefix: str, name: str) -> list[Field]:
        t = self.t
        return [
            self.text(f"{prefix}.name", t("own.name"), usual=name),
            self.pick(f"{prefix}.language", _LANGUAGES, t("own.language"), usual=t.language),
        ]

    def _judge_pick(self, name: str, options: Iterable[str], usual: str) -> Field:
        t, key = self.t, f"judge.{name}_hint"
        words = {option: t(f"judge.{name}_{option}") for option in options}
        return self.pick(f"{JUDGING}{name}", words, hint=t(key) if key in t else "", usual=usual)


def show_fields(fields: Iterable[Field]) -> None:
    """Show the fields beside each other; what is chosen and typed goes into the form of the tab."""
    shown = [*fields]
    if not shown:
        return
    with gr.Row(elem_classes="fields", key=("fields", shown[0].name)):
        for each in shown:
            _show(each)


def _show(each: Field) -> None:
    words = [(word, value) for value, word in each.words.items()]
    settings: dict[str, Any] = {
        "label": each.label,
        "info": each.hint or None,
        "interactive": True,
        "key": ("field", each.name),
        "preserved_by_key": [],
        "elem_classes": [*_CLASSES[each.kind].split(), *(["quiet"] if each.quiet else [])],
    }
    if each.kind == "list":
        shown = gr.Dropdown(words, value=each.value, **settings)
    elif each.kind == "one":
        shown = gr.Radio(words, value=str(each.value), **settings)
    elif each.kind == "ticks":
        chosen = [value for value in each.value if value in each.words]
        shown = gr.CheckboxGroup(words, value=chosen, **settings)
    else:
        shown = gr.Textbox(
            str(each.value),
            lines=each.lines,
            max_lines=max(each.lines, 1) if each.kind == "text" else 20,
            placeholder=each.placeholder,
            elem_id=f"field.{each.name}",
            **settings,
        )
        return
    keep = f"value => evalui.form.keep({json.dumps(each.name)}, value)"
    shown.input(None, shown, None, js=keep)
