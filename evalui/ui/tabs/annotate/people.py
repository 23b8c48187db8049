"""The cards that hold people's votes against each other and against the judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena, Standing
from evalui.report.analyses.people.figures import Disagreement, PeopleFigures
from evalui.scoring.arena.agreement import RaterAgreement, VoterAgreement
from evalui.types import Interval, Outcome
from evalui.ui.components.format import share
from evalui.ui.components.html import Child, Html, el, join, span
from evalui.ui.components.widgets import definitions, marker, note, status, table, titled
from evalui.ui.tabs.arena.duel import short_id
from evalui.ui.tabs.arena.standings import collapsible_card, points, rating_with_range

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
        """Whether a judge said anything at all."""
        return bool(self.judged.battles)


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
            (t("annotate.one_judge", name=name, judge=view.judge), _agreement_text(t, found))
            for name, found in figures.by_person.items()
        ]
    pairs += [
        (t("annotate.two_people", first=first, second=second), _agreement_text(t, found))
        for (first, second), found in figures.between_people.items()
    ]
    if not pairs:
        none = el("p", t("annotate.agreement_none"), cls="dim")
        return titled(t("annotate.agreement_title"), none)
    rest = definitions(pairs[_LINES:])
    return titled(
        t("annotate.agreement_title"),
        definitions(pairs[:_LINES]),
        collapsible_card(t("annotate.more", n=len(pairs) - _LINES), rest)
        if len(pairs) > _LINES
        else None,
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
    t, found = view.t, view.figures.disagreements
    if not found:
        return None
    heads = [t(f"annotate.{name}") for name in ("question", "pair_of", "people_said", "judge_said")]
    if not view.has_judge:
        heads = heads[:3]
    rows = [_disagreement(view, one)[: len(heads)] for one in found[:_LISTED]]
    return titled(
        t("annotate.disagreements"),
        table(heads, rows, cls="parting"),
        _more_rows(t, heads, found, view),
        aside=t.count("annotate.of_votes", len(found)),
    )


def voters(view: PeopleView) -> Html | None:
    """Each person beside the others; those who are unlike them are named first."""
    t, found = view.t, view.figures.voters
    if len(found) < 2:
        return None
    unlike = [one.name for one in found if one.outlier]
    told = note("warn", t("annotate.outliers", names=t("list.comma").join(unlike)))
    heads = [t(f"annotate.{name}") for name in ("voter", "same_as_others", "others", "verdict")]
    return titled(
        t("annotate.voters"),
        told if unlike else None,
        collapsible_card(t("annotate.each"), table(heads, [_voter(t, one) for one in found])),
    )


def _more_rows(
    t: Messages, heads: Sequence[Child], found: Sequence[Disagreement], view: PeopleView
) -> Html | None:
    rows = [_disagreement(view, one)[: len(heads)] for one in found[_LISTED:]]
    return (
        collapsible_card(t.count("annotate.more", len(rows)), table(heads, rows, cls="parting"))
        if rows
        else None
    )


def _standing(view: PeopleView, human: Standing, judge: Standing | None) -> list[Child]:
    t = view.t
    return [
        view.model(human.model),
        el("b", points(human.elo)),
        rating_with_range(t, human.rating),
        points(judge.elo) if judge else "–",
        rating_with_range(t, judge.rating) if judge else "–",
    ]


def _agreement_text(t: Messages, found: RaterAgreement) -> Html:
    if found.kappa is None:
        return join(share(found.raw), " ", span(t("annotate.no_kappa"), cls="meta"))
    kappa = found.kappa
    ends = (
        ""
        if kappa.low is None or kappa.high is None
        else f" ({_two_decimals(kappa.low)}–{_two_decimals(kappa.high)})"
    )
    return join(f"κ {_two_decimals(kappa.value)}", span(ends, cls="meta"), " · ", share(found.raw))


def _two_decimals(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _share(interval: Interval | None) -> Child:
    return share(interval) if interval else "–"


def _disagreement(view: PeopleView, one: Disagreement) -> list[Child]:
    t, duel = view.t, one.duel
    sample = view.judged.samples[duel.sample_id]
    question = sample.question[:_QUESTION_LENGTH]
    cut = "…" if len(sample.question) > _QUESTION_LENGTH else ""
    said = [
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
        join(*said),
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
