"""Why no model may beat guessing, each reason with its next step."""

from evalui.messages import localized
from evalui.report.analyses.overview.places import Places
from evalui.report.analyses.overview.standing import DatasetStanding
from evalui.report.blocks import Column, Details, Table, TextCell
from evalui.report.numbers import fixed
from evalui.scoring.cell_summary import Summary
from evalui.scoring.statistics.intervals import beats_guessing, share_interval
from evalui.types import Language


def why_guessing(standing: DatasetStanding, language: Language, places: Places | None) -> Details:
    """Three usual reasons, each with its next step."""
    shots = _shots(standing.leading[0])
    kind = f"examples-{'some' if shots else 'none'}"
    texts = {
        "examples": localized(f"why.{kind}", language, n=shots),
        "replies": localized("why.replies-text", language),
        "difficulty": localized("why.difficulty-text", language),
    }
    steps = {key: f"why.{kind if key == 'examples' else key}-do" for key in texts}
    hrefs = _next_steps(standing, places) if places else {}
    rows = [
        (
            TextCell(localized(f"why.{key}", language), strong=True),
            text,
            *([TextCell(localized(steps[key], language), href=hrefs[key])] if hrefs else []),
        )
        for key, text in texts.items()
    ]
    columns = tuple(Column("", width=width) for width in (200, 0, 0)[: len(rows[0])])
    return Details(
        "why",
        localized("why.name", language),
        localized("why.finding", language),
        (Table(columns, tuple(rows)),),
        open=True,
    )


def _next_steps(standing: DatasetStanding, places: Places) -> dict[str, str]:
    first = standing.leading[0].cell
    return {
        "examples": f"?again={places.run}",
        "replies": places.samples(first, outcome="wrong"),
        "difficulty": "?tab=evaluate",
    }


def needed_share(summary: Summary) -> str:
    """The least share of right answers, in whole per cent, that would beat guessing."""
    chance = summary.chance or 0.0
    for right in range(summary.n + 1):
        share = share_interval(right, summary.n)
        if share and beats_guessing(share, chance):
            return fixed(100 * share.value, 0)
    return "100"


def _shots(summary: Summary) -> int:
    """The worked examples before each question, as its signature has them."""
    parts = (part.partition(":") for part in summary.cell.signature.split("|"))
    return next((int(value) for name, _, value in parts if name == "shots" and value.isdigit()), 0)
