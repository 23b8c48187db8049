"""Where a run would send the questions, said before it is started."""

from collections.abc import Iterator, Mapping

from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.destinations import host_of, hosts_elsewhere
from evalui.settings import Settings
from evalui.ui.components.fragment import Form
from evalui.ui.components.html import Html, div
from evalui.ui.tabs.evaluate.run_form import many


def leaving(
    t: Messages, catalog: Mapping[str, ModelEntry], form: Form, settings: Settings
) -> list[str]:
    """A sentence for each model and judge chosen that is sent texts elsewhere; none if all stay."""
    judges = many(form, "judges") if "yes" in many(form, "judging") else ()
    models = [name for name in many(form, "models") if name not in judges]
    names = {"sends": models, "judges": judges}
    found = [
        t(f"away.{key}", name=name, hosts=t("list.comma").join(hosts))
        for key, chosen in names.items()
        for name in chosen
        if name in catalog and (hosts := hosts_elsewhere(catalog[name]))
    ]
    return [*found, *_cluster(t, settings)]


def staying(t: Messages, sentences: list[str]) -> Html:
    """Where the file goes: the sentences of `leaving`, or that it stays."""
    return div(*(div(sentence) for sentence in sentences or [t("away.stays")]))


def sent_to(t: Messages, entry: ModelEntry, key: str = "to") -> Html | None:
    """The hosts that a model at choice sends the questions to; None if they stay here."""
    hosts = hosts_elsewhere(entry)
    return div(t(f"away.{key}", hosts=t("list.comma").join(hosts)), cls="meta") if hosts else None


def _cluster(t: Messages, settings: Settings) -> Iterator[str]:
    """An address is that of a cluster which may have machines of its own; "" starts one here."""
    if settings.engine == "ray" and settings.ray_address:
        yield t("away.cluster", host=host_of(settings.ray_address))
