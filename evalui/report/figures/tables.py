"""What a figure shows, as tables: for who cannot see it, for paper without a script, and as CSV."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from evalui.report.figures.base import Part, words


@dataclass(frozen=True, slots=True)
class MarkInWords:
    """One cell or mark of a figure, and the address of what it counts."""

    text: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The marks of a figure, or of a panel of it; the first of the heads stands above the names."""

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[MarkInWords]]]
    title: str = ""


def figure_tables(figure: Part) -> list[FigureTable]:
    """One table of all marks of a figure as JSON has it, or one for each of several heat maps.

    A heat map has a row for each of its own, anything else one for each mark; bars below a heat
    map are one row more.
    """
    layout: Part = figure["layout"]
    notes: Sequence[Part] = layout.get("annotations") or ()
    maps: dict[str, list[Part]] = {}
    rest: list[Part] = []
    for trace in figure["data"]:
        if trace.get("fillcolor"):
            continue  # a band: the marks of its line say its ends
        own = maps.setdefault(trace.get("xaxis", "x"), []) if trace["type"] == "heatmap" else rest
        own.append(trace)
    if not maps:
        heads = [words(_axis(layout, {}, name).get("title", {}).get("text", "")) for name in "xy"]
        return [FigureTable(heads, [row for trace in rest for row in _marks(trace, notes)])]
    tables = [_heat_map(traces, layout, notes) for traces in maps.values()]
    below = [row for trace in rest for row in _marks(trace, notes)]
    return [*tables[:-1], replace(tables[-1], rows=[*tables[-1].rows, *below])]


def _heat_map(layers: Sequence[Part], layout: Part, notes: Sequence[Part]) -> FigureTable:
    x, y = (_axis(layout, layers[0], name) for name in "xy")
    # Of small multiples the first of a line has the names of the rows.
    names = y["ticktext"] or layout["yaxis"]["ticktext"]
    rows = [[MarkInWords("")] * len(x["ticktext"]) for _ in names]
    places = list(x["tickvals"])
    for trace in layers:
        told, texts, hrefs = (trace.get(key) for key in ("hovertext", "text", "customdata"))
        for row, values in enumerate(trace["z"]):
            for column, value in enumerate(values):
                if value is not None and (told or texts):  # the diagonal has nothing to say
                    text = (told and told[row][column]) or (
                        texts[row][column] if texts else f"{value:.3g}"
                    )
                    href = hrefs[row][column] if hrefs else ""
                    place = places.index(trace["x"][column])
                    rows[row][place] = MarkInWords(words(text), href)
    heads = (_named(notes, layers[0], "rows"), *map(words, x["ticktext"]))
    named = [(words(name), row) for name, row in zip(names, rows, strict=True)]
    return FigureTable(heads, named, _named(notes, layers[0], "title"))


def _marks(trace: Part, notes: Sequence[Part]) -> Iterator[tuple[str, Sequence[MarkInWords]]]:
    """A row for each mark; one for all bars that stand under another plot."""
    told, hrefs = trace.get("hovertext"), trace.get("customdata") or ()
    values = _in_words(trace["y"], trace.get("error_y")) if told is None else told
    marks = [
        MarkInWords(words(text), next(iter(hrefs[at : at + 1]), ""))
        for at, text in enumerate(values)
    ]
    if trace["type"] == "bar" and trace.get("xaxis", "x") != "x":
        yield from [(_named(notes, trace, "level"), marks)] if marks else ()
        return
    of = words(trace.get("name") or "")
    for x, mark in zip(trace["x"], marks, strict=True):
        place = words(x) if isinstance(x, str) else f"{x:.6g}"
        yield f"{of} {place}".strip(), [mark]


def _in_words(values: Iterable[float], ends: Part | None) -> list[str]:
    if not ends:
        return [f"{value:.3g}" for value in values]
    return [
        f"{value:.3g} ({value - below:.3g}–{value + above:.3g})"
        for value, below, above in zip(values, ends["arrayminus"], ends["array"], strict=True)
    ]


def _axis(layout: Part, trace: Part, name: str) -> Part:
    """The axis x or y of a trace."""
    return layout.get(f"{name}axis{trace.get(f'{name}axis', name)[1:]}", {})


def _named(notes: Sequence[Part], trace: Part, name: str) -> str:
    """The note of a name in the plot of a trace, in words."""
    plot = trace.get("xaxis", "x")
    own = (each for each in notes if each.get("name") == name)
    return next((words(each["text"]) for each in own if each["xref"].split()[0] == plot), "")
