"""Charts of position bias: what is picked, content or position, priors, gaps by subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evalui.messages import Messages, add_messages
from evalui.report.figures.base import (
    CELL,
    DOTTED,
    FrameOf,
    Part,
    bold,
    chart,
    hrefs,
    intervals,
    name_heads,
    named_records,
    of_each,
    records,
    said,
    titled_figure,
)
from evalui.report.figures.plots import Bars, Cells, heat_map
from evalui.report.figures.theme import COLOURS, NEUTRAL, Scale
from evalui.report.numbers import count, fixed, percent
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.statistics.tests import benjamini_hochberg
from evalui.types import LETTERS

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_FULL_COLOUR_SHARE = 0.75  # the share of picks with the full colour, so that charts compare
_FULL_COLOUR_RANGE = 0.25  # from the fair share, or of the questions: the same
_OUTCOME_GAP = 0.25  # columns between the letters and what is no letter
_PICKS_ROW, _ROW, _SMALL_ROW, _ORDERS_ROW = 48, 46, 30, 16  # pixels
_PRINTED = 6  # orders, or columns, up to which a cell has room for its number
_FALSE_STARS = 0.05
_ENDS = ("", "_low", "_high")  # of a value and its range
_CELL_AND_SIZE = (*CELL, "options")
_HOVER = (
    "<b>%{fullData.name}</b><br>position %{x}: %{y:.1f} % of the readable trials<br>"
    "95 % interval %{customdata[0]:.1f} to %{customdata[1]:.1f}<br>"
    "picked %{customdata[2]} times, %{customdata[3]} questions<extra></extra>"
)


def answered(of: FrameOf) -> pd.DataFrame:
    """The squares of picks, each with the share that its picked slot has of all picks."""

    import pandas as pd

    squares, slots = of("confusion"), of("positions")
    places = {key: place for place, key in enumerate(_keys(slots, "slot"))}
    found = [places.get(key, -1) for key in _keys(squares, "picked")]
    known = {f"share_of_picks{end}": [*slots[f"share_of_picks{end}"], None] for end in _ENDS}
    # Of no letter, -1, there is none.
    shares = {name: pd.Series([each[at] for at in found]) for name, each in known.items()}
    return squares.reset_index(drop=True).assign(**shares)


def _keys(rows: pd.DataFrame, slot: str) -> list[tuple[Any, ...]]:
    """Which cell, number of options and slot each row is of."""
    return list(zip(*(rows[name].tolist() for name in (*_CELL_AND_SIZE, slot)), strict=True))


@chart("bias.answers", answered, one=_CELL_AND_SIZE, whole=("gold", "picked"))
def answers(rows: pd.DataFrame, t: Messages, *, colour: str = COLOURS[0]) -> go.Figure:
    """Right position by picked position, each row as shares, and all picks against chance below.

    `colour` is the model's, for the picks above chance. Rows of few questions are grey.
    """
    squares = {(row["gold"], row["picked"]): row for row in records(rows)}
    size = int(rows["options"].iloc[0])
    letters = LETTERS[:size]
    has_ties = any(squares[gold, "tied"]["trials"] for gold in letters)
    outcomes = ("unreadable", "tied") if has_ties else ("unreadable",)
    heads = {name: t(f"bias.{name}-column") for name in outcomes}

    def cells(picked: Iterable[str]) -> Cells:
        grid = [[squares[gold, each] for each in picked] for gold in letters]
        # Without an answer in the row nothing is known, and nothing is picked.
        shares = of_each(grid, lambda row: row["trials"] / max(1, row["answers"]))
        return Cells(
            shares,
            "grey",
            (0.0, _FULL_COLOUR_SHARE),
            of_each(shares, lambda share: f"{fixed(100 * share, 0)} %"),
            of_each(grid, lambda row: _square_told(row, heads, t)),
            hrefs(grid),
        )

    few = {at for at, gold in enumerate(letters) if squares[gold, "A"]["questions"] < HIDDEN_BELOW}
    by_letter = replace(cells(letters), scale="share").greyed(few)
    left = size + _OUTCOME_GAP
    boxes = [{"x0": x - 0.5, "x1": x + 0.5, "y0": x - 0.5, "y1": x + 0.5} for x in range(size)]
    return heat_map(
        [*by_letter, replace(cells(heads), left=left)],
        name_heads(letters),
        [*name_heads(letters), *heads.values()],
        row_height=_PICKS_ROW,
        row_title=t("bias.gold"),
        column_title=t("bias.picked"),
        places=[*range(size), *(left + place for place in range(len(heads)))],
        shapes=[{**box, "line": {"color": NEUTRAL, "width": 2}, "layer": "above"} for box in boxes],
        # On paper every cell has its number.
        key=t("bias.picks-key") if "href" in rows else "",
        below=_all_picks([squares["A", slot] for slot in letters], t, colour),
    )


def _square_told(row: Part, heads: Mapping[str, str], t: Messages) -> str:
    if not row["answers"]:
        return ""
    names = {"gold": row["gold"], "picked": heads.get(row["picked"], row["picked"])}
    counts = {"k": count(row["trials"]), "n": count(row["answers"])}
    return t("bias.cell-told", **names, **counts, **said(row, "share"))


def _all_picks(slots: Sequence[Part], t: Messages, colour: str) -> Bars:
    """How often each slot is picked, against chance."""

    import pandas as pd

    chance = 1 / len(slots)
    picked = [row for row in slots if not pd.isna(row["share_of_picks"])]
    shares = [row["share_of_picks"] / 100 for row in picked]
    told = [said(row, "share_of_picks") for row in picked]
    text = f"{t('bias.all-picks')}\n{t('bias.chance-line', value=percent(chance))}"
    return Bars(
        [LETTERS.index(row["picked"]) for row in picked],
        shares,
        [bold(f"{each['value']} %") for each in told],
        [
            "{picked}: {value} % ({span})".format(**row, **x)
            for row, x in zip(picked, told, strict=True)
        ],
        max([chance, *shares]),
        [colour if share > chance else NEUTRAL for share in shares],
        width=0.6,
        foot=True,
        level=(chance, text, len(slots) + _OUTCOME_GAP - 0.5),
    )


@chart(
    "bias.consistency",
    "consistency",
    one=_CELL_AND_SIZE,
    whole=("same_position", "same_option"),
)
def consistency(rows: pd.DataFrame, t: Messages) -> go.Figure:
    """How often the same option by how often the same slot: bottom right goes by content."""
    squares = {(row["same_position"], row["same_option"]): row for row in records(rows)}
    size, n = (int(rows[name].iloc[0]) for name in ("orders", "n"))
    numbers, printed = range(1, size + 1), size <= _PRINTED
    grid = [[squares[slots, options] for options in numbers] for slots in numbers]
    most = max(row["questions"] for row in squares.values())
    cells = Cells(
        # Without numbers in its cells the map shows only those with questions.
        of_each(grid, lambda row: row["questions"] / n if row["questions"] or printed else None),
        "share" if n >= HIDDEN_BELOW else "grey",
        (0.0, max(_FULL_COLOUR_RANGE, most / n)),
        of_each(grid, lambda row: count(row["questions"]) if row["questions"] else "·"),
        of_each(grid, lambda row: _steady_told(row, t)),
        hrefs(grid),
    )
    labels = name_heads([*map(str, numbers)])
    return heat_map(
        [cells],
        labels,
        labels,
        row_height=_ROW if printed else _ORDERS_ROW,
        row_title=t("bias.steady-position"),
        column_title=t("bias.steady-content"),
        printed=printed,
        upwards=True,
        beside={size - 1: t("bias.steady-locked"), 0: t("bias.steady-by-content")},
    )


def _steady_told(row: Part, t: Messages) -> str:
    return t(
        "bias.steady-told",
        slots=row["same_position"],
        options=row["same_option"],
        orders=row["orders"],
        k=count(row["questions"]),
        n=count(row["n"]),
        **said(row, "share"),
    )


def known_priors(of: FrameOf) -> pd.DataFrame:
    """Those of the cells whose letters hold enough probability to speak of a preference."""
    known = of("priors")
    return known[known["light"] != "mass"]


@chart("bias.priors", known_priors, one=("dataset", "options"), whole=("slot",))
def priors(rows: pd.DataFrame, t: Messages) -> go.Figure:
    """The shares of the slots of each cell against the fair one.

    The column `name` says what cells are called, else what tells them apart does.
    """
    size = int(rows["options"].iloc[0])
    by_name: dict[str, list[Part]] = {}
    for row in named_records(rows):
        by_name.setdefault(row["name"], []).append(row)
    lines, fair = by_name.values(), 1 / size
    few = {at for at, line in enumerate(lines) if min(row["n"] for row in line) < HIDDEN_BELOW}
    cells = Cells(
        of_each(lines, lambda row: row["share"] / 100),
        "surplus",
        (fair - _FULL_COLOUR_RANGE, fair + _FULL_COLOUR_RANGE),
        of_each(lines, lambda row: f"{said(row, 'share')['value']} %"),
        [[f"{name}: {_prior_told(row, t)}" for row in line] for name, line in by_name.items()],
        hrefs(lines),
    )
    return heat_map(
        cells.greyed(few),
        name_heads(list(by_name)),
        name_heads(LETTERS[:size]),
        row_height=_ROW,
        foot=t("bias.fair-at", value=percent(fair)),
    )


def _prior_told(row: Part, t: Messages) -> str:
    key, fair = f"bias.{row['origin']}-told", percent(row["chance"] / 100)
    return t(key, letter=row["slot"], fair=fair, n=count(row["n"]), **said(row, "share"))


def known_gaps(of: FrameOf) -> pd.DataFrame:
    """The groups of questions that were shown in every order."""
    groups = of("groups")
    return groups[groups["order_sensitivity"].notna()]


@chart("bias.gaps", known_gaps, one=("dataset", "kind"))
def gaps(rows: pd.DataFrame, t: Messages) -> go.Figure:
    """Points lost to another order, by subject and model; a star where the rest loses less or more.

    Cells of few questions are grey and give their value in the hover only. The columns `name` and
    `title` say what cells and groups are called.
    """
    named = [row | {"title": row.get("title", row["group"])} for row in named_records(rows)]
    columns, lines = gap_lines(named)
    starred = _unlike_the_rest(named)
    grid = list(lines.values())

    def is_starred(row: Part) -> bool:
        return (row["group"], row["name"]) in starred

    def told(row: Part | None) -> str:
        return _gap_told(row, t, starred=is_starred(row)) if row else ""

    def layer(scale: Scale) -> Cells:
        def shown(row: Part | None) -> bool:
            return row is not None and has_enough(row) == (scale == "loss")

        def text(row: Part | None) -> str:
            if row is None or not has_enough(row) or scale == "grey":
                return ""
            return fixed(row["order_sensitivity"], 0) + "*" * is_starred(row)

        return Cells(
            of_each(
                grid, lambda row: row["order_sensitivity"] / 100 if row and shown(row) else None
            ),
            scale,
            (0.0, 2 * _FULL_COLOUR_RANGE),
            of_each(grid, text),
            of_each(grid, told),
            hrefs(grid),
        )

    return heat_map(
        [layer("loss"), layer("grey")],
        name_heads(list(lines)),
        name_heads(columns),
        row_height=_ROW if len(lines) <= _PRINTED else _SMALL_ROW,
        printed=len(columns) <= 2 * _PRINTED,
    )


def gap_lines(rows: Sequence[Part]) -> tuple[list[str], dict[str, list[Part | None]]]:
    """The names of cells, and by the title of a group its row for each; the greatest mean first."""
    lines: dict[str, dict[str, Part]] = {}
    for row in rows:
        lines.setdefault(row["group"], {})[row["name"]] = row
    columns = list(dict.fromkeys(row["name"] for row in rows))

    def mean(line: Mapping[str, Part]) -> float:
        # Of means that are equal no digit of a float decides: their groups stay in order.
        return round(fmean(row["order_sensitivity"] for row in line.values()), 9)

    return columns, {
        next(iter(line.values()))["title"]: [line.get(name) for name in columns]
        for line in sorted(lines.values(), key=mean, reverse=True)
    }


def has_enough(row: Part) -> bool:
    """Whether a gap rests on enough questions to be shown in colour."""
    return row["order_sensitivity_n"] >= HIDDEN_BELOW


def _unlike_the_rest(rows: Iterable[Part]) -> set[tuple[str, str]]:
    """Group and name of what its test says so of, corrected for all of enough questions."""

    import pandas as pd

    tested = [row for row in rows if has_enough(row) and not pd.isna(row["order_sensitivity_p"])]
    adjusted = benjamini_hochberg([row["order_sensitivity_p"] for row in tested])
    return {
        (row["group"], row["name"])
        for row, p in zip(tested, adjusted, strict=True)
        if p < _FALSE_STARS
    }


def _gap_told(row: Part, t: Messages, *, starred: bool) -> str:
    n = row["order_sensitivity_n"]
    k = count(round(row["order_sensitivity"] / 100 * n))
    text = t("bias.gap-told", k=k, n=count(n), **said(row, "order_sensitivity"))
    return f"{row['title']} · {row['name']}: {text}" + (f" {t('bias.gap-star')}" if starred else "")


@chart("bias.picks", "positions")
def picks(rows: pd.DataFrame, t: Messages) -> go.Figure:
    """How often each position is picked: bars with 95 % intervals beside what is fair.

    A group of bars stands for each dataset, model, mode and number of options.
    """

    import plotly.graph_objects as go

    del t  # in English everywhere
    named = rows.assign(**{name: rows[name].astype("str") for name in _CELL_AND_SIZE})
    shown = [name for name in _CELL_AND_SIZE if named[name].nunique() > 1] or ["model"]
    bars = [
        go.Bar(
            name=" · ".join(str(own[name].iloc[0]) for name in shown),
            x=own["slot"].astype("str"),
            y=own["share_of_picks"],
            error_y=intervals(own, "share_of_picks"),
            customdata=own[["share_of_picks_low", "share_of_picks_high", "picks", "questions"]],
            hovertemplate=_HOVER,
        )
        for _, own in named.groupby(list(_CELL_AND_SIZE), sort=False)
    ]
    drawn = titled_figure(
        bars,
        "How often each position is picked",
        barmode="group",
        xaxis={"title": {"text": "position of the option"}},
        yaxis={
            "title": {"text": "share of the readable trials"},
            "ticksuffix": " %",
            "rangemode": "tozero",
        },
    )
    for fair in sorted(set(rows["chance"])):
        drawn.add_hline(y=fair, line=DOTTED, annotation={"text": f"fair: {fair:.0f} %"})
    return drawn
