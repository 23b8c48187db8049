"""A judged run in the form of OpenCompass's subjective report (its summarizer of October 2023).

Sections, rows and order are those of its `report.md`: the head, `[W / T / L / NB]`, scores, and
ELO with the models as columns. The figures are as `scoring.arena.categories` states them: of the
verdicts that no other order contradicts, each booked on the model that was shown. The models stand
in the order in which its files name them, and three of them make a table.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from tabulate import tabulate

from evalui.errors import UnknownName
from evalui.messages import messages
from evalui.report.analyses.base import Report
from evalui.report.analyses.open_answers import open_parts, picture_suffix
from evalui.report.blocks import ChartBlock
from evalui.report.figures.arena import win_rates_of
from evalui.report.render.markdown import escaped
from evalui.report.render.pictures import pictures
from evalui.report.write.json_text import utf8
from evalui.scoring.arena.battles import BattleTally, in_folder_order
from evalui.scoring.arena.categories import CategoryTable, category_of, category_tables
from evalui.scoring.arena.figures import Arena, with_opencompass_elo
from evalui.scoring.arena.question_groups import Grouping, question_groups
from evalui.scoring.arena.verdicts import battles_from_verdicts
from evalui.types import Language

_ABSENT = "N/A"
_IN_ONE_TABLE = 3  # models
_PICTURES: Mapping[Grouping, tuple[str, str]] = {
    "capability": ("by_capa.png", "Capabilities Dimension Classification Result"),
    "language": ("by_lang.png", "Language Classification  Result"),
}


def opencompass_md(report: Report, language: Language) -> Iterable[bytes]:
    """The report of each judge, and of the panel of several, one after the other, in English.

    Raises:
        UnknownName: no answers were judged.
    """
    del language
    arenas = [*filter(_is_judged, report.arenas)]
    if not arenas:
        raise UnknownName("none-judged")
    # Of many battles its ELO takes minutes, which is not for every archive.
    return (utf8(opencompass_report(with_opencompass_elo(arena))) for arena in arenas)


def opencompass_files(
    report: Report, drawn: Mapping[str, bytes], language: Language
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The same with its two pictures, in a folder for each judge; nothing without one.

    `drawn` are the pictures of the report by name, which may have these two.
    """
    parts = [(part.arena, picture_suffix(n)) for n, part in enumerate(open_parts(report), start=1)]
    judged = [(arena, suffix) for arena, suffix in parts if arena and _is_judged(arena)]
    for arena, suffix in judged:
        folder = "opencompass"
        if len(judged) > 1:
            folder += "/" + re.sub(r"[^\w.+-]+", "_", f"{arena.dataset}_{arena.by}")
        yield f"{folder}/report.md", (utf8(opencompass_report(arena)),)
        for grouping, (file, title) in _PICTURES.items():
            # The report leaves groups of few questions out.
            whole = not any(group.too_few_questions for group in question_groups(arena, grouping))
            own = drawn.get(file.replace(".png", f"{suffix}.png")) if whole else None
            drawing = partial(win_rates_of, arena, grouping, messages(language))
            chart = ChartBlock(file, title, drawing)
            for name, picture in [(file, own)] if own else pictures([chart]):
                yield f"{folder}/{name}", (picture,)


def opencompass_report(arena: Arena) -> str:
    """The report on the verdicts of one judge, or of a panel; ELO is N/A where it is not made."""
    counted = arena.comparisons
    assert counted is not None, "of judges"
    fought = in_folder_order(battles_from_verdicts(arena.verdicts, "drop"), arena.samples)
    models = list(dict.fromkeys(model for one in fought for model in (one.model_a, one.model_b)))
    tables = (models[at : at + _IN_ONE_TABLE] for at in range(0, len(models), _IN_ONE_TABLE))
    rows = category_tables(
        fought,
        {sample.id: category_of(sample) for sample in arena.samples.values()},
        models=models,
        says_neither=all(one.tally.says_neither for one in arena.standings),
    )
    head = [
        "# Subjective Analysis",
        f"A total of {counted.total} comparisons, of which {counted.meaningful} comparisons are "
        "meaningful (A / B answers inconsistent)",
        f"A total of {counted.meaningful} answer comparisons, successfully extracted "
        f"{counted.extracted} answers from {_text(arena.by)} replies, with an extraction success "
        f"rate of {100 * (counted.extraction_rate or 0):.2f}%",
    ]
    if counted.consistent < counted.extracted:
        head.append(
            f"A total of {counted.extracted} answer comparisons, {counted.consistent} pairs "
            "(A vs. B <-> B vs. A) are consistent，consistent rate is "
            f"{100 * (counted.consistent_rate or 0):.2f}%"
        )
    links = (f"![{title}]({file})\n" for file, title in _PICTURES.values())
    return "\n".join(
        [
            *head,
            "### Basic statistics (4 stats: win / tie / lose / not bad)",
            *(_table(rows, some, "Dimension \\ Stat [W / T / L / NB]", _shares) for some in tables),
            "\n",
            *links,
            "",
            "### Model scores (base score is 0, win +3, both +1, neither -1, lose -3)",
            _table(rows, models, "Dimension \\ Score", lambda tally: tally.score),
            "### Bootstrap ELO, Median of n=1000 times ",
            _elo_table(arena),
            "",
        ]
    )


def _is_judged(arena: Arena) -> bool:
    return bool(arena.comparisons and arena.standings)


def _table(
    rows: Sequence[CategoryTable],
    models: Sequence[str],
    head: str,
    cell: Callable[[BattleTally], str | int],
) -> str:
    """A row for each language and capability, and what `cell` says of each model in it."""
    prefix = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}
    return _pipes(
        [
            [
                f"{prefix[row.kind]}: {_text(row.name)}",
                *(cell(tally) if (tally := row.tallies[one]) else _ABSENT for one in models),
            ]
            for row in rows
        ],
        [head, *map(_text, models)],
    )


def _shares(tally: BattleTally) -> str:
    """Won, tied, lost and not bad, of the model's battles."""
    numbers = (tally.win, tally.tie, tally.lose, tally.not_bad)
    return " / ".join(_ABSENT if n is None else f"{100 * n / tally.n:.1f}%" for n in numbers)


def _elo_table(arena: Arena) -> str:
    medians = {
        one.model: one.opencompass_elo for one in sorted(arena.standings, key=lambda one: one.model)
    }
    return _pipes(
        [
            ["elo_score [Mean]", *(one.mean if one else _ABSENT for one in medians.values())],
            ["elo_score [Std]", *(one.std if one else _ABSENT for one in medians.values())],
        ],
        ["", *map(_text, medians)],
    )


def _text(name: str) -> str:
    """A foreign name that stays text; a line within a word, which marks nothing, as it is."""
    return escaped(name).replace("\\_", "_")


def _pipes(rows: Sequence[Sequence[str | int | float]], heads: Sequence[str]) -> str:
    return tabulate(rows, heads, tablefmt="github")
