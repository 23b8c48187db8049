"""What an annotator sees after finishing: the preferred models, and who agrees with whom."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalui.errors import DataError
from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.arena.standings import rating_range, rating_text
from evalui.report.analyses.people.figures import (
    Disagreement,
    PeopleFigures,
    Votes,
    latest_votes,
    people_figures,
    voted_arenas,
)
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import marker
from evalui.report.imports.battles import read_votes
from evalui.report.numbers import fixed
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.votes import add_imported_votes, read_verdicts
from evalui.runs.spec import OPEN
from evalui.scoring.arena.agreement import RaterAgreement, VoterAgreement, cohen_kappa
from evalui.scoring.arena.battles import BattleTally, tallies
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.verdicts import battles_from_verdicts, panel_verdicts
from evalui.types import Interval, Outcome, Verdict
from evalui.ui.components.format import share, short_id
from evalui.ui.components.widgets import (
    definitions,
    folded,
    note,
    page_head,
    status,
    table,
    titled,
)
from evalui.ui.services.service import AppService

_LISTED = 10  # disagreements that need no unfolding
_LINES = 6  # of agreement
_QUESTION_LENGTH = 80


@dataclass(frozen=True, slots=True)
class PeopleView:
    """What the cards need: the words, the contestants in order, the judge and the figures."""

    t: Messages
    names: Sequence[str]
    baselines: frozenset[str]
    judged: Arena
    figures: PeopleFigures

    def model(self, name: str) -> Html:
        """A model's marker and name."""
        place = self.names.index(name)
        return span(marker(place, baseline=name in self.baselines), name, cls="mk")

    def pair(self, first: str, second: str) -> Html:
        """Two models side by side."""
        return join(self.model(first), " / ", self.model(second))

    @property
    def judge(self) -> str:
        """What the judge is called."""
        by = self.judged.by
        return self.t("annotate.panel") if by == "panel" else by

    @property
    def has_judge(self) -> bool:
        """Whether a judge gave any verdict."""
        return bool(self.judged.battles)


def result_page(service: AppService, t: Messages, run: RunRow, voter: str) -> Html:
    """The whole result of a run, dataset by dataset, with the file of its votes."""
    datasets = open_datasets(service, run.id)
    several = len(datasets) > 1
    parts = [
        _dataset(service, t, run, voter, cell=cell, title=cell.cell.dataset if several else "")
        for cell in datasets
    ]
    save = el("a", t("annotate.save"), href=f"../votes/{run.id}.jsonl", cls="btn", download=True)
    below = f"{run.name} · {t('annotate.read_only', name=voter)}"
    return join(page_head(t("annotate.result"), below, _upload(t), save), *parts)


def agreement_so_far(service: AppService, t: Messages, run: RunRow, voter: str) -> str:
    """How often this annotator agrees with most of the others, in a sentence without names."""
    by_person: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in _sides_by_name(service.votes(run.id)):
        by_person[verdict.rater].append(verdict)
    mine = by_person.pop(voter, [])
    kappa = cohen_kappa(mine, panel_verdicts(list(by_person.values()))) if by_person else None
    if kappa is None:
        return t("annotate.agreement_alone")
    same = round(kappa.raw.value * kappa.n)
    return t.count("annotate.agreement_others", kappa.n, same=f"{same:,}")


def import_votes(service: AppService, run: RunRow, upload: str, voter: str) -> int:
    """Keep the votes of an uploaded file and return how many are new.

    Raises:
        DataError: the file is no file of votes on this run.
    """
    del voter  # votes keep the names they come with
    paths = service.uploads.paths(service.owner, upload)
    if not paths:
        raise DataError("upload-empty")
    by_dataset: dict[str, list[Verdict]] = defaultdict(list)
    for path in paths:
        for dataset, verdicts in read_votes(path).items():
            by_dataset[dataset] += verdicts
    pairs = service.voting_pairs.of_run(run.id)
    return add_imported_votes(service.database, run.id, by_dataset, pairs=pairs)


def open_datasets(service: AppService, run_id: str) -> tuple[CellRow, ...]:
    """One cell of written answers for each dataset of a run, in order."""
    by_name: dict[str, CellRow] = {}
    for cell in read_cells(service.database, run_id):
        if cell.cell.mode == OPEN and cell.state != "impossible":
            by_name.setdefault(cell.dataset_key, cell)
    return tuple(by_name.values())


def _sides_by_name(votes: Votes) -> tuple[Verdict, ...]:
    """The votes with the sides of each pair as the names sort: annotators see them in other orders.

    Two datasets may call different questions alike, so each question is named with its own.
    """
    named = [
        replace(one, duel=replace(one.duel, sample_id=f"{dataset}\0{one.duel.sample_id}"))
        for dataset, verdicts in votes.items()
        for one in verdicts
    ]
    names = {name for one in named for name in (one.duel.model_a, one.duel.model_b)}
    return latest_votes(named, {name: place for place, name in enumerate(sorted(names))})


def _dataset(
    service: AppService, t: Messages, run: RunRow, voter: str, *, cell: CellRow, title: str
) -> Html:
    verdicts = read_verdicts(service.database, run.id, cell.dataset_key)
    figures = _figures(service, t, run, cell.cell.dataset)
    names = [one.name for one in figures.judged.contestants]
    view = PeopleView(t, names, service.baselines(), figures.judged, figures)
    return div(
        el("h2", title) if title else None,
        div(_own_standings(view, verdicts, voter), agreement(view), cls="row"),
        standings(view),
        prediction_powered(view),
        disagreements(view),
        voters(view),
        cls="stack",
    )


def _figures(service: AppService, t: Messages, run: RunRow, dataset: str) -> PeopleFigures:
    """The votes on a dataset beside its judge or panel; empty ones without votes."""
    report = service.report(run.id, t.language)
    figures = (one for one in report.people if one.judged.dataset == dataset)
    judged = voted_arenas(dataset, report.arenas, report.results)
    return next(figures, None) or people_figures(judged[0], ())


def _own_standings(view: PeopleView, verdicts: Sequence[Verdict], voter: str) -> Html:
    t = view.t
    mine = [verdict for verdict in verdicts if verdict.rater == voter]
    counted = tallies(battles_from_verdicts(mine, "half"))
    heads = [t(f"annotate.{name}") for name in ("model", "wins", "good", "bad", "losses", "rate")]
    rows = [_tally(view, name, tally) for name, tally in _best_first(counted)]
    body = table(heads, rows, right=range(1, len(heads))) if rows else _no_votes(t)
    return titled(t("annotate.own"), body, aside=t.count("annotate.votes", len(mine)), cls="f15")


def _tally(view: PeopleView, name: str, tally: BattleTally) -> list[Child]:
    rate = f"{fixed(100 * tally.win_rate, 0)} %"
    return [view.model(name), tally.win, tally.both_good, tally.both_bad, tally.lose, el("b", rate)]


def _best_first(counted: Mapping[str, BattleTally]) -> list[tuple[str, BattleTally]]:
    return sorted(counted.items(), key=lambda item: -item[1].win_rate)


def _no_votes(t: Messages) -> Html:
    return el("p", t("annotate.no_votes"), cls="dim")


def _upload(t: Messages) -> Html:
    """A file field that the page's script sends by itself."""
    field = el("input", type="file", accept=".jsonl", tabindex=0)
    return el(
        "label",
        field,
        span(t("annotate.load"), cls="btn"),
        span("", data_status=True, cls="meta"),
        cls="drop add",
        data_sending=t("drop.sending"),
        data_lost=t("drop.lost"),
    )


def agreement(view: PeopleView) -> Html:
    """How far people agree with the judge and with each other."""
    t, figures = view.t, view.figures
    pairs: list[tuple[Child, Child]] = []
    if figures.agreement:
        pairs.append(
            (t("annotate.majority_judge", judge=view.judge), _agreement_text(t, figures.agreement))
        )
    if len(figures.by_person) > 1:
        pairs += [
            (
                t("annotate.one_judge", name=name, judge=view.judge),
                _agreement_text(t, rater_agreement),
            )
            for name, rater_agreement in figures.by_person.items()
        ]
    pairs += [
        (t("annotate.two_people", first=first, second=second), _agreement_text(t, rater_agreement))
        for (first, second), rater_agreement in figures.between_people.items()
    ]
    if not pairs:
        none = el("p", t("annotate.agreement_none"), cls="dim")
        return titled(t("annotate.agreement_title"), none)
    rest = definitions(pairs[_LINES:])
    return titled(
        t("annotate.agreement_title"),
        definitions(pairs[:_LINES]),
        folded(t("annotate.more", n=len(pairs) - _LINES), rest) if len(pairs) > _LINES else None,
        el("p", t("annotate.kappa_about"), cls="meta gap-s"),
    )


def standings(view: PeopleView) -> Html | None:
    """People's ratings beside the judge's."""
    t, human = view.t, view.figures.human_arena
    if human is None or not human.standings:
        return None
    judged = {standing.model: standing for standing in view.judged.standings}
    heads = [t("annotate.model"), t("annotate.people_elo"), t("annotate.people_bt")]
    if judged:
        heads += [t("annotate.judge_elo", judge=view.judge), t("annotate.judge_bt")]
    rows = [_standing(view, standing, judged.get(standing.model)) for standing in human.standings]
    if not judged:
        rows = [row[:3] for row in rows]
    people = t.count("annotate.people", view.figures.people)
    votes = t.count("annotate.votes", view.figures.votes)
    return titled(
        t("annotate.standings"),
        table(heads, rows, right=range(1, len(heads))),
        aside=f"{votes} · {people}",
    )


def prediction_powered(view: PeopleView) -> Html | None:
    """Win rates after the judge, after people, and after the judge corrected by people."""
    t = view.t
    rates = {pair: rate for pair, rate in view.figures.prediction_powered.items() if rate.human}
    if not view.has_judge or not rates:
        return None
    heads = [t(f"annotate.{name}") for name in ("pair_of", "by_judge", "by_people", "by_both")]
    rows: list[list[Child]] = [
        [
            view.pair(first, second),
            share(rate.judge),
            _share(rate.human),
            _share(rate.combined),
        ]
        for (first, second), rate in rates.items()
    ]
    about = el("p", t("annotate.powered_about"), cls="meta gap-s")
    return titled(t("annotate.powered"), table(heads, rows), about)


def disagreements(view: PeopleView) -> Html | None:
    """The questions on which opinions part."""
    t, listed = view.t, view.figures.disagreements
    if not listed:
        return None
    heads = [t(f"annotate.{name}") for name in ("question", "pair_of", "people_said", "judge_said")]
    if not view.has_judge:
        heads = heads[:3]
    rows = [_disagreement(view, one)[: len(heads)] for one in listed[:_LISTED]]
    return titled(
        t("annotate.disagreements"),
        table(heads, rows, cls="parting"),
        _more_rows(t, heads, listed, view),
        aside=t.count("annotate.of_votes", len(listed)),
    )


def voters(view: PeopleView) -> Html | None:
    """Each annotator beside the others; those who differ most are named first."""
    t, rows = view.t, view.figures.voters
    if len(rows) < 2:
        return None
    unlike = [one.name for one in rows if one.outlier]
    outliers = note("warn", t("annotate.outliers", names=t("list.comma").join(unlike)))
    heads = [t(f"annotate.{name}") for name in ("voter", "same_as_others", "others", "verdict")]
    return titled(
        t("annotate.voters"),
        outliers if unlike else None,
        folded(t("annotate.each"), table(heads, [_voter(t, one) for one in rows])),
    )


def _more_rows(
    t: Messages, heads: Sequence[Child], rest: Sequence[Disagreement], view: PeopleView
) -> Html | None:
    rows = [_disagreement(view, one)[: len(heads)] for one in rest[_LISTED:]]
    return (
        folded(t.count("annotate.more", len(rows)), table(heads, rows, cls="parting"))
        if rows
        else None
    )


def _standing(view: PeopleView, human: Standing, judge: Standing | None) -> list[Child]:
    return [
        view.model(human.model),
        el("b", rating_text(human.elo)),
        _rating(human.rating),
        rating_text(judge.elo) if judge else "–",
        _rating(judge.rating) if judge else "–",
    ]


def _rating(rating: Rating | None) -> Child:
    if rating is None:
        return "–"
    ends = span(rating_range(rating.low, rating.high), cls="meta ends")
    return span(el("b", rating_text(rating.value)), " ", ends, cls="nw")


def _agreement_text(t: Messages, rater_agreement: RaterAgreement) -> Html:
    if rater_agreement.kappa is None:
        return join(share(rater_agreement.raw), " ", span(t("annotate.no_kappa"), cls="meta"))
    kappa = rater_agreement.kappa
    ends = (
        ""
        if kappa.low is None or kappa.high is None
        else f" ({_two_decimals(kappa.low)}–{_two_decimals(kappa.high)})"
    )
    return join(
        f"κ {_two_decimals(kappa.value)}", span(ends, cls="meta"), " · ", share(rater_agreement.raw)
    )


def _two_decimals(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _share(interval: Interval | None) -> Child:
    return share(interval) if interval else "–"


def _disagreement(view: PeopleView, one: Disagreement) -> list[Child]:
    t, duel = view.t, one.duel
    sample = view.judged.samples[duel.sample_id]
    question = sample.question[:_QUESTION_LENGTH]
    cut = "…" if len(sample.question) > _QUESTION_LENGTH else ""
    outcomes = [
        el(
            "div",
            span(f"{name}: ", cls="dim"),
            _outcome_text(t, duel.model_a, duel.model_b, outcome),
        )
        for name, outcome in one.people.items()
    ]
    return [
        join(span(short_id(duel.sample_id), cls="mono"), " ", f"{question}{cut}"),
        view.pair(duel.model_a, duel.model_b),
        join(*outcomes),
        _outcome_text(t, duel.model_a, duel.model_b, one.judge),
    ]


def _outcome_text(t: Messages, first: str, second: str, outcome: Outcome | None) -> str:
    if outcome is None:
        return "–"
    winner = {"a": first, "b": second}.get(outcome)
    return t("annotate.prefers", model=winner) if winner else t(f"annotate.said_{outcome}")


def _voter(t: Messages, one: VoterAgreement) -> list[Child]:
    others = "–" if one.others_agreement is None else f"{100 * one.others_agreement:.0f} %"
    unlike = status("warn", t("annotate.unlike"))
    return [one.name, _share(one.agreement), others, unlike if one.outlier else t("annotate.alike")]
