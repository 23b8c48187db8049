"""What people let others see: runs, and links to frozen pages."""

from collections.abc import Callable, Sequence

from evalui.access import LOCAL, Owned, may, require
from evalui.accounts.audit import record_in
from evalui.accounts.shares import Share, add_share, link_of, list_shares, new_share, revoke_share
from evalui.app.permissions import checks, requires
from evalui.app.results import run_report
from evalui.app.run_labels import day, run_facts
from evalui.app.service import AppService
from evalui.app.uploads import check_may_upload
from evalui.errors import AccountError
from evalui.messages import LANGUAGES, Messages, messages
from evalui.report.compile import frozen_blocks, meanings
from evalui.report.render.shared import FrozenContent, shared_page
from evalui.report.write.csv import shown_tables_csv
from evalui.runs.fair_queue.limits import usual_limits
from evalui.store.queue import bump_revision
from evalui.store.runs import read_cells
from evalui.types import Language


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
        report = run_report(service, run_id, t.language)
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
def show_everyone(service: AppService, run_id: str, *, everyone: bool) -> None:
    """Let everybody with an account on this server see a run, or nobody by that."""
    with service.database.writing(durable=True) as connection:
        connection.execute("UPDATE run SET everyone = ? WHERE id = ?", (everyone, run_id))
        # Who sees it sees it in lists that are drawn again when a run changes.
        bump_revision(connection, run_id)
        deed = "show-everyone" if everyone else "show-no-more"
        record_in(connection, service.person, deed, f"run {run_id}")


def _until(t: Messages, owner: str, at: float) -> str:
    if owner == LOCAL:
        return t("shared.until", day=day(t, at))
    return t("shared.until_by", name=owner, day=day(t, at))
