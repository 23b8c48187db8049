"""The pictures of one cell as tables whose figures lead to their questions; the lesser figures."""

from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.position_bias import ckld_words
from evalui.report.analyses.statistics.narrative import p_value
from evalui.report.numbers import count, figure, fixed, percent
from evalui.report.numbers import span as spread
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.position_bias.significance import Tested
from evalui.scoring.position_bias.summary import Bias
from evalui.types import LETTERS, Interval
from evalui.ui.components.html import Child, Html, el, join, span
from evalui.ui.components.widgets import definitions, table


def counts_table(t: Messages, found: Bias, run_id: str, cell_id: int) -> Html:
    """Answers by right and picked position; each count is a link to its questions."""
    positions = found.position
    letters = LETTERS[: found.n_options]
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
    return folded(t, table(heads, rows, right=range(1, len(heads)), cls="grid-table"))


def positions_table(t: Messages, found: Bias) -> Html:
    """How often each position is picked, and how often the right answer is found there."""
    heads = [t(f"bias.{name}") for name in ("position", "share", "fair", "recall")]
    rows: list[list[Child]] = [
        [
            el("b", LETTERS[slot]),
            _share(share, n=False),
            f"{percent(found.position.chance)} %",
            _share(recall, n=True),
        ]
        for slot, (share, recall) in enumerate(
            zip(found.position.shares, found.position.recalls, strict=True)
        )
    ]
    return el(
        "details", el("summary", t("bias.tables")), table(heads, rows, cls="slim"), cls="gap-s"
    )


def figures_table(t: Messages, found: Bias) -> Html:
    """The figures that no sentence tells, for readers who know them by name."""
    steady, plain = found.consistency, found.original
    rows: list[tuple[Child, Child]] = [
        (t("spread.rstd"), _points(t, found.spread.rstd)),
        (t("spread.floor"), _floor(t, found)),
        (t("spread.rsd"), _number(found.spread.rsd)),
        (t("spread.ckld"), ckld_words(found.spread, t.language)),
        (t("spread.original"), _points(t, plain.rstd if plain else None)),
        (
            t("spread.original_floor"),
            t("spread.floor_of", mean=fixed(plain.mean, 1), upper=fixed(plain.upper, 1))
            if plain
            else "–",
        ),
        (t("spread.sensitivity"), _share(steady.sensitivity_gap if steady else None, n=False)),
        (t("spread.soft_ece"), _number(found.ece)),
        (t("spread.cochran"), _tested(t, found, found.tests.recalls)),
        (t("spread.wald"), _tested(t, found, found.tests.clustered)),
    ]
    return join(el("p", t("maps.figures_about"), cls="meta"), definitions(rows))


def questions(told: Child, address: dict[str, str | int], cell: str) -> Html:
    """A figure that leads to its questions; `cell` is what a click on the picture asks for."""
    return el("a", told, href="?" + urlencode(address), data_cell=cell)


def folded(t: Messages, content: Html) -> Html:
    """A table below its picture, for those who read or use the keyboard."""
    return el("details", el("summary", t("maps.as_table")), content, cls="gap-s")


def _count(number: int, address: dict[str, str | int], cell: str) -> Child:
    return questions(count(number), address, cell) if number else "0"


def _share(share: Interval | None, *, n: bool) -> Child:
    if share is None:
        return "–"
    told = f"{spread(share)} · n {count(share.n)}" if n else spread(share)
    return join(f"{figure(share)} % ", span(told, cls="meta"))


def _points(t: Messages, value: float | None) -> str:
    return "–" if value is None else t("spread.points", value=fixed(value, 1))


def _number(value: float | None) -> str:
    return "–" if value is None else fixed(value, 3)


def _floor(t: Messages, found: Bias) -> str:
    permuted = found.tests.permuted
    if permuted is None or permuted.floor is None or permuted.floor95 is None:
        return "–"
    return t("spread.floor_of", mean=fixed(permuted.floor, 1), upper=fixed(permuted.floor95, 1))


def _tested(t: Messages, found: Bias, tested: Tested | None) -> str:
    if found.n < HIDDEN_BELOW:
        return t("statistics.few")
    if tested is None:
        return t("spread.missing")
    return f"{fixed(tested.statistic, 1)} · {t('spread.p', p=p_value(tested.p))}"
