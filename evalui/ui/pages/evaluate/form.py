"""What is chosen for a run, as Gradio's inputs: one for each field of the form.

A field belongs to a group; what is in a group that is not shown is no part of the form.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from evalui.benchmarks.groups import published_lists
from evalui.generation import GenerationSettings, declared_settings
from evalui.messages import Messages
from evalui.modes.own_settings import all_settings
from evalui.modes.prompts.rubrics import RUBRICS, VERDICT_FORMATS
from evalui.modes.prompts.templates import TEMPLATES
from evalui.runs.contest import OutputChoice, PairPlan
from evalui.types import ConflictRule, Pattern, PresentationOrders, Spellings
from evalui.ui.components.controls import controls, read_controls
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.listing import markup
from evalui.ui.pages.evaluate.mode_list import PRESETS
from evalui.ui.pages.evaluate.spec import CUSTOM, JUDGING, LABELS

Group = Literal["start", "log", "choices", "options", "open"]
Updates = dict[Block, Any]  # of components, what each shows from now on
_LANGUAGES = {"zh": "中文", "en": "English"}
_SHOWN = "shown"  # the groups that are shown, among what is kept
_TEMPLATE_PARTS = ("question", "cloze", "answer", "unconditional")


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its input, the box it stands in, and its group. `usual` is what it holds at first.

    `kind` is how its value is read: a text, a number, a list of texts, or a box for "yes".
    """

    component: Component
    box: Block
    group: Group
    kind: Literal["text", "number", "texts", "box"]
    usual: str

    def read(self, sent: object) -> str | list[str]:
        """What a browser sends, as a form has it."""
        if self.kind == "texts":
            parts = cast("list[object]", sent) if isinstance(sent, list) else []
            return [part for part in parts if isinstance(part, str)]
        if self.kind == "box":
            return ["yes"] if sent is True else []
        if isinstance(sent, str):
            return sent
        return f"{sent:.12g}" if isinstance(sent, (int, float)) and sent is not True else ""

    def write(self, form: Form, name: str) -> Any:
        """The value that shows what a form has."""
        if self.kind == "texts":
            return list(field_values(form, name))
        if self.kind == "box":
            return "yes" in field_values(form, name)
        text = field_value(form, name) if name in form else self.usual
        return _number(text) if self.kind == "number" else text


class RunFields:
    """The fields; each method makes some of them where Gradio is to draw them."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.fields: dict[str, Field] = {}
        self.lists: dict[str, tuple[gr.HTML, Group]] = {}
        # What no input shows: the files, how they are read, and the groups that are shown.
        self.kept = gr.Textbox("{}", visible="hidden", elem_classes="hidden-field")
        self.texts: list[gr.Textbox | gr.Number] = []  # sent when they are left
        self.picks: list[Component] = []  # sent at once

    @property
    def inputs(self) -> list[Component]:
        """Everything that an event sends."""
        lists = [component for component, _ in self.lists.values()]
        return [self.kept, *lists, *(field.component for field in self.fields.values())]

    def read(self, sent: Sequence[object]) -> Form:
        """The form that these values of the inputs are."""
        values = iter(sent)
        form = read_controls(next(values))
        shown = field_values(form, _SHOWN)
        form.pop(_SHOWN, None)
        for _, group in self.lists.values():
            held = read_controls(next(values))
            if group in shown:
                form |= held
        for name, field in self.fields.items():
            value = field.read(next(values))
            if field.group in shown:
                form[name] = value
        return form

    def shown(self, sent: Sequence[object]) -> Collection[str]:
        """The groups that are shown, as of these values."""
        return field_values(read_controls(sent[0] if sent else ""), _SHOWN)

    def updates(
        self, before: Form, after: Form, groups: Collection[str], shown: Collection[str]
    ) -> Updates:
        """What makes the inputs of these groups hold a form; those that do already stay.

        `before` is the form that they held where a group was `shown`.
        """
        updates: Updates = {}
        for name, field in self.fields.items():
            if field.group not in groups:
                continue
            value = field.write(after, name)
            if field.group not in shown or value != field.write(before, name):
                updates[field.component] = gr.update(value=value)
        lists = {name for name, (_, group) in self.lists.items() if group in groups}
        own = {name for name, field in self.fields.items() if field.group in groups}
        kept = {
            name: value
            for name, value in after.items()
            if name not in own and not (lists and _list_of(name) in lists)
        }
        updates[self.kept] = json.dumps(kept | {_SHOWN: [*groups]}, ensure_ascii=False)
        return updates

    def without(self, form: Form, groups: Collection[Group]) -> Form:
        """The form without the fields of these groups."""
        gone = {name for name, field in self.fields.items() if field.group in groups}
        gone |= {name for name, (_, group) in self.lists.items() if group in groups}
        return {name: value for name, value in form.items() if _list_of(name) not in gone}

    def list_value(
        self, name: str, before: Form, after: Form, shown: Collection[str]
    ) -> Form | None:
        """What a list of choices is to hold, None if it does already."""
        held, was = (
            {each: value for each, value in form.items() if _list_of(each) == name and value != []}
            for form in (after, before)
        )
        return None if held == was and self.lists[name][1] in shown else held or {name: []}

    # What there is to choose ---------------------------------------------------------------------

    def choice_list(self, name: str, group: Group) -> gr.HTML:
        """A list that `controls` shows."""
        component = controls(elem_classes="choices")
        self.lists[name] = component, group
        return component

    def log(self) -> None:
        """What a log does not state of itself, but for the names of its models."""
        t = self.t
        without = gr.CheckboxGroup([], label=t("log.apart"), visible=False)
        self._add("log_without", Field(without, without, "log", "texts", ""))
        self._text("log_name", "log", t("log.run_name"))

    def run_name(self) -> None:
        """What the run is called."""
        self._text("name", "start")

    def kept_replies(self) -> None:
        """Whether models whose addresses have changed have the replies that are kept."""
        box = gr.CheckboxGroup([], label=self.t("kept.title"), visible=False)
        self._add("replies_of", Field(box, box, "start", "texts", ""))
        self.picks.append(box)

    def presets(self) -> None:
        """The presets of the modes of choices."""
        t = self.t
        self.preset = gr.Radio(
            [(t(f"preset.{name}"), name) for name in PRESETS],
            value=None,
            label=t("preset.title"),
            container=False,
            show_label=False,
            elem_classes="presets",
        )

    def orders(self) -> None:
        """In which orders the options are shown."""
        t = self.t
        words = {
            name: f"{t(f'orders.{name}')} – {t(f'orders.{name}_about')}"
            for name in get_args(Pattern)
        }
        choices = [(word, name) for name, word in words.items()]
        radio = gr.Radio(
            choices, value="circular", label=t(LABELS["pattern"]), elem_classes="orders"
        )
        self._add("pattern", Field(radio, radio, "options", "text", "circular"))
        self.picks.append(radio)

    def settings(self) -> None:
        """What of the questions is asked, and how."""
        t = self.t
        templates = {"": t("set.template_auto")} | {name: name for name in TEMPLATES}
        templates[CUSTOM] = t("set.template_own")
        chats = {"": "auto", "yes": "yes", "no": "no"}
        groups = {name: each.title for name, each in published_lists().items()}
        with gr.Row(elem_classes="fields"):
            self._text("shots", "options", hint=t("set.shots_hint"), usual="0")
            self._numeric("limit", "choices", placeholder=t("set.all"))
            per = {name: t(f"set.per_{name}") for name in ("subject", "dataset")}
            self._pick("limit_per", "choices", per)
            self._pick("template", "options", templates)
            words = {name: t(f"set.chat_{word}") for name, word in chats.items()}
            self._pick("chat", "choices", words)
            spellings = {name: t(f"set.spellings_{name}") for name in get_args(Spellings)}
            self._pick("spellings", "options", spellings, hint=t("set.spellings_hint"))
            none = {"": t("set.groups_none")}
            self._pick("summary_groups", "options", none | groups)
            # Chosen in a specification; a run that is repeated keeps them.
            self._text("metrics", "choices")

    def own_template(self) -> None:
        """The fields of a prompt of the user's own, filled from a shipped one."""
        t = self.t
        base = TEMPLATES["plain-zh.1" if t.language == "zh" else "plain-en.1"]
        with gr.Column(visible=False, elem_classes="own") as self.template:
            self._own_head("template", "options", t("own.about"), "my-prompt.1")
            with gr.Row(elem_classes="fields"):
                for name in _TEMPLATE_PARTS:
                    usual = getattr(base, name)
                    self._text(
                        f"template.{name}", "options", t(f"own.{name}"), lines=5, usual=usual
                    )

    def generation(self, *, judge: bool) -> None:
        """How replies are written: an input for each declared setting of models, or of judges."""
        t, group = self.t, "open" if judge else "choices"
        declared = declared_settings(GenerationSettings if judge else all_settings())
        with (
            gr.Accordion(t("generation.title"), open=False, elem_classes="foldrow") as fold,
            gr.Row(elem_classes="fields"),
        ):
            for each in declared.values():
                if judge and not each.setting.of_judges:
                    continue
                name = f"{JUDGING}{each.name}" if judge else each.name
                label = t.translate(each.label)
                hint = t.translate(each.help)
                if each.kind == "choice":
                    words = {
                        one: t(f"generation.{each.name}_{one}") if one else t("generation.model")
                        for one in each.choices
                    }
                    self._pick(name, group, words, label, hint)
                elif each.kind in ("text", "lines"):
                    self._text(name, group, label, hint, lines=3)
                else:
                    usual = each.default
                    stated = f"generation.{each.name}_usual"
                    unstated = t(stated if stated in t else "generation.model")
                    shown = unstated if usual is None else f"{usual:g}"
                    self._numeric(name, group, label, hint, placeholder=shown)
        if judge:
            self.judge_writing = fold
        else:
            self.writing = fold

    # Judges --------------------------------------------------------------------------------------

    def judging(self) -> None:
        """The switch of judging."""
        t = self.t
        box = gr.Checkbox(False, label=t("judge.on"), info=t("judge.on_about"), container=False)
        self._add("judging", Field(box, box, "open", "box", ""))
        self.picks.append(box)

    def judge_settings(self) -> None:
        """On what form, in which order and over which pairs judges decide."""
        t = self.t
        with gr.Row(elem_classes="fields judge-set"):
            hint = t("judge.rubric_hint")
            rubric = self._pick("judging.template", "open", {"": ""}, hint=hint)
            rubric.elem_classes = ["field", "wide"]
            self._judge_pick("orders", get_args(PresentationOrders), "double")
            self._judge_pick("pairs", get_args(PairPlan), "all")
            self._many("judging.baseline")
            self._many("judging.against")
            self._judge_pick("conflict", get_args(ConflictRule), "tie")
            self._judge_pick("output", get_args(OutputChoice), "auto")
            self._pick("judging.strong", "open", {"1": ""}, usual="1")
            all_, hint = t("judge.sample_all"), t("judge.sample_hint")
            self._numeric("judging.sample", "open", hint=hint, placeholder=all_)

    def own_rubric(self) -> None:
        """The fields of a rubric of one's own, filled from a shipped one, and a reply to try."""
        t = self.t
        base = RUBRICS["compass-zh.2" if t.language == "zh" else "compass-en.2"]
        with gr.Column(visible=False, elem_classes="own") as self.rubric:
            self._own_head("judging.template", "open", t("judge.own_about"), "my-rubric.1")
            with gr.Row(elem_classes="fields"):
                forms = {name: t(f"form.{name}") for name in VERDICT_FORMATS}
                self._pick("judging.template.form", "open", forms, t("judge.form"), usual=base.form)
                for name in ("instruction", "closing"):
                    usual = getattr(base, name)
                    label, field = t(f"judge.{name}"), f"judging.template.{name}"
                    self._text(field, "open", label, lines=5, usual=usual)
                for name in ("criteria", "pattern", "try"):
                    lines = 1 if name == "pattern" else 5
                    hint = t(f"judge.{name}_hint")
                    field = "rubric_try" if name == "try" else f"judging.template.{name}"
                    self._text(field, "open", t(f"judge.{name}"), hint, lines=lines)
            self.tried = markup(visible=False)

    def judge_choices(
        self,
        form: Form,
        *,
        rubrics: Mapping[str, str],
        weights: Mapping[str, str],
        contestants: Sequence[str],
        single: bool,
    ) -> Updates:
        """What can be chosen beside what is chosen; rating answers one by one has few settings."""
        t, pairs = self.t, field_value(form, "judging.pairs") or "all"
        first = t("judge.baseline" if pairs == "baseline" else "judge.first_list")
        sample = t("judge.sample_single" if single else "judge.sample")
        names = {name: name for name in contestants}
        hidden = {f"{JUDGING}{name}": single for name in ("orders", "pairs", "conflict", "strong")}
        hidden |= {"judging.baseline": single or pairs == "all"}
        hidden |= {"judging.against": single or pairs != "matrix"}
        return {
            **{self.fields[name].box: gr.update(visible=not off) for name, off in hidden.items()},
            self.component("judging.template"): gr.update(choices=_pairs(rubrics)),
            self.component("judging.strong"): gr.update(choices=_pairs(weights)),
            self.component("judging.baseline"): gr.update(choices=_pairs(names), label=first),
            self.component("judging.against"): gr.update(choices=_pairs(names)),
            self.component("judging.sample"): gr.update(label=sample),
        }

    def earlier_runs(self) -> None:
        """The earlier run whose models are listed."""
        none = {"": self.t("answers.no_run")}
        self._pick("earlier_run", "open", none, self.t("answers.earlier"))

    def component(self, name: str) -> Component:
        """The input of a field."""
        return self.fields[name].component

    def choose(self, form: Form, name: str, words: Mapping[str, str]) -> Form:
        """The form with a choice that is offered: the first, if it has another."""
        return form if field_value(form, name) in words else form | {name: next(iter(words))}

    # Inputs --------------------------------------------------------------------------------------

    def _add(self, name: str, field: Field) -> None:
        self.fields[name] = field

    def _own_head(self, prefix: str, group: Group, about: str, name: str) -> None:
        t = self.t
        markup(about, elem_classes="meta")
        with gr.Row(elem_classes="fields"):
            self._text(f"{prefix}.name", group, t("own.name"), usual=name)
            field, label = f"{prefix}.language", t("own.language")
            self._pick(field, group, _LANGUAGES, label, usual=t.language)

    def _text(
        self,
        name: str,
        group: Group,
        label: str = "",
        hint: str = "",
        *,
        lines: int = 1,
        usual: str = "",
    ) -> None:
        with _box() as box:
            text = gr.Textbox(
                usual,
                label=label or self.t(LABELS[name]),
                info=hint or None,
                lines=lines,
                max_lines=max(lines, 1) * 3 if lines > 1 else 1,
                html_attributes=gr.InputHTMLAttributes(spellcheck=False, autocomplete="off"),
            )
        self._add(name, Field(text, box, group, "text", usual))
        self.texts.append(text)

    def _numeric(
        self, name: str, group: Group, label: str = "", hint: str = "", *, placeholder: str = ""
    ) -> None:
        label = label or self.t(LABELS[name])
        with _box() as box:
            number = gr.Number(None, label=label, info=hint or None, placeholder=placeholder)
        self._add(name, Field(number, box, group, "number", ""))
        self.texts.append(number)

    def _pick(
        self,
        name: str,
        group: Group,
        words: Mapping[str, str],
        label: str = "",
        hint: str = "",
        *,
        usual: str = "",
    ) -> gr.Column:
        usual = usual or next(iter(words))
        with _box() as box:
            picked = gr.Dropdown(
                _pairs(words),
                value=usual,
                label=label or self.t(LABELS[name]),
                info=hint or None,
                filterable=len(words) > 8,
            )
        self._add(name, Field(picked, box, group, "text", usual))
        self.picks.append(picked)
        return box

    def _judge_pick(self, name: str, options: Iterable[str], usual: str) -> None:
        t, key = self.t, f"judge.{name}_hint"
        words = {option: t(f"judge.{name}_{option}") for option in options}
        hint = t(key) if key in t else ""
        self._pick(f"{JUDGING}{name}", "open", words, hint=hint, usual=usual)

    def _many(self, name: str) -> None:
        with _box() as box:
            several = gr.CheckboxGroup([], label=self.t(LABELS[name]))
        self._add(name, Field(several, box, "open", "texts", ""))
        self.picks.append(several)


def merged(updates: Updates, more: Updates) -> Updates:
    """Both, also of a component that both change."""
    joined = dict(updates)
    for component, update in more.items():
        before = joined.get(component)
        if isinstance(before, dict) and isinstance(update, dict):
            joined[component] = {**before, **update}
        else:
            joined[component] = update
    return joined


def _box() -> gr.Column:
    return gr.Column(min_width=200, elem_classes="field")


def _pairs(words: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(word, value) for value, word in words.items()]


def _number(text: str) -> float | int | None:
    try:
        number = float(text)
    except ValueError:
        return None  # what no field of numbers can hold
    return int(number) if number.is_integer() else number


def _list_of(name: str) -> str:
    """The list of choices that holds a field; the names of models have a file in their name."""
    return next((each for each in ("answers.", "log_model") if name.startswith(each)), name)
