"""The people of a server: who they are, what they use, and links to their pages."""

import time
from collections.abc import Sequence

from evalui.access import ROLES
from evalui.accounts.secrets import SEEN_EVERY_S
from evalui.accounts.shares import Share
from evalui.app.administration import LiveRun, list_live_runs, list_share_links, read_disk
from evalui.app.people import PersonUse, list_people
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.format import format_time
from evalui.ui.pages.admin.changes import GIGABYTE
from evalui.ui.pages.admin.view import Markup, View, used_of

_SOON_S = 7 * 24 * 3600.0


class UsersView(View):
    """The sentence of the moment, two figures, everybody, and what is looked at rarely."""

    name = "users"
    lists = ("figures", "people")
    folds = ("roles", "links")
    acting = ("people", "links")

    def read(self, service: AppService) -> Markup:
        """What each component shows now."""
        t, made = self.t, self.made
        people, live = list_people(service), list_live_runs(service)
        by_arrival = sorted(people, key=lambda each: each.is_new)  # who was never here comes last
        return {
            self.verdict: self.answer(
                _headline(t, people, live), link=(t("admin.invite"), "admin?add=person")
            ),
            made["figures"]: self._figures(service, people, live),
            made["people"]: self.fill(
                "people",
                people=by_arrival,
                seen={each.account.name: _last_seen(t, each) for each in people},
                stored={each.account.name: _stored(t, each) for each in people},
                has_passwords=service.settings.auth == "password",
            ),
            made["roles"]: self.fill("roles", roles=ROLES),
            made["links"]: self._links(list_share_links(service)),
        }

    def _figures(
        self, service: AppService, people: Sequence[PersonUse], live: Sequence[LiveRun]
    ) -> Html:
        t, hardware, disk = self.t, service.models.hardware(), read_disk(service)
        devices = hardware.gpus or (hardware.machine,)
        return self.fill(
            "figures",
            gpus=len(hardware.gpus),
            memory=(sum(each.used for each in devices), sum(each.total for each in devices)),
            running=t.count("admin.running_jobs", _at_work(live)),
            disk=disk,
            stored=sum(each.stored for each in people),
        )

    def _links(self, shares: Sequence[Share]) -> Html:
        t, working = self.t, [share for share in shares if share.ended is None]
        soon = sum(share.expires - time.time() < _SOON_S for share in working)
        unseen = sum(not share.opened for share in working)
        finding = t("admin.links_finding", soon=soon, unseen=unseen)
        return self.fill("share_links", shares=shares, n=len(working), finding=finding)


def busy_sentence(t: Messages, live: Sequence[LiveRun]) -> str:
    """How many runs are at work and wait."""
    running = _at_work(live)
    jobs = t.count("admin.running_jobs", running)
    return t("admin.jobs", running=jobs, waiting=len(live) - running)


def _at_work(live: Sequence[LiveRun]) -> int:
    return sum(each.row.state == "running" for each in live)


def _headline(t: Messages, people: Sequence[PersonUse], live: Sequence[LiveRun]) -> str:
    jobs = busy_sentence(t, live)
    spent = [each for each in people if each.used_up]
    if not spent:
        return jobs
    first, others = spent[0], len(spent) - 1
    gone = t(f"admin.gone.{first.used_up}", name=first.account.name)
    more = t.count("admin.gone_more", others) if others else ""
    return t("admin.headline", jobs=jobs, gone=gone, more=more)


def _stored(t: Messages, use: PersonUse) -> tuple[str, float | None]:
    return used_of(t, "bytes", use.stored, use.limits.stored_bytes, GIGABYTE)


def _last_seen(t: Messages, use: PersonUse) -> str:
    seen = use.account.seen
    if use.account.invited and use.is_new:
        return t("admin.invited")
    if seen is None:
        return "–"
    is_here = time.time() - seen < 2 * SEEN_EVERY_S
    return t("admin.now") if is_here else format_time(t, seen)
