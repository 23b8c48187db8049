"""The Gradio app of one language: a page at each name of `PAGES`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlocksConfig
from gradio.renderable import Renderable

from evalui.ui.pages.context import PageContext
from evalui.ui.top_bar import PAGES


class UnqueuedBlocks(gr.Blocks):
    """An app of several pages whose events all bypass Gradio's queue.

    Gradio starts the queue with every page; looking for events each millisecond takes 5 % of a
    core. Here it begins with the first call of `gradio_client`, which sends nothing past it, and
    looks less often: for half a per cent of a core.
    """

    _QUEUE_SLEEP_S = 0.05
    _PROGRESS_SLEEP_S = 0.5
    _queue_runs = False

    def run_startup_events(self) -> None:
        """What `gr.Blocks` does, but for starting the queue."""
        self.is_running = True
        self.create_limiter()

    def start_queue(self) -> None:
        """Start the queue of the app, on the event loop, unless that is done."""
        if not self._queue_runs:
            self._queue_runs = True
            self._queue.sleep_when_free = self._QUEUE_SLEEP_S
            self._queue.progress_update_sleep_when_free = self._PROGRESS_SLEEP_S
            self._queue.start()

    def is_awaited(self, session: str) -> bool:
        """Whether a session has called something whose answer it may still read."""
        return session in self._queue.pending_messages_per_session

    def close_queue(self) -> None:
        """Let the queue end, if it was started."""
        self._queue.close()

    def begin_page(self, title: str, path: str) -> None:
        """Let what is made from now on, still within the app, stand on the page at a path.

        Unlike `route`, whose pages are contexts of their own: at the end of each Gradio makes the
        web application of all pages anew, which takes 0.2 s.
        """
        self.pages.append((path, title, True))
        self.current_page = path


class DescribedBlocks(BlocksConfig):
    """The blocks of an app that is built, each described once.

    Gradio copies this for every event, and describes every component of every page anew: with the
    pages of the application that would take most of the time of an event.
    """

    def __init__(self, built: BlocksConfig) -> None:
        super().__init__(built.root_block)
        self.blocks, self.fns = dict(built.blocks), dict(built.fns)
        self.fn_id, self.renderables = built.fn_id, list(built.renderables)
        self._described: dict[int, dict[str, Any]] = {
            key: BlocksConfig.config_for_block(key, [], block) for key, block in self.blocks.items()
        }

    def __copy__(self) -> "DescribedBlocks":
        """The same for one event, which may add and change blocks."""
        made = DescribedBlocks.__new__(DescribedBlocks)
        made.__dict__ = {
            **self.__dict__,
            "blocks": dict(self.blocks),
            "fns": dict(self.fns),
            "renderables": list(self.renderables),
        }
        return made

    def config_for_block(  # pyright: ignore[reportIncompatibleMethodOverride] # static there
        self,
        _id: int,
        rendered_ids: list[int],
        block: Block,
        renderable: Renderable | None = None,
    ) -> dict[str, Any]:
        """What Gradio says of a block: a known one's description, else as it makes it.

        Of a block that an event changes nothing more is sent than what it changes.
        """
        known = self._described.get(_id)
        if known is None or renderable is not None:
            return super().config_for_block(  # pyright: ignore[reportUnknownVariableType] # a bare dict
                _id, rendered_ids, block, renderable
            )
        return {**known, "props": dict(known["props"])}  # into which Gradio writes values


def build(
    context: PageContext, add_endpoints: Callable[[PageContext], None] = lambda _: None
) -> UnqueuedBlocks:
    """The app of a language; `add_endpoints` declares what is for other programs."""
    t = context.t
    with UnqueuedBlocks(title=t("app.title"), analytics_enabled=False) as app:
        add_endpoints(context)
        for name in PAGES:
            app.begin_page(t(f"tab.{name}"), name)
            import_module(f"evalui.ui.pages.{name}").make_page(context)
    # Without it a mounted app hands out any file of the machine to an event that names its path.
    app.has_launched = True
    app.default_config = DescribedBlocks(app.default_config)
    return app
