"""Files, models and a hostile text for the tests of the page."""

import asyncio
import re
from collections.abc import Callable
from html import unescape
from typing import TypeVar

T = TypeVar("T")

HOSTILE = (
    '<img src=x onerror="window.__xss=1"><script>window.__xss=2</script>'
    '<iframe srcdoc="<script>parent.__xss=3</script>"></iframe><a href="javascript:alert(1)">x</a>'
)
MODELS = """
[biased]
backend = "scripted"
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }

[gone]
backend = "transformers"
path = "./nowhere"
"""
GOOD = """id,question,A,B,C,D,answer
1,Capital of France?,Paris,Rome,Oslo,Bern,A
2,Capital of Italy?,Paris,Rome,Oslo,Bern,B
3,Capital of Norway?,Paris,Rome,Oslo,Bern,C
4,Capital of Switzerland?,Paris,Rome,Oslo,Bern,D
"""
FAULTY = GOOD + "5,Capital of Spain?,Paris,Rome,Oslo,Bern,E\n6,,Paris,Rome,Oslo,Bern,A\n"


def served(build: Callable[[], T]) -> T:
    """What `build` makes, inside an event loop: outside, Gradio opens one and leaves it open."""

    async def inside() -> T:
        return build()

    return asyncio.run(inside())


def poll_of(page: str) -> dict[str, str]:
    """What the script sends with a poll of this page: the data of its element."""
    element = re.search(r"<div data-poll=[^>]*>", page)
    assert element, "the page does not poll"
    return {key: unescape(text) for key, text in re.findall(r'data-(\w+)="([^"]*)"', element[0])}
