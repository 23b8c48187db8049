"""The Results page: one run, at its own address, in the views of its figures.

The frame and what can be picked are fixed; the document of a view is drawn by `gr.render`. While
answers are still to come the page looks for news, and only what has changed is drawn.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from evalui.app.results import export_sizes, list_runs, page_state
from evalui.app.run_view import RunView, still_there
from evalui.app.service import AppService
from evalui.errors import EvaluiError, UnknownRun
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.address import (
    address,
    happening,
    is_own,
    opens,
    query_of,
    read_query,
    sent_with,
)
from evalui.ui.components.fold import folds
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.list_and_reader import ListContent
from evalui.ui.components.listing import bar, markup
from evalui.ui.components.recent_runs import recent_runs
from evalui.ui.components.run_news import followed, run_news, version_in
from evalui.ui.components.templates import fill
from evalui.ui.pages.context import DRAWING, EVENTS, PageContext, SharedAnswer
from evalui.ui.pages.results import (
    bias,
    calibration,
    duels,
    health,
    overview,
    report,
    samples,
    statistics,
)
from evalui.ui.pages.results.report import Downloads
from evalui.ui.pages.results.sharing import SharingPanel
from evalui.ui.published import this_moment
from evalui.ui.run_frame import run_frame, view_name

Updates = dict[Any, Any]
_NAME = "results"
_RECENT = 10  # runs
_LOOK_S = 2.0  # between looks at a run that is not finished
_FIRST_LOOK_S = 0.5  # the same while it has no answer, and somebody waits for its first figure
_WATCH_S = 1.0  # between looks at a file that is being sent


@dataclass(frozen=True, slots=True)
class DrawnView:
    """A view of a run: what `draw` makes below its frame, and what stands above as `top`.

    One that is a list beside a reader has `content` instead, and `change` gives the query of the
    address after fields beside the list were changed, "" where that is no change.
    """

    draw: Callable[[RunView, Form], None] | None = None
    top: Callable[[RunView, Form], Html | None] | None = None
    content: Callable[[RunView, Form], ListContent] | None = None
    change: Callable[[RunView, Form, Form], str] | None = None


VIEWS: Mapping[str, DrawnView] = {
    "overview": DrawnView(overview.draw, overview.top),
    "bias": DrawnView(bias.draw),
    "statistics": DrawnView(statistics.draw, statistics.top),
    "report": DrawnView(report.draw),
    "calibration": DrawnView(calibration.draw),
    "health": DrawnView(health.draw),
    "samples": DrawnView(content=samples.content, change=samples.changed),
    "duels": DrawnView(content=duels.content, change=duels.changed),
}


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    ResultsPage(context).wire()


class ResultsPage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        folds()
        with gr.Column(elem_classes="page document results-page"):
            self.frame = markup(elem_classes="ev")
            self.bias = bias.bias_pickers(t)
            self.top = markup(visible=False, elem_classes="ev verdict-above")
            self.sharing = SharingPanel(t)
            self.statistics = statistics.statistics_pickers(t)
            self.files = Downloads(t)
            self.lists = {"samples": samples.make_view(t), "duels": duels.make_view(t)}
            # What the page shows by now: the server keeps nothing of a visitor.
            self.query = gr.Textbox(visible="hidden", elem_classes="hidden-field")
            self.news = run_news(t)
            gr.render(
                inputs=[self.query],
                triggers=[happening(self.address, "open"), happening(self.news, "news")],
                **DRAWING,
            )(self._draw)
        context.share((self._look, self._draw), self._shared)

    def wire(self) -> None:
        """Say what happens on which event."""
        changing: list[Any] = [self.frame, self.top, self.news]
        of_lists: list[Any] = [part for each in self.lists.values() for part in each.outputs]
        drawn: list[Any] = [each.drawn for each in self.lists.values()]
        shown: list[Any] = [
            *(self.address, self.bar, self.query, *changing),
            *(*self.sharing.outputs, *self.bias.outputs, *self.statistics.outputs),
            *(*self.files.outputs, *of_lists),
        ]
        self.address.open(
            self._open,
            drawn,
            shown,
            api_name=f"{_NAME}_open",
            trigger_mode="multiple",
            **EVENTS,
        )
        self.news.news(
            self._look,
            [self.query, *drawn],
            [self.address, *changing, *self.files.outputs, *of_lists],
            api_name=f"{_NAME}_look",
            **EVENTS,
        )
        for name, pickers, pick in (
            ("bias", self.bias, self._pick_bias),
            ("statistics", self.statistics, self._pick_statistics),
        ):
            lists: list[Any] = list(pickers.lists.values())
            gr.on(
                [each.input for each in lists],
                pick,
                [self.query, *lists],
                self.address,
                api_name=f"{_NAME}_{name}",
                **EVENTS,
            )
        for name, choose in (("samples", self._choose_samples), ("duels", self._choose_duels)):
            filters = self.lists[name].filters
            gr.on(
                [each.input for each in filters.lists],
                choose,
                [self.query, *filters.lists],
                self.address,
                api_name=f"{_NAME}_{name}",
                **EVENTS,
            )
            filters.find.change(  # a change is pasting, too
                self._find,
                [self.query, filters.find],
                self.address,
                api_name=f"{_NAME}_{name}_find",
                trigger_mode="always_last",
                **EVENTS,
            )
        panel = self.sharing.outputs
        self.sharing.make.click(
            self._share,
            [self.query, self.sharing.days],
            panel,
            api_name=f"{_NAME}_share",
            **EVENTS,
        )
        self.sharing.links.act(
            self._act_on_link,
            [self.query],
            panel,
            api_name=f"{_NAME}_link",
            trigger_mode="multiple",
            **EVENTS,
        )
        self.sharing.everyone.input(
            self._show_everyone,
            [self.query, self.sharing.everyone],
            panel,
            api_name=f"{_NAME}_everyone",
            **EVENTS,
        )
        # A link that was just followed is known to the server a moment later.
        sent: list[Any] = [self.files.first.click, self.files.others.click]
        gr.on(sent, self._watch, self.query, self.news, api_name=f"{_NAME}_watch", **EVENTS)

    # ------------------------------------------------------------ what an address shows

    def _open(self, event: gr.EventData, request: gr.Request, *drawn: object) -> Updates:
        """What stands around the document of an address: the frame, what can be picked.

        `drawn` are the lists that the page has.
        """
        service, query = self.context.service(request), query_of(event)
        form = read_query(query)
        known = {self.bar: self.context.bar(service, _NAME, form), self.query: query}
        try:
            with still_there(service, field_value(form, "run")):
                return known | self._shown(service, event, drawn)
        except EvaluiError as error:
            return self._hidden() | known | self._without_run(service, error)

    def _shown(self, service: AppService, event: gr.EventData, drawn: Sequence[object]) -> Updates:
        query = query_of(event)
        form = read_query(query)
        if not field_value(form, "run"):
            return self._hidden() | self._without_run(service)
        version = self.context.published.version(service, field_value(form, "run"))
        view = self._view(service, form)
        name = self._name(view, form)
        there = self._there(name, drawn)
        # A document is read by another event, before or after: the first look shows both anew.
        version = version if VIEWS[name].content else ""
        # The list of a view is there only while the page shows nothing else.
        shown: Updates = ({} if there else self._hidden()) | self._framed(view, form, version)
        if name == "overview":
            shown |= self.sharing.shown_of(view, form)
        elif name == "bias":
            shown |= self.bias.shown(bias.offered(view, form))
        elif name == "statistics":
            shown |= self.statistics.shown(statistics.offered(view, form))
        elif name == "report":
            shown |= self.files.shown(view)
        elif content := VIEWS[name].content:
            listed = self.lists[name]
            shown |= listed.shown(content(view, form), query, there, typed=is_own(event))
        return shown

    def _there(self, name: str, drawn: Sequence[object]) -> str:
        """What the page has of the list of a view, "" of a view without one."""
        there = dict(zip(self.lists, drawn, strict=True)).get(name)
        return there if isinstance(there, str) else ""

    def _hidden(self) -> Updates:
        """Nothing of what only some views have."""
        return {
            self.top: gr.update(visible=False),
            self.news: "",
            **self.sharing.hidden(),
            **self.bias.shown({}),
            **self.statistics.shown({}),
            **self.files.hidden(),
            **{part: each for one in self.lists.values() for part, each in one.hidden().items()},
        }

    def _framed(self, view: RunView, form: Form, version: str) -> Updates:
        """What changes while answers come in, without the document; it is of a version at least."""
        name = self._name(view, form)
        made = VIEWS[name].top
        top = made(view, form) if made else None
        return {
            self.address: gr.update(title=self._title(view)),
            self.frame: run_frame(view, name),
            self.top: gr.update(value=top or Html(""), visible=bool(top)),
            self.news: self._following(view, name, version),
        }

    def _following(self, view: RunView, name: str, version: str) -> str:
        """The value that lets the page follow a run, "" where nothing of it will change."""
        if view.is_live:
            return followed(view.run.id, version, _LOOK_S if view.run.done else _FIRST_LOOK_S)
        # How large its files are is told when the page is there.
        return followed(view.run.id, "", _WATCH_S, with_files=True) if name == "report" else ""

    def _without_run(self, service: AppService, error: EvaluiError | None = None) -> Updates:
        """The newest runs in place of one."""
        t = self.context.t
        runs = islice((run for run in list_runs(service) if run.done), _RECENT)
        recent = fill(
            "results/recent.html",
            title=t("results.title"),
            promise=t("results.promise"),
            recent=t("results.recent"),
            nothing=t("results.nothing"),
            problem=t.translate(error.sentence) if error else "",
            runs=recent_runs(t, runs, service.owner),
        )
        title = f"{t(f'tab.{_NAME}')} · {t('app.name')}"
        return {self.frame: recent, self.address: gr.update(title=title)}

    def _draw(self, query: object, event: gr.EventData, request: gr.Request) -> None:
        """The document of a view; a change of its run is told without an address."""
        service = self.context.service(request)
        form = read_query(query_of(event) or query)
        if not field_value(form, "run"):
            return
        version = version_in(sent_with(event))
        try:
            with still_there(service, field_value(form, "run")), self._reading(service, version):
                view = self._view(service, form)
                if draw := VIEWS[self._name(view, form)].draw:
                    draw(view, form)
        except UnknownRun:
            return  # the frame states it

    @contextmanager
    def _reading(self, service: AppService, version: str) -> Generator[None]:
        """Around what is drawn of the `version` that news tell, "" of a page that was opened.

        All views of a version share its figures, and its drawings delay the next one.
        """
        if not version:
            yield
            return
        with self.context.published.drawing(), service.runs.at(version):
            yield

    def _view(self, service: AppService, form: Form) -> RunView:
        return RunView(service, self.context.t, field_value(form, "run"))

    def _name(self, view: RunView, form: Form) -> str:
        """The view of an address, of those that this page has."""
        name = view_name(view, field_value(form, "sub"))
        return name if name in VIEWS else "overview"

    def _title(self, view: RunView) -> str:
        """What a browser calls the page: the run it is about, and how far that is."""
        t, run = self.context.t, view.run
        far = f"{100 * run.done // run.total} %" if run.total and run.state == "running" else ""
        parts = (far or t(f"title.{run.state}"), run.name, t(f"tab.{_NAME}"), t("app.name"))
        return " · ".join(parts)

    # ------------------------------------------------------------ what changes

    def _shared(
        self, service: AppService, sent: Mapping[str, object], fields: Sequence[object]
    ) -> SharedAnswer | None:
        """For whom news or a document are the same, and their version.

        News are always of the version that was told last: an event may name one that is past.
        """
        query = sent.get("query", fields[0])
        form = read_query(query)
        run_id = field_value(form, "run")
        # How far files are changes by itself.
        if not run_id or field_value(form, "sub") == "report":
            return None
        if not version_in(sent):
            audience, version = page_state(service, run_id)
            return SharedAnswer((audience, query), version)
        with service.runs.at(this_moment()):
            audience, _ = page_state(service, run_id)
        newest = self.context.published.newest(run_id)
        return SharedAnswer((audience, query, "news"), newest, {"version": newest})

    def _look(
        self, event: gr.EventData, request: gr.Request, query: object, *drawn: object
    ) -> Updates:
        """What is new: figures, answers, or how far files are.

        `drawn` are the lists that the page has.
        """
        service, form = self.context.service(request), read_query(query)
        if not field_value(form, "run"):
            return {self.news: ""}
        version = version_in(sent_with(event))
        with still_there(service, field_value(form, "run")), self._reading(service, version):
            view = self._view(service, form)
            name = self._name(view, form)
            changed = self._framed(view, form, version) | self._renewed(view, query, drawn)
            if name == "report" and not view.is_live:
                changed |= self._weighed(view)
        return changed

    def _renewed(self, view: RunView, query: object, drawn: Sequence[object]) -> Updates:
        """The list of a view and what is open of it, with what is new; nothing of other views."""
        form = read_query(query)
        name = self._name(view, form)
        content = VIEWS[name].content
        if content is None:
            return {}
        there = self._there(name, drawn)
        return self.lists[name].renewed(content(view, form), str(query), there)

    def _weighed(self, view: RunView) -> Updates:
        """The files with about their sizes, while one is being sent with how far it is."""
        version = self.context.published.version(view.service, view.run.id, with_files=True)
        sizes = export_sizes(view.service, view.run.id, view.language)
        is_sent = bool(view.service.exports.progress(view.run.id))
        follows = followed(view.run.id, version, _WATCH_S, with_files=True)
        return self.files.shown(view, sizes) | {self.news: follows if is_sent else ""}

    def _watch(self, query: object) -> str:
        run_id = field_value(read_query(query), "run")
        return followed(run_id, "", _WATCH_S, with_files=True)

    def _pick_bias(self, query: object, *values: object) -> str:
        return opens(urlencode(self.bias.picked(read_query(query), values), doseq=True))

    def _pick_statistics(self, query: object, *values: object) -> str:
        return opens(urlencode(self.statistics.picked(read_query(query), values), doseq=True))

    def _choose_samples(self, request: gr.Request, query: object, *values: object) -> Any:
        return self._changed_list(request, query, self.lists["samples"].filters.read(values))

    def _choose_duels(self, request: gr.Request, query: object, *values: object) -> Any:
        return self._changed_list(request, query, self.lists["duels"].filters.read(values))

    def _find(self, request: gr.Request, query: object, find: object) -> Any:
        text = find if isinstance(find, str) else ""
        return self._changed_list(request, query, {"find": text}, is_typed=True)

    def _changed_list(
        self, request: gr.Request, query: object, fields: Form, *, is_typed: bool = False
    ) -> Any:
        """The address after other `fields` beside a list; of what is typed only the last stays."""
        service, form = self.context.service(request), read_query(query)
        if field_value(form, "run"):
            with still_there(service, field_value(form, "run")):
                view = self._view(service, form)
                change = VIEWS[self._name(view, form)].change
                # "" is what the server wrote into a field.
                if change and (changed := change(view, form, fields)):
                    return opens(changed, replaces=is_typed)
        return gr.skip()  # pyright: ignore[reportUnknownVariableType] # of Gradio

    def _share(self, request: gr.Request, query: object, days: object) -> Updates:
        view, form = self._changed(request, query)
        return self.sharing.add_link(view, form, days)

    def _act_on_link(self, event: gr.EventData, request: gr.Request, query: object) -> Updates:
        view, form = self._changed(request, query)
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        return self.sharing.act(view, form, action)

    def _show_everyone(self, request: gr.Request, query: object, everyone: object) -> Updates:
        view, form = self._changed(request, query)
        return self.sharing.show_everyone(view, form, everyone)

    def _changed(self, request: gr.Request, query: object) -> tuple[RunView, Form]:
        """The run that is to be changed.

        Raises:
            NotAllowed, UnknownRun: the person may not change it, or sees none.
        """
        service, form = self.context.service(request), read_query(query)
        service.require("change", field_value(form, "run"))
        return self._view(service, form), form
