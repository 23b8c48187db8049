"""Who sends an event: each listener of a screen has it from the request, whatever its shape."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest
from gradio.context import LocalContext
from gradio.helpers import special_args
from gradio.state_holder import SessionState
from ui_layout import laid_out, request_of

from evalui.access import Person
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.screen import Screen, add_page, service_of


def named(word: str, service: AppService) -> str:
    return f"{word} {service.person.name}"


@wraps(named)
def wrapped(service: AppService) -> str:
    return named("wrapped", service)


@pytest.mark.parametrize(
    "listener",
    [partial(named, "part"), wrapped, lambda service: named("lambda", service)],
    ids=["partial", "wraps", "lambda"],
)
def test_gradio_gives_the_request_to_a_listener_of_any_shape(desk: AppService, listener: Any):
    def make() -> None:
        screen = Screen("arena", messages("en"), desk, {}, gr.HTML(""))
        button = gr.Button("Go")
        screen.on(button.click, listener, None, screen.place)

    _, layout = laid_out(make)
    (event,) = layout.fns.values()
    request = request_of(Person("ann", "annotator"))
    given, *_ = special_args(event.fn, [], request)
    sent: Any = event.fn
    assert sent(*given).endswith(" ann")


def test_an_event_without_a_request_acts_for_nobody(desk: AppService):
    with pytest.raises(AssertionError, match="an event comes by a request"):
        service_of(desk, gr.Request())


def test_a_session_keeps_its_listeners_while_another_draws(desk: AppService):
    begun, ended = Event(), Event()

    def page(screen: Screen) -> None:
        button = gr.Button("Go", key="go")
        screen.on(button.click, partial(named, "go"), None, screen.place)
        if screen.value("slow"):
            begun.set()
            assert ended.wait(10)

    _, layout = laid_out(lambda: add_page(desk, messages("en"), "arena", page))
    (drawing,) = layout.fns.values()
    slow, quick = SessionState(layout), SessionState(layout)

    def draw(session: SessionState, query: str = "") -> None:
        LocalContext.blocks_config.set(session.blocks_config)
        request = request_of(Person("ann", "annotator"), query)
        cast("Any", drawing.fn)(request, SimpleNamespace(_data={}))

    draw(slow)
    with ThreadPoolExecutor() as pool:
        drawn = pool.submit(draw, slow, "slow=yes")
        assert begun.wait(10)
        pool.submit(draw, quick).result()
        ended.set()
        drawn.result()
    assert len(slow.blocks_config.fns) == len(quick.blocks_config.fns) == 2
