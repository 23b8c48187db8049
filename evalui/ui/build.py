"""The Gradio app of one language: a page at each name of `PAGES`."""

from collections.abc import Callable
from importlib import import_module

import gradio as gr

from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.ui.screen import add_page
from evalui.ui.top_bar import PAGES

# Sessions, an open tab each, whose components Gradio keeps: some 0.3 to 1 MB each.
_SESSIONS = 400
_SWEEP_S, _OLD_S = 3600, 24 * 3600  # between looks for temporary files, and how old they get
_IDLE_S, _PROGRESS_S = 0.05, 0.5  # between looks of a queue for calls; Gradio's are 1 and 10 ms


def build(
    service: AppService,
    t: Messages,
    add_endpoints: Callable[[AppService, Messages], None] = lambda _, __: None,
) -> gr.Blocks:
    """The app of a language; `add_endpoints` declares what is for other programs."""
    with gr.Blocks(
        title=t("app.title"), analytics_enabled=False, delete_cache=(_SWEEP_S, _OLD_S)
    ) as demo:
        add_endpoints(service, t)
    for name in PAGES:
        with demo.route(t(f"tab.{name}"), name):
            add_page(service, t, name, import_module(f"evalui.ui.pages.{name}").page)
    demo.queue(default_concurrency_limit=8)
    queue = demo._queue  # pyright: ignore[reportPrivateUsage] # no other name
    queue.sleep_when_free, queue.progress_update_sleep_when_free = _IDLE_S, _PROGRESS_S
    demo.state_session_capacity = _SESSIONS
    # Without it a mounted app hands out any file of the machine to an event that names its path.
    demo.has_launched = True
    return demo
