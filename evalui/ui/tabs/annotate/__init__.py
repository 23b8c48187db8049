"""The Annotate tab: people vote blind on pairs of answers, and see the names when they are done."""

from collections.abc import Mapping
from typing import get_args

from evalui.accounts.guests import GUEST
from evalui.app import ballots
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_cells, read_runs
from evalui.runs.database.voting.closing import is_voting_open
from evalui.runs.database.voting.votes import (
    MAX_COMMENT,
    VoteChoice,
    VoteInput,
    VotingProgress,
    next_ballots,
    read_voting_progress,
)
from evalui.ui.components.form import ClientStateError, Form, field_value
from evalui.ui.components.format import format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import alert, empty, note, page_head, table, titled
from evalui.ui.tabs.annotate.ballot import (
    NAME_LENGTH,
    Voter,
    finish_button,
    head,
    name_page,
    page_frame,
    pair_page,
    undo_button,
    voting_as,
)
from evalui.ui.tabs.annotate.result import (
    own_result,
    result_page,
)
from evalui.ui.tabs.annotate.team import LEAD, SUBS, lead_team, team_link, team_page

_RECENT = 10
_MAX_VOTE_S = 3600.0  # a longer time means that the page was left open
_CHOICES: Mapping[str, VoteChoice] = {
    name: name for part in get_args(VoteChoice) for name in get_args(part)
}


class AnnotateTab:
    """The tab in one language; the address names the run, the browser keeps the person's name."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The page of the person who votes; their name is requested before all else."""
        return self._page(form, self._voter(form))

    def act(self, action: Action) -> Html:
        """What the page shows after a vote, a key, another name or an upload."""
        run_id, voter = field_value(action.form, "run"), self._voter(action.form)
        if action.do == "rename":
            return page_frame(run_id, Voter(""), name_page(self.t, voter.name, None))
        try:
            requested, sentence = self._perform(run_id, voter, action)
        except EvaluiError as error:
            requested = action.value("pair")
            sentence = note("bad", self.t.translate(error.sentence))
        confirming = action.do == "ask"
        decided = action.do == "decide" and requested == ""  # on to the next one
        form = action.form | {"pair": ""} if decided else action.form
        return self._page(
            form, voter, requested_pair=requested, notice=sentence, confirming=confirming
        )

    def _voter(self, form: Form) -> Voter:
        """Whoever has an account or came as a guest votes as that; all others state a name."""
        person = self.service.person
        if self.service.settings.auth != "token" or person.is_guest:
            return Voter(person.name, stated=False, guest=person.is_guest)
        name = field_value(form, "voter").strip()[:NAME_LENGTH]
        return Voter("" if name.startswith(GUEST) else name)

    def _page(
        self,
        form: Form,
        voter: Voter,
        *,
        requested_pair: str = "",
        notice: Html | None = None,
        confirming: bool = False,
    ) -> Html:
        """The page of one annotator: a pair, the end, the result, or the runs to choose from."""
        t, run_id = self.t, field_value(form, "run")
        problem = div(notice, role="alert") if notice else None
        try:
            run = self.service.run(run_id, "annotate") if run_id else None
            if run:
                self.service.require("annotate", run_id)
        except EvaluiError as error:
            run, problem = None, alert("warn", t.translate(error.sentence))
        if not voter.name:
            return page_frame(run.id if run else "", voter, name_page(t, "", problem))
        if run is None:
            return page_frame("", voter, self._run_list(voter, problem))
        if field_value(form, "sub") in SUBS and "change" in self.service.deeds(run):
            return team_page(self.service, t, run, voter, form, problem)
        return self._ballot(run, voter, requested_pair, problem, confirming=confirming)

    def _ballot(
        self,
        run: RunRow,
        voter: Voter,
        requested_pair: str,
        problem: Html | None,
        *,
        confirming: bool,
    ) -> Html:
        t, database, name = self.t, self.service.database, voter.name
        pairs = self.service.voter_pairs.of_voter(run.id, name)
        progress = read_voting_progress(database, run.id, name, pairs=pairs)
        team = team_link(t, run) if "change" in self.service.deeds(run) else None
        if progress.finished and voter.guest:
            return page_frame(run.id, voter, problem, own_result(self.service, t, run, voter))
        if progress.finished and is_voting_open(database, run.id, self.service.voter_pairs):
            page = own_result(self.service, t, run, voter, team)
            return page_frame(run.id, voter, problem, page, blind=False)
        if progress.finished:
            result = result_page(self.service, t, run, voter, team)
            return page_frame(run.id, voter, problem, result, blind=False)
        if not progress.pairs:
            if team and self.service.voting_pairs.of_run(run.id):
                return team_page(self.service, t, run, voter, {}, problem)
            return page_frame(run.id, voter, self._nothing(run, voter, problem))
        ballots = next_ballots(database, run.id, name, preferred=requested_pair, pairs=pairs)
        if not ballots:
            return page_frame(run.id, voter, self._end(progress, voter, problem, team))
        page = pair_page(
            t,
            ballots,
            progress,
            voter=voter,
            problem=problem,
            confirming=confirming,
            team=team,
        )
        return page_frame(run.id, voter, page)

    def _nothing(self, run: RunRow, voter: Voter, problem: Html | None) -> Html:
        """Why there is no pair for this person."""
        t = self.t
        if not self.service.voting_pairs.of_run(run.id):
            nothing = note("na", t("annotate.nothing"))
            return self._run_list(voter, problem or nothing)
        others = note("na", t("error.not-assigned"))
        return join(page_head(t("annotate.title"), voting_as(t, voter)), problem, others)

    def _perform(self, run_id: str, voter: Voter, act: Action) -> tuple[str, Html | None]:
        """The pair to show after an act, and the sentence about it."""
        name = voter.name
        if act.do in LEAD:
            return "", lead_team(self.service, self.t, self.service.run(run_id), voter, act)
        if not name or act.do not in ("vote", "undo", "finish", "uploaded"):
            return act.value("pair"), None
        run = self.service.run(run_id, "annotate")
        if act.do == "vote":
            self._vote(run, name, act)
            return act.value("next"), None
        if act.do == "undo":
            return ballots.undo_vote(self.service, run.id, name), None
        if act.do == "finish":
            ballots.finish_voting(self.service, run.id, name)
            return "", None
        added = ballots.import_votes(self.service, run.id, act.value("upload"))
        return "", note("ok", self.t.count("annotate.imported", added))

    def _vote(self, run: RunRow, voter: str, act: Action) -> None:
        choice, comment = _CHOICES.get(act.value("choice")), act.value("comment")
        if choice is None or len(comment) > MAX_COMMENT:  # our own page sends known votes
            raise ClientStateError
        seconds = _seconds(act.value("spent"))
        mark = VoteInput(act.value("pair"), choice, comment, seconds)
        ballots.cast_vote(self.service, run.id, mark, voter)

    def _end(
        self, progress: VotingProgress, voter: Voter, problem: Html | None, team: Html | None
    ) -> Html:
        t = self.t
        done = titled(
            t("annotate.all_done"),
            el("p", t("annotate.all_done_about"), cls="dim"),
            div(
                finish_button(t, cls="pri", do="finish"),
                undo_button(t, progress),
                team,
                cls="acts gap-s",
            ),
        )
        return join(head(t, progress, voter, t("annotate.all_done")), problem, done)

    def _run_list(self, voter: Voter, problem: Child) -> Html:
        t, database = self.t, self.service.database
        rows: list[list[Child]] = []
        for run in read_runs(database, self.service.person):
            if len(rows) == _RECENT or not self._has_open_questions(run):
                continue
            pairs = self.service.voter_pairs.of_voter(run.id, voter.name)
            progress = read_voting_progress(database, run.id, voter.name, pairs=pairs)
            if progress.pairs:
                rows.append(self._line(run, progress))
        heads = [t("annotate.run"), t("annotate.mine"), t("annotate.together"), t("runs.when")]
        return join(
            page_head(t("annotate.title"), voting_as(t, voter)),
            problem,
            titled(t("annotate.pick"), table(heads, rows) if rows else self._empty()),
        )

    def _has_open_questions(self, run: RunRow) -> bool:
        return any(
            cell.cell.gives == "answers" for cell in read_cells(self.service.database, run.id)
        )

    def _line(self, run: RunRow, progress: VotingProgress) -> list[Child]:
        t, total = self.t, f"{progress.pairs:,}"
        return [
            el("a", run.name, href=f"?run={run.id}&tab=annotate"),
            t("annotate.votes_of", n=f"{progress.own_votes + progress.skipped:,}", total=total),
            t("annotate.votes_of", n=f"{progress.covered:,}", total=total),
            format_time(t, run.created),
        ]

    def _empty(self) -> Html:
        t = self.t
        return empty(
            t("annotate.none"), el("a", t("annotate.new"), href="?tab=evaluate", cls="btn")
        )


def _seconds(text: str) -> float | None:
    """What the browser measured, None if it did not."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _MAX_VOTE_S else None
