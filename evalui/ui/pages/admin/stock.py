"""What a server keeps: models that people added, and bytes by person and run."""

from evalui.app.administration import list_largest_runs, read_disk, read_upload_bytes
from evalui.app.people import list_people
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.models.base import ModelEntry, traits_of
from evalui.models.user_catalog import has_key
from evalui.report.html import Html
from evalui.ui.components.format import amount
from evalui.ui.components.widgets import alert
from evalui.ui.pages.admin.view import Markup, View


class ModelsView(View):
    """The models that were added on the page: whose they are, where they are, who may use them."""

    name = "models"
    lists = ("added",)

    def read(self, service: AppService) -> Markup:
        """What each component shows now; a fault of the file stands in place of its models."""
        service.require("administer")
        t, listed = self.t, self.made["added"]
        try:
            added = service.models.added()
        except EvaluiError as error:  # the file was changed by hand
            problem = alert("bad", t.translate(error.sentence))
            return {self.verdict: Html(""), listed: problem or Html("")}
        some = sum(not entry.everyone for entry in added.values())
        many = t.count("admin.added_models", len(added))
        verdict = t("admin.models_verdict", added=many, some=some)
        return {
            self.verdict: self.answer(
                verdict if added else t("admin.models_none"),
                link=(t("add.title"), "models?add=endpoint"),
            ),
            listed: self.fill(
                "models",
                models=list(added.values()),
                places={entry.name: self._place(entry) for entry in added.values()},
                keyed={entry.name for entry in added.values() if has_key(entry)},
                hosts=service.settings.endpoint_hosts,
            ),
        }

    def _place(self, entry: ModelEntry) -> str:
        if traits_of(entry).remote:
            return str(entry.options.get("base_url", ""))
        return self.t("add.folder")


class StorageView(View):
    """The disk, who stores how much, and which runs are the largest."""

    name = "storage"
    lists = ("figures", "people", "runs")

    def read(self, service: AppService) -> Markup:
        """What each component shows now."""
        t, disk = self.t, read_disk(service)
        uploads = read_upload_bytes(service)
        people = sorted(list_people(service), key=lambda each: each.stored, reverse=True)
        words = t("device.used", used=amount(disk.used), total=amount(disk.used + disk.free))
        return {
            self.verdict: self.answer(
                t("admin.disk_full" if disk.is_nearly_full else "admin.disk_used", used=words)
            ),
            self.made["figures"]: self.fill("storage", disk=disk, words=words),
            self.made["people"]: self.fill(
                "stored_by_person",
                people=[each for each in people if each.stored],
                uploads=uploads,
            ),
            self.made["runs"]: self.fill("largest_runs", runs=list_largest_runs(service)),
        }
