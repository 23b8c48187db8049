"""What pages and HTML files say, as data: lines with their links, tables, charts by their cells.

`documents` is the only place that knows how a page is asked for what it shows at an address.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from drawn_page import DrawnPage
from recorded_runs import NAMES, PEOPLE
from steady import normalised

from evalui.app.service import AppService
from evalui.types import Language
from evalui.ui.components.form import read_query

VIEWS = ("overview", "bias", "statistics", "calibration", "health", "samples", "duels", "report")
# Further addresses of runs, beside the views as they open.
ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "choice": (
        "results?sub=bias&cell=13",
        "results?sub=statistics&measure=consistent",
        "results?sub=samples&cell=7&gold=1&picked=0",
        "results?sub=samples&q=sums/2&by=models",
    ),
    "letters": ("results?sub=bias&cell=19", "results?sub=samples&find=plus"),
    "repeats": ("results?sub=samples&outcome=wrong",),
    "judged": ("results?sub=overview&arena=1", "results?sub=duels&arena=1"),
}
# What several runs are behind.
OF_THE_STORE = (
    "arena?",
    "arena?board_judge=people",
    "arena?board_language=zh",
    "compare?run={choice}",
    "compare?run={choice}&run={stopped}",
    "compare?run={judged}",
    "runs?",
    f"annotate?run={{judged}}&voter={PEOPLE[0]}",
)


@dataclass(slots=True)
class Document:
    """A page as it is read: its lines, where they lead, the figures in its tables and charts."""

    lines: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    charts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def text(self) -> str:
        """The lines as a text."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def figures(self) -> list[str]:
        """The cells of its tables that are figures alone."""
        cells = [cell.strip() for line in self.lines if line[:1] == "|" for cell in line.split("|")]
        return [cell for cell in cells if re.fullmatch(r"[−+-]?[\d.,]+(?: %)?", cell)]


def read(markup: str, ids: Mapping[str, str]) -> Document:
    """A page or an HTML file; `ids` are ids of runs with the word that stands for each."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    reader.end_line()
    shown = reader.document
    text = normalised("\n".join(shown.lines), ids)
    charts = json.loads(normalised(json.dumps(shown.charts, ensure_ascii=False), ids))
    return Document(text.splitlines(), [normalised(each, ids) for each in shown.links], charts)


def documents(
    service: AppService, name: str, ids: Mapping[str, str], language: Language
) -> Iterator[tuple[str, str]]:
    """The addresses of a run, or "store" of all, with what each shows in a language."""
    if name not in NAMES:
        for address in OF_THE_STORE:
            page, _, query = address.format_map(ids).partition("?")
            yield address, DrawnPage(page, service, query, language).text
        return
    seen = set[str]()
    addresses = (*(f"results?sub={view}" for view in VIEWS), *ADDRESSES.get(name, ()))
    for address in addresses:
        form = read_query(f"run={ids[name]}&{address.partition('?')[2]}")
        shown = DrawnPage("results", service, form, language).text
        if shown not in seen:  # an address that this run does not have leads to another one
            yield address, shown
        seen.add(shown)
    yield "runs", DrawnPage("runs", service, {"run": ids[name]}, language).text
    if name == "voted":
        for person in PEOPLE[:2]:
            form = {"run": ids[name], "voter": person}
            yield f"annotate as {person}", DrawnPage("annotate", service, form, language).text


_BLOCKS = frozenset(
    (
        *("button", "caption", "dd", "details", "div", "dl", "dt", "figure", "fold", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "label", "li", "nav", "ol", "option"),
        *("p", "pre", "section", "summary", "table", "tbody", "thead", "tr", "ul"),
    )
)
_UNREAD = frozenset(("script", "style", "svg", "title"))
# Of a trace of a chart; the rest is its look.
_DATA = ("type", "name", "x", "y", "z", "text", "hovertext", "customdata")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.document = Document()
        self._line: list[str] = []
        self._cells = 0  # that are open: they have one line with their row
        self._unread = 0
        self._leads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag in _UNREAD:
            self._unread += 1
            return
        if tag in ("td", "th"):
            self._line += [] if self._line else ["|"]
            self._cells += 1
        elif tag in _BLOCKS and not self._cells:
            self.end_line()
        elif tag in _BLOCKS:
            self._line.append(" ")
        if tag == "a" and "href" in named:
            self.document.links.append(named["href"])
            self._line.append("[")
            self._leads.append(named["href"])
        elif tag == "a":
            self._leads.append("")
        if tag == "ev-plot":
            self._line.append(f"(chart) {named.get('aria-label', '')}")
            self.document.charts.append(_chart(named["data-figure"]))
        if tag == "img":
            self._line.append(f"(picture) {named.get('alt', '')}")
        if tag == "input" and named.get("type") != "hidden":
            self._line.append(f"(field {named.get('name', '')} = {named.get('value', '')})")
        if "title" in named:
            self._line.append(f"{{{named['title']}}}")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = max(0, self._unread - 1)
        elif tag == "a":
            to = self._leads.pop() if self._leads else ""
            self._line.append(f"]({to})" if to else "")
        elif tag in ("td", "th"):
            self._cells -= 1
            self._line.append(" | ")
        elif tag in _BLOCKS and not self._cells:
            self.end_line()

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self._line.append(data)

    def end_line(self) -> None:
        """What follows stands on a line of its own."""
        line = re.sub(r"\s+", " ", "".join(self._line)).strip()
        if line:
            self.document.lines.append(line)
        self._line = []


def _chart(figure: str) -> dict[str, Any]:
    """The data of a chart by trace, and what stands at its axes."""
    drawn = json.loads(figure)
    axes = {key: each for key, each in drawn["layout"].items() if re.match("[xy]axis", key)}
    return {
        "traces": [
            {key: trace[key] for key in _DATA if trace.get(key) is not None}
            for trace in drawn["data"]
        ],
        "axes": {key: each["ticktext"] for key, each in axes.items() if each.get("ticktext")},
        "notes": [note.get("text", "") for note in drawn["layout"].get("annotations", ())],
    }


def numbers_of(chart: Any) -> Any:
    """A chart without its texts, which is the same in each language."""
    if isinstance(chart, dict):
        return {key: numbers_of(each) for key, each in chart.items()}
    if isinstance(chart, list):
        return [numbers_of(each) for each in chart]
    return "" if isinstance(chart, str) else chart
