"""The page of who leads a run: pairs are assigned, guests invited, and progress is shown."""

from collections.abc import Sequence
from urllib.parse import urlencode

from evalui.accounts.guests import (
    LONGEST_DAYS,
)
from evalui.app.ballots import (
    add_guest_link,
    end_guest_link,
    free_guest_seats,
    list_guest_links,
)
from evalui.app.service import AppService
from evalui.app.team_votes import VOTE_FILES, assign_people, end_voting, team_progress
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.report.words import join_sentences
from evalui.runs.database.records import RunRow
from evalui.runs.database.voting.plans import VotingPlan
from evalui.runs.database.voting.progress import VoterProgress
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    bar,
    button,
    copy_button,
    field,
    link_button,
    note,
    page_head,
    select,
    table,
    text_input,
    titled,
)
from evalui.ui.tabs.annotate.adjudication import decide, decided_card, decision_page
from evalui.ui.tabs.annotate.ballot import Voter, page_frame, save_link

LEAD = (
    "assign",
    "link",
    "revoke",
    "free",
    "close",
    "decide",
)  # what only who may change a run does
SUBS = ("team", "decide")
_DAYS = (1, 7, 14, 30, LONGEST_DAYS)
_OVERLAP = 2  # votes on each pair, unless another number is stated


def team_link(t: Messages, run: RunRow) -> Html:
    """The way to the page of the team."""
    return el("a", t("annotate.team_title"), href=_address(run, "team"), cls="btn quiet")


def lead_team(
    service: AppService, t: Messages, run: RunRow, voter: Voter, act: Action
) -> Html | None:
    """Do one of `LEAD`, and the sentence about it."""
    service.require("change", run.id)
    match act.do:
        case "assign":
            overlap = parse_whole_number(act.value("overlap")) or 0
            people = act.value("people").replace("，", ",").replace("、", ",").split(",")
            assign_people(service, run.id, people, overlap)
            return note("ok", t("annotate.assigned"))
        case "link":
            days = parse_whole_number(act.value("days")) or 0
            secret = add_guest_link(service, run.id, days)
            address = f"../vote/{secret}"
            link = el("a", t("annotate.link_open"), href=address, target="_blank")
            about = el("p", t("annotate.link_once"))
            return note("ok", about, div(link, copy_button(t, address), cls="once"))
        case "revoke":
            end_guest_link(service, run.id, act.value("link"))
            return note("ok", t("annotate.link_closed"))
        case "close":
            end_voting(service, run.id)
            return note("ok", t("annotate.vote_closed"))
        case "free":
            n = free_guest_seats(service, run.id, act.value("link"))
            return note("ok", t.count("annotate.link_freed", n))
        case _:
            decide(service, run, voter, act)
            return None


def team_page(
    service: AppService, t: Messages, run: RunRow, voter: Voter, form: Form, problem: Html | None
) -> Html:
    """How far the team is, who is in it, and where it differs; or one pair to decide."""
    team, contested = team_progress(service, run.id)
    plan, rows, waiting = team.plan, team.people, team.differing
    if field_value(form, "sub") == "decide":
        back = el("a", t("annotate.back_to_team"), href=_address(run, "team"), cls="btn quiet")
        requested = field_value(form, "pair")
        page = decision_page(service, t, run, voter, contested, requested, back)
        if page is not None:
            return page_frame(run.id, voter, problem, page, sub="decide")
    decide_link = el("a", t("annotate.decide"), href=_address(run, "decide"), cls="btn pri")
    heads = [t(f"annotate.{name}") for name in ("person", "voted", "median", "last")]
    progress = table(heads, [_progress_row(t, one) for one in rows])
    return page_frame(
        run.id,
        voter,
        page_head(
            _finding(t, rows, plan, team.pairs),
            join(run.name, f" · {t.count('annotate.differ', waiting)}" if waiting else None),
            decide_link if waiting else None,
        ),
        problem,
        titled(t("annotate.progress_of"), progress) if rows else None,
        _people_card(service, t, plan, is_first=not waiting),
        _links_card(service, t, run),
        decided_card(service, t, run, contested, voter),
        div(
            el("a", t("annotate.vote_too"), href=_address(run), cls="btn quiet"),
            *(
                (
                    button(t("annotate.close"), "close", data_once=True),
                    span(t("annotate.close_about"), cls="meta"),
                )
                if team.is_open
                else (save_link(run, kind, t(f"annotate.save_{kind}")) for kind in VOTE_FILES)
            ),
            cls="acts",
        ),
        blind=False,
        sub="team",
    )


def _address(run: RunRow, sub: str = "") -> str:
    return "?" + urlencode({"run": run.id, "tab": "annotate"} | ({"sub": sub} if sub else {}))


def _finding(
    t: Messages, rows: Sequence[VoterProgress], plan: VotingPlan | None, pairs: int
) -> str:
    if plan is None:
        return t.count("annotate.team_free", pairs)
    done = sum(one.done for one in rows if one.assigned)
    total = sum(one.assigned or 0 for one in rows)
    return t("annotate.team_done", done=f"{done:,}", total=f"{total:,}")


def _progress_row(t: Messages, one: VoterProgress) -> list[Html | str]:
    done, total = f"{one.done:,}", f"{one.assigned or 0:,}"
    far: Html | str = t.count("annotate.votes", one.done)
    if one.assigned is not None:
        word = t("annotate.votes_of", n=done, total=total)
        far = join(word, bar(one.done / one.assigned if one.assigned else 1.0, label=one.person))
    skipped = span(t("annotate.skipped", n=one.skipped), cls="meta") if one.skipped else ""
    return [
        one.person,
        join(far, " ", skipped),
        "–" if one.seconds is None else duration(t, one.seconds),
        "–" if one.last is None else format_time(t, one.last),
    ]


def _people_card(
    service: AppService, t: Messages, plan: VotingPlan | None, *, is_first: bool
) -> Html:
    names = text_input("people", ", ".join(plan.people) if plan else "")
    overlap = text_input("overlap", str(plan.overlap if plan else _OVERLAP), inputmode="numeric")
    kind = "stated" if service.settings.auth == "token" else "accounts"
    about = t(f"annotate.people_{kind}"), t("annotate.assign_about")
    return titled(
        t("annotate.people"),
        div(
            field(t("annotate.people_names"), names),
            field(t("annotate.overlap"), overlap),
            button(t("annotate.assign"), "assign", cls="pri" if is_first else ""),
            cls="who-votes",
        ),
        el("p", join_sentences(*about), cls="meta gap-s"),
    )


def _links_card(service: AppService, t: Messages, run: RunRow) -> Html:
    rows = [
        [
            format_time(t, link.expires),
            ", ".join(link.guests) or "–",
            div(
                link_button(t("annotate.link_revoke"), "revoke", data_link=link.digest),
                link_button(t("annotate.link_free"), "free", data_link=link.digest)
                if link.guests
                else None,
                cls="links",
            ),
        ]
        for link in list_guest_links(service, run.id)
    ]
    heads = [t("annotate.link_until"), t("annotate.link_guests"), ""]
    days = {str(each): t.count("annotate.days", each) for each in _DAYS}
    return titled(
        t("annotate.link_title"),
        table(heads, rows, cls="runs-list") if rows else None,
        div(
            field(t("annotate.link_for"), select("days", days, "14")),
            button(t("annotate.link_make"), "link", data_once=True),
            cls="who-votes gap-s",
        ),
        el("p", t("annotate.link_about"), cls="meta gap-s"),
    )
