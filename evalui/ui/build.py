"""The Gradio app of one language: a page at each name of `PAGES`, and the fragments of the tabs."""

from copy import copy
from functools import partial
from importlib import import_module
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlocksConfig
from gradio.renderable import Renderable

from evalui.report.html import Html
from evalui.ui.components.fragment import Action
from evalui.ui.pages.context import PageContext
from evalui.ui.shell import TABS, AppShell
from evalui.ui.top_bar import PAGES


class _EventConfig(BlocksConfig):
    """The components as an event has them, of which only what it renders anew is described.

    Gradio describes all components of all pages for each event, for links to the state of a page,
    which no page here has: 0.15 s of a core for 340 components.
    """

    @staticmethod
    def config_for_block(
        _id: int, rendered_ids: list[int], block: Block, renderable: Renderable | None = None
    ) -> dict[str, Any]:
        """What `BlocksConfig` does, but only for what is rendered."""
        if renderable is None:
            return {}
        described: dict[str, Any] = BlocksConfig.config_for_block(
            _id, rendered_ids, block, renderable
        )
        return described


class _PageConfig(BlocksConfig):
    """The components of all pages; each event is given a copy."""

    def __copy__(self) -> BlocksConfig:
        """What `BlocksConfig` does, for an event."""
        copied = _EventConfig(self.root_block)
        copied.blocks, copied.fns = copy(self.blocks), copy(self.fns)
        copied.fn_id, copied.renderables = self.fn_id, copy(self.renderables)
        return copied


class UnqueuedBlocks(gr.Blocks):
    """A page whose events all bypass Gradio's queue, so none is started.

    Gradio starts the queue with every page; looking for events each millisecond takes 5 % of a
    core (docs/adr/0006-no-queue.md).
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.default_config = _PageConfig(self)

    def run_startup_events(self) -> None:
        """What `gr.Blocks` does, but for starting the queue."""
        self.is_running = True
        self.create_limiter()


def build(shell: AppShell) -> gr.Blocks:
    """The app of a language."""
    with UnqueuedBlocks(title=shell.t("app.title"), analytics_enabled=False) as app:
        for name in TABS:
            _fragment(name, shell)
    context = PageContext(shell.service, shell.t, shell.warm)
    for name in PAGES:
        with app.route(shell.t(f"tab.{name}"), name):
            import_module(f"evalui.ui.pages.{name}").make_page(context)
    # Without it a mounted app hands out any file of the machine to an event that names its path.
    app.has_launched = True
    return app


def _fragment(name: str, shell: AppShell) -> None:
    """What carries the actions of a tab that the server draws, and its answers."""
    answer = partial(shell.answer, name)

    def act(event: gr.EventData) -> Html:
        return answer(Action.read(event._data))  # pyright: ignore[reportPrivateUsage] # no other name

    act.__name__ = f"act_{name}"
    fragment = gr.HTML(
        html_template="<i></i>",
        js_on_load=f"window.evalui.attach('{name}', trigger, watch, props, 'act')",
        apply_default_css=False,
        elem_id=f"fragment-{name}",
    )
    fragment.act(
        act,
        None,
        fragment,
        trigger_mode="multiple",
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
