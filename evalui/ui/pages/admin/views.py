"""The views of the Admin page, as `?sub=NAME` shows them: what is so now, in words and tables."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalui.access import ROLES
from evalui.accounts.secrets import SEEN_EVERY_S
from evalui.accounts.shares import Share
from evalui.app.administration import (
    LiveRun,
    count_sessions,
    list_failures,
    list_largest_runs,
    list_live_runs,
    list_queue,
    list_settings,
    list_share_links,
    read_disk,
    read_queue_decisions,
    read_upload_bytes,
)
from evalui.app.people import PersonUse, list_people
from evalui.app.run_labels import run_label
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages, Sentence
from evalui.models.base import ModelEntry, traits_of
from evalui.models.user_catalog import has_key
from evalui.report.html import Html
from evalui.runs.fair_queue.turns import QueuePlace
from evalui.ui.components.format import amount, format_time
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert, run_state
from evalui.ui.pages.admin.changes import GIGABYTE
from evalui.ui.server_card import server_card
from evalui.version import __version__

_SOON_S = 7 * 24 * 3600.0
_OFFERED = {"open": ("paused", "draining"), "paused": ("open",), "draining": ("open", "paused")}


@dataclass(frozen=True, slots=True)
class View:
    """The one sentence of a view with its buttons, and what stands below it."""

    verdict: Html
    body: Html


@dataclass(frozen=True, slots=True)
class Act:
    """A button beside a verdict: its word, the change that it makes, and what that is given."""

    word: str
    do: str
    state: str = ""


def users(service: AppService, t: Messages) -> View:
    """Who has an account and what they use, the roles, and links to pages of all."""
    people, live = list_people(service), list_live_runs(service)
    hardware, disk = service.models.hardware(), read_disk(service)
    devices = hardware.gpus or (hardware.machine,)
    shares = list_share_links(service)
    working = [share for share in shares if share.ended is None]
    body = _fill(
        t,
        "users",
        gpus=len(hardware.gpus),
        memory=(sum(each.used for each in devices), sum(each.total for each in devices)),
        running=t.count("admin.running_jobs", _at_work(live)),
        disk=disk,
        all_stored=sum(each.stored for each in people),
        people=sorted(people, key=lambda each: each.is_new),  # who was never here comes last
        seen={each.account.name: _last_seen(t, each) for each in people},
        stored={each.account.name: _stored(t, each) for each in people},
        has_passwords=service.settings.auth == "password",
        roles=ROLES,
        shares=shares,
        working=len(working),
        links_finding=_links_finding(t, working),
    )
    invite = (t("admin.invite"), "admin?add=person")
    return View(_verdict(t, _headline(t, people, live), link=invite), body)


def queue(service: AppService, t: Messages) -> View:
    """Every run that waits or is at work, and whether any is taken."""
    runs = list_queue(service)
    state = read_queue_decisions(service).state
    body = _fill(
        t,
        "queue",
        state=state,
        queue=runs,
        labels={live.row.id: run_label(t, live.row) for live, _ in runs},
        states={live.row.id: run_state(t, live.row.state) for live, _ in runs},
        held={live.row.id: _held(t, place) for live, place in runs},
        priorities={live.row.id: _priority(t, live) for live, _ in runs},
    )
    acts = [Act(t(f"admin.do.{each}"), "queue", each) for each in _OFFERED[state]]
    return View(_verdict(t, _jobs(t, [live for live, _ in runs]), *acts), body)


def models(service: AppService, t: Messages) -> View:
    """The models that were added on the page; a fault of their file stands in their place."""
    service.require("administer")
    new = (t("add.title"), "models?add=endpoint")
    try:
        added = service.models.added()
    except EvaluiError as error:  # the file was changed by hand
        problem = alert("bad", t.translate(error.sentence))
        return View(_verdict(t, t("admin.added")), problem or Html(""))
    some = sum(not entry.everyone for entry in added.values())
    many = t.count("admin.added_models", len(added))
    words = t("admin.models_verdict", added=many, some=some) if added else t("admin.models_none")
    body = _fill(
        t,
        "models",
        models=list(added.values()),
        places={entry.name: _place(t, entry) for entry in added.values()},
        keyed={entry.name for entry in added.values() if has_key(entry)},
        hosts=service.settings.endpoint_hosts,
    )
    return View(_verdict(t, words, link=new), body)


def storage(service: AppService, t: Messages) -> View:
    """The disk, who stores how much, and which runs are the largest."""
    disk, uploads = read_disk(service), read_upload_bytes(service)
    people = sorted(list_people(service), key=lambda each: each.stored, reverse=True)
    used = t("device.used", used=amount(disk.used), total=amount(disk.used + disk.free))
    words = t("admin.disk_full" if disk.is_nearly_full else "admin.disk_used", used=used)
    body = _fill(
        t,
        "storage",
        disk=disk,
        words=used,
        people=[each for each in people if each.stored],
        uploads=uploads,
        runs=list_largest_runs(service),
    )
    return View(_verdict(t, words), body)


def server(service: AppService, t: Messages) -> View:
    """The machine, what has failed, who is signed in, and the settings in force."""
    workers = service.models.workers(service.person)
    browsers, people = count_sessions(service)
    settings = list_settings(service)
    words = t("admin.workers_none")
    if workers:
        many = t.count("admin.workers", len(workers))
        busy = sum(worker.row.is_busy for worker in workers)
        words = t("admin.server_verdict", workers=many, busy=busy)
    body = _fill(
        t,
        "server",
        card=server_card(t, service.models.hardware(), workers, service.models.cluster),
        failures=list_failures(service),
        settings=settings,
        sessions_finding=t("admin.sessions_finding", n=browsers, people=people),
        settings_finding=t("admin.settings_finding", version=__version__, n=len(settings)),
    )
    return View(_verdict(t, words, Act(t("admin.sign_out"), "sign_out")), body)


VIEWS: Mapping[str, Callable[[AppService, Messages], View]] = {
    "users": users,
    "queue": queue,
    "models": models,
    "storage": storage,
    "server": server,
}


def _fill(t: Messages, name: str, **values: Any) -> Html:
    given = {"t": t, "amount": amount, "when": partial(format_time, t)}
    return fill(f"admin/{name}.html", **given, **values)


def _verdict(t: Messages, text: str, *acts: Act, link: tuple[str, str] | None = None) -> Html:
    """A sentence with buttons beside it, or a link by its word and address."""
    return _fill(t, "verdict", text=text, acts=acts, link=link)


def _links_finding(t: Messages, working: Sequence[Share]) -> str:
    if not working:
        return t("admin.no_links")
    soon = sum(share.expires - time.time() < _SOON_S for share in working)
    unseen = sum(not share.opened for share in working)
    return t("admin.links_finding", soon=soon, unseen=unseen)


def _jobs(t: Messages, live: Sequence[LiveRun]) -> str:
    running = _at_work(live)
    jobs = t.count("admin.running_jobs", running)
    return t("admin.jobs", running=jobs, waiting=len(live) - running)


def _at_work(live: Sequence[LiveRun]) -> int:
    return sum(each.row.state == "running" for each in live)


def _headline(t: Messages, people: Sequence[PersonUse], live: Sequence[LiveRun]) -> str:
    jobs = _jobs(t, live)
    spent = [each for each in people if each.used_up]
    if not spent:
        return jobs
    first, others = spent[0], len(spent) - 1
    gone = t(f"admin.gone.{first.used_up}", name=first.account.name)
    more = t.count("admin.gone_more", others) if others else ""
    return t("admin.headline", jobs=jobs, gone=gone, more=more)


def _stored(t: Messages, use: PersonUse) -> tuple[str, float | None]:
    """What a person stores, in words and as a share of the limit, if there is one."""
    shown, limit = f"{use.stored / GIGABYTE:.1f}", use.limits.stored_bytes
    if limit is None:
        return t("admin.bytes_unlimited", used=shown), None
    words = t("admin.bytes_of", used=shown, limit=f"{limit / GIGABYTE:g}")
    return words, use.stored / limit if limit else 1.0


def _last_seen(t: Messages, use: PersonUse) -> str:
    seen = use.account.seen
    if use.account.invited and use.is_new:
        return t("admin.invited")
    if seen is None:
        return "–"
    is_here = time.time() - seen < 2 * SEEN_EVERY_S
    return t("admin.now") if is_here else format_time(t, seen)


def _held(t: Messages, place: QueuePlace | None) -> str:
    """Why a run waits beside its turn."""
    if place and isinstance(place.held, Sentence):
        return t(f"admin.{place.held.key}")
    return "–"


def _priority(t: Messages, live: LiveRun) -> str:
    """In words; one that was set elsewhere stands as its number."""
    key = f"admin.priorities.{live.priority}"
    return t(key) if key in t else str(live.priority)


def _place(t: Messages, entry: ModelEntry) -> str:
    return str(entry.options.get("base_url", "")) if traits_of(entry).remote else t("add.folder")
