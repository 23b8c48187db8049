"""The questions of a run as a page lists and shows them, for tests."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs

from drawn_page import DrawnPage

from evalui.app.service import AppService


def samples(desk: AppService, run_id: str, form: Any = None) -> DrawnPage:
    """The page at an address with the parameters in `form`."""
    return DrawnPage("results", desk, {"run": run_id, "sub": "samples"} | (form or {}))


def show(desk: AppService, run_id: str, form: Any = None) -> str:
    """What it shows there."""
    return samples(desk, run_id, form).text


def query(href: str) -> dict[str, str]:
    """The parameters of an address."""
    named = parse_qs(unescape(href).partition("?")[2])
    return {name: values[0] for name, values in named.items()}


def listed(page: str) -> list[str]:
    """The ids of the questions in the list, in order."""
    part = page.partition('class="questions"')[2].partition("</ul>")[0]
    return [query(href)["q"] for href in re.findall(r'<a href="([^"]+)"', part)]


def link(page: str, words: str) -> dict[str, str]:
    """Where the link with these words leads."""
    (href,) = re.findall(rf'<a href="([^"]+)"[^>]*>(?:<b>)?{re.escape(words)}', page)
    return query(href)


def step(page: str, by: int) -> dict[str, str]:
    """Where j (1) or k (-1) leads, {} if there is nothing."""
    found = re.findall(rf'data-step="{by}" href="([^"]+)"', page)
    return query(found[0]) if found else {}


def pager(page: str, word: str) -> dict[str, str]:
    """Where the link with this word leads that is below the list."""
    return link(page.partition("pager")[2].partition("</div>")[0], word)
