"""A chart of each kind, as small as it can be."""

from evalui.report.axes import Axis, share_axis
from evalui.report.charts.kinds import (
    Bar,
    Bars,
    Cells,
    HeatMap,
    Intervals,
    Label,
    Level,
    Line,
    Lines,
    Mark,
    Panel,
    Series,
    SmallMultiples,
)
from evalui.report.charts.theme import COLOURS, SeriesStyle

HEAT_MAP = HeatMap(
    rows=[Label("top"), Label("foot")],
    columns=[Label("left"), Label("right")],
    layers=[
        Cells(
            [[0.1, 0.9], [0.5, None]],
            "share",
            text=[[Label("10 %"), Label("90 %", "80–100")], [Label("50 %"), Label()]],
        )
    ],
    row_height=40,
    row_title="rows",
    column_title="columns",
    missing=[(1, 1)],
    beside=[(0, "beside\nit")],
    foot="below it",
)
INTERVALS = Intervals(
    rows=[Label("first"), Label("second", "detail")],
    series=[
        Series(
            SeriesStyle(COLOURS[0]),
            [Mark(0, 40, 20, 50), Mark(1, 60, 50, 80, hollow=True)],
        )
    ],
    axis=share_axis(100, "share"),
    row_height=40,
    grey=[(1, 10, 20)],
    rule=(50, "least"),
)
LINES = Lines(
    [
        Line([1, 10, 100], [90, 40, 10], COLOURS[:1], labels=["", "line", ""]),
        Line([10], [50], COLOURS[1:2], dash="points", ranges=[(40, 70)]),
    ],
    Axis(1, 100, [1, 10, 100], ["1", "10", "100"], "questions", logarithmic=True),
    share_axis(100, "share"),
    height=400,
    marked=20,
    note=(1, 100, "a note"),
    below=Bars(
        [Bar(5, 40, Label("40"), "40", COLOURS[0]), Bar(50, 60, Label("60"), "60")],
        Axis(0, 100, (), ()),
        levels=[Level(50, "even", x=60)],
        width=2,
    ),
)
PANELS = SmallMultiples(
    [
        Panel(
            Label(title, f"n = {n}"),
            HeatMap(
                [Label("a model")],
                [Label("1")],
                [Cells([[0.4]], "share", text=[[Label("40 %")]])],
                30,
            ),
        )
        for title, n in (("first", 3), ("second", 4))
    ]
)
