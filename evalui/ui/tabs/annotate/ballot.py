"""One pair on the screen: question, two answers without names, and the buttons to vote with.

The pair after it is on the page already, unseen, so that a key shows it at once; see
assets/js/annotate.js. No name of a model is in this markup: who stands where is in the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.accounts.guests import GUEST
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.records import RunRow
from evalui.runs.database.voting.ballots import Ballot
from evalui.runs.database.voting.votes import MAX_COMMENT, VotingProgress
from evalui.types import Sample
from evalui.ui.components.format import duration
from evalui.ui.components.texts import math_files, render_markdown
from evalui.ui.components.widgets import (
    bar,
    button,
    card,
    field,
    hidden,
    link_button,
    note,
    page_head,
)

CHOICES = {"1": "a", "2": "b", "3": "tie", "4": "neither"}  # the key of each vote
NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Voter:
    """Who votes: `name` as it is kept with votes, "" before it is `stated` on the page.

    It is stated where nobody has an account; else it is that of the account or of the guest.
    """

    name: str
    stated: bool = True
    guest: bool = False

    @property
    def shown_name(self) -> str:
        """The name without the mark of guests."""
        return self.name.removeprefix(GUEST) if self.guest else self.name


def page_frame(
    run_id: str, voter: Voter, *children: Child, blind: bool = True, sub: str = ""
) -> Html:
    """The frame that the script looks for: whose page it is, and where the formulas' script is.

    While it is `blind` the script takes what other tabs showed from the document.
    """
    script, sheet = math_files()
    run = {"run": run_id} if run_id else {}
    return div(
        *children,
        hidden("voter", voter.name) if voter.stated and voter.name else None,
        cls="ballot stack",
        data_voter=voter.name,
        data_stated=voter.stated,
        data_blind=blind,
        data_address=urlencode(run | {"tab": "annotate"} | ({"sub": sub} if sub else {})),
        data_katex=script or None,
        data_katex_sheet=sheet or None,
    )


def name_page(t: Messages, name: str, problem: Html | None) -> Html:
    """Who votes: nothing else is shown before that is known."""
    given = el(
        "input",
        name="voter",
        value=name,
        maxlength=NAME_LENGTH,
        autocomplete="nickname",
        autofocus=True,
    )
    return join(
        page_head(t("annotate.title"), t("annotate.promise")),
        problem,
        card(
            div(
                field(t("annotate.name"), given),
                button(t("annotate.begin"), "open", cls="pri"),
                cls="who-votes",
            ),
            el("p", t("annotate.name_about"), cls="meta gap-s"),
        ),
    )


def voting_as(t: Messages, voter: Voter) -> Html:
    """The name under which votes are kept, and the way to another where it was stated."""
    change = link_button(t("annotate.rename"), "rename") if voter.stated else None
    return span(t("annotate.as", name=voter.shown_name), " ", change)


def pair_page(
    t: Messages,
    ballots: Sequence[Ballot],
    progress: VotingProgress,
    *,
    voter: Voter,
    problem: Html | None,
    confirming: bool,
    team: Html | None,
) -> Html:
    """Everything below the frame while there is a pair to vote on."""
    now, *later = ballots
    following = later[0].pair_key if later else ""
    place = t("annotate.pair", n=_number(progress), total=f"{progress.pairs:,}")
    return join(
        head(t, progress, voter, f"{now.dataset_name} · {place}"),
        problem,
        shown_pair(t, now, "now"),
        shown_pair(t, later[0], "next") if later else None,
        _votes(t, now, following),
        _action_buttons(t, now, following, progress),
        _confirm_finish(t, now.pair_key) if confirming else None,
        _below(t, progress, now.pair_key, others=team if voter.guest else links(t, team)),
    )


def head(t: Messages, progress: VotingProgress, voter: Voter, place: str) -> Html:
    """The question of the page, how far the annotator is, and the name they vote under."""
    done = progress.own_votes + progress.skipped
    left = t("annotate.left", n=f"{progress.remaining:,}")
    if progress.remaining and progress.seconds:
        time = duration(t, progress.remaining * progress.seconds)
        left = t("annotate.left_time", n=f"{progress.remaining:,}", time=time)
    share = done / progress.pairs if progress.pairs else 0.0
    far = div(
        div(el("b", t("annotate.done", n=f"{done:,}")), span(left, cls="dim"), cls="two"),
        bar(share, label=t("annotate.progress")),
        div(_team_progress(t, progress), cls="meta"),
        cls="far",
    )
    below = join(t("annotate.below", place=place), " · ", voting_as(t, voter))
    return page_head(t("annotate.title"), below, far)


def last_vote_note(t: Messages, progress: VotingProgress) -> str:
    """That the last vote is kept, and what it was."""
    if progress.last is None:
        return t("annotate.saved_first")
    word = t(f"annotate.said_{progress.last.choice}")
    return t("annotate.saved", n=f"{progress.own_votes + progress.skipped:,}", said=word)


def _number(progress: VotingProgress) -> str:
    return f"{progress.own_votes + progress.skipped + 1:,}"


def _team_progress(t: Messages, progress: VotingProgress) -> str:
    covered, pairs = f"{progress.covered:,}", f"{progress.pairs:,}"
    return t.count("annotate.team", progress.people, covered=covered, pairs=pairs)


def shown_pair(t: Messages, ballot: Ballot, when: str) -> Html:
    """Question and answers, `when` "now" or, unseen, "next"."""
    sample = ballot.sample
    beside = _reference_column(t, sample)
    return div(
        div(_question(t, ballot), beside, cls="row"),
        div(
            _answer(t, t("annotate.answer_a"), sample, ballot.left),
            _answer(t, t("annotate.answer_b"), sample, ballot.right),
            cls="row both",
        ),
        cls=f"pair {when}",
        data_pair=ballot.pair_key,
    )


def _question(t: Messages, ballot: Ballot) -> Html:
    sample = ballot.sample
    language = sample.metadata.get("language", "")
    known = f"annotate.language_{language}"
    facts = [
        t("annotate.question"),
        sample.metadata.get("capability", ""),
        t(known) if known in t else language,
    ]
    before = [
        _reference_block(t(f"annotate.role_{turn.role}"), turn.content) for turn in sample.history
    ]
    return card(
        div(" · ".join(fact for fact in facts if fact), cls="meta"),
        el("details", el("summary", t("annotate.history")), *before) if before else None,
        div(render_markdown(sample.question), cls="written ballot-question"),
        cls="f2",
    )


def _reference_column(t: Messages, sample: Sample) -> Html | None:
    guidance = sample.metadata.get("guidance", "")
    parts: list[Child] = [
        _reference_block(t("annotate.reference"), reference)
        for reference in sample.references
        if reference.strip()
    ]
    if guidance.strip():
        parts.append(_reference_block(t("annotate.guidance"), guidance))
    return card(*parts, cls="beside") if parts else None


def _reference_block(title: str, text: str) -> Html:
    return join(div(title, cls="meta"), div(render_markdown(text), cls="written"))


def _answer(t: Messages, title: str, sample: Sample, turns: Sequence[str]) -> Html:
    """The answer; in a conversation each further question stands before its own."""
    parts: list[Child] = [_turn(t, turns[0])]
    for question, turn in zip(sample.follow_ups, turns[1:], strict=False):
        parts.append(
            div(div(t("annotate.then"), cls="meta"), render_markdown(question), cls="written then")
        )
        parts.append(_turn(t, turn))
    return card(el("h2", title), *parts, cls="ballot-answer")


def _turn(t: Messages, turn: str) -> Html:
    if not turn.strip():
        return el("p", t("annotate.no_answer"), cls="meta")
    return div(render_markdown(turn), cls="written")


def _votes(t: Messages, now: Ballot, following: str) -> Html:
    buttons = [
        _vote_button(t(f"annotate.vote_{choice}"), key, choice, now, following, cls="lg")
        for key, choice in CHOICES.items()
    ]
    return div(*buttons, cls="choices")


def _vote_button(
    word: str, key: str, choice: str, now: Ballot, following: str, *, cls: str
) -> Html:
    return button(
        join(el("kbd", key.upper()), word),
        "vote",
        cls=cls,
        data_choice=choice,
        data_key=key,
        data_pair=now.pair_key,
        data_next=following,
    )


def _action_buttons(t: Messages, now: Ballot, following: str, progress: VotingProgress) -> Html:
    skip = _vote_button(t("annotate.skip"), "s", "skip", now, following, cls="quiet")
    text = el(
        "textarea",
        name="comment",
        rows=3,
        maxlength=MAX_COMMENT,
        aria_label=t("annotate.note"),
        data_pair=now.pair_key,
    )
    return div(
        skip,
        undo_button(t, progress),
        span(last_vote_note(t, progress), cls="meta last-vote", role="status"),
        el("details", el("summary", t("annotate.note")), div(text, cls="field"), cls="note-field"),
        # Whatever else happens on the page, the pair in view stays.
        hidden("pair", now.pair_key),
        cls="acts",
    )


def undo_button(t: Messages, progress: VotingProgress) -> Html:
    """Takes the last vote back; the key is U."""
    return button(
        join(el("kbd", "U"), t("annotate.undo")),
        "undo",
        cls="quiet",
        data_key="u",
        disabled=progress.last is None,
    )


def finish_button(t: Messages, *, cls: str, do: str, pair: str = "") -> Html:
    """Ends the voting of this annotator; `do` "ask" warns first, "finish" does it."""
    return button(t("annotate.finish"), do, cls=cls, data_pair=pair)


def save_link(run: RunRow, kind: str, word: str) -> Html:
    """The votes of a run as a file."""
    return el("a", word, href=f"../votes/{run.id}.{kind}", cls="btn", download=True)


def _confirm_finish(t: Messages, pair: str) -> Html:
    stay = button(t("annotate.stay"), "open", data_pair=pair)
    done = finish_button(t, cls="pri", do="finish")
    return note("warn", el("p", t("annotate.finish_about")), div(done, stay, cls="acts gap-s"))


def links(t: Messages, team: Html | None) -> Html:
    """The ways to other runs, and for who leads this one to its team."""
    others = el("a", t("annotate.other_runs"), href="?tab=annotate", cls="btn quiet")
    return span(others, team, cls="acts")


def _below(t: Messages, progress: VotingProgress, pair: str, *, others: Html | None) -> Html:
    finish = finish_button(t, cls="quiet", do="ask", pair=pair) if progress.last else None
    return join(
        card(el("h3", t("annotate.how")), el("p", t("annotate.how_about"), cls="dim")),
        div(others, finish, cls="foot"),
    )
