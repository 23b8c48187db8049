"""Where a person wants notes on their ended runs: an address of a webhook, and one for mail."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from evalui.access import Person
from evalui.accounts.audit import record_in
from evalui.errors import AccountError
from evalui.models.endpoint.http.addresses import host_of, is_http_url
from evalui.runs.database.connection import Database

# No brackets or quotes: the standard library raises errors of many kinds at some of them.
_MAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255}", re.ASCII)
_MAX_URL_LENGTH = 1000  # characters


@dataclass(frozen=True, slots=True)
class NotePreferences:
    """An address of each kind, "" for none."""

    webhook: str = ""
    mail: str = ""


def read_preferences(database: Database, person: str) -> NotePreferences:
    """What a person has chosen; nothing for who has no account."""
    row = database.row(
        "SELECT coalesce(preferences ->> 'webhook', '') AS webhook,"
        " coalesce(preferences ->> 'mail', '') AS mail FROM person WHERE name = ?",
        (person,),
    )
    return NotePreferences(row["webhook"], row["mail"]) if row else NotePreferences()


def write_preferences(
    database: Database, chosen: NotePreferences, *, hosts: Collection[str], by: Person
) -> None:
    """Keep what a person chooses for themselves; `hosts` are those that notes may be posted to.

    Raises:
        AccountError: an address is none, or its host is not allowed.
    """
    if chosen.webhook and not is_allowed_webhook(chosen.webhook, hosts):
        raise AccountError("webhook", known=", ".join(sorted(hosts)) or "–")
    if chosen.mail and not is_mail_address(chosen.mail):
        raise AccountError("mail-address")
    with database.writing(durable=True) as connection:
        connection.execute(
            "UPDATE person SET preferences = json_patch(preferences, ?) WHERE name = ?",
            (json.dumps({"webhook": chosen.webhook, "mail": chosen.mail}), by.name),
        )
        # Without the addresses: that of a webhook often holds a secret.
        record_in(
            connection,
            by,
            "set-notes",
            f"person {by.name}",
            webhook=bool(chosen.webhook),
            mail=bool(chosen.mail),
        )


def is_mail_address(text: str) -> bool:
    """Whether a text is one address that mail can be sent to."""
    return _MAIL.fullmatch(text) is not None


def is_allowed_webhook(url: str, hosts: Collection[str]) -> bool:
    """Whether notes may be posted to a URL."""
    if len(url) > _MAX_URL_LENGTH or not url.isascii() or not is_http_url(url):
        return False
    return host_of(url).casefold() in {host.casefold() for host in hosts}
