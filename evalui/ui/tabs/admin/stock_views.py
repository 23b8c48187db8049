"""What a server keeps: models that people added, and bytes by person and run."""

from urllib.parse import urlencode

from evalui.app.readings import read_largest_runs, read_upload_bytes
from evalui.errors import EvaluiError
from evalui.models.base import ModelEntry, traits_of
from evalui.models.user_catalog import has_key
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.upkeep.disk import disk_use
from evalui.ui.components.format import amount
from evalui.ui.components.widgets import alert, empty, table, titled
from evalui.ui.tabs.admin.context import AdminPage, figure_card, heads, meter, verdict


def models_view(page: AdminPage) -> Html:
    """The models that were added on the page: whose they are, where they are, who may use them."""
    t = page.t
    try:
        added = page.service.models.added()
    except EvaluiError as error:  # the file was changed by hand
        return join(alert("bad", t.translate(error.sentence)))
    some = sum(not entry.everyone for entry in added.values())
    columns = heads(page, "model_column", ("model", "at", "owner", "who"))
    rows = [_model(page, entry) for entry in added.values()]
    hosts = page.service.settings.endpoint_hosts
    return join(
        verdict(
            t("admin.models_verdict", added=t.count("admin.added_models", len(added)), some=some)
            if added
            else t("admin.models_none"),
            el("a", t("add.title"), href="models?add=endpoint", cls="btn"),
        ),
        titled(
            t("admin.added"),
            table(columns, rows) if rows else empty(t("admin.added_none")),
            aside=t("admin.hosts", names=t("list.comma").join(hosts))
            if hosts
            else t("admin.hosts_all"),
        ),
    )


def _model(page: AdminPage, entry: ModelEntry) -> list[Child]:
    t = page.t
    keyed = span(t("admin.keyed"), cls="chip") if has_key(entry) else None
    place = entry.options.get("base_url", "") if traits_of(entry).remote else t("add.folder")
    teams = t("list.comma").join(entry.teams)
    who = t("add.everyone") if entry.everyone else teams or t("admin.owner_only")
    query = urlencode({"tab": "models", "edit": entry.name})
    return [
        join(el("b", entry.name), " ", keyed),
        str(place),
        entry.owner or t("admin.server_own"),
        who,
        div(el("a", t("catalog.edit"), href=f"?{query}"), cls="links"),
    ]


def storage_view(page: AdminPage) -> Html:
    """The disk, who stores how much, and which runs are the largest."""
    t, database = page.t, page.service.database
    use = disk_use(page.service.settings.data_dir)
    words = t("device.used", used=amount(use.used), total=amount(use.used + use.free))
    uploads = read_upload_bytes(database)
    people = sorted(page.people, key=lambda each: each.stored, reverse=True)
    rows = [
        [
            el("b", each.account.name),
            amount(uploads.get(each.account.name, 0)),
            amount(each.stored - uploads.get(each.account.name, 0)),
            div(
                amount(each.stored),
                meter(each.stored / limit) if (limit := each.limits.stored_bytes) else None,
                cls="used",
            ),
        ]
        for each in people
        if each.stored
    ]
    days = page.service.settings.retention_days
    kept = t.count("admin.kept_days", days) if days else t("admin.kept_forever")
    about = t("admin.retention_about" if days else "admin.retention_off")
    runs = [
        [el("a", name, href=f"runs?run={run_id}"), owner, amount(n)]
        for run_id, name, owner, n in read_largest_runs(database)
    ]
    nothing = empty(t("admin.stored_none"))
    return join(
        verdict(t("admin.disk_full" if use.is_nearly_full else "admin.disk_used", used=words)),
        div(
            figure_card(
                t("admin.disk"), words, t("admin.disk_free", n=amount(use.free)), use.share
            ),
            figure_card(t("admin.retention"), kept, about, None),
            cls="row",
        ),
        titled(
            t("admin.by_person"),
            table(
                [t(f"admin.stored_{n}") for n in ("who", "uploads", "runs", "all")],
                rows,
                right=(1, 2, 3),
            )
            if rows
            else nothing,
        ),
        titled(
            t("admin.largest"),
            table([t(f"admin.largest_{n}") for n in ("run", "owner", "bytes")], runs, right=(2,))
            if runs
            else nothing,
        ),
    )
