"""The sections of the Bias page over all models of a run: priors by position, gaps by subject."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evalui.messages import localized
from evalui.report.analyses.position_bias.blocks import BiasLinks, BiasSubject
from evalui.report.analyses.position_bias.figures import (
    GapRow,
    PriorRow,
    comparable,
    gap_rows,
    grouped,
    low_mass_models,
    prior_rows,
    subjects_of,
)
from evalui.report.blocks import (
    NONE,
    Block,
    ChartBlock,
    Details,
    Link,
    Links,
    Paragraph,
    Table,
    TextCell,
    text_table,
)
from evalui.report.charts.bias import gap_map, prior_map
from evalui.report.charts.theme import MIN_QUESTIONS
from evalui.report.numbers import count, format_range, format_value, percent
from evalui.report.words import of_real_models
from evalui.scoring.cell_summary import GroupKind, Summary
from evalui.types import LETTERS, Interval, Language

ALL_SUBJECTS = "*"  # in place of a category: the subjects of all
_KEY = "by-subject"


def model_maps(
    subject: BiasSubject,
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    links: BiasLinks | None = None,
    group: str = "",
) -> list[Details]:
    """What each position draws from every model, and where the order of options matters.

    Of the cells among `summaries` with the dataset and mode of `subject`; a section without a
    finding is left out. `baselines` are scripted models, which are spoken of only where there is
    nothing else. `group` is the category whose subjects are shown, or ALL_SUBJECTS.
    """
    cells = comparable(summaries, subject.summary.cell)
    made = _Maps(subject, cells, language, frozenset(baselines), links)
    return [section for section in (made.priors(), made.gaps(group)) if section]


@dataclass(frozen=True, slots=True)
class _Maps:
    subject: BiasSubject
    cells: Sequence[Summary]
    language: Language
    baselines: frozenset[str]
    links: BiasLinks | None

    def priors(self) -> Details | None:
        """The map of priors; of one model the table of positions says the same."""
        n_options, language = self.subject.bias.n_options, self.language
        rows = prior_rows(self.cells, n_options, language)
        if len(rows) < 2:
            return None
        origins = {row.origin for row in rows}
        kind = "prior-mixed" if len(origins) > 1 else next(iter(origins))
        rest = localized("prior-rest", language, fair=percent(1 / n_options))
        chart = ChartBlock(
            f"priors{self.subject.suffix}.png",
            localized("prior-title", language),
            prior_map(rows, language),
            localized(f"{kind}-about", language, rest=rest),
            links=self._prior_links(rows),
        )
        blocks: list[Block] = [chart]
        if muted := low_mass_models(self.cells, n_options):
            models = localized("list.comma", language).join(muted)
            blocks.append(Paragraph(localized("prior-muted", language, models=models), small=True))
        return Details(
            f"all-models{self.subject.suffix}",
            localized("all-models", language),
            self._most_drawn(rows),
            tuple(blocks),
        )

    def _prior_links(self, rows: Sequence[PriorRow]) -> dict[str, str]:
        links = self.links
        if links is None:
            return {}
        return {
            f"{row.key},{slot}": links.samples(self._cell_of(row).cell, picked=slot)
            for row in rows
            for slot in range(len(row.shares))
        }

    def _most_drawn(self, rows: Sequence[PriorRow]) -> str:
        """Who leans most, and where to; of scripted models only if there are no others."""

        def say(rows: Sequence[PriorRow]) -> str:
            row, slot = max(
                ((row, slot) for row in rows for slot in range(len(row.shares))),
                key=lambda each: each[0].shares[each[1]].value,
            )
            fields = {"name": row.name, "letter": LETTERS[slot]}
            value = format_value(row.shares[slot])
            return localized("prior-most", self.language, **fields, value=value)

        return of_real_models(
            rows, lambda row: self._cell_of(row).cell.model in self.baselines, say, self.language
        )

    def _cell_of(self, row: PriorRow) -> Summary:
        return self.cells[int(row.key)]

    def gaps(self, group: str) -> Details | None:
        """The map of gaps: categories where there are any, else or on demand subjects."""
        language, links = self.language, self.links
        categories = gap_rows(self.cells, "category", language)[1]
        kind: GroupKind = "category" if categories and not group else "subject"
        columns, rows = gap_rows(self.cells, kind, language)
        members = subjects_of(self.cells, group)
        rows = [row for row in rows if row.key in members] or rows
        if not rows:
            return None
        blocks: list[Block] = []
        if of := [row.name for row in categories if row.key == group]:
            blocks.append(
                Paragraph(localized("maps.subjects_of", language, name=of[0]), strong=True)
            )
        blocks += self._gap_map(columns, rows, self._gap_links(rows, kind))
        if links and categories:
            other, word = ("", "back") if group else (ALL_SUBJECTS, "all_subjects")
            address = links.here(_KEY, gap_of=other)
            blocks.append(Links((Link(localized(f"maps.{word}", language), address),)))
        return Details(
            _KEY + self.subject.suffix,
            localized(f"gap-by-{kind}", language),
            self._most_lost(columns, rows),
            tuple(blocks),
            open=bool(group),
        )

    def _gap_map(
        self, columns: Sequence[str], rows: Sequence[GapRow], leads: dict[str, str]
    ) -> list[Block]:
        """The map, or a table where all of its cells would be grey."""
        language = self.language
        if not any(_enough(gap) for row in rows for gap in row.gaps):
            few = Paragraph(localized("maps.all_few", language))
            return [few, _table(columns, rows, language, leads)]
        title, about = (localized(f"gap-{each}", language) for each in ("title", "about"))
        chart = gap_map(columns, rows, language)
        return [ChartBlock(f"gaps{self.subject.suffix}.png", title, chart, about, links=leads)]

    def _gap_links(self, rows: Sequence[GapRow], kind: GroupKind) -> dict[str, str]:
        """A category leads to its subjects, a subject to its questions."""
        links, columns = self.links, grouped(self.cells)
        if links is None:
            return {}
        leads: dict[str, str] = {}
        for row in rows:
            for place, gap in enumerate(row.gaps):
                if gap:
                    leads[f"{row.key},{place}"] = (
                        links.here(_KEY, gap_of=row.key)
                        if kind == "category"
                        else links.samples(
                            columns[place].cell, subject=row.key, outcome="order_sensitive"
                        )
                    )
        return leads

    def _most_lost(self, columns: Sequence[str], rows: Sequence[GapRow]) -> str:
        models = [summary.cell.model for summary in grouped(self.cells)]
        known = [
            (gap, row.name, place)
            for row in rows
            for place, gap in enumerate(row.gaps)
            if gap and _enough(gap)
        ]
        if not known:
            return localized("gap-few", self.language)

        def say(gaps: Sequence[tuple[Interval, str, int]]) -> str:
            gap, name, place = max(gaps, key=lambda each: each[0].value)
            if not gap.value:
                return localized("gap-nothing", self.language)
            fields = {"name": name, "model": columns[place], "value": format_value(gap)}
            return localized("gap-most", self.language, **fields)

        return of_real_models(
            known, lambda each: models[each[2]] in self.baselines, say, self.language
        )


def _table(
    columns: Sequence[str], rows: Sequence[GapRow], language: Language, leads: dict[str, str]
) -> Table:
    body = [
        (
            row.name,
            *(
                TextCell(f"{format_value(gap)} ({format_range(gap)})", href=leads.get(key, ""))
                if gap
                else NONE
                for key, gap in ((f"{row.key},{place}", gap) for place, gap in enumerate(row.gaps))
            ),
            count(max((gap.n for gap in row.gaps if gap), default=0)),
        )
        for row in rows
    ]
    return text_table([localized("maps.group", language), *columns, "n"], body)


def _enough(gap: Interval | None) -> bool:
    return gap is not None and gap.n >= MIN_QUESTIONS
