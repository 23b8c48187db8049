"""The pictures of one cell as tables whose figures lead to their questions; the lesser figures."""

from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.position_bias import ckld_text
from evalui.report.numbers import count, fixed, format_value, p_value, percent
from evalui.report.numbers import format_range as spread
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.position_bias.significance import StatisticalTest
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import LETTERS, Interval
from evalui.ui.components.html import Child, Html, el, join, span
from evalui.ui.components.widgets import definitions, table


def counts_table(t: Messages, bias: StratumBias, run_id: str, cell_id: int) -> Html:
    """Answers by right and picked position; each count is a link to its questions."""
    positions = bias.position
    letters = LETTERS[: bias.n_options]
    address = {"run": run_id, "sub": "samples", "cell": cell_id}
    rows: list[list[Child]] = []
    for gold, counts in enumerate(positions.counts):
        here = address | {"gold": gold}
        links: list[Child] = [
            _count(number, here | {"picked": picked}, f"{gold},{picked}")
            for picked, number in enumerate(counts)
        ]
        others = {"unreadable": positions.unreadable[gold], "tied": positions.tied[gold]}
        links += [
            _count(number, here | {"outcome": outcome}, f"{gold},{outcome}")
            for outcome, number in others.items()
        ]
        rows.append([el("b", letters[gold]), *links])
    heads = [t("bias.gold"), *letters, t("bias.unreadable"), t("bias.tied")]
    return collapsible_table(t, table(heads, rows, right=range(1, len(heads)), cls="grid-table"))


def positions_table(t: Messages, bias: StratumBias) -> Html:
    """How often each position is picked, and how often the right answer is found there."""
    heads = [t(f"bias.{name}") for name in ("position", "share", "fair", "recall")]
    rows: list[list[Child]] = [
        [
            el("b", LETTERS[slot]),
            _share(share, n=False),
            f"{percent(bias.position.chance)} %",
            _share(recall, n=True),
        ]
        for slot, (share, recall) in enumerate(
            zip(bias.position.shares, bias.position.recalls, strict=True)
        )
    ]
    return el(
        "details", el("summary", t("bias.tables")), table(heads, rows, cls="slim"), cls="gap-s"
    )


def figures_table(t: Messages, bias: StratumBias) -> Html:
    """The figures that no sentence tells, for readers who know them by name."""
    steady, plain = bias.consistency, bias.original_floor
    rows: list[tuple[Child, Child]] = [
        (t("spread.rstd"), _points(t, bias.spread.rstd)),
        (t("spread.floor"), _floor(t, bias)),
        (t("spread.rsd"), _number(bias.spread.rsd)),
        (t("spread.ckld"), ckld_text(bias.spread, t.language)),
        (t("spread.original"), _points(t, plain.rstd if plain else None)),
        (
            t("spread.original_floor"),
            t("spread.floor_of", mean=fixed(plain.mean, 1), upper=fixed(plain.percentile_95, 1))
            if plain
            else "–",
        ),
        (t("spread.sensitivity"), _share(steady.sensitivity_gap if steady else None, n=False)),
        (t("spread.soft_ece"), _number(bias.ece)),
        (t("spread.cochran"), _tested(t, bias, bias.tests.cochran_q)),
        (t("spread.wald"), _tested(t, bias, bias.tests.wald)),
    ]
    return join(el("p", t("maps.figures_about"), cls="meta"), definitions(rows))


def questions_link(label: Child, address: dict[str, str | int], cell: str) -> Html:
    """A figure that leads to its questions; `cell` is what a click on the picture asks for."""
    return el("a", label, href="?" + urlencode(address), data_cell=cell)


def collapsible_table(t: Messages, content: Html) -> Html:
    """A table below its picture, for those who read or use the keyboard."""
    return el("details", el("summary", t("maps.as_table")), content, cls="gap-s")


def _count(number: int, address: dict[str, str | int], cell: str) -> Child:
    return questions_link(count(number), address, cell) if number else "0"


def _share(share: Interval | None, *, n: bool) -> Child:
    if share is None:
        return "–"
    told = f"{spread(share)} · n {count(share.n)}" if n else spread(share)
    return join(f"{format_value(share)} % ", span(told, cls="meta"))


def _points(t: Messages, value: float | None) -> str:
    return "–" if value is None else t("spread.points", value=fixed(value, 1))


def _number(value: float | None) -> str:
    return "–" if value is None else fixed(value, 3)


def _floor(t: Messages, found: StratumBias) -> str:
    permuted = found.tests.permutation
    if permuted is None or permuted.mean_rstd is None or permuted.rstd_95 is None:
        return "–"
    return t("spread.floor_of", mean=fixed(permuted.mean_rstd, 1), upper=fixed(permuted.rstd_95, 1))


def _tested(t: Messages, found: StratumBias, tested: StatisticalTest | None) -> str:
    if found.n < HIDDEN_BELOW:
        return t("statistics.few")
    if tested is None:
        return t("spread.missing")
    return f"{fixed(tested.statistic, 1)} · {t('spread.p', p=p_value(tested.p))}"
