"""The page of one language: theme, top bar, seven tabs, and what its address requests."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import gradio as gr
from gradio.themes import Base
from starlette.datastructures import QueryParams

from evalui.errors import EvaluiError
from evalui.messages import messages
from evalui.report.html import Html, div, el, join, span
from evalui.settings import ASSETS
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import QUIET, SKIP, Action, html_fragment, on_action
from evalui.ui.components.widgets import LOGO
from evalui.ui.services.run_labels import LIVE_STATES
from evalui.ui.services.service import AppService
from evalui.ui.tabs.annotate import AnnotateTab
from evalui.ui.tabs.arena import ArenaTab
from evalui.ui.tabs.compare import CompareTab
from evalui.ui.tabs.evaluate import EvaluateTab
from evalui.ui.tabs.models import ModelsTab
from evalui.ui.tabs.results import ResultsTab
from evalui.ui.tabs.runs import RunsTab

_CACHE_S = 3600  # how long Gradio keeps its own copies of plots
_SHEETS = (
    "css/tokens.css",
    "css/parts.css",
    "css/blocks.css",
    "css/pages.css",
    "css/open.css",
    "css/statistics.css",
    "css/arena.css",
    "css/annotate.css",
    "css/compare.css",
    "css/models.css",
    "css/gradio.css",
)
_SCRIPTS = ("js/wire.js", "js/cells.js", "js/annotate.js")
_ICON = "icons/evalui.svg"
_FONTS = ("system-ui", "Segoe UI", "Roboto", "Arial", "Noto Sans CJK SC", "sans-serif")


class UnqueuedBlocks(gr.Blocks):
    """A page whose events all bypass Gradio's queue (see `fragment.QUIET`), so none is started.

    Gradio starts the queue with every page; looking for events each millisecond takes 5 % of a
    core (docs/adr/0006-no-queue.md).
    """

    def run_startup_events(self) -> None:
        """What `gr.Blocks` does, but for starting the queue."""
        self.is_running = True
        self.create_limiter()


class Tab(Protocol):
    """One tab of the page; `outputs` are the components that its address fills."""

    outputs: list[Any]

    def build(self) -> object:
        """Lay out the tab."""
        ...


class FragmentView(Protocol):
    """A tab that is rendered whole."""

    def render(self, form: Form) -> Html:
        """What an address shows."""
        ...

    def act(self, action: Action) -> Html | None:
        """The tab after what a user did; None leaves it as it is."""
        ...


class FragmentTab:
    """A tab that is one fragment, among tabs of several components."""

    def __init__(self, name: str, view: FragmentView) -> None:
        self.name = name
        self.view = view
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the fragment."""
        with gr.Column(elem_classes="page"):
            whole = html_fragment(f"{self.name}-pane")
        self.outputs = [whole]
        on_action(whole, self.answer, outputs=self.outputs)

    def answer(self, act: Action) -> Any:
        """The fragment after what a user did in it."""
        shown = self.view.act(act)
        return SKIP if shown is None else shown

    def open(self, shown: str) -> Any:
        """The fragment when the tab is pressed; what is there already stays."""
        return SKIP if shown else self.view.render({"tab": self.name})


class AppShell:
    """One language of the application."""

    def __init__(self, service: AppService, language: Language) -> None:
        self.service = service
        self.t = messages(language)
        self.evaluate = EvaluateTab(service, self.t)
        self.runs = RunsTab(service, self.t)
        self.results = ResultsTab(service, self.t)
        self.arena = ArenaTab(service, self.t)
        self.annotate = FragmentTab("annotate", AnnotateTab(service, self.t))
        self.compare = FragmentTab("compare", CompareTab(service, self.t))
        self.models = ModelsTab(service, self.t)
        self.tabs: Mapping[str, Tab] = {
            "evaluate": self.evaluate,
            "runs": self.runs,
            "results": self.results,
            "arena": self.arena,
            "annotate": self.annotate,
            "compare": self.compare,
            "models": self.models,
        }

    def build(self) -> gr.Blocks:
        """Lay out the page and wire it."""
        t = self.t
        with UnqueuedBlocks(
            title=t("app.title"), analytics_enabled=False, delete_cache=(_CACHE_S, _CACHE_S)
        ) as demo:
            html_fragment("top", self.top_bar())
            frames: dict[str, gr.Tab] = {}
            with gr.Tabs(elem_id="main") as tabs:
                for name, tab in self.tabs.items():
                    with gr.Tab(t(f"tab.{name}"), id=name, elem_id=f"tab-{name}") as frames[name]:
                        tab.build()
            pane, chosen, *state = self.runs.outputs
            frames["runs"].select(self.runs.open, [chosen], [pane, *state], **QUIET)
            for fragment in (self.annotate, self.compare):
                select = frames[fragment.name].select
                select(fragment.open, fragment.outputs, fragment.outputs, **QUIET)
            frames["models"].select(self.models.open, None, self.models.outputs, **QUIET)
            outputs = [part for tab in self.tabs.values() for part in tab.outputs]
            demo.load(self.enter, None, [tabs, *outputs], **QUIET)
        return demo

    def enter(self, request: gr.Request) -> tuple[Any, ...]:
        """Everything an address requests: a run, a view of it, or a run to repeat."""
        query = cast(QueryParams, request.query_params)
        form: Form = dict(query.items())
        run_id, again = str(form.get("run", "")), str(form.get("again", ""))
        # An annotator is shown no names, not even on the tabs beside.
        votes = form.get("tab") == "annotate"
        visible_run = "" if votes else run_id
        pane, *state = self.runs.blind_voting_outputs() if votes else self.runs.open(visible_run)
        selected = self._tab(form, run_id)
        return (
            gr.Tabs(selected=selected),
            *((SKIP, SKIP) if votes else self.evaluate.enter(again, query.getlist("models"))),
            pane,
            visible_run,
            *state,
            *(
                self.results.blind_voting_outputs()
                if votes
                else self.results.enter(visible_run, form)
            ),
            *self.arena.enter(visible_run, form),
            self.annotate.view.render(form) if votes else SKIP,
            self.compare.view.render(form) if form.get("tab") == "compare" else SKIP,
            *self.models.enter(form),
        )

    def top_bar(self) -> Html:
        """Logo, language and theme."""
        t = self.t
        names = {"zh": t("app.chinese"), "en": t("app.english")}
        switch = span(
            *(
                el("b", name) if language == t.language else self._link(name, language)
                for language, name in names.items()
            ),
            cls="languages",
        )
        theme = el("a", t("app.theme"), href="?__theme=dark", data_param="__theme")
        return div(
            el("a", LOGO, t("app.name"), cls="brand", href="./"),
            span(cls="space"),
            switch,
            theme,
            cls="top",
        )

    def _link(self, name: str, language: str) -> Html:
        return el(
            "a",
            name,
            href=f"../?lang={language}",
            data_param="",
            data_path=f"{language}/",
            hreflang=language,
        )

    def _tab(self, form: Form, run_id: str) -> str:
        requested = form.get("tab")
        if requested in self.tabs:
            return str(requested)
        if not run_id:
            return "evaluate"
        try:
            live = self.service.run(run_id).state in LIVE_STATES
        except EvaluiError:
            live = False
        return "runs" if live and "sub" not in form else "results"


def theme() -> Base:
    """Gradio's own components in our colours; both modes come from the same tokens."""
    colours = {
        "body_background_fill": "var(--bg)",
        "body_text_color": "var(--ink)",
        "body_text_color_subdued": "var(--ink-3)",
        "background_fill_primary": "var(--surface)",
        "background_fill_secondary": "var(--sunken)",
        "block_background_fill": "var(--surface)",
        "border_color_primary": "var(--line)",
        "border_color_accent": "var(--accent)",
        "color_accent_soft": "var(--accent-soft)",
        "link_text_color": "var(--accent)",
        "input_background_fill": "var(--surface)",
    }
    both = colours | {f"{name}_dark": colour for name, colour in colours.items()}
    return Base(font=list(_FONTS), font_mono=["ui-monospace", "monospace"]).set(**both)


def head(title: str) -> Html:
    """The title, style sheets and script of a page; versioned, so that they can be cached."""
    sheets = [el("link", rel="stylesheet", href=_versioned(sheet)) for sheet in _SHEETS]
    drawing = el("link", rel="icon", type="image/svg+xml", href=_versioned(_ICON))
    scripts = [el("script", src=_versioned(script)) for script in _SCRIPTS]
    return join(el("title", title), drawing, *sheets, *scripts)


def _versioned(path: str) -> str:
    content = hashlib.sha256((ASSETS / Path(path)).read_bytes()).hexdigest()
    return f"../static/{path}?{content[:8]}"
