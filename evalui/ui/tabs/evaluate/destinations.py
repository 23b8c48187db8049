"""Where a run would send the questions, said before it is started."""

from collections.abc import Iterator, Mapping

from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.destinations import external_hosts, shown_host
from evalui.settings import Settings
from evalui.ui.components.fragment import Form
from evalui.ui.components.html import Html, div
from evalui.ui.tabs.evaluate.run_form import field_values


def remote_destinations(
    t: Messages, catalog: Mapping[str, ModelEntry], form: Form, settings: Settings
) -> list[str]:
    """A sentence for each model and judge chosen that is sent texts elsewhere; none if all stay."""
    judges = field_values(form, "judges") if "yes" in field_values(form, "judging") else ()
    models = [name for name in field_values(form, "models") if name not in judges]
    names = {"sends": models, "judges": judges}
    found = [
        t(f"away.{key}", name=name, hosts=t("list.comma").join(hosts))
        for key, chosen in names.items()
        for name in chosen
        if name in catalog and (hosts := external_hosts(catalog[name]))
    ]
    return [*found, *_cluster_host(t, settings)]


def destination_sentences(t: Messages, sentences: list[str]) -> Html:
    """Where the file goes: the sentences of `remote_destinations`, or that it stays."""
    return div(*(div(sentence) for sentence in sentences or [t("away.stays")]))


def remote_hosts_of(t: Messages, entry: ModelEntry, key: str = "to") -> Html | None:
    """The hosts that a model at choice sends the questions to; None if they stay here."""
    hosts = external_hosts(entry)
    return div(t(f"away.{key}", hosts=t("list.comma").join(hosts)), cls="meta") if hosts else None


def _cluster_host(t: Messages, settings: Settings) -> Iterator[str]:
    """An address is that of a cluster which may have machines of its own; "" starts one here."""
    if settings.engine == "ray" and settings.ray_address:
        yield t("away.cluster", host=shown_host(settings.ray_address))
