"""The Gradio app of one language: a page at each name of `PAGES`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.blocks import Block, BlocksConfig
from gradio.renderable import Renderable

from evalui.ui.pages.context import PageContext
from evalui.ui.top_bar import PAGES

_SESSIONS = 16  # for each, Gradio describes every component anew, in some 0.6 MB


class UnqueuedBlocks(gr.Blocks):
    """An app of several pages whose events all bypass Gradio's queue.

    Gradio starts the queue with every page; looking for events each millisecond takes 5 % of a
    core. Here it begins with the first call of `gradio_client`, which sends nothing past it, and
    looks less often: for half a per cent of a core.
    """

    _QUEUE_SLEEP_S = 0.05
    _PROGRESS_SLEEP_S = 0.5
    _CALLS = 40  # of a person, unread; `gradio_client` sends so many at once
    _queue_runs = False

    def run_startup_events(self) -> None:
        """What `gr.Blocks` does, but for starting the queue."""
        self.is_running = True
        self.create_limiter()

    def admit(self, owner: str, session: str) -> bool:
        """Whether a session may call one more thing; with the first, the queue of the app starts.

        The names of a person's sessions begin with `owner`. Of too many calls, those that have
        ended in other sessions, and that nobody has read, are forgotten.
        """
        if not self._queue_runs:
            self._queue_runs = True
            self._queue.sleep_when_free = self._QUEUE_SLEEP_S
            self._queue.progress_update_sleep_when_free = self._PROGRESS_SLEEP_S
            self._queue.start()
        calls = self._queue.pending_event_ids_session
        own = {name: len(sent) for name, sent in calls.items() if name.startswith(owner)}
        for name in list(own):
            at_work = any(call in self._queue.event_ids_to_events for call in calls[name])
            if sum(own.values()) >= self._CALLS and name != session and not at_work:
                del own[name], calls[name]
                self.forget(name)
        return sum(own.values()) < self._CALLS

    def is_awaited(self, session: str) -> bool:
        """Whether a session has called something whose answer it may still read."""
        return session in self._queue.pending_messages_per_session

    def forget(self, session: str) -> None:
        """Keep nothing of a session whose answers are all read."""
        if not self._queue.pending_event_ids_session.get(session):
            self._queue.pending_event_ids_session.pop(session, None)
            self._queue.pending_messages_per_session.pop(session, None)

    def close_queue(self) -> None:
        """Let the queue end, if it was started."""
        self._queue.close()

    async def postprocess_data(
        self, block_fn: BlockFunction, predictions: list[Any] | dict[Any, Any], state: Any
    ) -> list[Any]:
        """What an event answers.

        Beside the properties of our own components that it changes, Gradio states what it finds by
        their names: listeners, as text with their address in memory.
        """
        sent: list[Any] = await super().postprocess_data(block_fn, predictions, state)
        for update in sent:
            changed = cast("dict[str, Any]", update) if isinstance(update, dict) else {}
            for name in changed.get("props", {}).keys() - {"__type__"}:
                changed.pop(name, None)
        return sent

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
    app.state_session_capacity = _SESSIONS  # no state is kept, so none is missed
    # Without it a mounted app hands out any file of the machine to an event that names its path.
    app.has_launched = True
    app.default_config = DescribedBlocks(app.default_config)
    return app
