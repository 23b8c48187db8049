"""What people let others see: links to frozen pages, and rights of teams."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import get_args

from evalui.access import LOCAL, Owned, Right, may, require
from evalui.accounts.shares import Share, add_share, link_of, list_shares, new_share, revoke_share
from evalui.accounts.teams import ThingKind, dataset_of, grant, revoke, rights_of
from evalui.accounts.uploads import check_may_upload
from evalui.app.permissions import checks, requires
from evalui.app.run_labels import day, run_facts
from evalui.app.service import AppService
from evalui.errors import AccountError
from evalui.messages import LANGUAGES, Messages, messages
from evalui.report.compile import frozen_blocks, meanings
from evalui.report.export.spreadsheets import shown_tables_csv
from evalui.report.render.shared import FrozenContent, shared_page
from evalui.runs.database.queue import bump_revision
from evalui.runs.database.runs import read_cells
from evalui.runs.fair_queue.limits import usual_limits
from evalui.types import Language

RIGHTS: tuple[Right, ...] = get_args(Right)


def run_address(run_id: str) -> str:
    """What links to a frozen run are listed under."""
    return f"?run={run_id}"


@requires("change", "run_id")
def share_run(service: AppService, run_id: str, days: int) -> str:
    """Freeze the verdict and the tables of a run, and return the last part of the link.

    Raises:
        AccountError: no link may work for so many days.
        UnknownRun, NotAllowed: as `AppService.require` does.
    """
    run = service.run(run_id)
    moment = run.finished or run.started or run.created

    def content(t: Messages) -> FrozenContent:
        report = service.report(run_id, t.language)
        facts = run_facts(t, run, read_cells(service.database, run_id), day(t, moment))
        blocks = frozen_blocks(report, t.language)
        return FrozenContent(" · ".join(facts), blocks, meanings(report), report.signatures)

    return make_link(
        service,
        [run_id],
        title=run.name,
        address=run_address(run_id),
        days=days,
        content=content,
    )


@checks("that the person may change each of the runs")
def make_link(
    service: AppService,
    runs: Sequence[str],
    *,
    title: str,
    address: str,
    days: int,
    content: Callable[[Messages], FrozenContent],
) -> str:
    """Freeze a page about runs for so many days, and return the last part of its link.

    The link belongs to the owner of the first of them.

    Raises:
        AccountError: no link may work for so many days, or the owner has too many that work.
        NotAllowed: the person may not change each of the runs.
        SpecError: the owner stores as much as they may.
    """
    for run_id in runs:
        service.require("change", run_id)
    owner = service.run(runs[0]).owner
    share = new_share(owner, address, title, days)
    check_may_upload(service.database, owner, usual_limits(service.settings), 0)
    pages: dict[Language, str] = {}
    tables: dict[Language, str] = {}
    for language in LANGUAGES:
        t = messages(language)
        shown = content(t)
        frozen = t("shared.frozen", day=day(t, share.created))
        until = _until(t, owner, share.expires)
        pages[language] = shared_page(shown, title, frozen=frozen, until=until, language=language)
        tables[language] = shown_tables_csv(shown.blocks)
    add_share(service.database, share, pages, tables, by=service.person)
    return link_of(service.database, share.id, share.expires)


@requires("see")
def list_links(service: AppService) -> Sequence[tuple[Share, str]]:
    """The person's own links, to administrators those of all, the newest first.

    Each with the last part of its address.
    """
    owner = None if may(service.person, "administer") else service.owner
    shares = list_shares(service.database, owner)
    return [(each, link_of(service.database, each.id, each.expires)) for each in shares]


@checks("who made the link")
def withdraw(service: AppService, share_id: str, address: str | None = None) -> None:
    """End a link at once, one to what is at an address if that is stated.

    Raises:
        AccountError: the person has no such link.
        NotAllowed: they may change nothing.
    """
    shares = list_shares(service.database, address=address)
    owners = [each.owner for each in shares if each.id == share_id]
    if not owners or not may(service.person, "see", Owned(owners[0])):
        raise AccountError("no-share", id=share_id[:80])
    require(service.person, "change", Owned(owners[0]))
    revoke_share(service.database, share_id, by=service.person)


@requires("change", "run_id")
def state_run_rights(
    service: AppService, run_id: str, team: str, wanted: Collection[Right]
) -> None:
    """Let a team do this with a run, and nothing else.

    Raises:
        AccountError: it is no team of theirs, unless they are an administrator, and has no rights.
    """
    _state_rights(service, "run", run_id, team, wanted)
    # Who sees a run of a team sees it in lists that are drawn again when a run changes.
    with service.database.writing() as connection:
        bump_revision(connection, run_id)


@requires("change", "run_id")
def team_rights(service: AppService, run_id: str) -> Mapping[str, frozenset[Right]]:
    """What each team of the person, and each that has a right, may do with a run."""
    given = rights_of(service.database, "run", run_id)
    teams = sorted(service.person.teams | given.keys())
    return {team: given.get(team, frozenset()) for team in teams}


@requires("start")
def state_dataset_rights(
    service: AppService, upload: str, team: str, wanted: Collection[Right]
) -> None:
    """Let a team do this with an upload of the person's, and nothing else.

    Raises:
        AccountError: as `state_run_rights`.
        DataError: the person has no such upload.
    """
    service.uploads.paths(service.owner, upload)
    _state_rights(service, "dataset", dataset_of(service.owner, upload), team, wanted)


def _state_rights(
    service: AppService, kind: ThingKind, thing: str, team: str, wanted: Collection[Right]
) -> None:
    given = rights_of(service.database, kind, thing)
    own = service.person.teams | given.keys()
    if team not in own and not may(service.person, "administer"):
        raise AccountError("no-team", name=team[:80])
    for right in RIGHTS:
        if (right in wanted) != (right in given.get(team, ())):
            act = grant if right in wanted else revoke
            act(service.database, kind, thing, team, right, by=service.person)


def _until(t: Messages, owner: str, at: float) -> str:
    if owner == LOCAL:
        return t("shared.until", day=day(t, at))
    return t("shared.until_by", name=owner, day=day(t, at))
